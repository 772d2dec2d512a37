/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_here.c - the smallest batches, and increments of tapes, are computed by the calling thread
 * while the workers sleep: they are no tasks, workers are there again for what is larger, and
 * numbers are those of tasks.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <starpu.h>

#include "tests/tape_step.h"
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

static atomic_int asked; /* how often the system was asked what a thread has had of its processor */

/* Takes the place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (clock == CLOCK_THREAD_CPUTIME_ID)
        atomic_fetch_add(&asked, 1);
    return (int)syscall(SYS_clock_gettime, clock, t);
}

/* A call of the system takes a microsecond, and such a batch may take forty. */
static void small_batches_in_turn_ask_the_system_for_no_clock(void **state)
{
    struct cavs_runtime_options ro = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session *s;
    struct cavs_runtime *rt;
    struct cavs_stats stats;
    struct trial t;
    double before;

    (void)state;
    ro.workers = 2;
    trial_open_zoo(&t, zoo_find("tree_lstm_bench"));
    check_ok(cavs_runtime_create(&ro, &rt));
    check_ok(cavs_session_create(rt, t.model, NULL, &s));
    for (int i = 0; i < FEW; i++) {
        check_ok(cavs_session_train(s, t.data, large, 1));
        check_ok(cavs_session_wait(s));
    }
    cavs_session_stats(s, &stats);
    before = stats.schedule_s;
    atomic_store(&asked, 0);
    for (int i = 0; i < FEW; i++) {
        check_ok(cavs_session_train(s, t.data, large, 1));
        check_ok(cavs_session_wait(s));
    }
    cavs_session_stats(s, &stats);
    assert_int_equal(atomic_load(&asked), 0);
    assert_true(stats.schedule_s > before);
    cavs_session_destroy(s);
    check_ok(cavs_runtime_destroy(rt));
    trial_close(&t);
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

/* ---- tapes ---- */

enum { WIDTH = 12, WORDS = 7, CHAIN = 1, WIDE = 2048, SAMPLES = 4000, ROUNDS = 3 };

/* What recordings leave: how many tasks the values of a small one were, its training, and a
 * training that begins with nothing new but a loss; and numbers. */
struct recorded {
    int64_t asked, small, large;
    double loss;
    float row[ROUNDS * FEW][WIDTH], values[(WORDS + WIDTH) * WIDTH], wide[WIDTH * WIDE];
};

struct scene {
    struct cavs_runtime *rt;
    struct cavs_model *m;
    struct cavs_param *wide;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static void open_scene(struct scene *x, struct way w)
{
    struct cavs_runtime_options ro = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options so = cavs_session_defaults();

    ro.workers = 2;
    ro.leave_to_workers = w.leave_to_workers;
    so.optimizer = CAVS_ADAM;
    so.shards = 2;
    so.check_finite = w.check_finite;
    check_ok(cavs_model_create(&x->m));
    tape_step_params(x->m, WORDS, WIDTH, 0.5f);
    x->wide = cavs_model_param(x->m, "V", WIDTH, WIDE, CAVS_UNIFORM(-0.1f, 0.1f));
    check_ok(cavs_model_finish(x->m));
    check_ok(cavs_runtime_create(&ro, &x->rt));
    check_ok(cavs_session_create(x->rt, x->m, &so, &x->s));
    check_ok(cavs_tape_create(x->s, NULL, &x->t));
}

static void close_scene(struct scene *x)
{
    cavs_tape_destroy(x->t);
    cavs_session_destroy(x->s);
    check_ok(cavs_runtime_destroy(x->rt));
    cavs_model_destroy(x->m);
}

static struct cavs_symbol *chain(struct scene *x, struct cavs_symbol *h, int word)
{
    for (int k = 0; k < CHAIN; k++)
        h = tape_step(x->t, x->m, h, (word + k) % WORDS);
    return h;
}

static struct cavs_symbol *begin_sample(struct scene *x)
{
    static const float zeros[WIDTH];
    struct cavs_function *f = cavs_tape_sample(x->t);

    assert_non_null(f);
    return cavs_tape_row(x->t, WIDTH, zeros);
}

static void add_loss(struct scene *x, struct cavs_symbol *h)
{
    cavs_loss(cavs_tape_function(x->t), "loss", h, NULL);
}

static void finish(struct scene *x, int64_t *tasks)
{
    int64_t before = tasks_of(x->s);

    check_ok(cavs_tape_finish(x->t));
    check_ok(cavs_session_wait(x->s));
    *tasks += tasks_of(x->s) - before;
}

/* A sample whose values are asked for in the middle. */
static void record_small(struct scene *x, int word, float *row, struct recorded *o)
{
    struct cavs_symbol *h;
    int64_t before;

    check_ok(cavs_tape_begin(x->t, CAVS_TAPE_TRAIN));
    h = chain(x, begin_sample(x), word);
    before = tasks_of(x->s);
    check_ok(cavs_tape_values(x->t, 1, &h, &row));
    o->asked += tasks_of(x->s) - before;
    add_loss(x, cavs_sum(cavs_square(chain(x, h, word))));
    finish(x, &o->small);
}

/* Samples whose values are asked for before their losses: what is left then is small, and the way
 * back is not. */
static void record_large(struct scene *x, struct recorded *o)
{
    static struct cavs_symbol *y[SAMPLES];
    static float numbers[SAMPLES], *rows[SAMPLES];

    check_ok(cavs_tape_begin(x->t, CAVS_TAPE_TRAIN));
    for (int i = 0; i < SAMPLES; i++) {
        struct cavs_symbol *h = chain(x, begin_sample(x), i % WORDS);

        y[i] = cavs_sum(cavs_square(cavs_matmul(h, x->wide)));
        rows[i] = &numbers[i];
    }
    check_ok(cavs_tape_values(x->t, SAMPLES, y, rows));
    for (int i = 0; i < SAMPLES; i++) {
        assert_non_null(cavs_tape_resume(x->t, i));
        add_loss(x, y[i]);
    }
    finish(x, &o->large);
}

static struct recorded *record(struct way w)
{
    struct recorded *o = calloc(1, sizeof *o);
    struct scene x;

    assert_non_null(o);
    open_scene(&x, w);
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < FEW; k++)
            record_small(&x, k % WORDS, o->row[i * FEW + k], o);
        record_large(&x, o);
    }
    check_ok(cavs_session_metric(x.s, "loss", &o->loss, NULL));
    check_ok(cavs_session_get_param(x.s, cavs_model_find_param(x.m, "E"), o->values));
    check_ok(
        cavs_session_get_param(x.s, cavs_model_find_param(x.m, "U"), o->values + WORDS * WIDTH));
    check_ok(cavs_session_get_param(x.s, x.wide, o->wide));
    close_scene(&x);
    return o;
}

static void compare_recorded(struct way w)
{
    struct recorded *here = record(w), *tasks;

    w.leave_to_workers = true;
    tasks = record(w);
    assert_true(tasks->asked >= ROUNDS * FEW && tasks->small >= ROUNDS * FEW);
    assert_int_equal(here->asked, 0);
    assert_int_equal(here->small, 0);
    assert_true(here->large > ROUNDS);
    assert_memory_equal(&tasks->loss, &here->loss, sizeof here->loss);
    assert_memory_equal(tasks->row, here->row, sizeof here->row);
    assert_memory_equal(tasks->values, here->values, sizeof here->values);
    assert_memory_equal(tasks->wide, here->wide, sizeof here->wide);
    free(tasks);
    free(here);
}

static void small_increments_are_no_tasks_and_large_ways_back_wake_the_workers(void **state)
{
    (void)state;
    compare_recorded((struct way){0});
}

static void so_are_increments_where_numbers_are_checked(void **state)
{
    (void)state;
    compare_recorded((struct way){.check_finite = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_batches_are_no_tasks_and_large_ones_wake_the_workers),
        cmocka_unit_test(so_it_is_where_numbers_are_checked),
        cmocka_unit_test(behind_batches_in_flight_numbers_are_the_same),
        cmocka_unit_test(workers_of_a_program_that_has_started_starpu_do_not_sleep),
        cmocka_unit_test(small_batches_in_turn_ask_the_system_for_no_clock),
        cmocka_unit_test(workers_do_not_sleep_while_another_session_has_tasks),
        cmocka_unit_test(small_increments_are_no_tasks_and_large_ways_back_wake_the_workers),
        cmocka_unit_test(so_are_increments_where_numbers_are_checked),
    };
    return cmocka_run_group_tests_name("here", tests, NULL, NULL);
}
