/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agenda.c - the agenda policy of Neubig, Goldberg and Dyer, "On-the-fly Operation Batching in
 * Dynamic Computation Graphs" (2017), section 3.2.
 *
 * Depth alone splits vertices of one function that lie at different depths of their graphs.  The
 * agenda instead lets a function wait while others, whose remaining vertices lie deeper down on
 * average, are still to feed it.
 *
 * Averages can mislead: where two functions alternate along chains, each in an order of its own,
 * the one with the lower average runs whenever one vertex of it is ready, and the agenda of the
 * paper takes more steps than depth.  So this one keeps a promise: steps taken and classes left, a
 * class being the V_t that depth would make, are together never more than there were classes.  A
 * step that ends no class uses up what others have saved by ending several; where nothing is saved,
 * only functions that end one are looked at.  There always is one: of the lowest level that is
 * left, all vertices are ready.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/internal.h"

/* ---- which function is next ---- */

static uint64_t bit_of(int32_t rank)
{
    return (uint64_t)1 << rank % CAVS__RANKS_A_WORD;
}

static void add(uint64_t *set, int32_t rank)
{
    set[rank / CAVS__RANKS_A_WORD] |= bit_of(rank);
}

static void drop(uint64_t *set, int32_t rank)
{
    set[rank / CAVS__RANKS_A_WORD] &= ~bit_of(rank);
}

static int compare_ranks(const void *x, const void *y)
{
    const struct cavs__agenda_rank *a = x, *b = y;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->function < b->function ? -1 : 1;
}

/* By the average depth of all vertices of a function, evaluated or not, as DyNet computes it: it
 * makes fewer V_t than an average over what is left, and it stays as it is. */
static void rank_functions(int nfunctions, struct cavs__schedule_work *w)
{
    for (int f = 0; f < nfunctions; f++) {
        const struct cavs__agenda_function *a = &w->agenda[f];
        double depth = a->count > 0 ? (double)a->depth_sum / a->count : 0;
        w->ranks[f] = (struct cavs__agenda_rank){depth, f};
    }
    qsort(w->ranks, (size_t)nfunctions, sizeof *w->ranks, compare_ranks);
    for (int32_t i = 0; i < nfunctions; i++)
        w->agenda[w->ranks[i].function].rank = i;
    memset(w->ready, 0, (size_t)cavs__rank_words(nfunctions) * sizeof *w->ready);
    memset(w->ending, 0, (size_t)cavs__rank_words(nfunctions) * sizeof *w->ending);
}

/* The function of the lowest rank that has ready vertices; -1: there is none.  saved: steps that
 * may be taken without an end of a class. */
static int pick(const struct cavs__schedule_work *w, int nfunctions, int32_t saved)
{
    const uint64_t *set = saved > 0 ? w->ready : w->ending;
    for (int32_t i = 0; i < cavs__rank_words(nfunctions); i++)
        if (set[i])
            return w->ranks[CAVS__RANKS_A_WORD * i + __builtin_ctzll(set[i])].function;
    return -1;
}

/* ---- steps ---- */

/* w->step[v]: the class of v, until v is evaluated. */
static void make_ready(const struct cavs__graph *g, struct cavs__schedule_work *w, int32_t v)
{
    struct cavs__agenda_function *a = &w->agenda[g->function[v]];
    w->queue[a->tail++] = v;
    if (--w->unready[w->step[v]] == 0 && a->ends++ == 0)
        add(w->ending, a->rank);
    if (!a->is_ready)
        add(w->ready, a->rank);
    a->is_ready = true;
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

static void start(const struct cavs__graph *g, int32_t m, int32_t classes,
                  struct cavs__schedule_work *w)
{
    memset(w->agenda, 0, (size_t)g->nfunctions * sizeof *w->agenda);
    memset(w->unready, 0, (size_t)classes * sizeof *w->unready);
    for (int32_t i = 0; i < m; i++) {
        struct cavs__agenda_function *a = &w->agenda[g->function[w->nodes[i]]];
        a->count++;
        a->depth_sum += w->level[w->nodes[i]];
        w->unready[w->step[w->nodes[i]]]++;
    }
    int32_t at = 0;
    for (int f = 0; f < g->nfunctions; f++) {
        w->agenda[f].head = w->agenda[f].tail = at;
        at += w->agenda[f].count;
    }
    rank_functions(g->nfunctions, w);
    for (int32_t i = 0; i < m; i++)
        if (w->pending[w->nodes[i]] == 0)
            make_ready(g, w, w->nodes[i]);
}

/* Evaluates all ready vertices of f; those that become ready thereby wait for another step, even
 * of f. */
static void run_ready(const struct cavs__graph *g, struct cavs__schedule_work *w, int f,
                      int32_t step)
{
    struct cavs__agenda_function *a = &w->agenda[f];
    int32_t end = a->tail;
    a->ends = 0;
    a->is_ready = false;
    drop(w->ready, a->rank);
    drop(w->ending, a->rank);
    for (; a->head < end; a->head++) {
        int32_t v = w->queue[a->head];
        w->step[v] = step;
        for (int32_t e = w->first_up[v]; e >= 0; e = w->up[e].next)
            if (--w->pending[w->up[e].parent] == 0)
                make_ready(g, w, w->up[e].parent);
    }
}

int32_t cavs__agenda_steps(const struct cavs__graph *g, const int32_t *rep, int32_t m,
                           int32_t classes, struct cavs__schedule_work *w)
{
    int32_t step = 0, saved = 0;
    wait_for_children(g, rep, m, w);
    start(g, m, classes, w);
    for (int f; (f = pick(w, g->nfunctions, saved)) >= 0; step++) {
        saved += w->agenda[f].ends - 1;
        run_ready(g, w, f, step);
    }
    return step;
}
