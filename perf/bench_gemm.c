/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_gemm.c - GFLOP/s of every provider of matrix products, one thread, for the shapes of
 * batched tree-LSTMs.
 *
 *     make perf/bench_gemm, then
 *     bench_gemm                       every provider, hidden sizes 64 to 1024
 *     bench_gemm -p avx512 -h 256      one provider, one hidden size
 *     bench_gemm -t gemm_tn            only one of: gemm, panels, gemm_tn, peak
 *
 * A number is the best of several short runs, because other programs only ever make a run slower.
 * The last lines give the peak: a product of 2048^3, best of 5.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "codelets/products/gemm.h"
#include "codelets/products/panels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUNS     12
#define RUN_FLOP 2e7
#define PEAK     2048

struct arrays {
    float *x, *w, *y;
};

typedef void product_fn(const struct cavs__gemm_provider *p, int m, int n, int k,
                        const struct arrays *a);

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* y (m, n) = x (m, k) w (k, n) */
static void gemm(const struct cavs__gemm_provider *p, int m, int n, int k, const struct arrays *a)
{
    p->gemm(m, n, k, a->x, k, a->w, n, a->y, n, false);
}

/* The same with w in panels. */
static void gemm_panels(const struct cavs__gemm_provider *p, int m, int n, int k,
                        const struct arrays *a)
{
    p->gemm_panels(m, n, k, a->x, k, a->w, (ptrdiff_t)k * CAVS__PANEL, a->y, n, false);
}

/* dw (k, n) += x^T dy, x (m, k), dy (m, n) */
static void gemm_tn(const struct cavs__gemm_provider *p, int m, int n, int k,
                    const struct arrays *a)
{
    p->gemm_tn(m, n, k, a->x, k, a->y, n, a->w, n, true);
}

static double gflops(product_fn *f, const struct cavs__gemm_provider *p, int m, int n, int k,
                     const struct arrays *a)
{
    const double flop = 2.0 * m * n * k;
    const int repeat = 1 + (int)(RUN_FLOP / flop);
    double best = 0;

    for (int run = 0; run < RUNS; run++) {
        const double start = now();
        for (int r = 0; r < repeat; r++)
            f(p, m, n, k, a);
        const double rate = flop * repeat / (now() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}

static void table(const char *title, product_fn *f, const struct cavs__gemm_provider *p,
                  const int *rows, int h, const struct arrays *a)
{
    const int shapes[][2] = {{3 * h, 2 * h}, {h, h}, {2 * h, 3 * h}, {h, 2 * h}, {5, h}};

    printf("%-9s %-8s h %-4d rows", p->name, title, h);
    for (int i = 0; rows[i]; i++)
        printf(" %6d", rows[i]);
    putchar('\n');
    for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
        printf("%14sn %5d  k %5d", "", shapes[s][0], shapes[s][1]);
        for (int i = 0; rows[i]; i++)
            printf(" %6.1f", gflops(f, p, rows[i], shapes[s][0], shapes[s][1], a));
        putchar('\n');
    }
}

static void peak(const struct cavs__gemm_provider *p, const struct arrays *a)
{
    double best = 0;

    for (int run = 0; run < 5; run++) {
        const double start = now();
        gemm(p, PEAK, PEAK, PEAK, a);
        const double rate = 2.0 * PEAK * PEAK * PEAK / (now() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    printf("%-9s peak      %d^3: %.1f\n", p->name, PEAK, best);
}

/* Largest operand below: 2000 rows of 3072, weights of 3072 x 2048, 2048^2. */
static float *array(void)
{
    const size_t n = (size_t)3072 * 2048;
    float *p = aligned_alloc(64, n * sizeof(float));

    for (size_t i = 0; p && i < n; i++)
        p[i] = (float)(i % 97) * 0.01f - 0.5f;
    return p;
}

static void measure(const struct cavs__gemm_provider *p, const char *which, int h,
                    const struct arrays *a)
{
    static const int rows[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 256, 2000, 0};
    static const int long_rows[] = {4, 16, 32, 64, 128, 256, 512, 1000, 2000, 0};

    if (!which || !strcmp(which, "gemm"))
        table("gemm", gemm, p, rows, h, a);
    if (p->gemm_panels && (!which || !strcmp(which, "panels")))
        table("panels", gemm_panels, p, rows, h, a);
    if (!which || !strcmp(which, "gemm_tn"))
        table("gemm_tn", gemm_tn, p, long_rows, h, a);
}

int main(int argc, char **argv)
{
    const int sizes[] = {64, 128, 256, 512, 1024};
    const struct arrays a = {array(), array(), array()};
    const char *name = NULL, *which = NULL;
    int only = 0, option;

    while ((option = getopt(argc, argv, "p:h:t:")) != -1) {
        if (option == 'p')
            name = optarg;
        else if (option == 'h')
            only = atoi(optarg);
        else if (option == 't')
            which = optarg;
        else
            return 2;
    }
    if (!a.x || !a.w || !a.y || only < 0 || only > 1024)
        return 2;

    cavs__gemm_init();
    for (int i = 0; cavs__gemm_providers[i]; i++) {
        const struct cavs__gemm_provider *p = cavs__gemm_providers[i];
        if (!p->available() || (name ? strcmp(name, p->name) : !strcmp(p->name, "reference")))
            continue;
        for (int s = 0; s < 5; s++)
            if (only ? s == 0 : 1)
                measure(p, which, only ? only : sizes[s], &a);
        if (!which || !strcmp(which, "peak"))
            peak(p, &a);
    }
    free(a.x);
    free(a.w);
    free(a.y);
    return 0;
}
