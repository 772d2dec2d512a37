/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_products.c - products that a device takes in one launch, in each size of tiles,
 * against a sum in double, and each against itself alone; and which tiles they get. Skipped where
 * there is no device; PoCL is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "codelets/device/products.h"
#include "tests/matrix.h"
#include "tests/on_device.h"
#include "tests/random.h"

enum { SOURCE_ROWS = 40, MOST = CAVS__MOST_TOGETHER };

static uint64_t state = 5;

/* The products of a launch; x of each is rows as they lie, one row for all, or rows by index, some
 * of which are missing. */
struct products {
    int n, rows;
    struct matrix x[MOST], w[MOST], old[MOST], y[MOST];
    int32_t *index[MOST];
    struct cavs__call calls[MOST];
};

static int one_of(int n, const int *values)
{
    return values[random_int(&state, 0, n - 1)];
}

static struct products products_random(int n, int rows)
{
    static const int ks[] = {1, 8, 15, 17, 64, 200}, ns[] = {1, 7, 32, 64, 65, 132};
    struct products p = {.n = n, .rows = rows};

    for (int i = 0; i < n; i++) {
        int k = one_of(6, ks), cols = one_of(6, ns), most = rows > SOURCE_ROWS ? rows : SOURCE_ROWS;

        /* the other pitches may not be copied by fours */
        p.x[i] =
            matrix_random(&state, most, k, random_int(&state, 0, 1) * random_int(&state, 1, 4));
        p.w[i] =
            matrix_random(&state, k, cols, random_int(&state, 0, 1) * random_int(&state, 1, 4));
        p.old[i] = matrix_random(&state, rows, cols, random_int(&state, 0, 3));
        p.calls[i] = (struct cavs__call){.kernel = cavs__kernel_find("gemm")};
        if (i % 2 == 0)
            continue;
        p.index[i] = malloc(((size_t)rows + 1) * sizeof **p.index);
        assert_non_null(p.index[i]);
        for (int r = 0; r < rows; r++)
            p.index[i][r] = random_int(&state, -1, most - 1);
    }
    return p;
}

static void products_free(struct products *p)
{
    for (int i = 0; i < p->n; i++) {
        matrix_free(&p->x[i]);
        matrix_free(&p->w[i]);
        matrix_free(&p->old[i]);
        free(p->index[i]);
    }
}

/* One row for all in every third product. */
static bool repeats(int i)
{
    return i % 3 == 2 && i % 2 == 0;
}

static void views_of(const struct products *p, int i, struct cavs__view *v)
{
    v[0] = (struct cavs__view){.p = p->x[i].p,
                               .ld = repeats(i) ? 0 : p->x[i].ld,
                               .index = p->index[i],
                               .cols = p->x[i].cols};
    v[1] = (struct cavs__view){.p = p->w[i].p, .ld = p->w[i].ld, .cols = p->w[i].cols};
    v[2] = (struct cavs__view){.p = p->y[i].p, .ld = p->y[i].ld, .cols = p->y[i].cols};
}

/* Fills y with these tiles: in one launch, or in one each. */
static void run(struct products *p, int tiles, bool together)
{
    struct cavs__view v[3 * MOST];
    int64_t before = cavs__devices_launched().all;

    for (int i = 0; i < p->n; i++) {
        p->y[i] = matrix_copy(&p->old[i]);
        views_of(p, i, &v[3 * i]);
    }
    if (together)
        on_device_products(tiles, p->n, p->calls, p->rows, v);
    for (int i = 0; i < p->n && !together; i++)
        on_device_products(tiles, 1, &p->calls[i], p->rows, &v[3 * i]);
    assert_int_equal(cavs__devices_launched().all - before, p->rows == 0 ? 0 : together ? 1 : p->n);
}

static double expected(const struct products *p, int i, int r, int c)
{
    int row = p->index[i] ? p->index[i][r] : repeats(i) ? 0 : r;
    double sum = 0;

    for (int k = 0; k < p->x[i].cols && row >= 0; k++)
        sum += (double)*matrix_at(&p->x[i], row, k) * *matrix_at(&p->w[i], k, c);
    return sum;
}

static void check(const struct products *p)
{
    for (int i = 0; i < p->n; i++) {
        matrix_check(&p->y[i], "product");
        for (int r = 0; r < p->rows; r++)
            for (int c = 0; c < p->y[i].cols; c++)
                number_near(*matrix_at(&p->y[i], r, c), expected(p, i, r, c), 2e-5, "product");
    }
}

static void free_results(struct products *p)
{
    for (int i = 0; i < p->n; i++)
        matrix_free(&p->y[i]);
}

static const int some_rows[] = {0, 1, 2, 15, 16, 17, 33, 64, 65, 130};
enum { SOME_ROWS = sizeof some_rows / sizeof *some_rows };

static void check_all(int tiles)
{
    for (int i = 0; i < SOME_ROWS; i++)
        for (int n = 1 + i % 2; n <= MOST; n += 3) {
            struct products p = products_random(n, some_rows[i]);

            run(&p, tiles, true);
            check(&p);
            free_results(&p);
            products_free(&p);
        }
}

static void narrow_tiles_multiply_rows_of_any_number(void **unused)
{
    (void)unused;
    check_all(CAVS__TILES_narrow);
}

static void short_tiles_multiply_rows_of_any_number(void **unused)
{
    (void)unused;
    check_all(CAVS__TILES_short);
}

static void tall_tiles_multiply_rows_of_any_number(void **unused)
{
    (void)unused;
    check_all(CAVS__TILES_tall);
}

static void a_product_has_the_same_bits_alone_and_beside_others(void **unused)
{
    struct products p = products_random(MOST, 70), alone = p;

    (void)unused;
    for (int tiles = 0; tiles < CAVS__TILES_COUNT; tiles++) {
        run(&p, tiles, true);
        run(&alone, tiles, false);
        for (int i = 0; i < MOST; i++)
            matrix_same(&p.y[i], &alone.y[i], "product");
        free_results(&p);
        free_results(&alone);
    }
    products_free(&p);
}

static void products_get_the_tiles_that_suit_them(void **unused)
{
    static const struct {
        int rows, k, cols, tiles;
    } cases[] = {
        {1, 64, 64, CAVS__TILES_narrow},    {16, 512, 1536, CAVS__TILES_narrow},
        {256, 512, 768, CAVS__TILES_short}, {700, 1024, 1536, CAVS__TILES_tall},
        {4096, 512, 512, CAVS__TILES_tall}, {5, 512, 100000, CAVS__TILES_short},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cavs__device of_132_units = {.units = 132};
        struct cavs__device_view v[3] = {
            {.cols = cases[i].k}, {.cols = cases[i].cols}, {.cols = cases[i].cols}};
        struct cavs__device_call c = {
            .device = &of_132_units, .rows = cases[i].rows, .v = v, .nviews = 3};
        const struct cavs__device_call *calls = &c;

        assert_int_equal(cavs__device_tiles_for(1, &calls), cases[i].tiles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_tiles_multiply_rows_of_any_number),
        cmocka_unit_test(short_tiles_multiply_rows_of_any_number),
        cmocka_unit_test(tall_tiles_multiply_rows_of_any_number),
        cmocka_unit_test(a_product_has_the_same_bits_alone_and_beside_others),
        cmocka_unit_test(products_get_the_tiles_that_suit_them),
    };
    int failed;

    setenv("CAVS_DEVICE_PRODUCTS", "grouped", 1);
    if (!on_device_up()) {
        printf("1..0 # SKIP no device\n");
        return 0;
    }
    failed = cmocka_run_group_tests_name("products on OpenCL", tests, NULL, NULL);
    on_device_down();
    return failed;
}
