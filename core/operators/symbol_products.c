/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_products.c - products of two symbols, whose rows are read as matrices.
 *
 * One operator in three forms: A B, and with either operand transposed.  The gradients are products
 * of these forms again.  Of the symbol, k is how many rows the result has, and which is the form;
 * the widths tell all else.
 */
#include <stdio.h>

#include "core/operators/family.h"

static struct cavs_symbol *add_product(struct cavs_symbol *a, struct cavs_symbol *b,
                                       struct cavs_symbol like)
{
    struct cavs_symbol *in[2] = {a, b};

    like.op = CAVS__OP_PRODUCT;
    if (!cavs__to_one_domain(a->function, "product", 2, in, like.at))
        return NULL;
    return cavs__add_symbol(a->function, like, 2, in);
}

static bool are_values(const char *op, struct cavs_symbol *a, struct cavs_symbol *b,
                       struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;

    return b && cavs__open_for(f, op, at) && cavs__is_value(f, a, op, at) &&
           cavs__is_value(f, b, op, at);
}

/* Can rows of these widths be matrices of which the product is rows x cols? */
static bool fits(int64_t a, int64_t b, int64_t rows, int64_t cols)
{
    return rows > 0 && cols > 0 && a % rows == 0 && a / rows * cols == b &&
           rows * cols <= INT32_MAX;
}

struct cavs_symbol *cavs_product_at(struct cavs_symbol *a, struct cavs_symbol *b, int rows,
                                    int cols, int transposed, struct cavs_place at)
{
    static const char *const names[] = {"product", "product_tn", "product_nt"};
    static const char *const shapes[] = {"(%d x n) (n x %d)", "(n x %d)^T (n x %d)",
                                         "(%d x n) (%d x n)^T"};
    int form = transposed == 1 || transposed == 2 ? transposed : 0;
    char shape[64];

    if (!are_values(names[form], a, b, at))
        return NULL;
    if (!fits(a->width, b->width, rows, cols)) {
        snprintf(shape, sizeof shape, shapes[form], rows, cols);
        FAIL(a->function, CAVS_ESHAPE, "%s: operands of widths %d and %d are no matrices %s",
             names[form], a->width, b->width, shape);
        return NULL;
    }
    return add_product(
        a, b, (struct cavs_symbol){.width = rows * cols, .k = rows, .which = form, .at = at});
}

struct cavs_symbol *cavs_dot_at(struct cavs_symbol *a, struct cavs_symbol *b, struct cavs_place at)
{
    if (!are_values("dot", a, b, at))
        return NULL;
    if (a->width != b->width) {
        FAIL(a->function, CAVS_ESHAPE, "dot: widths %d and %d differ, of %s and %s", a->width,
             b->width, cavs__symbol_label(a), cavs__symbol_label(b));
        return NULL;
    }
    return add_product(a, b, (struct cavs_symbol){.width = 1, .k = 1, .at = at});
}

struct cavs_symbol *cavs_outer_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                  struct cavs_place at)
{
    if (!are_values("outer", a, b, at))
        return NULL;
    return cavs_product_at(a, b, a->width, b->width, 0, at);
}

/* ---- the operator ---- */

static double flops(const struct cavs_symbol *x)
{
    return 2.0 * x->inputs[0]->width * x->width / x->k;
}

/* The gradient of y's operand i as a product that has so many rows. */
static void diff_operand(struct cavs__diff *d, struct cavs_symbol *y, int i,
                         struct cavs_symbol like, struct cavs_symbol *a, struct cavs_symbol *b)
{
    struct cavs_symbol *x = y->inputs[i], *in[2] = {a, b};

    if (!x->needs_grad)
        return;
    like.op = CAVS__OP_PRODUCT;
    like.width = x->width;
    cavs__contribute(d, y, x, cavs__diff_symbol(d, y, like, 2, in));
}

/* An inner product passes its gradient on element by element. */
static void diff_inner(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    for (int i = 0; i < 2; i++) {
        if (y->inputs[i]->needs_grad)
            cavs__contribute(d, y, y->inputs[i],
                             cavs__diff_apply2(d, y, "mul", g, y->inputs[1 - i]));
    }
}

enum { NONE, FIRST, SECOND /* operand that is transposed */ };

/* Y = A B: dA = G B^T, dB = A^T G, and what follows from that for A^T and B^T. */
static void diff_product(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *a = y->inputs[0], *b = y->inputs[1];
    int rows = y->k, cols = y->width / rows, n = a->width / rows;

    if (y->width == 1) {
        diff_inner(d, y, g);
        return;
    }
    switch (y->which) {
    case NONE:
        diff_operand(d, y, 0, (struct cavs_symbol){.k = rows, .which = SECOND}, g, b);
        diff_operand(d, y, 1, (struct cavs_symbol){.k = n, .which = FIRST}, a, g);
        break;
    case FIRST:
        diff_operand(d, y, 0, (struct cavs_symbol){.k = n, .which = SECOND}, b, g);
        diff_operand(d, y, 1, (struct cavs_symbol){.k = n, .which = NONE}, a, g);
        break;
    case SECOND:
        diff_operand(d, y, 0, (struct cavs_symbol){.k = rows, .which = NONE}, g, b);
        diff_operand(d, y, 1, (struct cavs_symbol){.k = cols, .which = FIRST}, g, a);
        break;
    }
}

static int emit(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int rc = cavs__emit_plain(p, x);
    struct cavs__call *call = rc ? NULL : &p->out->steps[p->out->nsteps - 1].call;

    if (rc)
        return rc;
    call->rows = x->k;
    call->transposed = x->which;
    return CAVS_OK;
}

const struct cavs__operator cavs__operator_product = {
    .name = "product",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .flops = flops,
    .diff = diff_product,
    .kernel = &cavs__kernel_gemm_rows,
    .emit = emit,
};
