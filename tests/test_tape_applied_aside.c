/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_applied_aside.c - workers that record apply a declared function to lists of a sort that
 * it has not been applied to before. */
#include <string.h>

#include "core/tape/tape.h"
#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 8, WORDS = 5, WORKERS = 3, SAMPLES = 60, LEARNED = 3, RECORDINGS = LEARNED + 2 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U;
    struct cavs_function *sum;
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_tape *t;
    bool rows; /* children are the user's, which have no gradient */
};

/* tanh(U times the sum of all children) */
static void declare(struct scene *a)
{
    struct cavs_function *f;

    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    f = cavs_function_create(cavs_stage_create(a->m, "sum", WIDTH), "sum");
    cavs_scatter(f, cavs_tanh(cavs_matmul(cavs_sum_children(cavs_each_child(f)), a->U)));
    check_ok(cavs_model_finish(a->m));
    a->sum = f;
}

static void open_scene(struct scene *a, bool one_recorder)
{
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_tape_options tape = cavs_tape_defaults();

    *a = (struct scene){0};
    declare(a);
    r.workers = WORKERS;
    o.shards = 2;
    tape.one_recorder = one_recorder;
    check_ok(cavs_runtime_create(&r, &a->rt));
    check_ok(cavs_session_create(a->rt, a->m, &o, &a->s));
    check_ok(cavs_tape_create(a->s, &tape, &a->t));
}

static int record(struct cavs_tape *t, int i, void *user)
{
    const struct scene *a = user;
    float row[WIDTH] = {0.1f * (float)i};
    struct cavs_symbol *children[2];
    struct cavs_application apply = {.nchildren = 2, .children = children};

    for (int k = 0; k < 2; k++) { /* both are known; what they are to the function is not */
        struct cavs_symbol *given = cavs_tape_row(t, WIDTH, row),
                           *word = cavs_lookup(a->E, cavs_tape_id(t, (i + k) % WORDS));

        children[k] = a->rows ? given : word;
    }
    cavs_loss(cavs_tape_function(t), "loss", cavs_sum(cavs_tape_apply(t, a->sum, &apply)), NULL);
    return 0;
}

/* The parameter U, and how many sorts of symbols there were. */
static int64_t train(bool one_recorder, float *numbers)
{
    struct cavs_tape_stats stats;
    struct scene a;

    open_scene(&a, one_recorder);
    for (int i = 0; i < RECORDINGS; i++) {
        a.rows = i >= LEARNED;
        a.t->alone = 0; /* workers try */
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
        check_ok(cavs_tape_record(a.t, SAMPLES, record, &a));
        check_ok(cavs_tape_finish(a.t));
    }
    check_ok(cavs_session_get_param(a.s, a.U, numbers));
    cavs_tape_stats(a.t, &stats);
    assert_int_equal(stats.side_by_side > 0, !one_recorder);
    tape_scene_close(a.m, a.s, a.t);
    cavs_runtime_destroy(a.rt);
    return stats.signatures;
}

static void a_new_sort_of_list_is_the_tapes_own(void **unused)
{
    float one[WIDTH * WIDTH], several[WIDTH * WIDTH];

    (void)unused;
    assert_int_equal(train(false, several), train(true, one));
    assert_memory_equal(several, one, sizeof one);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_sort_of_list_is_the_tapes_own),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("applied by workers", tests, NULL, NULL);
}
