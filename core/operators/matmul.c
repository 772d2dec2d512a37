/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.c - products with a parameter, or with a block of one that each row selects. */
#include "codelets/groups/elementwise.h"
#include "core/operators/family.h"

static double product_flops(const struct cavs_symbol *x)
{
    return 2.0 * x->param->rows * x->param->cols;
}

/* op: MATMUL, or MATMUL_T by the parameter's transpose. */
static __attribute__((noinline)) struct cavs_symbol *checked_product(enum cavs__op op,
                                                                     struct cavs_symbol *x,
                                                                     struct cavs_param *w,
                                                                     struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    const char *name = cavs__operators[op]->name;
    bool transposed = op == CAVS__OP_MATMUL_T;

    if (!cavs__open_for(f, name, at) || !cavs__is_value(f, x, name, at) ||
        !cavs__is_param(f, w, name, at))
        return NULL;
    if (w->model != f->stage->model || (transposed ? w->cols : w->rows) != x->width) {
        FAIL(f, CAVS_ESHAPE, "%s: %s of width %d times parameter %s (%d x %d)%s%s", name,
             cavs__symbol_label(x), x->width, w->name, w->rows, w->cols, transposed ? "^T" : "",
             w->model != f->stage->model ? " of another model" : "");
        return NULL;
    }
    if (!cavs__note_dense_use(f, w, name, at))
        return NULL;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = op, .width = transposed ? w->rows : w->cols, .param = w, .at = at},
        1, &x);
}

static inline struct cavs_symbol *product(enum cavs__op op, struct cavs_symbol *x,
                                          struct cavs_param *w, struct cavs_place at)
{
    struct cavs_symbol *usual =
        x && w ? cavs__add_usual(
                     x->function,
                     (struct cavs_symbol){.op = op,
                                          .width = op == CAVS__OP_MATMUL_T ? w->rows : w->cols,
                                          .param = w,
                                          .at = at},
                     1, &x)
               : NULL;

    return usual ? usual : checked_product(op, x, w, at);
}

struct cavs_symbol *cavs_matmul_at(struct cavs_symbol *x, struct cavs_param *w,
                                   struct cavs_place at)
{
    return product(CAVS__OP_MATMUL, x, w, at);
}

struct cavs_symbol *cavs_matmul_t_at(struct cavs_symbol *x, struct cavs_param *w,
                                     struct cavs_place at)
{
    return product(CAVS__OP_MATMUL_T, x, w, at);
}

struct cavs_symbol *cavs_affine_at(struct cavs_symbol *x, struct cavs_param *w,
                                   struct cavs_param *b, struct cavs_place at)
{
    struct cavs_symbol *y = product(CAVS__OP_MATMUL, x, w, at), *in[2] = {y};
    struct cavs_function *f = y ? y->function : NULL;

    if (!y || !cavs__is_param(f, b, "affine", at))
        return NULL;
    if (b->rows != 1 || b->cols != y->width) {
        FAIL(f, CAVS_ESHAPE, "affine: bias %s (%d x %d) for a product of width %d, not 1 x %d",
             b->name, b->rows, b->cols, y->width, y->width);
        return NULL;
    }
    in[1] = cavs_use_at(f, b, at);
    if (!in[1] || !cavs__to_one_domain(f, "affine", 2, in, at))
        return NULL;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = CAVS__OP_ELEMENTWISE, .width = y->width, .k = CAVS__EW_add, .at = at},
        2, in);
}

/* The gradient of the operand is a product with the other one of W and W^T; that of W is a^T b. */
static void diff_product(struct cavs__diff *d, struct cavs_symbol *y, enum cavs__op other,
                         struct cavs_symbol *g, struct cavs_symbol *const in[2])
{
    struct cavs_symbol *x = y->inputs[0];

    if (x->needs_grad) {
        cavs__contribute(
            d, y, x,
            cavs__diff_symbol(
                d, y, (struct cavs_symbol){.op = other, .width = x->width, .param = y->param}, 1,
                &g));
    }
    if (!y->param->frozen)
        cavs__diff_symbol(d, y, (struct cavs_symbol){.op = CAVS__OP_GRAD_MATMUL, .param = y->param},
                          2, in);
}

static void diff_matmul(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    diff_product(d, y, CAVS__OP_MATMUL_T, g, (struct cavs_symbol *[]){y->inputs[0], g});
}

static void diff_matmul_t(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    diff_product(d, y, CAVS__OP_MATMUL, g, (struct cavs_symbol *[]){g, y->inputs[0]});
}

static int emit_product(struct cavs__placer *p, const struct cavs_symbol *x,
                        enum cavs__layout layout)
{
    int w = cavs__plan_weights(p->plan, x->param, layout);
    struct cavs__step *s;
    int rc = w < 0 ? w : cavs__new_step(p, x, 3, &s);

    if (rc)
        return rc;
    s->call.panels = p->plan->options.panels;
    s->call.near = s->call.panels && cavs__weights_stay(p->plan);
    s->call.bf16 = p->plan->options.bf16;
    s->call.device_bf16 = p->plan->options.device_bf16;
    s->v[0] = cavs__read_operand(p, x, 0);
    s->v[1] = cavs__fixed_operand(w, 0, x->width);
    s->v[2] = cavs__result_operand(p, x);
    return CAVS_OK;
}

static int emit_matmul(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return emit_product(p, x, CAVS__LAYOUT_PANELS);
}

const struct cavs__operator cavs__operator_matmul = {
    .name = "matmul",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .flops = product_flops,
    .diff = diff_matmul,
    .kernel = &cavs__kernel_gemm,
    .emit = emit_matmul,
};

static int emit_matmul_t(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return emit_product(p, x, CAVS__LAYOUT_PANELS_TRANSPOSED);
}

const struct cavs__operator cavs__operator_matmul_t = {
    .name = "matmul_t",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .flops = product_flops,
    .diff = diff_matmul_t,
    .kernel = &cavs__kernel_gemm,
    .emit = emit_matmul_t,
};

const struct cavs__operator cavs__operator_grad_matmul = {
    .name = "grad_matmul",
    .role = CAVS__ROLE_SUM,
    .domain = cavs__domain_of_operands,
    .flops = product_flops,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_gemm_tn,
    .emit = cavs__emit_param_grad,
};

struct cavs_symbol *cavs_matmul_select_at(struct cavs_symbol *x, struct cavs_param *w, int nselect,
                                          struct cavs_symbol *ids, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *in[2] = {x, ids};
    static const char op[] = "matmul_select";

    if (!ids || !cavs__open_for(f, op, at) || !cavs__is_value(f, x, op, at) ||
        !cavs__is_ids(f, ids, op, at) || !cavs__is_param(f, w, op, at))
        return NULL;
    if (w->model != f->stage->model) {
        FAIL(f, CAVS_EPROGRAM, "matmul_select: parameter %s belongs to another model", w->name);
        return NULL;
    }
    if (nselect <= 0 || (int64_t)nselect * x->width != w->rows) {
        FAIL(
            f, CAVS_ESHAPE,
            "matmul_select: %s of width %d times one of %d blocks of parameter %s (%d x %d), which "
            "should have %d rows for each",
            cavs__symbol_label(x), x->width, nselect, w->name, w->rows, w->cols, x->width);
        return NULL;
    }
    if (!cavs__to_one_domain(f, op, 2, in, at))
        return NULL;
    if (!cavs__limit_ids(ids, nselect, op, at))
        return NULL;
    if (!cavs__note_dense_use(f, w, op, at))
        return NULL;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){.op = CAVS__OP_MATMUL_SELECT, .width = w->cols, .param = w, .at = at},
        2, in);
}

static double select_flops(const struct cavs_symbol *x)
{
    return 2.0 * x->inputs[0]->width * x->param->cols;
}

static double select_t_flops(const struct cavs_symbol *x)
{
    return 2.0 * x->width * x->param->cols;
}

static void diff_select(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[0], *ids = y->inputs[1], *in[3] = {x, g, ids};

    if (x->needs_grad) {
        cavs__contribute(d, y, x,
                         cavs__diff_symbol(d, y,
                                           (struct cavs_symbol){.op = CAVS__OP_MATMUL_SELECT_T,
                                                                .width = x->width,
                                                                .param = y->param},
                                           2, in + 1));
    }
    if (!y->param->frozen)
        cavs__diff_symbol(
            d, y, (struct cavs_symbol){.op = CAVS__OP_GRAD_MATMUL_SELECT, .param = y->param}, 3,
            in);
}

static int emit_select(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = cavs__new_step(p, x, 4, &s);

    if (rc)
        return rc;
    s->v[0] = cavs__read_operand(p, x, 0);
    s->v[1] = cavs__read_operand(p, x, 1);
    s->v[2] = cavs__fixed_operand(p->plan->param[x->param->number], 0, x->param->cols);
    s->v[3] = cavs__result_operand(p, x);
    return CAVS_OK;
}

const struct cavs__operator cavs__operator_matmul_select = {
    .name = "matmul_select",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .flops = select_flops,
    .diff = diff_select,
    .kernel = &cavs__kernel_gemm_select,
    .emit = emit_select,
};

const struct cavs__operator cavs__operator_matmul_select_t = {
    .name = "matmul_select_t",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .flops = select_t_flops,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_gemm_select_t,
    .emit = emit_select,
};

const struct cavs__operator cavs__operator_grad_matmul_select = {
    .name = "grad_matmul_select",
    .role = CAVS__ROLE_SUM,
    .domain = cavs__domain_of_operands,
    .flops = select_flops,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_gemm_tn_select,
    .emit = cavs__emit_param_grad,
};
