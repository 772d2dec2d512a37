/* SPDX-License-Identifier: Apache-2.0 */
/* products_choice.c - up to how much work our kernel is faster than the device's library: measured
 * when a device is opened first, or chosen; see products.h. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codelets/device/products.h"
#include "codelets/kernels/kernel_table.h"

/* ---- measuring ---- The same products both ways: three of (rows, 512) x (512, 512), or one of
 * (rows, 512) x (512, 1536).
 */

enum { K = 512, N = 1536, MOST_ROWS = 4096, SIZES = 5, ROUNDS = 3, REPEATS = 4 };
static const int sizes[SIZES] = {16, 64, 256, 1024, MOST_ROWS};

enum { X, W, Y, INDEX, ROOM, ARRAYS };
static const size_t floats_of[ARRAYS] = {(size_t)MOST_ROWS * K, (size_t)K *N, (size_t)MOST_ROWS *N,
                                         MOST_ROWS, (size_t)MOST_ROWS *K};

struct measurement {
    struct cavs__device *device;
    void *array[ARRAYS];
};

static bool prepare(struct measurement *m)
{
    float *numbers = malloc((size_t)MOST_ROWS * N * sizeof *numbers);
    int32_t *rows = malloc(MOST_ROWS * sizeof *rows);
    bool done = numbers && rows;

    for (int i = 0; i < MOST_ROWS * N && done; i++) /* no zeros: with these it may be faster */
        numbers[i] = (float)(i % 1021) / 1021 - 0.5f;
    for (int i = 0; i < MOST_ROWS && done; i++)
        rows[i] = i * 7 % MOST_ROWS;
    for (int i = 0; i < ARRAYS && done; i++) {
        m->array[i] = m->device->driver->allocate(m->device, floats_of[i] * sizeof(float),
                                                  i == INDEX ? (void *)rows : (void *)numbers);
        done = m->array[i] != NULL;
    }
    free(numbers);
    free(rows);
    return done;
}

static void drop(struct measurement *m)
{
    for (int i = 0; i < ARRAYS; i++)
        if (m->array[i])
            m->device->driver->release(m->device, m->array[i]);
}

/* Queues the products once. */
static int queue(const struct measurement *m, const struct cavs__products *p, int rows,
                 bool together)
{
    const struct cavs__call call = {.kernel = &cavs__kernel_gemm, .device_bf16 = p->bf16};
    int n = p->n;
    struct cavs__device_view v[3][3];
    struct cavs__device_call c[3];
    const struct cavs__device_call *calls[3];
    int cols = N / n;

    for (int i = 0; i < n; i++) {
        v[i][0] = (struct cavs__device_view){{m->array[X], 0}, K, p->indexed ? 0 : -1, -1, K};
        v[i][1] = (struct cavs__device_view){{m->array[W], (int64_t)i * cols}, N, -1, -1, cols};
        v[i][2] = (struct cavs__device_view){{m->array[Y], (int64_t)i * cols}, N, -1, -1, cols};
        c[i] = (struct cavs__device_call){.device = m->device,
                                          .call = &call,
                                          .rows = rows,
                                          .v = v[i],
                                          .nviews = 3,
                                          .index = m->array[INDEX],
                                          .room = {m->array[ROOM], 0}};
        calls[i] = &c[i];
    }
    return together ? cavs__device_products_together(n, calls)
                    : cavs__device_products_apart(n, calls);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least of some rounds, in seconds; below 0: the device has failed.  The first, which may load
 * code, does not count. */
static double seconds(const struct measurement *m, const struct cavs__products *p, int rows,
                      bool together)
{
    double least = -1;

    for (int round = 0; round <= ROUNDS; round++) {
        double start = now(), took;

        for (int i = 0; i < (round ? REPEATS : 1); i++)
            if (queue(m, p, rows, together))
                return -1;
        if (m->device->driver->finish(m->device))
            return -1;
        took = (now() - start) / (round ? REPEATS : 1);
        if (round <= 1 || took < least)
            least = took;
    }
    return least;
}

/* Up to how many multiplications our kernel is faster: the middle, by ratio, between the last size
 * at which it is and the next.  Below 0: the device has failed. */
static double crossover(const struct measurement *m, const struct cavs__products *p)
{
    double most = 0;

    for (int i = 0; i < SIZES; i++) {
        double own = seconds(m, p, sizes[i], true);
        double library = seconds(m, p, sizes[i], false);

        if (own < 0 || library < 0)
            return -1;
        if (own > library)
            break;
        most = 2.0 * sizes[i] * K * N;
    }
    return most;
}

static void always(struct cavs__device *d, double most)
{
    for (int i = 0; i < 8; i++)
        d->together[i / 4][i / 2 % 2][i % 2] = most;
}

static bool measure_all(const struct measurement *m)
{
    bool done = true;

    for (int i = 0; i < 8 && done; i++) {
        struct cavs__products p = {.bf16 = i / 4, .n = i / 2 % 2 ? 3 : 1, .indexed = i % 2};
        double *most = &m->device->together[i / 4][i / 2 % 2][i % 2];

        *most = p.bf16 && !m->device->driver->rounds ? 0 : crossover(m, &p);
        done = *most >= 0;
    }
    return done;
}

/* Seconds of the smallest product on a device that is too slow to be worth measuring: the library
 * takes all of them there. */
#define TOO_LONG 5e-3

static int measure(struct cavs__device *d)
{
    struct measurement m = {.device = d};
    const struct cavs__launch_counts before = *cavs__launched_here();
    bool done = prepare(&m);

    if (!done)
        cavs__device_fail(d, "there is no memory to measure products with");
    if (done && seconds(&m, &(struct cavs__products){.n = 1}, sizes[0], true) > TOO_LONG)
        always(d, 0);
    else
        done = done && measure_all(&m);
    drop(&m);
    *cavs__launched_here() = before;
    return done ? 0 : -1;
}

/* ---- choosing ---- */

/* What was measured when the device was opened first; measured now, if that is not known. */
static void from_measurement(struct cavs__device *d, bool again)
{
    char identity[sizeof d->name + 64];
    size_t size = 0;
    void *known;

    snprintf(identity, sizeof identity, "products on %s %s%s", d->backend->name, d->name,
             cavs__devices_tf32 ? ", TF32" : "");
    known = again ? NULL : cavs__device_cache_get(identity, cavs__device_kernels_text, &size);
    if (known && size == sizeof d->together)
        memcpy(d->together, known, size);
    else if (!measure(d))
        cavs__device_cache_put(identity, cavs__device_kernels_text, d->together,
                               sizeof d->together);
    free(known);
}

void cavs__device_choose_products(struct cavs__device *d)
{
    const char *choice = getenv("CAVS_DEVICE_PRODUCTS");

    if (!d->driver->has_gemm(d) || (choice && !strcmp(choice, "grouped")))
        always(d, DBL_MAX);
    else if (choice && !strcmp(choice, "measure"))
        from_measurement(d, true);
    else if (d->is_cpu || (choice && !strcmp(choice, "library")))
        always(d, 0);
    else
        from_measurement(d, false);
}
