/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptb.h - trees in labelled brackets, as the Stanford Sentiment Treebank has them:
 *
 *     (3 (2 The) (4 (3 gorgeous) (2 film)))
 *
 * tree = '(' label word ')'  or  '(' label tree ... ')'.  Labels are whole numbers from 0; an inner
 * vertex has one or more children.  Tokens are separated by ASCII space, tab and line ends only:
 * words may hold any other byte (a no-break space for one) but NUL and brackets.  Trees follow one
 * another, usually one a line; one that takes several lines has its other lines indented, because a
 * '(' at the very beginning of a line says that a new tree begins.
 */
#ifndef CAVS_APPS_PTB_H
#define CAVS_APPS_PTB_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/common/app_error.h"
#include "apps/common/forest.h"
#include "apps/common/vocab.h"

struct ptb_options {
    int labels; /* labels are 0 .. labels-1 */
    struct vocab *vocab;
    bool grow;       /* new words are added to the vocabulary; without it they become <unk> */
    bool keep_words; /* as they are written: forest_text() */
    /* Labels may be '?' or missing, "((A) (film))", and one that is none of 0 .. labels-1 is no
     * error: all these are -1 in the forest. */
    bool unlabelled;
};

/*
 * Trees from a file, some at a time.  `in` stays the caller's; NULL: the file `name`, or standard
 * input if that is "-".  The options are copied, the name and the vocabulary have to live as long.
 * 0 or a negative code.
 */
struct ptb_stream;
int ptb_open(struct ptb_stream **out, FILE *in, const char *name, const struct ptb_options *options,
             struct app_error *e);
void ptb_close(struct ptb_stream *s); /* NULL is fine */

/*
 * Adds the next n trees at most to the forest, and reads no further than they go.  How many there
 * were, 0 at the end of the file, or a negative code with a message that says file, line, column
 * (from 1, in bytes), what was expected there and what was found; the trees before that place are
 * then in the forest, and nothing more can be read.  Depth is limited by memory only.
 */
int ptb_next(struct ptb_stream *s, int n, struct forest *to, struct app_error *e);

/* All trees to the end of the file.  0, or as above; *out is then untouched, but a growing
 * vocabulary keeps the words seen so far. */
int ptb_read(FILE *in, const char *name, const struct ptb_options *options, struct forest *out,
             struct app_error *e);
int ptb_load(const char *path, const struct ptb_options *options, struct forest *out,
             struct app_error *e);
/* The same, but the trees go to the visitor one by one: for files larger than memory. */
int ptb_each(const char *path, const struct ptb_options *options,
             const struct tree_visitor *visitor, struct app_error *e);

/*
 * Writes tree t on a line, with these labels [n] (NULL: its own; -1: '?') and its words as they
 * were read: the forest has to hold them.  0 or CAVS_ENOMEM; errors in writing are those of the
 * file (ferror()).
 */
int ptb_write(FILE *out, const struct forest *f, int t, const int *labels, struct app_error *e);

#endif
