/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_kernels.c - the kernels on an OpenCL device: the cases that all implementations
 * share, and fused groups against their reference. Skipped where there is no device; PoCL is one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device/device.h"
#include "codelets/kernels/kernel_table.h"
#include "codelets/products/gemm.h"
#include "codelets/update.h"
#include "tests/groups.h"
#include "tests/kernel_cases.h"
#include "tests/matrix.h"
#include "tests/on_device.h"
#include "tests/random.h"

enum { MOST_GROUPS = 32, OUTPUTS = 8, TRIALS = 6, OWN_CASES = 9 };

static uint64_t state = 11;

/* ---- groups ---- */

static struct group groups[MOST_GROUPS];
static struct cavs__ew_program *programs[MOST_GROUPS];
static int ngroups;

/* Every expression of the table, so many a group, on numbers for which all of them are defined. */
static void make_table_groups(void)
{
    struct group *g = NULL;
    int in[CAVS__EW_MAX_OPERANDS];

    for (int op = 0; op < cavs__ew_count(); op++)
        for (int which = 0; which <= cavs__ew_arity(op); which++) {
            if (!g || g->spec.noutputs == OUTPUTS) {
                g = &groups[ngroups++];
                group_start(g, ngroups % 2 ? 37 : 5);
                for (int i = 0; i < CAVS__EW_MAX_OPERANDS; i++)
                    in[i] = i == 2 ? group_scalar(g) : group_input(g);
            }
            group_output(g, group_node(g, op, which, in, 0.75f));
        }
}

/* The sum of so many inputs. */
static void make_sum_group(struct group *g, int inputs, int width)
{
    int sum;

    group_start(g, width);
    sum = group_input(g);
    for (int i = 1; i < inputs; i++)
        sum = group_op2(g, "add", sum, group_input(g));
    group_output(g, sum);
}

/* Items take 4, 2 or 1 numbers at once, by the number of inputs, and rows that are wider than a
 * work-group. */
static void make_groups(void)
{
    make_table_groups();
    make_sum_group(&groups[ngroups++], 1, 1);
    make_sum_group(&groups[ngroups++], 8, 1030);
    make_sum_group(&groups[ngroups++], 9, 513);
    make_sum_group(&groups[ngroups++], 17, 300);
    group_lstm(&groups[ngroups++], 64);
    group_lstm_grad(&groups[ngroups++], 33);
    assert_true(ngroups <= MOST_GROUPS);
    for (int i = 0; i < ngroups; i++) {
        programs[i] = cavs__ew_program_create(&groups[i].spec, CAVS__EW_INTERPRET);
        assert_non_null(programs[i]);
    }
}

static void outputs_of(const struct cavs__ew_program *p, bool reference, struct group_data *d,
                       float *to)
{
    const struct cavs__call call = {.kernel = cavs__kernel_find("elementwise"), .program = p};

    group_data_unset(d);
    if (reference)
        cavs__ew_run_reference(p, d->rows, d->views);
    else
        on_device_run(&call, d->rows, d->views, 0);
    assert_true(group_data_untouched_outside(d));
    for (int k = 0; k < d->spec->noutputs; k++)
        for (int row = 0; row < d->rows; row++)
            for (int column = 0; column < d->spec->width; column++)
                *to++ = group_data_output(d, k, row, column);
}

static void check_group(int group, int rows)
{
    const struct cavs__ew_spec *spec = &groups[group].spec;
    size_t n = (size_t)rows * (size_t)spec->width * (size_t)spec->noutputs;
    float *got = malloc((2 * n + 1) * sizeof *got), *want = got + n;
    struct group_data d;

    assert_non_null(got);
    group_data_init(&d, spec, rows, 0.25, 3, &state);
    outputs_of(programs[group], false, &d, got);
    outputs_of(programs[group], true, &d, want);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - want[i]) <= 1e-5f * (1 + fabsf(want[i]))) &&
            !(isnan(got[i]) && isnan(want[i])) && got[i] != want[i])
            fail_msg("group %d: %.9g, not %.9g: number %zu of %d rows", group, (double)got[i],
                     (double)want[i], i, rows);
    group_data_free(&d);
    free(got);
}

static void fused_groups_agree_with_their_reference(void **unused)
{
    static const int rows[TRIALS] = {0, 1, 2, 63, 64, 200};
    struct cavs__device_groups *on_devices;
    char failures[CAVS__FAILURES_TEXT];

    (void)unused;
    make_groups();
    on_devices =
        cavs__device_groups_create(NULL, &(struct cavs__device_texts){ngroups, 0, programs, NULL});
    assert_non_null(on_devices);
    assert_false(cavs__devices_failures(failures));
    for (int i = 0; i < ngroups; i++)
        for (int t = 0; t < TRIALS; t++)
            check_group(i, rows[t]);
    for (int i = 0; i < ngroups; i++)
        cavs__ew_program_destroy(programs[i]);
    cavs__device_groups_destroy(on_devices);
}

/* Two groups that are the same, and one that is not, in this order. */
static void equal_groups_have_one_kernel(void **unused)
{
    struct group g[2];
    struct cavs__ew_program *three[3];
    struct cavs__device_texts texts = {3, 0, three, NULL};
    struct cavs__device_groups *on_devices;
    char *text;

    (void)unused;
    make_sum_group(&g[0], 3, 40);
    make_sum_group(&g[1], 3, 41);
    for (int i = 0; i < 3; i++)
        assert_non_null(three[i] = cavs__ew_program_create(&g[i / 2].spec, CAVS__EW_INTERPRET));
    text = cavs__device_groups_text(&texts);
    assert_non_null(text);
    assert_non_null(strstr(text, " group0("));
    assert_null(strstr(text, " group1("));
    assert_non_null(strstr(text, " group2("));
    free(text);
    on_devices = cavs__device_groups_create(NULL, &texts);
    assert_non_null(on_devices);
    const struct cavs__device *d = cavs__device_at(0);
    assert_non_null(cavs__device_group(three[0], d));
    assert_ptr_equal(cavs__device_group(three[1], d), cavs__device_group(three[0], d));
    assert_ptr_not_equal(cavs__device_group(three[2], d), cavs__device_group(three[0], d));
    for (int i = 0; i < 3; i++)
        cavs__ew_program_destroy(three[i]);
    cavs__device_groups_destroy(on_devices);
}

/* ---- rows ---- */

enum { ROWS = 70, SOURCE_ROWS = 9, COLS = 150, WIDE = 9000, IDS = 2 };

struct rows {
    struct matrix source, g;
    int32_t index[ROWS], ids[IDS][ROWS];
};

static void rows_random(struct rows *r, int cols)
{
    r->source = matrix_random(&state, SOURCE_ROWS, cols, 3);
    r->g = matrix_random(&state, ROWS, 1, 1);
    for (int i = 0; i < ROWS; i++) {
        r->index[i] = random_int(&state, -1, SOURCE_ROWS - 1);
        for (int k = 0; k < IDS; k++)
            r->ids[k][i] = random_int(&state, -1, cols);
    }
}

static struct cavs__view operand(struct rows *r, char letter, int *ids, int cols)
{
    switch (letter) {
    case 'x':
        return (struct cavs__view){
            .p = r->source.p, .ld = r->source.ld, .index = r->index, .cols = cols};
    case 'i': return (struct cavs__view){.index = r->ids[(*ids)++], .cols = 1};
    case 'g': return (struct cavs__view){.p = r->g.p, .ld = r->g.ld, .cols = 1};
    default: return (struct cavs__view){.cols = 1}; /* absent */
    }
}

static void check_row_kernel(const struct cavs__kernel *kernel, const char *operands, int cols)
{
    const struct cavs__call call = {.kernel = kernel, .rate = 0.3f, .site = 0x9abcdef0u};
    int n = (int)strlen(operands) - 1, ids = 0, width = operands[n] == 'w' ? cols : 1;
    struct matrix got = matrix_unset(ROWS, width, 2), want = matrix_unset(ROWS, width, 2);
    struct cavs__view v[5];
    struct rows r;

    rows_random(&r, cols);
    for (int i = 0; i < n; i++)
        v[i] = operand(&r, operands[i], &ids, cols);
    v[n] = (struct cavs__view){.p = got.p, .ld = got.ld, .cols = width};
    on_device_run(&call, ROWS, v, 0);
    v[n].p = want.p;
    call.kernel->reference(&call, ROWS, v, 0);
    matrix_near(&got, &want, 2e-6, kernel->name);
    matrix_check(&got, kernel->name);
    matrix_free(&got);
    matrix_free(&want);
    matrix_free(&r.source);
    matrix_free(&r.g);
}

static void row_kernels_agree_with_their_reference(void **unused)
{
    static const int widths[] = {1, 2, 4, 5, 38, 75, 112, 149, 1030, 2100};

    (void)unused;
    for (int i = 0; i < CAVS__KERNEL_COUNT; i++)
        for (size_t k = 0; k < sizeof widths / sizeof *widths && cavs__kernels[i]->operands; k++)
            check_row_kernel(cavs__kernels[i], cavs__kernels[i]->operands, widths[k]);
    check_row_kernel(&cavs__kernel_dropout, "xaaw", 38); /* without ids */
}

/* ---- sums over many rows ---- */

static void sum_columns(const struct matrix *x, const int32_t *index, int rows, unsigned flags,
                        bool reference, struct matrix *y)
{
    const struct cavs__call call = {.kernel = &cavs__kernel_column_sum};
    const struct cavs__view v[] = {{.p = x->p, .ld = x->ld, .index = index, .cols = y->cols},
                                   {.p = y->p, .ld = y->ld, .cols = y->cols}};

    if (reference)
        call.kernel->reference(&call, rows, v, flags);
    else
        on_device_run(&call, rows, v, flags);
}

/* The same bits each time. */
static void check_column_sum(int rows, int n, bool indexed, unsigned flags)
{
    struct matrix x = matrix_random(&state, rows + 1, n, 3), got = matrix_random(&state, 1, n, 0);
    struct matrix again = matrix_copy(&got), want = matrix_copy(&got);
    int32_t *rows_of_x = matrix_random_rows(&state, rows, rows + 1);
    const int32_t *index = indexed ? rows_of_x : NULL;

    sum_columns(&x, index, rows, flags, false, &got);
    sum_columns(&x, index, rows, flags, false, &again);
    sum_columns(&x, index, rows, flags, true, &want);
    for (int c = 0; c < n; c++)
        number_near(*matrix_at(&got, 0, c), *matrix_at(&want, 0, c), 1e-6 * (rows + 1),
                    "column_sum");
    matrix_same(&got, &again, "column_sum");
    matrix_check(&got, "column_sum");
    matrix_free(&x);
    matrix_free(&got);
    matrix_free(&again);
    matrix_free(&want);
    free(rows_of_x);
}

/* Many rows are summed in parts, except where there are columns enough. */
static void column_sums_of_few_and_many_rows(void **unused)
{
    static const struct {
        int rows, n;
    } shapes[] = {{0, 5},   {1, 17},   {127, 3},    {128, 16}, {255, 16},   {256, 16},   {257, 33},
                  {399, 1}, {1000, 5}, {3001, 100}, {9000, 3}, {300, 8208}, {300, 16400}};

    (void)unused;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int k = 0; k < 4; k++)
            check_column_sum(shapes[i].rows, shapes[i].n, k % 2 == 0, k < 2 ? CAVS__FIRST : 0);
}

static void nan_in_a_row_is_not_lost(void **unused)
{
    const char *const names[] = {"row_max", "softmax", "log_softmax"};

    (void)unused;
    for (int i = 0; i < 3; i++) {
        float x[COLS] = {[5] = 7, [99] = NAN}, y[COLS] = {0};
        const struct cavs__call call = {.kernel = cavs__kernel_find(names[i])};
        const struct cavs__view v[] = {{.p = x, .ld = COLS, .cols = COLS},
                                       {.p = y, .ld = COLS, .cols = i ? COLS : 1}};

        on_device_run(&call, 1, v, 0);
        assert_true(isnan(y[i ? 5 : 0]));
    }
}

/* An item that has only met numbers without a power has nothing to add. */
static void softmaxes_take_minus_infinity_among_finite_numbers(void **unused)
{
    const char *const names[] = {"softmax", "log_softmax"};

    (void)unused;
    for (int i = 0; i < 4; i++) {
        const int cols = i < 2 ? COLS : WIDE; /* an item has all of a row's numbers, or not */
        struct matrix x = matrix_unset(1, cols, 0), got = matrix_unset(1, cols, 0);
        struct matrix want = matrix_copy(&got);
        const struct cavs__call call = {.kernel = cavs__kernel_find(names[i % 2])};
        struct cavs__view v[] = {{.p = x.p, .ld = cols, .cols = cols},
                                 {.p = got.p, .ld = cols, .cols = cols}};

        for (int c = 0; c < cols; c++)
            *matrix_at(&x, 0, c) = c % 5 == 3 && c > cols / 2 ? -2 : -INFINITY;
        on_device_run(&call, 1, v, 0);
        v[1].p = want.p;
        call.kernel->reference(&call, 1, v, 0);
        for (int c = 0; c < cols; c++)
            if (isinf(want.p[c]))
                assert_true(got.p[c] == want.p[c]);
            else
                number_near(got.p[c], want.p[c], 2e-6, names[i % 2]);
        matrix_free(&x);
        matrix_free(&got);
        matrix_free(&want);
    }
}

/* ---- sums of rows ---- */

/* Rows of 0 to 20 others; they begin `at` numbers into the memory, `pad` more than n apart. */
static void check_sums(const char *name, int n, int pad, int at)
{
    struct matrix x = matrix_random(&state, SOURCE_ROWS, n, pad);
    struct matrix got = matrix_unset(ROWS, n, pad), want = matrix_copy(&got);
    const struct cavs__call call = {.kernel = cavs__kernel_find(name)};
    int32_t ptr[ROWS + 1] = {0}, *index;
    struct cavs__view v[] = {{.p = x.p, .ld = x.ld, .cols = n, .ptr = ptr},
                             {.p = got.p, .ld = got.ld, .cols = n}};

    for (int r = 0; r < ROWS; r++)
        ptr[r + 1] = ptr[r] + r % 21;
    v[0].index = index = matrix_random_rows(&state, ptr[ROWS], SOURCE_ROWS);
    on_device_run_at(at, &call, ROWS, v, 0);
    v[1].p = want.p;
    call.kernel->reference(&call, ROWS, v, 0);
    matrix_near(&got, &want, 2e-6, name);
    matrix_check(&got, name);
    matrix_free(&x);
    matrix_free(&got);
    matrix_free(&want);
    free(index);
}

/* Fours at once are for those of 16 bytes only. */
static void rows_are_summed_wherever_they_lie(void **unused)
{
    static const int widths[] = {1, 4, 13, 64, 130, 1028, 1030};

    (void)unused;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (int k = 0; k < 16; k++) {
            check_sums("sum_rows", widths[i], k % 4 == 3 ? 4 : k % 4, k / 4);
            check_sums("list_sum", widths[i], k % 4 == 3 ? 4 : k % 4, k / 4);
        }
}

/* ---- sparse updates ---- */

enum {
    UPDATED = 40,
    TOUCHED = 13,
    MOST_ARRAYS = 9,
    MOST_ENTRIES = TOUCHED * 20,
    SIZE = UPDATED * 37,
    SPARSE_ROOM = 16 + 5 * 37, /* for the sums of five rows */
    SPARSE_NUMBERS = (3 + MOST_ARRAYS) * SIZE + SPARSE_ROOM
};

/* Values, two states, the gradient's arrays and room are `numbers`, one after the other. */
struct sparse {
    struct cavs__update rule;
    int arrays;
    float numbers[SPARSE_NUMBERS];
    struct {
        int32_t ids[TOUCHED], ptr[TOUCHED + 1], source[MOST_ENTRIES], row[MOST_ENTRIES];
    } lists;
    int64_t launches;
};

#define PLACE(list) (int)(offsetof(struct sparse, lists.list) - offsetof(struct sparse, lists)) / 4

static void sparse_random(struct sparse *s, enum cavs_optimizer rule, int arrays)
{
    *s = (struct sparse){.rule = {.rule = rule,
                                  .lr = 0.1f,
                                  .scale = 0.5f,
                                  .correction1 = 0.2f,
                                  .correction2 = 0.1f,
                                  .momentum = 0.9f,
                                  .decay = 0.9f,
                                  .beta1 = 0.9f,
                                  .beta2 = 0.99f,
                                  .epsilon = 0.01f,
                                  .weight_decay = 0.1f},
                         .arrays = arrays};
    for (int i = 0; i < (3 + arrays) * SIZE; i++)
        s->numbers[i] = (float)random_double(&state, 0, 1);
    for (int i = 0; i < TOUCHED; i++) {
        s->lists.ids[i] = 3 * (TOUCHED - i);
        s->lists.ptr[i + 1] = s->lists.ptr[i] + random_int(&state, 1, 20);
    }
    for (int e = 0; e < s->lists.ptr[TOUCHED]; e++) {
        s->lists.source[e] = random_int(&state, 0, arrays - 1);
        s->lists.row[e] = random_int(&state, 0, UPDATED - 1);
    }
}

static int queue_sparse(struct cavs__device *d, struct cavs__memory numbers,
                        struct cavs__memory lists, void *arg)
{
    struct sparse *s = arg;
    struct cavs__memory m[3 + MOST_ARRAYS + 1];
    const struct cavs__device_clip none = {0};
    int64_t before = cavs__devices_launched().all, at = lists.at;
    int rc;

    for (int i = 0; i <= 3 + MOST_ARRAYS; i++)
        m[i] = (struct cavs__memory){numbers.p, numbers.at + i * SIZE};
    rc = cavs__device_update(
        d, &s->rule,
        &(struct cavs__device_gradient){.ngrads = s->arrays,
                                        .g = m + 3,
                                        .ld = 37,
                                        .sparse = true,
                                        .lists = lists.p,
                                        .ids = (int)at + PLACE(ids),
                                        .ptr = (int)at + PLACE(ptr),
                                        .source = (int)at + PLACE(source),
                                        .row = (int)at + PLACE(row),
                                        .n = TOUCHED,
                                        .cols = 37,
                                        .room = m[3 + MOST_ARRAYS],
                                        .floats = SPARSE_ROOM},
        &(struct cavs__device_param){.rows = UPDATED, .ld = 37, .w = m[0], .s0 = m[1], .s1 = m[2]},
        &none);
    s->launches = cavs__devices_launched().all - before;
    return rc;
}

/* On the CPU. */
static void expect_sparse(struct sparse *s)
{
    const float *arrays[MOST_ARRAYS];

    for (int i = 0; i < MOST_ARRAYS; i++)
        arrays[i] = s->numbers + (3 + i) * SIZE;
    cavs__update_sparse(&s->rule, TOUCHED, s->lists.ids, s->lists.ptr, s->lists.source,
                        s->lists.row, 37, s->numbers, 37, s->numbers + SIZE, s->numbers + 2 * SIZE,
                        arrays, 37, false);
}

static void check_sparse(int arrays, int launches)
{
    static struct sparse got, want;

    for (int rule = CAVS_SGD; rule <= CAVS_ADAM; rule++) {
        sparse_random(&got, (enum cavs_optimizer)rule, arrays);
        want = got;
        on_device_do(queue_sparse, &got, got.numbers, SPARSE_NUMBERS, (int32_t *)&got.lists,
                     sizeof got.lists / 4);
        assert_int_equal(got.launches, launches);
        expect_sparse(&want);
        for (int i = 0; i < 3 * SIZE; i++)
            number_near(got.numbers[i], want.numbers[i], 1e-5, cavs__rules[rule].name);
    }
}

static void sparse_updates_of_eight_arrays_are_one_launch(void **unused)
{
    (void)unused;
    check_sparse(1, 1);
    check_sparse(8, 1);
}

/* A kernel takes eight, and there is room for five rows: three times two sums and an update. */
static void sparse_updates_of_more_arrays_sum_them_first(void **unused)
{
    (void)unused;
    check_sparse(9, 9);
}

int main(void)
{
    struct CMUnitTest tests[KERNEL_CASES + OWN_CASES] = {
        cmocka_unit_test(row_kernels_agree_with_their_reference),
        cmocka_unit_test(nan_in_a_row_is_not_lost),
        cmocka_unit_test(softmaxes_take_minus_infinity_among_finite_numbers),
        cmocka_unit_test(rows_are_summed_wherever_they_lie),
        cmocka_unit_test(sparse_updates_of_eight_arrays_are_one_launch),
        cmocka_unit_test(sparse_updates_of_more_arrays_sum_them_first),
        cmocka_unit_test(column_sums_of_few_and_many_rows),
        cmocka_unit_test(fused_groups_agree_with_their_reference),
        cmocka_unit_test(equal_groups_have_one_kernel),
    };
    int failed;

    if (!on_device_up()) {
        printf("1..0 # SKIP no device\n");
        return 0;
    }
    memcpy(tests + OWN_CASES, kernel_cases, sizeof(kernel_cases));
    cavs__gemm_init();
    kernel_cases_run_by(on_device_run, 18);
    failed = cmocka_run_group_tests_name("kernels on OpenCL", tests, NULL, NULL);
    on_device_down();
    return failed;
}
