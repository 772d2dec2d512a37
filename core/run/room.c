/* SPDX-License-Identifier: Apache-2.0 */
/* room.c - how many rows a shard wants in the tensors that its tasks write, and scratch. */
#include "core/run/session.h"

/* ---- room in the tensors that tasks write ---- */

/* In the chunk of a block, for what parts keep; else in the shard's. */
static int64_t rows_needed(const struct cavs__tensor_desc *d, const struct cavs__shard *shard,
                           int block)
{
    const struct cavs__shard_stage *t = &shard->stages[d->stage->number];
    const struct cavs__schedule *sch = &t->schedule;
    int nf = d->stage->nfunctions;

    switch (d->space) {
    case CAVS__BROWS:
        return (block + 1 < t->nblocks ? t->block_frow[(block + 1) * nf + d->function->number]
                                       : sch->function_rows[d->function->number]) -
               t->block_frow[block * nf + d->function->number];
    case CAVS__ROWS: return sch->rows;
    case CAVS__EDGES: return sch->edges;
    case CAVS__DISTINCT: return t->distinct.n[d->function->number];
    case CAVS__ENTRIES: return t->entries[d->list->number];
    case CAVS__BENTRIES: return cavs__block_entries(shard, t, d->list, block);
    default: return sch->function_rows[d->function->number];
    }
}

int cavs__reserve_shard(struct cavs_session *s, const struct cavs__shard *shard, int number)
{
    for (int i = 0; i < s->plan->ntensors; i++) {
        const struct cavs__tensor_desc *d = &s->plan->tensors[i];
        int blocks, rc = CAVS_OK;

        if (d->space == CAVS__FIXED || d->kind == CAVS__T_INPUT)
            continue;
        blocks = d->kind == CAVS__T_BUNDLE ? shard->stages[d->stage->number].nblocks : 1;
        for (int b = 0; b < blocks && !rc; b++)
            rc = cavs__reserve(s, &s->tensors[i], cavs__chunk_of(s, i, 0, number, b),
                               rows_needed(d, shard, b) + 1);
        if (rc)
            return rc;
    }
    return CAVS_OK;
}

size_t cavs__shard_bytes(const struct cavs_session *s, const struct cavs__shard *shard)
{
    size_t sum = 0;

    for (int i = 0; i < s->plan->ntensors; i++) {
        const struct cavs__tensor_desc *d = &s->plan->tensors[i];
        int blocks =
            d->kind == CAVS__T_BUNDLE && d->stage ? shard->stages[d->stage->number].nblocks : 1;

        for (int b = 0; d->space != CAVS__FIXED && b < blocks; b++)
            sum += (size_t)(rows_needed(d, shard, b) + 1) * (size_t)cavs__tensor_ld(d->cols) *
                   sizeof(float);
    }
    return sum;
}

/* ---- scratch ---- */

/* What a part of a function needs where a vertex has more entries than a tile is meant for. */
static size_t scratch_needed(const struct cavs__part *part, const struct cavs_function *f,
                             const struct cavs__shard_stage *t)
{
    int32_t longest[CAVS__PART_LISTS] = {0};

    for (int i = 0; i < f->nlists; i++)
        longest[i] = t->longest[f->lists[i]->number];
    return cavs__part_scratch(part, longest);
}

int cavs__reserve_shard_scratch(struct cavs_session *s, const struct cavs__shard *shard)
{
    size_t most = 0;

    for (int i = 0; i < s->model->nstages; i++) {
        const struct cavs__stage_plan *sp = &s->plan->stages[i];

        for (int k = 0; k < sp->nkinds && sp->stage->nlists > 0; k++) {
            for (int j = 0; j < sp->stage->nfunctions; j++) {
                const struct cavs__part *part = sp->kinds[k]->parts[j];
                size_t n =
                    part ? scratch_needed(part, sp->stage->functions[j], &shard->stages[i]) : 0;

                most = n > most ? n : most;
            }
        }
    }
    return cavs__reserve_scratch(s, most);
}
