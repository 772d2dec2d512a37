/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c - the calls with which a user builds a vertex function: shape rules and their error messages. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/elementwise.h"
#include "core/array.h"
#include "core/error.h"
#include "core/model.h"

#define FAIL(f, code, ...) cavs__function_fail((f), (code), file, line, __VA_ARGS__)

/* Every builder starts with one of these: may f still grow, is x one of its float symbols? */
static bool open_for(struct cavs_function *f, const char *op, const char *file, int line)
{
    if (!f)
        return false;
    if (f->finished) {
        FAIL(f, CAVS_ESTATE, "%s after the function was finished", op);
        return false;
    }
    return true;
}

static bool is_value(struct cavs_function *f, const struct cavs_symbol *x, const char *op, const char *file, int line)
{
    if (x->function != f)
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s (%s:%d) belongs to function %s.%s", op, cavs__symbol_label(x), x->file,
             x->line, x->function->stage->name, x->function->name);
    else if (x->op == CAVS__OP_IDS)
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s is an id input; use it with lookup or as labels", op, x->input->name);
    else
        return true;
    return false;
}

static bool is_ids(struct cavs_function *f, const struct cavs_symbol *x, const char *op, const char *file, int line)
{
    if (x->function != f)
        FAIL(f, CAVS_EPROGRAM, "%s: ids %s belong to function %s.%s", op, cavs__symbol_label(x),
             x->function->stage->name, x->function->name);
    else if (x->op != CAVS__OP_IDS)
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s of width %d where ids are wanted (cavs_pull_ids)", op,
             cavs__symbol_label(x), x->width);
    else
        return true;
    return false;
}

/* A parameter that could not be found or made: said here, because here is the line that needs it. */
static bool is_param(struct cavs_function *f, const struct cavs_param *p, const char *op, const char *file, int line)
{
    if (!p)
        FAIL(f, CAVS_EINVAL, "%s: the parameter is NULL", op);
    return p != NULL;
}

static struct cavs_symbol *add_symbol(struct cavs_function *f, struct cavs_symbol like, int n,
                                      struct cavs_symbol *const *inputs)
{
    struct cavs_symbol *x = cavs__symbol_new(f, &like, n, inputs);

    if (!x)
        cavs__function_fail(f, CAVS_ENOMEM, like.file, like.line, "%s: out of memory", cavs__op_name(like.op));
    return x;
}

/* The stage's input of that name, made at first mention; NULL (reported) if it was declared otherwise before. */
static struct cavs__input *find_input(struct cavs_function *f, const char *name, bool ids, int width, const char *file,
                                      int line)
{
    struct cavs_stage *s = f->stage;
    struct cavs__input *in;

    for (int i = 0; i < s->ninputs; i++) {
        in = s->inputs[i];
        if (strcmp(in->name, name) != 0)
            continue;
        if (in->ids == ids && in->width == width)
            return in;
        FAIL(f, CAVS_ESHAPE, "pull: input %s is %s of width %d here, but %s of width %d elsewhere in stage %s", name,
             ids ? "ids" : "rows", width, in->ids ? "ids" : "rows", in->width, s->name);
        return NULL;
    }
    in = calloc(1, sizeof *in);
    if (!in)
        return NULL;
    *in = (struct cavs__input){
        .name = strdup(name), .number = s->ninputs, .ids = ids, .width = width, .limit = INT32_MAX};
    if (!CAVS__APPEND(s->inputs, s->ninputs, in)) {
        free(in->name);
        free(in);
        return NULL;
    }
    return in;
}

struct cavs_symbol *cavs_pull_at(struct cavs_function *f, const char *name, int width, const char *file, int line)
{
    struct cavs__input *in;

    if (!open_for(f, "pull", file, line))
        return NULL;
    if (!name || width <= 0) {
        FAIL(f, CAVS_ESHAPE, "pull %s: width %d is not positive", name ? name : "(null)", width);
        return NULL;
    }
    in = find_input(f, name, false, width, file, line);
    if (!in)
        return NULL;
    return add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_PULL, .width = width, .input = in, .file = file, .line = line},
                      0, NULL);
}

struct cavs_symbol *cavs_pull_ids_at(struct cavs_function *f, const char *name, const char *file, int line)
{
    struct cavs__input *in;

    if (!open_for(f, "pull_ids", file, line))
        return NULL;
    if (!name) {
        FAIL(f, CAVS_EINVAL, "pull_ids: the input needs a name");
        return NULL;
    }
    in = find_input(f, name, true, 0, file, line);
    if (!in)
        return NULL;
    return add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_IDS, .input = in, .file = file, .line = line}, 0, NULL);
}

static struct cavs__channel *find_channel(const struct cavs_stage *s, const char *name)
{
    for (int i = 0; i < s->nchannels; i++) {
        if (strcmp(s->channels[i]->name, name) == 0)
            return s->channels[i];
    }
    return NULL;
}

static struct cavs__channel *channel_to_fetch(struct cavs_function *f, struct cavs_stage *from, const char *channel,
                                              const char *index, const char *file, int line)
{
    struct cavs__channel *c = NULL;

    if (!from || !channel)
        FAIL(f, CAVS_EINVAL, "pull_from: no %s given", from ? "channel" : "stage");
    else if (from->model != f->stage->model || from->number >= f->stage->number)
        FAIL(f, CAVS_EPROGRAM, "pull_from: stage %s is not earlier than stage %s", from->name, f->stage->name);
    else if (!index && f->stage->base != from)
        FAIL(f, CAVS_EPROGRAM, "pull_from: without an index, stage %s must stand over stage %s (cavs_stage_over)",
             f->stage->name, from->name);
    else if (!(c = find_channel(from, channel)))
        FAIL(f, CAVS_EPROGRAM, "pull_from: nothing is pushed on channel %s of stage %s", channel, from->name);
    return c;
}

struct cavs_symbol *cavs_pull_from_at(struct cavs_function *f, struct cavs_stage *from, const char *channel,
                                      const char *index, const char *file, int line)
{
    struct cavs__channel *c;
    struct cavs_symbol *ids = NULL, *x;

    if (!open_for(f, "pull_from", file, line))
        return NULL;
    c = channel_to_fetch(f, from, channel, index, file, line);
    if (!c)
        return NULL;
    if (index) {
        ids = cavs_pull_ids_at(f, index, file, line);
        if (!ids)
            return NULL;
        if (ids->input->vertices_of && ids->input->vertices_of != from) {
            FAIL(f, CAVS_EPROGRAM, "pull_from: index %s names vertices of stage %s, not of %s", index,
                 ids->input->vertices_of->name, from->name);
            return NULL;
        }
        ids->input->vertices_of = from;
    }
    x = add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_FETCH, .width = c->width, .channel = c, .file = file, .line = line},
                   ids ? 1 : 0, &ids);
    for (int i = 0; x && i < c->nfetches; i++) {
        if (c->fetches[i] == x)
            return x;
    }
    return x && CAVS__APPEND(c->fetches, c->nfetches, x) ? x : NULL;
}

struct cavs_symbol *cavs_use_at(struct cavs_function *f, struct cavs_param *p, const char *file, int line)
{
    if (!open_for(f, "use", file, line) || !is_param(f, p, "use", file, line))
        return NULL;
    if (p->model != f->stage->model || p->rows != 1) {
        FAIL(f, CAVS_ESHAPE, "use: parameter %s (%d x %d) %s", p->name, p->rows, p->cols,
             p->rows != 1 ? "must have one row" : "belongs to another model");
        return NULL;
    }
    p->dense_use = true;
    return add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_USE, .width = p->cols, .param = p, .file = file, .line = line},
                      0, NULL);
}

struct cavs_symbol *cavs_constant_at(struct cavs_function *f, int width, float value, const char *file, int line)
{
    if (!open_for(f, "constant", file, line))
        return NULL;
    if (width <= 0) {
        FAIL(f, CAVS_ESHAPE, "constant: width %d is not positive", width);
        return NULL;
    }
    return add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_CONST, .width = width, .s = value, .file = file, .line = line},
                      0, NULL);
}

struct cavs_symbol *cavs_gather_at(struct cavs_function *f, int k, const char *file, int line)
{
    if (!open_for(f, "gather", file, line))
        return NULL;
    if (f->stage->state_width == 0) {
        FAIL(f, CAVS_EPROGRAM, "gather(%d): stage %s has no state", k, f->stage->name);
        return NULL;
    }
    if (k < 0 || k > 65535) {
        FAIL(f, CAVS_EINVAL, "gather(%d): child slots are numbered from 0 to 65535", k);
        return NULL;
    }
    if (k + 1 > f->slots)
        f->slots = k + 1;
    return add_symbol(f,
                      (struct cavs_symbol){
                          .op = CAVS__OP_GATHER, .width = f->stage->state_width, .k = k, .file = file, .line = line},
                      0, NULL);
}

void cavs_scatter_at(struct cavs_function *f, struct cavs_symbol *x, const char *file, int line)
{
    if (!open_for(f, "scatter", file, line))
        return;
    if (!x) {
        FAIL(f, CAVS_EPROGRAM, "scatter of NULL");
    } else if (f->scatter) {
        FAIL(f, CAVS_EPROGRAM, "second scatter; the first is at %s:%d", f->scatter->file, f->scatter->line);
    } else if (is_value(f, x, "scatter", file, line)) {
        if (x->width != f->stage->state_width)
            FAIL(f, CAVS_ESHAPE, "scatter: %s of width %d, but the state of stage %s has width %d",
                 cavs__symbol_label(x), x->width, f->stage->name, f->stage->state_width);
        else
            f->scatter = add_symbol(
                f, (struct cavs_symbol){.op = CAVS__OP_SCATTER, .width = x->width, .file = file, .line = line}, 1, &x);
    }
}

static struct cavs__channel *channel_to_push(struct cavs_function *f, const char *name, int width, const char *file,
                                             int line)
{
    struct cavs_stage *s = f->stage;
    struct cavs__channel *c = find_channel(s, name);

    if (c && c->width != width) {
        FAIL(f, CAVS_ESHAPE, "push %s: width %d here, but %d elsewhere in stage %s", name, width, c->width, s->name);
        return NULL;
    }
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct cavs__channel){.name = strdup(name), .stage = s, .number = s->nchannels, .width = width};
    return CAVS__APPEND(s->channels, s->nchannels, c) ? c : NULL;
}

void cavs_push_at(struct cavs_function *f, const char *channel, struct cavs_symbol *x, const char *file, int line)
{
    struct cavs__channel *c;

    if (!open_for(f, "push", file, line))
        return;
    if (!x || !channel) {
        FAIL(f, CAVS_EPROGRAM, "push %s of %s", channel ? channel : "(null)", x ? cavs__symbol_label(x) : "NULL");
        return;
    }
    if (!is_value(f, x, "push", file, line))
        return;
    c = channel_to_push(f, channel, x->width, file, line);
    for (int i = 0; c && i < f->nsymbols; i++) {
        if (f->symbols[i]->op == CAVS__OP_PUSH && f->symbols[i]->channel == c) {
            FAIL(f, CAVS_EPROGRAM, "second push on channel %s; the first is at %s:%d", channel, f->symbols[i]->file,
                 f->symbols[i]->line);
            return;
        }
    }
    if (c)
        add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_PUSH, .width = x->width, .channel = c, .file = file, .line = line},
                   1, &x);
}

static void limit_ids(struct cavs_symbol *ids, int limit)
{
    if (limit < ids->input->limit)
        ids->input->limit = limit;
}

struct cavs_symbol *cavs_lookup_at(struct cavs_param *table, struct cavs_symbol *ids, const char *file, int line)
{
    struct cavs_function *f = ids ? ids->function : NULL;

    if (!open_for(f, "lookup", file, line) || !is_ids(f, ids, "lookup", file, line) ||
        !is_param(f, table, "lookup", file, line))
        return NULL;
    if (table->model != f->stage->model) {
        FAIL(f, CAVS_EPROGRAM, "lookup: parameter %s belongs to another model", table->name);
        return NULL;
    }
    limit_ids(ids, table->rows);
    table->lookup_use = true;
    return add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_LOOKUP, .width = table->cols, .param = table, .file = file, .line = line},
        1, &ids);
}

struct cavs_symbol *cavs_matmul_at(struct cavs_symbol *x, struct cavs_param *w, const char *file, int line)
{
    struct cavs_function *f = x ? x->function : NULL;

    if (!open_for(f, "matmul", file, line) || !is_value(f, x, "matmul", file, line) ||
        !is_param(f, w, "matmul", file, line))
        return NULL;
    if (w->model != f->stage->model || w->rows != x->width) {
        FAIL(f, CAVS_ESHAPE, "matmul: %s of width %d times parameter %s (%d x %d)%s", cavs__symbol_label(x), x->width,
             w->name, w->rows, w->cols, w->model != f->stage->model ? " of another model" : "");
        return NULL;
    }
    w->dense_use = true;
    return add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_MATMUL, .width = w->cols, .param = w, .file = file, .line = line},
                      1, &x);
}

struct cavs_symbol *cavs_affine_at(struct cavs_symbol *x, struct cavs_param *w, struct cavs_param *b, const char *file,
                                   int line)
{
    struct cavs_symbol *y = cavs_matmul_at(x, w, file, line);

    if (!y || !is_param(y->function, b, "affine", file, line))
        return NULL;
    if (b->cols != y->width) {
        struct cavs_function *f = y->function;

        FAIL(f, CAVS_ESHAPE, "affine: bias %s (%d x %d) for a product of width %d", b->name, b->rows, b->cols, y->width);
        return NULL;
    }
    return cavs_apply2_at("add", y, cavs_use_at(y->function, b, file, line), file, line);
}

static int operator_number(struct cavs_function *f, const char *name, int arity, const char *file, int line)
{
    int op = name ? cavs__ew_find(name) : -1;

    if (op < 0 || cavs__ew_arity(op) != arity) {
        FAIL(f, CAVS_EINVAL, "there is no element-wise operator %s of %d operand%s", name ? name : "(null)", arity,
             arity > 1 ? "s" : "");
        return -1;
    }
    return op;
}

struct cavs_symbol *cavs_apply1_at(const char *name, struct cavs_symbol *a, float s, const char *file, int line)
{
    struct cavs_function *f = a ? a->function : NULL;
    int op;

    if (!open_for(f, name, file, line) || !is_value(f, a, name, file, line))
        return NULL;
    op = operator_number(f, name, 1, file, line);
    if (op < 0)
        return NULL;
    return add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE, .width = a->width, .k = op, .s = s, .file = file, .line = line},
        1, &a);
}

struct cavs_symbol *cavs_apply2_at(const char *name, struct cavs_symbol *a, struct cavs_symbol *b, const char *file,
                                   int line)
{
    struct cavs_function *f = a ? a->function : NULL;
    struct cavs_symbol *in[2] = {a, b};
    int op, width;

    if (!b || !open_for(f, name, file, line) || !is_value(f, a, name, file, line) || !is_value(f, b, name, file, line))
        return NULL;
    op = operator_number(f, name, 2, file, line);
    if (op < 0)
        return NULL;
    if (a->width != b->width && a->width != 1 && b->width != 1) {
        FAIL(f, CAVS_ESHAPE, "%s: widths %d and %d differ", name, a->width, b->width);
        return NULL;
    }
    width = a->width > b->width ? a->width : b->width;
    return add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE, .width = width, .k = op, .file = file, .line = line}, 2, in);
}

struct cavs_symbol *cavs_concat_at(int n, struct cavs_symbol *const *xs, const char *file, int line)
{
    struct cavs_function *f = n > 0 && xs && xs[0] ? xs[0]->function : NULL;
    int width = 0;

    if (!open_for(f, "concat", file, line))
        return NULL;
    for (int i = 0; i < n; i++) {
        if (!xs[i] || !is_value(f, xs[i], "concat", file, line))
            return NULL;
        width += xs[i]->width;
    }
    if (n == 1)
        return xs[0];
    return add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_CONCAT, .width = width, .file = file, .line = line}, n, xs);
}

/* The part of a concatenation that holds columns [from, from + width), with *from made relative to it; or NULL. */
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

/* slice(op(a, b)) = op(slice(a), slice(b)): so gates that are cut out of one product and its bias fuse with what follows.
 * The uncut symbol is pruned unless something else reads it. */
static struct cavs_symbol *slice_operands(struct cavs_symbol *x, int from, int width, const char *file, int line)
{
    struct cavs_symbol like = *x, *in[CAVS__EW_MAX_OPERANDS];

    for (int i = 0; i < x->ninputs; i++) {
        in[i] = x->inputs[i]->width == 1 ? x->inputs[i] : cavs_slice_at(x->inputs[i], from, width, file, line);
        if (!in[i])
            return NULL;
    }
    like.width = width;
    return add_symbol(x->function, like, x->ninputs, in);
}

struct cavs_symbol *cavs_slice_at(struct cavs_symbol *x, int from, int width, const char *file, int line)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *part;

    if (!open_for(f, "slice", file, line) || !is_value(f, x, "slice", file, line))
        return NULL;
    if (from < 0 || width <= 0 || from > x->width - width) {
        FAIL(f, CAVS_ESHAPE, "slice: %d columns from column %d of %s, which has width %d", width, from,
             cavs__symbol_label(x), x->width);
        return NULL;
    }
    if (width == x->width)
        return x;
    if (x->op == CAVS__OP_SLICE)
        return cavs_slice_at(x->inputs[0], x->k + from, width, file, line);
    if (x->op == CAVS__OP_CONCAT && (part = concat_part(x, &from, width)))
        return cavs_slice_at(part, from, width, file, line);
    if (x->op == CAVS__OP_ELEMENTWISE)
        return slice_operands(x, from, width, file, line);
    return add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_SLICE, .width = width, .k = from, .file = file, .line = line},
                      1, &x);
}

void cavs_split_at(struct cavs_symbol *x, int n, struct cavs_symbol **out, const char *file, int line)
{
    struct cavs_function *f = x ? x->function : NULL;

    for (int i = 0; i < n; i++)
        out[i] = NULL;
    if (!open_for(f, "split", file, line) || !is_value(f, x, "split", file, line))
        return;
    if (n <= 0 || x->width % n != 0) {
        FAIL(f, CAVS_ESHAPE, "split: width %d of %s does not divide into %d parts", x->width, cavs__symbol_label(x), n);
        return;
    }
    for (int i = 0; i < n; i++)
        out[i] = cavs_slice_at(x, i * (x->width / n), x->width / n, file, line);
}

struct cavs_symbol *cavs_sum_at(struct cavs_symbol *x, const char *file, int line)
{
    struct cavs_function *f = x ? x->function : NULL;

    if (!open_for(f, "sum", file, line) || !is_value(f, x, "sum", file, line))
        return NULL;
    if (x->width == 1)
        return x;
    return add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_ROW_SUM, .width = 1, .file = file, .line = line}, 1, &x);
}

static struct cavs_symbol *against_labels(enum cavs__op op, struct cavs_symbol *logits, struct cavs_symbol *labels,
                                          const char *file, int line)
{
    struct cavs_function *f = logits ? logits->function : NULL;
    struct cavs_symbol *in[2] = {logits, labels};
    const char *name = cavs__op_name(op);

    if (!labels || !open_for(f, name, file, line) || !is_value(f, logits, name, file, line) ||
        !is_ids(f, labels, name, file, line))
        return NULL;
    limit_ids(labels, logits->width);
    return add_symbol(f, (struct cavs_symbol){.op = op, .width = 1, .file = file, .line = line}, 2, in);
}

struct cavs_symbol *cavs_softmax_cross_entropy_at(struct cavs_symbol *logits, struct cavs_symbol *labels,
                                                  const char *file, int line)
{
    return against_labels(CAVS__OP_XENT, logits, labels, file, line);
}

struct cavs_symbol *cavs_correct_at(struct cavs_symbol *logits, struct cavs_symbol *labels, const char *file, int line)
{
    return against_labels(CAVS__OP_CORRECT, logits, labels, file, line);
}

struct cavs_symbol *cavs_squared_error_at(struct cavs_symbol *a, struct cavs_symbol *b, const char *file, int line)
{
    struct cavs_symbol *d = cavs_apply2_at("sub", a, b, file, line);
    struct cavs_symbol *sum = cavs_sum_at(cavs_apply1_at("square", d, 0, file, line), file, line);

    return cavs_apply1_at("scale", sum, 0.5f, file, line);
}

static struct cavs__metric *find_metric(struct cavs_model *m, const char *name)
{
    struct cavs__metric *metric;

    for (int i = 0; i < m->nmetrics; i++) {
        if (strcmp(m->metrics[i]->name, name) == 0)
            return m->metrics[i];
    }
    metric = calloc(1, sizeof *metric);
    if (!metric)
        return NULL;
    *metric = (struct cavs__metric){.name = strdup(name), .number = m->nmetrics};
    return CAVS__APPEND(m->metrics, m->nmetrics, metric) ? metric : NULL;
}

void cavs_metric_at(struct cavs_function *f, const char *name, struct cavs_symbol *x, struct cavs_symbol *where,
                    bool is_loss, const char *file, int line)
{
    const char *op = is_loss ? "loss" : "metric";
    struct cavs_symbol *in[2] = {x, where};
    struct cavs__metric *metric;

    if (!open_for(f, op, file, line))
        return;
    if (!x || !name) {
        FAIL(f, CAVS_EPROGRAM, "%s %s of %s", op, name ? name : "(null)", x ? cavs__symbol_label(x) : "NULL");
        return;
    }
    if (!is_value(f, x, op, file, line) || (where && !is_ids(f, where, op, file, line)))
        return;
    if (x->width != 1) {
        FAIL(f, CAVS_ESHAPE, "%s %s: %s has width %d, not 1 (cavs_sum)", op, name, cavs__symbol_label(x), x->width);
        return;
    }
    metric = find_metric(f->stage->model, name);
    if (metric)
        add_symbol(
            f,
            (struct cavs_symbol){
                .op = CAVS__OP_METRIC, .width = 1, .metric = metric, .is_loss = is_loss, .file = file, .line = line},
            where ? 2 : 1, in);
}
