/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists.c - between the rows of vertices and those of the entries of a ragged list, such as their
 * children.
 */
#include <stdlib.h>

#include "core/base/array.h"
#include "core/operators/family.h"

/* ---- lists of a function ---- */

static bool same_list(const struct cavs__list *a, const struct cavs__list *b)
{
    return a->children == b->children && a->input == b->input && a->whole == b->whole;
}

/* The domain of that list of f, made at first mention; 0: reported. */
int cavs__list_domain(struct cavs_function *f, struct cavs__list like, const char *op,
                      struct cavs_place at)
{
    struct cavs__list *list;

    for (int i = 0; i < f->nlists; i++) {
        if (same_list(f->lists[i], &like))
            return i + 1;
    }
    if (f->nlists == CAVS__MAX_LISTS) {
        FAIL(f, CAVS_EPROGRAM, "%s: a function reads at most %d different lists", op,
             CAVS__MAX_LISTS);
        return 0;
    }
    list = malloc(sizeof *list);
    if (list) {
        *list = like;
        list->function = f;
        list->number = f->stage->nlists;
    }
    if (!list || !CAVS__APPEND(f->stage->lists, f->stage->nlists, list)) {
        free(list);
        FAIL(f, CAVS_ENOMEM, "%s: out of memory", op);
        return 0;
    }
    f->lists[f->nlists++] = list;
    return f->nlists;
}

/* The domain of the children; 0: reported. */
int cavs__children_domain(struct cavs_function *f, const char *op, struct cavs_place at)
{
    if (f->stage->base) {
        FAIL(f, CAVS_EPROGRAM, "%s: stage %s stands over stage %s: its vertices have no children",
             op, f->stage->name, f->stage->base->name);
        return 0;
    }
    f->slots = CAVS__ANY_CHILDREN; /* also if some are gathered by number */
    return cavs__list_domain(f, (struct cavs__list){.children = true}, op, at);
}

static void diff_repeat(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    if (y->inputs[0]->needs_grad)
        cavs__contribute_columns(d, y->inputs[0], 0, cavs__diff_list_sum(d, y, y->domain, g));
}

const struct cavs__operator cavs__operator_repeat = {
    .name = "repeat",
    .role = CAVS__ROLE_VIEW,
    .domain = cavs__domain_of_operands,
    .diff = diff_repeat,
};

/* ---- reductions ---- */

static bool is_of_list(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                       struct cavs_place at)
{
    if (!cavs__open_for(f, op, at) || !cavs__is_value(f, x, op, at))
        return false;
    if (cavs__domain(x) > 0)
        return true;
    FAIL(f, CAVS_EPROGRAM, "%s: operand %s does not have a row per child or entry of a list (%s)",
         op, cavs__symbol_label(x),
         f->recorder ? "cavs_tape_list" : "cavs_each_child, cavs_pull_edge, cavs_pull_from_each");
    return false;
}

static struct cavs_symbol *over_list(enum cavs__op op, struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;

    if (!x || !is_of_list(f, x, cavs__operators[op]->name, at))
        return NULL;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = op, .width = x->width, .k = x->domain, .at = at}, 1, &x);
}

struct cavs_symbol *cavs_sum_children_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_list(CAVS__OP_LIST_SUM, x, at);
}

/* The gradient of a sum is the row of each vertex, repeated for all its entries. A constant needs
 * no repetition. */
static void diff_list_sum(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    if (cavs__domain(g) >= 0)
        g = cavs__diff_symbol(
            d, y, (struct cavs_symbol){.op = CAVS__OP_REPEAT, .width = g->width, .domain = y->k}, 1,
            &g);
    cavs__contribute(d, y, y->inputs[0], g);
}

/* Kernels that take the entries of each vertex together. */
static int emit_listed(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int nviews = x->ninputs > 0 ? x->ninputs + 1 : 2;
    struct cavs__step *s;
    int rc = cavs__new_step(p, x, nviews, &s);

    if (rc)
        return rc;
    if (x->ninputs == 0)
        s->v[0] = cavs__listed(
            p, (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT}, x->k);
    for (int i = 0; i < x->ninputs; i++) {
        s->v[i] = cavs__operand_of(p, x->inputs[i], true);
        if (i == 0 || x->op == CAVS__OP_LIST_SOFTMAX_GRAD)
            s->v[i] = cavs__listed(p, s->v[i], x->k);
    }
    s->v[nviews - 1] = cavs__result_operand(p, x);
    if (x->domain > 0)
        s->v[nviews - 1] = cavs__listed(p, s->v[nviews - 1], x->k);
    return CAVS_OK;
}

const struct cavs__operator cavs__operator_list_sum = {
    .name = "sum_children",
    .role = CAVS__ROLE_SINGLE_LIST,
    .domain = cavs__domain_of_vertices,
    .diff = diff_list_sum,
    .kernel = &cavs__kernel_list_sum,
    .emit = emit_listed,
};

struct cavs_symbol *cavs_max_children_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_list(CAVS__OP_LIST_MAX, x, at);
}

static void diff_list_max(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[2] = {y->inputs[0], g};

    cavs__contribute(d, y, y->inputs[0],
                     cavs__diff_symbol(d, y,
                                       (struct cavs_symbol){.op = CAVS__OP_LIST_MAX_GRAD,
                                                            .width = y->width,
                                                            .domain = y->k,
                                                            .k = y->k},
                                       2, in));
}

const struct cavs__operator cavs__operator_list_max = {
    .name = "max_children",
    .role = CAVS__ROLE_SINGLE_LIST,
    .domain = cavs__domain_of_vertices,
    .diff = diff_list_max,
    .kernel = &cavs__kernel_list_max,
    .emit = emit_listed,
};

const struct cavs__operator cavs__operator_list_max_grad = {
    .name = "max_children_grad",
    .role = CAVS__ROLE_SINGLE_LIST,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_list_max_grad,
    .emit = emit_listed,
};

struct cavs_symbol *cavs_softmax_children_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_list(CAVS__OP_LIST_SOFTMAX, x, at);
}

static void diff_list_softmax(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[2] = {y, g};

    cavs__contribute(
        d, y, y->inputs[0],
        cavs__diff_symbol(
            d, y,
            (struct cavs_symbol){.op = CAVS__OP_LIST_SOFTMAX_GRAD, .width = y->width, .k = y->k}, 2,
            in));
}

const struct cavs__operator cavs__operator_list_softmax = {
    .name = "softmax_children",
    .role = CAVS__ROLE_SINGLE_LIST,
    .domain = cavs__domain_of_operands,
    .diff = diff_list_softmax,
    .kernel = &cavs__kernel_list_softmax,
    .emit = emit_listed,
};

const struct cavs__operator cavs__operator_list_softmax_grad = {
    .name = "softmax_children_grad",
    .role = CAVS__ROLE_SINGLE_LIST,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_list_softmax_grad,
    .emit = emit_listed,
};

struct cavs_symbol *cavs_mean_children_at(struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_symbol *sum, *share;

    if (!x || !is_of_list(x->function, x, "mean_children", at))
        return NULL;
    if (x->function->recorder)
        return over_list(CAVS__OP_LIST_MEAN, x, at);
    sum = cavs_sum_children_at(x, at);
    share = cavs__add_symbol(
        x->function,
        (struct cavs_symbol){.op = CAVS__OP_LIST_SHARE, .width = 1, .k = x->domain, .at = at}, 0,
        NULL);
    return sum && share ? cavs_mul_at(sum, share, at) : NULL;
}

/* On a tape alone; the function of its signature has a sum and a share instead:
 * core/tape/signature_operands.c. */
const struct cavs__operator cavs__operator_list_mean = {
    .name = "mean_children",
    .role = CAVS__ROLE_VIEW,
    .domain = cavs__domain_of_vertices,
    .diff = cavs__not_differentiable,
};

const struct cavs__operator cavs__operator_list_share = {
    .name = "share_of_children",
    .role = CAVS__ROLE_SINGLE_LIST,
    .domain = cavs__domain_of_vertices,
    .diff = cavs__not_differentiable,
    .kernel = &cavs__kernel_list_share,
    .emit = emit_listed,
};
