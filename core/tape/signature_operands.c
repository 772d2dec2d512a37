/* SPDX-License-Identifier: Apache-2.0 */
/* signature_operands.c - see signature_function.h: operands, and operators on them. */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/compile/passes.h"
#include "core/tape/signature_function.h"

struct cavs_symbol *cavs__add_to(struct cavs_function *f, struct cavs_symbol like, int n,
                                 struct cavs_symbol *const *inputs)
{
    struct cavs_symbol *x = cavs__symbol_new(f, &like, n, inputs);

    if (x)
        x->needs_grad = cavs__symbol_needs_grad(x, x->which != 0);
    return x;
}

struct cavs_symbol *cavs__columns_of(struct cavs_symbol *x, int from, int width,
                                     struct cavs_place at)
{
    if (!x || x->width == width)
        return x;
    return cavs__add_to(
        x->function,
        (struct cavs_symbol){.op = CAVS__OP_SLICE, .width = width, .k = from, .at = at}, 1, &x);
}

/* A parameter that was joined with others is columns of what they became
 * (core/compile/join_products.c). */
static struct cavs_symbol *columns_of_param(struct cavs_function *f, struct cavs_param *p, int from,
                                            int width, struct cavs_place at)
{
    struct cavs_param *whole = cavs__stored(p);

    return cavs__columns_of(
        cavs__add_to(f,
                     (struct cavs_symbol){
                         .op = CAVS__OP_USE, .width = whole->cols, .param = whole, .at = at},
                     0, NULL),
        from + (p->merged ? p->merged_col : 0), width, at);
}

int cavs__add_list(struct cavs_function *f)
{
    f->lists[0] = calloc(1, sizeof *f->lists[0]);
    if (!f->lists[0])
        return 0;
    f->lists[0]->function = f;
    return f->nlists = 1;
}

struct cavs_symbol *cavs__add_operand(struct cavs_function *f, int k, int domain,
                                      const struct cavs__operand_sort *o, struct cavs_place at)
{
    struct cavs_symbol like = {.k = k, .domain = domain, .at = at};
    float s;

    switch (o->kind) {
    case CAVS__OPERAND_ROW:
        like.op = CAVS__OP_OPERAND;
        like.which = o->grad;
        like.width = o->from + o->width;
        return cavs__columns_of(cavs__add_to(f, like, 0, NULL), o->from, o->width, at);
    case CAVS__OPERAND_PARAM: return columns_of_param(f, o->param, o->from, o->width, at);
    case CAVS__OPERAND_CONSTANT:
        memcpy(&s, &o->s, sizeof s);
        return cavs__add_to(
            f, (struct cavs_symbol){.op = CAVS__OP_CONST, .width = o->width, .s = s, .at = at}, 0,
            NULL);
    case CAVS__OPERAND_ID:
        return cavs__add_to(
            f,
            (struct cavs_symbol){
                .op = CAVS__OP_IDS, .domain = domain, .input = f->stage->inputs[k], .at = at},
            0, NULL);
    }
    return NULL;
}

struct cavs_symbol *cavs__sum_of_rows(struct cavs_function *f, const struct cavs__operand_sort *o,
                                      struct cavs_place at)
{
    struct cavs_symbol like = {
        .op = CAVS__OP_OPERAND_SUM, .width = o->from + o->width, .which = o->grad, .at = at};

    return cavs__columns_of(cavs__add_to(f, like, 0, NULL), o->from, o->width, at);
}

struct cavs_symbol *cavs__mean_of_rows(struct cavs_function *f, const struct cavs__operand_sort *o,
                                       struct cavs_place at)
{
    int list = cavs__add_list(f);
    struct cavs_symbol share = {.op = CAVS__OP_LIST_SHARE, .width = 1, .k = list, .at = at},
                       mul = {.op = CAVS__OP_ELEMENTWISE,
                              .k = CAVS__EW_mul,
                              .width = o->width,
                              .at = at},
                       *in[2] = {list ? cavs__sum_of_rows(f, o, at) : NULL};

    in[1] = in[0] ? cavs__add_to(f, share, 0, NULL) : NULL;
    return in[1] ? cavs__add_to(f, mul, 2, in) : NULL;
}

/* Each entry has a gradient of its own. */
struct cavs_symbol *cavs__largest_of_rows(struct cavs_function *f,
                                          const struct cavs__operand_sort *o, struct cavs_place at)
{
    int list = cavs__add_list(f);
    struct cavs_symbol like = {.op = CAVS__OP_LIST_MAX, .width = o->width, .k = list, .at = at};
    struct cavs_symbol *x = list ? cavs__add_operand(f, 0, list, o, at) : NULL;

    return x ? cavs__add_to(f, like, 1, &x) : NULL;
}

/* x between zeros, as wide as the parameter that p was joined to. */
static struct cavs_symbol *among_zeros(struct cavs_function *f, const struct cavs_param *p,
                                       struct cavs_symbol *x)
{
    struct cavs_symbol like = {.op = CAVS__OP_CONST, .at = x->at}, *in[3];
    int n = 0, rest = p->merged->cols - p->merged_col - p->cols;

    like.width = p->merged_col;
    if (like.width > 0)
        in[n++] = cavs__add_to(f, like, 0, NULL);
    in[n++] = x;
    like.width = rest;
    if (rest > 0)
        in[n++] = cavs__add_to(f, like, 0, NULL);
    if (!in[0] || !in[n - 1])
        return NULL;
    like = (struct cavs_symbol){.op = CAVS__OP_CONCAT, .width = p->merged->cols, .at = x->at};
    return cavs__add_to(f, like, n, in);
}

struct cavs_symbol *cavs__operate(struct cavs_function *f, const struct cavs_symbol *of, int n,
                                  struct cavs_symbol *const *in)
{
    struct cavs_symbol like = *of;
    struct cavs_param *p = like.param;

    if (like.op == CAVS__OP_PULL)
        like.input = f->stage->inputs[CAVS__GIVEN_INPUT];
    if (!p || !p->merged)
        return cavs__add_to(f, like, n, in);
    like.param = p->merged;
    if (like.op == CAVS__OP_MATMUL_T) {
        struct cavs_symbol *x = among_zeros(f, p, in[0]);

        return x ? cavs__add_to(f, like, 1, &x) : NULL;
    }
    like.width = p->merged->cols;
    return cavs__columns_of(cavs__add_to(f, like, n, in), p->merged_col, p->cols, like.at);
}
