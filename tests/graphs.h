/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphs.h - input graphs made from a line of text, so that tests need no data files.
 *
 *   empty            no vertex
 *   single           one vertex
 *   flat:N           N vertices without edges
 *   chain:N          vertex i has the child i-1
 *   lattice:N        vertex i has the children i-1 and i-2
 *   binary:L         the balanced binary tree of L leaves
 *   sequence:L       the binary tree of L leaves in which every left child is an inner vertex
 *   random:L         a binary tree of L leaves, split at random at every inner vertex
 *   star:N           a root with N leaves
 *   forest:T         T trees as in random, of 1 to `leaves` (default 5) leaves each
 *   dag:N            N vertices with up to `slots` (default 2) children, none with more than
 *                    `parents` (default 2)
 *
 * Options follow after commas:
 *   seed=S           of everything random (default 1)
 *   shuffle=S        renumber the vertices at random with seed S; otherwise children come first
 *   kinds=K          function of a vertex: the number of its children, at most K-1
 *                    (default 1: all vertices are 0; 2: leaf 0 and inner 1)
 *   missing=M        every child is, one time in M, replaced by -1
 */
#ifndef CAVS_TESTS_GRAPHS_H
#define CAVS_TESTS_GRAPHS_H

struct graph {
    int n;
    int *functions; /* [n] */
    int *child_ptr; /* [n + 1] */
    int *children;  /* [child_ptr[n]] */
};

/* NULL, and a line on stderr, when the text is not understood. */
struct graph *graph_make(const char *text);
void graph_free(struct graph *g);
/* The vertices of an acyclic graph with children before parents, into order[n]. */
void graph_order(const struct graph *g, int *order);
/* Marks the vertices that are nobody's child; returns how many. */
int graph_roots(const struct graph *g, int *is_root);

#endif
