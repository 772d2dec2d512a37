/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_going_on.c - a session that is resumed goes on as it would have, whatever the tapes of
 * this process have recorded first, or since. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/tape/tape.h"
#include "tests/trial.h"

enum { WIDTH = 20, WEIGHTS = 3 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *weight[WEIGHTS], *b;
    struct cavs_function *affine[WEIGHTS];
    struct cavs_session *s;
    struct cavs_tape *t;
    int blocks_after;
    char path[400];
};

/* tanh(child weight + b) */
static struct cavs_function *declare(struct scene *a, const char *name, struct cavs_param *weight)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(a->m, name, WIDTH), name);

    cavs_scatter(f, cavs_tanh(cavs_affine(cavs_gather(f, 0), weight, a->b)));
    return f;
}

static void open_session(struct scene *a)
{
    struct cavs_tape_options o = cavs_tape_defaults();

    check_ok(cavs_session_create(trial_runtime, a->m, NULL, &a->s));
    o.blocks_after = a->blocks_after;
    check_ok(cavs_tape_create(a->s, &o, &a->t));
}

static void open_scene(struct scene *a, int blocks_after)
{
    const char *names[WEIGHTS] = {"U", "V", "W"};
    int file;

    a->blocks_after = blocks_after;
    check_ok(cavs_model_create(&a->m));
    for (int i = 0; i < WEIGHTS; i++)
        a->weight[i] = cavs_model_param(a->m, names[i], WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    a->b = cavs_model_param(a->m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    for (int i = 0; i < WEIGHTS; i++)
        a->affine[i] = declare(a, names[i], a->weight[i]);
    check_ok(cavs_model_finish(a->m));
    open_session(a);
    snprintf(a->path, sizeof a->path, "%s/going-on-XXXXXX", getenv("HOME") ? getenv("HOME") : ".");
    file = mkstemp(a->path);
    assert_true(file >= 0);
    close(file);
}

static void close_session(struct scene *a)
{
    cavs_tape_destroy(a->t);
    cavs_session_destroy(a->s);
}

static void close_scene(struct scene *a)
{
    close_session(a);
    cavs_model_destroy(a->m);
    remove(a->path);
}

/* In another session, as in another process. */
static void resume(struct scene *a)
{
    close_session(a);
    open_session(a);
    check_ok(cavs_session_resume(a->s, a->path, NULL));
}

static struct cavs_symbol *input(struct scene *a, int number)
{
    float row[WIDTH];

    for (int i = 0; i < WIDTH; i++)
        row[i] = (float)((number * 7 + i * 3) % 11) / 11;
    return cavs_tape_row(a->t, WIDTH, row);
}

static void lose(struct scene *a, const char *name, struct cavs_symbol *x)
{
    cavs_loss(cavs_tape_function(a->t), name, cavs_sum(cavs_mul(x, x)), NULL);
}

/* At a line of its own. */
static void apply(struct scene *a, int number)
{
    struct cavs_symbol *child = input(a, number);
    struct cavs_application to = {.nchildren = 1, .children = &child};

    lose(a, "loss",
         cavs_tape_apply_at(a->t, a->affine[number], &to, (struct cavs_place){__FILE__, number}));
}

/* All functions that are there, from this one on. */
static void record(struct scene *a, enum cavs_tape_run run, int first, int step)
{
    check_ok(cavs_tape_begin(a->t, run));
    cavs_tape_sample(a->t);
    for (int i = first; i >= 0 && i < WEIGHTS; i += step)
        apply(a, i);
    check_ok(cavs_tape_finish(a->t));
}

/* What a recording in the reverse order leaves after a checkpoint: seen[0] where the same tapes go
 * on, seen[1] where the session is resumed. */
static void record_reversed(enum cavs_tape_run run, void (*look)(struct scene *a, void *seen),
                            void *const *seen)
{
    struct scene a;

    open_scene(&a, 1);
    record(&a, CAVS_TAPE_TRAIN, 0, 1);
    check_ok(cavs_session_checkpoint(a.s, a.path, NULL));
    for (int resumed = 0; resumed < 2; resumed++) {
        if (resumed)
            resume(&a);
        record(&a, run, WEIGHTS - 1, -1);
        look(&a, seen[resumed]);
    }
    close_scene(&a);
}

/* The bias's gradient is that of three functions, each of which adds it with its own weights'. */
static void look_at_gradient(struct scene *a, void *seen)
{
    check_ok(cavs_session_get_gradient(a->s, a->b, seen));
}

static void what_was_recorded_first_does_not_show_in_sums(void **unused)
{
    float whole[WIDTH], stopped[WIDTH];

    (void)unused;
    record_reversed(CAVS_TAPE_GRADIENT, look_at_gradient, (void *[]){whole, stopped});
    assert_memory_equal(whole, stopped, sizeof whole);
}

static void look_at_sites(struct scene *a, void *seen)
{
    *(json_t **)seen = cavs__describe_found(&a->t->of_session);
}

static void what_was_applied_first_does_not_show_in_sites(void **unused)
{
    json_t *whole, *stopped;

    (void)unused;
    record_reversed(CAVS_TAPE_TRAIN, look_at_sites, (void *[]){&whole, &stopped});
    assert_true(json_equal(whole, stopped));
    json_decref(whole);
    json_decref(stopped);
}

/* ---- without blocks ---- */

/* Of a concatenation that columns are read of: refused once, and a symbol of its own from then on.
 */
static int ask_for_gradient(struct scene *a)
{
    float row[2 * WIDTH], *to = row;
    struct cavs_symbol *x[2], *both;

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    cavs_tape_sample(a->t);
    for (int i = 0; i < 2; i++)
        x[i] = cavs_matmul(input(a, i), a->weight[i]);
    both = cavs_concat(2, x);
    for (int i = 0; i < 2; i++)
        lose(a, "loss", cavs_slice(both, i * WIDTH, WIDTH));
    check_ok(cavs_tape_finish(a->t));
    return cavs_tape_gradients(a->t, 1, &both, &to);
}

static void whose_gradient_was_asked_for_is_known_without_blocks(void **unused)
{
    struct scene a;

    (void)unused;
    open_scene(&a, 0);
    assert_int_not_equal(ask_for_gradient(&a), CAVS_OK);
    check_ok(cavs_session_checkpoint(a.s, a.path, NULL));
    resume(&a);
    check_ok(ask_for_gradient(&a));
    close_scene(&a);
}

/* ---- metrics ---- */

static void record_loss(struct scene *a, const char *name)
{
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
    cavs_tape_sample(a->t);
    lose(a, name, cavs_matmul(input(a, 1), a->weight[0]));
    check_ok(cavs_tape_finish(a->t));
}

static void metrics_met_since_a_checkpoint_are_zero_again(void **unused)
{
    double before, sum, count;
    struct scene a;

    (void)unused;
    open_scene(&a, 1);
    record_loss(&a, "early");
    check_ok(cavs_session_metric(a.s, "early", &before, NULL));
    check_ok(cavs_session_checkpoint(a.s, a.path, NULL));
    record_loss(&a, "early");
    record_loss(&a, "late");
    check_ok(cavs_session_resume(a.s, a.path, NULL));
    check_ok(cavs_session_metric(a.s, "early", &sum, &count));
    assert_true(sum == before && count == 1);
    check_ok(cavs_session_metric(a.s, "late", &sum, &count));
    assert_true(sum == 0 && count == 0);
    close_scene(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_recorded_first_does_not_show_in_sums),
        cmocka_unit_test(what_was_applied_first_does_not_show_in_sites),
        cmocka_unit_test(whose_gradient_was_asked_for_is_known_without_blocks),
        cmocka_unit_test(metrics_met_since_a_checkpoint_are_zero_again),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("tapes that go on", tests, trial_runtime_up,
                                       trial_runtime_down);
}
