/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_refusals.c - what a session refuses, and how it says why: wrong arguments, ids out of range
 * when they are used, numbers that are not finite, memory that is not there.  After each refusal
 * the session goes on working.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trial.h"

struct scene {
    struct trial t, other;
    struct cavs_session *s;
};

static int scene_open(void **state)
{
    struct scene *a = calloc(1, sizeof *a);
    trial_open_zoo(&a->t, zoo_find("heads"));
    trial_open_zoo(&a->other, zoo_find("gru"));
    a->s = trial_session(&a->t, NULL);
    *state = a;
    return 0;
}

static int scene_close(void **state)
{
    struct scene *a = *state;
    cavs_session_destroy(a->s);
    trial_close(&a->t);
    trial_close(&a->other);
    free(a);
    return 0;
}

static void still_works(struct scene *a)
{
    const int batch[] = {0, 1, 4};
    trial_check_gradients(&a->t, a->s, batch, 3);
}

/* ---- arguments ---- */

static void samples_out_of_range(void **state)
{
    struct scene *a = *state;
    int batch[] = {0, 1, 0};
    batch[1] = a->t.nsamples;
    check_refused(cavs_session_train(a->s, a->t.data, batch, 3), CAVS_EINVAL, "sample 6",
                  "position 1");
    batch[1] = -1;
    check_refused(cavs_session_gradient(a->s, a->t.data, batch, 3), CAVS_EINVAL, "-1");
    check_refused(cavs_session_evaluate(a->s, a->t.data, batch, 3), CAVS_EINVAL, "-1");
    check_refused(cavs_session_evaluate(a->s, a->t.data, batch, -3), CAVS_EINVAL, "batch");
    check_refused(cavs_session_evaluate(a->s, a->t.data, NULL, 3), CAVS_EINVAL, "batch");
    check_refused(cavs_session_evaluate(a->s, NULL, batch, 1), CAVS_EINVAL, "data");
    check_refused(cavs_session_evaluate(NULL, a->t.data, batch, 1), CAVS_EINVAL, "session");
    still_works(a);
}

static void things_of_another_model(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0};
    float values[4096];
    struct cavs_param *foreign = cavs_model_param_at(a->other.model, 0);
    check_refused(cavs_session_train(a->s, a->other.data, batch, 1), CAVS_EINVAL, "another model");
    check_refused(cavs_session_get_param(a->s, foreign, values), CAVS_EINVAL, "another model");
    check_refused(cavs_session_set_param(a->s, foreign, values), CAVS_EINVAL, "another model");
    check_refused(cavs_session_get_gradient(a->s, foreign, values), CAVS_EINVAL, "another model");
    assert_int_equal(
        cavs_session_output(a->s, a->t.data, batch, 1, a->other.model->stages[0], "guess", values),
        CAVS_EINVAL);
    still_works(a);
}

static void names_that_are_not_there(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0};
    float values[4096];
    double sum = 7, count = 8;
    struct cavs_stage *tree = a->t.model->stages[0];
    check_refused(cavs_session_metric(a->s, "regret", &sum, &count), CAVS_EINVAL, "regret");
    check_refused(cavs_session_metric(a->s, NULL, &sum, &count), CAVS_EINVAL, "metric");
    assert_true(sum == 7 && count == 8);
    check_refused(cavs_session_output(a->s, a->t.data, batch, 1, tree, "secret", values),
                  CAVS_EINVAL, "secret", "tree");
    assert_true(cavs_session_output(a->s, a->t.data, batch, 1, NULL, "h", values) < 0);
    assert_true(cavs_session_output(a->s, a->t.data, batch, 1, tree, NULL, values) < 0);
    assert_true(cavs_session_output(a->s, a->t.data, batch, 1, tree, "h", NULL) < 0);
    still_works(a);
}

static void nulls(void **state)
{
    struct scene *a = *state;
    struct cavs_param *p = cavs_model_param_at(a->t.model, 0);
    float values[4096];
    assert_true(cavs_session_get_param(a->s, NULL, values) < 0);
    assert_true(cavs_session_get_param(a->s, p, NULL) < 0);
    assert_true(cavs_session_get_param(NULL, p, values) < 0);
    assert_true(cavs_session_set_param(a->s, p, NULL) < 0);
    assert_true(cavs_session_get_gradient(a->s, NULL, values) < 0);
    assert_true(cavs_session_wait(NULL) < 0);
    assert_true(cavs_session_metric(NULL, "loss", NULL, NULL) < 0);
    assert_true(cavs_session_reset_metrics(NULL) < 0);
    assert_true(cavs_session_set_lr(NULL, 1) < 0);
    assert_true(cavs_session_save(NULL, "x") < 0);
    assert_true(cavs_session_load(NULL, "x") < 0);
    still_works(a);
}

static int create(struct scene *a, struct cavs_session_options o)
{
    struct cavs_session *s = (void *)a;
    int rc = cavs_session_create(trial_runtime, a->t.model, &o, &s);
    if (rc)
        assert_ptr_equal(s, a); /* set only on success */
    else
        cavs_session_destroy(s);
    return rc;
}

static void options_out_of_range(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options bad[9];
    for (int i = 0; i < 9; i++)
        bad[i] = cavs_session_defaults();
    check_ok(create(a, bad[0]));
    bad[0].lr = NAN;
    bad[1].lr = INFINITY;
    bad[2].shards = -1;
    bad[3].clip = -1;
    bad[4].scale = NAN;
    bad[5].policy = CAVS_POLICIES;
    bad[6].optimizer = CAVS_OPTIMIZERS;
    bad[7].clip = NAN;
    bad[8].keep_mb = -1;
    for (int i = 0; i < 9; i++) {
        if (create(a, bad[i]) != CAVS_EINVAL)
            fail_msg("bad options %d were taken", i);
    }
    still_works(a);
}

/* What an operator is told, by the end of the recording. */
static void told(struct cavs_tape *t, const char *what)
{
    check_refused(cavs_tape_finish(t), CAVS_EPROGRAM, what, "test_refusals.c");
}

static void what_tapes_are_asked_in_vain(void **state)
{
    struct scene *a = *state;
    const struct cavs_tape_options zeros = {0}, unknown = {.policy = CAVS_POLICIES};
    float row[1], *rows[] = {row, row}, values[4096];
    struct cavs_param *p = cavs_model_param_at(a->t.model, 0);
    struct cavs_symbol *x[2];
    struct cavs_tape *t;

    check_refused(cavs_tape_create(a->s, &zeros, &t), CAVS_EINVAL, "cavs_tape_defaults()");
    check_refused(cavs_tape_create(a->s, &unknown, &t), CAVS_EINVAL, "policy 5", "0..4");
    check_ok(cavs_tape_create(a->s, NULL, &t));
    assert_null(cavs_tape_id(t, 1));
    assert_non_null(strstr(cavs_error_message(), "id before a recording has begun"));
    check_ok(cavs_tape_begin(t, CAVS_TAPE_EVALUATE));
    x[0] = cavs_constant(cavs_tape_sample(t), 1, 1);
    x[1] = NULL;
    check_refused(cavs_tape_values(t, 2, x, rows), CAVS_EINVAL, "symbol 1 is NULL");
    x[1] = cavs_tape_id(t, 3);
    check_refused(cavs_tape_values(t, 2, x, rows), CAVS_EPROGRAM, "symbol 1 (", "is an id",
                  "test_refusals.c");
    assert_null(cavs_sum_children(x[0]));
    told(t, "entry of a list (cavs_tape_list)");
    assert_true(cavs_param_rows(p) * cavs_param_cols(p) <= 4096);
    check_refused(cavs_session_get_gradient(a->s, p, values), CAVS_ESTATE, "CAVS_TAPE_GRADIENT");
    cavs_tape_destroy(t);
    still_works(a);
}

static void session_of_an_unfinished_model(void **state)
{
    struct scene *a = *state;
    struct cavs_model *m;
    struct cavs_session *s = NULL;
    check_ok(cavs_model_create(&m));
    check_refused(cavs_session_create(trial_runtime, m, NULL, &s), CAVS_ESTATE, "finish");
    assert_true(cavs_session_create(NULL, a->t.model, NULL, &s) < 0);
    assert_true(cavs_session_create(trial_runtime, NULL, NULL, &s) < 0);
    assert_null(s);
    cavs_model_destroy(m);
}

static void second_runtime(void **state)
{
    struct scene *a = *state;
    struct cavs_runtime *rt = (void *)a;
    check_refused(cavs_runtime_create(NULL, &rt), CAVS_ESTATE, "runtime");
    assert_ptr_equal(rt, a);
    assert_true(cavs_runtime_workers(trial_runtime) > 0);
    assert_true(strlen(cavs_runtime_scheduler(trial_runtime)) > 0);
    still_works(a);
}

static void training_for_inference(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = cavs_session_defaults();
    const int batch[] = {0, 1, 4};
    float values[4096];
    o.inference = true;
    struct cavs_session *s = trial_session(&a->t, &o);
    check_refused(cavs_session_train(s, a->t.data, batch, 3), CAVS_ESTATE, "inference");
    check_refused(cavs_session_gradient(s, a->t.data, batch, 3), CAVS_ESTATE, "inference");
    assert_true(cavs_session_get_gradient(s, cavs_model_param_at(a->t.model, 0), values) < 0);
    trial_check_outputs(&a->t, s, batch, 3);
    cavs_session_destroy(s);
}

/* Sound and unsound samples in turn: what is computed is that of the sound ones. */
static void refused_samples_leave_no_trace(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0, 1, 2, 3, 4, 5};
    cavs_data_destroy(a->t.data);
    check_ok(cavs_data_create(a->t.model, &a->t.data));
    for (int i = 0; i < a->t.nsamples; i++) {
        struct sample *bad = sample_make(a->t.model, "binary:7", (uint64_t)i);
        sample_ids(bad, 1, "label")[i] = 1000;
        check_refused(sample_add(bad, a->t.data), CAVS_EDATA, "label", "1000");
        check_ok(sample_add(a->t.samples[i], a->t.data));
        sample_free(bad);
    }
    trial_check_gradients(&a->t, a->s, batch, 6);
    trial_check_outputs(&a->t, a->s, batch, 6);
}

/* ---- ids changed in place ---- */

static void ids_out_of_range_when_used(void **state)
{
    struct scene *a = *state;
    const int batch[] = {4, 0};
    int *word = cavs_data_sample_ids(a->t.data, a->t.model->stages[0], "word", 0), was = word[2];
    word[2] = 8;
    check_refused(cavs_session_train(a->s, a->t.data, batch, 2), CAVS_EDATA, "word", "sample 0",
                  "vertex 2", "8");
    word[2] = -5;
    check_refused(cavs_session_evaluate(a->s, a->t.data, batch, 2), CAVS_EDATA, "word", "sample 0",
                  "vertex 2", "-5");
    word[2] = was;
    still_works(a);
}

static void index_out_of_range_when_used(void **state)
{
    struct scene *a = *state;
    const int batch[] = {0, 1};
    struct cavs_stage *top = a->t.model->stages[2];
    int *friend = cavs_data_sample_ids(a->t.data, top, "friend", 1), was = friend[1];
    friend[1] = a->t.samples[1]->stages[0].n;
    check_refused(cavs_session_gradient(a->s, a->t.data, batch, 2), CAVS_EDATA, "friend",
                  "sample 1", "vertex 1");
    friend[1] = was;
    still_works(a);
}

/* ---- numbers ---- */

enum { BAD_VERTEX = 3 };

static char log_line[64]; /* where the logarithm is asked for */

static void build_log(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "chain", 2);
    struct cavs_function *f = cavs_function_create(s, "hurts");
    struct cavs_symbol *x = cavs_shift(cavs_pull(f, "x", 2), 2);
    snprintf(log_line, sizeof log_line, "test_refusals.c:%d: ", __LINE__ + 1);
    x = cavs_log(x);
    struct cavs_symbol *h = cavs_add(x, cavs_matmul(cavs_gather(f, 0), zoo_weight(m, "U", 2, 2)));
    cavs_scatter(f, h);
    cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
}

/* log(-1) at one vertex of the second sample. */
static void spoil(struct sample *s, int number)
{
    if (number == 1)
        sample_rows(s, 0, "x")[2 * BAD_VERTEX + 1] = -3;
}

static void check_finite_names_the_culprit(const struct cavs_session_options *o)
{
    static const struct zoo_entry model = {"log", build_log, {NULL}};
    const char *const texts[] = {"chain:4", "chain:9", "single"};
    const int good[] = {0, 2}, bad[] = {0, 2, 1};
    struct trial t;
    trial_open(&t, zoo_model(&model), texts, 3, spoil);
    struct cavs_session *s = trial_session(&t, o);
    trial_check_gradients(&t, s, good, 2);
    int rc = cavs_session_evaluate(s, t.data, bad, 3);
    if (!rc)
        rc = cavs_session_wait(s);
    check_refused(rc, CAVS_ENUMERIC, "operator log of function chain.hurts ", log_line, "sample 1",
                  "vertex 3");
    trial_check_gradients(&t, s, good, 2);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void not_a_number_is_traced_to_its_vertex(void **state)
{
    struct cavs_session_options o = cavs_session_defaults();
    (void)state;
    o.check_finite = true;
    for (int shards = 1; shards < 4; shards++) {
        o.shards = shards;
        check_finite_names_the_culprit(&o);
    }
}

static void not_a_number_is_traced_in_interpreted_groups(void **state)
{
    struct cavs_session_options o = cavs_session_defaults();
    (void)state;
    o.check_finite = true;
    trial_compile(false);
    check_finite_names_the_culprit(&o);
    trial_compile(true);
}

static void not_a_number_is_traced_without_fusion(void **state)
{
    struct cavs_session_options o = cavs_session_defaults();
    (void)state;
    o.check_finite = o.no_fusion = o.no_eager = true;
    check_finite_names_the_culprit(&o);
}

/* Functions that take turns: of each, the rows that its look-ups read lie one behind another, the
 * vertices do not. */
static void build_turns(struct cavs_model *m)
{
    struct cavs_param *T = zoo_weight(m, "T", 3, 4), *U = zoo_weight(m, "U", 4, 4);
    struct cavs_stage *s = cavs_stage_create(m, "chain", 4);
    const char *const names[] = {"calm", "hurts"};
    for (int i = 0; i < 2; i++) {
        struct cavs_function *f = cavs_function_create(s, names[i]);
        struct cavs_symbol *x = cavs_lookup(T, cavs_pull_ids(f, "row"));
        x = cavs_matmul(i == 0 ? cavs_tanh(x) : cavs_log(x), U);
        struct cavs_symbol *h = cavs_add(x, cavs_matmul(cavs_gather(f, 0), U));
        cavs_scatter(f, h);
        cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
    }
}

static void take_turns(struct sample *s, int number)
{
    for (int v = 0; v < s->stages[0].n; v++) {
        s->stages[0].graph->functions[v] = v & 1;
        sample_ids(s, 0, "row")[v] = number == 1 && v == BAD_VERTEX ? 2 : v & 1;
    }
}

static void not_a_number_is_traced_among_functions_that_take_turns(void **state)
{
    static const struct zoo_entry model = {"turns", build_turns, {NULL}};
    const char *const texts[] = {"chain:4", "chain:9", "chain:6"};
    float values[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, -3, 4};
    const int good[] = {0, 2}, bad[] = {0, 2, 1};
    struct cavs_session_options o = cavs_session_defaults();
    struct trial t;
    (void)state;
    o.check_finite = o.no_dedup = true;
    trial_open(&t, zoo_model(&model), texts, 3, take_turns);
    struct cavs_session *s = trial_session(&t, &o);
    check_ok(cavs_session_set_param(s, cavs_model_find_param(t.model, "T"), values));
    check_ok(cavs_session_evaluate(s, t.data, good, 2));
    int rc = cavs_session_evaluate(s, t.data, bad, 3);
    if (!rc)
        rc = cavs_session_wait(s);
    check_refused(rc, CAVS_ENUMERIC, "operator log of function chain.hurts ", "sample 1",
                  "vertex 3");
    cavs_session_destroy(s);
    trial_close(&t);
}

/* Without check_finite nothing is said, and nothing breaks. */
static void not_a_number_passes_unchecked(void **state)
{
    static const struct zoo_entry model = {"log", build_log, {NULL}};
    const char *const texts[] = {"chain:4", "chain:9"};
    const int both[] = {0, 1};
    struct trial t;
    double sum;
    (void)state;
    trial_open(&t, zoo_model(&model), texts, 2, spoil);
    struct cavs_session *s = trial_session(&t, NULL);
    check_ok(cavs_session_evaluate(s, t.data, both, 2));
    check_ok(cavs_session_metric(s, "loss", &sum, NULL));
    assert_true(isnan(sum));
    cavs_session_destroy(s);
    trial_close(&t);
}

static void infinite_parameter_is_traced(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = cavs_session_defaults();
    float values[3] = {INFINITY, 0, 0};
    const int batch[] = {0};
    o.check_finite = true;
    struct cavs_session *s = trial_session(&a->t, &o);
    check_ok(cavs_session_set_param(s, cavs_model_find_param(a->t.model, "b_class"), values));
    int rc = cavs_session_gradient(s, a->t.data, batch, 1);
    if (!rc)
        rc = cavs_session_wait(s);
    check_refused(rc, CAVS_ENUMERIC, "head", "classify");
    cavs_session_destroy(s);
}

/* ---- size ---- */

static void build_inputs(struct cavs_model *m, int n)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *sum = cavs_use(f, zoo_weight(m, "b", 1, 2));
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "input%d", i);
        sum = cavs_add(sum, cavs_tanh(cavs_pull(f, name, 2)));
    }
    cavs_loss(f, "loss", cavs_sum(sum), NULL);
}

static void build_many_inputs(struct cavs_model *m)
{
    build_inputs(m, 40);
}

static void build_too_many_inputs(struct cavs_model *m)
{
    build_inputs(m, 70);
}

/* A task has room for 48 tensors. */
static void as_many_inputs_as_a_task_can_read(void **state)
{
    static const struct zoo_entry model = {"inputs", build_many_inputs, {NULL}};
    const char *text = "flat:5";
    const int batch[] = {0};
    struct trial t;
    (void)state;
    trial_open(&t, zoo_model(&model), &text, 1, NULL);
    struct cavs_session *s = trial_session(&t, NULL);
    trial_check_gradients(&t, s, batch, 1);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void more_inputs_than_a_task_can_read(void **state)
{
    static const struct zoo_entry model = {"inputs", build_too_many_inputs, {NULL}};
    struct cavs_model *m = zoo_model(&model);
    struct cavs_session *s = NULL;
    (void)state;
    check_refused(cavs_session_create(trial_runtime, m, NULL, &s), CAVS_EPROGRAM, "s.f.",
                  "more than 48 tensors");
    assert_null(s);
    cavs_model_destroy(m);
}

/* ---- memory ---- */

static void build_huge(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_param *universe =
        cavs_model_param(m, "universe", INT_MAX, 1 << 20, CAVS_CONSTANT(0));
    cavs_push(f, "y", cavs_sum(cavs_lookup(universe, cavs_pull_ids(f, "i"))));
}

/* As many bytes as size_t can just count. */
static void build_largest(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_param *universe =
        cavs_model_param(m, "universe", INT_MAX, INT_MAX, CAVS_CONSTANT(0));
    cavs_push(f, "y", cavs_sum(cavs_lookup(universe, cavs_pull_ids(f, "i"))));
}

static void memory_that_is_not_there(void **state)
{
    static const struct zoo_entry models[] = {{"huge", build_huge, {NULL}},
                                              {"largest", build_largest, {NULL}}};
    for (int i = 0; i < 2; i++) {
        struct cavs_model *m = zoo_model(&models[i]);
        struct cavs_session *s = NULL;
        check_refused(cavs_session_create(trial_runtime, m, NULL, &s), CAVS_ENOMEM, "universe",
                      "a smaller hidden size or vocabulary");
        assert_null(strstr(cavs_error_message(), "smaller batches"));
        assert_null(s);
        cavs_model_destroy(m);
    }
    still_works(*state);
}

/* Products of one operand are made one, but not of so many columns that no number says how many. */
static void more_columns_than_products_can_have(void **unused)
{
    struct cavs_model *m = NULL;
    struct cavs_session *s = NULL;
    struct cavs_symbol *x, *y[2];

    (void)unused;
    check_ok(cavs_model_create(&m));
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    x = cavs_pull(f, "x", 1);
    for (int i = 0; i < 2; i++)
        y[i] = cavs_matmul(
            x, cavs_model_param(m, i ? "V" : "W", 1, INT_MAX / 4 * 3, CAVS_CONSTANT(0)));
    cavs_loss(f, "loss", cavs_add(cavs_slice(y[0], 0, 1), cavs_slice(y[1], 0, 1)), NULL);
    check_ok(cavs_model_finish(m));
    check_refused(cavs_session_create(trial_runtime, m, NULL, &s), CAVS_ESHAPE, "s.f",
                  "columns together");
    cavs_model_destroy(m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(samples_out_of_range),
        TEST(things_of_another_model),
        TEST(names_that_are_not_there),
        TEST(nulls),
        TEST(options_out_of_range),
        TEST(what_tapes_are_asked_in_vain),
        TEST(session_of_an_unfinished_model),
        TEST(second_runtime),
        TEST(training_for_inference),
        TEST(refused_samples_leave_no_trace),
        TEST(ids_out_of_range_when_used),
        TEST(index_out_of_range_when_used),
        cmocka_unit_test(not_a_number_is_traced_to_its_vertex),
        cmocka_unit_test(not_a_number_is_traced_in_interpreted_groups),
        cmocka_unit_test(not_a_number_is_traced_without_fusion),
        cmocka_unit_test(not_a_number_is_traced_among_functions_that_take_turns),
        cmocka_unit_test(not_a_number_passes_unchecked),
        TEST(infinite_parameter_is_traced),
        cmocka_unit_test(more_columns_than_products_can_have),
        cmocka_unit_test(as_many_inputs_as_a_task_can_read),
        cmocka_unit_test(more_inputs_than_a_task_can_read),
        TEST(memory_that_is_not_there),
    };
    return cmocka_run_group_tests_name("refusals", tests, trial_runtime_up, trial_runtime_down);
}
