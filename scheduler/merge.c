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

int cavs__merge_table_bits(int64_t n)
{
    int bits = 4;
    while ((int64_t)1 << bits < 2 * n)
        bits++;
    return bits;
}

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

static inline uint64_t mix(uint64_t h, int32_t x)
{
    return ((h << 26 | h >> 38) ^ (uint32_t)x) * UINT64_C(0x9E3779B97F4A7C15);
}

static inline uint64_t hash_vertex(const struct cavs__graph *g, const int32_t *rep, int32_t v,
                                   int32_t nchild)
{
    const int32_t *child = g->child + g->child_ptr[v];
    uint64_t h = mix((uint64_t)nchild, g->function[v]);
    for (int k = 0; k < g->nkeys; k++)
        h = mix(h, g->keys[k][v]);
    for (int32_t k = 0; k < nchild; k++)
        h = mix(h, child_rep(rep, child[k]));
    for (int e = 0; e < g->nedge_keys; e++)
        for (int32_t k = 0; k < nchild; k++)
            h = mix(h, g->edge_keys[e][g->child_ptr[v] + k]);
    return (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
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
static inline int32_t look_up(const struct cavs__graph *g, struct cavs__schedule_work *w, int bits,
                              int32_t v)
{
    int32_t nchild = counted_children(g, v);
    uint64_t h = hash_vertex(g, w->rep, v, nchild);
    size_t mask = ((size_t)1 << bits) - 1;
    uint32_t tag = (uint32_t)h;
    for (size_t i = h >> (64 - bits);; i = (i + 1) & mask) {
        struct cavs__merge_slot *slot = &w->table[i];
        if (slot->used == 0) {
            *slot = (struct cavs__merge_slot){tag, v + 1};
            return v;
        }
        if (slot->tag == tag && equal(g, w->rep, v, slot->used - 1, nchild))
            return slot->used - 1;
    }
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
    int bits = cavs__merge_table_bits(g->n);
    memset(w->table, 0, sizeof *w->table << bits);
    for (int32_t i = 0; i < g->n; i++) {
        int32_t v = order ? order[i] : i;
        w->rep[v] = look_up(g, w, bits, v);
    }
    if (order)
        rename_to_lowest(g->n, w->rep, w->cursor);
}
