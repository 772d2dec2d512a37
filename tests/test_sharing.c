/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sharing.c - sessions that share parameters: what one learns, the other has, to the last bit,
 * and in the layouts that it reads; they are updated as those of one session are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/shared_table.h"
#include "tests/tape_step.h"
#include "tests/trial.h"

enum { WIDTH = 20, OUT = 7, STEPS = 4 };

static struct cavs_session *session_with(const struct cavs_model *m,
                                         const struct cavs_session_options *o,
                                         const struct cavs_session *other)
{
    struct cavs_session *s = NULL;

    check_ok(cavs_session_create_with(trial_runtime, m, o, other, &s));
    return s;
}

static struct cavs_session_options options_with(enum cavs_optimizer optimizer)
{
    struct cavs_session_options o = cavs_session_defaults();

    o.optimizer = optimizer;
    o.shards = 2;
    o.lr = 0.05f;
    return o;
}

/* ---- tapes ---- */

enum { WORDS = 6, NUMBERS = (WORDS + WIDTH) * WIDTH, RECORDINGS = 6 };

static struct cavs_model *steps_model(void)
{
    struct cavs_model *m;

    check_ok(cavs_model_create(&m));
    tape_step_params(m, WORDS, WIDTH, 0.3f);
    check_ok(cavs_model_finish(m));
    return m;
}

static void record_steps(struct cavs_tape *t, const struct cavs_model *m, int first)
{
    check_ok(cavs_tape_begin(t, CAVS_TAPE_TRAIN));
    for (int i = 0; i < 3; i++) {
        struct cavs_function *f = cavs_tape_sample(t);
        struct cavs_symbol *h = cavs_constant(f, WIDTH, 0);

        for (int word = 0; word < 4 + i; word++)
            h = tape_step(t, m, h, (first + word) % WORDS);
        cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
    }
    check_ok(cavs_tape_finish(t));
}

/* sessions: that record in turns, over the same parameters. */
static void train_recorded(int sessions, float *values)
{
    struct cavs_session_options o = options_with(CAVS_ADAM);
    struct cavs_model *m = steps_model();
    struct cavs_session *s[2];
    struct cavs_tape *t[2];

    for (int i = 0; i < sessions; i++) {
        s[i] = session_with(m, &o, i > 0 ? s[0] : NULL);
        check_ok(cavs_tape_create(s[i], NULL, &t[i]));
    }
    for (int i = 0; i < RECORDINGS; i++)
        record_steps(t[i % sessions], m, i);
    check_ok(cavs_session_get_param(s[0], cavs_model_find_param(m, "E"), values));
    check_ok(cavs_session_get_param(s[sessions - 1], cavs_model_find_param(m, "U"),
                                    values + WORDS * WIDTH));
    for (int i = 0; i < sessions; i++) {
        cavs_tape_destroy(t[i]);
        cavs_session_destroy(s[i]);
    }
    cavs_model_destroy(m);
}

/* What Adam keeps, and what dropout draws, which goes by the number of updates, too. */
static void tapes_of_two_sessions_train_as_one(void **unused)
{
    static float alone[NUMBERS], shared[NUMBERS];

    (void)unused;
    train_recorded(1, alone);
    train_recorded(2, shared);
    assert_memory_equal(alone, shared, sizeof alone);
}

/* ---- training in turns ---- */

/* All parameters after some steps, of which every other is made by the second session; freed by the
 * caller. */
static float *trained(struct trial *t, struct cavs_session *first, struct cavs_session *second,
                      size_t *n)
{
    float *values = calloc(65536, sizeof *values);

    assert_non_null(values);
    for (int i = 0; i < STEPS; i++) {
        int batch[2] = {i % t->nsamples, (i + 1) % t->nsamples};

        check_ok(cavs_session_train(i % 2 ? second : first, t->data, batch, 2));
    }
    *n = 0;
    for (int i = 0; i < cavs_model_param_count(t->model); i++) {
        const struct cavs_param *p = cavs_model_param_at(t->model, i);

        check_ok(cavs_session_get_param(i % 2 ? first : second, p, values + *n));
        *n += (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
    }
    return values;
}

/* Values, what Adam keeps, and its number of updates: else the numbers would differ. */
static void sessions_that_train_in_turns_are_one(void **unused)
{
    static const char *const models[] = {"tree_lstm_bench", "bilstm", "tied"};

    (void)unused;
    for (int i = 0; i < 3; i++) {
        struct cavs_session_options o = options_with(CAVS_ADAM);
        struct trial t;
        float *alone, *shared;
        size_t n;

        trial_open_zoo(&t, zoo_find(models[i]));
        struct cavs_session *one = session_with(t.model, &o, NULL);
        alone = trained(&t, one, one, &n);
        cavs_session_destroy(one);
        struct cavs_session *a = session_with(t.model, &o, NULL);
        struct cavs_session *b = session_with(t.model, &o, a);
        shared = trained(&t, a, b, &n);
        assert_memory_equal(shared, alone, n * sizeof *shared);
        cavs_session_destroy(a);
        cavs_session_destroy(b);
        free(alone);
        free(shared);
        trial_close(&t);
    }
}

static void a_checkpoint_of_one_is_of_both(void **unused)
{
    struct cavs_session_options o = options_with(CAVS_ADAM);
    char path[] = "/tmp/cavs-sharing-XXXXXX";
    struct trial t;
    float *want, *got;
    size_t n;

    (void)unused;
    close(mkstemp(path));
    trial_open_zoo(&t, zoo_find("bilstm"));
    struct cavs_session *a = session_with(t.model, &o, NULL);
    struct cavs_session *b = session_with(t.model, &o, a);
    free(trained(&t, a, b, &n));
    check_ok(cavs_session_checkpoint(b, path, NULL));
    want = trained(&t, a, b, &n);
    check_ok(cavs_session_resume(a, path, NULL)); /* b goes back, too */
    got = trained(&t, b, a, &n);
    assert_memory_equal(got, want, n * sizeof *got);
    free(want);
    free(got);
    cavs_session_destroy(a);
    cavs_session_destroy(b);
    trial_close(&t);
    unlink(path);
}

/* ---- two models ---- */

/* x W + b, trained to be `target`; and a model of the same parameters that shows x W^T. */
struct scene {
    struct cavs_model *learner, *reader;
    struct cavs_stage *l, *r;
    struct cavs_data *of_learner, *of_reader;
};

static struct cavs_param *weight(struct cavs_model *m, int rows, int cols)
{
    return cavs_model_param(m, "W", rows, cols, CAVS_UNIFORM(-0.5f, 0.5f));
}

static struct cavs_data *one_row(const struct cavs_model *m, const struct cavs_stage *s, int width,
                                 const char *input, int other, const char *second)
{
    float row[WIDTH + OUT];
    struct cavs_data *d = NULL;

    for (int i = 0; i < WIDTH + OUT; i++)
        row[i] = 0.1f * (float)(i % 5) - 0.2f;
    check_ok(cavs_data_create(m, &d));
    check_ok(cavs_data_begin(d));
    check_ok(cavs_data_graph(d, s, 1, NULL, NULL, NULL));
    check_ok(cavs_data_rows(d, s, input, 1, row));
    if (other)
        check_ok(cavs_data_rows(d, s, second, 1, row + width));
    check_ok(cavs_data_end(d));
    return d;
}

static void open_scene(struct scene *a)
{
    struct cavs_function *f;

    check_ok(cavs_model_create(&a->learner));
    a->l = cavs_stage_create(a->learner, "s", 0);
    f = cavs_function_create(a->l, "f");
    cavs_loss(
        f, "loss",
        cavs_squared_error(cavs_affine(cavs_pull(f, "x", WIDTH), weight(a->learner, WIDTH, OUT),
                                       cavs_model_param(a->learner, "b", 1, OUT, CAVS_CONSTANT(0))),
                           cavs_pull(f, "target", OUT)),
        NULL);
    check_ok(cavs_model_finish(a->learner));
    check_ok(cavs_model_create(&a->reader));
    a->r = cavs_stage_create(a->reader, "s", 0);
    f = cavs_function_create(a->r, "f");
    cavs_push(f, "y", cavs_matmul_t(cavs_pull(f, "x", OUT), weight(a->reader, WIDTH, OUT)));
    check_ok(cavs_model_finish(a->reader));
    a->of_learner = one_row(a->learner, a->l, WIDTH, "x", OUT, "target");
    a->of_reader = one_row(a->reader, a->r, OUT, "x", 0, NULL);
}

static void close_scene(struct scene *a)
{
    cavs_data_destroy(a->of_learner);
    cavs_data_destroy(a->of_reader);
    cavs_model_destroy(a->learner);
    cavs_model_destroy(a->reader);
}

/* What the reader shows is made of the values that the other session has. */
static void check_shown(struct scene *a, struct cavs_session *learns, struct cavs_session *reads)
{
    float W[WIDTH * OUT], y[WIDTH];
    int sample = 0;

    check_ok(cavs_session_output(reads, a->of_reader, &sample, 1, a->r, "y", y));
    check_ok(cavs_session_get_param(learns, cavs_model_find_param(a->learner, "W"), W));
    for (int i = 0; i < WIDTH; i++) {
        double sum = 0;

        for (int j = 0; j < OUT; j++)
            sum += (0.1 * (j % 5) - 0.2) * (double)W[i * OUT + j];
        assert_true(sum - (double)y[i] < 1e-6 && (double)y[i] - sum < 1e-6);
    }
}

static void another_model_reads_what_is_learnt(void **unused)
{
    struct cavs_session_options o = options_with(CAVS_SGD), reading = options_with(CAVS_SGD);
    struct scene a;
    int sample = 0;

    (void)unused;
    reading.inference = true;
    open_scene(&a);
    struct cavs_session *learns = session_with(a.learner, &o, NULL);
    struct cavs_session *reads = session_with(a.reader, &reading, learns);
    float values[WIDTH * OUT] = {0};

    check_shown(&a, learns, reads);
    for (int i = 0; i < 3; i++) {
        check_ok(cavs_session_train(learns, a.of_learner, &sample, 1));
        check_shown(&a, learns, reads);
    }
    for (int i = 0; i < WIDTH * OUT; i++)
        values[i] = (float)i / 100;
    check_ok(cavs_session_set_param(reads, cavs_model_find_param(a.reader, "W"), values));
    check_shown(&a, learns, reads);
    check_ok(cavs_session_train(learns, a.of_learner, &sample, 1)); /* reads its own layouts anew */
    check_shown(&a, learns, reads);
    cavs_session_destroy(reads);
    cavs_session_destroy(learns);
    close_scene(&a);
}

static void parameters_outlive_the_session_that_made_them(void **unused)
{
    struct cavs_session_options o = options_with(CAVS_SGD);
    float before[WIDTH * OUT], after[WIDTH * OUT];
    struct scene a;

    (void)unused;
    open_scene(&a);
    struct cavs_session *learns = session_with(a.learner, &o, NULL);
    struct cavs_session *reads = session_with(a.reader, &o, learns), *third;

    check_ok(cavs_session_get_param(learns, cavs_model_find_param(a.learner, "W"), before));
    before[3] = 42;
    check_ok(cavs_session_set_param(learns, cavs_model_find_param(a.learner, "W"), before));
    cavs_session_destroy(learns);
    third = session_with(a.learner, &o, reads); /* with a bias that `reads` does not have */
    cavs_session_destroy(reads);
    check_ok(cavs_session_get_param(third, cavs_model_find_param(a.learner, "W"), after));
    assert_memory_equal(after, before, sizeof after);
    cavs_session_destroy(third);
    close_scene(&a);
}

/* ---- what is refused ---- */

/* A model whose W has another shape, or is joined with V. */
static struct cavs_model *other_model(int cols, bool joined)
{
    struct cavs_model *m = NULL;
    struct cavs_function *f;
    struct cavs_symbol *x, *y;

    check_ok(cavs_model_create(&m));
    f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    x = cavs_pull(f, "x", WIDTH);
    y = cavs_matmul(x, weight(m, WIDTH, cols));
    if (joined)
        y = cavs_mul(y, cavs_matmul(x, cavs_model_param(m, "V", WIDTH, cols, CAVS_UNIFORM(-1, 1))));
    cavs_loss(f, "loss", cavs_sum(y), NULL);
    check_ok(cavs_model_finish(m));
    return m;
}

static void check_not_shared(struct scene *a, struct cavs_session *learns,
                             const struct cavs_model *m, enum cavs_optimizer optimizer, int code,
                             const char *says, const char *and)
{
    struct cavs_session_options o = options_with(optimizer);
    struct cavs_session *s = NULL;
    int sample = 0;

    check_refused(cavs_session_create_with(trial_runtime, m, &o, learns, &s), code, says, and);
    assert_null(s);
    check_ok(cavs_session_train(learns, a->of_learner, &sample, 1));
}

static void what_does_not_fit_is_refused(void **unused)
{
    struct cavs_session_options o = options_with(CAVS_SGD);
    struct cavs_model *wide = other_model(OUT + 2, false), *joined = other_model(OUT, true);
    struct cavs_session *third;
    struct scene a;

    (void)unused;
    open_scene(&a);
    struct cavs_session *learns = session_with(a.learner, &o, NULL);

    check_not_shared(&a, learns, wide, CAVS_SGD, CAVS_ESHAPE, "parameter W", "20 x 9");
    check_not_shared(&a, learns, wide, CAVS_SGD, CAVS_ESHAPE, "20 x 7", "other one");
    check_not_shared(&a, learns, joined, CAVS_SGD, CAVS_ESHAPE, "parameter W", "products");
    check_not_shared(&a, learns, a.reader, CAVS_ADAM, CAVS_EINVAL, "one optimizer", "Adam");
    o.optimizer = CAVS_ADAM;
    o.inference = true; /* has none */
    third = session_with(a.reader, &o, learns);
    check_shown(&a, learns, third);
    cavs_session_destroy(third);
    cavs_session_destroy(learns);
    cavs_model_destroy(wide);
    cavs_model_destroy(joined);
    close_scene(&a);
}

/* Others may then train by what they like. */
static void a_session_that_could_not_be_made_has_no_optimizer(void **unused)
{
    struct cavs_session_options o = options_with(CAVS_SGD), adam = options_with(CAVS_ADAM);
    struct cavs_model *wide = other_model(OUT + 2, false);
    struct cavs_session *reads, *s = NULL;
    struct scene a;

    (void)unused;
    open_scene(&a);
    o.inference = true;
    reads = session_with(a.reader, &o, NULL);
    check_refused(cavs_session_create_with(trial_runtime, wide, &adam, reads, &s), CAVS_ESHAPE,
                  "parameter W");
    o.inference = false;
    s = session_with(a.learner, &o, reads);
    check_shown(&a, s, reads);
    cavs_session_destroy(s);
    cavs_session_destroy(reads);
    cavs_model_destroy(wide);
    close_scene(&a);
}

/* ---- a table that one session looks up, and the other multiplies by ---- */

static void rows_that_one_session_updates_the_other_multiplies(void **unused)
{
    (void)unused;
    for (int precision = 0; precision < CAVS_PRECISIONS; precision++) {
        struct cavs_session_options o = options_with(CAVS_SGD);

        o.precision = (enum cavs_precision)precision;
        shared_table_check(&o, precision == CAVS_BFLOAT16 ? 1e-2 : 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_one_session_updates_the_other_multiplies),
        cmocka_unit_test(tapes_of_two_sessions_train_as_one),
        cmocka_unit_test(sessions_that_train_in_turns_are_one),
        cmocka_unit_test(a_checkpoint_of_one_is_of_both),
        cmocka_unit_test(another_model_reads_what_is_learnt),
        cmocka_unit_test(parameters_outlive_the_session_that_made_them),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_session_that_could_not_be_made_has_no_optimizer),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("sharing", tests, trial_runtime_up, trial_runtime_down);
}
