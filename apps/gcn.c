/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcn - the subject of a paper from its words and its citations: a graph convolutional network
 * (Kipf & Welling, ICLR 2017) by rounds of message passing.
 *
 * k rounds are a graph of k + 1 copies of every node: the first copy makes a row of the node's
 * words, and a node of a later copy has its neighbours and itself in the copy before as children.
 * The matrix D^-1/2 (A + I) D^-1/2 of the paper is a number per edge.  The whole graph is one
 * sample, so an epoch is one batch.  Training, development and test set are that graph with the
 * labels of their nodes only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/data_files.h"
#include "apps/common/params.h"
#include "apps/gcn.h"

/* ---- options --------------------------------------------------------------------------------- */

#define ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct gcn, member, OPTION_##role, __VA_ARGS__)

/* One task computes all rounds, and touches up to four tensors for each of them. */
enum { MOST_ROUNDS = 12 };

static const struct app_option options[] = {
    OPTION_GROUP("Graph and model:"),
    ROW(TEXT, "data", "FILE", content, KEPT,
        "nodes in the form of cora.content (default $CAVS_DATA/cora/cora.content); beside it "
        ".cites "
        "and the splits .train, .val and .test"),
    ROW(INT, "rounds", "K", rounds, MODEL, "rounds of message passing", 1, MOST_ROUNDS),
    ROW(REAL, "dropout", "X", dropout, RUN, "share of the states between rounds set to 0", 0, 0.99),
    {0}};

/* ---- model ----------------------------------------------------------------------------------- */

/* One round: the weighted sum over the copies of the neighbours in the round before; then, unless
 * it is the last, a nonlinearity, and the next round's product, here where it is made once a
 * node. */
static void declare_round(struct gcn *g, int round, int h)
{
    struct cavs_function *f;
    struct cavs_symbol *x;
    char name[32];

    snprintf(name, sizeof name, "round%d", round);
    f = cavs_function_create(g->stage, name);
    x = cavs_sum_children(cavs_mul(cavs_each_child(f), cavs_pull_edge(f, "weight", 1)));
    if (round < g->rounds) {
        snprintf(name, sizeof name, "b%d", round);
        x = cavs_add(x, cavs_use(f, app_bias(g->app.model, name, h)));
        x = cavs_dropout(cavs_relu(x), g->dropout);
    }
    if (round + 1 < g->rounds) {
        snprintf(name, sizeof name, "W%d", round + 1);
        x = cavs_matmul(x, app_weight(g->app.model, name, h, h));
    }
    cavs_scatter(f, x);
    cavs_push(f, "h", x);
}

static int declare(struct gcn *g)
{
    int h = g->app.options.hidden, rc = cavs_model_create(&g->app.model);
    struct cavs_model *m = g->app.model;
    struct cavs_function *f;
    struct cavs_symbol *x, *logits, *label;

    if (rc < 0)
        return rc;
    g->stage = cavs_stage_create(m, "node", h);
    f = cavs_function_create(g->stage, "words");
    x = cavs_mean_children(
        cavs_lookup(app_weight(m, "words", g->features, h), cavs_pull_list_ids(f, "words")));
    cavs_scatter(f, x);
    for (int round = 1; round <= g->rounds; round++)
        declare_round(g, round, h);
    g->head = cavs_stage_over(m, "class", g->stage, CAVS_ROOTS);
    f = cavs_function_create(g->head, "class");
    logits =
        cavs_affine(cavs_pull_from(f, g->stage, "h", NULL),
                    app_weight(m, "W_class", h, g->nclasses), app_bias(m, "b_class", g->nclasses));
    label = cavs_pull_ids(f, "label");
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", cavs_correct(logits, label), label);
    if (g->app.options.predict)
        cavs_push(f, GCN_LOGITS, logits);
    return cavs_model_finish(m);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Features and classes are those of the model file, where there is one; the graph has to have the
 * same. */
static int load_nodes(struct gcn *g)
{
    struct app *a = &g->app;
    bool wanted[APP_SETS] = {app_trains(a), true, true};
    int rc = app_vocab(a, "classes", &g->known);

    g->nodes.graph.form =
        (struct edge_list_form){.width = app_model_rows(a, "words"), .classes = g->known};
    if (rc == 0 && (g->content || app_trains(a))) {
        if ((rc = data_file_find(g->content, "cora/cora.content", "data", &g->path, &a->error)) ==
            0)
            rc = gcn_nodes_load(g->path, wanted, &g->nodes, &a->error);
    } else if (rc == 0 && !g->known) {
        rc = app_fail(&a->error, CAVS_EINVAL,
                      "%s does not say which classes it knows: name the graph with --data FILE",
                      a->model_path);
    }
    return rc;
}

int gcn_add_graph(const struct gcn *g, struct cavs_data *d, const struct edge_list *graph,
                  const struct gcn_arrays *a, int count, const int *set)
{
    int n = graph->n * (g->rounds + 1), rc = cavs_data_begin(d);

    for (int v = 0; v < graph->n; v++)
        a->labels[v] = -1;
    for (int i = 0; i < count; i++)
        a->labels[set[i]] = graph->label[set[i]];
    if (rc < 0 ||
        (rc = cavs_data_graph(d, g->stage, n, a->functions, a->child_ptr, a->children)) < 0 ||
        (rc = cavs_data_ragged_ids(d, g->stage, "words", n, a->word_ptr, a->words)) < 0 ||
        (rc = cavs_data_edge_rows(d, g->stage, "weight", a->child_ptr[n], a->weights)) < 0 ||
        (rc = cavs_data_ids(d, g->head, "label", graph->n, a->labels)) < 0)
        return rc;
    return cavs_data_end(d);
}

static int make_sets(struct gcn *g)
{
    const struct gcn_nodes *nodes = &g->nodes;
    struct gcn_arrays arrays;
    int rc = gcn_arrays_make(&nodes->graph, g->rounds, &arrays);

    for (int i = 0; rc == 0 && i < APP_SETS; i++) {
        struct cavs_data **d = &g->app.data[i];

        if (nodes->count[i] && (rc = cavs_data_create(g->app.model, d)) == 0)
            rc = gcn_add_graph(g, *d, &nodes->graph, &arrays, nodes->count[i], nodes->set[i]);
    }
    gcn_arrays_clear(&arrays);
    return rc;
}

/* ---- measures -------------------------------------------------------------------------------- */

/* How many nodes the numbers are of, and beside the accuracy on the test nodes that of the same
 * model on the validation nodes, whichever epoch it is from. */
static int measure(struct app *a, enum app_set set)
{
    double sum, count, accuracy;
    char field[32];
    int rc = cavs_session_metric(a->session, "correct", &sum, &count);

    snprintf(field, sizeof field, "%s_nodes", app_set_names[set]);
    if (rc == 0)
        report_count(&a->report, field, (int64_t)count);
    if (rc < 0 || set != APP_TEST || !a->data[APP_DEV])
        return rc;
    if ((rc = app_evaluate(a, APP_DEV)) == 0 && (rc = app_mean(a, "correct", &accuracy)) == 0)
        report_number(&a->report, "val_accuracy", accuracy);
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void check_content(const char *option, const char *path, const char *beside)
{
    if (path && !gcn_is_content(path))
        options_mistake("%s wants a file that ends in .content, beside which %s, not '%s'", option,
                        beside, path);
}

static void check(struct app *a, const struct option_list *l)
{
    const struct gcn *g = (const struct gcn *)a;

    (void)l;
    check_content("--data", g->content, ".cites, .train, .val and .test lie");
    check_content("--predict", a->options.predict, ".cites lies");
}

static int prepare(struct app *a)
{
    struct gcn *g = (struct gcn *)a;
    int rc = load_nodes(g);

    if (rc < 0)
        return rc;
    g->features = g->path ? g->nodes.graph.width : g->nodes.graph.form.width;
    g->classes = g->known ? g->known : g->nodes.graph.labels;
    g->nclasses = vocab_size(g->classes) - 1;
    app_keep_vocab(a, "classes", g->classes, NULL, "W_class b_class");
    if (g->nodes.count[APP_TRAIN])
        a->options.session.scale = 1.0f / (float)g->nodes.count[APP_TRAIN];
    if ((rc = declare(g)) < 0 || (g->path && (rc = make_sets(g)) < 0))
        return rc;
    a->graph = g->stage;
    report_count(&a->report, "nodes", g->nodes.graph.n);
    report_count(&a->report, "citations", g->nodes.graph.nedges);
    report_count(&a->report, "classes", g->nclasses);
    return 0;
}

static void clear(struct app *a)
{
    struct gcn *g = (struct gcn *)a;

    gcn_nodes_clear(&g->nodes);
    vocab_destroy(g->known);
    free(g->path);
}

static const struct app_mean means[] = {{"loss", "loss"}, {"correct", "accuracy"}, {NULL, NULL}};

static const struct program program = {
    .name = "gcn",
    .doc = "Trains a graph convolutional network to classify the nodes of a citation graph.\v"
           "Without --data, the citation graph Cora in $CAVS_DATA/cora is read. The validation "
           "nodes are the development set; the model of the epoch that was best on them (--best "
           "accuracy) is what the test nodes are evaluated with, once, at the end.\n\n"
           "--predict reads another file like cora.content, whose classes may be missing, and "
           ".cites beside it, and writes a line for each node: its name, a tab, its class. The "
           "whole graph is in memory at once.\n\n"
           "Parameters in model files (h: --hidden): words (features x h), b1 .. (h), W2 .. (h x "
           "h), W_class (h x classes), b_class.",
    .options = options,
    .one_sample = true,
    .check = check,
    .prepare = prepare,
    .clear = clear,
    .loss = "loss",
    .samples = "graphs",
    .means = means,
    .measure = measure,
    .predict = gcn_predict,
};

int main(int argc, char **argv)
{
    struct gcn g = {.app = {.options = app_options_defaults()}, .rounds = 2, .dropout = 0.5f};

    g.app.options.epochs = 200;
    g.app.options.hidden = 16;
    g.app.options.best = "accuracy";
    g.app.options.session.optimizer = CAVS_ADAM;
    g.app.options.session.lr = 1e-2f;
    g.app.options.session.weight_decay = 5e-4f;
    return program_main(&program, &g.app, argc, argv);
}
