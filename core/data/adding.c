/* SPDX-License-Identifier: Apache-2.0 */
/* adding.c - the life of a sample that is being added; see adding.h. */
#include "core/data/adding.h"

#include <stdlib.h>

#include "core/base/error.h"

/* Cuts off everything behind the last complete sample. */
static void rewind_sample(struct cavs_data *d)
{
    for (int i = 0; i < d->model->nstages; i++) {
        struct cavs__stage_data *s = &d->stages[i];
        size_t vertices;

        s->start.n = s->first.n = (size_t)d->samples + 1;
        vertices = (size_t)cavs__last_start(&s->start);
        s->function.n = s->degree.n = vertices;
        s->count.n = (size_t)d->samples * (size_t)s->stage->nfunctions;
        s->over.n = s->stage->base ? vertices : 0;
        s->child.n = (size_t)cavs__last_start(&s->first);
        for (int k = 0; k < s->stage->ninputs; k++) {
            if (s->stage->inputs[k]->per == CAVS__PER_ENTRY) {
                s->entry[k].n = (size_t)d->samples + 1;
                s->length[k].n = vertices;
            }
            s->inputs[k].n = (size_t)cavs__input_starts(s, k)[d->samples];
            s->has_input[k] = false;
        }
        s->has_graph = false;
    }
    d->open = false;
}

int cavs__drop_sample(struct cavs_data *d, int rc)
{
    if (rc)
        rewind_sample(d);
    return rc;
}

int cavs__open_stage(struct cavs_data *d, const struct cavs_stage *stage, const char *call,
                     struct cavs__stage_data **out)
{
    if (!d)
        return cavs__fail(CAVS_EINVAL, "%s: no data", call);
    if (!d->open)
        return cavs__fail(CAVS_ESTATE,
                          "%s: no sample is open (cavs_data_begin, or an earlier error closed it)",
                          call);
    if (!stage || stage->model != d->model)
        return cavs__fail(CAVS_EINVAL, "%s: the stage does not belong to the data's model", call);
    *out = &d->stages[stage->number];
    return CAVS_OK;
}

int cavs_data_begin(struct cavs_data *d)
{
    if (!d)
        return cavs__fail(CAVS_EINVAL, "cavs_data_begin(NULL)");
    if (d->packed)
        return cavs__fail(CAVS_ESTATE, "data opened from a file cannot be added to");
    rewind_sample(d);
    d->open = true;
    return CAVS_OK;
}

/* ---- completing a sample ---- */

/* An input has as many values as the sample has vertices, or edges. Or it has as many as there are
 * among those whose function pulls it: then the others get values that nobody reads. */
static int complete_input(const struct cavs_data *d, struct cavs__stage_data *s, int i)
{
    const struct cavs__input *in = s->stage->inputs[i];
    bool per_edge = in->per == CAVS__PER_EDGE, lists = in->per == CAVS__PER_ENTRY;
    const struct cavs__column *starts = per_edge ? &s->first : &s->start;
    const struct cavs__column *values = lists ? &s->length[i] : &s->inputs[i];
    size_t before = (size_t)((const int64_t *)starts->p)[d->samples],
           all = (size_t)cavs__last_start(starts) - before, given = values->n - before,
           pulled = cavs__count_pulled(d, s, i);
    int64_t entries = (int64_t)s->inputs[i].n;
    int rc;

    if (!s->has_input[i] && pulled > 0)
        return cavs__fail(CAVS_EDATA, "sample %d: input %s of stage %s is missing", d->samples,
                          in->name, s->stage->name);
    if (given != all && given != pulled)
        return cavs__fail(CAVS_EDATA,
                          "sample %d: input %s of stage %s has %zu %s for %zu %s (%zu of functions "
                          "that pull it)",
                          d->samples, in->name, s->stage->name, given, lists ? "lists" : "values",
                          all, per_edge ? "edges" : "vertices", pulled);
    rc = cavs__spread_pulled(d, s, i, all - given);
    return !rc && lists ? cavs__column_append(&s->entry[i], &entries, 1) : rc;
}

static int complete_stage(struct cavs_data *d, struct cavs__stage_data *s)
{
    int rc = CAVS_OK;

    if (!s->has_graph)
        return cavs__fail(CAVS_EDATA, "sample %d: stage %s has no graph (cavs_data_graph)",
                          d->samples, s->stage->name);
    for (int i = 0; i < s->stage->ninputs && !rc; i++)
        rc = complete_input(d, s, i);
    return rc;
}

/* The vertex of a sample that value i of an input belongs to. */
static int64_t owner_of(const struct cavs_data *d, const struct cavs__stage_data *s,
                        const struct cavs__input *in, int sample, int64_t i)
{
    const struct cavs__column *lengths =
        in->per == CAVS__PER_EDGE ? &s->degree : &s->length[in->number];
    const int32_t *length = cavs__values_at(d, lengths, cavs__starts(s), sample);
    int64_t v = 0;

    if (in->per == CAVS__PER_VERTEX)
        return i;
    for (; i >= length[v]; v++)
        i -= length[v];
    return v;
}

/* Checks the ids of one sample against what they index. */
int cavs__data_check_ids(const struct cavs_data *d, const struct cavs__stage_data *s, int input,
                         int sample)
{
    const struct cavs__input *in = s->stage->inputs[input];
    const int64_t *starts = cavs__input_starts(s, input);
    int64_t n = starts[sample + 1] - starts[sample], limit = in->limit, i = 0, v;
    void *copy;
    const int32_t *ids = cavs__values_view(d, &s->inputs[input], starts, sample, &copy),
                  *function = cavs__values_at(d, &s->function, cavs__starts(s), sample);
    int rc = CAVS_OK;

    if (in->vertices_of) {
        const int64_t *start = cavs__starts(&d->stages[in->vertices_of->number]);

        limit = start[sample + 1] - start[sample];
    }
    for (; i < n && !rc; i++) {
        if (ids[i] >= -1 && ids[i] < limit)
            continue;
        v = owner_of(d, s, in, sample, i);
        if (in->pulled[function[v]])
            rc = cavs__fail(
                CAVS_EDATA,
                "sample %d: input %s of stage %s: vertex %lld has id %d, not in -1..%lld", sample,
                in->name, s->stage->name, (long long)v, ids[i], (long long)limit - 1);
    }
    free(copy);
    return rc;
}

/* Numbers the float rows of a complete sample. */
static int intern_rows(struct cavs__stage_data *s)
{
    for (int k = 0; k < s->stage->ninputs; k++) {
        if (s->stage->inputs[k]->ids || s->stage->base)
            continue;
        while (s->equal[k].n < s->inputs[k].n) {
            int32_t number;
            int rc = cavs__intern_row(&s->interned[k], &s->inputs[k], s->equal[k].n, &number);

            if (!rc)
                rc = cavs__column_append(&s->equal[k], &number, 1);
            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

/* After a failure: forgets the numbers of rows behind the last complete sample. */
static void forget_rows(struct cavs__stage_data *s, int samples)
{
    for (int k = 0; k < s->stage->ninputs; k++) {
        size_t rows = (size_t)cavs__input_starts(s, k)[samples];

        if (s->equal[k].n > rows)
            s->equal[k].n = rows;
        cavs__intern_again(&s->interned[k], &s->inputs[k], s->equal[k].n);
    }
}

int cavs_data_end(struct cavs_data *d)
{
    int rc = CAVS_OK;

    if (!d || !d->open)
        return cavs__fail(
            CAVS_ESTATE,
            "cavs_data_end: no sample is open (cavs_data_begin, or an earlier error closed it)");
    for (int i = 0; i < d->model->nstages && !rc; i++)
        rc = complete_stage(d, &d->stages[i]);
    for (int i = 0; i < d->model->nstages && !rc; i++) {
        for (int k = 0; k < d->model->stages[i]->ninputs && !rc; k++) {
            if (d->model->stages[i]->inputs[k]->ids)
                rc = cavs__data_check_ids(d, &d->stages[i], k, d->samples);
        }
    }
    if (rc)
        return cavs__drop_sample(d, rc);
    d->samples++;
    rewind_sample(d); /* the sample stays: it is counted */
    for (int i = 0; i < d->model->nstages && !rc; i++)
        rc = intern_rows(&d->stages[i]);
    if (rc) {
        d->samples--;
        for (int i = 0; i < d->model->nstages; i++)
            forget_rows(&d->stages[i], d->samples);
        return cavs__drop_sample(d, rc);
    }
    return CAVS_OK;
}
