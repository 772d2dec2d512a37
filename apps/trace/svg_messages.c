/* SPDX-License-Identifier: Apache-2.0 */
/* svg_messages.c - when messages were under way to a rank: a thin lane below those of its
 * workers. */
#include <math.h>
#include <stdlib.h>

#include "apps/trace/svg.h"

/* Pixels in which one was. */
static void mark(const struct trace *t, const struct svg_lane *lane, int rank, bool *marked, int n)
{
    double scale = n / (lane->end - lane->begin);

    for (int i = 0; i < t->nmessages; i++) {
        const struct trace_message *m = &t->messages[i];
        double from = fmin(n, fmax(0, floor((m->sent - lane->begin) * scale))),
               to = fmin(n - 1, floor((m->came - lane->begin) * scale));

        for (int x = (int)from; m->to == rank && x <= to; x++)
            marked[x] = true;
    }
}

int svg_draw_messages(FILE *out, const struct trace *t, const struct svg_lane *lane, int rank)
{
    const struct svg_box *at = &lane->at;
    int n = (int)ceil(at->width);
    bool *marked = calloc((size_t)n + 1, sizeof *marked);

    if (!marked)
        return CAVS_ENOMEM;
    mark(t, lane, rank, marked, n);
    fprintf(out, "<path fill=\"#%06x\" d=\"M%g %gh0", SVG_MESSAGE, at->x, at->y);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && marked[end] == marked[i];)
            end++;
        if (marked[i])
            fprintf(out, "M%g %gh%dv%gh-%dz", at->x + i, at->y, end - i, at->height, end - i);
    }
    fprintf(out, "\"><title>messages to rank %d</title></path>\n", rank);
    free(marked);
    return CAVS_OK;
}
