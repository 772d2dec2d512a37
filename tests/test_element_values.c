/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_element_values.c - the functions of ew_math.def at the ends of their domains and between:
 * infinities, NaN, huge and tiny arguments, and the error over the whole range.
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

#include "tests/groups.h"
#include "tests/random.h"

static const char *const mode_name[] = {"compiled", "interpreted"};

/* y[i] = op(x[i]) or, with g, its gradient; all in one row. */
static void apply(const char *name, int which, enum cavs__ew_mode mode, int n, const float *x,
                  const float *g, float s, float *y)
{
    static struct group group;
    struct cavs__ew_program *p;
    struct cavs__view v[3] = {{.p = (float *)x, .ld = n, .cols = n},
                              {.p = (float *)g, .ld = n, .cols = n}};
    int in[2];

    group_start(&group, n);
    in[0] = group_input(&group);
    if (g)
        in[1] = group_input(&group);
    group_output(&group, group_node(&group, cavs__ew_find(name), which, in, s));
    v[g ? 2 : 1] = (struct cavs__view){.p = y, .ld = n, .cols = n};
    p = cavs__ew_program_create(&group.spec, mode);
    assert_non_null(p);
    cavs__ew_run(p, 1, v);
    cavs__ew_program_destroy(p);
}

/* ---- special values ---- */

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double square(double x)
{
    return x * x;
}

static double relu(double x)
{
    return isnan(x) ? x : fmax(x, 0);
}

static double elu(double x)
{
    return x > 0 ? x : 0.5 * expm1(x);
}

static double clip(double x)
{
    return isnan(x) ? x : fmax(fmin(x, 0.5), -0.5);
}

static const struct {
    const char *name;
    double (*of)(double);
} functions[] = {
    {"exp", exp},           {"log", log},   {"tanh", tanh},     {"sigmoid", sigmoid},
    {"softplus", softplus}, {"sqrt", sqrt}, {"abs", fabs},      {"relu", relu},
    {"elu", elu},           {"clip", clip}, {"square", square},
};

static const float special[] = {
    0.0f,    -0.0f,    INFINITY, -INFINITY, NAN,   FLT_MAX, -FLT_MAX, 1e30f, -1e30f,
    FLT_MIN, -FLT_MIN, 1e-42f,   -1e-42f,   88.0f, 88.7f,   89.0f,    90.0f, -87.0f,
    -88.0f,  -89.0f,   -104.0f,  1e5f,      -1e5f, 10.0f,   -10.0f,   9.01f, -9.01f,
    30.1f,   -30.1f,   1.0f,     -1.0f,     0.5f,  1e-7f,
};
enum { SPECIAL = sizeof special / sizeof *special };

/* A result too small to be normal may be flushed to zero. */
static bool is_value(float y, double want)
{
    float rounded = (float)want;

    if (isnan(want))
        return isnan(y);
    if (isinf(rounded))
        return y == rounded;
    return fabs(y - want) <= 1e-5 * fabs(want) + 2e-38;
}

static void check_special(size_t function, enum cavs__ew_mode mode)
{
    float y[SPECIAL];

    apply(functions[function].name, 0, mode, SPECIAL, special, NULL, 0.5f, y);
    for (int i = 0; i < SPECIAL; i++) {
        double want = functions[function].of(special[i]);

        if (!is_value(y[i], want))
            fail_msg("%s %s(%g) = %g, not %g", mode_name[mode], functions[function].name,
                     (double)special[i], (double)y[i], want);
    }
}

static void special_values_give_what_they_should(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        check_special(i, CAVS__EW_AUTO);
        check_special(i, CAVS__EW_INTERPRET);
    }
}

/* A group with an output for every operator, of the inputs a and b. */
static void describe_all(struct group *g)
{
    int in[2];

    group_start(g, 17);
    in[0] = group_input(g);
    in[1] = group_input(g);
    for (int op = 0; op < cavs__ew_count(); op++)
        group_output(g, group_node(g, op, 0, in, 0.5f));
}

static void check_nan(const struct cavs__ew_program *p, float a, float b)
{
    float x[2][17], y[64][17];
    struct cavs__view v[66] = {{.p = x[0], .ld = 17, .cols = 17},
                               {.p = x[1], .ld = 17, .cols = 17}};

    for (int i = 0; i < 17; i++) {
        x[0][i] = a;
        x[1][i] = b;
    }
    for (int op = 0; op < cavs__ew_count(); op++)
        v[2 + op] = (struct cavs__view){.p = y[op], .ld = 17, .cols = 17};
    cavs__ew_run(p, 1, v);
    for (int op = 0; op < cavs__ew_count(); op++)
        for (int i = 0; i < 17; i++)
            if (!isnan(y[op][i]) && (isnan(a) || cavs__ew_arity(op) == 2))
                fail_msg("%s %s(%g, %g) = %g", mode_name[!cavs__ew_program_compiled(p)],
                         cavs__ew_name(op), (double)a, (double)b, (double)y[op][i]);
}

/* A computation in which something went wrong must not look healthy. */
static void nan_propagates_through_all_operators(void **unused)
{
    static struct group g;

    (void)unused;
    describe_all(&g);
    for (int mode = 0; mode < 2; mode++) {
        struct cavs__ew_program *p = cavs__ew_program_create(&g.spec, (enum cavs__ew_mode)mode);

        assert_non_null(p);
        check_nan(p, NAN, 1);
        check_nan(p, -NAN, 1);
        check_nan(p, 1, NAN);
        cavs__ew_program_destroy(p);
    }
}

/* ---- accuracy ---- */

/* Largest relative error at n arguments spread over [lo, hi], in units of 2^-23. */
static double worst_error(size_t function, enum cavs__ew_mode mode, double lo, double hi)
{
    enum { N = 100003 };
    static float x[N], y[N];
    double worst = 0;
    uint64_t state = 5;

    for (int i = 0; i < N; i++)
        x[i] = (float)random_double(&state, lo, hi);
    apply(functions[function].name, 0, mode, N, x, NULL, 0.5f, y);
    for (int i = 0; i < N; i++) {
        double want = functions[function].of(x[i]);

        if (fabs(want) >= FLT_MIN)
            worst = fmax(worst, fabs(y[i] - want) / fabs(want) * 0x1p23);
    }
    return worst;
}

static void check_error(const char *name, double lo, double hi, double limit)
{
    size_t i = 0;

    while (strcmp(functions[i].name, name))
        i++;
    for (int mode = 0; mode < 2; mode++) {
        double worst = worst_error(i, (enum cavs__ew_mode)mode, lo, hi);

        if (worst > limit)
            fail_msg("%s %s on [%g, %g] is wrong by %.2f ulp", mode_name[mode], name, lo, hi,
                     worst);
    }
}

static void errors_stay_within_a_few_ulp(void **unused)
{
    (void)unused;
    check_error("exp", -86, 88.6, 4);
    check_error("log", 1e-30, 3, 4);
    check_error("log", 1e-3, 1e30, 4);
    check_error("log", 0.9, 1.1, 4);
    check_error("tanh", -10, 10, 4);
    check_error("tanh", -0.01, 0.01, 4);
    check_error("sigmoid", -5, 100, 4);
    check_error("sigmoid", -86, 0, 40); /* without fused multiply-add */
    check_error("softplus", -80, 80, 4);
    check_error("elu", -20, 0, 4);
    check_error("elu", -1e-3, 0, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values_give_what_they_should),
        cmocka_unit_test(nan_propagates_through_all_operators),
        cmocka_unit_test(errors_stay_within_a_few_ulp),
    };

    return cmocka_run_group_tests_name("element values", tests, NULL, NULL);
}
