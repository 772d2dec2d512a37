/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_list_softmax.c - softmax over the entries of each vertex, column by column, and its
 * gradient; see list_parts.h. */
#include "codelets/kernels/vector_math.h"

#include <string.h>

#include "codelets/kernels/kernel_table.h"
#include "codelets/kernels/list_parts.h"
#include "codelets/kernels/row_sums.h"
#include "codelets/products/simd.h"

CAVS__CLONES static void subtract(int n, const float *x, const float *y, float *z)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        z[j] = x[j] - y[j];
}

/* Only whole vectors are computed, for which y has room, so that a number's result does not depend
 * on its place. */
CAVS__CLONES static void exponentials(int n, float *y)
{
    int whole = (n + 15) / 16 * 16;

    for (int j = n; j < whole; j++)
        y[j] = 0;
#pragma omp simd
    for (int j = 0; j < whole; j++)
        y[j] = cavs__exp_of_negative(y[j]);
}

CAVS__CLONES static void divide(int n, const float *sum, float *y)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] /= sum[j];
}

/* sum += y g */
CAVS__CLONES static void add_product(int n, const float *y, const float *g, float *sum)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        sum[j] += y[j] * g[j];
}

/* dx = y (g - sum) */
CAVS__CLONES static void scaled_difference(int n, const float *y, const float *g, const float *sum,
                                           float *dx)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        dx[j] = y[j] * (g[j] - sum[j]);
}

/* y = exp(x - largest) of each entry; sum: over the entries */
static void exponentials_of_rows(const struct cavs__view *v, const struct cavs__list_part *p,
                                 const float *largest, float *sum)
{
    float buffer[CAVS__LIST_STRIP];

    cavs__list_zero(p->n, sum);
    for (int e = p->first; e < p->end; e++) {
        subtract(p->n, cavs__list_row(&v[0], e, p->c), largest, buffer);
        exponentials(p->n, buffer);
        cavs__add_row(p->n, buffer, sum);
        memcpy(cavs__list_out(&v[1], e, p->c), buffer, (size_t)p->n * sizeof *buffer);
    }
}

/* The same for one column, where entries and not columns fill the vectors. */
static void exponentials_of_column(const struct cavs__view *v, const struct cavs__list_part *p,
                                   float largest, float *sum)
{
    float buffer[CAVS__LIST_STRIP];

    *sum = 0;
    for (int e = p->first, n; e < p->end; e += n) {
        n = p->end - e < CAVS__LIST_STRIP ? p->end - e : CAVS__LIST_STRIP;
        for (int i = 0; i < n; i++)
            buffer[i] = *cavs__list_row(&v[0], e + i, p->c) - largest;
        exponentials(n, buffer);
        for (int i = 0; i < n; i++) {
            *sum += buffer[i];
            *cavs__list_out(&v[1], e + i, p->c) = buffer[i];
        }
    }
}

static void softmax_part(const struct cavs__view *v, int r, const struct cavs__list_part *p)
{
    float largest[CAVS__LIST_STRIP], sum[CAVS__LIST_STRIP];

    (void)r;
    cavs__list_largest(&v[0], p, largest);
    if (p->n == 1)
        exponentials_of_column(v, p, *largest, sum);
    else
        exponentials_of_rows(v, p, largest, sum);
    for (int e = p->first; e < p->end; e++)
        divide(p->n, sum, cavs__list_out(&v[1], e, p->c));
}

/* x listed (n), y listed: in each column, exp(x) over the sum of exp(x) of the same row's
 * entries */
static void list_softmax(const struct cavs__call *call, int rows, const struct cavs__view *v,
                         unsigned flags)
{
    (void)call;
    (void)flags;
    cavs__list_each_part(rows, v, v[1].cols, softmax_part);
}

static void softmax_grad_part(const struct cavs__view *v, int r, const struct cavs__list_part *p)
{
    float sum[CAVS__LIST_STRIP];

    (void)r;
    cavs__list_zero(p->n, sum);
    for (int e = p->first; e < p->end; e++)
        add_product(p->n, cavs__list_row(&v[0], e, p->c), cavs__list_row(&v[1], e, p->c), sum);
    for (int e = p->first; e < p->end; e++)
        scaled_difference(p->n, cavs__list_row(&v[0], e, p->c), cavs__list_row(&v[1], e, p->c), sum,
                          cavs__list_out(&v[2], e, p->c));
}

/* y listed (n), g listed, dx listed: y (g - sum over the row's entries of y g) */
static void list_softmax_grad(const struct cavs__call *call, int rows, const struct cavs__view *v,
                              unsigned flags)
{
    (void)call;
    (void)flags;
    cavs__list_each_part(rows, v, v[0].cols, softmax_grad_part);
}

const struct cavs__kernel cavs__kernel_list_softmax = {
    .number = CAVS__KERNEL_list_softmax,
    .name = "list_softmax",
    .nviews = 2,
    .cpu = list_softmax,
    .reference = cavs__reference_list_softmax,
};

const struct cavs__kernel cavs__kernel_list_softmax_grad = {
    .number = CAVS__KERNEL_list_softmax_grad,
    .name = "list_softmax_grad",
    .nviews = 3,
    .cpu = list_softmax_grad,
    .reference = cavs__reference_list_softmax_grad,
};
