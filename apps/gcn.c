/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcn - the subject of a paper from its words and its citations: a graph convolutional network (Kipf & Welling,
 * ICLR 2017) by rounds of message passing.
 *
 * k rounds are a graph of k + 1 copies of every node: the first copy makes a row of the node's words, and a node of a
 * later copy has its neighbours and itself in the copy before as children.  The matrix D^-1/2 (A + I) D^-1/2 of the
 * paper is a number per edge.  The whole graph is one sample, so an epoch is one batch.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/app.h"
#include "apps/common/data_files.h"
#include "apps/gcn_graph.h"

#define SUFFIX ".content"

/* Sets of nodes, by the ends of their files' names and those of the inputs and metrics. */
enum { TRAIN, VAL, TEST, SETS };
static const char *const set_names[SETS] = {"train", "val", "test"};

struct gcn {
    struct app_options common;
    struct data_files files; /* the content; the others lie beside it */
    int rounds;
    float dropout;
    struct edge_list graph;
    int *set[SETS], count[SETS];
    struct cavs_model *model;
    struct cavs_stage *stage, *head;
    struct cavs_data *data;
    struct app app;
    double best, test_at_best;
};

/* ---- options ------------------------------------------------------------------------------------------------------ */

enum { KEY_DATA = 1, KEY_ROUNDS, KEY_DROPOUT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Graph and model:", 1},
    {"data", KEY_DATA, "FILE", 0,
     "nodes in the form of cora.content (default $CAVS_DATA/cora/cora.content); beside it .cites "
     "and the splits .train, .val and .test",
     0},
    {"rounds", KEY_ROUNDS, "K", 0, "rounds of message passing (default 2)", 0},
    {"dropout", KEY_DROPOUT, "RATE", 0, "between rounds (default 0.5)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct gcn *g = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &g->common; break;
    case KEY_DATA: g->files.train = arg; break;
    case KEY_ROUNDS: g->rounds = app_int(state, "rounds", arg, 1, 32); break;
    case KEY_DROPOUT: g->dropout = (float)app_real(state, "dropout", arg, 0, 0.99); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc =
        "Trains a graph convolutional network to classify the nodes of a citation graph.\v"
        "The report gives the accuracy on the test nodes after the epoch that was best on the "
        "validation nodes.  CAVS_DATA is ../shared/data unless the environment says otherwise.  "
        "Parameters in model files (h: --hidden): words (features x h), b1 .. (h), W2 .. (h x h), "
        "W_class (h x classes), b_class."};

/* ---- model -------------------------------------------------------------------------------------------------------- */

static struct cavs_param *weight(struct cavs_model *m, const char *name, int rows, int cols)
{
    return cavs_model_param(m, name, rows, cols, cavs_init_glorot(rows, cols));
}

/* One round: the weighted sum over the copies of the neighbours in the round before; then, unless it is the last, a
 * nonlinearity, and the next round's product, here where it is made once a node. */
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
        x = cavs_add(x, cavs_use(f, cavs_model_param(g->model, name, 1, h, CAVS_CONSTANT(0))));
        x = cavs_dropout(cavs_relu(x), g->dropout);
    }
    if (round + 1 < g->rounds) {
        snprintf(name, sizeof name, "W%d", round + 1);
        x = cavs_matmul(x, weight(g->model, name, h, h));
    }
    cavs_scatter(f, x);
    cavs_push(f, "h", x);
}

static int declare(struct gcn *g)
{
    int h = g->common.hidden, classes = vocab_size(g->graph.labels) - 1;
    int rc = cavs_model_create(&g->model);
    struct cavs_function *f;
    struct cavs_symbol *x, *logits;

    if (rc < 0)
        return rc;
    g->stage = cavs_stage_create(g->model, "node", h);
    f = cavs_function_create(g->stage, "words");
    x = cavs_mean_children(
        cavs_lookup(weight(g->model, "words", g->graph.width, h), cavs_pull_list_ids(f, "words")));
    cavs_scatter(f, x);
    for (int round = 1; round <= g->rounds; round++)
        declare_round(g, round, h);
    g->head = cavs_stage_over(g->model, "class", g->stage, CAVS_ROOTS);
    f = cavs_function_create(g->head, "class");
    logits =
        cavs_affine(cavs_pull_from(f, g->stage, "h", NULL), weight(g->model, "W_class", h, classes),
                    cavs_model_param(g->model, "b_class", 1, classes, CAVS_CONSTANT(0)));
    for (int i = 0; i < SETS; i++) {
        struct cavs_symbol *label = cavs_pull_ids(f, set_names[i]);

        if (i == TRAIN)
            cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
        cavs_metric(f, set_names[i], cavs_correct(logits, label), label);
    }
    return cavs_model_finish(g->model);
}

/* ---- data --------------------------------------------------------------------------------------------------------- */

static int read_graph(struct gcn *g, struct app_error *e)
{
    char path[PATH_MAX], content[PATH_MAX];
    int stem, rc = data_files_find(&g->files, e);

    if (rc < 0)
        return rc;
    snprintf(content, sizeof content, "%s", g->files.train_path);
    stem = (int)strlen(content) - (int)strlen(SUFFIX);
    if (stem < 0 || strcmp(content + stem, SUFFIX) != 0)
        return app_fail(e, CAVS_EINVAL, "%s does not end in %s", content, SUFFIX);
    snprintf(path, sizeof path, "%.*s.cites", stem, content);
    rc = edge_list_load(content, path, &g->graph, e);
    for (int i = 0; i < SETS && rc == 0; i++) {
        snprintf(path, sizeof path, "%.*s.%s", stem, content, set_names[i]);
        rc = edge_list_split(path, g->graph.n, &g->set[i], &g->count[i], e);
    }
    return rc;
}

static int add_labels(const struct gcn *g, int set, int *labels)
{
    for (int v = 0; v < g->graph.n; v++)
        labels[v] = -1;
    for (int i = 0; i < g->count[set]; i++)
        labels[g->set[set][i]] = g->graph.label[g->set[set][i]] - 1; /* 0 is <unk> */
    return cavs_data_ids(g->data, g->head, set_names[set], g->graph.n, labels);
}

static int add_graph(const struct gcn *g, const struct gcn_arrays *a)
{
    int n = g->graph.n * (g->rounds + 1), rc = cavs_data_begin(g->data);

    if (rc < 0 ||
        (rc = cavs_data_graph(g->data, g->stage, n, a->functions, a->child_ptr, a->children)) < 0 ||
        (rc = cavs_data_ragged_ids(g->data, g->stage, "words", n, a->word_ptr, a->words)) < 0 ||
        (rc = cavs_data_edge_rows(g->data, g->stage, "weight", a->child_ptr[n], a->weights)) < 0)
        return rc;
    for (int i = 0; i < SETS && rc == 0; i++)
        rc = add_labels(g, i, a->labels);
    return rc < 0 ? rc : cavs_data_end(g->data);
}

static int make_data(struct gcn *g)
{
    struct gcn_arrays a;
    int rc = cavs_data_create(g->model, &g->data);

    if (rc < 0)
        return rc;
    rc = gcn_arrays_make(&g->graph, g->rounds, &a);
    if (rc == 0)
        rc = add_graph(g, &a);
    gcn_arrays_clear(&a);
    return rc;
}

/* ---- the program -------------------------------------------------------------------------------------------------- */

/* Accuracies of a pass without dropout; the epoch that is best on the validation nodes counts. */
static int after_epoch(void *context)
{
    struct gcn *g = context;
    double accuracy[SETS];
    int rc = app_evaluate(&g->app, g->data);

    for (int i = 0; i < SETS && rc == 0; i++)
        rc = app_mean(&g->app, set_names[i], &accuracy[i]);
    if (rc < 0)
        return rc;
    if (accuracy[VAL] > g->best) {
        g->best = accuracy[VAL];
        g->test_at_best = accuracy[TEST];
    }
    report_number(&g->app.report, "train_accuracy", accuracy[TRAIN]);
    report_number(&g->app.report, "val_accuracy", g->best);
    report_number(&g->app.report, "test_accuracy", g->test_at_best);
    return 0;
}

static int run(struct gcn *g, struct app_error *e)
{
    struct training training;
    int rc;

    if ((rc = read_graph(g, e)) < 0 || (rc = declare(g)) < 0 || (rc = make_data(g)) < 0)
        return rc;
    g->common.session.scale = 1.0f / (float)g->count[TRAIN];
    if ((rc = app_start(&g->app, "gcn", &g->common, g->model)) < 0)
        return rc;
    training = (struct training){.data = g->data,
                                 .graph = g->stage,
                                 .loss = "loss",
                                 .after_epoch = after_epoch,
                                 .error = e,
                                 .context = g};
    report_count(&g->app.report, "nodes", g->graph.n);
    report_count(&g->app.report, "citations", g->graph.nedges);
    rc = app_train(&g->app, &training);
    return rc < 0 ? rc : app_finish(&g->app);
}

static void clean_up(struct gcn *g)
{
    app_stop(&g->app);
    cavs_data_destroy(g->data);
    cavs_model_destroy(g->model);
    for (int i = 0; i < SETS; i++)
        free(g->set[i]);
    edge_list_clear(&g->graph);
    data_files_clear(&g->files);
}

int main(int argc, char **argv)
{
    struct gcn g = {.common = app_options_defaults(),
                    .files = {.default_train = "cora/cora.content"},
                    .rounds = 2,
                    .dropout = 0.5f};
    struct app_error error = {""};
    int rc;

    g.files.default_dev = g.files.default_train;
    g.common.epochs = 200;
    g.common.hidden = 16;
    g.common.session.optimizer = CAVS_ADAM;
    g.common.session.lr = 1e-2f;
    g.common.session.weight_decay = 5e-4f;
    argp_parse(&argp, argc, argv, 0, NULL, &g);
    rc = app_status("gcn", run(&g, &error), &error);
    clean_up(&g);
    return rc;
}
