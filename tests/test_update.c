/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_update.c - optimizer arithmetic (codelets/update.h) against the same rules in double, one
 * number at a time, and these against the papers' formulas.
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

#include "codelets/products/fetch.h"
#include "codelets/products/panels.h"
#include "codelets/products/transpose.h"
#include "codelets/update.h"
#include "tests/matrix.h"
#include "tests/naive_rules.h"
#include "tests/random.h"

enum { STEPS = 4, SHAPES = 12, MOST_GRADS = 3 };

static const int shapes[SHAPES][2] = {{0, 5}, {5, 0},   {1, 1},   {1, 300}, {300, 1},  {7, 9},
                                      {8, 8}, {16, 16}, {17, 33}, {64, 80}, {33, 257}, {40, 600}};
static uint64_t state = 1;

static struct cavs__update update_of(enum cavs_optimizer rule, int step)
{
    return (struct cavs__update){.rule = rule,
                                 .lr = 0.05f,
                                 .momentum = 0.9f,
                                 .decay = 0.95f,
                                 .beta1 = 0.9f,
                                 .beta2 = 0.99f,
                                 .epsilon = 1e-4f,
                                 .weight_decay = 0.01f,
                                 .scale = 0.5f,
                                 .correction1 = (float)(1 - pow(0.9f, step)),
                                 .correction2 = (float)(1 - pow(0.99f, step))};
}

/* A parameter with states and gradients, and the same in double. */
struct parameter {
    int rows, cols, states, ngrads;
    struct matrix w, s[2], g[MOST_GRADS], wt;
    const float *grads[MOST_GRADS];
    double *exact; /* (rows, cols, 3): w, s0, s1 */
};

static double *exact_at(const struct parameter *p, int r, int c)
{
    return p->exact + 3 * ((ptrdiff_t)r * p->cols + c);
}

static struct parameter parameter_random(enum cavs_optimizer rule, int rows, int cols, int ngrads)
{
    const int pad = random_int(&state, 0, 3);
    struct parameter p = {
        .rows = rows, .cols = cols, .states = cavs__rules[rule].states, .ngrads = ngrads};

    p.w = matrix_random(&state, rows, cols, pad);
    p.wt = matrix_unset(cols, rows, random_int(&state, 0, 3));
    p.exact = calloc((size_t)rows * (size_t)cols * 3 + 1, sizeof(*p.exact));
    assert_non_null(p.exact);
    for (int i = 0; i < p.states; i++)
        p.s[i] = matrix_unset(rows, cols, pad);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            *exact_at(&p, r, c) = *matrix_at(&p.w, r, c);
            for (int i = 0; i < p.states; i++)
                *matrix_at(&p.s[i], r, c) = 0;
        }
    for (int i = 0; i < ngrads; i++) {
        p.g[i] = matrix_random(&state, rows, cols, 2);
        p.grads[i] = p.g[i].p;
    }
    return p;
}

static void parameter_free(struct parameter *p)
{
    matrix_free(&p->w);
    matrix_free(&p->wt);
    for (int i = 0; i < p->states; i++)
        matrix_free(&p->s[i]);
    for (int i = 0; i < p->ngrads; i++)
        matrix_free(&p->g[i]);
    free(p->exact);
}

static void new_gradients(struct parameter *p)
{
    for (int i = 0; i < p->ngrads; i++)
        for (int r = 0; r < p->rows; r++)
            for (int c = 0; c < p->cols; c++)
                *matrix_at(&p->g[i], r, c) = (float)random_double(&state, -1, 1);
}

static void step_exactly(struct parameter *p, const struct cavs__update *u)
{
    for (int r = 0; r < p->rows; r++)
        for (int c = 0; c < p->cols; c++) {
            double gradient = 0, *e = exact_at(p, r, c);
            for (int i = 0; i < p->ngrads; i++)
                gradient += *matrix_at(&p->g[i], r, c);
            cavs__update_reference(u, e, e + 1, gradient);
        }
}

static void check_parameter(const struct parameter *p, const char *what)
{
    for (int r = 0; r < p->rows; r++)
        for (int c = 0; c < p->cols; c++) {
            number_near(*matrix_at(&p->w, r, c), exact_at(p, r, c)[0], 2e-5, what);
            for (int i = 0; i < p->states; i++)
                number_near(*matrix_at(&p->s[i], r, c), exact_at(p, r, c)[1 + i], 2e-5, what);
        }
    matrix_check(&p->w, what);
    for (int i = 0; i < p->states; i++)
        matrix_check(&p->s[i], what);
}

static float *state_of(const struct parameter *p, int i)
{
    return i < p->states ? p->s[i].p : NULL;
}

/* In two pieces, as a parameter that is worth more than one task. */
static void step_dense(struct parameter *p, const struct cavs__update *u, float *wt)
{
    const struct cavs__copy copy = {.layout = CAVS__LAYOUT_TRANSPOSED, .ld = p->wt.ld, .p = wt};
    int half = p->rows / 2;

    for (int i = 0; i < 2; i++)
        cavs__update_dense(u, i * half, i ? p->rows - half : half, p->cols, p->w.p, p->w.ld,
                           state_of(p, 0), state_of(p, 1), p->ngrads, p->grads, p->cols + 2,
                           wt != NULL, &copy);
}

/* Calls test(parameter, rule) for every rule, shape and one to three arrays of gradients. */
static void for_all(void test(struct parameter *, enum cavs_optimizer))
{
    for (int rule = 0; rule < CAVS_OPTIMIZERS; rule++)
        for (int s = 0; s < SHAPES; s++) {
            struct parameter p = parameter_random((enum cavs_optimizer)rule, shapes[s][0],
                                                  shapes[s][1], 1 + (s + rule) % MOST_GRADS);
            test(&p, (enum cavs_optimizer)rule);
            parameter_free(&p);
        }
}

static void check_dense(struct parameter *p, enum cavs_optimizer rule)
{
    char what[64];

    snprintf(what, sizeof(what), "%s, %d x %d, %d gradients", cavs__rules[rule].name, p->rows,
             p->cols, p->ngrads);
    for (int step = 1; step <= STEPS; step++) {
        const struct cavs__update u = update_of(rule, step);
        new_gradients(p);
        step_dense(p, &u, step % 2 ? p->wt.p : NULL);
        step_exactly(p, &u);
        check_parameter(p, what);
        for (int r = 0; r < p->rows && step % 2; r++)
            for (int c = 0; c < p->cols; c++)
                assert_true(*matrix_at(&p->wt, c, r) == *matrix_at(&p->w, r, c));
        matrix_check(&p->wt, what);
    }
}

static void dense_steps_follow_the_rules_and_keep_a_transposed_copy(void **unused)
{
    (void)unused;
    for_all(check_dense);
}

/* Decay and momentum go on where no vertex of a batch uses a parameter. */
static void without_arrays_of_gradients_the_gradient_is_zero(void **unused)
{
    (void)unused;
    for (int rule = 0; rule < CAVS_OPTIMIZERS; rule++) {
        struct parameter p = parameter_random((enum cavs_optimizer)rule, 9, 600, 0);

        check_dense(&p, (enum cavs_optimizer)rule);
        parameter_free(&p);
    }
}

/* Tiles are at most as wide as 4096 columns, and 16 rows high. */
static void rows_may_be_wider_than_a_tile(void **unused)
{
    (void)unused;
    struct parameter p = parameter_random(CAVS_ADAM, 17, 4100, 2);

    check_dense(&p, CAVS_ADAM);
    parameter_free(&p);
}

/* ---- sparse ---------------------------------------------------------------------------------- */

struct entries {
    int n;
    int32_t *ids, *ptr, *gsrc, *grow;
};

static int32_t *numbers(int n)
{
    int32_t *p = calloc((size_t)n + 1, sizeof(*p));

    assert_non_null(p);
    return p;
}

static void entries_free(struct entries *e)
{
    free(e->ids);
    free(e->ptr);
    free(e->gsrc);
    free(e->grow);
}

/* Every row of the parameter once, backwards, with the gradients that the dense update sums. */
static struct entries all_rows(const struct parameter *p)
{
    const int n = p->rows, total = n * p->ngrads;
    struct entries e = {n, numbers(n), numbers(n), numbers(total), numbers(total)};

    for (int i = 0; i < n; i++) {
        e.ids[i] = n - 1 - i;
        e.ptr[i + 1] = (i + 1) * p->ngrads;
        for (int g = 0; g < p->ngrads; g++) {
            e.gsrc[e.ptr[i] + g] = g;
            e.grow[e.ptr[i] + g] = n - 1 - i;
        }
    }
    return e;
}

/* Every third row, with 1 to 4 gradients from anywhere. */
static struct entries some_rows(const struct parameter *p)
{
    const int n = (p->rows + 2) / 3;
    struct entries e = {n, numbers(n), numbers(n), numbers(4 * n), numbers(4 * n)};

    for (int i = 0; i < n; i++) {
        e.ids[i] = 3 * i;
        e.ptr[i + 1] = e.ptr[i] + random_int(&state, 1, 4);
        for (int k = e.ptr[i]; k < e.ptr[i + 1]; k++) {
            e.gsrc[k] = random_int(&state, 0, p->ngrads - 1);
            e.grow[k] = random_int(&state, 0, p->rows - 1);
        }
    }
    return e;
}

static void step_sparse(struct parameter *p, const struct cavs__update *u, const struct entries *e)
{
    cavs__update_sparse(u, e->n, e->ids, e->ptr, e->gsrc, e->grow, p->cols, p->w.p, p->w.ld,
                        state_of(p, 0), state_of(p, 1), p->grads, p->cols + 2, false);
}

static void check_all_rows(struct parameter *p, enum cavs_optimizer rule)
{
    struct entries e = all_rows(p);

    for (int step = 1; step <= STEPS; step++) {
        const struct cavs__update u = update_of(rule, step);
        struct parameter dense = *p;
        new_gradients(p);
        dense.w = matrix_copy(&p->w);
        for (int i = 0; i < p->states; i++)
            dense.s[i] = matrix_copy(&p->s[i]);
        step_dense(&dense, &u, NULL);
        step_sparse(p, &u, &e);
        matrix_same(&p->w, &dense.w, "sparse, all rows");
        matrix_free(&dense.w);
        for (int i = 0; i < p->states; i++) {
            matrix_same(&p->s[i], &dense.s[i], "state, all rows");
            matrix_free(&dense.s[i]);
        }
    }
    entries_free(&e);
}

static void check_added_rows(struct parameter *p, enum cavs_optimizer rule)
{
    struct entries e = some_rows(p);
    struct matrix got = matrix_random(&state, p->rows, p->cols, 3), want = matrix_copy(&got);
    const float *grads[8] = {NULL};

    (void)rule;
    for (int g = 1; g < p->ngrads && g < 8; g++)
        grads[g] = p->grads[g]; /* the first is left out */
    cavs__add_rows(e.n, e.ids, e.ptr, e.gsrc, e.grow, p->cols, got.p, got.ld, grads, p->cols + 2);
    for (int i = 0; i < e.n; i++)
        for (int k = e.ptr[i]; k < e.ptr[i + 1]; k++)
            for (int c = 0; c < p->cols && e.gsrc[k] > 0; c++)
                *matrix_at(&want, e.ids[i], c) += *matrix_at(&p->g[e.gsrc[k]], e.grow[k], c);
    matrix_same(&got, &want, "added rows");
    matrix_check(&got, "added rows");
    matrix_free(&got);
    matrix_free(&want);
    entries_free(&e);
}

static void rows_are_added_to_those_that_they_name(void **unused)
{
    (void)unused;
    for_all(check_added_rows);
}

static void sparse_steps_of_all_rows_are_dense_steps(void **unused)
{
    (void)unused;
    for_all(check_all_rows);
}

static void check_some_rows(struct parameter *p, enum cavs_optimizer rule)
{
    for (int step = 1; step <= STEPS; step++) {
        const struct cavs__update u = update_of(rule, step);
        struct entries e = some_rows(p);
        step_sparse(p, &u, &e);
        for (int i = 0; i < e.n; i++)
            for (int c = 0; c < p->cols; c++) {
                double gradient = 0, *x = exact_at(p, e.ids[i], c);
                for (int k = e.ptr[i]; k < e.ptr[i + 1]; k++)
                    gradient += *matrix_at(&p->g[e.gsrc[k]], e.grow[k], c);
                cavs__update_reference(&u, x, x + 1, gradient);
            }
        check_parameter(p, "sparse, some rows");
        entries_free(&e);
    }
}

static void sparse_steps_leave_other_rows_alone(void **unused)
{
    (void)unused;
    for_all(check_some_rows);
}

/* ---- the rules themselves -------------------------------------------------------------------- */

/* Hyper-parameters that differ from one another and from their defaults. */
static struct cavs_session_options drawn_options(void)
{
    struct cavs_session_options o = cavs_session_defaults();

    for (const struct cavs__hyperparameter *h = cavs__hyperparameters; h->name; h++)
        *cavs__number_at(&o, h->option) = (float)random_double(&state, 0.05, 0.95);
    o.lr = 0.03f;
    return o;
}

static struct cavs__update update_by(const struct cavs_session_options *o, int rule, int t)
{
    struct cavs__update u = {.rule = (enum cavs_optimizer)rule, .lr = o->lr, .scale = 0.5f};

    for (const struct cavs__hyperparameter *h = cavs__hyperparameters; h->name; h++)
        *cavs__number_at(&u, h->update) = *cavs__number_at(o, h->option);
    u.correction1 = (float)(1 - pow(o->beta1, t));
    u.correction2 = (float)(1 - pow(o->beta2, t));
    return u;
}

/* One number over some updates: the corrections are floats. */
static void check_formula(int rule)
{
    double w[2] = {0.7, 0.7}, s[2][2] = {{0}};

    for (int t = 1; t <= 10; t++) {
        const struct cavs_session_options o = drawn_options();
        const struct cavs__update u = update_by(&o, rule, t);
        double gradient = random_double(&state, -1, 1);

        cavs__update_reference(&u, &w[0], s[0], gradient);
        w[1] = naive_rules[rule](&o, o.lr, t, w[1], u.scale * gradient, s[1]);
        if (fabs(w[0] - w[1]) > 1e-5 * fabs(w[1]))
            fail_msg("%s, update %d: %.9g, but its formula gives %.9g", cavs__rules[rule].name, t,
                     w[0], w[1]);
    }
}

static void every_rule_is_the_formula_of_its_paper(void **unused)
{
    (void)unused;
    for (int rule = 0; rule < CAVS_OPTIMIZERS; rule++) {
        if (!naive_rules[rule])
            fail_msg("tests/naive_rules.c has no formula for %s", cavs__rules[rule].name);
        for (int i = 0; i < 20; i++)
            check_formula(rule);
    }
}

/* ---- squares and transposition --------------------------------------------------------------- */

static void check_squares(struct parameter *p, enum cavs_optimizer rule)
{
    struct entries all = all_rows(p), some = some_rows(p);
    double dense = 0, sparse = 0;

    (void)rule;
    for (int r = 0; r < p->rows; r++)
        for (int c = 0; c < p->cols; c++) {
            double gradient = 0;
            for (int i = 0; i < p->ngrads; i++)
                gradient += *matrix_at(&p->g[i], r, c);
            dense += gradient * gradient;
        }
    for (int i = 0; i < some.n; i++)
        for (int c = 0; c < p->cols; c++) {
            double gradient = 0;
            for (int k = some.ptr[i]; k < some.ptr[i + 1]; k++)
                gradient += *matrix_at(&p->g[some.gsrc[k]], some.grow[k], c);
            sparse += gradient * gradient;
        }
    number_near(cavs__squares_dense(p->rows, p->cols, p->ngrads, p->grads, p->cols + 2, NULL),
                dense, 1e-6, "dense");
    number_near(cavs__squares_sparse(all.n, all.ptr, all.gsrc, all.grow, p->cols, p->grads,
                                     p->cols + 2, NULL),
                dense, 1e-6, "all rows");
    number_near(cavs__squares_sparse(some.n, some.ptr, some.gsrc, some.grow, p->cols, p->grads,
                                     p->cols + 2, NULL),
                sparse, 1e-6, "some rows");
    entries_free(&all);
    entries_free(&some);
}

static void squares_are_of_the_summed_gradients(void **unused)
{
    (void)unused;
    for_all(check_squares);
}

/* The same step from sums that a norm has kept, dense or by rows. */
static void step_from_kept(struct parameter *p, const struct cavs__update *u, bool sparse)
{
    float *written[MOST_GRADS];
    struct entries e = all_rows(p);

    for (int i = 0; i < p->ngrads; i++)
        written[i] = p->g[i].p;
    if (sparse) {
        cavs__squares_sparse(e.n, e.ptr, e.gsrc, e.grow, p->cols, p->grads, p->cols + 2, written);
        cavs__update_sparse(u, e.n, e.ids, e.ptr, e.gsrc, e.grow, p->cols, p->w.p, p->w.ld,
                            state_of(p, 0), state_of(p, 1), p->grads, p->cols + 2, true);
    } else {
        cavs__squares_dense(p->rows, p->cols, p->ngrads, p->grads, p->cols + 2, written[0]);
        cavs__update_dense(u, 0, p->rows, p->cols, p->w.p, p->w.ld, state_of(p, 0), state_of(p, 1),
                           1, p->grads, p->cols + 2, 0, NULL);
    }
    entries_free(&e);
}

static void check_kept(struct parameter *p, enum cavs_optimizer rule)
{
    for (int step = 1; step <= 2; step++) {
        const struct cavs__update u = update_of(rule, step);
        struct parameter summed = *p;

        new_gradients(p);
        summed.w = matrix_copy(&p->w);
        for (int i = 0; i < p->states; i++)
            summed.s[i] = matrix_copy(&p->s[i]);
        step_dense(p, &u, NULL);
        step_from_kept(&summed, &u, step == 2);
        matrix_same(&p->w, &summed.w, "from kept sums");
        matrix_free(&summed.w);
        for (int i = 0; i < p->states; i++) {
            matrix_same(&p->s[i], &summed.s[i], "state, from kept sums");
            matrix_free(&summed.s[i]);
        }
    }
}

static void sums_that_norms_keep_are_what_updates_would_add_up(void **unused)
{
    (void)unused;
    for_all(check_kept);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The sum of g[0 .. size), by a pencil; *there: some of them is. */
static float in_pairs(const struct matrix *const *g, int size, int r, int c, bool *there)
{
    bool left, right;
    float x, y;

    if (size == 1) {
        *there = *g;
        return *g ? *matrix_at(*g, r, c) : 0;
    }
    x = in_pairs(g, size / 2, r, c, &left);
    y = in_pairs(g + size / 2, size / 2, r, c, &right);
    *there = left || right;
    return left && right ? x + y : left ? x : y;
}

static void sum(const struct matrix *const *g, int first, int n, struct matrix *out)
{
    const float *p[CAVS__PARTIALS] = {NULL};
    ptrdiff_t ld[CAVS__PARTIALS] = {0};

    for (int i = first; i < first + n; i++) {
        p[i] = g[i] ? g[i]->p : NULL;
        ld[i] = g[i] ? g[i]->ld : 0;
    }
    cavs__sum_dense(out->rows, out->cols, out->p, p, ld);
}

static bool some_of(const struct matrix *const *g, int n)
{
    bool some = false;

    for (int i = 0; i < n; i++)
        some |= g[i] != NULL;
    return some;
}

/* Of the first eight those are there that the bits say, and of the others, up to `end`, any. */
static void check_pairs(int rows, int cols, unsigned there, int end)
{
    struct matrix m[CAVS__PARTIALS], all = matrix_unset(rows, cols, 0),
                                     part = matrix_unset(rows, cols, 0);
    const struct matrix *g[CAVS__PARTIALS];

    for (int i = 0; i < CAVS__PARTIALS; i++) {
        m[i] = matrix_random(&state, rows, cols, i);
        g[i] = (i < 8 ? there >> i & 1 : i < end && random_int(&state, 0, 1)) ? &m[i] : NULL;
    }
    sum(g, 0, CAVS__PARTIALS, &all);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            bool some;

            assert_true(*matrix_at(&all, r, c) == in_pairs(g, CAVS__PARTIALS, r, c, &some));
        }
    for (int size = 2; size <= CAVS__PARTIALS / 2; size *= 2) {
        const struct matrix *rest[CAVS__PARTIALS];
        struct matrix again = matrix_unset(rows, cols, 0);
        int first = size * random_int(&state, 0, CAVS__PARTIALS / size - 1);

        memcpy(rest, g, sizeof rest);
        sum(g, first, size, &part);
        for (int i = 0; i < size; i++)
            rest[first + i] = i == 0 && some_of(g + first, size) ? &part : NULL;
        sum(rest, 0, CAVS__PARTIALS, &again);
        matrix_same(&again, &all, "with a part added up before");
        matrix_free(&again);
    }
    for (int i = 0; i < CAVS__PARTIALS; i++)
        matrix_free(&m[i]);
    matrix_check(&all, "sum");
    matrix_free(&all);
    matrix_free(&part);
}

static void gradients_are_added_up_in_pairs_whoever_adds_up_a_part(void **unused)
{
    (void)unused;
    for (unsigned there = 0; there < 256; there++) {
        check_pairs(random_int(&state, 0, 5), random_int(&state, 0, 9) ? 7 : 1100, there, 8);
        check_pairs(random_int(&state, 0, 5), 7, there, random_int(&state, 9, CAVS__PARTIALS));
    }
}

static void transpose_swaps_rows_and_columns_and_touches_nothing_else(void **unused)
{
    (void)unused;
    for (int rows = 0; rows < 40; rows++)
        for (int cols = 0; cols < 40; cols++) {
            struct matrix x = matrix_random(&state, rows, cols, rows % 3),
                          y = matrix_unset(cols, rows, cols % 4);
            cavs__transpose(rows, cols, x.p, x.ld, y.p, y.ld);
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < cols; c++)
                    assert_true(*matrix_at(&y, c, r) == *matrix_at(&x, r, c));
            matrix_check(&y, "transpose");
            matrix_free(&x);
            matrix_free(&y);
        }
}

/* Copies of blocks, in any order, make up the copy of all; numbers beyond the matrix stay. */
static void copies_hold_each_number_at_its_place(void **unused)
{
    (void)unused;
    for (int t = 0; t < 200; t++) {
        /* those of float32; test_bf16.c looks at the others */
        const enum cavs__layout layout =
            (enum cavs__layout)(1 + t % CAVS__LAYOUT_PANELS_TRANSPOSED);
        const int rows = random_int(&state, 1, 80), cols = random_int(&state, 1, 80);
        const int r = random_int(&state, 0, rows), c = random_int(&state, 0, cols);
        const int height = cavs__layout_rows(layout, rows, cols);
        struct matrix w = matrix_random(&state, rows, cols, 2),
                      p = matrix_unset(height, cavs__layout_cols(layout, rows, cols), 3);
        const struct cavs__copy copy = {.layout = layout, .ld = p.ld, .p = p.p};

        for (int i = 3; i >= 0; i--) {
            const int fr = i / 2 ? r : 0, fc = i % 2 ? c : 0;

            cavs__copy_block(&copy, fr, fc, (i / 2 ? rows : r) - fr, (i % 2 ? cols : c) - fc,
                             matrix_at(&w, fr, fc), w.ld);
        }
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) {
                const bool swap = layout != CAVS__LAYOUT_PANELS;
                const int row = swap ? j : i, col = swap ? i : j;
                const float copied =
                    layout == CAVS__LAYOUT_TRANSPOSED
                        ? *matrix_at(&p, row, col)
                        : *matrix_at(&p, col / CAVS__PANEL, row * CAVS__PANEL + col % CAVS__PANEL);

                assert_true(copied == *matrix_at(&w, i, j));
            }
        matrix_check(&p, "copy");
        matrix_free(&w);
        matrix_free(&p);
    }
}

/* Two blocks of w, cut at row r. */
static void copy_in_two(const struct cavs__copy *copy, const struct matrix *w, int r)
{
    cavs__copy_block(copy, 0, 0, r, w->cols, w->p, w->ld);
    cavs__copy_block(copy, r, 0, w->rows - r, w->cols, matrix_at(w, r, 0), w->ld);
    cavs__copies_end(1, copy);
}

/* Rows are cut at cache lines, as updates do it, or anywhere. */
static void copies_past_the_caches_are_the_same(void **unused)
{
    (void)unused;
    for (int t = 0; t < 200; t++) {
        const enum cavs__layout layout =
            t % 2 ? CAVS__LAYOUT_PANELS : CAVS__LAYOUT_PANELS_TRANSPOSED;
        const int rows = random_int(&state, 1, 80), cols = random_int(&state, 1, 80);
        const int r = random_int(&state, 0, rows) / (t % 3 ? 16 : 1) * (t % 3 ? 16 : 1);
        const int ld = (cavs__layout_cols(layout, rows, cols) + 15) / 16 * 16;
        const size_t size = (size_t)ld * (size_t)cavs__layout_rows(layout, rows, cols) * 4;
        struct matrix w = matrix_random(&state, rows, cols, 2);
        struct cavs__copy near = {.layout = layout, .ld = ld, .p = aligned_alloc(64, size)};
        struct cavs__copy far = {.layout = layout, .ld = ld, .p = aligned_alloc(64, size)};

        assert_true(near.p && far.p);
        memset(near.p, 0, size);
        memset(far.p, 0, size);
        far.far = true;
        copy_in_two(&near, &w, r);
        copy_in_two(&far, &w, r);
        assert_memory_equal(near.p, far.p, size);
        free(near.p);
        free(far.p);
        matrix_free(&w);
    }
}

static void only_large_copies_go_past_the_caches(void **unused)
{
    const bool pays = cavs__past_caches_pays();

    (void)unused;
    assert_false(cavs__copy_is_far(64, 256));
    assert_int_equal(cavs__copy_is_far(256, 1024), pays);
    assert_int_equal(cavs__copy_is_far(1 << 20, 1 << 12), pays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_hold_each_number_at_its_place),
        cmocka_unit_test(copies_past_the_caches_are_the_same),
        cmocka_unit_test(only_large_copies_go_past_the_caches),
        cmocka_unit_test(dense_steps_follow_the_rules_and_keep_a_transposed_copy),
        cmocka_unit_test(without_arrays_of_gradients_the_gradient_is_zero),
        cmocka_unit_test(rows_may_be_wider_than_a_tile),
        cmocka_unit_test(rows_are_added_to_those_that_they_name),
        cmocka_unit_test(sparse_steps_of_all_rows_are_dense_steps),
        cmocka_unit_test(sparse_steps_leave_other_rows_alone),
        cmocka_unit_test(every_rule_is_the_formula_of_its_paper),
        cmocka_unit_test(squares_are_of_the_summed_gradients),
        cmocka_unit_test(sums_that_norms_keep_are_what_updates_would_add_up),
        cmocka_unit_test(gradients_are_added_up_in_pairs_whoever_adds_up_a_part),
        cmocka_unit_test(transpose_swaps_rows_and_columns_and_touches_nothing_else),
    };

    return cmocka_run_group_tests_name("update", tests, NULL, NULL);
}
