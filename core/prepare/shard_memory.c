/* SPDX-License-Identifier: Apache-2.0 */
/* shard_memory.c - the memory of a shard: arrays that grow to the largest batch and stay. */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/prepare/preparing.h"

/* ---- grow-only arrays ---- */

/* Arrays of a stage share one capacity, which the caller keeps a quarter above what is needed:
 * batches vary a little, and doubling would hold twice of a large one. */
int cavs__grow(int32_t **p, size_t n)
{
    int32_t *q = realloc(*p, (n + 1) * sizeof *q);

    if (!q)
        return cavs__fail_nomem("batch", (n + 1) * sizeof *q);
    *p = q;
    return CAVS_OK;
}

int cavs__reserve_vertices(struct cavs__shard_stage *t, const struct cavs_stage *stage, int n)
{
    int32_t **arrays[] = {&t->function, &t->child_ptr, &t->sample_of, &t->over};
    int rc = CAVS_OK;

    if (n <= t->cap && t->cap > 0)
        return CAVS_OK;
    n += n / 4 + 1; /* even no vertices have one child pointer */
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && !rc; i++)
        rc = cavs__grow(arrays[i], (size_t)n + 1);
    for (int i = 0; i < stage->ninputs && !rc; i++) {
        if (stage->inputs[i]->per == CAVS__PER_EDGE)
            continue;
        if (stage->inputs[i]->per == CAVS__PER_ENTRY)
            rc = cavs__grow(&t->ids_ptr[i], (size_t)n + 1);
        else
            rc = cavs__grow(&t->ids[i], (size_t)n);
        if (!rc && stage->inputs[i]->vertices_of)
            rc = cavs__grow(&t->keys[i], (size_t)n);
    }
    if (!rc)
        t->cap = n;
    return rc;
}

int cavs__reserve_values(struct cavs__shard_stage *t, const struct cavs__input *in, int64_t n)
{
    int rc;

    if (n <= t->cap_ids[in->number] && t->cap_ids[in->number] > 0)
        return CAVS_OK;
    if (n > CAVS__MOST_OF_SAMPLE)
        return cavs__fail(CAVS_EINVAL, "input %s: %lld values in one batch are too many", in->name,
                          (long long)n);
    n += n / 4 + 1;
    rc = cavs__grow(&t->ids[in->number], (size_t)n);
    if (!rc)
        t->cap_ids[in->number] = (int)n;
    return rc;
}

static int stage_init(struct cavs__shard_stage *t, const struct cavs_stage *stage)
{
    size_t n = (size_t)stage->ninputs + 1, nf = (size_t)stage->nfunctions + 1;

    cavs__schedule_init(&t->schedule);
    t->ids = calloc(n, sizeof *t->ids);
    t->keys = calloc(n, sizeof *t->keys);
    t->ids_ptr = calloc(n, sizeof *t->ids_ptr);
    t->cap_ids = calloc(n, sizeof *t->cap_ids);
    t->block_frow = calloc(CAVS__MAX_BLOCKS * nf, sizeof *t->block_frow);
    t->distinct.start = calloc(nf, sizeof *t->distinct.start);
    t->distinct.n = calloc(nf, sizeof *t->distinct.n);
    return t->ids && t->keys && t->ids_ptr && t->cap_ids && t->block_frow && t->distinct.start &&
                   t->distinct.n
               ? CAVS_OK
               : cavs__fail_nomem("batch", n * 4 * sizeof *t->ids +
                                               (CAVS__MAX_BLOCKS + 2) * nf * sizeof *t->block_frow);
}

static void stage_free(struct cavs__shard_stage *t, const struct cavs_stage *stage)
{
    for (int k = 0; k < stage->ninputs; k++) {
        free(t->ids ? t->ids[k] : NULL);
        free(t->keys ? t->keys[k] : NULL);
        free(t->ids_ptr ? t->ids_ptr[k] : NULL);
    }
    free(t->ids_ptr);
    free(t->cap_ids);
    free(t->entries);
    free(t->longest);
    free(t->ids);
    free(t->keys);
    free(t->block_frow);
    free(t->distinct.start);
    free(t->distinct.n);
    free(t->distinct.number);
    free(t->distinct.first);
    free(t->distinct.keys);
    free(t->function);
    free(t->child_ptr);
    free(t->child);
    free(t->sample_of);
    free(t->over);
    free(t->start);
    cavs__schedule_free(&t->schedule);
}

static void stages_free(const struct cavs_model *m, struct cavs__shard *shard)
{
    for (int i = 0; shard->stages && i < m->nstages; i++)
        stage_free(&shard->stages[i], m->stages[i]);
    free(shard->stages);
    shard->stages = NULL;
}

int cavs__shard_init(const struct cavs_model *m, struct cavs__shard *shard)
{
    int rc = CAVS_OK;

    shard->stages = calloc((size_t)m->nstages, sizeof *shard->stages);
    if (!shard->stages)
        return cavs__fail_nomem("batch", (size_t)m->nstages * sizeof *shard->stages);
    for (int i = 0; i < m->nstages && !rc; i++)
        rc = stage_init(&shard->stages[i], m->stages[i]);
    if (rc)
        stages_free(m, shard);
    return rc;
}

void cavs__shard_free(const struct cavs_model *m, struct cavs__shard *shard)
{
    stages_free(m, shard);
    cavs__table_free(&shard->scratch.distinct);
    free(shard->scratch.by_vertex);
    free(shard->scratch.by_row);
    free(shard->samples);
    free(shard->positions);
}
