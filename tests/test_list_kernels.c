/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_list_kernels.c - kernels over ragged lists and over selected blocks: the CPU kernel against
 * the reference, on rows read directly, by index with some missing, and one row for all; with rows
 * that have no entries, one, and more than fit a vector.
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
#include "codelets/products/gemm.h"
#include "tests/matrix.h"
#include "tests/random.h"
#include "tests/skip.h"

enum { TRIALS = 80, SOURCE_ROWS = 29 };
enum way { DIRECT, REPEATED, INDEXED, WAYS };

static uint64_t state = 1;

/* ---- inputs ---- */

struct input {
    struct matrix source;
    int32_t *index;
    struct cavs__view view;
};

static struct input input_random(enum way way, int rows, int cols)
{
    struct input in = {.index = calloc((size_t)rows + 1, sizeof *in.index)};

    assert_non_null(in.index);
    in.source = matrix_random(&state, rows > SOURCE_ROWS ? rows : SOURCE_ROWS, cols,
                              random_int(&state, 0, 5));
    for (int r = 0; r < rows; r++)
        in.index[r] = random_int(&state, -1, SOURCE_ROWS - 1);
    in.view = (struct cavs__view){.p = in.source.p,
                                  .ld = way == REPEATED ? 0 : in.source.ld,
                                  .index = way == INDEXED ? in.index : NULL,
                                  .cols = cols};
    return in;
}

static void input_free(struct input *in)
{
    matrix_free(&in->source);
    free(in->index);
}

/* Where the entries of each row begin, from any number on; NULL never. */
static int32_t *pointers_random(int rows, int most)
{
    int32_t *ptr = calloc((size_t)rows + 1, sizeof *ptr);

    assert_non_null(ptr);
    ptr[0] = random_int(&state, 0, 1000);
    for (int r = 0; r < rows; r++)
        ptr[r + 1] = ptr[r] + (random_int(&state, 0, 2) ? random_int(&state, 0, 3)
                                                        : random_int(&state, 0, most));
    return ptr;
}

static struct cavs__view view_of(const struct matrix *m, const int32_t *ptr)
{
    return (struct cavs__view){.p = m->p, .ld = m->ld, .ptr = ptr, .cols = m->cols};
}

static int cols_random(int trial)
{
    static const int some[] = {1, 1, 2, 5, 16, 33, 256, 300, 513};

    return trial % 2 ? some[trial / 2 % 9] : random_int(&state, 1, 40);
}

static void call_one(const struct cavs__call *call, int which, int rows, const struct cavs__view *v,
                     unsigned flags)
{
    (which ? call->kernel->reference : call->kernel->cpu)(call, rows, v, flags);
}

static void run(const char *name, int which, int block_rows, int rows, const struct cavs__view *v,
                unsigned flags)
{
    const struct cavs__kernel *k = cavs__kernel_find(name);

    assert_non_null(k);
    call_one(&(struct cavs__call){.kernel = k, .rows = block_rows}, which, rows, v, flags);
}

/* ---- lists ---- */

/* A kernel of one or two inputs and one output, each with a row per entry or per row. */
struct shape {
    const char *name;
    int ninputs;
    bool listed[3]; /* of the inputs, then of the output */
};

static void check_shape(const struct shape *s, int trial)
{
    const int rows = trial % 9 == 0 ? trial / 9 % 2 : random_int(&state, 0, 40),
              cols = cols_random(trial);
    int32_t *ptr = pointers_random(rows, trial % 5 == 0 ? 600 : 20);
    const int entries = ptr[rows] - ptr[0];
    struct input in[2];
    struct cavs__view v[3];
    struct matrix out[2];

    for (int i = 0; i < s->ninputs; i++) {
        in[i] = input_random((enum way)((trial + i) % WAYS), s->listed[i] ? entries : rows, cols);
        v[i] = in[i].view;
        v[i].ptr = s->listed[i] ? ptr : NULL;
    }
    for (int which = 0; which < 2; which++) {
        out[which] = matrix_unset(s->listed[2] ? entries : rows, cols, 3);
        v[s->ninputs] = view_of(&out[which], s->listed[2] ? ptr : NULL);
        run(s->name, which, 0, rows, v, 0);
        matrix_check(&out[which], s->name);
    }
    matrix_near(&out[0], &out[1], 1e-4, s->name);
    for (int i = 0; i < s->ninputs; i++)
        input_free(&in[i]);
    matrix_free(&out[0]);
    matrix_free(&out[1]);
    free(ptr);
}

static void lists_are_taken_together_as_the_reference_does(void **unused)
{
    static const struct shape shapes[] = {
        {"list_sum", 1, {true, false, false}},        {"list_max", 1, {true, false, false}},
        {"list_softmax", 1, {true, false, true}},     {"list_max_grad", 2, {true, false, true}},
        {"list_softmax_grad", 2, {true, true, true}},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int trial = 0; trial < TRIALS; trial++)
            check_shape(&shapes[i], trial);
}

static void shares_are_one_over_the_length(void **unused)
{
    static const int32_t ptr[] = {7, 7, 8, 12, 12};
    float y[4] = {9, 9, 9, 9};
    struct cavs__view v[2] = {{.ptr = ptr}, {.p = y, .ld = 1, .cols = 1}};

    (void)unused;
    run("list_share", 0, 0, 4, v, 0);
    assert_true(y[0] == 0 && y[1] == 1 && y[2] == 0.25f && y[3] == 0);
}

/* Columns of softmax add up to one even where exp() of the numbers would overflow. */
static void softmax_does_not_overflow(void **unused)
{
    static const int32_t ptr[] = {0, 3};
    float x[3] = {300, 301, -1000}, y[3];
    struct cavs__view v[2] = {{.p = x, .ld = 1, .ptr = ptr, .cols = 1},
                              {.p = y, .ld = 1, .ptr = ptr, .cols = 1}};

    (void)unused;
    run("list_softmax", 0, 0, 1, v, 0);
    number_near((double)y[0] + y[1] + y[2], 1, 1e-6, "sum");
    number_near(y[1], 1 / (1 + exp(-1)), 1e-6, "largest");
}

/* Among equal entries the first gets all of the gradient. */
static void equal_entries_share_nothing(void **unused)
{
    static const int32_t ptr[] = {0, 3};
    float x[3] = {1, 2, 2}, g[1] = {5}, dx[3];
    struct cavs__view v[3] = {{.p = x, .ld = 1, .ptr = ptr, .cols = 1},
                              {.p = g, .ld = 1, .cols = 1},
                              {.p = dx, .ld = 1, .ptr = ptr, .cols = 1}};

    (void)unused;
    run("list_max_grad", 0, 0, 1, v, 0);
    assert_true(dx[0] == 0 && dx[1] == 5 && dx[2] == 0);
}

/* A NaN is the largest, wherever it stands, and the gradient comes back to the first one. */
static void a_nan_is_the_largest_entry(void **unused)
{
    static const int32_t ptr[] = {0, 4, 8};
    const float x[8][2] = {{1, NAN}, {NAN, 2}, {3, 3}, {NAN, NAN}, {0, 1}, {-1, 5}, {4, NAN}};
    const float g[2][2] = {{5, 6}, {7, 8}};

    (void)unused;
    for (int which = 0; which < 2; which++) {
        float y[2][2], dx[8][2];
        const struct cavs__view in = {.p = (float *)&x[0][0], .ld = 2, .ptr = ptr, .cols = 2};

        run("list_max", which, 0, 2, (struct cavs__view[]){in, {.p = &y[0][0], .ld = 2, .cols = 2}},
            0);
        run("list_max_grad", which, 0, 2,
            (struct cavs__view[]){in,
                                  {.p = (float *)&g[0][0], .ld = 2, .cols = 2},
                                  {.p = &dx[0][0], .ld = 2, .ptr = ptr, .cols = 2}},
            0);
        assert_true(isnan(y[0][0]) && isnan(y[0][1]) && y[1][0] == 4 && isnan(y[1][1]));
        for (int e = 0; e < 8; e++) {
            assert_true(dx[e][0] == (e == 1 ? 5 : e == 6 ? 7 : 0));
            assert_true(dx[e][1] == (e == 0 ? 6 : e == 6 ? 8 : 0));
        }
    }
}

/* ---- selected blocks ---- */

static int32_t *ids_random(int rows, int blocks)
{
    int32_t *ids = calloc((size_t)rows + 1, sizeof *ids);

    assert_non_null(ids);
    for (int r = 0; r < rows; r++)
        ids[r] = random_int(&state, -1, blocks - 1);
    return ids;
}

/* Rows of k numbers, multiplied by blocks (k, n). */
struct sizes {
    int rows, k, n, blocks;
};

static void check_product(enum way way, struct sizes s, bool transposed)
{
    const char *name = transposed ? "gemm_select_t" : "gemm_select";
    const int rows = s.rows, k = s.k, n = s.n, blocks = s.blocks;
    struct input x = input_random(way, rows, k);
    struct matrix w = transposed ? matrix_random(&state, n * blocks, k, 2)
                                 : matrix_random(&state, k * blocks, n, 2),
                  out[2];
    int32_t *ids = ids_random(rows, blocks);

    for (int which = 0; which < 2; which++) {
        out[which] = matrix_unset(rows, n, 1);
        struct cavs__view v[4] = {
            x.view, {.index = ids}, view_of(&w, NULL), view_of(&out[which], NULL)};
        run(name, which, 0, rows, v, 0);
        matrix_check(&out[which], name);
    }
    matrix_near(&out[0], &out[1], 1e-4, name);
    input_free(&x);
    matrix_free(&w);
    matrix_free(&out[0]);
    matrix_free(&out[1]);
    free(ids);
}

static void rows_are_multiplied_by_the_block_they_name(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct sizes s = {trial % 9 == 0 ? trial / 9 % 2 : random_int(&state, 0, 200),
                          cols_random(trial), cols_random(trial + 3), random_int(&state, 1, 5)};

        check_product((enum way)(trial % WAYS), s, false);
        check_product((enum way)(trial % WAYS), s, true);
    }
}

static void check_gradient(enum way way, struct sizes s, unsigned flags)
{
    const int rows = s.rows, k = s.k, n = s.n, blocks = s.blocks;
    struct input x = input_random(way, rows, k),
                 dy = input_random((enum way)((way + 1) % WAYS), rows, n);
    struct matrix before = matrix_random(&state, k * blocks, n, 2), out[2];
    int32_t *ids = ids_random(rows, blocks);

    for (int which = 0; which < 2; which++) {
        out[which] = matrix_copy(&before);
        struct cavs__view v[4] = {x.view, dy.view, {.index = ids}, view_of(&out[which], NULL)};
        run("gemm_tn_select", which, k * blocks, rows, v, flags);
        matrix_check(&out[which], "gemm_tn_select");
    }
    matrix_near(&out[0], &out[1], 1e-4, "gemm_tn_select");
    input_free(&x);
    input_free(&dy);
    matrix_free(&before);
    matrix_free(&out[0]);
    matrix_free(&out[1]);
    free(ids);
}

static void gradients_go_to_the_block_that_was_named(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < TRIALS; trial++) {
        struct sizes s = {trial % 9 == 0 ? trial / 9 % 2 : random_int(&state, 0, 150),
                          cols_random(trial), cols_random(trial + 5), random_int(&state, 1, 4)};

        check_gradient((enum way)(trial % WAYS), s, trial & 1 ? CAVS__FIRST : 0);
    }
}

/* Columns [c, c + cols) of x and one block: the numbers that all blocks would have there, to the
 * bit. */
static void check_window(enum way way, struct sizes s, int block, int c, int cols, unsigned flags)
{
    struct input x = input_random(way, s.rows, s.k),
                 dy = input_random((enum way)((way + 1) % WAYS), s.rows, s.n);
    struct matrix all = matrix_random(&state, s.k * s.blocks, s.n, 2), some[2];
    struct cavs__call call = {.kernel = cavs__kernel_find("gemm_tn_select"), .block = 1 + block};
    int32_t *ids = ids_random(s.rows, s.blocks);
    struct cavs__view narrow = x.view;

    narrow.p += c;
    narrow.cols = cols;
    for (int which = 0; which < 2; which++) {
        struct cavs__view v[4] = {narrow, dy.view, {.index = ids}};

        some[which] = matrix_unset(cols, s.n, 3);
        for (int r = 0; r < cols; r++)
            memcpy(some[which].p + r * some[which].ld, all.p + (block * s.k + c + r) * all.ld,
                   (size_t)s.n * sizeof(float));
        v[3] = view_of(&some[which], NULL);
        call_one(&call, which, s.rows, v, flags);
        matrix_check(&some[which], "gemm_tn_select of a block");
    }
    matrix_near(&some[0], &some[1], 1e-4, "gemm_tn_select of a block");
    run("gemm_tn_select", 0, s.k * s.blocks, s.rows,
        (struct cavs__view[]){x.view, dy.view, {.index = ids}, view_of(&all, NULL)}, flags);
    for (int r = 0; r < cols; r++)
        assert_memory_equal(some[0].p + r * some[0].ld, all.p + (block * s.k + c + r) * all.ld,
                            (size_t)s.n * sizeof(float));
    input_free(&x);
    input_free(&dy);
    matrix_free(&all);
    matrix_free(&some[0]);
    matrix_free(&some[1]);
    free(ids);
}

static void rows_of_one_block_are_those_of_all(void **unused)
{
    (void)unused;
    if (!cavs__gemm()->gemm_tn_rows)
        SKIP("%s has no sums of rows anywhere", cavs__gemm()->name);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct sizes s = {trial % 9 == 0 ? trial / 9 % 2 : random_int(&state, 0, 200),
                          cols_random(trial), cols_random(trial + 5), random_int(&state, 1, 4)};
        int c = random_int(&state, 0, s.k - 1);

        check_window((enum way)(trial % WAYS), s, random_int(&state, 0, s.blocks - 1), c,
                     random_int(&state, 1, s.k - c), trial & 1 ? CAVS__FIRST : 0);
    }
    check_window(INDEXED, (struct sizes){5000, 33, 40, 2}, 1, 1, 32, CAVS__FIRST);
}

/* More rows than are sorted at once, and so many blocks that their numbers take two bytes. */
static void any_number_of_rows_and_blocks_is_sorted(void **unused)
{
    static const struct sizes sizes[] = {{5000, 3, 5, 4}, {700, 3, 5, 600}, {2100, 2, 2, 70000}};

    (void)unused;
    for (int i = 0; i < 3; i++) {
        check_product((enum way)(i % WAYS), sizes[i], false);
        check_product((enum way)(i % WAYS), sizes[i], true);
        check_gradient((enum way)(i % WAYS), sizes[i], 0);
        check_gradient((enum way)(i % WAYS), sizes[i], CAVS__FIRST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_taken_together_as_the_reference_does),
        cmocka_unit_test(shares_are_one_over_the_length),
        cmocka_unit_test(softmax_does_not_overflow),
        cmocka_unit_test(equal_entries_share_nothing),
        cmocka_unit_test(a_nan_is_the_largest_entry),
        cmocka_unit_test(rows_are_multiplied_by_the_block_they_name),
        cmocka_unit_test(gradients_go_to_the_block_that_was_named),
        cmocka_unit_test(rows_of_one_block_are_those_of_all),
        cmocka_unit_test(any_number_of_rows_and_blocks_is_sorted),
    };

    return cmocka_run_group_tests_name("list kernels", tests, NULL, NULL);
}
