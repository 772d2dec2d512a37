/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update.c - optimizer arithmetic: one sweep over gradient, values and states.
 *
 * This is bound by memory, so everything about a tile is done while the tile is in L1: the sum of
 * the partial gradients, the rule, and the copies of the new values.  What a rule divides
 * by is turned into a factor outside of its loop.
 */
#include "codelets/update.h"
#include "codelets/kernels/narrow_sums.h"
#include "codelets/products/fetch.h"
#include "codelets/products/simd.h"

#include <stdbool.h>
#include <string.h>

/* 16 rows are a cache line of a transposed copy; long pieces of rows are what prefetchers like. */
#define TILE_ROWS 16
#define TILE_COLS 512
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

CAVS__CLONES static void add(int n, const float *x, float *y)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] += x[j];
}

CAVS__CLONES static void add_two(int n, const float *x, const float *y, float *sum)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        sum[j] = x[j] + y[j];
}

CAVS__CLONES static double squares(int n, const float *x)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++)
        sum += (double)x[j] * x[j];
    return sum;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static float *plus(float *s, ptrdiff_t offset)
{
    return s ? s + offset : NULL;
}

/* Partial gradients: at most two without the others, or all at their places. */
struct partials {
    int n;
    const float *g[CAVS__PARTIALS];
};

static struct partials partials_of(int ngrads, const float *const *g)
{
    struct partials d = {.n = 0};
    int there = 0;

    for (int i = 0; i < ngrads; i++)
        there += g[i] != NULL;
    for (int i = 0; i < ngrads; i++) {
        if (there > 2 || g[i])
            d.g[d.n++] = g[i];
    }
    return d;
}

/* The sum of `size` arrays, pairs of pairs; NULL if none is there.  Where it has to be written
 * anywhere it is in buffer, which has room for a tile for each two of them. */
static const float *sum_pairs(int n, int size, const float *const *g, float *buffer)
{
    const float *x, *y;

    if (size == 1)
        return g[0];
    x = sum_pairs(n, size / 2, g, buffer);
    y = sum_pairs(n, size / 2, g + size / 2, buffer + size / 4 * TILE_COLS);
    if (!x || !y)
        return x ? x : y;
    add_two(n, x, y, buffer);
    return buffer;
}

/* n numbers at `offset` of the sum of the arrays: where they are, if there is one array only, else
 * in buffer.  Where no vertex of a batch uses a parameter there is none. */
static const float *dense_gradient(int n, const struct partials *d, ptrdiff_t offset, float *buffer)
{
    const float *at[CAVS__PARTIALS] = {NULL};

    if (d->n == 1)
        return d->g[0] + offset;
    if (d->n == 0)
        return memset(buffer, 0, (size_t)n * sizeof *buffer);
    for (int i = 0; i < d->n; i++)
        at[i] = d->g[i] ? d->g[i] + offset : NULL;
    return sum_pairs(n, d->n == 2 ? 2 : CAVS__PARTIALS, at, buffer);
}

struct sparse {
    const int32_t *ptr, *gsrc, *grow;
    const float *const *g;
    ptrdiff_t ldg;
};

/* n columns from c on, so few that their sum stays in registers, of occurrences [e, end). */
static void narrow_sum(const struct sparse *s, int e, int end, int c, int n, float *sum)
{
    for (int run, from = e; e < end; e = run) {
        run = e + 1;
        while (run < end && s->gsrc[run] == s->gsrc[e])
            run++;
        cavs__narrow_sum(n, run - e, s->g[s->gsrc[e]] + c, s->ldg, s->grow + e, e > from, sum);
    }
}

/* The same for columns [c, c + n) of the i-th row of a sparse gradient. */
static const float *sparse_gradient(const struct sparse *s, int i, int c, int n, float *buffer)
{
    const int first = s->ptr[i], end = s->ptr[i + 1];

    if (end == first + 1)
        return s->g[s->gsrc[first]] + s->grow[first] * s->ldg + c;
    if (n <= CAVS__NARROW && end > first) {
        narrow_sum(s, first, end, c, n, buffer);
        return buffer;
    }
    memset(buffer, 0, (size_t)n * sizeof(*buffer));
    for (int e = first; e < end; e++)
        add(n, s->g[s->gsrc[e]] + s->grow[e] * s->ldg + c, buffer);
    return buffer;
}

struct dense {
    float *w, *s0, *s1;
    ptrdiff_t ldw;
    struct partials gradient;
    ptrdiff_t ldg;
};

/* n columns of row r from column c on.  A row takes many streams, more than a processor sees:
 * meanwhile the same columns of row `next` are fetched. */
static void update_row(const struct cavs__update *u, const struct dense *d, int r, int next, int c,
                       int n)
{
    float buffer[CAVS__PARTIALS / 2 * TILE_COLS];

    for (int end = c + n, m; c < end; c += m) {
        const ptrdiff_t at = r * d->ldw + c, far = next * d->ldw + c;

        m = smaller(PIECE, end - c);
        cavs__fetch_to_write(m, d->w + far);
        cavs__fetch_to_write(m, plus(d->s0, far));
        cavs__fetch_to_write(m, plus(d->s1, far));
        for (int i = 0; i < d->gradient.n; i++) {
            if (d->gradient.g[i])
                cavs__fetch(m, d->gradient.g[i] + next * d->ldg + c);
        }
        apply(u, m, d->w + at, plus(d->s0, at), plus(d->s1, at),
              dense_gradient(m, &d->gradient, r * d->ldg + c, buffer));
    }
}

void cavs__update_dense(const struct cavs__update *u, int first, int rows, int cols, float *w,
                        ptrdiff_t ldw, float *s0, float *s1, int ngrads, const float *const *g,
                        ptrdiff_t ldg, int ncopies, const struct cavs__copy *copies)
{
    const struct dense d = {w, s0, s1, ldw, partials_of(ngrads, g), ldg};

    for (int r = first; r < first + rows; r += TILE_ROWS)
        for (int c = 0; c < cols; c += TILE_COLS) {
            const int m = smaller(TILE_ROWS, first + rows - r), n = smaller(TILE_COLS, cols - c);
            for (int i = r; i < r + m; i++) {
                for (int k = 0; k < ncopies; k++)
                    cavs__copy_fetch(&copies[k], r, c, m, n, i - r, m);
                update_row(u, &d, i, i + 1 < first + rows ? i + 1 : i, c, n);
            }
            for (int i = 0; i < ncopies; i++)
                cavs__copy_block(&copies[i], r, c, m, n, w + r * ldw + c, ldw);
        }
}

void cavs__update_sparse(const struct cavs__update *u, int n, const int32_t *ids,
                         const int32_t *ptr, const int32_t *gsrc, const int32_t *grow, int cols,
                         float *w, ptrdiff_t ldw, float *s0, float *s1, const float *const *g,
                         ptrdiff_t ldg)
{
    const struct sparse s = {ptr, gsrc, grow, g, ldg};
    float buffer[TILE_COLS];

    for (int i = 0; i < n; i++)
        for (int c = 0; c < cols; c += TILE_COLS) {
            const int k = smaller(TILE_COLS, cols - c);
            const ptrdiff_t at = ids[i] * ldw + c;
            apply(u, k, w + at, plus(s0, at), plus(s1, at), sparse_gradient(&s, i, c, k, buffer));
        }
}

double cavs__squares_dense(int rows, int cols, int ngrads, const float *const *g, ptrdiff_t ldg)
{
    const struct partials d = partials_of(ngrads, g);
    float buffer[CAVS__PARTIALS / 2 * TILE_COLS];
    double sum = 0;

    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c += TILE_COLS) {
            const int n = smaller(TILE_COLS, cols - c);
            sum += squares(n, dense_gradient(n, &d, r * ldg + c, buffer));
        }
    return sum;
}

double cavs__squares_sparse(int n, const int32_t *ptr, const int32_t *gsrc, const int32_t *grow,
                            int cols, const float *const *g, ptrdiff_t ldg)
{
    const struct sparse s = {ptr, gsrc, grow, g, ldg};
    float buffer[TILE_COLS];
    double sum = 0;

    for (int i = 0; i < n; i++)
        for (int c = 0; c < cols; c += TILE_COLS) {
            const int k = smaller(TILE_COLS, cols - c);
            sum += squares(k, sparse_gradient(&s, i, c, k, buffer));
        }
    return sum;
}

void cavs__sum_dense(int rows, int cols, float *out, const float *const *g, const ptrdiff_t *ldg)
{
    float buffer[CAVS__PARTIALS / 2 * TILE_COLS];

    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c += TILE_COLS) {
            const int n = smaller(TILE_COLS, cols - c);
            const float *at[CAVS__PARTIALS], *sum;
            float *to = out + (ptrdiff_t)r * cols + c;

            for (int i = 0; i < CAVS__PARTIALS; i++)
                at[i] = g[i] ? g[i] + r * ldg[i] + c : NULL;
            sum = sum_pairs(n, CAVS__PARTIALS, at, buffer);
            if (sum)
                memcpy(to, sum, (size_t)n * sizeof *to);
            else
                memset(to, 0, (size_t)n * sizeof *to);
        }
}

void cavs__sum_sparse(int n, const int32_t *ptr, const int32_t *gsrc, const int32_t *grow, int cols,
                      float *const *to, const float *const *g, const ptrdiff_t *ldg)
{
    for (int i = 0; i < n; i++) {
        memset(to[i], 0, (size_t)cols * sizeof *to[i]);
        for (int e = ptr[i]; e < ptr[i + 1]; e++)
            add(cols, g[gsrc[e]] + grow[e] * ldg[gsrc[e]], to[i]);
    }
}

void cavs__add_rows(int n, const int32_t *ids, const int32_t *ptr, const int32_t *gsrc,
                    const int32_t *grow, int cols, float *out, ptrdiff_t ldo, const float *const *g,
                    ptrdiff_t ldg)
{
    for (int i = 0; i < n; i++)
        for (int e = ptr[i]; e < ptr[i + 1]; e++)
            if (g[gsrc[e]])
                add(cols, g[gsrc[e]] + grow[e] * ldg, out + ids[i] * ldo);
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
