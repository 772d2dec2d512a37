/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcn_graph.h - a citation graph as a graph of rounds: copy `copy` of node v is vertex copy * n +
 * v, and a vertex of a later copy has v's neighbours, each once, and v itself in the copy before as
 * children.
 */
#ifndef CAVS_APPS_GCN_GRAPH_H
#define CAVS_APPS_GCN_GRAPH_H

#include "apps/common/edge_list.h"

/* What cavs_data_graph() and the inputs of the nodes want, for rounds + 1 copies of all nodes: the
 * function of a vertex is its copy, the weight of an edge that of D^-1/2 (A + I) D^-1/2, the list
 * of a vertex of copy 0 the features that its node has. */
struct gcn_arrays {
    int *functions, *child_ptr, *children, *word_ptr, *words;
    float *weights;
    int *labels; /* [nodes], for the caller to fill */
};

/* 0 or CAVS_ENOMEM; clear *a in both cases. */
int gcn_arrays_make(const struct edge_list *g, int rounds, struct gcn_arrays *a);
void gcn_arrays_clear(struct gcn_arrays *a);

#endif
