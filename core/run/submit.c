/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit.c - from schedules to StarPU tasks.
 *
 * Tasks are submitted in an order in which data dependencies follow from StarPU's sequential
 * consistency: per shard, the eager parts, the chain V_1 .. V_T, the lazy parts, stage by stage,
 * and the same backwards; then the parameter gradients of all shards. Nothing waits in between.
 *
 * How work is cut.  submit_kind.c says how in a shard.  Tasks of a batch that is worth little are
 * joined, whatever they do.  If the batch has fewer shards than there are workers, rows of wide
 * tasks are cut among several, and with products of thin ones others help; if it has as many, each
 * is worked on by few tasks.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/run/pieces.h"

static int submit_stage(const struct cavs__submission *of, int shard, int stage,
                        enum cavs__phase phase)
{
    const struct cavs__stage_plan *sp = &of->e->plan->stages[stage];
    int rc = CAVS_OK;

    for (int i = 0; i < sp->nkinds && !rc; i++) {
        struct cavs__piece w = {
            .of = of, .k = sp->kinds[i], .t = &of->b->shards[shard].stages[stage], .shard = shard};

        if (w.k->phase == phase)
            rc = cavs__submit_kind(&w, phase);
    }
    return rc;
}

static int submit_stages(const struct cavs__submission *of, int shard, enum cavs__phase phase)
{
    int n = of->b->shards[shard].nsamples > 0 ? of->e->plan->model->nstages : 0, rc = CAVS_OK;

    for (int i = 0; i < n && !rc; i++)
        rc = submit_stage(of, shard, phase == CAVS__FORWARD ? i : n - 1 - i, phase);
    return rc;
}

/* What a shard computes up to the gradients. */
static int submit_shard(const struct cavs__submission *of, int shard)
{
    int rc = submit_stages(of, shard, CAVS__FORWARD);

    return rc || of->b->request.run == CAVS__RUN_EVALUATE
               ? rc
               : submit_stages(of, shard, CAVS__BACKWARD);
}

/* How many shards have samples; others are empty, or another rank's. */
static int own_shards(const struct cavs__batch *b)
{
    int n = 0;

    for (int i = 0; i < b->nshards; i++)
        n += b->shards[i].nsamples > 0;
    return n > 0 ? n : 1;
}

static struct cavs__submission submission_of(struct cavs__engine *e, struct cavs__batch *b,
                                             int slot)
{
    int own = own_shards(b);

    return (struct cavs__submission){.e = e,
                                     .b = b,
                                     .slot = slot,
                                     .arena = &e->slots[slot].arena,
                                     .ways =
                                         e->rt->one_memory ? (e->rt->workers + own - 1) / own : 1,
                                     .partials = e->nshards / b->nshards,
                                     .grain = cavs__grain(e),
                                     .chain = 1};
}

/* ---- many shards ----
 * Submitting a task takes microseconds, too long where one thread does it for many workers.  Up to
 * the gradients a task writes only what is its shard's, so workers may submit the tasks of shards
 * side by side, each in order.  Gradients, to which several shards add, follow in the order of the
 * shards. */

enum { MANY = 8 /* shards, and workers */ };

static bool writes_own_only(const struct cavs__engine *e, const struct cavs__task_kind *k)
{
    for (int i = 0; i < k->nbuffers; i++) {
        if (k->written[i] && e->plan->tensors[k->tensor[i]].kind == CAVS__T_GRAD)
            return k->phase == CAVS__GRADIENT;
    }
    return true;
}

static bool goes_side_by_side(const struct cavs__submission *of)
{
    const struct cavs__engine *e = of->e;

    if (of->b->nshards < MANY || starpu_cpu_worker_get_count() < MANY || e->homes ||
        e->join.grain > 0 || e->here.now)
        return false;
    for (int i = 0; i < e->plan->model->nstages; i++) {
        for (int k = 0; k < e->plan->stages[i].nkinds; k++) {
            if (!writes_own_only(e, e->plan->stages[i].kinds[k]))
                return false;
        }
    }
    return true;
}

static int submit_own(struct cavs__engine *e, struct cavs__batch *b, int shard)
{
    struct cavs__submission of = submission_of(e, b, cavs__next_slot(e));

    of.arena = &e->slots[of.slot].own[shard];
    return submit_shard(&of, shard);
}

static int submit_side_by_side(struct cavs__engine *e, struct cavs__batch *b, int slot)
{
    struct cavs__arena **own = &e->slots[slot].own;
    double arranging = e->arranging;
    int rc;

    if (!*own)
        *own = calloc((size_t)e->nshards, sizeof **own);
    if (!*own)
        return cavs__fail_nomem("tasks", (size_t)e->nshards * sizeof **own);
    rc = cavs__each_shard(e, b, submit_own, 0);
    e->arranging = arranging; /* submitting is no arranging */
    return rc;
}

/* ---- small batches ----
 * Where what the runtime spends on tasks shows beside what they do, tasks of a shard are joined
 * (join.c).  Forward ones wait for one another anyway; in training, gradients and updates of
 * several parameters can run side by side, which pays if they are worth a few tasks' cost. */

enum { SMALL = 16 /* grains */ };

bool cavs__joins_tasks(const struct cavs__engine *e)
{
    return !cavs__policies[e->options->policy].alone && e->rt->one_memory && !e->devices;
}

double cavs__join_until(const struct cavs__engine *e, enum cavs__run run, double seconds)
{
    double grain = cavs__grain(e);

    if (!cavs__joins_tasks(e) || seconds > SMALL * grain)
        return 0;
    return run == CAVS__RUN_EVALUATE || seconds < grain / 4 ? grain : grain / 8;
}

double cavs__small_seconds(const struct cavs__engine *e, const struct cavs__batch *b)
{
    double work = 0;

    for (int i = 0; i < b->nshards; i++)
        work += b->shards[i].nsamples == 0 ? 0 : b->shards[i].work;
    return work * e->rates.gemm[1];
}

/* Are tasks of different shards kept apart, since shards do not wait for one another?  With homes
 * they are not: where a device is alone, a batch is one task. */
static bool joins_within_shards(const struct cavs__submission *of)
{
    return of->b->nshards > 1 && !of->e->homes;
}

/* ---- a worker for each shard ----
 * Then the tasks of a shard run one after the other, whatever their data, and there are few: V_t of
 * a chain share longer ones, and what goes before a chain, between its passes and after it, which
 * is worth less than the runtime spends on a task (a few leaves, the loss of the roots), is joined
 * to what comes next.  Gradients and updates even out what workers have to do: they stay apart.
 * Several ranks want short tasks, between which messages are looked after; and a trace is to show
 * what is what. */

static bool has_workers_for_shards(const struct cavs__submission *of)
{
    const struct cavs__engine *e = of->e;

    return e->join.grain <= 0 && own_shards(of->b) == e->rt->workers && !e->rt->ranks &&
           !e->rt->record && cavs__joins_tasks(e);
}

static int submit_one_by_one(struct cavs__submission *of)
{
    struct cavs__engine *e = of->e;
    bool few = has_workers_for_shards(of);
    int rc = CAVS_OK;

    if (few) {
        of->chain = CAVS__LONG_CHAIN;
        e->join.grain = of->grain;
    }
    for (int shard = 0; shard < of->b->nshards && !rc; shard++) {
        rc = submit_shard(of, shard);
        if (!rc && (few || joins_within_shards(of)))
            rc = cavs__join_flush(e, of->slot);
    }
    if (few)
        e->join.grain = 0;
    return rc;
}

static int submit_gradients(const struct cavs__submission *of)
{
    int rc = CAVS_OK;

    for (int shard = 0; shard < of->b->nshards && !rc; shard++) {
        rc = submit_stages(of, shard, CAVS__GRADIENT);
        if (!rc && joins_within_shards(of))
            rc = cavs__join_flush(of->e, of->slot);
    }
    return rc;
}

int cavs__submit_batch(struct cavs__engine *e, struct cavs__batch *b, int slot)
{
    const struct cavs_model *m = e->plan->model;
    struct cavs__submission of = submission_of(e, b, slot);
    int rc;

    e->join.grain = cavs__join_until(e, b->request.run, cavs__small_seconds(e, b));
    if (e->join.grain > 0)
        of.ways = 1;
    for (int i = 0; i < m->nstages; i++) {
        e->cuts[i] = (struct cavs__cuts){0};
        for (int shard = 0; shard < b->nshards; shard++)
            e->cuts[i].blocks += b->shards[shard].stages[i].nblocks;
    }
    cavs__forget_gradients(e);
    cavs__helped_begin(&of, own_shards(b));
    rc = goes_side_by_side(&of) ? submit_side_by_side(e, b, slot) : submit_one_by_one(&of);
    return rc || b->request.run == CAVS__RUN_EVALUATE ? rc : submit_gradients(&of);
}
