/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - from samples to what the tasks of a batch read: shards, schedules and index sections.
 *
 * Runs on the main thread while the workers compute the batch before.  Linear in vertices and
 * edges; once the arrays have grown to the largest batch, nothing is allocated.
 */
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/session.h"

/* ---- grow-only arrays ---- */

static int grow(int32_t **p, size_t n)
{
    int32_t *q = realloc(*p, (n + 1) * sizeof *q);

    if (!q)
        return cavs__fail_nomem("batch", n * sizeof *q);
    *p = q;
    return CAVS_OK;
}

static int reserve_vertices(struct cavs__shard_stage *t, const struct cavs_stage *stage, int n)
{
    int32_t **arrays[] = {&t->function, &t->child_ptr, &t->sample_of, &t->over, &t->fetched};
    int rc = CAVS_OK;

    if (n <= t->cap && t->child_ptr) /* even no vertices have one child pointer */
        return CAVS_OK;
    n += n / 4;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && !rc; i++)
        rc = grow(arrays[i], (size_t)n + 1);
    for (int i = 0; i < stage->ninputs && !rc; i++) {
        if (stage->inputs[i]->per == CAVS__PER_EDGE)
            continue;
        if (stage->inputs[i]->per == CAVS__PER_ENTRY)
            rc = grow(&t->ids_ptr[i], (size_t)n + 1);
        else
            rc = grow(&t->ids[i], (size_t)n);
        if (!rc)
            rc = grow(&t->keys[i], (size_t)n);
    }
    if (!rc)
        t->cap = n;
    return rc;
}

/* Room for the values of an input per edge or entry. */
static int reserve_values(struct cavs__shard_stage *t, const struct cavs__input *in, int64_t n)
{
    int rc;

    if (n <= t->cap_ids[in->number] && t->ids[in->number])
        return CAVS_OK;
    if (n > INT32_MAX / 4)
        return cavs__fail(CAVS_EINVAL, "input %s: %lld values in one batch are too many", in->name,
                          (long long)n);
    n += n / 4;
    rc = grow(&t->ids[in->number], (size_t)n);
    if (!rc && in->per == CAVS__PER_EDGE)
        rc = grow(&t->keys[in->number], (size_t)n);
    if (!rc)
        t->cap_ids[in->number] = (int)n;
    return rc;
}

static int shard_init(struct cavs_session *s, struct cavs__shard *shard)
{
    shard->stages = calloc((size_t)s->model->nstages, sizeof *shard->stages);
    if (!shard->stages)
        return cavs__fail_nomem("batch", sizeof *shard->stages);
    for (int i = 0; i < s->model->nstages; i++) {
        struct cavs__shard_stage *t = &shard->stages[i];
        size_t n = (size_t)s->model->stages[i]->ninputs + 1;

        cavs__schedule_init(&t->schedule);
        t->ids = calloc(n, sizeof *t->ids);
        t->keys = calloc(n, sizeof *t->keys);
        t->block_frow = calloc(CAVS__MAX_BLOCKS * ((size_t)s->model->stages[i]->nfunctions + 1),
                               sizeof *t->block_frow);
        t->distinct.start =
            calloc((size_t)s->model->stages[i]->nfunctions + 1, sizeof *t->distinct.start);
        t->distinct.n = calloc((size_t)s->model->stages[i]->nfunctions + 1, sizeof *t->distinct.n);
        t->ids_ptr = calloc(n, sizeof *t->ids_ptr);
        t->cap_ids = calloc(n, sizeof *t->cap_ids);
        if (!t->ids || !t->keys || !t->ids_ptr || !t->cap_ids || !t->block_frow ||
            !t->distinct.start || !t->distinct.n)
            return cavs__fail_nomem("batch", n * sizeof *t->ids);
    }
    return CAVS_OK;
}

void cavs__shards_free(struct cavs_session *s)
{
    for (int i = 0; s->shards && i < s->nshards; i++) {
        for (int j = 0; s->shards[i].stages && j < s->model->nstages; j++) {
            struct cavs__shard_stage *t = &s->shards[i].stages[j];

            for (int k = 0; k < s->model->stages[j]->ninputs; k++) {
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
            free(t->fetched);
            free(t->start);
            cavs__schedule_free(&t->schedule);
        }
        free(s->shards[i].stages);
        free(s->shards[i].samples);
    }
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

    if (n <= s->sample_cap)
        return CAVS_OK;
    work = realloc(s->sample_work, (size_t)n * sizeof *work);
    if (!work || grow(&s->sample_shard, (size_t)n))
        return cavs__fail_nomem("batch", (size_t)n * sizeof *work);
    s->sample_work = work;
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

/* ---- the graph of one stage of one shard ---- */

static int count_vertices(struct cavs__shard_stage *t, const struct cavs__stage_data *sd,
                          const struct cavs__shard *shard)
{
    const int64_t *first = sd->first.p;
    int64_t n = 0, children = 0;

    if (shard->nsamples + 1 > t->cap_start) {
        if (grow(&t->start, (size_t)shard->cap + 1))
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
        if (grow(&t->child, (size_t)children + (size_t)children / 4))
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
    const int32_t *degree = (const int32_t *)sd->degree.p + v0,
                  *child = (const int32_t *)sd->child.p + e;

    memcpy(t->function + at, (const int32_t *)sd->function.p + v0, (size_t)n * sizeof *t->function);
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
            (const int32_t *)sd->length[input].p + cavs__starts(sd)[shard->samples[i]];

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

static int make_graph(const struct cavs_data *d, struct cavs__shard *shard,
                      const struct cavs_stage *stage)
{
    struct cavs__shard_stage *t = &shard->stages[stage->number];
    const struct cavs__stage_data *sd = &d->stages[stage->number];
    const int32_t *base_start;
    int children = 0, rc = count_vertices(t, sd, shard);

    if (!rc)
        rc = check_ids(d, sd, shard);
    if (rc)
        return rc;
    base_start = stage->base ? shard->stages[stage->base->number].start : NULL;
    for (int i = 0; i < shard->nsamples; i++)
        copy_sample(t, sd, i, shard->samples[i], base_start, &children);
    t->child_ptr[t->n] = children;
    return copy_ids(t, sd, shard);
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

static void copy_rows(float *out, ptrdiff_t ld, const struct cavs__shard *shard,
                      const struct cavs__shard_stage *t, const struct cavs__stage_data *sd,
                      int input)
{
    int width = sd->stage->inputs[input]->width;
    const float *rows = sd->inputs[input].p;

    for (int r = 0; r < t->schedule.rows; r++) {
        int v = t->schedule.vertex_of[r], i = t->sample_of[v];
        int64_t at = cavs__starts(sd)[shard->samples[i]] + (v - t->start[i]);

        memcpy(out + r * ld, rows + at * width, (size_t)width * sizeof *out);
    }
}

/* The same per edge, in the order of edge rows. */
static void copy_edge_rows(float *out, ptrdiff_t ld, const struct cavs__shard *shard,
                           const struct cavs__shard_stage *t, const struct cavs__stage_data *sd,
                           int input)
{
    int width = sd->stage->inputs[input]->width;
    const float *rows = sd->inputs[input].p;

    for (int r = 0; r < t->schedule.rows; r++) {
        int v = t->schedule.vertex_of[r], i = t->sample_of[v];
        int64_t at = ((const int64_t *)sd->first.p)[shard->samples[i]] +
                     (t->child_ptr[v] - t->child_ptr[t->start[i]]);
        int n = t->child_ptr[v + 1] - t->child_ptr[v];

        for (int e = 0; e < n && t->schedule.edge_ptr[r] + e < t->schedule.edge_ptr[r + 1]; e++)
            memcpy(out + (t->schedule.edge_ptr[r] + e) * ld, rows + (at + e) * width,
                   (size_t)width * sizeof *out);
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
        (per_edge ? copy_edge_rows : copy_rows)(cavs__tensor_acquire(tensor, chunk, STARPU_W),
                                                tensor->ld, shard, t, &d->stages[stage], k);
        cavs__tensor_release(tensor, chunk);
    }
    return CAVS_OK;
}

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

static int reserve_shard(struct cavs_session *s, const struct cavs__shard *shard, int number)
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

static int reserve_scratch(struct cavs_session *s, const struct cavs__shard *shard)
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
    int rc = shard->stages ? CAVS_OK : shard_init(s, shard);

    for (int i = 0; i < s->model->nstages && !rc; i++) {
        rc = make_graph(d, shard, s->model->stages[i]);
        if (!rc)
            rc = make_schedule(s, shard, s->model->stages[i]);
        if (!rc)
            rc = cavs__number_distinct(s, &shard->stages[i], &s->plan->stages[i]);
        if (!rc)
            make_blocks(s, &shard->stages[i], &s->plan->stages[i]);
    }
    return rc;
}

/* What the tensors of a shard want, about. */
static size_t shard_bytes(const struct cavs_session *s, const struct cavs__shard *shard)
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
            bytes[i] = !rc && s->homes ? shard_bytes(s, &s->shards[i]) : 0;
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
            rc = reserve_shard(s, &s->shards[i], i);
        if (!rc)
            rc = reserve_scratch(s, &s->shards[i]);
    }
    for (int i = 0; i < ns && !rc; i++)
        count(s, d, &s->shards[i], run);
    s->stats.samples += rc ? 0 : n;
    *nshards = ns;
    return rc;
}
