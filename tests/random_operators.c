/* SPDX-License-Identifier: Apache-2.0 */
/* random_operators.c - what random vertex functions compute, and what they lose; see
 * random_model.h.
 *
 * Where a derivative jumps, values are moved by a number that nothing else makes, lest rounding
 * decide which of both is right. */
#include <stdio.h>

#include "core/cavs_cells.h"
#include "tests/random.h"
#include "tests/random_model.h"

enum { CLASSES = 3, WORDS = 5, WIDEST_RESULT = 48 };
static const float ODD = 0.37f;

static struct cavs_symbol *off(struct cavs_symbol *x)
{
    return cavs_shift(cavs_tanh(x), ODD);
}

static struct cavs_symbol *unary(struct draw *d)
{
    struct cavs_symbol *x = draw_any(d);
    switch (draw_pick(d, 18)) {
    case 0: return cavs_sigmoid(x);
    case 1: return cavs_relu(off(x));
    case 2: return cavs_neg(x);
    case 3: return cavs_scale(x, (float)random_double(&d->seed, -1, 1));
    case 4: return cavs_square(cavs_tanh(x));
    case 5: return cavs_exp(cavs_tanh(x));
    case 6: return cavs_log(cavs_shift(cavs_square(x), 1));
    case 7: return cavs_gelu(cavs_tanh(x));
    case 8: return cavs_softplus(x);
    case 9: return cavs_sqrt(cavs_shift(cavs_square(x), 0.2f));
    case 10: return cavs_abs(off(x));
    case 11: return cavs_clip(off(x), 0.71f);
    case 12: return cavs_leaky_relu(off(x), 0.2f);
    case 13: return cavs_elu(off(x), 0.7f);
    case 14: return cavs_silu(x);
    case 15: return d->drops ? cavs_dropout(x, 0.3f) : cavs_neg(x);
    case 16: return cavs_stop_gradient(x);
    default: return cavs_tanh(x);
    }
}

static struct cavs_symbol *binary(struct draw *d)
{
    struct cavs_symbol *x = draw_any(d), *y = draw_fit(d, x, draw_beside(d, x));
    switch (draw_pick(d, 6)) {
    case 0: return cavs_sub(x, y);
    case 1: return cavs_tanh(cavs_mul(x, y));
    case 2: return cavs_div(x, cavs_shift(cavs_square(y), 1));
    case 3: return cavs_max(x, cavs_shift(y, ODD));
    case 4: return cavs_min(cavs_shift(x, ODD), y);
    default: return cavs_add(x, y);
    }
}

/* ---- products ---- */

/* A product with a block named by an id of the vertex, edge or entry. */
static struct cavs_symbol *selected(struct draw *d, struct cavs_symbol *x, int n)
{
    int blocks = x->domain && draw_pick(d, 2) ? WORDS : 3;
    struct cavs_symbol *ids = draw_ids(d, x, blocks);
    struct cavs_param *w;
    if (!ids)
        return cavs_neg(x);
    w = draw_weight(d, blocks * cavs_symbol_width(x), n, false);
    return cavs_tanh(cavs_matmul_select(x, w, blocks, ids));
}

/* The vertex's own step of a cell. */
static struct cavs_symbol *cell(struct draw *d, struct cavs_symbol *x)
{
    int hidden = 1 + draw_pick(d, d->widest), width = cavs_symbol_width(x);
    bool lstm = draw_pick(d, 2);
    struct cavs_symbol *before = draw_of_width(d, lstm ? 2 * hidden : hidden);
    char name[16];
    snprintf(name, sizeof name, "cell%d", d->m->nparams);
    struct cavs_cell c = lstm ? cavs_lstm_params(d->m, name, width, hidden)
                              : cavs_gru_params(d->m, name, width, hidden);
    struct cavs_symbol *next = cavs_cell_next(&c, x, before);
    return draw_pick(d, 2) ? cavs_cell_output(&c, next) : next;
}

static struct cavs_symbol *product(struct draw *d)
{
    struct cavs_symbol *x = draw_any(d);
    int n = 1 + draw_pick(d, d->widest + 1), w = cavs_symbol_width(x);
    switch (draw_pick(d, 9)) {
    case 0:
    case 1: return selected(d, x, n);
    case 2: return cavs_tanh(cavs_matmul_t(x, draw_weight(d, n, w, false)));
    case 3: return cavs_tanh(cavs_matmul_t(x, draw_weight(d, WORDS, w, true)));
    case 4: return draw_pick(d, 3) ? cavs_neg(x) : cell(d, x);
    case 5:
    case 6: return cavs_tanh(cavs_matmul(x, draw_weight(d, w, n, false)));
    default: break;
    }
    struct cavs_param *W = draw_weight(d, w, n, false);
    return cavs_tanh(cavs_affine(x, W, draw_weight(d, 1, n, false)));
}

/* x and y as matrices that can be multiplied. */
static struct cavs_symbol *matrices(struct draw *d, struct cavs_symbol *x, struct cavs_symbol *y)
{
    int w = cavs_symbol_width(x), rows = 1 + draw_pick(d, w);
    while (w % rows)
        rows--;
    int inner = w / rows, cols = cavs_symbol_width(y) / inner;
    while (rows * cols > WIDEST_RESULT)
        cols--;
    if (cols == 0)
        return cavs_neg(x);
    y = cavs_slice(y, 0, inner * cols);
    switch (draw_pick(d, 3)) {
    case 0: return cavs_tanh(cavs_product(x, y, rows, cols));
    case 1: return cavs_tanh(cavs_product_tn(x, y, rows, cols));
    default: return cavs_tanh(cavs_product_nt(x, y, rows, cols));
    }
}

static struct cavs_symbol *of_symbols(struct draw *d)
{
    struct cavs_symbol *x = draw_any(d), *y = draw_beside(d, x), *fit = draw_fit(d, x, y);
    int wx = cavs_symbol_width(x), wy = cavs_symbol_width(y);
    if (draw_pick(d, 3) == 0 && wx == cavs_symbol_width(fit))
        return cavs_tanh(cavs_dot(x, fit));
    if (draw_pick(d, 3) == 0 && wx * wy <= WIDEST_RESULT)
        return cavs_tanh(cavs_outer(x, y));
    return matrices(d, x, y);
}

/* ---- shapes, rows and lists ---- */

static struct cavs_symbol *together(struct draw *d)
{
    struct cavs_symbol *x = draw_any(d);
    if (x->domain && draw_pick(d, 4) == 0)
        return cavs_softmax_children(x);
    return x->domain ? draw_per_vertex(d, x) : cavs_neg(x);
}

static struct cavs_symbol *picked(struct draw *d, struct cavs_symbol *x)
{
    struct cavs_symbol *ids = draw_ids(d, x, cavs_symbol_width(x));
    return ids ? cavs_pick(x, ids) : cavs_neg(x);
}

/* Of three columns at least: what is left of the gradients of fewer is little but rounding. */
static struct cavs_symbol *normed(struct draw *d, struct cavs_symbol *x)
{
    int w = cavs_symbol_width(x);
    struct cavs_param *gain, *bias;
    if (w < 3)
        return cavs_neg(x);
    x = draw_uneven(d, x);
    gain = draw_pick(d, 2) ? draw_weight(d, 1, w, false) : NULL;
    if (draw_pick(d, 2))
        return cavs_tanh(cavs_rms_norm(x, gain));
    bias = draw_pick(d, 2) ? draw_weight(d, 1, w, false) : NULL;
    return cavs_tanh(cavs_layer_norm(x, gain, bias));
}

/* What looks at all columns of a row. */
static struct cavs_symbol *row(struct draw *d)
{
    struct cavs_symbol *x = draw_any(d);
    switch (draw_pick(d, 9)) {
    case 0: return cavs_softmax(x);
    case 1: return cavs_tanh(cavs_log_softmax(x));
    case 2: return cavs_largest(draw_uneven(d, x));
    case 3: return picked(d, x);
    case 4: return cavs_mean(x);
    case 5: return cavs_tanh(cavs_sum(x));
    default: return normed(d, x);
    }
}

static struct cavs_symbol *reshaped(struct draw *d)
{
    struct cavs_symbol *x = draw_any(d), *xs[3] = {x, draw_beside(d, x), draw_beside(d, x)};
    int w = cavs_symbol_width(x), from = draw_pick(d, w);
    if (xs[1]->domain && xs[2]->domain && xs[1]->domain != xs[2]->domain)
        xs[2] = draw_per_vertex(d, xs[2]);
    if (draw_pick(d, 3) == 0)
        return cavs_slice(x, from, 1 + draw_pick(d, w - from));
    w += cavs_symbol_width(xs[1]) + cavs_symbol_width(xs[2]);
    return w < 4 * d->widest + 4 ? cavs_concat(3, xs) : cavs_neg(x);
}

void draw_operators(struct draw *d, int n)
{
    static struct cavs_symbol *(*const makers[])(struct draw *) = {
        unary,   unary,      unary,    binary,   binary, binary,  product,
        product, of_symbols, reshaped, reshaped, row,    together};
    for (int i = 0; i < n; i++)
        draw_keep(d, makers[draw_pick(d, sizeof makers / sizeof *makers)](d));
}

struct cavs_symbol *draw_of_width(struct draw *d, int width)
{
    struct cavs_symbol *x = draw_any(d);
    for (int i = 0; i < 8 && cavs_symbol_width(x) < width; i++)
        x = draw_any(d);
    x = draw_per_vertex(d, x);
    int w = cavs_symbol_width(x);
    if (w < width)
        return cavs_tanh(cavs_matmul(x, draw_weight(d, w, width, false)));
    return cavs_slice(x, draw_pick(d, w - width + 1), width);
}

/* ---- losses ---- */

/* Of x against another value. */
static struct cavs_symbol *error(struct draw *d)
{
    struct cavs_symbol *x = draw_any(d), *y = draw_fit(d, x, draw_beside(d, x));
    switch (draw_pick(d, 5)) {
    case 0: return cavs_squared_error(x, y);
    case 1: return cavs_absolute_error(x, cavs_shift(y, ODD));
    case 2: return cavs_huber_error(x, cavs_shift(y, ODD), 0.53f);
    case 3: return cavs_binary_cross_entropy(x, cavs_sigmoid(y));
    default: return cavs_squared_error(x, cavs_constant(d->f, 1, 0.3f));
    }
}

/* Of logits against a label of the vertex, edge or entry. */
static struct cavs_symbol *misses(struct draw *d)
{
    struct cavs_symbol *x = draw_pick(d, 2) ? draw_any(d) : draw_of_width(d, CLASSES);
    struct cavs_symbol *label = draw_ids(d, x, cavs_symbol_width(x));
    if (!label)
        return cavs_sum(x);
    return draw_pick(d, 3) ? cavs_softmax_cross_entropy(x, label) : cavs_hinge(x, label, 0.61f);
}

void draw_losses(struct draw *d)
{
    struct cavs_symbol *where = draw_pick(d, 2) ? cavs_pull_ids(d->f, "where") : NULL;
    if (draw_pick(d, 3))
        cavs_loss(d->f, "loss", cavs_sum(draw_per_vertex(d, draw_any(d))), where);
    if (draw_pick(d, 2))
        cavs_loss(d->f, "errors", draw_per_vertex(d, error(d)), NULL);
    if (draw_pick(d, 2))
        cavs_loss(d->f, "misses", draw_per_vertex(d, misses(d)), draw_pick(d, 2) ? where : NULL);
    if (draw_pick(d, 3) == 0)
        cavs_metric(d->f, "mean", cavs_sum(draw_per_vertex(d, draw_any(d))), where);
    if (draw_pick(d, 3) == 0) {
        struct cavs_symbol *logits = draw_uneven(d, draw_of_width(d, CLASSES));
        struct cavs_symbol *label = draw_ids(d, logits, CLASSES);
        cavs_metric(d->f, "correct", cavs_correct(logits, label), label);
    }
}
