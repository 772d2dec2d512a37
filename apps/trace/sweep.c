/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - sums over time.  All moments at which something changes (a task is submitted, becomes
 * ready, starts, ends; a message is sent, comes) are sorted; between two of them the state is
 * constant, and its duration is added to where it belongs.
 */
#include <stdlib.h>

#include "apps/trace/trace.h"

enum change { SUBMITTED, READY, STARTED, ENDED, SENT, CAME, CHANGES };

struct moment {
    double time;
    enum change change;
    enum cavs__work_phase phase; /* of a task */
    int rank;
};

struct state {
    long count[TRACE_RANKS][CHANGES]; /* tasks and messages which that has happened to */
    int running[CAVS__WORK_PHASES];
};

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (int)x->change - (int)y->change;
}

/* Clocks of workers differ a little: what has to come before a task's start is not later than
 * it. */
static struct moment *add_task(struct moment *m, const struct trace *t, const struct trace_paths *p,
                               int i)
{
    const struct trace_task *x = &t->tasks[i];
    enum cavs__work_phase phase = t->codelets[x->codelet].kind.phase;
    double ready = p->ready[i] < x->start ? p->ready[i] : x->start,
           submit = x->submit < ready ? x->submit : ready;

    *m++ = (struct moment){submit, SUBMITTED, phase, x->rank};
    *m++ = (struct moment){ready, READY, phase, x->rank};
    *m++ = (struct moment){x->start, STARTED, phase, x->rank};
    *m++ = (struct moment){x->end, ENDED, phase, x->rank};
    return m;
}

static struct moment *add_message(struct moment *m, const struct trace_message *x)
{
    *m++ = (struct moment){x->sent, SENT, CAVS__WORK_OTHER, x->to};
    *m++ = (struct moment){x->came, CAME, CAVS__WORK_OTHER, x->to};
    return m;
}

static long idle_workers(const long *count, const struct trace_rank *rank)
{
    long idle = rank->workers - (count[STARTED] - count[ENDED]);

    return idle > 0 ? idle : 0;
}

static void add_under_way(const long *count, double ms, struct trace_rank *rank)
{
    if (count[SENT] == count[CAME] || rank->workers == 0)
        return;
    rank->under_way += ms;
    rank->exposed += ms * (double)idle_workers(count, rank) / rank->workers;
}

static void add_idle(const long *count, double ms, const struct trace_rank *rank,
                     struct trace_stats *s)
{
    long ready = count[READY] - count[STARTED], idle = idle_workers(count, rank);

    if (ready > idle)
        ready = idle;
    s->idle[TRACE_RUNTIME] += (double)ready * ms;
    if (count[SUBMITTED] > count[READY])
        s->idle[TRACE_WAITING] += (double)(idle - ready) * ms;
    else
        s->idle[TRACE_STARVING] += (double)(idle - ready) * ms;
}

static void add_together(const struct state *now, double ms, struct trace_stats *s)
{
    unsigned phases = 0;

    for (int p = 0; p < CAVS__WORK_PHASES; p++)
        phases |= now->running[p] > 0 ? 1u << p : 0;
    s->together[phases] += ms;
}

static void add_ranks(const struct state *now, double ms, int nranks, struct trace_stats *s)
{
    for (int i = 0; i < nranks; i++) {
        add_idle(now->count[i], ms, &s->rank[i], s);
        add_under_way(now->count[i], ms, &s->rank[i]);
    }
}

static void walk(const struct moment *moments, size_t n, int nranks, struct trace_stats *s)
{
    struct state now = {{{0}}, {0}};
    double last = s->begin;

    for (size_t i = 0; i < n; i++) {
        const struct moment *m = &moments[i];

        if (m->time > last) {
            add_ranks(&now, m->time - last, nranks, s);
            add_together(&now, m->time - last, s);
            last = m->time;
        }
        now.count[m->rank][m->change]++;
        if (m->change == STARTED)
            now.running[m->phase]++;
        if (m->change == ENDED)
            now.running[m->phase]--;
    }
}

int trace_sweep(const struct trace *t, const struct trace_paths *p, struct trace_stats *s)
{
    size_t size = ((size_t)s->all.count * 4 + (size_t)t->nmessages * 2 + 1) * sizeof(struct moment);
    struct moment *moments = malloc(size), *end = moments;

    if (!moments)
        return CAVS_ENOMEM;
    for (int i = 0; i < t->ntasks; i++) {
        if (t->tasks[i].counted)
            end = add_task(end, t, p, i);
    }
    for (int i = 0; i < t->nmessages; i++)
        end = add_message(end, &t->messages[i]);
    qsort(moments, (size_t)(end - moments), sizeof *moments, by_time);
    walk(moments, (size_t)(end - moments), t->nranks, s);
    free(moments);
    return CAVS_OK;
}
