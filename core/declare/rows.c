/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - operators that look at the whole width of a row. */
#include "core/declare/build.h"

static struct cavs_symbol *over_width(enum cavs__op op, struct cavs_symbol *x, int width,
                                      struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    const char *name = cavs__op_name(op);

    if (!cavs__open_for(f, name, at) || !cavs__is_value(f, x, name, at))
        return NULL;
    return cavs__add_symbol(f, (struct cavs_symbol){.op = op, .width = width, .at = at}, 1, &x);
}

/* A sum or maximum over one column is that column. */
static struct cavs_symbol *reduced(enum cavs__op op, struct cavs_symbol *x, struct cavs_place at)
{
    if (x && x->width == 1 && !x->function->finished)
        return x;
    return over_width(op, x, 1, at);
}

struct cavs_symbol *cavs_sum_at(struct cavs_symbol *x, struct cavs_place at)
{
    return reduced(CAVS__OP_ROW_SUM, x, at);
}

struct cavs_symbol *cavs_mean_at(struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_symbol *sum = cavs_sum_at(x, at);

    return sum ? cavs_apply1_at("scale", sum, 1.0f / (float)x->width, at) : NULL;
}

struct cavs_symbol *cavs_largest_at(struct cavs_symbol *x, struct cavs_place at)
{
    return reduced(CAVS__OP_ROW_MAX, x, at);
}

struct cavs_symbol *cavs_softmax_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_width(CAVS__OP_SOFTMAX, x, cavs_symbol_width(x), at);
}

struct cavs_symbol *cavs_log_softmax_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_width(CAVS__OP_LOG_SOFTMAX, x, cavs_symbol_width(x), at);
}

/* Every call in a model has numbers of its own. */
static int next_site(const struct cavs_model *m)
{
    int n = 0;

    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++) {
            const struct cavs_function *f = m->stages[i]->functions[j];

            for (int k = 0; k < f->nsymbols; k++)
                n += f->symbols[k]->op == CAVS__OP_DROPOUT;
        }
    }
    return n;
}

struct cavs_symbol *cavs_dropout_at(struct cavs_symbol *x, float rate, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;

    if (!cavs__open_for(f, "dropout", at) || !cavs__is_value(f, x, "dropout", at))
        return NULL;
    if (!(rate >= 0 && rate < 1)) {
        FAIL(f, CAVS_EINVAL, "dropout: the rate %g is not from 0 up to, but not including, 1",
             (double)rate);
        return NULL;
    }
    if (rate == 0)
        return x;
    return cavs__add_symbol(f,
                            (struct cavs_symbol){.op = CAVS__OP_DROPOUT,
                                                 .width = x->width,
                                                 .s = rate,
                                                 .k = next_site(f->stage->model),
                                                 .at = at},
                            1, &x);
}

struct cavs_symbol *cavs_pick_at(struct cavs_symbol *x, struct cavs_symbol *ids,
                                 struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *in[2] = {x, ids};

    if (!ids || !cavs__open_for(f, "pick", at) || !cavs__is_value(f, x, "pick", at) ||
        !cavs__is_ids(f, ids, "pick", at))
        return NULL;
    if (!cavs__to_one_domain(f, "pick", 2, in, at))
        return NULL;
    cavs__limit_ids(ids, x->width);
    return cavs__add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_PICK, .width = 1, .at = at}, 2,
                            in);
}

/* ---- layer normalisation: made of the above, so that it is differentiated and fused like them ---- */

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
