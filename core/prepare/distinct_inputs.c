/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distinct_inputs.c - the distinct inputs of the vertices of a shard: for every function that
 * shares work among vertices with equal inputs (share.c), a number for each of its rows, and a row
 * for each number.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/prepare/preparing.h"

static int reserve(struct cavs__shard_stage *t, int rows, int ninputs)
{
    size_t n = (size_t)rows + (size_t)rows / 4;

    if (rows <= t->distinct.cap && t->distinct.number)
        return CAVS_OK;
    if (cavs__grow(&t->distinct.number, n) || cavs__grow(&t->distinct.first, n) ||
        cavs__grow(&t->distinct.keys, n * (size_t)ninputs))
        return CAVS_ENOMEM;
    t->distinct.cap = (int)n;
    return CAVS_OK;
}

/* Gathers the values of the shared inputs of every row of function f, side by side. */
static int gather_keys(struct cavs__shard_stage *t, const struct cavs_stage *stage, int f,
                       const bool *inputs)
{
    const struct cavs__schedule *sch = &t->schedule;
    int nkeys = 0, at = 0;

    for (int k = 0; k < stage->ninputs; k++)
        nkeys += inputs[k];
    for (int k = 0; k < stage->ninputs; k++) {
        for (int i = 0; inputs[k] && i < sch->nvt; i++) {
            const struct cavs__vt *vt = &sch->vt[i];

            for (int r = 0; vt->function == f && r < vt->n; r++)
                t->distinct.keys[(vt->frow0 + r) * nkeys + at] =
                    t->ids[k][sch->vertex_of[vt->row0 + r]];
        }
        at += inputs[k];
    }
    return nkeys;
}

/* Turns rows of the function into rows of the stage, in place. */
static void name_rows(struct cavs__shard_stage *t, int f, int32_t *first, int n)
{
    const struct cavs__schedule *sch = &t->schedule;
    int d = 0;

    /* numbers follow the first appearance, so `first` ascends, as function rows do */
    for (int i = 0; i < sch->nvt; i++) {
        const struct cavs__vt *vt = &sch->vt[i];

        while (vt->function == f && d < n && first[d] < vt->frow0 + vt->n) {
            first[d] = vt->row0 + first[d] - vt->frow0;
            d++;
        }
    }
}

int cavs__number_distinct(struct cavs__shard_stage *t, const struct cavs__stage_plan *sp,
                          struct cavs__table *scratch)
{
    const struct cavs_stage *stage = sp->stage;
    int start = 0;

    for (int f = 0; f < stage->nfunctions; f++) {
        int n = t->schedule.function_rows[f], rc;

        t->distinct.start[f] = start;
        t->distinct.n[f] = 0;
        if (!sp->shared_inputs[f])
            continue;
        rc = reserve(t, start + n, stage->ninputs);
        if (rc)
            return rc;
        t->distinct.n[f] =
            cavs__distinct(n, gather_keys(t, stage, f, sp->shared_inputs[f]), t->distinct.keys,
                           t->distinct.number + start, t->distinct.first + start, scratch);
        if (t->distinct.n[f] < 0)
            return cavs__fail_nomem("distinct inputs", cavs__table_bytes((size_t)n));
        name_rows(t, f, t->distinct.first + start, t->distinct.n[f]);
        start += n;
    }
    return CAVS_OK;
}

bool cavs__is_distinct(enum cavs__section_kind kind)
{
    return kind >= CAVS__S_SHARER && kind <= CAVS__S_DISTINCT_IDS;
}

int cavs__distinct_length(const struct cavs__section *sec, const struct cavs__shard_stage *t)
{
    int f = sec->function->number;

    switch (sec->kind) {
    case CAVS__S_SHARER:
    case CAVS__S_SHARER_ROW: return t->schedule.function_rows[f];
    case CAVS__S_SHARER_PTR: return t->distinct.n[f] + 1;
    default: return t->distinct.n[f];
    }
}

void cavs__fill_distinct(const struct cavs__section *sec, const struct cavs__shard_stage *t,
                         int32_t *out, int32_t *partner)
{
    int f = sec->function->number, n = t->schedule.function_rows[f], nd = t->distinct.n[f];
    const int32_t *number = t->distinct.number + t->distinct.start[f];
    const int32_t *first = t->distinct.first + t->distinct.start[f];

    switch (sec->kind) {
    case CAVS__S_SHARER: memcpy(out, number, (size_t)n * sizeof *out); break;
    case CAVS__S_SHARER_PTR: cavs__invert(out, partner, number, n, nd); break;
    case CAVS__S_DISTINCT_ROW: memcpy(out, first, (size_t)nd * sizeof *out); break;
    case CAVS__S_DISTINCT_IDS:
        for (int d = 0; d < nd; d++)
            out[d] = t->ids[sec->number][t->schedule.vertex_of[first[d]]];
        break;
    default: break; /* SHARER_ROW is filled with the section of the pointers to it */
    }
}
