/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.c - between what vertices with equal inputs share and the vertices: core/compile/share.c
 * puts these operators there, no call of the user does.
 */
#include "core/operators/family.h"

/* The gradient crosses from rows of vertices to rows that all vertices with equal inputs share. */
static void diff_spread(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *sink;

    if (!y->inputs[0]->needs_grad)
        return;
    sink = cavs__diff_symbol(
        d, y, (struct cavs_symbol){.op = CAVS__OP_SPREAD_GRAD, .width = y->width}, 1, &g);
    cavs__contribute(
        d, y, y->inputs[0],
        cavs__diff_symbol(
            d, y, (struct cavs_symbol){.op = CAVS__OP_COLLECT, .width = y->width, .fetch = sink}, 1,
            &g));
}

const struct cavs__operator cavs__operator_spread = {
    .name = "spread",
    .role = CAVS__ROLE_VIEW,
    .domain = cavs__domain_of_operands,
    .diff = diff_spread,
};

static int emit_collect(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int tensor = cavs__plan_symbol_tensor(p->plan, CAVS__T_SPREAD_GRAD, x->fetch, false);

    return cavs__emit_sum_rows(
        p, x, cavs__checked(p, tensor),
        (struct cavs__section){.kind = CAVS__S_SHARER_PTR, .function = p->f},
        (struct cavs__section){.kind = CAVS__S_SHARER_ROW, .function = p->f});
}

const struct cavs__operator cavs__operator_collect = {
    .name = "collect",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_sum_rows,
    .emit = emit_collect,
};

static struct cavs__operand where_spread_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int tensor = cavs__plan_symbol_tensor(p->plan, CAVS__T_SPREAD_GRAD, x, false);
    struct cavs__operand o =
        cavs__tensor_operand(cavs__checked(p, tensor), CAVS__FROWS, CAVS__DIRECT, 0, x->width);

    o.list = (uint8_t)x->domain;
    return o;
}

const struct cavs__operator cavs__operator_spread_grad = {
    .name = "spread_grad",
    .role = CAVS__ROLE_DESTINATION,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .where = where_spread_grad,
};
