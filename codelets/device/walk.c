/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - see walk.h. */
#include "codelets/device/walk.h"

#include "codelets/device/device_sums.h"
#include "codelets/device/products.h"
#include "codelets/device/sequences.h"
#include "codelets/kernels/kernel_table.h"
#include "codelets/locate.h"

/* Rows of one segment that all steps take before the next ones. */
struct block {
    struct cavs__rows at;
    struct cavs__device *device;
    const struct cavs__part_args *args;
    const struct cavs__memory *buffers;
    struct cavs__memory scratch;
    cavs__take_fn *take;
};

/* ---- what a part needs ---- */

static bool is_scattered(const struct cavs__operand *o)
{
    return o->mode != CAVS__DIRECT;
}

static int room_of(const struct cavs__step *s)
{
    int cols[s->nviews + 1];
    bool scattered[s->nviews + 1];

    for (int i = 0; i < s->nviews; i++) {
        cols[i] = s->v[i].cols;
        scattered[i] = is_scattered(&s->v[i]);
    }
    return cavs__device_room(&s->call, cols, scattered);
}

static int room_for_packing(const struct cavs__part *p)
{
    int most = 0;

    for (int i = 0; i < p->nsteps; i++) {
        int room = room_of(&p->steps[i]);

        most = room > most ? room : most;
    }
    return most;
}

size_t cavs__part_device_floats(const struct cavs__part *p, int rows, const int32_t *entries)
{
    size_t floats = (size_t)p->scratch * (size_t)rows, most = (size_t)rows;

    for (int i = 0; i < CAVS__PART_LISTS; i++) {
        if (!p->lists[i].used)
            continue;
        floats += (size_t)p->lists[i].scratch * cavs__entry_room(entries[i]);
        most = (size_t)entries[i] > most ? (size_t)entries[i] : most;
    }
    return floats + (size_t)room_for_packing(p) * most;
}

/* Launches of products that may run at once, and of groups around them; an x of a product may have
 * to be packed. */
static int product_launches(const struct cavs__step *s, const struct cavs__device *d, int rows)
{
    struct cavs__products all = {0};
    int packed = 0;

    for (int i = 0; i < s->together; i++) {
        if (s[i].call.kernel != &cavs__kernel_gemm)
            continue;
        all.n++;
        all.bf16 = s[i].call.device_bf16;
        packed += is_scattered(&s[i].v[0]);
        all.work += (double)rows * s[i].v[0].cols * s[i].v[2].cols;
    }
    all.indexed = packed > 0;
    return cavs__device_takes_together(d, &all) ? 1 : s->together + packed;
}

static int gradient_launches(const struct cavs__step *s, const struct cavs__device *d)
{
    return d->driver->has_gemm(d) ? 1 + is_scattered(&s->v[0]) + is_scattered(&s->v[1]) : 1;
}

int cavs__part_launches(const struct cavs__part *p, const struct cavs__device *d, int rows)
{
    int n = 0;

    for (int i = 0; i < p->nsteps; i += cavs__steps_of_launch(&p->steps[i])) {
        const struct cavs__step *s = &p->steps[i];

        n += s->call.kernel == &cavs__kernel_gemm || s->together > 1 ? product_launches(s, d, rows)
             : s->call.kernel == &cavs__kernel_gemm_tn               ? gradient_launches(s, d)
             : s->call.kernel == &cavs__kernel_column_sum
                 ? cavs__device_column_sums(rows, s->v[1].cols)
                 : 1;
    }
    return n;
}

static const char *obstacle(const struct cavs__step *s, const struct cavs__device *d)
{
    const struct cavs__device_implementation *k = &cavs__device_kernels[s->call.kernel->number];

    if (!k->queue)
        return k->why_not ? k->why_not : "a step has no kernel for devices";
    if (k->needs_double && !d->has_double)
        return "the device cannot compute in double";
    if (s->call.program && cavs__device_group_bytes(s->nviews) > d->max_parameters)
        return "a fused group has more operands than a kernel may have there";
    if (s->call.program && !cavs__device_group(s->call.program, d))
        return "a fused group was not compiled for it";
    return NULL;
}

const char *cavs__part_obstacle(const struct cavs__part *p, const struct cavs__device *d)
{
    const char *why = NULL;

    for (int i = 0; i < p->nsteps && !why; i += cavs__steps_of_launch(&p->steps[i])) {
        const struct cavs__sequence *q = p->steps[i].sequence;

        if (q && !cavs__device_sequence_kernel(q, d))
            why = "a sequence of steps was not compiled for it";
        for (int k = 0; !q && k < p->steps[i].together && !why; k++)
            why = obstacle(&p->steps[i + k], d);
    }
    return why;
}

/* ---- operands ---- */

static struct cavs__memory memory_of(const struct block *b, const struct cavs__location *at)
{
    struct cavs__memory m = {0};

    if (at->buffer == CAVS__NO_BUFFER)
        return m;
    m = at->buffer >= 0 ? b->buffers[at->buffer] : b->scratch;
    m.at += at->floats;
    return m;
}

/* The sections may lie in the middle of what the device has. */
static int position(const struct block *b, int64_t at)
{
    return at < 0 ? -1 : (int)(b->buffers[b->args->index_buffer].at + at);
}

static struct cavs__device_view view_of(const struct block *b, const struct cavs__operand *o)
{
    struct cavs__location at = cavs__locate(&b->at, o);

    return (struct cavs__device_view){.memory = memory_of(b, &at),
                                      .ld = (int)at.ld,
                                      .index = position(b, at.index),
                                      .ptr = position(b, at.ptr),
                                      .cols = o->cols};
}

/* Where the entries of the first of these vertices begin, and then those of the next ones. */
static int first_entries(const struct block *b, int list)
{
    const struct cavs__rows *r = &b->at;

    return list == 0 ? -1
                     : position(b, r->sections[r->part->lists[list - 1].ptr_section] +
                                       cavs__rows_before(r, 0));
}

/* ---- steps ---- */

/* The call of a step; v: room for its views.  *first: as in part.c */
static struct cavs__device_call call_of(const struct block *b, const struct cavs__step *s,
                                        struct cavs__device_view *v, uint64_t *first)
{
    struct cavs__device_call c = {.device = b->device,
                                  .call = &s->call,
                                  .rows = s->list > 0 ? b->at.entries[s->list - 1] : b->at.rows,
                                  .v = v,
                                  .nviews = s->nviews,
                                  .room = b->scratch};
    int out = s->nviews > 0 ? s->v[s->nviews - 1].buffer : CAVS__NO_BUFFER;

    c.vertices = b->at.rows;
    c.ptr = first_entries(b, s->list);
    for (int i = 0; i < s->nviews; i++)
        v[i] = view_of(b, &s->v[i]);
    if (b->args->index_buffer >= 0)
        c.index = b->buffers[b->args->index_buffer].p;
    c.room.at += b->at.used;
    if (s->call.kernel->reduces && out >= 0 && (*first >> out & 1)) {
        c.flags |= CAVS__FIRST;
        *first &= ~((uint64_t)1 << out);
    }
    return c;
}

static int views_of(const struct cavs__step *s, int n)
{
    int views = 0;

    for (int i = 0; i < n; i++)
        views += s[i].nviews;
    return views;
}

/* n steps that are one launch. */
static int take_steps(const struct block *b, const struct cavs__step *s, int n, uint64_t *first)
{
    struct cavs__device_view v[views_of(s, n) + 1], *next = v;
    struct cavs__device_call c[n];
    const struct cavs__device_call *calls[n];

    for (int i = 0; i < n; i++) {
        c[i] = call_of(b, &s[i], next, first);
        next += s[i].nviews;
        calls[i] = &c[i];
    }
    c[0].sequence = s->sequence;
    return b->take(n, calls);
}

static int take_all_steps(const struct block *b, uint64_t *first)
{
    const struct cavs__part *p = b->at.part;
    int rc = 0;

    for (int i = 0, n; i < p->nsteps && !rc; i += n) {
        n = cavs__steps_of_launch(&p->steps[i]);
        rc = take_steps(b, &p->steps[i], n, first);
    }
    return rc;
}

/* ---- blocks ---- */

/* Floats of scratch if the block has so many rows. */
static size_t floats_of(const struct cavs__rows *at, int rows)
{
    int32_t entries[CAVS__PART_LISTS] = {0};

    for (int i = 0; i < CAVS__PART_LISTS; i++)
        if (at->part->lists[i].used)
            entries[i] = *cavs__entries_from(at, i, at->start + rows) -
                         *cavs__entries_from(at, i, at->start);
    return cavs__part_device_floats(at->part, rows, entries);
}

/* As many rows as the scratch is large enough for, but at least one. */
static void cut_block(struct cavs__rows *at, size_t scratch)
{
    int rows = at->segment->rows - at->start;

    while (rows > 1 && floats_of(at, rows) > scratch)
        rows = (rows + 1) / 2;
    cavs__rows_take(at, rows, rows);
}

int cavs__part_walk(struct cavs__device *d, const struct cavs__part_args *a, int nbuffers,
                    const struct cavs__memory *buffers, size_t scratch, cavs__take_fn *take)
{
    struct block b = {
        .device = d, .args = a, .buffers = buffers, .scratch = buffers[nbuffers - 1], .take = take};
    struct cavs__rows *at = &b.at;
    uint64_t first = a->first;

    at->index = a->host_index;
    for (int i = 0; i < a->nsegments; i++) {
        at->segment = &a->segments[i];
        at->sections = at->segment->sections ? at->segment->sections : a->sections;
        at->part = a->parts[at->segment->function];
        for (at->start = 0; at->start < at->segment->rows; at->start += at->rows) {
            cut_block(at, scratch);
            if (take_all_steps(&b, &first))
                return -1;
        }
    }
    return 0;
}

/* ---- launching ---- */

static int launch_calls(int n, const struct cavs__device_call *const *calls)
{
    return calls[0]->sequence ? cavs__device_sequence(n, calls)
           : n > 1            ? cavs__device_products(n, calls)
                              : cavs__device_queue(calls[0]);
}

int cavs__part_queue(struct cavs__device *d, const struct cavs__part_args *a, int nbuffers,
                     const struct cavs__memory *buffers, size_t scratch)
{
    return cavs__part_walk(d, a, nbuffers, buffers, scratch, launch_calls);
}
