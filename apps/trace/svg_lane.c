/* SPDX-License-Identifier: Apache-2.0 */
/* svg_lane.c - one worker's lane, as readable with a million tasks as with ten. */
#include <math.h>
#include <stdlib.h>

#include "apps/trace/svg.h"

enum { KINDS = 2 * CAVS__WORK_PHASES };

static const double visible = 1.5; /* width from which on a task has a rectangle of its own */

/* Of each column, one pixel wide, the share that short tasks of each kind took. */
struct columns {
    int n;
    float (*share)[KINDS];
};

static void add_to_columns(struct columns *c, double x0, double x1, int kind)
{
    for (int i = (int)x0; i < c->n && i < x1; i++) {
        double from = x0 > i ? x0 : i, to = x1 < i + 1 ? x1 : i + 1;

        c->share[i][kind] += (float)(to - from);
    }
}

static void draw_task(FILE *out, const struct trace *t, const struct trace_task *x,
                      const struct svg_box *at)
{
    const struct trace_codelet *c = &t->codelets[x->codelet];

    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"%s><title>",
            at->x, at->y, at->width, at->height, cavs__work_color(c->kind),
            at->width > 5 ? " stroke=\"#fff\" stroke-width=\".6\"" : "");
    svg_escape(out, c->name);
    fprintf(out, ", %.1f us", 1000 * (x->end - x->start));
    if (x->batch >= 0)
        fprintf(out, ", batch %ld", x->batch);
    fprintf(out, "</title></rect>\n");
}

static void draw_tasks(FILE *out, const struct trace *t, const struct svg_lane *lane,
                       struct columns *short_ones)
{
    double width = lane->at.width, scale = width / (lane->end - lane->begin);

    for (int i = 0; i < t->ntasks; i++) {
        const struct trace_task *x = &t->tasks[i];
        double x0 = (x->start - lane->begin) * scale, x1 = (x->end - lane->begin) * scale;
        struct cavs__work kind = t->codelets[x->codelet].kind;
        struct svg_box box = lane->at;

        if (!x->counted || x->worker != lane->worker || x1 <= 0 || x0 >= width)
            continue;
        x0 = x0 > 0 ? x0 : 0;
        x1 = x1 < width ? x1 : width;
        box.x += x0;
        box.width = x1 - x0;
        if (x1 - x0 >= visible)
            draw_task(out, t, x, &box);
        else
            add_to_columns(short_ones, x0, x1, 2 * (int)kind.phase + kind.backward);
    }
}

/* A piece of a column, in whole pixels so that equal neighbours become one. */
struct piece {
    int top, bottom;
};

/* The kind's piece of column i: kinds are stacked from the bottom. */
static struct piece piece_of(const struct columns *c, int i, int kind, double height)
{
    double below = 0, above;

    for (int k = 0; k < kind; k++)
        below += c->share[i][k];
    above = below + c->share[i][kind];
    return (struct piece){(int)lround(height * (1 - fmin(1, above))),
                          (int)lround(height * (1 - fmin(1, below)))};
}

/* How many columns from i on have the same piece. */
static int same(const struct columns *c, int i, int kind, double height, struct piece piece)
{
    int n = 1;

    for (; i + n < c->n; n++) {
        struct piece q = piece_of(c, i + n, kind, height);

        if (q.top != piece.top || q.bottom != piece.bottom)
            break;
    }
    return n;
}

/* All pieces of a kind are one path: a trace has many, and a path is the shortest way to say so. */
static void draw_columns(FILE *out, const struct columns *c, int kind, const struct svg_box *at)
{
    struct cavs__work k = {(enum cavs__work_phase)(kind / 2), kind % 2};
    bool begun = false;

    for (int i = 0, n; i < c->n; i += n) {
        struct piece q = piece_of(c, i, kind, at->height);

        n = same(c, i, kind, at->height, q);
        if (q.top == q.bottom)
            continue;
        if (!begun)
            fprintf(out, "<path fill=\"#%06x\" d=\"", cavs__work_color(k));
        begun = true;
        fprintf(out, "M%g %gh%dv%dh-%dz", at->x + i, at->y + q.top, n, q.bottom - q.top, n);
    }
    if (begun)
        fprintf(out, "\"/>\n");
}

int svg_draw_lane(FILE *out, const struct trace *t, const struct svg_lane *lane)
{
    const struct svg_box *at = &lane->at;
    struct columns c = {.n = (int)ceil(at->width)};
    size_t size = (size_t)c.n * sizeof *c.share;

    c.share = calloc(1, size);
    if (!c.share)
        return CAVS_ENOMEM;
    fprintf(out, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%06x\"/>\n", at->x,
            at->y, at->width, at->height, SVG_IDLE);
    draw_tasks(out, t, lane, &c);
    for (int kind = 0; kind < KINDS; kind++)
        draw_columns(out, &c, kind, at);
    free(c.share);
    return CAVS_OK;
}
