/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_tree.c - how long one tree takes, from the call to its result: the `bench` Tree-LSTM,
 * forward, or forward, backward and update.
 *
 *     one_tree FILE HIDDEN infer|train [recorded]
 *
 * evaluates each tree of a treebank alone and waits for it, then all again in the same way, and
 * prints the microseconds of the second time as JSON: p50, p99 and mean.  Recorded: each tree is
 * recorded on a tape, which counts, and what is waited for is the scores of all its vertices
 * (infer), or its update.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/common/ptb.h"
#include "apps/tree_lstm_cells.h"

enum { CLASSES = 5 };

struct bench {
    struct vocab *words;
    struct forest trees;
    struct arities arities;
    struct cavs_runtime *rt;
    struct cavs_model *model;
    struct cavs_stage *tree, *head;
    struct cavs_data *data;
    struct cavs_session *session;
    bool train, recorded;
    /* of a recorded one: */
    struct tree_lstm_cell cell;
    struct tree_lstm_head scores;
    struct cavs_tape *tape;
    struct tree_lstm_state *state; /* of all vertices of a tree */
    struct cavs_symbol **logits;
    float (*numbers)[CLASSES], **rows;
    double *seconds; /* [trees] */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(int ok, const char *why)
{
    if (ok)
        return;
    fprintf(stderr, "one_tree: %s\n", why);
    exit(1);
}

static void check(int rc)
{
    need(rc == 0, cavs_error_message());
}

/* ---- the model and its data ---- */

static void load(struct bench *b, const char *path)
{
    struct ptb_options o = {.labels = CLASSES, .grow = true};
    struct app_error e = {0};

    b->words = o.vocab = vocab_create();
    need(b->words && ptb_load(path, &o, &b->trees, &e) == 0, e.text);
    need(b->trees.trees > 0, "no trees");
    need(arities_note(&b->arities, 0) == 0 && arities_note(&b->arities, 2) == 0, "no memory");
}

static void declare(struct bench *b, int hidden)
{
    struct tree_lstm_sizes sizes = {.words = vocab_size(b->words),
                                    .embed = hidden,
                                    .hidden = hidden,
                                    .classes = CLASSES,
                                    .arities = &b->arities};

    check(cavs_model_create(&b->model));
    if (b->recorded) {
        b->cell = tree_lstm_params(b->model, CELL_BENCH, &sizes);
        b->scores = tree_lstm_head_params(b->model, &sizes);
    } else {
        b->tree = tree_lstm_declare(b->model, CELL_BENCH, &sizes);
        b->head = tree_lstm_classifier(b->model, b->tree, &sizes);
    }
    check(cavs_model_finish(b->model));
}

static void add_tree(struct bench *b, const struct tree *t)
{
    int *function = malloc(2 * (size_t)t->n * sizeof *function), *root = function + t->n;

    need(function != NULL, "no memory");
    for (int v = 0; v < t->n; v++) {
        need(tree_arity(t, v) % 2 == 0, "a vertex has one child");
        function[v] = arities_function(&b->arities, tree_arity(t, v));
        root[v] = v == t->n - 1 ? t->label[v] : -1;
    }
    check(cavs_data_begin(b->data));
    check(cavs_data_graph(b->data, b->tree, t->n, function, t->child_ptr, t->children));
    check(cavs_data_ids(b->data, b->tree, "word", t->n, t->word));
    check(cavs_data_ids(b->data, b->head, "label", t->n, t->label));
    check(cavs_data_ids(b->data, b->head, "root", t->n, root));
    check(cavs_data_end(b->data));
    free(function);
}

static void add_trees(struct bench *b)
{
    check(cavs_data_create(b->model, &b->data));
    for (int i = 0; i < b->trees.trees; i++) {
        struct tree t = forest_tree(&b->trees, i);

        add_tree(b, &t);
    }
}

static void open_tape(struct bench *b)
{
    size_t n = b->trees.vertices; /* more than any tree has */

    b->state = malloc(n * sizeof *b->state);
    b->logits = malloc(n * sizeof(*b->logits));
    b->numbers = malloc(n * sizeof *b->numbers);
    b->rows = malloc(n * sizeof *b->rows);
    need(b->state && b->logits && b->numbers && b->rows, "no memory");
    for (size_t v = 0; v < n; v++)
        b->rows[v] = b->numbers[v];
    check(cavs_tape_create(b->session, NULL, &b->tape));
}

static void open_session(struct bench *b)
{
    struct cavs_session_options o = cavs_session_defaults();

    if (!b->recorded)
        add_trees(b);
    check(cavs_runtime_create(NULL, &b->rt));
    o.optimizer = CAVS_ADAM;
    o.inference = !b->train;
    check(cavs_session_create(b->rt, b->model, &o, &b->session));
    if (b->recorded)
        open_tape(b);
}

/* ---- one tree ---- */

static struct tree_lstm_state record_vertex(const struct bench *b, const struct tree *t, int v)
{
    const int *children = t->children + t->child_ptr[v];

    if (tree_arity(t, v) == 0)
        return tree_lstm_leaf(&b->cell, cavs_tape_id(b->tape, t->word[v]));
    need(tree_arity(t, v) == 2, "a vertex has not two children");
    return tree_lstm_inner(
        &b->cell, 2, (struct tree_lstm_state[]){b->state[children[0]], b->state[children[1]]});
}

/* The losses and metrics of tree_lstm_classifier(). */
static void compare(const struct bench *b, const struct tree *t, int v)
{
    struct cavs_function *f = cavs_tape_function(b->tape);
    struct cavs_symbol *label = cavs_tape_id(b->tape, t->label[v]);
    struct cavs_symbol *correct = cavs_correct(b->logits[v], label);

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(b->logits[v], label), label);
    cavs_metric(f, "correct", correct, label);
    if (v == t->n - 1)
        cavs_metric(f, "root_correct", correct, label);
}

static void run_recorded(struct bench *b, int i)
{
    struct tree t = forest_tree(&b->trees, i);

    check(cavs_tape_begin(b->tape, b->train ? CAVS_TAPE_TRAIN : CAVS_TAPE_EVALUATE));
    cavs_tape_sample(b->tape);
    for (int v = 0; v < t.n; v++) {
        b->state[v] = record_vertex(b, &t, v);
        b->logits[v] = cavs_affine(b->state[v].h, b->scores.W, b->scores.b);
        if (b->train)
            compare(b, &t, v);
    }
    check(b->train ? cavs_tape_finish(b->tape)
                   : cavs_tape_values(b->tape, t.n, b->logits, b->rows));
    check(cavs_session_wait(b->session));
}

static void run_declared(struct bench *b, int i)
{
    check(b->train ? cavs_session_train(b->session, b->data, &i, 1)
                   : cavs_session_evaluate(b->session, b->data, &i, 1));
    check(cavs_session_wait(b->session));
}

/* ---- measuring ---- */

static void run_all(struct bench *b)
{
    for (int i = 0; i < b->trees.trees; i++) {
        double start = now();

        if (b->recorded)
            run_recorded(b, i);
        else
            run_declared(b, i);
        b->seconds[i] = now() - start;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print(struct bench *b)
{
    int n = b->trees.trees;
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += b->seconds[i];
    qsort(b->seconds, (size_t)n, sizeof *b->seconds, by_value);
    printf("{\"trees\":%d,\"p50_us\":%.1f,\"p99_us\":%.1f,\"mean_us\":%.1f}\n", n,
           b->seconds[n / 2] * 1e6, b->seconds[n - 1 - n / 100] * 1e6, sum / n * 1e6);
}

static void close_all(struct bench *b)
{
    cavs_tape_destroy(b->tape);
    cavs_session_destroy(b->session);
    cavs_data_destroy(b->data);
    cavs_model_destroy(b->model);
    cavs_runtime_destroy(b->rt);
    forest_clear(&b->trees);
    arities_clear(&b->arities);
    vocab_destroy(b->words);
    free(b->seconds);
    free(b->state);
    free(b->logits);
    free(b->numbers);
    free(b->rows);
}

int main(int argc, char **argv)
{
    struct bench b = {0};

    b.recorded = argc == 5 && strcmp(argv[4], "recorded") == 0;
    need(argc == 4 + b.recorded && atoi(argv[2]) > 0,
         "usage: one_tree FILE HIDDEN infer|train [recorded]");
    b.train = strcmp(argv[3], "train") == 0;
    load(&b, argv[1]);
    declare(&b, atoi(argv[2]));
    open_session(&b);
    b.seconds = malloc((size_t)b.trees.trees * sizeof *b.seconds);
    need(b.seconds != NULL, "no memory");
    for (int i = 0; i < 2; i++)
        run_all(&b);
    print(&b);
    close_all(&b);
    return 0;
}
