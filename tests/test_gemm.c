/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gemm.c - every provider of matrix products against naive sums in double
 * (codelets/products/gemm.h).
 *
 * Shapes are random and small, beside edges where kernels change their path: nothing at all, one,
 * around vector lengths and tile heights, a classifier's 5 columns, depths and rows past the
 * blocks.
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
#include "codelets/products/panels.h"
#include "tests/product.h"
#include "tests/random.h"

/* The entries of a provider. */
enum entry { GEMM, GEMM_PANELS, GEMM_NEAR, GEMM_FAR, GEMM_FAR_T, GEMM_TN, GEMM_TN_ROWS, ENTRIES };

static const struct shape edges[] = {
    {0, 7, 3},       {3, 0, 7},       {7, 3, 0},      {0, 0, 0},      {1, 1, 1},     {1, 5, 1},
    {5, 1, 9},       {1, 1, 300},     {17, 1, 40},    {33, 5, 64},    {6, 64, 16},   {7, 65, 17},
    {12, 63, 33},    {13, 128, 8},    {1, 200, 31},   {2, 130, 40},   {3, 97, 12},   {5, 48, 128},
    {4, 15, 5},      {4, 16, 5},      {4, 17, 5},     {2, 129, 3},    {300, 20, 10}, {257, 70, 9},
    {600, 66, 7},    {515, 5, 30},    {2, 9, 2100},   {70, 19, 1030}, {3, 2, 513},   {64, 192, 128},
    {90, 1060, 130}, {280, 260, 520}, {71, 40, 1024}, {49, 800, 33},  {8, 1030, 35}, {9, 90, 34},
};
enum { EDGES = sizeof(edges) / sizeof(*edges), RANDOM_SHAPES = 200 };

static struct shape shape_of(int i, uint64_t *state)
{
    struct shape s;

    if (i < EDGES)
        return edges[i];
    s.m = random_int(state, 0, 40);
    s.n = random_int(state, 0, 150);
    s.k = random_int(state, 0, 70);
    return s;
}

/* A product by one of a provider's entries. */
struct task {
    struct product p;
    enum entry entry;
};

static struct task task_random(const char *provider, struct shape s, enum entry entry,
                               bool accumulate, uint64_t *state)
{
    static const char *const names[ENTRIES] = {
        "gemm", "gemm_panels", "gemm_near", "gemm_far", "gemm_far_t", "gemm_tn", "gemm_tn_rows"};
    struct task t = {product_random(provider, names[entry], s, entry >= GEMM_TN, accumulate, state),
                     entry};

    if (entry == GEMM_TN_ROWS && random_int(state, 0, 3))
        t.p.a_index = matrix_random_rows(state, s.m, s.m);
    if (entry == GEMM_TN_ROWS && random_int(state, 0, 3))
        t.p.b_index = matrix_random_rows(state, s.m, s.m);
    return t;
}

static bool has(const struct cavs__gemm_provider *with, enum entry entry, struct shape s)
{
    const bool far = s.m <= CAVS__FAR_ROWS && s.k <= CAVS__FAR_DEPTH;

    switch (entry) {
    case GEMM_PANELS: return with->gemm_panels;
    case GEMM_NEAR: return with->gemm_near;
    case GEMM_FAR: return with->gemm_far && far;
    case GEMM_FAR_T: return with->gemm_far_t && far;
    case GEMM_TN_ROWS: return with->gemm_tn_rows;
    default: return true;
    }
}

/* Leading dimensions are at least 1, as BLAS wants. */
static ptrdiff_t ld(const struct matrix *m)
{
    return m->ld > 0 ? m->ld : 1;
}

static void multiply_panels(const struct cavs__gemm_provider *with, const struct task *t,
                            struct matrix *c)
{
    const struct product *p = &t->p;
    const struct shape s = p->shape;
    struct matrix panels = matrix_unset(cavs__panels(s.n), s.k * CAVS__PANEL, 7);

    for (int i = 0; i < panels.rows; i++)
        memset(matrix_at(&panels, i, 0), 0, (size_t)panels.cols * sizeof(float));
    for (int r = 0; r < s.k; r++)
        for (int j = 0; j < s.n; j++)
            *matrix_at(&panels, j / CAVS__PANEL, r * CAVS__PANEL + j % CAVS__PANEL) =
                *matrix_at(&p->b, r, j);
    (t->entry == GEMM_NEAR ? with->gemm_near : with->gemm_panels)(
        s.m, s.n, s.k, p->a.p, ld(&p->a), panels.p, panels.ld, c->p, ld(c), p->accumulate);
    matrix_free(&panels);
}

/* w as its rows of k numbers. */
static void multiply_far_t(const struct cavs__gemm_provider *with, const struct product *p,
                           struct matrix *c)
{
    const struct shape s = p->shape;
    struct matrix w = matrix_unset(s.n, s.k, 3);

    for (int r = 0; r < s.k; r++)
        for (int j = 0; j < s.n; j++)
            *matrix_at(&w, j, r) = *matrix_at(&p->b, r, j);
    with->gemm_far_t(s.m, s.n, s.k, p->a.p, ld(&p->a), w.p, ld(&w), c->p, ld(c), p->accumulate);
    matrix_free(&w);
}

static void multiply(const struct cavs__gemm_provider *with, const struct task *t, struct matrix *c)
{
    const struct product *p = &t->p;
    const struct shape s = p->shape;
    const struct cavs__gemm_rows a = {p->a.p, ld(&p->a), p->a_index},
                                 b = {p->b.p, ld(&p->b), p->b_index};

    switch (t->entry) {
    case GEMM_PANELS:
    case GEMM_NEAR: multiply_panels(with, t, c); break;
    case GEMM_FAR:
        with->gemm_far(s.m, s.n, s.k, a.p, a.ld, b.p, b.ld, c->p, ld(c), p->accumulate);
        break;
    case GEMM_FAR_T: multiply_far_t(with, p, c); break;
    case GEMM_TN_ROWS: with->gemm_tn_rows(s.m, s.n, s.k, &a, &b, c->p, ld(c), p->accumulate); break;
    default:
        (p->transposed ? with->gemm_tn : with->gemm)(s.m, s.n, s.k, a.p, a.ld, b.p, b.ld, c->p,
                                                     ld(c), p->accumulate);
    }
}

/* Calls test(provider, task) for every available provider, shape, entry and way to start. */
static void for_all(void test(const struct cavs__gemm_provider *, const struct task *))
{
    uint64_t state = 1;

    for (int g = 0; cavs__gemm_providers[g]; g++) {
        const struct cavs__gemm_provider *with = cavs__gemm_providers[g];
        if (!with->available())
            continue;
        for (int i = 0; i < EDGES + RANDOM_SHAPES; i++) {
            const struct shape s = shape_of(i, &state);
            for (int way = 0; way < 2 * ENTRIES; way++) {
                const enum entry entry = (enum entry)(way / 2);
                struct task t = task_random(with->name, s, entry, way % 2, &state);

                if (has(with, entry, s))
                    test(with, &t);
                product_free(&t.p);
            }
        }
    }
}

static void check_result(const struct cavs__gemm_provider *with, const struct task *t)
{
    struct matrix c = matrix_copy(&t->p.c);

    multiply(with, t, &c);
    product_check(&t->p, &c);
    matrix_free(&c);
}

static void products_are_the_naive_sums_and_touch_nothing_else(void **unused)
{
    (void)unused;
    for_all(check_result);
}

static void check_repeats(const struct cavs__gemm_provider *with, const struct task *t)
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

/* Only our own providers promise the bits of one chain of fused multiply-adds per number. */
static bool is_tiled(const struct cavs__gemm_provider *p)
{
    return !strcmp(p->name, "avx512") || !strcmp(p->name, "avx2");
}

static void check_chain(const struct cavs__gemm_provider *with, const struct task *t)
{
    const struct product *p = &t->p;
    struct matrix c = matrix_copy(&p->c), chain = matrix_copy(&p->c);

    if (is_tiled(with)) {
        multiply(with, t, &c);
        for (int i = 0; i < c.rows; i++)
            for (int j = 0; j < c.cols; j++) {
                float sum = p->accumulate ? *matrix_at(&p->c, i, j) : 0;
                for (int q = 0; q < product_depth(p); q++)
                    sum = fmaf(product_a(p, i, q), product_b(p, q, j), sum);
                *matrix_at(&chain, i, j) = sum;
            }
        matrix_same(&c, &chain, p->name);
    }
    matrix_free(&c);
    matrix_free(&chain);
}

/* So the bits depend neither on the other rows, nor on how rows are split, nor on the vector
 * length. */
static void tiled_products_are_chains_of_fused_multiply_adds(void **unused)
{
    (void)unused;
    for_all(check_chain);
}

/* y of y = x w with a NaN in it beforehand, and a row of x that has one. */
static void nan_stays_in_its_row(void **unused)
{
    uint64_t state = 3;

    (void)unused;
    for (int g = 0; cavs__gemm_providers[g]; g++) {
        const struct cavs__gemm_provider *with = cavs__gemm_providers[g];
        struct task t = task_random(with->name, (struct shape){9, 70, 40}, GEMM, false, &state);
        *matrix_at(&t.p.a, 4, 7) = NAN;
        if (with->available())
            multiply(with, &t, &t.p.c);
        for (int r = 0; r < 9 && with->available(); r++)
            for (int c = 0; c < 70; c++)
                assert_int_equal(isnan(*matrix_at(&t.p.c, r, c)) != 0, r == 4);
        product_free(&t.p);
    }
}

static void the_environment_names_the_provider(void **unused)
{
    (void)unused;
    assert_string_equal(cavs__gemm()->name, "reference");
    assert_ptr_equal(cavs__gemm(), cavs__gemm());
}

static void the_reference_is_the_last_provider_and_always_there(void **unused)
{
    int n = 0;

    (void)unused;
    while (cavs__gemm_providers[n])
        n++;
    assert_true(n > 0);
    assert_string_equal(cavs__gemm_providers[n - 1]->name, "reference");
    assert_true(cavs__gemm_providers[n - 1]->available());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_names_the_provider),
        cmocka_unit_test(the_reference_is_the_last_provider_and_always_there),
        cmocka_unit_test(products_are_the_naive_sums_and_touch_nothing_else),
        cmocka_unit_test(the_same_call_gives_the_same_bits),
        cmocka_unit_test(tiled_products_are_chains_of_fused_multiply_adds),
        cmocka_unit_test(nan_stays_in_its_row),
    };

    setenv("CAVS_GEMM", "reference", 1);
    cavs__gemm_init();
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
