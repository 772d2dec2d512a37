/* SPDX-License-Identifier: Apache-2.0 */
/* test_stop_gradient.c - what cavs_stop_gradient() gives is a value like others, and trains
 * nothing; the oracle is asked by tests/test_gradients.c and by what is drawn at random. */
#include <math.h>
#include <string.h>

#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 5, TIMES = 4 };

static struct cavs_model *new_model(void)
{
    struct cavs_model *m;

    check_ok(cavs_model_create(&m));
    cavs_model_param(m, "a", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    cavs_model_param(m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(m));
    return m;
}

static void get(struct cavs_session *s, const char *name, float *values)
{
    struct cavs_model *m = (struct cavs_model *)s->model;

    check_ok(cavs_session_get_param(s, cavs_model_find_param(m, name), values));
}

/* Adds the loss sum(stop(tanh(a)) b), which is one of b alone; returns what was stopped. */
static struct cavs_symbol *add_loss(struct cavs_tape *t, struct cavs_symbol *a,
                                    struct cavs_symbol *b)
{
    struct cavs_symbol *stopped = cavs_stop_gradient(cavs_tanh(a));

    cavs_loss(cavs_tape_function(t), "loss", cavs_sum(cavs_mul(stopped, b)), NULL);
    return stopped;
}

static void trains_what_reads_it_alone(int blocks_after)
{
    float before[2][WIDTH], after[2][WIDTH];
    struct cavs_model *m = new_model();
    struct cavs_param *a = cavs_model_find_param(m, "a"), *b = cavs_model_find_param(m, "b");
    struct cavs_function *f;
    struct cavs_session *s;
    struct cavs_tape *t;

    tape_scene_open(trial_runtime, m, 1, blocks_after, &s, &t);
    get(s, "a", before[0]);
    get(s, "b", before[1]);
    for (int i = 0; i < TIMES; i++) {
        check_ok(cavs_tape_begin(t, CAVS_TAPE_TRAIN));
        f = cavs_tape_sample(t);
        add_loss(t, cavs_use(f, a), cavs_use(f, b));
        check_ok(cavs_tape_finish(t));
    }
    get(s, "a", after[0]);
    get(s, "b", after[1]);
    assert_memory_equal(before[0], after[0], sizeof before[0]);
    for (int j = 0; j < WIDTH; j++)
        assert_true(before[1][j] != after[1][j]);
    tape_scene_close(m, s, t);
}

static void what_stands_before_it_is_not_trained(void **unused)
{
    (void)unused;
    trains_what_reads_it_alone(0);
    trains_what_reads_it_alone(1);
}

static void gradients_are_zero_before_it_and_not_there_of_it(void **unused)
{
    const float numbers[WIDTH] = {0.5f, -1, 0, 2, 0.1f};
    float row[2][WIDTH], value[WIDTH], *to[2] = {row[0], row[1]}, *out = value;
    struct cavs_model *m = new_model();
    struct cavs_symbol *x[2], *stopped;
    struct cavs_session *s;
    struct cavs_tape *t;

    (void)unused;
    tape_scene_open(trial_runtime, m, 1, 0, &s, &t);
    check_ok(cavs_tape_begin(t, CAVS_TAPE_GRADIENT));
    cavs_tape_sample(t);
    for (int i = 0; i < 2; i++)
        x[i] = cavs_tape_row(t, WIDTH, numbers);
    stopped = add_loss(t, x[0], x[1]);
    check_ok(cavs_tape_values(t, 1, &stopped, &out));
    check_ok(cavs_tape_finish(t));
    check_ok(cavs_tape_gradients(t, 2, x, to));
    for (int j = 0; j < WIDTH; j++) {
        assert_true(row[0][j] == 0 && row[1][j] == value[j]);
        assert_true(fabsf(value[j] - tanhf(numbers[j])) < 1e-5f);
    }
    check_refused(cavs_tape_gradients(t, 1, &stopped, to), CAVS_EPROGRAM,
                  "made of nothing that has a gradient");
    tape_scene_close(m, s, t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_before_it_is_not_trained),
        cmocka_unit_test(gradients_are_zero_before_it_and_not_there_of_it),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("stopped gradients", tests, trial_runtime_up,
                                       trial_runtime_down);
}
