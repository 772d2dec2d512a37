/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_resumed.c - a tape whose session is resumed from a checkpoint goes on with the blocks
 * that it would have had: no interruption shows in a bit of what it trains. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/tape/tape.h"
#include "tests/trial.h"

enum { WIDTH = 20, WORDS = 7, NUMBERS = WIDTH * (WIDTH + WORDS + 1), SAMPLES = 7, RECORDINGS = 20 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U, *V, *seldom;
    struct cavs_session *s;
    struct cavs_tape *t, *other;
    struct cavs_symbol *inside; /* of a block, when there are some */
};

static struct cavs_symbol *rarely(struct cavs_symbol *h)
{
    return cavs_sigmoid(cavs_mul(cavs_tanh(h), cavs_scale(h, 0.5f)));
}

static struct cavs_symbol *step(struct scene *a, struct cavs_symbol *h, int word)
{
    struct cavs_symbol *x = cavs_lookup(a->E, cavs_tape_id(a->t, word % WORDS));

    a->inside = cavs_mul(x, cavs_matmul(h, a->U));
    return cavs_tanh(cavs_add(x, a->inside));
}

/* From the eighth recording on, rows and gradients in blocks are asked for. */
static void ask(struct scene *a, int number)
{
    float row[WIDTH], *to = row;

    if (number == 8)
        cavs_tape_values(a->t, 1, &a->inside, &to);
    if (number == 12)
        cavs_tape_gradients(a->t, 1, &a->inside, &to);
}

static void classify(struct scene *a, struct cavs_symbol *h, int label)
{
    struct cavs_symbol *y = cavs_matmul(h, a->V);

    cavs_loss(cavs_tape_function(a->t), "loss",
              cavs_softmax_cross_entropy(y, cavs_tape_id(a->t, label)), NULL);
}

/* Seen twice, then not for a while: its block becomes worth making while others are compiled, and
 * is made when none is there. */
static bool is_rare(int number)
{
    return number == 1 || number == 2 || number > 6;
}

/* What ends a recording before others go on there. */
static void last(struct scene *a, struct cavs_symbol *h, bool on)
{
    struct cavs_symbol *y = cavs_tanh(h);

    cavs_loss(cavs_tape_function(a->t), "loss", cavs_sum(cavs_mul(y, h)), NULL);
    if (on)
        cavs_loss(cavs_tape_function(a->t), "loss", cavs_sum(cavs_mul(y, y)), NULL);
}

static struct cavs_symbol *input(struct scene *a, int number)
{
    float row[WIDTH];

    for (int i = 0; i < WIDTH; i++)
        row[i] = (float)((number * 7 + i * 3) % 11) / 11;
    return cavs_tape_row(a->t, WIDTH, row);
}

/* A run that begins with a product of an input, which can be computed ahead, or of what was made of
 * one. */
static void spell(struct scene *a, struct cavs_symbol *h, int number, bool made)
{
    for (int i = 0; i < 4; i++) {
        struct cavs_symbol *x = input(a, number + i);

        if (made)
            x = cavs_sigmoid(x);
        h = cavs_add(cavs_matmul(x, a->U), cavs_matmul(h, a->U));
        h = cavs_mul(cavs_sigmoid(h), cavs_tanh(h));
    }
    classify(a, h, 1);
}

/* A parameter that most recordings do not use: Adam goes on with it. */
static void use_seldom(struct scene *a)
{
    struct cavs_function *f = cavs_tape_sample(a->t);
    struct cavs_symbol *p = cavs_use(f, a->seldom);

    cavs_loss(f, "loss", cavs_sum(cavs_mul(p, p)), NULL);
}

static void record(struct scene *a, int number)
{
    struct cavs_symbol *h;

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
    for (int k = 0; k < SAMPLES; k++) {
        struct cavs_function *f = cavs_tape_sample(a->t);

        h = cavs_constant(f, WIDTH, 0);
        for (int i = 0; i < 2 + (k + number) % 4; i++)
            h = step(a, h, i + k);
        if (is_rare(number) && k % 2 == 0)
            h = rarely(h);
        classify(a, h, k % 3);
        spell(a, h, 4 * k, (k + number) % 2);
        if (number > 1 && k == SAMPLES - 1)
            last(a, h, number > 2);
    }
    if (number % 5 == 1)
        use_seldom(a);
    check_ok(cavs_tape_finish(a->t));
    ask(a, number);
}

/* The second of two tapes has blocks. */
static void open_tapes(struct scene *a)
{
    struct cavs_tape_options o = cavs_tape_defaults();

    check_ok(cavs_tape_create(a->s, NULL, &a->other));
    o.blocks_after = 3;
    check_ok(cavs_tape_create(a->s, &o, &a->t));
    a->t->blocks.worth = 6;
}

static void open_scene(struct scene *a)
{
    struct cavs_session_options o = cavs_session_defaults();

    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-0.3f, 0.3f));
    a->V = cavs_model_param(a->m, "V", WIDTH, 3, CAVS_UNIFORM(-1, 1));
    a->seldom = cavs_model_param(a->m, "seldom", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(a->m));
    o.shards = 2;
    o.optimizer = CAVS_ADAM;
    check_ok(cavs_session_create(trial_runtime, a->m, &o, &a->s));
    open_tapes(a);
}

static void close_scene(struct scene *a)
{
    cavs_tape_destroy(a->t);
    cavs_tape_destroy(a->other);
    cavs_session_destroy(a->s);
    cavs_model_destroy(a->m);
}

static void get_values(struct scene *a, float *values)
{
    check_ok(cavs_session_get_param(a->s, a->U, values));
    check_ok(cavs_session_get_param(a->s, a->E, values + WIDTH * WIDTH));
    check_ok(cavs_session_get_param(a->s, a->seldom, values + WIDTH * (WIDTH + WORDS)));
}

/* Some recordings of no sample. */
static void record_nothing(struct scene *a)
{
    for (int i = 0; i < 4; i++) {
        check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
        check_ok(cavs_tape_finish(a->t));
    }
}

/* Trained, and stopped and resumed before these recordings; -1: before none.  Before recording
 * `idle` there are some of no sample.  What the tape has found at the end, owned by the caller. */
static json_t *train(int stop, int once_more, int idle, const char *path, float *values)
{
    struct cavs_tape_stats stats;
    struct scene a;
    json_t *found;

    open_scene(&a);
    for (int i = 0; i < RECORDINGS; i++) {
        if (i == idle)
            record_nothing(&a);
        if (i == stop || i == once_more) {
            check_ok(cavs_session_checkpoint(a.s, path, NULL));
            close_scene(&a);
            open_scene(&a);
            check_ok(cavs_session_resume(a.s, path, NULL));
        }
        record(&a, i);
    }
    cavs_tape_stats(a.t, &stats);
    assert_true(stats.blocks > 0);
    get_values(&a, values);
    found = cavs__describe_found(&a.t->of_session);
    close_scene(&a);
    return found;
}

static void new_path(char *path, size_t size)
{
    int file;

    snprintf(path, size, "%s/resumed-XXXXXX", getenv("HOME") ? getenv("HOME") : ".");
    file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

/* A run by train() that is stopped ends as the whole one has. */
static void check_stopped(int stop, int once_more, int idle, const char *path, const float *whole,
                          const json_t *expected)
{
    static float stopped[NUMBERS];
    json_t *found = train(stop, once_more, idle, path, stopped);

    trial_note("stopped before recording %d", stop);
    assert_memory_equal(whole, stopped, sizeof stopped);
    assert_true(json_equal(expected, found));
    json_decref(found);
}

static void an_interruption_does_not_show_in_the_bits(void **unused)
{
    static float whole[NUMBERS];
    json_t *expected;
    char path[400];

    (void)unused;
    new_path(path, sizeof path);
    expected = train(-1, -1, -1, path, whole);
    for (int stop = 1; stop < RECORDINGS - 1; stop++)
        check_stopped(stop, stop + 1 + stop % 2, -1, path, whole, expected);
    json_decref(expected);
    remove(path);
}

/* Blocks that are coming are used in the first recording that computes anything. */
static void nor_does_one_behind_recordings_of_no_sample(void **unused)
{
    static float whole[NUMBERS];
    char path[400];

    (void)unused;
    new_path(path, sizeof path);
    for (int stop = 1; stop < 6; stop++) {
        json_t *expected = train(-1, -1, stop, path, whole);

        check_stopped(stop, -1, stop, path, whole, expected);
        json_decref(expected);
    }
    remove(path);
}

/* One tape of one session goes back to where it was. */
static void a_tape_that_has_recorded_goes_back(void **unused)
{
    static float first[NUMBERS], again[NUMBERS];
    json_t *expected, *found;
    struct scene a;
    char path[400];
    int signatures;

    (void)unused;
    new_path(path, sizeof path);
    open_scene(&a);
    for (int i = 0; i < RECORDINGS; i++) {
        if (i == 3)
            check_ok(cavs_session_checkpoint(a.s, path, NULL));
        record(&a, i);
    }
    get_values(&a, first);
    expected = cavs__describe_found(&a.t->of_session);
    signatures = a.t->recording.signatures.n;
    check_ok(cavs_session_resume(a.s, path, NULL));
    for (int i = 3; i < RECORDINGS; i++)
        record(&a, i);
    get_values(&a, again);
    found = cavs__describe_found(&a.t->of_session);
    assert_memory_equal(first, again, sizeof first);
    assert_true(json_equal(expected, found));
    assert_int_equal(a.t->recording.signatures.n, signatures); /* nothing is made once more */
    json_decref(expected);
    json_decref(found);
    close_scene(&a);
    remove(path);
}

/* Workers copy sites when these have changed: those of another past must not be taken for them. */
static void a_past_that_is_gone_is_told_from_another_one(void **unused)
{
    struct scene a;
    int64_t before;
    char path[400];

    (void)unused;
    new_path(path, sizeof path);
    open_scene(&a);
    record(&a, 0);
    check_ok(cavs_session_checkpoint(a.s, path, NULL));
    record(&a, 1);
    before = a.t->recording.sites.changes;
    check_ok(cavs_session_resume(a.s, path, NULL));
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    assert_true(a.t->recording.sites.changes > before);
    close_scene(&a);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interruption_does_not_show_in_the_bits),
        cmocka_unit_test(nor_does_one_behind_recordings_of_no_sample),
        cmocka_unit_test(a_tape_that_has_recorded_goes_back),
        cmocka_unit_test(a_past_that_is_gone_is_told_from_another_one),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("tapes resumed", tests, trial_runtime_up,
                                       trial_runtime_down);
}
