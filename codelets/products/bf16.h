/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bf16.h - single-threaded matrix products whose operands are rounded to bfloat16 and whose sums
 * are float32, behind one small table of providers.
 *
 * Rounding is to the nearest, ties to even: large finite numbers become Inf, NaN stays NaN.
 * Numbers below 2^-126 count as zero, in operands and, on AMX and AVX512_BF16, in sums.
 *
 * Weights w (k, n) are packed in panels of CAVS__BF16_PANEL columns.  An element is a 32-bit pair
 * of numbers that stand one above the other, w(2p, j) in its lower half and w(2p + 1, j) in its
 * upper, in row p of the panel, which is contiguous.  A panel has a whole multiple of
 * CAVS__BF16_PAIRS rows of pairs.  What lies outside of w is zeros, which packing never writes: a
 * packed array begins as zeros.
 *
 * The bits of a row of y do not depend on the rows beside it, nor on how rows are split over calls.
 * Those of dw depend on how calls that accumulate split the rows, except by multiples of
 * CAVS__BF16_DEPTH.  "converted" promises as much as the float32 products that it uses.  Providers
 * differ from each other in the last digits of a sum.
 */
#ifndef CAVS_CODELETS_PRODUCTS_BF16_H
#define CAVS_CODELETS_PRODUCTS_BF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codelets/products/gemm.h"

#define CAVS__BF16_PANEL 64
#define CAVS__BF16_PAIRS 16
#define CAVS__BF16_DEPTH (2 * CAVS__BF16_PAIRS)

/* ldx, ldy, lddy, lddw in numbers, ldw in pairs: from one panel to the next.  Operands need no
 * alignment, but packed weights like that of cache lines. */
struct cavs__bf16_provider {
    const char *name;
    bool (*available)(void);
    /* y (m, n) = or += x (m, k) w; any dimension may be 0 (k = 0 gives zeros unless
     * accumulating) */
    void (*gemm)(int m, int n, int k, const float *x, ptrdiff_t ldx, const uint32_t *w,
                 ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate);
    /* the same of rows that cavs__bf16_round() (codelets/bf16_pack.h) has rounded */
    void (*gemm_rounded)(int m, int n, int k, const uint16_t *x, ptrdiff_t ldx, const uint32_t *w,
                         ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate);
    /* dw (k, n) = or += x^T dy, x (m, k), dy (m, n), whose rows may be anywhere: the sum over m
     * runs in a fixed order */
    void (*gemm_tn)(int m, int n, int k, const struct cavs__gemm_rows *x,
                    const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw, bool accumulate);
};

/* NULL-terminated, best first: "amx", "avx512_bf16", "converted" (rounds, and lets the float32
 * products of gemm.h multiply: no faster than these), "reference" (naive, sums in double). */
extern const struct cavs__bf16_provider *const cavs__bf16_providers[];
/* The provider in use: the first available one, or the one named by the environment variable
 * CAVS_BF16.  Asks the kernel for the use of AMX, once.  Thread-safe. */
const struct cavs__bf16_provider *cavs__bf16(void);

/* Pairs of a panel of w (k, n), and panels. */
static inline ptrdiff_t cavs__bf16_panel_size(int k)
{
    return (ptrdiff_t)((k + CAVS__BF16_DEPTH - 1) / CAVS__BF16_DEPTH) * CAVS__BF16_PAIRS *
           CAVS__BF16_PANEL;
}

static inline int cavs__bf16_panels(int n)
{
    return (n + CAVS__BF16_PANEL - 1) / CAVS__BF16_PANEL;
}

#endif
