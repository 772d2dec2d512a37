/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_failure.c - a device that fails in the middle of a run, with and without a core
 * beside it: the next batch says so, and nothing waits for what can no longer be computed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device/device.h"
#include "core/run/session.h"
#include "tests/on_device.h"
#include "tests/skip.h"
#include "tests/trial.h"

enum { BATCHES = 6 };

/* What the session would give is wrong now. */
static void check_nothing_is_given_out(struct trial *t, struct cavs_session *s)
{
    const struct cavs_param *p = cavs_model_param_at(t->model, 0);
    float *values = calloc((size_t)cavs_param_rows(p), (size_t)cavs_param_cols(p) * sizeof *values);
    double sum;

    assert_non_null(values);
    check_refused(cavs_session_wait(s), CAVS_ERUNTIME, "a device has failed");
    check_refused(cavs_session_metric(s, "loss", &sum, NULL), CAVS_ERUNTIME, "a device has failed");
    check_refused(cavs_session_get_param(s, p, values), CAVS_ERUNTIME, "a device has failed");
    check_refused(cavs_session_save(s, "/nonexistent/file"), CAVS_ERUNTIME, "a device has failed");
    check_refused(cavs_session_checkpoint(s, "/nonexistent/file", NULL), CAVS_ERUNTIME,
                  "a device has failed");
    free(values);
}

/* A new session does without the device, on the core if there is one. */
static void next_session(struct trial *t, const int *samples)
{
    struct cavs_session *s = NULL;

    trial_runtime->placement = NULL;
    if (starpu_cpu_worker_get_count() == 0) {
        check_refused(cavs_session_create(trial_runtime, t->model, NULL, &s), CAVS_ERUNTIME,
                      "no device can be used, and there is no CPU worker");
        return;
    }
    s = trial_session(t, NULL);
    trial_check_gradients(t, s, samples, t->nsamples);
    cavs_session_destroy(s);
}

/* The error of the next batches after the device has failed while some are under way. */
static void fail_under_way(const char *placement)
{
    struct trial t;
    struct cavs_session_options options = cavs_session_defaults();
    int samples[ZOO_SAMPLES], rc = 0;

    trial_compile(false);
    trial_open_zoo(&t, zoo_find("tree_lstm_bench"));
    for (int i = 0; i < t.nsamples; i++)
        samples[i] = i;
    options.shards = 3;
    trial_runtime->placement = placement;
    struct cavs_session *s = trial_session(&t, &options);
    check_ok(cavs_session_train(s, t.data, samples, t.nsamples));
    check_ok(cavs_session_train(s, t.data, samples, t.nsamples));
    cavs__device_fail(cavs__device_at(0), "it was pulled out");
    for (int i = 0; i < BATCHES && !rc; i++)
        rc = cavs_session_train(s, t.data, samples, t.nsamples);
    assert_int_equal(rc, CAVS_ERUNTIME);
    assert_non_null(strstr(cavs_error_message(), "it was pulled out"));
    check_nothing_is_given_out(&t, s);
    cavs_session_destroy(s);
    next_session(&t, samples);
    trial_close(&t);
}

static bool up(const char *workers)
{
    on_device_environment();
    setenv("CAVS_TEST_WORKERS", workers, 1);
    setenv(on_device_cuda() ? "CAVS_TEST_CUDA" : "CAVS_TEST_OPENCL", "1", 1);
    return trial_runtime_up(NULL) == 0 && cavs__devices_count() > 0;
}

static void run_with(const char *workers, const char *placement)
{
    if (!up(workers)) {
        trial_runtime_down(NULL);
        SKIP("no OpenCL device");
    }
    fail_under_way(placement);
    trial_runtime_down(NULL);
}

static void with_a_core_beside_it(void **state)
{
    (void)state;
    run_with("1", "device");
}

static void alone(void **state)
{
    (void)state;
    run_with("0", "device");
}

static void with_shards_at_home(void **state)
{
    (void)state;
    run_with("1", NULL);
}

/* The loss of a word after the other, by the same table: E[word] E'. */
static void declare_tied(struct cavs_model *m, struct cavs_param *E)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "words", 0), "word");
    struct cavs_symbol *next = cavs_pull_ids(f, "next");
    struct cavs_symbol *x = cavs_lookup(E, cavs_pull_ids(f, "word"));

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(cavs_matmul_t(x, E), next), NULL);
}

static void refused_as_tied(int rc)
{
    check_refused(rc, CAVS_ERUNTIME, "E is both looked up and multiplied", "no CPU worker");
}

static void train_tied(struct cavs_model *m, struct cavs_session *s)
{
    const struct cavs_stage *words = cavs_model_find_stage(m, "words");
    int word = 1, next = 2, sample = 0;
    struct cavs_data *d;

    check_ok(cavs_data_create(m, &d));
    check_ok(cavs_data_begin(d));
    check_ok(cavs_data_graph(d, words, 1, NULL, NULL, NULL));
    check_ok(cavs_data_ids(d, words, "word", 1, &word));
    check_ok(cavs_data_ids(d, words, "next", 1, &next));
    check_ok(cavs_data_end(d));
    refused_as_tied(cavs_session_train(s, d, &sample, 1));
    refused_as_tied(cavs_session_gradient(s, d, &sample, 1));
    check_ok(cavs_session_evaluate(s, d, &sample, 1));
    cavs_data_destroy(d);
}

static void record_tied(struct cavs_session *s, struct cavs_param *E)
{
    struct cavs_tape *t;

    check_ok(cavs_tape_create(s, NULL, &t));
    for (enum cavs_tape_run run = CAVS_TAPE_EVALUATE; run <= CAVS_TAPE_TRAIN; run++) {
        check_ok(cavs_tape_begin(t, run));
        struct cavs_function *f = cavs_tape_sample(t);
        struct cavs_symbol *x = cavs_lookup(E, cavs_tape_id(t, 1));
        struct cavs_symbol *logits = cavs_matmul_t(x, E);

        cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, cavs_tape_id(t, 2)), NULL);
        if (run == CAVS_TAPE_EVALUATE)
            check_ok(cavs_tape_finish(t));
        else
            refused_as_tied(cavs_tape_finish(t));
    }
    cavs_tape_destroy(t);
}

static void check_tied(bool declared)
{
    struct cavs_model *m;
    struct cavs_session *s;

    check_ok(cavs_model_create(&m));
    struct cavs_param *E = cavs_model_param(m, "E", 5, 4, CAVS_UNIFORM(-1, 1));
    if (declared)
        declare_tied(m, E);
    check_ok(cavs_model_finish(m));
    check_ok(cavs_session_create(trial_runtime, m, NULL, &s));
    if (declared)
        train_tied(m, s);
    else
        record_tied(s, E);
    cavs_session_destroy(s);
    cavs_model_destroy(m);
}

static void a_table_that_is_multiplied_wants_a_core(void **state)
{
    (void)state;
    if (!up("0")) {
        trial_runtime_down(NULL);
        SKIP("no OpenCL device");
    }
    check_tied(true);
    check_tied(false);
    trial_runtime_down(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_a_core_beside_it),
        cmocka_unit_test(with_shards_at_home),
        cmocka_unit_test(alone),
        cmocka_unit_test(a_table_that_is_multiplied_wants_a_core),
    };

    return cmocka_run_group_tests_name("a device that fails", tests, NULL, NULL);
}
