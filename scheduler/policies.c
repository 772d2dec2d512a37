/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policies.c - the policies: what is evaluated when.
 *
 * A policy gives every vertex a step in time; the rows are then the vertices sorted by (step,
 * function), stably, so that inside a V_t they keep the order of their numbers and lie in memory as
 * the samples do.
 */
#include <string.h>

#include "core/cavs.h"
#include "scheduler/internal.h"

/* One vertex a step, children first.  A class of equal vertices comes when the first of them
 * does. */
static const int32_t *serial(struct cavs__schedule *s, const struct cavs__levelled_graph *l)
{
    int32_t *step = s->work->step, n = l->graph->n, next = 0;
    memset(step, -1, (size_t)n * sizeof *step);
    for (int32_t i = 0; i < n; i++) {
        int32_t v = cavs__representative(l->rep, l->order ? l->order[i] : i);
        if (step[v] < 0) {
            s->vertex_of[next] = v;
            step[v] = next++;
        }
    }
    return step;
}

/* The step of a vertex is the longest distance from the leaves. Rows are sorted by it already. */
static const int32_t *depth(struct cavs__schedule *s, const struct cavs__levelled_graph *l)
{
    (void)l;
    return s->work->level;
}

/* Lists the representatives, ascending. */
static void list_nodes(int n, const int32_t *rep, int32_t *nodes)
{
    int32_t m = 0;
    for (int32_t v = 0; v < n; v++)
        if (cavs__representative(rep, v) == v)
            nodes[m++] = v;
}

/* Numbers the V_t that rows sorted by (level, function) are, in the order of time; number[v]: that
 * of v's.  Returns how many there are. */
static int32_t number_vt(const struct cavs__schedule *s, const int32_t *function,
                         const int32_t *level, int32_t *number)
{
    int32_t n = 0;
    for (int32_t row = 0; row < s->rows; row++) {
        int32_t v = s->vertex_of[row], before = s->vertex_of[row > 0 ? row - 1 : 0];
        n += row == 0 || level[v] != level[before] || function[v] != function[before];
        number[v] = n - 1;
    }
    return n;
}

/* What depth and the agenda make of a graph. */
struct both {
    int32_t vt;    /* of depth, as which the rows are sorted */
    int32_t steps; /* of the agenda, each one V_t: never more */
};

static struct both try_both(struct cavs__schedule *s, const struct cavs__levelled_graph *l)
{
    struct cavs__schedule_work *w = s->work;
    int32_t vt = number_vt(s, l->graph->function, w->level, w->step);
    list_nodes(l->graph->n, l->rep, w->nodes);
    return (struct both){.vt = vt, .steps = cavs__agenda_steps(l->graph, l->rep, s->rows, vt, w)};
}

/* A step runs one function only: sorting by step is enough. */
static const int32_t *sort_by_step(struct cavs__schedule *s, int32_t steps)
{
    struct cavs__schedule_work *w = s->work;
    cavs__sort_by_key(w->step, steps, w->nodes, s->rows, s->vertex_of, w->count);
    return w->step;
}

/* All ready vertices of the function whose vertices have the lowest average depth; equal averages
 * by function number.  In no more V_t than depth makes. */
static const int32_t *agenda(struct cavs__schedule *s, const struct cavs__levelled_graph *l)
{
    return sort_by_step(s, try_both(s, l).steps);
}

/* As the agenda if that makes fewer V_t of this graph, which is that of one stage and shard.  Else
 * as depth: its V_t of one step do not wait for one another, where every V_t of the agenda is a
 * step.  DyNet can time its strategies and keep the fastest (--dynet-autobatch from 100 on); a
 * count gives the same schedule every time. */
static const int32_t *cheaper(struct cavs__schedule *s, const struct cavs__levelled_graph *l)
{
    struct both made = try_both(s, l);
    return made.vt <= made.steps ? s->work->level : sort_by_step(s, made.steps);
}

const struct cavs__policy cavs__policies[] = {
    [CAVS_POLICY_SERIAL] = {.name = "serial",
                            .summary = "one vertex at a time",
                            .alone = true,
                            .steps = serial},
    /* Looks et al. 2017, TensorFlow Fold: dynamic batching */
    [CAVS_POLICY_DEPTH] = {.name = "depth",
                           .summary = "vertices of one longest distance from a leaf",
                           .steps = depth},
    /* Cavs section 3.2: all vertices that the step before has activated.  A vertex is activated by
     * the last of its children, one step after the deepest: the steps are those of depth. */
    [CAVS_POLICY_FRONTIER] = {.name = "frontier",
                              .summary =
                                  "vertices whose last child was evaluated in the step before",
                              .steps = depth},
    /* Neubig et al. 2017 section 3.2 */
    [CAVS_POLICY_AGENDA] = {.name = "agenda",
                            .summary = "ready vertices of the function of the lowest average "
                                       "depth, in no more batching tasks than depth",
                            .steps = agenda},
    [CAVS_POLICY_AUTO] = {.name = "auto",
                          .summary = "as agenda where that makes fewer batching tasks, else depth",
                          .steps = cheaper},
};

_Static_assert(sizeof cavs__policies / sizeof *cavs__policies == CAVS_POLICIES,
               "every policy of core/cavs.h has a record");
