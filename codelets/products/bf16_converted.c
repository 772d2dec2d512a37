/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bf16_converted.c - bfloat16 products where no instruction multiplies such numbers: operands are
 * rounded, widened to float32 again, and left to the float32 products.
 *
 * That is no faster than these.  It is here so that a model gives (nearly) the same numbers on any
 * processor.
 */
#include "codelets/products/blocks.h"
#include "codelets/products/bf16_providers.h"
#include "codelets/products/bf16_round.h"
#include "codelets/products/gemm.h"

#include <string.h>

/* What is widened in one go: rows, depth.  Slices of a panel are as deep as blocks of x. */
enum { ROWS = 64, DEPTH = 256, COLUMNS = 256 };

static bool always(void)
{
    return true;
}

/* x (m, n) rounded, at the stride n */
static void round_rows(int m, int n, const float *x, ptrdiff_t ldx, float *y)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            y[i * n + j] = cavs__bf16_widened(cavs__bf16_rounded(x[i * ldx + j]));
}

static void widen_rows(int m, int n, const uint16_t *x, ptrdiff_t ldx, float *y)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            y[i * n + j] = cavs__bf16_widened(x[i * ldx + j]);
}

static void widen_slice(int depth, const uint32_t *slice, float *w)
{
    for (int p = 0; p < depth; p++)
        for (int j = 0; j < CAVS__BF16_PANEL; j++) {
            const uint32_t pair = slice[p / 2 * CAVS__BF16_PANEL + j];
            w[p * CAVS__BF16_PANEL + j] = cavs__bf16_widened(p % 2 ? pair >> 16 : pair & 0xffff);
        }
}

/* y (m, n) = or += x w, x (m, k) widened, k <= DEPTH */
static void multiply_block(int m, int n, int k, const float *x, const uint32_t *w, ptrdiff_t ldw,
                           float *y, ptrdiff_t ldy, bool accumulate)
{
    float slice[DEPTH * CAVS__BF16_PANEL] __attribute__((aligned(64)));

    for (int j = 0; j < n; j += CAVS__BF16_PANEL) {
        widen_slice(k, w + j / CAVS__BF16_PANEL * ldw, slice);
        cavs__gemm()->gemm(m, smaller(n - j, CAVS__BF16_PANEL), k, x, k, slice, CAVS__BF16_PANEL,
                           y + j, ldy, accumulate);
    }
}

/* x as float32, or, rounded already, as bf16 */
static void multiply(int m, int n, int k, const float *x, const uint16_t *bf16, ptrdiff_t ldx,
                     const uint32_t *w, ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    float rows[ROWS * DEPTH] __attribute__((aligned(64)));

    if (k <= 0 && !accumulate)
        clear(m, n, y, ldy);
    for (int p = 0; p < k; p += DEPTH)
        for (int i = 0; i < m; i += ROWS) {
            const int r = smaller(m - i, ROWS), depth = smaller(k - p, DEPTH);
            if (x)
                round_rows(r, depth, x + i * ldx + p, ldx, rows);
            else
                widen_rows(r, depth, bf16 + i * ldx + p, ldx, rows);
            multiply_block(r, n, depth, rows, w + p / 2 * CAVS__BF16_PANEL, ldw, y + i * ldy, ldy,
                           accumulate || p > 0);
        }
}

static void gemm(int m, int n, int k, const float *x, ptrdiff_t ldx, const uint32_t *w,
                 ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    multiply(m, n, k, x, NULL, ldx, w, ldw, y, ldy, accumulate);
}

static void gemm_rounded(int m, int n, int k, const uint16_t *x, ptrdiff_t ldx, const uint32_t *w,
                         ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    multiply(m, n, k, NULL, x, ldx, w, ldw, y, ldy, accumulate);
}

/* Rows [r, r + m) and columns [c, c + n) of x rounded, at the stride n */
static void round_block(const struct cavs__gemm_rows *x, int r, int m, int c, int n, float *y)
{
    for (int i = 0; i < m; i++) {
        const float *row = cavs__gemm_row(x, r + i);

        if (row)
            round_rows(1, n, row + c, n, y + i * n);
        else
            clear(1, n, y + i * n, n);
    }
}

static void gemm_tn(int m, int n, int k, const struct cavs__gemm_rows *x,
                    const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw, bool accumulate)
{
    float xs[ROWS * COLUMNS] __attribute__((aligned(64)));
    float dys[ROWS * COLUMNS] __attribute__((aligned(64)));

    if (m <= 0 && !accumulate)
        clear(k, n, dw, lddw);
    for (int i = 0; i < m; i += ROWS)
        for (int p = 0; p < k; p += COLUMNS) {
            const int rows = smaller(m - i, ROWS), height = smaller(k - p, COLUMNS);
            round_block(x, i, rows, p, height, xs);
            for (int j = 0; j < n; j += COLUMNS) {
                const int width = smaller(n - j, COLUMNS);
                round_block(dy, i, rows, j, width, dys);
                cavs__gemm()->gemm_tn(rows, width, height, xs, height, dys, width,
                                      dw + p * lddw + j, lddw, accumulate || i > 0);
            }
        }
}

const struct cavs__bf16_provider cavs__bf16_converted = {
    .name = "converted",
    .available = always,
    .gemm = gemm,
    .gemm_rounded = gemm_rounded,
    .gemm_tn = gemm_tn,
};
