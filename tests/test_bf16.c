/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bf16.c - bfloat16: rounding and packing against their definitions, every provider of
 * products against naive sums in double of numbers that are rounded here once more
 * (codelets/products/bf16.h).
 *
 * Shapes are random and small, beside edges where kernels change their path: nothing at all, one,
 * around tiles of 16 and 32, panels of 64, slices of 256 and 512, and past the blocks of rows.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/bf16_pack.h"
#include "codelets/products/bf16.h"
#include "codelets/products/gemm.h"
#include "tests/product.h"
#include "tests/random.h"

static const struct shape edges[] = {
    {0, 7, 3},      {3, 0, 7},     {7, 3, 0},     {0, 0, 0},     {1, 1, 1},       {1, 5, 1},
    {5, 1, 9},      {1, 1, 300},   {17, 1, 40},   {33, 5, 64},   {6, 64, 16},     {7, 65, 17},
    {12, 63, 33},   {13, 128, 8},  {16, 64, 32},  {16, 48, 32},  {32, 32, 64},    {33, 33, 33},
    {31, 31, 31},   {48, 64, 255}, {64, 80, 256}, {49, 96, 257}, {2, 129, 3},     {300, 20, 10},
    {257, 70, 9},   {1060, 66, 7}, {515, 5, 30},  {2, 9, 2100},  {270, 19, 1030}, {3, 2, 513},
    {64, 192, 128}, {2, 3, 17000}, {40, 7, 600},
};
enum { EDGES = sizeof(edges) / sizeof(*edges), RANDOM_SHAPES = 80 };

static struct shape shape_of(int i, uint64_t *state)
{
    struct shape s;

    if (i < EDGES)
        return edges[i];
    s.m = random_int(state, 0, 70);
    s.n = random_int(state, 0, 150);
    s.k = random_int(state, 0, 90);
    return s;
}

/* ---- rounding ---- */

/* By arithmetic on numbers. */
static double rounded(float x)
{
    int exponent;

    if (isnan(x) || isinf(x))
        return x;
    if (fabsf(x) < FLT_MIN)
        return copysign(0, x);
    frexp(x, &exponent);
    const double y = ldexp(nearbyint(ldexp(x, 8 - exponent)), exponent - 8);
    return fabs(y) >= 0x1p128 ? copysign(INFINITY, y) : y;
}

static float widened(uint32_t number)
{
    float x;

    number <<= 16;
    memcpy(&x, &number, sizeof(x));
    return x;
}

static uint16_t round_one(float x)
{
    uint16_t y = 0;

    cavs__bf16_round(1, &x, &y);
    return y;
}

static void numbers_are_rounded_to_the_nearest_and_ties_to_even(void **unused)
{
    uint64_t state = 5;

    (void)unused;
    assert_int_equal(round_one(1.0f), 0x3f80);
    assert_int_equal(round_one(-2.0f), 0xc000);
    assert_int_equal(round_one(0x1.01p0f), 0x3f80); /* halfway: down to even */
    assert_int_equal(round_one(0x1.03p0f), 0x3f82); /* halfway: up to even */
    assert_int_equal(round_one(0x1.010002p0f), 0x3f81);
    for (int i = 0; i < 100000; i++) {
        const uint32_t bits = (uint32_t)random_next(&state);
        float x;
        memcpy(&x, &bits, sizeof(x));
        const double want = rounded(x), got = widened(round_one(x));
        if (isnan(x))
            assert_true(isnan(got));
        else if (want != got || !signbit(want) != !signbit(got))
            fail_msg("%a is rounded to %a instead of %a", x, got, want);
    }
}

static void nan_stays_nan_and_what_is_too_large_or_small_is_inf_or_zero(void **unused)
{
    const uint32_t quiet_bits_below = 0x7f800001;
    float x;

    (void)unused;
    memcpy(&x, &quiet_bits_below, sizeof(x));
    assert_true(isnan(widened(round_one(x))));
    assert_true(isnan(widened(round_one(-NAN))));
    assert_int_equal(round_one(INFINITY), 0x7f80);
    assert_int_equal(round_one(FLT_MAX), 0x7f80);
    assert_int_equal(round_one(-FLT_MAX), 0xff80);
    assert_int_equal(round_one(0x1.fep127f), 0x7f7f);
    assert_int_equal(round_one(FLT_MIN), 0x0080);
    assert_int_equal(round_one(0x1.fffffcp-127f), 0x0000);
    assert_int_equal(round_one(-0x1p-140f), 0x8000);
}

/* ---- packing ---- */

/* Packed w (k, n) with guards, NaN, between panels. */
struct packed {
    int k, n;
    ptrdiff_t ld;
    uint32_t *p, *memory;
};

enum { GUARD = 16, GUARD_BITS = 0x7fc07fc0 };

static struct packed packed_zero(int k, int n)
{
    struct packed w = {.k = k, .n = n, .ld = cavs__bf16_panel_size(k) + GUARD};
    const size_t size = (size_t)(cavs__bf16_panels(n) * w.ld + GUARD);

    w.memory = aligned_alloc(64, size * sizeof(uint32_t));
    assert_non_null(w.memory);
    for (size_t i = 0; i < size; i++)
        w.memory[i] = GUARD_BITS;
    w.p = w.memory + GUARD;
    for (int j = 0; j < cavs__bf16_panels(n); j++)
        memset(w.p + j * w.ld, 0, (size_t)cavs__bf16_panel_size(k) * sizeof(uint32_t));
    return w;
}

static struct packed packed_of(const struct matrix *m)
{
    struct packed w = packed_zero(m->rows, m->cols);

    cavs__bf16_pack(0, m->rows, 0, m->cols, m->p, m->ld, w.p, w.ld);
    return w;
}

/* Of w (k, n), or of what is around it. */
static float packed_at(const struct packed *w, int p, int j)
{
    const uint32_t pair = w->p[j / CAVS__BF16_PANEL * w->ld + p / 2 * (ptrdiff_t)CAVS__BF16_PANEL +
                               j % CAVS__BF16_PANEL];

    return widened(p % 2 ? pair >> 16 : pair & 0xffff);
}

static void check_packed(const struct packed *w, const struct matrix *m, bool transposed)
{
    const int rows = 2 * (int)(cavs__bf16_panel_size(w->k) / CAVS__BF16_PANEL);

    for (int j = 0; j < cavs__bf16_panels(w->n) * CAVS__BF16_PANEL; j++)
        for (int p = 0; p < rows; p++) {
            const bool inside = p < w->k && j < w->n;
            const double want =
                !inside ? 0 : rounded(transposed ? *matrix_at(m, j, p) : *matrix_at(m, p, j));
            if (packed_at(w, p, j) != want)
                fail_msg("packed %d x %d%s: %g instead of %g in row %d, column %d", w->k, w->n,
                         transposed ? " transposed" : "", packed_at(w, p, j), want, p, j);
        }
    for (int j = -1; j < cavs__bf16_panels(w->n); j++)
        for (int i = 0; i < GUARD; i++)
            assert_int_equal(w->p[(j + 1) * w->ld - GUARD + i], GUARD_BITS);
}

/* In blocks, as an update does it. */
static void pack_blocks(const struct matrix *m, struct packed *w, bool transposed, int height,
                        int width)
{
    for (int r = 0; r < m->rows; r += height)
        for (int c = 0; c < m->cols; c += width)
            (transposed ? cavs__bf16_pack_transposed : cavs__bf16_pack)(
                r, r + height < m->rows ? height : m->rows - r, c,
                c + width < m->cols ? width : m->cols - c, matrix_at(m, r, c), m->ld, w->p, w->ld);
}

static void packed_weights_are_pairs_in_panels(void **unused)
{
    uint64_t state = 8;

    (void)unused;
    for (int i = 0; i < EDGES + RANDOM_SHAPES; i++)
        for (int way = 0; way < 2; way++) {
            const struct shape s = shape_of(i, &state);
            struct matrix m = matrix_random(&state, s.k, s.n, random_int(&state, 0, 9));
            struct packed w = way ? packed_zero(s.n, s.k) : packed_zero(s.k, s.n);
            pack_blocks(&m, &w, way, random_int(&state, 1, 80), random_int(&state, 1, 600));
            check_packed(&w, &m, way);
            matrix_free(&m);
            free(w.memory);
        }
}

/* ---- products ---- */

/* The same product of the numbers as they are, and as they are rounded. */
struct task {
    struct product p, rounded;
    struct packed w; /* b, unless transposed */
};

static struct matrix matrix_rounded(const struct matrix *m)
{
    struct matrix y = matrix_copy(m);

    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            *matrix_at(&y, i, j) = (float)rounded(*matrix_at(m, i, j));
    return y;
}

static struct task task_random(const char *provider, struct shape s, bool transposed,
                               bool accumulate, uint64_t *state)
{
    struct task t = {.p = product_random(provider, transposed ? "gemm_tn" : "gemm", s, transposed,
                                         accumulate, state)};

    t.rounded = t.p;
    t.rounded.a = matrix_rounded(&t.p.a);
    t.rounded.b = matrix_rounded(&t.p.b);
    t.rounded.c = matrix_copy(&t.p.c);
    if (!transposed)
        t.w = packed_of(&t.p.b);
    return t;
}

static void task_free(struct task *t)
{
    product_free(&t->p);
    product_free(&t->rounded);
    free(t->w.memory);
}

/* Rows [first, first + rows) of the product alone. */
static void multiply_rows(const struct cavs__bf16_provider *with, const struct task *t, int first,
                          int rows, struct matrix *c)
{
    const struct product *p = &t->p;

    with->gemm(rows, p->shape.n, p->shape.k, matrix_at(&p->a, first, 0), p->a.ld, t->w.p, t->w.ld,
               matrix_at(c, first, 0), c->ld, p->accumulate);
}

/* What rows [first, first + rows) of x and dy add to dw. */
static void add_rows(const struct cavs__bf16_provider *with, const struct product *p, int first,
                     int rows, bool accumulate, struct matrix *c)
{
    const struct cavs__gemm_rows x = {matrix_at(&p->a, first, 0), p->a.ld, NULL};
    const struct cavs__gemm_rows dy = {matrix_at(&p->b, first, 0), p->b.ld, NULL};

    with->gemm_tn(rows, p->shape.n, p->shape.k, &x, &dy, c->p, c->ld, accumulate);
}

static void multiply(const struct cavs__bf16_provider *with, const struct task *t, struct matrix *c)
{
    if (t->p.transposed)
        add_rows(with, &t->p, 0, t->p.shape.m, t->p.accumulate, c);
    else
        multiply_rows(with, t, 0, t->p.shape.m, c);
}

/* The reference takes its time. */
static bool is_too_slow(const struct cavs__bf16_provider *with, struct shape s)
{
    return !strcmp(with->name, "reference") && (double)s.m * s.n * s.k > 1e5;
}

/* Calls test(provider, task) for every available provider, shape, product and way to start. */
static void for_all(void test(const struct cavs__bf16_provider *, const struct task *))
{
    for (int g = 0; cavs__bf16_providers[g]; g++) {
        const struct cavs__bf16_provider *with = cavs__bf16_providers[g];
        uint64_t state = 1;
        if (!with->available())
            continue;
        for (int i = 0; i < EDGES + RANDOM_SHAPES; i++) {
            const struct shape s = shape_of(i, &state);
            for (int way = 0; way < 4 && !is_too_slow(with, s); way++) {
                struct task t = task_random(with->name, s, way & 1, way & 2, &state);
                test(with, &t);
                task_free(&t);
            }
        }
    }
}

static void check_result(const struct cavs__bf16_provider *with, const struct task *t)
{
    struct matrix c = matrix_copy(&t->p.c);

    multiply(with, t, &c);
    product_check(&t->rounded, &c);
    matrix_free(&c);
}

static void products_are_the_naive_sums_of_rounded_numbers_and_touch_nothing_else(void **unused)
{
    (void)unused;
    for_all(check_result);
}

static void check_repeats(const struct cavs__bf16_provider *with, const struct task *t)
{
    struct matrix c = matrix_copy(&t->p.c), again = matrix_copy(&t->p.c);

    multiply(with, t, &c);
    multiply(with, t, &again);
    matrix_same(&c, &again, t->p.name);
    matrix_free(&c);
    matrix_free(&again);
}

static void the_same_call_gives_the_same_bits(void **unused)
{
    (void)unused;
    for_all(check_repeats);
}

static void check_rounded(const struct cavs__bf16_provider *with, const struct task *t)
{
    const struct product *p = &t->p;
    struct matrix c = matrix_copy(&p->c), from_rounded = matrix_copy(&p->c);
    const ptrdiff_t ld = p->shape.k + 3;
    uint16_t *x = malloc((size_t)(p->shape.m * ld + 1) * sizeof(*x));

    assert_non_null(x);
    for (int i = 0; i < p->shape.m && !p->transposed; i++) {
        cavs__bf16_round(p->shape.k, matrix_at(&p->a, i, 0), x + i * ld);
        for (int q = 0; q < 3; q++)
            x[i * ld + p->shape.k + q] = GUARD_BITS & 0xffff;
    }
    if (!p->transposed) {
        multiply(with, t, &c);
        with->gemm_rounded(p->shape.m, p->shape.n, p->shape.k, x, ld, t->w.p, t->w.ld,
                           from_rounded.p, from_rounded.ld, p->accumulate);
        matrix_same(&c, &from_rounded, p->name);
    }
    free(x);
    matrix_free(&c);
    matrix_free(&from_rounded);
}

static void rows_rounded_before_give_the_same_bits(void **unused)
{
    (void)unused;
    for_all(check_rounded);
}

/* The rows of m that an index names, zeros for none, side by side. */
static struct matrix matrix_gathered(const struct matrix *m, const int32_t *index)
{
    struct matrix y = matrix_copy(m);

    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            *matrix_at(&y, i, j) = index[i] < 0 ? 0 : *matrix_at(m, index[i], j);
    return y;
}

static void check_gathered(const struct cavs__bf16_provider *with, const struct task *t)
{
    const struct product *p = &t->p;
    const struct shape s = p->shape;
    uint64_t state = (uint64_t)(s.m + s.n);
    int32_t *of_a = matrix_random_rows(&state, s.m, s.m),
            *of_b = matrix_random_rows(&state, s.m, s.m);
    struct matrix c = matrix_copy(&p->c), from_copies = matrix_copy(&p->c);
    struct task copies = *t;

    if (p->transposed) {
        with->gemm_tn(s.m, s.n, s.k, &(struct cavs__gemm_rows){p->a.p, p->a.ld, of_a},
                      &(struct cavs__gemm_rows){p->b.p, p->b.ld, of_b}, c.p, c.ld, p->accumulate);
        copies.p.a = matrix_gathered(&p->a, of_a);
        copies.p.b = matrix_gathered(&p->b, of_b);
        multiply(with, &copies, &from_copies);
        matrix_same(&c, &from_copies, p->name);
        matrix_free(&copies.p.a);
        matrix_free(&copies.p.b);
    }
    free(of_a);
    free(of_b);
    matrix_free(&c);
    matrix_free(&from_copies);
}

static void rows_of_gradients_may_be_anywhere(void **unused)
{
    (void)unused;
    for_all(check_gathered);
}

/* x w in calls of some rows each; x^T dy in calls of so many rows as do not matter. */
static void check_split(const struct cavs__bf16_provider *with, const struct task *t)
{
    const struct product *p = &t->p;
    struct matrix c = matrix_copy(&p->c), split = matrix_copy(&p->c);
    const int m = p->shape.m, most = p->transposed ? CAVS__BF16_DEPTH * (1 + m % 3) : 1 + m % 37;

    multiply(with, t, &c);
    if (p->transposed && m == 0)
        multiply(with, t, &split);
    for (int i = 0; i < m; i += most) {
        const int rows = m - i < most ? m - i : most;
        if (p->transposed)
            add_rows(with, p, i, rows, p->accumulate || i > 0, &split);
        else
            multiply_rows(with, t, i, rows, &split);
    }
    if (strcmp(with->name, "reference") || !p->transposed)
        matrix_same(&c, &split, p->name);
    matrix_free(&c);
    matrix_free(&split);
}

/* The reference rounds a sum once a call. */
static void bits_do_not_depend_on_how_rows_are_split(void **unused)
{
    (void)unused;
    for_all(check_split);
}

/* y of y = x w with guards in it beforehand, and rows of x that have a NaN and a number that is
 * rounded to Inf. */
static void nan_and_inf_stay_in_their_rows(void **unused)
{
    uint64_t state = 3;

    (void)unused;
    for (int g = 0; cavs__bf16_providers[g]; g++) {
        const struct cavs__bf16_provider *with = cavs__bf16_providers[g];
        struct task t = task_random(with->name, (struct shape){39, 70, 40}, false, false, &state);
        *matrix_at(&t.p.a, 4, 7) = NAN;
        *matrix_at(&t.p.a, 38, 9) = FLT_MAX;
        if (with->available())
            multiply(with, &t, &t.p.c);
        for (int r = 0; r < 39 && with->available(); r++)
            for (int c = 0; c < 70; c++) {
                assert_int_equal(isnan(*matrix_at(&t.p.c, r, c)) != 0, r == 4);
                assert_int_equal(isinf(*matrix_at(&t.p.c, r, c)) != 0, r == 38);
            }
        task_free(&t);
    }
}

static void nan_and_inf_stay_in_their_rows_of_gradients(void **unused)
{
    uint64_t state = 4;

    (void)unused;
    for (int g = 0; cavs__bf16_providers[g]; g++) {
        const struct cavs__bf16_provider *with = cavs__bf16_providers[g];
        struct task t = task_random(with->name, (struct shape){37, 70, 40}, true, false, &state);
        *matrix_at(&t.p.a, 4, 7) = NAN;
        *matrix_at(&t.p.a, 36, 9) = -INFINITY;
        if (with->available())
            multiply(with, &t, &t.p.c);
        for (int r = 0; r < 40 && with->available(); r++)
            for (int c = 0; c < 70; c++) {
                assert_int_equal(isnan(*matrix_at(&t.p.c, r, c)) != 0, r == 7);
                assert_int_equal(isinf(*matrix_at(&t.p.c, r, c)) != 0, r == 9);
            }
        task_free(&t);
    }
}

static void the_environment_names_the_provider(void **unused)
{
    (void)unused;
    assert_string_equal(cavs__bf16()->name, "reference");
    assert_ptr_equal(cavs__bf16(), cavs__bf16());
}

static void the_reference_is_the_last_provider_and_always_there(void **unused)
{
    int n = 0;

    (void)unused;
    while (cavs__bf16_providers[n])
        n++;
    assert_true(n > 0);
    assert_string_equal(cavs__bf16_providers[n - 1]->name, "reference");
    assert_true(cavs__bf16_providers[n - 1]->available());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_names_the_provider),
        cmocka_unit_test(the_reference_is_the_last_provider_and_always_there),
        cmocka_unit_test(numbers_are_rounded_to_the_nearest_and_ties_to_even),
        cmocka_unit_test(nan_stays_nan_and_what_is_too_large_or_small_is_inf_or_zero),
        cmocka_unit_test(packed_weights_are_pairs_in_panels),
        cmocka_unit_test(products_are_the_naive_sums_of_rounded_numbers_and_touch_nothing_else),
        cmocka_unit_test(the_same_call_gives_the_same_bits),
        cmocka_unit_test(rows_rounded_before_give_the_same_bits),
        cmocka_unit_test(rows_of_gradients_may_be_anywhere),
        cmocka_unit_test(bits_do_not_depend_on_how_rows_are_split),
        cmocka_unit_test(nan_and_inf_stay_in_their_rows),
        cmocka_unit_test(nan_and_inf_stay_in_their_rows_of_gradients),
    };

    setenv("CAVS_BF16", "reference", 1);
    cavs__gemm_init();
    return cmocka_run_group_tests_name("bf16", tests, NULL, NULL);
}
