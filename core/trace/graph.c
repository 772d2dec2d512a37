/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - dependencies between tasks: when they became ready, and the longest path. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/trace/trace.h"

/* Tasks in an order in which dependencies come first, by counting those that are still open. */
struct sorting {
    int *order, norder;
    int *open;         /* dependencies not yet in the order */
    int *next0, *next; /* CSR: who depends on the task */
};

static int sorting_make(const struct cavs__trace *t, struct sorting *s)
{
    size_t n = (size_t)t->ntasks + 2, m = (size_t)t->ndeps + 1;

    s->norder = 0;
    s->order = malloc(n * sizeof *s->order);
    s->open = malloc(n * sizeof *s->open);
    s->next0 = calloc(n, sizeof *s->next0);
    s->next = malloc(m * sizeof *s->next);
    if (s->order && s->open && s->next0 && s->next)
        return CAVS_OK;
    return cavs__fail_nomem("trace", (3 * n + m) * sizeof *s->order);
}

static void sorting_free(struct sorting *s)
{
    free(s->order);
    free(s->open);
    free(s->next0);
    free(s->next);
}

/* next0 counts, sums up, and is moved to its place by filling: next0[i + 1] runs from the start
 * of i to its end. */
static void link_dependents(const struct cavs__trace *t, struct sorting *s)
{
    for (int i = 0; i < t->ntasks; i++) {
        s->open[i] = t->tasks[i].ndeps;
        for (int d = 0; d < t->tasks[i].ndeps; d++)
            s->next0[t->deps[t->tasks[i].dep0 + d] + 2]++;
    }
    for (int i = 2; i <= t->ntasks; i++)
        s->next0[i] += s->next0[i - 1];
    for (int i = 0; i < t->ntasks; i++) {
        for (int d = 0; d < t->tasks[i].ndeps; d++)
            s->next[s->next0[t->deps[t->tasks[i].dep0 + d] + 1]++] = i;
    }
}

/* Tasks on a cycle, which no true trace has, stay out of the order. */
static void sort(const struct cavs__trace *t, struct sorting *s)
{
    link_dependents(t, s);
    for (int i = 0; i < t->ntasks; i++) {
        if (s->open[i] == 0)
            s->order[s->norder++] = i;
    }
    for (int k = 0; k < s->norder; k++) {
        int i = s->order[k];

        for (int e = s->next0[i]; e < s->next0[i + 1]; e++) {
            if (--s->open[s->next[e]] == 0)
                s->order[s->norder++] = s->next[e];
        }
    }
}

static double end_of(const struct cavs__trace *t, const struct cavs__trace_graph *g, int i)
{
    return t->tasks[i].worker >= 0 ? t->tasks[i].end : g->ready[i];
}

static void visit(const struct cavs__trace *t, struct cavs__trace_graph *g, int i)
{
    const struct cavs__trace_task *x = &t->tasks[i];

    for (int d = x->dep0; d < x->dep0 + x->ndeps; d++) {
        int dep = t->deps[d];

        if (end_of(t, g, dep) > g->ready[i])
            g->ready[i] = end_of(t, g, dep);
        if (g->path[dep] > g->path[i]) {
            g->path[i] = g->path[dep];
            g->before[i] = dep;
        }
    }
    if (x->counted)
        g->path[i] += x->end - x->start;
}

int cavs__trace_graph_make(const struct cavs__trace *t, struct cavs__trace_graph *g)
{
    struct sorting s;
    size_t n = (size_t)t->ntasks + 1;
    int rc = sorting_make(t, &s);

    g->ready = calloc(n, sizeof *g->ready);
    g->path = calloc(n, sizeof *g->path);
    g->before = malloc(n * sizeof *g->before);
    if (!rc && !(g->ready && g->path && g->before))
        rc = cavs__fail_nomem("trace", n * sizeof *g->ready);
    if (!rc) {
        sort(t, &s);
        for (int i = 0; i < t->ntasks; i++) {
            g->ready[i] = t->tasks[i].submit;
            g->before[i] = -1;
        }
        for (int k = 0; k < s.norder; k++)
            visit(t, g, s.order[k]);
    }
    sorting_free(&s);
    if (rc)
        cavs__trace_graph_free(g);
    return rc;
}

void cavs__trace_graph_free(struct cavs__trace_graph *g)
{
    free(g->ready);
    free(g->path);
    free(g->before);
}
