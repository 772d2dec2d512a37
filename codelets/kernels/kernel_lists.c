/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_lists.c - what takes the children of a vertex, or the entries of another list, together:
 * sums, maxima and their gradients, column by column; see list_parts.h.
 */
#include <string.h>

#include "codelets/kernels/kernel_table.h"
#include "codelets/kernels/list_parts.h"
#include "codelets/kernels/narrow_sums.h"
#include "codelets/kernels/row_sums.h"
#include "codelets/products/simd.h"

/* y = max(x, y), and NaN where there is one */
CAVS__CLONES static void larger(int n, const float *x, float *y)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] = y[j] >= x[j] || y[j] != y[j] ? y[j] : x[j];
}

static void sum_part(const struct cavs__view *v, int r, const struct cavs__list_part *p)
{
    float *y = cavs__list_out(&v[1], r, p->c);

    cavs__list_zero(p->n, y);
    for (int e = p->first; e < p->end; e++)
        cavs__add_row(p->n, cavs__list_row(&v[0], e, p->c), y);
}

static void narrow_sums(int rows, const struct cavs__view *v)
{
    for (int r = 0; r < rows; r++) {
        int first = v[0].ptr[r] - v[0].ptr[0], n = v[0].ptr[r + 1] - v[0].ptr[r];
        const int32_t *index = v[0].index ? v[0].index + first : NULL;

        cavs__narrow_sum(v[1].cols, n, index ? v[0].p : v[0].p + first * v[0].ld, v[0].ld, index,
                         false, cavs__list_out(&v[1], r, 0));
    }
}

/* x listed (n), y (rows, n): y[r] = sum over the entries of r */
static void list_sum(const struct cavs__call *call, int rows, const struct cavs__view *v,
                     unsigned flags)
{
    (void)call;
    (void)flags;
    if (v[1].cols <= CAVS__NARROW)
        narrow_sums(rows, v);
    else
        cavs__list_each_part(rows, v, v[1].cols, sum_part);
}

void cavs__list_largest(const struct cavs__view *x, const struct cavs__list_part *p, float *y)
{
    if (p->first == p->end) {
        cavs__list_zero(p->n, y);
        return;
    }
    memcpy(y, cavs__list_row(x, p->first, p->c), (size_t)p->n * sizeof *y);
    for (int e = p->first + 1; e < p->end; e++)
        larger(p->n, cavs__list_row(x, e, p->c), y);
}

static void max_part(const struct cavs__view *v, int r, const struct cavs__list_part *p)
{
    cavs__list_largest(&v[0], p, cavs__list_out(&v[1], r, p->c));
}

/* x listed (n), y (rows, n): the largest entry in each column, 0 without entries */
static void list_max(const struct cavs__call *call, int rows, const struct cavs__view *v,
                     unsigned flags)
{
    (void)call;
    (void)flags;
    cavs__list_each_part(rows, v, v[1].cols, max_part);
}

/* The gradient goes to the first entry that is as large as the largest, once; a NaN is. */
static void max_grad_part(const struct cavs__view *v, int r, const struct cavs__list_part *p)
{
    float left[CAVS__LIST_STRIP], largest[CAVS__LIST_STRIP];

    memcpy(left, cavs__list_row(&v[1], r, p->c), (size_t)p->n * sizeof *left);
    cavs__list_largest(&v[0], p, largest);
    for (int e = p->first; e < p->end; e++) {
        const float *x = cavs__list_row(&v[0], e, p->c);
        float *dx = cavs__list_out(&v[2], e, p->c);

        for (int j = 0; j < p->n; j++) {
            bool here = x[j] == largest[j] || x[j] != x[j];

            dx[j] = here ? left[j] : 0;
            left[j] = here ? 0 : left[j];
        }
    }
}

/* x listed (n), g (rows, n), dx listed */
static void list_max_grad(const struct cavs__call *call, int rows, const struct cavs__view *v,
                          unsigned flags)
{
    (void)call;
    (void)flags;
    cavs__list_each_part(rows, v, v[0].cols, max_grad_part);
}

/* ptr only, y (rows, 1): 1 / number of entries, 0 without any */
static void list_share(const struct cavs__call *call, int rows, const struct cavs__view *v,
                       unsigned flags)
{
    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        int n = v[0].ptr[r + 1] - v[0].ptr[r];

        v[1].p[r * v[1].ld] = n > 0 ? 1 / (float)n : 0;
    }
}

const struct cavs__kernel cavs__kernel_list_sum = {
    .number = CAVS__KERNEL_list_sum,
    .name = "list_sum",
    .nviews = 2,
    .cpu = list_sum,
    .reference = cavs__reference_list_sum,
};

const struct cavs__kernel cavs__kernel_list_max = {
    .number = CAVS__KERNEL_list_max,
    .name = "list_max",
    .nviews = 2,
    .cpu = list_max,
    .reference = cavs__reference_list_max,
};

const struct cavs__kernel cavs__kernel_list_max_grad = {
    .number = CAVS__KERNEL_list_max_grad,
    .name = "list_max_grad",
    .nviews = 3,
    .cpu = list_max_grad,
    .reference = cavs__reference_list_max_grad,
};

const struct cavs__kernel cavs__kernel_list_share = {
    .number = CAVS__KERNEL_list_share,
    .name = "list_share",
    .nviews = 2,
    .cpu = list_share,
    .reference = cavs__reference_list_share,
};
