/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.c - where the values of a part live.
 *
 * Nothing is copied that can be computed in place: what is scattered, pushed or handed to a slot is
 * written by its own operator straight into the state, channel or slot rows; operands of a
 * concatenation are computed side by side; slices are views; gathers, lookups and fetches are
 * indexed reads.  What only its own part reads lives in a tile's scratch, or nowhere if one fused
 * group makes and uses it; what other parts read is kept, packed, in one tensor per part.
 */
#include "core/compile/place.h"

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/declare/operator.h"
#include "memory/tensor.h"

int cavs__add_item(struct cavs__placer *p, struct cavs__item item)
{
    return CAVS__APPEND(p->items, p->nitems, item)
               ? CAVS_OK
               : cavs__fail_nomem("plan: items of a part",
                                  cavs__array_bytes(p->nitems, sizeof item));
}

/* The value that a destination writes: its last operand. */
static struct cavs_symbol *written_value(const struct cavs_symbol *sink)
{
    return sink->inputs[sink->ninputs - 1];
}

static void set_place(struct cavs__placer *p, struct cavs_symbol *x, struct cavs__operand at)
{
    p->local[x->number].placed = true;
    p->local[x->number].at = at;
    if (at.buffer >= 0) {
        p->value[x->number].placed = true;
        p->value[x->number].at = at;
    }
}

/* Arranges that x is in `dest`: computed there if it has no place yet, else copied.  into: the
 * concatenation or sink. */
static int put(struct cavs__placer *p, struct cavs_symbol *x, struct cavs__operand dest,
               struct cavs_symbol *into)
{
    struct cavs__local *l = &p->local[x->number];
    int col;

    dest.cols = x->width;
    /* what other parts read must not lie in scratch only */
    if (!l->here || l->placed || (cavs__is_saved_here(p, x) && dest.buffer == CAVS__SCRATCH)) {
        /* a source copied for one reader may serve the others, where it has a row of its own */
        struct cavs_symbol *b = cavs__base(p, x, &col);

        if (dest.buffer == CAVS__SCRATCH && dest.list == x->domain &&
            (!cavs__is_computed(b) || cavs__is_spread_here(p, b))) {
            l->placed = true;
            l->at = dest;
        }
        return cavs__add_item(
            p, (struct cavs__item){.x = x, .copy = true, .dest = dest, .into = into});
    }
    set_place(p, x, dest);
    for (int i = 0, at = 0; x->op == CAVS__OP_CONCAT && i < x->ninputs;
         at += x->inputs[i++]->width) {
        int rc = put(p, x->inputs[i], cavs__columns(dest, at, x->inputs[i]->width), x);

        if (rc)
            return rc;
    }
    return CAVS_OK;
}

static bool channel_is_view(const struct cavs__placer *p, const struct cavs_symbol *push)
{
    return push->op == CAVS__OP_PUSH && p->sp->push[push->channel->number] == p->sp->state;
}

/* The value whose k-th piece of state width is what slot k gets, for all slots; NULL if there is
 * none.  Slot rows of a vertex lie one behind the other: such a value can be computed right there.
 */
static struct cavs_symbol *all_slots_value(const struct cavs__placer *p)
{
    int w = p->sp->stage->state_width, found = 0;
    struct cavs_symbol *value = NULL;

    if (cavs__tensor_ld(w) != w)
        return NULL;
    for (int h = 0; h < p->nhere; h++) {
        struct cavs_symbol *x = p->f->symbols[p->here[h]], *b;
        int col;

        if (x->op != CAVS__OP_SLOT_GRAD)
            continue;
        b = cavs__base(p, written_value(x), &col);
        if (col != x->k * w || written_value(x)->width != w || (value && b != value))
            return NULL;
        value = b;
        found++;
    }
    return found > 1 && found == p->f->slots && value->width == found * w ? value : NULL;
}

/* Such a value may be a concatenation, whose operands are then computed there. */
static int place_slots(struct cavs__placer *p, bool *placed)
{
    struct cavs_symbol *x = all_slots_value(p);
    struct cavs__operand o;

    *placed = x && p->local[x->number].here && !p->local[x->number].placed;
    if (!*placed)
        return CAVS_OK;
    o = cavs__tensor_operand(p->sp->edge, CAVS__EDGES, CAVS__DIRECT, 0, x->width);
    o.slots = p->f->slots;
    return put(p, x, o, x);
}

static int place_destinations(struct cavs__placer *p)
{
    bool slots_placed;
    int rc = place_slots(p, &slots_placed);

    for (int h = 0; h < p->nhere && !rc; h++) {
        struct cavs_symbol *x = p->f->symbols[p->here[h]];

        if (!cavs__is_destination(x) || channel_is_view(p, x))
            continue;
        if (x->op == CAVS__OP_SLOT_GRAD && slots_placed)
            continue;
        rc = put(p, written_value(x), cavs__operator_of(x)->where(p, x), x);
    }
    return rc;
}

static struct cavs__operand new_place(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__is_saved_here(p, x) ? cavs__kept_operand(p, x->domain, x->width)
                                     : cavs__scratch_operand(p, x->domain, x->width);
}

/* Outer concatenations first, so that inner ones are computed inside them; then results of single
 * steps. */
static int place_results(struct cavs__placer *p)
{
    for (int h = p->nhere - 1; h >= 0; h--) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];
        int rc = x->op == CAVS__OP_CONCAT && !p->local[i].placed ? put(p, x, new_place(p, x), x)
                                                                 : CAVS_OK;

        if (rc)
            return rc;
    }
    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];

        if (!p->local[i].placed && !cavs__is_sink(x) && !cavs__is_elementwise(x))
            set_place(p, x, new_place(p, x));
    }
    return CAVS_OK;
}

/* Kernels read memory: constants that a single step reads are written to scratch first. */
static int place_constants(struct cavs__placer *p)
{
    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];

        if (cavs__is_elementwise(x) || x->op == CAVS__OP_CONCAT || cavs__is_destination(x))
            continue;
        for (int k = 0; k < x->ninputs; k++) {
            struct cavs_symbol *in = x->inputs[k];
            int col, rc = CAVS_OK;

            if (cavs__is_constant(cavs__base(p, in, &col)) && !p->local[in->number].placed)
                rc = put(p, in, cavs__scratch_operand(p, 0, in->width), x);
            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

/* An indexed row of a vertex that its entries read: copied first, for the entries name vertices. */
static int place_repeated(struct cavs__placer *p)
{
    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];

        for (int k = 0; k < x->ninputs; k++) {
            int col, rc = CAVS_OK;
            struct cavs_symbol *in = cavs__base(p, x->inputs[k], &col), *of = in->inputs[0], *b;

            if (in->op != CAVS__OP_REPEAT || p->local[of->number].placed)
                continue;
            b = cavs__base(p, of, &col);
            if ((cavs__is_reference(b) && b->op != CAVS__OP_PULL) || cavs__is_spread_here(p, b))
                rc = put(p, of, cavs__scratch_operand(p, 0, of->width), x);
            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

int cavs__place_steps(struct cavs__placer *p)
{
    int rc = place_destinations(p);

    if (!rc)
        rc = place_results(p);
    if (!rc)
        rc = place_constants(p);
    if (!rc)
        rc = place_repeated(p);
    return rc;
}

void cavs__place_elementwise(struct cavs__placer *p)
{
    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];

        if (p->local[i].placed || !cavs__is_elementwise(x))
            continue;
        if (p->value[i].saved || cavs__read_outside(p, x))
            set_place(p, x, new_place(p, x));
    }
}
