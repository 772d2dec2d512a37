/* SPDX-License-Identifier: Apache-2.0 */
/* size.c - how much room a shard wants in the tensors that its tasks write, and in scratch. */
#include "core/prepare/preparing.h"
#include "memory/tensor.h"

/* ---- rows ---- */

/* The number of blocks that a tensor has in a shard: what parts keep for one another has
 * several. */
int cavs__blocks_of(const struct cavs__shard *shard, const struct cavs__tensor_desc *d)
{
    return d->kind == CAVS__T_BUNDLE ? shard->stages[d->stage->number].nblocks : 1;
}

int64_t cavs__rows_needed(const struct cavs__shard *shard, const struct cavs__tensor_desc *d,
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

size_t cavs__shard_bytes(const struct cavs__plan *p, const struct cavs__shard *shard)
{
    size_t sum = 0;

    for (int i = 0; i < p->ntensors; i++) {
        const struct cavs__tensor_desc *d = &p->tensors[i];

        for (int b = 0; d->space != CAVS__FIXED && b < cavs__blocks_of(shard, d); b++)
            sum += (size_t)(cavs__rows_needed(shard, d, b) + 1) * (size_t)cavs__tensor_ld(d->cols) *
                   sizeof(float);
    }
    return sum;
}

/* ---- what is kept ---- */

static size_t stage_bytes(const struct cavs__shard *shard, const struct cavs__stage_plan *sp,
                          int copies)
{
    const struct cavs_stage *stage = sp->stage;
    const struct cavs__shard_stage *t = &shard->stages[stage->number];
    size_t numbers = 24 * (size_t)t->n + 6 * (size_t)t->nchildren; /* of graph and schedule */
    size_t read = (size_t)t->offsets[sp->nsections] * sizeof(int32_t);

    for (int i = 0; i < stage->ninputs; i++) {
        numbers += stage->inputs[i]->per == CAVS__PER_VERTEX ? (size_t)t->n : (size_t)t->cap_ids[i];
        if (sp->input[i] >= 0)
            read += (size_t)cavs__pulled_rows(shard, stage, i) *
                    (size_t)cavs__tensor_ld(stage->inputs[i]->width) * sizeof(float);
    }
    return numbers * sizeof(int32_t) + (size_t)copies * (read + 4096); /* and a handle */
}

size_t cavs__batch_bytes(const struct cavs__batch *b, int copies)
{
    size_t sum = sizeof(struct cavs__kept_batch) + 4096; /* of the arena */

    for (int i = 0; i < b->nshards; i++) {
        for (int j = 0; j < b->plan->model->nstages && b->shards[i].nsamples > 0; j++)
            sum += stage_bytes(&b->shards[i], &b->plan->stages[j], copies);
    }
    for (int i = 0; i < b->plan->model->nstored; i++) {
        if (b->touched[i])
            sum += (size_t)copies * (size_t)cavs__touched_length(b->touched[i]) * sizeof(int32_t);
    }
    return sum;
}

/* ---- scratch ---- */

/* The scratch that a part of a function wants where a vertex has more entries than a tile is meant
 * for. */
static size_t scratch_needed(const struct cavs__part *part, const struct cavs_function *f,
                             const struct cavs__shard_stage *t)
{
    int32_t longest[CAVS__PART_LISTS] = {0};

    for (int i = 0; i < f->nlists; i++)
        longest[i] = t->longest[f->lists[i]->number];
    return cavs__part_scratch(part, longest);
}

static size_t stage_scratch(const struct cavs__stage_plan *sp, const struct cavs__shard_stage *t)
{
    size_t most = 0;

    for (int k = 0; k < sp->nkinds && sp->stage->nlists > 0; k++) {
        for (int j = 0; j < sp->stage->nfunctions; j++) {
            const struct cavs__part *part = sp->kinds[k]->parts[j];
            size_t n = part ? scratch_needed(part, sp->stage->functions[j], t) : 0;

            most = n > most ? n : most;
        }
    }
    return most;
}

size_t cavs__shard_scratch(const struct cavs__plan *p, const struct cavs__shard *shard)
{
    size_t most = 0;

    for (int i = 0; i < p->model->nstages; i++) {
        size_t n = stage_scratch(&p->stages[i], &shard->stages[i]);

        most = n > most ? n : most;
    }
    return most;
}
