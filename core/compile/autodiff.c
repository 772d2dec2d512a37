/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autodiff.c - reverse-mode differentiation of a vertex function F: appends dF to its symbols.
 *
 * dF is a vertex function over the same graph walked from the parents to the children (Cavs
 * section 3.4): the adjoint of scatter is gathered from the parents' slots, the adjoint of
 * gather(k) is scattered to slot k, push and pull change places likewise, and each use of a
 * parameter ends in a gradient sink that reduces over all rows.
 *
 * Stages are visited last to first, so that a channel knows which of its fetches pass a gradient
 * back.
 */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/base/error.h"
#include "core/compile/passes.h"
#include "core/declare/operator.h"

/* Gradients that reach parts of a value: columns [from, from + g->width). */
struct piece {
    int from;
    struct cavs_symbol *g;
};

struct contributions {
    int n, cap;
    struct piece *pieces; /* whole-width ones have from = 0 and g->width = width */
};

struct diff {
    struct cavs_function *f;
    int nforward;
    struct contributions *to; /* [nforward] */
    bool failed;              /* out of memory */
};

/* ---- making backward symbols ----
 * Once memory has run out there are no more symbols: NULL goes in and NULL comes out. */

static struct cavs_symbol *make(struct diff *d, const struct cavs_symbol *of,
                                struct cavs_symbol like, int n, struct cavs_symbol *const *inputs)
{
    struct cavs_symbol *x;

    for (int i = 0; i < n; i++)
        d->failed |= !inputs[i];
    if (d->failed)
        return NULL;
    like.at = of->at;
    like.backward = true;
    if (!like.domain)
        like.domain = of->domain;
    x = cavs__symbol_new(d->f, &like, n, inputs);
    if (!x)
        d->failed = true;
    return x;
}

static struct cavs_symbol *constant(struct diff *d, const struct cavs_symbol *of, int width,
                                    float s)
{
    return make(d, of, (struct cavs_symbol){.op = CAVS__OP_CONST, .width = width, .s = s}, 0, NULL);
}

static struct cavs_symbol *elementwise2(struct diff *d, const struct cavs_symbol *of,
                                        const char *name, struct cavs_symbol *a,
                                        struct cavs_symbol *b)
{
    struct cavs_symbol *in[2] = {a, b};
    int wa = cavs_symbol_width(a), wb = cavs_symbol_width(b), width = wa > wb ? wa : wb;

    return make(
        d, of,
        (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE, .width = width, .k = cavs__ew_find(name)},
        2, in);
}

static struct cavs_symbol *elementwise1(struct diff *d, const struct cavs_symbol *of,
                                        const char *name, struct cavs_symbol *a)
{
    return make(d, of,
                (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE,
                                     .width = cavs_symbol_width(a),
                                     .k = cavs__ew_find(name)},
                1, &a);
}

static struct cavs_symbol *row_sum(struct diff *d, const struct cavs_symbol *of,
                                   struct cavs_symbol *a)
{
    return make(d, of, (struct cavs_symbol){.op = CAVS__OP_ROW_SUM, .width = 1}, 1, &a);
}

static void contribute_piece(struct diff *d, struct cavs_symbol *x, int from, struct cavs_symbol *g)
{
    struct contributions *c = &d->to[x->number];

    if (!x->needs_grad)
        return;
    if (!g) {
        d->failed = true;
        return;
    }
    if (c->n == c->cap) {
        int cap = c->cap ? 2 * c->cap : 4;
        struct piece *p = realloc(c->pieces, (size_t)cap * sizeof *p);

        if (!p) {
            d->failed = true;
            return;
        }
        c->pieces = p;
        c->cap = cap;
    }
    c->pieces[c->n++] = (struct piece){from, g};
}

static struct cavs_symbol *sum_of_list(struct diff *d, const struct cavs_symbol *of, int domain,
                                       struct cavs_symbol *g)
{
    return make(
        d, of,
        (struct cavs_symbol){.op = CAVS__OP_LIST_SUM, .width = cavs_symbol_width(g), .k = domain},
        1, &g);
}

/* g, which y passes to its operand x.  What is the same everywhere gets the sum over the entries
 * where y has rows of entries. */
static void contribute(struct diff *d, const struct cavs_symbol *y, struct cavs_symbol *x,
                       struct cavs_symbol *g)
{
    if (g && x->needs_grad && y->domain > 0 && cavs__domain(x) < 0)
        g = sum_of_list(d, y, y->domain, g);
    contribute_piece(d, x, 0, g);
}

/* ---- adding contributions up ---- */

static int by_column(const void *a, const void *b)
{
    const struct piece *p = a, *q = b;

    return (p->from > q->from) - (p->from < q->from);
}

/* Takes a set of disjoint pieces, in column order, out of c and lays them side by side with zeros
 * in the gaps. */
static struct cavs_symbol *side_by_side(struct diff *d, const struct cavs_symbol *x,
                                        struct contributions *c)
{
    struct cavs_symbol **parts = malloc((2 * (size_t)c->n + 1) * sizeof *parts), *sum;
    int n = 0, at = 0, left = 0;

    if (!parts) {
        d->failed = true;
        return NULL;
    }
    for (int i = 0; i < c->n; i++) {
        struct piece p = c->pieces[i];

        if (p.from < at) {
            c->pieces[left++] = p;
            continue;
        }
        if (p.from > at)
            parts[n++] = constant(d, x, p.from - at, 0);
        parts[n++] = p.g;
        at = p.from + p.g->width;
    }
    c->n = left;
    if (at < x->width)
        parts[n++] = constant(d, x, x->width - at, 0);
    sum = d->failed ? NULL
          : n == 1  ? parts[0]
                    : make(d, x, (struct cavs_symbol){.op = CAVS__OP_CONCAT, .width = x->width}, n,
                           parts);
    free(parts);
    return sum;
}

static struct cavs_symbol *total(struct diff *d, struct cavs_symbol *x)
{
    struct contributions *c = &d->to[x->number];
    struct cavs_symbol *sum = NULL;

    if (c->n > 1)
        qsort(c->pieces, (size_t)c->n, sizeof *c->pieces, by_column);
    while (c->n > 0 && !d->failed) {
        struct cavs_symbol *g = side_by_side(d, x, c);

        sum = sum && g ? elementwise2(d, x, "add", sum, g) : g;
    }
    return sum;
}

/* ---- the rule of each operator ---- */

/* Gradient of an element-wise y = op(a, b) with respect to operand i. */
static void diff_operand(struct diff *d, struct cavs_symbol *y, int i, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[i], *in[CAVS__EW_MAX_OPERANDS], *gx;
    const char *letters = cavs__ew_operands(y->k, i + 1);
    int n = 0, width = 1;

    if (!x->needs_grad)
        return;
    for (const char *l = letters; *l; l++) {
        in[n] = *l == 'a' ? y->inputs[0] : *l == 'b' ? y->inputs[1] : *l == 'y' ? y : g;
        if (in[n]->width > width)
            width = in[n]->width;
        n++;
    }
    if (cavs__ew_is_identity(y->k, i + 1))
        gx = g;
    else
        gx = make(
            d, y,
            (struct cavs_symbol){
                .op = CAVS__OP_ELEMENTWISE, .width = width, .k = y->k, .which = i + 1, .s = y->s},
            n, in);
    if (gx && x->width == 1 && gx->width > 1)
        gx = row_sum(d, y, gx);
    else if (gx && gx->width == 1 && x->width > 1)
        gx = elementwise2(d, y, "add", constant(d, y, x->width, 0), gx);
    contribute(d, y, x, gx);
}

static void diff_concat(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    int at = 0;

    for (int i = 0; i < y->ninputs; at += y->inputs[i++]->width) {
        struct cavs_symbol *x = y->inputs[i];

        if (x->needs_grad)
            contribute(d, y, x, cavs_slice_at(g, at, x->width, y->at));
    }
}

static void diff_matmul(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[2] = {y->inputs[0], g};

    if (y->inputs[0]->needs_grad) {
        y->param->transposed = true;
        contribute(d, y, y->inputs[0],
                   make(d, y,
                        (struct cavs_symbol){.op = CAVS__OP_MATMUL_T,
                                             .width = y->inputs[0]->width,
                                             .param = y->param},
                        1, &g));
    }
    if (!y->param->frozen)
        make(d, y, (struct cavs_symbol){.op = CAVS__OP_GRAD_MATMUL, .param = y->param}, 2, in);
}

static void diff_xent(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[3] = {y->inputs[0], y->inputs[1], g};

    if (y->inputs[0]->needs_grad)
        contribute(
            d, y, y->inputs[0],
            make(d, y, (struct cavs_symbol){.op = CAVS__OP_XENT_GRAD, .width = y->inputs[0]->width},
                 3, in));
}

static void diff_row_sum(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    contribute(d, y, y->inputs[0],
               elementwise2(d, y, "add", constant(d, y, y->inputs[0]->width, 0), g));
}

/* y (g - sum(y g)): of what was computed, y is all that has to be kept. */
static void diff_softmax(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *yg, *sum, *rest;

    if (!y->inputs[0]->needs_grad)
        return;
    yg = elementwise2(d, y, "mul", y, g);
    sum = row_sum(d, y, yg);
    rest = elementwise2(d, y, "sub", g, sum);
    contribute(d, y, y->inputs[0], elementwise2(d, y, "mul", y, rest));
}

/* g - e^y sum(g) */
static void diff_log_softmax(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *e, *sum, *share;

    if (!y->inputs[0]->needs_grad)
        return;
    e = elementwise1(d, y, "exp", y);
    sum = row_sum(d, y, g);
    share = elementwise2(d, y, "mul", e, sum);
    contribute(d, y, y->inputs[0], elementwise2(d, y, "sub", g, share));
}

static void diff_row_max(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[0], *in[2] = {x, g};

    if (x->needs_grad)
        contribute(d, y, x,
                   make(d, y, (struct cavs_symbol){.op = CAVS__OP_ROW_MAX_GRAD, .width = x->width},
                        2, in));
}

/* The same numbers are drawn again: nothing is kept. */
static void diff_dropout(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    if (y->inputs[0]->needs_grad)
        contribute(d, y, y->inputs[0],
                   make(d, y,
                        (struct cavs_symbol){
                            .op = CAVS__OP_DROPOUT, .width = y->width, .s = y->s, .k = y->k},
                        1, &g));
}

static void diff_pick(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[0], *in[2] = {y->inputs[1], g};

    if (x->needs_grad)
        contribute(
            d, y, x,
            make(d, y, (struct cavs_symbol){.op = CAVS__OP_PICK_GRAD, .width = x->width}, 2, in));
}

static void diff_select(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[0], *ids = y->inputs[1], *in[3] = {x, g, ids};

    if (x->needs_grad) {
        y->param->transposed = true;
        contribute(d, y, x,
                   make(d, y,
                        (struct cavs_symbol){
                            .op = CAVS__OP_MATMUL_SELECT_T, .width = x->width, .param = y->param},
                        2, in + 1));
    }
    if (!y->param->frozen)
        make(d, y, (struct cavs_symbol){.op = CAVS__OP_GRAD_MATMUL_SELECT, .param = y->param}, 3,
             in);
}

/* ---- between vertices and entries ---- */

/* The row of each vertex for all its entries; a constant is there already. */
static void diff_list_sum(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    if (cavs__domain(g) >= 0)
        g = make(d, y,
                 (struct cavs_symbol){.op = CAVS__OP_REPEAT, .width = g->width, .domain = y->k}, 1,
                 &g);
    contribute(d, y, y->inputs[0], g);
}

static void diff_list_max(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[2] = {y->inputs[0], g};

    contribute(d, y, y->inputs[0],
               make(d, y,
                    (struct cavs_symbol){
                        .op = CAVS__OP_LIST_MAX_GRAD, .width = y->width, .domain = y->k, .k = y->k},
                    2, in));
}

static void diff_list_softmax(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[2] = {y, g};

    contribute(
        d, y, y->inputs[0],
        make(d, y,
             (struct cavs_symbol){.op = CAVS__OP_LIST_SOFTMAX_GRAD, .width = y->width, .k = y->k},
             2, in));
}

/* Out of what differs from vertex to vertex, into what all vertices with equal inputs share. */
static void diff_spread(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *sink;

    if (!y->inputs[0]->needs_grad)
        return;
    sink = make(d, y, (struct cavs_symbol){.op = CAVS__OP_SPREAD_GRAD, .width = y->width}, 1, &g);
    contribute(d, y, y->inputs[0],
               make(d, y,
                    (struct cavs_symbol){.op = CAVS__OP_COLLECT, .width = y->width, .fetch = sink},
                    1, &g));
}

static void diff_lookup(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[2] = {y->inputs[0], g};

    make(d, y,
         (struct cavs_symbol){.op = CAVS__OP_GRAD_LOOKUP, .width = g->width, .param = y->param}, 2,
         in);
}

static void diff_value(struct diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    switch (y->op) {
    case CAVS__OP_ELEMENTWISE:
        for (int i = 0; i < y->ninputs; i++)
            diff_operand(d, y, i, g);
        break;
    case CAVS__OP_CONCAT: diff_concat(d, y, g); break;
    case CAVS__OP_SLICE: contribute_piece(d, y->inputs[0], y->k, g); break;
    case CAVS__OP_MATMUL: diff_matmul(d, y, g); break;
    case CAVS__OP_XENT: diff_xent(d, y, g); break;
    case CAVS__OP_ROW_SUM: diff_row_sum(d, y, g); break;
    case CAVS__OP_ROW_MAX: diff_row_max(d, y, g); break;
    case CAVS__OP_SOFTMAX: diff_softmax(d, y, g); break;
    case CAVS__OP_LOG_SOFTMAX: diff_log_softmax(d, y, g); break;
    case CAVS__OP_DROPOUT: diff_dropout(d, y, g); break;
    case CAVS__OP_PICK: diff_pick(d, y, g); break;
    case CAVS__OP_LOOKUP: diff_lookup(d, y, g); break;
    case CAVS__OP_MATMUL_SELECT: diff_select(d, y, g); break;
    case CAVS__OP_REPEAT:
        if (y->inputs[0]->needs_grad)
            contribute_piece(d, y->inputs[0], 0, sum_of_list(d, y, y->domain, g));
        break;
    case CAVS__OP_SPREAD: diff_spread(d, y, g); break;
    case CAVS__OP_LIST_SUM: diff_list_sum(d, y, g); break;
    case CAVS__OP_LIST_MAX: diff_list_max(d, y, g); break;
    case CAVS__OP_LIST_SOFTMAX: diff_list_softmax(d, y, g); break;
    case CAVS__OP_USE:
        make(d, y, (struct cavs_symbol){.op = CAVS__OP_GRAD_USE, .param = y->param}, 1, &g);
        break;
    case CAVS__OP_FETCH:
        make(d, y, (struct cavs_symbol){.op = CAVS__OP_FETCH_GRAD, .width = g->width, .fetch = y},
             1, &g);
        break;
    default: break;
    }
}

/* What a forward sink asks of its operand. */
static void diff_sink(struct diff *d, struct cavs_symbol *y)
{
    struct cavs_symbol *x = y->inputs[0];

    if (!x->needs_grad)
        return;
    if (y->op == CAVS__OP_METRIC && y->is_loss) {
        bool masked = y->ninputs == 2 && !(x->op == CAVS__OP_XENT && x->inputs[1] == y->inputs[1]);

        contribute(d, y, x,
                   masked ? make(d, y, (struct cavs_symbol){.op = CAVS__OP_MASK, .width = 1}, 1,
                                 &y->inputs[1])
                          : constant(d, y, 1, 1));
    } else if (y->op == CAVS__OP_SCATTER && d->f->stage->state_grad) {
        contribute(d, y, x,
                   make(d, y, (struct cavs_symbol){.op = CAVS__OP_STATE_GRAD, .width = y->width}, 0,
                        NULL));
    } else if (y->op == CAVS__OP_PUSH) {
        for (int i = 0; i < y->channel->nfetches; i++) {
            struct cavs_symbol *fetch = y->channel->fetches[i];

            if (fetch->adjoint)
                contribute(d, y, x,
                           make(d, y,
                                (struct cavs_symbol){
                                    .op = CAVS__OP_PUSH_GRAD, .width = y->width, .fetch = fetch},
                                0, NULL));
        }
    }
}

/* Every slot of a vertex is read by its child, so each gets a gradient, zeros if need be. */
static void diff_slots(struct diff *d)
{
    struct cavs_function *f = d->f;

    for (int k = 0; k < f->slots && f->stage->state_grad && !d->failed; k++) {
        struct cavs_symbol *g = NULL, *gather = f->scatter;

        for (int i = 0; i < d->nforward; i++) {
            if (f->symbols[i]->op == CAVS__OP_GATHER && f->symbols[i]->k == k) {
                gather = f->symbols[i];
                g = gather->adjoint;
            }
        }
        if (!g)
            g = constant(d, gather, f->stage->state_width, 0);
        make(d, gather,
             (struct cavs_symbol){.op = CAVS__OP_SLOT_GRAD, .width = f->stage->state_width, .k = k},
             1, &g);
    }
}

/* The gradient of a child read by number, where a vertex has a row per child: in the row of that child,
 * zeros in the others. */
static struct cavs_symbol *in_its_row(struct diff *d, const struct cavs_symbol *gather, int domain)
{
    struct cavs_symbol *g = gather->adjoint, *ids, *mask;

    if (cavs__domain(g) >= 0)
        g = make(d, gather,
                 (struct cavs_symbol){.op = CAVS__OP_REPEAT, .width = g->width, .domain = domain},
                 1, &g);
    ids = make(d, gather,
               (struct cavs_symbol){.op = CAVS__OP_NTH, .k = gather->k, .domain = domain}, 0, NULL);
    mask = ids ? make(d, gather, (struct cavs_symbol){.op = CAVS__OP_MASK, .width = 1}, 1, &ids)
               : NULL;
    return g && mask ? elementwise2(d, gather, "mul", g, mask) : NULL;
}

/* The same as diff_slots() where a vertex has a row per child. */
static void diff_children(struct diff *d)
{
    struct cavs_function *f = d->f;
    struct cavs_symbol *g = NULL, *each = f->scatter;
    int domain = 0;

    for (int i = 0; i < f->nlists; i++) {
        if (f->lists[i]->children)
            domain = i + 1;
    }
    for (int i = 0; i < d->nforward; i++) {
        if (f->symbols[i]->op == CAVS__OP_EACH_CHILD) {
            each = f->symbols[i];
            g = each->adjoint;
        }
    }
    for (int i = 0; i < d->nforward && !d->failed; i++) {
        const struct cavs_symbol *x = f->symbols[i];
        struct cavs_symbol *row =
            x->op == CAVS__OP_GATHER && x->adjoint ? in_its_row(d, x, domain) : NULL;

        g = g && row ? elementwise2(d, x, "add", g, row) : row ? row : g;
    }
    if (!g)
        g = constant(d, each, f->stage->state_width, 0);
    make(d, each,
         (struct cavs_symbol){
             .op = CAVS__OP_EACH_GRAD, .width = f->stage->state_width, .domain = domain},
         1, &g);
}

static int diff_function(struct cavs_function *f)
{
    struct diff d = {.f = f, .nforward = f->nsymbols};

    d.to = calloc((size_t)f->nsymbols + 1, sizeof *d.to);
    if (!d.to)
        return cavs__fail_nomem("autodiff", (size_t)f->nsymbols * sizeof *d.to);
    f->finished = false; /* the backward symbols go through the same builders */
    for (int i = 0; i < d.nforward && !d.failed; i++) {
        if (cavs__is_sink(f->symbols[i]))
            diff_sink(&d, f->symbols[i]);
    }
    for (int i = d.nforward - 1; i >= 0 && !d.failed; i--) {
        struct cavs_symbol *x = f->symbols[i];

        x->adjoint = d.to[i].n > 0 ? total(&d, x) : NULL;
        if (x->adjoint && !d.failed)
            diff_value(&d, x, x->adjoint);
    }
    diff_slots(&d);
    if (f->slots == CAVS__ANY_CHILDREN && f->stage->state_grad && !d.failed)
        diff_children(&d);
    f->finished = true;
    for (int i = d.nforward; i < f->nsymbols; i++)
        f->symbols[i]->backward = true;
    for (int i = 0; i < d.nforward; i++)
        free(d.to[i].pieces);
    free(d.to);
    return d.failed ? cavs__fail_nomem("autodiff", sizeof(struct cavs_symbol)) : CAVS_OK;
}

/* ---- all stages ---- */

/* Does a gradient enter this stage anywhere? */
static bool reached(const struct cavs_stage *s)
{
    for (int j = 0; j < s->nfunctions; j++) {
        const struct cavs_function *f = s->functions[j];

        for (int i = 0; i < f->nsymbols; i++) {
            const struct cavs_symbol *x = f->symbols[i];

            if (x->op == CAVS__OP_METRIC && x->is_loss && x->needs_grad)
                return true;
            for (int k = 0; x->op == CAVS__OP_PUSH && k < x->channel->nfetches; k++) {
                if (x->channel->fetches[k]->adjoint)
                    return true;
            }
        }
    }
    return false;
}

static bool gathers(const struct cavs_stage *s)
{
    for (int j = 0; j < s->nfunctions; j++) {
        for (int i = 0; i < s->functions[j]->nsymbols; i++) {
            if (cavs__starts_chain(s->functions[j]->symbols[i]))
                return true;
        }
    }
    return false;
}

int cavs__pass_autodiff(struct cavs_model *m)
{
    bool *state = calloc((size_t)m->nstages + 1, sizeof *state);

    if (!state)
        return cavs__fail_nomem("autodiff", (size_t)m->nstages);
    for (int i = 0; i < m->nstages; i++) {
        /* a state is trained if something scattered is; that may itself depend on a gather: one
         * more sweep */
        state[i] = cavs__mark_needs_grad(m->stages[i], false);
        if (state[i])
            cavs__mark_needs_grad(m->stages[i], true);
    }
    for (int i = m->nstages - 1; i >= 0; i--) {
        struct cavs_stage *s = m->stages[i];
        bool enters = reached(s);

        s->state_grad = enters && state[i] && gathers(s);
        for (int j = 0; j < s->nfunctions && enters; j++) {
            int rc = diff_function(s->functions[j]);

            if (rc) {
                free(state);
                return rc;
            }
        }
    }
    free(state);
    return CAVS_OK;
}
