/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - states of children, and the state of the vertex itself: gather, each_child, scatter. */
#include "core/operators/family.h"

struct cavs_symbol *cavs_gather_at(struct cavs_function *f, int k, struct cavs_place at)
{
    if (!cavs__open_for_vertices(f, "gather", at))
        return NULL;
    if (f->stage->state_width == 0) {
        FAIL(f, CAVS_EPROGRAM, "gather(%d): stage %s has no state", k, f->stage->name);
        return NULL;
    }
    if (k < 0 || k > 65535) {
        FAIL(f, CAVS_EINVAL, "gather(%d): child slots are numbered from 0 to 65535", k);
        return NULL;
    }
    if (f->slots != CAVS__ANY_CHILDREN && k + 1 > f->slots)
        f->slots = k + 1;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = CAVS__OP_GATHER, .width = f->stage->state_width, .k = k, .at = at},
        0, NULL);
}

/* The child gets its gradient in any case: diff_children.c makes one for each slot. */
static void diff_child(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    (void)d, (void)y, (void)g;
}

static struct cavs__operand where_gather(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__indexed_operand(
        p, p->sp->state, 0, x->width,
        (struct cavs__section){
            .kind = CAVS__S_CHILD, .function = p->f, .number = x->k, .list = x->domain});
}

const struct cavs__operator cavs__operator_gather = {
    .name = "gather",
    .role = CAVS__ROLE_SOURCE,
    .chain = CAVS__STARTS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = diff_child,
    .where = where_gather,
};

struct cavs_symbol *cavs_each_child_at(struct cavs_function *f, struct cavs_place at)
{
    int domain;

    if (!cavs__open_for_vertices(f, "each_child", at))
        return NULL;
    if (f->stage->state_width == 0) {
        FAIL(f, CAVS_EPROGRAM, "each_child: stage %s has no state", f->stage->name);
        return NULL;
    }
    domain = cavs__children_domain(f, "each_child", at);
    return domain ? cavs__add_symbol(f,
                                     (struct cavs_symbol){.op = CAVS__OP_EACH_CHILD,
                                                          .domain = domain,
                                                          .width = f->stage->state_width,
                                                          .at = at},
                                     0, NULL)
                  : NULL;
}

static struct cavs__operand where_each_child(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__indexed_operand(
        p, p->sp->state, 0, x->width,
        (struct cavs__section){.kind = CAVS__S_LIST_CHILD, .function = p->f, .list = x->domain});
}

const struct cavs__operator cavs__operator_each_child = {
    .name = "each_child",
    .role = CAVS__ROLE_SOURCE,
    .chain = CAVS__STARTS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = diff_child,
    .where = where_each_child,
};

void cavs_scatter_at(struct cavs_function *f, struct cavs_symbol *x, struct cavs_place at)
{
    if (!cavs__is_function_for(f, x, "scatter", at) || !cavs__open_for_vertices(f, "scatter", at))
        return;
    if (!x) {
        FAIL(f, CAVS_EPROGRAM, "scatter of NULL");
    } else if (f->scatter) {
        FAIL(f, CAVS_EPROGRAM, "second scatter; the first is at %s:%d", f->scatter->at.file,
             f->scatter->at.line);
    } else if (cavs__is_value(f, x, "scatter", at) && cavs__is_of_vertices(f, x, "scatter", at)) {
        if (x->width != f->stage->state_width)
            FAIL(f, CAVS_ESHAPE, "scatter: %s of width %d, but the state of stage %s has width %d",
                 cavs__symbol_label(x), x->width, f->stage->name, f->stage->state_width);
        else
            f->scatter = cavs__add_symbol(
                f, (struct cavs_symbol){.op = CAVS__OP_SCATTER, .width = x->width, .at = at}, 1,
                &x);
    }
}

static void diff_scatter(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    (void)g;
    if (y->function->stage->state_grad)
        cavs__contribute(
            d, y, y->inputs[0],
            cavs__diff_symbol(
                d, y, (struct cavs_symbol){.op = CAVS__OP_STATE_GRAD, .width = y->width}, 0, NULL));
}

static struct cavs__operand where_scatter(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__tensor_operand(p->sp->state, CAVS__ROWS, CAVS__DIRECT, 0, x->width);
}

const struct cavs__operator cavs__operator_scatter = {
    .name = "scatter",
    .role = CAVS__ROLE_DESTINATION,
    .chain = CAVS__ENDS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = diff_scatter,
    .where = where_scatter,
};

static int emit_state_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__section ptr = {.kind = CAVS__S_PARENT_PTR}, index = {.kind = CAVS__S_PARENT_EDGE};

    return cavs__emit_sum_rows(p, x, p->sp->edge, ptr, index);
}

const struct cavs__operator cavs__operator_state_grad = {
    .name = "state_grad",
    .role = CAVS__ROLE_SINGLE,
    .chain = CAVS__STARTS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_sum_rows,
    .emit = emit_state_grad,
};

static struct cavs__operand where_nth(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__ids_operand(
        p, (struct cavs__section){
               .kind = CAVS__S_LIST_NTH, .function = p->f, .number = x->k, .list = x->domain});
}

const struct cavs__operator cavs__operator_nth = {
    .name = "nth_child",
    .role = CAVS__ROLE_SOURCE,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .where = where_nth,
};

static struct cavs__operand where_slot_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__operand o =
        cavs__tensor_operand(p->sp->edge, CAVS__EDGES, CAVS__DIRECT, 0, x->width);

    o.slots = p->f->slots;
    o.slot = x->k;
    return o;
}

const struct cavs__operator cavs__operator_slot_grad = {
    .name = "slot_grad",
    .role = CAVS__ROLE_DESTINATION,
    .chain = CAVS__ENDS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .where = where_slot_grad,
};

static struct cavs__operand where_each_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__operand o =
        cavs__tensor_operand(p->sp->edge, CAVS__EDGES, CAVS__DIRECT, 0, x->width);

    o.list = (uint8_t)x->domain;
    return o;
}

const struct cavs__operator cavs__operator_each_grad = {
    .name = "each_child_grad",
    .role = CAVS__ROLE_DESTINATION,
    .chain = CAVS__ENDS_CHAIN,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .where = where_each_grad,
};
