/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - see walk.h. */
#include "codelets/device/walk.h"

#include "codelets/device/products.h"
#include "codelets/groups/elementwise.h"
#include "codelets/kernels/kernel_table.h"

/* Rows [start, start + rows) of one segment. */
struct block {
    struct cavs__device *device;
    const struct cavs__part_args *args;
    const struct cavs__part *part;
    const struct cavs__segment *segment;
    const struct cavs__memory *buffers;
    struct cavs__memory scratch;
    int start, rows;
    /* as in struct tile of part.c */
    int32_t first[CAVS__PART_LISTS], first_of_segment[CAVS__PART_LISTS];
    int32_t first_of_block[CAVS__PART_LISTS], entries[CAVS__PART_LISTS];
    int64_t entry_scratch[CAVS__PART_LISTS]; /* floats from the begin of scratch */
    int64_t used;                            /* of scratch, before the room for packing */
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

/* Launches of products that may run at once; their x may have to be packed. */
static int product_launches(const struct cavs__step *s, const struct cavs__device *d, int rows)
{
    int packed = 0;

    for (int i = 0; i < s->together; i++)
        packed += is_scattered(&s[i].v[0]);
    return cavs__device_takes_together(d, s->together, rows, packed > 0) ? 1 : s->together + packed;
}

static int gradient_launches(const struct cavs__step *s, const struct cavs__device *d)
{
    return d->api->has_gemm(d) ? 1 + is_scattered(&s->v[0]) + is_scattered(&s->v[1]) : 1;
}

int cavs__part_launches(const struct cavs__part *p, const struct cavs__device *d, int rows)
{
    int n = 0;

    for (int i = 0; i < p->nsteps; i += p->steps[i].together) {
        const struct cavs__step *s = &p->steps[i];

        n += s->call.kernel == &cavs__kernel_gemm      ? product_launches(s, d, rows)
             : s->call.kernel == &cavs__kernel_gemm_tn ? gradient_launches(s, d)
                                                       : 1;
    }
    return n;
}

static const char *obstacle(const struct cavs__step *s, const struct cavs__device *d)
{
    if (!s->call.kernel->device)
        return "a step has no kernel for devices";
    if (s->call.kernel->needs_double && !d->has_double)
        return "the device cannot compute in double";
    if (s->call.program && cavs__device_group_bytes(s->nviews) > d->max_parameters)
        return "a fused group has more operands than a kernel may have there";
    if (s->call.program && !cavs__device_group(s->call.program, d))
        return "a fused group was not compiled for it";
    return NULL;
}

bool cavs__part_runs_on(const struct cavs__part *p, const struct cavs__device *d, const char **why)
{
    for (int i = 0; i < p->nsteps; i++) {
        *why = obstacle(&p->steps[i], d);
        if (*why)
            return false;
    }
    return true;
}

/* ---- operands ---- */

static int64_t first_row(const struct block *b, const struct cavs__operand *o)
{
    int l = o->list - 1;

    switch (o->space) {
    case CAVS__ROWS: return b->segment->row0 + b->start;
    case CAVS__DISTINCT:
    case CAVS__FROWS: return b->segment->frow0 + b->start;
    case CAVS__BROWS: return b->segment->brow0 + b->start;
    case CAVS__ENTRIES: return b->first[l];
    case CAVS__BENTRIES: return b->first[l] - b->first_of_block[l];
    case CAVS__EDGES:
        if (o->list > 0)
            return b->segment->edge0 + b->first[l] - b->first_of_segment[l];
        return b->segment->edge0 + (int64_t)b->start * o->slots + o->slot;
    default: return 0;
    }
}

static int section(const struct block *b, int number)
{
    return (int)b->buffers[b->args->index_buffer].at + b->args->sections[number];
}

/* Function rows, or entries, before the block. */
static int before_block(const struct block *b, int list)
{
    return list > 0 ? b->first[list - 1] : b->segment->frow0 + b->start;
}

static struct cavs__memory memory_of(const struct block *b, const struct cavs__operand *o)
{
    struct cavs__memory m = {0};
    int l = o->list - 1;

    if (o->buffer >= 0)
        m = b->buffers[o->buffer];
    else if (o->buffer == CAVS__SCRATCH)
        m = b->scratch;
    m.at += o->col;
    if (o->buffer != CAVS__SCRATCH)
        return m;
    if (l < 0 || o->mode == CAVS__REPEATED)
        m.at += (int64_t)o->region * b->rows;
    else
        m.at += b->entry_scratch[l] + (int64_t)o->region * (int64_t)cavs__entry_room(b->entries[l]);
    return m;
}

/* A vertex's row for each of its entries: indexed by function row, so the view begins where
 * function row 0 would be. */
static void repeat(const struct block *b, const struct cavs__operand *o,
                   struct cavs__device_view *v)
{
    struct cavs__operand vertices = *o;

    vertices.list = 0;
    if (o->buffer >= 0)
        v->memory.at += first_row(b, &vertices) * o->ld;
    if (o->space == CAVS__EDGES)
        v->ld *= o->slots;
    v->memory.at -= (int64_t)before_block(b, 0) * v->ld;
    v->index = section(b, o->section) + before_block(b, o->list);
}

static struct cavs__device_view resolve(const struct block *b, const struct cavs__operand *o)
{
    struct cavs__device_view v = {
        .memory = memory_of(b, o), .cols = o->cols, .ld = (int)o->ld, .index = -1, .ptr = -1};

    switch (o->mode) {
    case CAVS__DIRECT:
        if (o->buffer >= 0)
            v.memory.at += first_row(b, o) * o->ld;
        if (o->space == CAVS__EDGES && o->list == 0)
            v.ld *= o->slots;
        break;
    case CAVS__REPEATED: repeat(b, o, &v); break;
    case CAVS__SAME: v.ld = 0; break;
    case CAVS__INDEXED:
    case CAVS__IDS: v.index = section(b, o->section) + before_block(b, o->list); break;
    case CAVS__SUMMED:
        v.index = section(b, o->section);
        v.ptr = section(b, o->ptr_section) + b->segment->row0 + b->start;
        break;
    default: break;
    }
    if (o->listed)
        v.ptr = section(b, b->part->lists[o->list - 1].ptr_section) + before_block(b, 0);
    return v;
}

/* ---- steps ---- */

/* The call of a step; v: room for its views.  *first: as in part.c */
static struct cavs__device_call call_of(const struct block *b, const struct cavs__step *s,
                                        struct cavs__device_view *v, uint64_t *first)
{
    struct cavs__device_call c = {.device = b->device,
                                  .call = &s->call,
                                  .rows = s->list > 0 ? b->entries[s->list - 1] : b->rows,
                                  .v = v,
                                  .nviews = s->nviews,
                                  .room = b->scratch};
    int out = s->nviews > 0 ? s->v[s->nviews - 1].buffer : CAVS__NO_BUFFER;

    for (int i = 0; i < s->nviews; i++)
        v[i] = resolve(b, &s->v[i]);
    if (b->args->index_buffer >= 0)
        c.index = b->buffers[b->args->index_buffer].p;
    c.room.at += b->used;
    if (s->call.kernel->reduces && out >= 0 && (*first >> out & 1)) {
        c.flags |= CAVS__FIRST;
        *first &= ~((uint64_t)1 << out);
    }
    return c;
}

static int take_step(const struct block *b, const struct cavs__step *s, uint64_t *first)
{
    struct cavs__device_view v[s->nviews + 1];
    struct cavs__device_call c = call_of(b, s, v, first);

    return s->call.kernel->device(&c);
}

/* Products that may run at once. */
static int take_products(const struct block *b, const struct cavs__step *s, uint64_t *first)
{
    struct cavs__device_view v[CAVS__MOST_TOGETHER][3];
    struct cavs__device_call c[CAVS__MOST_TOGETHER];
    const struct cavs__device_call *calls[CAVS__MOST_TOGETHER];

    for (int i = 0; i < s->together; i++) {
        c[i] = call_of(b, &s[i], v[i], first);
        calls[i] = &c[i];
    }
    return cavs__device_products(s->together, calls);
}

static int take_steps(const struct block *b, uint64_t *first)
{
    int rc = 0;

    for (int i = 0; i < b->part->nsteps && !rc; i += b->part->steps[i].together) {
        const struct cavs__step *s = &b->part->steps[i];

        rc = s->together > 1 ? take_products(b, s, first) : take_step(b, s, first);
    }
    return rc;
}

/* The first entry of function row f in list i of the part, as main memory has it: what the device
 * has is a copy. */
static int32_t first_entry(const struct block *b, int i, int f)
{
    return b->args->host_index[b->args->sections[b->part->lists[i].ptr_section] + f];
}

/* Entries of the block's lists if it has so many rows. */
static void count_entries(const struct block *b, int rows, int32_t *entries)
{
    int f = b->segment->frow0 + b->start;

    for (int i = 0; i < CAVS__PART_LISTS; i++)
        if (b->part->lists[i].used)
            entries[i] = first_entry(b, i, f + rows) - first_entry(b, i, f);
}

static void place_lists(struct block *b)
{
    int f = b->segment->frow0;

    b->used = (int64_t)b->part->scratch * b->rows;
    for (int i = 0; i < CAVS__PART_LISTS; i++) {
        if (!b->part->lists[i].used)
            continue;
        b->first[i] = first_entry(b, i, f + b->start);
        b->first_of_segment[i] = first_entry(b, i, f);
        b->first_of_block[i] = first_entry(b, i, f - b->segment->brow0);
        b->entry_scratch[i] = b->used;
        b->used += (int64_t)b->part->lists[i].scratch * (int64_t)cavs__entry_room(b->entries[i]);
    }
}

/* As many rows as the scratch is large enough for, but at least one. */
static void cut_block(struct block *b, size_t scratch)
{
    b->rows = b->segment->rows - b->start;
    count_entries(b, b->rows, b->entries);
    while (b->rows > 1 && cavs__part_device_floats(b->part, b->rows, b->entries) > scratch) {
        b->rows = (b->rows + 1) / 2;
        count_entries(b, b->rows, b->entries);
    }
    place_lists(b);
}

int cavs__part_queue(struct cavs__device *d, const struct cavs__part_args *a, int nbuffers,
                     const struct cavs__memory *buffers, size_t scratch)
{
    struct block b = {.device = d, .args = a, .buffers = buffers, .scratch = buffers[nbuffers - 1]};
    uint64_t first = a->first;

    for (int i = 0; i < a->nsegments; i++) {
        b.segment = &a->segments[i];
        b.part = a->parts[b.segment->function];
        for (b.start = 0; b.start < b.segment->rows; b.start += b.rows) {
            cut_block(&b, scratch);
            if (take_steps(&b, &first))
                return -1;
        }
    }
    return 0;
}
