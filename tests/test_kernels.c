/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels.c - the CPU kernels: the cases that all implementations share, and what only these
 * promise. */
#include <string.h>

#include "codelets/copies.h"
#include "codelets/products/gemm.h"
#include "tests/kernel_cases.h"
#include "tests/matrix.h"
#include "tests/random.h"

static uint64_t state = 1;

static void run_on_cpu(const struct cavs__call *call, int rows, const struct cavs__view *v,
                       unsigned flags)
{
    call->kernel->cpu(call, rows, v, flags);
}

static void run(const char *name, int rows, const struct cavs__view *v, unsigned flags)
{
    const struct cavs__call call = {.kernel = cavs__kernel_find(name)};

    run_on_cpu(&call, rows, v, flags);
}

static struct cavs__view view_of(const struct matrix *m)
{
    return (struct cavs__view){.p = m->p, .ld = m->ld, .cols = m->cols};
}

/* Rows [0, half) and then [half, rows) against all rows at once; a BLAS may block products
 * differently. */
static void reductions_do_not_depend_on_how_rows_are_split(void **unused)
{
    static const char *const names[] = {"column_sum", "gemm_tn"};
    const int rows = 150, half = 67, k = 20, n = 40;
    struct matrix x = matrix_random(&state, rows, k, 1), dy = matrix_random(&state, rows, n, 0);
    (void)unused;

    for (int i = 0; i < (strncmp(cavs__gemm()->name, "avx", 3) ? 1 : 2); i++) {
        struct matrix whole = matrix_unset(i ? k : 1, n, 0), split = matrix_unset(i ? k : 1, n, 0);
        struct cavs__view v[3] = {view_of(&x), view_of(&dy), view_of(&whole)};
        struct cavs__view *const from = i ? v : v + 1; /* column_sum: dy, output */

        run(names[i], rows, from, CAVS__FIRST);
        v[2].p = split.p;
        run(names[i], half, from, CAVS__FIRST);
        v[0].p = matrix_at(&x, half, 0);
        v[1].p = matrix_at(&dy, half, 0);
        run(names[i], rows - half, from, 0);
        matrix_same(&whole, &split, names[i]);
        matrix_free(&whole);
        matrix_free(&split);
    }
    matrix_free(&x);
    matrix_free(&dy);
}

/* The same bits as of weights as they lie, and the reference's sums, for rows read in any way. */
static void gemm_takes_weights_in_panels(void **unused)
{
    (void)unused;
    for (int n = 1; n < 100 && cavs__gemm()->gemm_panels; n += 7) {
        const int rows = n / 2, k = 1 + 3 * n % 50;
        struct matrix x = matrix_random(&state, rows + 1, k, 2), w = matrix_random(&state, k, n, 1),
                      panels = matrix_unset(cavs__layout_rows(CAVS__LAYOUT_PANELS, k, n),
                                            cavs__layout_cols(CAVS__LAYOUT_PANELS, k, n), 5);
        int32_t index[50];

        for (int r = 0; r < rows; r++)
            index[r] = random_int(&state, -1, rows);
        cavs__copy_block(
            &(struct cavs__copy){.layout = CAVS__LAYOUT_PANELS, .ld = panels.ld, .p = panels.p}, 0,
            0, k, n, w.p, w.ld);
        for (int indexed = 0; indexed < 2; indexed++) {
            struct matrix y[3];
            struct cavs__call call = {.kernel = cavs__kernel_find("gemm")};
            struct cavs__view v[] = {view_of(&x), view_of(&w), {0}};

            v[0].index = indexed ? index : NULL;
            for (int i = 0; i < 3; i++) {
                y[i] = matrix_unset(rows, n, 3);
                v[2] = view_of(&y[i]);
                if (i > 0)
                    v[1] = (struct cavs__view){.p = panels.p, .ld = panels.ld, .cols = n};
                call.panels = i > 0;
                (i < 2 ? call.kernel->cpu : call.kernel->reference)(&call, rows, v, 0);
            }
            matrix_same(&y[1], &y[0], "panels");
            matrix_near(&y[1], &y[2], 1e-5, "panels");
            for (int i = 0; i < 3; i++)
                matrix_free(&y[i]);
        }
        matrix_free(&x);
        matrix_free(&w);
        matrix_free(&panels);
    }
}

static void kernels_are_found_by_name(void **unused)
{
    (void)unused;
    assert_string_equal(cavs__kernel_find("elementwise")->name, "elementwise");
    assert_true(cavs__kernel_find("gemm_tn")->reduces);
    assert_false(cavs__kernel_find("gemm")->reduces);
    assert_null(cavs__kernel_find("no such kernel"));
}

int main(void)
{
    struct CMUnitTest tests[KERNEL_CASES + 3] = {
        cmocka_unit_test(kernels_are_found_by_name),
        cmocka_unit_test(reductions_do_not_depend_on_how_rows_are_split),
        cmocka_unit_test(gemm_takes_weights_in_panels),
    };

    memcpy(tests + 3, kernel_cases, sizeof(kernel_cases));
    cavs__gemm_init();
    kernel_cases_run_by(run_on_cpu, 60);
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
