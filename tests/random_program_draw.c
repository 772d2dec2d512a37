/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_draw.c - see random_program.h: sources, element-wise operators, and what all draws
 * share (random_program_parts.h). */
#include <math.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "tests/random.h"
#include "tests/random_program_parts.h"

/* ---- what all share ---- */

int program_keep(struct program_draw *c, int value)
{
    if (c->npool < PROGRAM_POOL)
        c->pool[c->npool++] = value;
    return value;
}

int program_step(struct program_draw *c, struct program_step s, int n, const int *operands)
{
    for (int i = 0; i < n && s.entries == 0 && s.op != PROGRAM_LIST && s.op != PROGRAM_APPLY; i++)
        s.entries = at(c, operands[i])->entries;
    if (s.op == PROGRAM_LIST)
        s.entries = n;
    else if (s.op >= PROGRAM_SUM_CHILDREN && s.op <= PROGRAM_MAX_CHILDREN)
        s.entries = 0;
    s.line = c->nlines ? c->line + pick(c, c->nlines) : ++c->line;
    return program_add(c, s, n, operands);
}

int program_elementwise(struct program_draw *c, const char *name, float s, int x, float most)
{
    return program_step(c,
                        (struct program_step){.op = PROGRAM_ELEMENTWISE,
                                              .width = width(c, x),
                                              .k = cavs__ew_find(name),
                                              .s = s,
                                              .most = most},
                        1, &x);
}

int program_bounded(struct program_draw *c, int x)
{
    return at(c, x)->most <= PROGRAM_LARGE ? x : program_tanh(c, x);
}

int program_off(struct program_draw *c, int x)
{
    return program_elementwise(c, "shift", PROGRAM_ODD, program_tanh(c, x), 1 + PROGRAM_ODD);
}

int program_slice(struct program_draw *c, int x, int from, int wide)
{
    return program_step(c,
                        (struct program_step){
                            .op = PROGRAM_SLICE, .width = wide, .k = from, .most = at(c, x)->most},
                        1, &x);
}

int program_sum(struct program_draw *c, int x)
{
    return program_step(c,
                        (struct program_step){.op = PROGRAM_SUM,
                                              .width = 1,
                                              .most = at(c, x)->most * (float)width(c, x)},
                        1, &x);
}

int program_concat(struct program_draw *c, int n, const int *xs)
{
    struct program_step s = {.op = PROGRAM_CONCAT};

    for (int i = 0; i < n; i++) {
        s.width += width(c, xs[i]);
        s.most = fmaxf(s.most, at(c, xs[i])->most);
    }
    return program_step(c, s, n, xs);
}

int program_fit(struct program_draw *c, int x, int y)
{
    int wx = width(c, x), wy = width(c, y);

    if (wx == wy || wx == 1 || wy == 1)
        return y;
    return wy > wx ? program_slice(c, y, pick(c, wy - wx + 1), wx)
                   : program_bounded(c, program_sum(c, y));
}

int program_beside(struct program_draw *c, int x)
{
    int y = any(c), n = at(c, x)->entries;

    return n && at(c, y)->entries && at(c, y)->entries != n ? program_together(c, y) : y;
}

const struct cavs_param *program_param(struct program_draw *c, const char *sort, int rows, int cols)
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

int program_draw_of_width(struct program_draw *c, int wide)
{
    int x = any(c), xs[2];

    for (int i = 0; i < 4 && width(c, x) < wide; i++)
        x = any(c);
    x = program_together(c, x);
    while (width(c, x) < wide) {
        xs[0] = xs[1] = x;
        x = program_concat(c, 2, xs);
    }
    if (width(c, x) > wide)
        x = program_slice(c, x, pick(c, width(c, x) - wide + 1), wide);
    return program_tanh(c, x);
}

/* ---- sources ---- */

static int draw_row(struct program_draw *c, int wide)
{
    return program_step(
        c,
        (struct program_step){
            .op = PROGRAM_ROW, .width = wide, .seed = random_next(&c->family->d.seed), .most = 1},
        0, NULL);
}

static int draw_constant(struct program_draw *c, int wide)
{
    float s = (float)random_double(&c->family->d.seed, -1, 1);

    return program_step(
        c, (struct program_step){.op = PROGRAM_CONSTANT, .width = wide, .s = s, .most = 1}, 0,
        NULL);
}

static int draw_use(struct program_draw *c)
{
    const struct cavs_param *bias = program_param(c, "bias", 1, -1);

    if (!bias)
        return draw_row(c, c->family->width);
    return program_step(
        c,
        (struct program_step){
            .op = PROGRAM_USE, .width = cavs_param_cols(bias), .param = bias, .most = 1},
        0, NULL);
}

/* The words of all entries of x, or one; x < 0: one. */
static int draw_lookup(struct program_draw *c, int x)
{
    const struct cavs_param *table = program_param(c, "table", -1, -1);
    int ids;

    if (!table)
        return draw_row(c, c->family->width);
    ids = program_ids(c, x, cavs_param_rows(table));
    return program_step(
        c,
        (struct program_step){
            .op = PROGRAM_LOOKUP, .width = cavs_param_cols(table), .param = table, .most = 1},
        1, &ids);
}

int program_draw_source(struct program_draw *c)
{
    switch (pick(c, 8)) {
    case 0: return program_keep(c, draw_constant(c, 1 + pick(c, 3)));
    case 1: return program_keep(c, draw_use(c));
    case 2:
    case 3: return program_keep(c, draw_row(c, 1 + pick(c, c->family->d.widest)));
    case 4: return program_keep(c, draw_lookup(c, c->npool ? any(c) : -1));
    default: return program_keep(c, draw_lookup(c, -1));
    }
}

/* ---- element-wise ---- */

/* What operands have to be like.  Those that are not named here take anything within
 * PROGRAM_LARGE. */
enum wants { ANYTHING, BESIDE_JUMPS, POSITIVE, SMALL };

static const struct {
    const char *name;
    enum wants wants[2];
} wanting[] = {
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

static int positive(struct program_draw *c, int x)
{
    float most = PROGRAM_LARGE * PROGRAM_LARGE;

    x = program_elementwise(c, "square", 0, program_bounded(c, x), most);
    return program_elementwise(c, "shift", 1, x, most + 1);
}

static int as_wanted(struct program_draw *c, const char *name, int operand, int x)
{
    enum wants wants = ANYTHING;

    for (size_t i = 0; i < sizeof wanting / sizeof *wanting; i++) {
        if (!strcmp(name, wanting[i].name))
            wants = wanting[i].wants[operand];
    }
    switch (wants) {
    case BESIDE_JUMPS: return program_off(c, x);
    case POSITIVE: return positive(c, x);
    case SMALL: return program_tanh(c, x);
    default: return program_bounded(c, x);
    }
}

static int elementwise(struct program_draw *c)
{
    int op = pick(c, cavs__ew_count()), x[2] = {any(c), 0}, n = cavs__ew_arity(op);
    const char *name = cavs__ew_name(op);
    struct program_step s = {.op = PROGRAM_ELEMENTWISE, .k = op, .most = 2 * PROGRAM_LARGE};

    x[1] = n > 1 ? program_fit(c, x[0], program_beside(c, x[0])) : x[0];
    for (int i = 0; i < n; i++)
        x[i] = as_wanted(c, name, i, x[i]);
    s.s = (float)random_double(&c->family->d.seed, 0.3, 0.9);
    s.width = width(c, x[0]) > width(c, x[1]) ? width(c, x[0]) : width(c, x[1]);
    if (!strcmp(name, "tanh") || !strcmp(name, "sigmoid"))
        s.most = 1;
    else if (!strcmp(name, "neg") || !strcmp(name, "copy") || !strcmp(name, "scale") ||
             !strcmp(name, "stop_gradient"))
        s.most = at(c, x[0])->most;
    return program_bounded(c, program_step(c, s, n, x));
}

/* What is left of x, which is that much larger. */
static int dropout(struct program_draw *c)
{
    int x = program_bounded(c, any(c));
    float rate = 0.1f * (float)(1 + pick(c, 6));

    return program_step(c,
                        (struct program_step){.op = PROGRAM_DROPOUT,
                                              .width = width(c, x),
                                              .s = rate,
                                              .most = at(c, x)->most / (1 - rate)},
                        1, &x);
}

int program_draw_operator(struct program_draw *c)
{
    int kind = pick(c, 5);

    if (c->drops && pick(c, 8) == 0)
        return program_keep(c, dropout(c));
    return program_keep(c, kind < 2   ? elementwise(c)
                           : kind < 4 ? program_draw_other(c)
                                      : program_draw_of_list(c));
}
