/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_models.c - whole models against the oracle: gradients of all parameters, metrics and
 * outputs, for every policy, number of shards and combination of optimisations, on batches of
 * every odd shape.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "tests/trial.h"

/* Models of which every session is compiled, so that all shapes of generated code are seen;
 * CAVS_TEST_LONG compiles all. */
static const char *const compiled[] = {"tree_lstm_bench", "tree_lstm_childsum", "gru", "arithmetic",
                                       "nonlinear"};

static void open_trial(struct trial *t, const struct zoo_entry *z)
{
    bool compile = getenv("CAVS_TEST_LONG") != NULL;
    for (size_t i = 0; i < sizeof compiled / sizeof *compiled; i++)
        compile = compile || !strcmp(compiled[i], z->name);
    trial_compile(compile);
    trial_open_zoo(t, z);
}

/* Opens one of which gradients are computed. */
static void open_trained(struct trial *t, const struct zoo_entry *z)
{
    struct cavs_session *s;
    open_trial(t, z);
    if (starpu_cpu_worker_get_count() > 0)
        return;
    s = trial_session(t, NULL);
    trial_skip_refused(t, s);
    cavs_session_destroy(s);
}

struct batch {
    int n, samples[4 * ZOO_SAMPLES];
};

static struct batch all_samples(const struct trial *t)
{
    struct batch b = {.n = t->nsamples};
    for (int i = 0; i < b.n; i++)
        b.samples[i] = i;
    return b;
}

/* Backwards, with the first one again and again: an odd number of samples, some of them the
 * same. */
static struct batch repeated(const struct trial *t)
{
    struct batch b = {.n = 0};
    for (int i = t->nsamples - 1; i >= 0; i -= 2) {
        b.samples[b.n++] = i;
        b.samples[b.n++] = 0;
    }
    b.samples[b.n++] = t->nsamples - 1;
    return b;
}

static struct batch only(int sample)
{
    return (struct batch){.n = 1, .samples = {sample}};
}

static void check_batch(struct trial *t, struct cavs_session *s, struct batch b)
{
    trial_check_gradients(t, s, b.samples, b.n);
}

/* How many batching tasks that took. */
static int64_t check_session(struct trial *t, const struct cavs_session_options *options)
{
    struct cavs_session *s = trial_session(t, options);
    struct batch all = all_samples(t);
    struct cavs_stats stats;
    trial_note("(policy %d, %d shards, grain %g; off:%s%s%s%s)", (int)options->policy,
               options->shards, (double)options->grain, options->no_lazy ? " lazy" : "",
               options->no_eager ? " eager" : "", options->no_fusion ? " fusion" : "",
               options->no_dedup ? " dedup" : "");
    check_batch(t, s, all);
    check_batch(t, s, repeated(t));
    check_batch(t, s, all);
    trial_check_outputs(t, s, all.samples, all.n);
    cavs_session_stats(s, &stats);
    cavs_session_destroy(s);
    return stats.batching_tasks;
}

/* The agenda and auto make no more V_t than depth, whose number is lower than theirs. */
static void every_policy_and_number_of_shards(void **state)
{
    int64_t made[CAVS_POLICIES][4];
    struct trial t;
    open_trained(&t, *state);
    for (int policy = 0; policy < CAVS_POLICIES; policy++) {
        for (int shards = 1; shards <= 3; shards++) {
            struct cavs_session_options options = cavs_session_defaults();
            options.policy = (enum cavs_policy)policy;
            options.shards = shards;
            options.grain = shards == 2 ? 0 : 1e-7f; /* the others in blocks, cut by rows */
            made[policy][shards] = check_session(&t, &options);
            if (policy == CAVS_POLICY_AGENDA || policy == CAVS_POLICY_AUTO)
                assert_true(made[policy][shards] <= made[CAVS_POLICY_DEPTH][shards]);
        }
    }
    trial_close(&t);
}

static struct cavs_session_options switched(int mask)
{
    struct cavs_session_options options = cavs_session_defaults();
    options.shards = 2;
    options.no_lazy = mask & 1;
    options.no_eager = mask & 2;
    options.no_fusion = mask & 4;
    options.no_dedup = mask & 8;
    return options;
}

static void every_optimisation_switched_off(void **state)
{
    static const int masks[] = {1, 2, 4, 8, 15};
    struct trial t;
    open_trained(&t, *state);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        struct cavs_session_options options = switched(masks[i]);
        check_session(&t, &options);
    }
    trial_close(&t);
}

static void every_combination_of_switches(void **state)
{
    struct trial t;
    open_trained(&t, *state);
    for (int mask = 0; mask < 16; mask++) {
        struct cavs_session_options options = switched(mask);
        check_session(&t, &options);
    }
    trial_close(&t);
}

/* Nothing is kept for a backward pass then: every kept value that is missed shows in the
 * outputs. */
static void forward_only(void **state)
{
    struct trial t;
    open_trial(&t, *state);
    for (int mask = 0; mask < 16; mask += 5) {
        struct cavs_session_options options = switched(mask);
        options.inference = true;
        struct cavs_session *s = trial_session(&t, &options);
        struct batch all = all_samples(&t);
        trial_check_outputs(&t, s, all.samples, all.n);
        check_ok(cavs_session_reset_metrics(s));
        check_ok(cavs_session_evaluate(s, t.data, all.samples, all.n));
        trial_oracle(&t, all.samples, all.n, false);
        trial_check_metrics(&t, s);
        cavs_session_destroy(s);
    }
    trial_close(&t);
}

/* Each sample alone, in one session: batches shrink and grow from one to the next. */
static void every_sample_alone(void **state)
{
    struct trial t;
    open_trained(&t, *state);
    struct cavs_session_options options = cavs_session_defaults();
    options.shards = 3;
    struct cavs_session *s = trial_session(&t, &options);
    for (int i = 0; i < t.nsamples; i++) {
        check_batch(&t, s, only(i));
        trial_check_outputs(&t, s, &i, 1);
    }
    check_batch(&t, s, all_samples(&t));
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- large and deep ---- */

static void check_large(const char *model, const char *const *texts, int n, enum cavs_policy policy)
{
    struct trial t;
    struct cavs_session_options options = cavs_session_defaults();
    trial_compile(true);
    trial_open(&t, zoo_model(zoo_find(model)), texts, n, NULL);
    options.policy = policy;
    options.shards = 2;
    struct cavs_session *s = trial_session(&t, &options);
    check_batch(&t, s, all_samples(&t));
    cavs_session_destroy(s);
    trial_close(&t);
}

static void deep_chains(void **state)
{
    const char *const texts[] = {"chain:20000", "chain:3", "chain:500,shuffle=2"};
    (void)state;
    check_large("rnn", texts, 3, CAVS_POLICY_FRONTIER);
}

static void deep_chain_agenda(void **state)
{
    const char *const texts[] = {"chain:20000,shuffle=7"};
    (void)state;
    check_large("rnn", texts, 1, CAVS_POLICY_AGENDA);
}

static void deep_chain_serial(void **state)
{
    const char *const texts[] = {"chain:20000,shuffle=8"};
    (void)state;
    check_large("rnn", texts, 1, CAVS_POLICY_SERIAL);
}

/* More rows than any tile or row block has. */
static void large_trees(void **state)
{
    const char *const texts[] = {"random:700,kinds=2,seed=3", "binary:512,kinds=2",
                                 "single,kinds=2", "random:300,kinds=2,seed=9,shuffle=4"};
    (void)state;
    check_large("tree_lstm_bench", texts, 4, CAVS_POLICY_FRONTIER);
}

static void large_dags(void **state)
{
    const char *const texts[] = {"dag:1500,parents=9,kinds=3",
                                 "dag:700,parents=700,kinds=3,seed=5,shuffle=3"};
    (void)state;
    check_large("dag", texts, 2, CAVS_POLICY_AGENDA);
}

static void many_points(void **state)
{
    const char *const texts[] = {"flat:3000", "single", "flat:1025"};
    (void)state;
    check_large("mlp", texts, 3, CAVS_POLICY_FRONTIER);
}

/* ---- the list of tests ---- */

enum { KINDS = 4, EXTRA = 3, LARGE = 6 };

static const struct {
    const char *name;
    CMUnitTestFunction run;
} kinds[KINDS] = {
    {"policies and shards", every_policy_and_number_of_shards},
    {"switches", every_optimisation_switched_off},
    {"forward only", forward_only},
    {"each sample alone", every_sample_alone},
};

static const char *const combined[EXTRA] = {"tree_lstm_bench", "dag", "encoder_decoder"};

int main(void)
{
    const struct CMUnitTest large[LARGE] = {
        cmocka_unit_test(deep_chains),       cmocka_unit_test(deep_chain_agenda),
        cmocka_unit_test(deep_chain_serial), cmocka_unit_test(large_trees),
        cmocka_unit_test(large_dags),        cmocka_unit_test(many_points),
    };
    int n = 0, failed, most = zoo_count() * KINDS + EXTRA + LARGE;
    struct CMUnitTest *tests = calloc((size_t)most, sizeof *tests);
    char(*names)[80] = calloc((size_t)most, sizeof *names);
    if (!tests || !names)
        return 99;
    for (int i = 0; i < zoo_count() * KINDS + EXTRA; i++, n++) {
        bool extra = i >= zoo_count() * KINDS;
        const struct zoo_entry *z =
            extra ? zoo_find(combined[i - zoo_count() * KINDS]) : zoo_at(i / KINDS);
        snprintf(names[n], sizeof names[n], "%s: %s", z->name,
                 extra ? "all switches" : kinds[i % KINDS].name);
        tests[n] = (struct CMUnitTest){.name = names[n],
                                       .test_func = extra ? every_combination_of_switches
                                                          : kinds[i % KINDS].run,
                                       .initial_state = (void *)z};
    }
    for (int i = 0; i < LARGE; i++)
        tests[n++] = large[i];
    failed =
        _cmocka_run_group_tests("models", tests, (size_t)n, trial_runtime_up, trial_runtime_down);
    free(tests);
    free(names);
    return failed;
}
