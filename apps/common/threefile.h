/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threefile.h - trees in three parallel files, the form of the original Cavs programs and of Tai et
 * al.'s preprocessed treebank.  Line i of each file is sample i; numbers are separated by spaces:
 *
 *     sents_idx.txt   the ids of the words (0 and up): these are the leaves, vertices 1 .. L
 *     parents.txt     the parent of each vertex 1 .. n, 0 for the root; n >= L
 *     labels.txt      the label of each vertex 1 .. n
 *
 * A leaf has no children, an inner vertex has one or more.  Children are put in the order of their
 * words: the children of a vertex are sorted by the first word below them.
 */
#ifndef CAVS_APPS_THREEFILE_H
#define CAVS_APPS_THREEFILE_H

#include <stdio.h>

#include "apps/common/app_error.h"
#include "apps/common/forest.h"

enum { THREEFILE_WORDS, THREEFILE_PARENTS, THREEFILE_LABELS, THREEFILE_COUNT };

/*
 * Reads all samples; labels are 0 .. labels-1.  0, or a negative code with a message that says
 * file, line and column; *out is then untouched.  threefile_load() reads the three names above from
 * a folder.
 */
int threefile_read(FILE *const in[THREEFILE_COUNT], const char *const names[THREEFILE_COUNT],
                   int labels, struct forest *out, struct app_error *e);
int threefile_load(const char *folder, int labels, struct forest *out, struct app_error *e);
/* The same, but the trees go to the visitor one by one: for files larger than memory. */
int threefile_each(const char *folder, int labels, const struct tree_visitor *visitor,
                   struct app_error *e);

#endif
