/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_graph.c - the samples of a shard -> one input graph for each stage: vertices and their
 * children numbered through, with the ids that they pull.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/prepare/preparing.h"

/* ---- grow-only arrays ---- */

/* Those of a stage share one capacity, which whoever calls this keeps a quarter above what is asked
 * for: batches vary a little, and doubling would hold twice of a large one. */
int cavs__grow(int32_t **p, size_t n)
{
    int32_t *q = realloc(*p, (n + 1) * sizeof *q);

    if (!q)
        return cavs__fail_nomem("batch", (n + 1) * sizeof *q);
    *p = q;
    return CAVS_OK;
}

static int reserve_vertices(struct cavs__shard_stage *t, const struct cavs_stage *stage, int n)
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
        if (!rc)
            rc = cavs__grow(&t->keys[i], (size_t)n);
    }
    if (!rc)
        t->cap = n;
    return rc;
}

/* Room for the values of an input per edge or entry. */
static int reserve_values(struct cavs__shard_stage *t, const struct cavs__input *in, int64_t n)
{
    int rc;

    if (n <= t->cap_ids[in->number] && t->cap_ids[in->number] > 0)
        return CAVS_OK;
    if (n > INT32_MAX / 4)
        return cavs__fail(CAVS_EINVAL, "input %s: %lld values in one batch are too many", in->name,
                          (long long)n);
    n += n / 4 + 1;
    rc = cavs__grow(&t->ids[in->number], (size_t)n);
    if (!rc && in->per == CAVS__PER_EDGE)
        rc = cavs__grow(&t->keys[in->number], (size_t)n);
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

/* ---- the graph of one stage of one shard ---- */

static int count_vertices(struct cavs__shard_stage *t, const struct cavs__stage_data *sd,
                          const struct cavs__shard *shard)
{
    const int64_t *first = sd->first.p;
    int64_t n = 0, children = 0;

    if (shard->nsamples + 1 > t->cap_start) {
        if (cavs__grow(&t->start, (size_t)shard->cap + 1))
            return CAVS_ENOMEM;
        t->cap_start = shard->cap + 1;
    }
    for (int i = 0; i < shard->nsamples; i++) {
        t->start[i] = (int32_t)n;
        n += cavs__starts(sd)[shard->samples[i] + 1] - cavs__starts(sd)[shard->samples[i]];
        children += first[shard->samples[i] + 1] - first[shard->samples[i]];
    }
    if (n > INT32_MAX / 4 || children > INT32_MAX / 4)
        return cavs__fail(CAVS_EINVAL, "stage %s: %lld vertices in one batch are too many",
                          sd->stage->name, (long long)n);
    t->start[shard->nsamples] = (int32_t)n;
    t->n = (int)n;
    t->nchildren = (int)children;
    if (t->nchildren > t->cap_children) {
        if (cavs__grow(&t->child, (size_t)children + (size_t)children / 4))
            return CAVS_ENOMEM;
        t->cap_children = t->nchildren + t->nchildren / 4;
    }
    return reserve_vertices(t, sd->stage, t->n);
}

static void copy_sample(struct cavs__shard_stage *t, const struct cavs__stage_data *sd, int i,
                        int sample, const int32_t *base_start, int *children)
{
    int64_t v0 = cavs__starts(sd)[sample], e = ((const int64_t *)sd->first.p)[sample];
    int32_t at = t->start[i], n = t->start[i + 1] - at;
    const int32_t *degree = cavs__column_at(&sd->degree, (size_t)v0),
                  *child = cavs__column_at(&sd->child, (size_t)e);

    if (n)
        memcpy(t->function + at, cavs__column_at(&sd->function, (size_t)v0),
               (size_t)n * sizeof *t->function);
    for (int32_t v = 0; v < n; v++) {
        t->sample_of[at + v] = i;
        t->child_ptr[at + v] = *children;
        for (int32_t k = 0; k < degree[v]; k++, child++)
            t->child[(*children)++] = *child < 0 ? -1 : at + *child;
        if (base_start)
            t->over[at + v] = base_start[i] + ((const int32_t *)sd->over.p)[v0 + v];
    }
}

/* The first entry of each vertex in an input per entry. */
static void copy_pointers(struct cavs__shard_stage *t, const struct cavs__stage_data *sd,
                          const struct cavs__shard *shard, int input)
{
    int32_t *ptr = t->ids_ptr[input];

    ptr[0] = 0;
    for (int i = 0; i < shard->nsamples; i++) {
        const int32_t *length =
            cavs__column_at(&sd->length[input], (size_t)cavs__starts(sd)[shard->samples[i]]);

        for (int v = t->start[i]; v < t->start[i + 1]; v++)
            ptr[v + 1] = ptr[v] + length[v - t->start[i]];
    }
}

/* Ids of one input, or the numbers of float rows, which tell equal ones. */
static int copy_values(struct cavs__shard_stage *t, const struct cavs__stage_data *sd,
                       const struct cavs__shard *shard, int input)
{
    const struct cavs__input *in = sd->stage->inputs[input];
    const int32_t *ids = in->ids ? sd->inputs[input].p : sd->equal[input].p;
    const int64_t *starts = cavs__input_starts(sd, input);
    int64_t sum = 0;
    int rc = CAVS_OK;

    for (int i = 0; i < shard->nsamples; i++)
        sum += starts[shard->samples[i] + 1] - starts[shard->samples[i]];
    if (in->per != CAVS__PER_VERTEX)
        rc = reserve_values(t, in, sum);
    sum = 0;
    for (int i = 0; ids && i < shard->nsamples && !rc; i++) {
        int64_t start = starts[shard->samples[i]], n = starts[shard->samples[i] + 1] - start;

        if (n > 0)
            memcpy(t->ids[input] + sum, ids + start, (size_t)n * sizeof *ids);
        sum += n;
    }
    if (!rc && in->per == CAVS__PER_ENTRY)
        copy_pointers(t, sd, shard, input);
    return rc;
}

static int copy_ids(struct cavs__shard_stage *t, const struct cavs__stage_data *sd,
                    const struct cavs__shard *shard)
{
    int rc = CAVS_OK;

    for (int k = 0; k < sd->stage->ninputs && !rc; k++)
        rc = copy_values(t, sd, shard, k);
    return rc;
}

/* Ids are checked when a sample is added. */
static bool may_be_wrong(const struct cavs_data *d)
{
    return d->lent || d->packed;
}

static int check_ids(const struct cavs_data *d, const struct cavs__stage_data *sd,
                     const struct cavs__shard *shard)
{
    for (int i = 0; i < shard->nsamples; i++) {
        for (int k = 0; k < sd->stage->ninputs; k++) {
            int rc = sd->stage->inputs[k]->ids ? cavs__data_check_ids(d, sd, k, shard->samples[i])
                                               : CAVS_OK;

            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

static bool same_values(const struct cavs__stage_data *sd, const struct cavs__shard *shard,
                        int input)
{
    const int64_t *starts = cavs__input_starts(sd, input);
    const int32_t *ids = sd->inputs[input].p, *then = shard->stages[sd->stage->number].ids[input];

    for (int i = 0; ids && i < shard->nsamples; i++) {
        int64_t start = starts[shard->samples[i]], n = starts[shard->samples[i] + 1] - start;

        if (n > 0 && memcmp(then, ids + start, (size_t)n * sizeof *ids) != 0)
            return false;
        then += n;
    }
    return true;
}

bool cavs__same_ids(const struct cavs_data *d, const struct cavs__shard *shard,
                    const struct cavs_stage *stage)
{
    for (int k = 0; k < stage->ninputs; k++) {
        if (stage->inputs[k]->ids && !same_values(&d->stages[stage->number], shard, k))
            return false;
    }
    return true;
}

int cavs__make_graph(const struct cavs_data *d, struct cavs__shard *shard,
                     const struct cavs_stage *stage)
{
    struct cavs__shard_stage *t = &shard->stages[stage->number];
    const struct cavs__stage_data *sd = &d->stages[stage->number];
    const int32_t *base_start;
    int children = 0, rc = count_vertices(t, sd, shard);

    if (!rc && may_be_wrong(d))
        rc = check_ids(d, sd, shard);
    if (rc)
        return rc;
    base_start = stage->base ? shard->stages[stage->base->number].start : NULL;
    for (int i = 0; i < shard->nsamples; i++)
        copy_sample(t, sd, i, shard->samples[i], base_start, &children);
    t->child_ptr[t->n] = children;
    return copy_ids(t, sd, shard);
}
