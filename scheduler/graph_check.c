/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_check.c - is this an input graph that can be scheduled?  Everything else here takes that
 * for granted.
 */
#include "scheduler/internal.h"

static enum cavs__graph_fault fault(enum cavs__graph_fault what, int32_t v, int32_t detail,
                                    int32_t *vertex, int32_t *child)
{
    *vertex = v;
    *child = detail;
    return what;
}

/* The first vertex whose range of children is none, or -1.  Looked for before any child is read:
 * when child_ptr never descends, no range reaches beyond child_ptr[n]. */
static int32_t bad_range(const struct cavs__graph *g)
{
    for (int32_t v = 0; v < g->n; v++)
        if (g->child_ptr[v] < 0 || g->child_ptr[v + 1] < g->child_ptr[v])
            return v;
    return -1;
}

/* Checks vertex v alone.  Clears *ordered if v has a child numbered at or after itself. */
static enum cavs__graph_fault check_vertex(const struct cavs__graph *g, int32_t v, bool *ordered,
                                           int32_t *vertex, int32_t *child)
{
    int32_t f = g->function[v], begin = g->child_ptr[v], end = g->child_ptr[v + 1];
    if (f < 0 || f >= g->nfunctions)
        return fault(CAVS__GRAPH_FUNCTION, v, f, vertex, child);
    if (g->slots[f] >= 0 && end - begin > g->slots[f])
        return fault(CAVS__GRAPH_SLOTS, v, end - begin, vertex, child);
    for (int32_t e = begin; e < end; e++) {
        int32_t c = g->child[e];
        if (c < -1 || c >= g->n)
            return fault(CAVS__GRAPH_RANGE, v, c, vertex, child);
        if (c >= v)
            *ordered = false;
    }
    return CAVS__GRAPH_OK;
}

enum cavs__graph_fault cavs__graph_check(const struct cavs__graph *g, int32_t *work,
                                         int32_t *vertex, int32_t *child)
{
    bool ordered = true;
    int32_t bad = bad_range(g), next;
    if (bad >= 0)
        return fault(CAVS__GRAPH_POINTERS, bad, g->child_ptr[bad + 1], vertex, child);
    for (int32_t v = 0; v < g->n; v++) {
        enum cavs__graph_fault what = check_vertex(g, v, &ordered, vertex, child);
        if (what != CAVS__GRAPH_OK)
            return what;
    }
    if (ordered)
        return CAVS__GRAPH_OK;
    bad = cavs__children_first(g, work, work + g->n, &next);
    return bad < 0 ? CAVS__GRAPH_OK : fault(CAVS__GRAPH_CYCLE, bad, next, vertex, child);
}
