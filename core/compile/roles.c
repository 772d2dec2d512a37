/* SPDX-License-Identifier: Apache-2.0 */
/* roles.c - what placement has to know of a symbol: what it stands for, and what is under it. */
#include "core/compile/place.h"

#include "core/declare/operator.h"

/* The symbol computes nothing: it only says which rows its operand has. */
static bool is_crossing(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_SPREAD || (x->op == CAVS__OP_COLLECT && !p->shares);
}

struct cavs_symbol *cavs__base(const struct cavs__placer *p, struct cavs_symbol *x, int *col)
{
    *col = 0;
    while (x->op == CAVS__OP_SLICE || is_crossing(p, x)) {
        *col += x->op == CAVS__OP_SLICE ? x->k : 0;
        x = x->inputs[0];
    }
    return x;
}

struct cavs_symbol *cavs__root(const struct cavs__placer *p, struct cavs_symbol *x)
{
    while (x->op == CAVS__OP_SLICE || x->op == CAVS__OP_REPEAT || is_crossing(p, x))
        x = x->inputs[0];
    return x;
}

bool cavs__is_reference(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_SOURCE);
}

bool cavs__is_constant(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_CONSTANT);
}

bool cavs__is_elementwise(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_ELEMENTWISE);
}

bool cavs__is_destination(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_DESTINATION);
}

bool cavs__is_computed(const struct cavs_symbol *x)
{
    return !cavs__is_reference(x) && !cavs__is_constant(x) && !cavs__has_role(x, CAVS__ROLE_VIEW);
}

bool cavs__is_remade(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    if (x->op != CAVS__OP_CONCAT)
        return false;
    for (int i = 0; i < x->ninputs; i++) {
        struct cavs_symbol *b = cavs__root(p, x->inputs[i]);

        if (cavs__is_computed(b) && p->value[b->number].part == p->value[x->number].part &&
            !cavs__is_remade(p, b))
            return false;
    }
    return true;
}

int cavs__item_domain(const struct cavs__item *item)
{
    return item->copy ? item->dest.list : item->x->domain;
}
