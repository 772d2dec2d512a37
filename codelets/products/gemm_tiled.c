/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_tiled.c - our own products with both operands as they lie: cut into register tiles
 * (gemm_tile.h), (nearly) nothing packed.
 *
 * For weights that nobody keeps in panels (gemm_panels.c), and for small sums over rows
 * (gemm_long.c).  A strip of a few vectors of columns of w is read once, from far, by the first
 * tile of rows and then stays in L2 for the others.
 */
#include "codelets/products/blocks.h"
#include "codelets/products/gemm_tile.h"

#include <string.h>

#define DEPTH 1024 /* done in one go */

/* From this many rows a panel of w is worth copying to one place.  Rows of w may lie a power of two
 * apart, where they push each other out of the caches, and if they are some kilobytes long, each is
 * in a page of its own: then fewer rows are enough. */
#define PACK_ROWS     512
#define PACK_FEW_ROWS 48
#define LONG_ROW      768
#define PANEL         64 /* most columns of a panel with as many rows */

void cavs__tile_columns(const struct cavs__tiles *s, int rows, int width, struct cavs__tile t)
{
    const int vecs = parts_of(width, s->lanes);
    cavs__tile_fn *const(*fn)[CAVS__TILE_VECS];

    t.tail = width - (vecs - 1) * s->lanes;
    fn = s->fn[t.tail < s->lanes];
    for (int n = parts_of(rows, CAVS__TILE_ROWS); n > 0; n--) {
        const int r = parts_of(rows, n);
        fn[r - 1][vecs - 1](&t);
        t.a += r * t.row;
        t.c += r * t.ldc;
        rows -= r;
    }
}

/* The same from a copy of the panel.  Not inlined: only this path needs so large a frame. */
static __attribute__((noinline)) void packed_panel(const struct cavs__tiles *s, int rows, int width,
                                                   struct cavs__tile t)
{
    float copy[DEPTH * PANEL] __attribute__((aligned(64)));

    for (int p = 0; p < t.depth; p++)
        memcpy(copy + p * PANEL, t.b + p * t.ldb, (size_t)width * sizeof(*copy));
    t.b = copy;
    t.ldb = PANEL;
    cavs__tile_columns(s, rows, width, t);
}

/* c (rows, cols), rows > 0: vectors of columns spread evenly over panels, which are wider for thin
 * tiles. */
void cavs__tile_block(const struct cavs__tiles *s, int rows, int cols, struct cavs__tile t,
                      bool pack)
{
    const int tallest = parts_of(rows, parts_of(rows, CAVS__TILE_ROWS));
    int vecs = parts_of(cols, s->lanes);

    for (int n = parts_of(vecs, s->vecs[tallest - 1]); n > 0; n--) {
        const int v = parts_of(vecs, n);
        const int width = v * s->lanes < cols ? v * s->lanes : cols;
        if (pack)
            packed_panel(s, rows, width, t);
        else
            cavs__tile_columns(s, rows, width, t);
        t.b += width;
        t.c += width;
        cols -= width;
        vecs -= v;
    }
}

/* y (m, n) = or += x (m, k) w (k, n) */
void cavs__tiled_gemm(const struct cavs__tiles *s, int m, int n, int k, const float *x,
                      ptrdiff_t ldx, const float *w, ptrdiff_t ldw, float *y, ptrdiff_t ldy,
                      bool accumulate)
{
    struct cavs__tile t = {.row = ldx,
                           .step = 1,
                           .ldb = ldw,
                           .pitch = CAVS__PANEL,
                           .c = y,
                           .ldc = ldy,
                           .load = accumulate};

    if (k <= 0 && !accumulate)
        clear(m, n, y, ldy);
    for (int p = 0; p < k && m > 0; p += DEPTH) {
        t.a = x + p;
        t.b = w + p * ldw;
        t.depth = k - p < DEPTH ? k - p : DEPTH;
        cavs__tile_block(s, m, n, t, m >= (ldw < LONG_ROW ? PACK_ROWS : PACK_FEW_ROWS));
        t.load = true;
    }
}
