/* SPDX-License-Identifier: Apache-2.0 */
/* increments.c - an increment from the symbols that are wanted to its tasks: as
 * core/run/run_batch.c does it for a declared batch, in a slot like one. */
#include "core/tape/going.h"

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

/* Does the shard belong to this rank?  Symbols of other ranks' shards are put in order, too, so
 * that every rank knows what there is; but this rank computes nothing of them. */
static bool is_here(const struct cavs__going *g, int shard)
{
    return !g->x || cavs__is_here(g->x, shard);
}

/* Puts the symbols of a shard into V_t, says where their rows are, and finds which of them
 * gradients reach. */
static int order_shard(void *of, int shard)
{
    struct cavs__going *g = of;
    struct cavs_tape *t = g->t;
    struct cavs__tape_shard *s = &t->shards[shard];
    int rc = cavs__order_shard(&t->order, &t->recording, shard, &t->fresh[shard]);

    s->given = 0;
    if (!is_here(g, shard))
        return rc;
    for (struct cavs__increment *d = t->fresh[shard], *after; d && !rc; d = after) {
        after = d->after;
        append(s, d);
        rc = cavs__place_rows(t, shard, d);
    }
    return rc || !g->gradients || !s->first ? rc : cavs__find_reached(t, shard);
}

static int order_shards(struct cavs__going *g)
{
    const double vertex = 50e-9; /* seconds, with all that is done with it here */
    struct cavs_tape *t = g->t;
    int rc = cavs__share_work(g->e, t->order.nshards, t->order.nvertices * vertex, order_shard, g);

    for (int i = 0; i < t->order.nshards && !rc; i++) {
        g->fresh |= t->fresh[i] != NULL;
        if (!is_here(g, i))
            t->fresh[i] = NULL;
        for (const struct cavs__increment *d = t->fresh[i]; d; d = d->after)
            count(t, d);
    }
    return rc;
}

static int order_all(struct cavs__going *g, const struct cavs__wanted *wanted)
{
    struct cavs_tape *t = g->t;
    int rc = cavs__compile_signatures(t);

    cavs__use_blocks(t);
    if (!rc)
        rc = cavs__order(&t->order, &t->recording, &t->blocks, wanted);
    if (!rc)
        rc = cavs__compile_signatures(t); /* of blocks that were made for it */
    if (g->x)
        cavs__exchange_deal(g->x, t->order.nshards, false); /* until the tape begins anew */
    return rc ? rc : order_shards(g);
}

/* All ranks go on, or none. */
static int order(struct cavs__going *g, const struct cavs__wanted *wanted)
{
    int rc = order_all(g, wanted);

    return g->x ? cavs__ranks_agree(g->x->ranks, rc) : rc;
}

static void wait_for_slot(struct cavs__going *g)
{
    double start = starpu_timing_now();

    cavs__slot_wait(&g->e->slots[g->slot]);
    g->t->session->stats.wait_s += (starpu_timing_now() - start) * 1e-6;
}

static int go(struct cavs__going *g)
{
    struct cavs_session *s = g->t->session;
    int rc;

    g->slot = cavs__next_slot(g->e);
    wait_for_slot(g);
    cavs__forget_readers(s, cavs__run_of_going(g));
    cavs__homes_observe(g->e, g->slot);
    if (g->x)
        cavs__exchange_observe(g->x, g->slot);
    cavs__homes_begin(g->e, g->slot, cavs__run_of_going(g));
    cavs__slot_open(&g->e->slots[g->slot], g->e->nshards);
    starpu_iteration_push((unsigned long)g->e->batches);
    rc = cavs__prepare_increment(g);
    cavs__workers_hold();
    if (!rc)
        rc = cavs__submit_increment(g);
    starpu_iteration_pop();
    cavs__slot_close(&g->e->slots[g->slot]);
    cavs__workers_wake_for_tasks();
    g->e->batches++;
    s->stats.batches++;
    if (g->gradients && !g->update && !rc)
        s->gradient_batch = g->e->batches;
    if (rc)
        cavs__end_failed_batch(g->e);
    return rc;
}

int cavs__evaluate(struct cavs_tape *t, int n, const int32_t *symbols, bool finish)
{
    enum cavs_tape_run run = t->recording.run;
    struct cavs__going g = {.t = t,
                            .e = &t->session->engine,
                            .x = t->session->optimizer.exchange,
                            .gradients = finish && run != CAVS_TAPE_EVALUATE,
                            .update = finish && run == CAVS_TAPE_TRAIN,
                            .awaited = !finish};
    struct cavs__wanted wanted = {.n = n,
                                  .symbols = symbols,
                                  .rows = !finish,
                                  .foreseen = cavs__take_foreseen(t, finish),
                                  .e = cavs__homes_cut(g.e) ? g.e : NULL};
    struct cavs_stats *stats = &t->session->stats;
    double start;
    int rc;

    cavs__choose_clock(g.e);
    start = cavs__caller_seconds(g.e);
    g.e->preparing = g.e->here.busy = 0;
    rc = order(&g, &wanted);
    if (!rc && (g.gradients || g.fresh))
        rc = go(&g);
    if (!rc)
        rc = cavs__make_blocks(t);
    if (rc)
        cavs__recording_spoil(&t->recording, rc, "%s", cavs_error_text(rc));
    stats->schedule_s += cavs__caller_seconds(g.e) - start - g.e->here.busy + g.e->preparing;
    return rc;
}
