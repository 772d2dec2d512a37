/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - operators that look at the whole width of a row. */
#include "core/operators/family.h"

static struct cavs_symbol *over_width(enum cavs__op op, struct cavs_symbol *x, int width,
                                      struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    const char *name = cavs__operators[op]->name;

    if (!cavs__open_for(f, name, at) || !cavs__is_value(f, x, name, at))
        return NULL;
    return cavs__add_symbol(f, (struct cavs_symbol){.op = op, .width = width, .at = at}, 1, &x);
}

/* A sum or maximum over one column is that column. */
static struct cavs_symbol *reduced(enum cavs__op op, struct cavs_symbol *x, struct cavs_place at)
{
    if (x && x->width == 1 && !x->function->finished)
        return x;
    return over_width(op, x, 1, at);
}

struct cavs_symbol *cavs_sum_at(struct cavs_symbol *x, struct cavs_place at)
{
    return reduced(CAVS__OP_ROW_SUM, x, at);
}

struct cavs_symbol *cavs_mean_at(struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_symbol *sum = cavs_sum_at(x, at);

    return sum ? cavs_scale_at(sum, 1.0f / (float)x->width, at) : NULL;
}

static void diff_row_sum(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    cavs__contribute(
        d, y, y->inputs[0],
        cavs__diff_apply2(d, y, "add", cavs__diff_constant(d, y, y->inputs[0]->width, 0), g));
}

const struct cavs__operator cavs__operator_row_sum = {
    .name = "sum",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_row_sum,
    .kernel = &cavs__kernel_row_sum,
    .emit = cavs__emit_plain,
};

struct cavs_symbol *cavs_largest_at(struct cavs_symbol *x, struct cavs_place at)
{
    return reduced(CAVS__OP_ROW_MAX, x, at);
}

static void diff_row_max(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[0], *in[2] = {x, g};

    if (x->needs_grad)
        cavs__contribute(
            d, y, x,
            cavs__diff_symbol(
                d, y, (struct cavs_symbol){.op = CAVS__OP_ROW_MAX_GRAD, .width = x->width}, 2, in));
}

const struct cavs__operator cavs__operator_row_max = {
    .name = "largest",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_row_max,
    .kernel = &cavs__kernel_row_max,
    .emit = cavs__emit_plain,
};

const struct cavs__operator cavs__operator_row_max_grad = {
    .name = "largest_grad",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_row_max_grad,
    .emit = cavs__emit_plain,
};

struct cavs_symbol *cavs_softmax_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_width(CAVS__OP_SOFTMAX, x, cavs_symbol_width(x), at);
}

/* y (g - sum(y g)): of what was computed, y is all that has to be kept. */
static void diff_softmax(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *yg, *sum, *rest;

    if (!y->inputs[0]->needs_grad)
        return;
    yg = cavs__diff_apply2(d, y, "mul", y, g);
    sum = cavs__diff_row_sum(d, y, yg);
    rest = cavs__diff_apply2(d, y, "sub", g, sum);
    cavs__contribute(d, y, y->inputs[0], cavs__diff_apply2(d, y, "mul", y, rest));
}

const struct cavs__operator cavs__operator_softmax = {
    .name = "softmax",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_softmax,
    .kernel = &cavs__kernel_softmax,
    .emit = cavs__emit_plain,
};

struct cavs_symbol *cavs_log_softmax_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_width(CAVS__OP_LOG_SOFTMAX, x, cavs_symbol_width(x), at);
}

/* g - e^y sum(g) */
static void diff_log_softmax(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *e, *sum, *share;

    if (!y->inputs[0]->needs_grad)
        return;
    e = cavs__diff_apply1(d, y, "exp", y);
    sum = cavs__diff_row_sum(d, y, g);
    share = cavs__diff_apply2(d, y, "mul", e, sum);
    cavs__contribute(d, y, y->inputs[0], cavs__diff_apply2(d, y, "sub", g, share));
}

const struct cavs__operator cavs__operator_log_softmax = {
    .name = "log_softmax",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_log_softmax,
    .kernel = &cavs__kernel_log_softmax,
    .emit = cavs__emit_plain,
};

struct cavs_symbol *cavs_pick_at(struct cavs_symbol *x, struct cavs_symbol *ids,
                                 struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *in[2] = {x, ids};

    if (!ids || !cavs__open_for(f, "pick", at) || !cavs__is_value(f, x, "pick", at) ||
        !cavs__is_ids(f, ids, "pick", at))
        return NULL;
    if (!cavs__to_one_domain(f, "pick", 2, in, at))
        return NULL;
    if (!cavs__limit_ids(ids, x->width, "pick", at))
        return NULL;
    return cavs__add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_PICK, .width = 1, .at = at}, 2,
                            in);
}

static void diff_pick(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[0], *in[2] = {y->inputs[1], g};

    if (x->needs_grad)
        cavs__contribute(
            d, y, x,
            cavs__diff_symbol(
                d, y, (struct cavs_symbol){.op = CAVS__OP_PICK_GRAD, .width = x->width}, 2, in));
}

const struct cavs__operator cavs__operator_pick = {
    .name = "pick",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_pick,
    .kernel = &cavs__kernel_pick,
    .emit = cavs__emit_plain,
};

const struct cavs__operator cavs__operator_pick_grad = {
    .name = "pick_grad",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_pick_grad,
    .emit = cavs__emit_plain,
};

const struct cavs__operator cavs__operator_mask = {
    .name = "mask",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = cavs__not_differentiable,
    .kernel = &cavs__kernel_mask,
    .emit = cavs__emit_plain,
};
