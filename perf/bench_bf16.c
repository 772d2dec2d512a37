/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_bf16.c - GFLOP/s of every provider of bfloat16 products beside the float32 products in use,
 * one thread, for the shapes of batched tree-LSTMs.
 *
 *     make perf/bench_bf16, then
 *     bench_bf16                       every provider, hidden sizes 256 512 1024
 *     bench_bf16 -p amx -h 512         one provider ("float32": those of gemm.h), one hidden size
 *     bench_bf16 -t gemm_tn            only one of: gemm, rounded, gemm_tn, pack
 *
 * A number is the best of several short runs, because other programs only ever make a run slower.
 * "pack" is in GB/s of float32 weights.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "codelets/bf16_pack.h"
#include "codelets/products/bf16.h"
#include "codelets/products/gemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUNS     12
#define RUN_FLOP 1e8
#define MOST     2048 /* rows; weights are up to 3072 x 3072 */

struct arrays {
    float *x, *w, *y;
    uint16_t *rounded;
    uint32_t *packed;
};

struct shape {
    int m, n, k;
};

/* NULL: float32 */
typedef void product_fn(const struct cavs__bf16_provider *p, struct shape s,
                        const struct arrays *a);

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void gemm(const struct cavs__bf16_provider *p, struct shape s, const struct arrays *a)
{
    if (p)
        p->gemm(s.m, s.n, s.k, a->x, s.k, a->packed, cavs__bf16_panel_size(s.k), a->y, s.n, false);
    else
        cavs__gemm()->gemm(s.m, s.n, s.k, a->x, s.k, a->w, s.n, a->y, s.n, false);
}

static void rounded(const struct cavs__bf16_provider *p, struct shape s, const struct arrays *a)
{
    if (p)
        p->gemm_rounded(s.m, s.n, s.k, a->rounded, s.k, a->packed, cavs__bf16_panel_size(s.k), a->y,
                        s.n, false);
}

static void gemm_tn(const struct cavs__bf16_provider *p, struct shape s, const struct arrays *a)
{
    if (p)
        p->gemm_tn(s.m, s.n, s.k, a->x, s.k, a->y, s.n, a->w, s.n, true);
    else
        cavs__gemm()->gemm_tn(s.m, s.n, s.k, a->x, s.k, a->y, s.n, a->w, s.n, true);
}

static double gflops(product_fn *f, const struct cavs__bf16_provider *p, struct shape s,
                     const struct arrays *a)
{
    const double flop = 2.0 * s.m * s.n * s.k;
    const int repeat = 1 + (int)(RUN_FLOP / flop);
    double best = 0;

    for (int run = 0; run < RUNS; run++) {
        const double start = now();
        for (int r = 0; r < repeat; r++)
            f(p, s, a);
        const double rate = flop * repeat / (now() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}

static void table(const char *title, product_fn *f, const struct cavs__bf16_provider *p, int h,
                  const struct arrays *a)
{
    const int shapes[][2] = {{3 * h, 2 * h}, {h, h}, {2 * h, 3 * h}, {h, 2 * h}, {5, h}};
    const int rows[] = {4, 16, 32, 64, 128, 256, 512, 2000};

    printf("%-11s %-8s h %-4d rows", p ? p->name : "float32", title, h);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        printf(" %6d", rows[i]);
    putchar('\n');
    for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
        printf("%16sn %5d  k %5d", "", shapes[s][0], shapes[s][1]);
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
            printf(" %6.0f", gflops(f, p, (struct shape){rows[i], shapes[s][0], shapes[s][1]}, a));
        putchar('\n');
    }
}

static void pack(int h, const struct arrays *a)
{
    const int n = 3 * h, k = 2 * h;
    double best[2] = {0};

    for (int run = 0; run < RUNS; run++)
        for (int way = 0; way < 2; way++) {
            const double start = now();
            for (int r = 0; r < k; r += 16)
                (way ? cavs__bf16_pack_transposed : cavs__bf16_pack)(
                    r, 16, 0, n, a->w + r * n, n, a->packed, cavs__bf16_panel_size(way ? n : k));
            const double rate = 4.0 * n * k / (now() - start) * 1e-9;
            best[way] = rate > best[way] ? rate : best[way];
        }
    printf("pack h %-4d %.1f GB/s, transposed %.1f\n", h, best[0], best[1]);
}

static void measure(const struct cavs__bf16_provider *p, const char *which, int h,
                    const struct arrays *a)
{
    if (!which || !strcmp(which, "gemm"))
        table("gemm", gemm, p, h, a);
    if (p && (!which || !strcmp(which, "rounded")))
        table("rounded", rounded, p, h, a);
    if (!which || !strcmp(which, "gemm_tn"))
        table("gemm_tn", gemm_tn, p, h, a);
}

/* Numbers of 2048 x 3072 or 3072 x 3072, none of them far from 1. */
static struct arrays arrays(void)
{
    const size_t most = 3072 * 3072;
    struct arrays a = {.x = aligned_alloc(64, most * sizeof(float)),
                       .w = aligned_alloc(64, most * sizeof(float)),
                       .y = aligned_alloc(64, most * sizeof(float)),
                       .rounded = aligned_alloc(64, most * sizeof(uint16_t)),
                       .packed = aligned_alloc(64, most * sizeof(uint16_t))};

    if (!a.x || !a.w || !a.y || !a.rounded || !a.packed)
        exit(2);
    for (size_t i = 0; i < most; i++)
        a.x[i] = a.w[i] = a.y[i] = (float)(i % 97) * 0.01f - 0.5f;
    cavs__bf16_round((int)most, a.x, a.rounded);
    memcpy(a.packed, a.rounded, most * sizeof(uint16_t));
    return a;
}

int main(int argc, char **argv)
{
    const int sizes[] = {256, 512, 1024};
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
    if (only < 0 || only > 1024)
        return 2;

    const struct arrays a = arrays();
    cavs__gemm_init();
    for (int s = 0; s < 3; s++) {
        const int h = only ? only : sizes[s];
        if (only && s > 0)
            break;
        if (!which || !strcmp(which, "pack"))
            pack(h, &a);
        if (!name || !strcmp(name, "float32"))
            measure(NULL, which, h, &a);
        for (int i = 0; cavs__bf16_providers[i]; i++) {
            const struct cavs__bf16_provider *p = cavs__bf16_providers[i];
            if (p->available() && (name ? !strcmp(name, p->name) : strcmp("reference", p->name)))
                measure(p, which, h, &a);
        }
    }
    free(a.x);
    free(a.w);
    free(a.y);
    free(a.rounded);
    free(a.packed);
    return 0;
}
