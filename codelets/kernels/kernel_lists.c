/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_lists.c - what takes the children of a vertex, or the entries of another list, together:
 * sums, maxima, softmax and their gradients, column by column.
 *
 * Entries are visited in their order and columns side by side, so a vertex's result does not depend
 * on the vertices beside it.
 */
#include <string.h>

#include "codelets/kernels/kernel_table.h"
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

CAVS__CLONES static void subtract(int n, const float *x, const float *y, float *z)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        z[j] = x[j] - y[j];
}

/* By whole vectors, for which y has room: so a number does not depend on its place. */
CAVS__CLONES static void exponentials(int n, float *y)
{
    int whole = (n + 15) / 16 * 16;

    for (int j = n; j < whole; j++)
        y[j] = 0;
#pragma omp simd
    for (int j = 0; j < whole; j++)
        y[j] = expf(y[j]);
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

static void zero(int n, float *y)
{
    memset(y, 0, (size_t)n * sizeof *y);
}

/* Wide rows are taken a strip of columns at a time: what is summed up stays on the stack. */
enum { STRIP = 256 };

static const float zeros[STRIP];

/* Columns [c, c + STRIP) of an input row. */
static const float *row_at(const struct cavs__view *v, ptrdiff_t r, int c)
{
    const float *row = cavs__row(v, r);

    return row ? row + c : zeros;
}

static float *out_at(const struct cavs__view *v, ptrdiff_t r, int c)
{
    return v->p + r * v->ld + c;
}

/* The entries of one row, and the columns at hand. */
struct part {
    int first, end; /* entries */
    int c, n;       /* columns */
};

typedef void per_part(const struct cavs__view *v, int r, const struct part *p);

static void for_each_part(int rows, const struct cavs__view *v, int cols, per_part *do_part)
{
    struct part p;

    for (int r = 0; r < rows; r++) {
        p.first = v[0].ptr[r] - v[0].ptr[0];
        p.end = v[0].ptr[r + 1] - v[0].ptr[0];
        for (p.c = 0; p.c < cols; p.c += STRIP) {
            p.n = cols - p.c < STRIP ? cols - p.c : STRIP;
            do_part(v, r, &p);
        }
    }
}

static void sum_part(const struct cavs__view *v, int r, const struct part *p)
{
    float *y = out_at(&v[1], r, p->c);

    zero(p->n, y);
    for (int e = p->first; e < p->end; e++)
        cavs__add_row(p->n, row_at(&v[0], e, p->c), y);
}

static void narrow_sums(int rows, const struct cavs__view *v)
{
    for (int r = 0; r < rows; r++) {
        int first = v[0].ptr[r] - v[0].ptr[0], n = v[0].ptr[r + 1] - v[0].ptr[r];
        const int32_t *index = v[0].index ? v[0].index + first : NULL;

        cavs__narrow_sum(v[1].cols, n, index ? v[0].p : v[0].p + first * v[0].ld, v[0].ld, index,
                         false, out_at(&v[1], r, 0));
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
        for_each_part(rows, v, v[1].cols, sum_part);
}

static void largest_of(const struct cavs__view *x, const struct part *p, float *y)
{
    if (p->first == p->end) {
        zero(p->n, y);
        return;
    }
    memcpy(y, row_at(x, p->first, p->c), (size_t)p->n * sizeof *y);
    for (int e = p->first + 1; e < p->end; e++)
        larger(p->n, row_at(x, e, p->c), y);
}

static void max_part(const struct cavs__view *v, int r, const struct part *p)
{
    largest_of(&v[0], p, out_at(&v[1], r, p->c));
}

/* x listed (n), y (rows, n): the largest entry in each column, 0 without entries */
static void list_max(const struct cavs__call *call, int rows, const struct cavs__view *v,
                     unsigned flags)
{
    (void)call;
    (void)flags;
    for_each_part(rows, v, v[1].cols, max_part);
}

/* The gradient goes to the first entry that is as large as the largest, once. */
static void max_grad_part(const struct cavs__view *v, int r, const struct part *p)
{
    float left[STRIP], largest[STRIP];

    memcpy(left, row_at(&v[1], r, p->c), (size_t)p->n * sizeof *left);
    largest_of(&v[0], p, largest);
    for (int e = p->first; e < p->end; e++) {
        const float *x = row_at(&v[0], e, p->c);
        float *dx = out_at(&v[2], e, p->c);

        for (int j = 0; j < p->n; j++) {
            bool here = x[j] == largest[j];

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
    for_each_part(rows, v, v[0].cols, max_grad_part);
}

/* y = exp(x - largest) of each entry; sum: over the entries */
static void exponentials_of_rows(const struct cavs__view *v, const struct part *p,
                                 const float *largest, float *sum)
{
    float buffer[STRIP];

    zero(p->n, sum);
    for (int e = p->first; e < p->end; e++) {
        subtract(p->n, row_at(&v[0], e, p->c), largest, buffer);
        exponentials(p->n, buffer);
        cavs__add_row(p->n, buffer, sum);
        memcpy(out_at(&v[1], e, p->c), buffer, (size_t)p->n * sizeof *buffer);
    }
}

/* The same for one column, where entries and not columns fill the vectors. */
static void exponentials_of_column(const struct cavs__view *v, const struct part *p, float largest,
                                   float *sum)
{
    float buffer[STRIP];

    *sum = 0;
    for (int e = p->first, n; e < p->end; e += n) {
        n = p->end - e < STRIP ? p->end - e : STRIP;
        for (int i = 0; i < n; i++)
            buffer[i] = *row_at(&v[0], e + i, p->c) - largest;
        exponentials(n, buffer);
        for (int i = 0; i < n; i++) {
            *sum += buffer[i];
            *out_at(&v[1], e + i, p->c) = buffer[i];
        }
    }
}

static void softmax_part(const struct cavs__view *v, int r, const struct part *p)
{
    float largest[STRIP], sum[STRIP];

    (void)r;
    largest_of(&v[0], p, largest);
    if (p->n == 1)
        exponentials_of_column(v, p, *largest, sum);
    else
        exponentials_of_rows(v, p, largest, sum);
    for (int e = p->first; e < p->end; e++)
        divide(p->n, sum, out_at(&v[1], e, p->c));
}

/* x listed (n), y listed: in each column, exp(x) over the sum of exp(x) of the same row's
 * entries */
static void list_softmax(const struct cavs__call *call, int rows, const struct cavs__view *v,
                         unsigned flags)
{
    (void)call;
    (void)flags;
    for_each_part(rows, v, v[1].cols, softmax_part);
}

static void softmax_grad_part(const struct cavs__view *v, int r, const struct part *p)
{
    float sum[STRIP];

    (void)r;
    zero(p->n, sum);
    for (int e = p->first; e < p->end; e++)
        add_product(p->n, row_at(&v[0], e, p->c), row_at(&v[1], e, p->c), sum);
    for (int e = p->first; e < p->end; e++)
        scaled_difference(p->n, row_at(&v[0], e, p->c), row_at(&v[1], e, p->c), sum,
                          out_at(&v[2], e, p->c));
}

/* y listed (n), g listed, dx listed: y (g - sum over the row's entries of y g) */
static void list_softmax_grad(const struct cavs__call *call, int rows, const struct cavs__view *v,
                              unsigned flags)
{
    (void)call;
    (void)flags;
    for_each_part(rows, v, v[0].cols, softmax_grad_part);
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

const struct cavs__kernel cavs__kernel_list_share = {
    .number = CAVS__KERNEL_list_share,
    .name = "list_share",
    .nviews = 2,
    .cpu = list_share,
    .reference = cavs__reference_list_share,
};
