/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - walks the rows of a task tile by tile and takes every step on each; see part.h. */
#include "codelets/part.h"
#include "codelets/groups/elementwise.h"

#include <math.h>
#include <time.h>

/* One tile of one segment. */
struct tile {
    const struct cavs__part_args *args;
    const struct cavs__part *part;
    const struct cavs__segment *segment;
    void *const *buffers;
    const int32_t *index;
    float *scratch;
    int start, rows;
    /* by list of the part: the first entry of the tile's vertices, of the segment's and of the
     * block's, how many the tile has, and where their scratch begins */
    int32_t first[CAVS__PART_LISTS], first_of_segment[CAVS__PART_LISTS];
    int32_t first_of_block[CAVS__PART_LISTS], entries[CAVS__PART_LISTS];
    float *entry_scratch[CAVS__PART_LISTS];
};

static int64_t first_row(const struct tile *t, const struct cavs__operand *o)
{
    int l = o->list > 0 ? o->list - 1 : 0; /* of the entries' spaces; the edges of a stage have none */

    switch (o->space) {
    case CAVS__ROWS: return t->segment->row0 + t->start;
    case CAVS__DISTINCT:
    case CAVS__FROWS: return t->segment->frow0 + t->start;
    case CAVS__BROWS: return t->segment->brow0 + t->start;
    case CAVS__ENTRIES: return t->first[l];
    case CAVS__BENTRIES: return t->first[l] - t->first_of_block[l];
    case CAVS__EDGES:
        if (o->list > 0) /* edges of the stage lie as the entries of the function do */
            return t->segment->edge0 + t->first[l] - t->first_of_segment[l];
        return t->segment->edge0 + (int64_t)t->start * o->slots + o->slot;
    default: return 0;
    }
}

static const int32_t *section(const struct tile *t, int number)
{
    return t->index + t->args->sections[number];
}

/* Function rows, or entries, before the tile. */
static int32_t before_tile(const struct tile *t, int list)
{
    return list > 0 ? t->first[list - 1] : t->segment->frow0 + t->start;
}

/* What the views of a tile's rows have in common: where the first one is. */
static float *block(const struct tile *t, const struct cavs__operand *o, bool of_vertices)
{
    if (o->buffer >= 0)
        return (float *)t->buffers[o->buffer] + o->col;
    if (o->buffer != CAVS__SCRATCH)
        return NULL;
    if (of_vertices || o->list == 0)
        return t->scratch + (size_t)o->region * (size_t)t->part->tile + o->col;
    return t->entry_scratch[o->list - 1] +
           (size_t)o->region * cavs__entry_room(t->entries[o->list - 1]) + o->col;
}

/* A vertex's row, seen from its entries: indexed by function row, so the view begins where function
 * row 0 would be.  Only rows of the tile are read. */
static void repeat(const struct tile *t, const struct cavs__operand *o, struct cavs__view *v)
{
    struct cavs__operand vertices = *o;

    vertices.list = 0;
    if (o->buffer >= 0)
        v->p += first_row(t, &vertices) * o->ld;
    if (o->space == CAVS__EDGES)
        v->ld *= o->slots;
    v->p = (float *)((uintptr_t)v->p -
                     (uintptr_t)(before_tile(t, 0) * v->ld * (ptrdiff_t)sizeof *v->p));
    v->index = section(t, o->section) + before_tile(t, o->list);
}

static struct cavs__view resolve(const struct tile *t, const struct cavs__operand *o)
{
    struct cavs__view v = {.cols = o->cols, .ld = o->ld};

    v.p = block(t, o, o->mode == CAVS__REPEATED);
    switch (o->mode) {
    case CAVS__DIRECT:
        if (o->buffer >= 0)
            v.p += first_row(t, o) * o->ld;
        if (o->space == CAVS__EDGES && o->list == 0)
            v.ld *= o->slots;
        break;
    case CAVS__REPEATED: repeat(t, o, &v); break;
    case CAVS__SAME: v.ld = 0; break;
    case CAVS__INDEXED:
    case CAVS__IDS: v.index = section(t, o->section) + before_tile(t, o->list); break;
    case CAVS__SUMMED:
        v.index = section(t, o->section);
        v.ptr = section(t, o->ptr_section) + t->segment->row0 + t->start;
        break;
    default: break;
    }
    if (o->listed)
        v.ptr = section(t, t->part->lists[o->list - 1].ptr_section) + before_tile(t, 0);
    return v;
}

/* The tile's vertex that has entry e of the tile in its list. */
static int owner(const struct tile *t, int list, int e)
{
    const int32_t *ptr =
        section(t, t->part->lists[list - 1].ptr_section) + t->segment->frow0 + t->start;
    int r = 0;

    while (r + 1 < t->rows && ptr[r + 1] - ptr[0] <= e)
        r++;
    return r;
}

/* The part of the step that made number c of row r bad. */
static int culprit(const struct cavs__step *s, const struct cavs__view *v, int r, int c)
{
    return s->call.program ? cavs__ew_blame(s->call.program, v, r, c) : 0;
}

static void report(const struct tile *t, const struct cavs__step *s, int row, int node)
{
    struct cavs__fault *f = t->args->fault;
    int none = 0;

    if (!__atomic_compare_exchange_n(&f->state, &none, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    f->part = t->part;
    f->step = s;
    f->node = node;
    f->function = t->segment->function;
    f->row = t->segment->row0 + t->start + row;
    f->shard = t->args->shard;
    f->batch = t->args->batch;
    __atomic_store_n(&f->state, 2, __ATOMIC_RELEASE);
}

static void check_finite(const struct tile *t, const struct cavs__step *s,
                         const struct cavs__view *v)
{
    for (int i = s->nviews - s->noutputs; i < s->nviews; i++) {
        int list = s->v[i].list, rows = list > 0 ? t->entries[list - 1] : t->rows;

        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < v[i].cols; c++) {
                if (!isfinite(v[i].p[r * v[i].ld + c])) {
                    report(t, s, list > 0 ? owner(t, list, r) : r, culprit(s, v, r, c));
                    return;
                }
            }
        }
    }
}

/* *first: buffers that nothing has been added to; the first reduction into each starts it from
 * zero. */
static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run_kernel(const struct tile *t, const struct cavs__step *s, const struct cavs__view *v,
                       unsigned flags)
{
    uint64_t start = t->args->nanoseconds ? now() : 0;

    s->call.kernel->cpu(&s->call, s->list > 0 ? t->entries[s->list - 1] : t->rows, v, flags);
    if (t->args->nanoseconds)
        __atomic_add_fetch(&t->args->nanoseconds[s->cost], now() - start, __ATOMIC_RELAXED);
}

static void take_step(const struct tile *t, const struct cavs__step *s, uint64_t *first)
{
    struct cavs__view v[s->nviews + 1]; /* a fused group may have some hundreds */
    unsigned flags = 0;
    int out = s->nviews > 0 ? s->v[s->nviews - 1].buffer : CAVS__NO_BUFFER;

    for (int i = 0; i < s->nviews; i++)
        v[i] = resolve(t, &s->v[i]);
    if (s->call.kernel->reduces && out >= 0 && (*first >> out & 1)) {
        flags |= CAVS__FIRST;
        *first &= ~((uint64_t)1 << out);
    }
    run_kernel(t, s, v, flags);
    if (t->args->fault &&
        !s->call.kernel->reduces) /* what goes into a reduction was checked before */
        check_finite(t, s, v);
}

/* How many of `rows` vertices a tile takes so that it has room for their entries: at least one. */
static int fitting_rows(const int32_t *ptr, int rows, int room)
{
    int fit = 1;

    if (ptr[rows] - ptr[0] <= room)
        return rows;
    while (fit + 1 < rows && ptr[fit + 1] - ptr[0] <= room)
        fit++;
    return fit;
}

static void cut_tile(struct tile *t)
{
    const struct cavs__part_list *lists = t->part->lists;
    float *scratch = t->scratch + (size_t)t->part->scratch * (size_t)t->part->tile;
    int left = t->segment->rows - t->start;

    t->rows = left < t->part->tile ? left : t->part->tile;
    for (int i = 0; i < CAVS__PART_LISTS; i++) {
        if (lists[i].used)
            t->rows = fitting_rows(section(t, lists[i].ptr_section) + before_tile(t, 0), t->rows,
                                   lists[i].tile);
    }
    for (int i = 0; i < CAVS__PART_LISTS; i++) {
        const int32_t *ptr;

        if (!lists[i].used)
            continue;
        ptr = section(t, lists[i].ptr_section) + t->segment->frow0;
        t->first_of_segment[i] = ptr[0];
        t->first_of_block[i] = ptr[-t->segment->brow0];
        t->first[i] = ptr[t->start];
        t->entries[i] = ptr[t->start + t->rows] - ptr[t->start];
        t->entry_scratch[i] = scratch;
        scratch += (size_t)lists[i].scratch * cavs__entry_room(t->entries[i]);
    }
}

void cavs__part_run(const struct cavs__part_args *a, void *const *buffers, float *scratch)
{
    struct tile t = {.args = a, .buffers = buffers, .scratch = scratch};
    uint64_t first = a->first;

    t.index = a->index_buffer >= 0 ? buffers[a->index_buffer] : NULL;
    for (int i = 0; i < a->nsegments; i++) {
        t.segment = &a->segments[i];
        t.part = a->parts[t.segment->function];
        for (t.start = 0; t.start < t.segment->rows; t.start += t.rows) {
            cut_tile(&t);
            for (int s = 0; s < t.part->nsteps; s++)
                take_step(&t, &t.part->steps[s], &first);
        }
    }
}
