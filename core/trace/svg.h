/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h - the parts of gantt.svg.  Lengths are pixels, y grows downwards. */
#ifndef CAVS_CORE_TRACE_SVG_H
#define CAVS_CORE_TRACE_SVG_H

#include "core/trace/trace.h"

enum { CAVS__SVG_IDLE = 0xefefef /* colour of a lane where nothing runs */ };

/* A stretch of time and where it is drawn. */
struct cavs__svg_view {
    double begin, end; /* ms */
    double x, width;
};

struct cavs__svg {
    FILE *out;
    const struct cavs__trace *t;
    const struct cavs__trace_stats *s;
    double margin, width; /* of the picture */
    double y;             /* what is above is drawn */
};

/* One line of text, escaped; attributes: more of them for the element. */
void cavs__svg_text(struct cavs__svg *p, double x, double y, const char *attributes,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Text with the characters that XML reserves replaced. */
void cavs__svg_escape(FILE *out, const char *text);

/* Each draws its part from p->y on, and moves p->y below it. */
void cavs__svg_head(struct cavs__svg *p); /* numbers and legend */
int cavs__svg_runs(struct cavs__svg *p);  /* the whole run, and some of its batches enlarged */
void cavs__svg_bars(struct cavs__svg *p); /* the codelets that took the most time */

/* One worker's tasks: a rectangle each where that is wide enough to be seen, with its name as a
 * tooltip; shorter ones become columns that show how much of their time each phase took. */
int cavs__svg_lane(FILE *out, const struct cavs__trace *t, const struct cavs__svg_view *view,
                   int worker, double y, double height);

/* Batches to be enlarged; batches 0: none, the run is short enough or has no batches. */
struct cavs__svg_detail {
    long first, batches;
    double begin, end; /* ms */
};
int cavs__svg_choose_detail(const struct cavs__trace_stats *s, struct cavs__svg_detail *out);

#endif
