/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - V_t of a tape become tasks of the session's engine.
 *
 * Consecutive V_t run in one task until it is worth the grain, as in a declared model's chain.  A
 * task lists the parameters that its V_t read, and ends when they become too many.  Sums over rows
 * are a task for each parameter, over all signatures that it is in.
 */
#include <string.h>

#include "codelets/part.h"
#include "core/base/error.h"
#include "core/run/cost.h"
#include "core/tape/tape.h"

/* Segments on the way to tasks of one kind. */
struct sending {
    struct cavs_tape *t;
    struct cavs__engine *e;
    int slot, shard;
    const struct cavs__task_kind *k;
    enum cavs__phase phase;
    const struct cavs__part **parts; /* by function */
    int first, n;                    /* segments of the next task */
    struct cavs__segment *segments;
    bool keeps; /* some of them keep values for other parts */
    int nparams;
    int16_t params[CAVS__MOST_PARAMS];
    double seconds, grain;
};

static void *take(struct sending *w, size_t bytes)
{
    void *p = cavs__arena_alloc(&w->e->slots[w->slot].arena, bytes);

    if (!p)
        cavs__fail_nomem("tasks of a tape", bytes);
    return p;
}

/* most: segments of all tasks together. */
static int begin(struct sending *w, struct cavs_tape *t, int slot, int shard,
                 const struct cavs__task_kind *k, int64_t most)
{
    *w = (struct sending){.t = t,
                          .e = &t->session->engine,
                          .slot = slot,
                          .shard = shard,
                          .k = k,
                          .phase = k->phase,
                          .grain = cavs__grain(&t->session->engine)};
    w->segments = take(w, ((size_t)most + 1) * sizeof *w->segments);
    w->parts = take(w, (size_t)k->nparts * sizeof *w->parts);
    if (!w->segments || !w->parts)
        return CAVS_ENOMEM;
    memcpy(w->parts, k->parts, (size_t)k->nparts * sizeof *w->parts);
    return CAVS_OK;
}

/* ---- segments ---- */

/* Where the rows of a V_t begin, behind others of its signature. */
static int32_t *lines_from(struct sending *w, const struct cavs__increment *d,
                           const struct cavs__vt *vt)
{
    const struct cavs__signature *s = cavs__signature_of(w->t, vt);
    int32_t frow0 = vt->frow0, entry0 = d->entry0 ? d->entry0[vt->row0] : 0;
    const int32_t *base = d->lines[vt->function];
    int32_t *lines = take(w, (CAVS__LINES_OPERANDS + (size_t)s->n) * sizeof *lines);

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

static int add_segment(struct sending *w, const struct cavs__increment *d,
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

/* A task being put together. */
struct task {
    struct starpu_task *task;
    struct cavs__part_args *a;
    int16_t *numbers;
};

/* Devices that cannot run some part of it. */
static uint32_t not_on(const struct sending *w)
{
    uint32_t kinds = 0;

    for (int i = 0; i < w->n; i++)
        kinds |= w->parts[w->segments[w->first + i].function]->not_on;
    return kinds;
}

/* The index where the recording thread has written it. */
static const int32_t *host_index(const struct sending *w)
{
    int tensor = cavs__tape_plan(w->t)->index;
    int chunk = cavs__chunk_of(w->e, tensor, w->slot, w->shard, 0);
    const void *index = w->e->tensors[tensor].chunks[chunk].p;

    return index;
}

static int open_task(struct sending *w, struct task *k, int nbuffers)
{
    k->a = take(w, sizeof *k->a);
    k->numbers = take(w, ((size_t)nbuffers + 1) * sizeof *k->numbers);
    if (!k->a || !k->numbers)
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
    k->task = cavs__task_create(w->e, w->slot, w->shard, (struct starpu_codelet *)&w->k->codelet,
                                k->a, nbuffers + 1);
    if (!k->task)
        return CAVS_ENOMEM;
    cavs__keep_off(k->task, not_on(w));
    return CAVS_OK;
}

static void add_buffer(struct sending *w, struct task *k, int tensor, int chunk, bool written)
{
    k->numbers[k->a->nbuffers++] = (int16_t)tensor;
    k->a->most = tensor > k->a->most ? tensor : k->a->most;
    cavs__task_buffer(k->task, w->e->tensors[tensor].chunks[chunk].handle,
                      written ? STARPU_RW : STARPU_R);
}

static void add_chunk(struct sending *w, struct task *k, int tensor, bool written)
{
    add_buffer(w, k, tensor, cavs__chunk_of(w->e, tensor, w->slot, w->shard, 0), written);
}

static int close_task(struct sending *w, struct task *k, int priority)
{
    double seconds = w->seconds;

    k->numbers[k->a->nbuffers++] = (int16_t)++k->a->most; /* scratch: no tensor's number */
    cavs__task_buffer(k->task, w->e->scratch, STARPU_SCRATCH);
    k->task->priority = priority;
    w->first += w->n;
    w->n = w->nparams = 0;
    w->keeps = false;
    w->seconds = 0;
    return cavs__task_submit(w->e, w->slot, k->task, seconds);
}

/* ---- chains ---- */

static int flush_chain(struct sending *w)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(w->t);
    struct task k;
    int rc = w->n > 0 ? open_task(w, &k, CAVS__FIXED_BUFFERS + w->nparams) : CAVS_OK;

    if (rc || w->n == 0)
        return rc;
    k.a->numbers = k.numbers;
    k.a->index_buffer = sp->index;
    add_chunk(w, &k, sp->index, false);
    add_chunk(w, &k, sp->state, w->phase == CAVS__FORWARD);
    if (w->phase == CAVS__FORWARD)
        add_chunk(w, &k, sp->input[CAVS__GIVEN_INPUT], false);
    else
        add_chunk(w, &k, sp->push[0], true);
    if (w->phase == CAVS__BACKWARD || w->keeps)
        add_chunk(w, &k, sp->edge, true);
    for (int i = 0; i < w->nparams; i++)
        add_chunk(w, &k, w->params[i], false);
    return close_task(w, &k, 1);
}

static bool has_param(const struct sending *w, int16_t tensor)
{
    for (int i = 0; i < w->nparams; i++) {
        if (w->params[i] == tensor)
            return true;
    }
    return false;
}

static int add_to_chain(struct sending *w, const struct cavs__increment *d,
                        const struct cavs__vt *vt)
{
    const struct cavs__read_params *r = &cavs__signature_of(w->t, vt)->chain[w->phase];
    int rc = w->nparams + r->n > CAVS__MOST_PARAMS ? flush_chain(w) : CAVS_OK;

    for (int i = 0; i < r->n; i++) {
        if (!has_param(w, r->tensor[i]))
            w->params[w->nparams++] = r->tensor[i];
    }
    w->keeps |= cavs__keeps(cavs__signature_of(w->t, vt));
    if (!rc)
        rc = add_segment(w, d, vt);
    return rc || w->seconds < w->grain ? rc : flush_chain(w);
}

static int submit_sums(struct cavs_tape *t, int slot, int shard, enum cavs__phase phase);

/* Of this increment and those behind it. */
static int64_t count_vt(const struct cavs__increment *first)
{
    int64_t n = 0;

    for (const struct cavs__increment *d = first; d; d = d->after)
        n += d->nvt;
    return n;
}

int cavs__submit_forward(struct cavs_tape *t, int slot, int shard)
{
    const struct cavs__task_kind *k = cavs__recorded_chain(cavs__tape_plan(t), CAVS__FORWARD);
    const struct cavs__increment *first = t->fresh[shard];
    struct sending w;
    int rc = k ? begin(&w, t, slot, shard, k, count_vt(first)) : CAVS_OK;

    for (const struct cavs__increment *d = first; d && k && !rc; d = d->after) {
        for (int i = 0; i < d->nvt && !rc; i++) {
            if (cavs__signature_of(t, &d->vt[i])->chain[CAVS__FORWARD].part)
                rc = add_to_chain(&w, d, &d->vt[i]);
        }
    }
    if (!rc && k)
        rc = flush_chain(&w);
    return rc ? rc : submit_sums(t, slot, shard, CAVS__FORWARD);
}

int cavs__submit_backward(struct cavs_tape *t, int slot, int shard)
{
    const struct cavs__task_kind *k = cavs__recorded_chain(cavs__tape_plan(t), CAVS__BACKWARD);
    const struct cavs__tape_shard *s = &t->shards[shard];
    struct sending w;
    int rc;

    if (!k)
        return CAVS_OK;
    rc = begin(&w, t, slot, shard, k, count_vt(s->first));
    for (const struct cavs__increment *d = s->last; d && !rc; d = d->before) {
        for (int i = d->nvt - 1; i >= 0 && !rc; i--) {
            if (d->reached[i] && cavs__signature_of(t, &d->vt[i])->chain[CAVS__BACKWARD].part)
                rc = add_to_chain(&w, d, &d->vt[i]);
        }
    }
    return rc ? rc : flush_chain(&w);
}

/* ---- sums ---- */

static uint64_t adds_to(const struct sending *w)
{
    uint64_t buffers = 0;

    for (int i = 0; i < w->n; i++)
        buffers |= w->parts[w->segments[w->first + i].function]->adds_to;
    return buffers;
}

static int flush_sums(struct sending *w)
{
    uint64_t added = adds_to(w);
    struct task k;
    int rc = open_task(w, &k, w->k->nbuffers);

    for (int i = 0; i < w->k->nbuffers && !rc; i++) {
        int tensor = w->k->tensor[i];
        const struct cavs__tensor_desc *d = &w->e->plan->tensors[tensor];
        int chunk = d->kind == CAVS__T_GRAD ? cavs__partial_of(w->e, w->shard, 0, 1)
                                            : cavs__chunk_of(w->e, tensor, w->slot, w->shard, 0);

        add_buffer(w, &k, tensor, chunk, w->k->written[i]);
        if (d->kind == CAVS__T_GRAD && (added >> i & 1)) {
            bool *used = &w->e->grad_used[d->param->number][chunk];

            if (!*used)
                k.a->first |= (uint64_t)1 << i;
            *used = true;
        }
    }
    if (rc)
        return rc;
    k.a->index_buffer = w->k->index_buffer;
    return close_task(w, &k, w->phase == CAVS__GRADIENT ? -1 : 0);
}

/* Rows of V_t that follow one another are one segment: where all are reached, a signature's are one
 * product. */
static int add_rows(struct sending *w, const struct cavs__increment *d, const struct cavs__vt *vt,
                    int32_t *last)
{
    struct cavs__segment *s = *last >= 0 ? &w->segments[w->first + *last] : NULL;

    if (s && s->frow0 + s->rows == vt->frow0) {
        s->rows += vt->n;
        return CAVS_OK;
    }
    *last = w->n;
    return add_segment(w, d, vt);
}

static bool is_summed(const struct cavs__task_kind *k, const struct cavs__increment *d, int i)
{
    int f = d->vt[i].function;

    return f < k->nparts && k->parts[f] && (k->phase == CAVS__FORWARD || d->reached[i]);
}

static int submit_kind(struct cavs_tape *t, int slot, int shard, const struct cavs__task_kind *k)
{
    bool forward = k->phase == CAVS__FORWARD;
    struct cavs__increment *first = forward ? t->fresh[shard] : t->shards[shard].first;
    int64_t most = 0;
    struct sending w;
    int rc;

    for (const struct cavs__increment *d = first; d; d = d->after) {
        for (int i = 0; i < d->nvt; i++)
            most += is_summed(k, d, i);
    }
    if (most == 0)
        return CAVS_OK;
    rc = begin(&w, t, slot, shard, k, most);
    for (const struct cavs__increment *d = first; d && !rc; d = d->after) {
        int32_t *last = take(&w, (size_t)d->nfunctions * sizeof *last);

        if (!last)
            return CAVS_ENOMEM;
        memset(last, -1, (size_t)d->nfunctions * sizeof *last);
        for (int i = 0; i < d->nvt && !rc; i++) {
            if (is_summed(k, d, i))
                rc = add_rows(&w, d, &d->vt[i], &last[d->vt[i].function]);
        }
    }
    return rc ? rc : flush_sums(&w);
}

static int submit_sums(struct cavs_tape *t, int slot, int shard, enum cavs__phase phase)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);
    int rc = CAVS_OK;

    for (int i = 0; i < sp->nkinds && !rc; i++) {
        if (sp->kinds[i]->klass != CAVS__CHAIN && sp->kinds[i]->phase == phase)
            rc = submit_kind(t, slot, shard, sp->kinds[i]);
    }
    return rc;
}

int cavs__submit_gradients(struct cavs_tape *t, int slot, int shard)
{
    return submit_sums(t, slot, shard, CAVS__GRADIENT);
}
