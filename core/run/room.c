/* SPDX-License-Identifier: Apache-2.0 */
/* room.c - memory for a prepared batch: what its tasks read is written there, what they write has
 * room. */
#include "core/run/engine.h"

/* Batches differ in size: the first one should not be that by which the second has to wait for the
 * tasks of the first, because its tensors want a few rows more. */
static int64_t with_spare(int64_t rows)
{
    return rows + rows / 16 + 1;
}

static int reserve(struct cavs__engine *e, int tensor, int chunk, int64_t rows)
{
    struct cavs__tensor *t = &e->tensors[tensor];

    return chunk < t->nchunks && rows <= t->chunks[chunk].rows
               ? CAVS_OK
               : cavs__reserve(e, t, chunk, with_spare(rows));
}

/* ---- what tasks read ---- */

static int write_index(struct cavs__engine *e, struct cavs__batch *b, int slot, int shard,
                       int stage)
{
    int number = e->plan->stages[stage].index;
    int chunk = cavs__chunk_of(e, number, slot, shard, 0);
    struct cavs__tensor *t = &e->tensors[number];
    int rc = reserve(e, number, chunk, cavs__index_length(b, shard, stage) + 1);

    if (rc)
        return rc;
    cavs__write_index(b, shard, stage, (int32_t *)cavs__tensor_acquire(t, chunk, STARPU_W));
    cavs__tensor_release(t, chunk);
    return CAVS_OK;
}

int cavs__renew(struct cavs__engine *e, struct cavs__batch *b, int slot)
{
    for (int i = 0; i < b->nshards && b->request.run != CAVS__RUN_EVALUATE; i++) {
        for (int j = 0; j < e->plan->model->nstages && b->shards[i].nsamples > 0; j++) {
            const struct cavs__stage_plan *sp = &e->plan->stages[j];
            struct cavs__tensor *t = &e->tensors[sp->index];
            int chunk = cavs__chunk_of(e, sp->index, slot, i, 0);

            if (!cavs__has_noise(sp))
                continue;
            cavs__write_noise(b, i, j, (int32_t *)cavs__tensor_acquire(t, chunk, STARPU_W));
            cavs__tensor_release(t, chunk);
        }
    }
    return CAVS_OK;
}

static int write_pulled(struct cavs__engine *e, struct cavs__batch *b, int slot, int shard,
                        int stage)
{
    const struct cavs__stage_plan *sp = &e->plan->stages[stage];

    for (int k = 0; k < sp->stage->ninputs; k++) {
        struct cavs__tensor *t = sp->input[k] >= 0 ? &e->tensors[sp->input[k]] : NULL;
        int chunk = t ? cavs__chunk_of(e, sp->input[k], slot, shard, 0) : 0;
        int rc = t ? reserve(e, sp->input[k], chunk,
                             cavs__pulled_rows(&b->shards[shard], sp->stage, k) + 1)
                   : CAVS_OK;

        if (rc)
            return rc;
        if (!t)
            continue;
        cavs__write_pulled(b, &b->shards[shard], sp->stage, k,
                           cavs__tensor_acquire(t, chunk, STARPU_W), t->ld);
        cavs__tensor_release(t, chunk);
    }
    return CAVS_OK;
}

/* ---- what tasks write ---- */

static int reserve_tensor(struct cavs__engine *e, const struct cavs__batch *b, int shard,
                          int number)
{
    const struct cavs__tensor_desc *d = &e->plan->tensors[number];
    int rc = CAVS_OK;

    if (d->space == CAVS__FIXED || d->kind == CAVS__T_INPUT)
        return CAVS_OK;
    for (int k = 0; k < cavs__blocks_of(&b->shards[shard], d) && !rc; k++)
        rc = reserve(e, number, cavs__chunk_of(e, number, 0, shard, k),
                     cavs__rows_needed(&b->shards[shard], d, k) + 1);
    return rc;
}

static int make_room(struct cavs__engine *e, struct cavs__batch *b, int slot, int shard)
{
    int rc = CAVS_OK;

    for (int i = 0; i < e->plan->model->nstages && !rc; i++) {
        rc = write_index(e, b, slot, shard, i);
        if (!rc)
            rc = write_pulled(e, b, slot, shard, i);
    }
    for (int i = 0; i < e->plan->ntensors && !rc; i++)
        rc = reserve_tensor(e, b, shard, i);
    return rc ? rc : cavs__reserve_scratch(e, cavs__shard_scratch(e->plan, &b->shards[shard]));
}

int cavs__make_room(struct cavs__engine *e, struct cavs__batch *b, int slot)
{
    int rc = CAVS_OK;

    for (int i = 0; i < b->nshards && !rc; i++) {
        if (b->shards[i].nsamples > 0) /* else no task of it will ask for anything */
            rc = make_room(e, b, slot, i);
    }
    return rc;
}
