/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claims.c - products of which several threads claim panels or rows have the bits of products
 * that one thread makes, whoever comes and goes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codelets/products/bf16.h"
#include "codelets/products/claims.h"
#include "codelets/products/gemm.h"
#include "codelets/products/panels.h"
#include "tests/random.h"
#include "tests/skip.h"

/* Of columns and of depth; fewer are not claimed. */
enum { LEAST = 190, MOST = 420, MOST_ROWS = 9 };
enum { PATIENCE = 60000 };
enum { UNITS = 37, WORKS = 200 };
enum { PRODUCTS = 60, PAUSE = 20, SHAPES = 5, THREADS = 5 };

struct operands {
    int m, n, k;
    bool accumulate;
    float *x, *w, *y, *want; /* y and want begin as the same */
};

static void draw(size_t n, float *p, uint64_t *r)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (float)random_double(r, -1, 1);
}

static float *numbers(size_t n)
{
    float *p = aligned_alloc(64, (n * sizeof *p + 63) / 64 * 64);

    assert_non_null(p);
    return p;
}

static void open_operands(struct operands *o, uint64_t *r)
{
    const size_t w = (size_t)MOST * (MOST + CAVS__PANEL), y = (size_t)MOST_ROWS * MOST;

    o->m = random_int(r, 1, MOST_ROWS);
    o->n = random_int(r, LEAST, MOST);
    o->k = random_int(r, LEAST, MOST);
    o->accumulate = random_int(r, 0, 1);
    o->x = numbers((size_t)MOST_ROWS * MOST);
    o->w = numbers(w);
    o->y = numbers(y);
    o->want = numbers(y);
    draw((size_t)MOST_ROWS * MOST, o->x, r);
    draw(w, o->w, r);
    draw(y, o->y, r);
    memcpy(o->want, o->y, y * sizeof *o->y);
}

static void close_operands(struct operands *o)
{
    free(o->x);
    free(o->w);
    free(o->y);
    free(o->want);
}

/* Of the first n. */
static void check_products(int n, const struct operands *o)
{
    struct cavs__panel_product p[CAVS__CLAIMED_PRODUCTS];

    for (int i = 0; i < n; i++, o++) {
        const ptrdiff_t pitch = (ptrdiff_t)o->k * CAVS__PANEL;

        p[i] = (struct cavs__panel_product){
            o->m,      o->n,      o->k,        o->accumulate,  .near = i % 2 == 1, .x = o->x,
            .w = o->w, .y = o->y, .ldx = MOST, .pitch = pitch, .ldy = MOST};
        cavs__gemm()->gemm_panels(o->m, o->n, o->k, o->x, MOST, o->w, pitch, o->want, MOST,
                                  o->accumulate);
    }
    cavs__claimed_products(n, p);
    for (int i = 0; i < n; i++) {
        o--;
        assert_memory_equal(o->y, o->want, (size_t)MOST_ROWS * MOST * sizeof *o->y);
    }
}

/* Counts the units that others than the owner have. */
struct witness {
    pthread_t owner;
    atomic_int *by_helpers;
};

static void witness(const void *what, int claimant, int from, int to)
{
    const struct witness *w = what;

    (void)claimant;
    if (!pthread_equal(pthread_self(), w->owner))
        atomic_fetch_add(w->by_helpers, to - from);
}

struct helper {
    struct cavs__claims *claims;
    atomic_bool *over;
};

/* A helper that has waited for long goes, and comes again. */
static void *help(void *arg)
{
    struct helper *h = arg;

    while (!atomic_load(h->over))
        cavs__claims_help(h->claims, 1, NULL);
    return NULL;
}

/* Up to `least` products and until helpers have had a part in some, if there are any. */
static void check_helpers(int threads, int least, uint64_t seed)
{
    void *room = malloc(cavs__claims_bytes());
    atomic_bool over = false;
    atomic_int by_helpers = 0;
    const struct witness w = {pthread_self(), &by_helpers};
    pthread_t thread[THREADS];
    struct operands o[CAVS__CLAIMED_PRODUCTS];

    assert_non_null(room);
    struct helper h = {cavs__claims_init(room, CAVS__CLAIMANTS, PATIENCE), &over};
    for (int i = 0; i < CAVS__CLAIMED_PRODUCTS; i++)
        open_operands(&o[i], &seed);
    for (int i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, help, &h), 0);
    cavs__claims_open(h.claims, 0);
    for (int i = 0; i < least || (threads > 0 && atomic_load(&by_helpers) == 0); i++) {
        check_products(1 + i % CAVS__CLAIMED_PRODUCTS, o);
        cavs__claimed_evenly(witness, &w, sizeof w, UNITS, 0);
        if (i % PAUSE == PAUSE - 1)
            usleep(1000); /* helpers go */
    }
    assert_ptr_equal(cavs__claims_open(NULL, 0), h.claims);
    assert_int_equal(atomic_load(&by_helpers) > 0, threads > 0);
    cavs__claims_close(h.claims);
    atomic_store(&over, true);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    cavs__claims_help(h.claims, 1, NULL); /* who comes too late has nothing to do */
    free(room);
    for (int i = 0; i < CAVS__CLAIMED_PRODUCTS; i++)
        close_operands(&o[i]);
}

/* More threads than there are seats, too. */
static void the_same_bits_with_any_helpers(void **state)
{
    (void)state;
    if (!cavs__gemm()->gemm_panels)
        SKIP("products by %s have no panels", cavs__gemm()->name);
    for (int threads = 0; threads <= THREADS; threads++) {
        for (uint64_t seed = 1; seed <= SHAPES; seed++)
            check_helpers(threads, PRODUCTS, 10 * (uint64_t)threads + seed);
    }
}

/* ---- gradients ---- */

/* Of dw, none of them whole units; and so often at most until a helper has had a part in it. */
enum { SUMMED = 150, HIGH = 450, WIDE = 110, TRIES = 20000 };

struct gradient {
    float *x, *dy, *dw, *want;
    int32_t index[SUMMED];
};

static void open_gradient(struct gradient *g)
{
    uint64_t r = 7;

    g->x = numbers(SUMMED * HIGH);
    g->dy = numbers(SUMMED * WIDE);
    g->dw = numbers(HIGH * WIDE);
    g->want = numbers(HIGH * WIDE);
    draw(SUMMED * HIGH, g->x, &r);
    draw(SUMMED * WIDE, g->dy, &r);
    draw(HIGH * WIDE, g->dw, &r);
    memcpy(g->want, g->dw, HIGH * WIDE * sizeof *g->dw);
    for (int i = 0; i < SUMMED; i++)
        g->index[i] = random_int(&r, -1, SUMMED - 1);
}

static void close_gradient(struct gradient *g)
{
    free(g->x);
    free(g->dy);
    free(g->dw);
    free(g->want);
}

static void check_gradient(struct gradient *g, bool accumulate, bool bf16)
{
    const struct cavs__gradient_product p = {SUMMED,
                                             WIDE,
                                             HIGH,
                                             accumulate,
                                             bf16,
                                             .x = {g->x, HIGH, g->index},
                                             .dy = {g->dy, WIDE, NULL},
                                             .dw = g->dw,
                                             .lddw = WIDE};

    (bf16 ? cavs__bf16()->gemm_tn : cavs__gemm()->gemm_tn_rows)(SUMMED, WIDE, HIGH, &p.x, &p.dy,
                                                                g->want, WIDE, accumulate);
    cavs__claimed_gradient(&p);
    assert_memory_equal(g->dw, g->want, HIGH * WIDE * sizeof *g->dw);
}

struct timed_helper {
    struct cavs__claims *claims;
    uint64_t sum; /* nanoseconds that it has helped for */
};

static void *help_once(void *arg)
{
    struct timed_helper *h = arg;

    cavs__claims_help(h->claims, 1, &h->sum);
    return NULL;
}

/* With a helper that stays until it has had a part. */
static void check_helped_gradient(bool accumulate, bool bf16)
{
    enum { LONG = 2000000000 };
    void *room = malloc(cavs__claims_bytes());
    struct timed_helper h = {0};
    struct gradient g;
    pthread_t thread;

    assert_non_null(room);
    open_gradient(&g);
    h.claims = cavs__claims_init(room, 2, LONG);
    cavs__claims_open(h.claims, 0);
    assert_int_equal(pthread_create(&thread, NULL, help_once, &h), 0);
    for (int i = 0; i < TRIES && __atomic_load_n(&h.sum, __ATOMIC_RELAXED) == 0; i++)
        check_gradient(&g, accumulate, bf16);
    cavs__claims_open(NULL, 0);
    cavs__claims_close(h.claims);
    pthread_join(thread, NULL);
    assert_true(h.sum > 0);
    close_gradient(&g);
    free(room);
}

static void rows_of_gradients_are_claimed_and_have_the_same_bits(void **state)
{
    (void)state;
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        if (cavs__gemm()->gemm_tn_rows)
            check_helped_gradient(accumulate, false);
        check_helped_gradient(accumulate, true);
    }
}

/* ---- units ---- */

struct counted {
    atomic_int *times, *in_seat;
};

/* Nobody else has the same seat meanwhile, and what a unit does is its own. */
static void count(const void *what, int claimant, int from, int to)
{
    const struct counted *c = what;

    assert_int_equal(cavs__claimants(), 1);
    assert_int_equal(atomic_fetch_add(&c->in_seat[claimant], 1), 0);
    for (int i = from; i < to; i++)
        atomic_fetch_add(&c->times[i], 1);
    atomic_fetch_sub(&c->in_seat[claimant], 1);
}

/* As many threads as there are seats beside the owner's, and more. */
static void check_units(int threads, int seat)
{
    atomic_int times[UNITS] = {0}, in_seat[CAVS__CLAIMANTS] = {0};
    const struct counted what = {times, in_seat};
    void *room = malloc(cavs__claims_bytes());
    atomic_bool over = false;
    pthread_t thread[THREADS];

    assert_non_null(room);
    struct helper h = {cavs__claims_init(room, CAVS__CLAIMANTS, PATIENCE), &over};
    cavs__claims_open(h.claims, seat);
    for (int i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, help, &h), 0);
    for (int i = 0; i < WORKS; i++) {
        cavs__claimed_evenly(count, &what, sizeof what, UNITS, 0);
        for (int k = 0; k < UNITS; k++)
            assert_int_equal(atomic_load(&times[k]), i + 1);
    }
    cavs__claims_open(NULL, 0);
    cavs__claims_close(h.claims);
    atomic_store(&over, true);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    free(room);
}

static void each_unit_is_done_once_with_seats_of_ones_own(void **state)
{
    (void)state;
    for (int threads = 0; threads <= THREADS; threads++)
        check_units(threads, threads);
}

/* Nobody has all units but where there is no seat for the owner. */
static void count_and_look(const void *what, int claimant, int from, int to)
{
    assert_true(to - from < UNITS);
    count(what, claimant, from, to);
}

/* Helpers who wait for work take all seats that they get, before the owner comes and each time that
 * it comes again. */
static void a_seat_is_left_to_the_owner(void **state)
{
    enum { LONG = 200000000, TIMES = 2 * CAVS__CLAIMANTS };
    atomic_int times[UNITS] = {0}, in_seat[CAVS__CLAIMANTS] = {0};
    const struct counted what = {times, in_seat};
    void *room = malloc(cavs__claims_bytes());
    atomic_bool over = false;
    pthread_t thread[THREADS];

    (void)state;
    assert_non_null(room);
    struct helper h = {cavs__claims_init(room, CAVS__CLAIMANTS, LONG), &over};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, help, &h), 0);
    usleep(20000); /* until they have taken seats */
    for (int i = 0; i < TIMES; i++) {
        cavs__claims_open(h.claims, i);
        cavs__claimed_evenly(count_and_look, &what, sizeof what, UNITS, 0);
        cavs__claims_open(NULL, 0);
        usleep(1000);
    }
    cavs__claims_close(h.claims);
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < UNITS; i++)
        assert_int_equal(atomic_load(&times[i]), TIMES);
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_with_any_helpers),
        cmocka_unit_test(rows_of_gradients_are_claimed_and_have_the_same_bits),
        cmocka_unit_test(each_unit_is_done_once_with_seats_of_ones_own),
        cmocka_unit_test(a_seat_is_left_to_the_owner),
    };

    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
