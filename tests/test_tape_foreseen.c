/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_foreseen.c - workers that record samples find what becomes of them, too, where all of a
 * recording is computed when it is finished; that shows in no bit, whatever is wanted instead. */
#include <string.h>

#include "core/tape/tape.h"
#include "tests/tape_scene.h"
#include "tests/tape_step.h"
#include "tests/trial.h"

enum { WIDTH = 8, WORDS = 7, SAMPLES = 19, CLASSES = 3, BATCHES = 48, NUMBERS = WIDTH * WIDTH };

struct scene {
    struct cavs_model *m;
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_tape *t;
    int seed;                       /* of the recording */
    struct cavs_symbol *h[SAMPLES]; /* the last state of each sample */
};

static struct scene open_scene(int workers)
{
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct scene x = {.seed = 0};

    check_ok(cavs_model_create(&x.m));
    tape_step_params(x.m, WORDS, WIDTH, 0.3f);
    cavs_model_param(x.m, "V", WIDTH, CLASSES, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(x.m));
    r.workers = workers;
    check_ok(cavs_runtime_create(&r, &x.rt));
    tape_scene_open(x.rt, x.m, 3, 2, &x.s, &x.t);
    return x;
}

static void close_scene(struct scene *x)
{
    tape_scene_close(x->m, x->s, x->t);
    cavs_runtime_destroy(x->rt);
}

/* Steps, with a loss at each second one. */
static int record_steps(struct cavs_tape *t, int i, void *user)
{
    struct scene *x = user;
    struct cavs_function *f = cavs_tape_function(t);
    struct cavs_symbol *h = cavs_constant(f, WIDTH, 0);

    for (int k = 0; k < 2 + (i + x->seed) % 5; k++) {
        h = tape_step(t, x->m, h, (i + k) % WORDS);
        if (k % 2 == 0)
            tape_scene_classify(t, f, h, cavs_model_find_param(x->m, "V"), (i + k) % CLASSES);
    }
    x->h[i] = h;
    return 0;
}

static void begin(struct scene *x, enum cavs_tape_run run)
{
    check_ok(cavs_tape_begin(x->t, run));
    check_ok(cavs_tape_record(x->t, SAMPLES, record_steps, x));
}

/* ---- what may be wanted instead ---- */

static void want_values(struct scene *x, float *values)
{
    float *rows[SAMPLES];

    for (int i = 0; i < SAMPLES; i++)
        rows[i] = values + (ptrdiff_t)i * WIDTH;
    check_ok(cavs_tape_values(x->t, SAMPLES, x->h, rows));
}

static void record_more(struct scene *x)
{
    assert_non_null(cavs_tape_resume(x->t, 1));
    tape_scene_classify(x->t, cavs_tape_function(x->t), tape_step(x->t, x->m, x->h[1], 2),
                        cavs_model_find_param(x->m, "V"), 0);
}

/* The same number of symbols as there was, but others. */
static void record_others(struct scene *x)
{
    int64_t mark;

    check_ok(cavs_tape_begin(x->t, CAVS_TAPE_TRAIN));
    mark = cavs_tape_mark(x->t);
    assert_true(mark >= 0);
    check_ok(cavs_tape_record(x->t, SAMPLES, record_steps, x));
    check_ok(cavs_tape_rewind(x->t, mark));
    x->seed++;
    check_ok(cavs_tape_record(x->t, SAMPLES, record_steps, x));
}

/* Mostly nothing; then one thing after the other. */
static void train_batch(struct scene *x, int i, float *values)
{
    x->seed = i;
    if (i % 8 == 5)
        record_others(x);
    else
        begin(x, i % 8 == 6 ? CAVS_TAPE_EVALUATE : CAVS_TAPE_TRAIN);
    if (i % 16 == 7)
        want_values(x, values);
    if (i % 16 == 15)
        record_more(x);
    check_ok(cavs_tape_finish(x->t));
    if (i % 8 == 6)
        want_values(x, values);
}

/* ---- the same bits ---- */

struct outcome {
    float U[NUMBERS], values[BATCHES][SAMPLES * WIDTH];
    struct cavs_tape_stats stats;
    int64_t alone;
};

/* Returns in how many recordings workers have found all. */
static int64_t train(int workers, struct outcome *out)
{
    struct scene x = open_scene(workers);
    int64_t taken;

    memset(out, 0, sizeof *out);
    for (int i = 0; i < BATCHES; i++)
        train_batch(&x, i, out->values[i]);
    cavs_tape_stats(x.t, &out->stats);
    out->stats.side_by_side = 0;
    out->alone = x.t->blocks.alone[CAVS__ALONE_RUN];
    check_ok(cavs_session_get_param(x.s, cavs_model_find_param(x.m, "U"), out->U));
    taken = x.t->foreseen.taken;
    close_scene(&x);
    return taken;
}

static void what_workers_have_found_shows_in_no_bit(void **unused)
{
    static struct outcome one, several;

    (void)unused;
    assert_int_equal(train(1, &one), 0);
    assert_true(one.stats.blocks > 0);
    for (int workers = 2; workers <= 5; workers += 3) {
        assert_in_range(train(workers, &several), BATCHES / 4, BATCHES);
        assert_memory_equal(&several, &one, sizeof one);
    }
}

/* ---- what was asked for too late ---- */

/* Steps, of which a loss reads the last one; its sum is inside of a block. */
static int record_sums(struct cavs_tape *t, int i, void *user)
{
    struct scene *x = user;
    struct cavs_param *E = cavs_model_find_param(x->m, "E"), *U = cavs_model_find_param(x->m, "U");
    struct cavs_function *f = cavs_tape_function(t);
    struct cavs_symbol *h = cavs_constant(f, WIDTH, 0);

    for (int k = 0; k < 2 + i % 5; k++) {
        x->h[i] = cavs_add(cavs_lookup(E, cavs_tape_id(t, (i + k) % WORDS)), cavs_matmul(h, U));
        h = cavs_tanh(x->h[i]);
    }
    tape_scene_classify(t, f, h, cavs_model_find_param(x->m, "V"), i % CLASSES);
    return 0;
}

/* What the sums are after a recording. */
static int ask_for_sums(struct scene *x, float *values)
{
    float *rows[SAMPLES];

    for (int i = 0; i < SAMPLES; i++)
        rows[i] = values + (ptrdiff_t)i * WIDTH;
    check_ok(cavs_tape_begin(x->t, CAVS_TAPE_TRAIN));
    check_ok(cavs_tape_record(x->t, SAMPLES, record_sums, x));
    check_ok(cavs_tape_finish(x->t));
    return cavs_tape_values(x->t, SAMPLES, x->h, rows);
}

/* Two recordings later than the first in blocks, which has found out that they are wanted. */
static int64_t ask_late(int workers, float *values)
{
    struct scene x = open_scene(workers);
    int64_t taken;

    for (int i = 0; i < BATCHES / 4; i++) {
        check_ok(cavs_tape_begin(x.t, CAVS_TAPE_TRAIN));
        check_ok(cavs_tape_record(x.t, SAMPLES, record_sums, &x));
        check_ok(cavs_tape_finish(x.t));
    }
    taken = x.t->foreseen.taken;
    check_refused(ask_for_sums(&x, values), CAVS_ESTATE, "inside of a block", NULL);
    check_ok(ask_for_sums(&x, values));
    close_scene(&x);
    return taken;
}

static void what_was_asked_for_too_late_is_kept_by_workers_too(void **unused)
{
    static float one[SAMPLES * WIDTH], several[SAMPLES * WIDTH];

    (void)unused;
    assert_int_equal(ask_late(1, one), 0);
    assert_true(ask_late(3, several) > 0);
    assert_memory_equal(several, one, sizeof one);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_workers_have_found_shows_in_no_bit),
        cmocka_unit_test(what_was_asked_for_too_late_is_kept_by_workers_too),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("foreseen vertices", tests, NULL, NULL);
}
