/* SPDX-License-Identifier: Apache-2.0 */
/* treebank.h - a training and a development set of labelled trees with one vocabulary. */
#ifndef CAVS_APPS_TREEBANK_H
#define CAVS_APPS_TREEBANK_H

#include <stdbool.h>

#include "apps/common/error.h"
#include "apps/common/forest.h"
#include "apps/common/packed.h"

struct treebank_options {
    const char
        *train; /* file in brackets or folder with three files; NULL: $CAVS_DATA/sst/train.txt */
    const char *dev; /* likewise; NULL: sst/dev.txt if train is NULL too, otherwise no such set */
    int labels;
    struct packed_files packed; /* in place of both, if it has a training set */
    int min_count; /* rarer words of the training set are unknown words (brackets only) */
    const char
        *binary; /* the cell that wants two children at inner vertices; NULL: any number will do */
};

struct treebank {
    char *train_path, *dev_path; /* dev_path NULL: there is no dev set */
    struct forest train, dev;    /* empty if the trees are packed */
    int words;                   /* size of the vocabulary */
    struct arities arities;      /* which numbers of children occur */
};

/*
 * In brackets, word ids follow the first appearance in the training file; 0 is <unk>.  In the
 * three-file form the ids are those of the files.  0, or a negative code with a message; clear *out
 * in both cases.  Start from a zeroed struct.
 */
int treebank_load(struct treebank *b, const struct treebank_options *o, struct app_error *e);
void treebank_clear(struct treebank *b);

#endif
