/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tape.c - what tapes compute, against the oracle: every model of the zoo, its
 * samples recorded operator by operator; and what is a tape's own: values in the middle, gradients
 * of symbols, marks, refusals.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tape/tape.h"
#include "tests/random_model.h"
#include "tests/replay.h"
#include "tests/trial.h"
#include "tests/skip.h"

static struct cavs_tape *new_tape(struct cavs_session *s, enum cavs_policy policy)
{
    struct cavs_tape_options o = cavs_tape_defaults();
    struct cavs_tape *t = NULL;

    o.policy = policy;
    check_ok(cavs_tape_create(s, &o, &t));
    return t;
}

/* Whatever is recorded once is a block from the next recording on. */
static struct cavs_tape *new_tape_of_blocks(struct cavs_session *s, enum cavs_policy policy)
{
    struct cavs_tape_options o = cavs_tape_defaults();
    struct cavs_tape *t = NULL;

    o.policy = policy;
    o.blocks_after = 1;
    check_ok(cavs_tape_create(s, &o, &t));
    t->blocks.worth = 1;
    return t;
}

static void record_all(struct trial *t, struct cavs_tape *tape, enum cavs_tape_run run,
                       enum replay_by by, replay_between *between)
{
    check_ok(cavs_tape_begin(tape, run));
    for (int i = 0; i < t->nsamples; i++)
        replay_sample(tape, t->samples[i], by, between, NULL);
    check_ok(cavs_tape_finish(tape));
}

static void compare(struct trial *t, struct cavs_session *s, struct cavs_tape *tape,
                    enum replay_by by, replay_between *between)
{
    int batch[ZOO_SAMPLES];

    for (int i = 0; i < t->nsamples; i++)
        batch[i] = i;
    trial_take_params(t, s);
    trial_oracle(t, batch, t->nsamples, true);
    check_ok(cavs_session_reset_metrics(s));
    record_all(t, tape, CAVS_TAPE_GRADIENT, by, between);
    trial_compare(t, s);
}

/* Asks for all states in the middle of the recording. */
static void ask(struct cavs_tape *tape, int n, struct cavs_symbol *const *states, void *context)
{
    int width = n > 0 ? cavs_symbol_width(states[0]) : 0;
    float *numbers = malloc(((size_t)n * (size_t)width + 1) * sizeof *numbers);
    float **rows = malloc(((size_t)n + 1) * sizeof *rows);

    (void)context;
    for (int i = 0; i < n; i++)
        rows[i] = numbers + i * width;
    check_ok(cavs_tape_values(tape, n, states, rows));
    free(rows);
    free(numbers);
}

static void zoo_on_a_tape(void **state)
{
    static const enum cavs_policy policies[] = {CAVS_POLICY_AUTO, CAVS_POLICY_SERIAL,
                                                CAVS_POLICY_AUTO, CAVS_POLICY_AUTO};
    const struct zoo_entry *z = *state;
    struct trial t;

    trial_open_zoo(&t, z);
    for (int i = 0; i < 4; i++) {
        enum replay_by by = i == 3 ? REPLAY_FUNCTIONS : REPLAY_OPERATORS;
        const char *blocks = i == 3 ? "functions" : i == 2 ? "blocks" : "operators";
        struct cavs_session_options o = cavs_session_defaults();
        struct cavs_session *s;
        struct cavs_tape *tape;

        o.shards = 2;
        s = trial_session(&t, &o);
        trial_skip_refused(&t, s);
        tape = i >= 2 ? new_tape_of_blocks(s, policies[i]) : new_tape(s, policies[i]);
        trial_note("(%s, %s)", cavs_policy_name((int)policies[i]), blocks);
        compare(&t, s, tape, by, NULL);
        compare(&t, s, tape, by, NULL); /* once more: nothing is left of the first */
        trial_note("(%s, %s, values asked for)", cavs_policy_name((int)policies[i]), blocks);
        compare(&t, s, tape, by, ask);
        cavs_tape_destroy(tape);
        cavs_session_destroy(s);
    }
    trial_close(&t);
}

/* ---- functions that nobody would write ---- */

static void random_models_on_a_tape(void **unused)
{
    enum { SEEDS = 12 };

    (void)unused;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct draw d = {.seed = seed};
        const char *texts[DRAW_SAMPLES];
        struct cavs_session *s;
        struct cavs_tape *tape;
        struct trial t;

        check_ok(cavs_model_create(&d.m));
        draw_model(&d);
        check_ok(cavs_model_finish(d.m));
        draw_samples(&d);
        for (int i = 0; i < DRAW_SAMPLES; i++)
            texts[i] = d.texts[i];
        trial_open(&t, d.m, texts, DRAW_SAMPLES, NULL);
        t.forgives_rounding = true; /* values of order one may cancel by chance */
        s = trial_session(&t, NULL);
        tape = new_tape_of_blocks(s, CAVS_POLICY_AUTO);
        for (int level = 1; level <= 2; level++) {
            trial_note("(seed %llu, level %d)", (unsigned long long)seed, level);
            compare(&t, s, tape, seed % 3 ? REPLAY_OPERATORS : REPLAY_FUNCTIONS,
                    seed % 2 ? ask : NULL);
        }
        cavs_tape_destroy(tape);
        cavs_session_destroy(s);
        trial_close(&t);
    }
}

/* ---- beside declared training ---- */

/* The parameters after some updates, by tape (or by declared batches), one behind the other. */
static float *trained(struct trial *t, struct cavs_session *s, bool tape, bool alternate, size_t *n)
{
    struct cavs_tape *of = new_tape(s, CAVS_POLICY_AUTO);
    int batch[ZOO_SAMPLES];
    float *values = NULL;

    for (int i = 0; i < t->nsamples; i++)
        batch[i] = i;
    for (int step = 0; step < 4; step++) {
        if (tape && !(alternate && step % 2))
            record_all(t, of, CAVS_TAPE_TRAIN, REPLAY_OPERATORS, NULL);
        else
            check_ok(cavs_session_train(s, t->data, batch, t->nsamples));
    }
    *n = 0;
    for (int i = 0; i < t->model->nparams; i++) {
        const struct cavs_param *p = t->model->params[i];
        size_t size = (size_t)p->rows * (size_t)p->cols;

        values = realloc(values, (*n + size) * sizeof *values);
        assert_non_null(values);
        check_ok(cavs_session_get_param(s, p, values + *n));
        *n += size;
    }
    cavs_tape_destroy(of);
    return values;
}

static void updates_are_those_of_declared_batches(void **unused)
{
    static const enum cavs_optimizer optimizers[] = {CAVS_SGD, CAVS_ADAM, CAVS_MOMENTUM};
    struct trial t;

    (void)unused;
    trial_open_zoo(&t, zoo_find("bilstm"));
    for (int i = 0; i < 3; i++) {
        struct cavs_session_options o = cavs_session_defaults();
        float *values[3];
        size_t n;

        o.optimizer = optimizers[i];
        o.clip = i == 1 ? 0.5f : 0;
        o.mean = i == 2;
        o.weight_decay = 1e-3f;
        for (int k = 0; k < 3; k++) {
            struct cavs_session *s = trial_session(&t, &o);

            values[k] = trained(&t, s, k > 0, k == 2, &n);
            cavs_session_destroy(s);
        }
        for (size_t j = 0; j < n; j++) {
            assert_true(fabsf(values[1][j] - values[0][j]) < 2e-5f);
            assert_true(fabsf(values[2][j] - values[0][j]) < 2e-5f);
        }
        for (int k = 0; k < 3; k++)
            free(values[k]);
    }
    trial_close(&t);
}

/* ---- a scene of its own ---- */

enum { WIDTH = 20, WORDS = 7 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U, *b, *V;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static void open_scene_on(struct scene *a, struct cavs_runtime *rt)
{
    struct cavs_session_options o = cavs_session_defaults();

    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-0.3f, 0.3f));
    a->b = cavs_model_param(a->m, "b", 1, WIDTH, CAVS_UNIFORM(-0.3f, 0.3f));
    a->V = cavs_model_param(a->m, "V", WIDTH, 3, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(a->m));
    o.shards = 3;
    o.optimizer = CAVS_ADAM;
    check_ok(cavs_session_create(rt, a->m, &o, &a->s));
    a->t = new_tape(a->s, CAVS_POLICY_AUTO);
}

static void open_scene(struct scene *a)
{
    open_scene_on(a, trial_runtime);
}

static void open_scene_of_blocks(struct scene *a)
{
    open_scene(a);
    cavs_tape_destroy(a->t);
    a->t = new_tape_of_blocks(a->s, CAVS_POLICY_AUTO);
}

static void close_scene(struct scene *a)
{
    cavs_session_destroy(a->s); /* lives on until its tape is gone */
    cavs_tape_destroy(a->t);
    cavs_model_destroy(a->m);
}

static struct cavs_symbol *step(struct scene *a, struct cavs_symbol *h, int word)
{
    return cavs_tanh(cavs_add(cavs_lookup(a->E, cavs_tape_id(a->t, word % WORDS)),
                              cavs_affine(cavs_dropout(h, 0.3f), a->U, a->b)));
}

static struct cavs_symbol *chain(struct scene *a, struct cavs_function *f, int words)
{
    struct cavs_symbol *h = cavs_constant(f, WIDTH, 0);

    for (int i = 0; i < words; i++)
        h = step(a, h, i);
    return h;
}

static void classify(struct scene *a, struct cavs_function *f, struct cavs_symbol *h, int label)
{
    cavs_loss(f, "loss",
              cavs_softmax_cross_entropy(cavs_matmul(h, a->V), cavs_tape_id(a->t, label)), NULL);
}

/* ---- numbers that are not finite ---- */

/* Chains, of which sample 2 has the logarithm of a number below 0, or the square root of 0, which
 * is fine but has no gradient; returns its line. */
static int record_bad(struct scene *a, bool in_gradient)
{
    float minus[WIDTH] = {-1}, zeros[WIDTH] = {0};
    int line = 0;

    for (int i = 0; i < 4; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *h = chain(a, f, 2), *x;

        if (i == 2 && in_gradient) {
            x = cavs_mul(h, cavs_tape_row(a->t, WIDTH, zeros));
            line = __LINE__ + 1;
            h = cavs_add(h, cavs_sqrt(x));
        } else if (i == 2) {
            x = cavs_add(cavs_scale(h, 0), cavs_tape_row(a->t, WIDTH, minus));
            line = __LINE__ + 1;
            h = cavs_add(h, cavs_log(x));
        }
        classify(a, f, h, i % 3);
    }
    return line;
}

static void a_number_that_is_not_finite_is_told(void **unused)
{
    struct cavs_session_options o = cavs_session_defaults();
    float before[WIDTH * WIDTH], after[WIDTH * WIDTH];
    struct cavs_function *f;
    struct scene a;
    char where[40];

    (void)unused;
    open_scene(&a);
    cavs_tape_destroy(a.t);
    cavs_session_destroy(a.s);
    o.check_finite = true;
    o.shards = 3;
    check_ok(cavs_session_create(trial_runtime, a.m, &o, &a.s));
    a.t = new_tape(a.s, CAVS_POLICY_AUTO);
    if (starpu_cpu_worker_get_count() == 0) {
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
        record_bad(&a, false);
        check_refused(cavs_tape_finish(a.t), CAVS_ERUNTIME,
                      "the check for finite numbers is there only", "there is no CPU worker");
        close_scene(&a);
        SKIP("without a CPU worker the check for finite numbers is refused, as it should be");
    }
    check_ok(cavs_session_get_param(a.s, a.U, before));
    for (int in_gradient = 0; in_gradient < 2; in_gradient++) {
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
        snprintf(where, sizeof where, "test_tape.c:%d", record_bad(&a, in_gradient));
        check_refused(cavs_tape_finish(a.t), CAVS_ENUMERIC, where,
                      in_gradient ? "gradient of operator sqrt" : "operator log", "sample 2");
        check_refused(cavs_tape_finish(a.t), CAVS_ENUMERIC, where, "sample 2", "cavs_tape_begin");
    }
    check_ok(cavs_session_get_param(a.s, a.U, after));
    assert_memory_equal(after, before, sizeof after);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    f = cavs_tape_sample(a.t);
    classify(&a, f, chain(&a, f, 3), 1);
    check_ok(cavs_tape_finish(a.t));
    close_scene(&a);
}

/* ---- dropout ---- */

static void dropout_drops_in_training_alone_by_sample_and_symbol(void **unused)
{
    float numbers[3][WIDTH], ones[WIDTH], *rows[3];
    struct cavs_symbol *x[3];
    struct scene a;
    int zeros = 0;

    (void)unused;
    for (int i = 0; i < WIDTH; i++)
        ones[i] = 1;
    open_scene(&a);
    for (int run = 0; run < 2; run++) {
        check_ok(cavs_tape_begin(a.t, run ? CAVS_TAPE_TRAIN : CAVS_TAPE_EVALUATE));
        for (int i = 0; i < 2; i++) {
            cavs_tape_sample(a.t);
            x[i] = cavs_dropout(cavs_tape_row(a.t, WIDTH, ones), 0.5f);
            rows[i] = numbers[i];
        }
        x[2] = cavs_dropout(cavs_tape_row(a.t, WIDTH, ones), 0.5f);
        rows[2] = numbers[2];
        check_ok(cavs_tape_values(a.t, 3, x, rows));
        if (!run)
            assert_memory_equal(numbers[0], ones, sizeof ones);
    }
    for (int i = 0; i < WIDTH; i++) {
        assert_true(numbers[0][i] == 0 || numbers[0][i] == 2);
        zeros += numbers[0][i] == 0;
    }
    assert_in_range(zeros, 2, WIDTH - 2);
    assert_memory_not_equal(numbers[0], numbers[1], sizeof ones);
    assert_memory_not_equal(numbers[1], numbers[2], sizeof ones); /* of one sample */
    close_scene(&a);
}

/* ---- gradients of symbols, marks ---- */

static void gradients_of_symbols_are_right(void **unused)
{
    float row[WIDTH], value[WIDTH], got[3][WIDTH], *rows[3] = {got[0], got[1], got[2]};
    float *to = value;
    struct cavs_symbol *x, *y, *asked[3];
    struct cavs_function *f;
    struct scene a;

    (void)unused;
    for (int i = 0; i < WIDTH; i++)
        row[i] = (float)i / 7 - 1;
    open_scene(&a);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a.t);
    x = cavs_tape_row(a.t, WIDTH, row);
    y = cavs_tanh(x);
    cavs_loss(f, "loss", cavs_sum(cavs_square(cavs_slice(y, 3, 9))), NULL);
    asked[0] = x;
    asked[1] = y;
    asked[2] = cavs_exp(x); /* no loss depends on it */
    check_refused(cavs_tape_gradients(a.t, 1, asked, rows), CAVS_ESTATE, "not finished");
    check_ok(cavs_tape_values(a.t, 1, &y, &to));
    check_ok(cavs_tape_finish(a.t));
    check_ok(cavs_tape_gradients(a.t, 3, asked, rows));
    for (int i = 0; i < WIDTH; i++) {
        float dy = i >= 3 && i < 12 ? 2 * value[i] : 0;

        assert_true(fabsf(got[1][i] - dy) < 1e-6f);
        assert_true(fabsf(got[0][i] - dy * (1 - value[i] * value[i])) < 1e-6f);
        assert_true(got[2][i] == 0);
    }
    close_scene(&a);
}

/* ---- declared functions ---- */

enum { STEPS = 5, STATE = 6 };

/* A chain over words, with two products of one operand. */
struct declared_scene {
    struct cavs_model *m;
    struct cavs_stage *stage;
    struct cavs_function *f;
    struct cavs_param *E, *U;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static void open_declared(struct declared_scene *a)
{
    struct cavs_init some = CAVS_UNIFORM(-0.5f, 0.5f);
    struct cavs_symbol *x, *h;

    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, STATE, some);
    a->U = cavs_model_param(a->m, "U", STATE, STATE, some);
    a->stage = cavs_stage_create(a->m, "s", STATE);
    a->f = cavs_function_create(a->stage, "step");
    x = cavs_add(cavs_lookup(a->E, cavs_pull_ids(a->f, "word")), cavs_pull(a->f, "x", STATE));
    h = cavs_mul(cavs_matmul(x, cavs_model_param(a->m, "V", STATE, STATE, some)),
                 cavs_sigmoid(cavs_matmul(x, cavs_model_param(a->m, "W", STATE, STATE, some))));
    h = cavs_tanh(cavs_add(h, cavs_matmul(cavs_gather(a->f, 0), a->U)));
    cavs_scatter(a->f, h);
    cavs_push(a->f, "h", cavs_slice(h, 1, 3));
    cavs_loss(a->f, "loss", cavs_sum(cavs_square(h)), NULL);
    check_ok(cavs_model_finish(a->m));
    check_ok(cavs_session_create(trial_runtime, a->m, NULL, &a->s));
    a->t = new_tape(a->s, CAVS_POLICY_AUTO);
}

static void close_declared(struct declared_scene *a)
{
    cavs_tape_destroy(a->t);
    cavs_session_destroy(a->s);
    cavs_model_destroy(a->m);
}

static const int word_of[STEPS] = {2, 0, 2, 5, 1};
static float row_of[STEPS][STATE];

/* The gradient of the declared chain, and what it shows. */
static void run_declared(struct declared_scene *a, float *E, float *U, float *shown, double *loss)
{
    const int ptr[STEPS + 1] = {0, 0, 1, 2, 3, 4}, child[STEPS] = {0, 1, 2, 3};
    struct cavs_data *d = NULL;
    double count;
    int sample = 0;

    check_ok(cavs_data_create(a->m, &d));
    check_ok(cavs_data_begin(d));
    check_ok(cavs_data_graph(d, a->stage, STEPS, NULL, ptr, child));
    check_ok(cavs_data_ids(d, a->stage, "word", STEPS, word_of));
    check_ok(cavs_data_rows(d, a->stage, "x", STEPS, row_of[0]));
    check_ok(cavs_data_end(d));
    check_ok(cavs_session_output(a->s, d, &sample, 1, a->stage, "h", shown));
    check_ok(cavs_session_reset_metrics(a->s));
    check_ok(cavs_session_gradient(a->s, d, &sample, 1));
    check_ok(cavs_session_get_gradient(a->s, a->E, E));
    check_ok(cavs_session_get_gradient(a->s, a->U, U));
    check_ok(cavs_session_metric(a->s, "loss", loss, &count));
    check_ok(cavs_session_reset_metrics(a->s));
    cavs_data_destroy(d);
}

static struct cavs_symbol *apply_step(struct declared_scene *a, int i, struct cavs_symbol *state,
                                      struct cavs_symbol **shown)
{
    struct cavs_named inputs[] = {{"x", cavs_tape_row(a->t, STATE, row_of[i])},
                                  {"word", cavs_tape_id(a->t, word_of[i])}};
    struct cavs_named channel = {"h", NULL};
    struct cavs_application application = {2, inputs, 1, &state, 1, &channel};

    state = cavs_tape_apply(a->t, a->f, &application);
    *shown = channel.x;
    return state;
}

static void a_declared_function_is_applied(void **unused)
{
    float E[2][WORDS * STATE], U[2][STATE * STATE], shown[2][STEPS][3], *rows[STEPS];
    struct cavs_symbol *state = NULL, *h[STEPS];
    struct declared_scene a;
    double loss[2], count;

    (void)unused;
    for (int i = 0; i < STEPS * STATE; i++)
        row_of[i / STATE][i % STATE] = (float)(i % 7) / 7 - 0.4f;
    open_declared(&a);
    run_declared(&a, E[0], U[0], shown[0][0], &loss[0]);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    cavs_tape_sample(a.t);
    for (int i = 0; i < STEPS; i++) {
        state = apply_step(&a, i, state, &h[i]);
        rows[i] = shown[1][i];
    }
    check_ok(cavs_tape_values(a.t, STEPS, h, rows));
    check_ok(cavs_tape_finish(a.t));
    check_ok(cavs_session_get_gradient(a.s, a.E, E[1]));
    check_ok(cavs_session_get_gradient(a.s, a.U, U[1]));
    check_ok(cavs_session_metric(a.s, "loss", &loss[1], &count));
    assert_true(fabs(loss[1] - loss[0]) < 1e-6 * loss[0] && count == STEPS);
    for (int i = 0; i < WORDS * STATE; i++)
        assert_true(fabsf(E[1][i] - E[0][i]) < 1e-6f);
    for (int i = 0; i < STATE * STATE; i++)
        assert_true(fabsf(U[1][i] - U[0][i]) < 1e-6f);
    for (int i = 0; i < STEPS * 3; i++)
        assert_true(fabsf(shown[1][i / 3][i % 3] - shown[0][i / 3][i % 3]) < 1e-6f);
    close_declared(&a);
}

/* Steps ahead together, then a V_t for each, then losses together. */
static void an_applied_function_is_one_symbol(void **unused)
{
    struct cavs_symbol *state, *shown;
    struct cavs_tape_stats stats;
    struct declared_scene a;
    char *text;

    (void)unused;
    open_declared(&a);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    for (int k = 0; k < 3; k++) {
        cavs_tape_sample(a.t);
        state = NULL;
        for (int i = 0; i < STEPS; i++)
            state = apply_step(&a, i, state, &shown);
    }
    check_ok(cavs_tape_finish(a.t));
    cavs_tape_stats(a.t, &stats);
    /* rows, looked-up rows and what is made of them ahead; steps; losses, by a first step and by
     * others */
    assert_true(stats.batching_tasks <= (3 + STEPS + 2) * a.t->order.nshards);
    assert_int_equal(stats.signatures, 7);
    check_ok(cavs_tape_explain(a.t, &text));
    assert_non_null(strstr(text, "step(12', 6') 9', applied: sigmoid"));
    free(text);
    close_declared(&a);
}

static void functions_that_read_stages_are_not_applied(void **unused)
{
    struct cavs_application nothing = {0};
    struct cavs_tape *t;
    struct trial trial;

    (void)unused;
    trial_open_zoo(&trial, zoo_find("tree_lstm_bench"));
    t = new_tape(trial_session(&trial, NULL), CAVS_POLICY_AUTO);
    check_ok(cavs_tape_begin(t, CAVS_TAPE_EVALUATE));
    cavs_tape_sample(t);
    assert_null(cavs_tape_apply(t, trial.model->stages[1]->functions[0], &nothing));
    check_refused(cavs_tape_finish(t), CAVS_EPROGRAM, "another stage", "cavs_pull", "test_tape.c");
    cavs_session_destroy(t->session);
    cavs_tape_destroy(t);
    trial_close(&trial);
}

static void what_a_declared_function_lacks_is_told(void **unused)
{
    static const char *const says[4][2] = {{"function step", "input word"},
                                           {"input x of function step", "row has width 7, not 6"},
                                           {"input word of function step", "id 7 is not below 7"},
                                           {"child of function step", "row has width 7, not 6"}};
    float wide[STATE + 1] = {0};
    struct declared_scene a;

    (void)unused;
    open_declared(&a);
    for (int i = 0; i < 4; i++) {
        struct cavs_named inputs[2] = {{"x", NULL}, {i == 0 ? "words" : "word", NULL}};
        struct cavs_application application = {.ninputs = 2, .inputs = inputs, .nchildren = 1};
        struct cavs_symbol *child = NULL;

        application.children = &child;
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
        cavs_tape_sample(a.t);
        inputs[0].x = cavs_tape_row(a.t, i == 1 ? STATE + 1 : STATE, wide);
        inputs[1].x = cavs_tape_id(a.t, i == 2 ? WORDS : 1);
        child = i == 3 ? cavs_tape_row(a.t, STATE + 1, wide) : NULL;
        assert_null(cavs_tape_apply(a.t, a.f, &application));
        check_refused(cavs_tape_finish(a.t), i == 0 || i == 2 ? CAVS_EDATA : CAVS_ESHAPE,
                      "test_tape.c", says[i][0], says[i][1]);
    }
    close_declared(&a);
}

static void counts_without_their_arrays_are_refused(void **unused)
{
    const struct cavs_application wrong[] = {
        {.ninputs = 3}, {.nchildren = 1}, {.nchildren = -2}, {.nchannels = 2}};
    struct declared_scene a;

    (void)unused;
    open_declared(&a);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct cavs_application application = wrong[i];

        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
        cavs_tape_sample(a.t);
        assert_null(cavs_tape_apply(a.t, a.f, &application));
        check_refused(cavs_tape_finish(a.t), CAVS_EINVAL, "test_tape.c", "step", "not there");
    }
    close_declared(&a);
}

static void a_child_that_is_not_gathered_is_refused(void **unused)
{
    struct cavs_symbol *children[2] = {NULL, NULL};
    struct cavs_named inputs[2] = {{"x", NULL}, {"word", NULL}};
    struct cavs_application application = {
        .ninputs = 2, .inputs = inputs, .nchildren = 2, .children = children};
    float row[STATE] = {0};
    struct declared_scene a;

    (void)unused;
    open_declared(&a);
    for (int given = 0; given < 2; given++) {
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
        cavs_tape_sample(a.t);
        inputs[0].x = cavs_tape_row(a.t, STATE, row);
        inputs[1].x = cavs_tape_id(a.t, 1);
        children[1] = given ? inputs[0].x : NULL;
        assert_int_equal(cavs_tape_apply(a.t, a.f, &application) == NULL, given);
    }
    check_refused(cavs_tape_finish(a.t), CAVS_EGRAPH, "test_tape.c", "step gathers 1", "child 1");
    close_declared(&a);
}

/* ---- tied weights ---- */

enum { TIED = 4 };

/* A model whose declared function joins P and Q, and parameters of the same numbers that only tapes
 * use. */
struct tied_scene {
    struct cavs_model *m;
    struct cavs_param *P, *P_alone, *E, *F;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static struct cavs_param *like(struct cavs_session *s, struct cavs_param *p,
                               const struct cavs_param *other)
{
    float numbers[WORDS * WIDTH];

    check_ok(cavs_session_get_param(s, other, numbers));
    check_ok(cavs_session_set_param(s, p, numbers));
    return p;
}

static void open_tied(struct tied_scene *a)
{
    struct cavs_init some = CAVS_UNIFORM(-0.5f, 0.5f);
    struct cavs_function *f;
    struct cavs_symbol *x;

    check_ok(cavs_model_create(&a->m));
    f = cavs_function_create(cavs_stage_create(a->m, "s", 0), "f");
    a->P = cavs_model_param(a->m, "P", TIED, TIED, some);
    a->P_alone = cavs_model_param(a->m, "P_alone", TIED, TIED, some);
    a->E = cavs_model_param(a->m, "E", WORDS, TIED, some);
    a->F = cavs_model_param(a->m, "F", WORDS, TIED, some);
    x = cavs_pull(f, "x", TIED);
    cavs_loss(f, "loss",
              cavs_dot(cavs_matmul(x, cavs_model_param(a->m, "Q", TIED, 3, some)),
                       cavs_slice(cavs_matmul(x, a->P), 1, 3)),
              NULL);
    check_ok(cavs_model_finish(a->m));
    assert_non_null(a->P->merged);
    check_ok(cavs_session_create(trial_runtime, a->m, NULL, &a->s));
    like(a->s, a->F, a->E);
    like(a->s, a->P_alone, a->P);
    a->t = new_tape(a->s, CAVS_POLICY_AUTO);
}

static void close_tied(struct tied_scene *a)
{
    cavs_tape_destroy(a->t);
    cavs_session_destroy(a->s);
    cavs_model_destroy(a->m);
}

/* Looks rows of `table` up, and multiplies by `matrix`. */
static int record_tied(struct tied_scene *a, struct cavs_param *table, struct cavs_param *matrix)
{
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    for (int i = 0; i < 5; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *h = cavs_tanh(cavs_add(cavs_lookup(table, cavs_tape_id(a->t, i % 3)),
                                                   cavs_lookup(table, cavs_tape_id(a->t, 1))));

        cavs_loss(f, "loss",
                  cavs_softmax_cross_entropy(cavs_matmul_t(h, matrix), cavs_tape_id(a->t, i % 4)),
                  NULL);
    }
    return cavs_tape_finish(a->t);
}

/* A table that is multiplied, too, is refused where there is no CPU worker: then its test ends. */
static void want_cpus(struct tied_scene *a, struct cavs_param *table)
{
    if (starpu_cpu_worker_get_count() > 0)
        return;
    check_refused(record_tied(a, table, table), CAVS_ERUNTIME, "both looked up and multiplied",
                  "there is no CPU worker");
    close_tied(a);
    SKIP("without a CPU worker tables that are multiplied are refused, as they should be");
}

static void gradients_of_both_uses_of_a_table_add_up(void **unused)
{
    float e[WORDS * TIED], f[WORDS * TIED], both[WORDS * TIED];
    struct tied_scene a;

    (void)unused;
    open_tied(&a);
    want_cpus(&a, a.E);
    check_ok(record_tied(&a, a.E, a.F));
    check_ok(cavs_session_get_gradient(a.s, a.E, e));
    check_ok(cavs_session_get_gradient(a.s, a.F, f));
    check_ok(record_tied(&a, a.E, a.E)); /* rows of it had a sparse gradient until now */
    check_ok(cavs_session_get_gradient(a.s, a.E, both));
    for (int i = 0; i < WORDS * TIED; i++)
        assert_true(fabsf(both[i] - (e[i] + f[i])) < 1e-6f);
    check_ok(record_tied(&a, a.E, a.F)); /* and have no product now */
    check_ok(cavs_session_get_gradient(a.s, a.E, both));
    for (int i = 0; i < WORDS * TIED; i++)
        assert_true(fabsf(both[i] - e[i]) < 1e-6f);
    close_tied(&a);
}

static void columns_of_joined_parameters_are_tables_too(void **unused)
{
    float want[TIED * TIED], got[TIED * TIED];
    struct tied_scene a;

    (void)unused;
    open_tied(&a);
    want_cpus(&a, a.P);
    check_ok(record_tied(&a, a.P_alone, a.P_alone));
    check_ok(cavs_session_get_gradient(a.s, a.P_alone, want));
    check_ok(record_tied(&a, a.P, a.P));
    check_ok(cavs_session_get_gradient(a.s, a.P, got));
    for (int i = 0; i < TIED * TIED; i++)
        assert_true(want[i] != 0 && fabsf(got[i] - want[i]) < 1e-6f);
    close_tied(&a);
}

/* What was tried and taken back leaves no trace in the gradient. */
static void a_search_leaves_no_trace(void **unused)
{
    float want[WIDTH * WIDTH], got[WIDTH * WIDTH], row[WIDTH], *to = row;
    struct scene a;

    (void)unused;
    open_scene(&a);
    for (int search = 0; search < 2; search++) {
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
        for (int k = 0; k < 4; k++) {
            struct cavs_function *f = cavs_tape_sample(a.t);
            struct cavs_symbol *h =
                cavs_tanh(cavs_matmul(cavs_lookup(a.E, cavs_tape_id(a.t, k)), a.U));

            for (int i = 0; i < 3 && search; i++) {
                int64_t mark = cavs_tape_mark(a.t);
                struct cavs_symbol *tried = cavs_tanh(cavs_matmul(h, a.U));

                check_ok(cavs_tape_values(a.t, 1, &tried, &to));
                classify(&a, f, tried, 1);
                check_ok(cavs_tape_rewind(a.t, mark));
            }
            classify(&a, f, h, k % 3);
        }
        check_ok(cavs_tape_finish(a.t));
        check_ok(cavs_session_get_gradient(a.s, a.U, search ? got : want));
    }
    for (int i = 0; i < WIDTH * WIDTH; i++)
        assert_true(fabsf(got[i] - want[i]) < 1e-5f);
    close_scene(&a);
}

/* ---- updates ---- */

/* A session of its own, of SGD with weight decay, and a tape. */
static void open_decaying(struct scene *a)
{
    struct cavs_session_options o = cavs_session_defaults();

    cavs_tape_destroy(a->t);
    cavs_session_destroy(a->s);
    o.shards = 3;
    o.lr = 0.1f;
    o.weight_decay = 0.5f;
    check_ok(cavs_session_create(trial_runtime, a->m, &o, &a->s));
    a->t = new_tape(a->s, CAVS_POLICY_AUTO);
}

/* Samples whose words are looked up; then, with `multiplied`, the table's transpose is a classifier
 * of words, and U is used, too. */
static void train_words(struct scene *a, bool multiplied)
{
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
    for (int i = 0; i < WORDS; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *x = cavs_lookup(a->E, cavs_tape_id(a->t, i / 2));

        if (multiplied)
            x = cavs_matmul_t(cavs_matmul(x, a->U), a->E);
        cavs_loss(f, "loss", cavs_sum(cavs_mul(x, x)), NULL);
    }
    check_ok(cavs_tape_finish(a->t));
}

/* A table that is multiplied from the second batch on has a gradient of rows in the first one,
 * whatever another session's tape has multiplied before. */
static void the_next_session_of_a_model_has_the_same_bits(void **unused)
{
    static float E[2][WORDS * WIDTH], U[2][WIDTH * WIDTH];
    struct scene a;

    (void)unused;
    open_scene(&a);
    for (int next = 0; next < 2; next++) {
        open_decaying(&a);
        train_words(&a, false);
        train_words(&a, true);
        check_ok(cavs_session_get_param(a.s, a.E, E[next]));
        check_ok(cavs_session_get_param(a.s, a.U, U[next]));
    }
    assert_memory_equal(E[0], E[1], sizeof E[0]);
    assert_memory_equal(U[0], U[1], sizeof U[0]);
    close_scene(&a);
}

/* As cavs.h says: what was used is decayed, and gradients are zeros. */
static void a_recording_without_a_loss_is_no_mistake(void **unused)
{
    static float U[2][WIDTH * WIDTH];
    struct scene a;

    (void)unused;
    open_scene(&a);
    open_decaying(&a);
    train_words(&a, true);
    for (int run = CAVS_TAPE_TRAIN; run >= CAVS_TAPE_GRADIENT; run--) {
        int after = run == CAVS_TAPE_GRADIENT;

        check_ok(cavs_session_get_param(a.s, a.U, U[0]));
        check_ok(cavs_tape_begin(a.t, run));
        cavs_tape_sample(a.t);
        assert_non_null(cavs_matmul(cavs_lookup(a.E, cavs_tape_id(a.t, 1)), a.U));
        check_ok(cavs_tape_finish(a.t));
        if (after)
            check_ok(cavs_session_get_gradient(a.s, a.U, U[1]));
        else
            check_ok(cavs_session_get_param(a.s, a.U, U[1]));
        for (int i = 0; i < WIDTH * WIDTH; i++)
            assert_true(fabsf(U[1][i] - (after ? 0 : 0.95f * U[0][i])) <= 1e-6f * fabsf(U[0][i]));
    }
    close_scene(&a);
}

/* ---- refusals ---- */

/* Recordings, each finished. */
static void record_some(struct scene *a, int n)
{
    for (int i = 0; i < n; i++) {
        check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
        for (int k = 1; k < 4; k++) {
            struct cavs_function *f = cavs_tape_sample(a->t);

            classify(a, f, chain(a, f, k), 1);
        }
        check_ok(cavs_tape_finish(a->t));
    }
}

/* Also where what the end of the recording knew was taken back, and others have its numbers. */
static void gradients_of_what_is_recorded_after_the_end_are_refused(void **unused)
{
    float row[WIDTH], *to = row;
    struct cavs_symbol *x, *y, *later;
    struct cavs_function *f;
    struct scene a;
    int64_t mark;

    (void)unused;
    open_scene(&a);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a.t);
    x = cavs_lookup(a.E, cavs_tape_id(a.t, 1));
    y = cavs_tanh(x);
    mark = cavs_tape_mark(a.t);
    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
    check_ok(cavs_tape_finish(a.t));
    for (int i = 0; i < 2; i++) {
        later = cavs_exp(x);
        check_refused(cavs_tape_gradients(a.t, 1, &later, &to), CAVS_ESTATE, "test_tape.c",
                      "was recorded after cavs_tape_finish()");
        check_ok(cavs_tape_gradients(a.t, 1, &y, &to));
        check_ok(cavs_tape_rewind(a.t, mark));
    }
    close_scene(&a);
}

/* Operands are numbered by 32 bits, and lists of 16 GB would have more. */
static void operands_that_cannot_be_numbered_are_refused(void **unused)
{
    struct cavs_symbol *x;
    struct scene a;

    (void)unused;
    open_scene(&a);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
    cavs_tape_sample(a.t);
    x = cavs_lookup(a.E, cavs_tape_id(a.t, 1));
    a.t->recording.nreads = INT32_MAX / 2;
    assert_null(cavs_tanh(x));
    check_refused(cavs_tape_finish(a.t), CAVS_ENOMEM, "test_tape.c", "out of memory");
    record_some(&a, 2);
    close_scene(&a);
}

static void make_mistakes(struct scene of)
{
    float row[WIDTH], *to = row;
    struct cavs_symbol *x, *none = NULL;
    struct cavs_function *f;
    struct cavs_tape *t;
    struct scene a = of;

    check_refused(cavs_tape_create(NULL, NULL, &t), CAVS_EINVAL, "no session");
    check_refused(cavs_tape_finish(a.t), CAVS_ESTATE, "cavs_tape_begin");
    check_refused(cavs_tape_begin(NULL, CAVS_TAPE_TRAIN), CAVS_EINVAL, "cavs_tape_begin(NULL)");
    assert_null(cavs_tape_sample(a.t));
    record_some(&a, 4);
    for (int i = 0; i < 2; i++) {
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
        f = cavs_tape_sample(a.t);
        x = cavs_matmul(cavs_lookup(a.E, cavs_tape_id(a.t, 1)), a.V);
        check_refused(cavs_tape_values(a.t, 1, &none, &to), CAVS_EINVAL, "NULL");
        check_refused(cavs_tape_values(a.t, 1, &x, NULL), CAVS_EINVAL, "nowhere");
        assert_null(cavs_add(x, cavs_use(f, a.b)));
        check_refused(cavs_tape_values(a.t, 1, &x, &to), CAVS_ESHAPE, "add", "widths 3 and 20");
        check_refused(cavs_tape_finish(a.t), CAVS_ESHAPE, "test_tape.c:", "widths 3 and 20");
    }
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    check_refused(cavs_tape_values(a.t, 1, &x, &to), CAVS_ESTATE, "earlier recording");
    f = cavs_tape_sample(a.t);
    classify(&a, f, chain(&a, f, 2), 1);
    check_ok(cavs_tape_finish(a.t));
    check_refused(cavs_tape_finish(a.t), CAVS_ESTATE, "finished already");
    record_some(&a, 2);
}

static void mistakes_are_reported_and_the_tape_goes_on(void **unused)
{
    struct cavs_tape_stats stats;
    struct scene a;

    (void)unused;
    open_scene(&a);
    make_mistakes(a);
    close_scene(&a);
    open_scene_of_blocks(&a);
    make_mistakes(a);
    cavs_tape_stats(a.t, &stats);
    assert_true(stats.blocks > 0);
    close_scene(&a);
}

/* A mistake made with another tape's symbol, whose own recording goes on. */
static void tapes_do_not_read_one_another(void **unused)
{
    float row[WIDTH], *to = row;
    struct cavs_symbol *theirs;
    struct cavs_tape *other;
    struct scene a;

    (void)unused;
    open_scene_of_blocks(&a);
    other = new_tape_of_blocks(a.s, CAVS_POLICY_AUTO);
    record_some(&a, 3);
    check_ok(cavs_tape_begin(other, CAVS_TAPE_GRADIENT));
    cavs_tape_sample(other);
    theirs = cavs_lookup(a.E, cavs_tape_id(other, 1));
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    check_refused(cavs_tape_values(a.t, 1, &theirs, &to), CAVS_ESTATE, "another tape");
    check_refused(cavs_tape_gradients(a.t, 1, &theirs, &to), CAVS_ESTATE, "another tape");
    cavs_tape_sample(a.t);
    assert_null(cavs_mul(cavs_lookup(a.E, cavs_tape_id(a.t, 1)), theirs));
    check_refused(cavs_tape_finish(a.t), CAVS_ESTATE, "test_tape.c:", "another tape");
    check_ok(cavs_tape_values(other, 1, &theirs, &to));
    record_some(&a, 2);
    cavs_tape_destroy(other);
    close_scene(&a);
}

/* Three samples, of a word each. */
static void record_words(struct scene *a, struct cavs_symbol **x)
{
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_EVALUATE));
    for (int i = 0; i < 3; i++) {
        cavs_tape_sample(a->t);
        x[i] = cavs_lookup(a->E, cavs_tape_id(a->t, i));
    }
}

static void samples_that_were_computed_apart_stay_apart(void **unused)
{
    float rows[3][WIDTH], *to[3] = {rows[0], rows[1], rows[2]};
    struct cavs_symbol *x[3];
    struct scene a;

    (void)unused;
    open_scene(&a);
    record_words(&a, x);
    check_ok(cavs_tape_values(a.t, 3, x, to));
    x[0] = cavs_add(x[0], x[1]);
    check_refused(cavs_tape_values(a.t, 1, x, to), CAVS_EPROGRAM, "sample 1", "sample 0");
    close_scene(&a);
}

/* Of samples that come to read one another one may have been computed: there all of them are. */
static void a_sample_follows_the_one_that_it_reads(void **unused)
{
    float rows[3][WIDTH], *to[3] = {rows[0], rows[1], rows[2]};
    struct cavs_symbol *x[3];
    struct scene a;

    (void)unused;
    open_scene(&a);
    record_words(&a, x);
    check_ok(cavs_tape_values(a.t, 2, x + 1, to + 1)); /* on two shards */
    x[1] = cavs_add(x[0], x[2]);
    check_ok(cavs_tape_values(a.t, 2, x, to));
    for (int i = 0; i < WIDTH; i++)
        assert_float_equal(rows[1][i], rows[0][i] + rows[2][i], 1e-6);
    close_scene(&a);
}

/* ---- large ones ---- */

enum { RECORDINGS = 3 }; /* of which the last ones are computed in blocks */

static int64_t batching_tasks(const struct scene *a)
{
    struct cavs_tape_stats stats;

    cavs_tape_stats(a->t, &stats);
    return stats.batching_tasks;
}

static void *deep(void *scene)
{
    enum { DEEP = 200000 };
    struct scene *a = scene;
    struct cavs_function *f;
    struct cavs_symbol *h;
    double sum, count;

    check_ok(cavs_session_reset_metrics(a->s));
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
    f = cavs_tape_sample(a->t);
    h = cavs_lookup(a->E, cavs_tape_id(a->t, 1));
    for (int i = 0; i < DEEP; i++)
        h = cavs_scale(h, 1);
    classify(a, f, h, 1);
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_metric(a->s, "loss", &sum, &count));
    assert_true(isfinite(sum) && count == 1);
    return NULL;
}

static void a_deep_chain_fits_a_small_stack(void **unused)
{
    int64_t tasks[RECORDINGS + 1] = {0};
    pthread_attr_t small;
    pthread_t thread;
    struct scene a;

    (void)unused;
    open_scene_of_blocks(&a);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 20);
    for (int i = 0; i < RECORDINGS; i++) {
        assert_int_equal(pthread_create(&thread, &small, deep, &a), 0);
        pthread_join(thread, NULL);
        tasks[i + 1] = batching_tasks(&a);
    }
    assert_true(tasks[3] - tasks[2] < (tasks[1] - tasks[0]) / 8);
    pthread_attr_destroy(&small);
    close_scene(&a);
}

static void record_wide(struct scene *a)
{
    enum { WIDE = 500000 }; /* columns and losses */
    struct cavs_symbol *h;
    struct cavs_function *f;
    double sum, count;

    check_ok(cavs_session_reset_metrics(a->s));
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a->t);
    h = cavs_lookup(a->E, cavs_tape_id(a->t, 1));
    for (int i = 0; i < WIDE; i++)
        cavs_loss(f, "loss", cavs_sum(cavs_slice(h, i % 4, 1)), NULL);
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_metric(a->s, "loss", &sum, &count));
    assert_true(isfinite(sum) && count == WIDE);
}

static void a_million_symbols_are_one_sample(void **unused)
{
    struct cavs_tape_stats stats;
    struct scene a;

    (void)unused;
    open_scene_of_blocks(&a);
    for (int i = 0; i < RECORDINGS; i++)
        record_wide(&a);
    cavs_tape_stats(a.t, &stats);
    assert_true(stats.blocks > 0 && stats.symbols >= (RECORDINGS - 1) * INT64_C(1000000));
    close_scene(&a);
}

/* ---- what a tape says of itself ---- */

static void explanations_count_what_was_computed(void **unused)
{
    struct cavs_tape_stats stats;
    struct scene a;
    char *text;

    (void)unused;
    open_scene(&a);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    for (int k = 0; k < 6; k++) {
        struct cavs_function *f = cavs_tape_sample(a.t);

        classify(&a, f, chain(&a, f, 1), 1);
    }
    check_ok(cavs_tape_finish(a.t));
    cavs_tape_stats(a.t, &stats);
    assert_int_equal(stats.evaluated % 6, 0);
    assert_true(stats.batching_tasks >= stats.evaluated / 6);
    check_ok(cavs_tape_explain(a.t, &text));
    assert_non_null(strstr(text, "matmul U("));
    assert_non_null(strstr(text, "0 are blocks"));
    assert_non_null(strstr(text, "had not been seen often enough"));
    free(text);
    close_scene(&a);
}

static void explain_says_what_the_policy_keeps_apart(void **unused)
{
    struct cavs_function *f;
    struct scene a;
    char *text;

    (void)unused;
    open_scene(&a);
    cavs_tape_destroy(a.t);
    a.t = new_tape(a.s, CAVS_POLICY_SERIAL);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    for (int k = 0; k < 6; k++) {
        f = cavs_tape_sample(a.t);
        classify(&a, f, chain(&a, f, 1), 1);
    }
    check_ok(cavs_tape_finish(a.t));
    check_ok(cavs_tape_explain(a.t, &text));
    assert_non_null(strstr(text, "rows ran alone: the policy puts none together"));
    free(text);
    close_scene(&a);
}

/* ---- blocks ---- */

enum { CHAINS = 6 };

/* Chains of different lengths over a cell that calls the same function twice, with a loss each: y,
 * the last one's hidden layer. */
static struct cavs_symbol *record_chains(struct scene *a, enum cavs_tape_run run)
{
    struct cavs_symbol *y = NULL;

    check_ok(cavs_tape_begin(a->t, run));
    for (int k = 0; k < CHAINS; k++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *h = cavs_lookup(a->E, cavs_tape_id(a->t, k));

        for (int i = 0; i < 1 + k % 3; i++) {
            y = cavs_tanh(cavs_matmul(h, a->U));
            h = cavs_add(cavs_mul(y, y), h);
        }
        classify(a, f, h, k % 3);
    }
    return y;
}

static void runs_become_blocks(void **unused)
{
    struct cavs_tape_stats before, after;
    struct scene a;
    char *text;

    (void)unused;
    open_scene_of_blocks(&a);
    for (int i = 0; i < 4; i++) {
        cavs_tape_stats(a.t, &before);
        record_chains(&a, CAVS_TAPE_TRAIN);
        check_ok(cavs_tape_finish(a.t));
    }
    cavs_tape_stats(a.t, &after);
    assert_int_equal(after.evaluated, 4 * (after.evaluated - before.evaluated));
    /* of three shards: lookups, the classifier; cells where there are any at depth 1, 2 and 3 */
    assert_in_range(after.batching_tasks - before.batching_tasks, 3 + 3 + 3, 3 + 3 + 9);
    check_ok(cavs_tape_explain(a.t, &text));
    assert_non_null(strstr(text, "block of 4, 1 results: matmul U, tanh, mul, add"));
    free(text);
    close_scene(&a);
}

static void assert_near(const float *a, const float *b)
{
    for (int i = 0; i < WIDTH; i++)
        assert_true(fabsf(a[i] - b[i]) <= 1e-5f * (1 + fabsf(b[i])));
}

/* Samples of the same form, but that every second one reads one row where others read two. */
static void record_pairs(struct scene *a, float *const *rows)
{
    struct cavs_symbol *y[CHAINS];

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_EVALUATE));
    for (int k = 0; k < CHAINS; k++) {
        struct cavs_symbol *p, *q;

        cavs_tape_sample(a->t);
        p = cavs_lookup(a->E, cavs_tape_id(a->t, k % WORDS));
        q = k % 2 ? p : cavs_lookup(a->E, cavs_tape_id(a->t, (k + 1) % WORDS));
        y[k] = cavs_tanh(cavs_mul(cavs_matmul(p, a->U), cavs_add(p, q)));
    }
    check_ok(cavs_tape_values(a->t, CHAINS, y, rows));
}

static void runs_that_differ_in_equal_operands_are_different_blocks(void **unused)
{
    float first[CHAINS][WIDTH], again[CHAINS][WIDTH], *to_first[CHAINS], *to_again[CHAINS];
    struct scene a;

    (void)unused;
    open_scene_of_blocks(&a);
    for (int k = 0; k < CHAINS; k++) {
        to_first[k] = first[k];
        to_again[k] = again[k];
    }
    record_pairs(&a, to_first);
    for (int i = 0; i < 4; i++) {
        record_pairs(&a, to_again);
        for (int k = 0; k < CHAINS; k++)
            assert_near(again[k], first[k]);
    }
    assert_true(a.t->blocks.nknown >= 2);
    close_scene(&a);
}

typedef int ask_for(struct cavs_tape *t, int n, struct cavs_symbol *const *xs, float *const *rows);

/* What is asked for late is there from the next recording on; what was asked for before there were
 * blocks always is.  Operators and blocks give the same. */
static void what_blocks_do_not_keep_is_kept_once_asked_for(ask_for *ask, bool early)
{
    float row[2][WIDTH], *to[2] = {row[0], row[1]};
    struct scene a;

    open_scene_of_blocks(&a);
    for (int i = 0; i < 5; i++) {
        struct cavs_symbol *y = record_chains(&a, CAVS_TAPE_GRADIENT);

        check_ok(cavs_tape_finish(a.t));
        if (i == 1 && !early)
            check_refused(ask(a.t, 1, &y, to), CAVS_ESTATE, "tanh", "block", "blocks_after");
        else if (i > 0 || early)
            check_ok(ask(a.t, 1, &y, &to[i > 2]));
        if (i > 2)
            assert_near(row[1], row[0]);
    }
    close_scene(&a);
}

static void symbols_inside_of_blocks_are_kept_once_asked_for(void **unused)
{
    static ask_for *const asks[] = {cavs_tape_values, cavs_tape_gradients};

    (void)unused;
    for (int i = 0; i < 2; i++) {
        what_blocks_do_not_keep_is_kept_once_asked_for(asks[i], false);
        what_blocks_do_not_keep_is_kept_once_asked_for(asks[i], true);
    }
}

/* Evaluating, what a block has not kept is computed when it is asked for, before and after the end.
 */
static void rows_inside_of_blocks_are_computed_when_evaluating(void **unused)
{
    float row[6][WIDTH], *to[6] = {row[0], row[1], row[2], row[3], row[4], row[5]};
    struct scene a;

    (void)unused;
    open_scene_of_blocks(&a);
    for (int i = 0; i < 5; i++) {
        struct cavs_symbol *y = record_chains(&a, CAVS_TAPE_EVALUATE), *z;

        z = cavs_tanh(cavs_add(y, y));
        if (i == 3)
            check_ok(cavs_tape_values(a.t, 1, &z, &to[5]));
        check_ok(cavs_tape_finish(a.t));
        check_ok(cavs_tape_values(a.t, 1, &y, &to[i]));
        assert_near(row[i], row[0]);
    }
    for (int j = 0; j < WIDTH; j++)
        assert_true(fabsf(row[5][j] - tanhf(2 * row[0][j])) < 1e-6f);
    close_scene(&a);
}

/* A session that cannot train makes blocks, too, whose losses are kept for their sums. */
static void blocks_are_made_for_inference(void **unused)
{
    struct cavs_session_options o = cavs_session_defaults();
    double sum[3], count;
    struct scene a;

    (void)unused;
    open_scene(&a);
    cavs_tape_destroy(a.t);
    cavs_session_destroy(a.s);
    o.inference = true;
    check_ok(cavs_session_create(trial_runtime, a.m, &o, &a.s));
    a.t = new_tape_of_blocks(a.s, CAVS_POLICY_AUTO);
    a.t->blocks.after = 2;
    for (int i = 0; i < 3; i++) {
        check_ok(cavs_session_reset_metrics(a.s));
        record_chains(&a, CAVS_TAPE_EVALUATE);
        check_ok(cavs_tape_finish(a.t));
        check_ok(cavs_session_metric(a.s, "loss", &sum[i], &count));
        assert_true(fabs(sum[i] - sum[0]) < 1e-5 * sum[0]);
    }
    close_scene(&a);
}

/* Batching tasks so far that multiplied by U and did nothing else. */
static int64_t products_by_U(const struct scene *a)
{
    const struct cavs__signatures *all = &a->t->recording.signatures;
    int64_t vts = 0;

    for (int i = 0; i < all->n; i++) {
        if (all->all[i]->like.op == CAVS__OP_MATMUL && all->all[i]->like.param == a->U)
            vts += all->all[i]->vts;
    }
    return vts;
}

static void products_of_words_are_computed_ahead_of_chains(void **unused)
{
    int64_t before = 0;
    struct scene a;

    (void)unused;
    open_scene_of_blocks(&a);
    for (int i = 0; i < 4; i++) {
        before = products_by_U(&a);
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
        for (int k = 0; k < CHAINS; k++) {
            struct cavs_function *f = cavs_tape_sample(a.t);
            struct cavs_symbol *h = cavs_lookup(a.E, cavs_tape_id(a.t, k));

            for (int w = 0; w < 2 + k % 3; w++)
                h = cavs_tanh(
                    cavs_add(cavs_matmul(cavs_lookup(a.E, cavs_tape_id(a.t, (k + w) % WORDS)), a.U),
                             cavs_matmul_t(h, a.U)));
            classify(&a, f, h, k % 3);
        }
        check_ok(cavs_tape_finish(a.t));
    }
    assert_int_equal(products_by_U(&a) - before, 3); /* one in each shard */
    close_scene(&a);
}

enum { EQUAL = 6 };

/* Chains of one or two cells that all begin with the same word, and differ in their losses. */
static void record_equal(struct scene *a, struct cavs_symbol **words)
{
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    for (int k = 0; k < EQUAL; k++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *h = words[k] = cavs_lookup(a->E, cavs_tape_id(a->t, 1));

        for (int i = 0; i < 1 + k % 2; i++)
            h = cavs_tanh(cavs_affine(h, a->U, a->b));
        classify(a, f, h, k % 3);
    }
    check_ok(cavs_tape_finish(a->t));
}

static int64_t evaluated(const struct scene *a)
{
    struct cavs_tape_stats stats;

    cavs_tape_stats(a->t, &stats);
    return stats.evaluated;
}

/* Their gradients are added: asked for each by itself, they are refused once. */
static void equal_symbols_are_computed_once(void **unused)
{
    float row[2][EQUAL][WIDTH], *to[2][EQUAL], U[2][WIDTH * WIDTH], E[2][WORDS * WIDTH];
    struct cavs_symbol *words[EQUAL];
    int64_t alone, before;
    struct scene a;

    (void)unused;
    for (int i = 0; i < 2 * EQUAL; i++)
        to[i / EQUAL][i % EQUAL] = row[i / EQUAL][i % EQUAL];
    open_scene(&a);
    record_equal(&a, words);
    alone = evaluated(&a);
    check_ok(cavs_tape_gradients(a.t, EQUAL, words, to[0]));
    check_ok(cavs_session_get_gradient(a.s, a.U, U[0]));
    check_ok(cavs_session_get_gradient(a.s, a.E, E[0]));

    cavs_tape_destroy(a.t);
    a.t = new_tape_of_blocks(a.s, CAVS_POLICY_AUTO);
    for (int i = 0; i < 3; i++) {
        before = evaluated(&a);
        record_equal(&a, words);
    }
    assert_true(evaluated(&a) - before < alone - 3); /* a lookup and more in each shard */
    check_ok(cavs_session_get_gradient(a.s, a.U, U[1]));
    check_ok(cavs_session_get_gradient(a.s, a.E, E[1]));
    for (int i = 0; i < WIDTH * WIDTH; i++)
        assert_true(fabsf(U[1][i] - U[0][i]) < 1e-5f);
    for (int i = 0; i < WORDS * WIDTH; i++)
        assert_true(fabsf(E[1][i] - E[0][i]) < 1e-5f);
    check_refused(cavs_tape_gradients(a.t, EQUAL, words, to[1]), CAVS_ESTATE, "lookup", "equal",
                  "blocks_after");
    record_equal(&a, words);
    check_ok(cavs_tape_gradients(a.t, EQUAL, words, to[1]));
    for (int k = 0; k < EQUAL; k++)
        assert_near(row[1][k], row[0][k]);
    close_scene(&a);
}

/* A word whose equals in other samples were computed with it and then taken back.  `to` gets its
 * gradient. */
static int gradient_where_equals_are_taken_back(struct scene *a, float *to)
{
    float row[EQUAL][WIDTH], *rows[EQUAL];
    struct cavs_symbol *words[EQUAL];
    struct cavs_function *f;
    int64_t mark = 0;

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    for (int k = 0; k < EQUAL; k++) {
        f = cavs_tape_sample(a->t);
        words[k] = cavs_lookup(a->E, cavs_tape_id(a->t, 1));
        rows[k] = row[k];
        if (k == 0)
            mark = cavs_tape_mark(a->t);
    }
    check_ok(cavs_tape_values(a->t, EQUAL, words, rows));
    check_ok(cavs_tape_rewind(a->t, mark));
    f = cavs_tape_resume(a->t, 0);
    classify(a, f, cavs_tanh(cavs_affine(words[0], a->U, a->b)), 0);
    check_ok(cavs_tape_finish(a->t));
    return cavs_tape_gradients(a->t, 1, words, &to);
}

static void gradients_are_there_when_equal_symbols_are_taken_back(void **unused)
{
    struct cavs_symbol *words[EQUAL];
    float row[2][WIDTH];
    struct scene a;

    (void)unused;
    open_scene(&a);
    check_ok(gradient_where_equals_are_taken_back(&a, row[0]));
    cavs_tape_destroy(a.t);
    a.t = new_tape_of_blocks(a.s, CAVS_POLICY_AUTO);
    for (int i = 0; i < 3; i++)
        record_equal(&a, words);
    check_ok(gradient_where_equals_are_taken_back(&a, row[1]));
    assert_near(row[1], row[0]);
    close_scene(&a);
}

/* ---- all ---- */

static const char *zoo_name(int i)
{
    return zoo_at(i)->name;
}

static void *zoo_state_of(int i)
{
    return (void *)zoo_at(i);
}

int main(void)
{
    static const struct CMUnitTest own[] = {
        cmocka_unit_test(random_models_on_a_tape),
        cmocka_unit_test(updates_are_those_of_declared_batches),
        cmocka_unit_test(dropout_drops_in_training_alone_by_sample_and_symbol),
        cmocka_unit_test(gradients_of_symbols_are_right),
        cmocka_unit_test(a_number_that_is_not_finite_is_told),
        cmocka_unit_test(a_declared_function_is_applied),
        cmocka_unit_test(an_applied_function_is_one_symbol),
        cmocka_unit_test(functions_that_read_stages_are_not_applied),
        cmocka_unit_test(what_a_declared_function_lacks_is_told),
        cmocka_unit_test(counts_without_their_arrays_are_refused),
        cmocka_unit_test(a_child_that_is_not_gathered_is_refused),
        cmocka_unit_test(gradients_of_both_uses_of_a_table_add_up),
        cmocka_unit_test(columns_of_joined_parameters_are_tables_too),
        cmocka_unit_test(a_search_leaves_no_trace),
        cmocka_unit_test(the_next_session_of_a_model_has_the_same_bits),
        cmocka_unit_test(a_recording_without_a_loss_is_no_mistake),
        cmocka_unit_test(mistakes_are_reported_and_the_tape_goes_on),
        cmocka_unit_test(gradients_of_what_is_recorded_after_the_end_are_refused),
        cmocka_unit_test(operands_that_cannot_be_numbered_are_refused),
        cmocka_unit_test(tapes_do_not_read_one_another),
        cmocka_unit_test(samples_that_were_computed_apart_stay_apart),
        cmocka_unit_test(a_sample_follows_the_one_that_it_reads),
        cmocka_unit_test(a_deep_chain_fits_a_small_stack),
        cmocka_unit_test(a_million_symbols_are_one_sample),
        cmocka_unit_test(explanations_count_what_was_computed),
        cmocka_unit_test(explain_says_what_the_policy_keeps_apart),
        cmocka_unit_test(runs_become_blocks),
        cmocka_unit_test(runs_that_differ_in_equal_operands_are_different_blocks),
        cmocka_unit_test(symbols_inside_of_blocks_are_kept_once_asked_for),
        cmocka_unit_test(rows_inside_of_blocks_are_computed_when_evaluating),
        cmocka_unit_test(blocks_are_made_for_inference),
        cmocka_unit_test(products_of_words_are_computed_ahead_of_chains),
        cmocka_unit_test(equal_symbols_are_computed_once),
        cmocka_unit_test(gradients_are_there_when_equal_symbols_are_taken_back),
    };
    const size_t nown = sizeof own / sizeof *own;
    int n = zoo_count(), failed;
    struct CMUnitTest *zoo = trial_tests(n, zoo_name, zoo_on_a_tape, zoo_state_of), *tests;

    trial_compile(false);
    tests = calloc((size_t)n + nown, sizeof *tests);
    if (!zoo || !tests)
        return 1;
    memcpy(tests, own, sizeof own);
    memcpy(tests + nown, zoo, (size_t)n * sizeof *zoo);
    failed = _cmocka_run_group_tests("tapes", tests, (size_t)n + nown, trial_runtime_up,
                                     trial_runtime_down);
    free(zoo);
    free(tests);
    return failed;
}
