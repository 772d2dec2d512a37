/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentences.h - text in memory, one sentence a line, as plain words or as `word|TAG`.
 *
 * Tokens are separated by ASCII space, tab and line ends only: words may hold any other byte (a no-break
 * space for one) but NUL, and with tags the last '|' of a token is the one that divides it.
 */
#ifndef CAVS_APPS_SENTENCES_H
#define CAVS_APPS_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apps/common/error.h"
#include "apps/common/vocab.h"

struct sentences {
    int n;
    size_t tokens;
    size_t *first; /* [n + 1]: sentence s has the tokens first[s] .. first[s+1] of all */
    int *word;     /* [tokens] */
    int *tag;      /* [tokens]; NULL without tags */
    size_t first_cap, word_cap, tag_cap;
};

struct sentence_options {
    struct vocab *words;
    struct vocab *tags; /* NULL: plain words */
    const char *end;    /* a word to end each line with; NULL: none, and empty lines are skipped */
    bool grow;          /* new words are added to the vocabulary; without it they become <unk> */
    bool grow_tags; /* the same for tags: an unknown one is a class that no training example has */
};

/*
 * Reads all lines to the end of the file.  0, or a negative code with a message that says file, line,
 * column (from 1, in bytes), what was expected there and what was found; *out is then untouched, but a
 * growing vocabulary keeps the words seen so far.
 */
int sentences_read(FILE *in, const char *name, const struct sentence_options *options,
                   struct sentences *out, struct app_error *e);
int sentences_load(const char *path, const struct sentence_options *options, struct sentences *out,
                   struct app_error *e);

/* Is given one sentence after the other (tags NULL without tags); what is negative ends the reading. */
struct sentence_visitor {
    int (*each)(void *context, int n, const int *words, const int *tags, struct app_error *e);
    void *context;
};
/* The same, but the sentences go to the visitor one by one: for files larger than memory. */
int sentences_each(const char *path, const struct sentence_options *options,
                   const struct sentence_visitor *visitor, struct app_error *e);

/* Start from a zeroed struct. */
void sentences_clear(struct sentences *s);

static inline int sentences_length(const struct sentences *s, int i)
{
    return s->first[i + 1] - s->first[i];
}

#endif
