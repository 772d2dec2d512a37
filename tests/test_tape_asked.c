/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tape_asked.c - values that are asked for are those of the recording: in the middle of it,
 * when what they were made from is computed once more in another block, and after it.
 */
#include <math.h>

#include "core/tape/tape.h"
#include "tests/random.h"
#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 20, STEPS = 4, SAMPLES = 3, RECORDINGS = 12 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *U, *b, *V;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static void open_shards(struct scene *a, int shards, int blocks_after)
{
    check_ok(cavs_model_create(&a->m));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-0.5f, 0.5f));
    a->b = cavs_model_param(a->m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    a->V = cavs_model_param(a->m, "V", WIDTH, WIDTH, CAVS_UNIFORM(-0.5f, 0.5f));
    check_ok(cavs_model_finish(a->m));
    tape_scene_open(trial_runtime, a->m, shards, blocks_after, &a->s, &a->t);
}

static void open_scene(struct scene *a, int blocks_after)
{
    open_shards(a, 1, blocks_after);
}

/* Scores and the next state are made from the same row, which nobody else reads.  The last scores
 * are asked for before their step's state is needed. */
static struct cavs_symbol *walk(struct scene *a, struct cavs_symbol *h, struct cavs_symbol **scores)
{
    for (int k = 0; k < STEPS; k++) {
        struct cavs_symbol *x = cavs_tanh(cavs_affine(h, a->U, a->b));

        scores[k] = cavs_matmul(x, a->V);
        h = cavs_tanh(x);
    }
    return h;
}

/* Of a recording; and its gradients, if it is one of them. */
static double loss(struct scene *a, enum cavs_tape_run run, uint64_t seed, float *gradient)
{
    float row[WIDTH], asked[WIDTH], *to = asked;
    double sum, count;

    check_ok(cavs_session_reset_metrics(a->s));
    check_ok(cavs_tape_begin(a->t, run));
    for (int i = 0; i < SAMPLES; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *scores[2 * STEPS], *h;

        for (int j = 0; j < WIDTH; j++)
            row[j] = (float)random_double(&seed, -1, 1);
        h = walk(a, cavs_tape_row(a->t, WIDTH, row), scores);
        check_ok(cavs_tape_values(a->t, 1, &scores[STEPS - 1], &to));
        walk(a, h, scores + STEPS);
        for (int k = 0; k < 2 * STEPS; k++)
            cavs_loss(f, "loss", cavs_sum(cavs_square(scores[k])), NULL);
    }
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_session_metric(a->s, "loss", &sum, &count));
    if (run == CAVS_TAPE_GRADIENT)
        check_ok(cavs_session_get_gradient(a->s, a->U, gradient));
    return sum;
}

static int64_t evaluated(const struct scene *a)
{
    struct cavs_tape_stats stats;

    cavs_tape_stats(a->t, &stats);
    return stats.evaluated;
}

static int most_results(const struct scene *a)
{
    const struct cavs__signatures *all = &a->t->recording.signatures;
    int most = 0;

    for (int i = 0; i < all->n; i++)
        most = all->all[i]->nresults > most ? all->all[i]->nresults : most;
    return most;
}

/* A row that was not kept is computed again, and its product and sum with it; from then on it is
 * kept, it alone. */
static void ask_before_the_rest(enum cavs_tape_run run)
{
    static float want[WIDTH * WIDTH], got[WIDTH * WIDTH];
    struct scene one_by_one, blocks;
    int64_t before[2];

    open_scene(&one_by_one, 0);
    open_scene(&blocks, 1);
    for (int i = 0; i < RECORDINGS; i++) {
        double sum;

        before[0] = evaluated(&one_by_one);
        before[1] = evaluated(&blocks);
        sum = loss(&one_by_one, run, (uint64_t)i, want);
        assert_true(fabs(loss(&blocks, run, (uint64_t)i, got) - sum) < 1e-5 * sum);
        for (int j = 0; j < WIDTH * WIDTH && run == CAVS_TAPE_GRADIENT; j++)
            assert_true(fabsf(got[j] - want[j]) < 1e-4f);
    }
    assert_true(blocks.t->blocks.made > 0);
    assert_true(evaluated(&blocks) - before[1] == evaluated(&one_by_one) - before[0]);
    assert_true(most_results(&blocks) <= STEPS + 1); /* scores, and that row */
    tape_scene_close(one_by_one.m, one_by_one.s, one_by_one.t);
    tape_scene_close(blocks.m, blocks.s, blocks.t);
}

static void what_was_asked_for_stays_when_its_operands_are_computed_again(void **unused)
{
    (void)unused;
    ask_before_the_rest(CAVS_TAPE_EVALUATE);
    ask_before_the_rest(CAVS_TAPE_GRADIENT);
}

/* Whether its values are there before and after the end of such a recording. */
static void ask_for_a_parameter(struct scene *a, enum cavs_tape_run run, int after)
{
    float before[WIDTH], later[WIDTH], *to = before;
    struct cavs_function *f;
    struct cavs_symbol *b, *some;

    check_ok(cavs_tape_begin(a->t, run));
    f = cavs_tape_sample(a->t);
    b = cavs_use(f, a->b);
    some = cavs_slice(b, 2, 3);
    cavs_loss(f, "loss", cavs_sum(cavs_square(b)), NULL);
    check_ok(cavs_tape_values(a->t, 1, &b, &to));
    check_ok(cavs_tape_finish(a->t));
    to = later;
    assert_int_equal(cavs_tape_values(a->t, 1, &b, &to), after);
    if (!after)
        assert_memory_equal(later, before, sizeof before);
    assert_int_equal(cavs_tape_values(a->t, 1, &some, &to), after);
    if (!after)
        assert_memory_equal(later, before + 2, 3 * sizeof *later);
}

static void what_a_parameter_was_is_not_asked_for_after_its_update(void **unused)
{
    struct scene a;

    (void)unused;
    open_scene(&a, 0);
    ask_for_a_parameter(&a, CAVS_TAPE_EVALUATE, CAVS_OK);
    ask_for_a_parameter(&a, CAVS_TAPE_GRADIENT, CAVS_OK);
    ask_for_a_parameter(&a, CAVS_TAPE_TRAIN, CAVS_ESTATE);
    tape_scene_close(a.m, a.s, a.t);
}

static struct cavs_symbol *share(struct scene *a, struct cavs_function *f, float of)
{
    float row[WIDTH];

    for (int j = 0; j < WIDTH; j++)
        row[j] = of;
    return cavs_div(cavs_use(f, a->b), cavs_tape_row(a->t, WIDTH, row));
}

/* Begins a recording: its first sample. */
static struct cavs_function *open_recording(struct scene *a)
{
    open_scene(a, 0);
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
    tape_scene_close(a->m, a->s, a->t);
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
    open_shards(&a, 2, 0);
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
    tape_scene_close(a.m, a.s, a.t);
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
    open_shards(&a, 2, 0);
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
    open_shards(&a, 2, 0);
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

    open_scene(&one_by_one, 0);
    open_scene(&blocks, 1);
    for (int i = 0; i < RECORDINGS; i++) {
        record(&one_by_one, want);
        record(&blocks, got);
        for (int j = 0; j < WIDTH * WIDTH; j++)
            assert_true(fabsf(got[j] - want[j]) < 1e-4f);
    }
    assert_true(blocks.t->blocks.made > 0);
    tape_scene_close(one_by_one.m, one_by_one.s, one_by_one.t);
    tape_scene_close(blocks.m, blocks.s, blocks.t);
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

/* Of [b, 2 b], of which a loss reads these columns. */
static int gradient_of_both(struct scene *a, int from, int width, float *gradient)
{
    struct cavs_function *f;
    struct cavs_symbol *x[2], *both;

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a->t);
    x[0] = share(a, f, 1);
    x[1] = share(a, f, 0.5f);
    both = cavs_concat(2, x);
    cavs_loss(f, "loss", cavs_sum(cavs_slice(both, from, width)), NULL);
    check_ok(cavs_tape_finish(a->t));
    return cavs_tape_gradients(a->t, 1, &both, &gradient);
}

static void a_concatenation_has_the_gradient_of_its_columns(void **unused)
{
    static const int from[] = {3, WIDTH, 5}, width[] = {7, WIDTH, WIDTH};
    float gradient[2 * WIDTH];
    struct scene a;

    (void)unused;
    open_scene(&a, 0);
    check_refused(gradient_of_both(&a, 0, WIDTH, gradient), CAVS_ESTATE, "concat",
                  "what it is made of");
    for (int i = 0; i < 3; i++) {
        check_ok(gradient_of_both(&a, from[i], width[i], gradient));
        for (int j = 0; j < 2 * WIDTH; j++)
            assert_true(gradient[j] == (j >= from[i] && j < from[i] + width[i]));
    }
    tape_scene_close(a.m, a.s, a.t);
}

/* A row of the table that is looked up twice, in a run that updates by the sum of both gradients,
 * which the norm for clipping has made. */
static void rows_of_a_table_have_their_own_gradients_after_an_update(void **unused)
{
    struct cavs_model *m;
    struct cavs_param *E;
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_session *s;
    struct cavs_tape *t;
    struct cavs_symbol *x[2];
    float gradient[2][WIDTH], *to[] = {gradient[0], gradient[1]};

    (void)unused;
    check_ok(cavs_model_create(&m));
    E = cavs_model_param(m, "E", 5, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(m));
    o.clip = 1e9f;
    check_ok(cavs_session_create(trial_runtime, m, &o, &s));
    check_ok(cavs_tape_create(s, NULL, &t));
    for (int again = 0; again < 3; again++) {
        check_ok(cavs_tape_begin(t, CAVS_TAPE_TRAIN));
        for (int i = 0; i < 2; i++) {
            struct cavs_function *f = cavs_tape_sample(t);

            x[i] = cavs_lookup(E, cavs_tape_id(t, 3));
            cavs_loss(f, "loss", cavs_sum(cavs_scale(x[i], (float)(i + 1))), NULL);
        }
        check_ok(cavs_tape_finish(t));
        if (cavs_tape_gradients(t, 2, x, to) == CAVS_OK)
            break; /* else they were computed in one row, but are apart from now on */
    }
    for (int j = 0; j < WIDTH; j++) {
        assert_true(gradient[0][j] == 1);
        assert_true(gradient[1][j] == 2);
    }
    tape_scene_close(m, s, t);
}

/* The second sample is recorded after the first was computed, and no loss reads it. */
static void what_was_never_computed_has_a_gradient_of_zeros(void **state)
{
    float row[WIDTH] = {1}, gradient[WIDTH], *to = gradient;
    struct cavs_symbol *x = NULL;
    struct scene a;

    (void)state;
    open_scene(&a, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    for (int i = 0; i < 2; i++) {
        cavs_tape_sample(a.t);
        x = cavs_tanh(cavs_affine(cavs_tape_row(a.t, WIDTH, row), a.U, a.b));
        if (i == 0)
            check_ok(cavs_tape_values(a.t, 1, &x, &to));
    }
    check_ok(cavs_tape_finish(a.t));
    check_ok(cavs_tape_gradients(a.t, 1, &x, &to));
    for (int j = 0; j < WIDTH; j++)
        assert_true(gradient[j] == 0);
    tape_scene_close(a.m, a.s, a.t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_asked_for_stays_when_its_operands_are_computed_again),
        cmocka_unit_test(what_is_taken_back_has_no_part_in_gradients),
        cmocka_unit_test(what_is_taken_back_alone_has_no_part_in_gradients),
        cmocka_unit_test(samples_are_apart_again_when_what_read_both_is_taken_back),
        cmocka_unit_test(samples_in_the_place_of_others_are_not_together),
        cmocka_unit_test(a_sample_in_the_place_of_another_may_read_others),
        cmocka_unit_test(blocks_stay_when_what_was_computed_with_them_is_taken_back),
        cmocka_unit_test(half_a_run_may_be_taken_back),
        cmocka_unit_test(a_concatenation_has_the_gradient_of_its_columns),
        cmocka_unit_test(rows_of_a_table_have_their_own_gradients_after_an_update),
        cmocka_unit_test(what_was_never_computed_has_a_gradient_of_zeros),
        cmocka_unit_test(what_a_parameter_was_is_not_asked_for_after_its_update),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("values asked for", tests, trial_runtime_up,
                                       trial_runtime_down);
}
