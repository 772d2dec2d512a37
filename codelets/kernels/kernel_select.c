/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_select.c - products in which every row is multiplied by the block of a parameter that its
 * id names.
 *
 * The rows are sorted by id, stably, many at a time: blocks come from memory, so each should be
 * read for as many rows as there are.  The rows of one id are copied side by side and multiplied at
 * once.  A row's result does not depend on the rows beside it.
 */
#include <string.h>

#include "codelets/kernels/kernel_table.h"
#include "codelets/kernels/sorted_rows.h"
#include "codelets/products/blocks.h"
#include "codelets/products/gemm.h"
#include "codelets/products/transpose.h"

enum { ROWS = CAVS__FAR_ROWS, COLS = CAVS__FAR_DEPTH };

/* How much further apart the rows of y are than they are wide: rows a kilobyte or four apart would
 * all fall into one set of the nearest cache. */
enum { APART = 16 };

/* Rows that have one id: those at positions [from, end) are multiplied by block w, or by its
 * transpose. */
struct run {
    const struct cavs__view *v;
    const struct cavs__sorted *s;
    const float *w;
    bool transposed;
};

/* Some of x and y, side by side. */
struct buffers {
    float x[ROWS * COLS], turned[ROWS * COLS], y[ROWS * (COLS + APART)];
};

/* Copies what was computed for the rows at positions [from, end) to columns [c, c + n) of y. */
static void put(const float *rows, ptrdiff_t ld, const struct run *run, int from, int end, int c,
                int n)
{
    const struct cavs__view *y = &run->v[3];

    for (int i = from; i < end; i++, rows += ld)
        memcpy(y->p + run->s->row[i] * y->ld + c, rows, (size_t)n * sizeof *rows);
}

/* y (m, n) = or += x (m, k) w, w from column c of y and p of x on.  Where the provider has nothing
 * for a w that comes from memory, and w is transposed, it is y^T = w x^T, so that w is read row by
 * row. */
static void multiply_piece(const struct run *run, int m, int c, int n, int p, int k,
                           struct buffers *b)
{
    const struct cavs__gemm_provider *g = cavs__gemm();
    const ptrdiff_t ld = run->v[2].ld;
    const float *w = run->transposed ? run->w + c * ld + p : run->w + p * ld + c;

    if (g->gemm_far) {
        (run->transposed ? g->gemm_far_t : g->gemm_far)(m, n, k, b->x, k, w, ld, b->y, n + APART,
                                                        p > 0);
    } else if (run->transposed) {
        cavs__transpose(m, k, b->x, k, b->turned, m);
        g->gemm(n, m, k, w, ld, b->turned, m, b->y, m, p > 0);
    } else {
        g->gemm(m, n, k, b->x, k, w, ld, b->y, n + APART, p > 0);
    }
}

/* Computes columns [c, c + n) of y for the rows at positions [from, end). */
static void multiply_strip(const struct run *run, int from, int end, int c, int n)
{
    const struct cavs__view *x = &run->v[0];
    const int m = end - from;
    struct buffers b;

    for (int p = 0; p < x->cols; p += COLS) {
        const int k = smaller(COLS, x->cols - p);

        cavs__collect_rows(x, run->s, from, end, p, k, b.x);
        multiply_piece(run, m, c, n, p, k, &b);
    }
    if (cavs__gemm()->gemm_far || !run->transposed) {
        put(b.y, n + APART, run, from, end, c, n);
    } else {
        cavs__transpose(n, m, b.y, m, b.x, n);
        put(b.x, n, run, from, end, c, n);
    }
}

/* Computes all columns of the rows at positions [from, end), which all have the id of the block. A
 * strip of w serves all rows while it is in cache. */
static void multiply_run(const struct run *run, int from, int end)
{
    const int cols = run->v[3].cols;

    for (int c = 0; c < cols; c += COLS) {
        for (int i = from; i < end; i += ROWS)
            multiply_strip(run, i, smaller(i + ROWS, end), c, smaller(COLS, cols - c));
    }
}

static void put_zeros(const struct cavs__view *y, const struct cavs__sorted *s, int from, int end)
{
    for (int i = from; i < end; i++)
        memset(y->p + s->row[i] * y->ld, 0, (size_t)y->cols * sizeof *y->p);
}

/* block: rows of w in one */
static void multiply(int rows, const struct cavs__view *v, ptrdiff_t block, bool transposed)
{
    struct cavs__sorted s;

    for (int first = 0; first < rows; first += s.n) {
        cavs__sort_rows(&s, &v[1], first, rows - first);
        for (int i = 0, end; i < s.n; i = end) {
            end = cavs__end_of_run(&s, i);
            if (s.id[i] < 0)
                put_zeros(&v[3], &s, i, end);
            else
                multiply_run(&(struct run){v, &s, v[2].p + s.id[i] * block * v[2].ld, transposed},
                             i, end);
        }
    }
}

/* x (rows, k), ids, w: blocks (k, n) below one another, y (rows, n) */
static void gemm_select(const struct cavs__call *call, int rows, const struct cavs__view *v,
                        unsigned flags)
{
    (void)call;
    (void)flags;
    multiply(rows, v, v[0].cols, false);
}

/* x (rows, k), ids, w: blocks (n, k) below one another, y (rows, n) */
static void gemm_select_t(const struct cavs__call *call, int rows, const struct cavs__view *v,
                          unsigned flags)
{
    (void)call;
    (void)flags;
    multiply(rows, v, v[3].cols, true);
}

const struct cavs__kernel cavs__kernel_gemm_select = {
    .number = CAVS__KERNEL_gemm_select,
    .name = "gemm_select",
    .nviews = 4,
    .cpu = gemm_select,
    .reference = cavs__reference_gemm_select,
};

const struct cavs__kernel cavs__kernel_gemm_select_t = {
    .number = CAVS__KERNEL_gemm_select_t,
    .name = "gemm_select_t",
    .nviews = 4,
    .cpu = gemm_select_t,
    .reference = cavs__reference_gemm_select_t,
};
