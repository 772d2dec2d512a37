/* SPDX-License-Identifier: Apache-2.0 */
/* conllu.c - sentences of a CoNLL-U file, one at a time; see conllu.h. */
#include <stdlib.h>

#include "apps/common/conllu_stream.h"

/* 1: a sentence ended here. */
static int parse_line(struct conllu_stream *r, struct conllu_sentence *out)
{
    if (r->options.text && !lines_keep(&r->lines, &r->options.text->lines))
        return conllu_no_memory(r);
    if (lines_blank(&r->lines))
        return conllu_end_sentence(r, out);
    if (r->lines.text[0] == '#')
        return 0;
    if (!r->first_line)
        r->first_line = r->lines.number;
    return conllu_take_line(r);
}

int conllu_open(struct conllu_stream **out, FILE *in, const char *name,
                const struct conllu_options *options, struct app_error *e)
{
    int rc;
    struct conllu_stream *r = lines_stream(sizeof *r, in, name, &rc, e);

    if (r)
        r->options = *options;
    *out = r;
    return rc;
}

void conllu_close(struct conllu_stream *r)
{
    if (!r)
        return;
    lines_close(&r->lines);
    free(r->nodes);
    free(r->raw);
    free(r->lower);
    free(r->form);
    free(r->upos);
    free(r->head);
    free(r->relation);
    free(r->number);
    free(r->edges);
    free(r);
}

int conllu_next(struct conllu_stream *r, struct conllu_sentence *out, struct app_error *e)
{
    int rc = r->failed, line = 1;

    r->error = e;
    while (rc == 0 && (line = lines_next(&r->lines, e)) > 0)
        rc = parse_line(r, out);
    if (rc == 0)
        rc = line < 0 ? line : conllu_end_sentence(r, out);
    if (rc < 0)
        r->failed = rc;
    return rc;
}

int conllu_read(const char *path, const struct conllu_options *options,
                const struct conllu_visitor *visitor, struct app_error *e)
{
    struct conllu_stream *r;
    struct conllu_sentence s;
    int rc = conllu_open(&r, NULL, path, options, e);

    if (rc < 0)
        return rc;
    while ((rc = conllu_next(r, &s, e)) > 0)
        if ((rc = visitor->each(visitor->context, &s, e)) < 0)
            break;
    conllu_close(r);
    return rc;
}
