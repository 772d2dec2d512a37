/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tree_cells.c - a child-sum vertex is the same whether its function names its children or
 * reads them all alike, and functions get their names and numbers from the numbers of children.
 *
 * A missing child counts for nothing.  So a vertex of the most children that are named, and the
 * same with one that is missing beside them, have one value and one gradient.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tree_lstm_cells.h"
#include "tests/trial.h"

enum { NAMED = ARITY_MANY - 1, LEAVES = NAMED, TREES = 3, BATCHES = 20 };

struct net {
    struct arities arities;
    struct cavs_model *model;
    struct cavs_stage *tree, *classifier;
    struct cavs_data *data;
};

/* A tree of two levels: over all leaves a vertex with so many children, the last of them missing or
 * not, and over it and one leaf another. */
static void add_tree(struct net *net, int number, int children)
{
    int ptr[LEAVES + 3] = {0}, child[ARITY_MANY + 2], function[LEAVES + 2], word[LEAVES + 2],
                     label[LEAVES + 2], n = LEAVES + 2, edges = 0;

    for (int v = 0; v < n; v++) {
        int degree = v < LEAVES ? 0 : v == LEAVES ? children : 2;

        function[v] = arities_function(&net->arities, degree);
        word[v] = v < LEAVES ? (number + 3 * v) % 7 : -1;
        label[v] = (v + number) % 3;
        for (int k = 0; k < degree; k++)
            child[edges++] = v > LEAVES ? k * LEAVES : k < LEAVES ? k : -1;
        ptr[v + 1] = edges;
    }
    check_ok(cavs_data_begin(net->data));
    check_ok(cavs_data_graph(net->data, net->tree, n, function, ptr, child));
    check_ok(cavs_data_ids(net->data, net->tree, "word", n, word));
    check_ok(cavs_data_ids(net->data, net->classifier, "label", n, label));
    check_ok(cavs_data_ids(net->data, net->classifier, "root", n, label));
    check_ok(cavs_data_end(net->data));
}

static void open_net(struct net *net, int children)
{
    struct tree_lstm_sizes sizes = {
        .words = 7, .embed = 5, .hidden = 6, .classes = 3, .arities = &net->arities};

    *net = (struct net){0};
    check_ok(arities_note(&net->arities, children));
    check_ok(arities_note(&net->arities, 0));
    check_ok(arities_note(&net->arities, 2));
    assert_int_equal(net->arities.n, 3);
    check_ok(cavs_model_create(&net->model));
    net->tree = tree_lstm_declare(net->model, CELL_CHILDSUM, &sizes);
    net->classifier = tree_lstm_classifier(net->model, net->tree, &sizes);
    check_ok(cavs_model_finish(net->model));
    check_ok(cavs_data_create(net->model, &net->data));
    for (int i = 0; i < TREES; i++)
        add_tree(net, i, children);
}

static void close_net(struct net *net)
{
    cavs_data_destroy(net->data);
    cavs_model_destroy(net->model);
    arities_clear(&net->arities);
}

/* The loss of each batch while it is trained. */
static void train(int children, double loss[BATCHES])
{
    struct cavs_session_options o = cavs_session_defaults();
    int batch[TREES] = {0, 1, 2};
    struct cavs_session *s;
    struct net net;
    double count;

    open_net(&net, children);
    o.lr = 0.02f;
    o.optimizer = CAVS_ADAM;
    check_ok(cavs_session_create(trial_runtime, net.model, &o, &s));
    for (int i = 0; i < BATCHES; i++) {
        check_ok(cavs_session_reset_metrics(s));
        check_ok(cavs_session_train(s, net.data, batch, TREES));
        check_ok(cavs_session_metric(s, "loss", &loss[i], &count));
    }
    cavs_session_destroy(s);
    close_net(&net);
}

static void many_children_have_the_named_ones_results(void **unused)
{
    double named[BATCHES], many[BATCHES];

    (void)unused;
    trial_compile(false);
    train(NAMED, named);
    train(ARITY_MANY, many);
    assert_true(named[BATCHES - 1] < 0.9 * named[0]);
    for (int i = 0; i < BATCHES; i++)
        assert_float_equal(many[i], named[i], 1e-4 * named[0]);
}

/* ---- numbers of children ---- */

static void functions_are_in_the_order_of_children(void **unused)
{
    static const int noted[] = {40, 3, 0, 8, 3, 1000, 9};
    static const char *const names[] = {"leaf", "inner3", "inner8", "many"};
    struct arities a = {0};
    char name[ARITY_NAME_SIZE];

    (void)unused;
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        check_ok(arities_note(&a, noted[i]));
    assert_int_equal(a.n, 4);
    for (int i = 0; i < a.n; i++)
        assert_string_equal(arities_name(&a, i, name), names[i]);
    assert_int_equal(arities_function(&a, 0), 0);
    assert_int_equal(arities_function(&a, 8), 2);
    assert_int_equal(arities_function(&a, 9), 3);
    assert_int_equal(arities_function(&a, 123456), 3);
    assert_int_equal(arities_function(&a, 4), -1);
    arities_clear(&a);
}

/* Files of earlier versions name every number of children. */
static void old_names_stand_for_one_number_of_children(void **unused)
{
    struct arities a = {0};
    char name[ARITY_NAME_SIZE];

    (void)unused;
    check_ok(arities_append(&a, "leaf"));
    check_ok(arities_append(&a, "inner2"));
    check_ok(arities_append(&a, "inner12"));
    assert_string_equal(arities_name(&a, 2, name), "inner12");
    assert_int_equal(arities_function(&a, 12), 2);
    assert_int_equal(arities_function(&a, 13), -1);
    assert_int_equal(arities_append(&a, "inner12"), CAVS_EDATA);
    assert_int_equal(arities_append(&a, "word"), CAVS_EDATA);
    arities_clear(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_children_have_the_named_ones_results),
        cmocka_unit_test(functions_are_in_the_order_of_children),
        cmocka_unit_test(old_names_stand_for_one_number_of_children),
    };

    return cmocka_run_group_tests_name("tree cells", tests, trial_runtime_up, trial_runtime_down);
}
