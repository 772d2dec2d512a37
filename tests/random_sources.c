/* SPDX-License-Identifier: Apache-2.0 */
/* random_sources.c - what random vertex functions begin with, and what all draws of symbols share;
 * see random_model.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/random.h"
#include "tests/random_model.h"

enum { WORDS = 5 };

struct cavs_symbol *draw_keep(struct draw *d, struct cavs_symbol *x)
{
    if (x && d->nsymbols < DRAW_POOL)
        d->pool[d->nsymbols++] = x;
    return x;
}

struct cavs_symbol *draw_any(struct draw *d)
{
    return d->pool[draw_pick(d, d->nsymbols)];
}

struct cavs_symbol *draw_per_vertex(struct draw *d, struct cavs_symbol *x)
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

struct cavs_symbol *draw_beside(struct draw *d, struct cavs_symbol *x)
{
    struct cavs_symbol *y = draw_any(d);
    return x->domain && y->domain && x->domain != y->domain ? draw_per_vertex(d, y) : y;
}

struct cavs_symbol *draw_fit(struct draw *d, struct cavs_symbol *x, struct cavs_symbol *y)
{
    int wx = cavs_symbol_width(x), wy = cavs_symbol_width(y);
    if (wx == wy || wx == 1 || wy == 1)
        return y;
    return wy > wx ? cavs_slice(y, draw_pick(d, wy - wx + 1), wx) : cavs_sum(y);
}

/* An old parameter one time in two, if there is one of that shape. */
struct cavs_param *draw_weight(struct draw *d, int rows, int cols, bool table)
{
    float most = rows <= 5 || table ? 0.6f : 1.3f / sqrtf((float)rows);
    char name[32];
    for (int i = 0; i < d->m->nparams && draw_pick(d, 2); i++) {
        struct cavs_param *p = d->m->params[i];
        if (p->rows == rows && p->cols == cols && (p->name[0] == 't') == table)
            return p;
    }
    snprintf(name, sizeof name, "%s%d", table ? "table" : "weight", d->m->nparams);
    struct cavs_param *p = cavs_model_param(d->m, name, rows, cols, CAVS_UNIFORM(-most, most));
    if (draw_pick(d, 8) == 0)
        cavs_param_freeze(p);
    return p;
}

struct cavs_symbol *draw_ids(struct draw *d, const struct cavs_symbol *x, int limit)
{
    const struct cavs__list *list = x->domain > 0 ? d->f->lists[x->domain - 1] : NULL;
    char name[32];
    snprintf(name, sizeof name, "%s_of_%d", list ? "edge_one" : "one", limit);
    if (!list)
        return cavs_pull_ids(d->f, name);
    if (list->children)
        return cavs_pull_edge_ids(d->f, name);
    if (list->input && !strcmp(list->input->name, "words") && limit >= WORDS)
        return cavs_pull_list_ids(d->f, "words");
    return NULL;
}

struct cavs_symbol *draw_uneven(struct draw *d, struct cavs_symbol *x)
{
    return cavs_add(x, cavs_use(d->f, draw_weight(d, 1, cavs_symbol_width(x), false)));
}

/* ---- sources ---- */

static struct cavs_symbol *input(struct draw *d)
{
    char name[16];
    int width = 1 + draw_pick(d, d->widest);
    snprintf(name, sizeof name, "x%d", width);
    return cavs_pull(d->f, name, width);
}

static struct cavs_symbol *word(struct draw *d)
{
    struct cavs_param *table = draw_weight(d, WORDS, 1 + draw_pick(d, d->widest - 1), true);
    return cavs_lookup(table, cavs_pull_ids(d->f, draw_pick(d, 2) ? "word" : "other"));
}

static struct cavs_symbol *bias(struct draw *d)
{
    return cavs_use(d->f, draw_weight(d, 1, 1 + draw_pick(d, d->widest), false));
}

static struct cavs_symbol *number(struct draw *d)
{
    int width = 1 + draw_pick(d, 3);
    return cavs_constant(d->f, width, (float)random_double(&d->seed, -1, 1));
}

/* A stage before that of the function; its first one has none. */
static struct cavs_stage *earlier(struct draw *d)
{
    int number = d->f->stage->number;
    return number ? d->stages[draw_pick(d, number)] : NULL;
}

/* A channel of an earlier stage: of the vertex stood over, or by index. */
static struct cavs_symbol *fetched(struct draw *d)
{
    struct cavs_stage *from = earlier(d);
    char index[16];
    if (!from)
        return input(d);
    snprintf(index, sizeof index, "at%d", from->number);
    bool over = d->f->stage->base == from && draw_pick(d, 3);
    return cavs_pull_from(d->f, from, draw_pick(d, 2) ? "y" : "z", over ? NULL : index);
}

static struct cavs_symbol *state(struct draw *d, struct cavs_symbol *x)
{
    return d->deep ? cavs_scale(x, 0.2f) : x;
}

/* A row per child. */
static struct cavs_symbol *edge(struct draw *d)
{
    int which = draw_pick(d, 4), width = 1 + draw_pick(d, d->widest - 1);
    char name[16];
    if (d->f->stage->base)
        return fetched(d);
    snprintf(name, sizeof name, "edge%d", width);
    if (which == 0)
        return cavs_pull_edge(d->f, name, width);
    if (which == 1 || !d->f->stage->state_width)
        return cavs_lookup(draw_weight(d, WORDS, width, true),
                           cavs_pull_edge_ids(d->f, "relation"));
    return state(d, cavs_each_child(d->f));
}

static struct cavs_symbol *child(struct draw *d)
{
    int slots = d->f->number < d->kinds - 1 ? d->f->number : d->slots;
    if (draw_pick(d, d->f->slots < 0 ? 2 : 3) == 0)
        return edge(d);
    if (d->f->stage->base || !d->f->stage->state_width || !slots)
        return fetched(d);
    return state(d, cavs_gather(d->f, draw_pick(d, slots)));
}

/* An entry each of a list of words, or of vertices of an earlier stage, or all of these. */
static struct cavs_symbol *entries(struct draw *d)
{
    struct cavs_stage *from = earlier(d);
    char list[16];
    if (!from || draw_pick(d, 3) == 0) {
        struct cavs_param *table = draw_weight(d, WORDS, 1 + draw_pick(d, d->widest - 1), true);
        return cavs_lookup(table, cavs_pull_list_ids(d->f, draw_pick(d, 3) ? "words" : "names"));
    }
    snprintf(list, sizeof list, "list%d", from->number);
    const char *channel = draw_pick(d, 2) ? "y" : "z";
    return cavs_pull_from_each(d->f, from, channel, draw_pick(d, 2) ? list : NULL);
}

void draw_sources(struct draw *d, int n)
{
    static struct cavs_symbol *(*const makers[])(struct draw *) = {
        input, word, bias, number, fetched, child, child, edge, entries};
    for (int i = 0; i < n; i++)
        draw_keep(d, makers[draw_pick(d, sizeof makers / sizeof *makers)](d));
}
