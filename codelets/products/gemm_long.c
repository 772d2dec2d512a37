/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_long.c - dw = x^T dy: sums over all rows of a batch.
 *
 * Tiles would walk both operands down their rows, which lie far apart, again and again.  So a block
 * of rows of dy is copied into panels, and of x into strips as wide as a tile is high: tiles then
 * read two contiguous streams.  As rows are copied, they may as well be gathered.  What is cut of a
 * sum adds up in the same order, so the bits are those of one chain.
 *
 * Operands come from memory for the most part.  So of many rows a panel of dy is copied at a time,
 * while it is in L2: the tiles of the panel before have fetched its rows, a line at each step (Zen
 * 4, from memory: 256 rows, 256 x 768, 104 GFLOP/s and 109, 100 x 768 95 and 106).
 */
#include "codelets/products/blocks.h"
#include "codelets/products/gemm_tile.h"
#include "codelets/products/simd.h"

#include <string.h>

enum {
    ROWS = 256,                          /* of x and dy in a block */
    X_COLS = 37 * CAVS__PANEL_TILE_ROWS, /* with ROWS 530 KB */
    DY_COLS = 8 * CAVS__PANEL            /* with ROWS 262 KB; both are to stay in L2 */
};

/* Rows of so many columns are fetched while another one is copied. */
enum { FAR_COLS = 512 };

/* So little work does not pay for copies: each number of x is used n times, and of dy k times. */
enum { FEW_ROWS = 40, NARROW = CAVS__PANEL };

/* A row that will be copied soon, of those before `end`: it may come from far, and where rows are
 * gathered nobody can guess from where. */
static const float *row_ahead(const struct cavs__gemm_rows *v, int r, int end, int ahead)
{
    const float *row = cavs__gemm_row(v, r + ahead < end ? r + ahead : end - 1);

    return row ? row : v->p;
}

/* Columns [c, c + cols) of rows [r, r + rows) in panels. */
CAVS__CLONES static void copy_panels(const struct cavs__gemm_rows *v, int r, int rows, int c,
                                     int cols, float *panels)
{
    const ptrdiff_t pitch = (ptrdiff_t)rows * CAVS__PANEL;
    const int whole = cols / CAVS__PANEL, rest = cols % CAVS__PANEL, far = 1 + FAR_COLS / cols;

    for (int p = 0; p < rows; p++, panels += CAVS__PANEL) {
        const float *from = cavs__gemm_row(v, r + p),
                    *ahead = row_ahead(v, r + p, r + rows, far) + c;
        float *const last = panels + whole * pitch;

        if (from)
            from += c;
        for (int j = 0; j < whole; j++) {
            __builtin_prefetch(ahead + j * CAVS__PANEL, 0, 3);
            __builtin_prefetch(ahead + j * CAVS__PANEL + CAVS__LINE, 0, 3);
            if (from)
                memcpy(panels + j * pitch, from + j * CAVS__PANEL, CAVS__PANEL * sizeof *panels);
            else
                memset(panels + j * pitch, 0, CAVS__PANEL * sizeof *panels);
        }
        if (rest)
            memset(last, 0, CAVS__PANEL * sizeof *panels);
        if (rest && from)
            memcpy(last, from + whole * CAVS__PANEL, (size_t)rest * sizeof *panels);
    }
}

/* n numbers, by two copies of a known size that overlap if n is between: a call for so few would
 * take longer than they do. */
static inline void copy_few(int n, const float *from, float *to)
{
    if (n >= 8) {
        memcpy(to, from, 8 * sizeof *to);
        memcpy(to + n - 8, from + n - 8, 8 * sizeof *to);
    } else if (n >= 4) {
        memcpy(to, from, 4 * sizeof *to);
        memcpy(to + n - 4, from + n - 4, 4 * sizeof *to);
    } else {
        for (int i = 0; i < n; i++)
            to[i] = from[i];
    }
}
_Static_assert(CAVS__PANEL_TILE_ROWS <= 16, "two copies of 8");

/* The same in strips, as wide as the tiles that will read them. */
CAVS__CLONES static void copy_strips(const struct cavs__tiles *s, const struct cavs__gemm_rows *v,
                                     int r, int rows, int c, int cols, float *strips)
{
    int width[X_COLS], n = 0;

    for (int left = cols; left > 0; left -= width[n++])
        width[n] = cavs__next_tile(s, left);
    for (int p = 0; p < rows; p++) {
        const float *from = cavs__gemm_row(v, r + p), *ahead = row_ahead(v, r + p, r + rows, 2) + c;
        float *to = strips;

        if (from)
            from += c;
        for (int j = 0; j < n; j++) {
            __builtin_prefetch(ahead, 0, 3);
            ahead += width[j];
            if (from)
                copy_few(width[j], from, to + p * width[j]);
            else
                memset(to + p * width[j], 0, (size_t)width[j] * sizeof *to);
            from = from ? from + width[j] : NULL;
            to += (ptrdiff_t)rows * width[j];
        }
    }
}

/* Columns of dy that are copied at once: of rows that lie side by side a panel.  Nobody fetches
 * those that are gathered, so more of each is read at once; and so it is where there are few. */
static int columns_at_once(const struct cavs__gemm_rows *dy, int rows)
{
    const int most = dy->index ? DY_COLS : CAVS__PANEL, panels = most / CAVS__PANEL * ROWS / rows;

    return panels * CAVS__PANEL;
}

/* All of dw by rows [r, r + t.depth). */
static __attribute__((noinline)) void rows_of(const struct cavs__tiles *s, int r, int n, int k,
                                              const struct cavs__gemm_rows *x,
                                              const struct cavs__gemm_rows *dy, struct cavs__tile t)
{
    float strips[ROWS * X_COLS] __attribute__((aligned(64)));
    float panels[ROWS * DY_COLS + CAVS__AHEAD * CAVS__PANEL] __attribute__((aligned(64)));
    const int at_once = columns_at_once(dy, t.depth);
    float *const dw = t.c;

    t.a = strips;
    for (int c = 0; c < k; c += X_COLS) {
        const int high = smaller(X_COLS, k - c);

        copy_strips(s, x, r, t.depth, c, high, strips);
        for (int j = 0; j < n; j += at_once) {
            const int wide = smaller(at_once, n - j);

            copy_panels(dy, r, t.depth, j, wide, panels);
            t.c = dw + c * t.ldc + j;
            t.next = j + wide < n && !dy->index ? dy->p + r * dy->ld + j + wide : NULL;
            t.next_step = dy->ld;
            cavs__tile_strips(s, high, wide, panels, t);
        }
    }
}

/* Few rows, or a narrow product: where operands lie. */
static void in_place(const struct cavs__tiles *s, int m, int n, int k,
                     const struct cavs__gemm_rows *x, const struct cavs__gemm_rows *dy,
                     struct cavs__tile t)
{
    t.row = 1;
    t.step = x->ld;
    t.ldb = dy->ld;
    t.pitch = CAVS__PANEL;
    for (int p = 0; p < m && k > 0; p += ROWS) {
        t.a = x->p + p * x->ld;
        t.b = dy->p + p * dy->ld;
        t.depth = smaller(ROWS, m - p);
        cavs__tile_block(s, k, n, t, false);
        t.load = true;
    }
}

/* dw (k, n) = or += x^T dy, x (m, k), dy (m, n) */
void cavs__tiled_gemm_tn(const struct cavs__tiles *s, int m, int n, int k,
                         const struct cavs__gemm_rows *x, const struct cavs__gemm_rows *dy,
                         float *dw, ptrdiff_t lddw, bool accumulate)
{
    struct cavs__tile t = {.c = dw, .ldc = lddw, .load = accumulate};

    if (m <= 0 && !accumulate)
        clear(k, n, dw, lddw);
    if (!x->index && !dy->index &&
        (m < FEW_ROWS || n < NARROW || (int64_t)n * k <= CAVS__GEMM_TN_SMALL)) {
        in_place(s, m, n, k, x, dy, t);
        return;
    }
    for (int r = 0; r < m; r += ROWS) {
        t.depth = smaller(ROWS, m - r);
        rows_of(s, r, n, k, x, dy, t);
        t.load = true;
    }
}
