/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c - what an operator of a tape reads and leaves: rows of other operators, and their
 * gradients.  core/tape/signature.c puts these around the operator, no call of the user does.
 *
 * Rows of all widths lie in one tensor, in lines (part.h); they stand to one another as the states
 * of a stage do, but that an operand may be some columns of a row: hence pieces.
 */
#include "core/operators/family.h"

/* ---- operands ---- */

static void diff_operand(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    cavs__diff_symbol(
        d, y, (struct cavs_symbol){.op = CAVS__OP_OPERAND_GRAD, .width = y->width, .k = y->k}, 1,
        &g);
}

static struct cavs__operand where_operand(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__indexed_operand(
        p, p->sp->state, 0, x->width,
        (struct cavs__section){
            .kind = CAVS__S_CHILD, .function = p->f, .number = x->k, .list = x->domain});
}

const struct cavs__operator cavs__operator_operand = {
    .name = "operand",
    .role = CAVS__ROLE_SOURCE,
    .chain = CAVS__STARTS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = diff_operand,
    .where = where_operand,
};

/* Of a list, whose entries differ in number: a row of gradients is that of all of them. */
static int emit_operand_sum(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__section ptr = {.kind = CAVS__S_LIST_PTR, .function = p->f, .list = 1};
    struct cavs__section index = {
        .kind = CAVS__S_CHILD, .function = p->f, .number = x->k, .list = 1};
    int rc = cavs__emit_sum_rows(p, x, p->sp->state, ptr, index);

    if (!rc)
        p->out->steps[p->out->nsteps - 1].v[0].space = CAVS__FROWS;
    return rc;
}

const struct cavs__operator cavs__operator_operand_sum = {
    .name = "operand_sum",
    .role = CAVS__ROLE_SINGLE,
    .chain = CAVS__STARTS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = diff_operand,
    .kernel = &cavs__kernel_sum_rows,
    .emit = emit_operand_sum,
};

static struct cavs__operand in_lines(int tensor, int which, int width)
{
    struct cavs__operand o = cavs__tensor_operand(tensor, CAVS__LINES, CAVS__DIRECT, 0, width);

    o.slot = which;
    o.ld = cavs__lines_of(width) * CAVS__LINE;
    return o;
}

static struct cavs__operand where_operand_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__operand o = in_lines(p->sp->edge, CAVS__LINES_OPERANDS + x->k, x->width);

    o.list = (uint8_t)x->domain;
    return o;
}

const struct cavs__operator cavs__operator_operand_grad = {
    .name = "operand_grad",
    .role = CAVS__ROLE_DESTINATION,
    .chain = CAVS__ENDS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .where = where_operand_grad,
};

/* ---- the result ---- */

/* One of several results of a block is columns of the row's gradient. */
static void diff_one_of_several(struct cavs__diff *d, struct cavs_symbol *y)
{
    struct cavs_symbol *g = cavs__diff_symbol(
        d, y, (struct cavs_symbol){.op = CAVS__OP_RESULT_GRAD, .width = y->which}, 0, NULL);

    if (y->which != y->width)
        g = cavs__diff_symbol(
            d, y, (struct cavs_symbol){.op = CAVS__OP_SLICE, .width = y->width, .k = y->k}, 1, &g);
    cavs__contribute(d, y, y->inputs[0], g);
}

/* Every gradient of an operator is kept: that of a product's result is read by the product's
 * parameter, that of a looked-up row by the update, and any by the user. */
static void diff_result(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    if (y->which) {
        diff_one_of_several(d, y);
        return;
    }
    g = cavs__diff_symbol(d, y, (struct cavs_symbol){.op = CAVS__OP_RESULT_GRAD, .width = y->width},
                          0, NULL);
    cavs__diff_symbol(d, y, (struct cavs_symbol){.op = CAVS__OP_KEPT_GRAD, .width = y->width}, 1,
                      &g);
    cavs__contribute(d, y, y->inputs[0], g);
}

static struct cavs__operand where_result(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__operand o = in_lines(p->sp->state, CAVS__LINES_RESULT, x->width);

    if (x->which) {
        o.col = x->k;
        o.ld = cavs__lines_of(x->which) * CAVS__LINE;
    }
    return o;
}

const struct cavs__operator cavs__operator_result = {
    .name = "result",
    .role = CAVS__ROLE_DESTINATION,
    .chain = CAVS__ENDS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = diff_result,
    .where = where_result,
};

static int emit_result_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__section ptr = {.kind = CAVS__S_PARENT_PTR}, index = {.kind = CAVS__S_PARENT_EDGE};

    return cavs__emit_sum_rows(p, x, p->sp->edge, ptr, index);
}

const struct cavs__operator cavs__operator_result_grad = {
    .name = "result_grad",
    .role = CAVS__ROLE_SINGLE,
    .chain = CAVS__STARTS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_sum_pieces,
    .emit = emit_result_grad,
};

static struct cavs__operand where_kept_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return in_lines(p->sp->push[0], CAVS__LINES_RESULT, x->width);
}

const struct cavs__operator cavs__operator_kept_grad = {
    .name = "kept_grad",
    .role = CAVS__ROLE_DESTINATION,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .where = where_kept_grad,
};

/* ---- declared functions ---- */

/* Its signature's function has the operators of the declared one: core/tape/unfolded.h. */
const struct cavs__operator cavs__operator_apply = {
    .name = "apply",
    .role = CAVS__ROLE_VIEW,
    .domain = cavs__domain_of_vertices,
    .diff = cavs__not_differentiable,
};
