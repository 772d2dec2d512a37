/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gradients.c - every operator's gradient against central differences of the library's own
 * loss, and both against the oracle.
 *
 * Each is a probe (tests/probes.h) with operands in a range that is safe for it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "codelets/groups/elementwise.h"
#include "tests/random.h"
#include "tests/probes.h"

/* Where an operator may be looked at: steps of 0.1 must not cross a corner or come near a pole. */
enum range { ANYWHERE, POSITIVE, NOT_ZERO, NOT_LIMIT, APART };

static const struct {
    const char *op;
    int operand;
    enum range range;
} ranges[] = {
    {"log", 0, POSITIVE},  {"sqrt", 0, POSITIVE},  {"div", 1, POSITIVE},
    {"relu", 0, NOT_ZERO}, {"abs", 0, NOT_ZERO},   {"leaky_relu", 0, NOT_ZERO},
    {"elu", 0, NOT_ZERO},  {"clip", 0, NOT_LIMIT}, {"huber", 0, NOT_LIMIT},
    {"max", 0, APART},     {"max", 1, APART},      {"min", 0, APART},
    {"min", 1, APART},
};

static double safe_value(enum range range, int operand, uint64_t *seed)
{
    double sign = random_int(seed, 0, 1) ? 1 : -1;
    switch (range) {
    case POSITIVE: return random_double(seed, 0.6, 1.2);
    case NOT_ZERO: return sign * random_double(seed, 0.3, 1.2);
    case NOT_LIMIT:
        return sign * (random_int(seed, 0, 1) ? random_double(seed, 0, 0.65)
                                              : random_double(seed, 0.95, 1.2));
    case APART: /* the second operand lies half-way between what the first may be */
        return 0.5 * random_int(seed, -2, 2) + 0.25 * operand + random_double(seed, 0, 0.1);
    default: return random_double(seed, -1.2, 1.2);
    }
}

static void safe_values(const char *op, int operand, float *x, int n, uint64_t *seed)
{
    enum range range = ANYWHERE;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (!strcmp(op, ranges[i].op) && ranges[i].operand == operand)
            range = ranges[i].range;
    }
    for (int i = 0; i < n; i++)
        x[i] = (float)safe_value(range, operand, seed);
}

/* Every vertex has its own row of the operands; the last one does not count. */
static void own_row_each(struct sample *s, int number)
{
    int *vertex = sample_ids(s, 0, "vertex"), *counted = sample_ids(s, 0, "counted");
    (void)number;
    for (int v = 0; v < PROBE_VERTICES; v++) {
        vertex[v] = v;
        counted[v] = v < PROBE_VERTICES - 1 ? 0 : -1;
    }
}

static double loss(struct trial *t, struct cavs_session *s)
{
    double sum, count;
    check_ok(cavs_session_reset_metrics(s));
    check_ok(cavs_session_evaluate(s, t->data, (int[]){0}, 1));
    check_ok(cavs_session_metric(s, "loss", &sum, &count));
    assert_int_equal(count, PROBE_VERTICES - 1);
    return sum;
}

/* (f(x + e) - f(x - e)) / 2e, once more with half the step, and extrapolated: the error is of
 * order e^4. */
static double difference(struct trial *t, struct cavs_session *s, const struct cavs_param *p,
                         float *values, int i)
{
    double slope[2], was = values[i];
    for (int half = 0; half < 2; half++) {
        float up = (float)(was + 0.1 / (1 + half)), down = (float)(was - 0.1 / (1 + half));
        values[i] = up;
        check_ok(cavs_session_set_param(s, p, values));
        slope[half] = loss(t, s);
        values[i] = down;
        check_ok(cavs_session_set_param(s, p, values));
        slope[half] = (slope[half] - loss(t, s)) / ((double)up - (double)down);
    }
    values[i] = (float)was;
    check_ok(cavs_session_set_param(s, p, values));
    return (4 * slope[1] - slope[0]) / 3;
}

static void check_param(struct trial *t, struct cavs_session *s, const struct cavs_param *p)
{
    int n = cavs_param_rows(p) * cavs_param_cols(p);
    float *values = calloc((size_t)n, sizeof *values),
          *gradient = calloc((size_t)n, sizeof *gradient);
    assert_true(values && gradient);
    check_ok(cavs_session_get_param(s, p, values));
    check_ok(cavs_session_gradient(s, t->data, (int[]){0}, 1));
    check_ok(cavs_session_get_gradient(s, p, gradient));
    for (int i = 0; i < n; i++) {
        double want = difference(t, s, p, values, i);
        if (!(fabs(gradient[i] - want) <= 1e-3 * (0.3 + fabs(want))))
            fail_msg("gradient of %s[%d]: got %.7g, central difference %.7g", cavs_param_name(p), i,
                     gradient[i], want);
    }
    free(values);
    free(gradient);
}

static void set_operand(struct trial *t, struct cavs_session *s, const char *name, const char *op,
                        int number, uint64_t *seed)
{
    struct cavs_param *p = cavs_model_find_param(t->model, name);
    float values[PROBE_VERTICES * PROBE_WIDTH];
    if (!p)
        return;
    safe_values(op, number, values, PROBE_VERTICES * cavs_param_cols(p), seed);
    check_ok(cavs_session_set_param(s, p, values));
}

static void is_the_slope_of_the_loss(void **state)
{
    const struct probe *p = *state;
    const char *op = p->op >= 0 ? cavs__ew_name(p->op) : "structural";
    struct cavs_session_options options = cavs_session_defaults();
    const char *text = "flat:7";
    struct trial t;
    uint64_t seed = 11;
    trial_compile(getenv("CAVS_TEST_LONG") != NULL);
    trial_open(&t, probe_model(p), &text, 1, own_row_each);
    options.shards = 1;
    struct cavs_session *s = trial_session(&t, &options);
    if (starpu_cpu_worker_get_count() == 0 && strcmp(p->name, "tied") == 0) {
        check_refused(cavs_session_gradient(s, t.data, (int[]){0}, 1), CAVS_ERUNTIME,
                      "both looked up and multiplied", "there is no CPU worker");
        cavs_session_destroy(s);
        trial_close(&t);
        return;
    }
    set_operand(&t, s, "a", op, 0, &seed);
    set_operand(&t, s, "b", op, 1, &seed);
    /* one that stops gradients has a slope all the same: the oracle alone knows */
    for (int i = 0; i < cavs_model_param_count(t.model) && (p->op < 0 || cavs__ew_passes(p->op));
         i++)
        check_param(&t, s, cavs_model_param_at(t.model, i));
    trial_check_gradients(&t, s, (int[]){0}, 1);
    cavs_session_destroy(s);
    trial_close(&t);
}

int main(void)
{
    const struct probe *list;
    int n = probe_list(&list), failed;
    struct CMUnitTest *tests = calloc((size_t)n, sizeof *tests);
    if (!tests)
        return 99;
    for (int i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){.name = list[i].name,
                                       .test_func = is_the_slope_of_the_loss,
                                       .initial_state = (void *)&list[i]};
    failed = _cmocka_run_group_tests("gradients", tests, (size_t)n, trial_runtime_up,
                                     trial_runtime_down);
    free(tests);
    return failed;
}
