/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pulled.c - inputs that are given only for the vertices whose function pulls them: the same
 * results as with values for all, of every kind of input; and counts that the library gives instead
 * of its caller.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/trial.h"

enum { W = 3, WORDS = 9, N = 6, EDGES = 6 };

/* Function "reads" pulls an input of each kind, function "joins" none. */
struct scene {
    struct cavs_model *m;
    struct cavs_stage *s, *top;
    struct cavs_data *d[2];
};

static void build(struct scene *a)
{
    struct cavs_param *words = zoo_weight(a->m, "words", WORDS, W),
                      *kinds = zoo_weight(a->m, "kinds", WORDS, W),
                      *u = zoo_weight(a->m, "U", W, W);
    a->s = cavs_stage_create(a->m, "s", W);
    struct cavs_function *f = cavs_function_create(a->s, "reads");
    struct cavs_symbol *x =
        cavs_add(cavs_lookup(words, cavs_pull_ids(f, "word")), cavs_pull(f, "x", W));
    struct cavs_symbol *child = cavs_mul(cavs_each_child(f), cavs_pull_edge(f, "strength", 1));
    child = cavs_add(child, cavs_lookup(kinds, cavs_pull_edge_ids(f, "kind")));
    struct cavs_symbol *near = cavs_lookup(words, cavs_pull_list_ids(f, "near"));
    struct cavs_symbol *h = cavs_tanh(
        cavs_add(cavs_matmul(cavs_add(x, cavs_sum_children(child)), u), cavs_sum_children(near)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    f = cavs_function_create(a->s, "joins");
    h = cavs_tanh(cavs_sub(cavs_gather(f, 0), cavs_scale(cavs_gather(f, 1), 2)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    a->top = cavs_stage_over(a->m, "top", a->s, CAVS_ROOTS);
    f = cavs_function_create(a->top, "f");
    cavs_loss(
        f, "loss",
        cavs_softmax_cross_entropy(cavs_pull_from(f, a->s, "h", NULL), cavs_pull_ids(f, "label")),
        NULL);
}

static int scene_open(void **state)
{
    struct scene *a = calloc(1, sizeof *a);
    assert_non_null(a);
    check_ok(cavs_model_create(&a->m));
    build(a);
    check_ok(cavs_model_finish(a->m));
    for (int i = 0; i < 2; i++)
        check_ok(cavs_data_create(a->m, &a->d[i]));
    *state = a;
    return 0;
}

static int scene_close(void **state)
{
    struct scene *a = *state;
    for (int i = 0; i < 2; i++)
        cavs_data_destroy(a->d[i]);
    cavs_model_destroy(a->m);
    free(a);
    return 0;
}

/* Vertices 0, 1, 3 and 4 read, 2 and 5 join; 4 and 5 are roots. */
static const int functions[N] = {0, 0, 1, 0, 0, 1}, ptr[N + 1] = {0, 0, 0, 2, 3, 4, 6},
                 children[EDGES] = {0, 1, 2, -1, 3, 2};

/* For all vertices, edges and lists; what joining vertices have is never read. */
static const int words[N] = {1, 2, 77, 3, -1, 88}, kinds[EDGES] = {55, 66, 4, 5, 77, 88},
                 near_ptr[N + 1] = {0, 2, 2, 3, 3, 6, 7}, near[7] = {1, 2, 99, 3, 4, 5, 99},
                 labels[2] = {1, 2};
static const float xs[N][W] = {{.1f, .2f, .3f}, {.4f, .5f, .6f}, {9, 9, 9},
                               {.7f, .8f, .9f}, {1, 1.1f, 1.2f}, {9, 9, 9}},
                   strengths[EDGES] = {9, 9, .3f, .4f, 9, 9};

static void graph(struct scene *a, struct cavs_data *d)
{
    check_ok(cavs_data_graph(d, a->s, N, functions, ptr, children));
}

static void add_all(struct scene *a, struct cavs_data *d)
{
    check_ok(cavs_data_begin(d));
    graph(a, d);
    check_ok(cavs_data_ids(d, a->s, "word", N, words));
    check_ok(cavs_data_rows(d, a->s, "x", N, xs[0]));
    check_ok(cavs_data_edge_ids(d, a->s, "kind", EDGES, kinds));
    check_ok(cavs_data_edge_rows(d, a->s, "strength", EDGES, strengths));
    check_ok(cavs_data_ragged_ids(d, a->s, "near", N, near_ptr, near));
    check_ok(cavs_data_ids(d, a->top, "label", 2, labels));
    check_ok(cavs_data_end(d));
}

static int add_pulled(struct scene *a, struct cavs_data *d, bool graph_first)
{
    float x[4][W], strength[2] = {strengths[2], strengths[3]};
    check_ok(cavs_data_begin(d));
    if (graph_first)
        graph(a, d);
    memcpy(x[0], xs[0], sizeof x[0]);
    memcpy(x[1], xs[1], sizeof x[1]);
    memcpy(x[2], xs[3], sizeof x[2]);
    memcpy(x[3], xs[4], sizeof x[3]);
    check_ok(cavs_data_ids(d, a->s, "word", 4, (const int[]){1, 2, 3, -1}));
    check_ok(cavs_data_rows(d, a->s, "x", 4, x[0]));
    check_ok(cavs_data_edge_ids(d, a->s, "kind", 2, (const int[]){4, 5}));
    check_ok(cavs_data_edge_rows(d, a->s, "strength", 2, strength));
    check_ok(cavs_data_ragged_ids(d, a->s, "near", 4, (const int[]){0, 2, 2, 2, 5},
                                  (const int[]){1, 2, 3, 4, 5}));
    check_ok(cavs_data_ids(d, a->top, "label", 2, labels));
    if (!graph_first)
        graph(a, d);
    return cavs_data_end(d);
}

/* Two vertices that join, and nothing for anybody to pull. */
static int add_bare(struct scene *a, struct cavs_data *d)
{
    check_ok(cavs_data_begin(d));
    check_ok(
        cavs_data_graph(d, a->s, 2, (const int[]){1, 1}, (const int[]){0, 1, 1}, (const int[]){1}));
    check_ok(cavs_data_ids(d, a->top, "label", 1, labels));
    return cavs_data_end(d);
}

struct result {
    double loss, n;
    float h[4 * N][W], words[WORDS][W], kinds[WORDS][W], u[W][W];
};

static struct result result_of(struct scene *a, const struct cavs_data *d)
{
    struct result r = {0};
    struct cavs_session *s;
    const int batch[] = {1, 0};
    check_ok(cavs_session_create(trial_runtime, a->m, NULL, &s));
    check_ok(cavs_session_gradient(s, d, batch, 2));
    check_ok(cavs_session_get_gradient(s, cavs_model_find_param(a->m, "words"), r.words[0]));
    check_ok(cavs_session_get_gradient(s, cavs_model_find_param(a->m, "kinds"), r.kinds[0]));
    check_ok(cavs_session_get_gradient(s, cavs_model_find_param(a->m, "U"), r.u[0]));
    check_ok(cavs_session_output(s, d, batch, 2, a->s, "h", r.h[0]));
    check_ok(cavs_session_metric(s, "loss", &r.loss, &r.n));
    cavs_session_destroy(s);
    return r;
}

static void check_same(struct scene *a)
{
    struct result all = result_of(a, a->d[0]), pulled = result_of(a, a->d[1]);
    assert_true(all.loss > 0 && all.n == 8 && all.u[0][0] != 0 && all.kinds[4][0] != 0);
    assert_true(all.loss == pulled.loss && all.n == pulled.n);
    assert_memory_equal(all.h, pulled.h, sizeof all.h);
    assert_memory_equal(all.words, pulled.words, sizeof all.words);
    assert_memory_equal(all.kinds, pulled.kinds, sizeof all.kinds);
    assert_memory_equal(all.u, pulled.u, sizeof all.u);
}

static void same_results_as_with_values_for_all(void **state)
{
    struct scene *a = *state;
    for (int i = 0; i < 2; i++) {
        add_all(a, a->d[0]);
        check_ok(add_pulled(a, a->d[1], i == 0));
    }
    check_same(a);
}

static void the_same_from_a_packed_file(void **state)
{
    struct scene *a = *state;
    char path[] = "/tmp/cavs-test-pulled.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    cavs_data_destroy(a->d[1]);
    check_ok(cavs_data_pack(a->m, path, &a->d[1]));
    for (int i = 0; i < 2; i++) {
        add_all(a, a->d[0]);
        check_ok(add_pulled(a, a->d[1], i == 0));
    }
    check_ok(cavs_data_write(a->d[1]));
    cavs_data_destroy(a->d[1]);
    check_ok(cavs_data_open(a->m, path, &a->d[1]));
    unlink(path);
    check_same(a);
}

/* They have a place, too, and may be rewritten in it. */
static void ids_of_all_vertices_are_kept(void **state)
{
    struct scene *a = *state;
    const int want[N] = {1, 2, -1, 3, -1, -1}, kind[EDGES] = {-1, -1, 4, 5, -1, -1};
    check_ok(add_pulled(a, a->d[1], true));
    check_ok(add_pulled(a, a->d[1], false));
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(cavs_data_sample_ids(a->d[1], a->s, "word", i), want, sizeof want);
        assert_memory_equal(cavs_data_sample_ids(a->d[1], a->s, "kind", i), kind, sizeof kind);
        assert_int_equal(cavs_data_sample_ids(a->d[1], a->s, "near", i)[4], 5);
    }
}

static void what_nobody_pulls_may_be_left_out(void **state)
{
    struct scene *a = *state;
    check_ok(add_pulled(a, a->d[1], true));
    check_ok(add_bare(a, a->d[1]));
    assert_int_equal(cavs_data_size(a->d[1]), 2);
    struct result r = result_of(a, a->d[1]);
    assert_true(r.n == 6); /* three roots, twice: a gradient and an output */
}

static void other_numbers_of_values_are_refused(void **state)
{
    struct scene *a = *state;
    struct cavs_data *d = a->d[0];
    check_ok(add_pulled(a, d, true));
    for (int n = 0; n <= N + 1; n++) {
        check_ok(cavs_data_begin(d));
        graph(a, d);
        check_ok(cavs_data_rows(d, a->s, "x", N, xs[0]));
        check_ok(cavs_data_ids(d, a->s, "word", n, (const int[N + 1]){0}));
        if (n == 4 || n == N)
            check_refused(cavs_data_end(d), CAVS_EDATA, "missing");
        else
            check_refused(cavs_data_end(d), CAVS_EDATA, "sample 1", "word", "for 6 vertices",
                          "(4 of functions that pull it)");
    }
    check_ok(cavs_data_begin(d));
    graph(a, d);
    check_ok(cavs_data_ids(d, a->s, "word", N, words));
    check_ok(cavs_data_rows(d, a->s, "x", N, xs[0]));
    check_ok(cavs_data_edge_rows(d, a->s, "strength", EDGES, strengths));
    check_ok(cavs_data_edge_ids(d, a->s, "kind", 3, kinds));
    check_refused(cavs_data_end(d), CAVS_EDATA, "3 values for 6 edges (2 of functions");
    assert_int_equal(cavs_data_size(d), 1);
}

/* ---- ids of vertices ---- */

/* Of stage "pairs", function "fetches" reads rows of stage s through ids, function "rests" reads
 * nothing. */
static struct cavs_stage *build_pairs(struct cavs_model *m, struct cavs_stage *s)
{
    struct cavs_param *u = zoo_weight(m, "U", W, W);
    struct cavs_function *f = cavs_function_create(s, "f");
    cavs_push(f, "h", cavs_lookup(zoo_weight(m, "words", WORDS, W), cavs_pull_ids(f, "word")));
    struct cavs_stage *pairs = cavs_stage_create(m, "pairs", 0);
    f = cavs_function_create(pairs, "fetches");
    struct cavs_symbol *y = cavs_matmul(cavs_pull_from(f, s, "h", "which"), u);
    cavs_push(f, "y", y);
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(y, cavs_pull_ids(f, "label")), NULL);
    f = cavs_function_create(pairs, "rests");
    cavs_push(f, "y", cavs_pull(f, "x", W));
    return pairs;
}

/* The last vertex fetches nothing, and has an id that no vertex of s has. */
static void add_pair(struct cavs_data *d, struct cavs_stage *s, struct cavs_stage *pairs, int id)
{
    check_ok(cavs_data_begin(d));
    check_ok(cavs_data_graph(d, s, 2, NULL, NULL, NULL));
    check_ok(cavs_data_ids(d, s, "word", 2, (const int[]){3, 5}));
    check_ok(cavs_data_graph(d, pairs, 2, (const int[]){0, 1}, NULL, NULL));
    check_ok(cavs_data_ids(d, pairs, "which", 2, (const int[]){1, id}));
    check_ok(cavs_data_ids(d, pairs, "label", 2, (const int[]){2, id}));
    check_ok(cavs_data_rows(d, pairs, "x", 1, xs[1]));
    check_ok(cavs_data_end(d));
}

static void vertices_that_fetch_nothing_may_have_any_id(void **state)
{
    const int ids[] = {-1, 1 << 29, -(1 << 29)};
    float y[3][2][W], gradient[3][WORDS][W];
    struct cavs_model *m;
    struct cavs_data *d;
    struct cavs_session *session;

    (void)state;
    check_ok(cavs_model_create(&m));
    struct cavs_stage *s = cavs_stage_create(m, "s", 0), *pairs = build_pairs(m, s);
    check_ok(cavs_model_finish(m));
    check_ok(cavs_data_create(m, &d));
    check_ok(cavs_session_create(trial_runtime, m, NULL, &session));
    for (int i = 0; i < 3; i++) {
        add_pair(d, s, pairs, ids[i]);
        check_ok(cavs_session_output(session, d, &i, 1, pairs, "y", y[i][0]));
        check_ok(cavs_session_gradient(session, d, &i, 1));
        check_ok(
            cavs_session_get_gradient(session, cavs_model_find_param(m, "words"), gradient[i][0]));
        assert_memory_equal(y[i], y[0], sizeof y[i]);
        assert_memory_equal(gradient[i], gradient[0], sizeof gradient[i]);
    }
    assert_memory_equal(y[0][1], xs[1], sizeof xs[1]);
    assert_true(gradient[0][5][0] != 0);
    cavs_session_destroy(session);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

/* ---- counts and widths ---- */

static void roots_are_counted_while_a_sample_is_added(void **state)
{
    struct scene *a = *state;
    struct cavs_data *d = a->d[0];
    add_all(a, d);
    check_ok(cavs_data_begin(d));
    assert_int_equal(cavs_data_sample_vertices(d, a->top, 1), 0);
    graph(a, d);
    assert_int_equal(cavs_data_sample_vertices(d, a->s, 1), N);
    assert_int_equal(cavs_data_sample_vertices(d, a->top, 1), 2);
    assert_int_equal(cavs_data_sample_vertices(d, a->top, 2), 0);
    assert_int_equal(cavs_data_vertices(d, a->top), 2);
    check_refused(cavs_data_end(d), CAVS_EDATA, "missing");
    assert_int_equal(cavs_data_sample_vertices(d, a->top, 1), 0);
}

static void rows_that_samples_give(void **state)
{
    struct scene *a = *state;
    const int samples[] = {0, 1, 0};
    add_all(a, a->d[0]);
    check_ok(add_bare(a, a->d[0]));
    assert_int_equal(cavs_data_batch_vertices(a->d[0], a->s, samples, 3), 2 * N + 2);
    assert_int_equal(cavs_data_batch_vertices(a->d[0], a->top, samples, 3), 5);
    assert_int_equal(cavs_data_batch_vertices(a->d[0], a->top, NULL, 0), 0);
    assert_int_equal(cavs_data_batch_vertices(NULL, a->top, samples, 3), 0);
}

static void what_was_declared(void **state)
{
    struct scene *a = *state;
    assert_int_equal(cavs_model_stage_count(a->m), 2);
    assert_ptr_equal(cavs_model_stage_at(a->m, 1), a->top);
    assert_null(cavs_model_stage_at(a->m, 2));
    assert_ptr_equal(cavs_model_find_stage(a->m, "s"), a->s);
    assert_null(cavs_model_find_stage(a->m, "t"));
    assert_string_equal(cavs_stage_name(a->top), "top");
    assert_int_equal(cavs_stage_state_width(a->s), W);
    assert_int_equal(cavs_stage_function_count(a->s), 2);
    assert_string_equal(cavs_function_name(cavs_stage_function_at(a->s, 1)), "joins");
    assert_null(cavs_stage_function_at(a->s, -1));
    assert_int_equal(cavs_stage_channel_count(a->s), 1);
    assert_string_equal(cavs_stage_channel_at(a->s, 0), "h");
    assert_null(cavs_stage_channel_at(a->top, 0));
    assert_int_equal(cavs_channel_width(a->s, "h"), W);
    assert_int_equal(cavs_channel_width(a->top, "h"), 0);
    assert_int_equal(cavs_channel_width(NULL, NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(same_results_as_with_values_for_all),
        TEST(the_same_from_a_packed_file),
        TEST(ids_of_all_vertices_are_kept),
        TEST(what_nobody_pulls_may_be_left_out),
        TEST(other_numbers_of_values_are_refused),
        cmocka_unit_test(vertices_that_fetch_nothing_may_have_any_id),
        TEST(roots_are_counted_while_a_sample_is_added),
        TEST(rows_that_samples_give),
        TEST(what_was_declared),
    };
    return cmocka_run_group_tests_name("pulled", tests, trial_runtime_up, trial_runtime_down);
}
