/* SPDX-License-Identifier: Apache-2.0 */
/* sound.c - whether the samples of a batch can be used: they are there, and what came from a packed
 * file is, when a sample is used first, what cavs_data_graph() and others make sure of when a
 * sample is added. */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/data/packed.h"
#include "scheduler/schedule.h"

/* The vertices that are stood over: whether they are the right ones makes no difference to
 * memory. */
static bool over_is_sound(const struct cavs_data *d, const struct cavs__stage_data *s, int sample,
                          int32_t n)
{
    const int64_t *base = cavs__starts(&d->stages[s->stage->base->number]);
    void *copy;
    const int32_t *over = cavs__values_view(d, &s->over, cavs__starts(s), sample, &copy);
    bool sound = true;

    for (int32_t v = 0; v < n; v++)
        sound &= over[v] >= 0 && over[v] < base[sample + 1] - base[sample];
    free(copy);
    return sound;
}

/* A row may only be noted as equal to one that is not behind it. */
static bool equal_is_sound(const struct cavs_data *d, const struct cavs__stage_data *s, int input,
                           int sample)
{
    const int64_t *starts = cavs__input_starts(s, input);
    int64_t start = starts[sample], n = starts[sample + 1] - start;
    void *copy;
    const int32_t *equal = cavs__values_view(d, &s->equal[input], starts, sample, &copy);
    bool sound = true;

    for (int64_t i = 0; i < n; i++)
        sound &= equal[i] >= 0 && equal[i] <= start + i;
    free(copy);
    return sound;
}

/* Wrong values of `count` and `equal` would change the balance of shards and which rows are
 * shared.  Nobody reads the count of a single function. */
static bool numbers_are_sound(const struct cavs_data *d, const struct cavs__stage_data *s,
                              int sample, int32_t n)
{
    int nf = s->stage->nfunctions;
    const int32_t *count = cavs__counts_of(s, sample, &n);
    int64_t sum = 0;

    for (int f = 0; f < nf; f++) {
        if (count[f] < 0)
            return false;
        sum += count[f];
    }
    for (int k = 0; k < s->stage->ninputs; k++) {
        if (s->equal[k].p && !equal_is_sound(d, s, k, sample))
            return false;
    }
    return sum == n;
}

/* The lengths of lists must add up to the number of entries of the sample. */
static bool list_is_sound(const struct cavs_data *d, const struct cavs__stage_data *s, int input,
                          int sample, int32_t n)
{
    const int64_t *starts = cavs__input_starts(s, input);
    int64_t sum = 0, entries = starts[sample + 1] - starts[sample];
    void *copy;
    const int32_t *length = cavs__values_view(d, &s->length[input], cavs__starts(s), sample, &copy);
    bool sound = true;

    for (int32_t v = 0; v < n && sound; v++) {
        sound = length[v] >= 0 && length[v] <= entries - sum;
        sum += length[v];
    }
    free(copy);
    return sound && sum == entries;
}

static bool lists_are_sound(const struct cavs_data *d, const struct cavs__stage_data *s, int sample,
                            int32_t n)
{
    for (int k = 0; k < s->stage->ninputs; k++) {
        if (s->stage->inputs[k]->per == CAVS__PER_ENTRY && !list_is_sound(d, s, k, sample, n))
            return false;
    }
    return true;
}

/* child_ptr is made from the degrees; scratch has room for 3 n + 3. */
static bool edges_are_sound(struct cavs__graph *g, const int32_t *degree, int64_t edges,
                            int32_t *scratch)
{
    int32_t vertex, child;
    int64_t e = 0;

    scratch[0] = 0;
    for (int32_t v = 0; v < g->n; v++) {
        if (degree[v] < 0 || degree[v] > edges - e)
            return false;
        e += degree[v];
        scratch[v + 1] = (int32_t)e;
    }
    g->child_ptr = scratch;
    return e == edges &&
           cavs__graph_check(g, scratch + g->n + 1, &vertex, &child) == CAVS__GRAPH_OK;
}

static bool graph_is_sound(const struct cavs_data *d, const struct cavs__stage_data *s, int sample,
                           int32_t n, int32_t *scratch)
{
    const int64_t *first = s->first.p;
    int64_t edges = first[sample + 1] - first[sample];
    void *functions, *degrees, *children;
    const int32_t *degree = cavs__values_view(d, &s->degree, cavs__starts(s), sample, &degrees);
    int slots[s->stage->nfunctions];
    struct cavs__graph g = {
        .n = n,
        .nfunctions = s->stage->nfunctions,
        .function = cavs__values_view(d, &s->function, cavs__starts(s), sample, &functions),
        .child = cavs__values_view(d, &s->child, first, sample, &children),
        .slots = slots};
    bool sound;

    for (int f = 0; f < s->stage->nfunctions; f++)
        slots[f] = s->stage->functions[f]->slots;
    sound = edges_are_sound(&g, degree, edges, scratch);
    free(functions);
    free(degrees);
    free(children);
    return sound;
}

static int check_stage(const struct cavs_data *d, const struct cavs__stage_data *s, int sample)
{
    int32_t n = (int32_t)(cavs__starts(s)[sample + 1] - cavs__starts(s)[sample]);
    int32_t *scratch = malloc((3 * (size_t)n + 3) * sizeof *scratch);
    bool sound;

    if (!scratch)
        return cavs__fail_nomem("graph check", (3 * (size_t)n + 3) * sizeof *scratch);
    sound = graph_is_sound(d, s, sample, n, scratch) && numbers_are_sound(d, s, sample, n) &&
            lists_are_sound(d, s, sample, n) && (!s->stage->base || over_is_sound(d, s, sample, n));
    free(scratch);
    return sound ? CAVS_OK
                 : cavs__fail(
                       CAVS_EGRAPH,
                       "%s: sample %d, stage %s: its graph does not fit the model's functions, "
                       "or is damaged (cavs-pack --verify)",
                       d->packed->path, sample, s->stage->name);
}

static int check_sample(const struct cavs_data *d, int sample)
{
    int rc = CAVS_OK;

    if (!d->packed || d->checks->in[sample])
        return CAVS_OK;
    for (int i = 0; i < d->model->nstages && !rc; i++)
        rc = check_stage(d, &d->stages[i], sample);
    if (!rc)
        d->checks->in[sample] = d->checks->last;
    return rc;
}

/* Of all samples that come the first time everything is about to be read. */
static void expect_unchecked(const struct cavs_data *d, const int *samples, int n)
{
    for (int i = 0; d->packed && i < n; i++) {
        if (samples[i] >= 0 && samples[i] < d->samples && !d->checks->in[samples[i]])
            cavs__data_expect(d, &samples[i], 1);
    }
}

int cavs__data_check_samples(const struct cavs_data *d, const int *samples, int n)
{
    int rc = d->packed ? cavs__packed_whole(d->packed) : CAVS_OK;

    if (d->packed && ++d->checks->last == 0)
        d->checks->last = 1;
    if (!rc)
        expect_unchecked(d, samples, n);
    for (int i = 0; i < n && !rc; i++)
        rc = samples[i] < 0 || samples[i] >= d->samples
                 ? cavs__fail(CAVS_EINVAL, "batch: sample %d at position %d; the data have %d",
                              samples[i], i, d->samples)
                 : check_sample(d, samples[i]);
    return rc;
}
