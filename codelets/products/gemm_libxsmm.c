/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_libxsmm.c - small products through libxsmm's run-time generated kernels.
 *
 * libxsmm is column-major: y = x w of row-major operands is y^T = w^T x^T to it, so w is its first
 * operand and columns are its "m".  Kernels are generated for tiles of at most 64 x 64 and any
 * depth; the leading dimensions are part of a kernel, which libxsmm looks up in its own table
 * (about 50 ns).
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "codelets/products/blocks.h"
#include "codelets/products/gemm_providers.h"

#include <libxsmm.h>
#include <string.h>

#define TILE     64
#define DEPTH    2048
#define DEPTH_TN 256

void cavs__gemm_libxsmm_init(void)
{
    libxsmm_init();
    libxsmm_set_verbosity(0);
}

static bool available(void)
{
    return libxsmm_get_target_archid() >= LIBXSMM_X86_AVX2;
}

/* c (rows, cols) = or += a b with `depth` at a time; a is transposed or not; one step is from one
 * depth to the next */
struct product {
    int rows, cols, depth, block;
    const float *a, *b;
    float *c;
    int lda, ldb, ldc, flags;
    ptrdiff_t row, step; /* of a */
    bool load;
};

/* All columns of up to TILE rows: whole tiles with one kernel, then what is left of the columns. */
static void band(const struct product *t, int rows, int depth, const float *a, const float *b,
                 float *c)
{
    const float one = 1, beta = t->load;

    for (int j = 0; j < t->cols;) {
        const int cols = smaller(TILE, t->cols - j);
        const int end = cols == TILE ? t->cols / TILE * TILE : t->cols;
        const libxsmm_smmfunction f = libxsmm_smmdispatch(cols, rows, depth, &t->ldb, &t->lda,
                                                          &t->ldc, &one, &beta, &t->flags, NULL);
        for (; j < end; j += cols)
            f(b + j, a, c + j);
    }
}

static void multiply(struct product t)
{
    if (t.depth == 0 && !t.load)
        clear(t.rows, t.cols, t.c, t.ldc);
    for (int p = 0; p < t.depth; p += t.block) {
        for (int i = 0; i < t.rows; i += TILE)
            band(&t, smaller(TILE, t.rows - i), smaller(t.block, t.depth - p),
                 t.a + i * t.row + p * t.step, t.b + p * (ptrdiff_t)t.ldb,
                 t.c + i * (ptrdiff_t)t.ldc);
        t.load = true;
    }
}

/* y (m, n) = or += x (m, k) w (k, n) */
static void gemm(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w, ptrdiff_t ldw,
                 float *y, ptrdiff_t ldy, bool accumulate)
{
    multiply((struct product){.rows = m,
                              .cols = n,
                              .depth = k,
                              .block = DEPTH,
                              .a = x,
                              .b = w,
                              .c = y,
                              .lda = (int)ldx,
                              .ldb = (int)ldw,
                              .ldc = (int)ldy,
                              .row = ldx,
                              .step = 1,
                              .load = accumulate});
}

/* dw (k, n) = or += x^T dy, x (m, k), dy (m, n) */
static void gemm_tn(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *dy,
                    ptrdiff_t lddy, float *dw, ptrdiff_t lddw, bool accumulate)
{
    multiply((struct product){.rows = k,
                              .cols = n,
                              .depth = m,
                              .block = DEPTH_TN,
                              .a = x,
                              .b = dy,
                              .c = dw,
                              .lda = (int)ldx,
                              .ldb = (int)lddy,
                              .ldc = (int)lddw,
                              .row = 1,
                              .step = ldx,
                              .flags = LIBXSMM_GEMM_FLAG_TRANS_B,
                              .load = accumulate});
}

const struct cavs__gemm_provider cavs__gemm_libxsmm = {
    .name = "libxsmm",
    .available = available,
    .gemm = gemm,
    .gemm_tn = gemm_tn,
};
