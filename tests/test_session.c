/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_session.c - what a session promises apart from arithmetic: parameters' values, metrics over
 * batches, batches of any size, outputs in the caller's order, errors that name their cause.
 */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/run/session.h"
#include "tests/random.h"
#include "tests/skip.h"
#include "tests/trial.h"

/* A session of a model of the zoo. */
struct scene {
    struct trial t;
    struct cavs_session *s;
};

static int open_zoo(void **state, const char *model)
{
    struct scene *a = calloc(1, sizeof *a);
    struct cavs_session_options options = cavs_session_defaults();
    options.shards = 2;
    trial_open_zoo(&a->t, zoo_find(model));
    a->s = trial_session(&a->t, &options);
    *state = a;
    return 0;
}

static int scene_open(void **state)
{
    return open_zoo(state, "tree_lstm_bench");
}

static int scene_close(void **state)
{
    struct scene *a = *state;
    cavs_session_destroy(a->s);
    trial_close(&a->t);
    free(a);
    return 0;
}

static struct cavs_param *param(struct scene *a, const char *name)
{
    struct cavs_param *p = cavs_model_find_param(a->t.model, name);
    assert_non_null(p);
    return p;
}

/* All parameters one after the other; freed by the caller. */
static float *all_params(struct scene *a, struct cavs_session *s, size_t *size)
{
    size_t n = 0;
    float *values = calloc(65536, sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < cavs_model_param_count(a->t.model); i++) {
        const struct cavs_param *p = cavs_model_param_at(a->t.model, i);
        check_ok(cavs_session_get_param(s, p, values + n));
        n += (size_t)(cavs_param_rows(p) * cavs_param_cols(p));
    }
    *size = n * sizeof *values;
    return values;
}

static double loss_of(struct scene *a)
{
    double sum = NAN;
    check_ok(cavs_session_metric(a->s, "loss", &sum, NULL));
    return sum;
}

/* ---- values of parameters ---- */

static void set_values_are_read_back(void **state)
{
    struct scene *a = *state;
    struct cavs_param *p = param(a, "b_f");
    const float values[6] = {1, -2, 3.5f, -0.0f, 1e-20f, 1e20f};
    float back[6];
    check_ok(cavs_session_set_param(a->s, p, values));
    check_ok(cavs_session_get_param(a->s, p, back));
    assert_memory_equal(values, back, sizeof back);
}

/* Forward and backward pass use the new values, transposed copies included. */
static void set_values_are_used(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0, 3, 5};
    uint64_t seed = 3;
    trial_check_gradients(&a->t, a->s, batch, 3);
    for (int i = 0; i < cavs_model_param_count(a->t.model); i++) {
        const struct cavs_param *p = cavs_model_param_at(a->t.model, i);
        float values[4096];
        for (int j = 0; j < cavs_param_rows(p) * cavs_param_cols(p); j++)
            values[j] = (float)random_double(&seed, -0.5, 0.5);
        check_ok(cavs_session_set_param(a->s, p, values));
    }
    trial_check_gradients(&a->t, a->s, batch, 3);
}

static void values_follow_from_the_seed_alone(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = cavs_session_defaults();
    float *values[3];
    size_t size = 0;
    for (int i = 0; i < 3; i++) {
        o.seed = i == 2 ? 8 : 7;
        o.shards = 1 + i;
        struct cavs_session *s = trial_session(&a->t, &o);
        values[i] = all_params(a, s, &size);
        cavs_session_destroy(s);
    }
    assert_memory_equal(values[0], values[1], size);
    assert_memory_not_equal(values[0], values[2], size);
    for (int i = 0; i < 3; i++)
        free(values[i]);
}

static void build_inits(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    cavs_push(f, "y", cavs_tanh(cavs_pull(f, "x", 2)));
    cavs_model_param(m, "constant", 3, 50, CAVS_CONSTANT(0.7f));
    cavs_model_param(m, "uniform", 40, 50, CAVS_UNIFORM(-1, 3));
    cavs_model_param(m, "narrow", 40, 50, CAVS_UNIFORM(1, 1 + FLT_EPSILON));
    cavs_model_param(m, "normal", 40, 50, CAVS_NORMAL(2, 0.5f));
    cavs_model_param(m, "glorot", 40, 14, cavs_init_glorot(40, 14));
}

struct spread {
    double mean, deviation, lowest, highest;
};

static struct spread spread_of(struct cavs_session *s, const struct cavs_param *p)
{
    float values[2000];
    struct spread x = {0, 0, INFINITY, -INFINITY};
    int n = cavs_param_rows(p) * cavs_param_cols(p);
    check_ok(cavs_session_get_param(s, p, values));
    for (int i = 0; i < n; i++) {
        x.mean += values[i] / n;
        x.lowest = fmin(x.lowest, values[i]);
        x.highest = fmax(x.highest, values[i]);
    }
    for (int i = 0; i < n; i++)
        x.deviation += pow(values[i] - x.mean, 2) / n;
    x.deviation = sqrt(x.deviation);
    return x;
}

static void check_near(const char *what, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s: got %g, want %g to within %g", what, got, want, tolerance);
}

static void parameters_start_as_declared(void **state)
{
    static const struct zoo_entry model = {"inits", build_inits, {NULL}};
    struct trial t;
    (void)state;
    trial_open(&t, zoo_model(&model), NULL, 0, NULL);
    struct cavs_session *s = trial_session(&t, NULL);
    struct spread x = spread_of(s, cavs_model_find_param(t.model, "constant"));
    check_near("lowest constant", x.lowest, 0.7f, 0);
    check_near("highest constant", x.highest, 0.7f, 0);
    x = spread_of(s, cavs_model_find_param(t.model, "uniform"));
    check_near("mean of [-1, 3)", x.mean, 1, 0.1);
    check_near("deviation of [-1, 3)", x.deviation, 4 / sqrt(12), 0.06);
    assert_true(x.lowest >= -1 && x.highest < 3);
    x = spread_of(s, cavs_model_find_param(t.model, "narrow"));
    check_near("highest of [1, the number after it)", x.highest, 1, 0);
    x = spread_of(s, cavs_model_find_param(t.model, "normal"));
    check_near("mean of N(2, 0.5)", x.mean, 2, 0.05);
    check_near("deviation of N(2, 0.5)", x.deviation, 0.5, 0.04);
    x = spread_of(s, cavs_model_find_param(t.model, "glorot"));
    check_near("Glorot's range", x.highest, 1.0 / 3, 0.01);
    check_near("Glorot's range", x.lowest, -1.0 / 3, 0.01);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- batches and metrics ---- */

static void metrics_add_up_until_they_are_reset(void **state)
{
    struct scene *a = *state;
    const int first[] = {0, 1, 3}, second[] = {5}, both[] = {0, 1, 3, 5};
    trial_take_params(&a->t, a->s);
    check_ok(cavs_session_evaluate(a->s, a->t.data, first, 3));
    check_ok(cavs_session_evaluate(a->s, a->t.data, second, 1));
    trial_oracle(&a->t, both, 4, false);
    trial_check_metrics(&a->t, a->s);
    check_ok(cavs_session_reset_metrics(a->s));
    trial_oracle(&a->t, NULL, 0, false);
    trial_check_metrics(&a->t, a->s);
    check_ok(cavs_session_gradient(a->s, a->t.data, second, 1));
    trial_oracle(&a->t, second, 1, false);
    trial_check_metrics(&a->t, a->s);
}

static void evaluation_changes_no_parameter(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0, 3, 5};
    size_t size;
    float rows[4096], *before = all_params(a, a->s, &size);
    check_ok(cavs_session_evaluate(a->s, a->t.data, batch, 3));
    check_ok(cavs_session_gradient(a->s, a->t.data, batch, 3));
    check_ok(cavs_session_output(a->s, a->t.data, batch, 3, a->t.model->stages[1], "logits", rows));
    float *after = all_params(a, a->s, &size);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
}

/* One pass gives what one pass a channel gives, to the last bit, at the cost of one. */
static void several_channels_come_from_one_pass(void **state)
{
    struct scene *a = *state;
    const int batch[] = {5, 0, 3};
    float one[2][4096] = {{0}}, all[2][4096] = {{0}};
    struct cavs_stats single, both;
    double loss[2], n[2];
    struct cavs_stage *tree = a->t.model->stages[0], *head = a->t.model->stages[1];
    const struct cavs_fetch fetches[] = {{tree, "h", all[0]}, {head, "logits", all[1]}};
    check_ok(cavs_session_output(a->s, a->t.data, batch, 3, tree, "h", one[0]));
    check_ok(cavs_session_reset_metrics(a->s));
    cavs_session_reset_stats(a->s);
    check_ok(cavs_session_output(a->s, a->t.data, batch, 3, head, "logits", one[1]));
    cavs_session_stats(a->s, &single);
    check_ok(cavs_session_metric(a->s, "loss", &loss[0], &n[0]));
    check_ok(cavs_session_reset_metrics(a->s));
    cavs_session_reset_stats(a->s);
    check_ok(cavs_session_run(a->s, a->t.data, batch, 3, 2, fetches));
    cavs_session_stats(a->s, &both);
    check_ok(cavs_session_metric(a->s, "loss", &loss[1], &n[1]));
    assert_memory_equal(one, all, sizeof one);
    assert_true(all[0][0] != 0 && all[1][0] != 0);
    assert_true(loss[0] == loss[1] && n[0] == n[1] && n[0] > 0);
    assert_int_equal(both.batches, 1);
    assert_true(single.tasks > 0 && both.tasks == single.tasks);
}

/* If one of the channels is not there, nothing is run and nothing written. */
static void one_wrong_channel_refuses_the_run(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0};
    float rows[4096] = {7}, none[1];
    struct cavs_stage *head = a->t.model->stages[1];
    const struct cavs_fetch fetches[] = {{head, "logits", rows}, {head, "secret", none}};
    cavs_session_reset_stats(a->s);
    check_refused(cavs_session_run(a->s, a->t.data, batch, 1, 2, fetches), CAVS_EINVAL, "secret",
                  head->name);
    check_refused(cavs_session_run(a->s, a->t.data, batch, 1, 2, NULL), CAVS_EINVAL, "channels");
    check_refused(cavs_session_run(a->s, a->t.data, batch, 1, -1, fetches), CAVS_EINVAL,
                  "channels");
    struct cavs_stats stats;
    cavs_session_stats(a->s, &stats);
    assert_true(stats.batches == 0 && rows[0] == 7);
    check_ok(cavs_session_run(a->s, a->t.data, batch, 1, 0, NULL));
    check_ok(cavs_session_run(a->s, a->t.data, NULL, 0, 1, fetches));
}

static void empty_batch_does_nothing(void **state)
{
    struct scene *a = *state;
    size_t size;
    float *before = all_params(a, a->s, &size);
    check_ok(cavs_session_train(a->s, a->t.data, NULL, 0));
    check_ok(cavs_session_gradient(a->s, a->t.data, NULL, 0));
    check_ok(cavs_session_evaluate(a->s, a->t.data, NULL, 0));
    check_ok(cavs_session_output(a->s, a->t.data, NULL, 0, a->t.model->stages[1], "logits", NULL));
    check_ok(cavs_session_wait(a->s));
    float *after = all_params(a, a->s, &size);
    assert_memory_equal(before, after, size);
    trial_oracle(&a->t, NULL, 0, false);
    trial_check_metrics(&a->t, a->s);
    free(before);
    free(after);
}

/* A sample without vertices trains nothing, and divides by nothing. */
static void batch_of_samples_without_vertices(void **state)
{
    struct scene *a = *state;
    const int batch[] = {4, 4, 4};
    size_t size;
    float *before = all_params(a, a->s, &size);
    assert_int_equal(a->t.samples[4]->stages[0].n, 0);
    check_ok(cavs_session_train(a->s, a->t.data, batch, 3));
    check_ok(cavs_session_wait(a->s));
    float *after = all_params(a, a->s, &size);
    assert_memory_equal(before, after, size);
    trial_check_gradients(&a->t, a->s, batch, 3);
    free(before);
    free(after);
}

static void batches_grow_and_shrink(void **state)
{
    struct scene *a = *state;
    static const int sizes[] = {1, 2, 30, 3, 64, 1, 100, 7};
    int batch[100];
    for (int i = 0; i < 100; i++)
        batch[i] = (i * 5 + 1) % a->t.nsamples;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        trial_check_gradients(&a->t, a->s, batch, sizes[i]);
}

/* Many batches in flight without a wait between them. */
static void unequal_batches_in_flight(void **state)
{
    struct scene *a = *state;
    int batch[40], total[40 * 20], n = 0;
    for (int i = 0; i < 40; i++)
        batch[i] = (i * 3 + 2) % a->t.nsamples;
    trial_take_params(&a->t, a->s);
    for (int i = 0; i < 20; i++) {
        int size = i % 3 ? 1 + i : 40;
        check_ok(cavs_session_evaluate(a->s, a->t.data, batch, size));
        for (int j = 0; j < size; j++)
            total[n++] = batch[j];
    }
    trial_oracle(&a->t, total, n, false);
    trial_check_metrics(&a->t, a->s);
}

/* Growing waits for the batch before.  The second shard is small here, and then as large as the
 * first one has been; what grows then is what the batch before does not read. */
static void each_shard_has_room_for_the_largest(void **unused)
{
    const char *texts[] = {"random:90,kinds=2,seed=1", "random:1,kinds=2,seed=1"};
    const int unequal[] = {0, 1}, equal[] = {0, 0};
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_stats before, after;
    struct cavs_session *s;
    struct trial t;
    (void)unused;
    o.shards = 2;
    trial_open(&t, zoo_model(zoo_find("tree_lstm_bench")), texts, 2, NULL);
    s = trial_session(&t, &o);
    check_ok(cavs_session_train(s, t.data, unequal, 2));
    cavs_session_stats(s, &before);
    check_ok(cavs_session_train(s, t.data, equal, 2));
    cavs_session_stats(s, &after);
    assert_in_range(after.tensor_bytes, before.tensor_bytes, before.tensor_bytes * 5 / 4);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void output_is_in_the_callers_order(void **state)
{
    struct scene *a = *state;
    const int batch[] = {6, 1, 4, 0, 6, 2, 5};
    for (int shards = 1; shards < 5; shards++) {
        struct cavs_session_options o = cavs_session_defaults();
        o.shards = shards;
        struct cavs_session *s = trial_session(&a->t, &o);
        trial_check_outputs(&a->t, s, batch, 7);
        cavs_session_destroy(s);
    }
}

/* "d may be changed as soon as they return." */
static void data_may_change_while_a_batch_runs(void **state)
{
    struct scene *a = *state;
    int batch[60];
    struct cavs_data *copy;
    for (int i = 0; i < 60; i++)
        batch[i] = i % a->t.nsamples;
    check_ok(cavs_data_create(a->t.model, &copy));
    for (int i = 0; i < a->t.nsamples; i++)
        check_ok(sample_add(a->t.samples[i], copy));
    trial_take_params(&a->t, a->s);
    trial_oracle(&a->t, batch, 60, false);
    check_ok(cavs_session_evaluate(a->s, copy, batch, 60));
    for (int i = 0; i < a->t.nsamples; i++) {
        int *label = cavs_data_sample_ids(copy, a->t.model->stages[1], "label", i);
        for (int v = 0; v < cavs_data_sample_vertices(copy, a->t.model->stages[1], i); v++)
            label[v] = -1;
    }
    cavs_data_destroy(copy);
    trial_check_metrics(&a->t, a->s);
}

static void ids_rewritten_in_place_are_used(void **state)
{
    struct scene *a = *state;
    int *ids = cavs_data_sample_ids(a->t.data, a->t.model->stages[0], "word", 0);
    const int batch[] = {0, 1};
    for (int v = 0; v < a->t.samples[0]->stages[0].n; v++)
        ids[v] = sample_ids(a->t.samples[0], 0, "word")[v] = v % 3 - 1;
    trial_check_gradients(&a->t, a->s, batch, 2);
}

/* With so fine a grain the shards of any batch are prepared by the workers. */
static void what_a_worker_finds_wrong_reaches_the_caller(void **state)
{
    struct scene *a = *state;
    int *ids = cavs_data_sample_ids(a->t.data, a->t.model->stages[0], "word", 1), good = ids[0];
    const int batch[] = {0, 1, 2, 3};
    struct cavs_session_options o = cavs_session_defaults();
    o.grain = 1e-9f;
    o.shards = 2;
    struct cavs_session *s = trial_session(&a->t, &o);
    ids[0] = 1 << 20;
    check_refused(cavs_session_train(s, a->t.data, batch, 4), CAVS_EDATA, "sample 1",
                  "has id 1048576");
    ids[0] = good;
    check_ok(cavs_session_train(s, a->t.data, batch, 4));
    cavs_session_destroy(s);
}

/* ---- training at large ---- */

/* It would give 0 and change nothing, for ever. */
static void a_model_without_a_loss_is_not_trained(void **unused)
{
    struct cavs_model *m;
    struct cavs_session *s;
    struct cavs_stage *stage;
    struct cavs_function *f;
    struct cavs_symbol *h;
    struct cavs_data *d;
    int sample = 0;

    (void)unused;
    check_ok(cavs_model_create(&m));
    stage = cavs_stage_create(m, "word", 4);
    f = cavs_function_create(stage, "word");
    h = cavs_lookup(cavs_model_param(m, "table", 3, 4, CAVS_UNIFORM(-1, 1)), cavs_pull_ids(f, "w"));
    cavs_scatter(f, h);
    cavs_metric(f, "sum", cavs_sum(h), NULL);
    check_ok(cavs_model_finish(m));
    check_ok(cavs_data_create(m, &d));
    check_ok(cavs_data_begin(d));
    check_ok(cavs_data_graph(d, stage, 1, NULL, (int[]){0, 0}, NULL));
    check_ok(cavs_data_ids(d, stage, "w", 1, (int[]){2}));
    check_ok(cavs_data_end(d));
    check_ok(cavs_session_create(trial_runtime, m, NULL, &s));
    check_refused(cavs_session_train(s, d, &sample, 1), CAVS_EPROGRAM, "no function of the model",
                  "declare one with cavs_loss()");
    check_refused(cavs_session_gradient(s, d, &sample, 1), CAVS_EPROGRAM,
                  "no function of the model", "cavs_session_evaluate()");
    check_ok(cavs_session_evaluate(s, d, &sample, 1));
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void training_lowers_the_loss(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0, 1, 2, 3, 5, 6, 7};
    struct cavs_session_options o = cavs_session_defaults();
    o.optimizer = CAVS_ADAM;
    o.lr = 0.02f;
    cavs_session_destroy(a->s);
    a->s = trial_session(&a->t, &o);
    check_ok(cavs_session_evaluate(a->s, a->t.data, batch, 7));
    double before = loss_of(a);
    for (int i = 0; i < 150; i++)
        check_ok(cavs_session_train(a->s, a->t.data, batch, 7));
    check_ok(cavs_session_reset_metrics(a->s));
    check_ok(cavs_session_evaluate(a->s, a->t.data, batch, 7));
    double after = loss_of(a);
    if (!(after < 0.5 * before))
        fail_msg("the loss went from %g to %g", before, after);
}

static void two_sessions_do_not_touch_each_other(void **state)
{
    struct scene *a = *state;
    struct trial other;
    const int batch[] = {0, 1, 3};
    size_t size;
    trial_open_zoo(&other, zoo_find("gru"));
    struct cavs_session *same = trial_session(&a->t, NULL), *foreign = trial_session(&other, NULL);
    float *before = all_params(a, same, &size);
    for (int i = 0; i < 5; i++) {
        check_ok(cavs_session_train(a->s, a->t.data, batch, 3));
        check_ok(cavs_session_train(foreign, other.data, batch, 3));
    }
    trial_check_gradients(&other, foreign, batch, 3);
    trial_check_gradients(&a->t, a->s, batch, 3);
    float *after = all_params(a, same, &size);
    assert_memory_equal(before, after, size);
    cavs_session_destroy(same);
    cavs_session_destroy(foreign);
    trial_close(&other);
    free(before);
    free(after);
}

/* What a thread has a worker do, a moment after the test begins. */
struct errand {
    struct cavs_session *s;
    unsigned after, takes; /* microseconds */
    int rc;
};

static int take_time(void *of, int i)
{
    (void)i;
    usleep(((const struct errand *)of)->takes);
    return 0;
}

static void *send(void *of)
{
    struct errand *e = of;
    usleep(e->after);
    e->rc = cavs__side_by_side(&e->s->engine, 1, take_time, e);
    return NULL;
}

/* The one that waits first has the longer work: if only one of both were told that some is done,
 * this would not end. */
static void two_threads_may_wait_for_workers(void **state)
{
    struct scene *a = *state;
    struct cavs_session *other = trial_session(&a->t, NULL);
    struct errand e[2] = {{a->s, 0, 40000, -1}, {other, 10000, 5000, -1}};
    pthread_t thread[2];
    if (starpu_cpu_worker_get_count() < 2) {
        cavs_session_destroy(other);
        SKIP("one worker alone has nobody to wait beside");
    }
    alarm(60);
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 2; k++)
            assert_int_equal(pthread_create(&thread[k], NULL, send, &e[k]), 0);
        for (int k = 0; k < 2; k++) {
            pthread_join(thread[k], NULL);
            assert_int_equal(e[k].rc, 0);
        }
    }
    alarm(0);
    cavs_session_destroy(other);
}

/* Other batches take the gradient's place; then it is refused, never wrong. */
static void gradient_is_there_until_the_next_batch(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0, 5}, others[] = {1, 3, 6, 7};
    const struct cavs_param *p = param(a, "embedding");
    float values[4096];
    check_refused(cavs_session_get_gradient(a->s, p, values), CAVS_ESTATE, "cavs_session_gradient");
    trial_check_gradients(&a->t, a->s, batch, 2);
    check_ok(cavs_session_get_gradient(a->s, p, values));
    check_close("the same again", (size_t)(p->rows * p->cols), values,
                a->t.oracle->gradient[p->number], 1e-4);
    for (int i = 0; i < 3; i++) {
        check_ok(cavs_session_evaluate(a->s, a->t.data, others, 4));
        check_refused(cavs_session_get_gradient(a->s, p, values), CAVS_ESTATE,
                      "cavs_session_gradient");
    }
    trial_check_gradients(&a->t, a->s, others, 4);
    check_ok(cavs_session_train(a->s, a->t.data, batch, 2));
    check_refused(cavs_session_get_gradient(a->s, p, values), CAVS_ESTATE, "cavs_session_gradient");
}

/* What lookups and other ranks have is not in it: none of that is added up any more. */
static void a_gradient_that_is_not_finite_is_not_kept(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = cavs_session_defaults();
    const int batch[] = {0, 5};
    float values[4096] = {INFINITY};
    struct cavs_session *s;
    o.check_finite = true;
    s = trial_session(&a->t, &o);
    check_ok(cavs_session_set_param(s, param(a, "b_class"), values));
    check_refused(cavs_session_gradient(s, a->t.data, batch, 2), CAVS_ENUMERIC, "classify");
    check_refused(cavs_session_get_gradient(s, param(a, "embedding"), values), CAVS_ESTATE,
                  "the gradient is not kept");
    cavs_session_destroy(s);
}

static void statistics_count(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0, 0, 1};
    struct cavs_stats st;
    int vertices = 2 * a->t.samples[0]->stages[0].n + a->t.samples[1]->stages[0].n;
    cavs_session_reset_stats(a->s);
    check_ok(cavs_session_train(a->s, a->t.data, batch, 3));
    check_ok(cavs_session_wait(a->s));
    cavs_session_stats(a->s, &st);
    assert_int_equal(st.batches, 1);
    assert_int_equal(st.samples, 3);
    assert_int_equal(st.vertices, vertices);
    assert_true(st.evaluated > 0 && st.evaluated <= vertices);
    assert_true(st.tasks > 0 && st.batching_tasks > 0);
    assert_true(st.flops > 0 && st.schedule_s > 0 && st.wait_s >= 0);
    assert_true(st.arrange_s > 0 && st.lay_out_s > 0 && st.submit_s > 0);
    assert_true(st.arrange_s + st.lay_out_s + st.submit_s < st.schedule_s + 1e-9);
    assert_true(st.tensor_bytes > 0);
    cavs_session_reset_stats(a->s);
    cavs_session_stats(a->s, &st);
    assert_int_equal(st.batches + st.samples + st.vertices + st.tasks, 0);
}

/* Of all parameters, or of those that are no tables. */
static double numbers_of(const struct cavs_model *m, bool tables)
{
    double numbers = 0;
    for (int i = 0; i < cavs_model_param_count(m); i++) {
        const struct cavs_param *p = cavs_model_param_at(m, i);
        if (tables || !p->lookup_use)
            numbers += (double)cavs_param_rows(p) * cavs_param_cols(p);
    }
    return numbers;
}

/* Adam reads and writes three numbers for each of a parameter, and of a table's where its row is
 * looked up. */
static void statistics_know_what_updates_move(void **unused)
{
    enum { BYTES = 2 * 3 * sizeof(float) };
    struct cavs_session_options o = cavs_session_defaults();
    const int batch[] = {0, 0};
    struct cavs_stats st;
    struct cavs_session *s;
    struct trial t;
    (void)unused;
    o.optimizer = CAVS_ADAM;
    trial_open_zoo(&t, zoo_find("rnn"));
    s = trial_session(&t, &o);
    for (int i = 1; i < 4; i++) {
        check_ok(cavs_session_train(s, t.data, batch, 2));
        cavs_session_stats(s, &st);
        assert_true(st.update_bytes == i * BYTES * numbers_of(t.model, true));
    }
    cavs_session_reset_stats(s);
    check_ok(cavs_session_evaluate(s, t.data, batch, 2));
    cavs_session_stats(s, &st);
    assert_true(st.update_bytes == 0);
    cavs_session_destroy(s);
    trial_close(&t);

    trial_open_zoo(&t, zoo_find("residual"));
    s = trial_session(&t, &o);
    check_ok(cavs_session_train(s, t.data, batch, 1));
    cavs_session_stats(s, &st);
    assert_true(st.update_bytes > BYTES * numbers_of(t.model, false));
    assert_true(st.update_bytes < BYTES * numbers_of(t.model, true));
    cavs_session_destroy(s);
    trial_close(&t);
}

static void memory_has_a_rate(void **unused)
{
    (void)unused;
    assert_true(cavs_runtime_memory_peak(trial_runtime) > 0);
}

/* What a session with this does in a batch of training, and then in one of evaluation. */
static void time_batches(struct scene *a, bool measure, float clip, struct cavs_stats *training,
                         struct cavs_stats *evaluation)
{
    struct cavs_session_options o = cavs_session_defaults();
    const int batch[] = {0, 1};
    o.measure = measure;
    o.clip = clip;
    struct cavs_session *s = trial_session(&a->t, &o);
    check_ok(cavs_session_train(s, a->t.data, batch, 2));
    check_ok(cavs_session_wait(s));
    cavs_session_stats(s, training);
    cavs_session_reset_stats(s);
    check_ok(cavs_session_evaluate(s, a->t.data, batch, 2));
    check_ok(cavs_session_wait(s));
    cavs_session_stats(s, evaluation);
    cavs_session_destroy(s);
}

/* Only with the option measure, and of updates only where there are some. */
static void seconds_of_steps_and_updates_are_measured(void **state)
{
    struct scene *a = *state;
    struct cavs_stats training, evaluation;
    time_batches(a, false, 0, &training, &evaluation);
    assert_true(training.product_s + training.memory_s + training.other_s == 0);
    assert_true(training.update_s == 0);
    for (int clips = 0; clips < 2; clips++) {
        time_batches(a, true, (float)clips, &training, &evaluation);
        assert_true(training.product_s > 0 && training.other_s > 0 && training.update_s > 0);
        assert_true(evaluation.product_s > 0 && evaluation.other_s > 0);
        assert_true(evaluation.update_s == 0);
    }
}

static int64_t evaluated(struct scene *a, bool no_dedup, const int *batch, int n)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_stats st;
    o.shards = 1;
    o.no_dedup = no_dedup;
    struct cavs_session *s = trial_session(&a->t, &o);
    check_ok(cavs_session_evaluate(s, a->t.data, batch, n));
    check_ok(cavs_session_wait(s));
    cavs_session_stats(s, &st);
    cavs_session_destroy(s);
    return st.evaluated;
}

/* Equal words, and the same tree twice, are computed once. */
static void identical_vertices_are_evaluated_once(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0, 1, 0, 0, 1};
    int vertices = 3 * a->t.samples[0]->stages[0].n + 2 * a->t.samples[1]->stages[0].n;
    assert_int_equal(evaluated(a, true, batch, 5), vertices);
    assert_int_equal(evaluated(a, false, batch, 5), evaluated(a, false, batch, 2));
    assert_true(evaluated(a, false, batch, 2) <=
                a->t.samples[0]->stages[0].n + a->t.samples[1]->stages[0].n);
}

/* Forward only: the same outputs and metrics, with less memory. */
static void inference_gives_the_same_outputs(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_stats training, inference;
    int batch[64];
    for (int i = 0; i < 64; i++)
        batch[i] = i % a->t.nsamples;
    o.shards = 2;
    o.inference = true;
    struct cavs_session *s = trial_session(&a->t, &o);
    trial_check_outputs(&a->t, s, batch, 64);
    trial_check_outputs(&a->t, s, batch, 3);
    check_ok(cavs_session_evaluate(a->s, a->t.data, batch, 64));
    cavs_session_stats(s, &inference);
    cavs_session_stats(a->s, &training);
    if (inference.tensor_bytes >= training.tensor_bytes)
        fail_msg("%zu bytes for inference, %zu for training", inference.tensor_bytes,
                 training.tensor_bytes);
    cavs_session_destroy(s);
}

static void explanation_names_operators_and_classes(void **state)
{
    struct scene *a = *state;
    static const char *const words[] = {"matmul", "U_iou", "eager", "chain",
                                        "lazy",   "inner", "leaf"};
    char *text = NULL;
    check_ok(cavs_session_explain(a->s, &text));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strstr(text, words[i]))
            fail_msg("the explanation does not say \"%s\":\n%s", words[i], text);
    }
    free(text);
}

static void wide_tasks_are_cut_among_idle_workers(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = cavs_session_defaults();
    const char *line, *cut;
    char *text = NULL;
    int batch[64];
    for (int i = 0; i < 64; i++)
        batch[i] = i % a->t.nsamples;
    o.shards = 1;
    o.grain = 1e-7f;
    o.no_dedup = true;
    struct cavs_session *s = trial_session(&a->t, &o);
    check_ok(cavs_session_train(s, a->t.data, batch, 64));
    check_ok(cavs_session_explain(s, &text));
    line = strstr(text, "last batch");
    cut = line ? strstr(line, "blocks; ") : NULL;
    if (!cut || (cavs_runtime_workers(trial_runtime) > 1 && atoi(cut + strlen("blocks; ")) == 0))
        fail_msg("no task was cut by rows:\n%s", text);
    free(text);
    cavs_session_destroy(s);
}

/* Tasks that training on one sample takes, and what a parameter is afterwards. */
static int64_t train_on_one(struct scene *a, float grain, float *values)
{
    struct cavs_session_options o = cavs_session_defaults();
    const struct cavs_param *p = a->t.model->params[0];
    struct cavs_stats before, after;
    int sample = 0;
    o.grain = grain;
    struct cavs_session *s = trial_session(&a->t, &o);
    cavs_session_stats(s, &before);
    check_ok(cavs_session_train(s, a->t.data, &sample, 1));
    check_ok(cavs_session_get_param(s, p, values));
    cavs_session_stats(s, &after);
    cavs_session_destroy(s);
    return after.tasks - before.tasks;
}

static void a_batch_worth_little_is_one_task(void **state)
{
    struct scene *a = *state;
    const struct cavs_param *p = a->t.model->params[0];
    size_t n = (size_t)p->rows * (size_t)p->cols;
    float *joined = calloc(2 * n, sizeof *joined), *apart = joined + n;
    assert_non_null(joined);
    assert_int_equal(train_on_one(a, 0, joined), 1);
    assert_true(train_on_one(a, 1e-9f, apart) > 5);
    assert_memory_equal(joined, apart, n * sizeof *joined);
    free(joined);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(set_values_are_read_back),
        TEST(set_values_are_used),
        TEST(values_follow_from_the_seed_alone),
        cmocka_unit_test(parameters_start_as_declared),
        TEST(metrics_add_up_until_they_are_reset),
        TEST(evaluation_changes_no_parameter),
        TEST(several_channels_come_from_one_pass),
        TEST(one_wrong_channel_refuses_the_run),
        TEST(empty_batch_does_nothing),
        TEST(batch_of_samples_without_vertices),
        TEST(batches_grow_and_shrink),
        TEST(unequal_batches_in_flight),
        cmocka_unit_test(each_shard_has_room_for_the_largest),
        TEST(output_is_in_the_callers_order),
        TEST(data_may_change_while_a_batch_runs),
        TEST(ids_rewritten_in_place_are_used),
        TEST(what_a_worker_finds_wrong_reaches_the_caller),
        cmocka_unit_test(a_model_without_a_loss_is_not_trained),
        TEST(training_lowers_the_loss),
        TEST(two_sessions_do_not_touch_each_other),
        TEST(two_threads_may_wait_for_workers),
        TEST(gradient_is_there_until_the_next_batch),
        TEST(a_gradient_that_is_not_finite_is_not_kept),
        TEST(a_batch_worth_little_is_one_task),
        TEST(statistics_count),
        TEST(statistics_know_what_updates_move),
        TEST(memory_has_a_rate),
        TEST(seconds_of_steps_and_updates_are_measured),
        TEST(identical_vertices_are_evaluated_once),
        TEST(inference_gives_the_same_outputs),
        TEST(explanation_names_operators_and_classes),
        TEST(wide_tasks_are_cut_among_idle_workers),
    };
    return cmocka_run_group_tests_name("session", tests, trial_runtime_up, trial_runtime_down);
}
