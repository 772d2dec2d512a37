/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcn_nodes.h - a citation graph and its sets of nodes, as they lie beside each other:
 * STEM.content, STEM.cites, and the splits STEM.train, STEM.val and STEM.test
 * (apps/common/edge_list.h).
 */
#ifndef CAVS_APPS_GCN_NODES_H
#define CAVS_APPS_GCN_NODES_H

#include "apps/common/edge_list.h"
#include "apps/common/options.h"

struct gcn_nodes {
    struct edge_list graph;
    int *set[APP_SETS], count[APP_SETS]; /* .val is the development set */
};

/* Whether the name ends in .content. */
bool gcn_is_content(const char *path);

/*
 * Reads the graph whose nodes are in `content`, and the sets for which `wanted` is true.  0, or a
 * negative code with a message.  Start from a struct that is zero but for graph.form, and clear it
 * in both cases.
 */
int gcn_nodes_load(const char *content, const bool *wanted, struct gcn_nodes *out,
                   struct app_error *e);
void gcn_nodes_clear(struct gcn_nodes *n);

#endif
