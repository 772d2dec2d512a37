/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_turns.c - a session has several tapes, of which one is finished while another one
 * records. */
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_amid_a_recording_changes_nothing_that_was_dropped),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("several tapes", tests, trial_runtime_up,
                                       trial_runtime_down);
}
