/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - walks the rows of a task tile by tile and takes every step on each; see part.h. */
#include "codelets/part.h"

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
};

static int64_t first_row(const struct tile *t, const struct cavs__operand *o)
{
    switch (o->space) {
    case CAVS__ROWS: return t->segment->row0 + t->start;
    case CAVS__FROWS: return t->segment->frow0 + t->start;
    case CAVS__BROWS: return t->segment->brow0 + t->start;
    case CAVS__EDGES: return t->segment->edge0 + (int64_t)t->start * o->slots + o->slot;
    default: return 0;
    }
}

static const int32_t *section(const struct tile *t, int number)
{
    return t->index + t->args->sections[number];
}

static struct cavs__view resolve(const struct tile *t, const struct cavs__operand *o)
{
    struct cavs__view v = {.cols = o->cols, .ld = o->ld};

    if (o->buffer == CAVS__SCRATCH)
        v.p = t->scratch + (size_t)o->region * (size_t)t->part->tile + o->col;
    else if (o->buffer >= 0)
        v.p = (float *)t->buffers[o->buffer] + o->col;
    switch (o->mode) {
    case CAVS__DIRECT:
        if (o->buffer >= 0)
            v.p += first_row(t, o) * o->ld;
        if (o->space == CAVS__EDGES)
            v.ld *= o->slots;
        break;
    case CAVS__SAME: v.ld = 0; break;
    case CAVS__INDEXED:
    case CAVS__IDS: v.index = section(t, o->section) + t->segment->frow0 + t->start; break;
    case CAVS__SUMMED:
        v.index = section(t, o->section);
        v.ptr = section(t, o->ptr_section) + t->segment->row0 + t->start;
        break;
    default: break;
    }
    return v;
}

static void report(const struct tile *t, const struct cavs__step *s, int row)
{
    struct cavs__fault *f = t->args->fault;
    int none = 0;

    if (!__atomic_compare_exchange_n(&f->state, &none, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    f->part = t->part;
    f->step = s;
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
        for (int r = 0; r < t->rows; r++) {
            for (int c = 0; c < v[i].cols; c++) {
                if (!isfinite(v[i].p[r * v[i].ld + c])) {
                    report(t, s, r);
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

    s->call.kernel->cpu(&s->call, t->rows, v, flags);
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

void cavs__part_run(const struct cavs__part_args *a, void *const *buffers, float *scratch)
{
    struct tile t = {.args = a, .buffers = buffers, .scratch = scratch};
    uint64_t first = a->first;

    t.index = a->index_buffer >= 0 ? buffers[a->index_buffer] : NULL;
    for (int i = 0; i < a->nsegments; i++) {
        t.segment = &a->segments[i];
        t.part = a->parts[t.segment->function];
        for (t.start = 0; t.start < t.segment->rows; t.start += t.part->tile) {
            t.rows =
                t.segment->rows - t.start < t.part->tile ? t.segment->rows - t.start : t.part->tile;
            for (int s = 0; s < t.part->nsteps; s++)
                take_step(&t, &t.part->steps[s], &first);
        }
    }
}
