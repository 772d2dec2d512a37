/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_gemm.c - the two matrix products of a layer on views: y = x w, and dw += x^T dy.
 *
 * Most products want rows at a fixed pitch.  Rows read by index (a gather of children's states) are
 * first copied, a block that stays in L2 at a time, to a buffer on the stack: one number copied for
 * n multiply-adds.
 */
#include "codelets/products/bf16.h"
#include "codelets/products/claims.h"
#include "codelets/products/fetch.h"
#include "codelets/products/gemm.h"
#include "codelets/products/panels.h"
#include "codelets/kernels/kernel_table.h"

#include <string.h>

#define BLOCK_COLS 512
#define BLOCK_ROWS 128
#define PAD        16  /* floats: rows a power of two apart would push each other out of L1 */
#define AHEAD      512 /* floats that are on their way while a row is copied */
#define BLOCK      (BLOCK_ROWS * (BLOCK_COLS + PAD)) /* floats: 264 KB */

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Is it a view that a provider cannot read: an indexed one, or one row repeated? */
static bool scattered(const struct cavs__view *v)
{
    return v->index || v->ld < v->cols;
}

/* Rows [r, r + rows) and columns [c, c + cols) of a view as a provider reads them: where they are,
 * or copied to buffer with zeros where there is no row. */
static const float *piece(const struct cavs__view *v, int r, int rows, int c, int cols,
                          float *buffer, ptrdiff_t *ld)
{
    const int ahead = cols < AHEAD ? AHEAD / cols : 1;

    *ld = v->ld;
    if (!scattered(v))
        return v->p + r * v->ld + c;
    *ld = cols + PAD;
    for (int i = 0; i < rows; i++) {
        const float *row = cavs__row(v, r + i);
        const float *next = cavs__row(v, r + smaller(i + ahead, rows - 1));

        if (next)
            cavs__fetch(cols, next + c);
        if (row)
            cavs__copy_row(cols, row + c, buffer + i * *ld);
        else
            memset(buffer + i * *ld, 0, (size_t)cols * sizeof *buffer);
    }
    return buffer;
}

/* y (m, n) = or += x (m, k) times rows [from, from + k) of w */
static void multiply(const struct cavs__call *call, int m, int n, int k, const float *x,
                     ptrdiff_t ldx, const struct cavs__view *w, int from, float *y, ptrdiff_t ldy,
                     bool accumulate)
{
    const ptrdiff_t above = call->bf16 ? from / 2 * CAVS__BF16_PANEL : from * CAVS__PANEL;

    if (call->bf16 || call->panels)
        cavs__claimed_products(1, &(struct cavs__panel_product){m, n, k, accumulate, call->bf16,
                                                                call->near, x, w->p + above, y, ldx,
                                                                w->ld, ldy});
    else
        cavs__gemm()->gemm(m, n, k, x, ldx, w->p + from * w->ld, w->ld, y, ldy, accumulate);
}

/* y (rows, n) = x w, by blocks of rows and of the depth.  Not inlined: only this path needs
 * so large a frame. */
static __attribute__((noinline)) void gemm_blocks(const struct cavs__call *call, int rows,
                                                  const struct cavs__view *x,
                                                  const struct cavs__view *w,
                                                  const struct cavs__view *y)
{
    float buffer[BLOCK];
    ptrdiff_t ldx;

    for (int r = 0; r < rows; r += BLOCK_ROWS) {
        const int m = smaller(BLOCK_ROWS, rows - r);
        for (int c = 0; c < x->cols; c += BLOCK_COLS) {
            const int k = smaller(BLOCK_COLS, x->cols - c);
            const float *xp = piece(x, r, m, c, k, buffer, &ldx);
            multiply(call, m, y->cols, k, xp, ldx, w, c, y->p + r * y->ld, y->ld, c > 0);
        }
    }
}

/* x (rows, k), w (k, n), y (rows, n): y = x w */
static void gemm(const struct cavs__call *call, int rows, const struct cavs__view *v,
                 unsigned flags)
{
    const struct cavs__view *x = &v[0], *w = &v[1], *y = &v[2];

    (void)flags;
    if (scattered(x))
        gemm_blocks(call, rows, x, w, y);
    else
        multiply(call, rows, y->cols, x->cols, x->p, x->ld, w, 0, y->p, y->ld, false);
}

/* Multiplies all rows at once. false: the rows that have to be copied are more than the buffer has
 * room for. */
static __attribute__((noinline)) bool gemm_at_once(const struct cavs__call *call, int n, int rows,
                                                   const struct cavs__view (*v)[3])
{
    struct cavs__panel_product p[CAVS__CLAIMED_PRODUCTS];
    float buffer[BLOCK], *to = buffer;

    for (int i = 0; i < n; i++) {
        const struct cavs__view *x = &v[i][0], *w = &v[i][1], *y = &v[i][2];
        const ptrdiff_t copied = scattered(x) ? (ptrdiff_t)rows * (x->cols + PAD) : 0;

        if (copied > buffer + BLOCK - to)
            return false;
        p[i] = (struct cavs__panel_product){
            rows,      y->cols,        x->cols,   .bf16 = call->bf16, .near = call->near,
            .w = w->p, .pitch = w->ld, .y = y->p, .ldy = y->ld};
        p[i].x = piece(x, 0, rows, 0, x->cols, to, &p[i].ldx);
        to += copied;
    }
    cavs__claimed_products(n, p);
    return true;
}

void cavs__gemm_together(const struct cavs__call *call, int n, int rows,
                         const struct cavs__view (*v)[3])
{
    if (gemm_at_once(call, n, rows, v))
        return;
    for (int i = 0; i < n; i++)
        gemm(call, rows, v[i], 0);
}

/* dw (k, n) = or += x^T dy over m rows from row r, for providers that want rows at a fixed pitch */
static void tn_rows(bool accumulate, int r, int m, const struct cavs__view *x,
                    const struct cavs__view *dy, const struct cavs__view *dw)
{
    float xbuffer[BLOCK], dybuffer[BLOCK];
    ptrdiff_t ldx, lddy;

    for (int j = 0; j < dy->cols; j += BLOCK_COLS) {
        const int n = smaller(BLOCK_COLS, dy->cols - j);
        const float *dyp = piece(dy, r, m, j, n, dybuffer, &lddy);
        for (int c = 0; c < x->cols; c += BLOCK_COLS) {
            const int k = smaller(BLOCK_COLS, x->cols - c);
            const float *xp = piece(x, r, m, c, k, xbuffer, &ldx);
            cavs__gemm()->gemm_tn(m, n, k, xp, ldx, dyp, lddy, dw->p + c * dw->ld + j, dw->ld,
                                  accumulate);
        }
    }
}

/* x (rows, k), dy (rows, n), dw (k, n): dw += x^T dy */
static void gemm_tn(const struct cavs__call *call, int rows, const struct cavs__view *v,
                    unsigned flags)
{
    const struct cavs__view *x = &v[0], *dy = &v[1], *dw = &v[2];
    const struct cavs__gradient_product all = {rows,
                                               dw->cols,
                                               x->cols,
                                               !(flags & CAVS__FIRST),
                                               call->bf16,
                                               {x->p, x->ld, x->index},
                                               {dy->p, dy->ld, dy->index},
                                               dw->p,
                                               dw->ld};
    const bool large = (int64_t)x->cols * dw->cols > CAVS__GEMM_TN_SMALL,
               lies = rows <= 0 || (!scattered(x) && !scattered(dy));
    const struct cavs__gemm_provider *g = cavs__gemm();

    if (call->bf16 || (g->gemm_tn_rows && large))
        cavs__claimed_gradient(&all);
    else if (lies)
        g->gemm_tn(rows, dw->cols, x->cols, x->p, x->ld, dy->p, dy->ld, dw->p, dw->ld,
                   all.accumulate);
    else
        for (int r = 0; r < rows; r += BLOCK_ROWS)
            tn_rows(all.accumulate || r > 0, r, smaller(BLOCK_ROWS, rows - r), x, dy, dw);
}

const struct cavs__kernel cavs__kernel_gemm = {
    .number = CAVS__KERNEL_gemm,
    .name = "gemm",
    .nviews = 3,
    .cpu = gemm,
    .reference = cavs__reference_gemm,
};

const struct cavs__kernel cavs__kernel_gemm_tn = {
    .number = CAVS__KERNEL_gemm_tn,
    .name = "gemm_tn",
    .nviews = 3,
    .reduces = true,
    .cpu = gemm_tn,
    .reference = cavs__reference_gemm_tn,
};
