/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_declare.c - models, stages and parameters as such: their misuse, their phases, and NULL
 * wherever it may come from. (Operators: test_symbols.c.)
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trial.h"

static struct cavs_model *new_model(void)
{
    struct cavs_model *m = NULL;
    check_ok(cavs_model_create(&m));
    return m;
}

/* A stage with one sound function. */
static struct cavs_stage *sound_stage(struct cavs_model *m, const char *name)
{
    struct cavs_stage *s = cavs_stage_create(m, name, 0);
    struct cavs_function *f = cavs_function_create(s, "f");
    cavs_push(f, "y", cavs_tanh(cavs_pull(f, "x", 3)));
    return s;
}

/* The model cannot be finished, now or later. */
static void finish_refused(struct cavs_model *m, int code, const char *says)
{
    check_refused(cavs_model_finish(m), code, says);
    check_refused(cavs_model_finish(m), code, says);
    cavs_model_destroy(m);
}

static void parameter_without_rows(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_null(cavs_model_param(m, "flatland", 0, 7, CAVS_CONSTANT(0)));
    finish_refused(m, CAVS_ESHAPE, "flatland");
}

static void parameter_with_negative_columns(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_null(cavs_model_param(m, "flatland", 7, -13, CAVS_CONSTANT(0)));
    finish_refused(m, CAVS_ESHAPE, "-13");
}

/* Whether there is memory for it is a session's question. */
static void parameter_of_any_size(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    struct cavs_param *p = cavs_model_param(m, "universe", INT_MAX, INT_MAX, CAVS_CONSTANT(0));
    assert_non_null(p);
    check_ok(cavs_model_finish(m));
    assert_int_equal(cavs_param_rows(p), INT_MAX);
    assert_int_equal(cavs_param_cols(p), INT_MAX);
    cavs_model_destroy(m);
}

static void parameter_named_twice(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_non_null(cavs_model_param(m, "twin", 2, 3, CAVS_CONSTANT(0)));
    assert_null(cavs_model_param(m, "twin", 2, 3, CAVS_CONSTANT(0)));
    finish_refused(m, CAVS_EINVAL, "twin");
}

static void parameter_without_name(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_null(cavs_model_param(m, NULL, 2, 3, CAVS_CONSTANT(0)));
    finish_refused(m, CAVS_EINVAL, "name");
}

static void parameter_name_that_is_not_utf8(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_null(cavs_model_param(m, "W\xff", 2, 2, CAVS_CONSTANT(0)));
    finish_refused(m, CAVS_EINVAL, "UTF-8");
}

static void parameter_that_cannot_start(void **state)
{
    static const struct cavs_init wrong[] = {
        {(enum cavs_init_kind)3, 0, 1},   {(enum cavs_init_kind) - 1, 0, 1},
        {CAVS_INIT_CONSTANT, NAN, 0},     {CAVS_INIT_UNIFORM, NAN, 1},
        {CAVS_INIT_UNIFORM, 0, NAN},      {CAVS_INIT_UNIFORM, -INFINITY, 0},
        {CAVS_INIT_UNIFORM, 0.5f, 0.25f}, {CAVS_INIT_UNIFORM, -FLT_MAX, FLT_MAX},
        {CAVS_INIT_NORMAL, NAN, 1},       {CAVS_INIT_NORMAL, 0, INFINITY},
        {CAVS_INIT_NORMAL, 0, -1}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct cavs_model *m = new_model();
        sound_stage(m, "s");
        assert_null(cavs_model_param(m, "fresh", 2, 2, wrong[i]));
        finish_refused(m, CAVS_EINVAL, "fresh");
    }
}

static void parameter_that_starts_as_one_number(void **state)
{
    static const struct cavs_init right[] = {
        {CAVS_INIT_CONSTANT, -INFINITY, NAN}, {CAVS_INIT_UNIFORM, 2, 2}, {CAVS_INIT_NORMAL, 2, 0}};
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_non_null(cavs_model_param(m, "a", 2, 2, right[0]));
    assert_non_null(cavs_model_param(m, "b", 2, 2, right[1]));
    assert_non_null(cavs_model_param(m, "c", 2, 2, right[2]));
    check_ok(cavs_model_finish(m));
    cavs_model_destroy(m);
}

static void model_without_stage(void **state)
{
    (void)state;
    finish_refused(new_model(), CAVS_EPROGRAM, "stage");
}

static void stage_without_function(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    cavs_stage_create(m, "desert", 3);
    finish_refused(m, CAVS_EPROGRAM, "desert");
}

static void stage_of_negative_width(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_null(cavs_stage_create(m, "antistage", -1));
    finish_refused(m, CAVS_EINVAL, "antistage");
}

static void stage_without_name(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_null(cavs_stage_create(m, NULL, 3));
    finish_refused(m, CAVS_EINVAL, "a stage needs a name");
}

static void stages_of_one_name(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    assert_null(cavs_stage_over(m, "twin", sound_stage(m, "twin"), CAVS_ROOTS));
    assert_null(cavs_stage_create(m, "twin", 3));
    finish_refused(m, CAVS_EINVAL, "twin is declared twice");
}

static void functions_of_one_name(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_stage *s = cavs_stage_create(m, "s", 0);
    assert_non_null(cavs_function_create(s, "twin"));
    assert_null(cavs_function_create(s, "twin"));
    finish_refused(m, CAVS_EINVAL, "twin is declared twice");
}

static void stage_over_unknown_vertices(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    assert_null(cavs_stage_over(m, "floating", sound_stage(m, "s"), (enum cavs_over)2));
    finish_refused(m, CAVS_EINVAL, "floating: there are no vertices of kind 2");
}

static void function_that_is_empty(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 3), "f");
    check_refused(cavs_function_finish(f), CAVS_EPROGRAM, "function s.f: no scatter");
    assert_ptr_equal(strstr(cavs_error_message(), "function"), cavs_error_message());
    cavs_model_destroy(m);
}

static void stage_over_nothing(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_null(cavs_stage_over(m, "floating", NULL, CAVS_ROOTS));
    finish_refused(m, CAVS_EPROGRAM, "floating");
}

static void stage_over_another_model(void **state)
{
    struct cavs_model *m = new_model(), *other = new_model();
    (void)state;
    sound_stage(m, "s");
    assert_null(cavs_stage_over(m, "floating", sound_stage(other, "base"), CAVS_ROOTS));
    finish_refused(m, CAVS_EPROGRAM, "floating");
    cavs_model_destroy(other);
}

static void stage_over_with_two_functions(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_stage *base = sound_stage(m, "base"),
                      *over = cavs_stage_over(m, "over", base, CAVS_ROOTS);
    for (int i = 0; i < 2; i++) {
        struct cavs_function *f = cavs_function_create(over, i ? "g" : "f");
        cavs_push(f, "z", cavs_pull_from(f, base, "y", NULL));
    }
    finish_refused(m, CAVS_EPROGRAM, "over");
}

static void function_without_name(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    assert_null(cavs_function_create(sound_stage(m, "s"), NULL));
    finish_refused(m, CAVS_EINVAL, "name");
}

static void gather_without_state(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "stateless", 0), "f");
    assert_null(cavs_gather(f, 0));
    check_refused(cavs_function_finish(f), CAVS_EPROGRAM, "gather", "stateless", "test_declare.c");
    finish_refused(m, CAVS_EPROGRAM, "stateless");
}

static void scatter_without_state(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "stateless", 0), "f");
    cavs_scatter(f, cavs_pull(f, "x", 19));
    check_refused(cavs_function_finish(f), CAVS_ESHAPE, "scatter", "stateless", "19",
                  "test_declare.c");
    cavs_model_destroy(m);
}

static void index_naming_vertices_of_two_stages(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_stage *a = sound_stage(m, "a"), *b = sound_stage(m, "b"),
                      *c = cavs_stage_create(m, "c", 0);
    struct cavs_function *f = cavs_function_create(c, "f");
    assert_non_null(cavs_pull_from(f, a, "y", "which"));
    assert_null(cavs_pull_from(f, b, "y", "which"));
    check_refused(cavs_function_finish(f), CAVS_EPROGRAM, "which", "a", "b");
    cavs_model_destroy(m);
}

/* ---- phases ---- */

static void symbol_after_function_finish(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *x = cavs_pull(f, "x", 3);
    cavs_push(f, "y", x);
    check_ok(cavs_function_finish(f));
    check_ok(cavs_function_finish(f));
    assert_null(cavs_tanh(x));
    finish_refused(m, CAVS_ESTATE, "tanh");
}

static void everything_after_model_finish(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_stage *s = sound_stage(m, "s");
    struct cavs_param *p = cavs_model_param(m, "p", 1, 3, CAVS_CONSTANT(0));
    struct cavs_function *f = s->functions[0];
    check_ok(cavs_model_finish(m));
    check_ok(cavs_model_finish(m));
    int symbols = f->nsymbols;
    assert_null(cavs_stage_create(m, "late", 3));
    assert_null(cavs_stage_over(m, "late", s, CAVS_ROOTS));
    assert_null(cavs_function_create(s, "late"));
    assert_null(cavs_model_param(m, "late", 1, 1, CAVS_CONSTANT(0)));
    assert_null(cavs_pull(f, "late", 3));
    assert_null(cavs_pull_ids(f, "late"));
    assert_null(cavs_use(f, p));
    cavs_push(f, "late", f->symbols[0]);
    cavs_param_freeze(p);
    assert_int_equal(f->nsymbols, symbols);
    assert_int_equal(s->ninputs, 1);
    assert_int_equal(s->nchannels, 1);
    cavs_model_destroy(m);
}

/* ---- NULL ---- */

static void null_is_passed_on(void **state)
{
    struct cavs_symbol *part[3] = {(void *)part, (void *)part, (void *)part},
                       *none[2] = {NULL, NULL};
    (void)state;
    assert_null(cavs_add(NULL, NULL));
    assert_null(cavs_tanh(NULL));
    assert_null(cavs_scale(NULL, 2));
    assert_null(cavs_matmul(NULL, NULL));
    assert_null(cavs_affine(NULL, NULL, NULL));
    assert_null(cavs_lookup(NULL, NULL));
    assert_null(cavs_concat(2, none));
    assert_null(cavs_concat(2, NULL));
    assert_null(cavs_slice(NULL, 0, 1));
    assert_null(cavs_sum(NULL));
    assert_null(cavs_softmax_cross_entropy(NULL, NULL));
    assert_null(cavs_squared_error(NULL, NULL));
    assert_null(cavs_correct(NULL, NULL));
    cavs_split(NULL, 3, part);
    for (int i = 0; i < 3; i++)
        assert_null(part[i]);
    assert_int_equal(cavs_symbol_width(NULL), 0);
}

static void null_function_is_passed_on(void **state)
{
    (void)state;
    assert_null(cavs_pull(NULL, "x", 3));
    assert_null(cavs_pull_ids(NULL, "x"));
    assert_null(cavs_pull_from(NULL, NULL, "x", NULL));
    assert_null(cavs_use(NULL, NULL));
    assert_null(cavs_constant(NULL, 1, 1));
    assert_null(cavs_gather(NULL, 0));
    cavs_scatter(NULL, NULL);
    cavs_push(NULL, "x", NULL);
    cavs_loss(NULL, "x", NULL, NULL);
    assert_null(cavs_function_create(NULL, "f"));
    assert_null(cavs_stage_create(NULL, "s", 1));
    assert_null(cavs_stage_over(NULL, "s", NULL, CAVS_ROOTS));
    assert_null(cavs_model_param(NULL, "p", 1, 1, CAVS_CONSTANT(0)));
    assert_null(cavs_model_find_param(NULL, "p"));
    cavs_param_freeze(NULL);
    assert_true(cavs_function_finish(NULL) < 0);
    assert_true(cavs_function_number(NULL) < 0);
    assert_true(cavs_model_finish(NULL) < 0);
    cavs_model_destroy(NULL);
    cavs_data_destroy(NULL);
    cavs_session_destroy(NULL);
    cavs_runtime_destroy(NULL);
}

/* One wrong matmul makes a NULL that goes through everything behind it; the matmul is what is
 * reported. */
static void first_mistake_is_reported_through_nulls(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_param *w = cavs_model_param(m, "W", 5, 4, CAVS_CONSTANT(0));
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 4), "f");
    struct cavs_symbol *y = cavs_matmul(cavs_pull(f, "x", 3), w), *both[2] = {y, cavs_gather(f, 0)};
    assert_null(y);
    struct cavs_symbol *z = cavs_slice(cavs_concat(2, both), 0, 4);
    cavs_scatter(f, cavs_tanh(cavs_add(z, cavs_gather(f, 1))));
    cavs_push(f, "y", y);
    cavs_loss(f, "loss", cavs_sum(z), NULL);
    check_refused(cavs_function_finish(f), CAVS_ESHAPE, "matmul", "W", "5 x 4");
    finish_refused(m, CAVS_ESHAPE, "matmul");
}

/* ---- errors and questions ---- */

static void codes_have_texts(void **state)
{
    (void)state;
    for (int code = CAVS_ENUMERIC; code <= CAVS_OK; code++) {
        assert_true(strlen(cavs_strerror(code)) > 0);
        for (int other = CAVS_ENUMERIC; other < code; other++)
            assert_string_not_equal(cavs_strerror(code), cavs_strerror(other));
    }
    assert_non_null(cavs_strerror(12345));
    assert_true(strlen(cavs_version()) > 0);
}

static void text_of_a_code_is_not_another_failures(void **state)
{
    (void)state;
    assert_true(cavs_runtime_create(NULL, NULL) == CAVS_EINVAL);
    assert_string_equal(cavs_error_text(CAVS_EINVAL), cavs_error_message());
    assert_string_equal(cavs_error_text(CAVS_ENOMEM), cavs_strerror(CAVS_ENOMEM));
}

static void model_answers_about_its_parameters(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    sound_stage(m, "s");
    struct cavs_param *a = cavs_model_param(m, "a", 2, 3, CAVS_NORMAL(0, 1));
    struct cavs_param *b = cavs_model_param(m, "b", 1, 4, cavs_init_glorot(1, 4));
    assert_int_equal(cavs_model_param_count(m), 2);
    assert_ptr_equal(cavs_model_param_at(m, 0), a);
    assert_ptr_equal(cavs_model_param_at(m, 1), b);
    assert_null(cavs_model_param_at(m, 2));
    assert_null(cavs_model_param_at(m, -1));
    assert_ptr_equal(cavs_model_find_param(m, "b"), b);
    assert_null(cavs_model_find_param(m, "c"));
    assert_null(cavs_model_find_param(m, NULL));
    assert_string_equal(cavs_param_name(a), "a");
    assert_int_equal(cavs_param_rows(a), 2);
    assert_int_equal(cavs_param_cols(a), 3);
    cavs_model_destroy(m);
}

static void symbols_know_their_width(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 4), "f");
    struct cavs_symbol *x = cavs_pull(f, "x", 6), *half[2], *one = cavs_sum(x);
    cavs_split(x, 2, half);
    assert_int_equal(cavs_symbol_width(x), 6);
    assert_int_equal(cavs_symbol_width(cavs_gather(f, 2)), 4);
    assert_int_equal(cavs_symbol_width(half[1]), 3);
    assert_int_equal(cavs_symbol_width(one), 1);
    assert_int_equal(cavs_symbol_width(cavs_mul(one, x)), 6);
    assert_int_equal(cavs_symbol_width(cavs_mul(x, one)), 6);
    assert_int_equal(cavs_symbol_width(cavs_concat(2, ((struct cavs_symbol *[]){x, one}))), 7);
    assert_int_equal(cavs_symbol_width(cavs_pull_ids(f, "i")), 0);
    cavs_model_destroy(m);
}

/* 1 / 0 is not 1 / -0. */
static void constants_are_the_same_if_their_bits_are(void **state)
{
    struct cavs_model *m = new_model();
    (void)state;
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 4), "f");
    assert_ptr_equal(cavs_constant(f, 1, 0.0f), cavs_constant(f, 1, 0.0f));
    assert_ptr_equal(cavs_constant(f, 1, NAN), cavs_constant(f, 1, NAN));
    assert_ptr_not_equal(cavs_constant(f, 1, 0.0f), cavs_constant(f, 1, -0.0f));
    assert_ptr_not_equal(cavs_constant(f, 1, 0.0f), cavs_constant(f, 2, 0.0f));
    cavs_model_destroy(m);
}

/* What a macro of the header makes is what its name makes: equal symbols are one. */
static void check_named(struct cavs_symbol *by_macro, struct cavs_symbol *by_name, const char *name)
{
    if (!by_macro || by_macro != by_name)
        fail_msg("cavs_%s is not the operator %s", name, name);
}

#define CHECK_1(name)         check_named(cavs_##name(x), cavs_apply1(#name, x, 0), #name)
#define CHECK_1_WITH(name, s) check_named(cavs_##name(x, s), cavs_apply1(#name, x, s), #name)
#define CHECK_2(name)         check_named(cavs_##name(x, y), cavs_apply2(#name, x, y), #name)

static void operators_have_macros_of_their_names(void **state)
{
    struct cavs_model *m = new_model();
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *x = cavs_pull(f, "x", 3), *y = cavs_pull(f, "y", 3);

    (void)state;
    CHECK_2(add);
    CHECK_2(sub);
    CHECK_2(mul);
    CHECK_2(div);
    CHECK_2(max);
    CHECK_2(min);
    CHECK_1(neg);
    CHECK_1(sigmoid);
    CHECK_1(tanh);
    CHECK_1(relu);
    CHECK_1(exp);
    CHECK_1(log);
    CHECK_1(square);
    CHECK_1(abs);
    CHECK_1(sqrt);
    CHECK_1(softplus);
    CHECK_1(silu);
    CHECK_1(gelu);
    CHECK_1(stop_gradient);
    CHECK_1_WITH(scale, 2);
    CHECK_1_WITH(shift, 2);
    CHECK_1_WITH(clip, 2);
    CHECK_1_WITH(leaky_relu, 2);
    CHECK_1_WITH(elu, 2);
    cavs_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameter_without_rows),
        cmocka_unit_test(parameter_with_negative_columns),
        cmocka_unit_test(parameter_of_any_size),
        cmocka_unit_test(parameter_named_twice),
        cmocka_unit_test(parameter_without_name),
        cmocka_unit_test(parameter_name_that_is_not_utf8),
        cmocka_unit_test(parameter_that_cannot_start),
        cmocka_unit_test(parameter_that_starts_as_one_number),
        cmocka_unit_test(model_without_stage),
        cmocka_unit_test(stage_without_function),
        cmocka_unit_test(stage_of_negative_width),
        cmocka_unit_test(stage_without_name),
        cmocka_unit_test(stages_of_one_name),
        cmocka_unit_test(functions_of_one_name),
        cmocka_unit_test(stage_over_unknown_vertices),
        cmocka_unit_test(function_that_is_empty),
        cmocka_unit_test(stage_over_nothing),
        cmocka_unit_test(stage_over_another_model),
        cmocka_unit_test(stage_over_with_two_functions),
        cmocka_unit_test(function_without_name),
        cmocka_unit_test(gather_without_state),
        cmocka_unit_test(scatter_without_state),
        cmocka_unit_test(index_naming_vertices_of_two_stages),
        cmocka_unit_test(symbol_after_function_finish),
        cmocka_unit_test(everything_after_model_finish),
        cmocka_unit_test(null_is_passed_on),
        cmocka_unit_test(null_function_is_passed_on),
        cmocka_unit_test(first_mistake_is_reported_through_nulls),
        cmocka_unit_test(codes_have_texts),
        cmocka_unit_test(text_of_a_code_is_not_another_failures),
        cmocka_unit_test(model_answers_about_its_parameters),
        cmocka_unit_test(symbols_know_their_width),
        cmocka_unit_test(operators_have_macros_of_their_names),
        cmocka_unit_test(constants_are_the_same_if_their_bits_are),
    };
    return cmocka_run_group_tests_name("declare", tests, NULL, NULL);
}
