/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_workers.c - the number of workers does not show in a bit of what tapes train, dropout,
 * values in the middle and blocks included; where there are several they prepare shards side by
 * side. */
#include "core/tape/tape.h"
#include "tests/tape_step.h"
#include "tests/trial.h"

enum { WIDTH = 20, WORDS = 7, NUMBERS = WIDTH * (WIDTH + WORDS), SAMPLES = 11 };

static struct cavs_model *new_model(void)
{
    struct cavs_model *m;

    check_ok(cavs_model_create(&m));
    tape_step_params(m, WORDS, WIDTH, 0.3f);
    cavs_model_param(m, "V", WIDTH, 3, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(m));
    return m;
}

static void record(struct cavs_tape *t, const struct cavs_model *m, int seed)
{
    float numbers[SAMPLES][WIDTH], *rows[SAMPLES];
    struct cavs_symbol *h[SAMPLES];

    check_ok(cavs_tape_begin(t, CAVS_TAPE_TRAIN));
    for (int k = 0; k < SAMPLES; k++) {
        rows[k] = numbers[k];
        h[k] = cavs_constant(cavs_tape_sample(t), WIDTH, 0);
        for (int i = 0; i < 2 + (k + seed) % 5; i++)
            h[k] = tape_step(t, m, h[k], (i + k) % WORDS);
    }
    check_ok(cavs_tape_values(t, SAMPLES, h, rows));
    assert_null(cavs_tape_resume(t, SAMPLES));
    for (int k = 0; k < SAMPLES; k++) {
        assert_non_null(cavs_tape_resume(t, k));
        for (int i = 0; numbers[k][0] > 0 && i < 3; i++)
            h[k] = tape_step(t, m, h[k], i % WORDS);
        cavs_loss(cavs_tape_function(t), "loss",
                  cavs_softmax_cross_entropy(cavs_matmul(h[k], cavs_model_find_param(m, "V")),
                                             cavs_tape_id(t, k % 3)),
                  NULL);
    }
    check_ok(cavs_tape_finish(t));
}

static void train(int workers, float *values)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct cavs_model *m = new_model();
    struct cavs_tape_options tape = cavs_tape_defaults();
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_tape_stats stats;
    struct cavs_tape *t;

    tape.blocks_after = 2;
    r.workers = workers;
    o.shards = 3;
    o.optimizer = CAVS_ADAM;
    o.grain = 1e-9f; /* it pays */
    check_ok(cavs_runtime_create(&r, &rt));
    check_ok(cavs_session_create(rt, m, &o, &s));
    check_ok(cavs_tape_create(s, &tape, &t));
    t->blocks.worth = 4;
    for (int i = 0; i < 8; i++)
        record(t, m, i);
    assert_true((s->engine.preparing > 0) == (workers > 1));
    cavs_tape_stats(t, &stats);
    assert_true(stats.blocks > 0);
    check_ok(cavs_session_get_param(s, cavs_model_find_param(m, "U"), values));
    check_ok(cavs_session_get_param(s, cavs_model_find_param(m, "E"), values + WIDTH * WIDTH));
    cavs_tape_destroy(t);
    cavs_session_destroy(s);
    cavs_model_destroy(m);
    cavs_runtime_destroy(rt);
}

static void workers_do_not_show_in_the_bits(void **unused)
{
    static float first[NUMBERS], next[NUMBERS];

    (void)unused;
    train(1, first);
    for (int workers = 2; workers <= 4; workers++) {
        train(workers, next);
        assert_memory_equal(first, next, sizeof first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(workers_do_not_show_in_the_bits)};

    return cmocka_run_group_tests_name("tapes and workers", tests, NULL, NULL);
}
