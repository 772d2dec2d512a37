/* SPDX-License-Identifier: Apache-2.0 */
/* arrange.c - the graph of one stage of a shard -> its schedule, cut into blocks. */
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/prepare/preparing.h"

/* ---- the schedule ---- */

/* What equal vertices have in common beside their children. */
struct keys {
    int n;
    const int32_t **values;
    const bool **pulled; /* ids that a vertex's own function does not pull keep nothing apart */
};

/* Places in another stage as the rows that are there: equal vertices are one. */
static const int32_t *rows_of(const struct cavs__shard *shard, struct cavs__shard_stage *t,
                              const struct cavs__input *in)
{
    const struct cavs__shard_stage *from = &shard->stages[in->vertices_of->number];
    const int32_t *ids = t->ids[in->number];

    for (int v = 0; v < t->n; v++)
        t->keys[in->number][v] = ids[v] < 0 || !in->pulled[t->function[v]]
                                     ? ids[v]
                                     : from->schedule.row_of[from->start[t->sample_of[v]] + ids[v]];
    return t->keys[in->number];
}

/* Lists the keys that vertices have, or with PER_EDGE their children. */
static void make_keys(const struct cavs__shard *shard, struct cavs__shard_stage *t,
                      const struct cavs_stage *stage, enum cavs__per per, struct keys *keys)
{
    for (int k = 0; k < stage->ninputs; k++) {
        const struct cavs__input *in = stage->inputs[k];

        if (in->per != per)
            continue;
        keys->values[keys->n] =
            per == CAVS__PER_VERTEX && in->vertices_of ? rows_of(shard, t, in) : t->ids[k];
        keys->pulled[keys->n++] = in->pulled;
    }
}

static int make_schedule(const struct cavs__batch *b, struct cavs__shard *shard,
                         const struct cavs_stage *stage)
{
    struct cavs__shard_stage *t = &shard->stages[stage->number];
    bool merge = b->plan->stages[stage->number].mergeable && !b->how.apart;
    const int32_t *values[2][stage->ninputs + 1];
    const bool *pulled[2][stage->ninputs + 1];
    struct keys keys = {0, values[0], pulled[0]}, edge_keys = {0, values[1], pulled[1]};
    int slots[stage->nfunctions];
    struct cavs__graph g = {.n = t->n,
                            .nfunctions = stage->nfunctions,
                            .function = t->function,
                            .child_ptr = t->child_ptr,
                            .child = t->child,
                            .slots = slots,
                            .keys = values[0],
                            .keyed = pulled[0],
                            .edge_keys = values[1],
                            .edge_keyed = pulled[1]};

    for (int j = 0; j < stage->nfunctions; j++)
        slots[j] = stage->functions[j]->slots;
    if (merge) {
        make_keys(shard, t, stage, CAVS__PER_VERTEX, &keys);
        make_keys(shard, t, stage, CAVS__PER_EDGE, &edge_keys);
        g.nkeys = keys.n;
        g.nedge_keys = edge_keys.n;
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
