/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tape_cuts.c - where runs of recorded symbols are cut, and so which blocks there are, does
 * not depend on what was recorded first, nor on who records.
 */
#include <stdlib.h>

#include "core/tape/tape.h"
#include "tests/random.h"
#include "tests/trial.h"

enum { WIDTH = 4, WORDS = 9, MOST_CHILDREN = 8, BATCHES = 6, TREES = 8, ROUNDS = 4, ORDERS = 12 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U, *F;
    struct cavs_session *s;
    struct cavs_tape *t;
    uint64_t seed;
};

static void open_scene(struct scene *a)
{
    struct cavs_tape_options tape = cavs_tape_defaults();

    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    a->F = cavs_model_param(a->m, "F", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(a->m));
    tape.blocks_after = 2;
    check_ok(cavs_session_create(trial_runtime, a->m, NULL, &a->s));
    check_ok(cavs_tape_create(a->s, &tape, &a->t));
}

static void close_scene(struct scene *a)
{
    cavs_tape_destroy(a->t);
    cavs_session_destroy(a->s);
    cavs_model_destroy(a->m);
}

/* ---- trees, of which leaves and inner vertices share some code ---- */

static struct cavs_symbol *sum(struct scene *a, int n, struct cavs_symbol *const *xs)
{
    return cavs_sum_children(cavs_tape_list(a->t, n, xs));
}

static struct cavs_symbol *vertex(struct scene *a, int n, struct cavs_symbol *const *child)
{
    struct cavs_symbol *word, *x, *c, *kept[MOST_CHILDREN];

    word = cavs_lookup(a->E, cavs_tape_id(a->t, random_int(&a->seed, 0, WORDS - 1)));
    x = cavs_matmul(word, a->U);
    if (n > 0)
        x = cavs_add(x, cavs_matmul(sum(a, n, child), a->U));
    c = cavs_mul(cavs_sigmoid(x), cavs_tanh(x));
    for (int k = 0; k < n; k++)
        kept[k] = cavs_mul(cavs_sigmoid(cavs_matmul(child[k], a->F)), child[k]);
    if (n > 0)
        c = cavs_add(c, sum(a, n, kept));
    return cavs_mul(cavs_sigmoid(x), cavs_tanh(c));
}

/* Of about so many vertices. */
static struct cavs_symbol *tree(struct scene *a, int size)
{
    struct cavs_symbol *child[MOST_CHILDREN];
    int n = 0;

    for (int left = size - 1; left > 0 && n < MOST_CHILDREN; n++) {
        int taken = random_int(&a->seed, 1, left);

        child[n] = tree(a, taken);
        left -= taken;
    }
    return vertex(a, n, child);
}

/* Batch i, which is the same whenever it is recorded: V_t that it had. */
static int64_t train(struct scene *a, int i)
{
    struct cavs_tape_stats before, after;

    a->seed = (uint64_t)(i + 1) * 7919;
    cavs_tape_stats(a->t, &before);
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
    for (int k = 0; k < TREES; k++) {
        struct cavs_function *f = cavs_tape_sample(a->t);

        cavs_loss(f, "loss", cavs_sum(tree(a, random_int(&a->seed, 2, 30))), NULL);
    }
    check_ok(cavs_tape_finish(a->t));
    cavs_tape_stats(a->t, &after);
    return after.batching_tasks - before.batching_tasks;
}

static void shuffle(int *batches, uint64_t seed)
{
    for (int i = 0; i < BATCHES; i++)
        batches[i] = i;
    for (int i = BATCHES - 1; i > 0; i--) {
        int k = random_int(&seed, 0, i), x = batches[i];

        batches[i] = batches[k];
        batches[k] = x;
    }
}

/* V_t of all batches, when blocks are what they come to be. */
static int64_t batched_in_order(uint64_t seed)
{
    int batches[BATCHES];
    int64_t n = 0;
    struct scene a;

    open_scene(&a);
    shuffle(batches, seed);
    for (int round = 0; round < ROUNDS; round++) {
        n = 0;
        for (int i = 0; i < BATCHES; i++)
            n += train(&a, batches[i]);
    }
    close_scene(&a);
    return n;
}

static void blocks_do_not_depend_on_what_was_recorded_first(void **unused)
{
    int64_t first = batched_in_order(1);

    (void)unused;
    for (uint64_t seed = 2; seed <= ORDERS; seed++)
        assert_int_equal(batched_in_order(seed), first);
}

/* ---- samples that read one another ---- */

static int record_tanh(struct cavs_tape *t, int i, void *user)
{
    struct cavs_symbol **x = user;

    (void)i;
    *x = cavs_tanh(cavs_constant(cavs_tape_function(t), WIDTH, 0.5f));
    return 0;
}

/* Another sample, or the rest of this one, begins with what reads it.  side_by_side: which
 * cavs_tape_record() has recorded. */
static void check_ends(bool side_by_side, bool resumed)
{
    struct cavs_symbol *x = NULL, *y;
    struct scene a;

    open_scene(&a);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
    if (side_by_side)
        check_ok(cavs_tape_record(a.t, 1, record_tanh, &x));
    else if (cavs_tape_sample(a.t))
        record_tanh(a.t, 0, &x);
    assert_non_null(resumed ? cavs_tape_resume(a.t, 0) : cavs_tape_sample(a.t));
    y = cavs_sigmoid(x);
    assert_int_equal(cavs__entry_of(&a.t->recording, x)->run, x->number);
    assert_int_equal(cavs__entry_of(&a.t->recording, y)->run, y->number);
    close_scene(&a);
}

static void a_run_ends_with_its_sample_whoever_reads_it(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        check_ends(i & 1, i & 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_not_depend_on_what_was_recorded_first),
        cmocka_unit_test(a_run_ends_with_its_sample_whoever_reads_it),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("cuts of runs", tests, trial_runtime_up, trial_runtime_down);
}
