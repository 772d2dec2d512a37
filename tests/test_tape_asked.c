/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tape_asked.c - values and gradients that are asked for are those of the recording: in the
 * middle of it, when what they were made from is computed once more in another block, and after it.
 */
#include <math.h>

#include "tests/random.h"
#include "tests/tape_walk.h"

/* The loss of a recording, and the gradient of U if it is one of gradients.  The last scores of the
 * first steps are asked for before the state behind them is needed. */
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

    open_scene(&one_by_one, 1, 0);
    open_scene(&blocks, 1, 1);
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
    close_scene(&one_by_one);
    close_scene(&blocks);
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
    open_scene(&a, 1, 0);
    ask_for_a_parameter(&a, CAVS_TAPE_EVALUATE, CAVS_OK);
    ask_for_a_parameter(&a, CAVS_TAPE_GRADIENT, CAVS_OK);
    ask_for_a_parameter(&a, CAVS_TAPE_TRAIN, CAVS_ESTATE);
    close_scene(&a);
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
    open_scene(&a, 1, 0);
    check_refused(gradient_of_both(&a, 0, WIDTH, gradient), CAVS_ESTATE, "concat",
                  "what it is made of");
    for (int i = 0; i < 3; i++) {
        check_ok(gradient_of_both(&a, from[i], width[i], gradient));
        for (int j = 0; j < 2 * WIDTH; j++)
            assert_true(gradient[j] == (j >= from[i] && j < from[i] + width[i]));
    }
    close_scene(&a);
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
    open_scene(&a, 1, 0);
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
    close_scene(&a);
}

/* What sums up was there before anything that a chain has: operators follow one another all the
 * same. */
static void a_constant_may_be_the_first_loss(void **unused)
{
    float got, *to = &got;
    struct cavs_symbol *x;
    struct cavs_function *f;
    struct scene a;

    (void)unused;
    open_scene(&a, 1, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
    f = cavs_tape_sample(a.t);
    cavs_loss(f, "loss", cavs_constant(f, 1, 0.5f), NULL);
    x = cavs_tanh(cavs_neg(cavs_tanh(cavs_tape_row(a.t, 1, (float[]){1}))));
    check_ok(cavs_tape_values(a.t, 1, &x, &to));
    assert_true(fabs(got + tanh(tanh(1))) < 1e-6);
    close_scene(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_asked_for_stays_when_its_operands_are_computed_again),
        cmocka_unit_test(a_concatenation_has_the_gradient_of_its_columns),
        cmocka_unit_test(rows_of_a_table_have_their_own_gradients_after_an_update),
        cmocka_unit_test(what_was_never_computed_has_a_gradient_of_zeros),
        cmocka_unit_test(what_a_parameter_was_is_not_asked_for_after_its_update),
        cmocka_unit_test(a_constant_may_be_the_first_loss),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("values asked for", tests, trial_runtime_up,
                                       trial_runtime_down);
}
