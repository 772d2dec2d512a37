/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_composites.c - operators that the library makes of others, against their formulas in double.
 *
 * The oracle evaluates what they are made of, so it would not notice if they were made of the wrong
 * things.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trial.h"

enum { WIDTH = 5 };

/* What there is at one vertex. */
struct vertex {
    const float *a, *b; /* [WIDTH] in [-1, 1) */
    const float *gain, *bias;
    int label; /* a column, or -1 */
    int children;
    const float *edges; /* [children][WIDTH] */
};

struct operands {
    struct cavs_function *f;
    struct cavs_symbol *a, *b, *label, *edge;
    struct cavs_param *gain, *bias;
};

typedef struct cavs_symbol *build(const struct operands *o);
typedef void formula(const struct vertex *v, double *y);

#define COMPOSITE(name, expression)                                \
    static struct cavs_symbol *name##_of(const struct operands *o) \
    {                                                              \
        return expression;                                         \
    }                                                              \
    static void name##_is(const struct vertex *v, double *y)

static double average(const double *x)
{
    double sum = 0;
    for (int i = 0; i < WIDTH; i++)
        sum += x[i];
    return sum / WIDTH;
}

COMPOSITE(mean, cavs_mean(o->a))
{
    *y = (v->a[0] + (double)v->a[1] + v->a[2] + v->a[3] + v->a[4]) / 5;
}

/* (x - E[x]) / sqrt(Var[x] + 1e-5), of numbers that are far from having mean 0 and variance 1 */
static void normalise(const struct vertex *v, double *y)
{
    double x[WIDTH], off[WIDTH], mean;
    for (int i = 0; i < WIDTH; i++)
        x[i] = 3 * (double)v->a[i] + 2;
    mean = average(x);
    for (int i = 0; i < WIDTH; i++)
        off[i] = (x[i] - mean) * (x[i] - mean);
    for (int i = 0; i < WIDTH; i++)
        y[i] = (x[i] - mean) / sqrt(average(off) + 1e-5);
}

COMPOSITE(norm, cavs_layer_norm(cavs_shift(cavs_scale(o->a, 3), 2), NULL, NULL))
{
    normalise(v, y);
}

COMPOSITE(gained_norm, cavs_layer_norm(cavs_shift(cavs_scale(o->a, 3), 2), o->gain, NULL))
{
    normalise(v, y);
    for (int i = 0; i < WIDTH; i++)
        y[i] *= v->gain[i];
}

COMPOSITE(full_norm, cavs_layer_norm(cavs_shift(cavs_scale(o->a, 3), 2), o->gain, o->bias))
{
    normalise(v, y);
    for (int i = 0; i < WIDTH; i++)
        y[i] = y[i] * v->gain[i] + v->bias[i];
}

/* Where all numbers are the same, what is added to the variance keeps the quotient finite. */
COMPOSITE(flat_norm, cavs_layer_norm(cavs_constant(o->f, WIDTH, 0.5f), o->gain, o->bias))
{
    for (int i = 0; i < WIDTH; i++)
        y[i] = v->bias[i];
}

COMPOSITE(squared_error, cavs_squared_error(o->a, o->b))
{
    *y = 0;
    for (int i = 0; i < WIDTH; i++)
        *y += ((double)v->a[i] - v->b[i]) * ((double)v->a[i] - v->b[i]) / 2;
}

COMPOSITE(absolute_error, cavs_absolute_error(o->a, o->b))
{
    *y = 0;
    for (int i = 0; i < WIDTH; i++)
        *y += fabs((double)v->a[i] - v->b[i]);
}

/* Half the square up to 0.4, a line beyond: differences are on both sides of it. */
COMPOSITE(huber_error, cavs_huber_error(o->a, o->b, 0.4f))
{
    *y = 0;
    for (int i = 0; i < WIDTH; i++) {
        double d = fabs((double)v->a[i] - v->b[i]);
        *y += d <= 0.4 ? d * d / 2 : 0.4 * d - 0.08;
    }
}

/* -t log p - (1 - t) log(1 - p) with p = 1 / (1 + e^-x) and truths between 0 and 1 */
COMPOSITE(binary_cross_entropy,
          cavs_binary_cross_entropy(cavs_scale(o->a, 4), cavs_scale(cavs_shift(o->b, 1), 0.5f)))
{
    *y = 0;
    for (int i = 0; i < WIDTH; i++) {
        double p = 1 / (1 + exp(-4 * (double)v->a[i])), t = ((double)v->b[i] + 1) / 2;
        *y -= t * log(p) + (1 - t) * log(1 - p);
    }
}

/* Of all other columns, by how much they come within 0.7 of the label's; nothing without a
 * label. */
COMPOSITE(hinge, cavs_hinge(o->a, o->label, 0.7f))
{
    *y = 0;
    for (int i = 0; v->label >= 0 && i < WIDTH; i++) {
        if (i != v->label)
            *y += fmax(0, 0.7 + (double)v->a[i] - v->a[v->label]);
    }
}

COMPOSITE(affine, cavs_affine(cavs_concat(2, ((struct cavs_symbol *[]){cavs_sum(o->a), o->a})),
                              cavs_model_find_param(o->f->stage->model, "W"), o->bias))
{
    for (int j = 0; j < WIDTH; j++) { /* W is 0.25 everywhere */
        y[j] = v->bias[j];
        for (int i = 0; i < WIDTH; i++)
            y[j] += 0.5 * (double)v->a[i];
    }
}

COMPOSITE(mean_children, cavs_mean_children(o->edge))
{
    for (int i = 0; i < WIDTH; i++) {
        y[i] = 0;
        for (int e = 0; e < v->children; e++)
            y[i] += (double)v->edges[e * WIDTH + i] / v->children;
    }
}

#define ROW(name, width)                   \
    {                                      \
#name, width, name##_of, name##_is \
    }

static const struct composite {
    const char *name;
    int width;
    build *build;
    formula *formula;
} composites[] = {
    ROW(mean, 1),           ROW(norm, WIDTH),      ROW(gained_norm, WIDTH),
    ROW(full_norm, WIDTH),  ROW(flat_norm, WIDTH), ROW(squared_error, 1),
    ROW(absolute_error, 1), ROW(huber_error, 1),   ROW(binary_cross_entropy, 1),
    ROW(hinge, 1),          ROW(affine, WIDTH),    ROW(mean_children, WIDTH),
};

static struct cavs_model *declare(const struct composite *c)
{
    struct cavs_model *m;
    check_ok(cavs_model_create(&m));
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "stage", 0), "f");
    cavs_model_param(m, "W", 1 + WIDTH, WIDTH, CAVS_UNIFORM(0.25f, 0.25f));
    struct operands o = {.f = f,
                         .a = cavs_pull(f, "a", WIDTH),
                         .b = cavs_pull(f, "b", WIDTH),
                         .label = cavs_pull_ids(f, "label"),
                         .edge = cavs_pull_edge(f, "edge", WIDTH),
                         .gain = cavs_model_param(m, "gain", 1, WIDTH, CAVS_UNIFORM(0.5f, 2)),
                         .bias = cavs_model_param(m, "bias", 1, WIDTH, CAVS_UNIFORM(-1, 1))};
    cavs_push(f, "y", c->build(&o));
    cavs_metric(f, "picked", cavs_pick(o.a, o.label), NULL); /* labels are columns of a */
    check_ok(cavs_model_finish(m));
    return m;
}

static void has_the_value_of_its_formula(void **state)
{
    const struct composite *c = *state;
    static const char *const texts[] = {"dag:30,slots=3", "star:4", "single"};
    const struct cavs_session_options options = cavs_session_defaults();
    float gain[WIDTH], bias[WIDTH];
    struct trial t;
    trial_open(&t, declare(c), texts, 3, NULL);
    struct cavs_session *s = trial_session(&t, &options);
    check_ok(cavs_session_get_param(s, cavs_model_find_param(t.model, "gain"), gain));
    check_ok(cavs_session_get_param(s, cavs_model_find_param(t.model, "bias"), bias));
    for (int i = 0; i < t.nsamples; i++) {
        const struct sample_stage *rows = &t.samples[i]->stages[0];
        const float *a = sample_rows(t.samples[i], 0, "a"), *b = sample_rows(t.samples[i], 0, "b");
        const float *edges = sample_rows(t.samples[i], 0, "edge");
        const int *label = sample_ids(t.samples[i], 0, "label"), *ptr = rows->graph->child_ptr;
        float *got = calloc((size_t)rows->n * WIDTH, sizeof *got);
        double want[WIDTH];
        assert_non_null(got);
        check_ok(cavs_session_output(s, t.data, &i, 1, t.model->stages[0], "y", got));
        for (int v = 0; v < rows->n; v++) {
            struct vertex at = {.a = a + v * WIDTH,
                                .b = b + v * WIDTH,
                                .gain = gain,
                                .bias = bias,
                                .label = label[v],
                                .children = ptr[v + 1] - ptr[v],
                                .edges = edges + ptr[v] * WIDTH};
            c->formula(&at, want);
            check_close(c->name, (size_t)c->width, got + v * c->width, want, 1e-5);
        }
        free(got);
    }
    cavs_session_destroy(s);
    trial_close(&t);
}

static const char *name(int i)
{
    return composites[i].name;
}

static void *state(int i)
{
    return (void *)&composites[i];
}

int main(void)
{
    enum { N = sizeof composites / sizeof *composites };
    struct CMUnitTest *tests = trial_tests(N, name, has_the_value_of_its_formula, state);
    int failed;
    trial_compile(false);
    failed = _cmocka_run_group_tests("composites", tests, N, trial_runtime_up, trial_runtime_down);
    free(tests);
    return failed;
}
