/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_row_kernels.c - kernels that look at a whole row (codelets/kernels/kernel_rows.c and
 * kernel_row_softmax.c): the CPU kernel and the reference against formulas written here, on rows
 * read directly, by index with some missing, and one row for all.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/kernels/kernel.h"
#include "tests/matrix.h"
#include "tests/random.h"

enum { TRIALS = 60, SOURCE_ROWS = 23 };
enum way { DIRECT, REPEATED, INDEXED, WAYS };

static uint64_t state = 1;

/* One call of a kernel: what it reads and what it should give. */
struct call {
    int rows, cols;
    struct matrix source, g; /* g: one number a row */
    int32_t *index, *ids;
    struct cavs__view x;
};

/* Rows of classifiers, and longer than a group of the CPU kernel; every fifth has equal numbers. */
static struct call call_random(int trial)
{
    static const int some[] = {1, 2, 5, 16, 32, 33, 100, 3000};
    struct call c = {.cols = trial < 8 ? some[trial] : random_int(&state, 1, 40)};
    enum way way = (enum way)(trial % WAYS);

    c.rows = c.cols > 99 ? 7 : trial % 7 == 0 ? trial % 2 : random_int(&state, 0, 150);
    c.source = matrix_random(&state, c.rows > SOURCE_ROWS ? c.rows : SOURCE_ROWS, c.cols,
                             random_int(&state, 0, 5));
    for (int i = 0; i < c.source.rows && trial % 5 == 0; i++)
        for (int j = 0; j < c.cols; j++)
            *matrix_at(&c.source, i, j) = (float)random_int(&state, 0, 2);
    c.g = matrix_random(&state, c.rows, 1, 1);
    c.index = calloc((size_t)c.rows + 1, sizeof *c.index);
    c.ids = calloc((size_t)c.rows + 1, sizeof *c.ids);
    assert_true(c.index && c.ids);
    for (int r = 0; r < c.rows; r++) {
        c.index[r] = random_int(&state, -1, SOURCE_ROWS - 1);
        c.ids[r] = random_int(&state, -1, c.cols - 1);
    }
    c.x = (struct cavs__view){.p = c.source.p,
                              .ld = way == REPEATED ? 0 : c.source.ld,
                              .index = way == INDEXED ? c.index : NULL,
                              .cols = c.cols};
    return c;
}

static void call_free(struct call *c)
{
    matrix_free(&c->source);
    matrix_free(&c->g);
    free(c->index);
    free(c->ids);
}

static double x_at(const struct call *c, int r, int j)
{
    ptrdiff_t row = c->x.index ? c->x.index[r] : r;

    return row < 0 ? 0 : c->x.p[row * c->x.ld + j];
}

static double g_at(const struct call *c, int r)
{
    return *matrix_at(&c->g, r, 0);
}

static struct cavs__view view_of(const struct matrix *m)
{
    return (struct cavs__view){.p = m->p, .ld = m->ld, .cols = m->cols};
}

static struct cavs__view view_of_ids(const struct call *c)
{
    return (struct cavs__view){.index = c->ids, .cols = 1};
}

/* ---- what each kernel should give ------------------------------------------------------------ */

static int largest(const struct call *c, int r)
{
    int at = 0;

    for (int j = c->cols - 1; j >= 0; j--)
        if (x_at(c, r, j) >= x_at(c, r, at))
            at = j;
    return at;
}

static double want_row_max(const struct call *c, int r, int j)
{
    (void)j;
    return x_at(c, r, largest(c, r));
}

static double want_row_max_grad(const struct call *c, int r, int j)
{
    return j == largest(c, r) ? g_at(c, r) : 0;
}

static double want_softmax(const struct call *c, int r, int j)
{
    double sum = 0;

    for (int k = 0; k < c->cols; k++)
        sum += exp(x_at(c, r, k) - x_at(c, r, j));
    return 1 / sum;
}

static double want_log_softmax(const struct call *c, int r, int j)
{
    return log(want_softmax(c, r, j));
}

static double want_pick(const struct call *c, int r, int j)
{
    (void)j;
    return c->ids[r] < 0 ? 0 : x_at(c, r, c->ids[r]);
}

static double want_pick_grad(const struct call *c, int r, int j)
{
    return j == c->ids[r] ? g_at(c, r) : 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

enum { X = 1, IDS = 2, G = 4, ROW = 8 /* the result is a row */ };

static const struct shape {
    const char *kernel;
    unsigned operands; /* in the order above */
    double (*want)(const struct call *c, int r, int j);
} shapes[] = {
    {"row_max", X, want_row_max},       {"row_max_grad", X | G | ROW, want_row_max_grad},
    {"softmax", X | ROW, want_softmax}, {"log_softmax", X | ROW, want_log_softmax},
    {"pick", X | IDS, want_pick},       {"pick_grad", IDS | G | ROW, want_pick_grad},
};

static void check_call(const struct shape *s, const struct call *c, int pad, bool reference)
{
    const struct cavs__kernel *k = cavs__kernel_find(s->kernel);
    struct matrix y = matrix_unset(c->rows, s->operands & ROW ? c->cols : 1, pad);
    struct cavs__view v[4];
    int n = 0;

    assert_non_null(k);
    if (s->operands & X)
        v[n++] = c->x;
    if (s->operands & IDS)
        v[n++] = view_of_ids(c);
    if (s->operands & G)
        v[n++] = view_of(&c->g);
    v[n++] = view_of(&y);
    assert_int_equal(k->nviews, n);
    (reference ? k->reference : k->cpu)(&(struct cavs__call){.kernel = k}, c->rows, v, 0);
    for (int r = 0; r < c->rows; r++)
        for (int j = 0; j < y.cols; j++)
            number_near(*matrix_at(&y, r, j), s->want(c, r, j), 3e-6, s->kernel);
    matrix_check(&y, s->kernel);
    matrix_free(&y);
}

static void gives_what_its_formula_says(void **which)
{
    for (int t = 0; t < TRIALS; t++) {
        struct call c = call_random(t);

        for (int reference = 0; reference < 2; reference++)
            check_call(*which, &c, t % 2, reference);
        call_free(&c);
    }
}

/* ---- against the reference ------------------------------------------------------------------- */

static struct cavs__view view_of_letter(const struct call *c, char letter)
{
    return letter == 'x' ? c->x : letter == 'i' ? view_of_ids(c) : view_of(&c->g);
}

static void check_reference(const struct cavs__kernel *k, const struct call *c, int pad)
{
    const struct cavs__call call = {.kernel = k, .rate = 0.3f, .site = 7};
    int n = (int)strlen(k->operands) - 1, cols = k->operands[n] == 'w' ? c->cols : 1;
    struct matrix got = matrix_unset(c->rows, cols, pad), want = matrix_unset(c->rows, cols, pad);
    struct cavs__view v[6];

    assert_int_equal(k->nviews, n + 1);
    for (int i = 0; i < n; i++)
        v[i] = view_of_letter(c, k->operands[i]);
    v[n] = view_of(&got);
    k->cpu(&call, c->rows, v, 0);
    v[n] = view_of(&want);
    k->reference(&call, c->rows, v, 0);
    matrix_near(&got, &want, 1e-5, k->name);
    matrix_check(&got, k->name);
    matrix_free(&got);
    matrix_free(&want);
}

/* Whatever kernel says what it can be called with. */
static void gives_what_its_reference_gives(void **unused)
{
    int n = 0;

    (void)unused;
    for (int k = 0; k < CAVS__KERNEL_COUNT; k++) {
        for (int t = 0; t < TRIALS && cavs__kernels[k]->operands; t++, n++) {
            struct call c = call_random(t);

            check_reference(cavs__kernels[k], &c, t % 2);
            call_free(&c);
        }
    }
    assert_true(n > 0);
}

/* ---- numbers that are easily lost ------------------------------------------------------------ */

static void run(const char *name, const float *x, int n, float *y, int cols, bool reference)
{
    const struct cavs__kernel *k = cavs__kernel_find(name);
    const struct cavs__view v[] = {{.p = (float *)x, .ld = n, .cols = n},
                                   {.p = y, .ld = cols, .cols = cols}};

    (reference ? k->reference : k->cpu)(&(struct cavs__call){.kernel = k}, 1, v, 0);
}

static void softmax_of_huge_numbers_keeps_its_digits(void **unused)
{
    static const float rows[][3] = {
        {1e30f, -1e30f, 1e30f}, {1e4f, 1e4f - 1, 1e4f}, {-1e38f, -1e38f, -1e38f}};
    const double want[][3] = {{0.5, 0, 0.5},
                              {1 / (2 + exp(-1)), exp(-1) / (2 + exp(-1)), 1 / (2 + exp(-1))},
                              {1 / 3., 1 / 3., 1 / 3.}};

    (void)unused;
    for (int reference = 0; reference < 2; reference++)
        for (int i = 0; i < 3; i++) {
            float y[3], log_y[3];

            run("softmax", rows[i], 3, y, 3, reference);
            run("log_softmax", rows[i], 3, log_y, 3, reference);
            for (int j = 0; j < 3; j++) {
                number_near(y[j], want[i][j], 1e-6, "softmax");
                if (want[i][j] > 0)
                    number_near(log_y[j], log(want[i][j]), 1e-6, "log_softmax");
            }
        }
}

static void nan_in_a_row_is_not_lost(void **unused)
{
    (void)unused;
    for (int reference = 0; reference < 2; reference++)
        for (int at = 0; at < 40; at += 13) {
            float x[40] = {0}, y[40], top;

            x[at] = NAN;
            x[5] = 7;
            run("row_max", x, 40, &top, 1, reference);
            assert_true(isnan(top));
            run("softmax", x, 40, y, 40, reference);
            assert_true(isnan(y[5]));
            run("log_softmax", x, 40, y, 40, reference);
            assert_true(isnan(y[5]));
        }
}

int main(void)
{
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    struct CMUnitTest tests[SHAPES + 3];

    for (int i = 0; i < SHAPES; i++)
        tests[i] = (struct CMUnitTest){.name = shapes[i].kernel,
                                       .test_func = gives_what_its_formula_says,
                                       .initial_state = (void *)&shapes[i]};
    tests[SHAPES] = (struct CMUnitTest)cmocka_unit_test(softmax_of_huge_numbers_keeps_its_digits);
    tests[SHAPES + 1] = (struct CMUnitTest)cmocka_unit_test(nan_in_a_row_is_not_lost);
    tests[SHAPES + 2] = (struct CMUnitTest)cmocka_unit_test(gives_what_its_reference_gives);
    return _cmocka_run_group_tests("row kernels", tests, SHAPES + 3, NULL, NULL);
}
