/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_dropout.c - zeros drawn by a counter-based generator; philox.h says which word decides on
 * which column. */
#include "codelets/kernels/kernel_table.h"
#include "codelets/kernels/philox.h"
#include "codelets/products/simd.h"

#include <string.h>

enum { LANES = 16, BLOCK = 4 * LANES /* columns that LANES counters serve */ };

/* Parts of drop(), and of its clones. */
#define OP static inline __attribute__((always_inline))

/* word[w][j]: word w of counter (first + j, site, 0, 0).  What is above 32 bits stays until it is
 * in the way: so words stay where products of 64 bits want them. */
OP void draw(uint32_t first, uint32_t site, uint32_t key0, uint32_t key1, uint32_t word[4][LANES])
{
#pragma omp simd
    for (uint32_t j = 0; j < LANES; j++) {
        uint64_t c0 = first + j, c1 = site, c2 = 0, c3 = 0;

        for (uint32_t i = 0; i < CAVS__PHILOX_ROUNDS; i++) {
            const uint64_t p = CAVS__PHILOX_M0 * (c0 & UINT32_MAX),
                           q = CAVS__PHILOX_M1 * (c2 & UINT32_MAX);

            c0 = q >> 32 ^ c1 ^ (key0 + i * CAVS__PHILOX_W0);
            c2 = p >> 32 ^ c3 ^ (key1 + i * CAVS__PHILOX_W1);
            c1 = q;
            c3 = p;
        }
        word[0][j] = (uint32_t)c0;
        word[1][j] = (uint32_t)c1;
        word[2][j] = (uint32_t)c2;
        word[3][j] = (uint32_t)c3;
    }
}

/* y = factor x where the word is not below the limit, else 0 */
OP void keep(int n, uint32_t limit, float factor, const uint32_t *word, const float *x, float *y)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] = word[j] >= limit ? factor * x[j] : 0;
}

CAVS__CLONES static void drop(const struct cavs__call *call, int n, uint32_t key0, uint32_t key1,
                              const float *x, float *y)
{
    const uint32_t limit = cavs__dropout_limit(call->rate);
    const float factor = 1 / (1 - call->rate);
    uint32_t word[4][LANES];

    for (int c = 0; c < n; c += BLOCK) {
        draw((uint32_t)(c / 4), call->site, key0, key1, word);
        keep(n - c < BLOCK ? n - c : BLOCK, limit, factor, &word[0][0], x + c, y + c);
    }
}

/* x (rows, n), ids a, ids b, y (rows, n) */
static void dropout(const struct cavs__call *call, int rows, const struct cavs__view *v,
                    unsigned flags)
{
    const int n = v[3].cols;

    (void)flags;
    for (int r = 0; r < rows; r++) {
        const uint32_t a = v[1].index ? (uint32_t)v[1].index[r] : 0;
        const uint32_t b = v[2].index ? (uint32_t)v[2].index[r] : 0;
        const float *x = cavs__row(&v[0], r);
        float *y = v[3].p + r * v[3].ld;

        if (!x)
            memset(y, 0, (size_t)n * sizeof *y);
        else if (!a && !b)
            memcpy(y, x, (size_t)n * sizeof *y);
        else
            drop(call, n, a, b, x, y);
    }
}

const struct cavs__kernel cavs__kernel_dropout = {
    .number = CAVS__KERNEL_dropout,
    .name = "dropout",
    .nviews = 4,
    .operands = "xiiw",
    .cpu = dropout,
    .reference = cavs__reference_dropout,
};
