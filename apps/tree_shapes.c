/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/tree_shapes.h"

#include <stdlib.h>

#include "core/cavs.h"

const char *const tree_shape_names[] = {"balanced", "random", "sequence", NULL};

/* A run of leaves that has to become a subtree, and the child slot that waits for its root. */
struct span {
    int first, leaves;
    int *slot;
};

static int left_leaves(enum tree_shape shape, int leaves, struct rng *r)
{
    switch (shape) {
    case TREE_RANDOM: return 1 + rng_below(r, leaves - 1);
    case TREE_SEQUENCE: return leaves - 1;
    default: return leaves - leaves / 2;
    }
}

static void fill_child_ptr(int leaves, int *child_ptr)
{
    for (int v = 0; v <= leaves; v++)
        child_ptr[v] = 0;
    for (int v = leaves; v < 2 * leaves - 1; v++)
        child_ptr[v + 1] = child_ptr[v] + 2;
}

int tree_shape_make(enum tree_shape shape, int leaves, struct rng *r, int *child_ptr, int *children)
{
    /* the spans on the stack are disjoint: never more than there are leaves */
    struct span *stack = malloc(leaves * sizeof *stack);
    int depth = 0, root, next = 2 * leaves - 2;

    if (!stack)
        return CAVS_ENOMEM;
    fill_child_ptr(leaves, child_ptr);
    stack[depth++] = (struct span){.first = 0, .leaves = leaves, .slot = &root};
    while (depth) {
        struct span s = stack[--depth];
        int left, *pair;

        if (s.leaves == 1) {
            *s.slot = s.first;
            continue;
        }
        left = left_leaves(shape, s.leaves, r);
        pair = children + child_ptr[next];
        *s.slot = next--;
        stack[depth++] = (struct span){s.first, left, pair};
        stack[depth++] = (struct span){s.first + left, s.leaves - left, pair + 1};
    }
    free(stack);
    return 0;
}
