/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_samples.c - samples that workers record, of any size and number: none, empty ones, one
 * that is as large as all others, and what memory had no room for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/tape/tape.h"
#include "tests/failing_alloc.h"
#include "tests/tape_scene.h"
#include "tests/tape_step.h"
#include "tests/trial.h"

enum { WIDTH = 4, WORDS = 5, WORKERS = 3, NUMBERS = WIDTH * WIDTH };

struct scene {
    struct cavs_model *m;
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_tape *t;
    const int *steps; /* of each sample */
};

static struct scene open_scene(bool one_recorder, const int *steps)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct cavs_tape_options tape = cavs_tape_defaults();
    struct scene x = {.steps = steps};

    check_ok(cavs_model_create(&x.m));
    tape_step_params(x.m, WORDS, WIDTH, 0.3f);
    check_ok(cavs_model_finish(x.m));
    tape.blocks_after = 2;
    tape.one_recorder = one_recorder;
    r.workers = WORKERS;
    o.shards = 4;
    check_ok(cavs_runtime_create(&r, &x.rt));
    check_ok(cavs_session_create(x.rt, x.m, &o, &x.s));
    check_ok(cavs_tape_create(x.s, &tape, &x.t));
    return x;
}

static void close_scene(struct scene *x)
{
    tape_scene_close(x->m, x->s, x->t);
    cavs_runtime_destroy(x->rt);
}

/* A sample of no steps records nothing. */
static int record_steps(struct cavs_tape *t, int i, void *user)
{
    const struct scene *x = user;
    struct cavs_symbol *h = NULL;

    for (int k = 0; k < x->steps[i]; k++)
        h = tape_step(t, x->m, h ? h : cavs_constant(cavs_tape_function(t), WIDTH, 1),
                      (i + k) % WORDS);
    if (h)
        cavs_loss(cavs_tape_function(t), "loss", cavs_sum(cavs_square(h)), NULL);
    return 0;
}

static int train(struct scene *x, int n)
{
    int rc = cavs_tape_begin(x->t, CAVS_TAPE_TRAIN);

    if (!rc)
        rc = cavs_tape_record(x->t, n, record_steps, x);
    return rc ? rc : cavs_tape_finish(x->t);
}

static int64_t by_workers(const struct scene *x)
{
    struct cavs_tape_stats stats;

    cavs_tape_stats(x->t, &stats);
    return stats.side_by_side;
}

/* The parameter U after some batches of n samples. */
static void train_all(bool one_recorder, int batches, int n, const int *steps, float *numbers)
{
    struct scene x = open_scene(one_recorder, steps);

    for (int i = 0; i < batches; i++)
        check_ok(train(&x, n));
    check_ok(cavs_session_get_param(x.s, cavs_model_find_param(x.m, "U"), numbers));
    assert_int_equal(by_workers(&x) > 0, !one_recorder && n > 1);
    close_scene(&x);
}

static void check_bits(int batches, int n, const int *steps)
{
    float one[NUMBERS], several[NUMBERS];

    train_all(true, batches, n, steps, one);
    train_all(false, batches, n, steps, several);
    assert_memory_equal(several, one, sizeof one);
}

static void samples_may_record_nothing(void **unused)
{
    static const int none[40], some[40] = {[3] = 2, [17] = 1, [30] = 5};

    (void)unused;
    check_bits(3, 40, none);
    check_bits(3, 1, none);
    check_bits(6, 40, some);
}

static void one_sample_may_be_as_large_as_thousands(void **unused)
{
    enum { SAMPLES = 5000 };
    static int steps[SAMPLES];

    (void)unused;
    for (int i = 0; i < SAMPLES; i++)
        steps[i] = i % 3;
    steps[SAMPLES / 2] = 2 * SAMPLES;
    check_bits(4, SAMPLES, steps);
}

/* ---- what the function may not do ---- */

struct meddling {
    struct cavs_tape *t;
    bool wrong[60];
};

/* With the tape that cavs_tape_record() was called with, whichever it is handed. */
static int meddle(struct cavs_tape *t, int i, void *user)
{
    struct meddling *m = user;
    float number, *row = &number;
    struct cavs_tape_stats stats;
    char *text;

    for (int own = 0; own < 2; own++) { /* harmless, whichever it is of */
        cavs_tape_stats(own ? t : m->t, &stats);
        check_ok(cavs_tape_explain(own ? t : m->t, &text));
        free(text);
        cavs_tape_destroy(own ? t : m->t);
    }
    m->wrong[i] = cavs_tape_finish(m->t) != CAVS_ESTATE ||
                  cavs_tape_begin(m->t, 0) != CAVS_ESTATE || cavs_tape_sample(m->t) ||
                  cavs_tape_resume(m->t, 0) || cavs_tape_mark(m->t) != CAVS_ESTATE ||
                  cavs_tape_rewind(m->t, 0) != CAVS_ESTATE ||
                  cavs_tape_values(m->t, 0, NULL, &row) != CAVS_ESTATE ||
                  cavs_tape_gradients(m->t, 0, NULL, &row) != CAVS_ESTATE ||
                  cavs_tape_record(m->t, 1, meddle, user) != CAVS_ESTATE;
    return 0;
}

static void nor_with_the_tape_itself(void **unused)
{
    static const int steps[60] = {1, 2, 3};
    struct scene x = open_scene(false, steps);
    struct meddling m = {.t = x.t};

    (void)unused;
    for (int i = 0; i < 3; i++)
        check_ok(train(&x, 60));
    check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
    x.t->alone = 0;
    check_ok(cavs_tape_record(x.t, 60, meddle, &m));
    for (int i = 0; i < 60; i++)
        assert_false(m.wrong[i]);
    check_ok(cavs_tape_finish(x.t));
    close_scene(&x);
}

/* ---- memory ---- */

/* One allocation fails, of whichever thread: the recording is of no use then, and says so. */
static void memory_may_run_out_side_by_side(void **unused)
{
    enum { SAMPLES = 60 };
    static int steps[SAMPLES];
    float want[NUMBERS], got[NUMBERS];
    long failures = 1;

    (void)unused;
    for (int i = 0; i < SAMPLES; i++)
        steps[i] = i % 7;
    train_all(true, 3, SAMPLES, steps, want);
    for (long n = 1; failures > 0; n++) {
        struct scene x = open_scene(false, steps);
        int rc;

        check_ok(train(&x, SAMPLES));
        x.t->alone = 0;
        check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
        failing_alloc_begin_everywhere(n);
        rc = cavs_tape_record(x.t, SAMPLES, record_steps, &x);
        failing_alloc_end_everywhere(&failures);
        if (rc)
            assert_int_equal(rc, CAVS_ENOMEM);
        assert_int_equal(cavs_tape_finish(x.t), rc);
        if (rc)
            check_ok(train(&x, SAMPLES));
        check_ok(train(&x, SAMPLES));
        check_ok(cavs_session_get_param(x.s, cavs_model_find_param(x.m, "U"), got));
        for (int i = 0; i < NUMBERS; i++)
            assert_true(fabsf(got[i] - want[i]) < 1e-5f);
        close_scene(&x);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_may_record_nothing),
        cmocka_unit_test(one_sample_may_be_as_large_as_thousands),
        cmocka_unit_test(nor_with_the_tape_itself),
        cmocka_unit_test(memory_may_run_out_side_by_side),
    };

    trial_compile(false);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
