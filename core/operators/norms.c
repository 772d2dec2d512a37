/* SPDX-License-Identifier: Apache-2.0 */
/* norms.c - normalised rows. */
#include "core/operators/family.h"

/* sqrt(mean of the squares + 1e-5) */
static struct cavs_symbol *root_mean_square(struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_symbol *mean = cavs_mean_at(cavs_square_at(x, 0, at), at);

    return cavs_sqrt_at(cavs_shift_at(mean, 1e-5f, at), 0, at);
}

/* Is p a row for x? */
static bool fits(struct cavs_function *f, const char *op, const struct cavs_param *p,
                 const char *what, int width, struct cavs_place at)
{
    if (p && (p->rows != 1 || p->cols != width)) {
        FAIL(f, CAVS_ESHAPE, "%s: %s %s (%d x %d) for a row of width %d", op, what, p->name,
             p->rows, p->cols, width);
        return false;
    }
    return true;
}

/* ---- layer normalisation: made of other operators, so that it is differentiated and fused like
 * them ---- */

static struct cavs_symbol *normalised(struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_symbol *off = cavs_sub_at(x, cavs_mean_at(x, at), at);

    return cavs_div_at(off, root_mean_square(off, at), at);
}

struct cavs_symbol *cavs_layer_norm_at(struct cavs_symbol *x, struct cavs_param *gain,
                                       struct cavs_param *bias, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *y;

    if (!cavs__open_for(f, "layer_norm", at) || !cavs__is_value(f, x, "layer_norm", at) ||
        !fits(f, "layer_norm", gain, "gain", x->width, at) ||
        !fits(f, "layer_norm", bias, "bias", x->width, at))
        return NULL;
    y = normalised(x, at);
    if (gain)
        y = cavs_mul_at(y, cavs_use_at(f, gain, at), at);
    return bias ? cavs_add_at(y, cavs_use_at(f, bias, at), at) : y;
}

/* ---- division by the root mean square: a kernel of its own ---- */

struct cavs_symbol *cavs_rms_norm_at(struct cavs_symbol *x, struct cavs_param *gain,
                                     struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *y;

    if (!cavs__open_for(f, "rms_norm", at) || !cavs__is_value(f, x, "rms_norm", at) ||
        !fits(f, "rms_norm", gain, "gain", x->width, at))
        return NULL;
    y = cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_RMS_NORM, .width = x->width, .at = at}, 1, &x);
    return gain ? cavs_mul_at(y, cavs_use_at(f, gain, at), at) : y;
}

/* (g - y mean(y g)) / rms(x) */
static void diff_rms_norm(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[0], *along, *across;

    if (!x->needs_grad)
        return;
    along = cavs_mean_at(cavs_mul_at(y, g, y->at), y->at);
    across = cavs_sub_at(g, cavs_mul_at(y, along, y->at), y->at);
    cavs__contribute(d, y, x, cavs_div_at(across, root_mean_square(x, y->at), y->at));
}

const struct cavs__operator cavs__operator_rms_norm = {
    .name = "rms_norm",
    .role = CAVS__ROLE_SINGLE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_rms_norm,
    .kernel = &cavs__kernel_rms_norm,
    .emit = cavs__emit_plain,
};
