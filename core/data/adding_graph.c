/* SPDX-License-Identifier: Apache-2.0 */
/* adding_graph.c - the graph of a sample's stage, checked, and those of the stages that stand over
 * it. */
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/data/adding.h"
#include "scheduler/schedule.h"

static int graph_work(struct cavs_data *d, size_t n, int32_t **work)
{
    if (!cavs__array_reserve(&d->work, &d->work_cap, n, sizeof *d->work))
        return cavs__fail_nomem("graph check",
                                cavs__array_capacity(d->work_cap, n) * sizeof *d->work);
    *work = d->work;
    return CAVS_OK;
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
    default: /* functions have been looked at before */
        return cavs__fail(
            CAVS_EGRAPH, "sample %d, stage %s: vertex %d: child_ptr[%d] is less than child_ptr[%d]",
            d->samples, stage, vertex, vertex + 1, vertex);
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
    int32_t vertex = -1, child = -1, *work = NULL;
    enum cavs__graph_fault fault;
    int rc = graph_work(d, 2 * (size_t)n + 2, &work);

    if (rc)
        return rc;
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
    int64_t start = cavs__last_start(&s->start) + n,
            first = cavs__last_start(&s->first) + (ptr ? ptr[n] : 0);
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

/* The vertices of the base that the stage stands over: all of them, or those that are no vertex's
 * child. */
static int append_over(struct cavs_data *d, struct cavs__stage_data *s)
{
    const struct cavs__stage_data *b = &d->stages[s->stage->base->number];
    int64_t v0 = cavs__starts(b)[d->samples], n = cavs__starts(b)[d->samples + 1] - v0;
    int64_t e0 = ((const int64_t *)b->first.p)[d->samples],
            e1 = ((const int64_t *)b->first.p)[d->samples + 1];
    int32_t *covered = NULL;
    int count = 0, rc = graph_work(d, 2 * (size_t)n + 2, &covered);

    if (!rc)
        rc = cavs__column_room(&s->over, (size_t)n);
    if (rc)
        return rc;
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

/* Adds the graphs of the stages that stand over one that has its graph now. A base may itself stand
 * over another stage; bases come first. */
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

/* What can be seen of a graph before any of it is copied. */
static int check_call(const struct cavs_data *d, const struct cavs__stage_data *s, int n,
                      const int *child_ptr, const int *children)
{
    const char *stage = s->stage->name;

    if (s->stage->base)
        return cavs__fail(CAVS_EDATA, "stage %s stands over stage %s and takes no graph", stage,
                          s->stage->base->name);
    if (s->has_graph || n < 0)
        return cavs__fail(CAVS_EDATA, "sample %d, stage %s: %s", d->samples, stage,
                          s->has_graph ? "second graph" : "negative number of vertices");
    if (n > CAVS__MOST_OF_SAMPLE)
        return cavs__fail(CAVS_EDATA, "sample %d, stage %s: %d vertices are too many (at most %d)",
                          d->samples, stage, n, CAVS__MOST_OF_SAMPLE);
    if (child_ptr && child_ptr[0] != 0)
        return cavs__fail(CAVS_EDATA, "sample %d, stage %s: child_ptr[0] is %d, not 0", d->samples,
                          stage, child_ptr[0]);
    if (child_ptr && child_ptr[n] > CAVS__MOST_OF_SAMPLE)
        return cavs__fail(CAVS_EDATA, "sample %d, stage %s: %d edges are too many (at most %d)",
                          d->samples, stage, child_ptr[n], CAVS__MOST_OF_SAMPLE);
    if (child_ptr && child_ptr[n] > 0 && !children)
        return cavs__fail(CAVS_EDATA, "sample %d, stage %s: child_ptr without children", d->samples,
                          stage);
    return CAVS_OK;
}

int cavs_data_graph(struct cavs_data *d, const struct cavs_stage *stage, int n,
                    const int *functions, const int *child_ptr, const int *children)
{
    struct cavs__stage_data *s = NULL;
    size_t base;
    int rc = cavs__open_stage(d, stage, "cavs_data_graph", &s);

    if (rc)
        return rc;
    rc = check_call(d, s, n, child_ptr, children);
    if (rc)
        return cavs__drop_sample(d, rc);
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
    return cavs__drop_sample(d, rc ? rc : append_stages_over(d));
}
