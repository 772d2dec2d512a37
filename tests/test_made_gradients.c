/* SPDX-License-Identifier: Apache-2.0 */
/* test_made_gradients.c - a large gradient of few rows is made while its parameter is updated, to
 * the bits of one that is made before. */
#include <stdio.h>

#include "tests/trial.h"

enum { IN = 300, OUT = 230, WORDS = 40, BATCHES = 4, MOST_ROWS = 64, SAMPLES = 5 };

static const char *const names[] = {"W", "V", "b", "words", "tied", "U"};
enum { PARAMS = sizeof names / sizeof *names, NUMBERS = 64 * 256 * 256 };

struct values {
    float of[PARAMS][NUMBERS];
};

/* W is multiplied by rows that are pulled, V by rows of a parameter that is trained, too.  Rows of
 * what is tied are looked up, too, and add to its gradient. */
static void build(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *x = cavs_pull(f, "x", IN);
    struct cavs_symbol *ids = cavs_pull_ids(f, "w");
    struct cavs_symbol *word = cavs_lookup(zoo_weight(m, "words", WORDS, IN), ids);
    struct cavs_param *tied = zoo_weight(m, "tied", IN, OUT);
    struct cavs_symbol *y = cavs_affine(x, zoo_weight(m, "W", IN, OUT), zoo_weight(m, "b", 1, OUT));

    y = cavs_mul(cavs_tanh(y), cavs_matmul(word, zoo_weight(m, "V", IN, OUT)));
    y = cavs_add(y, cavs_lookup(tied, ids));
    y = cavs_add(y, cavs_matmul(x, tied));
    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

/* A product and nothing else: the task of its gradient adds up b, too. */
static void build_alone(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *y =
        cavs_affine(cavs_pull(f, "x", IN), zoo_weight(m, "W", IN, OUT), zoo_weight(m, "b", 1, OUT));

    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

/* Rows that select one of so many blocks that all shards' gradients of it are large; the task that
 * would make one adds up a bias, too. */
enum { BLOCK_IN = 64, BLOCK_OUT = 256, BLOCKS = 256 };

static void build_blocks(struct cavs_model *m, int blocks)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *y = cavs_matmul_select(cavs_pull(f, "x", BLOCK_IN),
                                               zoo_weight(m, "U", blocks * BLOCK_IN, BLOCK_OUT),
                                               blocks, cavs_pull_ids(f, "w"));

    y = cavs_add(y, cavs_use(f, zoo_weight(m, "b", 1, BLOCK_OUT)));
    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

static void build_selected(struct cavs_model *m)
{
    build_blocks(m, BLOCKS);
}

static void build_fewer(struct cavs_model *m)
{
    build_blocks(m, BLOCKS - 1);
}

static const struct zoo_entry selected = {"selected", build_selected, {NULL}},
                              fewer = {"fewer", build_fewer, {NULL}};

static const struct zoo_entry several = {"wide", build, {NULL}},
                              alone = {"alone", build_alone, {NULL}};

/* Batches of so many samples of so many rows.  clip: 0, or so large that it does nothing but want
 * the norm before the update.  Tasks that were submitted. */
static int64_t train_many(const struct zoo_entry *entry, int samples, int rows, int workers,
                          float grain, float clip, struct values *values)
{
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options o = cavs_session_defaults();
    const int batch[SAMPLES] = {0, 1, 2, 3, 4};
    char text[32];
    const char *texts[SAMPLES] = {text, text, text, text, text};
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_stats stats;
    struct trial t;

    snprintf(text, sizeof text, "flat:%d", rows);
    r.workers = workers;
    o.grain = grain;
    o.shards = samples > 1 ? 3 : 0;
    o.clip = clip;
    o.optimizer = CAVS_ADAM;
    trial_open(&t, zoo_model(entry), texts, samples, NULL);
    check_ok(cavs_runtime_create(&r, &rt));
    check_ok(cavs_session_create(rt, t.model, &o, &s));
    for (int i = 0; i < BATCHES; i++)
        check_ok(cavs_session_train(s, t.data, batch, samples));
    for (int i = 0; i < PARAMS; i++) {
        struct cavs_param *p = cavs_model_find_param(t.model, names[i]);

        if (p)
            check_ok(cavs_session_get_param(s, p, values->of[i]));
    }
    cavs_session_stats(s, &stats);
    cavs_session_destroy(s);
    check_ok(cavs_runtime_destroy(rt));
    trial_close(&t);
    return stats.tasks;
}

static int64_t train(const struct zoo_entry *entry, int rows, int workers, float grain, float clip,
                     struct values *values)
{
    return train_many(entry, 1, rows, workers, grain, clip, values);
}

static struct values before, made;

static void check_same(const struct zoo_entry *entry, int rows, int workers, float grain)
{
    memset(&before, 0, sizeof before);
    memset(&made, 0, sizeof made);
    train(entry, rows, 1, grain, 1e30f, &before);
    train(entry, rows, workers, grain, 0, &made);
    assert_memory_equal(&before, &made, sizeof made);
}

static void the_bits_of_gradients_made_before(void **unused)
{
    (void)unused;
    for (int workers = 1; workers <= 2; workers++) {
        check_same(&several, 1, workers, 1e-7f);
        check_same(&several, 23, workers, 1e-7f);
        check_same(&several, MOST_ROWS, workers, 1e-7f);
    }
}

static void the_same_where_tasks_are_joined(void **unused)
{
    (void)unused;
    check_same(&several, 23, 1, 0);
    check_same(&several, 23, 2, 0);
}

static void with_what_its_task_adds_up_besides(void **unused)
{
    (void)unused;
    for (int workers = 1; workers <= 2; workers++)
        check_same(&alone, 23, workers, 1e-7f);
    assert_true(before.of[2][0] != 0);
}

/* Of W and of V; what is tied has one anyway. */
static void of_more_rows_by_tasks_of_their_own(void **unused)
{
    int64_t few = train(&several, MOST_ROWS, 1, 1e-7f, 0, &made),
            many = train(&several, MOST_ROWS + 1, 1, 1e-7f, 0, &made);

    (void)unused;
    assert_int_equal(many - few, 2 * BATCHES);
}

static void the_bits_of_each_shards_gradient_of_blocks(void **unused)
{
    (void)unused;
    for (int workers = 1; workers <= 3; workers++) {
        memset(&before, 0, sizeof before);
        memset(&made, 0, sizeof made);
        train_many(&selected, SAMPLES, 700, 1, 1e-7f, 1e30f, &before);
        train_many(&selected, SAMPLES, 700, workers, 1e-7f, 0, &made);
        assert_memory_equal(&before, &made, sizeof made);
        assert_true(before.of[2][0] != 0);
    }
}

static void of_fewer_blocks_by_tasks_of_their_own(void **unused)
{
    int64_t many = train_many(&selected, SAMPLES, 90, 1, 1e-7f, 0, &made),
            few = train_many(&fewer, SAMPLES, 90, 1, 1e-7f, 0, &made);

    (void)unused;
    assert_true(few - many >= BATCHES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_bits_of_gradients_made_before),
                                       cmocka_unit_test(the_same_where_tasks_are_joined),
                                       cmocka_unit_test(with_what_its_task_adds_up_besides),
                                       cmocka_unit_test(of_more_rows_by_tasks_of_their_own),
                                       cmocka_unit_test(the_bits_of_each_shards_gradient_of_blocks),
                                       cmocka_unit_test(of_fewer_blocks_by_tasks_of_their_own)};

    return cmocka_run_group_tests_name("made_gradients", tests, NULL, NULL);
}
