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

#define N 8

typedef float vec __attribute__((vector_size(N * sizeof(float))));

/* a's and b's numbers in turn, from the lower or the upper half of each group of four */
#define LOW(a, b)         __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH(a, b)        __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_PAIRS(a, b)   __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_PAIRS(a, b)  __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW_HALVES(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

/* x (8, 8), y (8, 8) */
static inline __attribute__((always_inline)) void square(const float *x, ptrdiff_t ldx, float *y,
                                                         ptrdiff_t ldy)
{
    vec a[N], b[N];

    for (int i = 0; i < N; i++)
        memcpy(&a[i], x + i * ldx, sizeof(vec));
    for (int i = 0; i < N; i += 2) {
        b[i] = LOW(a[i], a[i + 1]);
        b[i + 1] = HIGH(a[i], a[i + 1]);
    }
    for (int i = 0; i < N; i += 4) {
        a[i] = LOW_PAIRS(b[i], b[i + 2]);
        a[i + 1] = HIGH_PAIRS(b[i], b[i + 2]);
        a[i + 2] = LOW_PAIRS(b[i + 1], b[i + 3]);
        a[i + 3] = HIGH_PAIRS(b[i + 1], b[i + 3]);
    }
    for (int i = 0; i < N / 2; i++) {
        b[i] = LOW_HALVES(a[i], a[i + N / 2]);
        b[i + N / 2] = HIGH_HALVES(a[i], a[i + N / 2]);
    }
    for (int i = 0; i < N; i++)
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
    const int square_rows = rows / N * N, square_cols = cols / N * N;

    for (int c = 0; c < square_cols; c += N)
        for (int r = 0; r < square_rows; r += 2 * N) {
            square(x + r * ldx + c, ldx, y + c * ldy + r, ldy);
            if (r + N < square_rows)
                square(x + (r + N) * ldx + c, ldx, y + c * ldy + r + N, ldy);
        }
    edge(square_rows, cols - square_cols, x + square_cols, ldx, y + square_cols * ldy, ldy);
    edge(rows - square_rows, cols, x + square_rows * ldx, ldx, y + square_rows, ldy);
}
