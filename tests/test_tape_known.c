/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_known.c - a run becomes what one before has become only where that is right. */
#include <math.h>

#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 8, WORDS = 5, SAMPLES = 4, RECORDINGS = 5 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U, *V;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static struct scene open_scene(int blocks_after)
{
    struct scene a;

    check_ok(cavs_model_create(&a.m));
    a.E = cavs_model_param(a.m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a.U = cavs_model_param(a.m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    a.V = cavs_model_param(a.m, "V", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(a.m));
    tape_scene_open(trial_runtime, a.m, 1, blocks_after, &a.s, &a.t);
    return a;
}

static struct cavs_symbol *look_up(struct scene *a, int word)
{
    return cavs_lookup(a->E, cavs_tape_id(a->t, word % WORDS));
}

/* Computed, and in no block, so that runs begin and end there. */
static struct cavs_symbol *apart(struct cavs_symbol *x)
{
    return cavs_dropout(x, 0.5f);
}

/* ---- what may be computed ahead ---- */

/* A product of a word can be computed ahead; of what was made of one it cannot. */
static int64_t vts_of_products(struct scene *a, bool of_words)
{
    struct cavs_tape_stats before, after;

    cavs_tape_stats(a->t, &before);
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_EVALUATE));
    for (int i = 0; i < SAMPLES; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *h = apart(look_up(a, i)), *x = look_up(a, i + 1), *y;

        if (!of_words)
            x = apart(x);
        y = cavs_tanh(cavs_add(cavs_matmul(x, a->U), cavs_matmul(h, a->V)));
        cavs_loss(f, "loss", cavs_sum(apart(y)), NULL);
    }
    check_ok(cavs_tape_finish(a->t));
    cavs_tape_stats(a->t, &after);
    return after.batching_tasks - before.batching_tasks;
}

static void runs_that_read_words_are_known_apart_from_others(void **unused)
{
    struct scene words_first = open_scene(1), alone = open_scene(1);
    int64_t vts[2];

    (void)unused;
    for (int i = 0; i < RECORDINGS; i++)
        vts_of_products(&words_first, true);
    for (int i = 0; i < RECORDINGS; i++) {
        vts[0] = vts_of_products(&words_first, false);
        vts[1] = vts_of_products(&alone, false);
    }
    assert_true(words_first.t->blocks.nknown > 1);
    assert_int_equal(vts[0], vts[1]);
    tape_scene_close(words_first.m, words_first.s, words_first.t);
    tape_scene_close(alone.m, alone.s, alone.t);
}

/* Records sample i, and gives its loss; asked: values are asked for on the way. */
typedef struct cavs_symbol *record_sample(struct scene *a, int i, bool asked);

static double loss(struct scene *a, record_sample *record, bool asked)
{
    double sum, count;

    check_ok(cavs_session_reset_metrics(a->s));
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_EVALUATE));
    for (int i = 0; i < SAMPLES; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);

        cavs_loss(f, "loss", record(a, i, asked), NULL);
    }
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_metric(a->s, "loss", &sum, &count));
    return sum;
}

/* ---- what is there already ---- */

/* The first member of a run is read outside, as the last one is; asked: it is there before the
 * others are needed. */
static struct cavs_symbol *record_run(struct scene *a, int i, bool asked)
{
    float row[WIDTH], *to = row;
    struct cavs_symbol *first = cavs_matmul(apart(look_up(a, i)), a->U);
    struct cavs_symbol *last = apart(cavs_sigmoid(cavs_tanh(first)));

    if (asked)
        check_ok(cavs_tape_values(a->t, 1, &first, &to));
    return cavs_sum(apart(cavs_mul(last, first)));
}

static void runs_of_which_some_was_there_are_not_as_whole_ones(void **unused)
{
    struct scene one_by_one = open_scene(0), blocks = open_scene(1);
    double want = loss(&one_by_one, record_run, false);

    (void)unused;
    for (int i = 0; i < RECORDINGS; i++)
        assert_true(fabs(loss(&blocks, record_run, true) - want) < 1e-5 * fabs(want));
    for (int i = 0; i < RECORDINGS; i++)
        assert_true(fabs(loss(&blocks, record_run, false) - want) < 1e-5 * fabs(want));
    assert_true(blocks.t->blocks.nknown > 0);
    tape_scene_close(one_by_one.m, one_by_one.s, one_by_one.t);
    tape_scene_close(blocks.m, blocks.s, blocks.t);
}

/* ---- what was computed meanwhile ---- */

/* Two symbols, between which another one is asked for or not. */
static struct cavs_symbol *record_pair(struct scene *a, int i, bool asked)
{
    float row[WIDTH], *to = row;
    struct cavs_symbol *h[2] = {apart(look_up(a, i)), apart(look_up(a, i + 1))};
    struct cavs_symbol *other = apart(cavs_sigmoid(cavs_tanh(apart(look_up(a, i + 2)))));
    struct cavs_symbol *x = cavs_square(h[0]), *y;

    if (asked)
        check_ok(cavs_tape_values(a->t, 1, &other, &to));
    y = cavs_tanh(h[1]);
    y = apart(y);
    x = apart(x);
    return cavs_dot(cavs_mul(x, y), other);
}

static void runs_may_be_recorded_in_two_goes(bool first)
{
    struct scene one_by_one = open_scene(0), blocks = open_scene(1);
    double want = loss(&one_by_one, record_pair, false);

    for (int i = 0; i < 2 * RECORDINGS; i++)
        assert_true(fabs(loss(&blocks, record_pair, (i < RECORDINGS) == first) - want) <
                    1e-5 * fabs(want));
    assert_true(blocks.t->blocks.nknown > 0);
    tape_scene_close(one_by_one.m, one_by_one.s, one_by_one.t);
    tape_scene_close(blocks.m, blocks.s, blocks.t);
}

static void runs_are_known_whatever_was_computed_meanwhile(void **unused)
{
    (void)unused;
    runs_may_be_recorded_in_two_goes(false);
    runs_may_be_recorded_in_two_goes(true);
}

/* ---- which operands are the same ---- */

/* A run that reads one row twice, or two. */
static struct cavs_symbol *record_twice(struct scene *a, int i, bool two)
{
    struct cavs_symbol *h[2] = {apart(look_up(a, i)), apart(look_up(a, i + 1))};

    return cavs_sum(apart(cavs_tanh(cavs_mul(cavs_square(h[0]), h[two]))));
}

static void record_both_ways(struct scene *one_by_one, struct scene *blocks, bool two)
{
    double want = loss(one_by_one, record_twice, two);

    for (int i = 0; i < RECORDINGS; i++)
        assert_true(fabs(loss(blocks, record_twice, two) - want) < 1e-5 * fabs(want));
}

static void runs_that_read_one_row_twice_are_known_apart_from_others(void **unused)
{
    (void)unused;
    for (int two = 0; two < 2; two++) {
        struct scene one_by_one = open_scene(0), blocks = open_scene(1);
        int known;

        record_both_ways(&one_by_one, &blocks, two);
        known = blocks.t->blocks.nknown;
        record_both_ways(&one_by_one, &blocks, !two);
        assert_true(blocks.t->blocks.nknown > known);
        tape_scene_close(one_by_one.m, one_by_one.s, one_by_one.t);
        tape_scene_close(blocks.m, blocks.s, blocks.t);
    }
}

/* ---- how many are known ---- */

/* How many runs are known after recordings of so many samples that are all alike. */
static int known_of(int samples)
{
    struct scene a = open_scene(1);
    int known;

    for (int i = 0; i < RECORDINGS; i++) {
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
        for (int k = 0; k < samples; k++) {
            struct cavs_function *f = cavs_tape_sample(a.t);

            cavs_loss(f, "loss", record_run(&a, 0, false), NULL);
        }
        check_ok(cavs_tape_finish(a.t));
    }
    known = a.t->blocks.nknown;
    tape_scene_close(a.m, a.s, a.t);
    return known;
}

static void equal_runs_are_learned_once(void **unused)
{
    (void)unused;
    assert_true(known_of(1) > 0);
    assert_int_equal(known_of(SAMPLES), known_of(1));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_that_read_words_are_known_apart_from_others),
        cmocka_unit_test(runs_of_which_some_was_there_are_not_as_whole_ones),
        cmocka_unit_test(runs_are_known_whatever_was_computed_meanwhile),
        cmocka_unit_test(runs_that_read_one_row_twice_are_known_apart_from_others),
        cmocka_unit_test(equal_runs_are_learned_once),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("known runs", tests, trial_runtime_up, trial_runtime_down);
}
