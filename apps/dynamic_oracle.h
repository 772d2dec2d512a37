/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynamic_oracle.h - what a move of the arc-standard system costs, wherever the parser is by now:
 * arcs of the tree that can no longer be made after it, and a wrong one that it makes itself
 * (Goldberg, Sartorio & Satta 2014, "A tabular method for dynamic oracles in transition-based
 * parsing").
 *
 * With moves of no cost as its truth, a parser can be trained on where its own moves have led it.
 */
#ifndef CAVS_APPS_DYNAMIC_ORACLE_H
#define CAVS_APPS_DYNAMIC_ORACLE_H

#include <stddef.h>

#include "apps/transitions.h"

/* Scratch.  Start from a zeroed struct. */
struct dynamic_oracle {
    int *words; /* for each word of a sentence */
    int *table;
    size_t words_room, table_room;
};

enum { ORACLE_FORBIDDEN = -1 };

/* The cost of each move from p: arcs of the tree `head` (head[0] is ignored) that are lost by it
 * for good; ORACLE_FORBIDDEN where it is not allowed.  The tree has no crossing arcs.  p is as it
 * was.  0 or CAVS_ENOMEM. */
int dynamic_oracle_costs(struct dynamic_oracle *o, struct parse *p, const int *head,
                         int cost[MOVES]);
void dynamic_oracle_clear(struct dynamic_oracle *o);

#endif
