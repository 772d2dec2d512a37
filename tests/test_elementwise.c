/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_elementwise.c - every operator of elementwise.def, forward and gradient, compiled,
 * interpreted and by the reference, against the oracle's formulas in double.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/groups/elementwise.h"
#include "tests/groups.h"
#include "tests/naive.h"
#include "tests/random.h"
#include "tests/skip.h"

static uint64_t state = 1;

/* ---- the formulas: those of the oracle ---- */

/* Operands to try, and the attribute; -3 to 3 and 0 where nothing is said. */
static const struct range {
    const char *name;
    double lo, hi;
    float s;
} ranges[] = {
    {"div", 0.2, 3, 0},     {"scale", -3, 3, -1.7f}, {"shift", -3, 3, 0.3f},
    {"sqrt", 0.1, 9, 0},    {"exp", -9, 9, 0},       {"log", 0.1, 9, 0},
    {"sigmoid", -9, 9, 0},  {"tanh", -5, 5, 0},      {"leaky_relu", -3, 3, 0.1f},
    {"elu", -3, 3, 0.7f},   {"softplus", -9, 9, 0},  {"clip", -3, 3, 1.5f},
    {"huber", -3, 3, 1.5f},
};

static struct range range_of(int op)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (!strcmp(ranges[i].name, cavs__ew_name(op)))
            return ranges[i];
    return (struct range){cavs__ew_name(op), -3, 3, 0};
}

static double formula(const struct range *f, double a, double b)
{
    struct naive_dual result;

    if (!naive_elementwise(f->name, a, b, f->s, &result))
        fail_msg("tests/naive_math.c has no formula for %s", f->name);
    return result.y;
}

/* Central difference with respect to operand 1 (a) or 2 (b); NaN at a kink. */
static double derivative(const struct range *f, int which, double a, double b)
{
    double h = 1e-5, da = which == 1 ? h : 0, db = which == 2 ? h : 0, at = formula(f, a, b);
    double above = formula(f, a + da, b + db), below = formula(f, a - da, b - db);

    if (!cavs__ew_passes(cavs__ew_find(f->name)))
        return 0; /* a slope that nobody is to know of */
    if (fabs((above - at) - (at - below)) > 1e-2 * h)
        return NAN;
    return (above - below) / (2 * h);
}

/* ---- one operator in one mode ---- */

enum mode { COMPILED, INTERPRETED, REFERENCE, MODES };
static const char *const mode_name[] = {"compiled", "interpreted", "reference"};

static struct cavs__ew_program *make(const struct group *g, enum mode mode)
{
    struct cavs__ew_program *p =
        cavs__ew_program_create(&g->spec, mode == COMPILED ? CAVS__EW_AUTO : CAVS__EW_INTERPRET);

    assert_non_null(p);
    return p;
}

static void run(const struct cavs__ew_program *p, enum mode mode, struct group_data *d)
{
    group_data_unset(d);
    if (mode == REFERENCE)
        cavs__ew_run_reference(p, d->rows, d->views);
    else
        cavs__ew_run(p, d->rows, d->views);
    assert_true(group_data_untouched_outside(d));
}

/* Inputs a, b and g; outputs y and, with which > 0, a gradient. */
static void describe(struct group *g, int op, int which, int width, bool scalar)
{
    int value[128], in[CAVS__EW_MAX_OPERANDS] = {0};
    const struct range range = range_of(op), *f = &range;

    group_start(g, width);
    value['a'] = group_input(g);
    value['b'] = scalar ? group_scalar(g) : group_input(g);
    value['g'] = group_input(g);
    for (int e = 0; e <= which; e += which ? which : 1) {
        const char *letters = cavs__ew_operands(op, e);

        for (int i = 0; letters[i]; i++)
            in[i] = value[(unsigned char)letters[i]];
        value['y'] = group_node(g, op, e, in, f->s);
        group_output(g, value['y']);
    }
}

static bool close_to(double x, double want)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(x) : x == want;
    return fabs(x - want) <= 1e-5 * fabs(want) + 2e-6;
}

static void check_element(const struct group_data *d, int op, int which, enum mode mode, int row,
                          int column)
{
    const struct range range = range_of(op), *f = &range;
    double a = group_data_input(d, 0, row, column), b = group_data_input(d, 1, row, column);
    double y = group_data_output(d, 0, row, column), want = formula(f, a, b);

    if (!close_to(y, want))
        fail_msg("%s %s(%.9g, %.9g) = %.9g, not %.9g, at (%d, %d) of width %d", mode_name[mode],
                 f->name, a, b, y, want, row, column, d->spec->width);
    if (!which)
        return;
    want = derivative(f, which, a, b) * (double)group_data_input(d, 2, row, column);
    y = group_data_output(d, 1, row, column);
    if (!isnan(want) && !close_to(y, want))
        fail_msg("%s gradient %d of %s(%.9g, %.9g) = %.9g, not %.9g, at (%d, %d) of width %d",
                 mode_name[mode], which, f->name, a, b, y, want, row, column, d->spec->width);
}

static void check_program(const struct cavs__ew_program *p, int op, int which, enum mode mode)
{
    static const int rows[] = {0, 1, 2, 7, 33};
    const struct range range = range_of(op), *f = &range;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct group_data d;

        group_data_init(&d, cavs__ew_program_spec(p), rows[i], f->lo, f->hi, &state);
        run(p, mode, &d);
        for (int row = 0; row < d.rows; row++)
            for (int column = 0; column < d.spec->width; column++)
                check_element(&d, op, which, mode, row, column);
        group_data_free(&d);
    }
}

/* All expressions of the table at two widths each. */
static void check_operators(enum mode mode)
{
    static const int widths[] = {1, 3, 16, 17, 64, 300};
    static struct group g;
    enum { N = 2 * 3 };
    struct cavs__ew_program *p[64 * N];
    int n = 0, count = cavs__ew_count();

    assert_true(count <= 64);
    cavs__ew_batch_begin();
    for (int i = 0; i < count * N; i++) {
        int op = i / N, which = i % 3;

        p[i] = NULL;
        if (which > cavs__ew_arity(op))
            continue;
        describe(&g, op, which, widths[n % 6], n % 5 == 0);
        p[i] = make(&g, mode);
        n++;
    }
    cavs__ew_batch_end();
    for (int i = 0; i < count * N; i++) {
        if (p[i] && (mode != COMPILED || cavs__ew_program_compiled(p[i])))
            check_program(p[i], i / N, i % 3, mode);
        cavs__ew_program_destroy(p[i]);
    }
}

static void operators_compute_their_formula(void **unused)
{
    (void)unused;
    check_operators(INTERPRETED);
    check_operators(REFERENCE);
}

static void compiled_operators_compute_their_formula(void **unused)
{
    static struct group g;
    struct cavs__ew_program *p;

    (void)unused;
    describe(&g, 0, 0, 8, false);
    p = make(&g, COMPILED);
    if (!cavs__ew_program_compiled(p)) {
        cavs__ew_program_destroy(p);
        SKIP("not compiled: %s", cavs__ew_fallback_reason());
    }
    cavs__ew_program_destroy(p);
    check_operators(COMPILED);
}

/* ---- the table ---- */

static void expressions_say_what_they_read(void **unused)
{
    (void)unused;
    assert_string_equal(cavs__ew_operands(cavs__ew_find("mul"), 0), "ab");
    assert_string_equal(cavs__ew_operands(cavs__ew_find("mul"), 2), "ag");
    assert_string_equal(cavs__ew_operands(cavs__ew_find("tanh"), 1), "yg");
    assert_string_equal(cavs__ew_operands(cavs__ew_find("add"), 1), "g");
    assert_true(cavs__ew_is_identity(cavs__ew_find("add"), 2));
    assert_false(cavs__ew_is_identity(cavs__ew_find("neg"), 1));
    assert_int_equal(cavs__ew_find("frobnicate"), -1);
}

/* However long: the first letters, those before the last, and one letter more are other names. */
static void operators_are_found_by_their_whole_names(void **unused)
{
    char other[64];

    (void)unused;
    for (int op = 0; op < cavs__ew_count(); op++) {
        const char *name = cavs__ew_name(op);

        assert_int_equal(cavs__ew_find(name), op);
        snprintf(other, sizeof other, "%.*s", (int)strlen(name) - 1, name);
        assert_int_equal(cavs__ew_find(other), -1);
        snprintf(other, sizeof other, "%sx", name);
        assert_int_equal(cavs__ew_find(other), -1);
        snprintf(other, sizeof other, "%.8sx", name);
        assert_int_equal(cavs__ew_find(other), -1);
    }
    assert_int_equal(cavs__ew_find(""), -1);
}

/* These are what an LSTM or a perceptron is made of: their inputs need not be kept for the
 * gradient. */
static void gradients_of_nonlinearities_read_results(void **unused)
{
    static const char *const names[] = {"sigmoid", "tanh", "relu",     "exp",
                                        "sqrt",    "elu",  "softplus", "leaky_relu"};

    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(cavs__ew_operands(cavs__ew_find(names[i]), 1), "yg");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_say_what_they_read),
        cmocka_unit_test(operators_are_found_by_their_whole_names),
        cmocka_unit_test(gradients_of_nonlinearities_read_results),
        cmocka_unit_test(operators_compute_their_formula),
        cmocka_unit_test(compiled_operators_compute_their_formula),
    };

    return cmocka_run_group_tests_name("elementwise", tests, NULL, NULL);
}
