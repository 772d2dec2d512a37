/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_random_models.c - vertex functions that nobody would write, drawn at random and compared
 * with the oracle.
 *
 * A number is a whole test: it draws the stages, the functions, their operators, the graphs and
 * the session's options. CAVS_TEST_LONG=1 tries many more numbers; CAVS_TEST_SEED=N just that one,
 * and CAVS_TEST_SEED=N-M those; CAVS_TEST_EXPLAIN=1 shows its tasks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/run/session.h"
#include "tests/random_model.h"
#include "tests/trial.h"

enum { FEW = 60, MANY = 3000 };

enum { BATCH = 8 };

static void open_trial(struct draw *d, struct trial *t)
{
    const char *text[DRAW_SAMPLES];
    check_ok(cavs_model_create(&d->m));
    draw_model(d);
    check_ok(cavs_model_finish(d->m));
    draw_samples(d);
    for (int i = 0; i < DRAW_SAMPLES; i++)
        text[i] = d->texts[i];
    trial_open(t, d->m, text, DRAW_SAMPLES, NULL);
    t->forgives_rounding = true; /* values of order one may cancel by chance */
}

static void explain(const struct cavs_session *s)
{
    char *text = NULL;
    if (!getenv("CAVS_TEST_EXPLAIN"))
        return;
    check_ok(cavs_session_explain(s, &text));
    fputs(text, stderr);
    free(text);
}

static void check_training(struct trial *t, const struct cavs_session_options *o, const int *batch)
{
    struct cavs_session *s = trial_session(t, o);
    explain(s);
    if (trial_refused(t, s, batch, BATCH)) {
        cavs_session_destroy(s);
        return;
    }
    trial_check_gradients(t, s, batch, BATCH);
    trial_check_gradients(t, s, batch, 3);
    trial_check_outputs(t, s, batch, BATCH);
    for (int i = 0; i < 3; i++)
        check_ok(cavs_session_train(s, t->data, batch + i, BATCH - 2 * i));
    trial_check_gradients(t, s, batch + 2, 5);
    cavs_session_destroy(s);
}

static void check_inference(struct trial *t, struct cavs_session_options o, const int *batch)
{
    o.inference = true;
    struct cavs_session *s = trial_session(t, &o);
    trial_check_outputs(t, s, batch, BATCH);
    cavs_session_destroy(s);
}

static void run_seed(uint64_t seed)
{
    struct draw d = {.seed = seed};
    struct trial t;
    int batch[BATCH];
    trial_note("(seed %llu)", (unsigned long long)seed);
    trial_compile(seed % 20 == 0);
    open_trial(&d, &t);
    struct cavs_session_options o = cavs_session_defaults();
    draw_engine(&d, &o);
    o.lr = 0.02f;
    o.seed = seed;
    t.oracle->rounds = o.precision == CAVS_BFLOAT16;
    for (int i = 0; i < BATCH; i++)
        batch[i] = draw_pick(&d, DRAW_SAMPLES);
    check_training(&t, &o, batch);
    check_inference(&t, o, batch);
    trial_close(&t);
}

static void random_model(void **state)
{
    run_seed(draw_seed(state));
}

int main(void)
{
    static struct CMUnitTest tests[DRAW_SEEDS];
    int n = draw_tests(tests, (struct CMUnitTest){.name = "model", .test_func = random_model},
                       getenv("CAVS_TEST_LONG") ? MANY : FEW);

    return _cmocka_run_group_tests("random models", tests, (size_t)n, trial_runtime_up,
                                   trial_runtime_down);
}
