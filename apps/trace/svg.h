/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h - the parts of gantt.svg.  Lengths are pixels, y grows downwards. */
#ifndef CAVS_APPS_TRACE_SVG_H
#define CAVS_APPS_TRACE_SVG_H

#include "apps/trace/trace.h"

/* Colours: of a lane where nothing runs, and of messages. */
enum { SVG_IDLE = 0xefefef, SVG_MESSAGE = 0x444444 };

/* A stretch of time and where it is drawn. */
struct svg_view {
    double begin, end; /* ms */
    double x, width;
};

struct svg {
    FILE *out;
    const struct trace *t;
    const struct trace_stats *s;
    double margin, width; /* of the picture */
    double y;             /* what is above is drawn */
};

/* One line of text, escaped; attributes: more of them for the element. */
void svg_text(struct svg *p, double x, double y, const char *attributes, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Text with the characters that XML reserves replaced. */
void svg_escape(FILE *out, const char *text);

/* Each draws its part from p->y on, and moves p->y below it. */
void svg_head(struct svg *p); /* numbers and legend */
int svg_runs(struct svg *p);  /* the whole run, and some of its batches enlarged */
void svg_bars(struct svg *p); /* the codelets that took the most time */

struct svg_box {
    double x, y, width, height;
};

/* One worker's stretch of time. */
struct svg_lane {
    int worker;
    double begin, end; /* ms */
    struct svg_box at;
};
/* Its tasks: a rectangle each where that is wide enough to be seen, with its name as a tooltip;
 * shorter ones become columns that show how much of their time each phase took. */
int svg_draw_lane(FILE *out, const struct trace *t, const struct svg_lane *lane);

/* When messages were under way to a rank, in the lane's stretch of time and place. */
int svg_draw_messages(FILE *out, const struct trace *t, const struct svg_lane *lane, int rank);

/* Batches to be enlarged; batches 0: none, the run is short enough or has no batches. */
struct svg_detail {
    long first, batches;
    double begin, end; /* ms */
};
int svg_choose_detail(const struct trace_stats *s, struct svg_detail *out);

#endif
