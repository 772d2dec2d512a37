/* SPDX-License-Identifier: Apache-2.0 */
/* tape_sum_tasks.c - tasks for sums over rows of a tape: metrics, gradients of parameters.  Each is
 * over all signatures that it is in. */
#include <string.h>

#include "core/tape/tape_tasks.h"

static uint64_t adds_to(const struct cavs__sending *w)
{
    uint64_t buffers = 0;

    for (int i = 0; i < w->n; i++)
        buffers |= w->parts[w->segments[w->first + i].function]->adds_to;
    return buffers;
}

static int flush_sums(struct cavs__sending *w)
{
    uint64_t added = adds_to(w);
    struct cavs__new_task k;
    int rc = cavs__open_task(w, &k);

    for (int i = 0; i < w->k->nbuffers && !rc; i++) {
        int tensor = w->k->tensor[i];
        const struct cavs__tensor_desc *d = &w->e->plan->tensors[tensor];
        int chunk = d->kind == CAVS__T_GRAD ? cavs__partial_of(w->e, w->shard, 0, 1)
                                            : cavs__chunk_of(w->e, tensor, w->slot, w->shard, 0);

        cavs__add_buffer(w, &k, tensor, chunk, w->k->written[i]);
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
    return cavs__close_task(w, &k, w->phase == CAVS__GRADIENT ? -1 : 0);
}

/* Rows that follow one another are one segment: where all are reached, a signature's are one
 * product. */
static int add_rows(struct cavs__sending *w, const struct cavs__increment *d,
                    const struct cavs__vt *vt, int32_t *last)
{
    struct cavs__segment *s = *last >= 0 ? &w->segments[w->first + *last] : NULL;

    if (s && s->frow0 + s->rows == vt->frow0) {
        s->rows += vt->n;
        return CAVS_OK;
    }
    *last = w->n;
    return cavs__add_segment(w, d, vt);
}

static bool is_summed(const struct cavs__task_kind *k, const struct cavs__increment *d, int i)
{
    int f = d->vt[i].function;

    return f < k->nparts && k->parts[f] && (k->phase == CAVS__FORWARD || d->reached[i]);
}

/* Adds the rows of V_t i that have gradients, or all of them. */
static int add_vt(struct cavs__sending *w, const struct cavs__increment *d, int i, int32_t *last)
{
    struct cavs__vt rows = d->vt[i];
    int rc = CAVS_OK;

    if (w->phase == CAVS__FORWARD)
        return add_rows(w, d, &rows, last);
    rows.n = 0;
    while (!rc && cavs__next_reached(w->t, d, i, &rows))
        rc = add_rows(w, d, &rows, last);
    return rc;
}

static int submit_kind(struct cavs_tape *t, int slot, int shard, const struct cavs__task_kind *k)
{
    bool forward = k->phase == CAVS__FORWARD;
    struct cavs__increment *first = forward ? t->fresh[shard] : t->shards[shard].first;
    int64_t most = 0;
    struct cavs__sending w;
    int rc;

    for (const struct cavs__increment *d = first; d; d = d->after) {
        for (int i = 0; i < d->nvt; i++)
            most += is_summed(k, d, i) ? forward ? 1 : cavs__segments_reached(d, i) : 0;
    }
    if (most == 0)
        return CAVS_OK;
    rc = cavs__sending_begin(&w, t, slot, shard, k, most);
    for (const struct cavs__increment *d = first; d && !rc; d = d->after) {
        int32_t *last = cavs__sending_take(&w, (size_t)d->nfunctions * sizeof *last);

        if (!last)
            return CAVS_ENOMEM;
        memset(last, -1, (size_t)d->nfunctions * sizeof *last);
        for (int i = 0; i < d->nvt && !rc; i++) {
            if (is_summed(k, d, i))
                rc = add_vt(&w, d, i, &last[d->vt[i].function]);
        }
    }
    return rc ? rc : flush_sums(&w);
}

int cavs__submit_sums(struct cavs_tape *t, int slot, int shard, enum cavs__phase phase)
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
    return cavs__submit_sums(t, slot, shard, CAVS__GRADIENT);
}
