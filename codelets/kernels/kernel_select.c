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

enum { ROWS = 64, COLS = 512, BUFFER = ROWS * COLS };

/* Rows of a block that are read side by side, each from its first column to its last: that can be
 * foreseen.  Going down a strip of columns cannot, as each row is in a page of its own. */
enum { STREAMS = 24 };

/* Columns of a strip of few rows. */
enum { FEW_COLS = 4096 };
_Static_assert(CAVS__GEMM_FEW *FEW_COLS <= BUFFER, "a strip of few rows has room");

/* What was computed for the rows at positions [from, end) goes to columns [c, c + n) of y. */
static void put(const float *rows, const struct cavs__view *y, const struct cavs__sorted *s,
                int from, int end, int c, int n)
{
    for (int i = from; i < end; i++, rows += n)
        memcpy(y->p + s->row[i] * y->ld + c, rows, (size_t)n * sizeof *rows);
}

/* y = x w, or x w^T, for few rows: all they do is to wait for w. */
static void multiply_few(const struct cavs__view *v, const struct cavs__sorted *s, int from,
                         int end, const float *w, bool transposed)
{
    const struct cavs__view *x = &v[0], *y = &v[3];
    const struct cavs__gemm_provider *g = cavs__gemm();
    const ptrdiff_t ld = v[2].ld;
    float xs[CAVS__GEMM_FEW * FEW_COLS], ys[CAVS__GEMM_FEW * FEW_COLS];

    for (int c = 0; c < y->cols; c += FEW_COLS) {
        const int n = smaller(FEW_COLS, y->cols - c);

        for (int p = 0; p < x->cols; p += FEW_COLS) {
            const int k = smaller(FEW_COLS, x->cols - p);

            cavs__collect_rows(x, s, from, end, p, k, xs);
            if (transposed)
                g->gemm_few_t(end - from, n, k, xs, k, w + c * ld + p, ld, ys, n, p > 0);
            else
                g->gemm_few(end - from, n, k, xs, k, w + p * ld + c, ld, ys, n, p > 0);
        }
        put(ys, y, s, from, end, c, n);
    }
}

/* Columns [c, c + n) of y = x w for the rows at positions [from, end); w (k, y's columns) */
static void multiply_strip(const struct cavs__view *v, const struct cavs__sorted *s, int from,
                           int end, const float *w, int c, int n)
{
    const struct cavs__view *x = &v[0];
    float xs[BUFFER], ys[BUFFER];

    for (int p = 0; p < x->cols; p += COLS) {
        int k = smaller(COLS, x->cols - p);

        cavs__collect_rows(x, s, from, end, p, k, xs);
        for (int i = 0; i < k; i += STREAMS)
            cavs__gemm()->gemm(end - from, n, smaller(STREAMS, k - i), xs + i, k,
                               w + (p + i) * v[2].ld + c, v[2].ld, ys, n, p + i > 0);
    }
    put(ys, &v[3], s, from, end, c, n);
}

/* Columns [c, c + n) of y = x w^T likewise; w (y's columns, k).  It is y^T = w x^T: w, which comes
 * from memory, is read row by row, and nobody has to keep its transpose. */
static void multiply_transposed_strip(const struct cavs__view *v, const struct cavs__sorted *s,
                                      int from, int end, const float *w, int c, int n)
{
    const struct cavs__view *x = &v[0];
    const int m = end - from;
    float rows[BUFFER], xt[BUFFER], yt[BUFFER];

    for (int p = 0; p < x->cols; p += COLS) {
        int k = smaller(COLS, x->cols - p);

        cavs__collect_rows(x, s, from, end, p, k, rows);
        cavs__transpose(m, k, rows, k, xt, m);
        cavs__gemm()->gemm(n, m, k, w + c * v[2].ld + p, v[2].ld, xt, m, yt, m, p > 0);
    }
    cavs__transpose(n, m, yt, m, rows, n);
    put(rows, &v[3], s, from, end, c, n);
}

/* The rows at positions [from, end), which all have the id of block w: all columns; a strip of w
 * serves all rows while it is in cache. */
static void multiply_run(const struct cavs__view *v, const struct cavs__sorted *s, int from,
                         int end, const float *w, bool transposed)
{
    const int cols = v[3].cols;

    if (end - from <= CAVS__GEMM_FEW && cavs__gemm()->gemm_few) {
        multiply_few(v, s, from, end, w, transposed);
        return;
    }
    for (int c = 0; c < cols; c += COLS) {
        for (int i = from; i < end; i += ROWS)
            (transposed ? multiply_transposed_strip : multiply_strip)(
                v, s, i, smaller(i + ROWS, end), w, c, smaller(COLS, cols - c));
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
                multiply_run(v, &s, i, end, v[2].p + s.id[i] * block * v[2].ld, transposed);
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
