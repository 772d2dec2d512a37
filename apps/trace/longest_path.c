/* SPDX-License-Identifier: Apache-2.0 */
/* longest_path.c - dependencies between tasks: when they became ready, and the longest path. */
#include <stdlib.h>

#include "apps/trace/trace.h"

/* Tasks in an order in which dependencies come first, by counting those that are still open. */
struct sorting {
    int *order, norder;
    int *open;         /* dependencies not yet in the order */
    int *next0, *next; /* CSR: who depends on the task */
};

static int sorting_make(const struct trace *t, struct sorting *s)
{
    size_t n = (size_t)t->ntasks + 2, m = (size_t)t->ndeps + 1;

    s->norder = 0;
    s->order = malloc(n * sizeof *s->order);
    s->open = malloc(n * sizeof *s->open);
    s->next0 = calloc(n, sizeof *s->next0);
    s->next = malloc(m * sizeof *s->next);
    if (s->order && s->open && s->next0 && s->next)
        return CAVS_OK;
    return CAVS_ENOMEM;
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
static void link_dependents(const struct trace *t, struct sorting *s)
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
static void sort(const struct trace *t, struct sorting *s)
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

static double end_of(const struct trace *t, const struct trace_paths *p, int i)
{
    return t->tasks[i].worker >= 0 ? t->tasks[i].end : p->ready[i];
}

static void visit(const struct trace *t, struct trace_paths *p, int i)
{
    const struct trace_task *x = &t->tasks[i];

    for (int d = x->dep0; d < x->dep0 + x->ndeps; d++) {
        int dep = t->deps[d];

        if (end_of(t, p, dep) > p->ready[i])
            p->ready[i] = end_of(t, p, dep);
        if (p->path[dep] > p->path[i]) {
            p->path[i] = p->path[dep];
            p->before[i] = dep;
        }
    }
    if (x->counted)
        p->path[i] += x->end - x->start;
}

int trace_paths_make(const struct trace *t, struct trace_paths *p)
{
    struct sorting s;
    size_t n = (size_t)t->ntasks + 1;
    int rc = sorting_make(t, &s);

    p->ready = calloc(n, sizeof *p->ready);
    p->path = calloc(n, sizeof *p->path);
    p->before = malloc(n * sizeof *p->before);
    if (!rc && !(p->ready && p->path && p->before))
        rc = CAVS_ENOMEM;
    if (!rc) {
        sort(t, &s);
        for (int i = 0; i < t->ntasks; i++) {
            p->ready[i] = t->tasks[i].submit;
            p->before[i] = -1;
        }
        for (int k = 0; k < s.norder; k++)
            visit(t, p, s.order[k]);
    }
    sorting_free(&s);
    if (rc)
        trace_paths_free(p);
    return rc;
}

void trace_paths_free(struct trace_paths *p)
{
    free(p->ready);
    free(p->path);
    free(p->before);
}
