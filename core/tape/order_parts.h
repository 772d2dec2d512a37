/* SPDX-License-Identifier: Apache-2.0 */
/* order_parts.h - what putting in order is made of: order.c. */
#ifndef CAVS_CORE_TAPE_ORDER_PARTS_H
#define CAVS_CORE_TAPE_ORDER_PARTS_H

#include "core/tape/order.h"

/* Vertices that are none: of an earlier increment; not numbered yet. */
enum { CAVS__EVALUATED = -1, CAVS__FOUND = 0 };

/* Vertices lie apart, one for some twenty symbols: what will be read of one soon is fetched. */
static inline struct cavs__entry *cavs__listed_entry(const struct cavs__recording *r,
                                                     const int32_t *list, int i, int n)
{
    enum { AHEAD = 8 };

    if (i + AHEAD < n)
        __builtin_prefetch(&r->entries[list[i + AHEAD]], 1);
    return &r->entries[list[i]];
}

/* ---- needed.c ---- */

/* Symbols being collected. */
struct cavs__needed {
    struct cavs__order *o;
    struct cavs__recording *r;
    struct cavs__blocks *cut; /* what nothing waits for comes later; NULL: no runs are looked at */
    int run;                  /* that was looked at last; at first the number of runs */
    int n;                    /* places of the list */
    int lo, hi;               /* the first and the last word of o->found in which some were */
    int64_t rows;             /* that they read */
};
/* Room for all symbols that there are, none of them found.  false: out of memory. */
bool cavs__reserve_needed(struct cavs__needed *d, size_t n);
/* Symbols read what was recorded before them: from the last one back, all are found, and listed
 * ascending, in the last of the `symbols` places of o->list; in place of the members of a known run
 * that run is. */
void cavs__find_needed(struct cavs__needed *d, const struct cavs__wanted *wanted, int symbols);

/* ---- sample_shards.c ---- */

bool cavs__reserve_samples(struct cavs__order *o, int n);
/* Of the samples that have none yet and of which there is something among the n vertices of
 * o->list; e: NULL where shards are equal. */
int cavs__choose_shards(struct cavs__order *o, struct cavs__recording *r, int n,
                        struct cavs__engine *e);

/* ---- tape_graph.c ---- */

bool cavs__reserve_graph(struct cavs__order *o, int64_t vertices, int64_t children, int signatures);
/* The symbols that vertex e computes for others are of that number. */
void cavs__set_vertex(struct cavs__recording *r, struct cavs__entry *e, int32_t vertex);
/* The vertices of a shard, of the n of o->list: those that are waited for, or those that are not.
 * What it is made of is o's. */
struct cavs__graph cavs__graph_of(struct cavs__order *o, struct cavs__recording *r, int n,
                                  int shard, bool waited_for);

#endif
