/* SPDX-License-Identifier: Apache-2.0 */
/* random_model.c - see random_model.h. */
#include "tests/random_model.h"

#include <stdio.h>
#include <string.h>

#include "tests/random.h"
#include "tests/zoo.h"

enum { CLASSES = 3, WORDS = 5 };

int draw_pick(struct draw *d, int n)
{
    return random_int(&d->seed, 0, n - 1);
}

static struct cavs_symbol *keep(struct draw *d, struct cavs_symbol *x)
{
    if (x && d->nsymbols < DRAW_POOL) {
        d->pool[d->nsymbols++] = x;
        d->shapes = 31 * d->shapes + 100 * (uint64_t)x->width + (uint64_t)x->domain;
    }
    return x;
}

static struct cavs_symbol *any(struct draw *d)
{
    return d->pool[draw_pick(d, d->nsymbols)];
}

/* Of the vertices: entries of a list are taken together. */
static struct cavs_symbol *per_vertex(struct draw *d, struct cavs_symbol *x)
{
    if (x->domain == 0)
        return x;
    switch (draw_pick(d, 4)) {
    case 0: return cavs_mean_children(x);
    case 1: return cavs_max_children(x);
    case 2: return cavs_sum_children(cavs_mul(cavs_softmax_children(x), x));
    default: return cavs_tanh(cavs_sum_children(x));
    }
}

/* y as it can be joined with x: not of another list. */
static struct cavs_symbol *meet(struct draw *d, struct cavs_symbol *x, struct cavs_symbol *y)
{
    return x->domain && y->domain && x->domain != y->domain ? per_vertex(d, y) : y;
}

/* A parameter of that shape: an old one, one time in two, if there is one. */
static struct cavs_param *weight(struct draw *d, int rows, int cols, bool table)
{
    char name[32];
    for (int i = 0; i < d->m->nparams && draw_pick(d, 2); i++) {
        struct cavs_param *p = d->m->params[i];
        if (p->rows == rows && p->cols == cols && (p->name[0] == 't') == table)
            return p;
    }
    snprintf(name, sizeof name, "%s%d", table ? "table" : "weight", d->m->nparams);
    struct cavs_param *p = zoo_weight(d->m, name, rows, cols);
    if (draw_pick(d, 8) == 0)
        cavs_param_freeze(p);
    return p;
}

/* ---- sources ---- */

static struct cavs_symbol *input(struct draw *d)
{
    char name[16];
    int width = 1 + draw_pick(d, 5);
    snprintf(name, sizeof name, "x%d", width);
    return cavs_pull(d->f, name, width);
}

static struct cavs_symbol *word(struct draw *d)
{
    return cavs_lookup(weight(d, WORDS, 1 + draw_pick(d, 4), true),
                       cavs_pull_ids(d->f, draw_pick(d, 2) ? "word" : "other"));
}

static struct cavs_symbol *bias(struct draw *d)
{
    return cavs_use(d->f, weight(d, 1, 1 + draw_pick(d, 5), false));
}

static struct cavs_symbol *number(struct draw *d)
{
    return cavs_constant(d->f, 1 + draw_pick(d, 3), (float)random_double(&d->seed, -1, 1));
}

/* A channel of an earlier stage: of the vertex stood over, or by index. */
static struct cavs_symbol *fetched(struct draw *d)
{
    struct cavs_stage *s = d->f->stage, *from = d->stages[s->number ? draw_pick(d, s->number) : 0];
    char index[16];
    if (s->number == 0)
        return input(d);
    snprintf(index, sizeof index, "at%d", from->number);
    return cavs_pull_from(d->f, from, draw_pick(d, 2) ? "y" : "z",
                          s->base == from && draw_pick(d, 3) ? NULL : index);
}

/* A row per child. */
static struct cavs_symbol *edge(struct draw *d)
{
    int which = draw_pick(d, 4), width = 1 + draw_pick(d, 4);
    char name[16];
    if (d->f->stage->base)
        return fetched(d);
    snprintf(name, sizeof name, "edge%d", width);
    if (which == 0)
        return cavs_pull_edge(d->f, name, width);
    if (which == 1 || !d->f->stage->state_width)
        return cavs_lookup(weight(d, WORDS, width, true), cavs_pull_edge_ids(d->f, "relation"));
    return cavs_each_child(d->f);
}

static struct cavs_symbol *child(struct draw *d)
{
    int slots = d->f->stage->number == 0 && d->kinds > 1 ? d->f->number : 2;
    if (draw_pick(d, d->f->slots < 0 ? 2 : 3) == 0)
        return edge(d);
    return d->f->stage->state_width && slots ? cavs_gather(d->f, draw_pick(d, slots)) : fetched(d);
}

/* An entry each of a list of words, or of vertices of an earlier stage, or all of these. */
static struct cavs_symbol *entries(struct draw *d)
{
    struct cavs_stage *s = d->f->stage, *from = d->stages[s->number ? draw_pick(d, s->number) : 0];
    char list[16];
    if (s->number == 0 || draw_pick(d, 3) == 0)
        return cavs_lookup(weight(d, WORDS, 1 + draw_pick(d, 4), true),
                           cavs_pull_list_ids(d->f, "words"));
    snprintf(list, sizeof list, "list%d", from->number);
    return cavs_pull_from_each(d->f, from, draw_pick(d, 2) ? "y" : "z",
                               draw_pick(d, 2) ? list : NULL);
}

static struct cavs_symbol *source(struct draw *d)
{
    static struct cavs_symbol *(*const makers[])(struct draw *) = {
        input, word, bias, number, fetched, child, child, edge, entries};
    return keep(d, makers[draw_pick(d, sizeof makers / sizeof *makers)](d));
}

/* ---- operators; all values stay within a few units ---- */

static struct cavs_symbol *unary(struct draw *d)
{
    struct cavs_symbol *x = any(d);
    switch (draw_pick(d, 11)) {
    case 0: return cavs_sigmoid(x);
    case 1: return cavs_relu(cavs_shift(cavs_tanh(x), 0.37f));
    case 2: return cavs_neg(x);
    case 3: return cavs_scale(x, (float)random_double(&d->seed, -1, 1));
    case 4: return cavs_square(cavs_tanh(x));
    case 5: return cavs_exp(cavs_tanh(x));
    case 6: return cavs_log(cavs_shift(cavs_square(x), 1));
    case 7: return cavs_apply1_at("gelu", cavs_tanh(x), 0, CAVS_HERE);
    case 8: return cavs_apply1_at("softplus", x, 0, CAVS_HERE);
    case 9: return cavs_apply1_at("sqrt", cavs_shift(cavs_square(x), 0.2f), 0, CAVS_HERE);
    default: return cavs_tanh(x);
    }
}

/* y made as wide as x, or of width one. */
static struct cavs_symbol *fit(struct draw *d, struct cavs_symbol *x, struct cavs_symbol *y)
{
    int wx = cavs_symbol_width(x), wy = cavs_symbol_width(y);
    if (wx == wy || wx == 1 || wy == 1)
        return y;
    return wy > wx ? cavs_slice(y, draw_pick(d, wy - wx + 1), wx) : cavs_sum(y);
}

static struct cavs_symbol *binary(struct draw *d)
{
    struct cavs_symbol *x = any(d), *y = fit(d, x, meet(d, x, any(d)));
    switch (draw_pick(d, 4)) {
    case 0: return cavs_sub(x, y);
    case 1: return cavs_tanh(cavs_mul(x, y));
    case 2: return cavs_div(x, cavs_shift(cavs_square(y), 1));
    default: return cavs_add(x, y);
    }
}

/* A product with a block named by an id of the vertex, edge or entry. */
static struct cavs_symbol *selected(struct draw *d, struct cavs_symbol *x, int n)
{
    enum { BLOCKS = 3 };
    const struct cavs__list *list = x->domain > 0 ? d->f->lists[x->domain - 1] : NULL;
    struct cavs_symbol *ids;
    if (list && !list->children && !list->input)
        x = per_vertex(d, x);
    if (x->domain == 0)
        ids = cavs_pull_ids(d->f, "block");
    else if (list->children)
        ids = cavs_pull_edge_ids(d->f, "edge_block");
    else if (!strcmp(list->input->name, "words"))
        ids = cavs_pull_list_ids(d->f, "words");
    else
        return cavs_neg(x);
    int blocks = x->domain && !list->children ? WORDS : BLOCKS;
    return cavs_tanh(
        cavs_matmul_select(x, weight(d, blocks * cavs_symbol_width(x), n, false), blocks, ids));
}

static struct cavs_symbol *together(struct draw *d)
{
    struct cavs_symbol *x = any(d);
    if (x->domain && draw_pick(d, 4) == 0)
        return cavs_softmax_children(x);
    return x->domain ? per_vertex(d, x) : cavs_neg(x);
}

static struct cavs_symbol *product(struct draw *d)
{
    struct cavs_symbol *x = any(d);
    int n = 1 + draw_pick(d, 6);
    if (draw_pick(d, 4) == 0)
        return selected(d, x, n);
    struct cavs_param *w = weight(d, cavs_symbol_width(x), n, false);
    return cavs_tanh(draw_pick(d, 2) ? cavs_matmul(x, w)
                                     : cavs_affine(x, w, weight(d, 1, n, false)));
}

static struct cavs_symbol *reshaped(struct draw *d)
{
    struct cavs_symbol *x = any(d), *xs[3] = {x, meet(d, x, any(d)), meet(d, x, any(d))};
    xs[2] = meet(d, xs[1], xs[2]);
    int w = cavs_symbol_width(x), from = draw_pick(d, w);
    switch (draw_pick(d, 4)) {
    case 0: return cavs_tanh(cavs_sum(x));
    case 1: return cavs_slice(x, from, 1 + draw_pick(d, w - from));
    default:
        w += cavs_symbol_width(xs[1]) + cavs_symbol_width(xs[2]);
        return w < 24 ? cavs_concat(3, xs) : cavs_neg(x);
    }
}

static void operators(struct draw *d, int n)
{
    static struct cavs_symbol *(*const makers[])(struct draw *) = {
        unary, unary, binary, binary, product, reshaped, together};
    for (int i = 0; i < n; i++)
        keep(d, makers[draw_pick(d, sizeof makers / sizeof *makers)](d));
}

/* ---- functions and stages ---- */

static struct cavs_symbol *of_width(struct draw *d, int width)
{
    struct cavs_symbol *x = any(d);
    for (int i = 0; i < 8 && cavs_symbol_width(x) < width; i++)
        x = any(d);
    x = per_vertex(d, x);
    if (cavs_symbol_width(x) < width)
        return cavs_tanh(cavs_matmul(x, weight(d, cavs_symbol_width(x), width, false)));
    return cavs_slice(x, draw_pick(d, cavs_symbol_width(x) - width + 1), width);
}

static void losses(struct draw *d)
{
    struct cavs_symbol *where = draw_pick(d, 2) ? cavs_pull_ids(d->f, "where") : NULL;
    if (draw_pick(d, 3))
        cavs_loss(d->f, "loss", cavs_sum(per_vertex(d, any(d))), where);
    if (draw_pick(d, 2))
        cavs_loss(d->f, "squares",
                  cavs_squared_error(per_vertex(d, any(d)), cavs_constant(d->f, 1, 0.3f)), NULL);
    if (draw_pick(d, 2)) {
        struct cavs_symbol *label = cavs_pull_ids(d->f, "label"), *logits = of_width(d, CLASSES);
        cavs_loss(d->f, "entropy", cavs_softmax_cross_entropy(logits, label),
                  draw_pick(d, 2) ? label : where);
    }
    if (draw_pick(d, 3) == 0)
        cavs_metric(d->f, "mean", cavs_sum(per_vertex(d, any(d))), where);
}

static void function(struct draw *d, struct cavs_stage *s)
{
    char name[16];
    snprintf(name, sizeof name, "f%d", s->nfunctions);
    d->f = cavs_function_create(s, name);
    d->nsymbols = 0;
    for (int i = 2 + draw_pick(d, 4); i > 0; i--)
        source(d);
    operators(d, 2 + draw_pick(d, 14));
    if (s->state_width)
        cavs_scatter(d->f, cavs_tanh(of_width(d, s->state_width)));
    if (s->nfunctions == 1 || draw_pick(d, 3)) {
        cavs_push(d->f, "y", of_width(d, 3));
        cavs_push(d->f, "z", of_width(d, 2));
    }
    losses(d);
}

void draw_model(struct draw *d)
{
    d->kinds = 1 + draw_pick(d, 3);
    d->stages[d->nstages++] =
        cavs_stage_create(d->m, "first", draw_pick(d, 6) ? 1 + draw_pick(d, 7) : 0);
    if (!d->stages[0]->state_width)
        d->kinds = 1;
    for (int i = 0; i < d->kinds; i++)
        function(d, d->stages[0]);
    if (draw_pick(d, 2)) {
        d->stages[d->nstages++] = cavs_stage_over(d->m, "over", d->stages[0],
                                                  draw_pick(d, 2) ? CAVS_ROOTS : CAVS_ALL_VERTICES);
        function(d, d->stages[d->nstages - 1]);
    }
    if (draw_pick(d, 3) == 0) {
        d->stages[d->nstages] = cavs_stage_create(d->m, "last", draw_pick(d, 2) ? 3 : 0);
        function(d, d->stages[d->nstages++]);
    }
}

/* ---- samples ---- */

static bool has_room(const struct cavs_function *f, int children)
{
    return f->slots == CAVS__ANY_CHILDREN || f->slots >= children;
}

static const char *graph_text(struct draw *d, const struct cavs_stage *s, char *text, size_t n)
{
    static const char *const kinds[] = {"dag:%d,parents=3", "random:%d", "chain:%d",
                                        "lattice:%d",       "forest:%d", "flat:%d"};
    /* a vertex must not have more children than its function has slots */
    int size = 1 + draw_pick(d, 12);
    bool full = s->nfunctions == 1 ? has_room(s->functions[0], 2) : true;
    for (int i = 1; i < s->nfunctions; i++)
        full = full && has_room(s->functions[i], i == s->nfunctions - 1 ? 2 : i);
    int length = snprintf(text, n, kinds[full ? draw_pick(d, 6) : 5], size);
    snprintf(text + length, n - (size_t)length, ",seed=%d,kinds=%d%s", 1 + draw_pick(d, 1000),
             s->nfunctions, draw_pick(d, 3) ? "" : ",shuffle=3");
    return text;
}

static void sample_text(struct draw *d, char *text, size_t n)
{
    char part[80];
    text[0] = 0;
    for (int i = 0; i < d->nstages; i++) {
        if (d->stages[i]->base)
            continue;
        snprintf(text + strlen(text), n - strlen(text), "%s%s", i ? "|" : "",
                 draw_pick(d, 9) ? graph_text(d, d->stages[i], part, sizeof part) : "empty");
    }
}

void draw_samples(struct draw *d)
{
    for (int i = 0; i < DRAW_SAMPLES; i++)
        sample_text(d, d->texts[i], sizeof d->texts[i]);
}
