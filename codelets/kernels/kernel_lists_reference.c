/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_lists_reference.c - what the kernels over lists and over selected blocks mean: plain loops
 * in double.  Kept for ever.
 *
 * Not compiled as a kernel file: this is the oracle and keeps strict arithmetic.
 */
#include <math.h>

#include "codelets/kernels/kernel_reference.h"

/* The entries of row r of a listed view are those from begin() on and before end(). */
static int begin(const struct cavs__view *v, int r)
{
    return v->ptr[r] - v->ptr[0];
}

static int end(const struct cavs__view *v, int r)
{
    return v->ptr[r + 1] - v->ptr[0];
}

/* ---- selected blocks ---- */

void cavs__reference_gemm_select(const struct cavs__call *call, int rows,
                                 const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[3].cols; j++) {
            const int id = v[1].index[r];
            double sum = 0;
            for (int p = 0; id >= 0 && p < v[0].cols; p++)
                sum += at(&v[0], r, p) * at(&v[2], id * v[0].cols + p, j);
            *out(&v[3], r, j) = (float)sum;
        }
}

void cavs__reference_gemm_select_t(const struct cavs__call *call, int rows,
                                   const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[3].cols; j++) {
            const int id = v[1].index[r];
            double sum = 0;
            for (int p = 0; id >= 0 && p < v[0].cols; p++)
                sum += at(&v[0], r, p) * at(&v[2], id * v[3].cols + j, p);
            *out(&v[3], r, j) = (float)sum;
        }
}

void cavs__reference_gemm_tn_select(const struct cavs__call *call, int rows,
                                    const struct cavs__view *v, unsigned flags)
{
    const int first = call->block > 0 ? call->block - 1 : 0;

    for (int p = 0; p < (call->block > 0 ? v[0].cols : call->rows); p++)
        for (int j = 0; j < v[3].cols; j++) {
            double sum = flags & CAVS__FIRST ? 0 : *out(&v[3], p, j);
            for (int r = 0; r < rows; r++)
                if (v[2].index[r] == first + p / v[0].cols)
                    sum += at(&v[0], r, p % v[0].cols) * at(&v[1], r, j);
            *out(&v[3], p, j) = (float)sum;
        }
}

/* ---- lists ---- */

void cavs__reference_gemm_rows(const struct cavs__call *call, int rows, const struct cavs__view *v,
                               unsigned flags)
{
    int m = call->rows, k = v[0].cols / m, n = v[2].cols / m;

    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < m * n; i++) {
            double sum = 0;
            for (int p = 0; p < k; p++)
                sum += at(&v[0], r, call->transposed == 1 ? p * m + i / n : i / n * k + p) *
                       at(&v[1], r, call->transposed == 2 ? i % n * k + p : p * n + i % n);
            *out(&v[2], r, i) = (float)sum;
        }
}

void cavs__reference_list_sum(const struct cavs__call *call, int rows, const struct cavs__view *v,
                              unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[1].cols; j++) {
            double sum = 0;
            for (int e = begin(&v[0], r); e < end(&v[0], r); e++)
                sum += at(&v[0], e, j);
            *out(&v[1], r, j) = (float)sum;
        }
}

/* The first entry of row r that is NaN in column j, or else the largest; -1 without entries. */
static int first_largest(const struct cavs__view *x, int r, int j)
{
    int best = -1;

    for (int e = begin(x, r); e < end(x, r); e++) {
        if (isnan(at(x, e, j)))
            return e;
        if (best < 0 || at(x, e, j) > at(x, best, j))
            best = e;
    }
    return best;
}

void cavs__reference_list_max(const struct cavs__call *call, int rows, const struct cavs__view *v,
                              unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[1].cols; j++) {
            const int best = first_largest(&v[0], r, j);
            *out(&v[1], r, j) = best < 0 ? 0 : (float)at(&v[0], best, j);
        }
}

void cavs__reference_list_max_grad(const struct cavs__call *call, int rows,
                                   const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[0].cols; j++) {
            const int best = first_largest(&v[0], r, j);
            for (int e = begin(&v[0], r); e < end(&v[0], r); e++)
                *out(&v[2], e, j) = e == best ? (float)at(&v[1], r, j) : 0;
        }
}

void cavs__reference_list_softmax(const struct cavs__call *call, int rows,
                                  const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[1].cols; j++) {
            const int best = first_largest(&v[0], r, j);
            double sum = 0;
            for (int e = begin(&v[0], r); e < end(&v[0], r); e++)
                sum += exp(at(&v[0], e, j) - at(&v[0], best, j));
            for (int e = begin(&v[0], r); e < end(&v[0], r); e++)
                *out(&v[1], e, j) = (float)(exp(at(&v[0], e, j) - at(&v[0], best, j)) / sum);
        }
}

void cavs__reference_list_softmax_grad(const struct cavs__call *call, int rows,
                                       const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[0].cols; j++) {
            double sum = 0;
            for (int e = begin(&v[0], r); e < end(&v[0], r); e++)
                sum += at(&v[0], e, j) * at(&v[1], e, j);
            for (int e = begin(&v[0], r); e < end(&v[0], r); e++)
                *out(&v[2], e, j) = (float)(at(&v[0], e, j) * (at(&v[1], e, j) - sum));
        }
}

void cavs__reference_list_share(const struct cavs__call *call, int rows, const struct cavs__view *v,
                                unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        const int n = end(&v[0], r) - begin(&v[0], r);
        *out(&v[1], r, 0) = n > 0 ? (float)(1.0 / n) : 0;
    }
}
