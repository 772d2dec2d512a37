/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tape_rewound.c - what is taken back from a recording has no part in what is left, whether it
 * had been computed before or not, by itself or together with what stays.
 */
#include <math.h>

#include "tests/tape_walk.h"

/* Begins a recording: its first sample. */
static struct cavs_function *open_recording(struct scene *a)
{
    open_scene(a, 1, 0);
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    return cavs_tape_sample(a->t);
}

/* The loss was the sum of b / 2. */
static void close_recording_of_halves(struct scene *a)
{
    float of_b[WIDTH];

    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_get_gradient(a->s, a->b, of_b));
    for (int j = 0; j < WIDTH; j++)
        assert_true(of_b[j] == 0.5f);
    close_scene(a);
}

/* b / 2, computed together with b / 3, which is taken back. */
static void what_is_taken_back_has_no_part_in_gradients(void **unused)
{
    float row[2][WIDTH], *to[2] = {row[0], row[1]};
    struct cavs_symbol *x[2];
    struct cavs_function *f;
    struct scene a;
    int64_t mark;

    (void)unused;
    f = open_recording(&a);
    x[0] = share(&a, f, 2);
    cavs_loss(f, "loss", cavs_sum(x[0]), NULL);
    f = cavs_tape_sample(a.t);
    mark = cavs_tape_mark(a.t);
    x[1] = share(&a, f, 3);
    check_ok(cavs_tape_values(a.t, 2, x, to));
    check_ok(cavs_tape_rewind(a.t, mark));
    close_recording_of_halves(&a);
}

/* Nothing else is computed with it. */
static void what_is_taken_back_alone_has_no_part_in_gradients(void **unused)
{
    float row[WIDTH], *to = row;
    struct cavs_symbol *x;
    struct cavs_function *f;
    struct scene a;
    int64_t mark;

    (void)unused;
    f = open_recording(&a);
    mark = cavs_tape_mark(a.t);
    x = share(&a, f, 3);
    check_ok(cavs_tape_values(a.t, 1, &x, &to));
    check_ok(cavs_tape_rewind(a.t, mark));
    cavs_loss(f, "loss", cavs_sum(share(&a, f, 2)), NULL);
    close_recording_of_halves(&a);
}

/* It would be amid what was recorded in its place. */
static void a_mark_that_was_taken_back_is_none(void **unused)
{
    struct cavs_function *f;
    struct scene a;
    int64_t first, second;

    (void)unused;
    f = open_recording(&a);
    first = cavs_tape_mark(a.t);
    share(&a, f, 3);
    second = cavs_tape_mark(a.t);
    share(&a, f, 4);
    check_ok(cavs_tape_rewind(a.t, first));
    for (int i = 0; i < 3; i++)
        share(&a, f, 5);
    check_refused(cavs_tape_rewind(a.t, second), CAVS_EINVAL, "is no mark of this recording");
    check_refused(cavs_tape_rewind(a.t, first + 1), CAVS_EINVAL, "is no mark of this recording");
    check_ok(cavs_tape_rewind(a.t, first));
    cavs_loss(f, "loss", cavs_sum(share(&a, f, 2)), NULL);
    close_recording_of_halves(&a);
}

/* b / 2 and b / 4, of two samples. */
static void begin_two(struct scene *a, struct cavs_symbol **x)
{
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    for (int i = 0; i < 2; i++)
        x[i] = share(a, cavs_tape_sample(a->t), 2 + 2 * (float)i);
}

/* The loss is the sum of their squares: (1 / 4 + 1 / 16) b^2. */
static void finish_two(struct scene *a, struct cavs_symbol **x)
{
    float b[WIDTH], of_b[WIDTH];

    for (int i = 0; i < 2; i++)
        cavs_loss(cavs_tape_resume(a->t, i), "loss", cavs_sum(cavs_square(x[i])), NULL);
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_get_param(a->s, a->b, b));
    check_ok(cavs_session_get_gradient(a->s, a->b, of_b));
    for (int j = 0; j < WIDTH; j++)
        assert_true(fabsf(of_b[j] - 0.625f * b[j]) < 1e-6f);
}

/* What read both is taken back before it is computed, or when it is there: then they stay
 * together. */
static void samples_are_apart_again_when_what_read_both_is_taken_back(void **unused)
{
    float row[2][WIDTH], *to[2] = {row[0], row[1]};
    struct cavs_symbol *x[2], *both;
    struct scene a;
    int64_t mark;

    (void)unused;
    open_scene(&a, 2, 0);
    begin_two(&a, x);
    check_ok(cavs_tape_values(a.t, 2, x, to));
    mark = cavs_tape_mark(a.t);
    assert_non_null(cavs_add(x[0], x[1]));
    check_ok(cavs_tape_rewind(a.t, mark));
    finish_two(&a, x);

    begin_two(&a, x);
    mark = cavs_tape_mark(a.t);
    both = cavs_add(x[0], x[1]);
    check_ok(cavs_tape_values(a.t, 1, &both, to));
    check_ok(cavs_tape_rewind(a.t, mark));
    finish_two(&a, x);
    close_scene(&a);
}

/* b / 2 of as many samples as there is room for. */
static void record_halves(struct scene *a, struct cavs_symbol **x)
{
    for (int i = 0; i < SAMPLES; i++)
        x[i] = share(a, cavs_tape_sample(a->t), 2);
}

/* Samples, evaluated together, are taken back.  Those that have their numbers afterwards have
 * nothing to do with one another, whatever else is taken back. */
static void samples_in_the_place_of_others_are_not_together(void **unused)
{
    float row[SAMPLES][WIDTH], *to[SAMPLES] = {row[0], row[1], row[2]};
    struct cavs_symbol *x[SAMPLES], *all;
    struct scene a;
    int64_t mark;

    (void)unused;
    open_scene(&a, 2, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    mark = cavs_tape_mark(a.t);
    record_halves(&a, x);
    all = cavs_add(cavs_add(x[0], x[1]), x[2]);
    check_ok(cavs_tape_values(a.t, 1, &all, to));
    check_ok(cavs_tape_rewind(a.t, mark));

    record_halves(&a, x);
    check_ok(cavs_tape_values(a.t, SAMPLES, x, to));
    mark = cavs_tape_mark(a.t);
    assert_non_null(cavs_tape_sample(a.t));
    assert_non_null(cavs_add(x[0], share(&a, cavs_tape_function(a.t), 2)));
    check_ok(cavs_tape_rewind(a.t, mark));
    cavs_loss(cavs_tape_resume(a.t, 0), "loss", cavs_sum(x[0]), NULL);
    close_recording_of_halves(&a);
}

/* The second sample was computed apart from the first one and taken back; what has its number then
 * reads the first one. */
static void a_sample_in_the_place_of_another_may_read_others(void **unused)
{
    float row[2][WIDTH], *to[2] = {row[0], row[1]};
    struct cavs_symbol *x[2];
    struct cavs_function *f;
    struct scene a;
    int64_t mark;

    (void)unused;
    open_scene(&a, 2, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    x[0] = share(&a, cavs_tape_sample(a.t), 2);
    mark = cavs_tape_mark(a.t);
    x[1] = share(&a, cavs_tape_sample(a.t), 4);
    check_ok(cavs_tape_values(a.t, 2, x, to));
    check_ok(cavs_tape_rewind(a.t, mark));
    f = cavs_tape_sample(a.t);
    x[1] = cavs_add(cavs_tape_row(a.t, WIDTH, row[1]), x[0]);
    cavs_loss(f, "loss", cavs_sum(x[1]), NULL);
    close_recording_of_halves(&a);
}

/* The gradient of U that it records is the same with blocks as operator by operator. */
static void blocks_have_the_gradient(void (*record)(struct scene *a, float *gradient))
{
    static float want[WIDTH * WIDTH], got[WIDTH * WIDTH];
    struct scene one_by_one, blocks;

    open_scene(&one_by_one, 1, 0);
    open_scene(&blocks, 1, 1);
    for (int i = 0; i < RECORDINGS; i++) {
        record(&one_by_one, want);
        record(&blocks, got);
        for (int j = 0; j < WIDTH * WIDTH; j++)
            assert_true(fabsf(got[j] - want[j]) < 1e-4f);
    }
    assert_true(blocks.t->blocks.made > 0);
    close_scene(&one_by_one);
    close_scene(&blocks);
}

/* The gradient of U by a loss at the end of the first steps; those behind it are computed with
 * them, taken back, and then others are recorded. */
static void gradient_after_a_search(struct scene *a, float *gradient)
{
    float row[WIDTH], seen[WIDTH], *to = seen;
    struct cavs_symbol *scores[STEPS], *h, *later;
    struct cavs_function *f;
    int64_t mark;

    for (int j = 0; j < WIDTH; j++)
        row[j] = (float)j / WIDTH;
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a->t);
    h = walk(a, cavs_tape_row(a->t, WIDTH, row), scores);
    mark = cavs_tape_mark(a->t);
    later = walk(a, h, scores);
    check_ok(cavs_tape_values(a->t, 1, &later, &to));
    check_ok(cavs_tape_rewind(a->t, mark));
    for (int i = 0; i < 3; i++)
        walk(a, walk(a, cavs_tape_row(a->t, WIDTH, row), scores), scores);
    cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
    cavs_loss(f, "loss", cavs_sum(cavs_square(scores[0])), NULL);
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_get_gradient(a->s, a->U, gradient));
}

static void blocks_stay_when_what_was_computed_with_them_is_taken_back(void **unused)
{
    (void)unused;
    blocks_have_the_gradient(gradient_after_a_search);
}

/* The gradient of U by what a run begins with, whose end was computed with it and taken back. */
static void gradient_of_half_a_run(struct scene *a, float *gradient)
{
    float row[WIDTH], seen[2][WIDTH], *to[2] = {seen[0], seen[1]};
    struct cavs_symbol *x[2];
    struct cavs_function *f;
    int64_t mark;

    for (int j = 0; j < WIDTH; j++)
        row[j] = (float)j / WIDTH;
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a->t);
    x[0] = cavs_tanh(cavs_affine(cavs_tape_row(a->t, WIDTH, row), a->U, a->b));
    mark = cavs_tape_mark(a->t);
    x[1] = cavs_mul(cavs_tape_row(a->t, WIDTH, row), cavs_tanh(x[0]));
    check_ok(cavs_tape_values(a->t, 2, x, to));
    check_ok(cavs_tape_rewind(a->t, mark));
    x[1] = cavs_scale(x[0], 2);
    cavs_loss(f, "loss", cavs_sum(cavs_square(x[1])), NULL);
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_get_gradient(a->s, a->U, gradient));
}

static void half_a_run_may_be_taken_back(void **unused)
{
    (void)unused;
    blocks_have_the_gradient(gradient_of_half_a_run);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_back_has_no_part_in_gradients),
        cmocka_unit_test(what_is_taken_back_alone_has_no_part_in_gradients),
        cmocka_unit_test(a_mark_that_was_taken_back_is_none),
        cmocka_unit_test(samples_are_apart_again_when_what_read_both_is_taken_back),
        cmocka_unit_test(samples_in_the_place_of_others_are_not_together),
        cmocka_unit_test(a_sample_in_the_place_of_another_may_read_others),
        cmocka_unit_test(blocks_stay_when_what_was_computed_with_them_is_taken_back),
        cmocka_unit_test(half_a_run_may_be_taken_back),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("what is taken back", tests, trial_runtime_up,
                                       trial_runtime_down);
}
