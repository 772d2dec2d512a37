/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_select_gradient.c - the gradient of a parameter of blocks, of which each row selects one:
 * each block adds up its rows in their order.
 */
#include <string.h>

#include "codelets/kernels/kernel_table.h"
#include "codelets/kernels/sorted_rows.h"
#include "codelets/products/blocks.h"
#include "codelets/products/gemm.h"

enum { ROWS = 64, COLS = 512, BUFFER = ROWS * COLS };

/* Rows of a block that are written side by side, each from its first column to its last: that can
 * be foreseen.  Going down a strip of columns cannot, as each row is in a page of its own. */
enum { STREAMS = 24 };

/* dw (k, n) = or += x^T dy over the rows at positions [from, end), at most ROWS */
static void add_products(bool accumulate, const struct cavs__view *v, const struct cavs__sorted *s,
                         int from, int end, float *dw)
{
    const struct cavs__view *x = &v[0], *dy = &v[1];
    float xs[BUFFER], dys[BUFFER];

    for (int j = 0; j < dy->cols; j += COLS) {
        int n = smaller(COLS, dy->cols - j);

        cavs__collect_rows(dy, s, from, end, j, n, dys);
        for (int c = 0; c < x->cols; c += COLS) {
            int k = smaller(COLS, x->cols - c);

            cavs__collect_rows(x, s, from, end, c, k, xs);
            for (int i = 0; i < k; i += STREAMS)
                cavs__gemm()->gemm_tn(end - from, n, smaller(STREAMS, k - i), xs + i, k, dys, n,
                                      dw + (c + i) * v[3].ld + j, v[3].ld, accumulate);
        }
    }
}

static void clear_rows(const struct cavs__view *dw, ptrdiff_t from, ptrdiff_t end)
{
    for (ptrdiff_t r = from; r < end; r++)
        memset(dw->p + r * dw->ld, 0, (size_t)dw->cols * sizeof *dw->p);
}

/* The blocks of the sorted rows; *written: rows of dw that hold something, those of the blocks
 * before.  What nobody has written is not read: a block without rows is cleared on the way. */
static void add_runs(const struct cavs__view *v, const struct cavs__sorted *s, ptrdiff_t *written)
{
    const struct cavs__view *dw = &v[3];
    ptrdiff_t k = v[0].cols;

    for (int i = 0, end; i < s->n; i = end) {
        ptrdiff_t first = s->id[i] * k;

        end = cavs__end_of_run(s, i);
        if (s->id[i] < 0)
            continue;
        clear_rows(dw, *written, first);
        for (int r = i; r < end; r += ROWS)
            add_products(r > i || first < *written, v, s, r, smaller(r + ROWS, end),
                         dw->p + first * dw->ld);
        *written = first + k > *written ? first + k : *written;
    }
}

/* Rows of v by the tile's numbers. */
static struct cavs__gemm_rows rows_of(const struct cavs__view *v, int n, const int32_t *number,
                                      int32_t *room)
{
    for (int i = 0; i < n && v->index; i++)
        room[i] = v->index[number[i]];
    return (struct cavs__gemm_rows){v->p, v->ld, v->index ? room : number};
}

/* Lists the rows from *r on that have this id, at most CAVS__SORTED of them. */
static int rows_with(const struct cavs__view *ids, int32_t id, int rows, int *r, int32_t *number)
{
    int n = 0;

    for (; *r < rows && n < CAVS__SORTED; ++*r) {
        number[n] = *r;
        n += ids->index[*r] == id;
    }
    return n;
}

/* dw (k, n) = or += x^T dy over the rows that have the id: a provider with gemm_tn_rows() copies
 * them side by side itself. */
static void add_block(int32_t id, bool accumulate, int rows, const struct cavs__view *v)
{
    int32_t number[CAVS__SORTED], of_x[CAVS__SORTED], of_dy[CAVS__SORTED];
    int r = 0;

    do {
        const int n = rows_with(&v[2], id, rows, &r, number);
        const struct cavs__gemm_rows x = rows_of(&v[0], n, number, of_x),
                                     dy = rows_of(&v[1], n, number, of_dy);

        cavs__gemm()->gemm_tn_rows(n, v[1].cols, v[0].cols, &x, &dy, v[3].p, v[3].ld, accumulate);
        accumulate = true;
    } while (r < rows);
}

/* x (rows, k), dy (rows, n), ids, dw: blocks (k, n) below one another, call->rows in all */
static void gemm_tn_select(const struct cavs__call *call, int rows, const struct cavs__view *v,
                           unsigned flags)
{
    ptrdiff_t written = flags & CAVS__FIRST ? 0 : call->rows;
    struct cavs__sorted s;
    int first = 0;

    if (call->block > 0) {
        add_block(call->block - 1, !(flags & CAVS__FIRST), rows, v);
        return;
    }
    do {
        cavs__sort_rows(&s, &v[2], first, rows - first);
        add_runs(v, &s, &written);
        clear_rows(&v[3], written, call->rows);
        written = call->rows;
        first += s.n;
    } while (first < rows);
}

const struct cavs__kernel cavs__kernel_gemm_tn_select = {
    .number = CAVS__KERNEL_gemm_tn_select,
    .name = "gemm_tn_select",
    .nviews = 4,
    .reduces = true,
    .cpu = gemm_tn_select,
    .reference = cavs__reference_gemm_tn_select,
};
