/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - the passes that make a schedule, one after the other. */
#include "scheduler/internal.h"

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
    cavs__sort_by_class(g, l.levels, w, merge ? w->sorted : s->vertex_of);
    s->rows = g->n;
    if (merge) {
        s->rows = cavs__merge_equal(g, w, s->vertex_of);
        l.rep = w->rep;
    }
    cavs__schedule_lay_out(s, g, l.rep, policy->steps(s, &l));
    return 0;
}
