/* SPDX-License-Identifier: Apache-2.0 */
/* bench_products.h - what benchmarks of products share: the command line, the shapes of batched
 * tree-LSTMs, the best of several short runs, because other programs only ever make a run slower,
 * and what share of the core's peak they reach, which is measured beside each. */
#ifndef CAVS_PERF_BENCH_PRODUCTS_H
#define CAVS_PERF_BENCH_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_RUNS = 12, BENCH_WIDEST = 1024, BENCH_MOST_ROWS = 16 };

struct bench_options {
    const char *provider; /* -p; NULL: all but the reference */
    const char *product;  /* -t; NULL: all */
    int hidden;           /* -h, up to BENCH_WIDEST; 0: several */
};

struct shape {
    int m, n, k;
};

/* One product of a shape, by a provider and with the arrays that the table was asked for with. */
typedef void product_fn(const void *provider, struct shape s, const void *arrays);

struct bench_table {
    const char *provider, *title;
    product_fn *product;
    const void *with, *arrays;
    const int *rows; /* at most BENCH_MOST_ROWS, ended by 0 */
    double flop;     /* of a run, about */
    int digits;      /* behind the point */
};

/* Ends the program with status 2 after a mistake. */
struct bench_options bench_options(int argc, char **argv);
bool bench_wants(const struct bench_options *o, const char *product);
bool bench_takes(const struct bench_options *o, const char *provider);

double bench_now(void); /* seconds */
/* n numbers, none of them far from 1; ends the program if memory is short. */
float *bench_numbers(size_t n);
/* GFLOP/s of the products of a cell of width h, a line for each shape of weights, and under it what
 * share of register_peak() they are. */
void bench_print(const struct bench_table *t, int h);

#endif
