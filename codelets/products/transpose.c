/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose.c - y = x^T, in registers by blocks of 8 x 8.
 *
 * Rows of y are finished one after the other as far as x goes, two blocks at a time: 64 bytes, a
 * cache line.
 */
#include "codelets/products/transpose.h"
#include "codelets/products/simd.h"

#include <string.h>

#define LANES 8
#define OP    static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

#define LOW(a, b)         __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH(a, b)        __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_PAIRS(a, b)   __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_PAIRS(a, b)  __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW_HALVES(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

#include "codelets/products/turn_fours.h"

/* x (8, 8), y (8, 8) */
OP void square(const float *x, ptrdiff_t ldx, float *y, ptrdiff_t ldy)
{
    vec a[LANES], b[LANES];

    for (int i = 0; i < LANES; i++)
        memcpy(&a[i], x + i * ldx, sizeof(vec));
    turn_fours(a);
    for (int i = 0; i < LANES / 2; i++) {
        b[i] = LOW_HALVES(a[i], a[i + LANES / 2]);
        b[i + LANES / 2] = HIGH_HALVES(a[i], a[i + LANES / 2]);
    }
    for (int i = 0; i < LANES; i++)
        memcpy(y + i * ldy, &b[i], sizeof(vec));
}

static void edge(int rows, int cols, const float *x, ptrdiff_t ldx, float *y, ptrdiff_t ldy)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            y[c * ldy + r] = x[r * ldx + c];
}

/* x (rows, cols) -> y (cols, rows) */
CAVS__CLONES void cavs__transpose(int rows, int cols, const float *x, ptrdiff_t ldx, float *y,
                                  ptrdiff_t ldy)
{
    const int square_rows = rows / LANES * LANES, square_cols = cols / LANES * LANES;

    for (int c = 0; c < square_cols; c += LANES)
        for (int r = 0; r < square_rows; r += 2 * LANES) {
            square(x + r * ldx + c, ldx, y + c * ldy + r, ldy);
            if (r + LANES < square_rows)
                square(x + (r + LANES) * ldx + c, ldx, y + c * ldy + r + LANES, ldy);
        }
    edge(square_rows, cols - square_cols, x + square_cols, ldx, y + square_cols * ldy, ldy);
    edge(rows - square_rows, cols, x + square_rows * ldx, ldx, y + square_rows, ldy);
}
