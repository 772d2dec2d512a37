/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.c - when the items of a part can run, and which element-wise ones run as one. */
#include "core/place.h"

#include <stdlib.h>

/* ---- times: when an item can run ----
 * Time 2L: single steps, in the order of symbols; time 2L+1: element-wise groups and copies.  An
 * element-wise operator may run at the time of an operand of the same width: they are then fused.
 */

/* Entries read x of the vertices: never in the group that makes it. */
static int time_after_repeated(const struct cavs__placer *p, struct cavs_symbol *x,
                               bool elementwise)
{
    int col, t;
    const struct cavs__local *l = &p->local[cavs__base(p, x, &col)->number];

    if (!l->here)
        l = &p->local[x->number];
    if (!l->here && !l->placed)
        return elementwise;
    t = l->time;
    if (!elementwise)
        return t + (t & 1);
    return t & 1 ? t + 2 : t + 1;
}

static int time_after(const struct cavs__placer *p, struct cavs_symbol *x, bool elementwise,
                      int width)
{
    int col, t;
    struct cavs_symbol *b = cavs__base(p, x, &col);
    const struct cavs__local *l = &p->local[b->number], *copy;

    /* what is repeated is read where it is, unless a single step finds a copy */
    if (b->op == CAVS__OP_REPEAT && (elementwise || !(p->local[x->number].placed || l->placed)))
        return time_after_repeated(p, b->inputs[0], elementwise);
    /* a single step reads the copy of a source, if there is one: see cavs__operand_of() */
    copy = p->local[x->number].placed ? &p->local[x->number] : l;
    if (!l->here && (elementwise || !copy->placed))
        return elementwise;
    t = l->here ? l->time : copy->time;
    if (!elementwise)
        return t + (t & 1);
    if (!(t & 1))
        return t + 1;
    return b == x && cavs__is_elementwise(b) && b->width == width ? t : t + 2;
}

static int item_time(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    bool elementwise = cavs__is_elementwise(x);
    int t = elementwise;

    for (int i = 0; i < x->ninputs; i++) {
        int after = time_after(p, x->inputs[i], elementwise, x->width);

        if (after > t)
            t = after;
    }
    return t;
}

/* A concatenation is there when the last of its operands is. */
static int concat_time(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    int t = 0;

    for (int i = 0; i < x->ninputs; i++) {
        if (p->local[x->inputs[i]->number].here && p->local[x->inputs[i]->number].time > t)
            t = p->local[x->inputs[i]->number].time;
    }
    for (int i = 0; i < p->nitems; i++) {
        if (p->items[i].copy && p->items[i].into == x && p->items[i].time > t)
            t = p->items[i].time;
    }
    return t;
}

static void time_copies_of(struct cavs__placer *p, struct cavs_symbol *x)
{
    for (int i = 0; i < p->nitems; i++) {
        struct cavs__item *c = &p->items[i];

        if (!c->copy || c->x != x)
            continue;
        c->time = time_after(p, x, true, x->width);
        if (!p->local[x->number].here && p->local[x->number].placed)
            p->local[x->number].time = c->time;
    }
}

bool cavs__time_items(struct cavs__placer *p)
{
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];
        struct cavs__local *l = &p->local[i];

        if (l->here && x->op == CAVS__OP_CONCAT) {
            l->time = concat_time(p, x);
        } else if (l->here && !cavs__is_destination(x)) {
            l->time = item_time(p, x);
            l->item = p->nitems;
            if (!cavs__add_item(p, (struct cavs__item){.x = x, .time = l->time}))
                return false;
        }
        time_copies_of(p, x);
    }
    return true;
}

/* ---- fusion: union-find over element-wise items of one time and width ---- */

static int find_group(struct cavs__placer *p, int i)
{
    while (p->items[i].group != i)
        i = p->items[i].group = p->items[p->items[i].group].group;
    return i;
}

static void join(struct cavs__placer *p, int i, int j)
{
    i = find_group(p, i);
    j = find_group(p, j);
    p->items[i > j ? i : j].group = i < j ? i : j;
}

static bool reads(const struct cavs__item *item, const struct cavs_symbol *x)
{
    if (item->copy)
        return item->x == x;
    for (int i = 0; i < item->x->ninputs; i++) {
        if (item->x->inputs[i] == x)
            return true;
    }
    return false;
}

static bool fusible(const struct cavs__item *a, const struct cavs__item *b)
{
    return (a->time & 1) && a->time == b->time && a->x->width == b->x->width &&
           cavs__item_domain(a) == cavs__item_domain(b);
}

/* Connected: one makes what the other reads, or both read the same value. */
static bool connected(const struct cavs__item *a, const struct cavs__item *b)
{
    if (!a->copy && reads(b, a->x))
        return true;
    if (!b->copy && reads(a, b->x))
        return true;
    if (a->copy)
        return reads(b, a->x);
    for (int i = 0; i < a->x->ninputs; i++) {
        if (!cavs__is_constant(a->x->inputs[i]) && reads(b, a->x->inputs[i]))
            return true;
    }
    return false;
}

/* In the order in which a group computes its members: by symbol, copies last. */
static bool comes_before(const struct cavs__item *a, const struct cavs__item *b)
{
    if (a->copy != b->copy)
        return b->copy;
    return a->x->number < b->x->number;
}

/* Cuts groups that would become too large for one program.  Each piece only reads what pieces
 * before it made. */
static bool split_groups(struct cavs__placer *p)
{
    int *set = malloc(2 * ((size_t)p->nitems + 1) * sizeof *set), *piece = set + p->nitems;

    if (!set)
        return false;
    for (int i = 0; i < p->nitems; i++)
        set[i] = find_group(p, i);
    for (int i = 0; i < p->nitems; i++) {
        int before = 0;

        for (int j = 0; j < p->nitems; j++)
            before += set[j] == set[i] && (comes_before(&p->items[j], &p->items[i]) ||
                                           (!comes_before(&p->items[i], &p->items[j]) && j < i));
        piece[i] = before / CAVS__MOST_FUSED;
    }
    for (int i = 0; i < p->nitems; i++) {
        int j = 0;

        while (set[j] != set[i] || piece[j] != piece[i])
            j++;
        p->items[i].group = j;
        p->items[i].piece = piece[i];
    }
    free(set);
    return true;
}

bool cavs__fuse(struct cavs__placer *p)
{
    for (int i = 0; i < p->nitems; i++)
        p->items[i].group = i;
    for (int i = 0; i < p->nitems && !p->plan->options.no_fusion; i++) {
        for (int j = 0; j < i; j++) {
            if (fusible(&p->items[i], &p->items[j]) && connected(&p->items[i], &p->items[j]))
                join(p, i, j);
        }
    }
    return p->nitems <= CAVS__MOST_FUSED || split_groups(p);
}

/* Groups of one time do not read one another, but for the pieces of one that was cut. */
bool cavs__may_join(const struct cavs__placer *p, int i, int j)
{
    return !p->plan->options.no_fusion && fusible(&p->items[i], &p->items[j]) &&
           p->items[i].piece == 0 && p->items[j].piece == 0;
}

/* An element-wise value needs memory if anything outside its group reads it. */
bool cavs__read_outside(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int item = p->local[x->number].item;

    for (int i = 0; i < p->nitems; i++) {
        const struct cavs__item *it = &p->items[i];

        for (int k = 0; k < (it->copy ? 1 : it->x->ninputs); k++) {
            struct cavs_symbol *in = it->copy ? it->x : it->x->inputs[k];

            if (cavs__root(p, in) != x)
                continue;
            if (in != x || !(it->time & 1) || find_group(p, i) != find_group(p, item))
                return true;
        }
    }
    return false;
}
