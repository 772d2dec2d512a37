/* SPDX-License-Identifier: Apache-2.0 */
/* unfold.c - see unfolded.h: the symbols of a declared function, written out. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/declare/build.h"
#include "core/tape/recording.h"
#include "core/tape/unfolded.h"

/* A function that is being unfolded. */
struct unfolding {
    struct cavs__unfolded *u;
    const struct cavs_function *of;
    struct cavs_place at;
    struct cavs_symbol **value; /* [of->nsymbols] */
};

/* ---- what it reads ---- */

static struct cavs_symbol *give(struct unfolding *w, struct cavs_symbol like, int input, int entry)
{
    struct cavs__given given = {.input = input, .entry = entry};

    like.k = like.op == CAVS__OP_IDS ? -1 : 0; /* within every limit */
    given.x = cavs__add_symbol(w->u->f, like, 0, NULL);
    if (given.x && !CAVS__APPEND(w->u->given, w->u->ngiven, given)) {
        cavs__function_fail(w->u->f, CAVS_ENOMEM, w->at, "apply: out of memory");
        return NULL;
    }
    return given.x;
}

/* The state of child k, or zeros where there is no such child, as in declared graphs. */
static struct cavs_symbol *child(struct unfolding *w, const struct cavs_symbol *x, int k)
{
    const struct cavs__unfolded *u = w->u;
    struct cavs_symbol like = {.op = CAVS__OP_OPERAND, .width = x->width, .at = x->at};

    if (k >= u->nchildren || !u->codes[u->of->stage->ninputs + k])
        return cavs_constant_at(u->f, x->width, 0, w->at);
    for (int i = 0; i < u->ngiven; i++) {
        if (u->given[i].input == CAVS__A_CHILD && u->given[i].entry == k)
            return u->given[i].x;
    }
    return give(w, like, CAVS__A_CHILD, k);
}

static struct cavs_symbol *input(struct unfolding *w, const struct cavs_symbol *x, int entry)
{
    struct cavs_symbol like = {.op = CAVS__OP_OPERAND, .width = x->width, .at = x->at};

    if (x->op == CAVS__OP_IDS)
        like.op = CAVS__OP_IDS;
    return give(w, like, x->input->number, entry);
}

/* The symbol that stands for all entries of the function's list. */
static struct cavs_symbol *listed(struct unfolding *w, const struct cavs_symbol *x)
{
    bool child = x->op == CAVS__OP_EACH_CHILD;
    struct cavs_symbol like = {
        .op = CAVS__OP_OPERAND, .domain = x->domain, .width = x->width, .at = x->at};

    if (x->op == CAVS__OP_IDS)
        like.op = CAVS__OP_IDS;
    for (int i = 0; i < w->u->ngiven && child; i++) {
        if (w->u->given[i].input == CAVS__A_CHILD && w->u->given[i].entry == CAVS__ALL_ENTRIES)
            return w->u->given[i].x;
    }
    return give(w, like, child ? CAVS__A_CHILD : x->input->number, CAVS__ALL_ENTRIES);
}

/* A list of n entries of x; NULL: there is none, or reported. */
static struct cavs_symbol *entries(struct unfolding *w, const struct cavs_symbol *x, int n)
{
    struct cavs_symbol **xs = calloc((size_t)n + 1, sizeof(*xs)), *list = NULL;
    bool ok = xs != NULL;

    if (!xs)
        cavs__function_fail(w->u->f, CAVS_ENOMEM, w->at, "apply: out of memory");
    for (int i = 0; i < n && ok; i++) {
        xs[i] = x->op == CAVS__OP_EACH_CHILD ? child(w, x, i) : input(w, x, i);
        ok = xs[i] != NULL;
    }
    if (ok && n > 0)
        list = cavs__record_list(w->u->f, n, xs, w->at);
    free(xs);
    return list;
}

/* ---- what it computes ---- */

/* Entries of that list of the function, or the list itself where it is of any length; 0 for
 * vertices. */
static int length_of(const struct unfolding *w, int domain)
{
    const struct cavs__list *list = domain > 0 ? w->of->lists[domain - 1] : NULL;

    if (!list)
        return 0;
    if (w->u->listed)
        return domain;
    return list->children ? w->u->nchildren : w->u->codes[list->input->number] - 1;
}

static bool takes_list(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_LIST_SUM || x->op == CAVS__OP_LIST_MAX || x->op == CAVS__OP_LIST_SHARE;
}

/* What entries of a list read of their vertex has to be a row.  Zeros of a child that is not there
 * are none yet. */
static struct cavs_symbol *row_to_repeat(struct cavs_symbol *x, struct cavs_place at)
{
    return x && cavs__domain(x) < 0 ? cavs_copy_at(x, 0, at) : x;
}

static struct cavs_symbol *compute(struct unfolding *w, const struct cavs_symbol *x)
{
    struct cavs_symbol **inputs, *y,
        like = {.op = x->op,
                .domain = length_of(w, x->domain),
                .width = x->width,
                .param = x->param,
                .k = x->k,
                .which = x->which,
                .s = x->s,
                .at = x->at};

    if (x->domain > 0 && like.domain == 0)
        return NULL; /* it has no entries */
    if (takes_list(x)) {
        like.k = length_of(w, x->k);
        if (like.k == 0)
            return cavs_constant_at(w->u->f, x->width, 0, x->at);
    }
    inputs = malloc(((size_t)x->ninputs + 1) * sizeof(*inputs));
    if (!inputs) {
        cavs__function_fail(w->u->f, CAVS_ENOMEM, w->at, "apply: out of memory");
        return NULL;
    }
    for (int i = 0; i < x->ninputs; i++)
        inputs[i] = w->value[x->inputs[i]->number];
    if (x->op == CAVS__OP_REPEAT && w->u->listed)
        inputs[0] = row_to_repeat(inputs[0], x->at);
    y = cavs__add_symbol(w->u->f, like, x->ninputs, inputs);
    free(inputs);
    return y;
}

static void unfold_symbol(struct unfolding *w, const struct cavs_symbol *x)
{
    struct cavs_symbol *in = x->ninputs > 0 ? w->value[x->inputs[0]->number] : NULL,
                       **y = &w->value[x->number];

    switch (x->op) {
    case CAVS__OP_PULL:
    case CAVS__OP_IDS:
    case CAVS__OP_EACH_CHILD:
        *y = x->domain <= 0 ? input(w, x, 0)
             : w->u->listed ? listed(w, x)
                            : entries(w, x, length_of(w, x->domain));
        break;
    case CAVS__OP_GATHER:
        w->u->by_length |= w->u->listed && w->of->lists[0]->children;
        *y = child(w, x, x->k);
        break;
    case CAVS__OP_SPREAD: *y = in; break;
    case CAVS__OP_SCATTER: w->u->state = in; break;
    case CAVS__OP_PUSH: w->u->channels[x->channel->number] = in; break;
    case CAVS__OP_METRIC:
        cavs_metric_at(w->u->f, x->metric->name, in,
                       x->ninputs > 1 ? w->value[x->inputs[1]->number] : NULL, x->is_loss, x->at);
        break;
    default: *y = compute(w, x);
    }
}

struct cavs__unfolded *cavs__unfold(struct cavs_stage *stage, const struct cavs_function *of,
                                    int ncodes, const int32_t *codes, struct cavs_function *to,
                                    struct cavs_place at)
{
    struct unfolding w = {.u = cavs__new_unfolded(stage, of, ncodes, codes), .of = of, .at = at};
    bool ok;

    w.value = calloc((size_t)of->nsymbols + 1, sizeof(*w.value));
    ok = w.u && w.value;
    for (int i = 0; i < of->nsymbols && ok; i++) {
        if (!of->symbols[i]->backward)
            unfold_symbol(&w, of->symbols[i]);
        ok = w.u->f->error == 0;
    }
    free(w.value);
    if (ok && cavs__unfolded_cut(w.u))
        return w.u;
    cavs__function_fail(to, w.u && w.u->f->error ? w.u->f->error : CAVS_ENOMEM, at,
                        "apply: function %s: %s", of->name,
                        w.u && w.u->f->message ? w.u->f->message : "out of memory");
    cavs__unfolded_free(w.u);
    return NULL;
}
