/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - see walk.h. */
#include "codelets/device/walk.h"

#include "codelets/elementwise.h"
#include "codelets/kernels.h"

/* Rows [start, start + rows) of one segment. */
struct block {
    struct cavs__device *device;
    const struct cavs__part_args *args;
    const struct cavs__part *part;
    const struct cavs__segment *segment;
    const struct cavs__memory *buffers;
    struct cavs__memory scratch;
    int start, rows;
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

size_t cavs__part_device_floats(const struct cavs__part *p)
{
    return (size_t)p->scratch + (size_t)room_for_packing(p);
}

int cavs__part_launches(const struct cavs__part *p)
{
    int n = p->nsteps;

    for (int i = 0; i < p->nsteps; i++) {
        const struct cavs__step *s = &p->steps[i];
        const struct cavs__kernel *k = s->call.kernel;

        for (int j = 0; j < 2 && (k == &cavs__kernel_gemm || k == &cavs__kernel_gemm_tn); j++)
            n += is_scattered(&s->v[j]) && (j == 0 || k == &cavs__kernel_gemm_tn);
    }
    return n;
}

/* Entries of lists are counted by what stands in index sections, which are on the device. */
static bool has_lists(const struct cavs__step *s)
{
    bool has = s->list > 0;

    for (int i = 0; i < s->nviews; i++)
        has = has || s->v[i].list > 0 || s->v[i].listed || s->v[i].mode == CAVS__REPEATED;
    return has;
}

static const char *obstacle(const struct cavs__step *s, const struct cavs__device *d)
{
    if (has_lists(s))
        return "it goes over lists";
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
    switch (o->space) {
    case CAVS__ROWS: return b->segment->row0 + b->start;
    case CAVS__DISTINCT:
    case CAVS__FROWS: return b->segment->frow0 + b->start;
    case CAVS__BROWS: return b->segment->brow0 + b->start;
    case CAVS__EDGES: return b->segment->edge0 + (int64_t)b->start * o->slots + o->slot;
    default: return 0;
    }
}

static int section(const struct block *b, int number)
{
    return (int)b->buffers[b->args->index_buffer].at + b->args->sections[number];
}

static struct cavs__device_view resolve(const struct block *b, const struct cavs__operand *o)
{
    struct cavs__device_view v = {.cols = o->cols, .ld = (int)o->ld, .index = -1, .ptr = -1};

    if (o->buffer == CAVS__SCRATCH)
        v.memory = b->scratch;
    else if (o->buffer >= 0)
        v.memory = b->buffers[o->buffer];
    v.memory.at += o->col;
    if (o->buffer == CAVS__SCRATCH)
        v.memory.at += (int64_t)o->region * b->rows;
    switch (o->mode) {
    case CAVS__DIRECT:
        if (o->buffer >= 0)
            v.memory.at += first_row(b, o) * o->ld;
        if (o->space == CAVS__EDGES)
            v.ld *= o->slots;
        break;
    case CAVS__SAME: v.ld = 0; break;
    case CAVS__INDEXED:
    case CAVS__IDS: v.index = section(b, o->section) + b->segment->frow0 + b->start; break;
    case CAVS__SUMMED:
        v.index = section(b, o->section);
        v.ptr = section(b, o->ptr_section) + b->segment->row0 + b->start;
        break;
    default: break;
    }
    return v;
}

/* ---- steps ---- */

/* *first: as in part.c */
static int take_step(const struct block *b, const struct cavs__step *s, uint64_t *first)
{
    struct cavs__device_view v[s->nviews + 1];
    struct cavs__device_call c = {.device = b->device,
                                  .call = &s->call,
                                  .rows = b->rows,
                                  .v = v,
                                  .nviews = s->nviews,
                                  .room = b->scratch};
    int out = s->nviews > 0 ? s->v[s->nviews - 1].buffer : CAVS__NO_BUFFER;

    for (int i = 0; i < s->nviews; i++)
        v[i] = resolve(b, &s->v[i]);
    if (b->args->index_buffer >= 0)
        c.index = b->buffers[b->args->index_buffer].p;
    c.room.at += (int64_t)b->part->scratch * b->rows;
    if (s->call.kernel->reduces && out >= 0 && (*first >> out & 1)) {
        c.flags |= CAVS__FIRST;
        *first &= ~((uint64_t)1 << out);
    }
    return s->call.kernel->device(&c);
}

static int rows_at_once(const struct cavs__part *p, size_t scratch)
{
    size_t row = cavs__part_device_floats(p), rows = row ? scratch / row : INT32_MAX;

    return rows > INT32_MAX ? INT32_MAX : rows < 1 ? 1 : (int)rows;
}

int cavs__part_queue(struct cavs__device *d, const struct cavs__part_args *a, int nbuffers,
                     const struct cavs__memory *buffers, size_t scratch)
{
    struct block b = {.device = d, .args = a, .buffers = buffers, .scratch = buffers[nbuffers - 1]};
    uint64_t first = a->first;

    for (int i = 0; i < a->nsegments; i++) {
        int at_once;

        b.segment = &a->segments[i];
        b.part = a->parts[b.segment->function];
        at_once = rows_at_once(b.part, scratch);
        for (b.start = 0; b.start < b.segment->rows; b.start += b.rows) {
            b.rows = b.segment->rows - b.start < at_once ? b.segment->rows - b.start : at_once;
            for (int s = 0; s < b.part->nsteps; s++)
                if (take_step(&b, &b.part->steps[s], &first))
                    return -1;
        }
    }
    return 0;
}
