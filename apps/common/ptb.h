/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptb.h - trees in labelled brackets, as the Stanford Sentiment Treebank has them:
 *
 *     (3 (2 The) (4 (3 gorgeous) (2 film)))
 *
 * tree = '(' label word ')'  or  '(' label tree ... ')'.  Labels are whole numbers from 0; an inner
 * vertex has one or more children.  Tokens are separated by ASCII space, tab and line ends only: words
 * may hold any other byte (a no-break space for one) but brackets.  Trees follow one another, usually
 * one a line; one that takes several lines has its other lines indented, because a '(' at the very
 * beginning of a line says that a new tree begins.
 */
#ifndef CAVS_APPS_PTB_H
#define CAVS_APPS_PTB_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/common/error.h"
#include "apps/common/forest.h"
#include "apps/common/vocab.h"

struct ptb_options {
    int labels; /* labels are 0 .. labels-1 */
    struct vocab *vocab;
    bool grow; /* new words are added to the vocabulary; without it they become <unk> */
};

/*
 * Reads all trees to the end of the file.  0, or a negative code with a message that says file, line,
 * column (from 1, in bytes), what was expected there and what was found; *out is then untouched, but a
 * growing vocabulary keeps the words seen so far.  Depth is limited by memory only.
 */
int ptb_read(FILE *in, const char *name, const struct ptb_options *options, struct forest *out,
             struct app_error *e);
int ptb_load(const char *path, const struct ptb_options *options, struct forest *out,
             struct app_error *e);
/* The same, but the trees go to the visitor one by one: for files larger than memory. */
int ptb_each(const char *path, const struct ptb_options *options,
             const struct tree_visitor *visitor, struct app_error *e);

#endif
