/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_here.c - the smallest batches are computed by the calling thread while the workers sleep:
 * they are no tasks, workers are there again for what is larger, and numbers are those of tasks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>

#include "tests/trial.h"

enum { MANY = 20000, FEW = 8, NUMBERS = 65536 };

/* What a run of batches leaves: how many tasks the small and the large ones were, and numbers. */
struct outcome {
    int64_t small, large;
    size_t n;
    double loss;
    float values[NUMBERS];
};

static int large[MANY]; /* samples of a batch that is worth tasks */

static int64_t tasks_of(struct cavs_session *s)
{
    struct cavs_stats stats;
    cavs_session_stats(s, &stats);
    return stats.tasks;
}

/* How they are run. */
struct way {
    bool leave_to_workers, check_finite, in_flight;
};

static void train_one_by_one(struct trial *t, struct cavs_session *s, bool in_flight,
                             struct outcome *o)
{
    int64_t before = tasks_of(s);
    if (!in_flight)
        check_ok(cavs_session_wait(s));
    for (int i = 0; i < FEW; i++) {
        int sample = i % t->nsamples;
        check_ok(cavs_session_train(s, t->data, &sample, 1));
    }
    o->small += tasks_of(s) - before;
}

static void train_many(struct trial *t, struct cavs_session *s, struct outcome *o)
{
    int64_t before = tasks_of(s);
    check_ok(cavs_session_train(s, t->data, large, MANY));
    o->large += tasks_of(s) - before;
}

static void keep_numbers(struct trial *t, struct cavs_session *s, struct outcome *o)
{
    check_ok(cavs_session_metric(s, "loss", &o->loss, NULL));
    for (int i = 0; i < cavs_model_param_count(t->model); i++) {
        const struct cavs_param *p = cavs_model_param_at(t->model, i);
        check_ok(cavs_session_get_param(s, p, o->values + o->n));
        o->n += (size_t)(cavs_param_rows(p) * cavs_param_cols(p));
    }
}

/* Small and large batches in turn, with StarPU started for them. */
static struct outcome *run(struct way w)
{
    struct cavs_runtime_options ro = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options so = cavs_session_defaults();
    struct outcome *o = calloc(1, sizeof *o);
    struct cavs_runtime *rt = NULL;
    struct cavs_session *s = NULL;
    struct trial t;
    ro.workers = 2;
    ro.leave_to_workers = w.leave_to_workers;
    so.optimizer = CAVS_ADAM;
    so.lr = 1e-3f;
    so.mean = true;
    so.clip = 1;
    so.shards = 2;
    so.check_finite = w.check_finite;
    trial_open_zoo(&t, zoo_find("tree_lstm_bench"));
    for (int i = 0; i < MANY; i++)
        large[i] = i % t.nsamples;
    check_ok(cavs_runtime_create(&ro, &rt));
    check_ok(cavs_session_create(rt, t.model, &so, &s));
    for (int i = 0; i < 3; i++) {
        train_one_by_one(&t, s, w.in_flight, o);
        train_many(&t, s, o);
    }
    keep_numbers(&t, s, o);
    cavs_session_destroy(s);
    check_ok(cavs_runtime_destroy(rt));
    trial_close(&t);
    return o;
}

static void compare(struct way w)
{
    struct outcome *here = run(w), *tasks;
    w.leave_to_workers = true;
    tasks = run(w);
    assert_true(tasks->small >= 3 * FEW);
    if (!w.in_flight)
        assert_int_equal(here->small, 0);
    assert_true(here->large > 3);
    assert_memory_equal(&tasks->loss, &here->loss, sizeof here->loss);
    assert_memory_equal(tasks->values, here->values, here->n * sizeof *here->values);
    free(tasks);
    free(here);
}

static void small_batches_are_no_tasks_and_large_ones_wake_the_workers(void **state)
{
    (void)state;
    compare((struct way){0});
}

static void so_it_is_where_numbers_are_checked(void **state)
{
    (void)state;
    compare((struct way){.check_finite = true});
}

/* Whose data they share: no wait between them. */
static void behind_batches_in_flight_numbers_are_the_same(void **state)
{
    (void)state;
    compare((struct way){.in_flight = true});
}

/* Somebody who has tasks of their own: workers that slept would never run them. */
static void workers_of_a_program_that_has_started_starpu_do_not_sleep(void **state)
{
    struct outcome *o;
    (void)state;
    assert_int_equal(starpu_init(NULL), 0);
    o = run((struct way){0});
    starpu_shutdown();
    assert_true(o->small >= 3 * FEW);
    free(o);
}

/* Workers that slept while another session has tasks would never wake up: this would not end. */
static void workers_do_not_sleep_while_another_session_has_tasks(void **state)
{
    struct cavs_runtime_options ro = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session *s[2];
    struct cavs_runtime *rt;
    struct trial t;

    (void)state;
    ro.workers = 2;
    trial_open_zoo(&t, zoo_find("tree_lstm_bench"));
    check_ok(cavs_runtime_create(&ro, &rt));
    for (int i = 0; i < 2; i++)
        check_ok(cavs_session_create(rt, t.model, NULL, &s[i]));
    alarm(120);
    for (int i = 0; i < 3; i++) {
        check_ok(cavs_session_train(s[1], t.data, large, MANY));
        for (int k = 0; k < FEW; k++)
            check_ok(cavs_session_train(s[0], t.data, large, 1));
        check_ok(cavs_session_wait(s[1]));
    }
    alarm(0);
    for (int i = 0; i < 2; i++)
        cavs_session_destroy(s[i]);
    check_ok(cavs_runtime_destroy(rt));
    trial_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_batches_are_no_tasks_and_large_ones_wake_the_workers),
        cmocka_unit_test(so_it_is_where_numbers_are_checked),
        cmocka_unit_test(behind_batches_in_flight_numbers_are_the_same),
        cmocka_unit_test(workers_of_a_program_that_has_started_starpu_do_not_sleep),
        cmocka_unit_test(workers_do_not_sleep_while_another_session_has_tasks),
    };
    return cmocka_run_group_tests_name("here", tests, NULL, NULL);
}
