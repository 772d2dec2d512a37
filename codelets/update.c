/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update.c - optimizer arithmetic: one sweep over gradient, values and states.
 *
 * This is bound by memory, so everything about a tile is done while the tile is in L1 or L2: the
 * sum of the partial gradients, the rule, and the copies of the new values.  What a rule divides by
 * is turned into a factor outside of its loop.
 */
#include "codelets/update.h"
#include "codelets/products/blocks.h"
#include "codelets/products/fetch.h"
#include "codelets/products/simd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* 16 rows are a cache line of a transposed copy; long pieces of rows are what prefetchers like.
 * Whole rows are one piece, and with them all of an array, as far as a tile fits L2. */
#define TILE_ROWS 16
#define TILE_COLS CAVS__SUM_COLS
#define WHOLE_ROW 4096
#define PIECE     128 /* columns of a row that are done at once */

/* The rules of update.def, for n consecutive numbers of a row: values, states (NULL: the rule has
 * no such) and gradients. */
#define real    float
#define ew_sqrt sqrtf
#define ew_abs  fabsf

#define NUMBER(name, ...)       \
    const float name = u->name; \
    (void)name;

/* clang-format off */
#define CAVS_RULE(RULE, name, title, states, summary, once, ...)                                \
    CAVS__CLONES static void update_##RULE(const struct cavs__update *u, int n, float *values,  \
                                           float *first, float *second, const float *gradients) \
    {                                                                                           \
        CAVS__UPDATE_NUMBERS(NUMBER)                                                            \
        once                                                                                    \
        _Pragma("omp simd")                                                                     \
        for (int j = 0; j < n; j++) {                                                           \
            float s0 = (states) > 0 ? first[j] : 0, s1 = (states) > 1 ? second[j] : 0;          \
            float g = scale * gradients[j], w = values[j], d = g + weight_decay * w;            \
            (void)d;                                                                            \
            __VA_ARGS__                                                                         \
            values[j] = w;                                                                      \
            if ((states) > 0)                                                                   \
                first[j] = s0;                                                                  \
            if ((states) > 1)                                                                   \
                second[j] = s1;                                                                 \
        }                                                                                       \
    }
/* clang-format on */
#include "codelets/update.def"

/* w, states, g: n consecutive numbers of a row */
static void apply(const struct cavs__update *u, int n, float *w, float *s0, float *s1,
                  const float *g)
{
    switch (u->rule) {
#define CAVS_RULE(RULE, ...)               \
    case CAVS_##RULE:                      \
        update_##RULE(u, n, w, s0, s1, g); \
        break;
#include "codelets/update.def"
    case CAVS_OPTIMIZERS: break;
    }
}

static float *plus(float *s, ptrdiff_t offset)
{
    return s ? s + offset : NULL;
}

struct dense {
    float *w, *s0, *s1;
    ptrdiff_t ldw;
    struct cavs__partials gradient;
    ptrdiff_t ldg;
    bool fetches;
};

static void fetch_row(const struct dense *d, int r, int c, int n)
{
    const ptrdiff_t at = r * d->ldw + c;

    cavs__fetch_to_write(n, d->w + at);
    cavs__fetch_to_write(n, plus(d->s0, at));
    cavs__fetch_to_write(n, plus(d->s1, at));
    for (int i = 0; i < d->gradient.n; i++) {
        if (d->gradient.g[i])
            cavs__fetch(n, d->gradient.g[i] + r * d->ldg + c);
    }
}

/* Updates n columns of row r from column c on, and meanwhile fetches those of row `next`. */
static void update_row(const struct cavs__update *u, const struct dense *d, int r, int next, int c,
                       int n)
{
    float buffer[CAVS__SUM_ROOM];

    for (int end = c + n, m; c < end; c += m) {
        const ptrdiff_t at = r * d->ldw + c;

        m = smaller(PIECE, end - c);
        if (d->fetches)
            fetch_row(d, next, c, m);
        apply(u, m, d->w + at, plus(d->s0, at), plus(d->s1, at),
              cavs__dense_gradient(m, &d->gradient, r * d->ldg + c, buffer));
    }
}

void cavs__update_dense(const struct cavs__update *u, int first, int rows, int cols, float *w,
                        ptrdiff_t ldw, float *s0, float *s1, int ngrads, const float *const *g,
                        ptrdiff_t ldg, int ncopies, const struct cavs__copy *copies)
{
    const struct dense d = {
        w, s0, s1, ldw, cavs__partials_of(ngrads, g), ldg, cavs__streams_want_fetching()};
    const int wide = d.fetches ? TILE_COLS : WHOLE_ROW;

    for (int r = first; r < first + rows; r += TILE_ROWS)
        for (int c = 0; c < cols; c += wide) {
            const int m = smaller(TILE_ROWS, first + rows - r), n = smaller(wide, cols - c);
            for (int i = r; i < r + m; i++) {
                for (int k = 0; k < ncopies && d.fetches; k++)
                    cavs__copy_fetch(&copies[k], r, c, m, n, i - r, m);
                update_row(u, &d, i, i + 1 < first + rows ? i + 1 : i, c, n);
            }
            for (int i = 0; i < ncopies; i++)
                cavs__copy_block(&copies[i], r, c, m, n, w + r * ldw + c, ldw);
        }
    cavs__copies_end(ncopies, copies);
}

void cavs__update_sparse(const struct cavs__update *u, int n, const int32_t *ids,
                         const int32_t *ptr, const int32_t *gsrc, const int32_t *grow, int cols,
                         float *w, ptrdiff_t ldw, float *s0, float *s1, const float *const *g,
                         ptrdiff_t ldg, bool summed)
{
    const struct cavs__sparse s = {ptr, gsrc, grow, g, ldg, summed};
    float buffer[TILE_COLS];

    for (int i = 0; i < n; i++)
        for (int c = 0; c < cols; c += TILE_COLS) {
            const int k = smaller(TILE_COLS, cols - c);
            const ptrdiff_t at = ids[i] * ldw + c;
            apply(u, k, w + at, plus(s0, at), plus(s1, at),
                  cavs__sparse_gradient(&s, i, c, k, buffer));
        }
}

void cavs__set_dense(int first, int rows, int cols, float *w, ptrdiff_t ldw, const float *values,
                     int ncopies, const struct cavs__copy *copies)
{
    for (int r = first; r < first + rows; r += TILE_ROWS)
        for (int c = 0; c < cols; c += TILE_COLS) {
            const int m = smaller(TILE_ROWS, first + rows - r), n = smaller(TILE_COLS, cols - c);
            float *to = w + r * ldw + c;

            for (int i = 0; i < m && values; i++)
                memcpy(to + i * ldw, values + (ptrdiff_t)(r - first + i) * cols + c,
                       (size_t)n * sizeof *to);
            for (int i = 0; i < ncopies; i++)
                cavs__copy_block(&copies[i], r, c, m, n, to, ldw);
        }
}
