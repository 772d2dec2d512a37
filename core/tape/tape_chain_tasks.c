/* SPDX-License-Identifier: Apache-2.0 */
/* tape_chain_tasks.c - tasks that run V_t of a tape one after the other, forward or backward. */
#include "core/tape/tape_tasks.h"

static int flush_chain(struct cavs__sending *w)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(w->t);
    struct cavs__new_task k;
    int rc = w->n > 0 ? cavs__open_task(w, &k) : CAVS_OK;

    if (rc || w->n == 0)
        return rc;
    k.a->index_buffer = sp->index;
    cavs__add_chunk(w, &k, sp->index, false);
    cavs__add_chunk(w, &k, sp->state, w->phase == CAVS__FORWARD);
    if (w->phase == CAVS__FORWARD)
        cavs__add_chunk(w, &k, sp->input[CAVS__GIVEN_INPUT], false);
    else
        cavs__add_chunk(w, &k, sp->push[0], true);
    if (w->phase == CAVS__BACKWARD || w->keeps)
        cavs__add_chunk(w, &k, sp->edge, true);
    for (int i = 0; i < w->nparams; i++)
        cavs__add_chunk(w, &k, w->params[i], false);
    return cavs__close_task(w, &k, 1);
}

static bool has_param(const struct cavs__sending *w, int16_t tensor)
{
    for (int i = 0; i < w->nparams; i++) {
        if (w->params[i] == tensor)
            return true;
    }
    return false;
}

static int add_to_chain(struct cavs__sending *w, const struct cavs__increment *d,
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
        rc = cavs__add_segment(w, d, vt);
    return rc || w->seconds < w->grain ? rc : flush_chain(w);
}

/* How many segments this increment and those behind it have. */
static int64_t count_segments(const struct cavs__increment *first, bool forward)
{
    int64_t n = 0;

    for (const struct cavs__increment *d = first; d; d = d->after) {
        for (int i = 0; i < d->nvt; i++)
            n += forward ? 1 : cavs__segments_reached(d, i);
    }
    return n;
}

static int add_reached(struct cavs__sending *w, const struct cavs__increment *d, int i)
{
    struct cavs__vt rows = d->vt[i];
    int rc = CAVS_OK;

    rows.n = 0;
    while (!rc && cavs__next_reached(w->t, d, i, &rows))
        rc = add_to_chain(w, d, &rows);
    return rc;
}

int cavs__submit_forward(struct cavs_tape *t, int slot, int shard)
{
    const struct cavs__task_kind *k = cavs__find_chain(cavs__tape_plan(t), CAVS__FORWARD);
    const struct cavs__increment *first = t->fresh[shard];
    struct cavs__sending w;
    int rc = k ? cavs__sending_begin(&w, t, slot, shard, k, count_segments(first, true)) : CAVS_OK;

    for (const struct cavs__increment *d = first; d && k && !rc; d = d->after) {
        for (int i = 0; i < d->nvt && !rc; i++) {
            if (cavs__signature_of(t, &d->vt[i])->chain[CAVS__FORWARD].part)
                rc = add_to_chain(&w, d, &d->vt[i]);
        }
    }
    if (!rc && k)
        rc = flush_chain(&w);
    return rc ? rc : cavs__submit_sums(t, slot, shard, CAVS__FORWARD);
}

int cavs__submit_backward(struct cavs_tape *t, int slot, int shard)
{
    const struct cavs__task_kind *k = cavs__find_chain(cavs__tape_plan(t), CAVS__BACKWARD);
    const struct cavs__tape_shard *s = &t->shards[shard];
    struct cavs__sending w;
    int rc;

    if (!k)
        return CAVS_OK;
    rc = cavs__sending_begin(&w, t, slot, shard, k, count_segments(s->first, false));
    for (const struct cavs__increment *d = s->last; d && !rc; d = d->before) {
        for (int i = d->nvt - 1; i >= 0 && !rc; i--) {
            if (d->reached[i] && cavs__signature_of(t, &d->vt[i])->chain[CAVS__BACKWARD].part)
                rc = add_reached(&w, d, i);
        }
    }
    return rc ? rc : flush_chain(&w);
}
