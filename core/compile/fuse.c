/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.c - when the items of a part can run, and which element-wise ones run as one. */
#include "core/compile/place.h"

#include <stdlib.h>

#include "core/base/error.h"

/* ---- times: when an item can run ----
 * Time 2L: single steps, in the order of symbols; time 2L+1: element-wise groups and copies.  An
 * element-wise operator may run at the time of an operand of the same width: they are then fused.
 */

/* The time at which entries can read x, which has rows of vertices: never in the group that makes
 * x. */
static int time_after_repeated(const struct cavs__placer *p, struct cavs_symbol *x,
                               bool elementwise)
{
    int col, t;
    const struct cavs__local *l = &p->local[cavs__base(p, x, &col)->number];

    /* of a source, or of its columns, a copy is read, if there is one: see cavs__operand_of() */
    if (!l->here && p->local[x->number].placed)
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

/* A concatenation is there when the last of its operands is.  The first items are the copies. */
static int concat_time(const struct cavs__placer *p, int ncopies, const struct cavs_symbol *x)
{
    int t = 0;

    for (int i = 0; i < x->ninputs; i++) {
        if (p->local[x->inputs[i]->number].here && p->local[x->inputs[i]->number].time > t)
            t = p->local[x->inputs[i]->number].time;
    }
    for (int i = 0; i < ncopies; i++) {
        if (p->items[i].into == x && p->items[i].time > t)
            t = p->items[i].time;
    }
    return t;
}

static void time_copies_of(struct cavs__placer *p, int ncopies, struct cavs_symbol *x)
{
    for (int i = 0; i < ncopies; i++) {
        struct cavs__item *c = &p->items[i];

        if (c->x != x)
            continue;
        c->time = time_after(p, x, true, x->width);
        if (!p->local[x->number].here && p->local[x->number].placed)
            p->local[x->number].time = c->time;
    }
}

static int time_item(struct cavs__placer *p, int ncopies, struct cavs_symbol *x)
{
    struct cavs__local *l = &p->local[x->number];

    if (x->op == CAVS__OP_CONCAT)
        l->time = concat_time(p, ncopies, x);
    if (x->op == CAVS__OP_CONCAT || cavs__is_destination(x))
        return CAVS_OK;
    l->time = item_time(p, x);
    l->item = p->nitems;
    return cavs__add_item(p, (struct cavs__item){.x = x, .time = l->time});
}

int cavs__time_items(struct cavs__placer *p)
{
    int ncopies = p->nitems, n = ncopies > 0 ? p->f->nsymbols : p->nhere;

    for (int i = 0; i < n; i++) {
        struct cavs_symbol *x = p->f->symbols[ncopies > 0 ? i : p->here[i]];
        int rc = p->local[x->number].here ? time_item(p, ncopies, x) : CAVS_OK;

        if (rc)
            return rc;
        time_copies_of(p, ncopies, x);
    }
    return CAVS_OK;
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

static bool fusible(const struct cavs__item *a, const struct cavs__item *b)
{
    return (a->time & 1) && a->time == b->time && a->x->width == b->x->width &&
           cavs__item_domain(a) == cavs__item_domain(b);
}

/* Joins the t-th reader of x with the readers before it, since both read the same value. A constant
 * joins nobody, but a copy of it is made wherever it is read. */
static void join_with_earlier(struct cavs__placer *p, const struct cavs_symbol *x,
                              const int *reader, int t)
{
    bool constant = cavs__is_constant(x);

    if (constant && !p->items[reader[t]].copy)
        return;
    for (int u = 0; u < t; u++) {
        if (!fusible(&p->items[reader[t]], &p->items[reader[u]]))
            continue;
        join(p, reader[t], reader[u]);
        if (!constant)
            return; /* the others have been joined with that one */
    }
}

/* Joins items that are connected: one computes what the other reads, or both read the same
 * value. */
static void join_readers(struct cavs__placer *p, const struct cavs_symbol *x)
{
    const int *first = p->readers.first + x->number, *reader = p->readers.item + first[0];
    int maker = p->local[x->number].item;

    for (int t = 0; t < first[1] - first[0]; t++) {
        if (maker >= 0 && fusible(&p->items[maker], &p->items[reader[t]]))
            join(p, maker, reader[t]);
        join_with_earlier(p, x, reader, t);
    }
}

/* An item, and the piece that it goes to. */
struct member {
    const struct cavs__item *item;
    int number, set;
};

/* Sorts the items so that each set stands together, in the order in which a group computes its
 * members: by symbol, copies last. */
static int by_set_and_symbol(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (x->item->copy != y->item->copy)
        return x->item->copy ? 1 : -1;
    if (x->item->x != y->item->x)
        return x->item->x->number < y->item->x->number ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* The pieces of one set: m[0] up to m[n]. */
static void split_set(struct cavs__placer *p, const struct member *m, int n)
{
    for (int first = 0; first < n; first += CAVS__MOST_FUSED) {
        int end = first + CAVS__MOST_FUSED < n ? first + CAVS__MOST_FUSED : n;
        int group = m[first].number;

        for (int i = first; i < end; i++)
            group = m[i].number < group ? m[i].number : group;
        for (int i = first; i < end; i++) {
            p->items[m[i].number].group = group;
            p->items[m[i].number].piece = first / CAVS__MOST_FUSED;
        }
    }
}

/* Cuts groups that would become too large for one program.  Each piece only reads what pieces
 * before it made. */
static int split_groups(struct cavs__placer *p)
{
    size_t bytes = ((size_t)p->nitems + 1) * sizeof(struct member);
    struct member *m = malloc(bytes);

    if (!m)
        return cavs__fail_nomem("plan: fused groups", bytes);
    for (int i = 0; i < p->nitems; i++)
        m[i] = (struct member){.item = &p->items[i], .number = i, .set = find_group(p, i)};
    qsort(m, (size_t)p->nitems, sizeof *m, by_set_and_symbol);
    for (int first = 0, end; first < p->nitems; first = end) {
        for (end = first + 1; end < p->nitems && m[end].set == m[first].set;)
            end++;
        split_set(p, m + first, end - first);
    }
    free(m);
    return CAVS_OK;
}

int cavs__fuse(struct cavs__placer *p)
{
    for (int i = 0; i < p->nitems; i++)
        p->items[i].group = i;
    for (int i = 0; i < p->f->nsymbols && !p->plan->options.no_fusion; i++) {
        if (p->readers.first[i] < p->readers.first[i + 1])
            join_readers(p, p->f->symbols[i]);
    }
    return p->nitems <= CAVS__MOST_FUSED ? CAVS_OK : split_groups(p);
}

bool cavs__same_group(struct cavs__placer *p, int i, int j)
{
    return find_group(p, i) == find_group(p, j);
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
    const int *first = p->root_readers.first + x->number;
    int item = p->local[x->number].item;

    for (int at = first[0]; at < first[1]; at++) {
        int i = p->root_readers.item[at];
        struct cavs_symbol *in;

        for (int k = 0; (in = cavs__item_operand(&p->items[i], k)) != NULL; k++) {
            if (cavs__root(p, in) != x)
                continue;
            if (in != x || !(p->items[i].time & 1) || find_group(p, i) != find_group(p, item))
                return true;
        }
    }
    return false;
}
