/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.c - the policies: what is evaluated when.
 *
 * A policy gives every vertex a step in time; the rows are then the vertices sorted by (step,
 * function), stably, so that inside a V_t they keep the order of their numbers and lie in memory as
 * the samples do.
 */
#include <string.h>

#include "scheduler/internal.h"

/* Lists the representatives, ascending, in w->nodes; returns how many there are. */
static int32_t list_nodes(int n, const int32_t *rep, int32_t *nodes)
{
    int32_t m = 0;
    for (int32_t v = 0; v < n; v++) {
        nodes[m] = v;
        m += cavs__representative(rep, v) == v;
    }
    return m;
}

/* One vertex a step, in the given order.  A class of equal vertices comes when the first of them
 * does. */
static void serial_rows(struct cavs__schedule *s, const struct cavs__graph *g, const int32_t *order,
                        const int32_t *rep)
{
    int32_t *step = s->work->step, next = 0;
    memset(step, -1, (size_t)g->n * sizeof *step);
    for (int32_t i = 0; i < g->n; i++) {
        int32_t v = cavs__representative(rep, order ? order[i] : i);
        if (step[v] < 0) {
            s->vertex_of[next] = v;
            step[v] = next++;
        }
    }
}

/* The order of time: by function, then stably by level. */
static void level_rows(struct cavs__schedule *s, const struct cavs__graph *g, int32_t levels)
{
    struct cavs__schedule_work *w = s->work;
    const int32_t *nodes = w->nodes;
    if (g->nfunctions > 1) {
        cavs__sort_by_key(g->function, g->nfunctions, nodes, s->rows, w->sorted, w->count);
        nodes = w->sorted;
    }
    cavs__sort_by_key(w->level, levels, nodes, s->rows, s->vertex_of, w->count);
}

/* A step of the agenda runs one function only: sorting by step is enough. */
static void agenda_rows(struct cavs__schedule *s, const struct cavs__graph *g, const int32_t *rep)
{
    struct cavs__schedule_work *w = s->work;
    int32_t steps = cavs__agenda_steps(g, rep, s->rows, w);
    cavs__sort_by_key(w->step, steps, w->nodes, s->rows, s->vertex_of, w->count);
}

int cavs__schedule_make(struct cavs__schedule *s, const struct cavs__graph *g,
                        enum cavs__policy policy, bool merge)
{
    if (cavs__schedule_reserve(s, g) < 0)
        return -1;
    struct cavs__schedule_work *w = s->work;
    const int32_t *order = NULL, *rep = NULL;
    int32_t child, levels = cavs__levels(g, NULL, w->level);
    if (levels < 0) {
        cavs__children_first(g, w->order, w->cursor, &child);
        order = w->order;
        levels = cavs__levels(g, order, w->level);
    }
    if (merge) {
        cavs__merge_equal(g, order, w);
        rep = w->rep;
    }
    s->rows = list_nodes(g->n, rep, w->nodes);

    const int32_t *step = w->step;
    switch (policy) {
    case CAVS__SERIAL: serial_rows(s, g, order, rep); break;
    case CAVS__AGENDA: agenda_rows(s, g, rep); break;
    case CAVS__DEPTH:
    case CAVS__FRONTIER: /* a vertex is activated by its last child: its step is its level */
        level_rows(s, g, levels);
        step = w->level;
        break;
    }
    cavs__schedule_lay_out(s, g, rep, step);
    return 0;
}
