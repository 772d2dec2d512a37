/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/edge_list.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/lines.h"
#include "apps/common/reserve.h"

static int no_memory(const struct lines *l, struct app_error *e)
{
    return app_fail(e, CAVS_ENOMEM, "%s:%zu: no memory for more", l->name, l->number);
}

/* The next token of the line; at its end an empty one, and false. */
static bool token(const struct lines *l, size_t *at, struct field *out)
{
    *at += strspn(l->text + *at, " \t");
    *out = (struct field){l->text + *at, strcspn(l->text + *at, " \t"), *at + 1};
    *at += out->length;
    return out->length > 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool read_feature(const struct field *f, float *value)
{
    char *end;

    errno = 0;
    *value = strtof(f->text, &end);
    return end == f->text + f->length && isfinite(*value);
}

static int add_feature(struct edge_list *g, const struct lines *l, const struct field *f,
                       int *width, struct app_error *e)
{
    size_t used = (size_t)g->n * g->width + *width;

    if ((g->n > 0 || g->form.width) && *width == g->width)
        return lines_expected(l, f, e, "a class after %d features", g->width);
    if (!array_reserve(&g->feature, &g->feature_cap, used + 1, sizeof *g->feature))
        return no_memory(l, e);
    if (!read_feature(f, &g->feature[used]))
        return lines_expected(l, f, e, "a number");
    ++*width;
    return 0;
}

/* Everything between the name and the last token, the class: *width features.  A class that is
 * missing is an empty token. */
static int add_features(struct edge_list *g, const struct lines *l, size_t at, int *width,
                        struct field *label, struct app_error *e)
{
    struct field next;
    int rc = 0;

    *width = 0;
    if (!token(l, &at, label))
        return lines_expected(l, label, e, "features and a class after the name of the node");
    while (rc == 0 && token(l, &at, &next)) {
        rc = add_feature(g, l, label, width, e);
        *label = next;
    }
    if (rc == 0 && g->form.unlabelled && *width == g->width - 1) {
        rc = add_feature(g, l, label, width, e);
        *label = next;
    }
    return rc;
}

/* The class from 0; -1 if none is wanted. */
static int find_class(struct edge_list *g, const struct lines *l, const struct field *f, int *out,
                      struct app_error *e)
{
    int id = 0;

    if (g->form.classes && !g->form.unlabelled) {
        id = vocab_find(g->form.classes, f->text, f->length);
        if (id == VOCAB_UNKNOWN)
            return lines_expected(l, f, e, "a class of the model");
    } else if (!g->form.unlabelled) {
        id = vocab_add(g->labels, f->text, f->length);
        if (id < 0)
            return no_memory(l, e);
    }
    *out = id - 1;
    return 0;
}

static int add_node(struct edge_list *g, const struct lines *l, struct app_error *e)
{
    struct field name, label;
    size_t at = 0;
    int width, class = -1, rc;

    if (!token(l, &at, &name))
        return 0;
    if (vocab_find(g->names, name.text, name.length) != VOCAB_UNKNOWN)
        return lines_expected(l, &name, e, "the name of a node that is not there yet");
    if ((rc = add_features(g, l, at, &width, &label, e)) < 0)
        return rc;
    if (g->n == 0 && !g->form.width)
        g->width = width;
    if (width != g->width)
        return lines_expected(l, &label, e, "%d features before the class, not %d", g->width,
                              width);
    if ((rc = find_class(g, l, &label, &class, e)) < 0)
        return rc;
    if (vocab_add(g->names, name.text, name.length) < 0 || g->n == INT_MAX ||
        !array_reserve(&g->label, &g->label_cap, g->n + (size_t)1, sizeof *g->label))
        return no_memory(l, e);
    g->label[g->n++] = class;
    return 0;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static int read_node(const struct edge_list *g, const struct lines *l, size_t *at, int *node,
                     struct app_error *e)
{
    struct field f;

    *node = token(l, at, &f) ? vocab_find(g->names, f.text, f.length) - 1 : -1;
    return *node >= 0 ? 0 : lines_expected(l, &f, e, "the name of a node");
}

static int add_edge(struct edge_list *g, const struct lines *l, struct app_error *e)
{
    struct field rest;
    size_t at = 0;
    int from, to, rc;

    if (!token(l, &at, &rest))
        return 0;
    at = 0;
    if ((rc = read_node(g, l, &at, &to, e)) < 0 || (rc = read_node(g, l, &at, &from, e)) < 0)
        return rc;
    if (token(l, &at, &rest))
        return lines_expected(l, &rest, e, "the end of the line after two nodes");
    if (g->nedges == INT_MAX ||
        !array_reserve(&g->from, &g->from_cap, g->nedges + (size_t)1, sizeof *g->from) ||
        !array_reserve(&g->to, &g->to_cap, g->nedges + (size_t)1, sizeof *g->to))
        return no_memory(l, e);
    g->from[g->nedges] = from;
    g->to[g->nedges++] = to;
    return 0;
}

static int read_lines(struct edge_list *g, const char *path,
                      int (*add)(struct edge_list *, const struct lines *, struct app_error *),
                      struct app_error *e)
{
    struct lines l = {.name = path};
    int rc = lines_open(&l, e);

    while (rc >= 0 && (rc = lines_next(&l, e)) > 0)
        rc = add(g, &l, e);
    lines_close(&l);
    return rc;
}

int edge_list_load(const char *content, const char *cites, struct edge_list *out,
                   struct app_error *e)
{
    int rc;

    if (!(out->names = vocab_create()) || !(out->labels = vocab_create()))
        return app_fail(e, CAVS_ENOMEM, "no memory for the names of nodes");
    out->width = out->form.width;
    rc = read_lines(out, content, add_node, e);
    return rc < 0 ? rc : read_lines(out, cites, add_edge, e);
}

void edge_list_clear(struct edge_list *g)
{
    free(g->feature);
    free(g->label);
    free(g->from);
    free(g->to);
    vocab_destroy(g->names);
    vocab_destroy(g->labels);
    *g = (struct edge_list){0};
}

/* ---- splits ---------------------------------------------------------------------------------- */

struct split {
    int n; /* nodes of the graph */
    enum { INDICES, NUMBER, OTHER } under;
    int announced; /* -1: not */
    int *nodes, count;
    size_t cap;
};

static int add_number(struct split *s, const struct lines *l, const struct field *f,
                      struct app_error *e)
{
    int number = field_number(f);

    if (s->under == OTHER)
        return 0;
    if (number < 0 || (s->under == INDICES && number >= s->n))
        return s->under == NUMBER ? lines_expected(l, f, e, "a number of nodes")
                                  : lines_expected(l, f, e, "a node from 0 to %d", s->n - 1);
    if (s->under == NUMBER) {
        s->announced = number;
        return 0;
    }
    if (s->count == INT_MAX ||
        !array_reserve(&s->nodes, &s->cap, s->count + (size_t)1, sizeof *s->nodes))
        return no_memory(l, e);
    s->nodes[s->count++] = number;
    return 0;
}

static int split_line(struct split *s, const struct lines *l, struct app_error *e)
{
    struct field f, rest;
    size_t at = 0;

    if (l->length && l->text[l->length - 1] == ':') {
        s->under = strncmp(l->text, "Indices", 7) == 0  ? INDICES
                   : strncmp(l->text, "Number", 6) == 0 ? NUMBER
                                                        : OTHER;
        return 0;
    }
    if (!token(l, &at, &f))
        return 0;
    if (token(l, &at, &rest))
        return lines_expected(l, &rest, e, "one number a line");
    return add_number(s, l, &f, e);
}

int edge_list_split(const char *path, int n, int **nodes, int *count, struct app_error *e)
{
    struct lines l = {.name = path};
    struct split s = {.n = n, .announced = -1};
    int rc = lines_open(&l, e);

    while (rc >= 0 && (rc = lines_next(&l, e)) > 0)
        rc = split_line(&s, &l, e);
    if (rc == 0 && s.announced >= 0 && s.announced != s.count)
        rc = app_fail(e, CAVS_EFORMAT, "%s:%zu: expected %d nodes in all, found %d", path, l.number,
                      s.announced, s.count);
    lines_close(&l);
    if (rc < 0) {
        free(s.nodes);
        return rc;
    }
    *nodes = s.nodes;
    *count = s.count;
    return 0;
}
