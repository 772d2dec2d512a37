/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cells.c - ready-made cells: their values against the textbook in double, their gradients
 * against the oracle, their parameters, and how they are wired to chains.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cavs_cells.h"
#include "tests/trial.h"

enum { WIDTH = 4, HIDDEN = 3, LONGEST = 9 };

typedef struct cavs_cell make_cell(struct cavs_model *m, const char *name, int width, int hidden);

/* A chain of the cell over pulled rows; the loss is on every h, so that all gates get a
 * gradient. */
static struct cavs_model *chain_of(make_cell *make)
{
    struct cavs_model *m = NULL;
    check_ok(cavs_model_create(&m));
    struct cavs_cell cell = make(m, "cell", WIDTH, HIDDEN);
    struct cavs_function *f = cavs_function_create(cell.stage, "word");
    cavs_cell_define(&cell, f, cavs_pull(f, "x", WIDTH));
    f = cavs_function_create(cavs_stage_over(m, "top", cell.stage, CAVS_ALL_VERTICES), "top");
    cavs_loss(f, "loss", cavs_sum(cavs_square(cavs_pull_from(f, cell.stage, "h", NULL))), NULL);
    check_ok(cavs_model_finish(m));
    return m;
}

/* Biases start at 0: other values show whether each is in its place. */
static void set_biases(struct cavs_model *m, struct cavs_session *s)
{
    for (int i = 0; i < cavs_model_param_count(m); i++) {
        struct cavs_param *p = cavs_model_param_at(m, i);
        float values[4 * HIDDEN];
        if (cavs_param_rows(p) > 1)
            continue;
        for (int c = 0; c < cavs_param_cols(p); c++)
            values[c] = 0.1f * (float)(c + i) - 0.5f;
        check_ok(cavs_session_set_param(s, p, values));
    }
}

/* ---- against the textbook -------------------------------------------------------------------- */

struct numbers {
    float W[WIDTH][4 * HIDDEN], U[HIDDEN][4 * HIDDEN], b[4 * HIDDEN], b_u[3 * HIDDEN];
};

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Entry c of x W or h U; rows of the arrays are gates * HIDDEN long. */
static double product(const float *matrix, int gates, const double *row, int n, int c)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += row[i] * matrix[i * gates * HIDDEN + c];
    return sum;
}

static void lstm_step(const struct numbers *p, const double *x, double *c, double *h)
{
    double gate[4][HIDDEN];
    for (int g = 0; g < 4; g++)
        for (int j = 0; j < HIDDEN; j++)
            gate[g][j] = product(&p->W[0][0], 4, x, WIDTH, g * HIDDEN + j) +
                         product(&p->U[0][0], 4, h, HIDDEN, g * HIDDEN + j) + p->b[g * HIDDEN + j];
    for (int j = 0; j < HIDDEN; j++) {
        c[j] = sigmoid(gate[0][j]) * tanh(gate[3][j]) + sigmoid(gate[1][j] + 1) * c[j];
        h[j] = sigmoid(gate[2][j]) * tanh(c[j]);
    }
}

static void gru_step(const struct numbers *p, const double *x, double *unused, double *h)
{
    double a[3][HIDDEN], b[3][HIDDEN];
    (void)unused;
    for (int g = 0; g < 3; g++)
        for (int j = 0; j < HIDDEN; j++) {
            a[g][j] = product(&p->W[0][0], 3, x, WIDTH, g * HIDDEN + j) + p->b[g * HIDDEN + j];
            b[g][j] = product(&p->U[0][0], 3, h, HIDDEN, g * HIDDEN + j) + p->b_u[g * HIDDEN + j];
        }
    for (int j = 0; j < HIDDEN; j++) {
        double r = sigmoid(a[0][j] + b[0][j]), z = sigmoid(a[1][j] + b[1][j]);
        double n = tanh(a[2][j] + r * b[2][j]);
        h[j] = (1 - z) * n + z * h[j];
    }
}

static void read_numbers(struct cavs_model *m, struct cavs_session *s, struct numbers *p)
{
    check_ok(cavs_session_get_param(s, cavs_model_find_param(m, "cell_W"), &p->W[0][0]));
    check_ok(cavs_session_get_param(s, cavs_model_find_param(m, "cell_U"), &p->U[0][0]));
    check_ok(cavs_session_get_param(s, cavs_model_find_param(m, "cell_b"), p->b));
    if (cavs_model_find_param(m, "cell_b_u"))
        check_ok(cavs_session_get_param(s, cavs_model_find_param(m, "cell_b_u"), p->b_u));
}

typedef void step(const struct numbers *p, const double *x, double *c, double *h);

static void check_chain(make_cell *make, step *next, enum cavs_way way)
{
    struct cavs_model *m = chain_of(make);
    struct cavs_data *d = NULL;
    struct cavs_session *s = NULL;
    struct numbers p;
    float x[LONGEST][WIDTH], got[LONGEST][HIDDEN];
    double c[HIDDEN] = {0}, h[HIDDEN] = {0}, want[LONGEST][HIDDEN];
    int ptr[LONGEST + 1], child[LONGEST];

    for (int i = 0; i < LONGEST * WIDTH; i++)
        (&x[0][0])[i] = (float)sin(i * 1.7);
    cavs_chain_graph(way, LONGEST, ptr, child);
    check_ok(cavs_data_create(m, &d));
    check_ok(cavs_data_begin(d));
    check_ok(cavs_data_graph(d, m->stages[0], LONGEST, NULL, ptr, child));
    check_ok(cavs_data_rows(d, m->stages[0], "x", LONGEST, &x[0][0]));
    check_ok(cavs_data_end(d));
    check_ok(cavs_session_create(trial_runtime, m, NULL, &s));
    set_biases(m, s);
    check_ok(cavs_session_output(s, d, (int[]){0}, 1, m->stages[0], "h", &got[0][0]));
    read_numbers(m, s, &p);
    for (int i = 0; i < LONGEST; i++) {
        int v = way == CAVS_WAY_FORWARD ? i : LONGEST - 1 - i;
        double row[WIDTH];
        for (int j = 0; j < WIDTH; j++)
            row[j] = x[v][j];
        next(&p, row, c, h);
        memcpy(want[v], h, sizeof h);
    }
    check_close("h", LONGEST * HIDDEN, &got[0][0], &want[0][0], 1e-5);
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void lstm_is_the_textbooks(void **unused)
{
    (void)unused;
    check_chain(cavs_lstm_cell, lstm_step, CAVS_WAY_FORWARD);
    check_chain(cavs_lstm_cell, lstm_step, CAVS_WAY_BACKWARD);
}

static void gru_is_the_textbooks(void **unused)
{
    (void)unused;
    check_chain(cavs_gru_cell, gru_step, CAVS_WAY_FORWARD);
    check_chain(cavs_gru_cell, gru_step, CAVS_WAY_BACKWARD);
}

/* ---- gradients ------------------------------------------------------------------------------- */

static void check_gradients(struct cavs_model *m, const char *const *texts, int n)
{
    struct cavs_session_options options = cavs_session_defaults();
    struct trial t;
    int batch[] = {0, 1, 2};
    trial_open(&t, m, texts, n, NULL);
    options.shards = 2;
    struct cavs_session *s = trial_session(&t, &options);
    set_biases(m, s);
    trial_check_outputs(&t, s, batch, n);
    trial_check_gradients(&t, s, batch, n);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void gradients_are_the_oracles(void **unused)
{
    static const char *const texts[] = {"chain:7", "single", "chain:12"};
    (void)unused;
    check_gradients(chain_of(cavs_lstm_cell), texts, 3);
    check_gradients(chain_of(cavs_gru_cell), texts, 3);
}

/* An encoder, and a decoder whose first vertex starts from a row that the encoder pushed. */
static void cell_starts_from_any_state(void **unused)
{
    static const char *const texts[] = {"chain:5|chain:4", "single|chain:3"};
    make_cell *const makes[] = {cavs_lstm_cell, cavs_gru_cell};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct cavs_model *m = NULL;
        check_ok(cavs_model_create(&m));
        struct cavs_cell in = makes[i](m, "in", WIDTH, HIDDEN), out;
        struct cavs_function *f = cavs_function_create(in.stage, "word");
        struct cavs_symbol *state =
            cavs_cell_next(&in, cavs_pull(f, "x", WIDTH), cavs_gather(f, 0));
        cavs_scatter(f, state);
        cavs_push(f, "state", state);
        out = makes[i](m, "out", WIDTH, HIDDEN);
        f = cavs_function_create(out.stage, "word");
        state = cavs_add(cavs_gather(f, 0), cavs_pull_from(f, in.stage, "state", "start"));
        state = cavs_cell_next(&out, cavs_pull(f, "y", WIDTH), state);
        cavs_scatter(f, state);
        cavs_push(f, "h", cavs_cell_output(&out, state));
        cavs_loss(f, "loss", cavs_sum(cavs_square(cavs_cell_output(&out, state))), NULL);
        assert_int_equal(cavs_symbol_width(cavs_cell_output(&out, state)), HIDDEN);
        check_ok(cavs_model_finish(m));
        check_gradients(m, texts, 2);
    }
}

/* ---- wiring ---------------------------------------------------------------------------------- */

static void both_ways_meet_at_the_same_word(void **unused)
{
    struct cavs_model *m = NULL;
    struct cavs_data *d = NULL;
    struct cavs_session *s = NULL;
    int position[LONGEST], ptr[LONGEST + 1], child[LONGEST];
    float x[LONGEST][WIDTH] = {{0}}, h[2][LONGEST][HIDDEN], both[LONGEST][2 * HIDDEN];
    (void)unused;
    check_ok(cavs_model_create(&m));
    struct cavs_cell way[2] = {cavs_lstm_cell(m, "forward", WIDTH, HIDDEN),
                               cavs_gru_cell(m, "backward", WIDTH, HIDDEN)};
    for (int i = 0; i < 2; i++) {
        struct cavs_function *f = cavs_function_create(way[i].stage, "word");
        cavs_cell_define(&way[i], f, cavs_pull(f, "x", WIDTH));
    }
    struct cavs_stage *top = cavs_stage_over(m, "top", way[0].stage, CAVS_ALL_VERTICES);
    struct cavs_function *f = cavs_function_create(top, "top");
    cavs_push(f, "both", cavs_both_ways(f, &way[0], &way[1], "position"));
    check_ok(cavs_model_finish(m));
    check_ok(cavs_data_create(m, &d));
    check_ok(cavs_data_begin(d));
    for (int i = 0; i < LONGEST; i++) {
        x[i][i % WIDTH] = (float)(1 + i);
        position[i] = i;
    }
    for (int i = 0; i < 2; i++) {
        cavs_chain_graph((enum cavs_way)i, LONGEST, ptr, child);
        check_ok(cavs_data_graph(d, way[i].stage, LONGEST, NULL, ptr, child));
        check_ok(cavs_data_rows(d, way[i].stage, "x", LONGEST, &x[0][0]));
    }
    check_ok(cavs_data_ids(d, top, "position", LONGEST, position));
    check_ok(cavs_data_end(d));
    check_ok(cavs_session_create(trial_runtime, m, NULL, &s));
    for (int i = 0; i < 2; i++)
        check_ok(cavs_session_output(s, d, (int[]){0}, 1, way[i].stage, "h", &h[i][0][0]));
    check_ok(cavs_session_output(s, d, (int[]){0}, 1, top, "both", &both[0][0]));
    for (int v = 0; v < LONGEST; v++)
        for (int i = 0; i < 2; i++)
            assert_memory_equal(both[v] + i * HIDDEN, h[i][v], sizeof h[i][v]);
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void chains_of_no_and_one_vertex(void **unused)
{
    int ptr[2], child[1] = {7};
    (void)unused;
    for (int way = 0; way < 2; way++) {
        ptr[0] = 9;
        cavs_chain_graph((enum cavs_way)way, 0, ptr, child);
        assert_int_equal(ptr[0], 0);
        assert_int_equal(child[0], 7);
        cavs_chain_graph((enum cavs_way)way, 1, ptr, child);
        assert_int_equal(ptr[1], 1);
        assert_int_equal(child[0], -1);
        child[0] = 7;
    }
}

static void parameters_have_the_cells_name_and_shapes(void **unused)
{
    struct cavs_model *m = NULL;
    (void)unused;
    check_ok(cavs_model_create(&m));
    struct cavs_cell a = cavs_lstm_cell(m, "a", WIDTH, HIDDEN),
                     b = cavs_gru_cell(m, "b", WIDTH, HIDDEN);
    assert_ptr_equal(a.W, cavs_model_find_param(m, "a_W"));
    assert_ptr_equal(a.U, cavs_model_find_param(m, "a_U"));
    assert_ptr_equal(a.b, cavs_model_find_param(m, "a_b"));
    assert_null(a.b_u);
    assert_ptr_equal(b.b_u, cavs_model_find_param(m, "b_b_u"));
    assert_int_equal(cavs_param_rows(a.W), WIDTH);
    assert_int_equal(cavs_param_cols(a.W), 4 * HIDDEN);
    assert_int_equal(cavs_param_rows(b.U), HIDDEN);
    assert_int_equal(cavs_param_cols(b.U), 3 * HIDDEN);
    assert_int_equal(cavs_param_cols(b.b_u), 3 * HIDDEN);
    cavs_model_destroy(m);
}

/* However long the name is, parameters have all of it, and so differ from one another. */
static void names_of_cells_may_be_long(void **unused)
{
    char name[400] = "", b_u[sizeof name + 4];
    struct cavs_model *m = NULL;
    struct cavs_cell cell;

    (void)unused;
    memset(name, 'n', sizeof name - 1);
    snprintf(b_u, sizeof b_u, "%s_b_u", name);
    check_ok(cavs_model_create(&m));
    cell = cavs_gru_cell(m, name, WIDTH, HIDDEN);
    assert_non_null(cell.W);
    assert_non_null(cell.U);
    assert_non_null(cell.b);
    assert_string_equal(cavs_param_name(cell.b_u), b_u);
    cavs_model_destroy(m);
}

/* 4 x 2^29 columns are more than an int counts, and 2 x 2^30 more than the state of a stage. */
static void cells_wider_than_their_parameters_can_be_are_refused(void **unused)
{
    static make_cell *const make[] = {cavs_lstm_cell, cavs_lstm_params, cavs_gru_cell,
                                      cavs_gru_params};
    static const int hidden[] = {536870912, 1073741824, INT_MAX, 0, -1, INT_MIN};
    char said[64];

    (void)unused;
    for (int i = 0; i < 4; i++) {
        for (int j = i < 2 ? 0 : 1; j < 6; j++) {
            struct cavs_model *m = NULL;
            struct cavs_cell cell;

            check_ok(cavs_model_create(&m));
            cell = make[i](m, "wide", WIDTH, hidden[j]);
            assert_null(cell.stage);
            assert_null(cell.W);
            assert_null(cell.U);
            assert_null(cell.b);
            assert_null(cell.b_u);
            assert_int_equal(cavs_model_finish(m), CAVS_ESHAPE);
            snprintf(said, sizeof said, "%s wide: hidden %d: 1 to %d is wanted",
                     i < 2 ? "LSTM" : "GRU", hidden[j], INT_MAX / (i < 2 ? 4 : 3));
            assert_non_null(strstr(cavs_error_message(), said));
            cavs_model_destroy(m);
        }
    }
}

/* A cell without a name is refused, and has no parameters named for that. */
static void cells_need_a_name(void **unused)
{
    struct cavs_model *m = NULL;

    (void)unused;
    check_ok(cavs_model_create(&m));
    assert_null(cavs_lstm_params(m, NULL, WIDTH, HIDDEN).W);
    assert_int_equal(cavs_model_finish(m), CAVS_EINVAL);
    cavs_model_destroy(m);
}

static void mistakes_name_the_line_of_the_call(void **unused)
{
    struct cavs_model *m = NULL;
    char where[64];
    (void)unused;
    check_ok(cavs_model_create(&m));
    struct cavs_cell cell = cavs_gru_cell(m, "cell", WIDTH, HIDDEN);
    struct cavs_function *f = cavs_function_create(cell.stage, "word");
    struct cavs_symbol *x = cavs_pull(f, "x", WIDTH + 1);
    snprintf(where, sizeof where, "test_cells.c:%d", __LINE__ + 1);
    cavs_cell_define(&cell, f, x);
    check_refused(cavs_model_finish(m), CAVS_ESHAPE, where, "cell_W", "matmul");
    cavs_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lstm_is_the_textbooks),
        cmocka_unit_test(gru_is_the_textbooks),
        cmocka_unit_test(gradients_are_the_oracles),
        cmocka_unit_test(cell_starts_from_any_state),
        cmocka_unit_test(both_ways_meet_at_the_same_word),
        cmocka_unit_test(chains_of_no_and_one_vertex),
        cmocka_unit_test(parameters_have_the_cells_name_and_shapes),
        cmocka_unit_test(names_of_cells_may_be_long),
        cmocka_unit_test(cells_wider_than_their_parameters_can_be_are_refused),
        cmocka_unit_test(cells_need_a_name),
        cmocka_unit_test(mistakes_name_the_line_of_the_call),
    };
    trial_compile(false);
    return cmocka_run_group_tests_name("cells", tests, trial_runtime_up, trial_runtime_down);
}
