/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - building samples; see data.h.  A sample is appended column by column and cut off again
 * if anything fails. */
#include "core/data.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/packed.h"
#include "scheduler/schedule.h"

/* ---- columns ---- */

/* The columns that every stage has. */
static const struct {
    const char *name;
    size_t offset;
} fixed_columns[] = {
    {"start", offsetof(struct cavs__stage_data, start)},
    {"function", offsetof(struct cavs__stage_data, function)},
    {"degree", offsetof(struct cavs__stage_data, degree)},
    {"first", offsetof(struct cavs__stage_data, first)},
    {"child", offsetof(struct cavs__stage_data, child)},
    {"count", offsetof(struct cavs__stage_data, count)},
    {"over", offsetof(struct cavs__stage_data, over)},
};

enum { NFIXED = sizeof fixed_columns / sizeof *fixed_columns };

int cavs__stage_columns(const struct cavs__stage_data *s)
{
    return NFIXED + 2 * s->stage->ninputs;
}

struct cavs__column *cavs__stage_column(struct cavs__stage_data *s, int i, const char **name,
                                        const struct cavs__input **input)
{
    int k = (i - NFIXED) / 2;
    bool fixed = i < NFIXED, values = (i - NFIXED) % 2 == 0;

    if (name)
        *name = fixed ? fixed_columns[i].name : values ? "values" : "equal";
    if (input)
        *input = fixed ? NULL : s->stage->inputs[k];
    return fixed    ? (struct cavs__column *)((char *)s + fixed_columns[i].offset)
           : values ? &s->inputs[k]
                    : &s->equal[k];
}

static int64_t last_start(const struct cavs__column *c)
{
    return ((const int64_t *)c->p)[c->n - 1];
}

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
    if (!s->inputs || !s->has_input || !s->equal || !s->interned)
        return cavs__fail_nomem("data", sizeof *s);
    for (int i = 0; i < stage->ninputs; i++)
        s->equal[i].size = sizeof(int32_t);
    for (int i = 0; i < stage->ninputs; i++)
        s->inputs[i].size = stage->inputs[i]->ids ? sizeof(int32_t)
                                                  : (size_t)stage->inputs[i]->width * sizeof(float);
    rc = cavs__column_append(&s->start, &zero, 1);
    return rc ? rc : cavs__column_append(&s->first, &zero, 1);
}

int cavs_data_create(const struct cavs_model *m, struct cavs_data **out)
{
    struct cavs_data *d;

    if (!m || !m->finished)
        return cavs__fail(CAVS_ESTATE, "data need a finished model (cavs_model_finish)");
    d = calloc(1, sizeof *d);
    if (d)
        d->stages = calloc((size_t)m->nstages, sizeof *d->stages);
    if (!d || !d->stages) {
        free(d);
        return cavs__fail_nomem("data", sizeof *d);
    }
    d->model = m;
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
        bool whole = s->stage && s->inputs && s->equal;

        for (int k = 0; whole && k < cavs__stage_columns(s); k++)
            cavs__column_free(cavs__stage_column(s, k, NULL, NULL));
        for (int k = 0; whole && s->interned && k < s->stage->ninputs; k++)
            free(s->interned[k].table);
        free(s->inputs);
        free(s->has_input);
        free(s->equal);
        free(s->interned);
    }
    cavs__pack_free(d->pack);
    cavs_packed_close(d->packed);
    free(d->checked);
    free(d->stages);
    free(d->work);
    free(d);
}

/* ---- one sample ---- */

/* Cuts everything behind the last complete sample off. */
static void rewind_sample(struct cavs_data *d)
{
    for (int i = 0; i < d->model->nstages; i++) {
        struct cavs__stage_data *s = &d->stages[i];
        size_t vertices;

        s->start.n = s->first.n = (size_t)d->samples + 1;
        vertices = (size_t)last_start(&s->start);
        s->function.n = s->degree.n = vertices;
        s->count.n = (size_t)d->samples * (size_t)s->stage->nfunctions;
        s->over.n = s->stage->base ? vertices : 0;
        s->child.n = (size_t)last_start(&s->first);
        for (int k = 0; k < s->stage->ninputs; k++) {
            s->inputs[k].n = vertices;
            s->has_input[k] = false;
        }
        s->has_graph = false;
    }
    d->open = false;
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

/* Any failure inside a sample closes it. */
static int drop(struct cavs_data *d, int rc)
{
    if (rc)
        rewind_sample(d);
    return rc;
}

static int find_stage(struct cavs_data *d, const struct cavs_stage *stage, const char *call,
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

static int32_t *graph_work(struct cavs_data *d, size_t n)
{
    if (n > d->work_cap) {
        int32_t *p = realloc(d->work, 2 * n * sizeof *p);

        if (!p)
            return NULL;
        d->work = p;
        d->work_cap = 2 * n;
    }
    return d->work;
}

static int graph_fault(const struct cavs_data *d, const struct cavs__stage_data *s,
                       enum cavs__graph_fault fault, int n, int32_t vertex, int32_t child)
{
    const char *stage = s->stage->name;

    switch (fault) {
    case CAVS__GRAPH_OK: return CAVS_OK;
    case CAVS__GRAPH_RANGE:
        return cavs__fail(
            CAVS_EGRAPH,
            "sample %d, stage %s: vertex %d has child %d, but the graph has %d vertices",
            d->samples, stage, vertex, child, n);
    case CAVS__GRAPH_SLOTS:
        return cavs__fail(
            CAVS_EGRAPH,
            "sample %d, stage %s: vertex %d has more children (%d) than its function gathers",
            d->samples, stage, vertex, child);
    case CAVS__GRAPH_CYCLE:
        return cavs__fail(CAVS_EGRAPH, "sample %d, stage %s: vertex %d lies on a cycle", d->samples,
                          stage, vertex);
    default:
        return cavs__fail(CAVS_EGRAPH,
                          "sample %d, stage %s: vertex %d: function or child_ptr out of range",
                          d->samples, stage, vertex);
    }
}

static int check_graph(struct cavs_data *d, struct cavs__stage_data *s, int n,
                       const int32_t *functions, const int *ptr, const int *children)
{
    int slots[s->stage->nfunctions];
    struct cavs__graph g = {.n = n,
                            .nfunctions = s->stage->nfunctions,
                            .function = functions,
                            .child_ptr = ptr,
                            .child = children,
                            .slots = slots};
    int32_t vertex = -1, child = -1, *work = graph_work(d, 2 * (size_t)n + 2);
    enum cavs__graph_fault fault;

    if (!work)
        return cavs__fail_nomem("graph check", 2 * (size_t)n * sizeof *work);
    for (int j = 0; j < g.nfunctions; j++)
        slots[j] = s->stage->functions[j]->slots;
    fault = cavs__graph_check(&g, work, &vertex, &child); /* first: it sets vertex and child */
    return graph_fault(d, s, fault, n, vertex, child);
}

static int check_functions(const struct cavs_data *d, const struct cavs__stage_data *s, int n,
                           const int *functions)
{
    for (int v = 0; v < n; v++) {
        if (functions[v] < 0 || functions[v] >= s->stage->nfunctions)
            return cavs__fail(
                CAVS_EGRAPH, "sample %d, stage %s: vertex %d has function %d, but the stage has %d",
                d->samples, s->stage->name, v, functions[v], s->stage->nfunctions);
    }
    return CAVS_OK;
}

/* How many of the last n vertices have each function: batches are balanced by it. */
static int count_functions(struct cavs__stage_data *s, int n)
{
    size_t nf = (size_t)s->stage->nfunctions;
    const int32_t *function = (const int32_t *)s->function.p + s->function.n - (size_t)n;
    int rc = cavs__column_append(&s->count, NULL, nf);

    for (int v = 0; v < n && !rc; v++)
        ((int32_t *)s->count.p)[s->count.n - nf + (size_t)function[v]]++;
    return rc;
}

static int append_graph(struct cavs__stage_data *s, int n, const int *functions, const int *ptr,
                        const int *children)
{
    int64_t start = last_start(&s->start) + n, first = last_start(&s->first) + (ptr ? ptr[n] : 0);
    int rc = cavs__column_append(&s->function, functions, (size_t)n);

    if (!rc)
        rc = cavs__column_append(&s->degree, NULL, (size_t)n);
    if (!rc && ptr)
        rc = cavs__column_append(&s->child, children, (size_t)ptr[n]);
    if (rc)
        return rc;
    for (int v = 0; v < n && ptr; v++)
        ((int32_t *)s->degree.p)[s->degree.n - (size_t)n + (size_t)v] = ptr[v + 1] - ptr[v];
    rc = count_functions(s, n);
    if (!rc)
        rc = cavs__column_append(&s->start, &start, 1);
    return rc ? rc : cavs__column_append(&s->first, &first, 1);
}

int cavs_data_graph(struct cavs_data *d, const struct cavs_stage *stage, int n,
                    const int *functions, const int *child_ptr, const int *children)
{
    struct cavs__stage_data *s = NULL;
    size_t base;
    int rc = find_stage(d, stage, "cavs_data_graph", &s);

    if (rc)
        return rc;
    if (stage->base)
        return drop(d, cavs__fail(CAVS_EDATA, "stage %s stands over stage %s and takes no graph",
                                  stage->name, stage->base->name));
    if (s->has_graph || n < 0 || (child_ptr && child_ptr[n] > 0 && !children))
        return drop(d, cavs__fail(CAVS_EDATA, "sample %d, stage %s: %s", d->samples, stage->name,
                                  s->has_graph ? "second graph"
                                  : n < 0      ? "negative number of vertices"
                                               : "child_ptr without children"));
    if (child_ptr && child_ptr[0] != 0)
        return drop(d, cavs__fail(CAVS_EDATA, "sample %d, stage %s: child_ptr[0] is %d, not 0",
                                  d->samples, stage->name, child_ptr[0]));
    rc = functions ? check_functions(d, s, n, functions) : CAVS_OK;
    base = s->function.n;
    if (!rc && child_ptr && n > 0) {
        /* functions may be NULL: check against the appended column */
        rc = cavs__column_append(&s->function, functions, (size_t)n);
        if (!rc)
            rc = check_graph(d, s, n, (const int32_t *)s->function.p + base, child_ptr, children);
        s->function.n = base;
    }
    if (!rc)
        rc = append_graph(s, n, functions, child_ptr, children);
    s->has_graph = !rc;
    return drop(d, rc);
}

static int find_input(struct cavs_data *d, const struct cavs__stage_data *s, const char *name,
                      bool ids, int *number)
{
    for (int i = 0; name && i < s->stage->ninputs; i++) {
        const struct cavs__input *in = s->stage->inputs[i];

        if (strcmp(in->name, name) != 0)
            continue;
        if (in->ids != ids)
            return cavs__fail(CAVS_EDATA, "input %s of stage %s is %s", name, s->stage->name,
                              in->ids ? "ids (cavs_data_ids)" : "rows (cavs_data_rows)");
        if (s->has_input[i])
            return cavs__fail(CAVS_EDATA, "sample %d: input %s of stage %s is given twice",
                              d->samples, name, s->stage->name);
        *number = i;
        return CAVS_OK;
    }
    return cavs__fail(CAVS_EDATA, "stage %s has no input %s", s->stage->name,
                      name ? name : "(null)");
}

static int append_input(struct cavs_data *d, const struct cavs_stage *stage, const char *name,
                        int n, const void *values, bool ids, const char *call)
{
    struct cavs__stage_data *s = NULL;
    int number = 0, rc = find_stage(d, stage, call, &s);

    if (rc)
        return rc;
    rc = find_input(d, s, name, ids, &number);
    if (!rc && (n < 0 || (n > 0 && !values)))
        rc = cavs__fail(CAVS_EDATA, "sample %d: input %s of stage %s has no values", d->samples,
                        name, stage->name);
    if (!rc)
        rc = cavs__column_append(&s->inputs[number], values, (size_t)n);
    if (!rc)
        s->has_input[number] = true;
    return drop(d, rc);
}

int cavs_data_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input, int n,
                  const int *ids)
{
    return append_input(d, stage, input, n, ids, true, "cavs_data_ids");
}

int cavs_data_rows(struct cavs_data *d, const struct cavs_stage *stage, const char *input, int n,
                   const float *rows)
{
    return append_input(d, stage, input, n, rows, false, "cavs_data_rows");
}

/* ---- completing a sample ---- */

/* Vertices of the base that the stage stands over: all, or those that no vertex has as a child. */
static int append_over(struct cavs_data *d, struct cavs__stage_data *s)
{
    const struct cavs__stage_data *b = &d->stages[s->stage->base->number];
    int64_t v0 = cavs__starts(b)[d->samples], n = cavs__starts(b)[d->samples + 1] - v0;
    int64_t e0 = ((const int64_t *)b->first.p)[d->samples],
            e1 = ((const int64_t *)b->first.p)[d->samples + 1];
    int32_t *covered = graph_work(d, 2 * (size_t)n + 2);
    int count = 0, rc = covered ? cavs__column_room(&s->over, (size_t)n) : CAVS_ENOMEM;

    if (rc)
        return cavs__fail_nomem("data", (size_t)n);
    memset(covered, 0, (size_t)n * sizeof *covered);
    for (int64_t e = e0; e < e1 && s->stage->over == CAVS_ROOTS; e++) {
        int32_t c = ((const int32_t *)b->child.p)[e];

        if (c >= 0)
            covered[c] = 1;
    }
    for (int64_t v = 0; v < n; v++) {
        if (!covered[v]) {
            ((int32_t *)s->over.p)[s->over.n++] = (int32_t)v;
            count++;
        }
    }
    s->has_graph = true;
    return append_graph(s, count, NULL, NULL, NULL);
}

/* A base may itself stand over another stage; bases come first. */
static int complete_stage(struct cavs_data *d, struct cavs__stage_data *s)
{
    size_t n;
    int rc = CAVS_OK;

    if (s->stage->base)
        rc = append_over(d, s);
    else if (!s->has_graph)
        rc = cavs__fail(CAVS_EDATA, "sample %d: stage %s has no graph (cavs_data_graph)",
                        d->samples, s->stage->name);
    if (rc)
        return rc;
    n = (size_t)last_start(&s->start);
    for (int i = 0; i < s->stage->ninputs; i++) {
        const struct cavs__input *in = s->stage->inputs[i];
        size_t before = (size_t)cavs__starts(s)[d->samples];

        if (!s->has_input[i] && n > before)
            return cavs__fail(CAVS_EDATA, "sample %d: input %s of stage %s is missing", d->samples,
                              in->name, s->stage->name);
        if (s->inputs[i].n != n)
            return cavs__fail(
                CAVS_EDATA, "sample %d: input %s of stage %s has %zu values for %zu vertices",
                d->samples, in->name, s->stage->name, s->inputs[i].n - before, n - before);
    }
    return CAVS_OK;
}

/* Ids of one sample against what they index. */
int cavs__data_check_ids(const struct cavs_data *d, const struct cavs__stage_data *s, int input,
                         int sample)
{
    const struct cavs__input *in = s->stage->inputs[input];
    const int32_t *ids = s->inputs[input].p, *function = s->function.p;
    int64_t v0 = cavs__starts(s)[sample], v1 = cavs__starts(s)[sample + 1];
    int64_t limit = in->limit;

    if (in->vertices_of) {
        const int64_t *start = cavs__starts(&d->stages[in->vertices_of->number]);

        limit = start[sample + 1] - start[sample];
    }
    for (int64_t v = v0; v < v1; v++) {
        if (ids[v] >= -1 && ids[v] < limit)
            continue;
        if (in->pulled[function[v]])
            return cavs__fail(
                CAVS_EDATA,
                "sample %d: input %s of stage %s: vertex %lld has id %d, not in -1..%lld", sample,
                in->name, s->stage->name, (long long)(v - v0), ids[v], (long long)limit - 1);
    }
    return CAVS_OK;
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

/* After a failure: all rows are numbered anew with the next sample. */
static void forget_rows(struct cavs__stage_data *s)
{
    for (int k = 0; k < s->stage->ninputs; k++) {
        s->equal[k].n = 0;
        s->interned[k].n = 0;
        if (s->interned[k].table)
            memset(s->interned[k].table, 0, s->interned[k].cap * sizeof *s->interned[k].table);
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
        return drop(d, rc);
    d->samples++;
    rewind_sample(d); /* the sample stays: it is counted */
    for (int i = 0; i < d->model->nstages && !rc; i++)
        rc = intern_rows(&d->stages[i]);
    if (rc) {
        d->samples--;
        for (int i = 0; i < d->model->nstages; i++)
            forget_rows(&d->stages[i]);
        return drop(d, rc);
    }
    return CAVS_OK;
}

/* ---- questions ---- */

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

    return s && sample >= 0 && sample < d->samples
               ? (int)(cavs__starts(s)[sample + 1] - cavs__starts(s)[sample])
               : 0;
}

int *cavs_data_sample_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                          int sample)
{
    const struct cavs__stage_data *s = stage_of(d, stage);

    for (int i = 0; s && input && sample >= 0 && sample < d->samples && i < stage->ninputs; i++) {
        if (stage->inputs[i]->ids && strcmp(stage->inputs[i]->name, input) == 0)
            return (int *)s->inputs[i].p + cavs__starts(s)[sample];
    }
    return NULL;
}
