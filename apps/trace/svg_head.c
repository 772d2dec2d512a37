/* SPDX-License-Identifier: Apache-2.0 */
/* svg_head.c - the numbers that a reader looks for first, and what the colours mean. */
#include <string.h>

#include "apps/trace/svg.h"

enum { LETTER = 7 /* width of one, roughly */ };

static void draw_idle(struct svg *p, double x, double y)
{
    const struct trace_stats *s = p->s;
    double whole = (s->end - s->begin) * s->workers;

    svg_text(p, x, y, "class=\"n\"",
             "idle %.1f %%: %.1f %% starting tasks that were ready, "
             "%.1f %% waiting for other tasks, %.1f %% nothing submitted",
             100 - trace_percent(s->all.ms, whole), trace_percent(s->idle[TRACE_RUNTIME], whole),
             trace_percent(s->idle[TRACE_WAITING], whole),
             trace_percent(s->idle[TRACE_STARVING], whole));
}

static void draw_path(struct svg *p, double x, double y)
{
    const struct trace_stats *s = p->s;
    double eager = trace_both(s, CAVS__WORK_EAGER, CAVS__WORK_EAGER);
    double beside = trace_both(s, CAVS__WORK_EAGER, CAVS__WORK_CHAIN);
    char text[64] = "";

    if (eager > 0)
        snprintf(text, sizeof text, "; %.0f %% of eager time beside the chain",
                 trace_percent(beside, eager));
    svg_text(p, x, y, "class=\"n\"", "longest path %.2f ms, %.0f %% of the run%s", s->path.ms,
             trace_percent(s->path.ms, s->end - s->begin), text);
}

static void draw_entry(struct svg *p, double *x, unsigned color, const char *text)
{
    fprintf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"14\" fill=\"#%06x\"/>", *x,
            p->y, color);
    svg_text(p, *x + 19, p->y + 12, "", "%s", text);
    *x += 19 + LETTER * (double)strlen(text) + 18;
}

static void draw_legend(struct svg *p)
{
    double x = p->margin;
    char text[64];

    for (int i = 0; i < 2 * CAVS__WORK_PHASES; i++) {
        struct cavs__work kind = {(enum cavs__work_phase)(i / 2), i % 2};
        const struct trace_total *total = &p->s->kind[kind.phase][kind.backward];

        if (total->count == 0)
            continue;
        snprintf(text, sizeof text, "%s%s %.0f %%", cavs__work_phase_name(kind.phase),
                 cavs__work_direction(kind), trace_percent(total->ms, p->s->all.ms));
        draw_entry(p, &x, cavs__work_color(kind), text);
    }
    draw_entry(p, &x, SVG_IDLE, "idle");
    if (p->t->nmessages > 0)
        draw_entry(p, &x, SVG_MESSAGE, "messages to a rank");
}

void svg_head(struct svg *p)
{
    const struct trace_stats *s = p->s;

    svg_text(p, p->margin, p->y + 18, "class=\"h\"", "%ld task%s on %d worker%s in %.2f ms",
             s->all.count, trace_plural(s->all.count), s->workers, trace_plural(s->workers),
             s->end - s->begin);
    draw_idle(p, p->margin, p->y + 38);
    draw_path(p, p->margin, p->y + 55);
    p->y += 70;
    if (p->t->pauses > 0) {
        svg_text(p, p->margin, p->y + 4, "style=\"fill:#c00\"",
                 "stopped for %.0f ms while FxT wrote its full buffer to disk: "
                 "set STARPU_TRACE_BUFFER_SIZE (MB) higher",
                 p->t->paused);
        p->y += 20;
    }
    draw_legend(p);
    p->y += 30;
}
