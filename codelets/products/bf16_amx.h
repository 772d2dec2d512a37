/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bf16_amx.h - what the files of bfloat16 products by AMX share: tiles, how operands come into
 * them, and the product of a slice.
 *
 * A tile register has 16 rows of 64 bytes: 16 x 16 sums, 16 rows of x of 32 numbers, or 16 rows of
 * pairs of w of 16 columns.
 */
#ifndef CAVS_CODELETS_PRODUCTS_BF16_AMX_H
#define CAVS_CODELETS_PRODUCTS_BF16_AMX_H

#include "codelets/products/blocks.h"
#include "codelets/products/bf16.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined __x86_64__ && defined __linux__
enum {
    TILE = 16,              /* rows of a tile, pairs of depth, columns of sums */
    DEPTH = 2 * TILE,       /* numbers in a row of a tile of x */
    NUMBERS = TILE * DEPTH, /* in a tile of x */
    STEPS = 8,              /* tiles of depth in a slice of a panel */
    SLICE = STEPS * DEPTH,  /* its depth; 32 KB: it stays in the first-level cache */
    SLICE_PAIRS = SLICE / 2 * CAVS__BF16_PANEL,
    LINE = 64,
};

/* ---- bf16_amx_pack.c ---- */

/* x (rows, cols), of float32 numbers or of rounded ones (x is NULL) */
struct cavs__amx_rows {
    const float *x;
    const uint16_t *rounded;
    ptrdiff_t ld;
};

/* Into tiles: all of the columns of 16 rows, then those of the next.  What is missing of the last
 * ones is zeros. */
void cavs__amx_pack(int rows, int cols, const struct cavs__amx_rows *x, uint16_t *tiles);
/* A block of rows [r, r + rows) and columns [c, c + cols). */
struct cavs__amx_block {
    const struct cavs__gemm_rows *of;
    int r, rows, c, cols;
};
/* x^T (cols, rows) into tiles */
void cavs__amx_pack_transposed(const struct cavs__amx_block *x, uint16_t *tiles);
/* y (rows <= SLICE, cols <= CAVS__BF16_PANEL) as a slice of a panel */
void cavs__amx_pack_slice(const struct cavs__amx_block *y, uint32_t *slice);

/* ---- bf16_amx_tiles.c ---- */

/* c = or += a b */
struct cavs__amx_work {
    const uint16_t *a; /* tiles */
    ptrdiff_t a_rows;  /* numbers from those of 16 rows to those of the next */
    const uint32_t *b; /* a slice of a panel */
    int steps;         /* tiles of depth */
    float *c;
    ptrdiff_t ldc;
    bool load; /* start from c instead of zero */
    /* fetched meanwhile: `ahead` rows of `lines` cache lines at each step of depth */
    const char *soon;
    ptrdiff_t soon_row;
    int ahead, lines;
};

/* The calling thread's tile registers. */
void cavs__amx_begin(void);
void cavs__amx_end(void);
/* c (rows, cols <= CAVS__BF16_PANEL).  What is fetched meanwhile is the slice behind b, or the next
 * rows of c.  The record comes back with other addresses. */
void cavs__amx_slice(int rows, int cols, struct cavs__amx_work *t, bool fetch_slice);
#endif

#endif
