/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_cases.c - row kernels (codelets/kernels/kernel.h): an implementation against the
 * reference, and both against formulas written here, on random views: direct, one row for all,
 * indexed with missing rows.
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

#include "codelets/products/gemm.h"
#include "codelets/kernels/kernel.h"
#include "tests/kernel_cases.h"
#include "tests/matrix.h"
#include "tests/random.h"

enum { SOURCE_ROWS = 23 };

static kernel_runner *under_test;
static int trials;

void kernel_cases_run_by(kernel_runner *runner, int ntrials)
{
    under_test = runner;
    trials = ntrials;
}

static uint64_t state = 1;

/* ---- inputs: a view, and the rows it stands for ---------------------------------------------- */

struct input {
    struct matrix source;
    int32_t *index;
    struct cavs__view view;
    struct matrix rows; /* what the view reads as */
};

enum kind { DIRECT, REPEATED, INDEXED, KINDS };

static struct input input_random(enum kind kind, int rows, int cols)
{
    struct input in = {.rows = matrix_unset(rows, cols, 0)};

    in.source = matrix_random(&state, rows > SOURCE_ROWS ? rows : SOURCE_ROWS, cols,
                              random_int(&state, 0, 5));
    in.view = (struct cavs__view){
        .p = in.source.p, .ld = kind == REPEATED ? 0 : in.source.ld, .cols = cols};
    if (kind == INDEXED) {
        in.index = malloc((size_t)(rows + 1) * sizeof(*in.index));
        assert_non_null(in.index);
        for (int r = 0; r < rows; r++)
            in.index[r] = random_int(&state, -1, SOURCE_ROWS - 1);
        in.view.index = in.index;
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            const int row = kind == DIRECT ? r : kind == REPEATED ? 0 : in.index[r];
            *matrix_at(&in.rows, r, c) = row < 0 ? 0 : *matrix_at(&in.source, row, c);
        }
    return in;
}

static void input_free(struct input *in)
{
    matrix_free(&in->source);
    matrix_free(&in->rows);
    free(in->index);
}

static struct cavs__view view_of(const struct matrix *m)
{
    return (struct cavs__view){.p = m->p, .ld = m->ld, .cols = m->cols};
}

/* Labels of n classes, some missing; one in ten out of range when wanted. */
static int32_t *labels_random(int rows, int n, bool out_of_range)
{
    int32_t *labels = malloc((size_t)(rows + 1) * sizeof(*labels));

    assert_non_null(labels);
    for (int r = 0; r < rows; r++) {
        labels[r] = random_int(&state, -1, n - 1);
        if (out_of_range && random_int(&state, 0, 9) == 0)
            labels[r] = random_int(&state, 0, 1) ? n : INT32_MAX;
    }
    return labels;
}

/* ---- running: `which` is 0 for the implementation under test, 1 for the reference ------------ */

static void run(const char *name, int which, int rows, const struct cavs__view *v, unsigned flags)
{
    const struct cavs__kernel *k = cavs__kernel_find(name);
    const struct cavs__call call = {.kernel = k};

    assert_non_null(k);
    if (which)
        k->reference(&call, rows, v, flags);
    else
        under_test(&call, rows, v, flags);
}

static int rows_random(void)
{
    static const int some[] = {0, 1, 2, 3, 64, 65};

    return random_int(&state, 0, 1) ? some[random_int(&state, 0, 5)] : random_int(&state, 0, 300);
}

static int cols_random(void)
{
    static const int some[] = {1, 2, 5, 16, 64, 513};

    return random_int(&state, 0, 1) ? some[random_int(&state, 0, 5)] : random_int(&state, 1, 70);
}

/* ---- matrix products ------------------------------------------------------------------------- */

static void gemm_multiplies_rows_read_by_index(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int rows = rows_random(), k = cols_random(), n = cols_random();
        struct input x = input_random((enum kind)(t % KINDS), rows, k);
        struct matrix w = matrix_random(&state, k, n, 3), old = matrix_random(&state, rows, n, 2);

        for (int which = 0; which < 2; which++) {
            struct matrix y = matrix_copy(&old), want = matrix_copy(&old);
            const struct cavs__view v[] = {x.view, view_of(&w), view_of(&y)};

            run("gemm", which, rows, v, 0);
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < n; j++) {
                    double sum = 0;
                    for (int p = 0; p < k; p++)
                        sum += (double)*matrix_at(&x.rows, i, p) * *matrix_at(&w, p, j);
                    *matrix_at(&want, i, j) = (float)sum;
                }
            matrix_near(&y, &want, 2e-5, "gemm");
            matrix_check(&y, "gemm");
            matrix_free(&y);
            matrix_free(&want);
        }
        matrix_free(&w);
        matrix_free(&old);
        input_free(&x);
    }
}

static void gemm_tn_sums_over_rows_and_starts_from_zero_when_first(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int rows = rows_random(), k = cols_random(), n = cols_random();
        const unsigned flags = random_int(&state, 0, 1) ? CAVS__FIRST : 0;
        struct input x = input_random((enum kind)(t % KINDS), rows, k);
        struct input dy = input_random((enum kind)(t / KINDS % KINDS), rows, n);
        struct matrix old = flags ? matrix_unset(k, n, 2) : matrix_random(&state, k, n, 2);

        for (int which = 0; which < 2; which++) {
            struct matrix dw = matrix_copy(&old), want = matrix_copy(&old);
            const struct cavs__view v[] = {x.view, dy.view, view_of(&dw)};

            run("gemm_tn", which, rows, v, flags);
            for (int i = 0; i < k; i++)
                for (int j = 0; j < n; j++) {
                    double sum = flags ? 0 : *matrix_at(&old, i, j);
                    for (int r = 0; r < rows; r++)
                        sum += (double)*matrix_at(&x.rows, r, i) * *matrix_at(&dy.rows, r, j);
                    *matrix_at(&want, i, j) = (float)sum;
                }
            matrix_near(&dw, &want, 2e-5, "gemm_tn");
            matrix_check(&dw, "gemm_tn");
            matrix_free(&dw);
            matrix_free(&want);
        }
        matrix_free(&old);
        input_free(&x);
        input_free(&dy);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void column_sum_adds_rows_to_what_is_there(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int rows = rows_random(), n = cols_random() + (t % 8 == 7 ? 1024 : 0); /* wide, too */
        const unsigned flags = random_int(&state, 0, 1) ? CAVS__FIRST : 0;
        struct input x = input_random((enum kind)(t % KINDS), rows, n);
        struct matrix old = flags ? matrix_unset(1, n, 0) : matrix_random(&state, 1, n, 0);

        for (int which = 0; which < 2; which++) {
            struct matrix y = matrix_copy(&old);
            const struct cavs__view v[] = {x.view, view_of(&y)};

            run("column_sum", which, rows, v, flags);
            for (int j = 0; j < n; j++) {
                double sum = flags ? 0 : *matrix_at(&old, 0, j);
                for (int r = 0; r < rows; r++)
                    sum += *matrix_at(&x.rows, r, j);
                number_near(*matrix_at(&y, 0, j), sum, 2e-5, "column_sum");
            }
            matrix_check(&y, "column_sum");
            matrix_free(&y);
        }
        matrix_free(&old);
        input_free(&x);
    }
}

/* A kernel, and its reference, that sums what index names of x from ptr[r] to ptr[r + 1]. */
static void check_named(const char *kernel, const struct matrix *x, const int32_t *index,
                        const int32_t *ptr, const struct matrix *want)
{
    for (int which = 0; which < 2; which++) {
        struct matrix y = matrix_unset(want->rows, want->cols, 1);
        const struct cavs__view v[] = {
            {.p = x->p, .ld = x->ld, .index = index, .ptr = ptr, .cols = want->cols}, view_of(&y)};

        run(kernel, which, want->rows, v, 0);
        matrix_near(&y, want, 1e-6, kernel);
        matrix_check(&y, kernel);
        matrix_free(&y);
    }
}

static void sum_rows_adds_none_one_or_many_named_rows(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int rows = rows_random(), n = cols_random();
        struct matrix x = matrix_random(&state, SOURCE_ROWS, n, 1), want = matrix_unset(rows, n, 1);
        int32_t *ptr = calloc((size_t)rows + 1, sizeof(*ptr)),
                *index = malloc(((size_t)rows * 5 + 1) * sizeof(*index));

        for (int r = 0; r < rows; r++) {
            ptr[r + 1] = ptr[r] + random_int(&state, 0, 5);
            for (int e = ptr[r]; e < ptr[r + 1]; e++)
                index[e] = random_int(&state, -1, SOURCE_ROWS - 1);
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int e = ptr[r]; e < ptr[r + 1]; e++)
                    sum += index[e] < 0 ? 0 : *matrix_at(&x, index[e], j);
                *matrix_at(&want, r, j) = (float)sum;
            }
        }
        check_named("sum_rows", &x, index, ptr, &want);
        matrix_free(&x);
        matrix_free(&want);
        free(ptr);
        free(index);
    }
}

/* Each row of y gets columns of some rows of x, at other columns; many are as wide as y. */
static void sum_pieces_adds_columns_of_named_rows(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int rows = rows_random(), n = cols_random();
        struct matrix x = matrix_random(&state, SOURCE_ROWS, n, 1), want = matrix_unset(rows, n, 1);
        int32_t *ptr = calloc((size_t)rows + 1, sizeof(*ptr)),
                *piece = malloc(((size_t)rows * 15 + 3) * sizeof(*piece));

        for (int r = 0; r < rows; r++) {
            ptr[r + 1] = ptr[r] + random_int(&state, 0, 5);
            for (int j = 0; j < n; j++)
                *matrix_at(&want, r, j) = 0;
            for (int e = ptr[r]; e < ptr[r + 1]; e++) {
                int from = random_int(&state, 0, 1) ? 0 : random_int(&state, 0, n - 1);
                int cols = from == 0 ? n : random_int(&state, 1, n - from);

                piece[3 * e] = random_int(&state, 0, SOURCE_ROWS - 1);
                piece[3 * e + 1] = from;
                piece[3 * e + 2] = cols;
                for (int j = 0; j < cols; j++)
                    *matrix_at(&want, r, from + j) += *matrix_at(&x, piece[3 * e], j);
            }
        }
        check_named("sum_pieces", &x, piece, ptr, &want);
        matrix_free(&x);
        matrix_free(&want);
        free(ptr);
        free(piece);
    }
}

static void row_sum_adds_the_columns_of_each_row(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int rows = rows_random(), n = t == 0 ? 0 : cols_random();
        struct input x = input_random((enum kind)(t % KINDS), rows, n);

        for (int which = 0; which < 2; which++) {
            struct matrix y = matrix_unset(rows, 1, t % 3);
            const struct cavs__view v[] = {x.view, view_of(&y)};

            run("row_sum", which, rows, v, 0);
            for (int r = 0; r < rows; r++) {
                double sum = 0;
                for (int j = 0; j < n; j++)
                    sum += *matrix_at(&x.rows, r, j);
                number_near(*matrix_at(&y, r, 0), sum, 1e-5, "row_sum");
            }
            matrix_check(&y, "row_sum");
            matrix_free(&y);
        }
        input_free(&x);
    }
}

/* ---- products of two rows -------------------------------------------------------------------- */

/* Shapes at the edges: inner and outer products, a matrix times a vector from either side. */
static void shape_random(int trial, int *m, int *k, int *n)
{
    *m = trial % 5 == 1 ? 1 : random_int(&state, 1, 9);
    *k = trial % 5 == 2 ? 1 : random_int(&state, 1, 40);
    *n = trial % 5 == 3 || trial % 10 == 1 ? 1 : random_int(&state, 1, 40);
}

/* y[r] (m, n) = a[r] b[r] */
static void check_row_products(int transposed, int m, int n, int k, const struct input *a,
                               const struct input *b)
{
    const struct cavs__kernel *kernel = cavs__kernel_find("gemm_rows");
    const struct cavs__call call = {.kernel = kernel, .rows = m, .transposed = transposed};

    for (int which = 0; which < 2; which++) {
        struct matrix y = matrix_unset(a->rows.rows, m * n, which);
        const struct cavs__view v[] = {a->view, b->view, view_of(&y)};

        (which ? kernel->reference : under_test)(&call, y.rows, v, 0);
        for (int r = 0; r < y.rows; r++)
            for (int i = 0; i < m * n; i++) {
                double sum = 0;
                for (int p = 0; p < k; p++)
                    sum += (double)*matrix_at(&a->rows, r,
                                              transposed == 1 ? p * m + i / n : i / n * k + p) *
                           *matrix_at(&b->rows, r, transposed == 2 ? i % n * k + p : p * n + i % n);
                number_near(*matrix_at(&y, r, i), sum, 1e-5, "gemm_rows");
            }
        matrix_check(&y, "gemm_rows");
        matrix_free(&y);
    }
}

static void gemm_rows_multiplies_matrices_that_are_rows(void **unused)
{
    (void)unused;
    for (int t = 0; t < 2 * trials; t++) {
        const int rows = t % 7 == 0 ? t / 7 % 2 : random_int(&state, 0, 40);
        int m, k, n;

        shape_random(t, &m, &k, &n);
        struct input a = input_random((enum kind)(t % KINDS), rows, m * k);
        struct input b = input_random((enum kind)(t / KINDS % KINDS), rows, k * n);

        for (int transposed = 0; transposed < 3; transposed++)
            check_row_products(transposed, m, n, k, &a, &b);
        input_free(&a);
        input_free(&b);
    }
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* -log of the label's share, of numbers small enough for exp. */
static double loss_of(const struct matrix *z, int r, int label, double change, int where)
{
    double sum = 0;

    for (int j = 0; j < z->cols; j++)
        sum += exp(*matrix_at(z, r, j) + (j == where ? change : 0));
    return log(sum) - (*matrix_at(z, r, label) + (label == where ? change : 0));
}

static bool counts(int32_t label, int n)
{
    return label >= 0 && label < n;
}

/* Rows of classifiers, and longer than a group of the CPU kernel. */
static int classes_random(int trial)
{
    static const int some[] = {1, 2, 5, 16, 32, 33, 100, 3000};

    return trial < 8 ? some[trial] : random_int(&state, 1, 40);
}

static void softmax_xent_is_minus_log_of_the_labels_share(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int n = classes_random(t), rows = n > 99 ? 7 : rows_random();
        struct input z = input_random((enum kind)(t % KINDS), rows, n);
        int32_t *labels = labels_random(rows, n, true);

        for (int which = 0; which < 2; which++) {
            struct matrix y = matrix_unset(rows, 1, t % 2);
            const struct cavs__view v[] = {z.view, {.index = labels, .cols = 1}, view_of(&y)};

            run("softmax_xent", which, rows, v, 0);
            for (int r = 0; r < rows; r++)
                number_near(*matrix_at(&y, r, 0),
                            counts(labels[r], n) ? loss_of(&z.rows, r, labels[r], 0, -1) : 0, 3e-6,
                            "softmax_xent");
            matrix_check(&y, "softmax_xent");
            matrix_free(&y);
        }
        input_free(&z);
        free(labels);
    }
}

static void softmax_xent_grad_is_the_slope_of_the_loss(void **unused)
{
    const double step = 1e-4;

    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int n = classes_random(t), rows = n > 99 ? 5 : random_int(&state, 0, 80);
        struct input z = input_random((enum kind)(t % KINDS), rows, n);
        struct input g = input_random((enum kind)(t / KINDS % KINDS), rows, 1);
        int32_t *labels = labels_random(rows, n, true);

        for (int which = 0; which < 2; which++) {
            struct matrix dz = matrix_unset(rows, n, t % 2);
            const struct cavs__view v[] = {
                z.view, {.index = labels, .cols = 1}, g.view, view_of(&dz)};

            run("softmax_xent_grad", which, rows, v, 0);
            for (int r = 0; r < rows; r++)
                for (int j = 0; j < n && j < 50; j++) {
                    double slope = 0;
                    if (counts(labels[r], n))
                        slope = (loss_of(&z.rows, r, labels[r], step, j) -
                                 loss_of(&z.rows, r, labels[r], -step, j)) /
                                (2 * step);
                    number_near(*matrix_at(&dz, r, j), slope * *matrix_at(&g.rows, r, 0), 2e-6,
                                "softmax_xent_grad");
                }
            matrix_check(&dz, "softmax_xent_grad");
            matrix_free(&dz);
        }
        input_free(&z);
        input_free(&g);
        free(labels);
    }
}

static void softmax_of_huge_numbers_is_finite(void **unused)
{
    int32_t labels[] = {0, 1, 0};
    float z[3][2] = {{1e30f, -1e30f}, {1e4f, 1e4f - 1}, {-1e38f, -1e38f}}, y[3], one = 1, dz[3][2];
    struct cavs__view v[] = {{.p = &z[0][0], .ld = 2, .cols = 2},
                             {.index = labels, .cols = 1},
                             {.p = y, .ld = 1, .cols = 1}};
    struct cavs__view vg[] = {
        v[0], v[1], {.p = &one, .ld = 0, .cols = 1}, {.p = &dz[0][0], .ld = 2, .cols = 2}};

    (void)unused;
    for (int which = 0; which < 2; which++) {
        run("softmax_xent", which, 3, v, 0);
        run("softmax_xent_grad", which, 3, vg, 0);
        number_near(y[0], 0, 1e-6, "loss");
        number_near(y[1], 1 + log(1 + exp(-1)), 1e-6, "loss");
        number_near(y[2], log(2), 1e-6, "loss");
        number_near(dz[0][0], 0, 1e-6, "gradient");
        number_near(dz[1][1], exp(-1) / (1 + exp(-1)) - 1, 1e-6, "gradient");
        number_near(dz[2][1], 0.5, 1e-6, "gradient");
    }
}

/* What nobody asks for, such as the scores of a word without a tag, may be anything. */
static void rows_without_a_label_have_no_gradient_whatever_they_are(void **unused)
{
    enum { LONG = 40 };
    const float odd[] = {NAN, INFINITY, -INFINITY};
    const int32_t labels[] = {-1, LONG};

    (void)unused;
    for (int t = 0; t < 24; t++) {
        const int n = t / 12 ? LONG : 5;
        float z[2 * LONG] = {0}, g[] = {3, 3}, dz[2 * LONG];
        const struct cavs__view v[] = {{.p = z, .ld = n, .cols = n},
                                       {.index = labels, .cols = 1},
                                       {.p = g, .ld = 1, .cols = 1},
                                       {.p = dz, .ld = n, .cols = n}};

        for (int j = 0; j < 2 * n; j++) {
            dz[j] = NAN;
            z[j] = t % 4 < 2 || j % n == 3 ? odd[t / 4 % 3] : (float)j;
        }
        run("softmax_xent_grad", t % 2, 2, v, 0);
        for (int j = 0; j < 2 * n; j++)
            assert_true(dz[j] == 0);
    }
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void correct_wants_the_first_of_the_largest(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int rows = rows_random(), n = random_int(&state, 1, 6);
        struct input z = input_random((enum kind)(t % KINDS), rows, n);
        int32_t *labels;

        for (int i = 0; i < z.source.rows; i++) /* ties */
            for (int j = 0; j < n; j++)
                *matrix_at(&z.source, i, j) = (float)random_int(&state, 0, 2);
        labels = labels_random(rows, n, true);
        for (int which = 0; which < 2; which++) {
            struct matrix y = matrix_unset(rows, 1, 1);
            const struct cavs__view v[] = {z.view, {.index = labels, .cols = 1}, view_of(&y)};

            run("correct", which, rows, v, 0);
            for (int r = 0; r < rows; r++) {
                const int row = z.index ? z.index[r] : z.view.ld ? r : 0;
                int best = 0;
                for (int j = 0; j < n && row >= 0; j++)
                    best =
                        *matrix_at(&z.source, row, j) > *matrix_at(&z.source, row, best) ? j : best;
                assert_int_equal((int)*matrix_at(&y, r, 0), labels[r] == best);
            }
            matrix_check(&y, "correct");
            matrix_free(&y);
        }
        input_free(&z);
        free(labels);
    }
}

/* A model whose numbers are none would else have every answer right. */
static void no_answer_is_right_beside_a_nan(void **unused)
{
    float z[3][20] = {{[0] = NAN, [7] = NAN}, {[3] = 1, [9] = NAN}};

    (void)unused;
    for (int j = 0; j < 20; j++)
        z[2][j] = NAN;
    for (int which = 0; which < 2; which++)
        for (int32_t label = 0; label < 20; label++) {
            const int32_t labels[] = {label, label, label};
            float y[3] = {-1, -1, -1};
            const struct cavs__view v[] = {{.p = &z[0][0], .ld = 20, .cols = 20},
                                           {.index = labels, .cols = 1},
                                           {.p = y, .ld = 1, .cols = 1}};

            run("correct", which, 3, v, 0);
            for (int r = 0; r < 3; r++)
                assert_int_equal((int)y[r], 0);
        }
}

static void metric_adds_rows_that_count_in_double(void **unused)
{
    (void)unused;
    for (int t = 0; t < trials; t++) {
        const int rows = rows_random();
        const unsigned flags = t % 2 ? CAVS__FIRST : 0;
        struct input x = input_random((enum kind)(t % KINDS), rows, 1);
        int32_t *where = labels_random(rows, 2, false);

        for (int which = 0; which < 2; which++) {
            union {
                float f[4];
                double d[2];
            } acc = {.d = {1e9, 3}};
            double sum = flags ? 0 : 1e9, count = flags ? 0 : 3;
            const struct cavs__view v[] = {x.view,
                                           {.index = t % 4 < 2 ? where : NULL, .cols = 1},
                                           {.p = acc.f, .ld = 4, .cols = 4}};

            run("metric", which, rows, v, flags);
            for (int r = 0; r < rows; r++)
                if (!v[1].index || where[r] >= 0) {
                    sum += *matrix_at(&x.rows, r, 0);
                    count++;
                }
            number_near(acc.d[0], sum, 1e-13, "sum");
            assert_true(acc.d[1] == count);
        }
        input_free(&x);
        free(where);
    }
}

static void mask_is_one_where_there_is_an_id(void **unused)
{
    int32_t ids[] = {3, -1, 0, INT32_MAX};
    (void)unused;

    for (int which = 0; which < 2; which++) {
        struct matrix y = matrix_unset(4, 1, which);
        const struct cavs__view v[] = {{.index = ids, .cols = 1}, view_of(&y)};

        run("mask", which, 4, v, 0);
        for (int r = 0; r < 4; r++)
            assert_true(*matrix_at(&y, r, 0) == (r != 1));
        matrix_check(&y, "mask");
        matrix_free(&y);
    }
}

const struct CMUnitTest kernel_cases[KERNEL_CASES] = {
    cmocka_unit_test(gemm_multiplies_rows_read_by_index),
    cmocka_unit_test(gemm_tn_sums_over_rows_and_starts_from_zero_when_first),
    cmocka_unit_test(column_sum_adds_rows_to_what_is_there),
    cmocka_unit_test(sum_rows_adds_none_one_or_many_named_rows),
    cmocka_unit_test(sum_pieces_adds_columns_of_named_rows),
    cmocka_unit_test(row_sum_adds_the_columns_of_each_row),
    cmocka_unit_test(gemm_rows_multiplies_matrices_that_are_rows),
    cmocka_unit_test(softmax_xent_is_minus_log_of_the_labels_share),
    cmocka_unit_test(softmax_xent_grad_is_the_slope_of_the_loss),
    cmocka_unit_test(rows_without_a_label_have_no_gradient_whatever_they_are),
    cmocka_unit_test(softmax_of_huge_numbers_is_finite),
    cmocka_unit_test(correct_wants_the_first_of_the_largest),
    cmocka_unit_test(no_answer_is_right_beside_a_nan),
    cmocka_unit_test(metric_adds_rows_that_count_in_double),
    cmocka_unit_test(mask_is_one_where_there_is_an_id),
};
