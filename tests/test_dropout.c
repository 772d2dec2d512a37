/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dropout.c - the kernel's numbers; which numbers are dropped in training, and that none are
 * elsewhere.
 *
 * The model is linear in a row of a table that each vertex has for itself, so the gradient of that
 * table shows exactly what was dropped.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/kernels/kernel.h"
#include "codelets/kernels/philox.h"
#include "tests/matrix.h"
#include "tests/random.h"
#include "tests/trial.h"

/* ---- the kernel ------------------------------------------------------------------------------ */

/* The first known answer of Random123, the authors' own library, and the one for pi. */
static void generator_gives_the_known_answers(void **unused)
{
    static const struct {
        uint32_t counter[4], key[2], word[4];
    } known[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t word[4];

        cavs__philox(known[i].counter, known[i].key, word);
        assert_memory_equal(word, known[i].word, sizeof word);
    }
}

static void run(bool reference, float rate, uint32_t site, int rows, const struct cavs__view *v)
{
    const struct cavs__kernel *k = cavs__kernel_find("dropout");
    const struct cavs__call call = {.kernel = k, .rate = rate, .site = site};

    (reference ? k->reference : k->cpu)(&call, rows, v, 0);
}

static struct cavs__view view_of(const struct matrix *m)
{
    return (struct cavs__view){.p = m->p, .ld = m->ld, .cols = m->cols};
}

static void kernel_drops_what_the_reference_drops(void **unused)
{
    static const int widths[] = {1, 3, 15, 16, 17, 63, 64, 65, 200};
    uint64_t state = 7;

    (void)unused;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        enum { ROWS = 9 };
        struct matrix x = matrix_random(&state, ROWS, widths[i], 2);
        struct matrix y = matrix_unset(ROWS, widths[i], 1), want = matrix_unset(ROWS, widths[i], 1);
        int32_t low[ROWS], high[ROWS], index[ROWS];
        struct cavs__view v[] = {view_of(&x), {.index = low}, {.index = high}, view_of(&y)};

        for (int r = 0; r < ROWS; r++) {
            low[r] = r == 4 ? 0 : random_int(&state, 1, INT32_MAX);
            high[r] = r == 4 ? 0 : -random_int(&state, 0, INT32_MAX);
            index[r] = random_int(&state, -1, ROWS - 1);
        }
        if (i % 2)
            v[0].index = index;
        run(false, 0.3f, (uint32_t)i, ROWS, v);
        v[3] = view_of(&want);
        run(true, 0.3f, (uint32_t)i, ROWS, v);
        matrix_near(&y, &want, 1e-7, "dropout");
        matrix_check(&y, "dropout");
        matrix_free(&x);
        matrix_free(&y);
        matrix_free(&want);
    }
}

/* The share of pairs of ones in two rows of ones and zeros, n long. */
static double both(const float *a, const float *b, int n)
{
    int pairs = 0;

    for (int i = 0; i < n; i++)
        pairs += a[i] > 0 && b[i] > 0;
    return (double)pairs / n;
}

/* 60,000 numbers: the share of a row is within 5 standard deviations of what it should be. */
static void kernel_keeps_a_share_that_is_independent_of_row_site_and_column(void **unused)
{
    enum { N = 60000 };
    static const float rates[] = {0.1f, 0.5f, 0.9f};
    struct matrix x = matrix_unset(1, N, 0), y[3], next;
    const double error = 5 * sqrt(0.25 / N);

    (void)unused;
    for (int i = 0; i < N; i++)
        x.p[i] = 1;
    for (int i = 0; i < 3; i++) {
        float share = 1 - rates[i];

        /* the same key at two sites, and another key */
        for (int k = 0; k < 3; k++) {
            int32_t low[] = {5 + 2 * (k == 2)}, high[] = {9};
            struct cavs__view v[] = {view_of(&x), {.index = low}, {.index = high}, {0}};

            y[k] = matrix_unset(1, N, 0);
            v[3] = view_of(&y[k]);
            run(false, rates[i], k == 1, 1, v);
            for (int c = 0; c < N; c++)
                assert_true(y[k].p[c] == 0 || fabsf(y[k].p[c] * share - 1) < 1e-6f);
            number_near(both(y[k].p, y[k].p, N), share, error, "share");
        }
        next = (struct matrix){.p = y[0].p + 1};
        number_near(both(y[0].p, y[1].p, N), share * share, error, "two sites");
        number_near(both(y[0].p, y[2].p, N), share * share, error, "two rows");
        number_near(both(y[0].p, next.p, N - 1), share * share, error, "neighbours");
        number_near(both(y[0].p, y[0].p + 16, N - 16), share * share, error, "words apart");
        for (int k = 0; k < 3; k++)
            matrix_free(&y[k]);
    }
    matrix_free(&x);
}

/* ---- in a model ------------------------------------------------------------------------------ */

enum { WIDTH = 20, VERTICES = 40, SAMPLES = 4, PER_SAMPLE = VERTICES / SAMPLES };

static const float RATE = 0.4f;

/* Vertices of a chain that adds up rows of a table, dropped twice; a later stage sums the
 * states. */
static struct cavs_model *build(bool dropping)
{
    struct cavs_model *m = NULL;
    check_ok(cavs_model_create(&m));
    struct cavs_param *table = cavs_model_param(m, "table", VERTICES, WIDTH, CAVS_CONSTANT(1));
    struct cavs_param *other = cavs_model_param(m, "other", VERTICES, WIDTH, CAVS_CONSTANT(1));
    struct cavs_stage *s = cavs_stage_create(m, "chain", WIDTH);
    struct cavs_function *f = cavs_function_create(s, "cell");
    struct cavs_symbol *vertex = cavs_pull_ids(f, "vertex");
    struct cavs_symbol *a = cavs_lookup(table, vertex), *b = cavs_lookup(other, vertex);
    if (dropping) {
        a = cavs_dropout(a, RATE);
        b = cavs_dropout(b, RATE);
    }
    cavs_scatter(f, cavs_add(cavs_gather(f, 0), cavs_add(a, b)));
    cavs_push(f, "own", cavs_add(a, b));
    f = cavs_function_create(cavs_stage_over(m, "top", s, CAVS_ALL_VERTICES), "top");
    cavs_loss(f, "loss", cavs_sum(cavs_pull_from(f, s, "own", NULL)), NULL);
    check_ok(cavs_model_finish(m));
    return m;
}

static struct cavs_data *fill(const struct cavs_model *m, const struct cavs_stage *s)
{
    struct cavs_data *d = NULL;
    check_ok(cavs_data_create(m, &d));
    for (int i = 0; i < SAMPLES; i++) {
        int ids[PER_SAMPLE], ptr[PER_SAMPLE + 1], child[PER_SAMPLE];
        for (int v = 0; v <= PER_SAMPLE; v++) {
            ptr[v] = v;
            if (v < PER_SAMPLE) {
                ids[v] = i * PER_SAMPLE + v;
                child[v] = v - 1;
            }
        }
        check_ok(cavs_data_begin(d));
        check_ok(cavs_data_graph(d, s, PER_SAMPLE, NULL, ptr, child));
        check_ok(cavs_data_ids(d, s, "vertex", PER_SAMPLE, ids));
        check_ok(cavs_data_end(d));
    }
    return d;
}

struct scene {
    struct cavs_runtime *rt;
    struct cavs_model *m;
    struct cavs_stage *stage;
    struct cavs_data *d;
    struct cavs_session *s;
};

static struct cavs_session_options usual(void)
{
    struct cavs_session_options o = cavs_session_defaults();
    o.shards = 1;
    o.seed = 3;
    o.lr = 0;
    return o;
}

static struct scene scene_open(struct cavs_runtime *rt, bool dropping,
                               const struct cavs_session_options *o)
{
    struct scene a = {.rt = rt, .m = build(dropping)};
    a.stage = a.m->stages[0];
    a.d = fill(a.m, a.stage);
    check_ok(cavs_session_create(rt, a.m, o, &a.s));
    return a;
}

static void scene_close(struct scene *a)
{
    cavs_session_destroy(a->s);
    cavs_data_destroy(a->d);
    cavs_model_destroy(a->m);
}

static const int in_order[SAMPLES] = {0, 1, 2, 3};

typedef float mask[VERTICES][WIDTH];

/* What the rows of a table were multiplied by. */
static void mask_of(struct scene *a, const char *table, const int *batch, mask to)
{
    check_ok(cavs_session_gradient(a->s, a->d, batch, SAMPLES));
    check_ok(cavs_session_get_gradient(a->s, cavs_model_find_param(a->m, table), &to[0][0]));
}

static double loss_of_gradient(struct scene *a)
{
    double sum;
    check_ok(cavs_session_reset_metrics(a->s));
    check_ok(cavs_session_gradient(a->s, a->d, in_order, SAMPLES));
    check_ok(cavs_session_metric(a->s, "loss", &sum, NULL));
    return sum;
}

static double loss_of_evaluation(struct scene *a)
{
    double sum;
    check_ok(cavs_session_reset_metrics(a->s));
    check_ok(cavs_session_evaluate(a->s, a->d, in_order, SAMPLES));
    check_ok(cavs_session_metric(a->s, "loss", &sum, NULL));
    return sum;
}

static void training_drops_and_scales(void **unused)
{
    struct cavs_session_options o = usual();
    struct scene a = scene_open(trial_runtime, true, &o);
    mask got;
    int kept = 0;
    (void)unused;
    mask_of(&a, "table", in_order, got);
    for (int i = 0; i < VERTICES * WIDTH; i++) {
        assert_true((&got[0][0])[i] == 0 || fabsf((&got[0][0])[i] * (1 - RATE) - 1) < 1e-6f);
        kept += (&got[0][0])[i] != 0;
    }
    /* five standard deviations */
    number_near((double)kept / (VERTICES * WIDTH), 1 - RATE, 5 * sqrt(0.24 / (VERTICES * WIDTH)),
                "kept");
    scene_close(&a);
}

static void backward_drops_what_forward_dropped(void **unused)
{
    struct cavs_session_options o = usual();
    struct scene a = scene_open(trial_runtime, true, &o);
    mask got[2];
    double sum = 0;
    (void)unused;
    mask_of(&a, "table", in_order, got[0]);
    mask_of(&a, "other", in_order, got[1]);
    for (int i = 0; i < 2 * VERTICES * WIDTH; i++)
        sum += (&got[0][0][0])[i];
    number_near(loss_of_gradient(&a), sum, 1e-6, "the sum of what was kept");
    scene_close(&a);
}

static void every_vertex_call_and_update_has_zeros_of_its_own(void **unused)
{
    struct cavs_session_options o = usual();
    struct scene a = scene_open(trial_runtime, true, &o);
    mask first, got;
    (void)unused;
    mask_of(&a, "table", in_order, first);
    for (int v = 1; v < VERTICES; v++)
        assert_memory_not_equal(first[v], first[v - 1], sizeof *first);
    mask_of(&a, "other", in_order, got);
    assert_memory_not_equal(first, got, sizeof first);
    mask_of(&a, "table", in_order, got);
    assert_memory_equal(first, got, sizeof first); /* until the next update */
    check_ok(cavs_session_train(a.s, a.d, in_order, SAMPLES));
    mask_of(&a, "table", in_order, got);
    for (int v = 0; v < VERTICES; v++)
        assert_memory_not_equal(first[v], got[v], sizeof *first);
    scene_close(&a);
}

static void zeros_follow_the_seed(void **unused)
{
    struct cavs_session_options o = usual();
    struct scene a = scene_open(trial_runtime, true, &o), b;
    mask first, got;
    (void)unused;
    o.seed = 4;
    b = scene_open(trial_runtime, true, &o);
    mask_of(&a, "table", in_order, first);
    mask_of(&b, "table", in_order, got);
    assert_memory_not_equal(first, got, sizeof first);
    scene_close(&a);
    scene_close(&b);
}

static void zeros_follow_the_place_in_the_batch(void **unused)
{
    static const int twice[SAMPLES] = {2, 0, 2, 1};
    struct cavs_session_options o = usual();
    struct scene a = scene_open(trial_runtime, true, &o);
    mask first, got;
    (void)unused;
    mask_of(&a, "table", in_order, first);
    mask_of(&a, "table", twice, got);
    for (int v = 0; v < PER_SAMPLE; v++) {
        assert_memory_equal(got[v], first[v + PER_SAMPLE], sizeof *got);
        for (int c = 0; c < WIDTH; c++)
            number_near(got[v + 2 * PER_SAMPLE][c], first[v][c] + first[v + 2 * PER_SAMPLE][c],
                        1e-6, "a sample that is twice in the batch");
    }
    scene_close(&a);
}

/* Runtimes of its own, in the place of the usual one. */
static void zeros_do_not_depend_on_workers_or_shards(void **unused)
{
    static const struct {
        int workers, shards;
        enum cavs_policy policy;
    } ways[] = {{1, 1, CAVS_POLICY_FRONTIER},
                {3, 1, CAVS_POLICY_FRONTIER},
                {2, 4, CAVS_POLICY_FRONTIER},
                {1, 3, CAVS_POLICY_SERIAL},
                {2, 2, CAVS_POLICY_AGENDA}};
    mask first;
    (void)unused;
    trial_runtime_down(NULL);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct cavs_runtime_options ro = {.workers = ways[i].workers};
        struct cavs_session_options o = usual();
        struct cavs_runtime *rt = NULL;
        mask got;
        o.shards = ways[i].shards;
        o.policy = ways[i].policy;
        check_ok(cavs_runtime_create(&ro, &rt));
        struct scene a = scene_open(rt, true, &o);
        mask_of(&a, "table", in_order, i ? got : first);
        if (i)
            assert_memory_equal(got, first, sizeof got);
        scene_close(&a);
        cavs_runtime_destroy(rt);
    }
    assert_int_equal(trial_runtime_up(NULL), 0);
}

static void evaluation_and_output_drop_nothing(void **unused)
{
    struct cavs_session_options o = usual();
    struct scene a = scene_open(trial_runtime, true, &o);
    float rows[VERTICES][WIDTH];
    (void)unused;
    number_near(loss_of_evaluation(&a), 2 * VERTICES * WIDTH, 0, "loss");
    assert_true(fabs(loss_of_gradient(&a) - 2 * VERTICES * WIDTH) > 1e-3);
    check_ok(cavs_session_output(a.s, a.d, in_order, SAMPLES, a.stage, "own", &rows[0][0]));
    for (int i = 0; i < VERTICES * WIDTH; i++)
        number_near((&rows[0][0])[i], 2, 0, "output");
    scene_close(&a);
}

static void inference_drops_nothing(void **unused)
{
    struct cavs_session_options o = usual();
    o.inference = true;
    struct scene a = scene_open(trial_runtime, true, &o);
    (void)unused;
    number_near(loss_of_evaluation(&a), 2 * VERTICES * WIDTH, 0, "loss");
    scene_close(&a);
}

/* The slope of the loss with the zeros of this update: there is no update between its two sides. */
static void gradient_is_the_slope_under_the_same_zeros(void **unused)
{
    struct cavs_session_options o = usual();
    struct cavs_model *m = NULL;
    float w[WIDTH][3], gradient[WIDTH][3];
    (void)unused;
    check_ok(cavs_model_create(&m));
    struct cavs_param *table = zoo_weight(m, "table", VERTICES, WIDTH);
    struct cavs_param *W = zoo_weight(m, "W", WIDTH, 3);
    struct scene a = {.m = m, .stage = cavs_stage_create(m, "chain", 3)};
    struct cavs_function *f = cavs_function_create(a.stage, "cell");
    struct cavs_symbol *x = cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "vertex")), 0.3f);
    struct cavs_symbol *h = cavs_dropout(cavs_gather(f, 0), 0.5f);
    h = cavs_dropout(cavs_tanh(cavs_add(cavs_matmul(x, W), h)), 0.25f);
    cavs_scatter(f, h);
    cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
    check_ok(cavs_model_finish(m));
    a.d = fill(m, a.stage);
    check_ok(cavs_session_create(trial_runtime, m, &o, &a.s));
    check_ok(cavs_session_train(a.s, a.d, in_order, SAMPLES)); /* not the first update's */
    check_ok(cavs_session_gradient(a.s, a.d, in_order, SAMPLES));
    check_ok(cavs_session_get_gradient(a.s, W, &gradient[0][0]));
    check_ok(cavs_session_get_param(a.s, W, &w[0][0]));
    for (int i = 0; i < WIDTH * 3; i++) {
        float was = (&w[0][0])[i];
        double side[2];
        for (int k = 0; k < 2; k++) {
            (&w[0][0])[i] = was + (k ? -0.00125f : 0.00125f);
            check_ok(cavs_session_set_param(a.s, W, &w[0][0]));
            side[k] = loss_of_gradient(&a);
        }
        (&w[0][0])[i] = was;
        number_near((&gradient[0][0])[i], (side[0] - side[1]) / 0.0025, 1e-3, "slope");
    }
    scene_close(&a);
}

/* ---- sharing --------------------------------------------------------------------------------- */

static void make_vertices_equal(struct scene *a)
{
    for (int i = 0; i < SAMPLES; i++) {
        int *ids = cavs_data_sample_ids(a->d, a->stage, "vertex", i);
        assert_non_null(ids);
        for (int v = 0; v < PER_SAMPLE; v++)
            ids[v] = 1;
    }
}

/* Vertices evaluated of four equal chains. */
static int64_t evaluated(bool dropping, bool inference, const char *says)
{
    struct cavs_session_options o = usual();
    struct cavs_stats stats;
    char *text = NULL;
    o.inference = inference;
    struct scene a = scene_open(trial_runtime, dropping, &o);
    make_vertices_equal(&a);
    check_ok(cavs_session_evaluate(a.s, a.d, in_order, SAMPLES));
    check_ok(cavs_session_wait(a.s));
    cavs_session_stats(a.s, &stats);
    check_ok(cavs_session_explain(a.s, &text));
    if (!strstr(text, says))
        fail_msg("the explanation does not say \"%s\":\n%s", says, text);
    free(text);
    scene_close(&a);
    return stats.evaluated;
}

static void equal_vertices_are_shared_only_without_dropout(void **unused)
{
    (void)unused;
    assert_int_equal(evaluated(false, false, "stage chain: equal vertices of a shard are"),
                     PER_SAMPLE);
    assert_int_equal(evaluated(true, true, "stage chain: equal vertices of a shard are"),
                     PER_SAMPLE);
    assert_int_equal(evaluated(true, false,
                               "stage chain: equal vertices are evaluated each for "
                               "itself: their dropout differs"),
                     VERTICES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_gives_the_known_answers),
        cmocka_unit_test(kernel_drops_what_the_reference_drops),
        cmocka_unit_test(kernel_keeps_a_share_that_is_independent_of_row_site_and_column),
        cmocka_unit_test(training_drops_and_scales),
        cmocka_unit_test(backward_drops_what_forward_dropped),
        cmocka_unit_test(every_vertex_call_and_update_has_zeros_of_its_own),
        cmocka_unit_test(zeros_follow_the_seed),
        cmocka_unit_test(zeros_follow_the_place_in_the_batch),
        cmocka_unit_test(zeros_do_not_depend_on_workers_or_shards),
        cmocka_unit_test(evaluation_and_output_drop_nothing),
        cmocka_unit_test(inference_drops_nothing),
        cmocka_unit_test(gradient_is_the_slope_under_the_same_zeros),
        cmocka_unit_test(equal_vertices_are_shared_only_without_dropout),
    };
    trial_compile(false);
    return cmocka_run_group_tests_name("dropout", tests, trial_runtime_up, trial_runtime_down);
}
