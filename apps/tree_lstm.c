/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lstm - sentiment of every phrase of a sentence: a Tree-LSTM over parse trees.
 *
 * The cells and their parameters are in tree_lstm_cells.h.  The objective is the cross-entropy summed
 * over all vertices of a batch and divided by --batch: a mean per tree, so that one learning rate
 * suits all batch sizes (the last, smaller batch of an epoch is divided by --batch too: each tree has
 * the same weight).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/app.h"
#include "apps/common/packed.h"
#include "apps/tree_lstm_cells.h"
#include "apps/treebank.h"

#define CLASSES 5

struct tree_lstm {
    struct app_options common;
    enum cell cell;
    struct treebank_options files;
    struct treebank bank;
    struct cavs_model *model;
    struct cavs_stage *tree, *classifier;
    struct cavs_data *train, *dev;
    struct app app;
};

/* ---- options --------------------------------------------------------------------------------- */

enum { KEY_TRAIN = 1, KEY_DEV, KEY_CELL, KEY_MIN_COUNT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Treebank and cell:", 1},
    {"train", KEY_TRAIN, "PATH", 0, "training set (default $CAVS_DATA/sst/train.txt)", 0},
    {"dev", KEY_DEV, "PATH", 0,
     "set to evaluate after each epoch (default $CAVS_DATA/sst/dev.txt, none if --train is given)",
     0},
    {"cell", KEY_CELL, "NAME", 0, "bench (default), childsum or nary", 0},
    {"min-count", KEY_MIN_COUNT, "N", 0,
     "words seen less often in the training set are <unk>, as words of the other set that it does "
     "not have (default 1: <unk> is not trained)",
     0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tree_lstm *t = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &t->files.packed;
        state->child_inputs[1] = &t->common;
        break;
    case ARGP_KEY_SUCCESS:
        packed_check_options(state, &t->files.packed, t->files.train, t->files.dev);
        break;
    case KEY_TRAIN: t->files.train = arg; break;
    case KEY_DEV: t->files.dev = arg; break;
    case KEY_CELL: t->cell = app_choice(state, "cell", arg, cell_names); break;
    case KEY_MIN_COUNT: t->files.min_count = app_int(state, "min-count", arg, 1, INT_MAX); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {
    {&packed_argp, 0, NULL, 0}, {&app_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Trains a Tree-LSTM to label every vertex of parse trees (5 classes).\v"
           "PATH is a file of trees in labelled brackets, \"(3 (2 good) (2 film))\", or a folder "
           "with the three files sents_idx.txt, parents.txt and labels.txt.  CAVS_DATA is "
           "../shared/data unless the environment says otherwise.\n\n"
           "Cells: bench and nary want two children at each inner vertex, childsum takes any "
           "number.  Their parameters in model files (e: --embed, h: --hidden; gates side by side "
           "in the order of their names):\n"
           "  all       embedding (words x e), W_iou (e x 3h), W_class (h x 5), b_class\n"
           "  bench     b_leaf, U_iou (2h x 3h), b_iou, F1 (h x h), F2 (h x h), b_f\n"
           "  childsum  b_iou, U_iou (h x 3h), U_f (h x h), b_f\n"
           "  nary      b_leaf, U_iouf (2h x 5h), b_iouf"};

/* ---- model ----------------------------------------------------------------------------------- */

static int declare(struct tree_lstm *t)
{
    struct tree_lstm_sizes sizes = {
        .words = t->bank.words,
        .embed = t->common.embed,
        .hidden = t->common.hidden,
        .classes = CLASSES,
        .arities = &t->bank.arities,
    };
    int rc = cavs_model_create(&t->model);

    if (rc < 0)
        return rc;
    t->tree = tree_lstm_declare(t->model, t->cell, &sizes);
    t->classifier = tree_lstm_classifier(t->model, t->tree, &sizes);
    return cavs_model_finish(t->model);
}

/* ---- data ------------------------------------------------------------------------------------ */

static int add_tree(const struct tree_lstm *t, struct cavs_data *d, const struct tree *tree,
                    int *functions, int *root_label)
{
    int rc;

    for (int v = 0; v < tree->n; v++) {
        functions[v] = arities_function(&t->bank.arities, tree_arity(tree, v));
        root_label[v] = v == tree->n - 1 ? tree->label[v] : -1;
    }
    if ((rc = cavs_data_begin(d)) < 0 ||
        (rc = cavs_data_graph(d, t->tree, tree->n, functions, tree->child_ptr, tree->children)) <
            0 ||
        (rc = cavs_data_ids(d, t->tree, "word", tree->n, tree->word)) < 0 ||
        (rc = cavs_data_ids(d, t->classifier, "label", tree->n, tree->label)) < 0 ||
        (rc = cavs_data_ids(d, t->classifier, "root", tree->n, root_label)) < 0)
        return rc;
    return cavs_data_end(d);
}

static int make_data(const struct tree_lstm *t, const struct forest *f, struct cavs_data **out)
{
    int *functions = malloc((f->vertices + 1) * sizeof *functions);
    int *root_label = malloc((f->vertices + 1) * sizeof *root_label);
    int rc = functions && root_label ? cavs_data_create(t->model, out) : CAVS_ENOMEM;

    for (int i = 0; rc == 0 && i < f->trees; i++) {
        struct tree tree = forest_tree(f, i);

        rc = add_tree(t, *out, &tree, functions, root_label);
    }
    free(functions);
    free(root_label);
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int after_epoch(void *context)
{
    static const struct app_mean means[] = {{"loss", "loss"},
                                            {"correct", "accuracy_all"},
                                            {"root_correct", "accuracy_root"},
                                            {NULL, NULL}};
    struct tree_lstm *t = context;

    return app_report_epoch(&t->app, t->dev, means);
}

static int make_sets(struct tree_lstm *t, struct app_error *e)
{
    int rc;

    if (t->files.packed.train)
        return packed_open_data(&t->files.packed, t->model, &t->train, &t->dev, e);
    rc = make_data(t, &t->bank.train, &t->train);
    return rc < 0 || !t->bank.dev_path ? rc : make_data(t, &t->bank.dev, &t->dev);
}

static int prepare(struct tree_lstm *t, struct app_error *e)
{
    int rc;

    if ((rc = treebank_load(&t->bank, &t->files, e)) < 0 || (rc = declare(t)) < 0 ||
        (rc = make_sets(t, e)) < 0)
        return rc;
    return app_start(&t->app, "tree_lstm", &t->common, t->model);
}

static int run(struct tree_lstm *t, struct app_error *e)
{
    struct training training;
    int rc = prepare(t, e);

    if (rc < 0)
        return rc;
    training = (struct training){
        .data = t->train,
        .graph = t->tree,
        .loss = "loss",
        .after_epoch = after_epoch,
        .error = e,
        .context = t,
    };
    report_text(&t->app.report, "cell", cell_names[t->cell]);
    report_count(&t->app.report, "words", t->bank.words);
    if ((rc = app_train(&t->app, &training)) < 0)
        return rc;
    return app_finish(&t->app);
}

static void clean_up(struct tree_lstm *t)
{
    app_stop(&t->app);
    cavs_data_destroy(t->train);
    cavs_data_destroy(t->dev);
    cavs_model_destroy(t->model);
    treebank_clear(&t->bank);
}

int main(int argc, char **argv)
{
    struct tree_lstm t = {.common = app_options_defaults(),
                          .files = {.labels = CLASSES, .min_count = 1}};
    struct app_error error = {""};
    int rc;

    t.common.embed = 256;
    t.common.session.optimizer = CAVS_ADAM;
    t.common.session.lr = 1e-3f;
    argp_parse(&argp, argc, argv, 0, NULL, &t);
    t.files.binary = t.cell == CELL_CHILDSUM ? NULL : cell_names[t.cell];
    t.common.session.scale = 1.0f / t.common.batch;
    rc = app_status("tree_lstm", run(&t, &error), &error);
    clean_up(&t);
    return rc;
}
