/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_vectors.h - word vectors in GloVe's text form: a word and its numbers a line, between single
 * spaces.  A first line with the number of words and of columns, as word2vec writes it, is passed
 * over; words may hold spaces.
 */
#ifndef CAVS_APPS_WORD_VECTORS_H
#define CAVS_APPS_WORD_VECTORS_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/common/app_error.h"
#include "apps/common/vocab.h"

/* Where the vectors of known words go; a word that comes twice has its first one. */
struct word_vectors {
    const struct vocab *words;
    int cols;
    float *values; /* (words, cols); other words' rows are left alone */
    bool *found;   /* (words), false at first */
    size_t lines;  /* read so far, the heading aside; 0 at first */
    size_t odd;    /* the number of the first line if it is not a word and its numbers, else 0 */
};

/* `in` stays the caller's; NULL: the file `name`, or standard input if that is "-".  0, or a
 * negative code with a message that says file, line, and what was expected there. */
int word_vectors_read(FILE *in, const char *name, struct word_vectors *to, struct app_error *e);

#endif
