/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - see products.h. */
#include "codelets/device/products.h"

#include "codelets/device/device_sums.h"
#include "codelets/device/fused_products.h"
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
    *out = *v;
    if (!scattered(v))
        return 0;
    *out = (struct cavs__device_view){.memory = *room, .ld = v->cols, .cols = v->cols, .index = -1};
    room->at += (int64_t)c->rows * v->cols;
    return cavs__device_copy_rows(c->device, c->index, c->rows, v, out);
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
    return c->device->driver->gemm(c->device, &(struct cavs__product){.bf16 = c->call->device_bf16,
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

static const struct tiles {
    enum cavs__device_kernel kernel;
    int rows, columns, items;
    double step;
} all_tiles[CAVS__TILES_COUNT] = {
#define TILES(name, rows, columns, item_rows, items, steps, stages, step) \
    {CAVS__DEVICE_products_##name, rows, columns, items, step},
    CAVS__TILES(TILES)
#undef TILES
};

/* Columns that a group of items copies (products.cl). */
enum { COPIED_COLUMNS = 64 };

static int most_rows(int n, const struct cavs__device_call *const *calls)
{
    int rows = 0;

    for (int i = 0; i < n; i++)
        rows = calls[i]->rows > rows ? calls[i]->rows : rows;
    return rows;
}

static int64_t parts(int64_t n, int size)
{
    return (n + size - 1) / size;
}

/* How long these tiles take: what each of the device's units has to do, but no less than one tile
 * of the longest sum. */
static double duration(const struct tiles *t, int n, const struct cavs__device_call *const *calls)
{
    double steps = 0, longest = 0, each;

    for (int i = 0; i < n; i++) {
        double k = calls[i]->v[0].cols;

        longest = k > longest ? k : longest;
        steps += k * (double)parts(calls[i]->v[2].cols, t->columns);
    }
    each = steps * (double)parts(most_rows(n, calls), t->rows) / calls[0]->device->units;
    return t->step * (each > longest ? each : longest);
}

static int launch_together(const struct tiles *t, const struct cavs__fused *f)
{
    struct cavs__device *d = f->device;
    int64_t columns = parts(f->copied[0].from.cols, COPIED_COLUMNS) +
                      parts(f->copied[1].from.cols, COPIED_COLUMNS);
    struct cavs__launch l;

    for (int i = 0; i < f->n; i++)
        columns += parts(f->products[i].y.cols, t->columns);
    cavs__launch_groups(&l, d, t->kernel, parts(f->rows, t->rows), columns, t->items);
    cavs__argument_pointer(&l, f->index);
    cavs__argument_fused(&l, f);
    return cavs__launch(d, &l);
}

int cavs__device_products_tiled(int tiles, int n, const struct cavs__device_call *const *calls)
{
    struct cavs__fused f;

    cavs__fuse_products(&f, n, calls);
    return launch_together(&all_tiles[tiles], &f);
}

int cavs__device_tiles_for(int n, const struct cavs__device_call *const *calls)
{
    double least = 0;
    int best = 0;

    for (int i = 0; i < CAVS__TILES_COUNT; i++) {
        double took = duration(&all_tiles[i], n, calls);

        if (i == 0 || took < least) {
            least = took;
            best = i;
        }
    }
    return best;
}

int cavs__device_products_together(int n, const struct cavs__device_call *const *calls)
{
    return cavs__device_products_tiled(cavs__device_tiles_for(n, calls), n, calls);
}

/* ---- which ---- */

bool cavs__device_takes_together(const struct cavs__device *d, const struct cavs__products *p)
{
    return !d->driver->has_gemm(d) || p->work <= d->together[p->bf16][p->n > 1][p->indexed];
}

static bool are_taken_together(int n, const struct cavs__device_call *const *calls)
{
    struct cavs__products all = {.n = n, .bf16 = calls[0]->call->device_bf16};
    bool empty = false;

    for (int i = 0; i < n; i++) {
        const struct cavs__device_view *v = calls[i]->v;

        all.indexed = all.indexed || scattered(&v[0]);
        all.work += (double)calls[i]->rows * v[0].cols * v[2].cols;
        empty = empty || v[0].cols == 0;
    }
    return empty || cavs__device_takes_together(calls[0]->device, &all);
}

static bool is_group(const struct cavs__device_call *c)
{
    return c->call->kernel == &cavs__kernel_elementwise;
}

/* Products with the groups around them; NULL: there is none. */
struct surrounded {
    int n;
    const struct cavs__device_call *const *products, *before, *after;
};

static int take_together(const struct surrounded *s)
{
    const struct cavs__device_call *after = s->after;
    struct cavs__fused f;
    int rc = 0;

    cavs__fuse_products(&f, s->n, s->products);
    if (s->before && !cavs__fuse_copies(&f, s->before))
        rc = cavs__device_queue(s->before);
    if (after && cavs__fuse_sums(&f, after))
        after = NULL;
    if (!rc)
        rc = launch_together(&all_tiles[cavs__device_tiles_for(s->n, s->products)], &f);
    return rc || !after ? rc : cavs__device_queue(after);
}

static int take_apart(const struct surrounded *s)
{
    int rc = s->before ? cavs__device_queue(s->before) : 0;

    if (!rc)
        rc = cavs__device_products_apart(s->n, s->products);
    return rc || !s->after ? rc : cavs__device_queue(s->after);
}

int cavs__device_products(int n, const struct cavs__device_call *const *calls)
{
    const bool before = is_group(calls[0]), after = is_group(calls[n - 1]);
    const struct surrounded s = {.n = n - before - after,
                                 .products = calls + before,
                                 .before = before ? calls[0] : NULL,
                                 .after = after ? calls[n - 1] : NULL};

    return are_taken_together(s.n, s.products) ? take_together(&s) : take_apart(&s);
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

    if (call->kernel == &cavs__kernel_column_sum)
        return cavs__device_column_sum_room(cols[1]);
    for (int i = 0; i < n; i++)
        room += is_scattered[i] ? cols[i] : 0;
    return room;
}
