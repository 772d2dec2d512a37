/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c - symbols as such: making them, sharing equal ones, naming them for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/base/array.h"
#include "core/declare/operator.h"

/* What a tape calls what it takes from the program: it has no inputs and no children. */
static const char *name_of(const struct cavs_symbol *x)
{
    bool recorded = x->function && x->function->recorder;

    return x->op == CAVS__OP_PULL && !x->input        ? "row"
           : x->op == CAVS__OP_IDS && !x->input       ? "id"
           : x->op == CAVS__OP_EACH_CHILD && recorded ? "list"
                                                      : cavs__operator_of(x)->name;
}

const char *cavs__symbol_label(const struct cavs_symbol *x)
{
    enum { LABEL = 160, LABELS = 2 }; /* one message names two at most */
    static _Thread_local char texts[LABELS][LABEL];
    static _Thread_local unsigned turn;
    char *text = texts[turn++ % LABELS];
    const char *name = name_of(x);

    if (x->op == CAVS__OP_ELEMENTWISE)
        snprintf(text, LABEL, "%s%s", cavs__ew_name(x->k), x->which ? "_grad" : "");
    else if (x->op == CAVS__OP_GATHER || x->op == CAVS__OP_SLOT_GRAD)
        snprintf(text, LABEL, "%s(%d)", name, x->k);
    else if (x->op == CAVS__OP_SLICE)
        snprintf(text, LABEL, "slice[%d:%d]", x->k, x->k + x->width);
    else
        snprintf(text, LABEL, "%s%s%s", name,
                 x->param || x->input || x->channel || x->metric ? " " : "",
                 x->param     ? x->param->name
                 : x->input   ? x->input->name
                 : x->channel ? x->channel->name
                 : x->metric  ? x->metric->name
                              : "");
    return text;
}

int cavs__domain(const struct cavs_symbol *x)
{
    const struct cavs_symbol *b = x;

    while (b->op == CAVS__OP_SLICE || b->op == CAVS__OP_SPREAD)
        b = b->inputs[0];
    return cavs__has_role(b, CAVS__ROLE_CONSTANT) ? -1 : x->domain;
}

int cavs__domain_of_vertices(const struct cavs_symbol *like, int ninputs,
                             struct cavs_symbol *const *inputs)
{
    (void)like, (void)ninputs, (void)inputs;
    return 0;
}

int cavs__domain_of_operands(const struct cavs_symbol *like, int ninputs,
                             struct cavs_symbol *const *inputs)
{
    int domain = like->domain;

    for (int i = 0; i < ninputs; i++) {
        if (inputs[i]->domain > domain)
            domain = inputs[i]->domain;
    }
    return domain;
}

bool cavs__symbol_insert(struct cavs_function *f, int at, struct cavs_symbol *x)
{
    if (!CAVS__APPEND(f->symbols, f->nsymbols, x))
        return false;
    memmove(f->symbols + at + 1, f->symbols + at,
            (size_t)(f->nsymbols - 1 - at) * sizeof *f->symbols);
    f->symbols[at] = x;
    cavs__equals_forget(&f->equals);
    for (int i = 0; i < f->nsymbols; i++)
        f->symbols[i]->number = i;
    return true;
}

struct cavs_symbol *cavs__symbol_append(struct cavs_function *f, const struct cavs_symbol *like,
                                        int ninputs, struct cavs_symbol *const *inputs)
{
    struct cavs_symbol *x = malloc(sizeof *x);

    if (!x)
        return NULL;
    *x = *like;
    x->function = f;
    x->number = f->nsymbols;
    x->ninputs = ninputs;
    x->inputs = calloc(ninputs ? (size_t)ninputs : 1, sizeof *x->inputs);
    if (!x->inputs || !CAVS__APPEND(f->symbols, f->nsymbols, x)) {
        free(x->inputs);
        free(x);
        return NULL;
    }
    for (int i = 0; i < ninputs; i++)
        x->inputs[i] = inputs[i];
    return x;
}

struct cavs_symbol *cavs__symbol_new(struct cavs_function *f, const struct cavs_symbol *given,
                                     int ninputs, struct cavs_symbol *const *inputs)
{
    struct cavs_symbol like = *given, *x = NULL;

    like.domain = cavs__operator_of(given)->domain(given, ninputs, inputs);
    if (!cavs__is_sink(&like) && !cavs__find_equal(f, &like, ninputs, inputs, &x))
        return NULL;
    return x ? x : cavs__symbol_append(f, &like, ninputs, inputs);
}

int cavs_symbol_width(const struct cavs_symbol *x)
{
    return x ? x->width : 0;
}
