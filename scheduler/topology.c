/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - children before parents, and the longest distance of every vertex from a leaf.
 *
 * Most data number children before parents (postorder, word order); then the numbers are the order
 * and one pass finds all levels.  Otherwise a depth-first search makes an order.  It keeps its own
 * stack: a chain may have any length.
 */
#include <string.h>

#include "scheduler/internal.h"

enum {
    UNSEEN = 0,
    DONE = -1
}; /* other cursors: 1 + children looked at, of a vertex on the stack */

/* Looks for a child of v that is not done, from v's cursor on.  Returns it, or -1 when all are
 * done. */
static int32_t next_child(const struct cavs__graph *g, int32_t v, int32_t *cursor)
{
    int32_t n = g->child_ptr[v + 1] - g->child_ptr[v];
    const int32_t *child = g->child + g->child_ptr[v];
    for (int32_t k = cursor[v] - 1; k < n; k++) {
        if (child[k] >= 0 && cursor[child[k]] != DONE) {
            cursor[v] = k + 1;
            return child[k];
        }
    }
    cursor[v] = DONE;
    return -1;
}

int32_t cavs__children_first(const struct cavs__graph *g, int32_t *order, int32_t *cursor,
                             int32_t *child)
{
    /* A vertex is unseen, on the stack or done, so the stack can grow down from the end of
     * order[]. */
    int32_t done = 0, top = g->n;
    memset(cursor, 0, (size_t)g->n * sizeof *cursor);
    for (int32_t root = 0; root < g->n; root++) {
        if (cursor[root] == DONE)
            continue;
        cursor[root] = 1;
        order[--top] = root;
        while (top < g->n) {
            int32_t v = order[top], c = next_child(g, v, cursor);
            if (c < 0) {
                top++;
                order[done++] = v;
            } else if (cursor[c] == UNSEEN) {
                cursor[c] = 1;
                order[--top] = c;
            } else {
                *child = c;
                return v;
            }
        }
    }
    return -1;
}

int32_t cavs__levels(const struct cavs__graph *g, const int32_t *order, int32_t *level)
{
    int32_t levels = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t v = order ? order[i] : i, mine = 0;
        for (int32_t e = g->child_ptr[v]; e < g->child_ptr[v + 1]; e++) {
            int32_t c = g->child[e];
            if (c >= v && !order)
                return -1;
            if (c >= 0 && level[c] >= mine)
                mine = level[c] + 1;
        }
        level[v] = mine;
        if (mine >= levels)
            levels = mine + 1;
    }
    return levels;
}
