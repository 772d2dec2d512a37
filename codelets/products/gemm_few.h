/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_few.h - products of few rows with a matrix that comes from memory.
 *
 * Such a product takes as long as its matrix takes to arrive.  A processor reads ahead best where
 * several rows of some kilobytes are gone through side by side, a cache line of each in turn: on
 * Zen 4 twice as fast as in tiles (gemm_tile.h), which are as wide as registers allow.  So here
 * a step is a vector of columns of some rows of w.  For y = x w^T they are turned in registers:
 * each number of y stays one chain of fused multiply-adds in the order of the depth, the same bits
 * as in any other of our products.
 *
 * A file for one instruction set includes this after gemm_tile.h, which says what it has to define
 * beforehand; here also
 *     void vec_turn(vec r[LANES]): lane j of r[i] and lane i of r[j] change places.
 */
#include "codelets/products/blocks.h"

/* Rows of w that are read side by side; many more are more than a processor follows. */
#define FEW_STEPS LANES

/* y (rows, n) = or += x (rows, steps) w (steps, n); rows and steps are constants. */
TILE_INLINE void few_step(int rows, int steps, int n, const float *x, ptrdiff_t ldx, const float *w,
                          ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool load)
{
    for (int j = 0; j < n; j += LANES) {
        const bool part = n - j < LANES;
        vec acc[CAVS__GEMM_FEW];

        UNROLL
        for (int r = 0; r < rows; r++)
            acc[r] = load ? load_at(y + r * ldy + j, part, n - j) : vec_zero();
        UNROLL
        for (int i = 0; i < steps; i++) {
            vec b = load_at(w + i * ldw + j, part, n - j);

            IN_REGISTER(b);
            UNROLL
            for (int r = 0; r < rows; r++)
                acc[r] = vec_fma(vec_set(x[r * ldx + i]), b, acc[r]);
        }
        UNROLL
        for (int r = 0; r < rows; r++) {
            if (part)
                vec_store_part(y + r * ldy + j, n - j, acc[r]);
            else
                vec_store(y + r * ldy + j, acc[r]);
        }
    }
}

TILE_INLINE void few(int rows, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                     ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    int p = 0;

    for (; p + FEW_STEPS <= k; p += FEW_STEPS, accumulate = true)
        few_step(rows, FEW_STEPS, n, x + p, ldx, w + p * ldw, ldw, y, ldy, accumulate);
    for (; p < k; p++, accumulate = true)
        few_step(rows, 1, n, x + p, ldx, w + p * ldw, ldw, y, ldy, accumulate);
    if (!accumulate) /* there is no depth */
        clear(rows, n, y, ldy);
}

/* The next numbers of the rows of w, at most LANES of each, turned over: those of one step of the
 * depth are a vector.  Where there are fewer rows the last one stands for those behind it, whose
 * sums nobody stores. */
TILE_INLINE void load_turned(vec *b, int rows_of_w, bool part, int steps, const float *w,
                             ptrdiff_t ldw)
{
    UNROLL
    for (int i = 0; i < LANES; i++)
        b[i] = load_at(w + (i < rows_of_w ? i : rows_of_w - 1) * ldw, part, steps);
    vec_turn(b);
}

/* y (rows, n) = or += x (rows, k) w^T, w (n, k), n at most LANES */
TILE_INLINE void few_turned_step(int rows, int n, int k, const float *x, ptrdiff_t ldx,
                                 const float *w, ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool load)
{
    vec acc[CAVS__GEMM_FEW], b[LANES];
    int p = 0;

    UNROLL
    for (int r = 0; r < rows; r++)
        acc[r] = load ? load_at(y + r * ldy, true, n) : vec_zero();
    for (; p + LANES <= k; p += LANES) {
        load_turned(b, n, false, LANES, w + p, ldw);
        UNROLL
        for (int i = 0; i < LANES; i++) {
            UNROLL
            for (int r = 0; r < rows; r++)
                acc[r] = vec_fma(vec_set(x[r * ldx + p + i]), b[i], acc[r]);
        }
    }
    if (p < k)
        load_turned(b, n, true, k - p, w + p, ldw);
    for (int i = 0; p + i < k; i++) {
        UNROLL
        for (int r = 0; r < rows; r++)
            acc[r] = vec_fma(vec_set(x[r * ldx + p + i]), b[i], acc[r]);
    }
    UNROLL
    for (int r = 0; r < rows; r++)
        vec_store_part(y + r * ldy, n, acc[r]);
}

TILE_INLINE void few_turned(int rows, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                            ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    int j = 0;

    for (; j + LANES <= n; j += LANES)
        few_turned_step(rows, LANES, k, x, ldx, w + j * ldw, ldw, y + j, ldy, accumulate);
    if (j < n)
        few_turned_step(rows, n - j, k, x, ldx, w + j * ldw, ldw, y + j, ldy, accumulate);
}

#define FEW_ARGUMENTS                                                                     \
    int n, int k, const float *x, ptrdiff_t ldx, const float *w, ptrdiff_t ldw, float *y, \
        ptrdiff_t ldy, bool accumulate

#define FEW_INSTANCE(rows)                                          \
    TILE_TARGET static void few_##rows(FEW_ARGUMENTS)               \
    {                                                               \
        few(rows, n, k, x, ldx, w, ldw, y, ldy, accumulate);        \
    }                                                               \
    TILE_TARGET static void few_turned_##rows(FEW_ARGUMENTS)        \
    {                                                               \
        few_turned(rows, n, k, x, ldx, w, ldw, y, ldy, accumulate); \
    }

FEW_INSTANCE(1)
FEW_INSTANCE(2)
FEW_INSTANCE(3)
FEW_INSTANCE(4)
FEW_INSTANCE(5)
FEW_INSTANCE(6)

typedef void few_fn(FEW_ARGUMENTS);

static few_fn *const few_of[] = {few_1, few_2, few_3, few_4, few_5, few_6};
static few_fn *const few_turned_of[] = {few_turned_1, few_turned_2, few_turned_3,
                                        few_turned_4, few_turned_5, few_turned_6};
_Static_assert(sizeof few_of / sizeof *few_of == CAVS__GEMM_FEW &&
                   sizeof few_turned_of / sizeof *few_turned_of == CAVS__GEMM_FEW,
               "an instance for each number of rows");

static void gemm_few(int m, FEW_ARGUMENTS)
{
    if (m > 0)
        few_of[m - 1](n, k, x, ldx, w, ldw, y, ldy, accumulate);
}

static void gemm_few_t(int m, FEW_ARGUMENTS)
{
    if (m > 0)
        few_turned_of[m - 1](n, k, x, ldx, w, ldw, y, ldy, accumulate);
}
