/* SPDX-License-Identifier: Apache-2.0 */
/* tape_graph.c - see order_parts.h: the graph of a shard. */
#include "core/base/array.h"
#include "core/tape/order_parts.h"

static bool reserve_functions(struct cavs__shard_order *o, int signatures)
{
    size_t n = (size_t)signatures, old = o->function_room, rooms[2] = {old, old};

    for (int i = 0; i < CAVS__MOST_IDS; i++) {
        size_t room = old;

        if (!cavs__array_reserve(&o->has_id[i], &room, n, sizeof **o->has_id))
            return false;
    }
    if (!cavs__array_reserve(&o->number, &rooms[0], n, sizeof *o->number) ||
        !cavs__array_reserve(&o->signature, &rooms[1], n, sizeof *o->signature) ||
        !cavs__array_reserve(&o->slots, &o->function_room, n, sizeof *o->slots))
        return false;
    for (size_t i = old; i < o->function_room; i++) {
        o->number[i] = -1;
        o->slots[i] = -1; /* any number of children */
    }
    return true;
}

static bool reserve_children(struct cavs__shard_order *o, size_t n)
{
    size_t room = o->child_room, rooms[2] = {room, room};

    return cavs__array_reserve(&o->read[0], &rooms[0], n, sizeof **o->read) &&
           cavs__array_reserve(&o->read[1], &rooms[1], n, sizeof **o->read) &&
           cavs__array_reserve(&o->child, &o->child_room, n, sizeof *o->child);
}

static bool reserve_vertices(struct cavs__shard_order *o, size_t n)
{
    size_t room = o->vertex_room, rooms[2] = {room, room};

    if (!cavs__array_reserve(&o->function, &rooms[0], n, sizeof *o->function) ||
        !cavs__array_reserve(&o->vertex, &rooms[1], n, sizeof *o->vertex) ||
        !cavs__array_reserve(&o->child_ptr, &room, n, sizeof *o->child_ptr))
        return false;
    for (int i = 0; i < CAVS__MOST_IDS; i++) {
        size_t ids = o->vertex_room;

        if (!cavs__array_reserve(&o->ids[i], &ids, n, sizeof **o->ids))
            return false;
    }
    o->vertex_room = room;
    return true;
}

static bool is_of(const struct cavs__order *o, const struct cavs__span *span, int shard)
{
    return o->shard[span->group] == shard;
}

bool cavs__reserve_graph(const struct cavs__order *o, int shard, int signatures)
{
    struct cavs__shard_order *s = &o->shards[shard];
    int64_t vertices = 1, children = 1;

    for (int i = 0; i < o->nspans; i++) {
        if (is_of(o, &o->spans[i], shard)) {
            vertices += o->spans[i].end - o->spans[i].first;
            children += o->spans[i].children;
        }
    }
    return children <= INT32_MAX && reserve_functions(s, signatures) &&
           reserve_vertices(s, (size_t)vertices) && reserve_children(s, (size_t)children);
}

/* Adds the rows that a vertex reads as its children: by the numbers of their vertices, or
 * CAVS__EVALUATED. */
static int add_children(struct cavs__shard_order *o, const struct cavs__recording *r,
                        const struct cavs__vertex *v, int at)
{
    const struct cavs__signature *s = r->signatures.all[v->as];
    int n = cavs__reads_of(s, v->nreads);

    for (int k = 0; k < n; k++) {
        const struct cavs__read *read = &r->reads[v->operands + k];
        int32_t number;

        if (read->from == CAVS__NO_ROW)
            continue;
        number = cavs__vertex_of(r, read->of)->number;
        o->child[at] = number;
        o->read[0][at] = r->places[read->of].column + read->from;
        o->read[1][at++] = number == CAVS__EVALUATED ? read->of : -1;
    }
    return at;
}

/* The ids by which a vertex is compared with others; where it must not be equal to another, a
 * number of its own. */
static inline void set_ids(struct cavs__shard_order *o, const struct cavs__recording *r,
                           const struct cavs__vertex *v)
{
    const struct cavs__signature *s = r->signatures.all[v->as];

    if (!s->repeatable)
        o->ids[0][v->number] = v->number;
    for (int i = 0; i < s->nids; i++)
        o->ids[i][v->number] = r->reads[v->operands + s->ids[i]].of;
}

static void forget_functions(struct cavs__shard_order *o)
{
    for (int i = 0; i < o->nfunctions; i++)
        o->number[o->signature[i]] = -1;
    o->nfunctions = o->nids = 0;
    o->repeats = false;
}

static void add_function(struct cavs__shard_order *o, const struct cavs__signature *s,
                         int32_t signature)
{
    int nids = s->repeatable ? s->nids : 1;

    o->repeats |= s->repeatable;
    o->nids = nids > o->nids ? nids : o->nids;
    for (int i = 0; i < CAVS__MOST_IDS; i++)
        o->has_id[i][o->nfunctions] = i < nids;
    o->number[signature] = o->nfunctions;
    o->signature[o->nfunctions++] = signature;
}

static inline int32_t function_of(struct cavs__shard_order *o, const struct cavs__recording *r,
                                  int32_t signature)
{
    if (o->number[signature] < 0)
        add_function(o, r->signatures.all[signature], signature);
    return o->number[signature];
}

/* Adds the vertices of a span behind the others of g. */
static void add_vertices(struct cavs__shard_order *s, struct cavs__recording *r,
                         const struct cavs__span *span, bool waited_for, bool shares,
                         struct cavs__graph *g)
{
    int at = s->child_ptr[g->n];

    for (int i = span->first; i < span->end; i++) {
        struct cavs__vertex *v = &r->vertices[i];

        if (v->waited_for != waited_for)
            continue;
        v->number = g->n;
        s->vertex[g->n] = i;
        s->function[g->n] = function_of(s, r, v->as);
        if (shares)
            set_ids(s, r, v);
        at = add_children(s, r, v, at);
        s->child_ptr[++g->n] = at;
    }
}

struct cavs__graph cavs__graph_of(const struct cavs__order *o, struct cavs__recording *r, int shard,
                                  bool waited_for)
{
    struct cavs__shard_order *s = &o->shards[shard];
    struct cavs__graph g = {.function = s->function,
                            .child_ptr = s->child_ptr,
                            .child = s->child,
                            .slots = s->slots,
                            .keys = (const int32_t *const *)s->ids,
                            .keyed = (const bool *const *)s->has_id,
                            .nedge_keys = 2,
                            .edge_keys = (const int32_t *const *)s->read};

    forget_functions(s);
    s->child_ptr[0] = 0;
    for (int i = 0; i < o->nspans; i++) {
        if (is_of(o, &o->spans[i], shard))
            add_vertices(s, r, &o->spans[i], waited_for, o->shares, &g);
    }
    g.nfunctions = s->nfunctions;
    g.nkeys = s->nids;
    return g;
}
