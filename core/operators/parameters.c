/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.c - a row of numbers that are trained, rows of a table of them, and constants. */
#include "core/operators/family.h"

/* The symbol that stands for the parameter where a tape has mentioned it before; else NULL. */
static struct cavs_symbol *known_use(const struct cavs_function *f, const struct cavs_param *p)
{
    const struct cavs__uses *uses = f->recorder ? f->recorder->uses : NULL;
    struct cavs_symbol *x = uses && (size_t)p->number < uses->room ? uses->of[p->number] : NULL;

    return x && x->function == f && x->param == p ? x : NULL;
}

struct cavs_symbol *cavs_use_at(struct cavs_function *f, struct cavs_param *p, struct cavs_place at)
{
    struct cavs_symbol *known;

    if (!cavs__open_for(f, "use", at) || !cavs__is_param(f, p, "use", at))
        return NULL;
    known = known_use(f, p);
    if (known)
        return known;
    if (p->model != f->stage->model || p->rows != 1) {
        FAIL(f, CAVS_ESHAPE, "use: parameter %s (%d x %d) %s", p->name, p->rows, p->cols,
             p->rows != 1 ? "must have one row" : "belongs to another model");
        return NULL;
    }
    if (!cavs__note_dense_use(f, p, "use", at))
        return NULL;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_USE, .width = p->cols, .param = p, .at = at}, 0,
        NULL);
}

static void diff_use(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    cavs__diff_symbol(d, y, (struct cavs_symbol){.op = CAVS__OP_GRAD_USE, .param = y->param}, 1,
                      &g);
}

static struct cavs__operand where_use(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__tensor_operand(p->plan->param[x->param->number], CAVS__FIXED, CAVS__SAME, 0,
                                x->width);
}

const struct cavs__operator cavs__operator_use = {
    .name = "use",
    .role = CAVS__ROLE_CONSTANT,
    .pure = true,
    .domain = cavs__domain_of_vertices,
    .diff = diff_use,
    .where = where_use,
};

const struct cavs__operator cavs__operator_grad_use = {
    .name = "grad_use",
    .role = CAVS__ROLE_SUM,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_column_sum,
    .emit = cavs__emit_param_grad,
};

struct cavs_symbol *cavs_constant_at(struct cavs_function *f, int width, float value,
                                     struct cavs_place at)
{
    if (!cavs__open_for(f, "constant", at))
        return NULL;
    if (width <= 0) {
        FAIL(f, CAVS_ESHAPE, "constant: width %d is not positive", width);
        return NULL;
    }
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_CONST, .width = width, .s = value, .at = at}, 0,
        NULL);
}

/* Groups know the number; other steps find it written to scratch (places.c). */
static struct cavs__operand where_constant(struct cavs__placer *p, const struct cavs_symbol *x)
{
    (void)p, (void)x;
    return (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT};
}

const struct cavs__operator cavs__operator_constant = {
    .name = "constant",
    .role = CAVS__ROLE_CONSTANT,
    .pure = true,
    .domain = cavs__domain_of_vertices,
    .diff = cavs__not_differentiable,
    .where = where_constant,
};

struct cavs_symbol *cavs_lookup_at(struct cavs_param *table, struct cavs_symbol *ids,
                                   struct cavs_place at)
{
    struct cavs_function *f = ids ? ids->function : NULL;

    if (!cavs__open_for(f, "lookup", at) || !cavs__is_ids(f, ids, "lookup", at) ||
        !cavs__is_param(f, table, "lookup", at))
        return NULL;
    if (table->model != f->stage->model) {
        FAIL(f, CAVS_EPROGRAM, "lookup: parameter %s belongs to another model", table->name);
        return NULL;
    }
    if (!cavs__limit_ids(ids, table->rows, "lookup", at))
        return NULL;
    if (!cavs__note(f, &table->lookup_use, "lookup", at))
        return NULL;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){.op = CAVS__OP_LOOKUP, .width = table->cols, .param = table, .at = at},
        1, &ids);
}

/* What all entries of a vertex have in common is kept once for each vertex. */
static void diff_lookup(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[2] = {y->inputs[0], g->op == CAVS__OP_REPEAT ? g->inputs[0] : g};

    if (y->function->stage->recorded) /* a tape keeps the gradients of all its results */
        return;
    cavs__diff_symbol(
        d, y,
        (struct cavs_symbol){.op = CAVS__OP_GRAD_LOOKUP, .width = g->width, .param = y->param}, 2,
        in);
}

static struct cavs__operand where_lookup(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__section s = {.kind = cavs__in_shared_part(p) ? CAVS__S_DISTINCT_IDS : CAVS__S_IDS,
                              .function = p->f,
                              .number = x->inputs[0]->input->number,
                              .list = x->domain};

    return cavs__indexed_operand(p, p->plan->param[x->param->number], 0, x->width, s);
}

const struct cavs__operator cavs__operator_lookup = {
    .name = "lookup",
    .role = CAVS__ROLE_SOURCE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_lookup,
    .where = where_lookup,
};

static struct cavs__operand where_grad_lookup(struct cavs__placer *p, const struct cavs_symbol *x)
{
    bool shared = cavs__in_shared_part(p);
    int tensor = cavs__plan_symbol_tensor(p->plan, CAVS__T_LOOKUP_GRAD, x, shared);
    struct cavs__operand o = cavs__tensor_operand(cavs__checked(p, tensor),
                                                  shared      ? CAVS__DISTINCT
                                                  : x->domain ? CAVS__ENTRIES
                                                              : CAVS__FROWS,
                                                  CAVS__DIRECT, 0, x->width);

    o.list = (uint8_t)x->domain;
    return o;
}

/* The gradient's, which may have a row per vertex where ids have one per entry. */
static int domain_of_gradient(const struct cavs_symbol *like, int ninputs,
                              struct cavs_symbol *const *inputs)
{
    (void)ninputs;
    return cavs__domain(inputs[1]) < 0 ? like->domain : inputs[1]->domain;
}

const struct cavs__operator cavs__operator_grad_lookup = {
    .name = "grad_lookup",
    .role = CAVS__ROLE_DESTINATION,
    .domain = domain_of_gradient,
    .diff = cavs__of_df,
    .where = where_grad_lookup,
};
