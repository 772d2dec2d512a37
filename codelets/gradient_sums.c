/* SPDX-License-Identifier: Apache-2.0 */
/* gradient_sums.c - see gradient_sums.h. */
#include "codelets/gradient_sums.h"

#include <string.h>

#include "codelets/kernels/narrow_sums.h"
#include "codelets/kernels/row_sums.h"
#include "codelets/products/blocks.h"
#include "codelets/products/simd.h"

CAVS__CLONES static double squares(int n, const float *x)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++)
        sum += (double)x[j] * x[j];
    return sum;
}

struct cavs__partials cavs__partials_of(int ngrads, const float *const *g)
{
    struct cavs__partials d = {.n = 0};
    int there = 0, size = 1;

    for (int i = 0; i < ngrads; i++) {
        there += g[i] != NULL;
        while (g[i] && size <= i)
            size *= 2;
    }
    for (int i = 0; i < size; i++) {
        const float *one = i < ngrads ? g[i] : NULL;

        if (there > 2 || one)
            d.g[d.n++] = one;
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
    y = sum_pairs(n, size / 2, g + size / 2, buffer + size / 4 * CAVS__SUM_COLS);
    if (!x || !y)
        return x ? x : y;
    cavs__add_two_rows(n, x, y, buffer);
    return buffer;
}

const float *cavs__dense_gradient(int n, const struct cavs__partials *d, ptrdiff_t offset,
                                  float *buffer)
{
    const float *at[CAVS__PARTIALS];

    if (d->n == 0)
        return memset(buffer, 0, (size_t)n * sizeof *buffer);
    if (d->n == 1)
        return d->g[0] + offset;
    if (d->n == 2) {
        cavs__add_two_rows(n, d->g[0] + offset, d->g[1] + offset, buffer);
        return buffer;
    }
    for (int i = 0; i < d->n; i++)
        at[i] = d->g[i] ? d->g[i] + offset : NULL;
    return sum_pairs(n, d->n, at, buffer);
}

/* Sums up n columns from c on of the occurrences [e, end); n is so small that the sums stay in
 * registers. */
static void narrow_sum(const struct cavs__sparse *s, int e, int end, int c, int n, float *sum)
{
    for (int run, from = e; e < end; e = run) {
        run = e + 1;
        while (run < end && s->gsrc[run] == s->gsrc[e])
            run++;
        cavs__narrow_sum(n, run - e, s->g[s->gsrc[e]] + c, s->ldg, s->grow + e, e > from, sum);
    }
}

const float *cavs__sparse_gradient(const struct cavs__sparse *s, int i, int c, int n, float *buffer)
{
    const int first = s->ptr[i], last = s->ptr[i + 1], end = s->summed ? first + 1 : last;

    if (end == first + 1)
        return s->g[s->gsrc[first]] + s->grow[first] * s->ldg + c;
    if (n <= CAVS__NARROW) {
        narrow_sum(s, first, end, c, n, buffer);
        return buffer;
    }
    memset(buffer, 0, (size_t)n * sizeof(*buffer));
    for (int e = first; e < end; e++)
        cavs__add_row(n, s->g[s->gsrc[e]] + s->grow[e] * s->ldg + c, buffer);
    return buffer;
}

double cavs__squares_dense(int rows, int cols, int ngrads, const float *const *g, ptrdiff_t ldg,
                           float *kept)
{
    const struct cavs__partials d = cavs__partials_of(ngrads, g);
    float buffer[CAVS__SUM_ROOM];
    double sum = 0;

    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c += CAVS__SUM_COLS) {
            const int n = smaller(CAVS__SUM_COLS, cols - c);
            const float *x = cavs__dense_gradient(n, &d, r * ldg + c, buffer);

            sum += squares(n, x);
            if (kept && x == buffer)
                memcpy(kept + r * ldg + c, x, (size_t)n * sizeof *x);
        }
    return sum;
}

double cavs__squares_sparse(int n, const int32_t *ptr, const int32_t *gsrc, const int32_t *grow,
                            int cols, const float *const *g, ptrdiff_t ldg, float *const *kept)
{
    const struct cavs__sparse s = {ptr, gsrc, grow, g, ldg, false};
    float buffer[CAVS__SUM_COLS];
    double sum = 0;

    for (int i = 0; i < n; i++)
        for (int c = 0; c < cols; c += CAVS__SUM_COLS) {
            const int k = smaller(CAVS__SUM_COLS, cols - c);
            const float *x = cavs__sparse_gradient(&s, i, c, k, buffer);

            sum += squares(k, x);
            if (kept && x == buffer)
                memcpy(kept[gsrc[ptr[i]]] + grow[ptr[i]] * ldg + c, x, (size_t)k * sizeof *x);
        }
    return sum;
}

void cavs__sum_dense(int rows, int cols, float *out, const float *const *g, const ptrdiff_t *ldg)
{
    struct cavs__partials d = cavs__partials_of(CAVS__PARTIALS, g);
    ptrdiff_t ld[CAVS__PARTIALS];
    float buffer[CAVS__SUM_ROOM];

    for (int i = 0, n = 0; i < CAVS__PARTIALS; i++) {
        if (n < d.n && (d.n > 2 || g[i]))
            ld[n++] = ldg[i];
    }
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c += CAVS__SUM_COLS) {
            const int n = smaller(CAVS__SUM_COLS, cols - c);

            memcpy(out + (ptrdiff_t)r * cols + c, cavs__dense_gradient(n, &d, c, buffer),
                   (size_t)n * sizeof *out);
        }
        for (int i = 0; i < d.n; i++) {
            if (d.g[i])
                d.g[i] += ld[i];
        }
    }
}

void cavs__sum_sparse(int n, const int32_t *ptr, const int32_t *gsrc, const int32_t *grow, int cols,
                      float *const *to, const float *const *g, const ptrdiff_t *ldg)
{
    for (int i = 0; i < n; i++) {
        memset(to[i], 0, (size_t)cols * sizeof *to[i]);
        for (int e = ptr[i]; e < ptr[i + 1]; e++)
            cavs__add_row(cols, g[gsrc[e]] + grow[e] * ldg[gsrc[e]], to[i]);
    }
}

void cavs__add_rows(int n, const int32_t *ids, const int32_t *ptr, const int32_t *gsrc,
                    const int32_t *grow, int cols, float *out, ptrdiff_t ldo, const float *const *g,
                    ptrdiff_t ldg)
{
    for (int i = 0; i < n; i++)
        for (int e = ptr[i]; e < ptr[i + 1]; e++)
            if (g[gsrc[e]])
                cavs__add_row(cols, g[gsrc[e]] + grow[e] * ldg, out + ids[i] * ldo);
}
