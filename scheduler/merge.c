/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - equal vertices found by hash-consing.
 *
 * Going up from the leaves, a vertex is looked up among those of its class, that is of its level
 * and its function, by its keys and the representatives of its children: by induction whole equal
 * subtrees meet in one representative.  Class by class, tables are small, and where many vertices
 * will look is known before they do.  The hash only proposes; equality is compared exactly, so a
 * bad hash costs time and never an error.
 */
#include <string.h>

#include "scheduler/internal.h"

/* Vertices of one level and one function. */
struct same_class {
    const int32_t *child_ptr, *child, *rep;
    int nkeys, nedge_keys; /* that vertices of this function have */
    const int32_t **keys, **edge_keys;
    bool slots; /* its children are in fixed slots */
};

/* Lists those of n keys that vertices of a function have. */
static int keys_of(int32_t function, int n, const int32_t *const *keys, const bool *const *keyed,
                   const int32_t **out)
{
    int found = 0;
    for (int k = 0; k < n; k++)
        if (!keyed || keyed[k][function])
            out[found++] = keys[k];
    return found;
}

/* Children that matter for equality: in fixed slots, missing children at the end are as good as
 * none. */
static inline int32_t counted_children(const struct same_class *c, int32_t v)
{
    int32_t begin = c->child_ptr[v], end = c->child_ptr[v + 1];
    if (c->slots)
        while (end > begin && c->child[end - 1] < 0)
            end--;
    return end - begin;
}

static inline int32_t child_rep(const int32_t *rep, int32_t c)
{
    return c < 0 ? -1 : rep[c];
}

static inline uint32_t hash_vertex(const struct same_class *c, int32_t v, int32_t nchild)
{
    int32_t first = c->child_ptr[v];
    uint64_t h = (uint64_t)nchild;
    for (int k = 0; k < c->nkeys; k++)
        h = cavs__mix(h, (uint32_t)c->keys[k][v]);
    for (int32_t k = 0; k < nchild; k++)
        h = cavs__mix(h, (uint32_t)child_rep(c->rep, c->child[first + k]));
    for (int e = 0; e < c->nedge_keys; e++)
        for (int32_t k = 0; k < nchild; k++)
            h = cavs__mix(h, (uint32_t)c->edge_keys[e][first + k]);
    return cavs__mixed(h);
}

static inline bool equal_children(const struct same_class *c, int32_t a, int32_t b, int32_t nchild)
{
    const int32_t *child_a = c->child + c->child_ptr[a], *child_b = c->child + c->child_ptr[b];
    for (int32_t k = 0; k < nchild; k++)
        if (child_rep(c->rep, child_a[k]) != child_rep(c->rep, child_b[k]))
            return false;
    for (int e = 0; e < c->nedge_keys; e++) {
        const int32_t *keys = c->edge_keys[e];
        if (memcmp(keys + c->child_ptr[a], keys + c->child_ptr[b], (size_t)nchild * sizeof *keys))
            return false;
    }
    return true;
}

static inline bool equal(const struct same_class *c, int32_t a, int32_t b, int32_t nchild)
{
    if (counted_children(c, b) != nchild)
        return false;
    for (int k = 0; k < c->nkeys; k++)
        if (c->keys[k][a] != c->keys[k][b])
            return false;
    return nchild == 0 || equal_children(c, a, b, nchild);
}

/* The vertex in the table equal to v, or v itself, which is then in the table. */
static inline int32_t look_up(const struct same_class *c, const struct cavs__table *t, int32_t v,
                              int32_t nchild, uint32_t hash)
{
    int32_t other;
    struct cavs__probe p = cavs__table_probe(t, hash);
    for (; (other = cavs__probe_at(&p)) >= 0; cavs__probe_step(&p))
        if (equal(c, v, other, nchild))
            return other;
    cavs__probe_put(&p, v);
    return v;
}

enum { AHEAD = 16 }; /* vertices whose places in the table are fetched together */

/* The members of one class, ascending; returns how many representatives were listed. */
static int32_t merge_class(const struct cavs__graph *g, struct cavs__schedule_work *w,
                           const int32_t *member, int32_t n, int32_t *out)
{
    int32_t f = g->function[member[0]], found = 0, *rep = w->rep;
    const int32_t *keys[g->nkeys + 1], *edge_keys[g->nedge_keys + 1];
    const struct same_class c = {
        .child_ptr = g->child_ptr,
        .child = g->child,
        .rep = rep,
        .nkeys = keys_of(f, g->nkeys, g->keys, g->keyed, keys),
        .nedge_keys = keys_of(f, g->nedge_keys, g->edge_keys, g->edge_keyed, edge_keys),
        .keys = keys,
        .edge_keys = edge_keys,
        .slots = g->slots[f] >= 0};
    cavs__table_empty(&w->table, (size_t)n);
    const struct cavs__table t = w->table; /* one that no store in the loop can change */
    for (int32_t first = 0; first < n; first += AHEAD) {
        int32_t m = n - first < AHEAD ? n - first : AHEAD, nchild[AHEAD];
        uint32_t hash[AHEAD];
        for (int32_t i = 0; i < m; i++) {
            nchild[i] = counted_children(&c, member[first + i]);
            hash[i] = hash_vertex(&c, member[first + i], nchild[i]);
            cavs__table_fetch(&t, hash[i]);
        }
        for (int32_t i = 0; i < m; i++) {
            int32_t v = member[first + i];
            int32_t same = look_up(&c, &t, v, nchild[i], hash[i]);
            rep[v] = same;
            out[found] = v;
            found += same == v;
        }
    }
    return found;
}

static int32_t end_of_class(const struct cavs__graph *g, const struct cavs__schedule_work *w,
                            int32_t first)
{
    const int32_t *v = w->sorted;
    int32_t end = first + 1;
    while (end < g->n && w->level[v[end]] == w->level[v[first]] &&
           g->function[v[end]] == g->function[v[first]])
        end++;
    return end;
}

int32_t cavs__merge_equal(const struct cavs__graph *g, struct cavs__schedule_work *w, int32_t *out)
{
    int32_t found = 0;
    for (int32_t first = 0, end; first < g->n; first = end) {
        end = end_of_class(g, w, first);
        found += merge_class(g, w, w->sorted + first, end - first, out + found);
    }
    return found;
}
