/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bf16_reference.c - the oracle: operands rounded by arithmetic, three loops, sums in double, no
 * thought for speed.  Kept for ever.
 */
#include "codelets/products/bf16_providers.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool always(void)
{
    return true;
}

/* x with 8 significant bits */
static double rounded(float x)
{
    int exponent;

    if (!isfinite(x))
        return x;
    if (fabsf(x) < FLT_MIN)
        return copysign(0, x);
    frexp(x, &exponent);
    const double y = ldexp(nearbyint(ldexp(x, 8 - exponent)), exponent - 8);
    return fabs(y) > FLT_MAX ? copysign(INFINITY, y) : y;
}

static double number(uint32_t bits)
{
    float x;

    bits <<= 16;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static double weight(const uint32_t *w, ptrdiff_t ldw, int p, int j)
{
    const uint32_t pair =
        w[j / CAVS__BF16_PANEL * ldw + p / 2 * (ptrdiff_t)CAVS__BF16_PANEL + j % CAVS__BF16_PANEL];

    return number(p % 2 ? pair >> 16 : pair & 0xffff);
}

typedef double number_fn(const void *x, ptrdiff_t i);

static double round_number(const void *x, ptrdiff_t i)
{
    return rounded(((const float *)x)[i]);
}

static double rounded_number(const void *x, ptrdiff_t i)
{
    return number(((const uint16_t *)x)[i]);
}

/* y (m, n) = or += x (m, k) w */
static void multiply(int m, int n, int k, number_fn *f, const void *x, ptrdiff_t ldx,
                     const uint32_t *w, ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = accumulate ? y[i * ldy + j] : 0;
            for (int p = 0; p < k; p++)
                sum += f(x, i * ldx + p) * weight(w, ldw, p, j);
            y[i * ldy + j] = (float)sum;
        }
}

static void gemm(int m, int n, int k, const float *x, ptrdiff_t ldx, const uint32_t *w,
                 ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    multiply(m, n, k, round_number, x, ldx, w, ldw, y, ldy, accumulate);
}

static void gemm_rounded(int m, int n, int k, const uint16_t *x, ptrdiff_t ldx, const uint32_t *w,
                         ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    multiply(m, n, k, rounded_number, x, ldx, w, ldw, y, ldy, accumulate);
}

static double number_of(const struct cavs__gemm_rows *x, int r, int c)
{
    const float *row = cavs__gemm_row(x, r);

    return row ? rounded(row[c]) : 0;
}

/* dw (k, n) = or += x^T dy, x (m, k), dy (m, n) */
static void gemm_tn(int m, int n, int k, const struct cavs__gemm_rows *x,
                    const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw, bool accumulate)
{
    for (int p = 0; p < k; p++)
        for (int j = 0; j < n; j++) {
            double sum = accumulate ? dw[p * lddw + j] : 0;
            for (int i = 0; i < m; i++)
                sum += number_of(x, i, p) * number_of(dy, i, j);
            dw[p * lddw + j] = (float)sum;
        }
}

const struct cavs__bf16_provider cavs__bf16_reference = {
    .name = "reference",
    .available = always,
    .gemm = gemm,
    .gemm_rounded = gemm_rounded,
    .gemm_tn = gemm_tn,
};
