/* SPDX-License-Identifier: Apache-2.0 */
/* totals.c - sums by codelet, worker, phase and batch, and along the longest path. */
#include <stdlib.h>

#include "apps/trace/trace.h"

static void add(struct trace_total *total, double ms)
{
    total->count++;
    total->ms += ms;
}

static void add_to_batch(struct trace_batch *b, const struct trace_task *x)
{
    if (b->count == 0 || x->start < b->begin)
        b->begin = x->start;
    if (b->count == 0 || x->end > b->end)
        b->end = x->end;
    b->count++;
}

static void add_task(const struct trace *t, const struct trace_task *x, struct trace_stats *s)
{
    struct cavs__work kind = t->codelets[x->codelet].kind;
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
static long count_batches(const struct trace *t)
{
    long n = 0;

    for (int i = 0; i < t->ntasks; i++) {
        if (t->tasks[i].counted && t->tasks[i].batch >= n &&
            t->tasks[i].batch < 4L * t->ntasks + 1000)
            n = t->tasks[i].batch + 1;
    }
    return n;
}

static void walk_path(const struct trace *t, const struct trace_paths *p, struct trace_stats *s)
{
    int last = -1;

    for (int i = 0; i < t->ntasks; i++) {
        if (t->tasks[i].counted && (last < 0 || p->path[i] > p->path[last]))
            last = i;
    }
    for (int i = last; i >= 0; i = p->before[i]) {
        struct cavs__work kind = t->codelets[t->tasks[i].codelet].kind;

        if (!t->tasks[i].counted)
            continue;
        add(&s->path, t->tasks[i].end - t->tasks[i].start);
        s->path_kind[kind.phase][kind.backward] += t->tasks[i].end - t->tasks[i].start;
    }
}

static void add_message(const struct trace_message *m, struct trace_stats *s)
{
    s->rank[m->to].messages++;
    s->rank[m->to].bytes += (double)m->bytes;
}

static int over_time(const struct trace *t, struct trace_stats *s)
{
    struct trace_paths p;
    int rc = trace_paths_make(t, &p);

    if (rc)
        return rc;
    walk_path(t, &p, s);
    rc = trace_sweep(t, &p, s);
    trace_paths_free(&p);
    return rc;
}

int trace_stats_make(const struct trace *t, struct trace_stats *s)
{
    int rc = CAVS_OK;

    *s = (struct trace_stats){.nbatches = count_batches(t)};
    s->codelet = calloc((size_t)t->ncodelets + 1, sizeof *s->codelet);
    s->worker = calloc((size_t)t->nworkers + 1, sizeof *s->worker);
    s->batch = calloc((size_t)s->nbatches + 1, sizeof *s->batch);
    if (!s->codelet || !s->worker || !s->batch)
        rc = CAVS_ENOMEM;
    for (int i = 0; i < t->nworkers; i++) {
        if (t->workers[i]) {
            s->workers++;
            s->rank[i / TRACE_RANK_WORKERS].workers++;
        }
    }
    for (int i = 0; i < t->nmessages; i++)
        add_message(&t->messages[i], s);
    for (int i = 0; i < t->ntasks && !rc; i++) {
        if (t->tasks[i].counted)
            add_task(t, &t->tasks[i], s);
    }
    if (!rc)
        rc = over_time(t, s);
    if (rc)
        trace_stats_free(s);
    return rc;
}

void trace_stats_free(struct trace_stats *s)
{
    free(s->codelet);
    free(s->worker);
    free(s->batch);
}

/* ---- questions ------------------------------------------------------------------------------- */

const char *trace_plural(long n)
{
    return n == 1 ? "" : "s";
}

double trace_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

double trace_both(const struct trace_stats *s, enum cavs__work_phase a, enum cavs__work_phase b)
{
    unsigned wanted = 1u << a | 1u << b;
    double ms = 0;

    for (unsigned phases = 0; phases < 1u << CAVS__WORK_PHASES; phases++) {
        if ((phases & wanted) == wanted)
            ms += s->together[phases];
    }
    return ms;
}

/* Insertion: there are a few dozen codelets. */
int trace_by_time(const struct trace *t, const struct trace_stats *s, int *order)
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
