/* SPDX-License-Identifier: Apache-2.0 */
/* expressions.c - operators on values of one function: their shape rules and error messages. */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/declare/build.h"

void cavs__limit_ids(struct cavs_symbol *ids, int limit)
{
    if (limit < ids->input->limit)
        ids->input->limit = limit;
}

struct cavs_symbol *cavs_lookup_at(struct cavs_param *table, struct cavs_symbol *ids,
                                   struct cavs_place at)
{
    struct cavs_function *f = ids ? ids->function : NULL;

    if (!cavs__open_for(f, "lookup", at) || !cavs__is_ids(f, ids, "lookup", at) ||
        !cavs__is_param(f, table, "lookup", at))
        return NULL;
    if (table->model != f->stage->model) {
        FAIL(f, CAVS_EPROGRAM, "lookup: parameter %s belongs to another model", table->name);
        return NULL;
    }
    cavs__limit_ids(ids, table->rows);
    table->lookup_use = true;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){.op = CAVS__OP_LOOKUP, .width = table->cols, .param = table, .at = at},
        1, &ids);
}

struct cavs_symbol *cavs_matmul_at(struct cavs_symbol *x, struct cavs_param *w,
                                   struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;

    if (!cavs__open_for(f, "matmul", at) || !cavs__is_value(f, x, "matmul", at) ||
        !cavs__is_param(f, w, "matmul", at))
        return NULL;
    if (w->model != f->stage->model || w->rows != x->width) {
        FAIL(f, CAVS_ESHAPE, "matmul: %s of width %d times parameter %s (%d x %d)%s",
             cavs__symbol_label(x), x->width, w->name, w->rows, w->cols,
             w->model != f->stage->model ? " of another model" : "");
        return NULL;
    }
    w->dense_use = true;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_MATMUL, .width = w->cols, .param = w, .at = at}, 1,
        &x);
}

struct cavs_symbol *cavs_affine_at(struct cavs_symbol *x, struct cavs_param *w,
                                   struct cavs_param *b, struct cavs_place at)
{
    struct cavs_symbol *y = cavs_matmul_at(x, w, at);

    if (!y || !cavs__is_param(y->function, b, "affine", at))
        return NULL;
    if (b->cols != y->width) {
        struct cavs_function *f = y->function;

        FAIL(f, CAVS_ESHAPE, "affine: bias %s (%d x %d) for a product of width %d", b->name,
             b->rows, b->cols, y->width);
        return NULL;
    }
    return cavs_apply2_at("add", y, cavs_use_at(y->function, b, at), at);
}

static int operator_number(struct cavs_function *f, const char *name, int arity,
                           struct cavs_place at)
{
    int op = name ? cavs__ew_find(name) : -1;

    if (op < 0 || cavs__ew_arity(op) != arity) {
        FAIL(f, CAVS_EINVAL, "there is no element-wise operator %s of %d operand%s",
             name ? name : "(null)", arity, arity > 1 ? "s" : "");
        return -1;
    }
    return op;
}

struct cavs_symbol *cavs_apply1_at(const char *name, struct cavs_symbol *a, float s,
                                   struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;
    int op;

    if (!cavs__open_for(f, name, at) || !cavs__is_value(f, a, name, at))
        return NULL;
    op = operator_number(f, name, 1, at);
    if (op < 0)
        return NULL;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = CAVS__OP_ELEMENTWISE, .width = a->width, .k = op, .s = s, .at = at},
        1, &a);
}

struct cavs_symbol *cavs_apply2_at(const char *name, struct cavs_symbol *a, struct cavs_symbol *b,
                                   struct cavs_place at)
{
    struct cavs_function *f = a ? a->function : NULL;
    struct cavs_symbol *in[2] = {a, b};
    int op, width;

    if (!b || !cavs__open_for(f, name, at) || !cavs__is_value(f, a, name, at) ||
        !cavs__is_value(f, b, name, at))
        return NULL;
    op = operator_number(f, name, 2, at);
    if (op < 0)
        return NULL;
    if (a->width != b->width && a->width != 1 && b->width != 1) {
        FAIL(f, CAVS_ESHAPE, "%s: widths %d and %d differ", name, a->width, b->width);
        return NULL;
    }
    if (!cavs__to_one_domain(f, name, 2, in, at))
        return NULL;
    width = a->width > b->width ? a->width : b->width;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE, .width = width, .k = op, .at = at}, 2,
        in);
}

struct cavs_symbol *cavs_concat_at(int n, struct cavs_symbol *const *xs, struct cavs_place at)
{
    struct cavs_function *f = n > 0 && xs && xs[0] ? xs[0]->function : NULL;
    struct cavs_symbol **parts, *x = NULL;
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
    parts = malloc((size_t)n * sizeof *parts);
    if (!parts) {
        FAIL(f, CAVS_ENOMEM, "concat: out of memory");
        return NULL;
    }
    memcpy(parts, xs, (size_t)n * sizeof *parts);
    if (cavs__to_one_domain(f, "concat", n, parts, at))
        x = cavs__add_symbol(
            f, (struct cavs_symbol){.op = CAVS__OP_CONCAT, .width = (int)width, .at = at}, n,
            parts);
    free(parts);
    return x;
}

/* The part of a concatenation that holds columns [from, from + width), with *from made relative to
 * it; or NULL. */
static struct cavs_symbol *concat_part(struct cavs_symbol *x, int *from, int width)
{
    int at = 0;

    for (int i = 0; i < x->ninputs; at += x->inputs[i++]->width) {
        if (*from >= at && *from + width <= at + x->inputs[i]->width) {
            *from -= at;
            return x->inputs[i];
        }
    }
    return NULL;
}

/* slice(op(a, b)) = op(slice(a), slice(b)), also for a repeated row: so gates that are cut out of one product and its bias
 * fuse with what follows. The uncut symbol is pruned unless something else reads it. */
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
    if (x->op == CAVS__OP_REPEAT && cavs__domain(in[0]) < 0)
        return in[0]; /* a constant part: there for all entries already */
    like.width = width;
    return cavs__add_symbol(x->function, like, x->ninputs, in);
}

struct cavs_symbol *cavs_slice_at(struct cavs_symbol *x, int from, int width, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *part;

    if (!cavs__open_for(f, "slice", at) || !cavs__is_value(f, x, "slice", at))
        return NULL;
    if (from < 0 || width <= 0 || from > x->width - width) {
        FAIL(f, CAVS_ESHAPE, "slice: %d columns from column %d of %s, which has width %d", width,
             from, cavs__symbol_label(x), x->width);
        return NULL;
    }
    if (width == x->width)
        return x;
    if (x->op == CAVS__OP_SLICE)
        return cavs_slice_at(x->inputs[0], x->k + from, width, at);
    if (x->op == CAVS__OP_CONCAT && (part = concat_part(x, &from, width)))
        return cavs_slice_at(part, from, width, at);
    if (x->op == CAVS__OP_ELEMENTWISE || x->op == CAVS__OP_REPEAT)
        return slice_operands(x, from, width, at);
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_SLICE, .width = width, .k = from, .at = at}, 1, &x);
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
        out[i] = cavs_slice_at(x, i * (x->width / n), x->width / n, at);
}

static struct cavs_symbol *against_labels(enum cavs__op op, struct cavs_symbol *logits,
                                          struct cavs_symbol *labels, struct cavs_place at)
{
    struct cavs_function *f = logits ? logits->function : NULL;
    struct cavs_symbol *in[2] = {logits, labels};
    const char *name = cavs__op_name(op);

    if (!labels || !cavs__open_for(f, name, at) || !cavs__is_value(f, logits, name, at) ||
        !cavs__is_ids(f, labels, name, at) || !cavs__to_one_domain(f, name, 2, in, at))
        return NULL;
    cavs__limit_ids(labels, logits->width);
    return cavs__add_symbol(f, (struct cavs_symbol){.op = op, .width = 1, .at = at}, 2, in);
}

struct cavs_symbol *cavs_softmax_cross_entropy_at(struct cavs_symbol *logits,
                                                  struct cavs_symbol *labels, struct cavs_place at)
{
    return against_labels(CAVS__OP_XENT, logits, labels, at);
}

struct cavs_symbol *cavs_correct_at(struct cavs_symbol *logits, struct cavs_symbol *labels,
                                    struct cavs_place at)
{
    return against_labels(CAVS__OP_CORRECT, logits, labels, at);
}
