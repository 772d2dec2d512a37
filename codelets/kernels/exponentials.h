/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exponentials.h - exp(z - largest) of rows, and their sums: what a softmax is made of.
 *
 * A classifier has 5 classes: too few numbers in a row for a vector.  So rows are done by groups: z
 * minus the row's largest goes to one array, the exponentials are taken over the whole array, then
 * each row is summed.  Longer rows, up to a language model's vocabulary, are swept one at a time.
 */
#ifndef CAVS_CODELETS_KERNELS_EXPONENTIALS_H
#define CAVS_CODELETS_KERNELS_EXPONENTIALS_H

#include "codelets/kernels/kernel.h"

#define CAVS__GROUP_ROWS 64
#define CAVS__GROUP_COLS 32 /* most columns of a row of a group */

struct cavs__group {
    int rows;
    float e[CAVS__GROUP_ROWS *
            CAVS__GROUP_COLS]; /* (rows, cols) exp(z - largest), filled up to whole vectors */
    float largest[CAVS__GROUP_ROWS], sum[CAVS__GROUP_ROWS];
};

/* The group takes as many of the `rows` rows of z from row r on as fit; z has 1 to CAVS__GROUP_COLS
 * columns. */
void cavs__exponentials(struct cavs__group *g, const struct cavs__view *z, int r, int rows);
/* One row z (n), n > CAVS__GROUP_COLS: its largest, and e = exp(z - largest) unless e is NULL;
 * returns the sum of them. */
float cavs__exponentials_of_row(int n, const float *z, float *largest, float *e);
/* y (n) = factor e; y may be e */
void cavs__scale(int n, float factor, const float *e, float *y);

#endif
