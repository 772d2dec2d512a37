/* SPDX-License-Identifier: Apache-2.0 */
/* test_update_pieces.c - a large parameter is updated in pieces where there are workers for them,
 * to the same bits. */
#include "tests/trial.h"

enum { ROWS = 1024, LARGE = 1024, TOO_SMALL = LARGE - 1, BATCHES = 3 };

static int width;

static void build(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *y = cavs_matmul(cavs_pull(f, "x", ROWS), zoo_weight(m, "W", ROWS, width));

    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

/* Trains with a grain so fine that no tasks are joined.  Tasks that were submitted. */
static int64_t train(int workers, float *values)
{
    static const struct zoo_entry wide = {"wide", build, {NULL}};
    const char *text = "flat:1";
    const int sample = 0;
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_stats stats;
    struct trial t;

    r.workers = workers;
    o.shards = 1;
    o.grain = 1e-7f;
    o.optimizer = CAVS_ADAM;
    trial_open(&t, zoo_model(&wide), &text, 1, NULL);
    check_ok(cavs_runtime_create(&r, &rt));
    check_ok(cavs_session_create(rt, t.model, &o, &s));
    for (int i = 0; i < BATCHES; i++)
        check_ok(cavs_session_train(s, t.data, &sample, 1));
    check_ok(cavs_session_get_param(s, cavs_model_find_param(t.model, "W"), values));
    cavs_session_stats(s, &stats);
    cavs_session_destroy(s);
    check_ok(cavs_runtime_destroy(rt));
    trial_close(&t);
    return stats.tasks;
}

static float alone[ROWS * LARGE], together[ROWS * LARGE];

/* How many tasks more there are with two workers than with one. */
static int64_t tasks_of_two_workers(int of_width)
{
    int64_t tasks;

    width = of_width;
    tasks = train(1, alone);
    return train(2, together) - tasks;
}

static void two_pieces_are_done_by_more_tasks_to_the_same_bits(void **unused)
{
    int64_t in_one = tasks_of_two_workers(TOO_SMALL);

    (void)unused;
    assert_true(tasks_of_two_workers(LARGE) > in_one);
    assert_memory_equal(alone, together, sizeof alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_pieces_are_done_by_more_tasks_to_the_same_bits)};

    return cmocka_run_group_tests_name("update of a large parameter", tests, NULL, NULL);
}
