/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_helpers.c - workers without a shard of their own help with the products of tasks, where the
 * weights are large for a cache, and results stay the same bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/products/gemm.h"
#include "core/run/session.h"
#include "tests/sample.h"
#include "tests/skip.h"
#include "tests/trial.h"

enum { WORDS = 7, HIDDEN = 200, SAMPLES = 6, EPOCHS = 2 };

/* Like Tree-FC, but with two products, one of which copies its rows: W and F are worth being
 * claimed, panel by panel, at once. */
static struct cavs_model *wide_model(void)
{
    struct cavs_model *m;
    struct cavs_param *table, *W, *F, *b;

    check_ok(cavs_model_create(&m));
    table = zoo_weight(m, "embedding", WORDS, HIDDEN);
    W = zoo_weight(m, "W", 2 * HIDDEN, HIDDEN);
    F = zoo_weight(m, "F", HIDDEN, HIDDEN);
    b = zoo_weight(m, "b", 1, HIDDEN);
    struct cavs_stage *tree = cavs_stage_create(m, "tree", HIDDEN);
    struct cavs_function *leaf = cavs_function_create(tree, "leaf");
    struct cavs_symbol *x = cavs_lookup(table, cavs_pull_ids(leaf, "word"));
    cavs_scatter(leaf, x);
    cavs_push(leaf, "h", x);
    struct cavs_function *inner = cavs_function_create(tree, "inner");
    struct cavs_symbol *both =
        cavs_concat(2, ((struct cavs_symbol *[]){cavs_gather(inner, 0), cavs_gather(inner, 1)}));
    struct cavs_symbol *h =
        cavs_tanh(cavs_add(cavs_affine(both, W, b), cavs_matmul(cavs_gather(inner, 1), F)));
    cavs_scatter(inner, h);
    cavs_push(inner, "h", h);
    zoo_classify(m, tree, "h", HIDDEN, 3);
    check_ok(cavs_model_finish(m));
    return m;
}

struct run {
    const char *scheduler;
    enum cavs_policy policy;
    int workers, shards, cores, l2_bytes; /* 0: as it is */
    bool leave_to_workers, bf16;
    struct cavs_model *model;
    struct cavs_runtime *rt;
    struct cavs_data *data;
    struct cavs_session *session;
};

static void fill(struct run *r)
{
    for (int i = 0; i < SAMPLES; i++) {
        char text[64];

        snprintf(text, sizeof text, "random:%d,kinds=2,seed=%d", 5 + 7 * i, i + 1);
        struct sample *s = sample_make(r->model, text, (uint64_t)i);
        check_ok(sample_add(s, r->data));
        sample_free(s);
    }
}

/* So fine a grain that the calling thread leaves the batch to workers, which have several tasks
 * of it; products of bfloat16 are done sooner. */
static void open_run(struct run *r)
{
    struct cavs_runtime_options ro = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options so = cavs_session_defaults();

    ro.workers = r->workers;
    ro.scheduler = r->scheduler;
    ro.leave_to_workers = r->leave_to_workers;
    so.optimizer = CAVS_ADAM;
    so.policy = r->policy;
    so.shards = r->shards;
    so.grain = r->bf16 ? 2e-5f : 5e-5f;
    so.precision = r->bf16 ? CAVS_BFLOAT16 : CAVS_FLOAT32;
    r->model = wide_model();
    check_ok(cavs_runtime_create(&ro, &r->rt));
    if (r->cores > 0)
        r->rt->shards = r->cores;
    check_ok(cavs_data_create(r->model, &r->data));
    fill(r);
    check_ok(cavs_session_create(r->rt, r->model, &so, &r->session));
    if (r->l2_bytes > 0)
        r->rt->l2_bytes = r->l2_bytes;
}

static void close_run(struct run *r)
{
    cavs_session_destroy(r->session);
    cavs_data_destroy(r->data);
    cavs_runtime_destroy(r->rt);
    cavs_model_destroy(r->model);
}

static uint64_t hash_params(struct run *r)
{
    static float values[2 * HIDDEN * HIDDEN];
    uint64_t hash = 0xcbf29ce484222325u;

    for (int i = 0; i < cavs_model_param_count(r->model); i++) {
        const struct cavs_param *p = cavs_model_param_at(r->model, i);
        size_t n = (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p) * sizeof *values;

        check_ok(cavs_session_get_param(r->session, p, values));
        for (size_t j = 0; j < n; j++)
            hash = (hash ^ ((const unsigned char *)values)[j]) * 0x100000001b3u;
    }
    return hash;
}

/* Trees one by one; returns how many pieces of work were open to helpers. */
static int train_trees(struct run *r)
{
    int helped = 0;

    for (int i = 0; i < EPOCHS * SAMPLES; i++) {
        int sample = i % SAMPLES;

        check_ok(cavs_session_train(r->session, r->data, &sample, 1));
        helped += r->session->engine.cuts[0].helped;
    }
    check_ok(cavs_session_wait(r->session));
    return helped;
}

static uint64_t train(struct run r, int *helped)
{
    uint64_t hash;

    open_run(&r);
    *helped = train_trees(&r);
    hash = hash_params(&r);
    close_run(&r);
    return hash;
}

static void need_panels(void)
{
    if (!cavs__gemm()->gemm_panels)
        SKIP("products by %s have no panels", cavs__gemm()->name);
}

static struct run alone(void)
{
    return (struct run){.scheduler = "lws", .policy = CAVS_POLICY_FRONTIER, .workers = 1};
}

static void check_helped(struct run r, uint64_t want)
{
    int helped;

    if (!r.l2_bytes)
        r.l2_bytes = 1;
    assert_true(train(r, &helped) == want);
    assert_true(helped >= 2 * EPOCHS * SAMPLES); /* forward, and backward */
}

static uint64_t train_without_help(struct run r)
{
    uint64_t bits;
    int helped;

    need_panels();
    bits = train(r, &helped);
    assert_int_equal(helped, 0);
    return bits;
}

static void helpers_give_the_same_bits(void **state)
{
    struct run r = alone();
    uint64_t want = train_without_help(r);

    (void)state;
    for (r.workers = 2; r.workers <= 6; r.workers += 2)
        check_helped(r, want);
    r.workers = 2;
    r.policy = CAVS_POLICY_AGENDA;
    check_helped(r, want);
}

static void helpers_give_the_same_bits_of_bfloat16(void **state)
{
    struct run r = alone();
    uint64_t want;

    (void)state;
    r.bf16 = true;
    want = train_without_help(r);
    r.workers = 3;
    check_helped(r, want);
}

static void helpers_give_the_same_bits_with_any_scheduler(void **state)
{
    static const char *const schedulers[] = {"eager", "prio", "dmda", "random", "ws"};
    struct run r = alone();
    uint64_t want = train_without_help(r);

    (void)state;
    r.workers = 3;
    for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
        r.scheduler = schedulers[i];
        check_helped(r, want);
    }
}

static void a_batch_of_one_tree_that_is_helped_with_is_one_task(void **state)
{
    struct run r = alone();
    struct cavs_stats stats;

    (void)state;
    need_panels();
    r.workers = 3;
    r.l2_bytes = 1;
    open_run(&r);
    assert_true(train_trees(&r) > 0);
    cavs_session_stats(r.session, &stats);
    assert_int_equal(stats.batches, EPOCHS * SAMPLES);
    assert_true(stats.tasks > 0 && stats.tasks <= stats.batches); /* the smallest are none */
    close_run(&r);
}

static void check_not_helped(struct run r)
{
    int helped;

    need_panels();
    r.workers = 2;
    train(r, &helped);
    assert_int_equal(helped, 0);
}

/* Bytes of W and F. */
enum { WEIGHTS = 3 * HIDDEN * HIDDEN * (int)sizeof(float) };

static void weights_that_fill_half_a_cache_are_helped_with(void **state)
{
    struct run r = alone();
    uint64_t want = train_without_help(r);

    (void)state;
    r.workers = 2;
    r.l2_bytes = 2 * WEIGHTS;
    check_helped(r, want);
}

static void smaller_weights_are_not_helped_with(void **state)
{
    struct run r = alone();

    (void)state;
    r.l2_bytes = 2 * WEIGHTS + 1;
    check_not_helped(r);
}

/* Batches of many trees. */
static uint64_t train_shards(struct run r, int *helped, bool *side_by_side)
{
    int samples[64];
    uint64_t hash;

    *helped = 0;
    open_run(&r);
    for (int i = 0; i < 64; i++)
        samples[i] = i % SAMPLES;
    for (int i = 0; i < 4; i++) {
        check_ok(cavs_session_train(r.session, r.data, samples + i, 60));
        *helped += r.session->engine.cuts[0].helped;
    }
    *side_by_side = r.session->engine.slots[0].own != NULL;
    hash = hash_params(&r);
    close_run(&r);
    return hash;
}

static void helpers_of_shards_that_are_submitted_side_by_side_give_the_same_bits(void **state)
{
    struct run r = alone();
    uint64_t want;
    bool side_by_side;
    int helped;

    (void)state;
    need_panels();
    r.shards = 8;
    want = train_shards(r, &helped, &side_by_side);
    assert_true(helped == 0 && !side_by_side);
    r.workers = 16;
    r.l2_bytes = 1;
    assert_true(train_shards(r, &helped, &side_by_side) == want);
    assert_true(helped > 0 && side_by_side);
}

struct few {
    int cores, l2_bytes, shards; /* of the session; 0: it chooses */
    int n, want;                 /* trees of a batch, and shards that it has */
    bool large;                  /* the trees are those of most leaves */
};

static void check_few(struct few f, int workers, uint64_t *bits)
{
    struct run r = alone();
    int samples[64];

    r.workers = workers;
    r.cores = f.cores;
    r.l2_bytes = f.l2_bytes;
    r.shards = f.shards;
    open_run(&r);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < f.n; k++)
            samples[k] = f.large ? SAMPLES - 1 : (i + k) % SAMPLES;
        check_ok(cavs_session_train(r.session, r.data, samples, f.n));
        assert_int_equal(r.session->batch->nshards, f.want);
    }
    check_ok(cavs_session_wait(r.session));
    *bits = hash_params(&r);
    close_run(&r);
}

/* The six trees have 9, 23, .. 79 vertices, 264 together. */
static void few_trees_are_few_shards_whatever_the_number_of_workers(void **state)
{
    static const struct few cases[] = {
        {.cores = 2, .l2_bytes = 1, .n = 2, .want = 1},
        {.cores = 2, .l2_bytes = 1, .n = 7, .want = 1},
        {.cores = 2, .l2_bytes = 1, .n = 8, .want = 2},
        {.cores = 2, .l2_bytes = 1, .n = 7, .want = 2, .large = true},
        {.cores = 4, .l2_bytes = 1, .n = 13, .want = 3},
        {.cores = 8, .l2_bytes = 1, .n = 3, .want = 2},
        {.cores = 8, .l2_bytes = 1, .n = 20, .want = 5},
        {.cores = 2, .l2_bytes = 2 * WEIGHTS + 1, .n = 4, .want = 2},
        {.cores = 2, .l2_bytes = 1, .shards = 2, .n = 4, .want = 2},
    };

    (void)state;
    need_panels();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bits, want;

        check_few(cases[i], 1, &want);
        for (int workers = 2; workers <= 4; workers++) {
            check_few(cases[i], workers, &bits);
            assert_true(bits == want);
        }
    }
}

static void workers_of_others_do_not_help(void **state)
{
    struct run r = alone();

    (void)state;
    r.l2_bytes = 1;
    r.leave_to_workers = true;
    check_not_helped(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helpers_give_the_same_bits),
        cmocka_unit_test(helpers_give_the_same_bits_of_bfloat16),
        cmocka_unit_test(helpers_give_the_same_bits_with_any_scheduler),
        cmocka_unit_test(helpers_of_shards_that_are_submitted_side_by_side_give_the_same_bits),
        cmocka_unit_test(a_batch_of_one_tree_that_is_helped_with_is_one_task),
        cmocka_unit_test(weights_that_fill_half_a_cache_are_helped_with),
        cmocka_unit_test(smaller_weights_are_not_helped_with),
        cmocka_unit_test(few_trees_are_few_shards_whatever_the_number_of_workers),
        cmocka_unit_test(workers_of_others_do_not_help),
    };

    trial_compile(false);
    setenv("CAVS_COST", "5 20 50 75 80", 1); /* tasks are cut alike on all machines */
    return cmocka_run_group_tests_name("helpers", tests, NULL, NULL);
}
