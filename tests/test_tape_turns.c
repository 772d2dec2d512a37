/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_turns.c - a session has several tapes, of which one is finished while another one
 * records, or that come one after the other. */
#include <string.h>

#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 20 };

/* An update of the parameters, by a tape. */
static void update(struct cavs_tape *t, struct cavs_param *b)
{
    struct cavs_function *f;

    check_ok(cavs_tape_begin(t, CAVS_TAPE_TRAIN));
    f = cavs_tape_sample(t);
    cavs_loss(f, "loss", cavs_sum(cavs_use(f, b)), NULL);
    check_ok(cavs_tape_finish(t));
}

/* What is dropped follows from the number of updates: of those before the recording, whatever of it
 * is computed when. */
static void an_update_amid_a_recording_changes_nothing_that_was_dropped(void **unused)
{
    float ones[WIDTH], kept[WIDTH], gradient[WIDTH], *to = kept;
    struct cavs_symbol *x, *y;
    struct cavs_model *m;
    struct cavs_param *b;
    struct cavs_session *s;
    struct cavs_tape *t, *other;

    (void)unused;
    for (int j = 0; j < WIDTH; j++)
        ones[j] = 1;
    check_ok(cavs_model_create(&m));
    b = cavs_model_param(m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(m));
    tape_scene_open(trial_runtime, m, 1, 0, &s, &t);
    check_ok(cavs_tape_create(s, NULL, &other));

    check_ok(cavs_tape_begin(t, CAVS_TAPE_GRADIENT));
    cavs_tape_sample(t);
    x = cavs_tape_row(t, WIDTH, ones);
    y = cavs_dropout(x, 0.5f);
    check_ok(cavs_tape_values(t, 1, &y, &to));
    update(other, b);
    cavs_loss(cavs_tape_function(t), "loss", cavs_sum(y), NULL);
    check_ok(cavs_tape_finish(t));
    to = gradient;
    check_ok(cavs_tape_gradients(t, 1, &x, &to));
    assert_memory_equal(gradient, kept, sizeof kept);
    cavs_tape_destroy(other);
    tape_scene_close(m, s, t);
}

/* 2 b, as a new tape has it. */
static void check_tape(struct cavs_tape *t, struct cavs_session *s, struct cavs_param *b)
{
    float want[WIDTH], got[WIDTH], *to = got;
    struct cavs_symbol *x;

    check_ok(cavs_session_get_param(s, b, want));
    check_ok(cavs_tape_begin(t, CAVS_TAPE_TRAIN));
    x = cavs_scale(cavs_use(cavs_tape_sample(t), b), 2);
    check_ok(cavs_tape_values(t, 1, &x, &to));
    for (int j = 0; j < WIDTH; j++)
        assert_true(got[j] == 2 * want[j]);
    cavs_loss(cavs_tape_function(t), "loss", cavs_sum(x), NULL);
    check_ok(cavs_tape_finish(t));
}

/* Tensors have numbers of 16 bits: a session has room for any number of tapes, one after the other,
 * since each takes those that one before it has left. */
static void tapes_leave_their_tensors_to_those_behind_them(void **unused)
{
    struct cavs_model *m;
    struct cavs_param *b;
    struct cavs_session *s;
    struct cavs_tape *t[3];
    int ntensors = 0;

    (void)unused;
    check_ok(cavs_model_create(&m));
    b = cavs_model_param(m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(m));
    tape_scene_open(trial_runtime, m, 2, 0, &s, &t[0]);
    check_ok(cavs_tape_create(s, NULL, &t[1]));
    check_ok(cavs_tape_create(s, NULL, &t[2]));
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 3; k++)
            check_tape(t[k], s, b);
        assert_true(i == 0 || s->engine.ntensors == ntensors);
        ntensors = s->engine.ntensors;
        cavs_tape_destroy(t[i % 3]);
        if (i % 2)
            cavs_tape_destroy(t[(i + 1) % 3]);
        check_tape(t[(i + 2) % 3], s, b);
        if (i % 2)
            check_ok(cavs_tape_create(s, NULL, &t[(i + 1) % 3]));
        check_ok(cavs_tape_create(s, NULL, &t[i % 3]));
    }
    cavs_tape_destroy(t[1]);
    cavs_tape_destroy(t[2]);
    tape_scene_close(m, s, t[0]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tapes_leave_their_tensors_to_those_behind_them),
        cmocka_unit_test(an_update_amid_a_recording_changes_nothing_that_was_dropped),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("several tapes", tests, trial_runtime_up,
                                       trial_runtime_down);
}
