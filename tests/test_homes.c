/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_homes.c - the sizes of shards on unlike workers (core/run/homes.c), on made-up machines:
 * batches take what a formula says, two are in flight, and shares have to settle where all are done
 * together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/device_set.h"
#include "core/run/engine.h"

enum { MOST_GRAINS = 5000 };

/* A home takes `launches` seconds a batch whatever its size, and `pace` seconds for a unit of
 * work. */
struct machine {
    const char *name;
    double launches, pace;
};

struct world {
    struct cavs__engine e;
    struct cavs__homes homes;
    double share[CAVS__MAX_HOMES], took[CAVS__MAX_HOMES];
    struct cavs__shard_scratch scratch;
    double now; /* microseconds: when the batch before was done */
};

static struct world *new_world(int n, const struct machine *m)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->now = 1e6;
    w->e.homes = &w->homes;
    w->e.nshards = w->homes.n = n;
    w->e.nslots = 2;
    w->homes.cut = true;
    w->homes.share = w->share;
    for (int i = 0; i < n; i++)
        w->homes.home[i] = (struct cavs__home){
            .where = STARPU_CPU, .device = -1, .name = m[i].name, .first = i, .n = 1, .used = 1};
    for (int slot = 0; slot < CAVS__SLOTS; slot++)
        for (int i = 0; i <= CAVS__MAX_HOMES; i++)
            w->e.slots[slot].laps[i].slot = &w->e.slots[slot];
    return w;
}

static void free_world(struct world *w)
{
    cavs__shard_scratch_free(&w->scratch);
    free(w);
}

/* A batch of so much work in `grains` equal samples. */
static void run_batch(struct world *w, const struct machine *m, enum cavs__run run, double work,
                      int grains)
{
    int slot = (int)(w->e.batches++ % w->e.nslots), samples[CAVS__MAX_HOMES] = {0};
    int32_t shard[MOST_GRAINS];
    double each[MOST_GRAINS], end = w->now;
    assert_in_range(grains, 1, MOST_GRAINS);
    cavs__homes_observe(&w->e, slot);
    cavs__homes_begin(&w->e, slot, run);
    w->e.slots[slot].submitted = w->now - 1; /* long before its turn */
    for (int i = 0; i < grains; i++)
        each[i] = work / grains;
    assert_int_equal(
        cavs__shard_split(grains, each, w->homes.n, cavs__shares(&w->e, run), shard, &w->scratch),
        0);
    for (int i = 0; i < grains; i++)
        samples[shard[i]]++;
    for (int i = 0; i < w->homes.n; i++) {
        int mine = samples[i];
        double done = w->now;
        w->took[i] = mine > 0 ? m[i].launches + m[i].pace * work * mine / grains : 0;
        if (mine > 0) {
            cavs__homes_count(&w->e, slot, i, work * mine / grains);
            w->e.slots[slot].laps[i + 1].done = done += 1e6 * w->took[i];
        }
        end = done > end ? done : end;
    }
    w->e.slots[slot].done_at = w->now = end;
}

static double longest(const struct world *w)
{
    double t = 0;
    for (int i = 0; i < w->homes.n; i++)
        t = w->took[i] > t ? w->took[i] : t;
    return t;
}

static double shortest(const struct world *w)
{
    double t = INFINITY;
    for (int i = 0; i < w->homes.n; i++)
        t = w->took[i] < t ? w->took[i] : t;
    return t;
}

static void all_are_done_together_whatever_their_speed(void **state)
{
    (void)state;
    static const struct machine cases[][3] = {
        {{"gpu", 0, 1e-3}, {"cpus", 0, 20e-3}, {"old gpu", 0, 4e-3}},
        {{"gpu", 20e-3, 0.2e-3}, {"cpus", 0, 20e-3}, {"old gpu", 30e-3, 1e-3}}, /* launches */
        {{"gpu", 0, 1e-3}, {"cpus", 0, 1e-3}, {"old gpu", 0, 1e-3}},
        {{"gpu", 0, 20e-3}, {"cpus", 0, 0.5e-3}, {"old gpu", 1e-3, 5e-3}}, /* not what is guessed */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct world *w = new_world(3, cases[k]);
        for (int i = 0; i < 40; i++)
            run_batch(w, cases[k], CAVS__RUN_TRAIN, 100, MOST_GRAINS);
        assert_true(longest(w) < 1.03 * shortest(w));
        free_world(w);
    }
}

/* A batch of that kind whose homes are done one and two seconds after it was submitted. */
static void ends_apart(enum cavs__run run, double first, double second)
{
    struct world *w = new_world(2, (struct machine[]){{"fast", 0, 0}, {"slow", 0, 0}});
    struct cavs__slot *last = &w->e.slots[0];
    const struct cavs__slot *next = &w->e.slots[1];
    cavs__homes_begin(&w->e, 0, run);
    last->laps[1].done = last->submitted + 1e6;
    last->laps[2].done = last->done_at = last->submitted + 2e6;
    w->e.slots[1].submitted = last->submitted; /* at once */
    cavs__homes_begin(&w->e, 0, run);
    assert_true(next->laps[1].began == next->submitted + 1e6 * first);
    assert_true(next->laps[2].began == next->submitted + 1e6 * second);
    free_world(w);
}

static void after_an_update_all_begin_together(void **state)
{
    (void)state;
    ends_apart(CAVS__RUN_TRAIN, 2, 2);
    ends_apart(CAVS__RUN_GRADIENT, 1, 2);
    ends_apart(CAVS__RUN_EVALUATE, 1, 2);
}

static void forward_runs_have_rates_of_their_own(void **state)
{
    (void)state;
    static const struct machine train[] = {{"gpu", 0, 1e-3}, {"cpus", 0, 8e-3}},
                                evaluate[] = {{"gpu", 0, 2e-3}, {"cpus", 0, 3e-3}};
    struct world *w = new_world(2, train);
    for (int i = 0; i < 60; i++) {
        bool training = i % 10 < 5;
        run_batch(w, training ? train : evaluate, training ? CAVS__RUN_TRAIN : CAVS__RUN_EVALUATE,
                  100, MOST_GRAINS);
        if (i >= 20)
            assert_true(longest(w) < 1.1 * shortest(w));
    }
    free_world(w);
}

static void a_home_that_gets_nothing_is_tried_again(void **state)
{
    (void)state;
    struct machine m[] = {{"gpu", 0, 1e-3}, {"cpus", 0, 1}};
    struct world *w = new_world(2, m);
    int idle = 0, given = 0;
    for (int i = 0; i < 40; i++)
        run_batch(w, m, CAVS__RUN_TRAIN, 10, 20);
    m[1].pace = 1e-3; /* whatever kept it busy has gone */
    for (int i = 0; i < 400; i++) {
        run_batch(w, m, CAVS__RUN_TRAIN, 10, 20);
        idle += w->took[1] == 0;
        given += w->took[1] > 0;
    }
    assert_true(idle > 0);
    assert_true(given > 100);
    assert_true(longest(w) < 1.5 * shortest(w));
    free_world(w);
}

static bool is_usable(int device)
{
    return device == 0;
}

/* Cores that would do less than a quarter of what a device does, then half as much as it. */
static void slow_cores_leave_batches_to_a_device(void **state)
{
    (void)state;
    const struct cavs__devices *before = cavs__devices, gpu = {.usable = is_usable};
    struct machine m[] = {{"gpu", 0, 1e-3}, {"cpus", 0, 8e-3}};
    struct world *w = new_world(2, m);
    int alone = 0;
    cavs__devices = &gpu;
    w->homes.home[0].device = 0;
    for (int i = 0; i < 200; i++) {
        run_batch(w, m, CAVS__RUN_TRAIN, 10, 100);
        assert_int_equal(cavs__cpus_have_shards(&w->e), w->took[1] > 0);
        assert_int_equal(cavs__home_of(&w->e, -1), w->took[1] > 0 ? -1 : 0);
        alone += w->took[1] == 0;
    }
    assert_in_range(alone, 185, 197); /* they are tried again */
    for (int i = alone = 0; i < 1000; i++) {
        run_batch(w, m, CAVS__RUN_TRAIN, 10, 100);
        alone += w->took[1] == 0;
    }
    assert_in_range(alone, 985, 998); /* ever less often */
    m[1].pace = 2e-3;
    for (int i = 0; i < 4000 && w->took[1] == 0; i++)
        run_batch(w, m, CAVS__RUN_TRAIN, 10, 100);
    for (int i = 0; i < 20; i++)
        run_batch(w, m, CAVS__RUN_TRAIN, 10, 100);
    assert_true(w->took[1] > 0 && longest(w) < 1.1 * shortest(w));
    cavs__devices = before;
    free_world(w);
}

static void every_home_is_given_a_try_even_by_batches_of_one_sample(void **state)
{
    (void)state;
    static const struct machine m[] = {{"slow", 0, 5e-3}, {"fast", 0, 1e-3}, {"middle", 0, 2e-3}};
    struct world *w = new_world(3, m);
    int tried[3] = {0};
    for (int i = 0; i < 12; i++) {
        run_batch(w, m, CAVS__RUN_TRAIN, 1, 1);
        for (int k = 0; k < 3; k++)
            tried[k] += w->took[k] > 0;
    }
    assert_true(tried[0] > 0 && tried[2] > 0);
    assert_true(tried[1] > tried[0] + tried[2]);
    free_world(w);
}

static void like_devices_have_equal_shares(void **state)
{
    (void)state;
    static const struct machine m[] = {{"gpu", 0, 1e-3}, {"gpu", 0, 1.4e-3}, {"cpus", 0, 8e-3}};
    struct world *w = new_world(3, m);
    for (int i = 0; i < 30; i++) {
        run_batch(w, m, CAVS__RUN_TRAIN, 100, MOST_GRAINS);
        assert_true(w->share[0] == w->share[1]);
    }
    assert_true(w->share[2] < w->share[0]);
    free_world(w);
}

static void shards_find_their_homes_and_gradients_of_their_own(void **state)
{
    (void)state;
    struct world *w = new_world(3, (struct machine[]){{"a", 0, 0}, {"b", 0, 0}, {"cpus", 0, 0}});
    w->homes.home[0].device = 0;
    w->homes.home[1].device = 1;
    w->homes.home[2].n = 20;
    w->e.nshards = 22;
    assert_int_equal(cavs__partials(&w->e), 8);
    w->homes.home[2].n = 1;
    assert_int_equal(cavs__partials(&w->e), 3);
    w->homes.home[2].n = 20;
    assert_int_equal(cavs__home_of(&w->e, -1), -1);
    assert_int_equal(cavs__home_of(&w->e, 0), 0);
    assert_int_equal(cavs__home_of(&w->e, 1), 1);
    assert_int_equal(cavs__home_of(&w->e, 2), 2);
    assert_int_equal(cavs__home_of(&w->e, 21), 2);
    for (int shard = 0; shard < 22; shard++) {
        int chunk = cavs__partial_of(&w->e, shard, 0, 1);
        assert_in_range(chunk, 0, 7);
        if (shard < 2)
            assert_int_equal(chunk, shard);
        else
            assert_int_equal(chunk, 2 + (shard - 2) % 6); /* those of few shards come first */
    }
    w->e.homes = NULL;
    assert_int_equal(cavs__home_of(&w->e, 5), -1);
    assert_int_equal(cavs__partial_of(&w->e, 21, 0, 1), 5);
    w->e.nshards = 64; /* more shards, more gradients, two shards at each */
    assert_int_equal(cavs__partials(&w->e), 32);
    assert_int_equal(cavs__partial_of(&w->e, 31, 0, 1), 31);
    assert_int_equal(cavs__partial_of(&w->e, 33, 0, 1), 1);
    w->e.nshards = 255;
    assert_int_equal(cavs__partials(&w->e), 64);
    w->e.nshards = 256;
    assert_int_equal(cavs__partials(&w->e), 128);
    free_world(w);
}

/* Each device is as fast as 1 then. */
static void cpu_workers_have_little_of_a_batch_before_rates_are_known(void **state)
{
    (void)state;
    for (int devices = 1; devices <= 2; devices++) {
        struct machine m[3] = {{"a", 0, 0}, {"b", 0, 0}, {"c", 0, 0}};
        struct world *w = new_world(devices + 1, m);
        for (int i = 0; i < devices; i++)
            w->homes.home[i].device = i;
        cavs__shares(&w->e, CAVS__RUN_TRAIN);
        assert_true(w->share[devices] == 0.25 * devices);
        free_world(w);
    }
}

/* All ranks cut a batch alike, so nothing of that follows from the devices that one of them has. */
static void the_devices_of_a_rank_take_its_shards_in_turn(void **state)
{
    (void)state;
    struct world *w = new_world(3, (struct machine[]){{"a", 0, 0}, {"b", 0, 0}, {"cpus", 0, 0}});
    double speed;
    w->homes.home[0].device = 0;
    w->homes.home[1].device = 1;
    w->homes.home[0].n = w->homes.home[1].n = w->homes.home[2].n = 0;
    w->homes.cut = false;
    w->e.nshards = 7;
    for (int shard = 0; shard < 7; shard++)
        assert_int_equal(cavs__home_of(&w->e, shard), shard % 2);
    assert_int_equal(cavs__home_of(&w->e, -1), -1);
    assert_null(cavs__shares(&w->e, CAVS__RUN_TRAIN));
    assert_int_equal(cavs__shards_of_batch(&w->e, 3), 3);
    int partials = cavs__partials(&w->e), partial = cavs__partial_of(&w->e, 5, 0, 1);
    w->homes.home[0].rate[1] = 3;
    w->homes.home[1].rate[1] = 5;
    w->homes.home[2].rate[1] = 100;
    assert_int_equal(cavs__homes_pace(&w->e, &speed), 0); /* none of these devices can be used */
    assert_true(speed == 0);
    w->e.homes = NULL;
    assert_int_equal(cavs__partials(&w->e), partials);
    assert_int_equal(cavs__partial_of(&w->e, 5, 0, 1), partial);
    free_world(w);
}

static void shards_that_crowd_a_device_are_cut(void **state)
{
    (void)state;
    struct world *w = new_world(2, (struct machine[]){{"gpu", 0, 1e-3}, {"cpus", 0, 1e-3}});
    w->homes.home[0] = (struct cavs__home){
        .where = STARPU_CPU, .device = -1, .name = "gpu", .n = 16, .used = 1, .room = 1000};
    w->homes.home[1].first = 16;
    w->e.nshards = 17;
    double share[17];
    size_t bytes[17] = {[0] = 1000, [16] = 5000};
    w->homes.share = share;
    assert_false(cavs__homes_crowded(&w->e, bytes));
    bytes[0] = 2500;
    assert_true(cavs__homes_crowded(&w->e, bytes));
    assert_int_equal(w->homes.home[0].used, 3);
    cavs__shares(&w->e, CAVS__RUN_TRAIN);
    assert_true(share[0] > 0 && share[0] == share[2] && share[3] == 0 && share[15] == 0);
    bytes[1] = bytes[2] = 900;
    bytes[0] = 900;
    assert_false(cavs__homes_crowded(&w->e, bytes));
    bytes[1] = 1 << 20; /* more than all shards have room for */
    assert_true(cavs__homes_crowded(&w->e, bytes));
    assert_int_equal(w->homes.home[0].used, 16);
    assert_false(cavs__homes_crowded(&w->e, bytes));
    free_world(w);
}

static void what_a_device_cannot_hold_goes_to_the_cpus(void **state)
{
    (void)state;
    struct world *w = new_world(2, (struct machine[]){{"gpu", 0, 1e-3}, {"cpus", 0, 1e-3}});
    w->homes.home[0] = (struct cavs__home){
        .where = STARPU_CUDA, .device = 0, .name = "gpu", .n = 2, .used = 2, .room = 1000};
    w->homes.home[1].first = 2;
    w->e.nshards = 3;
    size_t bytes[3] = {2000, 2001, 9000};
    bool away[3] = {false};
    w->homes.away = away;
    assert_int_equal(cavs__homes_send_away(&w->e, bytes), CAVS_OK);
    assert_int_equal(cavs__home_of(&w->e, 0), 0);
    assert_int_equal(cavs__home_of(&w->e, 1), 1);
    assert_int_equal(cavs__home_of(&w->e, 2), 1);
    assert_int_equal(cavs__partial_of(&w->e, 1, 0, 1), 0); /* where its gradient is, all the same */
    bytes[1] = 10;
    assert_int_equal(cavs__homes_send_away(&w->e, bytes), CAVS_OK);
    assert_int_equal(cavs__home_of(&w->e, 1), 0);
    bytes[0] = (size_t)5 << 20;
    w->homes.n = 1; /* no CPU worker */
    assert_int_equal(cavs__homes_send_away(&w->e, bytes), CAVS_ERUNTIME);
    assert_non_null(strstr(cavs_error_message(), "gpu has too little memory for 5 MB"));
    free_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_done_together_whatever_their_speed),
        cmocka_unit_test(after_an_update_all_begin_together),
        cmocka_unit_test(forward_runs_have_rates_of_their_own),
        cmocka_unit_test(a_home_that_gets_nothing_is_tried_again),
        cmocka_unit_test(slow_cores_leave_batches_to_a_device),
        cmocka_unit_test(every_home_is_given_a_try_even_by_batches_of_one_sample),
        cmocka_unit_test(shards_that_crowd_a_device_are_cut),
        cmocka_unit_test(what_a_device_cannot_hold_goes_to_the_cpus),
        cmocka_unit_test(like_devices_have_equal_shares),
        cmocka_unit_test(cpu_workers_have_little_of_a_batch_before_rates_are_known),
        cmocka_unit_test(the_devices_of_a_rank_take_its_shards_in_turn),
        cmocka_unit_test(shards_find_their_homes_and_gradients_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
