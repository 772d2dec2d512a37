/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_deal.c - which rank works on which shard (core/run/deal.c): the slowest is done as soon as
 * by any other way, which is found by trying all, and few sums are sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/run/exchange.h"
#include "tests/random.h"

enum { MOST_RANKS = CAVS__MAX_PARTIALS + 2 };

struct dealt {
    int rank_of[CAVS__MAX_SHARDS], chunk[CAVS__MAX_PARTIALS];
    double seconds;
    int sums; /* of all ranks */
};

static struct dealt deal(int most_shards, int nshards, int ranks, const struct cavs__pace *pace)
{
    struct cavs__engine *e = calloc(1, sizeof *e);
    struct dealt d = {.sums = 0};

    assert_non_null(e);
    e->nshards = most_shards;
    cavs__deal(e, nshards, ranks, pace, d.rank_of, d.chunk);
    d.seconds = cavs__deal_seconds(nshards, d.rank_of, ranks, pace);
    for (int i = 0; i < ranks; i++)
        d.sums += cavs__subtotals_of(d.chunk, i).n;
    for (int shard = 0; shard < nshards; shard++) {
        assert_in_range(d.rank_of[shard], 0, ranks - 1);
        for (int i = 0; i < most_shards / nshards; i++) /* all its sums are its rank's */
            assert_int_equal(d.chunk[cavs__partial_of(e, shard, i, most_shards / nshards)],
                             d.rank_of[shard]);
    }
    for (int k = 1; k < CAVS__MAX_PARTIALS && d.chunk[k] >= 0; k++)
        assert_true(d.chunk[k] >= d.chunk[k - 1]);
    free(e);
    return d;
}

static struct dealt deal_evenly(int shards, int ranks)
{
    struct cavs__pace pace[MOST_RANKS];

    for (int i = 0; i < ranks; i++)
        pace[i] = (struct cavs__pace){.workers = 1, .speed = 1};
    return deal(shards, shards, ranks, pace);
}

static int count(const struct dealt *d, int shards, int rank)
{
    int n = 0;

    for (int i = 0; i < shards; i++)
        n += d->rank_of[i] == rank;
    return n;
}

static void ranks_that_are_alike_send_one_sum_each_if_they_can(void **state)
{
    static const struct {
        int shards, ranks, sums;
        double slowest;
    } cases[] = {{8, 1, 1, 8},     {8, 2, 2, 4},     {8, 4, 4, 2},       {8, 8, 8, 1},
                 {8, 5, 5, 2},     {8, 6, 6, 2},     {8, 7, 7, 2},       {8, 3, 5, 3},
                 {7, 2, 2, 4},     {4, 3, 3, 2},     {32, 8, 8, 4},      {32, 16, 16, 2},
                 {64, 32, 32, 2},  {64, 3, 9, 22},   {6, 6, 6, 1},       {12, 5, 7, 3},
                 {128, 32, 32, 4}, {256, 32, 32, 8}, {512, 128, 128, 4}, {4096, 64, 64, 64}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dealt d = deal_evenly(cases[i].shards, cases[i].ranks);

        assert_true(d.seconds == cases[i].slowest);
        assert_int_equal(d.sums, cases[i].sums);
        for (int rank = 0; rank < cases[i].ranks; rank++)
            assert_true(count(&d, cases[i].shards, rank) > 0);
    }
}

static void more_ranks_than_sums_have_one_each_as_far_as_these_go(void **state)
{
    struct dealt d = deal_evenly(2, 3), many = deal_evenly(16, MOST_RANKS),
                 most = deal_evenly(512, MOST_RANKS);

    (void)state;
    assert_int_equal(count(&d, 2, 0), 1);
    assert_int_equal(count(&d, 2, 1), 1);
    assert_int_equal(count(&d, 2, 2), 0);
    assert_true(many.seconds == 2); /* two shards share each of 8 sums */
    assert_int_equal(many.sums, 8);
    assert_true(most.seconds == 4); /* and four each of 128, which are the most */
    assert_int_equal(most.sums, CAVS__MAX_PARTIALS);
}

static void a_slow_rank_has_fewer_shards(void **state)
{
    struct cavs__pace pace[2] = {{.workers = 1, .speed = 3}, {.workers = 1, .speed = 1}};
    struct dealt d = deal(8, 8, 2, pace);

    (void)state;
    assert_int_equal(count(&d, 8, 0), 6);
    pace[1] = (struct cavs__pace){.workers = 3, .speed = 3};
    d = deal(8, 8, 2, pace);
    assert_int_equal(count(&d, 8, 0), 2); /* three workers take two times three */
    pace[1].speed = 0.3;
    d = deal(2, 2, 2, pace);
    assert_int_equal(count(&d, 2, 1), 0);
}

/* What the slowest takes at least: all ways to give consecutive chunks of one shard each. */
static double least(int shards, int ranks, const struct cavs__pace *pace)
{
    double best = INFINITY;

    if (ranks == 0)
        return shards > 0 ? INFINITY : 0;
    for (int n = 0; n <= shards; n++) {
        int rounds = (n + pace[0].workers - 1) / pace[0].workers;

        best = fmin(best, fmax(rounds / pace[0].speed, least(shards - n, ranks - 1, pace + 1)));
    }
    return best;
}

static void nobody_is_done_sooner_by_another_way(void **state)
{
    uint64_t r = 5;

    (void)state;
    for (int i = 0; i < 300; i++) {
        struct cavs__pace pace[5];
        int shards = random_int(&r, 1, 8), ranks = random_int(&r, 1, 5);

        for (int k = 0; k < ranks; k++)
            pace[k] = (struct cavs__pace){.workers = random_int(&r, 1, 3),
                                          .speed = random_double(&r, 0.1, 1)};
        assert_true(deal(shards, shards, ranks, pace).seconds == least(shards, ranks, pace));
    }
}

static void shards_with_several_sums_are_one_ranks_each(void **state)
{
    struct cavs__pace pace[3] = {{1, 1}, {2, 1}, {1, 0.2}};

    (void)state;
    for (int most = 1; most <= 64; most++) {
        for (int nshards = 1; nshards <= most; nshards++)
            deal(most, nshards, 3, pace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_are_alike_send_one_sum_each_if_they_can),
        cmocka_unit_test(more_ranks_than_sums_have_one_each_as_far_as_these_go),
        cmocka_unit_test(a_slow_rank_has_fewer_shards),
        cmocka_unit_test(nobody_is_done_sooner_by_another_way),
        cmocka_unit_test(shards_with_several_sums_are_one_ranks_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
