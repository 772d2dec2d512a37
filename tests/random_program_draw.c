/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_draw.c - see random_program.h: what operators there are to be drawn.
 *
 * All values stay within a few units.  Where a derivative jumps, values are moved by a number that
 * nothing else makes, lest rounding decide which of both is right.
 */
#include <math.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "tests/random.h"
#include "tests/random_program.h"
#include "tests/trial.h"

static const float ODD = 0.37f, LARGE = 4;

static int pick(struct program_draw *c, int n)
{
    return draw_pick(&c->family->d, n);
}

static struct program_step *at(const struct program_draw *c, int value)
{
    return &c->p->steps[value];
}

static int width(const struct program_draw *c, int value)
{
    return at(c, value)->width;
}

static int keep(struct program_draw *c, int value)
{
    if (c->npool < PROGRAM_POOL)
        c->pool[c->npool++] = value;
    return value;
}

static int any(struct program_draw *c)
{
    return c->pool[pick(c, c->npool)];
}

/* Adds a step where the program stands; what reads the whole of a parameter or nothing has no other
 * operand. */
static int add(struct program_draw *c, struct program_step s, int n, const int *operands)
{
    s.line = c->nlines ? c->line + pick(c, c->nlines) : ++c->line;
    return program_add(c, s, n, operands);
}

static int apply(struct program_draw *c, const char *name, float s, int x, float most)
{
    return add(c,
               (struct program_step){.op = PROGRAM_ELEMENTWISE,
                                     .width = width(c, x),
                                     .entries = at(c, x)->entries,
                                     .k = cavs__ew_find(name),
                                     .s = s,
                                     .most = most},
               1, &x);
}

/* No further from zero than LARGE. */
static int bounded(struct program_draw *c, int x)
{
    return at(c, x)->most <= LARGE ? x : apply(c, "tanh", 0, x, 1);
}

static int off(struct program_draw *c, int x)
{
    return apply(c, "shift", ODD, apply(c, "tanh", 0, x, 1), 1 + ODD);
}

static int positive(struct program_draw *c, int x)
{
    return apply(c, "shift", 1, apply(c, "square", 0, bounded(c, x), LARGE * LARGE), 17);
}

/* ---- sources ---- */

/* A parameter of that sort with so many rows and columns, -1 being any number; NULL: there is none. */
static const struct cavs_param *find_param(struct program_draw *c, const char *sort, int rows,
                                           int cols)
{
    int n = cavs_model_param_count(c->family->m), first = pick(c, n);

    for (int i = 0; i < n; i++) {
        const struct cavs_param *p = cavs_model_param_at(c->family->m, (first + i) % n);

        if (!strncmp(cavs_param_name(p), sort, strlen(sort)) &&
            (rows < 0 || cavs_param_rows(p) == rows) && (cols < 0 || cavs_param_cols(p) == cols))
            return p;
    }
    return NULL;
}

/* An id of those below the limit, or -1. */
static int draw_id(struct program_draw *c, int limit)
{
    return add(c,
               (struct program_step){
                   .op = PROGRAM_ID, .k = pick(c, 8) ? pick(c, limit) : -1, .which = limit},
               0, NULL);
}

static int draw_row(struct program_draw *c, int wide)
{
    return add(
        c,
        (struct program_step){
            .op = PROGRAM_ROW, .width = wide, .seed = random_next(&c->family->d.seed), .most = 1},
        0, NULL);
}

static int draw_constant(struct program_draw *c, int wide)
{
    float s = (float)random_double(&c->family->d.seed, -1, 1);

    return add(c, (struct program_step){.op = PROGRAM_CONSTANT, .width = wide, .s = s, .most = 1},
               0, NULL);
}

static int draw_use(struct program_draw *c)
{
    const struct cavs_param *bias = find_param(c, "bias", 1, -1);

    if (!bias)
        return draw_row(c, c->family->width);
    return add(c,
               (struct program_step){
                   .op = PROGRAM_USE, .width = cavs_param_cols(bias), .param = bias, .most = 1},
               0, NULL);
}

static int draw_lookup(struct program_draw *c)
{
    const struct cavs_param *table = find_param(c, "table", -1, -1);
    int id;

    if (!table)
        return draw_row(c, c->family->width);
    id = draw_id(c, cavs_param_rows(table));
    return add(
        c,
        (struct program_step){
            .op = PROGRAM_LOOKUP, .width = cavs_param_cols(table), .param = table, .most = 1},
        1, &id);
}

int program_draw_source(struct program_draw *c)
{
    switch (pick(c, 8)) {
    case 0: return keep(c, draw_constant(c, 1 + pick(c, 3)));
    case 1: return keep(c, draw_use(c));
    case 2:
    case 3: return keep(c, draw_row(c, 1 + pick(c, c->family->d.widest)));
    default: return keep(c, draw_lookup(c));
    }
}

/* ---- element-wise ---- */

static int slice(struct program_draw *c, int x, int from, int wide)
{
    return add(c,
               (struct program_step){.op = PROGRAM_SLICE,
                                     .width = wide,
                                     .entries = at(c, x)->entries,
                                     .k = from,
                                     .most = at(c, x)->most},
               1, &x);
}

static int sum(struct program_draw *c, int x)
{
    return add(c,
               (struct program_step){.op = PROGRAM_SUM,
                                     .width = 1,
                                     .entries = at(c, x)->entries,
                                     .most = at(c, x)->most * (float)width(c, x)},
               1, &x);
}

/* y made as wide as x, or of width one. */
static int fit(struct program_draw *c, int x, int y)
{
    int wx = width(c, x), wy = width(c, y);

    if (wx == wy || wx == 1 || wy == 1)
        return y;
    return wy > wx ? slice(c, y, pick(c, wy - wx + 1), wx) : bounded(c, sum(c, y));
}

/* What its operands have to be like.  Those that are not named here take anything within LARGE. */
enum wants { ANYTHING, BESIDE_JUMPS, POSITIVE, SMALL };

static const struct {
    const char *name;
    enum wants wants[2];
} elementwise[] = {
    {"abs", {BESIDE_JUMPS}},
    {"relu", {BESIDE_JUMPS}},
    {"clip", {BESIDE_JUMPS}},
    {"leaky_relu", {BESIDE_JUMPS}},
    {"elu", {BESIDE_JUMPS}},
    {"huber", {BESIDE_JUMPS}},
    {"max", {ANYTHING, BESIDE_JUMPS}},
    {"min", {ANYTHING, BESIDE_JUMPS}},
    {"log", {POSITIVE}},
    {"sqrt", {POSITIVE}},
    {"div", {ANYTHING, POSITIVE}},
    {"exp", {SMALL}},
};

static int as_wanted(struct program_draw *c, const char *name, int operand, int x)
{
    enum wants wants = ANYTHING;

    for (size_t i = 0; i < sizeof elementwise / sizeof *elementwise; i++) {
        if (!strcmp(name, elementwise[i].name))
            wants = elementwise[i].wants[operand];
    }
    switch (wants) {
    case BESIDE_JUMPS: return off(c, x);
    case POSITIVE: return positive(c, x);
    case SMALL: return apply(c, "tanh", 0, x, 1);
    default: return bounded(c, x);
    }
}

static int wider(const struct program_draw *c, int x, int y)
{
    return width(c, x) > width(c, y) ? width(c, x) : width(c, y);
}

static int draw_elementwise(struct program_draw *c)
{
    int op = pick(c, cavs__ew_count()), x[2] = {any(c), 0}, n = cavs__ew_arity(op);
    const char *name = cavs__ew_name(op);
    struct program_step s = {.op = PROGRAM_ELEMENTWISE, .k = op, .most = 2 * LARGE};

    x[1] = n > 1 ? fit(c, x[0], any(c)) : x[0];
    for (int i = 0; i < n; i++)
        x[i] = as_wanted(c, name, i, x[i]);
    s.s = (float)random_double(&c->family->d.seed, 0.3, 0.9);
    s.width = wider(c, x[0], x[1]);
    s.entries = at(c, x[0])->entries;
    if (!strcmp(name, "tanh") || !strcmp(name, "sigmoid"))
        s.most = 1;
    else if (!strcmp(name, "neg") || !strcmp(name, "copy") || !strcmp(name, "scale"))
        s.most = at(c, x[0])->most;
    return bounded(c, add(c, s, n, x));
}

/* ---- products ---- */

static int product(struct program_draw *c, enum program_op op, int x,
                   const struct cavs_param *weight, const struct cavs_param *bias)
{
    int wide = op == PROGRAM_MATMUL_T ? cavs_param_rows(weight) : cavs_param_cols(weight);

    return apply(c, "tanh", 0,
                 add(c,
                     (struct program_step){.op = op,
                                           .width = wide,
                                           .entries = at(c, x)->entries,
                                           .param = weight,
                                           .bias = bias,
                                           .most = 100},
                     1, &x),
                 1);
}

static int draw_product(struct program_draw *c)
{
    int x = bounded(c, any(c)), wide = width(c, x);
    const struct cavs_param *weight, *bias;

    if (pick(c, 4) == 0) {
        weight = find_param(c, pick(c, 3) ? "weight" : "table", -1, wide);
        return weight ? product(c, PROGRAM_MATMUL_T, x, weight, NULL)
                      : apply(c, "neg", 0, x, at(c, x)->most);
    }
    weight = find_param(c, "weight", wide, -1);
    if (!weight)
        return apply(c, "neg", 0, x, at(c, x)->most);
    bias = find_param(c, "bias", 1, cavs_param_cols(weight));
    return product(c, bias ? PROGRAM_AFFINE : PROGRAM_MATMUL, x, weight, bias);
}

/* ---- shapes ---- */

static int concat(struct program_draw *c, int n, const int *xs)
{
    struct program_step s = {.op = PROGRAM_CONCAT};

    for (int i = 0; i < n; i++) {
        s.width += width(c, xs[i]);
        s.most = fmaxf(s.most, at(c, xs[i])->most);
        s.entries = at(c, xs[i])->entries ? at(c, xs[i])->entries : s.entries;
    }
    return add(c, s, n, xs);
}

static int draw_shape(struct program_draw *c)
{
    int x[3] = {any(c), any(c), any(c)}, wide = width(c, x[0]), from = pick(c, wide);

    if (pick(c, 3) == 0)
        return slice(c, x[0], from, 1 + pick(c, wide - from));
    wide += width(c, x[1]) + width(c, x[2]);
    if (pick(c, 3) == 0 || wide > 3 * c->family->d.widest)
        return bounded(c, sum(c, x[0]));
    return concat(c, 2 + pick(c, 2), x);
}

int program_draw_operator(struct program_draw *c)
{
    static int (*const makers[])(struct program_draw *) = {draw_elementwise, draw_elementwise,
                                                           draw_elementwise, draw_product,
                                                           draw_product,     draw_shape};

    return keep(c, makers[pick(c, sizeof makers / sizeof *makers)](c));
}

int program_draw_of_width(struct program_draw *c, int wide)
{
    int x = any(c), xs[2];

    for (int i = 0; i < 4 && width(c, x) < wide; i++)
        x = any(c);
    while (width(c, x) < wide) {
        xs[0] = xs[1] = x;
        x = concat(c, 2, xs);
    }
    if (width(c, x) > wide)
        x = slice(c, x, pick(c, width(c, x) - wide + 1), wide);
    return apply(c, "tanh", 0, x, 1);
}

/* ---- losses ---- */

static void sum_up(struct program_draw *c, enum program_op op, int which, int x)
{
    add(c, (struct program_step){.op = op, .k = which}, 1, &x);
}

void program_draw_losses(struct program_draw *c)
{
    sum_up(c, PROGRAM_LOSS, 0, sum(c, any(c)));
    if (pick(c, 3) == 0)
        sum_up(c, PROGRAM_METRIC, 2, sum(c, any(c)));
}
