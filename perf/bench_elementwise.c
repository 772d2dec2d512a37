/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_elementwise.c - speed of fused element-wise groups: the LSTM cell and its gradient,
 * compiled and interpreted, on a tile of 64 rows that stays in the cache.
 *
 *     bench_elementwise [rows]
 *
 * prints, for each width h, nanoseconds per element of the hidden state (an element is 5
 * transcendental functions forward, none backward).
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/groups.h"

#define REPEATS 15

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Gates lie side by side in rows of 4 h, biases in one row; the child's rows are gathered. */
static void forward_views(struct cavs__view *v, float *memory, const int32_t *index, int rows,
                          int h)
{
    float *at = memory;
    ptrdiff_t n = (ptrdiff_t)rows * h;

    for (int i = 0; i < 4; i++)
        v[i] = (struct cavs__view){.p = at + i * h, .ld = 4 * h, .cols = h};
    at += 4 * n;
    for (int i = 4; i < 8; i++, at += h)
        v[i] = (struct cavs__view){.p = at, .ld = 0, .cols = h};
    v[8] = (struct cavs__view){.p = at, .ld = h, .index = index, .cols = h};
    at += n;
    for (int i = 9; i < 16; i++, at += n)
        v[i] = (struct cavs__view){.p = at, .ld = h, .cols = h};
}

static void backward_views(struct cavs__view *v, float *memory, const int32_t *index, int rows,
                           int h)
{
    float *at = memory;
    ptrdiff_t n = (ptrdiff_t)rows * h;

    for (int i = 0; i < 8; i++, at += n)
        v[i] = (struct cavs__view){.p = at, .ld = h, .cols = h};
    v[7].index = index;
    for (int i = 8; i < 12; i++)
        v[i] = (struct cavs__view){.p = at + (i - 8) * h, .ld = 4 * h, .cols = h};
    v[12] = (struct cavs__view){.p = at + 4 * n, .ld = h, .cols = h};
}

/* Best of several runs. */
static double measure(const struct cavs__ew_spec *spec, enum cavs__ew_mode mode, int rows,
                      const struct cavs__view *v)
{
    struct cavs__ew_program *p = cavs__ew_program_create(spec, mode);
    int calls = 1 + 4000000 / (rows * spec->width * 8);
    double best = 1e9;

    if (!p)
        exit(1);
    if (mode == CAVS__EW_AUTO && !cavs__ew_program_compiled(p))
        printf("# not compiled: %s\n", cavs__ew_fallback_reason());
    for (int i = 0; i < REPEATS; i++) {
        double t = now();

        for (int j = 0; j < calls; j++)
            cavs__ew_run(p, rows, v);
        t = (now() - t) / calls;
        best = t < best ? t : best;
    }
    cavs__ew_program_destroy(p);
    return 1e9 * best / rows / spec->width;
}

static void bench_width(int rows, int h)
{
    static struct group forward, backward;
    size_t n = (size_t)rows * (size_t)h * 16 + 8 * (size_t)h;
    float *memory = aligned_alloc(64, n * sizeof *memory / 64 * 64 + 64);
    int32_t *index = malloc((size_t)rows * sizeof *index);
    struct cavs__view f[16], b[13];

    for (size_t k = 0; k < n; k++)
        memory[k] = (float)(k % 199) / 100 - 1;
    for (int r = 0; r < rows; r++)
        index[r] = r % 7 ? rows - 1 - r : -1;
    forward_views(f, memory, index, rows, h);
    backward_views(b, memory, index, rows, h);
    group_lstm(&forward, h);
    group_lstm_grad(&backward, h);
    printf("%5d", h);
    for (int mode = 0; mode < 2; mode++)
        printf(" %10.3f", measure(&forward.spec, (enum cavs__ew_mode)mode, rows, f));
    for (int mode = 0; mode < 2; mode++)
        printf(" %10.3f", measure(&backward.spec, (enum cavs__ew_mode)mode, rows, b));
    printf("\n");
    free(memory);
    free(index);
}

int main(int argc, char **argv)
{
    static const int widths[] = {64, 100, 128, 256, 300, 512};
    int rows = argc > 1 ? atoi(argv[1]) : 64;

    if (rows < 1)
        return 1;
    printf("ns per element, %d rows\n%5s %21s %21s\n%5s %10s %10s %10s %10s\n", rows, "",
           "LSTM forward", "LSTM backward", "h", "compiled", "interpr.", "compiled", "interpr.");
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        bench_width(rows, widths[i]);
    return 0;
}
