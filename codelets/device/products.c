/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - see products.h. */
#include "codelets/device/products.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codelets/kernels/kernel_table.h"

/* A view that a library of products cannot read: indexed, or one row repeated. */
static bool scattered(const struct cavs__device_view *v)
{
    return v->index >= 0 || v->ld < v->cols;
}

/* ---- by the library ---- */

/* Rows of a view at a fixed pitch: where they are, or packed into *room, which moves on. */
static int packed(const struct cavs__device_call *c, const struct cavs__device_view *v,
                  struct cavs__memory *room, struct cavs__device_view *out)
{
    struct cavs__launch l;

    *out = *v;
    if (!scattered(v))
        return 0;
    *out = (struct cavs__device_view){.memory = *room, .ld = v->cols, .cols = v->cols, .index = -1};
    room->at += (int64_t)c->rows * v->cols;
    cavs__launch_items(&l, c->device, CAVS__DEVICE_copy_rows, (int64_t)c->rows * v->cols);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, v->cols);
    cavs__argument_view(&l, v);
    cavs__argument_view(&l, out);
    return cavs__launch(c->device, &l);
}

static int library_product(const struct cavs__device_call *c)
{
    const struct cavs__device_view *w = &c->v[1], *y = &c->v[2];
    struct cavs__memory room = c->room;
    struct cavs__device_view x;

    if (c->rows == 0 || y->cols == 0)
        return 0;
    if (packed(c, &c->v[0], &room, &x))
        return -1;
    return c->device->driver->gemm(c->device,
                                   &(struct cavs__product){.accumulate = c->call->accumulate,
                                                           .bf16 = c->call->device_bf16,
                                                           .m = c->rows,
                                                           .n = y->cols,
                                                           .k = x.cols,
                                                           .a = x.memory,
                                                           .lda = x.ld,
                                                           .b = w->memory,
                                                           .ldb = w->ld,
                                                           .c = y->memory,
                                                           .ldc = y->ld});
}

/* ---- by our kernel ---- */

/* Short tiles where there are few rows, or few tiles: each group is then done sooner, and there are
 * more of them than a device runs at once. */
static bool takes_tall_tiles(const struct cavs__device *d, int rows, int64_t columns)
{
    return rows > 32 && (rows + 63) / 64 * columns >= 2 * (int64_t)d->units;
}

/* Tiles of columns, of all products. */
static int64_t tiles_of(int n, const struct cavs__device_call *const *calls)
{
    int64_t tiles = 0;

    for (int i = 0; i < n; i++)
        tiles += (calls[i]->v[2].cols + 63) / 64;
    return tiles;
}

static int most_rows(int n, const struct cavs__device_call *const *calls)
{
    int rows = 0;

    for (int i = 0; i < n; i++)
        rows = calls[i]->rows > rows ? calls[i]->rows : rows;
    return rows;
}

/* The kernel has arguments for as many products as there may be: those that are not there have no
 * columns. */
static int own_products(int n, const struct cavs__device_call *const *calls)
{
    struct cavs__device *d = calls[0]->device;
    int rows = most_rows(n, calls);
    int64_t columns = tiles_of(n, calls);
    struct cavs__launch l;

    if (takes_tall_tiles(d, rows, columns))
        cavs__launch_groups(&l, d, CAVS__DEVICE_products_tall, (rows + 63) / 64, columns, 128);
    else
        cavs__launch_groups(&l, d, CAVS__DEVICE_products_short, (rows + 15) / 16, columns, 64);
    cavs__argument_pointer(&l, calls[0]->index);
    for (int i = 0; i < CAVS__MOST_TOGETHER; i++) {
        const struct cavs__device_call *c = calls[i < n ? i : 0];

        cavs__argument_int(&l, c->rows);
        cavs__argument_int(&l, c->v[0].cols);
        cavs__argument_int(&l, i < n ? c->v[2].cols : 0);
        cavs__argument_int(&l, c->call->accumulate);
        for (int j = 0; j < 3; j++)
            cavs__argument_view(&l, &c->v[j]);
    }
    return cavs__launch(d, &l);
}

/* ---- which ---- */

bool cavs__device_takes_together(const struct cavs__device *d, int n, int rows, bool indexed)
{
    return !d->driver->has_gemm(d) || rows <= d->together[n > 1][indexed];
}

int cavs__device_products(int n, const struct cavs__device_call *const *calls)
{
    bool indexed = false, empty = false;
    int rc = 0;

    for (int i = 0; i < n; i++) {
        indexed = indexed || scattered(&calls[i]->v[0]);
        empty = empty || calls[i]->v[0].cols == 0;
    }
    if (empty || cavs__device_takes_together(calls[0]->device, n, most_rows(n, calls), indexed))
        return own_products(n, calls);
    for (int i = 0; i < n && !rc; i++)
        rc = library_product(calls[i]);
    return rc;
}

int cavs__device_gemm(const struct cavs__device_call *c)
{
    return cavs__device_products(1, &c);
}

/* ---- gradients ---- */

static int own_gradient(const struct cavs__device_call *c, int k, int n, bool accumulate)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, c->device, CAVS__DEVICE_gemm_tn, (k + 63) / 64, (n + 63) / 64, 256);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, k);
    cavs__argument_int(&l, n);
    cavs__argument_int(&l, accumulate);
    for (int i = 0; i < 3; i++)
        cavs__argument_view(&l, &c->v[i]);
    return cavs__launch(c->device, &l);
}

int cavs__device_gemm_tn(const struct cavs__device_call *c)
{
    const struct cavs__driver *driver = c->device->driver;
    const struct cavs__device_view *dw = &c->v[2];
    struct cavs__memory room = c->room;
    struct cavs__device_view x, dy;
    bool accumulate = !(c->flags & CAVS__FIRST);
    int k = c->v[0].cols, n = dw->cols;

    if (k == 0 || n == 0)
        return 0;
    if (c->rows == 0 || !driver->has_gemm(c->device))
        return own_gradient(c, k, n, accumulate);
    if (packed(c, &c->v[0], &room, &x) || packed(c, &c->v[1], &room, &dy))
        return -1;
    return driver->gemm(c->device, &(struct cavs__product){.transposed = true,
                                                           .accumulate = accumulate,
                                                           .bf16 = c->call->device_bf16,
                                                           .m = k,
                                                           .n = n,
                                                           .k = c->rows,
                                                           .a = x.memory,
                                                           .lda = x.ld,
                                                           .b = dy.memory,
                                                           .ldb = dy.ld,
                                                           .c = dw->memory,
                                                           .ldc = dw->ld});
}

int cavs__device_room(const struct cavs__call *call, const int *cols, const bool *is_scattered)
{
    int room = 0, n = call->kernel == &cavs__kernel_gemm      ? 1
                      : call->kernel == &cavs__kernel_gemm_tn ? 2
                                                              : 0;

    for (int i = 0; i < n; i++)
        room += is_scattered[i] ? cols[i] : 0;
    return room;
}

/* ---- measuring ---- The same products both ways: three of (rows, 256) x (256, 256), or one of
 * (rows, 256) x (256, 768).
 */

enum { K = 256, N = 768, MOST_ROWS = 1024, SIZES = 4, ROUNDS = 3, REPEATS = 4 };
static const int sizes[SIZES] = {16, 64, 256, MOST_ROWS};

enum { X, W, Y, INDEX, ROOM, ARRAYS };
static const size_t floats_of[ARRAYS] = {(size_t)MOST_ROWS * K, (size_t)K *N, (size_t)MOST_ROWS *N,
                                         MOST_ROWS, (size_t)MOST_ROWS *K};

struct measurement {
    struct cavs__device *device;
    void *array[ARRAYS];
};

static bool prepare(struct measurement *m)
{
    float *zeros = calloc((size_t)MOST_ROWS * N, sizeof *zeros);
    int32_t *rows = calloc(MOST_ROWS, sizeof *rows);
    bool done = zeros && rows;

    for (int i = 0; i < MOST_ROWS && done; i++)
        rows[i] = i * 7 % MOST_ROWS;
    for (int i = 0; i < ARRAYS && done; i++) {
        m->array[i] = m->device->driver->allocate(m->device, floats_of[i] * sizeof(float),
                                                  i == INDEX ? (void *)rows : (void *)zeros);
        done = m->array[i] != NULL;
    }
    free(zeros);
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
static int queue(const struct measurement *m, int n, int rows, bool indexed, bool together)
{
    static const struct cavs__call call = {.kernel = &cavs__kernel_gemm};
    struct cavs__device_view v[3][3];
    struct cavs__device_call c[3];
    const struct cavs__device_call *calls[3];
    int cols = N / n, rc = 0;

    for (int i = 0; i < n; i++) {
        v[i][0] = (struct cavs__device_view){{m->array[X], 0}, K, indexed ? 0 : -1, -1, K};
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
    if (together)
        return own_products(n, calls);
    for (int i = 0; i < n && !rc; i++)
        rc = library_product(calls[i]);
    return rc;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least of some rounds, in seconds; below 0: the device has failed.  The first, which may load
 * code, does not count. */
static double seconds(const struct measurement *m, int n, int rows, bool indexed, bool together)
{
    double least = -1;

    for (int round = 0; round <= ROUNDS; round++) {
        double start = now(), took;

        for (int i = 0; i < (round ? REPEATS : 1); i++)
            if (queue(m, n, rows, indexed, together))
                return -1;
        if (m->device->driver->finish(m->device))
            return -1;
        took = now() - start;
        if (round == 1 || (round > 1 && took < least))
            least = took;
    }
    return least;
}

/* Up to how many rows our kernel is faster: the middle, by ratio, between the last size at which it
 * is and the next. */
static int crossover(const struct measurement *m, int n, bool indexed)
{
    int most = 0;

    for (int i = 0; i < SIZES; i++) {
        double own = seconds(m, n, sizes[i], indexed, true);
        double library = seconds(m, n, sizes[i], indexed, false);

        if (own < 0 || library < 0)
            return -1;
        if (own > library)
            break;
        most = 2 * sizes[i];
    }
    return most;
}

static int measure(struct cavs__device *d)
{
    struct measurement m = {.device = d};
    const struct cavs__launch_counts before = *cavs__launched_here();
    bool done = prepare(&m);

    if (!done)
        cavs__device_fail(d, "there is no memory to measure products with");
    for (int several = 0; several < 2 && done; several++)
        for (int indexed = 0; indexed < 2 && done; indexed++) {
            int rows = crossover(&m, several ? 3 : 1, indexed);

            d->together[several][indexed] = rows;
            done = rows >= 0;
        }
    drop(&m);
    *cavs__launched_here() = before;
    return done ? 0 : -1;
}

/* ---- choosing ---- */

static void always(struct cavs__device *d, int rows)
{
    for (int i = 0; i < 4; i++)
        d->together[i / 2][i % 2] = rows;
}

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
        always(d, INT_MAX);
    else if (choice && !strcmp(choice, "measure"))
        from_measurement(d, true);
    else if (d->is_cpu || (choice && !strcmp(choice, "library")))
        always(d, 0);
    else
        from_measurement(d, false);
}
