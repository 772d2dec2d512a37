/* SPDX-License-Identifier: Apache-2.0 */
/* tree_shapes.h - binary trees made to order. */
#ifndef CAVS_APPS_TREE_SHAPES_H
#define CAVS_APPS_TREE_SHAPES_H

#include "apps/common/random.h"

enum tree_shape {
    TREE_BALANCED, /* n leaves are split into n - n/2 and n/2 */
    TREE_RANDOM,   /* into r and n - r, r uniform in 1 .. n-1 */
    TREE_SEQUENCE  /* into n - 1 and 1 */
};

/* Names by number, ended by NULL. */
extern const char *const tree_shape_names[];

/*
 * The children lists of a tree with so many leaves: vertices 0 .. leaves-1 are the leaves from left
 * to right, the others the inner vertices, children before parents, the root last.
 *   child_ptr  2 leaves numbers: the vertices are 2 leaves - 1
 *   children   2 leaves - 2 numbers: left and right child of each inner vertex
 * r is used by TREE_RANDOM only.  0, or CAVS_ENOMEM.
 */
int tree_shape_make(enum tree_shape shape, int leaves, struct rng *r, int *child_ptr,
                    int *children);

#endif
