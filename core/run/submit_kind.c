/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit_kind.c - the tasks of one kind in one shard: its rows as segments, and where they are cut.
 *
 * A shard's V_t are cut into blocks where eager work feeds its chain (cavs__shard_stage.nblocks):
 * what parts keep for one another is a chunk per block, so the chain starts when the first eager
 * block is there, and lazy parts and gradients of a block start when the chain has left it.  Thin
 * V_t share a task until it is worth the grain, which on a device is all of the chain.
 */
#include "core/run/exchange.h"
#include "core/run/pieces.h"

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

/* Do the rows of a V_t follow those of the segment before?  Rows of a function are numbered V_t by
 * V_t, whatever other functions have between them: only a part that reads or writes rows of the
 * stage has to see those. */
static bool follows(const struct cavs__piece *w, const struct cavs__vt *vt)
{
    const struct cavs__segment *last = &w->segments[w->n - 1];

    return last->row0 + last->rows == vt->row0 || !w->k->parts[vt->function]->stage_rows;
}

/* Makes segments of all rows of a function: as few as the numbering of rows allows, or one for each
 * row if the policy leaves vertices alone. */
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

/* Makes segments of distinct inputs, whose numbers are the rows of the part. */
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

enum { MOST_NUMBERS = 1 << 30, PLACES = 1 << 10 };

/* The priority of gradients where there are other ranks and one worker, which does one task after
 * the other.  Small parameters travel together, which takes most steps, so they come first; then
 * those that the next batch begins with.  What is exchanged last has the beginning of that batch to
 * hide behind. */
static int exchanged_priority(const struct cavs__task_kind *k, int64_t numbers)
{
    int place = 1 + (k->function ? k->function->number : 0);

    for (int i = 0; i < k->stage->number; i++)
        place += k->stage->model->stages[i]->nfunctions;
    if (numbers <= CAVS__SMALL_SHARE)
        return -1 - (int)numbers;
    numbers /= PLACES;
    place = place < PLACES ? place : PLACES - 1;
    return place * -(MOST_NUMBERS / PLACES) +
           (int)(numbers < MOST_NUMBERS / PLACES ? numbers : MOST_NUMBERS / PLACES - 1);
}

/* The priority of gradients, with which a batch ends: below all else.  Those of large parameters
 * come first: they take longest, several functions may add to them one after the other, and their
 * norms and updates are long, too.  Small ones even out what workers have to do. */
static int gradient_priority(const struct cavs__piece *w)
{
    const struct cavs__task_kind *k = w->k;
    int64_t numbers = 0;

    for (int i = 0; i < k->nbuffers; i++) {
        const struct cavs_param *p = w->of->e->plan->tensors[k->tensor[i]].param;

        if (k->written[i] && p && (int64_t)p->rows * p->cols > numbers)
            numbers = (int64_t)p->rows * p->cols;
    }
    if (w->of->e->rt->ranks && w->of->e->rt->workers == 1)
        return exchanged_priority(k, numbers);
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

/* Is the V_t worth cutting among workers?  Then it must be a task by itself, since rows of one V_t
 * read those of another. */
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
    double sum = 0, grain = w->of->chain * cavs__shard_grain(w->of->e, w->shard);
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
        if (rc || (may_merge(w->of) && sum < grain))
            continue;
        rc = flush(w);
        sum = 0;
    }
    return rc ? rc : flush(w);
}

int cavs__submit_kind(struct cavs__piece *w, enum cavs__phase phase)
{
    int nblocks = w->k->shared ? 1 : w->t->nblocks, rc = CAVS_OK;

    for (int i = 0; i < nblocks && !rc; i++) {
        w->block = phase == CAVS__FORWARD ? i : nblocks - 1 - i;
        rc = w->k->function ? submit_function(w) : submit_chain(w);
    }
    return rc;
}
