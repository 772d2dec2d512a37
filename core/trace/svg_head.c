/* SPDX-License-Identifier: Apache-2.0 */
/* svg_head.c - the numbers that a reader looks for first, and what the colours mean. */
#include <string.h>

#include "core/trace/svg.h"

enum { LETTER = 7 /* width of one, roughly */ };

static void draw_idle(struct cavs__svg *p, double x, double y)
{
    const struct cavs__trace_stats *s = p->s;
    double whole = (s->end - s->begin) * s->workers;

    cavs__svg_text(p, x, y, "class=\"n\"",
                   "idle %.1f %%: %.1f %% starting tasks that were ready, "
                   "%.1f %% waiting for other tasks, %.1f %% nothing submitted",
                   100 - cavs__trace_percent(s->all.ms, whole),
                   cavs__trace_percent(s->idle[CAVS__TRACE_RUNTIME], whole),
                   cavs__trace_percent(s->idle[CAVS__TRACE_WAITING], whole),
                   cavs__trace_percent(s->idle[CAVS__TRACE_STARVING], whole));
}

static void draw_path(struct cavs__svg *p, double x, double y)
{
    const struct cavs__trace_stats *s = p->s;
    double eager = cavs__trace_both(s, CAVS__TRACE_EAGER, CAVS__TRACE_EAGER);
    double beside = cavs__trace_both(s, CAVS__TRACE_EAGER, CAVS__TRACE_CHAIN);
    char text[64] = "";

    if (eager > 0)
        snprintf(text, sizeof text, "; %.0f %% of eager time beside the chain",
                 cavs__trace_percent(beside, eager));
    cavs__svg_text(p, x, y, "class=\"n\"", "longest path %.2f ms, %.0f %% of the run%s", s->path.ms,
                   cavs__trace_percent(s->path.ms, s->end - s->begin), text);
}

static void draw_entry(struct cavs__svg *p, double *x, unsigned color, const char *text)
{
    fprintf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"14\" fill=\"#%06x\"/>", *x,
            p->y, color);
    cavs__svg_text(p, *x + 19, p->y + 12, "", "%s", text);
    *x += 19 + LETTER * (double)strlen(text) + 18;
}

static void draw_legend(struct cavs__svg *p)
{
    double x = p->margin;
    char text[64];

    for (int i = 0; i < 2 * CAVS__TRACE_PHASES; i++) {
        struct cavs__trace_kind kind = {(enum cavs__trace_phase)(i / 2), i % 2};
        const struct cavs__trace_total *total = &p->s->kind[kind.phase][kind.backward];

        if (total->count == 0)
            continue;
        snprintf(text, sizeof text, "%s%s %.0f %%", cavs__trace_phase_name(kind.phase),
                 cavs__trace_direction(kind), cavs__trace_percent(total->ms, p->s->all.ms));
        draw_entry(p, &x, cavs__trace_color(kind), text);
    }
    draw_entry(p, &x, CAVS__SVG_IDLE, "idle");
}

void cavs__svg_head(struct cavs__svg *p)
{
    const struct cavs__trace_stats *s = p->s;

    cavs__svg_text(p, p->margin, p->y + 18, "class=\"h\"", "%ld tasks on %d workers in %.2f ms",
                   s->all.count, s->workers, s->end - s->begin);
    draw_idle(p, p->margin, p->y + 38);
    draw_path(p, p->margin, p->y + 55);
    p->y += 70;
    if (p->t->pauses > 0) {
        cavs__svg_text(p, p->margin, p->y + 4, "style=\"fill:#c00\"",
                       "stopped for %.0f ms while FxT wrote its full buffer to disk: "
                       "set STARPU_TRACE_BUFFER_SIZE (MB) higher",
                       p->t->paused);
        p->y += 20;
    }
    draw_legend(p);
    p->y += 30;
}
