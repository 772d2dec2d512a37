/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_reference.c - the oracle: three loops, sums in double, no thought for speed.  It is kept for
 * ever. */
#include "codelets/products/gemm_providers.h"

static bool always(void)
{
    return true;
}

/* y (m, n) = or += x (m, k) w (k, n) */
static void gemm(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w, ptrdiff_t ldw,
                 float *y, ptrdiff_t ldy, bool accumulate)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = accumulate ? y[i * ldy + j] : 0;
            for (int p = 0; p < k; p++)
                sum += (double)x[i * ldx + p] * w[p * ldw + j];
            y[i * ldy + j] = (float)sum;
        }
}

/* dw (k, n) = or += x^T dy, x (m, k), dy (m, n) */
static void gemm_tn(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *dy,
                    ptrdiff_t lddy, float *dw, ptrdiff_t lddw, bool accumulate)
{
    for (int p = 0; p < k; p++)
        for (int j = 0; j < n; j++) {
            double sum = accumulate ? dw[p * lddw + j] : 0;
            for (int i = 0; i < m; i++)
                sum += (double)x[i * ldx + p] * dy[i * lddy + j];
            dw[p * lddw + j] = (float)sum;
        }
}

const struct cavs__gemm_provider cavs__gemm_reference = {
    .name = "reference",
    .available = always,
    .gemm = gemm,
    .gemm_tn = gemm_tn,
};
