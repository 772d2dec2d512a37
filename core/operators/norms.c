/* SPDX-License-Identifier: Apache-2.0 */
/* norms.c - normalised rows. */
#include "core/operators/family.h"

/* ---- layer normalisation: made of other operators, so that it is differentiated and fused like them ---- */

static struct cavs_symbol *normalised(struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_symbol *off = cavs_apply2_at("sub", x, cavs_mean_at(x, at), at);
    struct cavs_symbol *variance = cavs_mean_at(cavs_apply1_at("square", off, 0, at), at);
    struct cavs_symbol *deviation =
        cavs_apply1_at("sqrt", cavs_apply1_at("shift", variance, 1e-5f, at), 0, at);

    return cavs_apply2_at("div", off, deviation, at);
}

/* Is p a row for x? */
static bool fits(struct cavs_function *f, const struct cavs_param *p, const char *what, int width,
                 struct cavs_place at)
{
    if (p && (p->rows != 1 || p->cols != width)) {
        FAIL(f, CAVS_ESHAPE, "layer_norm: %s %s (%d x %d) for a row of width %d", what, p->name,
             p->rows, p->cols, width);
        return false;
    }
    return true;
}

struct cavs_symbol *cavs_layer_norm_at(struct cavs_symbol *x, struct cavs_param *gain,
                                       struct cavs_param *bias, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *y;

    if (!cavs__open_for(f, "layer_norm", at) || !cavs__is_value(f, x, "layer_norm", at) ||
        !fits(f, gain, "gain", x->width, at) || !fits(f, bias, "bias", x->width, at))
        return NULL;
    y = normalised(x, at);
    if (gain)
        y = cavs_apply2_at("mul", y, cavs_use_at(f, gain, at), at);
    return bias ? cavs_apply2_at("add", y, cavs_use_at(f, bias, at), at) : y;
}
