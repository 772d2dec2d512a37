/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_side_by_side.c - what workers record of a tape side by side is what one thread records:
 * the same bits, numbers of symbols and V_t, gradients and mistakes. */
#include <stdio.h>
#include <string.h>

#include "core/tape/tape.h"
#include "tests/tape_scene.h"
#include "tests/tape_step.h"
#include "tests/trial.h"

enum {
    WIDTH = 20,
    WORDS = 7,
    NUMBERS = WIDTH * (WIDTH + WORDS + 1),
    SAMPLES = 23,
    BATCHES = 12,
    MANY = 2000
};

struct scene {
    int workers;
    struct cavs_model *m;
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_tape *t;
};

/* To be applied: of an input and one child. */
static void declare(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "applied", WIDTH), "f");

    cavs_scatter(
        f, cavs_tanh(cavs_add(cavs_pull(f, "x", WIDTH),
                              cavs_matmul(cavs_gather(f, 0), cavs_model_find_param(m, "U")))));
}

static struct scene open_scene(int workers, bool one_recorder)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct cavs_tape_options tape = cavs_tape_defaults();
    struct scene x = {.workers = workers};

    check_ok(cavs_model_create(&x.m));
    tape_step_params(x.m, WORDS, WIDTH, 0.3f);
    cavs_model_param(x.m, "V", WIDTH, 3, CAVS_UNIFORM(-1, 1));
    cavs_model_param(x.m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    declare(x.m);
    check_ok(cavs_model_finish(x.m));
    tape.blocks_after = 2;
    tape.one_recorder = one_recorder;
    r.workers = workers;
    o.shards = 3;
    o.optimizer = CAVS_ADAM;
    o.grain = 1e-9f; /* it pays to prepare shards side by side, too */
    check_ok(cavs_runtime_create(&r, &x.rt));
    check_ok(cavs_session_create(x.rt, x.m, &o, &x.s));
    check_ok(cavs_tape_create(x.s, &tape, &x.t));
    x.t->blocks.worth = 4;
    return x;
}

static void close_scene(struct scene *x)
{
    tape_scene_close(x->m, x->s, x->t);
    cavs_runtime_destroy(x->rt);
}

/* ---- the same bits ---- */

struct batch {
    const struct cavs_model *m;
    int seed, first; /* of its samples */
    struct cavs_symbol *h[2 * SAMPLES];
};

static void lose(struct cavs_tape *t, const struct cavs_model *m, struct cavs_symbol *h, int label)
{
    cavs_loss(cavs_tape_function(t), "loss",
              cavs_softmax_cross_entropy(cavs_matmul(h, cavs_model_find_param(m, "V")),
                                         cavs_tape_id(t, label)),
              NULL);
}

static struct cavs_symbol *apply(struct cavs_tape *t, const struct cavs_model *m,
                                 struct cavs_symbol *h)
{
    struct cavs_named x = {"x", h};
    struct cavs_application a = {.ninputs = 1, .inputs = &x, .nchildren = 1, .children = &h};

    return cavs_tape_apply(t, cavs_stage_function_at(cavs_model_find_stage(m, "applied"), 0), &a);
}

/* Steps whose number, and what follows them, depend on the sample: a sum over a list, a row of the
 * user's, a declared function, columns. */
static struct cavs_symbol *walk(struct cavs_tape *t, const struct cavs_model *m, int k, int seed)
{
    struct cavs_function *f = cavs_tape_function(t);
    struct cavs_symbol *h = cavs_constant(f, WIDTH, 0), *list[12], *halves[2];
    float row[WIDTH];
    int n = 2 + (k + seed) % 5;

    for (int i = 0; i < n; i++)
        list[i] = h = tape_step(t, m, h, (i + k) % WORDS);
    if (k % 3 == 0)
        h = cavs_sum_children(cavs_tape_list(t, n, list));
    for (int i = 0; i < WIDTH; i++)
        row[i] = (float)(i + k) / WIDTH;
    if (k % 4 == 1)
        h = cavs_mul(h, cavs_tape_row(t, WIDTH, row));
    if (k % 5 < 2)
        h = apply(t, m, h);
    h = cavs_add(h, cavs_use(f, cavs_model_find_param(m, "b")));
    halves[0] = cavs_slice(h, WIDTH / 2, WIDTH / 2);
    halves[1] = cavs_slice(h, 0, WIDTH / 2);
    return cavs_concat(2, halves);
}

static int record_walk(struct cavs_tape *t, int i, void *user)
{
    struct batch *b = user;
    int k = b->first + i;

    b->h[k] = walk(t, b->m, k, b->seed);
    lose(t, b->m, b->h[k], k % 3);
    return 0;
}

/* Two calls, with values and a sample of its own between them, and steps behind that read what the
 * first call has recorded. */
static void train_batch(struct scene *x, int seed, float *values)
{
    struct batch b = {.m = x->m, .seed = seed};
    float *rows[SAMPLES];
    struct cavs_symbol *own;

    for (int k = 0; k < SAMPLES; k++)
        rows[k] = values + (ptrdiff_t)k * WIDTH;
    check_ok(cavs_tape_begin(x->t, CAVS_TAPE_TRAIN));
    check_ok(cavs_tape_record(x->t, 0, NULL, NULL));
    check_ok(cavs_tape_record(x->t, SAMPLES, record_walk, &b));
    if (seed % 2)
        check_ok(cavs_tape_values(x->t, SAMPLES, b.h, rows));
    own = tape_step(x->t, x->m, cavs_constant(cavs_tape_sample(x->t), WIDTH, 1), seed % WORDS);
    lose(x->t, x->m, own, 1);
    b.first = SAMPLES;
    check_ok(cavs_tape_record(x->t, 1 + seed % SAMPLES, record_walk, &b));
    for (int k = 0; k < SAMPLES; k += 5) {
        assert_non_null(cavs_tape_resume(x->t, k));
        lose(x->t, x->m, tape_step(x->t, x->m, b.h[k], 3), 2);
    }
    if (seed % 3 == 0)
        check_ok(cavs_tape_values(x->t, 1, b.h, rows));
    check_ok(cavs_tape_finish(x->t));
}

struct outcome {
    float params[NUMBERS], values[BATCHES][SAMPLES * WIDTH];
    struct cavs_tape_stats stats;
};

static void train(int workers, bool one_recorder, struct outcome *out)
{
    struct scene x = open_scene(workers, one_recorder);

    for (int i = 0; i < BATCHES; i++)
        train_batch(&x, i, out->values[i]);
    check_ok(cavs_tape_begin(x.t, CAVS_TAPE_EVALUATE));
    cavs_tape_stats(x.t, &out->stats);
    check_ok(cavs_session_get_param(x.s, cavs_model_find_param(x.m, "U"), out->params));
    check_ok(
        cavs_session_get_param(x.s, cavs_model_find_param(x.m, "E"), out->params + WIDTH * WIDTH));
    check_ok(cavs_session_get_param(x.s, cavs_model_find_param(x.m, "b"),
                                    out->params + WIDTH * (WIDTH + WORDS)));
    close_scene(&x);
}

static void bits_are_those_of_one_thread(void **unused)
{
    static struct outcome one, several;

    (void)unused;
    train(1, true, &one);
    assert_int_equal(one.stats.side_by_side, 0);
    for (int workers = 1; workers <= 5; workers += 2) {
        memset(&several, 0, sizeof several);
        train(workers, false, &several);
        assert_true(workers == 1 ? several.stats.side_by_side == 0
                                 : several.stats.side_by_side > several.stats.samples / 4);
        several.stats.side_by_side = 0;
        assert_memory_equal(&several, &one, sizeof one);
    }
    assert_true(one.stats.blocks > 0);
}

/* ---- gradients, mistakes, and what cannot be side by side ---- */

/* As train_batch(), until workers record; some symbols are known by then. */
static void warm_up(struct scene *x)
{
    struct batch b = {.m = x->m};

    for (int i = 0; i < 4; i++) {
        check_ok(cavs_tape_begin(x->t, CAVS_TAPE_TRAIN));
        check_ok(cavs_tape_record(x->t, SAMPLES, record_walk, &b));
        check_ok(cavs_tape_finish(x->t));
    }
}

static int64_t recorded_by_workers(struct cavs_tape *t)
{
    struct cavs_tape_stats stats;

    cavs_tape_stats(t, &stats);
    return stats.side_by_side;
}

static void give_gradients(int workers, float *gradients)
{
    struct scene x = open_scene(workers, workers == 1);
    struct batch b = {.m = x.m};
    float *rows[SAMPLES];

    for (int k = 0; k < SAMPLES; k++)
        rows[k] = gradients + (ptrdiff_t)k * WIDTH;
    for (int i = 0; i < 5; i++) {
        check_ok(cavs_tape_begin(x.t, CAVS_TAPE_GRADIENT));
        check_ok(cavs_tape_record(x.t, SAMPLES, record_walk, &b));
        check_ok(cavs_tape_finish(x.t));
        check_ok(cavs_tape_gradients(x.t, SAMPLES, b.h, rows));
    }
    assert_true((recorded_by_workers(x.t) > 0) == (workers > 1));
    close_scene(&x);
}

static void gradients_are_those_of_one_thread(void **unused)
{
    static float one[SAMPLES * WIDTH], several[SAMPLES * WIDTH];

    (void)unused;
    give_gradients(1, one);
    give_gradients(3, several);
    assert_memory_equal(several, one, sizeof one);
}

static int fail_at_7_and_11(struct cavs_tape *t, int i, void *user)
{
    struct batch *b = user;

    record_walk(t, i, user);
    if (i == 7)
        cavs_apply2_at("add", b->h[i], cavs_constant(cavs_tape_function(t), 3, 0),
                       (struct cavs_place){"seventh", 77});
    return i == 11 ? CAVS_EDATA : 0;
}

/* Sample 7, though 11 fails as well, and whoever comes to it first. */
static void the_first_mistake_counts(void **unused)
{
    struct scene x = open_scene(4, false);
    struct batch b = {.m = x.m};

    (void)unused;
    warm_up(&x);
    for (int i = 0; i < 5; i++) {
        int64_t before = recorded_by_workers(x.t);

        check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
        x.t->alone = 0;
        assert_int_equal(cavs_tape_record(x.t, SAMPLES, fail_at_7_and_11, &b), CAVS_ESHAPE);
        assert_non_null(strstr(cavs_error_message(), "seventh:77"));
        assert_int_equal(recorded_by_workers(x.t), before + 7);
        assert_int_equal(cavs_tape_finish(x.t), CAVS_ESHAPE);
        assert_non_null(strstr(cavs_error_message(), "seventh:77"));
    }
    warm_up(&x);
    close_scene(&x);
}

static int fail_at_11(struct cavs_tape *t, int i, void *user)
{
    record_walk(t, i, user);
    return i == 11 ? CAVS_EDATA : 0;
}

static void what_the_function_returns_is_returned(void **unused)
{
    struct scene x = open_scene(3, false);
    struct batch b = {.m = x.m};
    float row[1], *to = row;

    (void)unused;
    warm_up(&x);
    check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
    assert_int_equal(cavs_tape_record(x.t, SAMPLES, fail_at_11, &b), CAVS_EDATA);
    check_refused(cavs_tape_finish(x.t), CAVS_EDATA, "cavs_tape_record", "returned -5", "i = 11",
                  "cavs_tape_begin");
    check_refused(cavs_tape_values(x.t, 1, b.h, &to), CAVS_EDATA, "returned -5", "cavs_tape_begin");
    warm_up(&x);
    close_scene(&x);
}

static void too_many_symbols_are_too_many_at_one_symbol(void **unused)
{
    char messages[2][512];

    (void)unused;
    for (int workers = 1; workers <= 3; workers += 2) {
        struct scene x = open_scene(workers, false);
        struct batch b = {.m = x.m};

        warm_up(&x);
        x.t->recording.most = 400;
        check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
        assert_int_equal(cavs_tape_record(x.t, SAMPLES, record_walk, &b), CAVS_EINVAL);
        snprintf(messages[workers / 2], sizeof messages[0], "%s", cavs_error_message());
        assert_non_null(strstr(messages[workers / 2], "more than 400 symbols"));
        close_scene(&x);
    }
    assert_string_equal(messages[1], messages[0]);
}

/* Whoever has recorded them, where others have their numbers by then. */
static void symbols_that_were_taken_back_are_refused(void **unused)
{
    struct scene x = open_scene(3, false);
    struct batch b = {.m = x.m};
    int64_t mark, before;

    (void)unused;
    warm_up(&x);
    before = recorded_by_workers(x.t);
    for (int i = 0; i < SAMPLES; i++) {
        struct cavs_symbol *h;

        check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
        mark = cavs_tape_mark(x.t);
        check_ok(cavs_tape_record(x.t, SAMPLES, record_walk, &b));
        check_ok(cavs_tape_rewind(x.t, mark));
        h = cavs_constant(cavs_tape_sample(x.t), WIDTH, 0);
        while (cavs__symbols_of(&x.t->recording) <= MANY)
            h = tape_step(x.t, x.m, h, 1);
        assert_null(cavs_tanh(b.h[i]));
        check_refused(cavs_tape_finish(x.t), CAVS_ESTATE, "was taken back", NULL);
    }
    assert_int_equal(recorded_by_workers(x.t), before + (int64_t)SAMPLES * SAMPLES);
    warm_up(&x);
    close_scene(&x);
}

struct told {
    const struct cavs_model *m;
    char text[SAMPLES][200]; /* what samples are told when a symbol is NULL */
};

static int record_new(struct cavs_tape *t, int i, void *user)
{
    struct told *told = user;
    struct cavs_symbol *h = cavs_scale(
        cavs_use(cavs_tape_function(t), cavs_model_find_param(told->m, "b")), (float)(1 + i));

    if (!h)
        snprintf(told->text[i], sizeof told->text[i], "%s", cavs_error_message());
    lose(t, told->m, h, 1);
    return 0;
}

/* They are recorded again, so nothing is wrong with them, and memory is not short. */
static void samples_with_what_is_new_are_told_so(void **unused)
{
    struct scene x = open_scene(3, false);
    struct told told = {.m = x.m};
    int n = 0;

    (void)unused;
    check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
    check_ok(cavs_tape_record(x.t, SAMPLES, record_new, &told));
    check_ok(cavs_tape_finish(x.t));
    for (int i = 0; i < SAMPLES; i++) {
        n += told.text[i][0] != '\0';
        assert_true(!told.text[i][0] || strstr(told.text[i], "first of its kind"));
        assert_null(strstr(told.text[i], "memory"));
    }
    assert_true(n > 0);
    close_scene(&x);
}

struct outer {
    struct cavs_tape *t;
    const struct cavs_model *m;
    struct cavs_symbol *start; /* of a sample before the call */
};

/* Of the tape itself, whatever the function is handed. */
static int record_on_outer(struct cavs_tape *t, int i, void *user)
{
    struct outer *o = user;
    struct cavs_symbol *h = tape_step(t, o->m, o->start, i % WORDS);

    if (i % 2)
        h = cavs_add(h, cavs_lookup(cavs_model_find_param(o->m, "E"), cavs_tape_id(o->t, 1)));
    lose(t, o->m, h, i % 3);
    return 0;
}

/* It is recorded by one thread, then. */
static void reading_another_sample_is_allowed(void **unused)
{
    struct scene x = open_scene(3, false);
    struct outer o = {x.t, x.m, NULL};

    (void)unused;
    warm_up(&x);
    for (int i = 0; i < 4; i++) {
        int64_t before = recorded_by_workers(x.t);

        x.t->alone = 0;
        check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
        o.start = cavs_constant(cavs_tape_sample(x.t), WIDTH, 1);
        o.start = tape_step(x.t, x.m, o.start, 2);
        check_ok(cavs_tape_record(x.t, SAMPLES, record_on_outer, &o));
        check_ok(cavs_tape_finish(x.t));
        assert_int_equal(recorded_by_workers(x.t), before);
    }
    close_scene(&x);
}

static int misuse(struct cavs_tape *t, int i, void *user)
{
    float number, *row = &number;
    int *wrong = user;

    wrong[i] = cavs_tape_begin(t, CAVS_TAPE_TRAIN) != CAVS_ESTATE ||
               cavs_tape_finish(t) != CAVS_ESTATE || cavs_tape_sample(t) ||
               cavs_tape_resume(t, 0) || cavs_tape_mark(t) != CAVS_ESTATE ||
               cavs_tape_rewind(t, 0) != CAVS_ESTATE ||
               cavs_tape_values(t, 0, NULL, &row) != CAVS_ESTATE ||
               cavs_tape_record(t, 1, misuse, user) != CAVS_ESTATE;
    return 0;
}

static void a_sample_records_and_does_nothing_else(void **unused)
{
    struct scene x = open_scene(3, false);
    int wrong[SAMPLES];

    (void)unused;
    warm_up(&x);
    check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
    check_ok(cavs_tape_record(x.t, SAMPLES, misuse, wrong));
    for (int i = 0; i < SAMPLES; i++)
        assert_false(wrong[i]);
    assert_int_equal(cavs_tape_record(x.t, -1, misuse, wrong), CAVS_EINVAL);
    assert_int_equal(cavs_tape_record(x.t, 1, NULL, wrong), CAVS_EINVAL);
    check_ok(cavs_tape_finish(x.t));
    assert_int_equal(cavs_tape_record(NULL, 1, misuse, wrong), CAVS_EINVAL);
    close_scene(&x);
}

/* What was recorded side by side is taken back, and recorded once more. */
static void marks_hold(void **unused)
{
    struct scene x = open_scene(3, false);
    struct batch b = {.m = x.m};
    float first[WIDTH], again[WIDTH], *rows[2] = {first, again};

    (void)unused;
    warm_up(&x);
    for (int i = 0; i < 2; i++) {
        int64_t before, behind;

        x.t->alone = 0;
        check_ok(cavs_tape_begin(x.t, CAVS_TAPE_EVALUATE));
        b.h[0] = tape_step(x.t, x.m, cavs_constant(cavs_tape_sample(x.t), WIDTH, 1), 2);
        before = cavs_tape_mark(x.t);
        check_ok(cavs_tape_record(x.t, SAMPLES, record_walk, &b));
        behind = cavs_tape_mark(x.t);
        tape_step(x.t, x.m, b.h[SAMPLES - 1], 2);
        check_ok(cavs_tape_rewind(x.t, behind));
        if (i == 1) {
            check_ok(cavs_tape_rewind(x.t, before));
            check_ok(cavs_tape_record(x.t, SAMPLES, record_walk, &b));
        }
        b.h[0] = tape_step(x.t, x.m, b.h[SAMPLES - 1], 2);
        check_ok(cavs_tape_values(x.t, 1, b.h, &rows[i]));
        check_ok(cavs_tape_finish(x.t));
    }
    assert_true(recorded_by_workers(x.t) > 2 * SAMPLES);
    assert_memory_equal(first, again, sizeof first);
    close_scene(&x);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_one_thread),
        cmocka_unit_test(gradients_are_those_of_one_thread),
        cmocka_unit_test(the_first_mistake_counts),
        cmocka_unit_test(what_the_function_returns_is_returned),
        cmocka_unit_test(too_many_symbols_are_too_many_at_one_symbol),
        cmocka_unit_test(symbols_that_were_taken_back_are_refused),
        cmocka_unit_test(samples_with_what_is_new_are_told_so),
        cmocka_unit_test(reading_another_sample_is_allowed),
        cmocka_unit_test(a_sample_records_and_does_nothing_else),
        cmocka_unit_test(marks_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
