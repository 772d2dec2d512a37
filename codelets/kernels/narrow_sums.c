/* SPDX-License-Identifier: Apache-2.0 */
/* narrow_sums.c - see narrow_sums.h. */
#include "codelets/kernels/narrow_sums.h"

#include <string.h>

#include "codelets/products/simd.h"

enum { LANES = 16 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

static inline __attribute__((always_inline)) const float *row(const float *x, ptrdiff_t ld,
                                                              const int32_t *index, int e)
{
    if (!index)
        return x + e * ld;
    return index[e] < 0 ? NULL : x + index[e] * ld;
}

/* `vectors` times LANES columns */
static inline __attribute__((always_inline)) void sum_vectors(int vectors, int count,
                                                              const float *x, ptrdiff_t ld,
                                                              const int32_t *index, bool more,
                                                              float *y)
{
    lanes sum[CAVS__NARROW / LANES] = {{0}};

    for (int i = 0; i < vectors && more; i++)
        sum[i] = *(const lanes *)(y + i * LANES);
    for (int e = 0; e < count; e++) {
        const float *from = row(x, ld, index, e);

        for (int i = 0; i < vectors && from; i++)
            sum[i] += *(const lanes *)(from + i * LANES);
    }
    for (int i = 0; i < vectors; i++)
        *(lanes *)(y + i * LANES) = sum[i];
}

/* n < LANES columns */
static inline __attribute__((always_inline)) void sum_rest(int n, int count, const float *x,
                                                           ptrdiff_t ld, const int32_t *index,
                                                           bool more, float *y)
{
    if (!more)
        memset(y, 0, (size_t)n * sizeof *y);
    for (int e = 0; e < count; e++) {
        const float *from = row(x, ld, index, e);

        for (int j = 0; j < n && from; j++)
            y[j] += from[j];
    }
}

CAVS__CLONES void cavs__narrow_sum(int n, int count, const float *x, ptrdiff_t ld,
                                   const int32_t *index, bool more, float *y)
{
    int whole = n / LANES;

    switch (whole) {
    case 1: sum_vectors(1, count, x, ld, index, more, y); break;
    case 2: sum_vectors(2, count, x, ld, index, more, y); break;
    case 3: sum_vectors(3, count, x, ld, index, more, y); break;
    case 4: sum_vectors(4, count, x, ld, index, more, y); break;
    }
    if (n > whole * LANES)
        sum_rest(n - whole * LANES, count, x + whole * LANES, ld, index, more, y + whole * LANES);
}
