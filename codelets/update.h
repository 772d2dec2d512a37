/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update.h - optimizer arithmetic on rows of one parameter.  Pure kernels;
 * core/run/submit_updates.c makes tasks of them.
 */
#ifndef CAVS_CODELETS_UPDATE_H
#define CAVS_CODELETS_UPDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codelets/copies.h"
#include "codelets/gradient_sums.h"
#include "codelets/update.def"
#include "core/cavs.h"

/* The numbers that a rule reads, in the order in which devices take them: `scale` is what a
 * gradient is multiplied by, correction1 and correction2 are 1 - beta1^t and 1 - beta2^t of update
 * t. */
#define CAVS__UPDATE_NUMBERS(N) \
    N(lr, )                     \
    N(scale, )                  \
    N(correction1, )            \
    N(correction2, )            \
    CAVS_HYPERPARAMETERS(N)

/* One update of a parameter. */
struct cavs__update {
    enum cavs_optimizer rule;
#define CAVS__MEMBER(name, ...) float name;
    CAVS__UPDATE_NUMBERS(CAVS__MEMBER)
#undef CAVS__MEMBER
};

/* ---- update_rules.c: what is known of the rules ---- */

/* A line of update.def. */
struct cavs__rule {
    const char *name, *title, *summary;
    int states;       /* arrays of them that go with a parameter: 0, 1 or 2 */
    const char *text; /* its code */
};
/* By the numbers of enum cavs_optimizer. */
extern const struct cavs__rule cavs__rules[];

/* A number of a session's options that rules read. */
struct cavs__hyperparameter {
    const char *name, *title;
    size_t option, update; /* its offsets in struct cavs_session_options and struct cavs__update */
    float standard, lo, hi;
};
extern const struct cavs__hyperparameter cavs__hyperparameters[]; /* ended by one without a name */

/* The member of `options` or of an update at that offset. */
static inline float *cavs__number_at(const void *base, size_t offset)
{
    return (float *)(void *)((char *)base + offset);
}

/* ---- update.c ---- */

/* Rows that pieces of an update have, or many times as many: they fill the cache lines of
 * transposed copies, and panels. */
enum { CAVS__UPDATE_ROWS = 32 };

/* Dense: rows [first, first + rows) of w (cols, ldw), states (ld = ldw), gradient = sum of ngrads
 * arrays g[i] (ldg, NULL: not there). The copies receive the new values. */
void cavs__update_dense(const struct cavs__update *u, int first, int rows, int cols, float *w,
                        ptrdiff_t ldw, float *s0, float *s1, int ngrads, const float *const *g,
                        ptrdiff_t ldg, int ncopies, const struct cavs__copy *copies);
/* Sparse: for i in [0, n): row ids[i] of w and states; its gradient is the sum over e in [ptr[i],
 * ptr[i+1]) of row grow[e] of array g[gsrc[e]], in that order.  Untouched rows keep values and
 * states (lazy moments).  summed: row grow[ptr[i]] of array g[gsrc[ptr[i]]] is the sum already. */
void cavs__update_sparse(const struct cavs__update *u, int n, const int32_t *ids,
                         const int32_t *ptr, const int32_t *gsrc, const int32_t *grow, int cols,
                         float *w, ptrdiff_t ldw, float *s0, float *s1, const float *const *g,
                         ptrdiff_t ldg, bool summed);
/* Rows [first, first + rows) of w (cols, ldw) = values, which have no gaps; the copies receive
 * them, too.  NULL: they are there. */
void cavs__set_dense(int first, int rows, int cols, float *w, ptrdiff_t ldw, const float *values,
                     int ncopies, const struct cavs__copy *copies);

/* ---- update_reference.c ---- */

/* One number w and its states s, by the sum of its gradients, in double. */
void cavs__update_reference(const struct cavs__update *u, double *w, double s[2], double gradient);

#endif
