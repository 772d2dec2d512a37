/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - samples in columns: which there are, and what is asked of them; see data.h. */
#include "core/data/data.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/data/packed.h"

/* ---- life ---- */

static int stage_data_init(struct cavs__stage_data *s, const struct cavs_stage *stage)
{
    int64_t zero = 0;
    int rc;

    s->stage = stage;
    s->start.size = s->first.size = sizeof(int64_t);
    s->function.size = s->degree.size = s->child.size = s->over.size = sizeof(int32_t);
    s->count.size = sizeof(int32_t);
    s->inputs = calloc((size_t)stage->ninputs + 1, sizeof *s->inputs);
    s->has_input = calloc((size_t)stage->ninputs + 1, sizeof *s->has_input);
    s->equal = calloc((size_t)stage->ninputs + 1, sizeof *s->equal);
    s->interned = calloc((size_t)stage->ninputs + 1, sizeof *s->interned);
    s->length = calloc((size_t)stage->ninputs + 1, sizeof *s->length);
    s->entry = calloc((size_t)stage->ninputs + 1, sizeof *s->entry);
    if (!s->inputs || !s->has_input || !s->equal || !s->interned || !s->length || !s->entry)
        return cavs__fail_nomem("data",
                                ((size_t)stage->ninputs + 1) *
                                    (sizeof *s->inputs + sizeof *s->has_input + sizeof *s->equal +
                                     sizeof *s->interned + sizeof *s->length + sizeof *s->entry));
    for (int i = 0; i < stage->ninputs; i++) {
        s->equal[i].size = s->length[i].size = sizeof(int32_t);
        s->entry[i].size = sizeof(int64_t);
        rc = cavs__column_append(&s->entry[i], &zero, 1);
        if (rc)
            return rc;
    }
    for (int i = 0; i < stage->ninputs; i++)
        s->inputs[i].size = stage->inputs[i]->ids ? sizeof(int32_t)
                                                  : (size_t)stage->inputs[i]->width * sizeof(float);
    rc = cavs__column_append(&s->start, &zero, 1);
    return rc ? rc : cavs__column_append(&s->first, &zero, 1);
}

static uint64_t last_number;

int cavs_data_create(const struct cavs_model *m, struct cavs_data **out)
{
    struct cavs_data *d;

    if (!out)
        return cavs__fail(CAVS_EINVAL, "nowhere to put the data (NULL)");
    if (!m || !m->finished)
        return cavs__fail(CAVS_ESTATE, "data need a finished model (cavs_model_finish)");
    d = calloc(1, sizeof *d);
    if (d)
        d->stages = calloc((size_t)m->nstages, sizeof *d->stages);
    if (!d || !d->stages) {
        free(d);
        return cavs__fail_nomem("data", sizeof *d + (size_t)m->nstages * sizeof *d->stages);
    }
    d->model = m;
    d->number = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);
    cavs__model_hold(m);
    for (int i = 0; i < m->nstages; i++) {
        int rc = stage_data_init(&d->stages[i], m->stages[i]);

        if (rc) {
            cavs_data_destroy(d);
            return rc;
        }
    }
    *out = d;
    return CAVS_OK;
}

void cavs_data_destroy(struct cavs_data *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->model->nstages; i++) {
        struct cavs__stage_data *s = &d->stages[i];
        bool whole = s->stage && s->inputs && s->equal && s->length && s->entry;

        for (int k = 0; whole && k < cavs__stage_columns(s); k++)
            cavs__column_free(cavs__stage_column(s, k, NULL, NULL));
        for (int k = 0; whole && s->interned && k < s->stage->ninputs; k++)
            cavs__table_free(&s->interned[k].table);
        free(s->inputs);
        free(s->has_input);
        free(s->equal);
        free(s->interned);
        free(s->length);
        free(s->entry);
    }
    cavs__pack_free(d->pack);
    cavs_packed_close(d->packed);
    free(d->checks);
    free(d->stages);
    free(d->work);
    cavs__model_release(d->model);
    free(d);
}

/* ---- questions ---- */

int64_t cavs__data_entries(const struct cavs_data *d, const struct cavs__stage_data *s,
                           const struct cavs__list *list, int sample)
{
    const int64_t *start = cavs__starts(s);
    int64_t n = start[sample + 1] - start[sample], sum = 0;
    const struct cavs__column *lengths = list->children ? &s->degree
                                         : list->whole  ? NULL
                                                        : &s->length[list->input->number];
    int32_t whole = list->whole ? cavs_data_sample_vertices(d, list->whole, sample) : 0;
    void *functions, *copy = NULL;
    const int32_t *function = cavs__values_view(d, &s->function, start, sample, &functions),
                  *length = lengths ? cavs__values_view(d, lengths, start, sample, &copy) : NULL;

    for (int64_t v = 0; v < n; v++) {
        if (function[v] == list->function->number)
            sum += length ? length[v] : whole;
    }
    free(functions);
    free(copy);
    return sum;
}

int cavs_data_size(const struct cavs_data *d)
{
    return d ? d->samples : 0;
}

static const struct cavs__stage_data *stage_of(const struct cavs_data *d,
                                               const struct cavs_stage *stage)
{
    return d && stage && stage->model == d->model ? &d->stages[stage->number] : NULL;
}

int64_t cavs_data_vertices(const struct cavs_data *d, const struct cavs_stage *stage)
{
    const struct cavs__stage_data *s = stage_of(d, stage);

    return s ? cavs__starts(s)[d->samples] : 0;
}

int cavs_data_sample_vertices(const struct cavs_data *d, const struct cavs_stage *stage, int sample)
{
    const struct cavs__stage_data *s = stage_of(d, stage);

    if (!s || sample < 0 || sample > d->samples || (sample == d->samples && !s->has_graph))
        return 0;
    return (int)(cavs__starts(s)[sample + 1] - cavs__starts(s)[sample]);
}

int64_t cavs_data_batch_vertices(const struct cavs_data *d, const struct cavs_stage *stage,
                                 const int *samples, int n)
{
    int64_t sum = 0;

    for (int i = 0; samples && i < n; i++)
        sum += cavs_data_sample_vertices(d, stage, samples[i]);
    return sum;
}

/* The number of the input of that name, if it has ids and there is such a sample; else -1. */
static int find_ids(const struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                    int sample)
{
    if (!stage_of(d, stage) || !input || sample < 0 || sample >= d->samples)
        return -1;
    for (int i = 0; i < stage->ninputs; i++) {
        if (stage->inputs[i]->ids && strcmp(stage->inputs[i]->name, input) == 0)
            return i;
    }
    return -1;
}

int *cavs_data_sample_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                          int sample)
{
    const struct cavs__stage_data *s = stage_of(d, stage);
    const int i = find_ids(d, stage, input, sample);

    if (i < 0)
        return NULL;
    d->lent = true;
    return (int *)cavs__values_at(d, &s->inputs[i], cavs__input_starts(s, i), sample);
}

int cavs_data_copy_ids(const struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                       int sample, int room, int *ids)
{
    const struct cavs__stage_data *s = stage_of(d, stage);
    const int i = find_ids(d, stage, input, sample);
    const int64_t *starts = i < 0 ? NULL : cavs__input_starts(s, i);
    int64_t n;
    int rc = starts && d->packed ? cavs__packed_whole(d->packed) : CAVS_OK;

    if (rc)
        return rc;
    if (!starts)
        return cavs__fail(
            CAVS_EINVAL,
            "ids of sample %d: there is no such sample, or its stage has no input %s of ids",
            sample, input ? input : "NULL");
    n = starts[sample + 1] - starts[sample];
    if (n > (ids ? room : 0))
        return cavs__fail(CAVS_EINVAL, "ids of sample %d: input %s has %lld, there is room for %d",
                          sample, input, (long long)n, ids ? room : 0);
    cavs__values_read(d, &s->inputs[i], starts, sample, ids);
    return (int)n;
}
