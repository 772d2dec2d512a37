/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - from samples to what the tasks of a batch read: shards, schedules and index sections.
 *
 * Runs on the main thread while the workers compute the batch before.  Linear in vertices and
 * edges; once the arrays have grown to the largest batch, nothing is allocated.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/session.h"

void cavs__shards_free(struct cavs_session *s)
{
    for (int i = 0; s->shards && i < s->nshards; i++)
        cavs__shard_free(s, &s->shards[i]);
    free(s->shards);
    free(s->sample_work);
    free(s->sample_shard);
    cavs__shard_scratch_free(&s->split_scratch);
    cavs__distinct_scratch_free(&s->distinct_scratch);
}

/* ---- shards ---- */

/* What the vertices of a sample cost, at so much for each of a function and each entry of a list. */
static double sample_cost(const struct cavs_data *d, const struct cavs_stage *stage, int sample,
                          const double *cost, const double *list_cost, double extra)
{
    const struct cavs__stage_data *sd = &d->stages[stage->number];
    int nf = stage->nfunctions;
    const int32_t *count = (const int32_t *)sd->count.p + (int64_t)sample * nf;
    double sum = 0;

    for (int f = 0; f < nf; f++)
        sum += count[f] * (cost[f] + extra);
    for (int i = 0; i < stage->nlists; i++)
        sum += (double)cavs__data_entries(d, sd, stage->lists[i], sample) * (list_cost[i] + extra);
    return sum;
}

static double sample_work(const struct cavs_session *s, const struct cavs_data *d, int sample)
{
    double work = 1;

    for (int i = 0; i < s->model->nstages; i++) /* a vertex costs something even without products */
        work += sample_cost(d, s->model->stages[i], sample, s->plan->stages[i].flops,
                            s->plan->stages[i].list_flops, 1000);
    return work;
}

static int reserve_samples(struct cavs_session *s, int n)
{
    double *work;
    int32_t *shard;

    if (n <= s->sample_cap)
        return CAVS_OK;
    work = realloc(s->sample_work, (size_t)n * sizeof *work);
    s->sample_work = work ? work : s->sample_work;
    shard = realloc(s->sample_shard, (size_t)n * sizeof *shard);
    s->sample_shard = shard ? shard : s->sample_shard;
    if (!work || !shard)
        return cavs__fail_nomem("batch", (size_t)n * sizeof *work);
    s->sample_cap = n;
    return CAVS_OK;
}

static int add_sample(struct cavs__shard *shard, int sample)
{
    if (shard->nsamples == shard->cap) {
        int cap = shard->cap ? 2 * shard->cap : 64;
        int *p = realloc(shard->samples, (size_t)cap * sizeof *p);

        if (!p)
            return cavs__fail_nomem("batch", (size_t)cap * sizeof *p);
        shard->samples = p;
        shard->cap = cap;
    }
    shard->samples[shard->nsamples++] = sample;
    return CAVS_OK;
}

static int split(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n,
                 int nshards, enum cavs__run run)
{
    const double *share = cavs__shares(s, run);
    int rc = reserve_samples(s, n);

    for (int i = 0; i < nshards; i++)
        s->shards[i].nsamples = 0;
    for (int i = 0; i < n && !rc; i++)
        s->sample_work[i] = sample_work(s, d, samples[i]);
    if (!rc && cavs__shard_split(n, s->sample_work, nshards, share, s->sample_shard,
                                 &s->split_scratch) != 0)
        rc = cavs__fail_nomem("batch", (size_t)n * 16);
    for (int i = 0; i < n && !rc; i++)
        rc = add_sample(&s->shards[s->sample_shard[i]], samples[i]);
    return rc;
}

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
                in->pulled[t->function[v]] ? t->ids[k][v] : -1; /* of float rows: their number */

            t->keys[k][v] =
                id < 0 || !from ? id : from->schedule.row_of[from->start[t->sample_of[v]] + id];
        }
        keys[n++] = t->keys[k];
    }
    return n;
}

/* The same for what a vertex pulls of each child. */
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

static int make_schedule(struct cavs_session *s, struct cavs__shard *shard,
                         const struct cavs_stage *stage)
{
    struct cavs__shard_stage *t = &shard->stages[stage->number];
    bool merge = s->plan->stages[stage->number].mergeable && !s->options.no_dedup;
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
    if (cavs__schedule_make(&t->schedule, &g, (enum cavs__policy)s->options.policy, merge) != 0)
        return cavs__fail_nomem("schedule", (size_t)t->n * 64);
    return cavs__count_entries(shard, t, stage);
}

/* ---- blocks ----
 * Eager work that the chain waits for is done in blocks, so that the chain starts after the first
 * (the paper's streaming).  Each block is worth a while, and what it keeps for the chain should
 * still be in cache when the chain comes by. */

/* First function rows of block b: after all V_t before it. */
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

static void make_blocks(struct cavs_session *s, struct cavs__shard_stage *t,
                        const struct cavs__stage_plan *sp)
{
    double least = s->options.grain > 0 ? (double)s->options.grain : CAVS__BLOCK_SECONDS;

    t->nblocks = cavs__schedule_cut(&t->schedule, sp->streamed, least, CAVS__MAX_BLOCKS, t->cut);
    find_block_rows(t, sp->stage->nfunctions);
}

/* ---- pulled float rows ---- */

/* In the order of rows, or of edge rows. */
static void copy_rows(float *out, ptrdiff_t ld, const struct cavs__shard *shard,
                      const struct cavs__shard_stage *t, const struct cavs__stage_data *sd,
                      int input)
{
    const struct cavs__schedule *sch = &t->schedule;
    const float *rows = sd->inputs[input].p;
    int width = sd->stage->inputs[input]->width;
    bool per_edge = sd->stage->inputs[input]->per == CAVS__PER_EDGE;

    for (int r = 0; r < sch->rows; r++) {
        int v = sch->vertex_of[r], i = t->sample_of[v], to = r, n = 1;
        int64_t from = cavs__starts(sd)[shard->samples[i]] + (v - t->start[i]);

        if (per_edge) {
            to = sch->edge_ptr[r];
            n = t->child_ptr[v + 1] - t->child_ptr[v]; /* slots without a child have no row */
            n = n < sch->edge_ptr[r + 1] - to ? n : sch->edge_ptr[r + 1] - to;
            from = ((const int64_t *)sd->first.p)[shard->samples[i]] +
                   (t->child_ptr[v] - t->child_ptr[t->start[i]]);
        }
        for (int e = 0; e < n; e++)
            memcpy(out + (to + e) * ld, rows + (from + e) * width, (size_t)width * sizeof *out);
    }
}

static int fill_inputs(struct cavs_session *s, const struct cavs_data *d,
                       const struct cavs__shard *shard, int stage, int chunk)
{
    const struct cavs__stage_plan *sp = &s->plan->stages[stage];
    const struct cavs__shard_stage *t = &shard->stages[stage];

    for (int k = 0; k < sp->stage->ninputs; k++) {
        struct cavs__tensor *tensor = sp->input[k] >= 0 ? &s->tensors[sp->input[k]] : NULL;
        bool per_edge = sp->stage->inputs[k]->per == CAVS__PER_EDGE;
        int rows = per_edge ? t->schedule.edges : t->schedule.rows;
        int rc = tensor ? cavs__reserve(s, tensor, chunk, rows + 1) : CAVS_OK;

        if (rc)
            return rc;
        if (!tensor)
            continue;
        copy_rows(cavs__tensor_acquire(tensor, chunk, STARPU_W), tensor->ld, shard, t,
                  &d->stages[stage], k);
        cavs__tensor_release(tensor, chunk);
    }
    return CAVS_OK;
}

/* ---- all ---- */

static void count(struct cavs_session *s, const struct cavs_data *d,
                  const struct cavs__shard *shard, enum cavs__run run)
{
    for (int i = 0; i < s->model->nstages; i++) {
        const struct cavs__stage_plan *sp = &s->plan->stages[i];
        const struct cavs__shard_stage *t = &shard->stages[i];
        bool forward = run == CAVS__RUN_EVALUATE;
        const double *flops = forward ? sp->flops_forward : sp->flops,
                     *list_flops = forward ? sp->list_flops_forward : sp->list_flops;

        for (int k = 0; k < shard->nsamples; k++)
            s->stats.flops += sample_cost(d, sp->stage, shard->samples[k], flops, list_flops, 0);
        if (sp->stage->base)
            continue; /* the same vertices again */
        s->stats.vertices += t->n;
        s->stats.evaluated += t->schedule.rows;
        s->stats.batching_tasks += t->schedule.nvt;
    }
}

static int prepare_shard(struct cavs_session *s, const struct cavs_data *d,
                         struct cavs__shard *shard)
{
    int rc = shard->stages ? CAVS_OK : cavs__shard_init(s, shard);

    for (int i = 0; i < s->model->nstages && !rc; i++) {
        rc = cavs__make_graph(d, shard, s->model->stages[i]);
        if (!rc)
            rc = make_schedule(s, shard, s->model->stages[i]);
        if (!rc)
            rc = cavs__number_distinct(s, &shard->stages[i], &s->plan->stages[i]);
        if (!rc)
            make_blocks(s, &shard->stages[i], &s->plan->stages[i]);
    }
    return rc;
}

/* Again with smaller shards where they are too large for the memory of their device. */
static int prepare_shards(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                          int n, int nshards, enum cavs__run run)
{
    size_t bytes[nshards];
    int rc;

    do {
        rc = split(s, d, samples, n, nshards, run);
        for (int i = 0; i < nshards && !rc; i++) {
            rc = prepare_shard(s, d, &s->shards[i]);
            bytes[i] = !rc && s->homes ? cavs__shard_bytes(s, &s->shards[i]) : 0;
        }
    } while (!rc && cavs__homes_crowded(s, bytes));
    return rc;
}

int cavs__batch_prepare(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                        int n, int slot, enum cavs__run run, int *nshards)
{
    int ns = cavs__shards_of_batch(s, n), rc;

    rc = prepare_shards(s, d, samples, n, ns, run);
    for (int i = 0; i < n && !rc; i++)
        cavs__homes_count(s, slot, s->sample_shard[i], s->sample_work[i]);
    for (int i = 0; i < ns && !rc; i++) {
        if (s->shards[i].nsamples == 0)
            continue; /* no task of it will ask for anything */
        for (int j = 0; j < s->model->nstages && !rc; j++) {
            rc = cavs__fill_index(s, &s->shards[i], j, slot, slot * s->nshards + i);
            if (!rc)
                rc = fill_inputs(s, d, &s->shards[i], j, slot * s->nshards + i);
        }
        if (!rc)
            rc = cavs__reserve_shard(s, &s->shards[i], i);
        if (!rc)
            rc = cavs__reserve_shard_scratch(s, &s->shards[i]);
    }
    for (int i = 0; i < ns && !rc; i++)
        count(s, d, &s->shards[i], run);
    s->stats.samples += rc ? 0 : n;
    *nshards = ns;
    return rc;
}
