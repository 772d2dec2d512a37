/* SPDX-License-Identifier: Apache-2.0 */
/* arrange.c - the graph of one stage of a shard -> its schedule, cut into blocks. */
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/prepare/preparing.h"

/* ---- the schedule ---- */

/* Ids that a vertex's own function does not pull must not keep equal vertices apart. */
static int make_keys(const struct cavs__shard *shard, struct cavs__shard_stage *t,
                     const struct cavs_stage *stage, const int32_t **keys)
{
    int n = 0;

    for (int k = 0; k < stage->ninputs; k++) {
        const struct cavs__input *in = stage->inputs[k];
        const struct cavs__shard_stage *from =
            in->vertices_of ? &shard->stages[in->vertices_of->number] : NULL;

        if (in->per != CAVS__PER_VERTEX)
            continue;

        for (int v = 0; v < t->n; v++) {
            int32_t id =
                in->pulled[t->function[v]] ? t->ids[k][v] : -1; /* of float rows, their numbers */

            t->keys[k][v] =
                id < 0 || !from ? id : from->schedule.row_of[from->start[t->sample_of[v]] + id];
        }
        keys[n++] = t->keys[k];
    }
    return n;
}

/* The same as make_keys() for what a vertex pulls for each child. */
static int make_edge_keys(struct cavs__shard_stage *t, const struct cavs_stage *stage,
                          const int32_t **keys)
{
    int n = 0;

    for (int k = 0; k < stage->ninputs; k++) {
        const struct cavs__input *in = stage->inputs[k];

        if (in->per != CAVS__PER_EDGE)
            continue;
        for (int v = 0; v < t->n; v++) {
            for (int e = t->child_ptr[v]; e < t->child_ptr[v + 1]; e++)
                t->keys[k][e] = in->pulled[t->function[v]] ? t->ids[k][e] : -1;
        }
        keys[n++] = t->keys[k];
    }
    return n;
}

static int make_schedule(const struct cavs__batch *b, struct cavs__shard *shard,
                         const struct cavs_stage *stage)
{
    struct cavs__shard_stage *t = &shard->stages[stage->number];
    bool merge = b->plan->stages[stage->number].mergeable && !b->how.apart;
    const int32_t *keys[stage->ninputs + 1], *edge_keys[stage->ninputs + 1];
    int slots[stage->nfunctions];
    struct cavs__graph g = {.n = t->n,
                            .nfunctions = stage->nfunctions,
                            .function = t->function,
                            .child_ptr = t->child_ptr,
                            .child = t->child,
                            .slots = slots,
                            .keys = keys,
                            .edge_keys = edge_keys};

    for (int j = 0; j < stage->nfunctions; j++)
        slots[j] = stage->functions[j]->slots;
    if (merge) {
        g.nkeys = make_keys(shard, t, stage, keys);
        g.nedge_keys = make_edge_keys(t, stage, edge_keys);
    }
    if (cavs__schedule_make(&t->schedule, &g, b->how.policy, merge) != 0)
        return cavs__fail_nomem("schedule", 0);
    return cavs__count_entries(shard, t, stage);
}

/* ---- blocks ----
 * Eager work that the chain waits for is done in blocks, so that the chain starts after the first
 * (the paper's streaming).  Each block is worth a while, and what it keeps for the chain should
 * still be in cache when the chain comes by. */

/* The rows of each function that block b begins with: behind those of all V_t before it. */
static void find_block_rows(struct cavs__shard_stage *t, int nfunctions)
{
    int32_t rows[nfunctions + 1];

    memset(rows, 0, sizeof rows);
    for (int b = 0; b < t->nblocks; b++) {
        memcpy(t->block_frow + b * nfunctions, rows, (size_t)nfunctions * sizeof *rows);
        for (int i = t->cut[b]; i < t->cut[b + 1]; i++)
            rows[t->schedule.vt[i].function] += t->schedule.vt[i].n;
    }
}

static double block_seconds(const struct cavs__batch *b, const struct cavs__shard *shard)
{
    const bool *whole = b->request.whole;

    return whole && whole[shard - b->shards] ? INFINITY : b->how.block_seconds;
}

int cavs__arrange(const struct cavs__batch *b, struct cavs__shard *shard,
                  const struct cavs_stage *stage)
{
    struct cavs__shard_stage *t = &shard->stages[stage->number];
    int rc = make_schedule(b, shard, stage);

    if (rc)
        return rc;
    t->nblocks = cavs__schedule_cut(&t->schedule, b->plan->stages[stage->number].streamed,
                                    block_seconds(b, shard), CAVS__MAX_BLOCKS, t->cut);
    find_block_rows(t, stage->nfunctions);
    return CAVS_OK;
}
