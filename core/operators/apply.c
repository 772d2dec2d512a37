/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - every operator of codelets/groups/elementwise.def. */
#include "codelets/groups/elementwise.h"
#include "core/operators/family.h"

/* Each operator has a short way of its own, for tapes, which mostly record these and the same as
 * before.  What that leaves out is here. */
static __attribute__((noinline)) struct cavs_symbol *checked1(int op, const char *name,
                                                              struct cavs_symbol *a, float s,
                                                              struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;

    if (!cavs__open_for(f, name, at) || !cavs__is_value(f, a, name, at))
        return NULL;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = CAVS__OP_ELEMENTWISE, .width = a->width, .k = op, .s = s, .at = at},
        1, &a);
}

static inline __attribute__((always_inline)) struct cavs_symbol *apply1(int op, const char *name,
                                                                        struct cavs_symbol *a,
                                                                        float s,
                                                                        struct cavs_place at)
{
    struct cavs_symbol *usual =
        a ? cavs__add_usual(
                a->function,
                (struct cavs_symbol){
                    .op = CAVS__OP_ELEMENTWISE, .width = a->width, .k = op, .s = s, .at = at},
                1, &a)
          : NULL;

    return usual ? usual : checked1(op, name, a, s, at);
}

static __attribute__((noinline)) struct cavs_symbol *checked2(int op, const char *name,
                                                              struct cavs_symbol *a,
                                                              struct cavs_symbol *b,
                                                              struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;
    struct cavs_symbol *in[2] = {a, b};
    int width;

    if (!b || !cavs__open_for(f, name, at) || !cavs__is_value(f, a, name, at) ||
        !cavs__is_value(f, b, name, at))
        return NULL;
    if (a->width != b->width && a->width != 1 && b->width != 1) {
        FAIL(f, CAVS_ESHAPE, "%s: widths %d and %d differ, of %s and %s", name, a->width, b->width,
             cavs__symbol_label(a), cavs__symbol_label(b));
        return NULL;
    }
    if (!cavs__to_one_domain(f, name, 2, in, at))
        return NULL;
    width = a->width > b->width ? a->width : b->width;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE, .width = width, .k = op, .at = at}, 2,
        in);
}

static inline __attribute__((always_inline)) struct cavs_symbol *apply2(int op, const char *name,
                                                                        struct cavs_symbol *a,
                                                                        struct cavs_symbol *b,
                                                                        struct cavs_place at)
{
    struct cavs_symbol *usual =
        a && b ? cavs__add_usual(
                     a->function,
                     (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE,
                                          .width = a->width > b->width ? a->width : b->width,
                                          .k = op,
                                          .at = at},
                     2, (struct cavs_symbol *[]){a, b})
               : NULL;

    return usual ? usual : checked2(op, name, a, b, at);
}

/* ---- by their names ---- */

/* -1: there is none, which is reported. */
static int operator_number(struct cavs_function *f, const char *name, int arity,
                           struct cavs_place at)
{
    int op = name ? cavs__ew_find(name) : -1;

    if (op >= 0 && cavs__ew_arity(op) == arity)
        return op;
    FAIL(f, CAVS_EINVAL, "there is no element-wise operator %s of %d operand%s",
         name ? name : "without a name", arity, arity > 1 ? "s" : "");
    return -1;
}

struct cavs_symbol *cavs_apply1_at(const char *name, struct cavs_symbol *a, float s,
                                   struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;
    int op = f ? operator_number(f, name, 1, at) : -1;

    return op >= 0 ? apply1(op, name, a, s, at) : NULL;
}

struct cavs_symbol *cavs_apply2_at(const char *name, struct cavs_symbol *a, struct cavs_symbol *b,
                                   struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;
    int op = f && b ? operator_number(f, name, 2, at) : -1;

    return op >= 0 ? apply2(op, name, a, b, at) : NULL;
}

/* ---- by functions of their own: what is called at every symbol is not looked up ---- */

#define CAVS_EW1(name, ...)                                                                    \
    struct cavs_symbol *cavs_##name##_at(struct cavs_symbol *a, float s, struct cavs_place at) \
    {                                                                                          \
        return apply1(CAVS__EW_##name, #name, a, s, at);                                       \
    }
#define CAVS_EW2(name, ...)                                                            \
    struct cavs_symbol *cavs_##name##_at(struct cavs_symbol *a, struct cavs_symbol *b, \
                                         struct cavs_place at)                         \
    {                                                                                  \
        return apply2(CAVS__EW_##name, #name, a, b, at);                               \
    }
#include "codelets/groups/elementwise.def"
#undef CAVS_EW1
#undef CAVS_EW2

/* Gradient of an element-wise y = op(a, b) with respect to operand i. */
static void diff_operand(struct cavs__diff *d, struct cavs_symbol *y, int i, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[i], *in[CAVS__EW_MAX_OPERANDS], *gx;
    const char *letters = cavs__ew_operands(y->k, i + 1);
    int n = 0, width = 1;

    if (!x->needs_grad)
        return;
    for (const char *l = letters; *l; l++) {
        in[n] = *l == 'a' ? y->inputs[0] : *l == 'b' ? y->inputs[1] : *l == 'y' ? y : g;
        if (in[n]->width > width)
            width = in[n]->width;
        n++;
    }
    if (cavs__ew_is_identity(y->k, i + 1))
        gx = g;
    else
        gx = cavs__diff_symbol(
            d, y,
            (struct cavs_symbol){
                .op = CAVS__OP_ELEMENTWISE, .width = width, .k = y->k, .which = i + 1, .s = y->s},
            n, in);
    if (gx && x->width == 1 && gx->width > 1)
        gx = cavs__diff_row_sum(d, y, gx);
    else if (gx && gx->width == 1 && x->width > 1)
        gx = cavs__diff_apply2(d, y, "add", cavs__diff_constant(d, y, x->width, 0), gx);
    cavs__contribute(d, y, x, gx);
}

static void diff_elementwise(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    for (int i = 0; i < y->ninputs; i++)
        diff_operand(d, y, i, g);
}

const struct cavs__operator cavs__operator_elementwise = {
    .name = "elementwise",
    .role = CAVS__ROLE_ELEMENTWISE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_elementwise,
};
