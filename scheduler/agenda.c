/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agenda.c - the agenda policy of Neubig, Goldberg and Dyer, "On-the-fly Operation Batching in
 * Dynamic Computation Graphs" (2017), section 3.2.
 *
 * Depth alone splits vertices of one function that lie at different depths of their graphs.  The
 * agenda instead lets a function wait while others, whose remaining vertices lie deeper down on
 * average, are still to feed it.
 */
#include <string.h>

#include "scheduler/internal.h"

static void make_ready(const struct cavs__graph *g, struct cavs__schedule_work *w, int32_t v)
{
    w->queue[w->agenda[g->function[v]].tail++] = v;
}

/* Lists every edge with the child it waits for, and counts the children each vertex waits for.
 * Lists and not ranges: it takes one pass, most have one entry, and their order does not matter. */
static void wait_for_children(const struct cavs__graph *g, const int32_t *rep, int32_t m,
                              struct cavs__schedule_work *w)
{
    int32_t edges = 0;
    memset(w->first_up, -1, (size_t)g->n * sizeof *w->first_up);
    for (int32_t i = 0; i < m; i++) {
        int32_t v = w->nodes[i], pending = 0;
        for (int32_t e = g->child_ptr[v]; e < g->child_ptr[v + 1]; e++) {
            if (g->child[e] < 0)
                continue;
            int32_t *first = &w->first_up[cavs__representative(rep, g->child[e])];
            w->up[edges] = (struct cavs__agenda_edge){v, *first};
            *first = edges++;
            pending++;
        }
        w->pending[v] = pending;
    }
}

static void start(const struct cavs__graph *g, int32_t m, struct cavs__schedule_work *w)
{
    memset(w->agenda, 0, (size_t)g->nfunctions * sizeof *w->agenda);
    for (int32_t i = 0; i < m; i++) {
        struct cavs__agenda_function *a = &w->agenda[g->function[w->nodes[i]]];
        a->count++;
        a->depth_sum += w->level[w->nodes[i]];
    }
    int32_t at = 0;
    for (int f = 0; f < g->nfunctions; f++) {
        w->agenda[f].head = w->agenda[f].tail = at;
        at += w->agenda[f].count;
    }
    for (int32_t i = 0; i < m; i++)
        if (w->pending[w->nodes[i]] == 0)
            make_ready(g, w, w->nodes[i]);
}

/* The function with ready vertices whose vertices, evaluated or not, have the lowest average depth:
 * as DyNet computes it, and it makes fewer V_t than an average over what is left. */
static int pick(const struct cavs__agenda_function *a, int nfunctions)
{
    int best = -1;
    double lowest = 0;
    for (int f = 0; f < nfunctions; f++) {
        if (a[f].head == a[f].tail)
            continue;
        double average = (double)a[f].depth_sum / a[f].count;
        if (best < 0 || average < lowest) {
            best = f;
            lowest = average;
        }
    }
    return best;
}

/* Evaluates all ready vertices of f; those that become ready thereby wait for another step, even
 * of f. */
static void run_ready(const struct cavs__graph *g, struct cavs__schedule_work *w, int f,
                      int32_t step)
{
    struct cavs__agenda_function *a = &w->agenda[f];
    int32_t end = a->tail;
    for (; a->head < end; a->head++) {
        int32_t v = w->queue[a->head];
        w->step[v] = step;
        for (int32_t e = w->first_up[v]; e >= 0; e = w->up[e].next)
            if (--w->pending[w->up[e].parent] == 0)
                make_ready(g, w, w->up[e].parent);
    }
}

int32_t cavs__agenda_steps(const struct cavs__graph *g, const int32_t *rep, int32_t m,
                           struct cavs__schedule_work *w)
{
    int32_t step = 0;
    wait_for_children(g, rep, m, w);
    start(g, m, w);
    for (int f; (f = pick(w->agenda, g->nfunctions)) >= 0; step++)
        run_ready(g, w, f, step);
    return step;
}
