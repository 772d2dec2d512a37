/* SPDX-License-Identifier: Apache-2.0 */
/* tree_lstm - sentiment of every phrase of a sentence: a Tree-LSTM whose vertex functions are
 * declared;
 * see tree_lstm.h. */
#include <stdlib.h>

#include "apps/tree_lstm.h"

struct declared {
    struct tree_lstm shared; /* first: the frame hands it over */
    struct cavs_stage *tree, *classifier;
};

/* ---- model ----------------------------------------------------------------------------------- */

static int declare(struct declared *t)
{
    struct app *a = &t->shared.app;
    struct tree_lstm_sizes sizes = tree_lstm_sizes(&t->shared);
    int rc = cavs_model_create(&a->model);

    if (rc < 0)
        return rc;
    t->tree = tree_lstm_declare(a->model, t->shared.cell, &sizes);
    t->classifier = tree_lstm_classifier(a->model, t->tree, &sizes);
    return cavs_model_finish(a->model);
}

/* ---- data ------------------------------------------------------------------------------------ */

static int add_tree(const struct declared *t, struct cavs_data *d, const struct tree *tree,
                    int *functions, int *root_label)
{
    int rc;

    for (int v = 0; v < tree->n; v++) {
        functions[v] = arities_function(&t->shared.bank.arities, tree_arity(tree, v));
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

static int add_forest(const struct declared *t, struct cavs_data *d, const struct forest *f)
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
    struct declared *t = (struct declared *)a;
    struct forest *f = &t->shared.bank.set[set];
    int rc = add_forest(t, d, f);

    forest_clear(f);
    *f = (struct forest){0};
    return rc;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static int predict(struct app *a, struct cavs_data *d, int most)
{
    struct declared *t = (struct declared *)a;
    struct tree_predictor *p = &t->shared.predictor;
    struct cavs_fetch logits = {t->classifier, TREE_LOGITS, NULL};
    int n = tree_lstm_read(&t->shared, most), rc;

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
    struct declared *t = (struct declared *)a;
    int rc = tree_lstm_load(&t->shared);

    if (rc == 0)
        rc = declare(t);
    a->graph = t->tree;
    return rc;
}

int main(int argc, char **argv)
{
    static const struct app_option options[] = {TREE_LSTM_OPTIONS, {0}};
    struct declared t = {.shared = tree_lstm_defaults()};
    struct program p = tree_lstm_program();

    p.name = "tree_lstm";
    p.doc = "Trains a Tree-LSTM to label every vertex of parse trees (5 classes).\v" TREE_LSTM_DOC;
    p.options = options;
    p.reads_packed = true;
    p.twin = "dyn_tree_lstm";
    p.prepare = prepare;
    p.fill = fill;
    p.predict = predict;
    return program_main(&p, &t.shared.app, argc, argv);
}
