/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_symbols.c - every misuse while a model is declared is reported when it is finished: the
 * operator, both shapes, and the line of the call.  Nothing crashes, and the first mistake is the
 * one that is reported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trial.h"

/* Widths are primes that appear nowhere else, so that a message has to name the right ones. */
enum { STATE = 41, ROW = 37, TALL = 53, WIDE = 59 };

/* A model in which one thing is then done wrong. */
struct scene {
    struct cavs_model *m, *other_model;
    struct cavs_stage *early, *s, *plain, *over, *late;
    struct cavs_function *f, *g, *elsewhere, *head, *on_early; /* of s, s, plain, over, early */
    struct cavs_param *w, *row, *table, *foreign;
    struct cavs_symbol *x, *ids; /* of f */
    int line;                    /* of the mistake */
};

struct misuse {
    const char *name;
    void (*make)(struct scene *a);
    int code;
    const char *says[4];
};

#define WRONG(a, call) ((a)->line = __LINE__, (call))

static void scene_open(struct scene *a)
{
    *a = (struct scene){0};
    check_ok(cavs_model_create(&a->m));
    check_ok(cavs_model_create(&a->other_model));
    a->w = cavs_model_param(a->m, "W", TALL, WIDE, CAVS_CONSTANT(0));
    a->row = cavs_model_param(a->m, "row", 1, WIDE, CAVS_CONSTANT(0));
    a->table = cavs_model_param(a->m, "table", TALL, STATE, CAVS_CONSTANT(0));
    a->foreign = cavs_model_param(a->other_model, "foreign", 1, ROW, CAVS_CONSTANT(0));
    a->early = cavs_stage_create(a->m, "early", STATE);
    a->s = cavs_stage_create(a->m, "s", STATE);
    a->plain = cavs_stage_create(a->m, "plain", 0);
    a->over = cavs_stage_over(a->m, "over", a->s, CAVS_ROOTS);
    a->late = cavs_stage_create(a->m, "late", 0);
    a->on_early = cavs_function_create(a->early, "on_early");
    a->f = cavs_function_create(a->s, "f");
    a->g = cavs_function_create(a->s, "g");
    a->elsewhere = cavs_function_create(a->plain, "elsewhere");
    a->head = cavs_function_create(a->over, "head");
    struct cavs_symbol *state = cavs_pull(a->on_early, "state", STATE);
    cavs_scatter(a->on_early, state);
    cavs_push(a->on_early, "known", state);
    a->x = cavs_pull(a->f, "x", ROW);
    a->ids = cavs_pull_ids(a->f, "ids");
}

static void scene_close(struct scene *a)
{
    cavs_model_destroy(a->m);
    cavs_model_destroy(a->other_model);
}

/* ---- shapes ---- */

static void matmul_shape(struct scene *a)
{
    WRONG(a, cavs_matmul(a->x, a->w));
}

static void matmul_t_shape(struct scene *a)
{
    WRONG(a, cavs_matmul_t(a->x, a->w));
}

static void affine_shape(struct scene *a)
{
    WRONG(a, cavs_affine(a->x, a->w, a->row));
}

static void affine_bias_shape(struct scene *a)
{
    struct cavs_symbol *x = cavs_pull(a->f, "tall", TALL);
    struct cavs_param *b = cavs_model_param(a->m, "b", 1, 61, CAVS_CONSTANT(0));
    WRONG(a, cavs_affine(x, a->w, b));
}

static void affine_bias_rows(struct scene *a)
{
    struct cavs_symbol *x = cavs_pull(a->f, "tall", TALL);
    struct cavs_param *b = cavs_model_param(a->m, "b", 2, WIDE, CAVS_CONSTANT(0));
    WRONG(a, cavs_affine(x, a->w, b));
}

static void add_shape(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    WRONG(a, cavs_add(a->x, state));
}

static void sub_shape(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    WRONG(a, cavs_sub(a->x, state));
}

static void mul_shape(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    WRONG(a, cavs_mul(a->x, state));
}

static void div_shape(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    WRONG(a, cavs_div(state, a->x));
}

static void squared_error_shape(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    WRONG(a, cavs_squared_error(a->x, state));
}

static void dot_shape(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    WRONG(a, cavs_dot(a->x, state));
}

static void product_that_does_not_divide(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    WRONG(a, cavs_product(state, a->x, 7, 11));
}

static void product_of_other_terms(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    WRONG(a, cavs_product_tn(state, a->x, 1, 1));
}

static void product_without_rows(struct scene *a)
{
    WRONG(a, cavs_product_nt(a->x, a->x, 0, 1));
}

static void outer_that_is_too_large(struct scene *a)
{
    struct cavs_symbol *wide = cavs_constant(a->f, 100003, 0);
    WRONG(a, cavs_outer(wide, wide));
}

static void product_of_ids(struct scene *a)
{
    WRONG(a, cavs_dot(a->x, a->ids));
}

static void slice_beyond(struct scene *a)
{
    WRONG(a, cavs_slice(a->x, 30, 8));
}

static void slice_negative(struct scene *a)
{
    WRONG(a, cavs_slice(a->x, -1, 3));
}

static void slice_empty(struct scene *a)
{
    WRONG(a, cavs_slice(a->x, 3, 0));
}

static void slice_overflow(struct scene *a)
{
    WRONG(a, cavs_slice(a->x, 2147483647, 2147483647));
}

static void split_uneven(struct scene *a)
{
    struct cavs_symbol *part[5];
    WRONG(a, cavs_split(a->x, 5, part));
    assert_null(part[0]);
    assert_null(part[4]);
}

static void split_into_none(struct scene *a)
{
    WRONG(a, cavs_split(a->x, 0, NULL));
}

static void scatter_shape(struct scene *a)
{
    WRONG(a, cavs_scatter(a->f, a->x));
}

static void loss_shape(struct scene *a)
{
    WRONG(a, cavs_loss(a->f, "wide_loss", a->x, NULL));
}

static void metric_shape(struct scene *a)
{
    WRONG(a, cavs_metric(a->f, "wide_metric", a->x, NULL));
}

static void pull_other_width(struct scene *a)
{
    WRONG(a, cavs_pull(a->f, "x", 61));
}

static void pull_no_width(struct scene *a)
{
    WRONG(a, cavs_pull(a->f, "nothing", 0));
}

static void constant_no_width(struct scene *a)
{
    WRONG(a, cavs_constant(a->f, -2, 1.0f));
}

static void use_many_rows(struct scene *a)
{
    WRONG(a, cavs_use(a->f, a->w));
}

static void push_other_width(struct scene *a)
{
    struct cavs_symbol *y = cavs_pull(a->g, "y", 61);
    cavs_push(a->g, "channel", y);
    WRONG(a, cavs_push(a->f, "channel", a->x));
}

/* ---- the graph ---- */

static void scatter_twice(struct scene *a)
{
    struct cavs_symbol *state = cavs_gather(a->f, 0);
    cavs_scatter(a->f, state);
    WRONG(a, cavs_scatter(a->f, state));
}

static void scatter_missing(struct scene *a)
{
    cavs_gather(a->f, 0);
}

static void scatter_missing_without_gather(struct scene *a)
{
    cavs_push(a->f, "x", a->x);
}

static void scatter_null(struct scene *a)
{
    WRONG(a, cavs_scatter(a->f, NULL));
}

static void gather_negative(struct scene *a)
{
    WRONG(a, cavs_gather(a->f, -3));
}

static void gather_huge(struct scene *a)
{
    WRONG(a, cavs_gather(a->f, 2147483647));
}

static void push_null(struct scene *a)
{
    WRONG(a, cavs_push(a->f, "channel", NULL));
}

static void push_twice(struct scene *a)
{
    cavs_push(a->f, "channel", a->x);
    WRONG(a, cavs_push(a->f, "channel", a->x));
}

static void loss_null(struct scene *a)
{
    WRONG(a, cavs_loss(a->f, "empty_loss", NULL, NULL));
}

static void loss_nowhere(struct scene *a)
{
    struct cavs_symbol *x = cavs_sum(a->x);
    WRONG(a, cavs_loss(NULL, "loss", x, NULL));
}

static void scatter_nowhere(struct scene *a)
{
    WRONG(a, cavs_scatter(NULL, a->x));
}

static void push_nowhere(struct scene *a)
{
    WRONG(a, cavs_push(NULL, "channel", a->x));
}

static void unknown_operator(struct scene *a)
{
    WRONG(a, cavs_apply1_at("frobnicate", a->x, 0, CAVS_HERE));
}

static void operator_of_other_arity(struct scene *a)
{
    WRONG(a, cavs_apply1_at("add", a->x, 0, CAVS_HERE));
}

/* ---- who belongs where ---- */

static void foreign_symbol(struct scene *a)
{
    struct cavs_symbol *y = cavs_pull(a->g, "y", ROW);
    WRONG(a, cavs_add(a->x, y));
}

static void foreign_in_concat(struct scene *a)
{
    struct cavs_symbol *both[2] = {a->x, cavs_pull(a->g, "y", ROW)};
    WRONG(a, cavs_concat(2, both));
}

static void foreign_in_scatter(struct scene *a)
{
    struct cavs_symbol *y = cavs_gather(a->g, 0);
    WRONG(a, cavs_scatter(a->f, y));
}

static void foreign_labels(struct scene *a)
{
    struct cavs_symbol *labels = cavs_pull_ids(a->g, "labels");
    WRONG(a, cavs_softmax_cross_entropy(a->x, labels));
}

static void foreign_param(struct scene *a)
{
    WRONG(a, cavs_use(a->f, a->foreign));
}

static void foreign_matrix(struct scene *a)
{
    struct cavs_param *w = cavs_model_param(a->other_model, "strange", ROW, 3, CAVS_CONSTANT(0));
    WRONG(a, cavs_matmul(a->x, w));
}

static void foreign_table(struct scene *a)
{
    WRONG(a, cavs_lookup(a->foreign, a->ids));
}

static void ids_as_rows(struct scene *a)
{
    WRONG(a, cavs_tanh(a->ids));
}

static void ids_added(struct scene *a)
{
    WRONG(a, cavs_add(a->x, a->ids));
}

static void ids_pushed(struct scene *a)
{
    WRONG(a, cavs_push(a->f, "channel", a->ids));
}

static void rows_as_ids(struct scene *a)
{
    WRONG(a, cavs_lookup(a->table, a->x));
}

static void rows_as_labels(struct scene *a)
{
    WRONG(a, cavs_softmax_cross_entropy(a->x, a->x));
}

static void rows_to_pick_by(struct scene *a)
{
    WRONG(a, cavs_pick(a->x, a->x));
}

static void ids_in_softmax(struct scene *a)
{
    WRONG(a, cavs_softmax(a->ids));
}

static void gain_of_other_width(struct scene *a)
{
    WRONG(a, cavs_layer_norm(a->x, a->row, NULL));
}

static void bias_of_other_width(struct scene *a)
{
    WRONG(a, cavs_layer_norm(a->x, NULL, a->row));
}

static void dropout_of_everything(struct scene *a)
{
    WRONG(a, cavs_dropout(a->x, 1));
}

static void huber_without_limit(struct scene *a)
{
    WRONG(a, cavs_huber_error(a->x, a->x, 0));
}

static void hinge_without_margin(struct scene *a)
{
    WRONG(a, cavs_hinge(a->x, a->ids, -1));
}

static void rows_as_labels_of_metric(struct scene *a)
{
    WRONG(a, cavs_correct(a->x, a->x));
}

static void rows_as_where(struct scene *a)
{
    struct cavs_symbol *one = cavs_sum(a->x);
    WRONG(a, cavs_loss(a->f, "loss", one, one));
}

static void input_of_two_kinds(struct scene *a)
{
    WRONG(a, cavs_pull(a->f, "ids", ROW));
}

static void input_of_two_kinds_again(struct scene *a)
{
    WRONG(a, cavs_pull_ids(a->f, "x"));
}

static void unknown_channel(struct scene *a)
{
    WRONG(a, cavs_pull_from(a->f, a->early, "mystery", "at"));
}

static void channel_of_later_stage(struct scene *a)
{
    WRONG(a, cavs_pull_from(a->f, a->late, "known", "at"));
}

static void channel_of_same_stage(struct scene *a)
{
    cavs_push(a->f, "mine", a->x);
    WRONG(a, cavs_pull_from(a->f, a->s, "mine", "at"));
}

static void channel_without_index(struct scene *a)
{
    WRONG(a, cavs_pull_from(a->f, a->early, "known", NULL));
}

static void channel_of_no_stage(struct scene *a)
{
    WRONG(a, cavs_pull_from(a->f, NULL, "known", NULL));
}

static void null_matrix(struct scene *a)
{
    WRONG(a, cavs_matmul(a->x, NULL));
}

static void null_table(struct scene *a)
{
    WRONG(a, cavs_lookup(NULL, a->ids));
}

static void null_bias(struct scene *a)
{
    struct cavs_symbol *x = cavs_pull(a->f, "tall", TALL);
    WRONG(a, cavs_affine(x, a->w, NULL));
}

static void null_use(struct scene *a)
{
    WRONG(a, cavs_use(a->f, NULL));
}

static const struct misuse misuses[] = {
    {"matmul of another width", matmul_shape, CAVS_ESHAPE, {"matmul", "37", "53 x 59"}},
    {"matmul_t of another width", matmul_t_shape, CAVS_ESHAPE, {"matmul_t", "37", "(53 x 59)^T"}},
    {"affine of another width", affine_shape, CAVS_ESHAPE, {"37", "53 x 59"}},
    {"affine with a bias of another width", affine_bias_shape, CAVS_ESHAPE, {"affine", "59", "61"}},
    {"affine with a bias of two rows",
     affine_bias_rows,
     CAVS_ESHAPE,
     {"affine", "2 x 59", "1 x 59"}},
    {"add of two widths", add_shape, CAVS_ESHAPE, {"add", "37 and 41", "of pull x and gather(0)"}},
    {"sub of two widths", sub_shape, CAVS_ESHAPE, {"sub", "37", "41"}},
    {"mul of two widths", mul_shape, CAVS_ESHAPE, {"mul", "37", "41"}},
    {"div of two widths", div_shape, CAVS_ESHAPE, {"div", "41", "37"}},
    {"squared error of two widths", squared_error_shape, CAVS_ESHAPE, {"37", "41"}},
    {"dot of two widths", dot_shape, CAVS_ESHAPE, {"dot", "37 and 41", "of pull x and gather(0)"}},
    {"product that does not divide",
     product_that_does_not_divide,
     CAVS_ESHAPE,
     {"product", "41", "37", "(7 x n) (n x 11)"}},
    {"product of other terms",
     product_of_other_terms,
     CAVS_ESHAPE,
     {"product_tn", "41", "37", "(n x 1)^T (n x 1)"}},
    {"product without rows",
     product_without_rows,
     CAVS_ESHAPE,
     {"product_nt", "37", "(0 x n) (1 x n)^T"}},
    {"outer product that is too large", outer_that_is_too_large, CAVS_ESHAPE, {"100003"}},
    {"product of ids", product_of_ids, CAVS_EPROGRAM, {"dot", "ids"}},
    {"slice beyond the end", slice_beyond, CAVS_ESHAPE, {"slice", "30", "37"}},
    {"slice from a negative column", slice_negative, CAVS_ESHAPE, {"slice", "-1", "37"}},
    {"slice of no column", slice_empty, CAVS_ESHAPE, {"slice", "37"}},
    {"slice so large that it overflows", slice_overflow, CAVS_ESHAPE, {"slice", "37"}},
    {"split that does not divide", split_uneven, CAVS_ESHAPE, {"split", "37", "5"}},
    {"split into no parts", split_into_none, CAVS_ESHAPE, {"split", "37"}},
    {"scatter of another width", scatter_shape, CAVS_ESHAPE, {"scatter", "37", "41"}},
    {"loss wider than one", loss_shape, CAVS_ESHAPE, {"wide_loss", "37"}},
    {"metric wider than one", metric_shape, CAVS_ESHAPE, {"wide_metric", "37"}},
    {"pull of one input with two widths", pull_other_width, CAVS_ESHAPE, {"x", "61", "37"}},
    {"pull of width zero", pull_no_width, CAVS_ESHAPE, {"nothing", "0"}},
    {"constant of negative width", constant_no_width, CAVS_ESHAPE, {"constant", "-2"}},
    {"use of a parameter with many rows", use_many_rows, CAVS_ESHAPE, {"use", "W", "53 x 59"}},
    {"push of one channel with two widths", push_other_width, CAVS_ESHAPE, {"channel", "37", "61"}},
    {"scatter twice", scatter_twice, CAVS_EPROGRAM, {"scatter"}},
    {"scatter missing where gather exists", scatter_missing, CAVS_EPROGRAM, {"scatter", "41"}},
    {"scatter missing in a stage with state",
     scatter_missing_without_gather,
     CAVS_EPROGRAM,
     {"scatter", "41"}},
    {"scatter of NULL", scatter_null, CAVS_EPROGRAM, {"scatter"}},
    {"gather from a negative slot", gather_negative, CAVS_EINVAL, {"gather", "-3"}},
    {"gather from a slot nobody can have", gather_huge, CAVS_EINVAL, {"gather", "2147483647"}},
    {"push of NULL", push_null, CAVS_EPROGRAM, {"channel"}},
    {"push twice on a channel", push_twice, CAVS_EPROGRAM, {"channel"}},
    {"loss of NULL", loss_null, CAVS_EPROGRAM, {"empty_loss"}},
    {"loss of no function", loss_nowhere, CAVS_EINVAL, {"loss of sum", "function is NULL"}},
    {"scatter of no function", scatter_nowhere, CAVS_EINVAL, {"scatter", "function is NULL"}},
    {"push of no function", push_nowhere, CAVS_EINVAL, {"push", "function is NULL"}},
    {"operator that does not exist", unknown_operator, CAVS_EINVAL, {"frobnicate"}},
    {"operator with too few operands", operator_of_other_arity, CAVS_EINVAL, {"add"}},
    {"symbol of another function", foreign_symbol, CAVS_EPROGRAM, {"add", "g"}},
    {"symbol of another function in concat", foreign_in_concat, CAVS_EPROGRAM, {"concat", "g"}},
    {"symbol of another function in scatter", foreign_in_scatter, CAVS_EPROGRAM, {"scatter", "g"}},
    {"labels of another function", foreign_labels, CAVS_EPROGRAM, {"labels", "g"}},
    {"parameter of another model", foreign_param, CAVS_ESHAPE, {"foreign", "another model"}},
    {"matrix of another model", foreign_matrix, CAVS_ESHAPE, {"strange", "another model"}},
    {"table of another model", foreign_table, CAVS_EPROGRAM, {"foreign", "another model"}},
    {"ids used as a row", ids_as_rows, CAVS_EPROGRAM, {"tanh", "ids"}},
    {"ids added", ids_added, CAVS_EPROGRAM, {"add", "ids"}},
    {"ids pushed", ids_pushed, CAVS_EPROGRAM, {"push", "ids"}},
    {"rows used as ids", rows_as_ids, CAVS_EPROGRAM, {"lookup", "37"}},
    {"rows used as labels", rows_as_labels, CAVS_EPROGRAM, {"softmax_cross_entropy", "37"}},
    {"rows used as labels of a metric", rows_as_labels_of_metric, CAVS_EPROGRAM, {"correct", "37"}},
    {"rows used to pick", rows_to_pick_by, CAVS_EPROGRAM, {"pick", "37"}},
    {"ids in a softmax", ids_in_softmax, CAVS_EPROGRAM, {"softmax", "ids"}},
    {"gain of another width", gain_of_other_width, CAVS_ESHAPE, {"layer_norm", "row", "59", "37"}},
    {"bias of another width", bias_of_other_width, CAVS_ESHAPE, {"layer_norm", "row", "59", "37"}},
    {"dropout of everything", dropout_of_everything, CAVS_EINVAL, {"dropout", "1"}},
    {"Huber's error without a limit", huber_without_limit, CAVS_EINVAL, {"huber_error", "0"}},
    {"hinge without a margin", hinge_without_margin, CAVS_EINVAL, {"hinge", "-1"}},
    {"rows used to count", rows_as_where, CAVS_EPROGRAM, {"loss", "ids"}},
    {"ids input pulled as rows", input_of_two_kinds, CAVS_ESHAPE, {"ids", "37"}},
    {"rows input pulled as ids", input_of_two_kinds_again, CAVS_ESHAPE, {"x", "37"}},
    {"channel that nobody pushes", unknown_channel, CAVS_EPROGRAM, {"mystery", "early"}},
    {"channel of a later stage", channel_of_later_stage, CAVS_EPROGRAM, {"pull_from", "late"}},
    {"channel of the same stage", channel_of_same_stage, CAVS_EPROGRAM, {"pull_from", "stage s"}},
    {"channel of a stage not stood over, without index",
     channel_without_index,
     CAVS_EPROGRAM,
     {"pull_from", "early"}},
    {"channel of no stage", channel_of_no_stage, CAVS_EINVAL, {"pull_from"}},
    {"matmul with no parameter", null_matrix, CAVS_EINVAL, {"matmul"}},
    {"lookup in no parameter", null_table, CAVS_EINVAL, {"lookup"}},
    {"affine with no bias", null_bias, CAVS_EINVAL, {"affine"}},
    {"use of no parameter", null_use, CAVS_EINVAL, {"use"}},
};

enum { MISUSES = sizeof misuses / sizeof *misuses };

static void check_says(const struct misuse *w, const struct scene *a)
{
    char where[64];
    snprintf(where, sizeof where, "test_symbols.c:%d:", a->line);
    if (a->line && !strstr(cavs_error_message(), where))
        fail_msg("the message \"%s\" does not say \"%s\"", cavs_error_message(), where);
    for (int i = 0; i < 4 && w->says[i]; i++) {
        if (!strstr(cavs_error_message(), w->says[i]))
            fail_msg("the message \"%s\" does not say \"%s\"", cavs_error_message(), w->says[i]);
    }
}

static void is_reported(void **state)
{
    const struct misuse *w = *state;
    struct scene a;
    scene_open(&a);
    w->make(&a);
    if (a.line)
        cavs_gather(a.f, -77); /* a later mistake, not to be reported */
    check_refused(cavs_function_finish(a.f), w->code, "s.f");
    check_says(w, &a);
    check_refused(cavs_model_finish(a.m), w->code, "s.f");
    check_says(w, &a);
    check_refused(cavs_model_finish(a.m), w->code, "s.f");
    scene_close(&a);
}

static const char *name(int i)
{
    return misuses[i].name;
}

static void *state(int i)
{
    return (void *)&misuses[i];
}

int main(void)
{
    struct CMUnitTest *tests = trial_tests(MISUSES, name, is_reported, state);
    int failed = _cmocka_run_group_tests("symbols", tests, MISUSES, NULL, NULL);
    free(tests);
    return failed;
}
