/* SPDX-License-Identifier: Apache-2.0 */
/* bench_products.c - see bench_products.h. */
#include "perf/bench_products.h"
#include "perf/register_peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bench_options bench_options(int argc, char **argv)
{
    struct bench_options o = {0};
    int option;

    while ((option = getopt(argc, argv, "p:h:t:")) != -1) {
        if (option == 'p')
            o.provider = optarg;
        else if (option == 'h')
            o.hidden = atoi(optarg);
        else if (option == 't')
            o.product = optarg;
        else
            exit(2);
    }
    if (o.hidden < 0 || o.hidden > BENCH_WIDEST)
        exit(2);
    return o;
}

bool bench_wants(const struct bench_options *o, const char *product)
{
    return !o->product || !strcmp(o->product, product);
}

bool bench_takes(const struct bench_options *o, const char *provider)
{
    return o->provider ? !strcmp(o->provider, provider) : strcmp("reference", provider) != 0;
}

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

float *bench_numbers(size_t n)
{
    float *p = aligned_alloc(64, n * sizeof(float));

    if (!p)
        exit(2);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(i % 97) * 0.01f - 0.5f;
    return p;
}

struct rate {
    double best;  /* GFLOP/s */
    double share; /* of what multiply-adds reach that are measured before and after: the median */
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct rate measure(const struct bench_table *t, struct shape s)
{
    const double flop = 2.0 * s.m * s.n * s.k;
    const int repeat = 1 + (int)(t->flop / flop);
    double best = 0, shares[BENCH_RUNS], before = register_peak(), after;

    for (int run = 0; run < BENCH_RUNS; run++, before = after) {
        const double start = bench_now();
        for (int r = 0; r < repeat; r++)
            t->product(t->with, s, t->arrays);
        const double rate = flop * repeat / (bench_now() - start) * 1e-9;
        after = register_peak();
        best = rate > best ? rate : best;
        shares[run] = rate / (0.5 * (before + after));
    }
    qsort(shares, BENCH_RUNS, sizeof *shares, ascending);
    return (struct rate){best, 0.5 * (shares[BENCH_RUNS / 2 - 1] + shares[BENCH_RUNS / 2])};
}

void bench_print(const struct bench_table *t, int h)
{
    const int shapes[][2] = {{3 * h, 2 * h}, {h, h}, {2 * h, 3 * h}, {h, 2 * h}, {5, h}};
    double share[BENCH_MOST_ROWS];

    printf("%-11s %-8s h %-4d rows", t->provider, t->title, h);
    for (int i = 0; t->rows[i]; i++)
        printf(" %6d", t->rows[i]);
    putchar('\n');
    for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
        printf("%16sn %5d  k %5d", "", shapes[s][0], shapes[s][1]);
        for (int i = 0; t->rows[i]; i++) {
            struct rate r = measure(t, (struct shape){t->rows[i], shapes[s][0], shapes[s][1]});

            printf(" %6.*f", t->digits, r.best);
            share[i] = r.share;
        }
        printf("\n%31s", "of the peak");
        for (int i = 0; t->rows[i]; i++)
            printf(" %6.3f", share[i]);
        putchar('\n');
    }
}
