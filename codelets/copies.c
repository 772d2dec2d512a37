/* SPDX-License-Identifier: Apache-2.0 */
/* copies.c - see copies.h. */
#include "codelets/copies.h"

#include <string.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "codelets/bf16_pack.h"
#include "codelets/products/bf16.h"
#include "codelets/products/fetch.h"
#include "codelets/products/panels.h"
#include "codelets/products/transpose.h"

int cavs__layout_cols(enum cavs__layout layout, int rows, int cols)
{
    switch (layout) {
    case CAVS__LAYOUT_TRANSPOSED: return rows;
    case CAVS__LAYOUT_PANELS: return rows * CAVS__PANEL;
    case CAVS__LAYOUT_PANELS_TRANSPOSED: return cols * CAVS__PANEL;
    case CAVS__LAYOUT_BF16: return (int)cavs__bf16_panel_size(rows);
    case CAVS__LAYOUT_BF16_TRANSPOSED: return (int)cavs__bf16_panel_size(cols);
    case CAVS__LAYOUT_ROWS:
    case CAVS__LAYOUTS: break;
    }
    return cols;
}

int cavs__layout_rows(enum cavs__layout layout, int rows, int cols)
{
    switch (layout) {
    case CAVS__LAYOUT_TRANSPOSED: return cols;
    case CAVS__LAYOUT_PANELS: return cavs__panels(cols);
    case CAVS__LAYOUT_PANELS_TRANSPOSED: return cavs__panels(rows);
    case CAVS__LAYOUT_BF16: return cavs__bf16_panels(cols);
    case CAVS__LAYOUT_BF16_TRANSPOSED: return cavs__bf16_panels(rows);
    case CAVS__LAYOUT_ROWS:
    case CAVS__LAYOUTS: break;
    }
    return rows;
}

enum { FAR = 128 * 1024 /* numbers */ };

bool cavs__copy_is_far(int rows, int cols)
{
    return cavs__past_caches_pays() && (int64_t)rows * cols >= FAR;
}

/* Writes n numbers to a place at the begin of a cache line, past the caches. */
static void stream(int n, const float *from, float *to)
{
#ifdef __SSE2__
    for (int j = 0; j < n; j += 4)
        _mm_stream_ps(to + j, _mm_loadu_ps(from + j));
#else
    memcpy(to, from, (size_t)n * sizeof *to);
#endif
}

void cavs__copies_end(int n, const struct cavs__copy *copies)
{
    bool any = false;

    for (int i = 0; i < n; i++)
        any |= copies[i].far;
#ifdef __SSE2__
    if (any)
        _mm_sfence();
#else
    (void)any;
#endif
}

static float *in_panels(const struct cavs__copy *copy, int r, int c)
{
    return copy->p + c / CAVS__PANEL * copy->ld + (ptrdiff_t)r * CAVS__PANEL + c % CAVS__PANEL;
}

static void to_panels(const struct cavs__copy *copy, int r, int c, int rows, int cols,
                      const float *block, ptrdiff_t ldw)
{
    for (int j = 0, n; j < cols; j += n) {
        float *y = in_panels(copy, r, c + j);

        n = cavs__in_panel(CAVS__PANEL, c + j, cols - j);
        if (n < CAVS__PANEL) {
            for (int i = 0; i < rows; i++)
                memcpy(y + i * CAVS__PANEL, block + i * ldw + j, (size_t)n * sizeof *y);
        } else if (copy->far) {
            for (int i = 0; i < rows; i++)
                stream(CAVS__PANEL, block + i * ldw + j, y + i * CAVS__PANEL);
        } else {
            for (int i = 0; i < rows; i++) /* without a call for so few numbers */
                memcpy(y + i * CAVS__PANEL, block + i * ldw + j, CAVS__PANEL * sizeof *y);
        }
    }
}

/* So many rows of w as a cache line has numbers: they are one of each row of a panel. */
static void stream_lines(const struct cavs__copy *copy, int r, int c, int cols, const float *block,
                         ptrdiff_t ldw)
{
    float square[CAVS__FETCH_LINE * CAVS__FETCH_LINE] __attribute__((aligned(64)));

    for (int j = 0; j < cols; j += CAVS__FETCH_LINE) {
        const int n = cols - j < CAVS__FETCH_LINE ? cols - j : CAVS__FETCH_LINE;

        cavs__transpose(CAVS__FETCH_LINE, n, block + j, ldw, square, CAVS__FETCH_LINE);
        for (int i = 0; i < n; i++)
            stream(CAVS__FETCH_LINE, square + i * CAVS__FETCH_LINE, in_panels(copy, c + j + i, r));
    }
}

/* Rows of w are columns of the copy. */
static void to_panels_transposed(const struct cavs__copy *copy, int r, int c, int rows, int cols,
                                 const float *block, ptrdiff_t ldw)
{
    int i = 0;

    for (; i + CAVS__FETCH_LINE <= rows && r % CAVS__FETCH_LINE == 0 && copy->far;
         i += CAVS__FETCH_LINE)
        stream_lines(copy, r + i, c, cols, block + i * ldw, ldw);
    for (int n; i < rows; i += n) {
        n = cavs__in_panel(CAVS__PANEL, r + i, rows - i);
        cavs__transpose(n, cols, block + i * ldw, ldw, in_panels(copy, c, r + i), CAVS__PANEL);
    }
}

void cavs__copy_block(const struct cavs__copy *copy, int r, int c, int rows, int cols,
                      const float *block, ptrdiff_t ldw)
{
    void *pairs = copy->p;

    switch (copy->layout) {
    case CAVS__LAYOUT_ROWS:
    case CAVS__LAYOUTS: break;
    case CAVS__LAYOUT_TRANSPOSED:
        cavs__transpose(rows, cols, block, ldw, copy->p + c * copy->ld + r, copy->ld);
        break;
    case CAVS__LAYOUT_PANELS: to_panels(copy, r, c, rows, cols, block, ldw); break;
    case CAVS__LAYOUT_PANELS_TRANSPOSED:
        to_panels_transposed(copy, r, c, rows, cols, block, ldw);
        break;
    case CAVS__LAYOUT_BF16: cavs__bf16_pack(r, rows, c, cols, block, ldw, pairs, copy->ld); break;
    case CAVS__LAYOUT_BF16_TRANSPOSED:
        cavs__bf16_pack_transposed(r, rows, c, cols, block, ldw, pairs, copy->ld);
        break;
    }
}

void cavs__copy_fetch(const struct cavs__copy *copy, int r, int c, int rows, int cols, int i,
                      int parts)
{
    if (copy->layout == CAVS__LAYOUT_PANELS) {
        for (int k = rows * i / parts; k < rows * (i + 1) / parts; k++)
            for (int j = 0; j < cols; j += CAVS__PANEL)
                cavs__fetch_to_write(CAVS__PANEL, in_panels(copy, r + k, c + j));
    } else if (copy->layout == CAVS__LAYOUT_PANELS_TRANSPOSED) {
        for (int j = cols * i / parts; j < cols * (i + 1) / parts; j++)
            cavs__fetch_to_write(rows, in_panels(copy, c + j, r));
    }
}
