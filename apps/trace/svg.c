/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - the picture as a whole; its parts are in svg_*.c. */
#include <stdarg.h>
#include <stdlib.h>

#include "apps/trace/svg.h"

enum { WIDTH = 1400, MARGIN = 24 };

static const char style[] =
    "<style>text{font:13px 'DejaVu Sans',Verdana,sans-serif;fill:#222}"
    ".h{font-size:18px;font-weight:bold}.t{font-size:15px;font-weight:bold}"
    ".n{font-size:12px;fill:#666}.e{text-anchor:end}.m{text-anchor:middle}</style>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

void svg_escape(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '<' || c == '>' || c == '&' || c == '"')
            fprintf(out, "&#%d;", c);
        else
            fputc(c < 0x20 ? ' ' : c, out);
    }
}

void svg_text(struct svg *p, double x, double y, const char *attributes, const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    svg_escape(p->out, text);
    fprintf(p->out, "</text>\n");
}

static int draw(struct svg *p)
{
    int rc = CAVS_OK;

    if (p->s->end > p->s->begin) {
        svg_head(p);
        rc = svg_runs(p);
        if (!rc)
            svg_bars(p);
    } else {
        p->y += 20;
        svg_text(p, p->margin, p->y, "", "No task ran.");
    }
    return rc;
}

/* The body is drawn first: only then its height is known. */
int trace_svg(FILE *out, const struct trace *t, const struct trace_stats *s)
{
    size_t size = 0;
    char *body = NULL;
    struct svg p = {open_memstream(&body, &size), t, s, MARGIN, WIDTH, MARGIN / 2};
    int rc, height;

    if (!p.out)
        return CAVS_ENOMEM;
    rc = draw(&p);
    height = (int)p.y + MARGIN;
    if (fclose(p.out) != 0 && !rc)
        rc = CAVS_ENOMEM;
    if (!rc)
        fprintf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n%s%s</svg>\n",
                WIDTH, height, WIDTH, height, style, body);
    free(body);
    return rc;
}
