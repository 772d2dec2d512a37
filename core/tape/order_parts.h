/* SPDX-License-Identifier: Apache-2.0 */
/* order_parts.h - what putting in order is made of: order.c. */
#ifndef CAVS_CORE_TAPE_ORDER_PARTS_H
#define CAVS_CORE_TAPE_ORDER_PARTS_H

#include "core/tape/order.h"

/* `number` of a vertex of an earlier increment. */
enum { CAVS__EVALUATED = -1 };

/* ---- needed.c ---- */

/* Symbols being collected. */
struct cavs__needed {
    struct cavs__order *o;
    struct cavs__recording *r;
    struct cavs__blocks *cut; /* what nothing waits for comes later; NULL: no runs are looked at */
    int run;                  /* that was looked at last; at first the number of runs */
    int n;                    /* places of the list */
    int lo, hi;               /* the first and the last word of o->found in which some were */
};
/* Room for all symbols that there are, none of them found.  false: out of memory. */
bool cavs__reserve_needed(struct cavs__needed *d, size_t n);
/* Symbols read what was recorded before them: from the last one back, all are found, and listed
 * ascending, in the last of the `symbols` places of o->list; in place of the members of a known run
 * that run is. */
void cavs__find_needed(struct cavs__needed *d, const struct cavs__wanted *wanted, int symbols);

/* ---- sample_shards.c ---- */

bool cavs__reserve_samples(struct cavs__order *o, int n);
/* Of the samples that have none yet and of which there is something among the vertices from the
 * first one on, whose spans these become; e: NULL where shards are equal. */
int cavs__choose_shards(struct cavs__order *o, struct cavs__recording *r, int first,
                        struct cavs__engine *e);

/* ---- tape_graph.c ---- */

/* Room for all that there may be of a shard.  false: out of memory. */
bool cavs__reserve_graph(const struct cavs__order *o, int shard, int signatures);
/* The vertices of a shard: those that are waited for, or those that are not.  What it is made of is
 * the shard's. */
struct cavs__graph cavs__graph_of(const struct cavs__order *o, struct cavs__recording *r, int shard,
                                  bool waited_for);

#endif
