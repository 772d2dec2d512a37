/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_data.c - malformed samples are refused with the sample, vertex, input and value named, and
 * leave the data as they were; odd but sound samples are taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trial.h"

enum { WORDS = 11, CLASSES = 4 };

/* A tree of leaves (a word and a row each) and inner vertices (two children), a loss over its
 * roots, and a stage that reads any of its vertices by number. */
struct scene {
    struct cavs_model *m;
    struct cavs_data *d;
    struct cavs_stage *tree, *top, *reader;
};

static void build_tree(struct scene *a)
{
    struct cavs_param *table = zoo_weight(a->m, "table", WORDS, 3),
                      *w = zoo_weight(a->m, "W", 6, 3);
    a->tree = cavs_stage_create(a->m, "tree", 3);
    struct cavs_function *leaf = cavs_function_create(a->tree, "leaf");
    struct cavs_symbol *x =
        cavs_add(cavs_lookup(table, cavs_pull_ids(leaf, "word")), cavs_pull(leaf, "x", 3));
    cavs_scatter(leaf, x);
    cavs_push(leaf, "h", x);
    struct cavs_function *inner = cavs_function_create(a->tree, "inner");
    struct cavs_symbol *both[2] = {cavs_gather(inner, 0), cavs_gather(inner, 1)};
    struct cavs_symbol *h = cavs_matmul(cavs_concat(2, both), w);
    cavs_scatter(inner, h);
    cavs_push(inner, "h", h);
}

static int scene_open(void **state)
{
    struct scene *a = calloc(1, sizeof *a);
    cavs_model_create(&a->m);
    build_tree(a);
    a->top = cavs_stage_over(a->m, "top", a->tree, CAVS_ROOTS);
    struct cavs_function *f = cavs_function_create(a->top, "f");
    struct cavs_symbol *logits =
        cavs_matmul(cavs_pull_from(f, a->tree, "h", NULL), zoo_weight(a->m, "C", 3, CLASSES));
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, cavs_pull_ids(f, "label")), NULL);
    a->reader = cavs_stage_create(a->m, "reader", 0);
    struct cavs_function *g = cavs_function_create(a->reader, "g");
    cavs_loss(g, "read", cavs_sum(cavs_pull_from(g, a->tree, "h", "at")), NULL);
    *state = a;
    return cavs_model_finish(a->m) || cavs_data_create(a->m, &a->d);
}

static int scene_close(void **state)
{
    struct scene *a = *state;
    cavs_data_destroy(a->d);
    cavs_model_destroy(a->m);
    free(a);
    return 0;
}

/* Three leaves, two inner vertices, and everything else that a sample needs; tests spoil one
 * thing. */
struct draft {
    int n, functions[8], child_ptr[9], children[8];
    int nwords, words[8], nrows;
    float rows[24];
    int nlabels, labels[8];
    int nreaders, nat, at[8];
};

static struct draft sound(void)
{
    return (struct draft){
        .n = 5,
        .functions = {0, 0, 0, 1, 1},
        .child_ptr = {0, 0, 0, 0, 2, 4},
        .children = {0, 1, 3, 2},
        .nwords = 5,
        .words = {1, 10, -1, 0, 0},
        .nrows = 5,
        .nlabels = 1,
        .labels = {3},
        .nreaders = 2,
        .nat = 2,
        .at = {4, -1},
    };
}

/* The first error on the way, or what _end() says. */
static int add(struct scene *a, const struct draft *s)
{
    int rc = cavs_data_begin(a->d);
    if (!rc)
        rc = cavs_data_ids(a->d, a->tree, "word", s->nwords, s->words);
    if (!rc)
        rc = cavs_data_rows(a->d, a->tree, "x", s->nrows, s->rows);
    if (!rc)
        rc = cavs_data_graph(a->d, a->tree, s->n, s->functions, s->child_ptr, s->children);
    if (!rc)
        rc = cavs_data_ids(a->d, a->top, "label", s->nlabels, s->labels);
    if (!rc)
        rc = cavs_data_graph(a->d, a->reader, s->nreaders, NULL, NULL, NULL);
    if (!rc)
        rc = cavs_data_ids(a->d, a->reader, "at", s->nat, s->at);
    return rc ? rc : cavs_data_end(a->d);
}

/* A sound sample before and after the spoiled one: the data do not notice it. */
static void refused(struct scene *a, const struct draft *s, int code, const char *const *says)
{
    struct draft good = sound();
    check_ok(add(a, &good));
    check_refused_at(add(a, s), code, "the sample", __FILE__, __LINE__, says);
    assert_int_equal(cavs_data_size(a->d), 1);
    assert_int_equal(cavs_data_vertices(a->d, a->tree), 5);
    assert_int_equal(cavs_data_vertices(a->d, a->top), 1);
    assert_int_equal(cavs_data_vertices(a->d, a->reader), 2);
    assert_true(cavs_data_end(a->d) < 0);
    check_ok(add(a, &good));
    assert_int_equal(cavs_data_size(a->d), 2);
    assert_int_equal(cavs_data_vertices(a->d, a->tree), 10);
    assert_int_equal(cavs_data_sample_ids(a->d, a->tree, "word", 1)[1], 10);
}

#define REFUSED(a, s, code, ...) refused((a), (s), (code), (const char *const[]){__VA_ARGS__, NULL})

static void child_beyond_the_graph(void **state)
{
    struct draft s = sound();
    s.children[2] = 5;
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "vertex 4", "5");
}

static void child_below_minus_one(void **state)
{
    struct draft s = sound();
    s.children[1] = -2;
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "vertex 3", "-2");
}

static void cycle_of_two(void **state)
{
    struct draft s = sound();
    s.children[0] = 4;
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "cycle", "vertex");
}

static void vertex_that_is_its_own_child(void **state)
{
    struct draft s = sound();
    s.children[2] = 4;
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "cycle", "vertex 4");
}

static void more_children_than_slots(void **state)
{
    struct draft s = sound();
    int ptr[9] = {0, 0, 0, 0, 2, 5}, children[8] = {0, 1, 3, 2, 0};
    memcpy(s.child_ptr, ptr, sizeof ptr);
    memcpy(s.children, children, sizeof children);
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "vertex 4", "3");
}

static void children_of_a_leaf_function(void **state)
{
    struct draft s = sound();
    s.functions[3] = 0;
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "vertex 3", "2");
}

static void function_beyond_the_stage(void **state)
{
    struct draft s = sound();
    s.functions[1] = 2;
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "vertex 1", "function 2");
}

static void function_below_zero(void **state)
{
    struct draft s = sound();
    s.functions[0] = -1;
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "vertex 0", "-1");
}

static void child_pointers_that_descend(void **state)
{
    struct draft s = sound();
    s.child_ptr[2] = 3;
    s.child_ptr[3] = 1;
    REFUSED(*state, &s, CAVS_EGRAPH, "tree", "child_ptr[3] is less than child_ptr[2]");
}

static void child_pointers_that_start_late(void **state)
{
    struct draft s = sound();
    s.child_ptr[0] = 1;
    REFUSED(*state, &s, CAVS_EDATA, "tree", "child_ptr");
}

static void negative_number_of_vertices(void **state)
{
    struct draft s = sound();
    s.n = -1;
    REFUSED(*state, &s, CAVS_EDATA, "tree");
}

/* Numbers are looked at before any array is: those of the draft are not that long. */
static void vertices_that_no_batch_could_have(void **state)
{
    struct draft s = sound();
    s.nreaders = 536870912;
    REFUSED(*state, &s, CAVS_EDATA, "sample 1", "reader", "536870912 vertices", "536870911");
}

static void edges_that_no_batch_could_have(void **state)
{
    struct draft s = sound();
    s.child_ptr[5] = INT32_MAX;
    REFUSED(*state, &s, CAVS_EDATA, "sample 1", "tree", "2147483647 edges", "536870911");
}

static void values_that_no_batch_could_have(void **state)
{
    struct draft s = sound();
    s.nwords = INT32_MAX;
    REFUSED(*state, &s, CAVS_EDATA, "sample 1", "word", "2147483647 values", "536870911");
}

static void ids_too_few(void **state)
{
    struct draft s = sound();
    s.nwords = 4;
    REFUSED(*state, &s, CAVS_EDATA, "word", "4", "5");
}

static void ids_too_many(void **state)
{
    struct draft s = sound();
    s.nwords = 6;
    REFUSED(*state, &s, CAVS_EDATA, "word", "6", "5");
}

static void rows_too_few(void **state)
{
    struct draft s = sound();
    s.nrows = 0;
    REFUSED(*state, &s, CAVS_EDATA, "x", "0", "5");
}

static void negative_number_of_ids(void **state)
{
    struct draft s = sound();
    s.nwords = -5;
    REFUSED(*state, &s, CAVS_EDATA, "word");
}

static void labels_for_vertices_that_are_no_roots(void **state)
{
    struct draft s = sound();
    s.nlabels = 5;
    REFUSED(*state, &s, CAVS_EDATA, "label", "5", "1");
}

static void word_beyond_the_table(void **state)
{
    struct draft s = sound();
    s.words[1] = WORDS;
    REFUSED(*state, &s, CAVS_EDATA, "sample 1", "word", "vertex 1", "11");
}

static void word_below_minus_one(void **state)
{
    struct draft s = sound();
    s.words[2] = -2;
    REFUSED(*state, &s, CAVS_EDATA, "sample 1", "word", "vertex 2", "-2");
}

static void label_beyond_the_classes(void **state)
{
    struct draft s = sound();
    s.labels[0] = CLASSES;
    REFUSED(*state, &s, CAVS_EDATA, "sample 1", "label", "vertex 0", "4");
}

static void index_beyond_the_other_stage(void **state)
{
    struct draft s = sound();
    s.at[1] = 5;
    REFUSED(*state, &s, CAVS_EDATA, "sample 1", "at", "vertex 1", "5");
}

/* What an inner vertex does not pull may be anything. */
static void values_that_nobody_pulls_are_ignored(void **state)
{
    struct scene *a = *state;
    struct draft s = sound();
    s.words[3] = 12345;
    s.words[4] = -99;
    check_ok(add(a, &s));
}

/* ---- calls out of order ---- */

static void end_without_begin(void **state)
{
    struct scene *a = *state;
    check_refused(cavs_data_end(a->d), CAVS_ESTATE, "cavs_data_begin");
    check_refused(cavs_data_graph(a->d, a->tree, 0, NULL, NULL, NULL), CAVS_ESTATE,
                  "cavs_data_begin");
    check_refused(cavs_data_ids(a->d, a->tree, "word", 0, NULL), CAVS_ESTATE, "cavs_data_begin");
    check_refused(cavs_data_rows(a->d, a->tree, "x", 0, NULL), CAVS_ESTATE, "cavs_data_begin");
    assert_int_equal(cavs_data_size(a->d), 0);
}

static void begin_again_starts_over(void **state)
{
    struct scene *a = *state;
    struct draft s = sound();
    check_ok(cavs_data_begin(a->d));
    check_ok(cavs_data_ids(a->d, a->tree, "word", s.nwords, s.words));
    check_ok(cavs_data_graph(a->d, a->tree, s.n, s.functions, s.child_ptr, s.children));
    check_ok(add(a, &s));
    assert_int_equal(cavs_data_size(a->d), 1);
    assert_int_equal(cavs_data_vertices(a->d, a->tree), 5);
}

static void missing_graph(void **state)
{
    struct scene *a = *state;
    check_ok(cavs_data_begin(a->d));
    check_refused(cavs_data_end(a->d), CAVS_EDATA, "tree", "graph");
    assert_int_equal(cavs_data_size(a->d), 0);
}

static void missing_input(void **state)
{
    struct scene *a = *state;
    struct draft s = sound();
    check_ok(cavs_data_begin(a->d));
    check_ok(cavs_data_graph(a->d, a->tree, s.n, s.functions, s.child_ptr, s.children));
    check_ok(cavs_data_graph(a->d, a->reader, 0, NULL, NULL, NULL));
    check_ok(cavs_data_ids(a->d, a->top, "label", s.nlabels, s.labels));
    check_ok(cavs_data_rows(a->d, a->tree, "x", s.nrows, s.rows));
    check_refused(cavs_data_end(a->d), CAVS_EDATA, "word", "tree", "missing");
    assert_int_equal(cavs_data_size(a->d), 0);
}

static int give(struct scene *a, const struct cavs_stage *stage, const char *input, bool ids)
{
    struct draft s = sound();
    check_ok(cavs_data_begin(a->d));
    return ids ? cavs_data_ids(a->d, stage, input, 5, s.words)
               : cavs_data_rows(a->d, stage, input, 5, s.rows);
}

static void unknown_input(void **state)
{
    struct scene *a = *state;
    check_refused(give(a, a->tree, "sword", true), CAVS_EDATA, "sword", "tree");
    check_refused(give(a, a->top, "word", true), CAVS_EDATA, "word", "top");
    check_refused(give(a, a->tree, "label", true), CAVS_EDATA, "label", "tree");
    assert_true(give(a, a->tree, NULL, true) < 0);
    assert_true(give(a, NULL, "word", true) < 0);
}

static void input_of_the_other_kind(void **state)
{
    struct scene *a = *state;
    check_refused(give(a, a->tree, "x", true), CAVS_EDATA, "x", "rows");
    check_refused(give(a, a->tree, "word", false), CAVS_EDATA, "word", "ids");
}

static void input_given_twice(void **state)
{
    struct scene *a = *state;
    struct draft s = sound();
    check_ok(give(a, a->tree, "word", true));
    check_refused(cavs_data_ids(a->d, a->tree, "word", 5, s.words), CAVS_EDATA, "word");
    check_refused(cavs_data_end(a->d), CAVS_ESTATE, "begin");
}

static void graph_given_twice(void **state)
{
    struct scene *a = *state;
    check_ok(cavs_data_begin(a->d));
    check_ok(cavs_data_graph(a->d, a->tree, 0, NULL, NULL, NULL));
    assert_true(cavs_data_graph(a->d, a->tree, 0, NULL, NULL, NULL) < 0);
}

static void graph_for_a_stage_that_has_none(void **state)
{
    struct scene *a = *state;
    check_ok(cavs_data_begin(a->d));
    check_refused(cavs_data_graph(a->d, a->top, 1, NULL, NULL, NULL), CAVS_EDATA, "top", "tree");
}

static void stage_of_another_model(void **state)
{
    struct scene *a = *state;
    struct cavs_model *other = zoo_model(zoo_at(0));
    check_ok(cavs_data_begin(a->d));
    assert_true(cavs_data_graph(a->d, other->stages[0], 0, NULL, NULL, NULL) < 0);
    cavs_model_destroy(other);
}

static void data_of_an_unfinished_model(void **state)
{
    struct cavs_model *m;
    struct cavs_data *d = (void *)state;
    check_ok(cavs_model_create(&m));
    check_refused(cavs_data_create(m, &d), CAVS_ESTATE, "finish");
    assert_ptr_equal(d, state);
    cavs_model_destroy(m);
}

/* ---- sound samples ---- */

static void sample_without_vertices(void **state)
{
    struct scene *a = *state;
    struct draft s = {0};
    check_ok(add(a, &s));
    assert_int_equal(cavs_data_size(a->d), 1);
    assert_int_equal(cavs_data_vertices(a->d, a->tree), 0);
    assert_int_equal(cavs_data_vertices(a->d, a->top), 0);
    s = sound();
    check_ok(add(a, &s));
    assert_int_equal(cavs_data_sample_vertices(a->d, a->tree, 0), 0);
    assert_int_equal(cavs_data_sample_vertices(a->d, a->tree, 1), 5);
}

static void sample_of_one_vertex(void **state)
{
    struct scene *a = *state;
    struct draft s = {.n = 1, .nwords = 1, .words = {7}, .nrows = 1, .nlabels = 1};
    check_ok(add(a, &s));
    assert_int_equal(cavs_data_sample_vertices(a->d, a->tree, 0), 1);
    assert_int_equal(cavs_data_sample_vertices(a->d, a->top, 0), 1);
    assert_int_equal(cavs_data_sample_vertices(a->d, a->reader, 0), 0);
    assert_int_equal(*cavs_data_sample_ids(a->d, a->tree, "word", 0), 7);
}

static void vertices_in_any_order(void **state)
{
    struct scene *a = *state;
    struct draft s = {.n = 3,
                      .functions = {1, 0, 0},
                      .child_ptr = {0, 2, 2, 2},
                      .children = {2, 1},
                      .nwords = 3,
                      .nrows = 3,
                      .nlabels = 1,
                      .labels = {-1}};
    check_ok(add(a, &s));
    assert_int_equal(cavs_data_sample_vertices(a->d, a->top, 0), 1);
}

static void missing_children(void **state)
{
    struct scene *a = *state;
    struct draft s = sound();
    s.children[2] = -1; /* 3 becomes a root */
    s.nlabels = 2;
    check_ok(add(a, &s));
    assert_int_equal(cavs_data_sample_vertices(a->d, a->top, 0), 2);
}

static void questions_out_of_range(void **state)
{
    struct scene *a = *state;
    struct draft s = sound();
    int ids[9];
    check_ok(add(a, &s));
    assert_null(cavs_data_sample_ids(a->d, a->tree, "sword", 0));
    assert_null(cavs_data_sample_ids(a->d, a->tree, "x", 0));
    assert_null(cavs_data_sample_ids(a->d, a->tree, "word", 1));
    assert_null(cavs_data_sample_ids(a->d, a->tree, "word", -1));
    check_refused(cavs_data_copy_ids(a->d, a->tree, "sword", 0, 9, ids), CAVS_EINVAL, "sword");
    check_refused(cavs_data_copy_ids(a->d, a->tree, "x", 0, 9, ids), CAVS_EINVAL, "of ids");
    check_refused(cavs_data_copy_ids(a->d, a->tree, "word", 1, 9, ids), CAVS_EINVAL, "sample 1");
    check_refused(cavs_data_copy_ids(a->d, a->tree, "word", 0, 3, ids), CAVS_EINVAL, "room for 3");
    check_refused(cavs_data_copy_ids(a->d, a->tree, "word", 0, 9, NULL), CAVS_EINVAL, "room for 0");
    assert_int_equal(cavs_data_copy_ids(a->d, a->tree, "word", 0, 9, ids), 5);
    assert_memory_equal(ids, cavs_data_sample_ids(a->d, a->tree, "word", 0), 5 * sizeof *ids);
    assert_int_equal(cavs_data_sample_vertices(a->d, a->tree, 1), 0);
    assert_int_equal(cavs_data_vertices(a->d, NULL), 0);
}

static void many_samples_keep_their_values(void **state)
{
    struct scene *a = *state;
    enum { MANY = 2000 };
    for (int i = 0; i < MANY; i++) {
        struct draft s = sound();
        s.words[0] = i % WORDS;
        check_ok(add(a, &s));
        s.children[0] = 77;
        assert_int_equal(add(a, &s), CAVS_EGRAPH);
    }
    assert_int_equal(cavs_data_size(a->d), MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(cavs_data_sample_ids(a->d, a->tree, "word", i)[0], i % WORDS);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(child_beyond_the_graph),
        TEST(child_below_minus_one),
        TEST(cycle_of_two),
        TEST(vertex_that_is_its_own_child),
        TEST(more_children_than_slots),
        TEST(children_of_a_leaf_function),
        TEST(function_beyond_the_stage),
        TEST(function_below_zero),
        TEST(child_pointers_that_descend),
        TEST(child_pointers_that_start_late),
        TEST(negative_number_of_vertices),
        TEST(vertices_that_no_batch_could_have),
        TEST(edges_that_no_batch_could_have),
        TEST(values_that_no_batch_could_have),
        TEST(ids_too_few),
        TEST(ids_too_many),
        TEST(rows_too_few),
        TEST(negative_number_of_ids),
        TEST(labels_for_vertices_that_are_no_roots),
        TEST(word_beyond_the_table),
        TEST(word_below_minus_one),
        TEST(label_beyond_the_classes),
        TEST(index_beyond_the_other_stage),
        TEST(values_that_nobody_pulls_are_ignored),
        TEST(end_without_begin),
        TEST(begin_again_starts_over),
        TEST(missing_graph),
        TEST(missing_input),
        TEST(unknown_input),
        TEST(input_of_the_other_kind),
        TEST(input_given_twice),
        TEST(graph_given_twice),
        TEST(graph_for_a_stage_that_has_none),
        TEST(stage_of_another_model),
        TEST(data_of_an_unfinished_model),
        TEST(sample_without_vertices),
        TEST(sample_of_one_vertex),
        TEST(vertices_in_any_order),
        TEST(missing_children),
        TEST(questions_out_of_range),
        TEST(many_samples_keep_their_values),
    };
    return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
