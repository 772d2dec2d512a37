/* SPDX-License-Identifier: Apache-2.0 */
/* svg_bars.c - the codelets that took the most time. */
#include <stdlib.h>

#include "apps/trace/svg.h"

enum { MOST = 12, TITLE = 26, ROW = 20, LABEL = 300, NUMBERS = 330 };

static void draw_bar(struct svg *p, int codelet, double length)
{
    const struct trace_codelet *c = &p->t->codelets[codelet];
    const struct trace_total *total = &p->s->codelet[codelet];
    double x = p->margin + LABEL;

    svg_text(p, x - 10, p->y + 14, "class=\"e\"", "%s", c->name);
    fprintf(p->out, "<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%d\" fill=\"#%06x\"/>\n", x,
            p->y + 3, length, ROW - 6, cavs__work_color(c->kind));
    svg_text(p, x + length + 8, p->y + 14, "class=\"n\"", "%.1f %%: %.3f ms = %ld x %.1f us",
             trace_percent(total->ms, p->s->all.ms), total->ms, total->count,
             1000 * total->ms / (double)total->count);
}

/* Out of memory this part is left out. */
void svg_bars(struct svg *p)
{
    int *order = malloc(((size_t)p->t->ncodelets + 1) * sizeof *order), n;
    double longest = p->width - 2 * p->margin - LABEL - NUMBERS;

    if (!order)
        return;
    n = trace_by_time(p->t, p->s, order);
    svg_text(p, p->margin, p->y + 16, "class=\"t\"", "Time by codelet");
    p->y += TITLE;
    for (int i = 0; i < n && i < MOST; i++) {
        draw_bar(p, order[i], longest * p->s->codelet[order[i]].ms / p->s->codelet[order[0]].ms);
        p->y += ROW;
    }
    free(order);
}
