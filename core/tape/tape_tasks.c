/* SPDX-License-Identifier: Apache-2.0 */
/* tape_tasks.c - see tape_tasks.h. */
#include "core/tape/tape_tasks.h"

#include <string.h>

#include "core/base/error.h"

void *cavs__sending_take(struct cavs__sending *w, size_t bytes)
{
    void *p = cavs__arena_alloc(&w->e->slots[w->slot].arena, bytes);

    if (!p)
        cavs__fail_nomem("tasks of a tape", bytes);
    return p;
}

int cavs__sending_begin(struct cavs__sending *w, struct cavs_tape *t, int slot, int shard,
                        const struct cavs__task_kind *k, int64_t most)
{
    *w = (struct cavs__sending){.t = t,
                                .e = &t->session->engine,
                                .slot = slot,
                                .shard = shard,
                                .k = k,
                                .phase = k->phase,
                                .grain = cavs__shard_grain(&t->session->engine, shard)};
    w->segments = cavs__sending_take(w, ((size_t)most + 1) * sizeof *w->segments);
    w->parts = cavs__sending_take(w, (size_t)k->nparts * sizeof *w->parts);
    if (!w->segments || !w->parts)
        return CAVS_ENOMEM;
    memcpy(w->parts, k->parts, (size_t)k->nparts * sizeof *w->parts);
    return CAVS_OK;
}

/* ---- segments ---- */

static bool is_reached(const struct cavs_tape *t, const struct cavs__increment *d, int row)
{
    const struct cavs__vertex *v = cavs__vertex_of_row(&t->recording, d, row);

    return v && v->reached;
}

bool cavs__next_reached(const struct cavs_tape *t, const struct cavs__increment *d, int i,
                        struct cavs__vt *rows)
{
    const struct cavs__vt *vt = &d->vt[i];
    int row = rows->row0 + rows->n, end = vt->row0 + vt->n, n = 0;

    if (d->reached[i] == vt->n) { /* all: no need to look at each */
        n = end - row;
    } else {
        while (row < end && !is_reached(t, d, row))
            row++;
        while (row + n < end && is_reached(t, d, row + n))
            n++;
    }
    rows->row0 = row;
    rows->frow0 = vt->frow0 + row - vt->row0;
    rows->n = n;
    return n > 0;
}

/* Where the rows of a V_t, and what belongs to them, begin: behind those of the V_t before of its
 * signature. */
static int32_t *lines_from(struct cavs__sending *w, const struct cavs__increment *d,
                           const struct cavs__vt *vt)
{
    const struct cavs__signature *s = cavs__signature_of(w->t, vt);
    int32_t frow0 = vt->frow0, entry0 = d->entry0 ? d->entry0[vt->row0] : 0;
    const int32_t *base = d->lines[vt->function];
    int32_t *lines = cavs__sending_take(w, (CAVS__LINES_OPERANDS + (size_t)s->n) * sizeof *lines);

    if (!lines)
        return NULL;
    lines[CAVS__LINES_RESULT] = base[CAVS__LINES_RESULT] + frow0 * cavs__lines_of(s->like.width);
    lines[CAVS__LINES_KEPT] = base[CAVS__LINES_KEPT] + frow0 * cavs__lines_of(s->function->kept);
    lines[CAVS__LINES_KEPT_ENTRIES] =
        base[CAVS__LINES_KEPT_ENTRIES] + entry0 * cavs__lines_of(s->function->kept_entries);
    for (int k = 0; k < s->n; k++)
        lines[CAVS__LINES_OPERANDS + k] =
            base[CAVS__LINES_OPERANDS + k] +
            (s->operands[k].each ? entry0 : frow0) *
                cavs__lines_of(s->operands[k].from + s->operands[k].width);
    return lines;
}

int cavs__add_segment(struct cavs__sending *w, const struct cavs__increment *d,
                      const struct cavs__vt *vt)
{
    struct cavs__segment *s = &w->segments[w->first + w->n++];
    double entries[CAVS__PART_LISTS] = {(double)cavs__entries_of_vt(d, vt)};

    *s = (struct cavs__segment){.function = vt->function,
                                .rows = vt->n,
                                .row0 = vt->row0,
                                .frow0 = vt->frow0,
                                .lines = lines_from(w, d, vt),
                                .sections = d->offsets};
    w->seconds += cavs__part_seconds(&w->e->rates, w->k->parts[vt->function], vt->n, entries);
    return s->lines ? CAVS_OK : CAVS_ENOMEM;
}

/* ---- tasks ---- */

/* The kinds of devices that cannot run some part of the task. */
static uint32_t not_on(const struct cavs__sending *w)
{
    uint32_t kinds = 0;

    for (int i = 0; i < w->n; i++)
        kinds |= w->parts[w->segments[w->first + i].function]->not_on;
    return kinds;
}

/* The index where the recording thread has written it. */
static const int32_t *host_index(const struct cavs__sending *w)
{
    int tensor = cavs__tape_plan(w->t)->index;
    int chunk = cavs__chunk_of(w->e, tensor, w->slot, w->shard, 0);
    const void *index = w->e->tensors[tensor].chunks[chunk].p;

    return index;
}

int cavs__open_task(struct cavs__sending *w, struct cavs__new_task *k)
{
    *k = (struct cavs__new_task){.a = cavs__sending_take(w, sizeof *k->a)};
    if (!k->a)
        return CAVS_ENOMEM;
    *k->a =
        (struct cavs__part_args){.parts = w->parts,
                                 .segments = w->segments + w->first,
                                 .nsegments = w->n,
                                 .chain = cavs__chain_of(w->k),
                                 .index_buffer = CAVS__NO_BUFFER,
                                 .host_index = host_index(w),
                                 .fault = w->e->options->check_finite ? &w->e->fault : NULL,
                                 .nanoseconds = w->e->options->measure ? w->e->nanoseconds : NULL,
                                 .shard = w->shard,
                                 .batch = w->e->batches};
    k->task =
        cavs__task_create(w->e, w->slot, w->shard, (struct starpu_codelet *)&w->k->codelet, k->a);
    cavs__keep_off(k->task, not_on(w));
    return CAVS_OK;
}

static bool more_numbers(struct cavs__sending *w, struct cavs__new_task *k)
{
    int n = k->room, room = n > 0 ? 2 * n : 16;
    int16_t *numbers = cavs__sending_take(w, (size_t)room * sizeof *numbers);

    if (!numbers) {
        cavs__task_lacks_memory(k->task);
        return false;
    }
    if (n > 0)
        memcpy(numbers, k->numbers, (size_t)n * sizeof *numbers);
    k->a->numbers = k->numbers = numbers;
    k->room = room;
    return true;
}

/* By which number the parts know the buffer that comes next.  There may be any number of them, as
 * of the task's handles: nobody counts ahead, so nobody can count wrong. */
static void add_number(struct cavs__sending *w, struct cavs__new_task *k, int number)
{
    int n = k->a->nbuffers;

    if (cavs__task_complete(k->task) || (n == k->room && !more_numbers(w, k)))
        return;
    k->numbers[n] = (int16_t)number;
    k->a->most = number > k->a->most ? number : k->a->most;
}

void cavs__add_buffer(struct cavs__sending *w, struct cavs__new_task *k, int tensor, int chunk,
                      bool written)
{
    k->a->nbuffers++;
    cavs__task_buffer(k->task, w->e->tensors[tensor].chunks[chunk].handle,
                      written ? STARPU_RW : STARPU_R);
}

void cavs__add_chunk(struct cavs__sending *w, struct cavs__new_task *k, int tensor, bool written)
{
    add_number(w, k, tensor);
    cavs__add_buffer(w, k, tensor, cavs__chunk_of(w->e, tensor, w->slot, w->shard, 0), written);
}

int cavs__close_task(struct cavs__sending *w, struct cavs__new_task *k, int priority)
{
    double seconds = w->seconds;

    if (k->numbers)
        add_number(w, k, k->a->most + 1); /* scratch: its number is no tensor's */
    k->a->nbuffers++;
    cavs__task_buffer(k->task, w->e->scratch, STARPU_SCRATCH);
    k->task->priority = priority;
    w->first += w->n;
    w->n = w->nparams = 0;
    w->keeps = false;
    w->seconds = 0;
    return cavs__task_submit(w->e, w->slot, k->task, seconds);
}
