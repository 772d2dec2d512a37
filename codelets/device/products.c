/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - see products.h. */
#include "codelets/device/products.h"

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

int cavs__device_products_apart(int n, const struct cavs__device_call *const *calls)
{
    int rc = 0;

    for (int i = 0; i < n && !rc; i++)
        rc = library_product(calls[i]);
    return rc;
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
int cavs__device_products_together(int n, const struct cavs__device_call *const *calls)
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

    for (int i = 0; i < n; i++) {
        indexed = indexed || scattered(&calls[i]->v[0]);
        empty = empty || calls[i]->v[0].cols == 0;
    }
    if (empty || cavs__device_takes_together(calls[0]->device, n, most_rows(n, calls), indexed))
        return cavs__device_products_together(n, calls);
    return cavs__device_products_apart(n, calls);
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
