/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_sums.c - sums over rows, over the columns of a row, and over the rows that an edge list
 * names. */
#include "codelets/products/fetch.h"
#include "codelets/kernels/kernel_table.h"
#include "codelets/kernels/narrow_sums.h"
#include "codelets/kernels/row_sums.h"
#include "codelets/products/simd.h"

#include <string.h>

CAVS__CLONES static float total(int n, const float *x)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++)
        sum += x[j];
    return sum;
}

static void zero(int n, float *y)
{
    if (n > 0)
        memset(y, 0, (size_t)n * sizeof(*y));
}

static void copy(int n, const float *x, float *y)
{
    if (n > 0)
        memcpy(y, x, (size_t)n * sizeof(*y));
}

/* y (n) = or += rows [r, r + rows) of x */
static void add_rows(const struct cavs__view *x, int r, int rows, bool more, int n, float *y)
{
    const float *from = x->index ? x->p : x->p + r * x->ld;

    for (int c = 0; c < n; c += CAVS__NARROW)
        cavs__narrow_sum(n - c < CAVS__NARROW ? n - c : CAVS__NARROW, rows, from + c, x->ld,
                         x->index ? x->index + r : NULL, more, y + c);
}

/* A row of WIDE numbers fills a page, and the processor foresees reads of up to STREAMS pages at a
 * time. */
enum { WIDE = 1024, STREAMS = 16 };

/* x (rows, n), y (1, n): y += sum of rows, one row after the other, so that tiles of rows give the
 * same bits */
static void column_sum(const struct cavs__call *call, int rows, const struct cavs__view *v,
                       unsigned flags)
{
    const int n = v[1].cols, most = n < WIDE || rows < STREAMS ? rows : STREAMS;
    bool more = !(flags & CAVS__FIRST);
    int r = 0;

    (void)call;
    do {
        add_rows(&v[0], r, rows - r < most ? rows - r : most, more, n, v[1].p);
        more = true;
        r += most;
    } while (r < rows);
}

/* y = x[e] + x[e + 1] + ... for entries [e, end), in that order.  Most rows have no entry or one (a
 * parent each in a tree, leaves none), then two. */
static void sum_entries(const struct cavs__view *x, int e, int end, int n, float *y)
{
    const float *first = NULL, *second = NULL;

    if (n <= CAVS__NARROW) {
        cavs__narrow_sum(n, end - e, x->p, x->ld, x->index + e, false, y);
        return;
    }
    for (; e < end && !second; e++)
        if (x->index[e] >= 0) {
            const float *row = x->p + x->index[e] * x->ld;
            if (!first)
                first = row;
            else
                second = row;
        }
    if (!first)
        zero(n, y);
    else if (!second)
        copy(n, first, y);
    else
        cavs__add_two_rows(n, first, second, y);
    for (; e < end; e++)
        if (x->index[e] >= 0)
            cavs__add_row(n, x->p + x->index[e] * x->ld, y);
}

/* Fetches the first of what sum_entries() will read. */
CAVS__FETCHES void fetch_entries(const struct cavs__view *x, int e, int end, int n)
{
    if (e < end && x->index[e] >= 0)
        cavs__fetch(n, x->p + x->index[e] * x->ld);
}

/* x summed (rows, n), y (rows, n): y[r] = sum of the rows named for r */
static void sum_rows(const struct cavs__call *call, int rows, const struct cavs__view *v,
                     unsigned flags)
{
    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        if (r + 1 < rows)
            fetch_entries(&v[0], v[0].ptr[r + 1], v[0].ptr[r + 2], v[1].cols);
        sum_entries(&v[0], v[0].ptr[r], v[0].ptr[r + 1], v[1].cols, v[1].p + r * v[1].ld);
    }
}

/* Fetches the piece that is a few pieces behind the one at e, if there is one before `last`: while
 * one is copied, that many are on their way. */
CAVS__FETCHES void fetch_piece(const struct cavs__view *x, const int32_t *e, const int32_t *last)
{
    enum { AHEAD = 3 };

    if (last - e > 3 * AHEAD)
        cavs__fetch(e[3 * AHEAD + 2], x->p + e[3 * AHEAD] * x->ld);
}

/* x summed, y (rows, n): y[r] = sum of the pieces named for r.  Most have one, as wide as y. */
static void sum_pieces(const struct cavs__call *call, int rows, const struct cavs__view *v,
                       unsigned flags)
{
    const int32_t *last = v[0].index + 3 * (ptrdiff_t)v[0].ptr[rows];

    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        const int32_t *e = v[0].index + 3 * (ptrdiff_t)v[0].ptr[r];
        const int32_t *end = v[0].index + 3 * (ptrdiff_t)v[0].ptr[r + 1];
        float *y = v[1].p + r * v[1].ld;

        if (e < end && e[2] == v[1].cols) {
            fetch_piece(&v[0], e, last);
            copy(v[1].cols, v[0].p + e[0] * v[0].ld, y);
            e += 3;
        } else {
            zero(v[1].cols, y);
        }
        for (; e < end; e += 3) {
            fetch_piece(&v[0], e, last);
            cavs__add_row(e[2], v[0].p + e[0] * v[0].ld, y + e[1]);
        }
    }
}

/* x (rows, n), y (rows, 1): y[r] = sum of row r */
static void row_sum(const struct cavs__call *call, int rows, const struct cavs__view *v,
                    unsigned flags)
{
    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        const float *x = cavs__row(&v[0], r);
        v[1].p[r * v[1].ld] = x ? total(v[0].cols, x) : 0;
    }
}

const struct cavs__kernel cavs__kernel_column_sum = {
    .number = CAVS__KERNEL_column_sum,
    .name = "column_sum",
    .nviews = 2,
    .reduces = true,
    .cpu = column_sum,
    .reference = cavs__reference_column_sum,
};

const struct cavs__kernel cavs__kernel_sum_rows = {
    .number = CAVS__KERNEL_sum_rows,
    .name = "sum_rows",
    .nviews = 2,
    .cpu = sum_rows,
    .reference = cavs__reference_sum_rows,
};

const struct cavs__kernel cavs__kernel_sum_pieces = {
    .number = CAVS__KERNEL_sum_pieces,
    .name = "sum_pieces",
    .nviews = 2,
    .cpu = sum_pieces,
    .reference = cavs__reference_sum_pieces,
};

const struct cavs__kernel cavs__kernel_row_sum = {
    .number = CAVS__KERNEL_row_sum,
    .name = "row_sum",
    .nviews = 2,
    .operands = "xn",
    .cpu = row_sum,
    .reference = cavs__reference_row_sum,
};
