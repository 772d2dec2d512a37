/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_united.c - samples that read one another, after one of them was computed. */
#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 20, SHARDS = 2 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *b;
    struct cavs_session *s;
    struct cavs_tape *t;
    float numbers[WIDTH]; /* of b */
};

static void open_scene(struct scene *a)
{
    check_ok(cavs_model_create(&a->m));
    a->b = cavs_model_param(a->m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(a->m));
    tape_scene_open(trial_runtime, a->m, SHARDS, 0, &a->s, &a->t);
    check_ok(cavs_session_get_param(a->s, a->b, a->numbers));
}

/* b + b, of a sample of its own. */
static struct cavs_symbol *twice(struct scene *a)
{
    struct cavs_symbol *b = cavs_use(cavs_tape_sample(a->t), a->b);

    return cavs_add(b, b);
}

static void check_twice(struct scene *a, struct cavs_symbol *x)
{
    float row[WIDTH], *to = row;

    check_ok(cavs_tape_values(a->t, 1, &x, &to));
    for (int j = 0; j < WIDTH; j++)
        assert_true(row[j] == 2 * a->numbers[j]);
}

/* The sample that it is together with has nothing computed yet. */
static void what_is_there_stays_there_when_others_read_it(void **unused)
{
    struct cavs_symbol *first, *second;
    struct scene a;

    (void)unused;
    open_scene(&a);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
    first = twice(&a);
    second = twice(&a);
    check_twice(&a, second);
    assert_non_null(cavs_mul(first, second));
    check_twice(&a, second);
    check_ok(cavs_tape_finish(a.t));
    check_twice(&a, second);
    tape_scene_close(a.m, a.s, a.t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_stays_there_when_others_read_it),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("samples that read one another", tests, trial_runtime_up,
                                       trial_runtime_down);
}
