/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_reference.h - how the reference kernels read, compare and write elements. */
#ifndef CAVS_CODELETS_KERNELS_KERNEL_REFERENCE_H
#define CAVS_CODELETS_KERNELS_KERNEL_REFERENCE_H

#include <math.h>

#include "codelets/kernels/kernel_table.h"

#define UNUSED(x) ((void)(x))

/* Element c of row r of an input. */
static inline double at(const struct cavs__view *v, int r, int c)
{
    const float *row = cavs__row(v, r);

    return row ? row[c] : 0;
}

static inline float *out(const struct cavs__view *v, int r, int c)
{
    return v->p + r * v->ld + c;
}

/* Where the first NaN of row r is, or else the first largest. */
static inline int reference_largest(const struct cavs__view *x, int r)
{
    int best = 0;

    for (int j = 0; j < x->cols; j++)
        if (isnan(at(x, r, j)))
            return j;
    for (int j = 1; j < x->cols; j++)
        if (at(x, r, j) > at(x, r, best))
            best = j;
    return best;
}

#endif
