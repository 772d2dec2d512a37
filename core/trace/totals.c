/* SPDX-License-Identifier: Apache-2.0 */
/* totals.c - sums by codelet, worker, phase and batch, and along the longest path. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/trace/trace.h"

static void add(struct cavs__trace_total *total, double ms)
{
    total->count++;
    total->ms += ms;
}

static void add_to_batch(struct cavs__trace_batch *b, const struct cavs__trace_task *x)
{
    if (b->count == 0 || x->start < b->begin)
        b->begin = x->start;
    if (b->count == 0 || x->end > b->end)
        b->end = x->end;
    b->count++;
}

static void add_task(const struct cavs__trace *t, const struct cavs__trace_task *x,
                     struct cavs__trace_stats *s)
{
    struct cavs__trace_kind kind = t->codelets[x->codelet].kind;
    double ms = x->end - x->start;

    if (s->all.count == 0 || x->start < s->begin)
        s->begin = x->start;
    if (s->all.count == 0 || x->end > s->end)
        s->end = x->end;
    add(&s->all, ms);
    add(&s->codelet[x->codelet], ms);
    add(&s->worker[x->worker], ms);
    add(&s->kind[kind.phase][kind.backward], ms);
    if (x->batch >= 0 && x->batch < s->nbatches)
        add_to_batch(&s->batch[x->batch], x);
}

/* Batches are numbered from 0 on and have a task each; other numbers are no batches of ours. */
static long count_batches(const struct cavs__trace *t)
{
    long n = 0;

    for (int i = 0; i < t->ntasks; i++) {
        if (t->tasks[i].counted && t->tasks[i].batch >= n &&
            t->tasks[i].batch < 4L * t->ntasks + 1000)
            n = t->tasks[i].batch + 1;
    }
    return n;
}

static void walk_path(const struct cavs__trace *t, const struct cavs__trace_graph *g,
                      struct cavs__trace_stats *s)
{
    int last = -1;

    for (int i = 0; i < t->ntasks; i++) {
        if (t->tasks[i].counted && (last < 0 || g->path[i] > g->path[last]))
            last = i;
    }
    for (int i = last; i >= 0; i = g->before[i]) {
        struct cavs__trace_kind kind = t->codelets[t->tasks[i].codelet].kind;

        if (!t->tasks[i].counted)
            continue;
        add(&s->path, t->tasks[i].end - t->tasks[i].start);
        s->path_kind[kind.phase][kind.backward] += t->tasks[i].end - t->tasks[i].start;
    }
}

static int over_time(const struct cavs__trace *t, struct cavs__trace_stats *s)
{
    struct cavs__trace_graph g;
    int rc = cavs__trace_graph_make(t, &g);

    if (rc)
        return rc;
    walk_path(t, &g, s);
    rc = cavs__trace_sweep(t, &g, s);
    cavs__trace_graph_free(&g);
    return rc;
}

int cavs__trace_stats_make(const struct cavs__trace *t, struct cavs__trace_stats *s)
{
    int rc = CAVS_OK;

    *s = (struct cavs__trace_stats){.nbatches = count_batches(t)};
    s->codelet = calloc((size_t)t->ncodelets + 1, sizeof *s->codelet);
    s->worker = calloc((size_t)t->nworkers + 1, sizeof *s->worker);
    s->batch = calloc((size_t)s->nbatches + 1, sizeof *s->batch);
    if (!s->codelet || !s->worker || !s->batch)
        rc = cavs__fail_nomem("trace", (size_t)s->nbatches * sizeof *s->batch);
    for (int i = 0; i < t->nworkers; i++)
        s->workers += t->workers[i] != NULL;
    for (int i = 0; i < t->ntasks && !rc; i++) {
        if (t->tasks[i].counted)
            add_task(t, &t->tasks[i], s);
    }
    if (!rc)
        rc = over_time(t, s);
    if (rc)
        cavs__trace_stats_free(s);
    return rc;
}

void cavs__trace_stats_free(struct cavs__trace_stats *s)
{
    free(s->codelet);
    free(s->worker);
    free(s->batch);
}

/* ---- questions ------------------------------------------------------------------------------- */

double cavs__trace_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

double cavs__trace_both(const struct cavs__trace_stats *s, enum cavs__trace_phase a,
                        enum cavs__trace_phase b)
{
    unsigned wanted = 1u << a | 1u << b;
    double ms = 0;

    for (unsigned phases = 0; phases < 1u << CAVS__TRACE_PHASES; phases++) {
        if ((phases & wanted) == wanted)
            ms += s->together[phases];
    }
    return ms;
}

/* Insertion: there are a few dozen codelets. */
int cavs__trace_by_time(const struct cavs__trace *t, const struct cavs__trace_stats *s, int *order)
{
    int n = 0;

    for (int c = 0; c < t->ncodelets; c++) {
        int i = n;

        if (s->codelet[c].count == 0)
            continue;
        for (n++; i > 0 && s->codelet[order[i - 1]].ms < s->codelet[c].ms; i--)
            order[i] = order[i - 1];
        order[i] = c;
    }
    return n;
}
