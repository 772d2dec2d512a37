/* SPDX-License-Identifier: Apache-2.0 */
/* submit_increment.c - see going.h: from what is in order to tasks. */
#include "core/base/hash.h"
#include "core/tape/going.h"

/* What the forward tasks of increments that follow one another on a shard should take. */
static double forward_seconds(const struct cavs__going *g, const struct cavs__increment *first)
{
    double sum = 0;

    for (const struct cavs__increment *d = first; d; d = d->after) {
        for (int v = 0; v < d->nvt; v++) {
            const struct cavs__part *part =
                cavs__signature_of(g->t, &d->vt[v])->chain[CAVS__FORWARD].part;
            double entries[CAVS__PART_LISTS] = {cavs__entries_of_vt(d, &d->vt[v])};

            sum += part ? cavs__part_seconds(&g->e->rates, part, d->vt[v].n, entries) : 0;
        }
    }
    return sum;
}

/* What the tasks of the increment should take, about.  Those that go back do so through all
 * increments, and take twice as long as forward. */
static double seconds_of(const struct cavs__going *g)
{
    const struct cavs_tape *t = g->t;
    double sum = 0;

    for (int i = 0; i < t->order.nshards; i++) {
        sum += forward_seconds(g, t->fresh[i]);
        if (g->gradients)
            sum += 2 * forward_seconds(g, t->shards[i].first);
    }
    return sum;
}

/* Makes room for the scratch of tasks where a symbol has more entries than a tile is meant for. */
static int reserve_scratch(struct cavs__going *g, const struct cavs__increment *d)
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

static int prepare_own(struct cavs__going *g)
{
    struct cavs_tape *t = g->t;
    int rc = CAVS_OK;

    for (int i = 0; i < t->order.nshards && !rc; i++) {
        for (struct cavs__increment *d = t->fresh[i]; d && !rc; d = d->after)
            rc = reserve_scratch(g, d);
    }
    if (!rc)
        rc = cavs__fill(g);
    if (!rc && g->gradients)
        rc = cavs__list_tape_lookups(t, g->slot);
    return rc ? rc : cavs__prepare_increment_devices(g);
}

/* A hash of what was recorded, by which ranks see whether all have recorded the same. */
static uint64_t hash_of(const struct cavs_tape *t)
{
    const struct cavs__recording *r = &t->recording;
    const int64_t words[] = {r->run, r->nsamples, cavs__symbols_of(r), r->nsinks, r->signatures.n};

    return cavs__hash(CAVS__HASH_START, words, sizeof words);
}

enum cavs__run cavs__run_of_going(const struct cavs__going *g)
{
    return g->update ? CAVS__RUN_TRAIN : g->gradients ? CAVS__RUN_GRADIENT : CAVS__RUN_EVALUATE;
}

int cavs__prepare_increment(struct cavs__going *g)
{
    struct cavs_session *s = g->t->session;
    int rc;

    s->batch = &s->fresh;
    s->batch->request.run = cavs__run_of_going(g);
    rc = prepare_own(g);
    return g->x ? cavs__exchange_meet(g->x, s->batch, g->slot, s->optimizer.touched_lists,
                                      hash_of(g->t), rc)
                : rc;
}

/* Calls `each` for every shard that has something to do.  Tasks of different shards do not wait for
 * one another. */
static int each_shard(struct cavs__going *g, bool all,
                      int (*each)(struct cavs_tape *t, int slot, int shard))
{
    int rc = CAVS_OK;

    for (int i = 0; i < g->t->order.nshards && !rc; i++) {
        if (!(all ? g->t->shards[i].first : g->t->fresh[i]))
            continue;
        rc = each(g->t, g->slot, i);
        if (!rc && g->t->order.nshards > 1 && !g->e->homes)
            rc = cavs__join_flush(g->e, g->slot);
    }
    return rc;
}

/* Fails if a task has seen a number that is not finite: then there is no update. */
static int check_numbers(struct cavs__going *g)
{
    int rc = cavs__wait_tasks(g->e, g->slot);

    return rc ? rc : cavs__ranks_agree(g->e->rt->ranks, cavs__report_tape_fault(g->t));
}

static int submit(struct cavs__going *g)
{
    struct cavs_session *s = g->t->session;
    int rc = each_shard(g, false, cavs__submit_forward);

    if (g->gradients) {
        cavs__forget_gradients(g->e);
        if (!rc)
            rc = each_shard(g, true, cavs__submit_backward);
        if (!rc)
            rc = each_shard(g, true, cavs__submit_gradients);
    }
    if (!rc && s->options.check_finite)
        rc = check_numbers(g);
    if (!rc)
        rc = cavs__submit_uses(s, g->t->recording.nsamples, g->t->order.nshards, g->slot);
    cavs__join_drop(g->e); /* drops what failed tasks left */
    return rc;
}

int cavs__submit_increment(struct cavs__going *g)
{
    struct cavs_session *s = g->t->session;
    struct cavs__worth worth = {.run = cavs__run_of_going(g),
                                .one_sample = g->t->recording.nsamples == 1,
                                .seconds = seconds_of(g)};
    int rc = g->gradients ? cavs__check_looked_up(s->plan) : CAVS_OK;

    if (rc)
        return rc;
    g->e->join.grain = cavs__join_until(g->e, worth.run, worth.seconds);
    g->e->here.awaited |= g->awaited;
    cavs__may_run_here(s, &worth, g->slot);
    rc = submit(g);
    cavs__here_end(g->e);
    s->half_counted |= rc && rc != CAVS_ENUMERIC;
    return rc;
}
