/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay.c - items that could run early but are not wanted before late.
 *
 * fuse.c lets every item run as soon as it can. What only one later group reads is moved there: it
 * is then a value inside that group and never in memory. A product that only this group reads moves
 * to the products just before it, with which a device takes it in one launch. So the forget gates
 * of a tree's children, which do not wait for the sum of their states, still run with the other
 * gates.
 */
#include "core/compile/place.h"

#include <stdlib.h>

#include "codelets/kernels/kernel_table.h"
#include "core/base/error.h"
#include "core/declare/operator.h"

static bool is_product(const struct cavs__item *item)
{
    return !item->copy && cavs__operator_of(item->x)->kernel == &cavs__kernel_gemm;
}

static bool is_elementwise(const struct cavs__item *item)
{
    return !item->copy && cavs__is_elementwise(item->x);
}

/* The symbols whose place is decided by a concatenation or a destination of the part. */
static void find_delivered(const struct cavs__placer *p, bool *delivered)
{
    for (int h = 0; h < p->nhere; h++) {
        const struct cavs_symbol *s = p->f->symbols[p->here[h]];

        if (s->op != CAVS__OP_CONCAT && !cavs__is_destination(s))
            continue;
        for (int k = 0; k < s->ninputs; k++)
            delivered[cavs__root(p, s->inputs[k])->number] = true;
    }
}

/* Is the reader, which reads the item's value as `in`, a reason to delay the item? */
static bool waits(const struct cavs__placer *p, const struct cavs__item *item,
                  const struct cavs__item *reader, struct cavs_symbol *in)
{
    int col;

    if (!is_elementwise(reader))
        return false;
    if (is_product(item))
        return cavs__base(p, in, &col) == item->x;
    return in == item->x && reader->x->width == item->x->width &&
           cavs__item_domain(reader) == cavs__item_domain(item);
}

/* The time, by to[], at which all readers of the item run; 0 if they run at different times, or if
 * something else is in the way. */
static int time_of_readers(const struct cavs__placer *p, const int *to, int i)
{
    const struct cavs_symbol *x = p->items[i].x;
    const int *first = p->root_readers.first + x->number;
    int time = 0;

    for (int at = first[0]; at < first[1]; at++) {
        int r = p->root_readers.item[at];
        struct cavs_symbol *in;

        for (int k = 0; (in = cavs__item_operand(&p->items[r], k)) != NULL; k++) {
            if (cavs__root(p, in) != x)
                continue;
            if (!waits(p, &p->items[i], &p->items[r], in) || (time && to[r] != time))
                return 0;
            time = to[r];
        }
    }
    return time;
}

/* What an item of one group alone reads is computed in that group, too: otherwise it would have to
 * be stored. */
static bool leaves_no_operand(const struct cavs__placer *p, const int *to, int i)
{
    struct cavs_symbol *in;

    for (int k = 0; (in = cavs__item_operand(&p->items[i], k)) != NULL; k++) {
        int o = p->local[cavs__root(p, in)->number].item;

        if (o >= 0 && p->items[o].time == p->items[i].time && to[o] != to[i])
            return false;
    }
    return true;
}

/* Takes back single delays until the rest do not contradict one another. */
static void settle(const struct cavs__placer *p, int *to)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (int i = 0; i < p->nitems; i++) {
            if (to[i] == p->items[i].time || !is_elementwise(&p->items[i]) ||
                (time_of_readers(p, to, i) == to[i] && leaves_no_operand(p, to, i)))
                continue;
            to[i] = p->items[i].time;
            changed = true;
        }
    }
}

static void delay_elementwise(const struct cavs__placer *p, const bool *delivered, int *to)
{
    for (int i = p->nitems - 1; i >= 0; i--) {
        int time = is_elementwise(&p->items[i]) && !delivered[p->items[i].x->number]
                       ? time_of_readers(p, to, i)
                       : 0;

        to[i] = time > p->items[i].time ? time : p->items[i].time;
    }
    settle(p, to);
}

static bool is_time_of_products(const struct cavs__placer *p, int time)
{
    for (int i = 0; i < p->nitems; i++) {
        if (is_product(&p->items[i]) && p->items[i].time == time)
            return true;
    }
    return false;
}

static void delay_products(const struct cavs__placer *p, const bool *delivered, int *to)
{
    for (int i = 0; i < p->nitems; i++) {
        int time = is_product(&p->items[i]) ? time_of_readers(p, to, i) - 1 : 0;

        if (time > p->items[i].time && is_time_of_products(p, time) &&
            !delivered[p->items[i].x->number])
            to[i] = time;
    }
}

int cavs__delay_items(struct cavs__placer *p)
{
    bool *delivered;
    size_t bytes;
    int *to;

    if (p->plan->options.no_fusion)
        return CAVS_OK;
    bytes = ((size_t)p->nitems + 1) * sizeof *to;
    to = malloc(bytes);
    delivered = calloc((size_t)p->f->nsymbols + 1, sizeof *delivered);
    if (!to || !delivered) {
        free(to);
        free(delivered);
        return cavs__fail_nomem("plan: delayed steps",
                                bytes + ((size_t)p->f->nsymbols + 1) * sizeof *delivered);
    }
    find_delivered(p, delivered);
    delay_elementwise(p, delivered, to);
    delay_products(p, delivered, to);
    for (int i = 0; i < p->nitems; i++) {
        p->items[i].time = to[i];
        if (!p->items[i].copy)
            p->local[p->items[i].x->number].time = to[i];
    }
    free(to);
    free(delivered);
    return CAVS_OK;
}
