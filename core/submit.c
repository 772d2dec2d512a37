/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit.c - from schedules to StarPU tasks.
 *
 * Tasks are submitted in an order in which data dependencies follow from StarPU's sequential
 * consistency: per shard, the eager parts, the chain V_1 .. V_T, the lazy parts, stage by stage;
 * then the same backwards; then parameter gradients. Nothing waits in between.
 */
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/session.h"

/* ---- slots: counting the tasks of a batch ---- */

void cavs__slot_open(struct cavs__slot *slot)
{
    slot->pending = 1;
    slot->busy = true;
    cavs__arena_reset(&slot->arena);
}

static void slot_release(void *arg)
{
    struct cavs__slot *slot = arg;

    if (__atomic_sub_fetch(&slot->pending, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    pthread_mutex_lock(&slot->lock);
    slot->busy = false;
    slot->done_at = starpu_timing_now();
    pthread_cond_signal(&slot->done);
    pthread_mutex_unlock(&slot->lock);
}

void cavs__slot_close(struct cavs__slot *slot)
{
    slot_release(slot);
}

void cavs__slot_wait(struct cavs__slot *slot)
{
    pthread_mutex_lock(&slot->lock);
    while (slot->busy)
        pthread_cond_wait(&slot->done, &slot->lock);
    pthread_mutex_unlock(&slot->lock);
}

/* ---- tasks ---- */

/* StarPU keeps up to STARPU_NMAXBUFS handles inside the task; more go to arrays that it frees with
 * the task. */
struct starpu_task *cavs__task_create(struct cavs_session *s, int slot, struct starpu_codelet *cl,
                                      void *arg, int nbuffers)
{
    struct starpu_task *t = starpu_task_create();

    t->cl = cl;
    t->cl_arg = arg;
    t->nbuffers = 0;
    t->callback_func = slot_release;
    t->callback_arg = &s->slots[slot];
    if (nbuffers <= STARPU_NMAXBUFS)
        return t;
    t->dyn_handles = malloc((size_t)nbuffers * sizeof *t->dyn_handles);
    t->dyn_modes = malloc((size_t)nbuffers * sizeof *t->dyn_modes);
    if (t->dyn_handles && t->dyn_modes)
        return t;
    t->destroy = 0;
    starpu_task_destroy(t);
    cavs__fail_nomem("task", (size_t)nbuffers * sizeof *t->dyn_handles);
    return NULL;
}

void cavs__task_buffer(struct starpu_task *t, starpu_data_handle_t handle,
                       enum starpu_data_access_mode mode)
{
    int i = t->nbuffers++;

    if (t->dyn_handles) {
        t->dyn_handles[i] = handle;
        t->dyn_modes[i] = mode;
    } else {
        t->handles[i] = handle;
        t->modes[i] = mode;
    }
}

int cavs__task_submit(struct cavs_session *s, int slot, struct starpu_task *t)
{
    int rc;

    __atomic_add_fetch(&s->slots[slot].pending, 1, __ATOMIC_RELAXED);
    rc = starpu_task_submit(t);
    s->stats.tasks++;
    if (rc == 0)
        return CAVS_OK;
    slot_release(&s->slots[slot]);
    t->destroy = 0;
    starpu_task_destroy(t);
    return cavs__fail(CAVS_ERUNTIME, "StarPU refused task %s: %s", t->cl->name, strerror(-rc));
}

/* ---- one task of a kind ---- */

struct batch {
    struct cavs_session *s;
    int slot, nshards;
};

/* Buffers that these segments add to: not every function of a chain adds to every gradient that the
 * chain writes. */
static uint64_t adds_to(const struct cavs__task_kind *k, const struct cavs__segment *segments,
                        int nsegments)
{
    uint64_t buffers = 0;

    for (int i = 0; i < nsegments; i++)
        buffers |= k->parts[segments[i].function]->adds_to;
    return buffers;
}

static int submit_kind(const struct batch *b, int shard, const struct cavs__task_kind *k,
                       const struct cavs__segment *segments, int nsegments, int priority)
{
    struct cavs_session *s = b->s;
    struct cavs__part_args *a = cavs__arena_alloc(&s->slots[b->slot].arena, sizeof *a);
    uint64_t added = adds_to(k, segments, nsegments);
    struct starpu_task *t;

    if (!a)
        return cavs__fail_nomem("task", sizeof *a);
    *a = (struct cavs__part_args){.parts = (const struct cavs__part *const *)k->parts,
                                  .segments = segments,
                                  .nsegments = nsegments,
                                  .index_buffer = k->index_buffer,
                                  .sections = s->shards[shard].stages[k->stage->number].offsets,
                                  .fault = s->options.check_finite ? &s->fault : NULL,
                                  .nanoseconds = s->options.measure ? s->nanoseconds : NULL,
                                  .shard = shard,
                                  .batch = s->batch};
    t = cavs__task_create(s, b->slot, (struct starpu_codelet *)&k->codelet, a, k->nbuffers + 1);
    if (!t)
        return CAVS_ENOMEM;
    for (int i = 0; i < k->nbuffers; i++) {
        int tensor = k->tensor[i], chunk = cavs__chunk_of(s, tensor, b->slot, shard);

        cavs__task_buffer(t, s->tensors[tensor].chunks[chunk].handle,
                          k->written[i] ? STARPU_RW : STARPU_R);
        if (s->plan->tensors[tensor].kind == CAVS__T_GRAD && (added >> i & 1)) {
            bool *used = &s->grad_used[s->plan->tensors[tensor].param->number][chunk];

            if (!*used)
                a->first |= (uint64_t)1 << i;
            *used = true;
        }
    }
    cavs__task_buffer(t, s->scratch, STARPU_SCRATCH);
    t->priority = priority;
    return cavs__task_submit(s, b->slot, t);
}

/* ---- segments ---- */

static bool follows(const struct cavs__segment *a, const struct cavs__vt *vt, int slots)
{
    return a->function == vt->function && a->row0 + a->rows == vt->row0 &&
           a->frow0 + a->rows == vt->frow0 && a->edge0 + a->rows * slots == vt->edge0;
}

/* All rows of function f, as few segments as their numbering allows (or one a row, for the serial
 * policy). */
static int function_segments(const struct batch *b, const struct cavs__schedule *sch,
                             const struct cavs_function *f, struct cavs__segment **out)
{
    struct cavs__segment *seg =
        cavs__arena_alloc(&b->s->slots[b->slot].arena, ((size_t)sch->nvt + 1) * sizeof *seg);
    int n = 0;

    *out = seg;
    if (!seg)
        return cavs__fail_nomem("segments", (size_t)sch->nvt * sizeof *seg);
    for (int i = 0; i < sch->nvt; i++) {
        const struct cavs__vt *vt = &sch->vt[i];

        if (vt->function != f->number)
            continue;
        if (n > 0 && b->s->options.policy != CAVS_POLICY_SERIAL &&
            follows(&seg[n - 1], vt, f->slots))
            seg[n - 1].rows += vt->n;
        else
            seg[n++] = (struct cavs__segment){vt->function, vt->n, vt->row0, vt->frow0, vt->edge0};
    }
    return n;
}

static int submit_function(const struct batch *b, int shard, const struct cavs__task_kind *k)
{
    const struct cavs__schedule *sch = &b->s->shards[shard].stages[k->stage->number].schedule;
    struct cavs__segment *segments;
    int n = function_segments(b, sch, k->function, &segments);

    if (n <= 0)
        return n;
    return submit_kind(b, shard, k, segments, n, k->phase == CAVS__GRADIENT ? -1 : 0);
}

/* ---- the chain ----
 * A task per V_t; but tasks of one shard's chain can only run one after the other, so thin ones,
 * for which the runtime's cost per task would show, are run together: consecutive V_t until the
 * task is worth CAVS__TASK_SECONDS. */

/* Rough rates of one core of a current server. */
#define GEMM_RATE     80e9 /* operations a second in small products */
#define VALUE_SECONDS 1e-9 /* per number of scratch: element-wise work and copies */

static double vt_seconds(const struct cavs__part *part, const struct cavs__vt *vt)
{
    double flops = 0;

    for (int i = 0; i < part->nsteps; i++)
        flops += part->steps[i].flops;
    return vt->n * (flops / GEMM_RATE + part->scratch * VALUE_SECONDS) + 1e-6;
}

static bool may_merge(const struct batch *b)
{
    return b->s->options.policy !=
           CAVS_POLICY_SERIAL; /* which is there to show what one vertex a task costs */
}

static int submit_chain(const struct batch *b, int shard, const struct cavs__task_kind *k)
{
    const struct cavs__schedule *sch = &b->s->shards[shard].stages[k->stage->number].schedule;
    struct cavs__segment *seg =
        cavs__arena_alloc(&b->s->slots[b->slot].arena, ((size_t)sch->nvt + 1) * sizeof *seg);
    double seconds = 0;
    int n = 0, rc = CAVS_OK;

    if (!seg)
        return cavs__fail_nomem("segments", (size_t)sch->nvt * sizeof *seg);
    for (int i = 0; i < sch->nvt && !rc; i++) {
        const struct cavs__vt *vt = &sch->vt[k->phase == CAVS__FORWARD ? i : sch->nvt - 1 - i];

        if (!k->parts[vt->function])
            continue;
        seg[n++] = (struct cavs__segment){vt->function, vt->n, vt->row0, vt->frow0, vt->edge0};
        seconds += vt_seconds(k->parts[vt->function], vt);
        if (may_merge(b) && seconds < CAVS__TASK_SECONDS)
            continue;
        rc = submit_kind(b, shard, k, seg, n, 1);
        seg += n;
        n = 0;
        seconds = 0;
    }
    return rc || n == 0 ? rc : submit_kind(b, shard, k, seg, n, 1);
}

static int submit_stage(const struct batch *b, int shard, int stage, enum cavs__phase phase)
{
    const struct cavs__stage_plan *sp = &b->s->plan->stages[stage];

    for (int i = 0; i < sp->nkinds; i++) {
        const struct cavs__task_kind *k = sp->kinds[i];
        int rc = k->phase != phase ? CAVS_OK
                 : k->function     ? submit_function(b, shard, k)
                                   : submit_chain(b, shard, k);

        if (rc)
            return rc;
    }
    return CAVS_OK;
}

static int submit_phase(const struct batch *b, enum cavs__phase phase)
{
    int n = b->s->model->nstages;

    for (int shard = 0; shard < b->nshards; shard++) {
        for (int i = 0; i < n; i++) {
            int rc = submit_stage(b, shard, phase == CAVS__FORWARD ? i : n - 1 - i, phase);

            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

int cavs__submit_batch(struct cavs_session *s, int slot, int nshards, enum cavs__run run)
{
    struct batch b = {.s = s, .slot = slot, .nshards = nshards};
    int last = run == CAVS__RUN_EVALUATE ? CAVS__FORWARD : CAVS__GRADIENT, rc = CAVS_OK;

    memset(s->grad_used, 0, (size_t)s->model->nstored * sizeof *s->grad_used);
    for (int phase = 0; phase <= last && !rc; phase++)
        rc = submit_phase(&b, (enum cavs__phase)phase);
    return rc;
}
