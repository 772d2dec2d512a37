/* SPDX-License-Identifier: Apache-2.0 */
/* order_parts.h - what putting in order is made of: order.c. */
#ifndef CAVS_CORE_TAPE_ORDER_PARTS_H
#define CAVS_CORE_TAPE_ORDER_PARTS_H

#include "core/tape/order.h"

/* The `number` of a vertex that an earlier increment has evaluated. */
enum { CAVS__EVALUATED = -1 };

/* ---- needed.c ---- */

/* Symbols being collected. */
struct cavs__needed {
    struct cavs__order *o;
    struct cavs__recording *r;
    struct cavs__blocks *cut; /* what nothing waits for comes later; NULL: no runs are looked at */
    int run;                  /* the run that was looked at last; at first the number of runs */
    int n;                    /* how many places of the list are taken */
    int lo, hi;               /* the first and the last word of o->found that had a bit set */
};
/* Makes room for all symbols that there are, none of which is found yet.  false: out of memory. */
bool cavs__reserve_needed(struct cavs__needed *d, size_t n);
/* Finds all symbols that the wanted ones need, from the last one back, since a symbol reads only
 * what was recorded before it.  They are listed, ascending, in the last of the `symbols` places of
 * o->list; in place of the members of a known run that run is listed. */
void cavs__find_needed(struct cavs__needed *d, const struct cavs__wanted *wanted, int symbols);

/* ---- sample_shards.c ---- */

bool cavs__reserve_samples(struct cavs__order *o, int n);
/* Chooses shards for samples that have none yet and that have something among the vertices from
 * `first` on; o->spans becomes the spans of these vertices.  e: NULL where all shards are to be
 * equal. */
int cavs__choose_shards(struct cavs__order *o, struct cavs__recording *r, int first,
                        struct cavs__engine *e);

/* ---- tape_graph.c ---- */

/* Makes room for the graph of a shard, however it turns out.  false: out of memory. */
bool cavs__reserve_graph(const struct cavs__order *o, int shard, int signatures);
/* The graph of a shard: of the vertices that something waits for, or of all others.  Its arrays are
 * the shard's. */
struct cavs__graph cavs__graph_of(const struct cavs__order *o, struct cavs__recording *r, int shard,
                                  bool waited_for);

#endif
