/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wide.c - functions that name thousands of children are planned in seconds, to the numbers of
 * a function that reads its children all alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/trial.h"

enum { WIDTH = 8, WORDS = 10, STEPS = 3 };

struct wide {
    struct cavs_model *model;
    struct cavs_stage *stage;
    struct cavs_data *data;
    struct cavs_param *W, *b;
};

static struct cavs_symbol *gate(const struct wide *w, struct cavs_symbol *x)
{
    return cavs_mul(cavs_sigmoid(cavs_affine(x, w->W, w->b)), x);
}

/* tanh of the sum of all children, and of a gated sum of them, each of which has a product */
static struct cavs_symbol *named(const struct wide *w, struct cavs_function *f, int n)
{
    struct cavs_symbol *sum = cavs_gather(f, 0), *gated = gate(w, sum);

    for (int k = 1; k < n; k++) {
        struct cavs_symbol *child = cavs_gather(f, k);

        sum = cavs_add(sum, child);
        gated = cavs_add(gated, gate(w, child));
    }
    return cavs_add(sum, gated);
}

static struct cavs_symbol *alike(const struct wide *w, struct cavs_function *f)
{
    struct cavs_symbol *child = cavs_each_child(f);

    return cavs_add(cavs_sum_children(child), cavs_sum_children(gate(w, child)));
}

static void declare(struct wide *w, int n, bool by_name)
{
    struct cavs_function *leaf, *f;
    struct cavs_param *table;
    struct cavs_symbol *h;

    check_ok(cavs_model_create(&w->model));
    w->stage = cavs_stage_create(w->model, "tree", WIDTH);
    leaf = cavs_function_create(w->stage, "leaf");
    f = cavs_function_create(w->stage, "wide");
    table = cavs_model_param(w->model, "table", WORDS, WIDTH, CAVS_UNIFORM(-0.5f, 0.5f));
    w->W = cavs_model_param(w->model, "W", WIDTH, WIDTH, cavs_init_glorot(WIDTH, WIDTH));
    w->b = cavs_model_param(w->model, "b", 1, WIDTH, CAVS_CONSTANT(0));
    cavs_scatter(leaf, cavs_tanh(cavs_lookup(table, cavs_pull_ids(leaf, "word"))));
    h = cavs_tanh(cavs_scale(by_name ? named(w, f, n) : alike(w, f), 1.0f / (float)n));
    cavs_scatter(f, h);
    cavs_loss(f, "loss", cavs_sum(cavs_square(cavs_shift(h, -0.5f))), NULL);
    check_ok(cavs_model_finish(w->model));
}

static void add_sample(struct wide *w, int n)
{
    int *memory = calloc(4 * ((size_t)n + 2), sizeof *memory), *function = memory,
        *ptr = function + n + 2, *child = ptr + n + 2, *word = child + n + 2;

    assert_non_null(memory);
    for (int v = 0; v < n; v++) {
        child[v] = v;
        word[v] = v * 7 % WORDS;
    }
    function[n] = 1;
    ptr[n + 1] = n;
    word[n] = -1;
    check_ok(cavs_data_create(w->model, &w->data));
    check_ok(cavs_data_begin(w->data));
    check_ok(cavs_data_graph(w->data, w->stage, n + 1, function, ptr, child));
    check_ok(cavs_data_ids(w->data, w->stage, "word", n + 1, word));
    check_ok(cavs_data_end(w->data));
    free(memory);
}

/* What this thread has worked; other programs and the workers do not count. */
static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The loss of each step; the time until the first one. */
static double train(int n, bool by_name, double loss[STEPS])
{
    struct cavs_session_options o = cavs_session_defaults();
    double start = seconds(), ready, count;
    struct cavs_session *s;
    struct wide w;
    int batch = 0;

    declare(&w, n, by_name);
    add_sample(&w, n);
    o.lr = 0.1f;
    check_ok(cavs_session_create(trial_runtime, w.model, &o, &s));
    ready = seconds() - start;
    for (int i = 0; i < STEPS; i++) {
        check_ok(cavs_session_reset_metrics(s));
        check_ok(cavs_session_train(s, w.data, &batch, 1));
        check_ok(cavs_session_metric(s, "loss", &loss[i], &count));
    }
    cavs_session_destroy(s);
    cavs_data_destroy(w.data);
    cavs_model_destroy(w.model);
    return ready;
}

/* The time of the function that names its children. */
static double check_alike(int n)
{
    double of_named[STEPS], of_alike[STEPS], time = train(n, true, of_named);

    train(n, false, of_alike);
    assert_true(of_named[STEPS - 1] < of_named[0]);
    for (int i = 0; i < STEPS; i++)
        assert_float_equal(of_named[i], of_alike[i], 1e-4 * of_alike[0]);
    return time;
}

/* 3 items a child, and as many groups of 64 as it takes: cut, compiled, and right. */
static void cut_groups_have_the_results_of_a_sum(void **unused)
{
    (void)unused;
    trial_compile(true);
    check_alike(150);
    trial_compile(false);
}

/* Where all items are searched for each of them, the longer one takes sixteen times as long, or
 * more. */
static void thousands_of_children_may_have_names(void **unused)
{
    double shorter = check_alike(500), longer = check_alike(2000);

    (void)unused;
    if (longer > 5 && longer > 12 * shorter)
        fail_msg("500 children: %.2f s, 2000 children: %.2f s", shorter, longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_groups_have_the_results_of_a_sum),
        cmocka_unit_test(thousands_of_children_may_have_names),
    };

    return cmocka_run_group_tests_name("wide functions", tests, trial_runtime_up,
                                       trial_runtime_down);
}
