/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_models.c - whole models on an OpenCL device, and on it and a CPU in turns, against
 * the oracle and against the CPU alone. Skipped where there is no device; PoCL is one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#include "codelets/device/device.h"
#include "core/run/session.h"
#include "core/tape/tape_blocks.h"
#include "tests/on_device.h"
#include "tests/shared_table.h"
#include "tests/skip.h"
#include "tests/tape_step.h"
#include "tests/trial.h"

static const char *const models[] = {
    "tree_lstm_bench", "dag", "encoder_decoder", "mlp", "each_attention", "relations", "wide"};
enum { MODELS = sizeof models / sizeof *models, STEPS = 4, EXTRA = 12, MOST = 100 };

struct batch {
    int n, samples[ZOO_SAMPLES];
};

static struct batch all_samples(const struct trial *t)
{
    struct batch b = {.n = t->nsamples};
    for (int i = 0; i < b.n; i++)
        b.samples[i] = i;
    return b;
}

/* Where the tasks of the next batches run; "home": at the homes of shards, of sessions made after
 * it. */
static void place(const char *placement)
{
    trial_runtime->placement = strcmp(placement, "home") == 0 ? NULL : placement;
    trial_note("(placement %s)", placement);
}

static void open_trial(struct trial *t, const char *model)
{
    trial_compile(false); /* concerns the CPU's groups: interpreting them saves time */
    trial_open_zoo(t, zoo_find(model));
}

/* ---- gradients and outputs ---- */

static void agrees_with_the_oracle_wherever_tasks_run(void **state)
{
    struct trial t;
    struct cavs_session_options options = cavs_session_defaults();
    open_trial(&t, *state);
    struct batch b = all_samples(&t);
    options.shards = 2;
    struct cavs_session *s = trial_session(&t, &options);
    int64_t before = cavs__devices_launched().all;
    char *text;
    check_ok(cavs_session_explain(s, &text));
    if (!strstr(text, "more operands than a kernel may have"))
        assert_null(strstr(text, "on CPUs only"));
    free(text);
    place("device");
    trial_check_gradients(&t, s, b.samples, b.n);
    trial_check_outputs(&t, s, b.samples, b.n);
    assert_true(cavs__devices_launched().all > before);
    place("alternate");
    for (int i = 0; i < 2; i++) /* what ran here runs there the second time */
        trial_check_gradients(&t, s, b.samples, b.n);
    place("cpu");
    trial_check_gradients(&t, s, b.samples, b.n);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- training ---- */

static float *params_of(struct trial *t, struct cavs_session *s, size_t *n)
{
    float *all = NULL;
    *n = 0;
    for (int i = 0; i < cavs_model_param_count(t->model); i++) {
        const struct cavs_param *p = cavs_model_param_at(t->model, i);
        size_t size = (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
        all = realloc(all, (*n + size + 1) * sizeof *all);
        assert_non_null(all);
        check_ok(cavs_session_get_param(s, p, all + *n));
        *n += size;
    }
    return all;
}

static float *trained(struct trial *t, const struct cavs_session_options *options,
                      const char *placement, size_t *n)
{
    struct batch b = all_samples(t);
    place(placement);
    struct cavs_session *s = trial_session(t, options);
    for (int i = 0; i < STEPS; i++)
        check_ok(cavs_session_train(s, t->data, b.samples, b.n));
    float *params = params_of(t, s, n);
    cavs_session_destroy(s);
    return params;
}

static void same_parameters(struct trial *t, const struct cavs_session_options *options,
                            const char *placement)
{
    size_t n;
    float *want = trained(t, options, "cpu", &n), *got = trained(t, options, placement, &n);
    double *exact = malloc((n + 1) * sizeof *exact);
    assert_non_null(exact);
    for (size_t i = 0; i < n; i++)
        exact[i] = want[i];
    check_close("parameters", n, got, exact, 1e-4);
    free(want);
    free(got);
    free(exact);
}

static void every_optimizer_trains_to_the_same_parameters(void **state)
{
    struct trial t;
    (void)state;
    open_trial(&t, "tree_lstm_bench");
    for (int rule = 0; rule < CAVS_OPTIMIZERS; rule++) {
        struct cavs_session_options options = cavs_session_defaults();
        options.optimizer = (enum cavs_optimizer)rule;
        options.shards = 3;
        options.scale = 0.1f;
        options.lr = 0.01f;
        options.epsilon = 1e-3f; /* divides by what is not rounding error only */
        options.clip = rule % 2 ? 0.05f : 0;
        options.weight_decay = 0.01f;
        same_parameters(&t, &options, "device");
        same_parameters(&t, &options, "alternate");
        same_parameters(&t, &options, "home");
    }
    trial_close(&t);
}

/* More sources of a looked-up parameter's gradient than a kernel takes at once. */
static void many_shards_train_to_the_same_parameters(void **state)
{
    struct trial t;
    struct cavs_session_options options = cavs_session_defaults();
    (void)state;
    open_trial(&t, "encoder_decoder");
    options.shards = 11;
    same_parameters(&t, &options, "device");
    trial_close(&t);
}

/* ---- homes ---- */

static void shards_stay_at_homes_that_are_all_used(void **state)
{
    struct trial t;
    struct cavs_session_options options = cavs_session_defaults();
    char *text;
    (void)state;
    open_trial(&t, "tree_lstm_bench");
    struct batch b = all_samples(&t);
    place("home");
    options.lr = 1e-3f;
    struct cavs_session *s = trial_session(&t, &options);
    int64_t before = cavs__devices_launched().all;
    assert_int_equal(s->engine.nshards, 1 + cavs__devices_count() * (1 + CAVS__SPARE_SHARDS));
    for (int i = 0; i < 20; i++)
        check_ok(cavs_session_train(s, t.data, b.samples, b.n));
    for (int i = 0; i < 6; i++)
        check_ok(cavs_session_evaluate(s, t.data, b.samples, b.n));
    check_ok(cavs_session_wait(s));
    assert_true(cavs__devices_launched().all > before);
    for (int i = 0; i < s->engine.homes->n; i++) {
        assert_int_equal(s->engine.homes->home[i].seen, 3);
        assert_true(s->engine.homes->home[i].rate[0] > 0 && s->engine.homes->home[i].rate[1] > 0);
    }
    for (int i = 0; i < s->plan->ntensors; i++) { /* states of a shard are where it lives only */
        unsigned node = starpu_worker_get_memory_node((unsigned)starpu_worker_get_by_type(
            on_device_cuda() ? STARPU_CUDA_WORKER : STARPU_OPENCL_WORKER, 0));
        int allocated, valid, loading;
        if (s->plan->tensors[i].kind != CAVS__T_STATE ||
            !s->engine.tensors[i].chunks[s->engine.nshards - 1].handle)
            continue;
        starpu_data_query_status(s->engine.tensors[i].chunks[s->engine.nshards - 1].handle,
                                 (int)node, &allocated, &valid, &loading);
        assert_false(valid);
    }
    check_ok(cavs_session_explain(s, &text));
    assert_non_null(strstr(text, "home: CPU workers: 1 shard of"));
    assert_non_null(strstr(text, "from measured rates"));
    free(text);
    trial_check_gradients(&t, s, b.samples, b.n);
    trial_check_outputs(&t, s, b.samples, b.n);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void small_batches_leave_homes_empty(void **state)
{
    struct trial t;
    (void)state;
    open_trial(&t, "dag");
    struct batch b = all_samples(&t);
    place("home");
    struct cavs_session *s = trial_session(&t, NULL);
    for (int i = 0; i < 12; i++) {
        int sample = i % b.n;
        trial_check_gradients(&t, s, &sample, 1);
        check_ok(cavs_session_train(s, t.data, &sample, 1));
    }
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- what devices are not for ---- */

static void checking_for_finite_numbers_keeps_tasks_on_the_cpu(void **state)
{
    struct trial t;
    struct cavs_session_options options = cavs_session_defaults();
    char *text;
    (void)state;
    open_trial(&t, "mlp");
    struct batch b = all_samples(&t);
    place("device");
    options.check_finite = true;
    struct cavs_session *s = trial_session(&t, &options);
    int64_t before = cavs__devices_launched().all;
    check_ok(cavs_session_gradient(s, t.data, b.samples, b.n));
    assert_true(cavs__devices_launched().all == before);
    check_ok(cavs_session_explain(s, &text));
    assert_non_null(strstr(text, "on CPUs only"));
    free(text);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- what is kept ---- */

/* Bytes that StarPU has taken of the device's memory. 1.3 does not tell: the test is skipped. */
#ifdef HAVE_STARPU_MEMORY_GET_USED
static void need_used(void)
{
}

static size_t used(void)
{
    size_t bytes = 0;
    for (unsigned node = 1; node < starpu_memory_nodes_get_count(); node++)
        bytes += starpu_memory_get_used(node);
    return bytes;
}
#else
static void need_used(void)
{
    SKIP("this StarPU does not say how much memory it uses");
}

static size_t used(void)
{
    return 0;
}
#endif

static void a_hundred_batches_take_no_more_memory_than_ten(void **state)
{
    struct trial t;
    struct cavs_session_options options = cavs_session_defaults();
    size_t after_ten = 0;
    (void)state;
    need_used();
    open_trial(&t, "tree_lstm_bench");
    struct batch b = all_samples(&t);
    place("device");
    options.shards = 2;
    options.optimizer = CAVS_ADAM;
    options.lr = 1e-4f;
    struct cavs_session *s = trial_session(&t, &options);
    for (int i = 0; i < 110; i++) {
        check_ok(cavs_session_train(s, t.data, b.samples, b.n));
        check_ok(cavs_session_wait(s));
        after_ten = i == 9 ? used() : after_ten;
    }
    assert_true(after_ten > 0);
    if (used() > after_ten)
        fail_msg("%zu bytes after 110 batches, %zu after 10", used(), after_ten);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void groups_are_compiled_once(void **state)
{
    struct trial t;
    (void)state;
    open_trial(&t, "tree_lstm_bench");
    cavs_session_destroy(trial_session(&t, NULL));
    const struct cavs__device *d = cavs__device_at(0);
    int compiled = d->compiled, cached = d->cached;
    cavs_session_destroy(trial_session(&t, NULL));
    assert_int_equal(d->compiled, compiled);
    assert_int_equal(d->cached, cached + 1);
    trial_close(&t);
}

enum { WIDTH = 8, WORDS = 5 };

static struct cavs_model *steps_model(void)
{
    struct cavs_model *m;

    check_ok(cavs_model_create(&m));
    tape_step_params(m, WORDS, WIDTH, 1);
    check_ok(cavs_model_finish(m));
    return m;
}

/* Two sentences, in which a block is often enough to be worth it; the V_t of all recordings so
 * far. */
static int64_t record_steps(struct cavs_tape *t, const struct cavs_model *m, struct cavs_session *s)
{
    struct cavs_tape_stats stats;

    check_ok(cavs_tape_begin(t, CAVS_TAPE_TRAIN));
    for (int i = 0; i < 2; i++) {
        struct cavs_function *f = cavs_tape_sample(t);
        struct cavs_symbol *h = cavs_constant(f, WIDTH, 0);

        for (int word = 0; word < CAVS__WORTH_A_BLOCK; word++)
            h = tape_step(t, m, h, word % WORDS);
        cavs_loss(f, "loss", cavs_sum(cavs_mul(h, h)), NULL);
    }
    check_ok(cavs_tape_finish(t));
    check_ok(cavs_session_wait(s));
    cavs_tape_stats(t, &stats);
    return stats.batching_tasks;
}

/* In a folder of its own, so that each text is new to it. */
static void devices_compile_blocks_while_recordings_go_on(void **state)
{
    const struct cavs__device *d = cavs__device_at(0);
    struct cavs_tape_options options = cavs_tape_defaults();
    struct cavs_model *m = steps_model();
    const char *given = getenv("CAVS_CACHE");
    char folder[4096], *before = given ? strdup(given) : NULL;
    struct cavs_session *s;
    struct cavs_tape *t;
    (void)state;
    place("device");
    trial_compile(true);
    snprintf(folder, sizeof folder, "%s/blocks.XXXXXX", before ? before : "/tmp");
    assert_non_null(mkdtemp(folder));
    setenv("CAVS_CACHE", folder, 1);
    check_ok(cavs_session_create(trial_runtime, m, NULL, &s));
    options.blocks_after = 2;
    check_ok(cavs_tape_create(s, &options, &t));
    int64_t apart = record_steps(t, m, s), all = 0;
    int compiled = d->compiled, cached = d->cached;
    for (int i = 0; i < 5; i++)
        all = record_steps(t, m, s);
    assert_true(all < 6 * apart);
    assert_int_equal(d->compiled, compiled);
    assert_true(d->cached > cached);
    cavs_tape_destroy(t);
    cavs_session_destroy(s);
    cavs_model_destroy(m);
    if (before)
        setenv("CAVS_CACHE", before, 1);
    else
        unsetenv("CAVS_CACHE");
    free(before);
}

/* Sums, means and the largest of 1 to 40 words, in operators and in blocks. */
static void record_lists(struct cavs_tape *t, const struct cavs_model *m, int step)
{
    struct cavs_param *E = cavs_model_find_param(m, "E"), *U = cavs_model_find_param(m, "U");
    struct cavs_symbol *x[40], *list, *h[3];

    check_ok(cavs_tape_begin(t, CAVS_TAPE_GRADIENT));
    for (int i = 0; i < 6; i++) {
        struct cavs_function *f = cavs_tape_sample(t);
        int n = 1 + (7 * i + step / 4 * step) % 40;

        for (int k = 0; k < n; k++)
            x[k] = cavs_matmul(cavs_lookup(E, cavs_tape_id(t, (i + k) % WORDS)), U);
        list = cavs_tape_list(t, n, x);
        h[0] = cavs_sum_children(list);
        h[1] = cavs_mean_children(list);
        h[2] = cavs_max_children(list);
        for (int k = 0; k < 3; k++)
            cavs_loss(f, "loss", cavs_sum(cavs_square(cavs_tanh(cavs_matmul(h[k], U)))), NULL);
    }
    check_ok(cavs_tape_finish(t));
}

typedef void record_step(struct cavs_tape *t, const struct cavs_model *m, int step);

/* Destroys the model. */
static void take_gradients(const char *placement, struct cavs_model *m,
                           const struct cavs_tape_options *tape, int steps, record_step *record,
                           float *gradients)
{
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_session *s;
    struct cavs_tape *t;
    place(placement);
    options.shards = 2;
    check_ok(cavs_session_create(trial_runtime, m, &options, &s));
    check_ok(cavs_tape_create(s, tape, &t));
    for (int i = 0; i < steps; i++)
        record(t, m, i);
    check_ok(cavs_session_get_gradient(s, cavs_model_find_param(m, "E"), gradients));
    check_ok(
        cavs_session_get_gradient(s, cavs_model_find_param(m, "U"), gradients + WORDS * WIDTH));
    cavs_tape_destroy(t);
    cavs_session_destroy(s);
    cavs_model_destroy(m);
}

/* The gradients of the last step. */
static void check_as_cores_do(struct cavs_model *model(void), const struct cavs_tape_options *tape,
                              int steps, record_step *record)
{
    float want[(WORDS + WIDTH) * WIDTH], got[(WORDS + WIDTH) * WIDTH];
    take_gradients("cpu", model(), tape, steps, record, want);
    int64_t before = cavs__devices_launched().all;
    take_gradients("device", model(), tape, steps, record, got);
    assert_true(cavs__devices_launched().all > before);
    for (int i = 0; i < (WORDS + WIDTH) * WIDTH; i++)
        assert_true(fabsf(got[i] - want[i]) < 1e-5f * (1 + fabsf(want[i])));
}

static void devices_take_lists_of_tapes_as_cores_do(void **state)
{
    struct cavs_tape_options tape = cavs_tape_defaults();
    (void)state;
    trial_compile(false);
    for (tape.blocks_after = 0; tape.blocks_after < 2; tape.blocks_after++)
        check_as_cores_do(steps_model, &tape, 8, record_lists);
}

/* A declared cell with a gate for each child, however many there are. */
static struct cavs_model *cells_model(void)
{
    struct cavs_model *m;

    check_ok(cavs_model_create(&m));
    tape_step_params(m, WORDS, WIDTH, 1);
    struct cavs_param *U = cavs_model_find_param(m, "U");
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "tree", WIDTH), "cell");
    struct cavs_symbol *child = cavs_each_child(f), *sum = cavs_sum_children(child);
    struct cavs_symbol *gate =
        cavs_sigmoid(cavs_add(cavs_matmul(child, U), cavs_matmul(cavs_pull(f, "x", WIDTH), U)));
    sum = cavs_add(sum, cavs_max_children(child));
    cavs_scatter(f, cavs_tanh(cavs_add(sum, cavs_sum_children(cavs_mul(gate, child)))));
    check_ok(cavs_model_finish(m));
    return m;
}

/* Each over the cells before it, up to 40 of them. */
static void record_cells(struct cavs_tape *t, const struct cavs_model *m, int step)
{
    struct cavs_param *E = cavs_model_find_param(m, "E");
    const struct cavs_function *cell = cavs_stage_function_at(cavs_model_find_stage(m, "tree"), 0);
    struct cavs_symbol *x[41];

    (void)step;
    check_ok(cavs_tape_begin(t, CAVS_TAPE_GRADIENT));
    for (int i = 0; i < 6; i++) {
        struct cavs_function *f = cavs_tape_sample(t);
        int n = 1 + 7 * i;

        for (int k = 0; k < n; k++) {
            struct cavs_named in = {"x", cavs_lookup(E, cavs_tape_id(t, (i + k) % WORDS))};
            int children = k < n - 1 ? k % 4 : k;
            struct cavs_application a = {1, &in, children, x + k - children, 0, NULL};

            x[k] = cavs_tape_apply(t, cell, &a);
        }
        cavs_loss(f, "loss", cavs_sum(cavs_square(x[n - 1])), NULL);
    }
    check_ok(cavs_tape_finish(t));
}

static void devices_take_functions_over_lists_of_tapes_as_cores_do(void **state)
{
    (void)state;
    trial_compile(false);
    check_as_cores_do(cells_model, NULL, 1, record_cells);
}

static void rows_that_one_session_updates_the_other_multiplies(void **state)
{
    struct cavs_session_options options = cavs_session_defaults();

    (void)state;
    trial_compile(false);
    place("device");
    shared_table_check(&options, 1e-5);
}

static void hear(const char *text, void *context)
{
    if (strstr(text, "multiply float32 numbers"))
        ++*(int *)context;
}

/* Whoever asks for bfloat16 of a device that does not have it hears so, and gets the results of
 * float32; of one that has, it is said in --explain. */
static void bfloat16_is_float32_where_it_says_so(void **state)
{
    const bool rounds = cavs__device_at(0)->driver->rounds;
    struct trial t;
    struct cavs_session_options options = cavs_session_defaults();
    int notices = 0;
    size_t n, same;
    char *text;
    (void)state;
    open_trial(&t, "mlp");
    float *want = trained(&t, &options, "device", &n);
    options.precision = CAVS_BFLOAT16;
    cavs_notice_set_handler(hear, &notices);
    float *got = trained(&t, &options, "device", &same);
    assert_int_equal(notices, !rounds || starpu_cpu_worker_get_count() > 0);
    assert_int_equal(same, n);
    if (!rounds)
        assert_memory_equal(want, got, n * sizeof *want);
    struct cavs_session *s = trial_session(&t, &options);
    cavs_notice_set_handler(NULL, NULL);
    check_ok(cavs_session_explain(s, &text));
    assert_int_equal(strstr(text, "rounded to bfloat16") != NULL, rounds);
    free(text);
    free(want);
    free(got);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* One, or as many as CAVS_TEST_DEVICES says. */
static bool device_there(void)
{
    const char *devices = getenv("CAVS_TEST_DEVICES");

    on_device_environment();
    if (getenv("CAVS_TEST_LONG")) /* compiling them takes a CPU long */
        setenv("CAVS_DEVICE_SEQUENCES", "always", 0);
    setenv("CAVS_TEST_WORKERS", "1", 1);
    setenv(on_device_cuda() ? "CAVS_TEST_CUDA" : "CAVS_TEST_OPENCL", devices ? devices : "1", 1);
    if (trial_runtime_up(NULL) != 0)
        return false;
    return cavs__devices_count() > 0;
}

/* The i-th model: with CAVS_TEST_LONG of the whole zoo. */
static const char *model_at(int i, int *n)
{
    bool all = getenv("CAVS_TEST_LONG") != NULL;
    *n = all ? zoo_count() : MODELS;
    return i >= *n ? NULL : all ? zoo_at(i)->name : models[i];
}

int main(void)
{
    struct CMUnitTest tests[MOST + EXTRA] = {
        cmocka_unit_test(every_optimizer_trains_to_the_same_parameters),
        cmocka_unit_test(many_shards_train_to_the_same_parameters),
        cmocka_unit_test(shards_stay_at_homes_that_are_all_used),
        cmocka_unit_test(small_batches_leave_homes_empty),
        cmocka_unit_test(checking_for_finite_numbers_keeps_tasks_on_the_cpu),
        cmocka_unit_test(a_hundred_batches_take_no_more_memory_than_ten),
        cmocka_unit_test(groups_are_compiled_once),
        cmocka_unit_test(devices_compile_blocks_while_recordings_go_on),
        cmocka_unit_test(devices_take_lists_of_tapes_as_cores_do),
        cmocka_unit_test(devices_take_functions_over_lists_of_tapes_as_cores_do),
        cmocka_unit_test(rows_that_one_session_updates_the_other_multiplies),
        cmocka_unit_test(bfloat16_is_float32_where_it_says_so),
    };
    char names[MOST][80];
    int failed, n;

    if (!device_there()) {
        trial_runtime_down(NULL);
        printf("1..0 # SKIP no device\n");
        return 0;
    }
    for (int i = 0; i < MOST; i++) {
        const char *model = model_at(i, &n);
        if (!model)
            break;
        snprintf(names[i], sizeof names[i], "%s agrees with the oracle wherever tasks run", model);
        tests[EXTRA + i] =
            (struct CMUnitTest){.name = names[i],
                                .test_func = agrees_with_the_oracle_wherever_tasks_run,
                                .initial_state = (void *)model};
    }
    failed = _cmocka_run_group_tests("models on a device", tests, (size_t)(EXTRA + n), NULL, NULL);
    trial_runtime_down(NULL);
    return failed;
}
