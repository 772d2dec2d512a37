/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_groups.c - fused groups of element-wise operators: compiled, interpreted and by the
 * reference they must agree.
 */
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

static uint64_t state = 3;

/* ---- agreement ---- */

/* Runs one way, and copies the outputs, row after row. */
static void outputs_of(const struct cavs__ew_program *p, bool reference, struct group_data *d,
                       float *to)
{
    group_data_unset(d);
    if (reference)
        cavs__ew_run_reference(p, d->rows, d->views);
    else
        cavs__ew_run(p, d->rows, d->views);
    assert_true(group_data_untouched_outside(d));
    for (int k = 0; k < d->spec->noutputs; k++)
        for (int row = 0; row < d->rows; row++)
            for (int column = 0; column < d->spec->width; column++)
                *to++ = group_data_output(d, k, row, column);
}

static void compare(const char *what, const float *x, const float *want, int n,
                    const struct group_data *d)
{
    for (int i = 0; i < n; i++)
        if (!(fabsf(x[i] - want[i]) <= 1e-5f * (1 + fabsf(want[i]))))
            fail_msg("%s: %.9g, not %.9g: output %d, row %d, column %d of %d x %d", what,
                     (double)x[i], (double)want[i], i / d->rows / d->spec->width,
                     i / d->spec->width % d->rows, i % d->spec->width, d->rows, d->spec->width);
}

static void check_agreement(const struct cavs__ew_program *compiled,
                            const struct cavs__ew_program *interpreted, int rows)
{
    struct group_data d;
    const struct cavs__ew_spec *spec = cavs__ew_program_spec(compiled);
    int n = rows * spec->width * spec->noutputs;
    float *memory = malloc((3 * (size_t)n + 1) * sizeof *memory);

    assert_non_null(memory);
    group_data_init(&d, spec, rows, -2, 2, &state);
    outputs_of(compiled, true, &d, memory);
    outputs_of(compiled, false, &d, memory + n);
    outputs_of(interpreted, false, &d, memory + 2 * n);
    compare(cavs__ew_program_compiled(compiled) ? "compiled" : "fallback", memory + n, memory, n,
            &d);
    compare("interpreted", memory + 2 * n, memory, n, &d);
    group_data_free(&d);
    free(memory);
}

/* ---- random groups ---- */

/* Smooth, and bounded for bounded operands. */
static int random_node(struct group *g, int nvalues, const int *values)
{
    static const char *const names[] = {"sigmoid", "tanh",  "softplus", "gelu",    "neg",
                                        "abs",     "scale", "shift",    "sigmoid", "add",
                                        "sub",     "mul",   "max",      "min"};
    static const char *const grads[] = {"sigmoid", "tanh", "mul", "div"};
    int in[3];

    for (int i = 0; i < 3; i++)
        in[i] = values[random_int(&state, 0, nvalues - 1)];
    if (random_int(&state, 0, 9) == 0)
        return group_constant(g, (float)random_double(&state, -1, 1));
    if (random_int(&state, 0, 4) == 0) {
        in[0] = group_op1(g, "sigmoid", in[0]); /* a divisor */
        in[0] = group_node(g, cavs__ew_find("shift"), 0, in, 0.5f);
        in[0] = group_node(g, cavs__ew_find(grads[random_int(&state, 0, 3)]), 1, in, 0);
        return group_op1(g, "tanh", in[0]);
    }
    in[0] = group_node(g, cavs__ew_find(names[random_int(&state, 0, 13)]), 0, in, 0.75f);
    return random_int(&state, 0, 2) ? in[0] : group_op1(g, "tanh", in[0]);
}

static void random_group(struct group *g)
{
    static const int widths[] = {1, 3, 8, 16, 17, 31, 64, 100, 300, 1100};
    int values[GROUP_MAX], n = 0, nodes = random_int(&state, 1, 20),
                           inputs = random_int(&state, 1, 12);

    group_start(g, widths[random_int(&state, 0, 9)]);
    while (n < inputs)
        values[n++] = random_int(&state, 0, 4) ? group_input(g) : group_scalar(g);
    for (int j = 0; j < nodes; j++) {
        values[n] = random_node(g, n, values);
        n++;
    }
    group_output(g, values[n - 1]);
    for (int k = random_int(&state, 0, 5); k > 0; k--) /* some twice, some inputs */
        group_output(g, values[random_int(&state, 0, n - 1)]);
}

static void random_groups_agree(void **unused)
{
    enum { N = 40 };
    static struct group g[N];
    struct cavs__ew_program *compiled[N], *interpreted[N];

    (void)unused;
    cavs__ew_batch_begin();
    for (int i = 0; i < N; i++) {
        random_group(&g[i]);
        compiled[i] = cavs__ew_program_create(&g[i].spec, CAVS__EW_AUTO);
        interpreted[i] = cavs__ew_program_create(&g[i].spec, CAVS__EW_INTERPRET);
        assert_true(compiled[i] && interpreted[i]);
    }
    cavs__ew_batch_end();
    for (int i = 0; i < N; i++) {
        check_agreement(compiled[i], interpreted[i], 0);
        check_agreement(compiled[i], interpreted[i], 1);
        check_agreement(compiled[i], interpreted[i], random_int(&state, 2, 40));
        cavs__ew_program_destroy(compiled[i]);
        cavs__ew_program_destroy(interpreted[i]);
    }
}

/* More values alive at once than the interpreter's cache-sized strips hold. */
static void wide_groups_agree(void **unused)
{
    static struct group g;
    struct cavs__ew_program *compiled, *interpreted;
    int sum;

    (void)unused;
    group_start(&g, 257);
    for (int i = 0; i < 40; i++)
        group_input(&g);
    for (int i = 0; i < 40; i++)
        group_op1(&g, "tanh", ~i);
    sum = group_constant(&g, 0.125f);
    for (int i = 0; i < 40; i++)
        sum = group_op2(&g, "add", sum, i);
    group_output(&g, sum);
    compiled = cavs__ew_program_create(&g.spec, CAVS__EW_AUTO);
    interpreted = cavs__ew_program_create(&g.spec, CAVS__EW_INTERPRET);
    check_agreement(compiled, interpreted, 9);
    cavs__ew_program_destroy(compiled);
    cavs__ew_program_destroy(interpreted);
}

/* ---- outputs that lie where inputs are ---- */

enum { VALUES = 7, IN_ROWS = 40, MOST_WIDE = 320, NUMBERS = IN_ROWS * VALUES * MOST_WIDE };

/* Of x, y and z: x y, which may lie over y; sigmoid(x y) + z, over x; x less that, which reads x
 * when its place has been taken; and the first one again. */
static void group_in_place(struct group *g, int width, const int *over)
{
    int x, y, z, product, sum;

    group_start(g, width);
    x = group_input(g);
    y = group_input(g);
    z = group_input(g);
    product = group_op2(g, "mul", x, y);
    sum = group_op2(g, "add", group_op1(g, "sigmoid", product), z);
    group_output(g, product);
    group_output(g, sum);
    group_output(g, group_op2(g, "sub", x, sum));
    group_output(g, product);
    g->spec.over = over;
}

/* place[i]: which of a row's values operand i is. */
static void run_at(const struct group *g, enum cavs__ew_mode mode, const int *place, int rows,
                   float *values)
{
    struct cavs__ew_program *p = cavs__ew_program_create(&g->spec, mode);
    int width = g->spec.width;
    struct cavs__view v[VALUES];

    assert_non_null(p);
    for (int i = 0; i < VALUES; i++)
        v[i] = (struct cavs__view){.p = values + (ptrdiff_t)place[i] * width,
                                   .ld = (ptrdiff_t)VALUES * width,
                                   .cols = width};
    cavs__ew_run(p, rows, v);
    cavs__ew_program_destroy(p);
}

static void check_in_place(enum cavs__ew_mode mode, int width, int rows)
{
    static const int over[] = {1, 0, -1, -1}, apart[] = {0, 1, 2, 3, 4, 5, 6},
                     together[] = {0, 1, 2, 1, 0, 5, 6};
    static struct group in_place, separate;
    static float x[NUMBERS], want[NUMBERS];

    group_in_place(&in_place, width, over);
    group_in_place(&separate, width, NULL);
    for (int i = 0; i < rows * VALUES * width; i++)
        x[i] = want[i] = (float)random_double(&state, -2, 2);
    run_at(&separate, mode, apart, rows, want);
    run_at(&in_place, mode, together, rows, x);
    for (int r = 0; r < rows; r++) {
        for (int k = 3; k < VALUES; k++) {
            for (int c = 0; c < width; c++)
                assert_float_equal(x[(r * VALUES + together[k]) * width + c],
                                   want[(r * VALUES + k) * width + c], 1e-5);
        }
    }
}

static void outputs_may_lie_where_inputs_are(void **unused)
{
    static const int widths[] = {16, 48, 64, 320};

    (void)unused;
    for (int i = 0; i < 4; i++) {
        for (int rows = 0; rows <= IN_ROWS; rows += 1 + 13 * (rows > 0)) {
            check_in_place(CAVS__EW_AUTO, widths[i], rows);
            check_in_place(CAVS__EW_INTERPRET, widths[i], rows);
        }
    }
}

/* A group may have no nodes at all: it copies. */
static void inputs_are_copied_to_outputs(void **unused)
{
    static struct group g;
    struct cavs__ew_program *p[2];

    (void)unused;
    group_start(&g, 50);
    group_output(&g, group_input(&g));
    group_output(&g, group_scalar(&g));
    group_output(&g, ~0);
    p[0] = cavs__ew_program_create(&g.spec, CAVS__EW_AUTO);
    p[1] = cavs__ew_program_create(&g.spec, CAVS__EW_INTERPRET);
    for (int rows = 0; rows < 20; rows++)
        check_agreement(p[0], p[1], rows);
    cavs__ew_program_destroy(p[0]);
    cavs__ew_program_destroy(p[1]);
}

/* ---- a real cell ---- */

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void check_lstm(const struct group_data *d, int row, int column)
{
    double x[9], gate[4], want[7];

    for (int i = 0; i < 9; i++)
        x[i] = group_data_input(d, i, row, column);
    for (int i = 0; i < 4; i++)
        want[i] = gate[i] = i < 3 ? sigmoid(x[i] + x[4 + i]) : tanh(x[i] + x[4 + i]);
    want[4] = gate[1] * x[8] + gate[0] * gate[3];
    want[5] = tanh(want[4]);
    want[6] = gate[2] * want[5];
    for (int k = 0; k < 7; k++)
        assert_float_equal(group_data_output(d, k, row, column), want[k], 1e-6);
}

static void check_lstm_grad(const struct group_data *d, int row, int column)
{
    enum { DH, DC, I, F, O, G, TANH_C, CHILD };
    double x[8], dc, want[5];

    for (int i = 0; i < 8; i++)
        x[i] = group_data_input(d, i, row, column);
    dc = x[DC] + x[DH] * x[O] * (1 - x[TANH_C] * x[TANH_C]);
    want[0] = dc * x[G] * x[I] * (1 - x[I]);
    want[1] = dc * x[CHILD] * x[F] * (1 - x[F]);
    want[2] = x[DH] * x[TANH_C] * x[O] * (1 - x[O]);
    want[3] = dc * x[I] * (1 - x[G] * x[G]);
    want[4] = dc * x[F];
    for (int k = 0; k < 5; k++)
        assert_float_equal(group_data_output(d, k, row, column), want[k], 1e-5);
}

static void check_cell(void (*describe)(struct group *, int),
                       void (*check)(const struct group_data *, int, int))
{
    static const int widths[] = {5, 64, 150, 256};
    static struct group g;

    for (int i = 0; i < 8; i++) {
        struct cavs__ew_program *p;
        struct group_data d;

        describe(&g, widths[i / 2]);
        p = cavs__ew_program_create(&g.spec, i % 2 ? CAVS__EW_INTERPRET : CAVS__EW_AUTO);
        group_data_init(&d, &g.spec, 21, -1, 1, &state);
        cavs__ew_run(p, d.rows, d.views);
        for (int row = 0; row < d.rows; row++)
            for (int column = 0; column < g.spec.width; column++)
                check(&d, row, column);
        group_data_free(&d);
        cavs__ew_program_destroy(p);
    }
}

static void lstm_cell_is_right(void **unused)
{
    (void)unused;
    check_cell(group_lstm, check_lstm);
}

static void lstm_gradient_is_right(void **unused)
{
    (void)unused;
    check_cell(group_lstm_grad, check_lstm_grad);
}

/* log(a - b) c, with a number below zero in one place, and what the others make of it. */
static void bad_number_is_traced_to_its_operator(void **unused)
{
    enum { ROWS = 7, WIDTH = 20, ROW = 4, COLUMN = 13 };
    struct group g;
    struct group_data d;
    struct cavs__ew_program *p;

    (void)unused;
    group_start(&g, WIDTH);
    int a = group_input(&g), b = group_scalar(&g), c = group_input(&g);
    int sum = group_op2(&g, "add", a, b), log = group_op1(&g, "log", sum);
    int product = group_op2(&g, "mul", group_op2(&g, "add", log, group_constant(&g, 1)), c);
    group_output(&g, product);
    p = cavs__ew_program_create(&g.spec, CAVS__EW_INTERPRET);
    assert_non_null(p);
    group_data_init(&d, &g.spec, ROWS, 1, 2, &state);
    for (int row = 0; row < ROWS; row++)
        assert_true(cavs__ew_blame(p, d.views, row, COLUMN) == -1 ||
                    group_data_input(&d, 0, row, COLUMN) == 0); /* a row that is missing */
    float bad[ROWS][WIDTH];
    for (int i = 0; i < ROWS * WIDTH; i++)
        (&bad[0][0])[i] = 3;
    bad[ROW][COLUMN] = -9;
    d.views[0] = (struct cavs__view){.p = &bad[0][0], .ld = WIDTH, .cols = WIDTH};
    assert_int_equal(cavs__ew_blame(p, d.views, ROW, COLUMN), log);
    assert_int_equal(cavs__ew_blame(p, d.views, ROW, COLUMN - 1), -1);
    assert_int_equal(cavs__ew_blame(p, d.views, ROW - 1, COLUMN), -1);
    bad[ROW][COLUMN] = NAN;
    assert_int_equal(cavs__ew_blame(p, d.views, ROW, COLUMN), sum);
    bad[ROW][COLUMN] = INFINITY;
    assert_int_equal(cavs__ew_blame(p, d.views, ROW, COLUMN), sum);
    group_data_free(&d);
    cavs__ew_program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_groups_agree),
        cmocka_unit_test(wide_groups_agree),
        cmocka_unit_test(inputs_are_copied_to_outputs),
        cmocka_unit_test(outputs_may_lie_where_inputs_are),
        cmocka_unit_test(lstm_cell_is_right),
        cmocka_unit_test(lstm_gradient_is_right),
        cmocka_unit_test(bad_number_is_traced_to_its_operator),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
