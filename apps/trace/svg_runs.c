/* SPDX-License-Identifier: Apache-2.0 */
/* svg_runs.c - time from left to right, one lane a worker, and a thin one for the messages that a
 * rank gets: the whole run, then a part of it. */
#include <math.h>

#include "apps/trace/svg.h"

enum { TITLE = 26, AXIS = 34, GAP = 4, MESSAGES = 8 /* height of their lane */ };

/* 1, 2 or 5 times a power of ten, about ten of them in the span. */
static double tick_step(double span)
{
    double power = pow(10, floor(log10(span / 10))), step = span / 10 / power;

    return power * (step > 5 ? 10 : step > 2 ? 5 : step > 1 ? 2 : 1);
}

static void draw_axis(struct svg *p, const struct svg_view *v, double top)
{
    double zero = p->s->begin, step = tick_step(v->end - v->begin);

    for (double n = ceil((v->begin - zero) / step); n * step <= v->end - zero; n++) {
        double x = v->x + v->width * (n * step + zero - v->begin) / (v->end - v->begin);

        fprintf(p->out, "<path d=\"M%.1f %gV%g\" stroke=\"#000\" stroke-opacity=\".13\"/>", x, top,
                p->y + 4);
        svg_text(p, x, p->y + 17, "class=\"n m\"", "%g", n * step);
    }
    svg_text(p, v->x - 10, p->y + 17, "class=\"n e\"", "ms");
    p->y += AXIS;
}

/* Lanes get thinner where there are many workers. */
static double lane_height(const struct svg *p)
{
    return p->s->workers <= 8 ? 34 : p->s->workers <= 24 ? 22 : 14;
}

/* Of names of workers, left of the lanes. */
static double label_width(const struct svg *p)
{
    return p->t->nranks > 1 ? 200 : 150;
}

static double height_of_lanes(const struct svg *p)
{
    return p->s->workers * (lane_height(p) + GAP) +
           (p->t->nmessages > 0 ? p->t->nranks * (MESSAGES + GAP) : 0);
}

static void draw_label(struct svg *p, double x, int worker, bool idle)
{
    double span = p->s->end - p->s->begin, y = p->y + lane_height(p) / 2 + 4;

    if (idle)
        svg_text(p, x, y, "class=\"e\"", "%s: %.0f %% idle", p->t->workers[worker],
                 100 - trace_percent(p->s->worker[worker].ms, span));
    else
        svg_text(p, x, y, "class=\"e\"", "%s", p->t->workers[worker]);
}

/* Of the rank whose last lane was drawn. */
static int draw_messages(struct svg *p, struct svg_lane lane, int rank)
{
    int rc = CAVS_OK;

    if (p->t->nmessages > 0) {
        lane.at.y = p->y;
        lane.at.height = MESSAGES;
        rc = svg_draw_messages(p->out, p->t, &lane, rank);
        p->y += MESSAGES + GAP;
    }
    return rc;
}

static int draw_lanes(struct svg *p, const struct svg_view *v, bool idle)
{
    struct svg_lane lane = {
        .begin = v->begin, .end = v->end, .at = {v->x, 0, v->width, lane_height(p)}};
    double top = p->y;
    int rc = CAVS_OK;

    for (int i = 0; i < p->t->nworkers && !rc; i++) {
        if (p->t->workers[i]) {
            draw_label(p, v->x - 10, i, idle);
            lane.worker = i;
            lane.at.y = p->y;
            rc = svg_draw_lane(p->out, p->t, &lane);
            p->y += lane_height(p) + GAP;
        }
        if (!rc && (i + 1 == p->t->nworkers || (i + 1) % TRACE_RANK_WORKERS == 0))
            rc = draw_messages(p, lane, i / TRACE_RANK_WORKERS);
    }
    draw_axis(p, v, top);
    return rc;
}

/* A frame round the lanes above, where they show what the detail enlarges. */
static void mark(struct svg *p, const struct svg_view *all, const struct svg_detail *d)
{
    double scale = all->width / (all->end - all->begin);
    double height = height_of_lanes(p);

    fprintf(p->out,
            "<rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%g\" "
            "fill=\"none\" stroke=\"#000\" stroke-width=\"1.2\"/>\n",
            all->x + (d->begin - all->begin) * scale, p->y - AXIS - height - 2,
            fmax(2, (d->end - d->begin) * scale), height);
}

static int draw_detail(struct svg *p, struct svg_view v, const struct svg_detail *d)
{
    mark(p, &v, d);
    v.begin = d->begin;
    v.end = d->end;
    svg_text(p, p->margin, p->y + 16, "class=\"t\"",
             d->batches == 1 ? "The marked part: batch %ld and what runs beside it"
                             : "The marked part: from batch %ld on, %ld batches",
             d->first, d->batches);
    p->y += TITLE;
    return draw_lanes(p, &v, false);
}

int svg_runs(struct svg *p)
{
    double width = p->width - 2 * p->margin - label_width(p);
    struct svg_view all = {p->s->begin, p->s->end, p->margin + label_width(p), width};
    struct svg_detail d;
    int rc;

    svg_text(p, p->margin, p->y + 16, "class=\"t\"", "The whole run");
    p->y += TITLE;
    rc = draw_lanes(p, &all, true);
    if (!rc)
        rc = svg_choose_detail(p->s, &d);
    if (rc || d.batches == 0)
        return rc;
    return draw_detail(p, all, &d);
}
