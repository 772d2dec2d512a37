/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/tree_lstm_predict.h"

#include <stdlib.h>

#include "apps/common/json_build.h"
#include "apps/common/predict.h"
#include "apps/common/ptb.h"
#include "apps/common/reserve.h"
#include "apps/common/scores.h"
#include "apps/common/utf8.h"
#include "apps/treebank.h"

/* ---- reading --------------------------------------------------------------------------------- */

static int open_stream(struct tree_predictor *p, struct app *a, struct vocab *words)
{
    struct ptb_options o = {
        .labels = TREE_CLASSES, .vocab = words, .keep_words = true, .unlabelled = true};

    if (!words)
        return app_fail(&a->error, CAVS_EINVAL,
                        "--predict reads words, and this model was made from numbers of words");
    return ptb_open(&p->stream, a->predictions.in, a->predictions.in_name, &o, &a->error);
}

int tree_predictor_read(struct tree_predictor *p, struct app *a, int most, struct vocab *words,
                        const char *binary_cell)
{
    int rc = p->stream ? 0 : open_stream(p, a, words), n;

    if (rc < 0)
        return rc;
    forest_empty(&p->trees);
    n = ptb_next(p->stream, most, &p->trees, &a->error);
    for (int i = 0; i < n && rc == 0; i++) {
        struct tree tree = forest_tree(&p->trees, i);

        rc = treebank_check_tree(a, &tree, a->predictions.in_name, binary_cell);
    }
    return rc < 0 ? rc : n;
}

/* ---- writing --------------------------------------------------------------------------------- */

static char *tree_text(const struct tree_predictor *p, int t, const int *labels,
                       struct app_error *e)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    int rc = f ? ptb_write(f, &p->trees, t, labels, e) : CAVS_ENOMEM;

    if (f && fclose(f) == 0 && rc == 0) {
        text[n - 1] = '\0'; /* the line's end */
        return text;
    }
    free(text);
    return NULL;
}

static json_t *probabilities(const float *row)
{
    json_t *array = json_array();

    for (int k = 0; k < TREE_CLASSES; k++)
        json_build_append(&array, json_build_number(scores_probability(row, TREE_CLASSES, k)));
    return array;
}

/* Vertices in the order in which their brackets are closed; the root is the last. */
static int write_json(struct tree_predictor *p, struct app *a, int t, const int *labels,
                      const float *rows)
{
    int n = forest_tree(&p->trees, t).n;
    char *text = tree_text(p, t, labels, &a->error);
    json_t *tree = json_object(), *numbers = json_array(), *shares = json_array();

    for (int v = 0; v < n; v++) {
        json_build_append(&numbers, json_integer(labels[v]));
        json_build_append(&shares, probabilities(rows + (size_t)v * TREE_CLASSES));
    }
    json_build_set(&tree, "tree", text ? utf8_to_json(text) : NULL);
    json_build_set(&tree, "label", json_integer(labels[n - 1]));
    json_build_set(&tree, "labels", numbers);
    json_build_set(&tree, "probabilities", shares);
    free(text);
    return predictions_write_json(a, tree);
}

int tree_predictor_write(struct tree_predictor *p, struct app *a, const float *rows)
{
    int rc = 0;

    if (!array_reserve(&p->labels, &p->room, p->trees.vertices + 1, sizeof *p->labels))
        return app_fail(&a->error, CAVS_ENOMEM, "no memory for the labels of %zu vertices",
                        p->trees.vertices);
    for (size_t v = 0; v < p->trees.vertices; v++)
        p->labels[v] = scores_likeliest(rows + v * TREE_CLASSES, TREE_CLASSES);
    for (int t = 0; t < p->trees.trees && rc == 0; t++) {
        size_t first = p->trees.first[t];
        const int *labels = p->labels + first;

        rc = a->options.json ? write_json(p, a, t, labels, rows + first * TREE_CLASSES)
                             : ptb_write(a->predictions.out, &p->trees, t, labels, &a->error);
    }
    return rc;
}

void tree_predictor_clear(struct tree_predictor *p)
{
    ptb_close(p->stream);
    forest_clear(&p->trees);
    free(p->labels);
}
