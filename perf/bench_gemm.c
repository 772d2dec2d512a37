/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_gemm.c - GFLOP/s of every provider of matrix products, one thread, for the shapes of
 * batched tree-LSTMs.
 *
 *     make perf/bench_gemm, then
 *     bench_gemm                       every provider, hidden sizes 64 to 1024
 *     bench_gemm -p avx512 -h 256      one provider, one hidden size
 *     bench_gemm -t gemm_tn            only one of: gemm, panels, near, gemm_tn, peak
 *
 * A number is the best of several short runs, because other programs only ever make a run slower;
 * under it, of the float32 peak that is measured beside each run, the share of the median run.  The
 * last lines give a product of 2048^3, best of 5.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "codelets/products/gemm.h"
#include "codelets/products/panels.h"
#include "perf/bench_products.h"

#include <stdio.h>
#include <stdlib.h>

enum { PEAK = 2048 };

struct arrays {
    float *x, *w, *y;
};

/* y (m, n) = x (m, k) w (k, n) */
static void gemm(const void *provider, struct shape s, const void *arrays)
{
    const struct cavs__gemm_provider *p = provider;
    const struct arrays *a = arrays;

    p->gemm(s.m, s.n, s.k, a->x, s.k, a->w, s.n, a->y, s.n, false);
}

/* The same with w in panels. */
static void gemm_panels(const void *provider, struct shape s, const void *arrays)
{
    const struct cavs__gemm_provider *p = provider;
    const struct arrays *a = arrays;

    p->gemm_panels(s.m, s.n, s.k, a->x, s.k, a->w, (ptrdiff_t)s.k * CAVS__PANEL, a->y, s.n, false);
}

/* The same where it is in L2 already, as it is in each run but the first. */
static void gemm_near(const void *provider, struct shape s, const void *arrays)
{
    const struct cavs__gemm_provider *p = provider;
    const struct arrays *a = arrays;

    p->gemm_near(s.m, s.n, s.k, a->x, s.k, a->w, (ptrdiff_t)s.k * CAVS__PANEL, a->y, s.n, false);
}

/* dw (k, n) += x^T dy, x (m, k), dy (m, n) */
static void gemm_tn(const void *provider, struct shape s, const void *arrays)
{
    const struct cavs__gemm_provider *p = provider;
    const struct arrays *a = arrays;

    p->gemm_tn(s.m, s.n, s.k, a->x, s.k, a->y, s.n, a->w, s.n, true);
}

static void peak(const struct cavs__gemm_provider *p, const struct arrays *a)
{
    double best = 0;

    for (int run = 0; run < 5; run++) {
        const double start = bench_now();
        gemm(p, (struct shape){PEAK, PEAK, PEAK}, a);
        const double rate = 2.0 * PEAK * PEAK * PEAK / (bench_now() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    printf("%-11s peak      %d^3: %.1f\n", p->name, PEAK, best);
}

static void measure(const struct cavs__gemm_provider *p, const struct bench_options *o, int h,
                    const struct arrays *a)
{
    static const int rows[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 256, 2000, 0};
    static const int long_rows[] = {4, 16, 32, 64, 128, 256, 512, 1000, 2000, 0};
    const struct bench_table tables[] = {
        {p->name, "gemm", gemm, p, a, rows, 2e7, 1},
        {p->name, "panels", p->gemm_panels ? gemm_panels : NULL, p, a, rows, 2e7, 1},
        {p->name, "near", p->gemm_near ? gemm_near : NULL, p, a, rows, 2e7, 1},
        {p->name, "gemm_tn", gemm_tn, p, a, long_rows, 2e7, 1}};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i].product && bench_wants(o, tables[i].title))
            bench_print(&tables[i], h);
}

int main(int argc, char **argv)
{
    const int sizes[] = {64, 128, 256, 512, 1024};
    const size_t most = (size_t)3072 * 2048; /* 2000 rows of 3072, weights of 3072 x 2048, 2048^2 */
    const struct bench_options o = bench_options(argc, argv);
    const struct arrays a = {bench_numbers(most), bench_numbers(most), bench_numbers(most)};

    cavs__gemm_init();
    for (int i = 0; cavs__gemm_providers[i]; i++) {
        const struct cavs__gemm_provider *p = cavs__gemm_providers[i];
        if (!p->available() || !bench_takes(&o, p->name))
            continue;
        for (int s = 0; s < (o.hidden ? 1 : 5); s++)
            measure(p, &o, o.hidden ? o.hidden : sizes[s], &a);
        if (bench_wants(&o, "peak"))
            peak(p, &a);
    }
    free(a.x);
    free(a.w);
    free(a.y);
    return 0;
}
