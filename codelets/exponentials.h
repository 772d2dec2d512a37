/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exponentials.h - exp(z - largest) of rows, and their sums: what a softmax is made of.
 *
 * A classifier has 5 classes: too few numbers in a row for a vector.  So rows are done by groups: z minus the row's
 * largest goes to one array, the exponentials are taken over the whole array, then each row is summed.  Rows too long
 * for the array (a language model's vocabulary) are swept one at a time.
 */
#ifndef CAVS_CODELETS_EXPONENTIALS_H
#define CAVS_CODELETS_EXPONENTIALS_H

#include "codelets/kernel.h"

#define CAVS__GROUP 2048 /* most numbers of a group of rows: 8 KB on the stack */
#define CAVS__GROUP_ROWS 64

struct cavs__group {
    int rows;
    float e[CAVS__GROUP]; /* (rows, cols) exp(z - largest); the end is filled up to whole vectors */
    float largest[CAVS__GROUP_ROWS], sum[CAVS__GROUP_ROWS];
};

/* The group takes as many of the `rows` rows of z from row r on as fit; z has 1 to CAVS__GROUP columns. */
void cavs__exponentials(struct cavs__group *g, const struct cavs__view *z, int r, int rows);
/* One row z (n), n > CAVS__GROUP: its largest, and e = exp(z - largest) unless e is NULL; returns the sum of them. */
float cavs__exponentials_of_row(int n, const float *z, float *largest, float *e);

#endif
