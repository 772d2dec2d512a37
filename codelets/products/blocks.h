/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - what all products need that are cut into blocks. */
#ifndef CAVS_CODELETS_PRODUCTS_BLOCKS_H
#define CAVS_CODELETS_PRODUCTS_BLOCKS_H

#include <stddef.h>
#include <string.h>

static inline int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* How many parts of that size, the last one perhaps smaller. */
static inline int parts_of(int whole, int part)
{
    return (whole + part - 1) / part;
}

/* A product of no depth: zeros. */
static inline void clear(int rows, int cols, float *c, ptrdiff_t ldc)
{
    for (int r = 0; r < rows && cols > 0; r++)
        memset(c + r * ldc, 0, (size_t)cols * sizeof *c);
}

#endif
