/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autodiff.c - reverse-mode differentiation of a vertex function F: appends dF to its symbols.
 *
 * dF is a vertex function over the same graph walked from the parents to the children (Cavs
 * section 3.4): the adjoint of scatter is gathered from the parents' slots, the adjoint of
 * gather(k) is scattered to slot k, push and pull change places likewise, and each use of a
 * parameter ends in a gradient sink that reduces over all rows.  What one operator does is in its
 * record (core/operators/); this is the sweep over all.
 *
 * Stages are visited last to first, so that a channel knows which of its fetches pass a gradient
 * back.
 */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/base/array.h"
#include "core/base/error.h"
#include "core/compile/diff.h"
#include "core/compile/passes.h"

/* Gradients that reach parts of a value: columns [from, from + g->width). */
struct piece {
    int from;
    struct cavs_symbol *g;
};

struct contributions {
    int n;
    struct piece *pieces; /* whole-width ones have from = 0 and g->width = width */
};

struct cavs__diff {
    struct cavs_function *f;
    int nforward;
    struct contributions *to; /* [nforward] */
    bool failed;              /* out of memory */
};

/* ---- making backward symbols ---- */

struct cavs_symbol *cavs__diff_symbol(struct cavs__diff *d, const struct cavs_symbol *of,
                                      struct cavs_symbol like, int n,
                                      struct cavs_symbol *const *inputs)
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

struct cavs_symbol *cavs__diff_constant(struct cavs__diff *d, const struct cavs_symbol *of,
                                        int width, float s)
{
    return cavs__diff_symbol(
        d, of, (struct cavs_symbol){.op = CAVS__OP_CONST, .width = width, .s = s}, 0, NULL);
}

struct cavs_symbol *cavs__diff_apply2(struct cavs__diff *d, const struct cavs_symbol *of,
                                      const char *name, struct cavs_symbol *a,
                                      struct cavs_symbol *b)
{
    struct cavs_symbol *in[2] = {a, b};
    int wa = cavs_symbol_width(a), wb = cavs_symbol_width(b), width = wa > wb ? wa : wb;

    return cavs__diff_symbol(
        d, of,
        (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE, .width = width, .k = cavs__ew_find(name)},
        2, in);
}

struct cavs_symbol *cavs__diff_apply1(struct cavs__diff *d, const struct cavs_symbol *of,
                                      const char *name, struct cavs_symbol *a)
{
    return cavs__diff_symbol(d, of,
                             (struct cavs_symbol){.op = CAVS__OP_ELEMENTWISE,
                                                  .width = cavs_symbol_width(a),
                                                  .k = cavs__ew_find(name)},
                             1, &a);
}

struct cavs_symbol *cavs__diff_row_sum(struct cavs__diff *d, const struct cavs_symbol *of,
                                       struct cavs_symbol *a)
{
    return cavs__diff_symbol(d, of, (struct cavs_symbol){.op = CAVS__OP_ROW_SUM, .width = 1}, 1,
                             &a);
}

void cavs__contribute_columns(struct cavs__diff *d, struct cavs_symbol *x, int from,
                              struct cavs_symbol *g)
{
    struct contributions *c = &d->to[x->number];
    struct piece piece = {from, g};

    if (x->needs_grad && (!g || !CAVS__APPEND(c->pieces, c->n, piece)))
        d->failed = true;
}

struct cavs_symbol *cavs__diff_list_sum(struct cavs__diff *d, const struct cavs_symbol *of,
                                        int domain, struct cavs_symbol *g)
{
    return cavs__diff_symbol(
        d, of,
        (struct cavs_symbol){.op = CAVS__OP_LIST_SUM, .width = cavs_symbol_width(g), .k = domain},
        1, &g);
}

void cavs__contribute(struct cavs__diff *d, const struct cavs_symbol *y, struct cavs_symbol *x,
                      struct cavs_symbol *g)
{
    if (g && x->needs_grad && y->domain > 0 && cavs__domain(x) < 0)
        g = cavs__diff_list_sum(d, y, y->domain, g);
    cavs__contribute_columns(d, x, 0, g);
}

/* ---- adding contributions up ---- */

static int by_column(const void *a, const void *b)
{
    const struct piece *p = a, *q = b;

    return (p->from > q->from) - (p->from < q->from);
}

/* Takes a set of disjoint pieces, in column order, out of c and lays them side by side with zeros
 * in the gaps. */
static struct cavs_symbol *side_by_side(struct cavs__diff *d, const struct cavs_symbol *x,
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
            parts[n++] = cavs__diff_constant(d, x, p.from - at, 0);
        parts[n++] = p.g;
        at = p.from + p.g->width;
    }
    c->n = left;
    if (at < x->width)
        parts[n++] = cavs__diff_constant(d, x, x->width - at, 0);
    sum = d->failed ? NULL
          : n == 1
              ? parts[0]
              : cavs__diff_symbol(
                    d, x, (struct cavs_symbol){.op = CAVS__OP_CONCAT, .width = x->width}, n, parts);
    free(parts);
    return sum;
}

static struct cavs_symbol *total(struct cavs__diff *d, struct cavs_symbol *x)
{
    struct contributions *c = &d->to[x->number];
    struct cavs_symbol *sum = NULL;

    if (c->n > 1)
        qsort(c->pieces, (size_t)c->n, sizeof *c->pieces, by_column);
    while (c->n > 0 && !d->failed) {
        struct cavs_symbol *g = side_by_side(d, x, c);

        sum = sum && g ? cavs__diff_apply2(d, x, "add", sum, g) : g;
    }
    return sum;
}

/* ---- derivatives: in the records of the operators ---- */

void cavs__not_differentiable(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    (void)d, (void)y, (void)g;
}

void cavs__of_df(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    (void)d, (void)y, (void)g;
}

/* What a forward sink asks of its operand. */
static void diff_sink(struct cavs__diff *d, struct cavs_symbol *y)
{
    if (y->inputs[0]->needs_grad)
        cavs__operator_of(y)->diff(d, y, NULL);
}

/* ---- states of children ---- */

/* Every slot of a vertex is read by its child, so each gets a gradient, zeros if need be. */
static void diff_slots(struct cavs__diff *d)
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
            g = cavs__diff_constant(d, gather, f->stage->state_width, 0);
        cavs__diff_symbol(
            d, gather,
            (struct cavs_symbol){.op = CAVS__OP_SLOT_GRAD, .width = f->stage->state_width, .k = k},
            1, &g);
    }
}

/* The gradient of a child read by number, where a vertex has a row per child: in the row of that
 * child, zeros in the others. */
static struct cavs_symbol *in_its_row(struct cavs__diff *d, const struct cavs_symbol *gather,
                                      int domain)
{
    struct cavs_symbol *g = gather->adjoint, *ids, *mask;

    if (cavs__domain(g) >= 0)
        g = cavs__diff_symbol(
            d, gather,
            (struct cavs_symbol){.op = CAVS__OP_REPEAT, .width = g->width, .domain = domain}, 1,
            &g);
    ids = cavs__diff_symbol(
        d, gather, (struct cavs_symbol){.op = CAVS__OP_NTH, .k = gather->k, .domain = domain}, 0,
        NULL);
    mask = ids ? cavs__diff_symbol(d, gather, (struct cavs_symbol){.op = CAVS__OP_MASK, .width = 1},
                                   1, &ids)
               : NULL;
    return g && mask ? cavs__diff_apply2(d, gather, "mul", g, mask) : NULL;
}

/* The same as diff_slots() where a vertex has a row per child. */
static void diff_children(struct cavs__diff *d)
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

        g = g && row ? cavs__diff_apply2(d, x, "add", g, row) : row ? row : g;
    }
    if (!g)
        g = cavs__diff_constant(d, each, f->stage->state_width, 0);
    cavs__diff_symbol(d, each,
                      (struct cavs_symbol){.op = CAVS__OP_EACH_GRAD,
                                           .width = f->stage->state_width,
                                           .domain = domain},
                      1, &g);
}

int cavs__differentiate(struct cavs_function *f)
{
    struct cavs__diff d = {.f = f, .nforward = f->nsymbols};

    d.to = calloc((size_t)f->nsymbols + 1, sizeof *d.to);
    if (!d.to)
        return cavs__fail_nomem("autodiff", ((size_t)f->nsymbols + 1) * sizeof *d.to);
    f->finished = false; /* the backward symbols go through the same builders */
    for (int i = 0; i < d.nforward && !d.failed; i++) {
        if (cavs__is_sink(f->symbols[i]))
            diff_sink(&d, f->symbols[i]);
    }
    for (int i = d.nforward - 1; i >= 0 && !d.failed; i--) {
        struct cavs_symbol *x = f->symbols[i];

        x->adjoint = d.to[i].n > 0 ? total(&d, x) : NULL;
        if (x->adjoint && !d.failed)
            cavs__operator_of(x)->diff(&d, x, x->adjoint);
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
    return d.failed ? cavs__fail_nomem("autodiff", 0) : CAVS_OK;
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
        return cavs__fail_nomem("autodiff", (size_t)m->nstages + 1);
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
            int rc = cavs__differentiate(s->functions[j]);

            if (rc) {
                free(state);
                return rc;
            }
        }
    }
    free(state);
    return CAVS_OK;
}
