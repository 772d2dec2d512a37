/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lstm - sentiment of every phrase of a sentence: a Tree-LSTM over parse trees.
 *
 * The cells and their parameters are in tree_lstm_cells.h.  The objective is the cross-entropy
 * summed over all vertices of a batch and divided by --batch: a mean per tree, so that one learning
 * rate suits all batch sizes (the last, smaller batch of an epoch is divided by --batch too: each
 * tree has the same weight).
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/program.h"
#include "apps/common/ptb.h"
#include "apps/tree_lstm_cells.h"
#include "apps/tree_lstm_predict.h"
#include "apps/treebank.h"

struct tree_lstm {
    struct app app; /* first: the frame hands it over */
    int cell;       /* enum cell */
    struct treebank bank;
    struct cavs_stage *tree, *classifier;
    struct tree_predictor predictor;
};

static const char *binary_cell(const struct tree_lstm *t)
{
    return t->cell == CELL_CHILDSUM ? NULL : cell_names[t->cell];
}

/* ---- options --------------------------------------------------------------------------------- */

#define ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct tree_lstm, member, OPTION_##role, __VA_ARGS__)

static const struct app_option options[] = {
    OPTION_GROUP("Treebank and cell:"),
    ROW(CHOICE, "cell", "NAME", cell, MODEL, "bench, childsum or nary", .choices = cell_names),
    {0}};

/* ---- model ----------------------------------------------------------------------------------- */

static int declare(struct tree_lstm *t)
{
    struct tree_lstm_sizes sizes = {
        .words = t->bank.words,
        .embed = t->app.options.embed,
        .hidden = t->app.options.hidden,
        .classes = TREE_CLASSES,
        .arities = &t->bank.arities,
        .predict = t->app.options.predict != NULL,
    };
    int rc = cavs_model_create(&t->app.model);

    if (rc < 0)
        return rc;
    t->tree = tree_lstm_declare(t->app.model, t->cell, &sizes);
    t->classifier = tree_lstm_classifier(t->app.model, t->tree, &sizes);
    return cavs_model_finish(t->app.model);
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

static int add_forest(const struct tree_lstm *t, struct cavs_data *d, const struct forest *f)
{
    int *functions = malloc((f->vertices + 1) * sizeof *functions);
    int *root_label = malloc((f->vertices + 1) * sizeof *root_label);
    int rc = functions && root_label ? 0 : CAVS_ENOMEM;

    for (int i = 0; rc == 0 && i < f->trees; i++) {
        struct tree tree = forest_tree(f, i);

        rc = add_tree(t, d, &tree, functions, root_label);
    }
    free(functions);
    free(root_label);
    return rc;
}

static int fill(struct app *a, enum app_set set, struct cavs_data *d)
{
    struct tree_lstm *t = (struct tree_lstm *)a;
    struct forest *f = &t->bank.set[set];
    int rc = add_forest(t, d, f);

    forest_clear(f);
    *f = (struct forest){0};
    return rc;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static int predict(struct app *a, struct cavs_data *d, int most)
{
    struct tree_lstm *t = (struct tree_lstm *)a;
    struct tree_predictor *p = &t->predictor;
    struct cavs_fetch logits = {t->classifier, TREE_LOGITS, NULL};
    int n = tree_predictor_read(p, a, most, t->bank.vocab, binary_cell(t)), rc;

    if (n <= 0)
        return n;
    rc = add_forest(t, d, &p->trees);
    if (rc == 0)
        rc = app_rows(a, d, &logits);
    if (rc == 0)
        rc = tree_predictor_write(p, a, logits.rows);
    return rc < 0 ? rc : n;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int prepare(struct app *a)
{
    struct tree_lstm *t = (struct tree_lstm *)a;
    struct treebank_options files = {
        .labels = TREE_CLASSES, .min_count = a->options.min_count, .binary = binary_cell(t)};
    int rc;

    if ((rc = treebank_load(&t->bank, a, &files)) < 0 || (rc = declare(t)) < 0)
        return rc;
    a->graph = t->tree;
    report_text(&a->report, "cell", cell_names[t->cell]);
    report_count(&a->report, "words", t->bank.words);
    return 0;
}

static void clear(struct app *a)
{
    struct tree_lstm *t = (struct tree_lstm *)a;

    tree_predictor_clear(&t->predictor);
    treebank_clear(&t->bank);
}

static const struct app_mean means[] = {
    {"loss", "loss"}, {"correct", "accuracy_all"}, {"root_correct", "accuracy_root"}, {NULL, NULL}};

static const struct program program = {
    .name = "tree_lstm",
    .doc = "Trains a Tree-LSTM to label every vertex of parse trees (5 classes).\v"
           "PATH is a file of trees in labelled brackets, \"(3 (2 good) (2 film))\", or a folder "
           "with the three files sents_idx.txt, parents.txt and labels.txt. Without --train, "
           "$CAVS_DATA/sst/train.txt and dev.txt are read. --predict reads brackets, whose labels "
           "may "
           "be missing or '?', and writes them with the labels that the model gives.\n\n"
           "Cells: bench and nary want two children at each inner vertex, childsum takes any "
           "number. Their parameters in model files (e: --embed, h: --hidden; gates side by side "
           "in the order of their names):\n"
           "  all       embedding (words x e), W_iou (e x 3h), W_class (h x 5), b_class\n"
           "  bench     b_leaf, U_iou (2h x 3h), b_iou, F1 (h x h), F2 (h x h), b_f\n"
           "  childsum  b_iou, U_iou (h x 3h), U_f (h x h), b_f\n"
           "  nary      b_leaf, U_iouf (2h x 5h), b_iouf",
    .options = options,
    .reads_data = true,
    .reads_packed = true,
    .counts_words = true,
    .embeds = true,
    .default_set = {"sst/train.txt", "sst/dev.txt"},
    .prepare = prepare,
    .fill = fill,
    .clear = clear,
    .objective = APP_MEAN_OF_SAMPLES,
    .loss = "loss",
    .means = means,
    .predict = predict,
};

int main(int argc, char **argv)
{
    struct tree_lstm t = {.app = {.options = app_options_defaults()}};

    t.app.options.embed = 256;
    t.app.options.session.optimizer = CAVS_ADAM;
    t.app.options.session.lr = 1e-3f;
    return program_main(&program, &t.app, argc, argv);
}
