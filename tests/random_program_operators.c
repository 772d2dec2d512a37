/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_operators.c - see random_program.h: products, shapes, operators on rows. */
#include "codelets/groups/elementwise.h"
#include "tests/random_program_parts.h"

enum { BLOCKS = 3, WIDEST_RESULT = 48 };

/* ---- products ---- */

static int product_with(struct program_draw *c, struct program_step s, int n, const int *operands)
{
    s.width = s.op == PROGRAM_MATMUL_T ? cavs_param_rows(s.param) : cavs_param_cols(s.param);
    s.most = 100;
    return program_tanh(c, program_step(c, s, n, operands));
}

static int product_t(struct program_draw *c)
{
    int x = program_bounded(c, any(c));
    const struct cavs_param *w = program_param(c, pick(c, 3) ? "weight" : "table", -1, width(c, x));

    if (!w)
        return program_negative(c, x);
    return product_with(c, (struct program_step){.op = PROGRAM_MATMUL_T, .param = w}, 1, &x);
}

static int product(struct program_draw *c)
{
    int x = program_bounded(c, any(c));
    const struct cavs_param *w = program_param(c, "weight", width(c, x), -1), *bias;

    if (!w)
        return product_t(c);
    bias = pick(c, 2) ? program_param(c, "bias", 1, cavs_param_cols(w)) : NULL;
    return product_with(c,
                        (struct program_step){
                            .op = bias ? PROGRAM_AFFINE : PROGRAM_MATMUL, .param = w, .bias = bias},
                        1, &x);
}

static int selected(struct program_draw *c)
{
    int x[2] = {program_bounded(c, any(c)), 0};
    const struct cavs_param *w = program_param(c, "stacked", BLOCKS * width(c, x[0]), -1);

    if (!w)
        return product(c);
    x[1] = program_ids(c, x[0], BLOCKS);
    return product_with(c, (struct program_step){.op = PROGRAM_SELECT, .param = w, .k = BLOCKS}, 2,
                        x);
}

/* x and y as matrices that can be multiplied. */
static int matrices(struct program_draw *c, int x, int y)
{
    int w = width(c, x), rows = 1 + pick(c, w), inner, cols, xy[2] = {x, y};

    while (w % rows)
        rows--;
    inner = w / rows;
    cols = width(c, y) / inner;
    while (rows * cols > WIDEST_RESULT)
        cols--;
    if (cols == 0)
        return program_negative(c, x);
    xy[1] = program_slice(c, y, 0, inner * cols);
    return program_tanh(c, program_step(c,
                                        (struct program_step){.op = PROGRAM_PRODUCT,
                                                              .width = rows * cols,
                                                              .k = rows,
                                                              .which = pick(c, 3),
                                                              .most = 1000},
                                        2, xy));
}

static int of_symbols(struct program_draw *c)
{
    int x = program_bounded(c, any(c)), y = program_bounded(c, program_beside(c, x));
    int wide = width(c, x) * width(c, y), xy[2] = {x, y};

    if (pick(c, 3) == 0) {
        xy[1] = program_fit(c, x, y);
        if (width(c, xy[1]) == width(c, x))
            return program_tanh(
                c,
                program_step(c, (struct program_step){.op = PROGRAM_DOT, .width = 1, .most = 1000},
                             2, xy));
    }
    if (pick(c, 3) == 0 && wide <= WIDEST_RESULT)
        return program_tanh(
            c,
            program_step(c, (struct program_step){.op = PROGRAM_OUTER, .width = wide, .most = 16},
                         2, (int[]){x, y}));
    return matrices(c, x, y);
}

/* ---- shapes ---- */

static int shape(struct program_draw *c)
{
    int x[3] = {any(c), 0, 0}, wide = width(c, x[0]), from = pick(c, wide);

    if (pick(c, 3) == 0)
        return program_slice(c, x[0], from, 1 + pick(c, wide - from));
    x[1] = program_beside(c, x[0]);
    x[2] = program_beside(c, at(c, x[1])->entries ? x[1] : x[0]);
    wide += width(c, x[1]) + width(c, x[2]);
    if (wide > 3 * c->family->d.widest)
        return program_bounded(c, program_sum(c, x[0]));
    return program_concat(c, 2 + pick(c, 2), x);
}

/* ---- what looks at all columns of a row ---- */

static int picked(struct program_draw *c, int x)
{
    int xs[2] = {x, program_ids(c, x, width(c, x))};

    return program_step(
        c, (struct program_step){.op = PROGRAM_PICK, .width = 1, .most = at(c, x)->most}, 2, xs);
}

/* Of three columns at least: what is left of the gradients of fewer is little but rounding.  A row
 * is added, lest all columns be equal. */
static int normed(struct program_draw *c, int x)
{
    struct program_step s = {.op = PROGRAM_RMS_NORM, .width = width(c, x), .most = 100};
    const struct cavs_param *uneven = program_param(c, "bias", 1, s.width);
    int xs[2] = {x, 0};

    if (s.width < 3 || !uneven)
        return program_negative(c, x);
    xs[1] = program_step(
        c, (struct program_step){.op = PROGRAM_USE, .width = s.width, .param = uneven, .most = 1},
        0, NULL);
    x = program_step(c,
                     (struct program_step){.op = PROGRAM_ELEMENTWISE,
                                           .width = s.width,
                                           .k = cavs__ew_find("add"),
                                           .most = 2 * PROGRAM_LARGE},
                     2, xs);
    if (pick(c, 2))
        s.param = program_param(c, "bias", 1, s.width);
    if (pick(c, 2))
        return program_tanh(c, program_step(c, s, 1, &x));
    s.op = PROGRAM_LAYER_NORM;
    s.bias = pick(c, 2) ? program_param(c, "bias", 1, s.width) : NULL;
    return program_tanh(c, program_step(c, s, 1, &x));
}

static int of_row(struct program_draw *c)
{
    int x = program_bounded(c, any(c)), wide = width(c, x);
    float most = at(c, x)->most;

    switch (pick(c, 7)) {
    case 0:
        return program_step(
            c, (struct program_step){.op = PROGRAM_SOFTMAX, .width = wide, .most = 1}, 1, &x);
    case 1:
        return program_tanh(
            c, program_step(
                   c, (struct program_step){.op = PROGRAM_LOG_SOFTMAX, .width = wide, .most = 99},
                   1, &x));
    case 2:
        return program_step(c, (struct program_step){.op = PROGRAM_MEAN, .width = 1, .most = most},
                            1, &x);
    case 3:
        return program_step(
            c, (struct program_step){.op = PROGRAM_LARGEST, .width = 1, .most = most}, 1, &x);
    case 4: return picked(c, x);
    case 5: return program_bounded(c, program_sum(c, x));
    default: return normed(c, x);
    }
}

int program_draw_other(struct program_draw *c)
{
    static int (*const makers[])(struct program_draw *) = {product,    product, product_t, selected,
                                                           of_symbols, shape,   of_row,    of_row};

    return makers[pick(c, sizeof makers / sizeof *makers)](c);
}

/* ---- losses ---- */

static int against(struct program_draw *c, enum program_op op, float s, int x, int y)
{
    int xs[2] = {x, y};

    return program_step(c, (struct program_step){.op = op, .width = 1, .s = s, .most = 1000}, 2,
                        xs);
}

/* Of x against another value. */
static int error(struct program_draw *c)
{
    int x = program_bounded(c, any(c));
    int y = program_bounded(c, program_fit(c, x, program_beside(c, x)));

    switch (pick(c, 4)) {
    case 0: return against(c, PROGRAM_SQUARED_ERROR, 0, x, y);
    case 1: return against(c, PROGRAM_ABSOLUTE_ERROR, 0, x, program_off(c, y));
    case 2: return against(c, PROGRAM_HUBER_ERROR, 0.53f, x, program_off(c, y));
    default:
        return against(c, PROGRAM_BINARY_CROSS_ENTROPY, 0, x,
                       program_elementwise(c, "sigmoid", 0, y, 1));
    }
}

/* Of logits against a label of the row or entry. */
static int misses(struct program_draw *c)
{
    int x = program_bounded(c, any(c)), label = program_ids(c, x, width(c, x));

    return pick(c, 3) ? against(c, PROGRAM_CROSS_ENTROPY, 0, x, label)
                      : against(c, PROGRAM_HINGE, 0.61f, x, label);
}

/* Counted where an id is not negative, one time in three. */
static void sum_up(struct program_draw *c, enum program_op op, int which, int x)
{
    int xs[2] = {program_together(c, x), 0}, n = 1;

    if (pick(c, 3) == 0)
        xs[n++] = program_ids(c, -1, 2);
    program_step(c, (struct program_step){.op = op, .k = which}, n, xs);
}

void program_draw_losses(struct program_draw *c)
{
    if (pick(c, 3))
        sum_up(c, PROGRAM_LOSS, 0, program_sum(c, any(c)));
    if (pick(c, 2))
        sum_up(c, PROGRAM_LOSS, 1, error(c));
    if (pick(c, 2))
        sum_up(c, PROGRAM_LOSS, 1, misses(c));
    if (pick(c, 4) == 0)
        sum_up(c, PROGRAM_METRIC, 2, program_sum(c, any(c)));
    if (pick(c, 4) == 0) {
        int x = program_together(c, any(c));

        sum_up(c, PROGRAM_METRIC, 3,
               against(c, PROGRAM_CORRECT, 0, x, program_ids(c, x, width(c, x))));
    }
}
