/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - equal vertices found by hash-consing.
 *
 * Going up from the leaves, a vertex is looked up by its function, its keys and the representatives
 * of its children: by induction whole equal subtrees meet in one representative.  The hash only
 * proposes; equality is compared exactly, so a bad hash costs time and never an error.
 */
#include <string.h>

#include "scheduler/internal.h"

/* Children that matter for equality: in fixed slots, missing children at the end are as good as
 * none. */
static inline int32_t counted_children(const struct cavs__graph *g, int32_t v)
{
    int32_t begin = g->child_ptr[v], end = g->child_ptr[v + 1];
    if (g->slots[g->function[v]] >= 0)
        while (end > begin && g->child[end - 1] < 0)
            end--;
    return end - begin;
}

static inline int32_t child_rep(const int32_t *rep, int32_t c)
{
    return c < 0 ? -1 : rep[c];
}

static inline uint32_t hash_vertex(const struct cavs__graph *g, const int32_t *rep, int32_t v,
                                   int32_t nchild)
{
    const int32_t *child = g->child + g->child_ptr[v];
    uint64_t h = cavs__mix((uint64_t)nchild, (uint32_t)g->function[v]);
    for (int k = 0; k < g->nkeys; k++)
        h = cavs__mix(h, (uint32_t)g->keys[k][v]);
    for (int32_t k = 0; k < nchild; k++)
        h = cavs__mix(h, (uint32_t)child_rep(rep, child[k]));
    for (int e = 0; e < g->nedge_keys; e++)
        for (int32_t k = 0; k < nchild; k++)
            h = cavs__mix(h, (uint32_t)g->edge_keys[e][g->child_ptr[v] + k]);
    return cavs__mixed(h);
}

static inline bool equal_edges(const struct cavs__graph *g, int32_t a, int32_t b, int32_t nchild)
{
    for (int e = 0; e < g->nedge_keys; e++) {
        const int32_t *keys = g->edge_keys[e];
        if (memcmp(keys + g->child_ptr[a], keys + g->child_ptr[b], (size_t)nchild * sizeof *keys))
            return false;
    }
    return true;
}

static inline bool equal(const struct cavs__graph *g, const int32_t *rep, int32_t a, int32_t b,
                         int32_t nchild)
{
    if (g->function[a] != g->function[b] || counted_children(g, b) != nchild)
        return false;
    for (int k = 0; k < g->nkeys; k++)
        if (g->keys[k][a] != g->keys[k][b])
            return false;
    const int32_t *child_a = g->child + g->child_ptr[a], *child_b = g->child + g->child_ptr[b];
    for (int32_t k = 0; k < nchild; k++)
        if (child_rep(rep, child_a[k]) != child_rep(rep, child_b[k]))
            return false;
    return equal_edges(g, a, b, nchild);
}

/* The vertex in the table equal to v, or v itself, which is then in the table. */
static inline int32_t look_up(const struct cavs__graph *g, const struct cavs__table *t,
                              const int32_t *rep, int32_t v)
{
    int32_t nchild = counted_children(g, v), other;
    struct cavs__probe p = cavs__table_probe(t, hash_vertex(g, rep, v, nchild));
    for (; (other = cavs__probe_at(&p)) >= 0; cavs__probe_step(&p))
        if (equal(g, rep, v, other, nchild))
            return other;
    cavs__probe_put(&p, v);
    return v;
}

/* Out of number order the first vertex found need not be the lowest: renames each class to its
 * lowest member. */
static void rename_to_lowest(int n, int32_t *rep, int32_t *lowest)
{
    for (int32_t v = n - 1; v >= 0; v--)
        lowest[rep[v]] = v;
    for (int32_t v = 0; v < n; v++)
        rep[v] = lowest[rep[v]];
}

void cavs__merge_equal(const struct cavs__graph *g, const int32_t *order,
                       struct cavs__schedule_work *w)
{
    cavs__table_empty(&w->table, (size_t)g->n);
    const struct cavs__table t = w->table; /* one that no store in the loop can change */
    for (int32_t i = 0; i < g->n; i++) {
        int32_t v = order ? order[i] : i;
        w->rep[v] = look_up(g, &t, w->rep, v);
    }
    if (order)
        rename_to_lowest(g->n, w->rep, w->cursor);
}
