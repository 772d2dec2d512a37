/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kept.c - batches that come again are prepared once, and nothing but time tells: numbers are
 * those of a session that prepares each anew, also where ids have been written to, data are other
 * data, memory is short, or others take a batch's place.
 */
#include <stdlib.h>
#include <string.h>

#include "core/run/session.h"
#include "tests/random.h"
#include "tests/trial.h"

enum {
    WORDS = 50,
    LABELS = 5,
    WIDTH = 8,
    LENGTH = 40, /* of a sample */
    SAMPLES = 64,
    K = 16,       /* samples of a batch: more than 256 vertices */
    LATELY = 4096 /* batches for which one is remembered */
};

/* ---- a model, and two sessions: one keeps batches ---- */

struct scene {
    struct cavs_model *model;
    struct cavs_stage *chain;
    struct cavs_data *data;
    struct cavs_session *keeping, *other;
};

/* Chains that look words up, read rows and drop some of it, with a loss at each vertex. */
static struct cavs_model *build(struct cavs_stage **chain)
{
    struct cavs_model *m = NULL;
    check_ok(cavs_model_create(&m));
    *chain = cavs_stage_create(m, "chain", WIDTH);
    struct cavs_function *f = cavs_function_create(*chain, "step");
    struct cavs_symbol *parts[] = {
        cavs_lookup(cavs_model_param(m, "words", WORDS, WIDTH, CAVS_UNIFORM(-1, 1)),
                    cavs_pull_ids(f, "word")),
        cavs_pull(f, "row", 3), cavs_gather(f, 0)};
    struct cavs_param *w = cavs_model_param(m, "W", 2 * WIDTH + 3, WIDTH, CAVS_UNIFORM(-1, 1));
    struct cavs_symbol *x = cavs_dropout(cavs_tanh(cavs_matmul(cavs_concat(3, parts), w)), 0.25f);
    cavs_scatter(f, x);
    cavs_push(f, "x", x);
    f = cavs_function_create(cavs_stage_over(m, "head", *chain, CAVS_ALL_VERTICES), "head");
    x = cavs_matmul(cavs_pull_from(f, *chain, "x", NULL),
                    cavs_model_param(m, "V", WIDTH, LABELS, CAVS_UNIFORM(-1, 1)));
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(x, cavs_pull_ids(f, "label")), NULL);
    check_ok(cavs_model_finish(m));
    return m;
}

static struct cavs_data *fill(const struct scene *a, uint64_t seed)
{
    struct cavs_data *d = NULL;
    const struct cavs_stage *head = a->model->stages[1];
    check_ok(cavs_data_create(a->model, &d));
    for (int i = 0; i < SAMPLES; i++) {
        int words[LENGTH], labels[LENGTH], ptr[LENGTH + 1] = {0}, child[LENGTH];
        float rows[LENGTH * 3];
        for (int v = 0; v < LENGTH; v++) {
            words[v] = (int)random_double(&seed, 0, WORDS);
            labels[v] = (int)random_double(&seed, 0, LABELS);
            ptr[v + 1] = v + 1;
            child[v] = v - 1;
            for (int c = 0; c < 3; c++)
                rows[3 * v + c] = (float)random_double(&seed, -1, 1);
        }
        check_ok(cavs_data_begin(d));
        check_ok(cavs_data_graph(d, a->chain, LENGTH, NULL, ptr, child));
        check_ok(cavs_data_ids(d, a->chain, "word", LENGTH, words));
        check_ok(cavs_data_rows(d, a->chain, "row", LENGTH, rows));
        check_ok(cavs_data_ids(d, head, "label", LENGTH, labels));
        check_ok(cavs_data_end(d));
    }
    return d;
}

static struct scene *scene_of(void **state)
{
    return *state;
}

static int scene_open(void **state)
{
    struct scene *a = calloc(1, sizeof *a);
    struct cavs_session_options o = cavs_session_defaults();
    o.shards = 2;
    o.optimizer = CAVS_ADAM;
    a->model = build(&a->chain);
    a->data = fill(a, 1);
    o.keep_mb = 2;
    check_ok(cavs_session_create(trial_runtime, a->model, &o, &a->keeping));
    o.keep_mb = 0;
    check_ok(cavs_session_create(trial_runtime, a->model, &o, &a->other));
    *state = a;
    return 0;
}

static int scene_close(void **state)
{
    struct scene *a = scene_of(state);
    cavs_session_destroy(a->keeping);
    cavs_session_destroy(a->other);
    cavs_data_destroy(a->data);
    cavs_model_destroy(a->model);
    free(a);
    return 0;
}

/* K samples from `first` on, around the end. */
static const int *batch_from(int first, int *samples)
{
    for (int i = 0; i < K; i++)
        samples[i] = (first + i) % SAMPLES;
    return samples;
}

/* One batch in both sessions. */
static void run_both(struct scene *a, const struct cavs_data *d, const int *samples, bool train)
{
    struct cavs_session *both[] = {a->keeping, a->other};
    for (int i = 0; i < 2; i++)
        check_ok(train ? cavs_session_train(both[i], d, samples, K)
                       : cavs_session_evaluate(both[i], d, samples, K));
}

static void same_param(struct scene *a, const struct cavs_param *p)
{
    size_t bytes = (size_t)(cavs_param_rows(p) * cavs_param_cols(p)) * sizeof(float);
    float *mine = malloc(bytes), *theirs = malloc(bytes);
    check_ok(cavs_session_get_param(a->keeping, p, mine));
    check_ok(cavs_session_get_param(a->other, p, theirs));
    assert_memory_equal(mine, theirs, bytes);
    free(mine);
    free(theirs);
}

/* To the last bit. */
static void both_are_the_same(struct scene *a)
{
    double mine = -1, theirs = -2;
    check_ok(cavs_session_metric(a->keeping, "loss", &mine, NULL));
    check_ok(cavs_session_metric(a->other, "loss", &theirs, NULL));
    assert_memory_equal(&mine, &theirs, sizeof mine);
    for (int i = 0; i < cavs_model_param_count(a->model); i++)
        same_param(a, cavs_model_param_at(a->model, i));
}

/* Epochs of `each` training batches, with evaluations between them. */
static void run_epochs(struct scene *a, int epochs, int each)
{
    int samples[K];
    for (int e = 0; e < epochs; e++) {
        for (int i = 0; i < each; i++)
            run_both(a, a->data, batch_from(5 * i, samples), true);
        run_both(a, a->data, batch_from(3, samples), false);
        run_both(a, a->data, batch_from(7, samples), false);
    }
}

/* ---- what is kept ---- */

/* In either slot: dropout draws other numbers each time. */
static void numbers_are_those_of_batches_prepared_anew(void **state)
{
    struct scene *a = scene_of(state);
    run_epochs(a, 5, 1);
    run_epochs(a, 5, 4);
    both_are_the_same(a);
    assert_int_equal(a->keeping->kept.n, 6);
    assert_int_equal(a->other->kept.n, 0);
}

static void one_batch_again_and_again_draws_anew(void **state)
{
    struct scene *a = scene_of(state);
    int samples[K];
    for (int i = 0; i < 9; i++)
        run_both(a, a->data, batch_from(0, samples), true);
    both_are_the_same(a);
    assert_int_equal(a->keeping->kept.n, 1);
}

static void batches_that_come_once_are_not_kept(void **state)
{
    struct scene *a = scene_of(state);
    int samples[K];
    for (int i = 0; i < SAMPLES; i++)
        run_both(a, a->data, batch_from(i, samples), true);
    assert_int_equal(a->keeping->kept.n, 0);
    assert_int_equal(a->keeping->kept.bytes, 0);
}

/* The same samples in another order, or for another purpose, are another batch. */
static void order_and_purpose_make_a_batch(void **state)
{
    struct scene *a = scene_of(state);
    int there[K], back[K];
    batch_from(0, there);
    for (int i = 0; i < K; i++)
        back[i] = there[K - 1 - i];
    for (int i = 0; i < 4; i++) {
        run_both(a, a->data, there, true);
        run_both(a, a->data, back, true);
        run_both(a, a->data, back, false);
    }
    both_are_the_same(a);
    assert_int_equal(a->keeping->kept.n, 3);
}

static void outputs_and_gradients_are_of_the_batch(void **state)
{
    struct scene *a = scene_of(state);
    int samples[K], other[K];
    enum { N = K * LENGTH * WIDTH };
    float *mine = malloc(N * sizeof *mine), *theirs = malloc(N * sizeof *theirs);
    struct cavs_param *words = cavs_model_find_param(a->model, "words");
    for (int i = 0; i < 4; i++) {
        run_both(a, a->data, batch_from(11, other), true);
        check_ok(cavs_session_output(a->keeping, a->data, batch_from(5, samples), K, a->chain, "x",
                                     mine));
        check_ok(cavs_session_output(a->other, a->data, samples, K, a->chain, "x", theirs));
        assert_memory_equal(mine, theirs, N * sizeof *mine);
        check_ok(cavs_session_gradient(a->keeping, a->data, samples, K));
        check_ok(cavs_session_gradient(a->other, a->data, samples, K));
        check_ok(cavs_session_get_gradient(a->keeping, words, mine));
        check_ok(cavs_session_get_gradient(a->other, words, theirs));
        assert_memory_equal(mine, theirs, WORDS * WIDTH * sizeof *mine);
    }
    assert_int_equal(a->keeping->kept.n, 3);
    free(mine);
    free(theirs);
}

/* ---- what is not the same ---- */

static void ids_that_were_written_to_are_seen(void **state)
{
    struct scene *a = scene_of(state);
    int samples[K];
    batch_from(0, samples);
    for (int i = 0; i < 8; i++) {
        int *words = cavs_data_sample_ids(a->data, a->chain, "word", 15);
        assert_non_null(words);
        if (i % 3 == 0)
            words[LENGTH - 1] = (words[LENGTH - 1] + 1) % WORDS;
        run_both(a, a->data, samples, true);
    }
    both_are_the_same(a);
    assert_int_equal(a->keeping->kept.n, 1);
}

/* Their memory may be where that of data that are gone was. */
static void other_data_are_other_batches(void **state)
{
    struct scene *a = scene_of(state);
    int samples[K];
    batch_from(0, samples);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++)
            run_both(a, a->data, samples, true);
        both_are_the_same(a);
        cavs_data_destroy(a->data);
        a->data = fill(a, 2 + (uint64_t)i);
    }
    assert_int_equal(a->keeping->kept.n, 4);
}

/* ---- memory ---- */

static void memory_stays_below_its_limit(void **state)
{
    struct scene *a = scene_of(state);
    run_epochs(a, 3, 16);
    both_are_the_same(a);
    assert_true(a->keeping->kept.n >= 6 && a->keeping->kept.n < 18);
    assert_true(a->keeping->kept.bytes <= 2 << 20);
}

static void what_does_not_come_any_more_makes_room(void **state)
{
    struct scene *a = scene_of(state);
    int samples[K];
    int n;
    run_epochs(a, 3, 16);
    a->keeping->kept.now += LATELY; /* as if so many others had come */
    n = a->keeping->kept.n;
    check_ok(cavs_session_reset_metrics(a->keeping));
    check_ok(cavs_session_reset_metrics(a->other));
    for (int i = 0; i < 4; i++)
        run_both(a, a->data, batch_from(33, samples), true);
    both_are_the_same(a);
    assert_int_equal(a->keeping->kept.n, n);
    assert_true(a->keeping->kept.bytes <= 2 << 20);
    assert_ptr_not_equal(a->keeping->batch, &a->keeping->fresh);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_are_those_of_batches_prepared_anew),
        TEST(one_batch_again_and_again_draws_anew),
        TEST(batches_that_come_once_are_not_kept),
        TEST(order_and_purpose_make_a_batch),
        TEST(outputs_and_gradients_are_of_the_batch),
        TEST(ids_that_were_written_to_are_seen),
        TEST(other_data_are_other_batches),
        TEST(memory_stays_below_its_limit),
        TEST(what_does_not_come_any_more_makes_room),
    };
    return cmocka_run_group_tests(tests, trial_runtime_up, trial_runtime_down);
}
