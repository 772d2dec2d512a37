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
 * A number is the best of several short runs, because other programs only ever make a run slower;
 * under it, the median run's share of the float32 peak that is measured beside each.
 * "pack" is in GB/s of float32 weights.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "codelets/bf16_pack.h"
#include "codelets/products/bf16.h"
#include "codelets/products/gemm.h"
#include "perf/bench_products.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arrays {
    float *x, *w, *y;
    uint16_t *rounded;
    uint32_t *packed;
};

/* Products by a provider; NULL: float32 */

static void gemm(const void *provider, struct shape s, const void *arrays)
{
    const struct cavs__bf16_provider *p = provider;
    const struct arrays *a = arrays;

    if (p)
        p->gemm(s.m, s.n, s.k, a->x, s.k, a->packed, cavs__bf16_panel_size(s.k), a->y, s.n, false);
    else
        cavs__gemm()->gemm(s.m, s.n, s.k, a->x, s.k, a->w, s.n, a->y, s.n, false);
}

static void rounded(const void *provider, struct shape s, const void *arrays)
{
    const struct cavs__bf16_provider *p = provider;
    const struct arrays *a = arrays;

    p->gemm_rounded(s.m, s.n, s.k, a->rounded, s.k, a->packed, cavs__bf16_panel_size(s.k), a->y,
                    s.n, false);
}

static void gemm_tn(const void *provider, struct shape s, const void *arrays)
{
    const struct cavs__bf16_provider *p = provider;
    const struct arrays *a = arrays;

    if (p)
        p->gemm_tn(s.m, s.n, s.k, &(struct cavs__gemm_rows){a->x, s.k, NULL},
                   &(struct cavs__gemm_rows){a->y, s.n, NULL}, a->w, s.n, true);
    else
        cavs__gemm()->gemm_tn(s.m, s.n, s.k, a->x, s.k, a->y, s.n, a->w, s.n, true);
}

static void pack(int h, const struct arrays *a)
{
    const int n = 3 * h, k = 2 * h;
    double best[2] = {0};

    for (int run = 0; run < BENCH_RUNS; run++)
        for (int way = 0; way < 2; way++) {
            const double start = bench_now();
            for (int r = 0; r < k; r += 16)
                (way ? cavs__bf16_pack_transposed : cavs__bf16_pack)(
                    r, 16, 0, n, a->w + r * n, n, a->packed, cavs__bf16_panel_size(way ? n : k));
            const double rate = 4.0 * n * k / (bench_now() - start) * 1e-9;
            best[way] = rate > best[way] ? rate : best[way];
        }
    printf("pack h %-4d %.1f GB/s, transposed %.1f\n", h, best[0], best[1]);
}

static void measure(const struct cavs__bf16_provider *p, const struct bench_options *o, int h,
                    const struct arrays *a)
{
    static const int rows[] = {4, 16, 32, 64, 128, 256, 512, 2000, 0};
    const char *name = p ? p->name : "float32";
    const struct bench_table tables[] = {{name, "gemm", gemm, p, a, rows, 1e8, 0},
                                         {name, "rounded", p ? rounded : NULL, p, a, rows, 1e8, 0},
                                         {name, "gemm_tn", gemm_tn, p, a, rows, 1e8, 0}};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i].product && bench_wants(o, tables[i].title))
            bench_print(&tables[i], h);
}

/* Numbers of 2048 x 3072 or 3072 x 3072. */
static struct arrays arrays(void)
{
    const size_t most = 3072 * 3072;
    struct arrays a = {.x = bench_numbers(most),
                       .w = bench_numbers(most),
                       .y = bench_numbers(most),
                       .rounded = aligned_alloc(64, most * sizeof(uint16_t)),
                       .packed = aligned_alloc(64, most * sizeof(uint16_t))};

    if (!a.rounded || !a.packed)
        exit(2);
    cavs__bf16_round((int)most, a.x, a.rounded);
    memcpy(a.packed, a.rounded, most * sizeof(uint16_t));
    return a;
}

int main(int argc, char **argv)
{
    const int sizes[] = {256, 512, 1024};
    const struct bench_options o = bench_options(argc, argv);
    const struct arrays a = arrays();

    cavs__gemm_init();
    for (int s = 0; s < (o.hidden ? 1 : 3); s++) {
        const int h = o.hidden ? o.hidden : sizes[s];
        if (bench_wants(&o, "pack"))
            pack(h, &a);
        if (bench_takes(&o, "float32"))
            measure(NULL, &o, h, &a);
        for (int i = 0; cavs__bf16_providers[i]; i++) {
            const struct cavs__bf16_provider *p = cavs__bf16_providers[i];
            if (p->available() && bench_takes(&o, p->name))
                measure(p, &o, h, &a);
        }
    }
    free(a.x);
    free(a.w);
    free(a.y);
    free(a.rounded);
    free(a.packed);
    return 0;
}
