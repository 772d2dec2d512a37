/* SPDX-License-Identifier: Apache-2.0 */
/* increments.c- an increment from the symbols that are wanted to its tasks: as core/run/run_batch.c
 * does it for a declared batch, in a slot like one. */
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/tape/tape.h"
#include "memory/handover.h"

/* One go. */
struct going {
    struct cavs_tape *t;
    struct cavs__engine *e;
    struct cavs__exchange *x; /* NULL: the process is alone */
    int slot;
    bool gradients, update;
    bool fresh; /* there is something to evaluate, here or at another rank */
};

/* ---- what there is to do ---- */

static void append(struct cavs__tape_shard *s, struct cavs__increment *d)
{
    d->before = s->last;
    d->after = NULL;
    if (s->last)
        s->last->after = d;
    else
        s->first = d;
    s->last = d;
}

static void count(struct cavs_tape *t, const struct cavs__increment *d)
{
    struct cavs_stats *of_session = &t->session->stats;
    bool forward = t->recording.run == CAVS_TAPE_EVALUATE;
    int64_t evaluated = 0; /* symbols */

    t->stats.batching_tasks += d->nvt;
    of_session->batching_tasks += d->nvt;
    for (int i = 0; i < d->nvt; i++) {
        struct cavs__signature *s = t->recording.signatures.all[d->vt[i].function];

        evaluated += (int64_t)d->vt[i].n * s->nmembers;
        s->rows += d->vt[i].n;
        s->vts++;
        of_session->flops += d->vt[i].n * (forward ? s->flops_forward : s->flops) +
                             cavs__entries_of_vt(d, &d->vt[i]) * s->entry_flops[forward];
    }
    t->stats.evaluated += evaluated;
    of_session->vertices += evaluated + d->repeated;
    of_session->evaluated += evaluated;
}

/* What is wanted of a shard that is another rank's is in order, and so everybody knows what there
 * is; this rank has nothing of it. */
static bool is_here(const struct going *g, int shard)
{
    return !g->x || cavs__is_here(g->x, shard);
}

static int order_all(struct going *g, const struct cavs__wanted *wanted)
{
    struct cavs_tape *t = g->t;
    int rc = cavs__compile_signatures(t);

    cavs__use_blocks(t);
    if (!rc)
        rc = cavs__order(&t->order, &t->recording, &t->blocks, wanted, t->fresh);
    if (!rc)
        rc = cavs__compile_signatures(t); /* of blocks that were made for it */
    if (g->x)
        cavs__exchange_deal(g->x, t->order.nshards, false); /* until the tape begins anew */
    for (int i = 0; i < t->order.nshards && !rc; i++) {
        t->shards[i].given = 0;
        g->fresh |= t->fresh[i] != NULL;
        if (!is_here(g, i))
            t->fresh[i] = NULL;
        for (struct cavs__increment *d = t->fresh[i], *after; d && !rc; d = after) {
            after = d->after;
            append(&t->shards[i], d);
            rc = cavs__place_rows(t, i, d);
            count(t, d);
        }
    }
    return rc;
}

/* All ranks go on, or none. */
static int order(struct going *g, const struct cavs__wanted *wanted)
{
    int rc = order_all(g, wanted);

    return g->x ? cavs__ranks_agree(g->x->ranks, rc) : rc;
}

/* About what the tasks are worth. */
static double seconds_of(const struct going *g)
{
    const struct cavs_tape *t = g->t;
    double sum = 0;

    for (int i = 0; i < t->order.nshards; i++) {
        for (const struct cavs__increment *d = t->fresh[i]; d; d = d->after) {
            for (int v = 0; v < d->nvt; v++) {
                const struct cavs__part *part =
                    cavs__signature_of(t, &d->vt[v])->chain[CAVS__FORWARD].part;
                double entries[CAVS__PART_LISTS] = {cavs__entries_of_vt(d, &d->vt[v])};

                sum += part ? cavs__part_seconds(&g->e->rates, part, d->vt[v].n, entries) : 0;
            }
        }
    }
    return g->gradients ? 3 * sum : sum;
}

/* ---- devices ---- */

/* As core/prepare/batch.c has it: a row costs something even without products. */
static double work_of(const struct going *g, int shard)
{
    const struct cavs_tape *t = g->t;
    bool fresh = false;
    double sum = 0;

    for (struct cavs__increment *d = g->gradients ? t->shards[shard].first : t->fresh[shard]; d;
         d = d->after) {
        fresh |= d == t->fresh[shard];
        for (int i = 0; i < d->nvt; i++) {
            const struct cavs__signature *s = cavs__signature_of(t, &d->vt[i]);

            sum += d->vt[i].n * (1000 + (g->gradients ? s->flops : s->flops_forward) -
                                 (fresh ? 0 : s->flops_forward)) +
                   cavs__entries_of_vt(d, &d->vt[i]) *
                       (s->entry_flops[!g->gradients] - (fresh ? 0 : s->entry_flops[true]));
        }
    }
    return sum;
}

/* Scratch for the rows of each signature in an increment. */
static size_t wanted_by(const struct cavs_tape *t, const struct cavs__increment *d)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);
    size_t most = 0;

    for (int i = 0; i < sp->nkinds; i++) {
        const struct cavs__task_kind *k = sp->kinds[i];

        for (int f = 0; f < d->nfunctions && f < k->nparts; f++) {
            int32_t entries[CAVS__PART_LISTS] = {d->entry0 ? d->entries[f] : 0};
            size_t floats =
                k->parts[f] && d->function_rows[f] > 0
                    ? cavs__devices->part_floats(k->parts[f], d->function_rows[f], entries)
                    : 0;

            most = floats > most ? floats : most;
        }
    }
    return most;
}

/* What a shard has by now may be more than its home can hold, whatever it began with. */
static int check_room(struct going *g)
{
    const struct cavs_tape *t = g->t;
    size_t *bytes = g->e->homes ? g->e->homes->bytes : NULL;

    for (int i = 0; i < t->order.nshards && bytes; i++)
        bytes[i] = (size_t)(t->shards[i].rows * (g->gradients ? 2 : 1) + t->shards[i].operands +
                            t->shards[i].given) *
                   CAVS__LINE * sizeof(float);
    return cavs__homes_send_away(g->e, bytes);
}

/* What the homes of shards have to do, and scratch for it. */
static int prepare_devices(struct going *g)
{
    const struct cavs_tape *t = g->t;
    size_t most = 0;
    int rc = check_room(g);

    for (int i = 0; i < t->order.nshards && g->e->devices; i++) {
        double work = work_of(g, i);

        if (work > 0)
            cavs__homes_count(g->e, g->slot, i, work);
        for (const struct cavs__increment *d = t->shards[i].first; d; d = d->after) {
            size_t floats = wanted_by(t, d);

            most = floats > most ? floats : most;
        }
    }
    return rc || !g->e->devices ? rc : cavs__reserve_device_floats(g->e, t->session->batch, most);
}

/* ---- doing it ---- */

/* What tasks need where a symbol has more entries than a tile is meant for. */
static int reserve_scratch(struct going *g, const struct cavs__increment *d)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(g->t);
    size_t most = 0;

    for (int i = 0; i < sp->nkinds && d->entry0; i++) {
        const struct cavs__task_kind *k = sp->kinds[i];

        for (int f = 0; f < d->nfunctions && f < k->nparts; f++) {
            int32_t longest[CAVS__PART_LISTS] = {d->longest[f]};
            size_t floats =
                k->parts[f] && d->longest[f] > 0 ? cavs__part_scratch(k->parts[f], longest) : 0;

            most = floats > most ? floats : most;
        }
    }
    return most > 0 ? cavs__reserve_scratch(g->e, most) : CAVS_OK;
}

static int prepare_own(struct going *g)
{
    struct cavs_tape *t = g->t;
    int rc = CAVS_OK;

    for (int i = 0; i < t->order.nshards && !rc; i++) {
        for (struct cavs__increment *d = t->fresh[i]; d && !rc; d = d->after)
            rc = reserve_scratch(g, d);
        if (!rc && g->gradients && t->shards[i].first)
            rc = cavs__find_reached(t, i);
        if (!rc && (t->fresh[i] || (g->gradients && t->shards[i].first)))
            rc = cavs__fill(t, g->slot, i, g->gradients);
    }
    if (!rc && g->gradients)
        rc = cavs__list_tape_lookups(t, g->slot);
    return rc ? rc : prepare_devices(g);
}

/* What all ranks have recorded, in a few words. */
static uint64_t hash_of(const struct cavs_tape *t)
{
    const struct cavs__recording *r = &t->recording;
    const int64_t words[] = {r->run, r->nsamples, cavs__symbols_of(r), r->nsinks, r->signatures.n};

    return cavs__hash(CAVS__HASH_START, words, sizeof words);
}

static enum cavs__run run_of(const struct going *g)
{
    return g->update ? CAVS__RUN_TRAIN : g->gradients ? CAVS__RUN_GRADIENT : CAVS__RUN_EVALUATE;
}

static int prepare(struct going *g)
{
    struct cavs_session *s = g->t->session;
    int rc;

    s->batch = &s->fresh;
    s->batch->request.run = run_of(g);
    rc = prepare_own(g);
    return g->x ? cavs__exchange_meet(g->x, s->batch, g->slot, s->optimizer.touched_lists,
                                      hash_of(g->t), rc)
                : rc;
}

/* Shards do not wait for one another. */
static int each_shard(struct going *g, bool all,
                      int (*submit)(struct cavs_tape *t, int slot, int shard))
{
    int rc = CAVS_OK;

    for (int i = 0; i < g->t->order.nshards && !rc; i++) {
        if (!(all ? g->t->shards[i].first : g->t->fresh[i]))
            continue;
        rc = submit(g->t, g->slot, i);
        if (!rc && g->t->order.nshards > 1)
            rc = cavs__join_flush(g->e, g->slot);
    }
    return rc;
}

/* A bad number keeps the update from the parameters. */
static int check_numbers(struct going *g)
{
    int rc = cavs__join_flush(g->e, g->slot);

    cavs__workers_wake();
    if (rc)
        return rc;
    starpu_task_wait_for_all();
    cavs__handover_waited();
    return cavs__ranks_agree(g->e->rt->ranks, cavs__report_tape_fault(g->t));
}

static int submit(struct going *g)
{
    struct cavs_session *s = g->t->session;
    int rc;

    g->e->join.grain =
        cavs__join_until(g->e, g->gradients ? CAVS__RUN_TRAIN : CAVS__RUN_EVALUATE, seconds_of(g));
    rc = each_shard(g, false, cavs__submit_forward);
    if (g->gradients) {
        cavs__forget_gradients(g->e);
        if (!rc)
            rc = each_shard(g, true, cavs__submit_backward);
        if (!rc)
            rc = each_shard(g, true, cavs__submit_gradients);
        if (!rc)
            rc =
                cavs__submit_looked_up(&s->optimizer, g->e, s->batch, g->t->order.nshards, g->slot);
    }
    if (!rc && s->options.check_finite)
        rc = check_numbers(g);
    if (!rc && g->gradients && g->x)
        rc = cavs__submit_exchange(g->x, s->batch, g->slot);
    if (!rc && g->update) {
        s->optimizer.rule.scale = cavs__gradient_scale(&s->options, g->t->recording.nsamples);
        rc = cavs__submit_updates(&s->optimizer, g->e, s->batch, g->slot);
    }
    if (!rc)
        rc = cavs__join_flush(g->e, g->slot);
    if (g->x)
        cavs__rows_forget(g->x, g->slot);
    cavs__join_drop(g->e); /* what failed has left */
    s->half_counted |= rc && rc != CAVS_ENUMERIC;
    return rc;
}

static void wait_for_slot(struct going *g)
{
    double start = starpu_timing_now();

    cavs__slot_wait(&g->e->slots[g->slot]);
    g->t->session->stats.wait_s += (starpu_timing_now() - start) * 1e-6;
}

static int go(struct going *g)
{
    struct cavs_session *s = g->t->session;
    int rc;

    g->slot = cavs__next_slot(g->e);
    wait_for_slot(g);
    cavs__homes_observe(g->e, g->slot);
    if (g->x)
        cavs__exchange_observe(g->x, g->slot);
    cavs__homes_begin(g->e, g->slot, run_of(g));
    cavs__slot_open(&g->e->slots[g->slot], g->e->nshards);
    starpu_iteration_push((unsigned long)g->e->batches);
    rc = prepare(g);
    cavs__workers_hold();
    if (!rc)
        rc = submit(g);
    starpu_iteration_pop();
    cavs__slot_close(&g->e->slots[g->slot]);
    cavs__workers_wake_for_tasks();
    g->e->batches++;
    s->stats.batches++;
    if (g->gradients && !g->update && !rc)
        s->gradient_batch = g->e->batches;
    if (rc)
        cavs__wait_slots(g->e);
    return rc;
}

int cavs__evaluate(struct cavs_tape *t, int n, const int32_t *symbols, bool finish)
{
    enum cavs_tape_run run = t->recording.run;
    struct going g = {.t = t,
                      .e = &t->session->engine,
                      .x = t->session->optimizer.exchange,
                      .gradients = finish && run != CAVS_TAPE_EVALUATE,
                      .update = finish && run == CAVS_TAPE_TRAIN};
    struct cavs__wanted wanted = {.n = n,
                                  .symbols = symbols,
                                  .rows = !finish,
                                  .together = finish || run == CAVS_TAPE_EVALUATE,
                                  .e = g.e->homes ? g.e : NULL};
    struct cavs_stats *stats = &t->session->stats;
    double start = starpu_timing_now(), waited = stats->wait_s;
    int rc = order(&g, &wanted);

    if (!rc && (g.gradients || g.fresh))
        rc = go(&g);
    if (!rc)
        rc = cavs__make_blocks(t);
    t->error = rc;
    stats->schedule_s += (starpu_timing_now() - start) * 1e-6 - (stats->wait_s - waited);
    return rc;
}
