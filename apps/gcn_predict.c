/* SPDX-License-Identifier: Apache-2.0 */
/* gcn_predict.c - the nodes of another graph, and their classes by the model. */
#include <stdio.h>

#include "apps/common/predict.h"
#include "apps/common/scores.h"
#include "apps/common/utf8.h"
#include "apps/gcn.h"

static int write_node(struct gcn *g, const char *name, const float *logits)
{
    const char *class = vocab_word(g->classes, 1 + scores_likeliest(logits, g->nclasses));

    if (!g->app.options.json) {
        fprintf(g->app.predictions.out, "%s\t%s\n", name, class);
        return 0;
    }
    return predictions_write_json(&g->app,
                                  json_pack("{s:o, s:o, s:o}", "node", utf8_to_json(name), "class",
                                            utf8_to_json(class), "probabilities",
                                            scores_to_json(logits, g->nclasses, g->classes, 1)));
}

static int predict_graph(struct gcn *g, struct cavs_data *d, const struct edge_list *graph)
{
    struct gcn_arrays arrays;
    struct cavs_fetch logits = {g->head, GCN_LOGITS, NULL};
    int rc = gcn_arrays_make(graph, g->rounds, &arrays);

    if (rc == 0)
        rc = gcn_add_graph(g, d, graph, &arrays, 0, NULL);
    if (rc == 0)
        rc = app_rows(&g->app, d, &logits);
    for (int v = 0; rc == 0 && v < graph->n; v++)
        rc = write_node(g, vocab_word(graph->names, 1 + v), logits.rows + (size_t)v * g->nclasses);
    gcn_arrays_clear(&arrays);
    return rc;
}

/* All nodes are labelled at once, since any may be the neighbour of any other. */
int gcn_predict(struct app *a, struct cavs_data *d, int most)
{
    static const bool no_sets[APP_SETS] = {false};
    struct gcn *g = (struct gcn *)a;
    struct gcn_nodes nodes = {
        .graph.form = {.width = g->features, .classes = g->classes, .unlabelled = true}};
    int rc, n;

    (void)most;
    if (g->predicted)
        return 0;
    g->predicted = true;
    rc = gcn_nodes_load(a->options.predict, no_sets, &nodes, &a->error);
    n = nodes.graph.n;
    if (rc == 0 && n > 0)
        rc = predict_graph(g, d, &nodes.graph);
    gcn_nodes_clear(&nodes);
    return rc < 0 ? rc : n;
}
