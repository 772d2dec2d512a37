/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c - makes backward symbols, and adds up what contributes to a gradient; see diff.h. */
#include <stdlib.h>

#include "codelets/groups/elementwise.h"
#include "core/base/array.h"
#include "core/compile/diff.h"

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
    struct cavs__contributions *c = &d->to[x->number];
    struct cavs__gradient_piece piece = {from, g};

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

static int by_column(const void *a, const void *b)
{
    const struct cavs__gradient_piece *p = a, *q = b;

    return (p->from > q->from) - (p->from < q->from);
}

/* Takes a set of disjoint pieces, in column order, out of c and lays them side by side with zeros
 * in the gaps. */
static struct cavs_symbol *side_by_side(struct cavs__diff *d, const struct cavs_symbol *x,
                                        struct cavs__contributions *c)
{
    struct cavs_symbol **parts = malloc((2 * (size_t)c->n + 1) * sizeof *parts), *sum;
    int n = 0, at = 0, left = 0;

    if (!parts) {
        d->failed = true;
        return NULL;
    }
    for (int i = 0; i < c->n; i++) {
        struct cavs__gradient_piece p = c->pieces[i];

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

struct cavs_symbol *cavs__diff_total(struct cavs__diff *d, struct cavs_symbol *x)
{
    struct cavs__contributions *c = &d->to[x->number];
    struct cavs_symbol *sum = NULL;

    if (c->n > 1)
        qsort(c->pieces, (size_t)c->n, sizeof *c->pieces, by_column);
    while (c->n > 0 && !d->failed) {
        struct cavs_symbol *g = side_by_side(d, x, c);

        sum = sum && g ? cavs__diff_apply2(d, x, "add", sum, g) : g;
    }
    return sum;
}

void cavs__not_differentiable(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    (void)d, (void)y, (void)g;
}

void cavs__of_df(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    (void)d, (void)y, (void)g;
}
