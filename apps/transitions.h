/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transitions.h - the arc-standard system (Nivre 2004): a tree over the words of a sentence by
 * moves on a stack.
 *
 *     SHIFT   the next word goes onto the stack
 *     LEFT    the second word of the stack becomes a dependent of the topmost and leaves
 *     RIGHT   the topmost word becomes a dependent of the second and leaves
 *
 * Word 0 is the root of every tree; it lies on the stack at the beginning and is alone there at the
 * end, after two moves for each of the n - 1 others.
 */
#ifndef CAVS_APPS_TRANSITIONS_H
#define CAVS_APPS_TRANSITIONS_H

#include <stdbool.h>

enum move { SHIFT, LEFT, RIGHT, MOVES };

/* What a decision looks at: the topmost words of the stack and the next one. */
enum position { STACK_0, STACK_1, STACK_2, NEXT, POSITIONS };

struct parse {
    int n;           /* words with the root */
    int depth, next; /* words on the stack; the word that SHIFT would take, n at the end */
    int *stack;      /* [n] */
    int *head;       /* [n]: -1 until there is one */
    int *relation;   /* [n] */
};

/* The arrays are the caller's. */
void parse_start(struct parse *p);
bool parse_is_done(const struct parse *p);
bool parse_allows(const struct parse *p, enum move m);
/* Makes an allowed move; relation is that of the new dependent. */
void parse_move(struct parse *p, enum move m, int relation);
/* The words that a decision looks at, -1 where there is none. */
void parse_look(const struct parse *p, int at[POSITIONS]);

/* The next move towards a tree (head[0] is ignored); waiting[v] is how many dependents v still has
 * to get, and is kept by parse_oracle_move().  MOVES if no move leads there: the tree has crossing
 * arcs. */
enum move parse_oracle(const struct parse *p, const int *head, const int *waiting);
/* Makes the oracle's move with the tree's relation, which is also returned; -1 for SHIFT. */
int parse_oracle_move(struct parse *p, enum move m, const int *relation, int *waiting);

#endif
