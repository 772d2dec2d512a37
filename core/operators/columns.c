/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - values side by side, and parts of them. */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/operators/family.h"

struct cavs_symbol *cavs_concat_at(int n, struct cavs_symbol *const *xs, struct cavs_place at)
{
    struct cavs_function *f = n > 0 && xs && xs[0] ? xs[0]->function : NULL;
    struct cavs_symbol *few[8], **parts = few, *x = NULL;
    int64_t width = 0;

    if (!cavs__open_for(f, "concat", at))
        return NULL;
    for (int i = 0; i < n; i++) {
        if (!xs[i] || !cavs__is_value(f, xs[i], "concat", at))
            return NULL;
        width += xs[i]->width;
    }
    if (n == 1)
        return xs[0];
    if (width > INT32_MAX) {
        FAIL(f, CAVS_ESHAPE, "concat: the %d operands have %lld columns, more than %d", n,
             (long long)width, INT32_MAX);
        return NULL;
    }
    if (n > (int)(sizeof few / sizeof *few))
        parts = malloc((size_t)n * sizeof(*parts));
    if (!parts) {
        FAIL(f, CAVS_ENOMEM, "concat: out of memory");
        return NULL;
    }
    memcpy(parts, xs, (size_t)n * sizeof(*parts));
    if (cavs__to_one_domain(f, "concat", n, parts, at))
        x = cavs__add_symbol(
            f, (struct cavs_symbol){.op = CAVS__OP_CONCAT, .width = (int)width, .at = at}, n,
            parts);
    if (parts != few)
        free(parts);
    return x;
}

static void diff_concat(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    int at = 0;

    for (int i = 0; i < y->ninputs; at += y->inputs[i++]->width) {
        struct cavs_symbol *x = y->inputs[i];

        if (x->needs_grad)
            cavs__contribute(d, y, x, cavs_slice_at(g, at, x->width, y->at));
    }
}

const struct cavs__operator cavs__operator_concat = {
    .name = "concat",
    .role = CAVS__ROLE_CONCAT,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_concat,
};

/* x has a row per entry of a list, and a part of it has not: a constant, which is there for all
 * entries anyway.  In its place one could not sum up over the list any more. */
static bool leaves_list(const struct cavs_symbol *x, const struct cavs_symbol *part)
{
    return cavs__domain(x) > 0 && cavs__domain(part) <= 0;
}

/* The operand of a concatenation that holds columns [from, from + width), or NULL. *from becomes
 * relative to that operand. */
static struct cavs_symbol *concat_part(struct cavs_symbol *x, int *from, int width)
{
    int at = 0;

    for (int i = 0; i < x->ninputs; at += x->inputs[i++]->width) {
        if (*from >= at && *from + width <= at + x->inputs[i]->width &&
            !leaves_list(x, x->inputs[i])) {
            *from -= at;
            return x->inputs[i];
        }
    }
    return NULL;
}

static struct cavs_symbol *columns(struct cavs_symbol *x, int from, int width, struct cavs_place at)
{
    return cavs__add_symbol(
        x->function,
        (struct cavs_symbol){.op = CAVS__OP_SLICE, .width = width, .k = from, .at = at}, 1, &x);
}

/* slice(op(a, b)) = op(slice(a), slice(b)), also for a repeated row: so gates that are cut out of
 * one product and its bias fuse with what follows. The uncut symbol is pruned unless something else
 * reads it. */
static struct cavs_symbol *slice_operands(struct cavs_symbol *x, int from, int width,
                                          struct cavs_place at)
{
    struct cavs_symbol like = *x, *in[CAVS__EW_MAX_OPERANDS];

    for (int i = 0; i < x->ninputs; i++) {
        in[i] =
            x->inputs[i]->width == 1 ? x->inputs[i] : cavs_slice_at(x->inputs[i], from, width, at);
        if (!in[i])
            return NULL;
    }
    if (x->op == CAVS__OP_REPEAT && cavs__domain(in[0]) < 0) /* as with leaves_list() */
        return columns(x, from, width, at);
    like.width = width;
    return cavs__add_symbol(x->function, like, x->ninputs, in);
}

/* Columns that x has. */
static inline struct cavs_symbol *slice(struct cavs_symbol *x, int from, int width,
                                        struct cavs_place at)
{
    struct cavs_symbol *part;

    if (width == x->width)
        return x;
    if (x->op == CAVS__OP_SLICE)
        return cavs_slice_at(x->inputs[0], x->k + from, width, at);
    if (x->op == CAVS__OP_CONCAT && !x->whole && (part = concat_part(x, &from, width))) {
        x->read_past = true;
        return cavs_slice_at(part, from, width, at);
    }
    if ((x->op == CAVS__OP_ELEMENTWISE && !x->function->recorder) || x->op == CAVS__OP_REPEAT)
        return slice_operands(x, from, width, at);
    return columns(x, from, width, at);
}

struct cavs_symbol *cavs_slice_at(struct cavs_symbol *x, int from, int width, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;

    if (!cavs__open_for(f, "slice", at) || !cavs__is_value(f, x, "slice", at))
        return NULL;
    if (from < 0 || width <= 0 || from > x->width - width) {
        FAIL(f, CAVS_ESHAPE, "slice: %d columns from column %d of %s, which has width %d", width,
             from, cavs__symbol_label(x), x->width);
        return NULL;
    }
    return slice(x, from, width, at);
}

void cavs_split_at(struct cavs_symbol *x, int n, struct cavs_symbol **out, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;

    for (int i = 0; out && i < n; i++)
        out[i] = NULL;
    if (!cavs__open_for(f, "split", at) || !cavs__is_value(f, x, "split", at))
        return;
    if (n <= 0 || x->width % n != 0) {
        FAIL(f, CAVS_ESHAPE, "split: width %d of %s does not divide into %d parts", x->width,
             cavs__symbol_label(x), n);
        return;
    }
    if (!out) {
        FAIL(f, CAVS_EINVAL, "split: nowhere to put the parts (NULL)");
        return;
    }
    for (int i = 0; i < n; i++)
        out[i] = slice(x, i * (x->width / n), x->width / n, at);
}

static void diff_slice(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    cavs__contribute_columns(d, y->inputs[0], y->k, g);
}

const struct cavs__operator cavs__operator_slice = {
    .name = "slice",
    .role = CAVS__ROLE_VIEW,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_slice,
};
