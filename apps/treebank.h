/* SPDX-License-Identifier: Apache-2.0 */
/* treebank.h - sets of labelled trees with one vocabulary. */
#ifndef CAVS_APPS_TREEBANK_H
#define CAVS_APPS_TREEBANK_H

#include "apps/common/arities.h"
#include "apps/common/forest.h"
#include "apps/common/program.h"

struct treebank_options {
    int labels;
    int min_count; /* rarer words of the training set are unknown words (brackets only) */
    /* the cell that wants two children at inner vertices; NULL: any number will do */
    const char *binary;
};

struct treebank {
    struct forest set[APP_SETS]; /* empty if there is no such set, or its trees are packed */
    struct vocab *vocab;         /* NULL in the three-file form, whose words are numbers */
    int words;                   /* rows of the embedding */
    struct arities arities;      /* of all sets, and of what is to be predicted */
};

/*
 * Reads the sets of the program: each a file in brackets, or a folder with three files, or packed.
 * In brackets, words are those of the model file, or without one of the training set in the order
 * of their first appearance; 0 is <unk>.  In the three-file form they are the numbers in the files.
 * 0, or a negative code with a message; clear *b in both cases.  Start from a zeroed struct.
 */
int treebank_load(struct treebank *b, struct app *a, const struct treebank_options *o);
void treebank_clear(struct treebank *b);

/* A vertex with another number of children than --cell `binary` has (NULL: any will do) is refused,
 * by file and line. */
int treebank_check_tree(struct app *a, const struct tree *t, const char *path, const char *binary);

#endif
