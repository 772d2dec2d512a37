/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_graph.c - the samples of a shard -> one input graph for each stage: vertices and their
 * children numbered through, with the ids that they pull.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/base/fetches.h"
#include "core/prepare/preparing.h"

/* ---- fetching ----
 * The samples of a batch lie anywhere in the data: of each column a few lines here, a few there.  A
 * processor fetches ahead where it sees lines in sequence, and most samples end before it does. */

enum { LINE = 64 / sizeof(int32_t), MOST_LINES = 8 /* then it fetches by itself */ };

CAVS__FETCHES void fetch(const struct cavs_data *d, const struct cavs__column *c,
                         const int64_t *starts, int sample)
{
    const int32_t *p = cavs__values_at(d, c, starts, sample);
    int64_t n = starts[sample + 1] - starts[sample];

    for (int64_t i = 0; p && i < n && i < MOST_LINES * LINE; i += LINE)
        __builtin_prefetch(p + i);
}

/* The ids of an input, or the numbers of its float rows; see copy_values(). */
static const struct cavs__column *values_of(const struct cavs__stage_data *sd, int input)
{
    return sd->stage->inputs[input]->ids ? &sd->inputs[input] : &sd->equal[input];
}

CAVS__FETCHES void fetch_sample(const struct cavs_data *d, const struct cavs__stage_data *sd,
                                int sample)
{
    fetch(d, &sd->function, cavs__starts(sd), sample);
    fetch(d, &sd->degree, cavs__starts(sd), sample);
    fetch(d, &sd->child, sd->first.p, sample);
    for (int k = 0; k < sd->stage->ninputs; k++)
        fetch(d, values_of(sd, k), cavs__input_starts(sd, k), sample);
}

/* ---- graphs ---- */

static int count_vertices(const struct cavs_data *d, struct cavs__shard_stage *t,
                          const struct cavs__stage_data *sd, const struct cavs__shard *shard)
{
    const int64_t *first = sd->first.p;
    int64_t n = 0, children = 0;

    if (shard->nsamples + 1 > t->cap_start) {
        if (cavs__grow(&t->start, (size_t)shard->cap + 1))
            return CAVS_ENOMEM;
        t->cap_start = shard->cap + 1;
    }
    for (int i = 0; i < shard->nsamples; i++) {
        fetch_sample(d, sd, shard->samples[i]);
        t->start[i] = (int32_t)n;
        n += cavs__starts(sd)[shard->samples[i] + 1] - cavs__starts(sd)[shard->samples[i]];
        children += first[shard->samples[i] + 1] - first[shard->samples[i]];
    }
    if (n > CAVS__MOST_OF_SAMPLE || children > CAVS__MOST_OF_SAMPLE)
        return cavs__fail(CAVS_EINVAL, "stage %s: %lld vertices in one batch are too many",
                          sd->stage->name, (long long)n);
    t->start[shard->nsamples] = (int32_t)n;
    t->n = (int)n;
    t->nchildren = (int)children;
    if (t->nchildren > t->cap_children || !t->child) {
        if (cavs__grow(&t->child, (size_t)children + (size_t)children / 4))
            return CAVS_ENOMEM;
        t->cap_children = t->nchildren + t->nchildren / 4;
    }
    return cavs__reserve_vertices(t, sd->stage, t->n);
}

/* Degrees become pointers where they are, and children of the sample those of the shard. */
static void copy_sample(const struct cavs_data *d, struct cavs__shard_stage *t,
                        const struct cavs__stage_data *sd, int i, int sample,
                        const int32_t *base_start, int *children)
{
    const int64_t *start = cavs__starts(sd), *first = sd->first.p;
    int64_t nchildren = first[sample + 1] - first[sample];
    int32_t at = t->start[i], n = t->start[i + 1] - at;

    cavs__values_read(d, &sd->function, start, sample, t->function + at);
    cavs__values_read(d, &sd->degree, start, sample, t->child_ptr + at);
    cavs__values_read(d, &sd->child, first, sample, t->child + *children);
    if (base_start)
        cavs__values_read(d, &sd->over, start, sample, t->over + at);
    for (int32_t v = at; v < at + n; v++) {
        int32_t degree = t->child_ptr[v];

        t->sample_of[v] = i;
        t->child_ptr[v] = *children;
        *children += degree;
        if (base_start)
            t->over[v] += base_start[i];
    }
    for (int32_t *child = t->child + *children - nchildren; nchildren > 0; child++, nchildren--)
        *child = *child < 0 ? -1 : at + *child;
}

/* Copies where the entries of each vertex begin, of an input that has values per entry. */
static void copy_pointers(const struct cavs_data *d, struct cavs__shard_stage *t,
                          const struct cavs__stage_data *sd, const struct cavs__shard *shard,
                          int input)
{
    int32_t *ptr = t->ids_ptr[input];

    ptr[0] = 0;
    for (int i = 0; i < shard->nsamples; i++) {
        int32_t at = t->start[i], n = t->start[i + 1] - at;

        cavs__values_read(d, &sd->length[input], cavs__starts(sd), shard->samples[i], ptr + at + 1);
        for (int v = at; v < at + n; v++)
            ptr[v + 1] += ptr[v];
    }
}

/* Copies the ids of one input, or the numbers of its float rows, which are the same for equal
 * rows. */
static int copy_values(const struct cavs_data *d, struct cavs__shard_stage *t,
                       const struct cavs__stage_data *sd, const struct cavs__shard *shard,
                       int input)
{
    const struct cavs__input *in = sd->stage->inputs[input];
    const struct cavs__column *values = values_of(sd, input);
    const int64_t *starts = cavs__input_starts(sd, input);
    int64_t sum = 0;
    int rc = CAVS_OK;

    for (int i = 0; i < shard->nsamples; i++)
        sum += starts[shard->samples[i] + 1] - starts[shard->samples[i]];
    if (in->per != CAVS__PER_VERTEX)
        rc = cavs__reserve_values(t, in, sum);
    sum = 0;
    for (int i = 0; values->p && i < shard->nsamples && !rc; i++) {
        int sample = shard->samples[i];

        cavs__values_read(d, values, starts, sample, t->ids[input] + sum);
        sum += starts[sample + 1] - starts[sample];
    }
    if (!rc && in->per == CAVS__PER_ENTRY)
        copy_pointers(d, t, sd, shard, input);
    return rc;
}

static int copy_ids(const struct cavs_data *d, struct cavs__shard_stage *t,
                    const struct cavs__stage_data *sd, const struct cavs__shard *shard)
{
    int rc = CAVS_OK;

    for (int k = 0; k < sd->stage->ninputs && !rc; k++)
        rc = copy_values(d, t, sd, shard, k);
    return rc;
}

/* Ids were checked when their sample was added.  They may be wrong where the caller may have
 * written to them since, or the file that they are in may have been changed. */
static bool may_be_wrong(const struct cavs_data *d)
{
    return d->lent || d->packed;
}

static int check_ids(const struct cavs_data *d, const struct cavs__stage_data *sd, int sample)
{
    int rc = CAVS_OK;

    for (int k = 0; k < sd->stage->ninputs && !rc; k++) {
        if (sd->stage->inputs[k]->ids)
            rc = cavs__data_check_ids(d, sd, k, sample);
    }
    return rc;
}

static bool same_values(const struct cavs_data *d, const struct cavs__stage_data *sd,
                        const struct cavs__shard *shard, int input)
{
    const int64_t *starts = cavs__input_starts(sd, input);
    const int32_t *then = shard->stages[sd->stage->number].ids[input];

    for (int i = 0; sd->inputs[input].p && i < shard->nsamples; i++) {
        int sample = shard->samples[i];
        int64_t n = starts[sample + 1] - starts[sample];
        const int32_t *now = cavs__values_at(d, &sd->inputs[input], starts, sample);

        if (n > 0 && memcmp(then, now, (size_t)n * sizeof *now) != 0)
            return false;
        then += n;
    }
    return true;
}

bool cavs__same_ids(const struct cavs_data *d, const struct cavs__shard *shard,
                    const struct cavs_stage *stage)
{
    for (int k = 0; k < stage->ninputs; k++) {
        if (stage->inputs[k]->ids && !same_values(d, &d->stages[stage->number], shard, k))
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
    int children = 0, rc = count_vertices(d, t, sd, shard);

    base_start = stage->base ? shard->stages[stage->base->number].start : NULL;
    for (int i = 0; i < shard->nsamples && !rc; i++) {
        if (may_be_wrong(d))
            rc = check_ids(d, sd, shard->samples[i]);
        if (!rc)
            copy_sample(d, t, sd, i, shard->samples[i], base_start, &children);
    }
    if (rc)
        return rc;
    t->child_ptr[t->n] = children;
    return copy_ids(d, t, sd, shard);
}
