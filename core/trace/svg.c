/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - the picture as a whole; its parts are in svg_*.c. */
#include <stdarg.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/trace/svg.h"

enum { WIDTH = 1400, MARGIN = 24 };

static const char style[] =
    "<style>text{font:13px 'DejaVu Sans',Verdana,sans-serif;fill:#222}"
    ".h{font-size:18px;font-weight:bold}.t{font-size:15px;font-weight:bold}"
    ".n{font-size:12px;fill:#666}.e{text-anchor:end}.m{text-anchor:middle}</style>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";

void cavs__svg_escape(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '<' || c == '>' || c == '&' || c == '"')
            fprintf(out, "&#%d;", c);
        else
            fputc(c < 0x20 ? ' ' : c, out);
    }
}

void cavs__svg_text(struct cavs__svg *p, double x, double y, const char *attributes,
                    const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    cavs__svg_escape(p->out, text);
    fprintf(p->out, "</text>\n");
}

static int draw(struct cavs__svg *p)
{
    int rc = CAVS_OK;

    if (p->s->end > p->s->begin) {
        cavs__svg_head(p);
        rc = cavs__svg_runs(p);
        if (!rc)
            cavs__svg_bars(p);
    } else {
        p->y += 20;
        cavs__svg_text(p, p->margin, p->y, "", "No task ran.");
    }
    return rc;
}

/* The body is drawn first: only then its height is known. */
int cavs__trace_svg(FILE *out, const struct cavs__trace *t, const struct cavs__trace_stats *s)
{
    size_t size = 0;
    char *body = NULL;
    struct cavs__svg p = {open_memstream(&body, &size), t, s, MARGIN, WIDTH, MARGIN / 2};
    int rc, height;

    if (!p.out)
        return cavs__fail_nomem("trace", 1 << 16);
    rc = draw(&p);
    height = (int)p.y + MARGIN;
    if (fclose(p.out) != 0 && !rc)
        rc = cavs__fail_nomem("trace", 1 << 16);
    if (!rc)
        fprintf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n%s%s</svg>\n",
                WIDTH, height, WIDTH, height, style, body);
    free(body);
    return rc;
}
