/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_row_products.c - products of two rows, each of which is a matrix: scores against keys,
 * sums weighed by them, outer products.
 *
 * The matrices are small and differ from row to row, so there is nothing to pack: sums run over
 * what lies side by side in memory.  A row's result depends on its own operands only.
 */
#include <string.h>

#include "codelets/kernels/kernel_table.h"
#include "codelets/products/simd.h"

#define INLINE static inline __attribute__((always_inline))

INLINE float inner(int n, const float *a, const float *b)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++)
        sum += a[j] * b[j];
    return sum;
}

/* y (n) += a[0] times row 0 of b (4, n) + a[step] times row 1 + ... */
INLINE void add_four(int n, const float *a, ptrdiff_t step, const float *b, float *y)
{
    float a0 = a[0], a1 = a[step], a2 = a[2 * step], a3 = a[3 * step];

#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] +=
            a0 * b[j] + a1 * b[n + j] + a2 * b[2 * (ptrdiff_t)n + j] + a3 * b[3 * (ptrdiff_t)n + j];
}

INLINE void add_one(int n, float a, const float *b, float *y)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] += a * b[j];
}

/* y (n) = the rows of b (k, n), each times its number of a */
INLINE void weighed_sum(int n, int k, const float *a, ptrdiff_t step, const float *b, float *y)
{
    int p = 0;

    memset(y, 0, (size_t)n * sizeof *y);
    for (; p + 4 <= k; p += 4)
        add_four(n, a + p * step, step, b + (ptrdiff_t)p * n, y);
    for (; p < k; p++)
        add_one(n, a[p * step], b + (ptrdiff_t)p * n, y);
}

/* y (m, n) = a (m, k) b (n, k)^T */
CAVS__CLONES static void products_nt(int m, int n, int k, const float *a, const float *b, float *y)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            *y++ = inner(k, a + (ptrdiff_t)i * k, b + (ptrdiff_t)j * k);
}

/* y (m, n) = a b (k, n); a (m, k) by its steps */
CAVS__CLONES static void products_n(int m, int n, int k, const float *a, ptrdiff_t row,
                                    ptrdiff_t term, const float *b, float *y)
{
    for (int i = 0; i < m; i++, y += n)
        weighed_sum(n, k, a + i * row, term, b, y);
}

/* A column as second operand is a row, too: inner products with the rows of a (m, k), or a sum of
 * those of a (k, m). */
static void product(int transposed, int m, int n, int k, const float *a, const float *b, float *y)
{
    if (n == 1 && transposed == 1)
        products_n(1, m, k, b, 0, 1, a, y);
    else if (transposed == 2 || n == 1)
        products_nt(m, n, k, a, b, y);
    else if (transposed == 1)
        products_n(m, n, k, a, 1, m, b, y);
    else
        products_n(m, n, k, a, k, 1, b, y);
}

/* a (rows, m k), b (rows, k n), y (rows, m n): y[r] = a[r] b[r] */
static void gemm_rows(const struct cavs__call *call, int rows, const struct cavs__view *v,
                      unsigned flags)
{
    int m = call->rows, k = v[0].cols / m, n = v[2].cols / m;

    (void)flags;
    for (int r = 0; r < rows; r++) {
        const float *a = cavs__row(&v[0], r), *b = cavs__row(&v[1], r);
        float *y = v[2].p + r * v[2].ld;

        if (a && b)
            product(call->transposed, m, n, k, a, b, y);
        else
            memset(y, 0, (size_t)v[2].cols * sizeof *y);
    }
}

const struct cavs__kernel cavs__kernel_gemm_rows = {
    .number = CAVS__KERNEL_gemm_rows,
    .name = "gemm_rows",
    .nviews = 3,
    .cpu = gemm_rows,
    .reference = cavs__reference_gemm_rows,
};
