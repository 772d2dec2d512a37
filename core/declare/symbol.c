/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c - symbols as such: making them, sharing equal ones, naming them for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/base/array.h"
#include "core/base/error.h"
#include "core/declare/model.h"

static const char *const op_names[CAVS__OP_COUNT] = {
    [CAVS__OP_PULL] = "pull",
    [CAVS__OP_IDS] = "pull_ids",
    [CAVS__OP_FETCH] = "pull_from",
    [CAVS__OP_GATHER] = "gather",
    [CAVS__OP_EACH_CHILD] = "each_child",
    [CAVS__OP_USE] = "use",
    [CAVS__OP_CONST] = "constant",
    [CAVS__OP_LOOKUP] = "lookup",
    [CAVS__OP_MATMUL] = "matmul",
    [CAVS__OP_ELEMENTWISE] = "elementwise",
    [CAVS__OP_CONCAT] = "concat",
    [CAVS__OP_SLICE] = "slice",
    [CAVS__OP_ROW_SUM] = "sum",
    [CAVS__OP_ROW_MAX] = "largest",
    [CAVS__OP_SOFTMAX] = "softmax",
    [CAVS__OP_LOG_SOFTMAX] = "log_softmax",
    [CAVS__OP_DROPOUT] = "dropout",
    [CAVS__OP_PICK] = "pick",
    [CAVS__OP_XENT] = "softmax_cross_entropy",
    [CAVS__OP_CORRECT] = "correct",
    [CAVS__OP_MATMUL_SELECT] = "matmul_select",
    [CAVS__OP_REPEAT] = "repeat",
    [CAVS__OP_SPREAD] = "spread",
    [CAVS__OP_LIST_SUM] = "sum_children",
    [CAVS__OP_LIST_MAX] = "max_children",
    [CAVS__OP_LIST_SOFTMAX] = "softmax_children",
    [CAVS__OP_LIST_SHARE] = "share_of_children",
    [CAVS__OP_SCATTER] = "scatter",
    [CAVS__OP_PUSH] = "push",
    [CAVS__OP_METRIC] = "metric",
    [CAVS__OP_STATE_GRAD] = "state_grad",
    [CAVS__OP_NTH] = "nth_child",
    [CAVS__OP_PUSH_GRAD] = "push_grad",
    [CAVS__OP_COLLECT] = "collect",
    [CAVS__OP_MATMUL_T] = "matmul_t",
    [CAVS__OP_XENT_GRAD] = "softmax_cross_entropy_grad",
    [CAVS__OP_ROW_MAX_GRAD] = "largest_grad",
    [CAVS__OP_PICK_GRAD] = "pick_grad",
    [CAVS__OP_MASK] = "mask",
    [CAVS__OP_MATMUL_SELECT_T] = "matmul_select_t",
    [CAVS__OP_LIST_MAX_GRAD] = "max_children_grad",
    [CAVS__OP_LIST_SOFTMAX_GRAD] = "softmax_children_grad",
    [CAVS__OP_SLOT_GRAD] = "slot_grad",
    [CAVS__OP_EACH_GRAD] = "each_child_grad",
    [CAVS__OP_FETCH_GRAD] = "fetch_grad",
    [CAVS__OP_SPREAD_GRAD] = "spread_grad",
    [CAVS__OP_GRAD_MATMUL] = "grad_matmul",
    [CAVS__OP_GRAD_USE] = "grad_use",
    [CAVS__OP_GRAD_LOOKUP] = "grad_lookup",
    [CAVS__OP_GRAD_MATMUL_SELECT] = "grad_matmul_select",
};

const char *cavs__op_name(enum cavs__op op)
{
    return op_names[op];
}

bool cavs__op_is_sink(enum cavs__op op)
{
    switch (op) {
    case CAVS__OP_SCATTER:
    case CAVS__OP_PUSH:
    case CAVS__OP_METRIC:
    case CAVS__OP_SLOT_GRAD:
    case CAVS__OP_EACH_GRAD:
    case CAVS__OP_FETCH_GRAD:
    case CAVS__OP_SPREAD_GRAD:
    case CAVS__OP_GRAD_MATMUL:
    case CAVS__OP_GRAD_MATMUL_SELECT:
    case CAVS__OP_GRAD_USE:
    case CAVS__OP_GRAD_LOOKUP: return true;
    default: return false;
    }
}

const char *cavs__symbol_label(const struct cavs_symbol *x)
{
    static _Thread_local char text[160];

    if (x->op == CAVS__OP_ELEMENTWISE)
        snprintf(text, sizeof text, "%s%s", cavs__ew_name(x->k), x->which ? "_grad" : "");
    else if (x->op == CAVS__OP_GATHER || x->op == CAVS__OP_SLOT_GRAD)
        snprintf(text, sizeof text, "%s(%d)", op_names[x->op], x->k);
    else if (x->op == CAVS__OP_SLICE)
        snprintf(text, sizeof text, "slice[%d:%d]", x->k, x->k + x->width);
    else
        snprintf(text, sizeof text, "%s%s%s", op_names[x->op],
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
    return b->op == CAVS__OP_CONST || b->op == CAVS__OP_USE ? -1 : x->domain;
}

/* Where a result has its rows: with its operands, unless it takes a list together. */
static int domain_of(const struct cavs_symbol *like, int ninputs, struct cavs_symbol *const *inputs)
{
    int domain = like->domain;

    switch (like->op) {
    case CAVS__OP_CONST:
    case CAVS__OP_USE:
    case CAVS__OP_LIST_SUM:
    case CAVS__OP_LIST_MAX:
    case CAVS__OP_LIST_SHARE: return 0;
    default: break;
    }
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

struct cavs_symbol *cavs__symbol_new(struct cavs_function *f, const struct cavs_symbol *given,
                                     int ninputs, struct cavs_symbol *const *inputs)
{
    struct cavs_symbol like = *given, *x = NULL;

    like.domain = domain_of(given, ninputs, inputs);
    if (!cavs__op_is_sink(like.op) && !cavs__find_equal(f, &like, ninputs, inputs, &x))
        return NULL;
    if (x)
        return x;
    x = malloc(sizeof *x);
    if (!x)
        return NULL;
    *x = like;
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

int cavs_symbol_width(const struct cavs_symbol *x)
{
    return x ? x->width : 0;
}
