/* SPDX-License-Identifier: Apache-2.0 */
/* diff_children.c - the gradients that a vertex hands to its children, of the states that it
 * gathered. */
#include "core/compile/diff.h"

/* Every slot of a vertex is read by its child, so each slot gets a gradient; it is zeros if there
 * is no other. */
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

/* The gradient of a child that is read by number, in a function whose vertices have a row for each
 * child: it stands in the row of that child, with zeros in the rows of the others. */
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

/* The same, in a function whose vertices have a row for each child. */
static void diff_each_child(struct cavs__diff *d)
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

void cavs__diff_children(struct cavs__diff *d)
{
    diff_slots(d);
    if (d->f->slots == CAVS__ANY_CHILDREN && d->f->stage->state_grad && !d->failed)
        diff_each_child(d);
}
