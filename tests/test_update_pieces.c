/* SPDX-License-Identifier: Apache-2.0 */
/* test_update_pieces.c - a large update is done in pieces where there are workers for them, to the
 * same bits: of a large parameter, of many partial gradients, of many rows that were looked up. */
#include "tests/trial.h"

enum { ROWS = 1024, LARGE = 1024, TOO_SMALL = LARGE - 1, BATCHES = 3, SHARDS = 8 };

/* A model, and samples of it. */
struct work {
    void (*build)(struct cavs_model *m);
    int shards, nsamples;
    const char *texts[SHARDS];
};

static int width;

static void multiply(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *y = cavs_matmul(cavs_pull(f, "x", ROWS), zoo_weight(m, "W", ROWS, width));

    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

static void look_up(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *y = cavs_lookup(zoo_weight(m, "W", ROWS, width), cavs_pull_ids(f, "word"));

    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

/* Trains with a grain so fine that no tasks are joined.  Tasks that were submitted. */
static int64_t train(const struct work *w, int workers, float *values)
{
    const struct zoo_entry entry = {"wide", w->build, {NULL}};
    const int samples[SHARDS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_stats stats;
    struct trial t;

    r.workers = workers;
    o.shards = w->shards;
    o.grain = 1e-7f;
    o.optimizer = CAVS_ADAM;
    trial_open(&t, zoo_model(&entry), w->texts, w->nsamples, NULL);
    check_ok(cavs_runtime_create(&r, &rt));
    check_ok(cavs_session_create(rt, t.model, &o, &s));
    for (int i = 0; i < BATCHES; i++)
        check_ok(cavs_session_train(s, t.data, samples, w->nsamples));
    check_ok(cavs_session_get_param(s, cavs_model_find_param(t.model, "W"), values));
    cavs_session_stats(s, &stats);
    cavs_session_destroy(s);
    check_ok(cavs_runtime_destroy(rt));
    trial_close(&t);
    return stats.tasks;
}

static float alone[ROWS * 2 * LARGE], together[ROWS * 2 * LARGE];

/* How many tasks more there are with two workers than with one. */
static int64_t tasks_of_two_workers(const struct work *w, int of_width)
{
    int64_t tasks;

    width = of_width;
    tasks = train(w, 1, alone);
    tasks = train(w, 2, together) - tasks;
    assert_memory_equal(alone, together, sizeof alone);
    return tasks;
}

static void of_a_large_parameter(void **unused)
{
    const struct work w = {multiply, 1, 1, {"flat:1"}};
    int64_t in_one = tasks_of_two_workers(&w, TOO_SMALL);

    (void)unused;
    assert_true(tasks_of_two_workers(&w, LARGE) > in_one);
}

static void of_many_partial_gradients(void **unused)
{
    const struct work w = {
        multiply,
        SHARDS,
        SHARDS,
        {"flat:1", "flat:1", "flat:1", "flat:1", "flat:1", "flat:1", "flat:1", "flat:1"}};
    int64_t in_one = tasks_of_two_workers(&w, LARGE / 4);

    (void)unused;
    assert_true(tasks_of_two_workers(&w, TOO_SMALL) > in_one);
}

/* Of as many vertices; of the words there are, all but few occur. */
static void of_many_rows_that_were_looked_up(void **unused)
{
    const struct work w = {look_up, 2, 2, {"flat:9000", "flat:9000"}};
    int64_t in_one = tasks_of_two_workers(&w, LARGE / 4);

    (void)unused;
    assert_true(tasks_of_two_workers(&w, 2 * LARGE) > in_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_large_parameter),
                                       cmocka_unit_test(of_many_partial_gradients),
                                       cmocka_unit_test(of_many_rows_that_were_looked_up)};

    return cmocka_run_group_tests_name("updates in pieces", tests, NULL, NULL);
}
