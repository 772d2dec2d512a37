/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_select.c - products in which every row is multiplied by the block of a parameter that its
 * id names.
 *
 * The rows are sorted by id, stably, many at a time: blocks come from memory, so each should be
 * read for as many rows as there are.  The rows of one id are copied side by side and multiplied at
 * once.  A row's result does not depend on the rows beside it, and each block of a gradient adds up
 * its rows in their order.
 */
#include <string.h>

#include "codelets/products/fetch.h"
#include "codelets/products/gemm.h"
#include "codelets/products/transpose.h"
#include "codelets/kernels/kernel_table.h"

enum { SORTED = 2048, ROWS = 64, COLS = 512, BUFFER = ROWS * COLS };

/* Rows of a block that are read, or written, side by side, each from its first column to its last:
 * that can be foreseen.  Going down a strip of columns cannot, as each row is in a page of its
 * own. */
enum { STREAMS = 24 };

/* Rows of x that are one tile, so that each number of a block is read once: they only wait for
 * memory, and what it gives best is whole rows, a few at a time. */
enum { FEW = 6, FEW_COLS = 4096, FEW_STREAMS = 8 };
_Static_assert(FEW *FEW_COLS <= BUFFER, "a strip of few rows has room");

/* Rows in the order of their ids; those without an id, -1, come first. */
struct sorted {
    int n;
    int row[SORTED];
    int32_t id[SORTED]; /* by position */
};

/* Sorts by one byte of id + 1, stably. */
static void sort_by_byte(const struct sorted *from, struct sorted *to, int shift)
{
    int at[257] = {0};

    for (int i = 0; i < from->n; i++)
        at[1 + ((uint32_t)(from->id[i] + 1) >> shift & 255)]++;
    for (int b = 0; b < 256; b++)
        at[b + 1] += at[b];
    to->n = from->n;
    for (int i = 0; i < from->n; i++) {
        int place = at[(uint32_t)(from->id[i] + 1) >> shift & 255]++;

        to->row[place] = from->row[i];
        to->id[place] = from->id[i];
    }
}

static void sort_rows(struct sorted *s, const struct cavs__view *ids, int first, int rows)
{
    struct sorted other;
    int32_t largest = 0;

    s->n = rows < SORTED ? rows : SORTED;
    for (int i = 0; i < s->n; i++) {
        s->row[i] = first + i;
        s->id[i] = ids->index[first + i] < 0 ? -1 : ids->index[first + i];
        largest = s->id[i] > largest ? s->id[i] : largest;
    }
    for (int shift = 0; shift < 32 && ((uint32_t)largest + 1) >> shift > 0; shift += 8) {
        sort_by_byte(s, &other, shift);
        *s = other;
    }
}

/* The position after the last of those with the id at position i. */
static int end_of_run(const struct sorted *s, int i)
{
    int32_t id = s->id[i];

    while (i < s->n && s->id[i] == id)
        i++;
    return i;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Columns [c, c + cols) of the rows at positions [from, end), copied to buffer side by side. */
static void collect(const struct cavs__view *v, const struct sorted *s, int from, int end, int c,
                    int cols, float *buffer)
{
    for (int i = from; i < end; i++, buffer += cols) {
        const float *row = cavs__row(v, s->row[i]);

        if (row)
            cavs__copy_row(cols, row + c, buffer);
        else
            memset(buffer, 0, (size_t)cols * sizeof *buffer);
    }
}

/* Columns [c, c + n) of y = x w for the rows at positions [from, end); w (k, y's columns) */
static void multiply_strip(const struct cavs__view *v, const struct sorted *s, int from, int end,
                           const float *w, int c, int n)
{
    const struct cavs__view *x = &v[0], *y = &v[3];
    const int streams = end - from <= FEW ? FEW_STREAMS : STREAMS;
    float xs[BUFFER], ys[BUFFER], *out = ys;

    for (int p = 0; p < x->cols; p += COLS) {
        int k = smaller(COLS, x->cols - p);

        collect(x, s, from, end, p, k, xs);
        for (int i = 0; i < k; i += streams)
            cavs__gemm()->gemm(end - from, n, smaller(streams, k - i), xs + i, k,
                               w + (p + i) * v[2].ld + c, v[2].ld, ys, n, p + i > 0);
    }
    for (int i = from; i < end; i++, out += n)
        memcpy(y->p + s->row[i] * y->ld + c, out, (size_t)n * sizeof *out);
}

/* All columns; a strip of w serves all rows while it is in cache. */
static void multiply_run(const struct cavs__view *v, const struct sorted *s, int from, int end,
                         const float *w)
{
    const int cols = end - from <= FEW ? FEW_COLS : COLS;

    for (int c = 0; c < v[3].cols; c += cols) {
        for (int i = from; i < end; i += ROWS)
            multiply_strip(v, s, i, smaller(i + ROWS, end), w, c, smaller(cols, v[3].cols - c));
    }
}

/* Columns [c, c + n) of y = x w^T likewise; w (y's columns, k).  It is y^T = w x^T: w, which comes
 * from memory, is read row by row, and nobody has to keep its transpose. */
static void multiply_transposed_strip(const struct cavs__view *v, const struct sorted *s, int from,
                                      int end, const float *w, int c, int n)
{
    const struct cavs__view *x = &v[0], *y = &v[3];
    const int m = end - from;
    float rows[BUFFER], xt[BUFFER], yt[BUFFER], *out = rows;

    for (int p = 0; p < x->cols; p += COLS) {
        int k = smaller(COLS, x->cols - p);

        collect(x, s, from, end, p, k, rows);
        cavs__transpose(m, k, rows, k, xt, m);
        cavs__gemm()->gemm(n, m, k, w + c * v[2].ld + p, v[2].ld, xt, m, yt, m, p > 0);
    }
    cavs__transpose(n, m, yt, m, rows, n);
    for (int i = from; i < end; i++, out += n)
        memcpy(y->p + s->row[i] * y->ld + c, out, (size_t)n * sizeof *out);
}

static void multiply_run_transposed(const struct cavs__view *v, const struct sorted *s, int from,
                                    int end, const float *w)
{
    for (int c = 0; c < v[3].cols; c += COLS) {
        for (int i = from; i < end; i += ROWS)
            multiply_transposed_strip(v, s, i, smaller(i + ROWS, end), w, c,
                                      smaller(COLS, v[3].cols - c));
    }
}

static void clear(const struct cavs__view *y, const struct sorted *s, int from, int end)
{
    for (int i = from; i < end; i++)
        memset(y->p + s->row[i] * y->ld, 0, (size_t)y->cols * sizeof *y->p);
}

/* A product of the rows at positions [from, end), which all have the id of block w. */
typedef void run_product(const struct cavs__view *v, const struct sorted *s, int from, int end,
                         const float *w);

/* block: rows of w in one */
static void multiply(int rows, const struct cavs__view *v, ptrdiff_t block, run_product *product)
{
    struct sorted s;

    for (int first = 0; first < rows; first += s.n) {
        sort_rows(&s, &v[1], first, rows - first);
        for (int i = 0, end; i < s.n; i = end) {
            end = end_of_run(&s, i);
            if (s.id[i] < 0)
                clear(&v[3], &s, i, end);
            else
                product(v, &s, i, end, v[2].p + s.id[i] * block * v[2].ld);
        }
    }
}

/* x (rows, k), ids, w: blocks (k, n) below one another, y (rows, n) */
static void gemm_select(const struct cavs__call *call, int rows, const struct cavs__view *v,
                        unsigned flags)
{
    (void)call;
    (void)flags;
    multiply(rows, v, v[0].cols, multiply_run);
}

/* x (rows, k), ids, w: blocks (n, k) below one another, y (rows, n) */
static void gemm_select_t(const struct cavs__call *call, int rows, const struct cavs__view *v,
                          unsigned flags)
{
    (void)call;
    (void)flags;
    multiply(rows, v, v[3].cols, multiply_run_transposed);
}

/* dw (k, n) = or += x^T dy over the rows at positions [from, end), at most ROWS */
static void add_products(bool accumulate, const struct cavs__view *v, const struct sorted *s,
                         int from, int end, float *dw)
{
    const struct cavs__view *x = &v[0], *dy = &v[1];
    float xs[BUFFER], dys[BUFFER];

    for (int j = 0; j < dy->cols; j += COLS) {
        int n = smaller(COLS, dy->cols - j);

        collect(dy, s, from, end, j, n, dys);
        for (int c = 0; c < x->cols; c += COLS) {
            int k = smaller(COLS, x->cols - c);

            collect(x, s, from, end, c, k, xs);
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
static void add_runs(const struct cavs__view *v, const struct sorted *s, ptrdiff_t *written)
{
    const struct cavs__view *dw = &v[3];
    ptrdiff_t k = v[0].cols;

    for (int i = 0, end; i < s->n; i = end) {
        ptrdiff_t first = s->id[i] * k;

        end = end_of_run(s, i);
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

/* The numbers of the rows from *r on that have this id, at most SORTED. */
static int rows_with(const struct cavs__view *ids, int32_t id, int rows, int *r, int32_t *number)
{
    int n = 0;

    for (; *r < rows && n < SORTED; ++*r) {
        number[n] = *r;
        n += ids->index[*r] == id;
    }
    return n;
}

/* dw (k, n) = or += x^T dy over the rows that have the id: a provider with gemm_tn_rows() copies
 * them side by side itself. */
static void add_block(int32_t id, bool accumulate, int rows, const struct cavs__view *v)
{
    int32_t number[SORTED], of_x[SORTED], of_dy[SORTED];
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
    struct sorted s;
    int first = 0;

    if (call->block > 0) {
        add_block(call->block - 1, !(flags & CAVS__FIRST), rows, v);
        return;
    }
    do {
        sort_rows(&s, &v[2], first, rows - first);
        add_runs(v, &s, &written);
        clear_rows(&v[3], written, call->rows);
        written = call->rows;
        first += s.n;
    } while (first < rows);
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

const struct cavs__kernel cavs__kernel_gemm_tn_select = {
    .number = CAVS__KERNEL_gemm_tn_select,
    .name = "gemm_tn_select",
    .nviews = 4,
    .reduces = true,
    .cpu = gemm_tn_select,
    .reference = cavs__reference_gemm_tn_select,
};
