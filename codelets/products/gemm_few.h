/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_few.h - dw = x^T dy of a few rows.
 *
 * So few rows make a dw that is much larger than they are: what takes time is writing it.  Tiles
 * (gemm_tile.h) write a cache line or two of many of its rows before the next of the same rows; of
 * rows some kilobytes apart, those lines push each other out of L1.  Here a few rows of dw are
 * written side by side, each from its first column to its last, and nothing is copied (k 32,
 * n 1024, on a core of Zen 5: of one row 1.4 us instead of 5.3, of eight 3.1 instead of 5.8).
 *
 * A file for one instruction set includes this after gemm_tile.h.
 */
#include "codelets/products/blocks.h"

/* Rows of x and dy, at most, and rows of dw beside one another. */
enum { FEW = 8, FEW_WRITTEN = 4 };

/* dw (rows, n) = or += x^T dy, strip: x (steps, rows), dy: its rows; rows, steps are constants. */
TILE_INLINE void few_rows(int rows, int steps, int n, const float *strip, const float *const *dy,
                          float *dw, ptrdiff_t lddw, bool load)
{
    for (int j = 0; j < n; j += LANES) {
        const bool part = n - j < LANES;
        vec acc[FEW_WRITTEN];

        UNROLL
        for (int r = 0; r < rows; r++)
            acc[r] = load ? load_at(dw + r * lddw + j, part, n - j) : vec_zero();
        UNROLL
        for (int i = 0; i < steps; i++) {
            vec b = load_at(dy[i] + j, part, n - j);

            IN_REGISTER(b);
            UNROLL
            for (int r = 0; r < rows; r++)
                acc[r] = vec_fma(vec_set(strip[i * rows + r]), b, acc[r]);
        }
        UNROLL
        for (int r = 0; r < rows; r++) {
            if (part)
                vec_store_part(dw + r * lddw + j, n - j, acc[r]);
            else
                vec_store(dw + r * lddw + j, acc[r]);
        }
    }
}

/* Columns [c, c + rows) of x, which are rows of dw. */
TILE_INLINE void few_columns(int rows, int steps, int n, int c, const float *const *x,
                             const float *const *dy, float *dw, ptrdiff_t lddw, bool load)
{
    float strip[FEW * FEW_WRITTEN];

    for (int i = 0; i < steps; i++)
        memcpy(strip + i * rows, x[i] + c, (size_t)rows * sizeof *strip);
    few_rows(rows, steps, n, strip, dy, dw + c * lddw, lddw, load);
}

#define FEW_ARGUMENTS                                                                       \
    int n, int k, const float *const *x, const float *const *dy, float *dw, ptrdiff_t lddw, \
        bool load

#define FEW_INSTANCE(steps)                                               \
    TILE_TARGET static void few_##steps(FEW_ARGUMENTS)                    \
    {                                                                     \
        int c = 0;                                                        \
                                                                          \
        for (; c + FEW_WRITTEN <= k; c += FEW_WRITTEN)                    \
            few_columns(FEW_WRITTEN, steps, n, c, x, dy, dw, lddw, load); \
        for (; c < k; c++)                                                \
            few_columns(1, steps, n, c, x, dy, dw, lddw, load);           \
    }

FEW_INSTANCE(1)
FEW_INSTANCE(2)
FEW_INSTANCE(3)
FEW_INSTANCE(4)
FEW_INSTANCE(5)
FEW_INSTANCE(6)
FEW_INSTANCE(7)
FEW_INSTANCE(8)

typedef void few_fn(FEW_ARGUMENTS);

static few_fn *const few_of[] = {few_1, few_2, few_3, few_4, few_5, few_6, few_7, few_8};
_Static_assert(sizeof few_of / sizeof *few_of == FEW, "an instance for each number of rows");

/* Whether there are so few rows, and all of them; then also where they are. */
static bool are_few(int m, const struct cavs__gemm_rows *v, const float **row)
{
    bool all = m > 0 && m <= FEW;

    for (int i = 0; all && i < m; i++)
        all = (row[i] = cavs__gemm_row(v, i)) != NULL;
    return all;
}

static void gemm_tn_few(int m, int n, int k, const struct cavs__gemm_rows *x,
                        const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw,
                        bool accumulate)
{
    const float *xs[FEW], *dys[FEW];

    if (are_few(m, x, xs) && are_few(m, dy, dys))
        few_of[m - 1](n, k, xs, dys, dw, lddw, accumulate);
    else
        gemm_tn_rows(m, n, k, x, dy, dw, lddw, accumulate);
}
