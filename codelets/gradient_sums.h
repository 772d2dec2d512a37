/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient_sums.h - the gradient of a parameter: dense, the sum of partial ones; or sparse, rows of
 * those that are touched, each the sum of its occurrences.  Always in the same order.
 */
#ifndef CAVS_CODELETS_GRADIENT_SUMS_H
#define CAVS_CODELETS_GRADIENT_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arrays at most that make up a dense gradient.  They are added up in pairs, (((0 + 1) + (2 + 3)) +
 * ((4 + 5) + (6 + 7))) + .., and where one is not there, the other of the pair is the sum.  So
 * whoever has 0 and 1, or 4 to 7, can add up what is his. */
enum { CAVS__PARTIALS = 128 };

/* Columns at most of a row that are summed up at once, and the room that sums need meanwhile. */
enum { CAVS__SUM_COLS = 512, CAVS__SUM_ROOM = CAVS__PARTIALS / 2 * CAVS__SUM_COLS };

/* Partial gradients: at most two without the others, or all at their places, to the end of the
 * smallest power of two that has them. */
struct cavs__partials {
    int n;
    const float *g[CAVS__PARTIALS];
};

struct cavs__partials cavs__partials_of(int ngrads, const float *const *g);

/* n numbers at `offset` of the sum of the arrays: where they are, if there is one array only, else
 * in buffer (CAVS__SUM_ROOM).  Where no vertex of a batch uses a parameter there is none. */
const float *cavs__dense_gradient(int n, const struct cavs__partials *d, ptrdiff_t offset,
                                  float *buffer);

/* Row i of it: the sum over e in [ptr[i], ptr[i+1]), of which there is one at least, of row grow[e]
 * of array g[gsrc[e]]. */
struct cavs__sparse {
    const int32_t *ptr, *gsrc, *grow;
    const float *const *g;
    ptrdiff_t ldg;
    bool summed; /* the sum has been kept where the first of them was */
};

/* Columns [c, c + n) of the i-th row, likewise. */
const float *cavs__sparse_gradient(const struct cavs__sparse *s, int i, int c, int n,
                                   float *buffer);

/* Sums of squares of gradients before scale and weight decay, in double, fixed order.  What is
 * added up may be kept: who updates then reads one array, or the first occurrence of each row,
 * alone.  kept: the first array that is there, or all of them, to write; NULL: it is not. */
double cavs__squares_dense(int rows, int cols, int ngrads, const float *const *g, ptrdiff_t ldg,
                           float *kept);
double cavs__squares_sparse(int n, const int32_t *ptr, const int32_t *gsrc, const int32_t *grow,
                            int cols, const float *const *g, ptrdiff_t ldg, float *const *kept);

/* Gradients as matrices without gaps.  Dense: of g[CAVS__PARTIALS], each with its own ld. */
void cavs__sum_dense(int rows, int cols, float *out, const float *const *g, const ptrdiff_t *ldg);
/* Row i goes to to[i]: what ptr, gsrc and grow name of the g, each with its own ld, in order. */
void cavs__sum_sparse(int n, const int32_t *ptr, const int32_t *gsrc, const int32_t *grow, int cols,
                      float *const *to, const float *const *g, const ptrdiff_t *ldg);

/* Adds the rows of a sparse gradient, in their order, to those of a dense one that ids name; those
 * of arrays that are NULL are left out. */
void cavs__add_rows(int n, const int32_t *ids, const int32_t *ptr, const int32_t *gsrc,
                    const int32_t *grow, int cols, float *out, ptrdiff_t ldo, const float *const *g,
                    ptrdiff_t ldg);

#endif
