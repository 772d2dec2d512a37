/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit.c - from schedules to StarPU tasks.
 *
 * Tasks are submitted in an order in which data dependencies follow from StarPU's sequential
 * consistency: per shard, the eager parts, the chain V_1 .. V_T, the lazy parts, stage by stage;
 * then the same backwards; then parameter gradients. Nothing waits in between.
 *
 * How work is cut.  A shard's V_t are cut into blocks where eager work feeds its chain
 * (cavs__shard_stage.nblocks): what parts keep for one another is a chunk per block, so the chain
 * starts when the first eager block is there, and lazy parts and gradients of a block start when
 * the chain has left it.  Thin V_t share a task until it is worth the grain.  Tasks of a batch that
 * is worth little are joined, whatever they do.  If the batch has fewer shards than there are
 * workers, rows of wide tasks are cut among several.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/pieces.h"

/* ---- all rows of a function ---- */

static void add_segment(struct cavs__piece *w, const struct cavs__vt *vt)
{
    const struct cavs__shard_stage *t = w->t;
    int nf = w->k->stage->nfunctions;

    w->segments[w->n++] =
        (struct cavs__segment){.function = vt->function,
                               .rows = vt->n,
                               .row0 = vt->row0,
                               .frow0 = vt->frow0,
                               .edge0 = vt->edge0,
                               .brow0 = vt->frow0 - t->block_frow[w->block * nf + vt->function]};
}

/* Rows of a function are numbered V_t by V_t, whatever other functions have between them: only who
 * reads or writes rows of the stage has to see those. */
static bool follows(const struct cavs__piece *w, const struct cavs__vt *vt)
{
    const struct cavs__segment *last = &w->segments[w->n - 1];

    return last->row0 + last->rows == vt->row0 || !w->k->parts[vt->function]->stage_rows;
}

/* As few segments as the numbering of rows allows (or one a row, if the policy
 * leaves vertices alone). */
static int function_segments(struct cavs__piece *w)
{
    const struct cavs__shard_stage *t = w->t;
    bool alone = cavs__policies[w->of->e->options->policy].alone;

    w->n = 0;
    w->segments = cavs__new_segments(w->of, t->cut[w->block + 1] - t->cut[w->block]);
    if (!w->segments)
        return CAVS_ENOMEM;
    for (int i = t->cut[w->block]; i < t->cut[w->block + 1]; i++) {
        const struct cavs__vt *vt = &w->t->schedule.vt[i];

        if (vt->function != w->k->function->number)
            continue;
        if (w->n > 0 && !alone && follows(w, vt))
            w->segments[w->n - 1].rows += vt->n;
        else
            add_segment(w, vt);
    }
    return CAVS_OK;
}

/* Numbers of distinct inputs are the rows of a part that has them. */
static int distinct_segments(struct cavs__piece *w)
{
    const struct cavs__shard_stage *t = w->t;
    int rows = t->distinct.n[w->k->function->number];
    bool alone = cavs__policies[w->of->e->options->policy].alone;

    w->n = 0;
    w->segments = cavs__new_segments(w->of, alone ? rows : 1);
    if (!w->segments)
        return CAVS_ENOMEM;
    for (int i = 0; i < rows; i += w->segments[w->n - 1].rows)
        w->segments[w->n++] = (struct cavs__segment){.function = w->k->function->number,
                                                     .rows = alone ? 1 : rows,
                                                     .row0 = i,
                                                     .frow0 = i,
                                                     .brow0 = i};
    return CAVS_OK;
}

enum { MOST_NUMBERS = 1 << 30 };

/* Gradients are what a batch ends with, and behind all else.  Those of large parameters come first:
 * they take longest, several functions may add to them one after the other, and their norms and
 * updates are long, too.  Small ones even out what workers have. */
static int gradient_priority(const struct cavs__piece *w)
{
    const struct cavs__task_kind *k = w->k;
    int64_t numbers = 0;

    for (int i = 0; i < k->nbuffers; i++) {
        const struct cavs_param *p = w->of->e->plan->tensors[k->tensor[i]].param;

        if (k->written[i] && p && (int64_t)p->rows * p->cols > numbers)
            numbers = (int64_t)p->rows * p->cols;
    }
    return numbers < MOST_NUMBERS ? (int)numbers - MOST_NUMBERS : -1;
}

/* Sums over rows run one after the other, in a fixed order, into each partial gradient. */
static int submit_sums(const struct cavs__piece *w)
{
    int64_t most = cavs__piece_rows(w) / CAVS__PARTIAL_ROWS;
    int n = most < 1 ? 1 : most < w->of->partials ? (int)most : w->of->partials;
    bool made_later;
    int rc;

    if (w->k->phase != CAVS__GRADIENT)
        return cavs__submit_task(w, 0);
    if (n > 1)
        return cavs__submit_partials(w, n, gradient_priority(w));
    rc = cavs__make_at_update(w, &made_later);
    return rc || made_later ? rc : cavs__submit_task(w, gradient_priority(w));
}

static int submit_function(struct cavs__piece *w)
{
    int rc = w->k->shared ? distinct_segments(w) : function_segments(w);

    if (rc || w->n == 0)
        return rc;
    return cavs__piece_adds_to(w) ? submit_sums(w) : cavs__submit_cut(w, 0);
}

/* ---- the chain ----
 * A task per V_t; but tasks of one shard's chain can only run one after the other, so thin ones,
 * for which the runtime's cost per task would show, are run together: consecutive V_t until the
 * task is worth the grain. */

static bool may_merge(const struct cavs__submission *of)
{
    return !cavs__policies[of->e->options->policy].alone;
}

/* Worth cutting among workers: then it must stand alone, since rows of one V_t read those of
 * another. */
static bool is_wide(struct cavs__piece *w, const struct cavs__vt *vt)
{
    struct cavs__piece alone = *w;

    if (w->of->ways < 2)
        return false;
    alone.segments += w->n;
    alone.n = 0;
    add_segment(&alone, vt);
    return cavs__piece_ways(&alone) > 1;
}

static int flush(struct cavs__piece *w)
{
    int rc = w->n == 0 ? CAVS_OK : w->n == 1 ? cavs__submit_cut(w, 1) : cavs__submit_task(w, 1);

    if (w->k->phase == CAVS__FORWARD && w->n > 0) {
        cavs__count_cuts(&cavs__cuts_of(w)->vt, w->n);
        cavs__count_cuts(&cavs__cuts_of(w)->chain, 1);
    }
    w->segments += w->n;
    w->n = 0;
    return rc;
}

static int submit_chain(struct cavs__piece *w)
{
    const struct cavs__shard_stage *t = w->t;
    int first = t->cut[w->block], last = t->cut[w->block + 1];
    double sum = 0;
    int rc = CAVS_OK;

    w->n = 0;
    w->segments = cavs__new_segments(w->of, last - first);
    if (!w->segments)
        return CAVS_ENOMEM;
    for (int i = first; i < last && !rc; i++) {
        const struct cavs__vt *vt =
            &w->t->schedule.vt[w->k->phase == CAVS__FORWARD ? i : last - 1 - (i - first)];

        if (!w->k->parts[vt->function])
            continue;
        if (is_wide(w, vt))
            rc = flush(w);
        add_segment(w, vt);
        sum += cavs__piece_seconds(w, &w->segments[w->n - 1]);
        if (rc || (may_merge(w->of) && sum < w->of->grain))
            continue;
        rc = flush(w);
        sum = 0;
    }
    return rc ? rc : flush(w);
}

/* ---- all ---- */

static int submit_kind(struct cavs__piece *w, enum cavs__phase phase)
{
    int nblocks = w->k->shared ? 1 : w->t->nblocks, rc = CAVS_OK;

    for (int i = 0; i < nblocks && !rc; i++) {
        w->block = phase == CAVS__FORWARD ? i : nblocks - 1 - i;
        rc = w->k->function ? submit_function(w) : submit_chain(w);
    }
    return rc;
}

static int submit_stage(const struct cavs__submission *of, int shard, int stage,
                        enum cavs__phase phase)
{
    const struct cavs__stage_plan *sp = &of->e->plan->stages[stage];
    int rc = CAVS_OK;

    for (int i = 0; i < sp->nkinds && !rc; i++) {
        struct cavs__piece w = {
            .of = of, .k = sp->kinds[i], .t = &of->b->shards[shard].stages[stage], .shard = shard};

        if (w.k->phase == phase)
            rc = submit_kind(&w, phase);
    }
    return rc;
}

static int submit_stages(const struct cavs__submission *of, int shard, enum cavs__phase phase)
{
    int n = of->e->plan->model->nstages, rc = CAVS_OK;

    for (int i = 0; i < n && !rc; i++)
        rc = submit_stage(of, shard, phase == CAVS__FORWARD ? i : n - 1 - i, phase);
    return rc;
}

static int submit_phase(const struct cavs__submission *of, enum cavs__phase phase)
{
    int rc = CAVS_OK;

    for (int shard = 0; shard < of->b->nshards && !rc; shard++) {
        rc = submit_stages(of, shard, phase);
        if (!rc && of->b->nshards > 1) /* shards do not wait for one another */
            rc = cavs__join_flush(of->e, of->slot);
    }
    return rc;
}

/* Those with samples: others are empty, or another rank's. */
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
                                     .grain = cavs__grain(e)};
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

static int submit_shard(struct cavs__engine *e, struct cavs__batch *b, int shard)
{
    struct cavs__submission of = submission_of(e, b, cavs__next_slot(e));
    int rc;

    of.arena = &e->slots[of.slot].own[shard];
    rc = submit_stages(&of, shard, CAVS__FORWARD);
    return rc || b->request.run == CAVS__RUN_EVALUATE ? rc
                                                      : submit_stages(&of, shard, CAVS__BACKWARD);
}

static int submit_shards(struct cavs__engine *e, struct cavs__batch *b, int slot)
{
    struct cavs__arena **own = &e->slots[slot].own;
    double arranging = e->arranging;
    int rc;

    if (!*own)
        *own = calloc((size_t)e->nshards, sizeof **own);
    if (!*own)
        return cavs__fail_nomem("tasks", (size_t)e->nshards * sizeof **own);
    rc = cavs__each_shard(e, b, submit_shard, 0);
    e->arranging = arranging; /* this is not */
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

int cavs__submit_batch(struct cavs__engine *e, struct cavs__batch *b, int slot)
{
    const struct cavs_model *m = e->plan->model;
    struct cavs__submission of = submission_of(e, b, slot);
    int last = b->request.run == CAVS__RUN_EVALUATE ? CAVS__FORWARD : CAVS__GRADIENT,
        first = CAVS__FORWARD, rc = CAVS_OK;

    e->join.grain = cavs__join_until(e, b->request.run, cavs__small_seconds(e, b));
    if (e->join.grain > 0)
        of.ways = 1;
    for (int i = 0; i < m->nstages; i++) {
        e->cuts[i] = (struct cavs__cuts){0};
        for (int shard = 0; shard < b->nshards; shard++)
            e->cuts[i].blocks += b->shards[shard].stages[i].nblocks;
    }
    cavs__forget_gradients(e);
    if (goes_side_by_side(&of)) {
        rc = submit_shards(e, b, slot);
        first = CAVS__GRADIENT;
    }
    for (int phase = first; phase <= last && !rc; phase++)
        rc = submit_phase(&of, (enum cavs__phase)phase);
    return rc;
}
