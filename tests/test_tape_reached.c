/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_reached.c - gradients reach what losses depend on, and nothing that is only computed
 * together with it. */
#include <math.h>
#include <string.h>

#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 20, WORDS = 3 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static void open_scene(struct scene *a, int blocks_after)
{
    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(a->m));
    tape_scene_open(trial_runtime, a->m, 1, blocks_after, &a->s, &a->t);
}

/* A row that has no gradient stays as it is, with all that the optimizer keeps of it. */
static void words_without_a_loss_are_not_updated(void **unused)
{
    float before[WORDS * WIDTH], after[WORDS * WIDTH];

    (void)unused;
    for (int blocks_after = 0; blocks_after < 2; blocks_after++) {
        struct scene a;

        open_scene(&a, blocks_after);
        for (int last = 0; last < 2; last++) {
            struct cavs_function *f;

            check_ok(cavs_session_get_param(a.s, a.E, before));
            check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
            for (int word = 0; word < 2; word++) {
                f = cavs_tape_sample(a.t);
                cavs_metric_at(f, last && word == 1 ? "metric" : "loss",
                               cavs_sum(cavs_lookup(a.E, cavs_tape_id(a.t, word))), NULL,
                               !last || word == 0, CAVS_HERE);
            }
            check_ok(cavs_tape_finish(a.t));
        }
        check_ok(cavs_session_get_param(a.s, a.E, after));
        assert_memory_not_equal(before, after, WIDTH * sizeof *before);
        assert_memory_equal(before + WIDTH, after + WIDTH, WIDTH * sizeof *before);
        tape_scene_close(a.m, a.s, a.t);
    }
}

/* A function of x U that is infinite, or has no derivative, where x is 0: no number is what comes
 * of that times zero. */
static struct cavs_symbol *steep(struct scene *a, float x)
{
    struct cavs_symbol *y;
    float row[WIDTH];

    for (int j = 0; j < WIDTH; j++)
        row[j] = x;
    cavs_tape_sample(a->t);
    y = cavs_square(cavs_matmul(cavs_tape_row(a->t, WIDTH, row), a->U));
    return cavs_add(cavs_log(y), cavs_matmul(cavs_sqrt(y), a->U));
}

enum what { ALONE, ASKED_FOR, TAKEN_BACK };

/* The gradient of U of a recording whose loss is that of one sample.  A second one is computed
 * beside it. */
static void get_gradient(struct scene *a, enum what second, float *gradient)
{
    float row[2][WIDTH], *to[2] = {row[0], row[1]};
    struct cavs_symbol *x[2];
    int64_t mark;

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    x[0] = steep(a, 1);
    mark = cavs_tape_mark(a->t);
    if (second != ALONE)
        x[1] = steep(a, 0);
    check_ok(cavs_tape_values(a->t, second == ALONE ? 1 : 2, x, to));
    assert_true(second == ALONE || isinf(row[1][0]));
    if (second == TAKEN_BACK)
        check_ok(cavs_tape_rewind(a->t, mark));
    cavs_loss(cavs_tape_resume(a->t, 0), "loss", cavs_sum(x[0]), NULL);
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_get_gradient(a->s, a->U, gradient));
}

static void what_no_loss_depends_on_has_no_part_in_gradients(void **unused)
{
    static float want[WIDTH * WIDTH], got[WIDTH * WIDTH];

    (void)unused;
    for (int blocks_after = 0; blocks_after < 2; blocks_after++) {
        struct scene a;

        open_scene(&a, blocks_after);
        for (int i = 0; i < 4; i++)
            get_gradient(&a, ALONE, want);
        assert_int_equal(a.t->blocks.used, blocks_after > 0);
        get_gradient(&a, ASKED_FOR, got);
        assert_memory_equal(got, want, sizeof got);
        get_gradient(&a, TAKEN_BACK, got);
        assert_memory_equal(got, want, sizeof got);
        tape_scene_close(a.m, a.s, a.t);
    }
}

/* x + x is asked for before the rest of the recording, of which something may read x, too.  Of the
 * losses, with respect to x. */
static int gradient_of_x(struct scene *a, bool read_later, float *gradient)
{
    float row[WIDTH] = {1}, *to = row;
    struct cavs_symbol *x, *y;
    struct cavs_function *f;

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a->t);
    x = cavs_tanh(cavs_matmul(cavs_tape_row(a->t, WIDTH, row), a->U));
    y = cavs_add(x, x);
    check_ok(cavs_tape_values(a->t, 1, &y, &to));
    if (read_later)
        cavs_loss(f, "loss", cavs_sum(x), NULL);
    cavs_loss(f, "loss", cavs_sum(y), NULL);
    check_ok(cavs_tape_finish(a->t));
    return read_later ? cavs_tape_gradients(a->t, 1, &x, &gradient) : CAVS_OK;
}

/* It is computed in a block, which does not keep it, and by itself: either has a part of its
 * gradient. */
static void what_is_computed_again_has_no_gradient_of_a_part(void **unused)
{
    float gradient[WIDTH];

    (void)unused;
    for (int blocks_after = 0; blocks_after < 2; blocks_after++) {
        struct scene a;

        open_scene(&a, blocks_after);
        for (int i = 0; i < 4; i++)
            check_ok(gradient_of_x(&a, false, gradient));
        assert_int_equal(a.t->blocks.used, blocks_after > 0);
        if (blocks_after > 0)
            check_refused(gradient_of_x(&a, true, gradient), CAVS_ESTATE, "tanh", "block");
        check_ok(gradient_of_x(&a, true, gradient));
        for (int j = 0; j < WIDTH; j++)
            assert_true(gradient[j] == 3);
        tape_scene_close(a.m, a.s, a.t);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_without_a_loss_are_not_updated),
        cmocka_unit_test(what_no_loss_depends_on_has_no_part_in_gradients),
        cmocka_unit_test(what_is_computed_again_has_no_gradient_of_a_part),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("what gradients reach", tests, trial_runtime_up,
                                       trial_runtime_down);
}
