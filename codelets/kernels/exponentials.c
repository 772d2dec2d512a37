/* SPDX-License-Identifier: Apache-2.0 */
/* exponentials.c - the part of a softmax that has to vectorise. */
#include "codelets/kernels/vector_math.h"

#include "codelets/kernels/exponentials.h"
#include "codelets/kernels/kernel_table.h"
#include "codelets/products/simd.h"

#include <string.h>

#define LANES 16

static float largest_of(int n, const float *z)
{
    float largest = z[0];

    for (int j = 1; j < n; j++)
        largest = z[j] > largest ? z[j] : largest;
    return largest;
}

/* Only whole vectors are computed, so that a number's result does not depend on its place. */
CAVS__CLONES void cavs__exponentials(struct cavs__group *g, const struct cavs__view *z, int r,
                                     int rows)
{
    const int n = z->cols;
    float *e = g->e;

    g->rows = rows < CAVS__GROUP_ROWS ? rows : CAVS__GROUP_ROWS;
    for (int i = 0; i < g->rows; i++) {
        const float *row = cavs__row(z, r + i);
        g->largest[i] = row ? largest_of(n, row) : 0;
        for (int j = 0; j < n; j++)
            *e++ = row ? row[j] - g->largest[i] : 0;
    }
    while ((e - g->e) % LANES)
        *e++ = 0;
    const ptrdiff_t filled = e - g->e;
#pragma omp simd
    for (ptrdiff_t j = 0; j < filled; j++)
        g->e[j] = cavs__exp_of_negative(g->e[j]);
    e = g->e;
    for (int i = 0; i < g->rows; i++) {
        g->sum[i] = 0;
        for (int j = 0; j < n; j++)
            g->sum[i] += *e++;
    }
}

/* The same for a row of at least LANES. */
CAVS__CLONES static float largest_by_lanes(int n, const float *z)
{
    float top[LANES];
    int j = LANES;

    memcpy(top, z, sizeof(top));
    for (; j + LANES <= n; j += LANES)
#pragma omp simd
        for (int k = 0; k < LANES; k++)
            top[k] = z[j + k] > top[k] ? z[j + k] : top[k];
    for (; j < n; j++)
        top[0] = z[j] > top[0] ? z[j] : top[0];
    return largest_of(LANES, top);
}

CAVS__CLONES float cavs__exponentials_of_row(int n, const float *z, float *top, float *e)
{
    const float largest = largest_by_lanes(n, z);
    float sum = 0;

    *top = largest;
    if (e) {
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < n; j++)
            sum += e[j] = cavs__exp_of_negative(z[j] - largest);
    } else {
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < n; j++)
            sum += cavs__exp_of_negative(z[j] - largest);
    }
    return sum;
}

CAVS__CLONES void cavs__scale(int n, float factor, const float *e, float *y)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] = factor * e[j];
}
