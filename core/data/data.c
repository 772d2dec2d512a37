/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - building samples; see data.h.  A sample is appended column by column and cut off again
 * if anything fails. */
#include "core/data/data.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/data/packed.h"
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

/* Those that every input has. */
static const char *const input_columns[] = {"values", "equal", "length", "entry"};

enum {
    NFIXED = sizeof fixed_columns / sizeof *fixed_columns,
    NINPUT = sizeof input_columns / sizeof *input_columns
};

int cavs__stage_columns(const struct cavs__stage_data *s)
{
    return NFIXED + NINPUT * s->stage->ninputs;
}

struct cavs__column *cavs__stage_column(struct cavs__stage_data *s, int i, const char **name,
                                        const struct cavs__input **input)
{
    bool fixed = i < NFIXED;
    int k = (i - NFIXED) / NINPUT, which = (i - NFIXED) % NINPUT;

    if (name)
        *name = fixed ? fixed_columns[i].name : input_columns[which];
    if (input)
        *input = fixed ? NULL : s->stage->inputs[k];
    if (fixed)
        return (struct cavs__column *)((char *)s + fixed_columns[i].offset);
    return which == 0   ? &s->inputs[k]
           : which == 1 ? &s->equal[k]
           : which == 2 ? &s->length[k]
                        : &s->entry[k];
}

static int64_t last_start(const struct cavs__column *c)
{
    return ((const int64_t *)c->p)[c->n - 1];
}

const int64_t *cavs__input_starts(const struct cavs__stage_data *s, int input)
{
    switch (s->stage->inputs[input]->per) {
    case CAVS__PER_EDGE: return s->first.p;
    case CAVS__PER_ENTRY: return s->entry[input].p;
    default: return s->start.p;
    }
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
    s->length = calloc((size_t)stage->ninputs + 1, sizeof *s->length);
    s->entry = calloc((size_t)stage->ninputs + 1, sizeof *s->entry);
    if (!s->inputs || !s->has_input || !s->equal || !s->interned || !s->length || !s->entry)
        return cavs__fail_nomem("data", sizeof *s);
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
        return cavs__fail_nomem("data", sizeof *d);
    }
    d->model = m;
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
            free(s->interned[k].table);
        free(s->inputs);
        free(s->has_input);
        free(s->equal);
        free(s->interned);
        free(s->length);
        free(s->entry);
    }
    cavs__pack_free(d->pack);
    cavs_packed_close(d->packed);
    free(d->checked);
    free(d->stages);
    free(d->work);
    cavs__model_release(d->model);
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
    const int32_t *function = cavs__column_at(&s->function, s->function.n - (size_t)n);
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

/* The stages that stand over one that has its graph now.  A base may itself stand over another stage; bases
 * come first. */
static int append_stages_over(struct cavs_data *d)
{
    int rc = CAVS_OK;

    for (int i = 0; i < d->model->nstages && !rc; i++) {
        struct cavs__stage_data *s = &d->stages[i];

        if (s->stage->base && !s->has_graph && d->stages[s->stage->base->number].has_graph)
            rc = append_over(d, s);
    }
    return rc;
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
    return drop(d, rc ? rc : append_stages_over(d));
}

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
                      name ? name : "(null)");
}

static int append_input(struct cavs_data *d, const struct cavs_stage *stage, const char *name,
                        int n, const void *values, enum cavs__per per, bool ids, const char *call)
{
    struct cavs__stage_data *s = NULL;
    int number = 0, rc = find_stage(d, stage, call, &s);

    if (rc)
        return rc;
    rc = find_input(d, s, name, per, ids, &number);
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
    return append_input(d, stage, input, n, ids, CAVS__PER_VERTEX, true, "cavs_data_ids");
}

int cavs_data_rows(struct cavs_data *d, const struct cavs_stage *stage, const char *input, int n,
                   const float *rows)
{
    return append_input(d, stage, input, n, rows, CAVS__PER_VERTEX, false, "cavs_data_rows");
}

int cavs_data_edge_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                       int nedges, const int *ids)
{
    return append_input(d, stage, input, nedges, ids, CAVS__PER_EDGE, true, "cavs_data_edge_ids");
}

int cavs_data_edge_rows(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                        int nedges, const float *rows)
{
    return append_input(d, stage, input, nedges, rows, CAVS__PER_EDGE, false,
                        "cavs_data_edge_rows");
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
    return CAVS_OK;
}

int cavs_data_ragged_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                         int n, const int *ptr, const int *ids)
{
    struct cavs__stage_data *s = NULL;
    int number = 0, rc = find_stage(d, stage, "cavs_data_ragged_ids", &s);

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
    return drop(d, rc);
}

/* ---- completing a sample ---- */

/* An input has as many values as the sample has vertices, or edges; or as many as those of them have whose
 * function pulls it, and then the others get some that nobody reads. */
static int complete_input(const struct cavs_data *d, struct cavs__stage_data *s, int i)
{
    const struct cavs__input *in = s->stage->inputs[i];
    bool per_edge = in->per == CAVS__PER_EDGE, lists = in->per == CAVS__PER_ENTRY;
    const struct cavs__column *starts = per_edge ? &s->first : &s->start;
    const struct cavs__column *values = lists ? &s->length[i] : &s->inputs[i];
    size_t before = (size_t)((const int64_t *)starts->p)[d->samples],
           all = (size_t)last_start(starts) - before, given = values->n - before,
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

/* Entries that vertex v, of all the stage's, has in a list. */
static int64_t entries_of(const struct cavs_data *d, const struct cavs__stage_data *s,
                          const struct cavs__list *list, int sample, int64_t v)
{
    if (list->function->number != ((const int32_t *)s->function.p)[v])
        return 0;
    if (list->children)
        return ((const int32_t *)s->degree.p)[v];
    return list->whole ? cavs_data_sample_vertices(d, list->whole, sample)
                       : ((const int32_t *)s->length[list->input->number].p)[v];
}

int64_t cavs__data_entries(const struct cavs_data *d, const struct cavs__stage_data *s,
                           const struct cavs__list *list, int sample)
{
    int64_t sum = 0;

    for (int64_t v = cavs__starts(s)[sample]; v < cavs__starts(s)[sample + 1]; v++)
        sum += entries_of(d, s, list, sample, v);
    return sum;
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
static int64_t owner_of(const struct cavs__stage_data *s, const struct cavs__input *in, int sample,
                        int64_t i)
{
    const int32_t *length = in->per == CAVS__PER_EDGE ? s->degree.p : s->length[in->number].p;
    int64_t v = cavs__starts(s)[sample];

    if (in->per == CAVS__PER_VERTEX)
        return i;
    for (; i >= length[v]; v++)
        i -= length[v];
    return v - cavs__starts(s)[sample];
}

/* Ids of one sample against what they index. */
int cavs__data_check_ids(const struct cavs_data *d, const struct cavs__stage_data *s, int input,
                         int sample)
{
    const struct cavs__input *in = s->stage->inputs[input];
    const int32_t *ids = s->inputs[input].p;
    int64_t v0 = cavs__input_starts(s, input)[sample],
            v1 = cavs__input_starts(s, input)[sample + 1];
    int64_t limit = in->limit, v;

    if (in->vertices_of) {
        const int64_t *start = cavs__starts(&d->stages[in->vertices_of->number]);

        limit = start[sample + 1] - start[sample];
    }
    for (int64_t i = v0; i < v1; i++) {
        if (ids[i] >= -1 && ids[i] < limit)
            continue;
        v = owner_of(s, in, sample, i - v0);
        if (in->pulled[((const int32_t *)s->function.p)[cavs__starts(s)[sample] + v]])
            return cavs__fail(
                CAVS_EDATA,
                "sample %d: input %s of stage %s: vertex %lld has id %d, not in -1..%lld", sample,
                in->name, s->stage->name, (long long)v, ids[i], (long long)limit - 1);
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
        return drop(d, rc);
    d->samples++;
    rewind_sample(d); /* the sample stays: it is counted */
    for (int i = 0; i < d->model->nstages && !rc; i++)
        rc = intern_rows(&d->stages[i]);
    if (rc) {
        d->samples--;
        for (int i = 0; i < d->model->nstages; i++)
            forget_rows(&d->stages[i], d->samples);
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

int *cavs_data_sample_ids(struct cavs_data *d, const struct cavs_stage *stage, const char *input,
                          int sample)
{
    const struct cavs__stage_data *s = stage_of(d, stage);

    for (int i = 0; s && input && sample >= 0 && sample < d->samples && i < stage->ninputs; i++) {
        if (stage->inputs[i]->ids && strcmp(stage->inputs[i]->name, input) == 0)
            return (int *)s->inputs[i].p + cavs__input_starts(s, i)[sample];
    }
    return NULL;
}
