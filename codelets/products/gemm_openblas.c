/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_openblas.c - the portable provider: any CPU that OpenBLAS knows, best for large products. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "codelets/products/blocks.h"
#include "codelets/products/gemm_providers.h"

#include <cblas.h>
#include <string.h>

void cavs__gemm_openblas_init(void)
{
    /* the cores belong to StarPU's workers, each of which calls BLAS for itself */
#ifdef HAVE_OPENBLAS_SET_NUM_THREADS
    openblas_set_num_threads(1);
#endif
}

static bool always(void)
{
    return true;
}

/* BLAS leaves y alone when k is 0 and some versions refuse the leading dimensions of empty
 * matrices. */
static bool empty(int rows, int cols, int depth, float *y, ptrdiff_t ldy, bool accumulate)
{
    if (rows > 0 && cols > 0 && depth > 0)
        return false;
    if (!accumulate)
        clear(rows, cols, y, ldy);
    return true;
}

/* y (m, n) = or += x (m, k) w (k, n) */
static void gemm(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w, ptrdiff_t ldw,
                 float *y, ptrdiff_t ldy, bool accumulate)
{
    if (!empty(m, n, k, y, ldy, accumulate))
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x, (int)ldx, w, (int)ldw,
                    accumulate, y, (int)ldy);
}

/* dw (k, n) = or += x^T dy, x (m, k), dy (m, n) */
static void gemm_tn(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *dy,
                    ptrdiff_t lddy, float *dw, ptrdiff_t lddw, bool accumulate)
{
    if (!empty(k, n, m, dw, lddw, accumulate))
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, n, m, 1, x, (int)ldx, dy, (int)lddy,
                    accumulate, dw, (int)lddw);
}

const struct cavs__gemm_provider cavs__gemm_openblas = {
    .name = "openblas",
    .available = always,
    .gemm = gemm,
    .gemm_tn = gemm_tn,
};
