/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - life of a batch; samples -> shards, each of about equal work. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/prepare/preparing.h"

/* ---- life ---- */

static int fail_nomem(const struct cavs__batch *b)
{
    size_t n = (size_t)b->plan->model->nstored + 1;

    return cavs__fail_nomem("batch", (size_t)b->how.most_shards * sizeof *b->shards +
                                         sizeof *b->scratch + 2 * n * sizeof *b->touched);
}

static bool allocate(struct cavs__batch *b)
{
    b->shards = calloc((size_t)b->how.most_shards, sizeof *b->shards);
    b->touched = calloc((size_t)b->plan->model->nstored + 1, sizeof *b->touched);
    return b->shards && b->touched;
}

int cavs__batch_init(struct cavs__batch *b, const struct cavs__plan *plan,
                     const struct cavs__preparing *how)
{
    *b = (struct cavs__batch){.plan = plan, .how = *how};
    b->scratch = calloc(1, sizeof *b->scratch);
    if (b->scratch)
        b->scratch->id_mark = calloc((size_t)plan->model->nstored + 1, sizeof *b->scratch->id_mark);
    return allocate(b) && b->scratch && b->scratch->id_mark ? CAVS_OK : fail_nomem(b);
}

int cavs__batch_init_beside(struct cavs__batch *b, const struct cavs__batch *other)
{
    *b = (struct cavs__batch){
        .plan = other->plan, .how = other->how, .scratch = other->scratch, .lent = true};
    return allocate(b) ? CAVS_OK : fail_nomem(b);
}

static void scratch_free(struct cavs__batch_scratch *s, const struct cavs_model *m)
{
    for (int i = 0; s->id_mark && i < m->nstored; i++)
        free(s->id_mark[i]);
    free(s->id_mark);
    free(s->sample_work);
    free(s->sample_shard);
    cavs__shard_scratch_free(&s->split);
    free(s);
}

void cavs__batch_free(struct cavs__batch *b)
{
    for (int i = 0; b->shards && i < b->how.most_shards; i++)
        cavs__shard_free(b->plan->model, &b->shards[i]);
    if (b->scratch && !b->lent)
        scratch_free(b->scratch, b->plan->model);
    free(b->shards);
    free(b->touched);
}

/* ---- shards ---- */

/* What the vertices of a sample cost, given what a vertex of each function and an entry of each
 * list cost. */
static double sample_cost(const struct cavs_data *d, const struct cavs_stage *stage, int sample,
                          const double *cost, const double *list_cost, double extra)
{
    const struct cavs__stage_data *sd = &d->stages[stage->number];
    int nf = stage->nfunctions;
    const int64_t *start = cavs__starts(sd) + sample;
    const int32_t all = (int32_t)(start[1] - start[0]), *count = cavs__counts_of(sd, sample, &all);
    double sum = 0;

    for (int f = 0; f < nf; f++)
        sum += count[f] * (cost[f] + extra);
    for (int i = 0; i < stage->nlists; i++)
        sum += (double)cavs__data_entries(d, sd, stage->lists[i], sample) * (list_cost[i] + extra);
    return sum;
}

static double sample_work(const struct cavs__plan *p, const struct cavs_data *d, int sample)
{
    double work = 1;

    for (int i = 0; i < p->model->nstages; i++) /* a vertex costs something even without products */
        work += sample_cost(d, p->model->stages[i], sample, p->stages[i].flops,
                            p->stages[i].list_flops, 1000);
    return work;
}

static int reserve_samples(struct cavs__batch_scratch *s, int n)
{
    size_t work_cap = s->sample_cap, shard_cap = s->sample_cap;

    if (!cavs__array_reserve(&s->sample_work, &work_cap, (size_t)n, sizeof *s->sample_work) ||
        !cavs__array_reserve(&s->sample_shard, &shard_cap, (size_t)n, sizeof *s->sample_shard))
        return cavs__fail_nomem("batch", cavs__array_capacity(s->sample_cap, (size_t)n) *
                                             sizeof *s->sample_work);
    s->sample_cap = shard_cap;
    return CAVS_OK;
}

static int reserve_shard(struct cavs__shard *shard)
{
    size_t n = (size_t)shard->nsamples + 1, cap = shard->cap, same = shard->cap;

    if (!cavs__array_reserve(&shard->samples, &cap, n, sizeof *shard->samples) ||
        !cavs__array_reserve(&shard->positions, &same, n, sizeof *shard->positions))
        return cavs__fail_nomem("batch",
                                cavs__array_capacity(shard->cap, n) * sizeof *shard->samples);
    shard->cap = cap;
    return CAVS_OK;
}

static int add_sample(struct cavs__shard *shard, int sample, int position, double work)
{
    int rc = reserve_shard(shard);

    if (rc)
        return rc;
    shard->samples[shard->nsamples] = sample;
    shard->positions[shard->nsamples++] = position;
    shard->work += work;
    return CAVS_OK;
}

static int split(struct cavs__batch *b)
{
    const struct cavs__request *r = &b->request;
    struct cavs__batch_scratch *s = b->scratch;
    int rc = reserve_samples(s, r->n);

    for (int i = 0; i < r->nshards; i++) {
        b->shards[i].nsamples = 0;
        b->shards[i].work = 0;
    }
    for (int i = 0; i < r->n && !rc; i++)
        s->sample_work[i] = sample_work(b->plan, r->data, r->samples[i]);
    if (!rc && cavs__shard_split(r->n, s->sample_work, r->nshards, r->share, s->sample_shard,
                                 &s->split) != 0)
        rc = cavs__fail_nomem("shards of a batch", 0);
    for (int i = 0; i < r->n && !rc; i++)
        rc = add_sample(&b->shards[s->sample_shard[i]], r->samples[i], i, s->sample_work[i]);
    return rc;
}

int cavs__schedule_shard(struct cavs__batch *b, int number)
{
    struct cavs__shard *shard = &b->shards[number];
    const struct cavs_model *m = b->plan->model;
    int rc = shard->stages ? CAVS_OK : cavs__shard_init(m, shard);

    for (int i = 0; i < m->nstages && !rc; i++) {
        rc = cavs__make_graph(b->request.data, shard, m->stages[i]);
        if (!rc)
            rc = cavs__arrange(b, shard, m->stages[i]);
        if (!rc)
            rc = cavs__number_distinct(&shard->stages[i], &b->plan->stages[i],
                                       &shard->scratch.distinct);
    }
    return rc;
}

int cavs__batch_split(struct cavs__batch *b, const struct cavs__request *request)
{
    b->request = *request;
    b->nshards = request->nshards;
    memset(b->touched, 0, (size_t)b->plan->model->nstored * sizeof *b->touched);
    return split(b);
}

int64_t cavs__batch_vertices(const struct cavs__batch *b)
{
    int64_t n = 0;

    for (int k = 0; k < b->plan->model->nstages; k++) {
        const int64_t *start = cavs__starts(&b->request.data->stages[k]);

        for (int i = 0; i < b->request.n; i++)
            n += start[b->request.samples[i] + 1] - start[b->request.samples[i]];
    }
    return n;
}

int cavs__batch_lay_out(struct cavs__batch *b, struct cavs__arena *arena)
{
    int rc = CAVS_OK;

    b->arena = arena;
    for (int i = 0; i < b->nshards; i++) {
        for (int j = 0; j < b->plan->model->nstages && b->shards[i].nsamples > 0 && !rc; j++)
            rc = cavs__lay_out_index(b, &b->shards[i], j);
    }
    if (!rc && b->request.run != CAVS__RUN_EVALUATE)
        rc = cavs__find_lookups(b);
    return rc;
}

/* ---- statistics ---- */

static void count_shard(const struct cavs__batch *b, const struct cavs__shard *shard,
                        struct cavs_stats *stats)
{
    for (int i = 0; i < b->plan->model->nstages; i++) {
        const struct cavs__stage_plan *sp = &b->plan->stages[i];
        const struct cavs__shard_stage *t = &shard->stages[i];

        if (sp->stage->base)
            continue; /* it would count the same vertices again */
        stats->vertices += t->n;
        stats->evaluated += t->schedule.rows;
        stats->batching_tasks += t->schedule.nvt;
    }
}

/* Counts the FLOPs of all samples, whichever rank works on them. */
static void count_flops(const struct cavs__batch *b, struct cavs_stats *stats)
{
    const struct cavs__request *r = &b->request;
    bool forward = r->run == CAVS__RUN_EVALUATE;

    for (int i = 0; i < b->plan->model->nstages; i++) {
        const struct cavs__stage_plan *sp = &b->plan->stages[i];
        const double *flops = forward ? sp->flops_forward : sp->flops,
                     *list_flops = forward ? sp->list_flops_forward : sp->list_flops;

        for (int k = 0; k < r->n; k++)
            stats->flops += sample_cost(r->data, sp->stage, r->samples[k], flops, list_flops, 0);
    }
}

void cavs__batch_count(const struct cavs__batch *b, struct cavs_stats *stats)
{
    for (int i = 0; i < b->nshards; i++)
        count_shard(b, &b->shards[i], stats);
    count_flops(b, stats);
    stats->samples += b->request.n;
}
