/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_misuse.c - what a program does wrong costs it a code and a message, and nothing else: NULL,
 * another order of destroying, options that are no numbers, a child process, sizes that no machine
 * has.
 */
#include "tests/probes.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cavs_cells.h"

/* ---- NULL ---- */

static void check_null_text(const char *text)
{
    assert_null(text);
}

static void questions_of_nothing_have_answers(void **state)
{
    struct cavs_stats stats = {.batches = 7};
    const int one = 1;
    size_t n = 7;

    (void)state;
    assert_int_equal(cavs_model_param_count(NULL), 0);
    assert_null(cavs_model_param_at(NULL, 0));
    assert_null(cavs_model_find_param(NULL, NULL));
    check_null_text(cavs_param_name(NULL));
    assert_int_equal(cavs_param_rows(NULL), 0);
    assert_int_equal(cavs_param_cols(NULL), 0);
    cavs_param_freeze(NULL);
    assert_int_equal(cavs_model_stage_count(NULL), 0);
    assert_null(cavs_model_stage_at(NULL, 0));
    assert_null(cavs_model_find_stage(NULL, NULL));
    check_null_text(cavs_stage_name(NULL));
    assert_int_equal(cavs_stage_state_width(NULL), 0);
    assert_int_equal(cavs_stage_function_count(NULL), 0);
    assert_null(cavs_stage_function_at(NULL, 0));
    assert_int_equal(cavs_stage_channel_count(NULL), 0);
    check_null_text(cavs_stage_channel_at(NULL, 0));
    assert_int_equal(cavs_channel_width(NULL, NULL), 0);
    check_null_text(cavs_function_name(NULL));
    assert_int_equal(cavs_function_number(NULL), CAVS_EINVAL);
    assert_int_equal(cavs_symbol_width(NULL), 0);
    assert_int_equal(cavs_data_size(NULL), 0);
    assert_int_equal(cavs_data_vertices(NULL, NULL), 0);
    assert_int_equal(cavs_data_sample_vertices(NULL, NULL, 0), 0);
    assert_int_equal(cavs_data_batch_vertices(NULL, NULL, &one, 1), 0);
    assert_int_equal(cavs_data_batch_vertices(NULL, NULL, NULL, 1), 0);
    assert_null(cavs_data_sample_ids(NULL, NULL, NULL, 0));
    assert_int_equal(cavs_data_copy_ids(NULL, NULL, NULL, 0, 0, NULL), CAVS_EINVAL);
    assert_int_equal(cavs_packed_size(NULL), 0);
    assert_int_equal(cavs_packed_functions(NULL, NULL), -1);
    check_null_text(cavs_packed_function(NULL, NULL, 0));
    assert_null(cavs_packed_note(NULL, NULL, &n));
    assert_null(cavs_packed_note(NULL, NULL, NULL));
    check_null_text(cavs_model_file_note(NULL, NULL));
    assert_int_equal(cavs_model_file_count(NULL), 0);
    check_null_text(cavs_model_file_name(NULL, 0));
    assert_int_equal(cavs_model_file_rows(NULL, 0), -1);
    assert_int_equal(cavs_model_file_cols(NULL, 0), -1);
    assert_int_equal(cavs_runtime_workers(NULL), 0);
    check_null_text(cavs_runtime_scheduler(NULL));
    assert_int_equal(cavs_runtime_rank(NULL), 0);
    assert_int_equal(cavs_runtime_ranks(NULL), 0);
    assert_int_equal(cavs_runtime_bytes_sent(NULL), 0);
    assert_true(cavs_runtime_exchange_seconds(NULL) == 0);
    assert_int_equal(cavs_runtime_agree(NULL, 0), 0);
    cavs_runtime_raise(NULL, 1);
    assert_int_equal(cavs_runtime_raised(NULL), 0);
    cavs_runtime_abort(NULL, 1);
    assert_true(cavs_runtime_sgemm_peak(NULL) < 0);
    assert_true(cavs_runtime_memory_peak(NULL) < 0);
    cavs_session_stats(NULL, NULL);
    cavs_session_stats(NULL, &stats);
    assert_int_equal(stats.batches, 7);
    assert_int_equal(cavs_session_rank_shards(NULL, 0), 0);
    cavs_session_reset_stats(NULL);
    assert_non_null(cavs_strerror(12345));
    assert_non_null(cavs_error_message());
    assert_non_null(cavs_error_text(12345));
    assert_non_null(cavs_version());
    cavs_runtime_can_trace();
    cavs_notice_set_handler(NULL, NULL);
    assert_true(isfinite(cavs_init_glorot(2000000000, 2000000000).b));
    assert_int_equal(cavs_session_defaults().shards, 0);
    check_null_text(cavs_optimizer_name(CAVS_OPTIMIZERS));
    check_null_text(cavs_optimizer_summary(-1));
    check_null_text(cavs_policy_name(-1));
    check_null_text(cavs_scheduler_name(-1));
    check_null_text(cavs_scheduler_name(INT_MAX));
    check_null_text(cavs_precision_name(CAVS_PRECISIONS));
    check_null_text(cavs_precision_name(-1));
    check_null_text(cavs_precision_summary(-1));
    check_null_text(cavs_policy_summary(CAVS_POLICIES));
    assert_null(cavs_tape_sample(NULL));
    assert_null(cavs_tape_resume(NULL, 0));
    assert_null(cavs_tape_function(NULL));
    assert_null(cavs_tape_row(NULL, 1, NULL));
    assert_null(cavs_tape_id(NULL, 0));
    assert_null(cavs_tape_list(NULL, 1, NULL));
    assert_null(cavs_tape_apply(NULL, NULL, NULL));
    assert_true(cavs_tape_mark(NULL) < 0);
    cavs_tape_stats(NULL, NULL);
    assert_true(cavs_tape_defaults().most_symbols > 0);
}

static void nothing_can_be_destroyed(void **state)
{
    (void)state;
    cavs_model_destroy(NULL);
    cavs_data_destroy(NULL);
    cavs_session_destroy(NULL);
    cavs_packed_close(NULL);
    cavs_model_file_close(NULL);
    cavs_tape_destroy(NULL);
    check_ok(cavs_runtime_destroy(NULL));
}

/* Fails, and says something. */
#define check_fails(call)                                        \
    do {                                                         \
        *(char *)cavs_error_message() = 0;                       \
        if ((call) >= 0 || !*cavs_error_message())               \
            fail_msg("%s: \"%s\"", #call, cavs_error_message()); \
    } while (0)

static void calls_with_nothing_are_refused(void **state)
{
    int one = 1;

    (void)state;
    check_fails(cavs_model_create(NULL));
    check_fails(cavs_model_finish(NULL));
    check_fails(cavs_function_finish(NULL));
    check_fails(cavs_file_writable(NULL));
    check_fails(cavs_file_create(NULL, NULL));
    assert_null(cavs_file_stream(NULL));
    check_fails(cavs_file_commit(NULL));
    assert_int_equal(cavs_file_close(NULL), CAVS_OK);
    check_fails(cavs_data_create(NULL, NULL));
    check_fails(cavs_data_begin(NULL));
    check_fails(cavs_data_graph(NULL, NULL, 1, NULL, NULL, NULL));
    check_fails(cavs_data_ids(NULL, NULL, NULL, 1, NULL));
    check_fails(cavs_data_rows(NULL, NULL, NULL, 1, NULL));
    check_fails(cavs_data_edge_ids(NULL, NULL, NULL, 1, NULL));
    check_fails(cavs_data_edge_rows(NULL, NULL, NULL, 1, NULL));
    check_fails(cavs_data_ragged_ids(NULL, NULL, NULL, 1, NULL, NULL));
    check_fails(cavs_data_end(NULL));
    check_fails(cavs_data_fingerprint(NULL, NULL));
    check_fails(cavs_data_pack(NULL, NULL, NULL));
    check_fails(cavs_data_note(NULL, NULL, NULL, 1));
    check_fails(cavs_data_write(NULL));
    check_fails(cavs_data_open(NULL, NULL, NULL));
    check_fails(cavs_packed_open(NULL, NULL));
    check_fails(cavs_packed_describe(NULL, NULL));
    check_fails(cavs_packed_verify(NULL));
    check_fails(cavs_runtime_create(NULL, NULL));
    check_fails(cavs_runtime_same(NULL, NULL, NULL));
    check_fails(cavs_session_create(NULL, NULL, NULL, NULL));
    check_fails(cavs_session_create_with(NULL, NULL, NULL, NULL, NULL));
    check_fails(cavs_session_train(NULL, NULL, &one, 1));
    check_fails(cavs_session_gradient(NULL, NULL, &one, 1));
    check_fails(cavs_session_evaluate(NULL, NULL, &one, 1));
    check_fails(cavs_session_run(NULL, NULL, &one, 1, 1, NULL));
    check_fails(cavs_session_output(NULL, NULL, &one, 1, NULL, NULL, NULL));
    check_fails(cavs_session_wait(NULL));
    check_fails(cavs_session_metric(NULL, NULL, NULL, NULL));
    check_fails(cavs_session_reset_metrics(NULL));
    check_fails(cavs_session_get_param(NULL, NULL, NULL));
    check_fails(cavs_session_set_param(NULL, NULL, NULL));
    check_fails(cavs_session_get_gradient(NULL, NULL, NULL));
    check_fails(cavs_session_set_lr(NULL, 1));
    check_fails(cavs_session_save(NULL, NULL));
    check_fails(cavs_session_save_as(NULL, NULL, CAVS_BFLOAT16));
    check_fails(cavs_session_load(NULL, NULL));
    check_fails(cavs_session_checkpoint(NULL, NULL, NULL));
    check_fails(cavs_session_resume(NULL, NULL, NULL));
    check_fails(cavs_session_note(NULL, NULL, NULL));
    check_fails(cavs_model_file_open(NULL, NULL));
    check_fails(cavs_model_file_read(NULL, 0, NULL));
    check_fails(cavs_session_explain(NULL, NULL));
    check_fails(cavs_tape_create(NULL, NULL, NULL));
    check_fails(cavs_tape_begin(NULL, CAVS_TAPE_TRAIN));
    check_fails(cavs_tape_record(NULL, 0, NULL, NULL));
    check_fails(cavs_tape_rewind(NULL, 0));
    check_fails(cavs_tape_values(NULL, 0, NULL, NULL));
    check_fails(cavs_tape_finish(NULL));
    check_fails(cavs_tape_gradients(NULL, 0, NULL, NULL));
    check_fails(cavs_tape_explain(NULL, NULL));
}

/* Element-wise operators, each with an operand that is missing. */
static void apply_to_nothing(struct cavs_symbol *x)
{
#define CAVS_EW1(name, ...) assert_null(cavs_##name##_at(NULL, 1, CAVS_HERE));
#define CAVS_EW2(name, ...)                            \
    assert_null(cavs_##name##_at(x, NULL, CAVS_HERE)); \
    assert_null(cavs_##name##_at(NULL, x, CAVS_HERE));
#include "codelets/groups/elementwise.def"
#undef CAVS_EW1
#undef CAVS_EW2
}

/* Everything that makes a symbol of f and x, which may be NULL, and nothing else. */
static void build_from(struct cavs_function *f, struct cavs_symbol *x)
{
    struct cavs_cell cell = {.kind = CAVS_LSTM, .width = 2, .hidden = 2};
    struct cavs_symbol *two[2] = {x, NULL}, *out[2];

    assert_null(cavs_pull(f, NULL, 3));
    assert_null(cavs_pull_ids(f, NULL));
    assert_null(cavs_pull_from(f, NULL, NULL, NULL));
    assert_null(cavs_use(f, NULL));
    assert_null(cavs_constant(f, 0, 1));
    assert_null(cavs_gather(f, -1));
    assert_null(cavs_each_child(f));
    assert_null(cavs_pull_edge(f, NULL, 3));
    assert_null(cavs_pull_edge_ids(f, NULL));
    assert_null(cavs_pull_list_ids(f, NULL));
    assert_null(cavs_pull_from_each(f, NULL, NULL, NULL));
    assert_null(cavs_sum_children(x));
    assert_null(cavs_mean_children(x));
    assert_null(cavs_max_children(x));
    assert_null(cavs_softmax_children(x));
    assert_null(cavs_matmul_select(x, NULL, 2, NULL));
    assert_null(cavs_lookup(NULL, NULL));
    assert_null(cavs_matmul(x, NULL));
    assert_null(cavs_affine(x, NULL, NULL));
    assert_null(cavs_apply1(NULL, x, 1));
    assert_null(cavs_apply2(NULL, x, NULL));
    apply_to_nothing(x);
    assert_null(cavs_concat(2, two));
    assert_null(cavs_concat(2, NULL));
    assert_null(cavs_slice(NULL, 0, 1));
    cavs_split(x, 2, NULL);
    cavs_split(NULL, 2, out);
    assert_null(out[0]);
    assert_null(cavs_sum(NULL));
    assert_null(cavs_mean(NULL));
    assert_null(cavs_largest(NULL));
    assert_null(cavs_pick(x, NULL));
    assert_null(cavs_softmax(NULL));
    assert_null(cavs_log_softmax(NULL));
    assert_null(cavs_layer_norm(NULL, NULL, NULL));
    assert_null(cavs_dropout(NULL, 0.5f));
    assert_null(cavs_softmax_cross_entropy(x, NULL));
    assert_null(cavs_squared_error(x, NULL));
    assert_null(cavs_absolute_error(x, NULL));
    assert_null(cavs_huber_error(x, NULL, 1));
    assert_null(cavs_binary_cross_entropy(x, NULL));
    assert_null(cavs_hinge(x, NULL, 1));
    assert_null(cavs_correct(x, NULL));
    assert_null(cavs_cell_next(NULL, x, x));
    assert_null(cavs_cell_next(&cell, x, NULL));
    assert_null(cavs_cell_output(NULL, x));
    assert_null(cavs_cell_output(&cell, NULL));
    assert_null(cavs_both_ways(f, NULL, NULL, NULL));
    cavs_cell_define(NULL, f, x);
    cavs_cell_define(&cell, f, NULL);
    cavs_scatter(f, NULL);
    cavs_push(f, NULL, x);
    cavs_push(f, "h", NULL);
    cavs_metric_at(f, NULL, NULL, NULL, true, CAVS_HERE);
    cavs_loss(f, "loss", NULL, NULL);
}

/* Operators that tests/probes.c applies. */
static void apply_probes_to_nothing(void)
{
    const struct probe *list;
    int n = probe_list(&list);

    for (int i = 0; i < n; i++) {
        struct cavs_model *m;

        check_ok(cavs_model_create(&m));
        assert_null(list[i].apply(&list[i], cavs_function_create(cavs_stage_create(m, "s", 0), "f"),
                                  NULL, NULL));
        cavs_model_destroy(m);
    }
}

static void symbols_of_nothing_are_nothing(void **state)
{
    (void)state;
    assert_null(cavs_model_param(NULL, NULL, 1, 1, CAVS_CONSTANT(0)));
    assert_null(cavs_stage_create(NULL, NULL, 1));
    assert_null(cavs_stage_over(NULL, NULL, NULL, CAVS_ROOTS));
    assert_null(cavs_function_create(NULL, NULL));
    assert_null(cavs_lstm_cell(NULL, "cell", 2, 2).W);
    assert_null(cavs_gru_cell(NULL, "cell", 2, 2).W);
    assert_null(cavs_lstm_params(NULL, "cell", 2, 2).W);
    assert_null(cavs_gru_params(NULL, "cell", 2, 2).W);
    cavs_chain_graph(CAVS_WAY_FORWARD, 3, NULL, NULL);
    build_from(NULL, NULL);
    apply_probes_to_nothing();
}

/* The same in a model, whose first mistake is reported. */
static void nothing_in_a_model_is_its_mistake(void **state)
{
    struct cavs_model *m;
    struct cavs_function *f;

    (void)state;
    check_ok(cavs_model_create(&m));
    f = cavs_function_create(cavs_stage_create(m, "stage", 0), "f");
    build_from(f, cavs_constant(f, 4, 1));
    check_fails(cavs_function_finish(f));
    assert_null(cavs_model_param(m, NULL, 1, 1, CAVS_CONSTANT(0)));
    assert_null(cavs_stage_create(m, NULL, 1));
    assert_null(cavs_stage_over(m, NULL, NULL, CAVS_ROOTS));
    check_fails(cavs_model_finish(m));
    cavs_model_destroy(m);
}

static void objects_with_nothing_are_refused(void **state)
{
    struct trial t;
    struct cavs_session *s;
    int one = 0;

    (void)state;
    trial_open_zoo(&t, zoo_find("rnn"));
    s = trial_session(&t, NULL);
    check_fails(cavs_data_create(t.model, NULL));
    check_fails(cavs_data_pack(t.model, "/tmp/x", NULL));
    check_fails(cavs_data_fingerprint(t.data, NULL));
    check_fails(cavs_data_open(t.model, NULL, NULL));
    check_fails(cavs_session_create(trial_runtime, t.model, NULL, NULL));
    check_fails(cavs_session_train(s, NULL, &one, 1));
    check_fails(cavs_session_train(s, t.data, NULL, 1));
    check_fails(cavs_session_run(s, t.data, &one, 1, 1, NULL));
    check_fails(cavs_session_output(s, t.data, &one, 1, NULL, NULL, NULL));
    check_fails(cavs_session_metric(s, NULL, NULL, NULL));
    check_fails(cavs_session_get_param(s, NULL, NULL));
    check_fails(cavs_session_set_param(s, cavs_model_param_at(t.model, 0), NULL));
    check_fails(cavs_session_get_gradient(s, NULL, NULL));
    check_fails(cavs_session_save(s, NULL));
    check_fails(cavs_session_save_as(s, NULL, CAVS_BFLOAT16));
    check_fails(cavs_session_save_as(s, "/dev/null", CAVS_PRECISIONS));
    check_fails(cavs_session_load(s, NULL));
    check_fails(cavs_session_checkpoint(s, NULL, NULL));
    check_fails(cavs_session_resume(s, NULL, NULL));
    check_fails(cavs_session_explain(s, NULL));
    check_ok(cavs_session_train(s, t.data, &one, 1));
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- sizes ---- */

static void too_wide_a_concatenation_is_refused(void **state)
{
    struct cavs_model *m;
    struct cavs_function *f;
    struct cavs_symbol *xs[3];

    (void)state;
    check_ok(cavs_model_create(&m));
    f = cavs_function_create(cavs_stage_create(m, "stage", 0), "f");
    for (int i = 0; i < 3; i++)
        xs[i] = cavs_constant(f, 1 << 30, (float)i);
    assert_null(cavs_concat(3, xs));
    check_refused(cavs_function_finish(f), CAVS_ESHAPE, "concat", "3221225472");
    cavs_model_destroy(m);
}

static void too_many_shards_are_refused(void **state)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_session *s = NULL;
    struct trial t;
    int both[] = {0, 1};

    (void)state;
    trial_open_zoo(&t, zoo_find("rnn"));
    o.shards = 1 << 20;
    check_refused(cavs_session_create(trial_runtime, t.model, &o, &s), CAVS_EINVAL, "1048576",
                  "4096");
    o.shards = 4096;
    check_ok(cavs_session_create(trial_runtime, t.model, &o, &s));
    check_ok(cavs_session_train(s, t.data, both, 2));
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- numbers ---- */

static void no_numbers_are_refused_as_options(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {{"lr", offsetof(struct cavs_session_options, lr)},
                  {"momentum", offsetof(struct cavs_session_options, momentum)},
                  {"decay", offsetof(struct cavs_session_options, decay)},
                  {"beta1", offsetof(struct cavs_session_options, beta1)},
                  {"beta2", offsetof(struct cavs_session_options, beta2)},
                  {"epsilon", offsetof(struct cavs_session_options, epsilon)},
                  {"weight decay", offsetof(struct cavs_session_options, weight_decay)},
                  {"clip", offsetof(struct cavs_session_options, clip)},
                  {"scale", offsetof(struct cavs_session_options, scale)},
                  {"grain", offsetof(struct cavs_session_options, grain)}};
    struct cavs_model *m = zoo_model(zoo_find("rnn"));

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct cavs_session_options o = cavs_session_defaults();
        struct cavs_session *s = NULL;

        *(float *)((char *)&o + fields[i].offset) = NAN;
        check_refused(cavs_session_create(trial_runtime, m, &o, &s), CAVS_EINVAL, fields[i].name,
                      "nan");
        assert_null(s);
    }
    cavs_model_destroy(m);
}

static void options_that_begin_as_zeros_are_refused(void **state)
{
    struct cavs_session_options o = {.optimizer = CAVS_ADAM, .lr = 0.01f};
    struct cavs_model *m = zoo_model(zoo_find("rnn"));
    struct cavs_session *s = NULL;

    (void)state;
    check_refused(cavs_session_create(trial_runtime, m, &o, &s), CAVS_EINVAL, "epsilon 0",
                  "cavs_session_defaults()");
    assert_null(s);
    cavs_model_destroy(m);
}

static void what_is_wrong_with_a_call_is_named(void **state)
{
    const char *const texts[] = {"chain:3"};
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_model *other = zoo_model(zoo_find("rnn"));
    struct cavs_param *foreign = cavs_model_param_at(other, 0);
    struct cavs_session *s;
    struct trial t;
    float value;

    (void)state;
    trial_open(&t, zoo_model(zoo_find("rnn")), texts, 1, NULL);
    s = trial_session(&t, &o);
    check_refused(cavs_session_set_lr(NULL, 1), CAVS_EINVAL, "cavs_session_set_lr", "no session");
    check_refused(cavs_tape_begin(NULL, CAVS_TAPE_TRAIN), CAVS_EINVAL, "cavs_tape_begin(NULL)");
    check_refused(cavs_session_train(s, t.data, &(int){0}, -1), CAVS_EINVAL, "-1 samples");
    check_refused(cavs_session_train(s, t.data, NULL, 1), CAVS_EINVAL, "no numbers of samples");
    check_refused(cavs_session_get_param(s, foreign, &value), CAVS_EINVAL, cavs_param_name(foreign),
                  "another model");
    check_refused(cavs_session_get_param(s, cavs_model_param_at(t.model, 0), NULL), CAVS_EINVAL,
                  "nowhere");
    cavs_session_destroy(s);
    trial_close(&t);
    cavs_model_destroy(other);
}

static void an_option_out_of_range_is_named_alone(void **state)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_model *m = zoo_model(zoo_find("rnn"));
    struct cavs_session *s = NULL;

    (void)state;
    o.clip = -1;
    check_refused(cavs_session_create(trial_runtime, m, &o, &s), CAVS_EINVAL, "clip -1 is");
    o = cavs_session_defaults();
    o.optimizer = 99;
    check_refused(cavs_session_create(trial_runtime, m, &o, &s), CAVS_EINVAL, "optimizer 99");
    cavs_model_destroy(m);
}

/* The logarithm of what sample 1 brings is none. */
static void build_log(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *x = cavs_pull(f, "x", 3), *y;

    y = cavs_matmul(cavs_log(x), zoo_weight(m, "W", 3, 2));
    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

static void spoil(struct sample *s, int number)
{
    float *x = sample_rows(s, 0, "x");

    for (int i = 0; i < 12; i++)
        x[i] = number == 1 ? -1 : 1 + fabsf(x[i]);
}

static void a_bad_number_stays_out_of_parameters(void **state)
{
    static const struct zoo_entry model = {"log", build_log, {NULL}};
    const char *const texts[] = {"flat:4", "flat:4"};
    struct cavs_session_options o = cavs_session_defaults();
    float before[6], after[6];
    const int good = 0, bad = 1;
    const struct cavs_param *w;
    struct cavs_session *s;
    struct trial t;

    (void)state;
    trial_open(&t, zoo_model(&model), texts, 2, spoil);
    w = cavs_model_find_param(t.model, "W");
    o.check_finite = true;
    o.optimizer = CAVS_ADAM;
    s = trial_session(&t, &o);
    check_ok(cavs_session_train(s, t.data, &good, 1));
    check_ok(cavs_session_get_param(s, w, before));
    check_refused(cavs_session_train(s, t.data, &bad, 1), CAVS_ENUMERIC, "log");
    check_ok(cavs_session_get_param(s, w, after));
    assert_memory_equal(before, after, sizeof before);
    check_ok(cavs_session_train(s, t.data, &good, 1));
    check_ok(cavs_session_get_param(s, w, after));
    for (int i = 0; i < 6; i++)
        assert_true(isfinite(after[i]) && after[i] != before[i]);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- life ---- */

/* What a child process may find out without StarPU's workers; its exit status tells the first call
 * that did not say so. */
static int try_all(struct trial *t, struct cavs_session *s)
{
    static float values[65536];
    const struct cavs_param *p = cavs_model_param_at(t->model, 0);
    struct cavs_session *another;
    struct cavs_runtime *rt;
    const int one = 0;
    int rc[] = {cavs_session_train(s, t->data, &one, 1),
                cavs_session_gradient(s, t->data, &one, 1),
                cavs_session_evaluate(s, t->data, &one, 1),
                cavs_session_wait(s),
                cavs_session_metric(s, "loss", NULL, NULL),
                cavs_session_reset_metrics(s),
                cavs_session_get_param(s, p, values),
                cavs_session_set_param(s, p, values),
                cavs_session_get_gradient(s, p, values),
                cavs_session_save(s, "/dev/null"),
                cavs_session_load(s, "/dev/null"),
                cavs_session_checkpoint(s, "/dev/null", NULL),
                cavs_session_resume(s, "/dev/null", NULL),
                cavs_session_create(trial_runtime, t->model, NULL, &another),
                cavs_runtime_create(NULL, &rt),
                cavs_runtime_destroy(trial_runtime),
                (int)cavs_runtime_sgemm_peak(trial_runtime),
                (int)cavs_runtime_memory_peak(trial_runtime)};

    cavs_session_destroy(s);
    for (size_t i = 0; i < sizeof rc / sizeof *rc; i++) {
        if (rc[i] != CAVS_ESTATE || !strstr(cavs_error_message(), "fork"))
            return 1 + (int)i;
    }
    return 0;
}

static void a_child_process_is_told_that_it_has_no_workers(void **state)
{
    struct trial t;
    struct cavs_session *s;
    const int one = 0;
    int status = -1;
    pid_t child;

    (void)state;
    trial_open_zoo(&t, zoo_find("rnn"));
    s = trial_session(&t, NULL);
    check_ok(cavs_session_train(s, t.data, &one, 1));
    check_ok(cavs_session_wait(s));
    child = fork();
    if (child == 0) {
        alarm(60);
        _exit(try_all(&t, s));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_ok(cavs_session_train(s, t.data, &one, 1));
    check_ok(cavs_session_wait(s));
    cavs_session_destroy(s);
    trial_close(&t);
}

struct scene {
    struct cavs_runtime *rt;
    struct cavs_model *model;
    struct cavs_data *data;
    struct cavs_session *session;
};

static void destroy_one(struct scene *a, char which)
{
    switch (which) {
    case 'm': cavs_model_destroy(a->model); break;
    case 'd': cavs_data_destroy(a->data); break;
    case 's': cavs_session_destroy(a->session); break;
    default: check_refused(cavs_runtime_destroy(a->rt), CAVS_ESTATE, "1 session is still there");
    }
}

static void destroy_in(const char *order)
{
    struct trial t;
    struct scene a = {.rt = trial_runtime};
    const int batch[] = {0, 1};

    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    a.model = zoo_model(zoo_find("tree_fc_cavs"));
    check_ok(cavs_data_create(a.model, &a.data));
    for (int i = 0; i < 2; i++) {
        t.samples[i]->model = a.model; /* stages of the same numbers */
        check_ok(sample_add(t.samples[i], a.data));
        t.samples[i]->model = t.model;
    }
    check_ok(cavs_session_create(a.rt, a.model, NULL, &a.session));
    check_ok(cavs_session_train(a.session, a.data, batch, 2)); /* its tasks may still be running */
    for (; *order; order++)
        destroy_one(&a, *order);
    trial_close(&t);
}

static void models_may_be_destroyed_first(void **state)
{
    static const char *const orders[] = {"sdm", "smd", "dsm", "dms", "msd", "mds"};

    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        destroy_in(orders[i]);
}

/* The workers stop with the last session, and there can be new ones. */
static void runtimes_may_be_destroyed_first(void **state)
{
    destroy_in("rmsd");
    check_ok(trial_runtime_up(state));
    destroy_in("dmrs");
    check_ok(trial_runtime_up(state));
    destroy_in("sdm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_of_nothing_have_answers),
        cmocka_unit_test(nothing_can_be_destroyed),
        cmocka_unit_test(calls_with_nothing_are_refused),
        cmocka_unit_test(symbols_of_nothing_are_nothing),
        cmocka_unit_test(nothing_in_a_model_is_its_mistake),
        cmocka_unit_test(objects_with_nothing_are_refused),
        cmocka_unit_test(too_wide_a_concatenation_is_refused),
        cmocka_unit_test(too_many_shards_are_refused),
        cmocka_unit_test(no_numbers_are_refused_as_options),
        cmocka_unit_test(options_that_begin_as_zeros_are_refused),
        cmocka_unit_test(an_option_out_of_range_is_named_alone),
        cmocka_unit_test(what_is_wrong_with_a_call_is_named),
        cmocka_unit_test(a_bad_number_stays_out_of_parameters),
        cmocka_unit_test(a_child_process_is_told_that_it_has_no_workers),
        cmocka_unit_test(models_may_be_destroyed_first),
        cmocka_unit_test(runtimes_may_be_destroyed_first),
    };

    trial_compile(false);
    return cmocka_run_group_tests(tests, trial_runtime_up, trial_runtime_down);
}
