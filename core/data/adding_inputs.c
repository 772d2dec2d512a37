/* SPDX-License-Identifier: Apache-2.0 */
/* adding_inputs.c - ids and rows that a sample brings, by the name of the input. */
#include <string.h>

#include "core/base/error.h"
#include "core/data/adding.h"

/* The call that brings an input. */
static const char *call_for(const struct cavs__input *in)
{
    switch (in->per) {
    case CAVS__PER_EDGE:
        return in->ids ? "ids per edge (cavs_data_edge_ids)"
                       : "rows per edge (cavs_data_edge_rows)";
    case CAVS__PER_ENTRY: return "lists of ids (cavs_data_ragged_ids)";
    default: return in->ids ? "ids (cavs_data_ids)" : "rows (cavs_data_rows)";
    }
}

static int find_input(struct cavs_data *d, const struct cavs__stage_data *s, const char *name,
                      enum cavs__per per, bool ids, int *number)
{
    for (int i = 0; name && i < s->stage->ninputs; i++) {
        const struct cavs__input *in = s->stage->inputs[i];

        if (strcmp(in->name, name) != 0)
            continue;
        if (in->ids != ids || in->per != per)
            return cavs__fail(CAVS_EDATA, "input %s of stage %s is %s", name, s->stage->name,
                              call_for(in));
        if (s->has_input[i])
            return cavs__fail(CAVS_EDATA, "sample %d: input %s of stage %s is given twice",
                              d->samples, name, s->stage->name);
        *number = i;
        return CAVS_OK;
    }
    return cavs__fail(CAVS_EDATA, "stage %s has no input %s", s->stage->name,
                      name ? name : "without a name");
}

static int check_number(const struct cavs_data *d, const struct cavs_stage *stage,
                        const char *input, int n)
{
    if (n > CAVS__MOST_OF_SAMPLE)
        return cavs__fail(CAVS_EDATA,
                          "sample %d: input %s of stage %s: %d values are too many (at most %d)",
                          d->samples, input, stage->name, n, CAVS__MOST_OF_SAMPLE);
    return CAVS_OK;
}

/* What a call brings. */
struct bringing {
    const char *call;
    enum cavs__per per;
    bool ids;
};

static int append_input(struct cavs_data *d, const struct cavs_stage *stage, const char *name,
                        int n, const void *values, struct bringing b)
{
    struct cavs__stage_data *s = NULL;
    int number = 0, rc = cavs__open_stage(d, stage, b.call, &s);

    if (rc)
        return rc;
    rc = find_input(d, s, name, b.per, b.ids, &number);
    if (!rc && (n < 0 || (n > 0 && !values)))
        rc = cavs__fail(CAVS_EDATA, "sample %d: input %s of stage %s has no values", d->samples,
                        name, stage->name);
    if (!rc)
        rc = check_number(d, stage, name, n);
    if (!rc)
        rc = cavs__column_append(&s->inputs[number], values, (size_t)n);
    if (!rc)
        s->has_input[number] = true;
    return cavs__drop_sample(d, rc);
}

int cavs_data_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input, int n,
                  const int *ids)
{
    return append_input(d, stage, input, n, ids,
                        (struct bringing){"cavs_data_ids", CAVS__PER_VERTEX, true});
}

int cavs_data_rows(struct cavs_data *d, const struct cavs_stage *stage, const char *input, int n,
                   const float *rows)
{
    return append_input(d, stage, input, n, rows,
                        (struct bringing){"cavs_data_rows", CAVS__PER_VERTEX, false});
}

int cavs_data_edge_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                       int nedges, const int *ids)
{
    return append_input(d, stage, input, nedges, ids,
                        (struct bringing){"cavs_data_edge_ids", CAVS__PER_EDGE, true});
}

int cavs_data_edge_rows(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                        int nedges, const float *rows)
{
    return append_input(d, stage, input, nedges, rows,
                        (struct bringing){"cavs_data_edge_rows", CAVS__PER_EDGE, false});
}

static int check_lists(const struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                       int n, const int *ptr, const int *ids)
{
    if (n < 0 || !ptr || ptr[0] != 0)
        return cavs__fail(CAVS_EDATA, "sample %d: input %s of stage %s: %s", d->samples, input,
                          stage->name,
                          n < 0  ? "negative number of vertices"
                          : !ptr ? "no pointers"
                                 : "ptr[0] is not 0");
    if (n > CAVS__MOST_OF_SAMPLE)
        return check_number(d, stage, input, n);
    for (int v = 0; v < n; v++) {
        if (ptr[v + 1] < ptr[v])
            return cavs__fail(CAVS_EDATA,
                              "sample %d: input %s of stage %s: ptr descends from %d to %d at "
                              "vertex %d",
                              d->samples, input, stage->name, ptr[v], ptr[v + 1], v);
    }
    if (ptr[n] > 0 && !ids)
        return cavs__fail(CAVS_EDATA, "sample %d: input %s of stage %s has no values", d->samples,
                          input, stage->name);
    return check_number(d, stage, input, ptr[n]);
}

int cavs_data_ragged_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                         int n, const int *ptr, const int *ids)
{
    struct cavs__stage_data *s = NULL;
    int number = 0, rc = cavs__open_stage(d, stage, "cavs_data_ragged_ids", &s);

    if (rc)
        return rc;
    rc = find_input(d, s, input, CAVS__PER_ENTRY, true, &number);
    if (!rc)
        rc = check_lists(d, stage, input, n, ptr, ids);
    if (!rc)
        rc = cavs__column_append(&s->inputs[number], ids, (size_t)ptr[n]);
    if (!rc)
        rc = cavs__column_append(&s->length[number], NULL, (size_t)n);
    for (int v = 0; v < n && !rc; v++)
        ((int32_t *)s->length[number].p)[s->length[number].n - (size_t)n + (size_t)v] =
            ptr[v + 1] - ptr[v];
    s->has_input[number] = !rc;
    return cavs__drop_sample(d, rc);
}
