/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - which part computes what. */
#include "core/compile/place.h"

#include <stdlib.h>

#include "core/declare/operator.h"

/* ---- of all parts ---- */

static bool is_product_grad(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_SUM) && cavs__operator_of(x)->flops;
}

/* Sums over rows.  They are parts of their own, so that all other parts compute row by row and
 * their rows can be cut among tasks. */
static bool is_reduction(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_SUM);
}

static bool same_part(const struct cavs__placer *p, const struct cavs_symbol *x,
                      const struct cavs_symbol *y)
{
    return (x->op == CAVS__OP_METRIC) == (y->op == CAVS__OP_METRIC) &&
           p->shared[x->number] == p->shared[y->number];
}

/* Every product's gradient gets a part. Gradients of biases are in the function's first such part
 * that has the same rows; all metrics are summed in one part. */
static int reduction_part(struct cavs__placer *p, struct cavs_symbol *x)
{
    for (int i = CAVS__PARTS_CLASSED; i < p->nparts && !is_product_grad(x); i++) {
        if (same_part(p, p->sum_sink[i - CAVS__PARTS_CLASSED], x))
            return i;
    }
    p->sum_sink[p->nparts - CAVS__PARTS_CLASSED] = x;
    return p->nparts++;
}

/* The gradient of a SPREAD is in the part that makes its value, which is then made in place. */
static int spread_grad_part(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    const struct cavs_symbol *b = cavs__root(p, x->inputs[0]);

    return b->backward && cavs__is_computed(b) ? p->value[b->number].part : 3 + CAVS__LAZY;
}

static int part_of(struct cavs__placer *p, struct cavs_symbol *x)
{
    const struct cavs__plan_options *o = &p->plan->options;
    bool chained = p->sp->stage->state_width > 0;
    enum cavs__class k = x->klass;

    if (x->backward && !o->training)
        return CAVS__NO_PART;
    if (!p->shares && (x->op == CAVS__OP_SPREAD_GRAD || x->op == CAVS__OP_COLLECT))
        return CAVS__NO_PART;
    if (x->op == CAVS__OP_SPREAD_GRAD)
        return spread_grad_part(p, x);
    if (p->shared[x->number])
        return is_reduction(x) ? reduction_part(p, x)
               : x->backward   ? CAVS__PART_SHARED_BACK
                               : CAVS__PART_SHARED;
    if (p->value[x->number].after_spread)
        k = CAVS__CHAIN;
    if (chained && ((k == CAVS__EAGER && o->no_eager) || (k == CAVS__LAZY && o->no_lazy)))
        k = CAVS__CHAIN;
    if (is_reduction(x) && !(chained && o->no_lazy))
        return reduction_part(p, x);
    return (x->backward ? 3 : 0) + (int)k;
}

static void assign_parts(struct cavs__placer *p)
{
    /* products first: biases ride with them */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->f->nsymbols; i++) {
            struct cavs_symbol *x = p->f->symbols[i];

            if (is_product_grad(x) == (pass == 0))
                p->value[i].part = x->live && cavs__is_computed(x) ? part_of(p, x) : CAVS__NO_PART;
        }
    }
}

/* The symbols of each part, in their order. */
static void list_parts(struct cavs__placer *p)
{
    int *first = p->first_own;

    for (int i = 0; i < p->f->nsymbols; i++) {
        if (p->value[i].part != CAVS__NO_PART)
            first[p->value[i].part]++;
    }
    for (int i = 0; i < p->nparts; i++)
        first[i + 1] += first[i];
    for (int i = p->f->nsymbols - 1; i >= 0; i--) {
        if (p->value[i].part != CAVS__NO_PART)
            p->own[--first[p->value[i].part]] = i;
    }
}

/* Part `part` reads x. If x comes from another part, it must be kept there, or be made again from
 * what is kept. */
static void note_read(struct cavs__placer *p, struct cavs_symbol *x, int part)
{
    struct cavs_symbol *b = cavs__root(p, x);

    if (!cavs__is_computed(b))
        return;
    if (cavs__is_remade(p, b)) {
        for (int i = 0; i < b->ninputs; i++)
            note_read(p, b->inputs[i], part);
    } else if (p->value[b->number].part != part) {
        p->value[b->number].saved = true;
    }
}

static void find_saved(struct cavs__placer *p)
{
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];

        if (p->value[i].part == CAVS__NO_PART || cavs__is_remade(p, x))
            continue;
        for (int k = 0; k < x->ninputs; k++)
            note_read(p, x->inputs[k], p->value[i].part);
    }
}

void cavs__find_parts(struct cavs__placer *p)
{
    assign_parts(p);
    cavs__move_to_readers(p);
    list_parts(p);
    find_saved(p);
}

/* ---- of one part ---- */

bool cavs__is_saved_here(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    return p->value[x->number].saved && p->value[x->number].part == p->part;
}

static void set_here(struct cavs__placer *p, int symbol)
{
    p->local[symbol].here = true;
    p->here[p->nhere++] = symbol;
}

/* Is x, or a slice of it, read by something that this part computes (or makes again)? */
static void mark_read(struct cavs__placer *p, struct cavs_symbol *x)
{
    struct cavs_symbol *b = cavs__root(p, x);

    if (b->op != CAVS__OP_CONCAT || p->local[b->number].here)
        return;
    if (p->value[b->number].part == p->part || cavs__is_remade(p, b)) {
        set_here(p, b->number);
        for (int i = 0; i < b->ninputs; i++)
            mark_read(p, b->inputs[i]);
    }
}

static void mark_all_read(struct cavs__placer *p, const struct cavs_symbol *x)
{
    for (int k = 0; k < x->ninputs; k++)
        mark_read(p, x->inputs[k]);
}

/* Forgets what the part before had computed here, and what it had copied. */
static void forget_here(struct cavs__placer *p)
{
    for (int h = 0; h < p->nhere; h++)
        p->local[p->here[h]] = (struct cavs__local){.item = -1};
    for (int i = 0; i < p->nitems; i++)
        p->local[p->items[i].x->number] = (struct cavs__local){.item = -1};
    p->nhere = p->nitems = 0;
}

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void cavs__find_here(struct cavs__placer *p)
{
    const int *own = p->own + p->first_own[p->part];
    int n = p->first_own[p->part + 1] - p->first_own[p->part];

    forget_here(p);
    for (int i = 0; i < n; i++) {
        const struct cavs_symbol *x = p->f->symbols[own[i]];

        if (x->op == CAVS__OP_CONCAT)
            continue;
        set_here(p, own[i]);
        mark_all_read(p, x);
    }
    for (int i = 0; i < n; i++) {
        const struct cavs_symbol *x = p->f->symbols[own[i]];

        if (cavs__is_saved_here(p, x) && !p->local[own[i]].here) {
            set_here(p, own[i]); /* a concatenation that only other parts read */
            mark_all_read(p, x);
        }
    }
    qsort(p->here, (size_t)p->nhere, sizeof *p->here, by_number);
}
