/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - the passes that make a schedule, one after the other. */
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

int cavs__schedule_make(struct cavs__schedule *s, const struct cavs__graph *g,
                        const struct cavs__policy *policy, bool merge)
{
    if (cavs__schedule_reserve(s, g) < 0)
        return -1;
    struct cavs__schedule_work *w = s->work;
    struct cavs__levelled_graph l = {.graph = g, .levels = cavs__levels(g, NULL, w->level)};
    int32_t child;
    if (l.levels < 0) {
        cavs__children_first(g, w->order, w->cursor, &child);
        l.order = w->order;
        l.levels = cavs__levels(g, l.order, w->level);
    }
    if (merge) {
        cavs__merge_equal(g, l.order, w);
        l.rep = w->rep;
    }
    s->rows = list_nodes(g->n, l.rep, w->nodes);
    cavs__schedule_lay_out(s, g, l.rep, policy->steps(s, &l));
    return 0;
}
