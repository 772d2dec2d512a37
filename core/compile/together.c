/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.c - which steps of a part may run at once: products that stand one after the other, none
 * of which touches what another one writes. Devices take them in one launch.
 *
 * It is found before scratch is packed, which then keeps their blocks apart.
 */
#include "codelets/kernels/kernel_table.h"
#include "core/compile/place.h"

/* In scratch every block is still by itself; a repeated operand is one of vertices. */
static bool same_block(const struct cavs__operand *a, const struct cavs__operand *b)
{
    int list_a = a->mode == CAVS__REPEATED ? 0 : a->list;
    int list_b = b->mode == CAVS__REPEATED ? 0 : b->list;

    if (a->buffer != b->buffer || a->buffer == CAVS__NO_BUFFER)
        return false;
    return a->buffer != CAVS__SCRATCH || (a->region == b->region && list_a == list_b);
}

/* Rows of different child slots; a value may also fill the rows of all slots. */
static bool different_slots(const struct cavs__operand *a, const struct cavs__operand *b, int width)
{
    return a->space == CAVS__EDGES && b->space == CAVS__EDGES && a->list == 0 && b->list == 0 &&
           a->slot != b->slot && a->cols <= width && b->cols <= width;
}

/* Rows by index are not those that the same task writes: tiles of a task run in any order. */
static bool touches(const struct cavs__operand *written, const struct cavs__operand *o, int width)
{
    return o->mode != CAVS__INDEXED && same_block(written, o) &&
           !different_slots(written, o, width) && written->col < o->col + o->cols &&
           o->col < written->col + written->cols;
}

static bool independent(const struct cavs__step *a, const struct cavs__step *b, int width)
{
    for (int i = 0; i < 3; i++) {
        if (touches(&a->v[2], &b->v[i], width) || touches(&b->v[2], &a->v[i], width))
            return false;
    }
    return true;
}

/* May step `next` run at once with all those from `first` on? */
static bool may_follow(const struct cavs__part *p, int first, int next,
                       const struct cavs__together *o)
{
    const struct cavs__step *s = &p->steps[next];

    if (s->call.kernel != &cavs__kernel_gemm ||
        (s->list != p->steps[first].list && !o->lists_with_rows))
        return false;
    for (int i = first; i < next; i++) {
        if (!independent(&p->steps[i], s, o->width))
            return false;
    }
    return true;
}

void cavs__find_together(struct cavs__part *p, const struct cavs__together *o)
{
    for (int first = 0, end; first < p->nsteps; first = end) {
        end = first + 1;
        while (p->steps[first].call.kernel == &cavs__kernel_gemm && end < p->nsteps &&
               end - first < CAVS__MOST_TOGETHER && may_follow(p, first, end, o))
            end++;
        for (int i = first; i < end; i++)
            p->steps[i].together = end - i;
    }
}
