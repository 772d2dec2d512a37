/* SPDX-License-Identifier: Apache-2.0 */
/* gcn.h - what the files of gcn share: its state, and graphs as samples. */
#ifndef CAVS_APPS_GCN_H
#define CAVS_APPS_GCN_H

#include "apps/common/program.h"
#include "apps/gcn_graph.h"
#include "apps/gcn_nodes.h"

#define GCN_LOGITS "logits" /* the channel of the scores, if there is something to predict */

struct gcn {
    struct app app;      /* first: the frame hands it over */
    const char *content; /* the others lie beside it */
    int rounds;
    float dropout;
    char *path;
    struct gcn_nodes nodes;
    struct vocab *known;         /* the classes of the model file; NULL: it has none */
    const struct vocab *classes; /* class c is the word c + 1 */
    int features, nclasses;
    struct cavs_stage *stage, *head;
    bool predicted;
};

/* Adds the graph as one sample; only its `count` nodes in `set` have labels.  *a is of this graph,
 * its labels are filled in. */
int gcn_add_graph(const struct gcn *g, struct cavs_data *d, const struct edge_list *graph,
                  const struct gcn_arrays *a, int count, const int *set);

/* struct program's. */
int gcn_predict(struct app *a, struct cavs_data *d, int most);

#endif
