/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.c - every operator of codelets/groups/elementwise.def. */
#include "codelets/groups/elementwise.h"
#include "core/operators/family.h"

static int operator_number(struct cavs_function *f, const char *name, int arity,
                           struct cavs_place at)
{
    int op = name ? cavs__ew_find(name) : -1;

    if (op < 0 || cavs__ew_arity(op) != arity) {
        FAIL(f, CAVS_EINVAL, "there is no element-wise operator %s of %d operand%s",
             name ? name : "(null)", arity, arity > 1 ? "s" : "");
        return -1;
    }
    return op;
}

struct cavs_symbol *cavs_apply1_at(const char *name, struct cavs_symbol *a, float s,
                                   struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;
    int op;

    if (!cavs__open_for(f, name, at) || !cavs__is_value(f, a, name, at))
        return NULL;
    op = operator_number(f, name, 1, at);
    if (op < 0)
        return NULL;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = CAVS__OP_ELEMENTWISE, .width = a->width, .k = op, .s = s, .at = at},
        1, &a);
}

struct cavs_symbol *cavs_apply2_at(const char *name, struct cavs_symbol *a, struct cavs_symbol *b,
                                   struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;
    struct cavs_symbol *in[2] = {a, b};
    int op, width;

    if (!b || !cavs__open_for(f, name, at) || !cavs__is_value(f, a, name, at) ||
        !cavs__is_value(f, b, name, at))
        return NULL;
    op = operator_number(f, name, 2, at);
    if (op < 0)
        return NULL;
    if (a->width != b->width && a->width != 1 && b->width != 1) {
        FAIL(f, CAVS_ESHAPE, "%s: widths %d and %d differ", name, a->width, b->width);
        return NULL;
    }
    if (!cavs__to_one_domain(f, name, 2, in, at))
        return NULL;
    width = a->width > b->width ? a->width : b->width;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE, .width = width, .k = op, .at = at}, 2,
        in);
}

const struct cavs__operator cavs__operator_elementwise = {
    .name = "elementwise",
    .role = CAVS__ROLE_ELEMENTWISE,
    .pure = true,
    .domain = cavs__domain_of_operands,
};
