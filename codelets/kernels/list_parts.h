/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_parts.h - how the kernels of lists go through the entries of each row, a strip of columns at
 * a time.
 *
 * Entries are visited in their order and columns side by side, so a vertex's result does not depend
 * on the vertices beside it.
 */
#ifndef CAVS_CODELETS_KERNELS_LIST_PARTS_H
#define CAVS_CODELETS_KERNELS_LIST_PARTS_H

#include <string.h>

#include "codelets/kernels/kernel_table.h"

/* Columns of a strip: what is summed up of them stays on the stack. */
enum { CAVS__LIST_STRIP = 256 };

/* The entries of one row, and the columns at hand. */
struct cavs__list_part {
    int first, end; /* entries */
    int c, n;       /* columns */
};

typedef void cavs__list_work(const struct cavs__view *v, int r, const struct cavs__list_part *p);

/* v[0] says where the entries of each row are. */
static inline void cavs__list_each_part(int rows, const struct cavs__view *v, int cols,
                                        cavs__list_work *work)
{
    struct cavs__list_part p;

    for (int r = 0; r < rows; r++) {
        p.first = v[0].ptr[r] - v[0].ptr[0];
        p.end = v[0].ptr[r + 1] - v[0].ptr[0];
        for (p.c = 0; p.c < cols; p.c += CAVS__LIST_STRIP) {
            p.n = cols - p.c < CAVS__LIST_STRIP ? cols - p.c : CAVS__LIST_STRIP;
            work(v, r, &p);
        }
    }
}

/* The columns of an input row from c on, a strip at most. */
static inline const float *cavs__list_row(const struct cavs__view *v, ptrdiff_t r, int c)
{
    static const float zeros[CAVS__LIST_STRIP];
    const float *row = cavs__row(v, r);

    return row ? row + c : zeros;
}

static inline float *cavs__list_out(const struct cavs__view *v, ptrdiff_t r, int c)
{
    return v->p + r * v->ld + c;
}

static inline void cavs__list_zero(int n, float *y)
{
    memset(y, 0, (size_t)n * sizeof *y);
}

/* kernel_lists.c: y = the largest of the entries in each column; 0 without entries */
void cavs__list_largest(const struct cavs__view *x, const struct cavs__list_part *p, float *y);

#endif
