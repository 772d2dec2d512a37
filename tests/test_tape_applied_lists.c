/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tape_applied_lists.c - declared functions over lists, applied on tapes: whatever the number
 * of children or entries is, they are batched together, and are what operators one by one are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tape/tape.h"
#include "tests/random.h"
#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 20, WORDS = 7, CLASSES = 3, MOST_VERTICES = 64, MANY = 300 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U, *F, *b, *V;
    struct cavs_stage *stage;
    struct cavs_function *leaf, *cell, *bag, *both;
    struct cavs_session *s;
    struct cavs_tape *t;
};

/* ---- the network, declared ---- */

static void declare_state(struct cavs_function *f, struct cavs_symbol *c, struct cavs_symbol *h)
{
    struct cavs_symbol *state[] = {c, h};

    cavs_scatter(f, cavs_concat(2, state));
    cavs_push(f, "h", h);
}

static void declare_leaf(struct scene *a)
{
    struct cavs_symbol *x = cavs_lookup(a->E, cavs_pull_ids(a->leaf, "word"));

    declare_state(a->leaf, x, cavs_tanh(x));
}

/* What is in common to both ways: from the sum of the children's h, and that of what is kept. */
static struct cavs_symbol *memory(struct scene *a, struct cavs_symbol *h, struct cavs_symbol *kept)
{
    return cavs_add(cavs_tanh(cavs_affine(h, a->U, a->b)), kept);
}

/* The child-sum cell: a gate for each child. */
static void declare_cell(struct scene *a)
{
    struct cavs_symbol *child[2] = {NULL, NULL}, *gate, *c;

    cavs_split(cavs_each_child(a->cell), 2, child);
    gate = cavs_sigmoid(cavs_affine(child[1], a->F, a->b));
    c = memory(a, cavs_sum_children(child[1]), cavs_sum_children(cavs_mul(gate, child[0])));
    declare_state(a->cell, c, cavs_tanh(c));
}

/* Of words that the vertex brings, in the light of one child: attention, mean and largest. */
static void declare_bag(struct scene *a)
{
    struct cavs_symbol *child[2] = {NULL, NULL},
                       *x = cavs_lookup(a->E, cavs_pull_list_ids(a->bag, "words")), *share, *c;

    cavs_split(cavs_gather(a->bag, 0), 2, child);
    share = cavs_softmax_children(cavs_sum(cavs_mul(cavs_matmul(x, a->U), child[1])));
    c = cavs_add(cavs_sum_children(cavs_mul(share, x)), cavs_mean_children(cavs_mul(x, x)));
    c = cavs_add(c, cavs_add(child[0], cavs_max_children(x)));
    declare_state(a->bag, c, cavs_tanh(c));
}

/* Children by number and all alike: that is unfolded for each number of them. */
static void declare_both(struct scene *a)
{
    struct cavs_symbol *first[2] = {NULL, NULL}, *child[2] = {NULL, NULL}, *c;

    cavs_split(cavs_gather(a->both, 0), 2, first);
    cavs_split(cavs_each_child(a->both), 2, child);
    c = cavs_add(first[0], cavs_sum_children(cavs_mul(child[0], first[1])));
    declare_state(a->both, c, cavs_tanh(c));
}

static void open_scene(struct scene *a, struct cavs_runtime *rt, int blocks_after)
{
    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-0.3f, 0.3f));
    a->F = cavs_model_param(a->m, "F", WIDTH, WIDTH, CAVS_UNIFORM(-0.3f, 0.3f));
    a->b = cavs_model_param(a->m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    a->V = cavs_model_param(a->m, "V", WIDTH, CLASSES, CAVS_UNIFORM(-1, 1));
    a->stage = cavs_stage_create(a->m, "tree", 2 * WIDTH);
    a->leaf = cavs_function_create(a->stage, "leaf");
    a->cell = cavs_function_create(a->stage, "cell");
    a->bag = cavs_function_create(a->stage, "bag");
    a->both = cavs_function_create(a->stage, "both");
    declare_leaf(a);
    declare_cell(a);
    declare_bag(a);
    declare_both(a);
    check_ok(cavs_model_finish(a->m));
    tape_scene_open(rt, a->m, 3, blocks_after, &a->s, &a->t);
}

static void close_scene(struct scene *a)
{
    tape_scene_close(a->m, a->s, a->t);
}

/* ---- two ways to record it ---- */

struct vertex {
    struct cavs_symbol *c, *h, *state;
};

static struct vertex applied(struct scene *a, const struct cavs_function *f, struct cavs_named *in,
                             int n, struct cavs_symbol *const *children)
{
    struct cavs_named h = {"h", NULL};
    struct cavs_application application = {in != NULL, in, n, children, 1, &h};
    struct vertex v = {.state = cavs_tape_apply(a->t, f, &application)};

    v.h = h.x;
    v.c = v.state ? cavs_slice(v.state, 0, WIDTH) : NULL;
    return v;
}

static struct vertex written(struct cavs_symbol *c, struct cavs_symbol *h)
{
    struct cavs_symbol *state[] = {c, h};

    return (struct vertex){c, h, cavs_concat(2, state)};
}

static struct vertex leaf(struct scene *a, bool apply, int word)
{
    struct cavs_named in = {"word", cavs_tape_id(a->t, word % WORDS)};
    struct cavs_symbol *x;

    if (apply)
        return applied(a, a->leaf, &in, 0, NULL);
    x = cavs_lookup(a->E, in.x);
    return written(x, cavs_tanh(x));
}

static struct vertex cell(struct scene *a, bool apply, int n, const struct vertex *child)
{
    struct cavs_function *f = cavs_tape_function(a->t);
    struct cavs_symbol *states[MANY], *h, *kept, *c;

    for (int k = 0; k < n; k++)
        states[k] = child[k].state;
    if (apply)
        return applied(a, a->cell, NULL, n, states);
    h = kept = cavs_constant(f, WIDTH, 0);
    for (int k = 0; k < n; k++) {
        h = cavs_add(h, child[k].h);
        kept =
            cavs_add(kept, cavs_mul(cavs_sigmoid(cavs_affine(child[k].h, a->F, a->b)), child[k].c));
    }
    c = memory(a, h, kept);
    return written(c, cavs_tanh(c));
}

static struct vertex bag(struct scene *a, bool apply, int n, int first, struct vertex child)
{
    struct cavs_symbol *x[MANY], *list, *share, *c;
    struct cavs_named in = {"words", NULL};

    for (int k = 0; k < n; k++)
        x[k] = cavs_tape_id(a->t, (first + k) % WORDS);
    if (apply) {
        in.x = n > 0 ? cavs_tape_list(a->t, n, x) : NULL;
        return applied(a, a->bag, &in, 1, &child.state);
    }
    c = child.c;
    if (n > 0) {
        list = cavs_lookup(a->E, cavs_tape_list(a->t, n, x));
        share = cavs_softmax_children(cavs_sum(cavs_mul(cavs_matmul(list, a->U), child.h)));
        c = cavs_add(c, cavs_add(cavs_sum_children(cavs_mul(share, list)),
                                 cavs_mean_children(cavs_mul(list, list))));
        c = cavs_add(c, cavs_max_children(list));
    }
    return written(c, cavs_tanh(c));
}

/* As many vertices, each over some of those before it, of which one may be there twice. */
static struct vertex random_graph(struct scene *a, bool apply, uint64_t *seed, int vertices)
{
    struct vertex x[MOST_VERTICES], children[6];

    for (int n = 0; n < vertices; n++) {
        int entries = random_int(seed, 0, 6);

        for (int k = 0; k < entries && n > 0; k++)
            children[k] = x[random_int(seed, 0, n - 1)];
        if (n < 2)
            x[n] = leaf(a, apply, n);
        else if (n % 4 == 3)
            x[n] = bag(a, apply, entries, n, x[random_int(seed, 0, n - 1)]);
        else
            x[n] = cell(a, apply, entries, children);
    }
    return x[vertices - 1];
}

static void classify(struct scene *a, struct cavs_function *f, struct cavs_symbol *h, int label)
{
    tape_scene_classify(a->t, f, h, a->V, label);
}

/* ---- batching ---- */

/* Rows and batching tasks of signatures of the function so far, and how many signatures it has. */
static int count(const struct scene *a, const struct cavs_function *f, int64_t *rows, int64_t *vts)
{
    const struct cavs__signatures *all = &a->t->recording.signatures;
    int n = 0;

    *rows = *vts = 0;
    for (int i = 0; i < all->n; i++) {
        if (all->all[i]->like.op != CAVS__OP_APPLY ||
            strcmp(all->all[i]->function->name, f->name) != 0)
            continue;
        *rows += all->all[i]->rows;
        *vts += all->all[i]->vts;
        n++;
    }
    return n;
}

static void functions_over_any_number_of_children_are_one_batching_task(void **unused)
{
    static const int lengths[] = {0, 1, 2, 5, 9, MANY};
    struct vertex x[MANY];
    struct cavs_function *f;
    int64_t rows, vts;
    struct scene a;

    (void)unused;
    open_scene(&a, trial_runtime, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    f = cavs_tape_sample(a.t);
    for (int k = 0; k < MANY; k++)
        x[k] = leaf(&a, true, k);
    for (int i = 0; i < 6; i++) {
        classify(&a, f, cell(&a, true, lengths[i], x).h, i % CLASSES);
        classify(&a, f, bag(&a, true, lengths[i], i, x[i]).h, i % CLASSES);
    }
    check_ok(cavs_tape_finish(a.t));
    assert_int_equal(count(&a, a.cell, &rows, &vts), 1);
    assert_int_equal(rows, 6);
    assert_int_equal(vts, 1);
    assert_int_equal(count(&a, a.bag, &rows, &vts), 1);
    assert_int_equal(rows, 6);
    assert_int_equal(vts, 1);
    close_scene(&a);
}

static void children_by_number_and_all_alike_are_unfolded_by_number(void **unused)
{
    struct cavs_symbol *states[3];
    struct cavs_function *f;
    int64_t rows, vts;
    struct scene a;

    (void)unused;
    open_scene(&a, trial_runtime, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    f = cavs_tape_sample(a.t);
    for (int n = 1; n <= 3; n++) {
        states[n - 1] = leaf(&a, true, n).state;
        for (int i = 0; i < 2; i++)
            classify(&a, f, applied(&a, a.both, NULL, n, states).h, 0);
    }
    check_ok(cavs_tape_finish(a.t));
    assert_int_equal(count(&a, a.both, &rows, &vts), 3);
    assert_true(rows == 6 && vts == 3);
    close_scene(&a);
}

/* ---- values and gradients ---- */

enum { SAMPLES = 5, NUMBERS = (WORDS + 2 * WIDTH + 1) * WIDTH };

/* Some numbers are asked for in the middle, and some recorded in vain. */
static void record_graphs(struct scene *a, enum cavs_tape_run run, bool apply, uint64_t seed,
                          float *h)
{
    check_ok(cavs_tape_begin(a->t, run));
    for (int i = 0; i < SAMPLES; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct vertex x = random_graph(a, apply, &seed, 8 + 8 * i);
        int64_t mark = cavs_tape_mark(a->t);
        float *to = h + i * WIDTH;

        classify(a, f, x.h, i % CLASSES);
        x = random_graph(a, apply, &seed, 12);
        check_ok(cavs_tape_values(a->t, 1, &x.h, &to));
        if (i % 2)
            check_ok(cavs_tape_rewind(a->t, mark));
        x = random_graph(a, apply, &seed, 14);
        classify(a, f, x.h, i % CLASSES);
    }
    check_ok(cavs_tape_finish(a->t));
}

/* Gradients, or values, of what is trained in common. */
static void take(const struct scene *a,
                 int (*get)(struct cavs_session *, const struct cavs_param *, float *), float *to)
{
    check_ok(get(a->s, a->E, to));
    check_ok(get(a->s, a->U, to + WORDS * WIDTH));
    check_ok(get(a->s, a->F, to + (WORDS + WIDTH) * WIDTH));
    check_ok(get(a->s, a->b, to + (WORDS + 2 * WIDTH) * WIDTH));
}

static void check_numbers(int n, const float *got, const float *want)
{
    for (int i = 0; i < n; i++)
        assert_true(fabsf(got[i] - want[i]) < 3e-5f * (1 + fabsf(want[i])));
}

static void random_graphs_have_the_gradients_of_operators_one_by_one(void **unused)
{
    static float want[NUMBERS], got[NUMBERS], h[2][SAMPLES * WIDTH];
    struct scene of[2];

    (void)unused;
    for (int blocks = 0; blocks < 2; blocks++) {
        open_scene(&of[0], trial_runtime, 0);
        open_scene(&of[1], trial_runtime, blocks);
        for (int k = 0; k < 6; k++) {
            for (int apply = 0; apply < 2; apply++)
                record_graphs(&of[apply], CAVS_TAPE_GRADIENT, apply, (uint64_t)(k / 2), h[apply]);
            take(&of[0], cavs_session_get_gradient, want);
            take(&of[1], cavs_session_get_gradient, got);
            check_numbers(SAMPLES * WIDTH, h[1], h[0]);
            check_numbers(NUMBERS, got, want);
        }
        close_scene(&of[0]);
        close_scene(&of[1]);
    }
}

/* A sample has the same gradients whether functions are applied in it or written out. */
static void check_both_ways(void (*record)(struct scene *a, struct cavs_function *f, bool apply))
{
    static float numbers[2][NUMBERS];

    for (int apply = 0; apply < 2; apply++) {
        struct scene a;

        open_scene(&a, trial_runtime, 0);
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
        record(&a, cavs_tape_sample(a.t), apply);
        check_ok(cavs_tape_finish(a.t));
        take(&a, cavs_session_get_gradient, numbers[apply]);
        close_scene(&a);
    }
    check_numbers(NUMBERS, numbers[1], numbers[0]);
}

/* A list longer than a tile, with others before and behind it. */
static void record_long_lists(struct scene *a, struct cavs_function *f, bool apply)
{
    struct vertex x[MANY], y;

    for (int k = 0; k < MANY; k++)
        x[k] = leaf(a, apply, k);
    for (int i = 0; i < 5; i++) {
        y = cell(a, apply, i == 2 ? MANY : i, x);
        classify(a, f, bag(a, apply, i == 1 ? MANY : i, i, y).h, i % CLASSES);
    }
}

static void long_lists_have_the_gradients_of_operators_one_by_one(void **unused)
{
    (void)unused;
    check_both_ways(record_long_lists);
}

/* A child that is missing is zeros, and one that begins elsewhere in a line is not read as the
 * others are. */
static void record_unlike_children(struct scene *a, struct cavs_function *f, bool apply)
{
    struct cavs_symbol *states[2] = {NULL, NULL}, *wide[2];
    struct vertex x[3], moved;

    x[0] = leaf(a, apply, 1);
    wide[0] = wide[1] = x[0].state;
    moved.state = cavs_slice(cavs_concat(2, wide), WIDTH, 2 * WIDTH);
    moved.c = cavs_slice(moved.state, 0, WIDTH);
    moved.h = cavs_slice(moved.state, WIDTH, WIDTH);
    x[1] = moved;
    x[2] = written(cavs_constant(f, WIDTH, 0), cavs_constant(f, WIDTH, 0));
    classify(a, f, cell(a, apply, 2, x).h, 0);
    states[0] = x[1].state;
    classify(a, f, apply ? applied(a, a->cell, NULL, 2, states).h : cell(a, false, 2, x + 1).h, 1);
}

static void children_that_are_not_alike_are_applied_all_the_same(void **unused)
{
    (void)unused;
    check_both_ways(record_unlike_children);
}

static void record_missing_children(struct scene *a, struct cavs_function *f, bool apply)
{
    struct vertex missing = {NULL, NULL, NULL};

    if (!apply)
        missing = written(cavs_constant(f, WIDTH, 0), cavs_constant(f, WIDTH, 0));
    for (int n = 0; n < 4; n++)
        classify(a, f, bag(a, apply, n, n, missing).h, n % CLASSES);
}

static void entries_beside_a_child_that_is_missing_read_zeros(void **unused)
{
    (void)unused;
    trial_compile(true); /* generated code trusts that there is a row */
    check_both_ways(record_missing_children);
    trial_compile(false);
}

static void a_child_of_another_width_is_told(void **unused)
{
    struct cavs_symbol *states[2];
    struct scene a;

    (void)unused;
    open_scene(&a, trial_runtime, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    assert_non_null(cavs_tape_sample(a.t));
    states[0] = leaf(&a, true, 1).state;
    states[1] = cavs_slice(states[0], 0, WIDTH);
    assert_null(applied(&a, a.cell, NULL, 2, states).state);
    check_refused(cavs_tape_finish(a.t), CAVS_ESHAPE, "child of function cell", "20, not 40",
                  "test_tape_applied_lists.c:");
    close_scene(&a);
}

/* ---- workers ---- */

static void train(int workers, float *values)
{
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    float h[SAMPLES * WIDTH];
    struct cavs_runtime *rt;
    struct scene a;

    r.workers = workers;
    r.leave_to_workers = true;
    check_ok(cavs_runtime_create(&r, &rt));
    open_scene(&a, rt, 1);
    for (int k = 0; k < 5; k++)
        record_graphs(&a, CAVS_TAPE_TRAIN, true, (uint64_t)k, h);
    take(&a, cavs_session_get_param, values);
    close_scene(&a);
    cavs_runtime_destroy(rt);
}

static void workers_do_not_show_in_the_bits_of_applied_lists(void **unused)
{
    static float first[NUMBERS], next[NUMBERS];

    (void)unused;
    trial_runtime_down(NULL);
    train(1, first);
    for (int workers = 2; workers <= 3; workers++) {
        train(workers, next);
        assert_memory_equal(first, next, sizeof first);
    }
    assert_int_equal(trial_runtime_up(NULL), 0);
}

/* ---- lists that are there no more ---- */

/* A list of words behind so many other symbols. */
static struct cavs_symbol *list_words(struct scene *a, int before)
{
    struct cavs_symbol *word[3];

    for (int i = 0; i < before; i++)
        cavs_tape_id(a->t, 0);
    for (int i = 0; i < 3; i++)
        word[i] = cavs_tape_id(a->t, i);
    return cavs_tape_list(a->t, 3, word);
}

static struct vertex apply_bag(struct scene *a, struct cavs_symbol *words)
{
    struct cavs_named in = {"words", words};
    struct cavs_symbol *child = cavs_constant(cavs_tape_function(a->t), 2 * WIDTH, 0);

    return applied(a, a->bag, &in, 1, &child);
}

/* Of a recording long ago, whose memory has other numbers by now; and one that was taken back. */
static void a_list_that_is_there_no_more_is_refused(void **unused)
{
    static float row[1 << 12];
    struct cavs_symbol *words = NULL;
    struct scene a;
    int64_t mark;

    (void)unused;
    for (size_t j = 0; j < sizeof row / sizeof *row; j++)
        row[j] = 1;
    open_scene(&a, trial_runtime, 0);
    for (int i = 0; i < 3; i++) {
        check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
        assert_non_null(cavs_tape_sample(a.t));
        if (i == 0)
            words = list_words(&a, MANY);
        else
            assert_non_null(cavs_tape_row(a.t, sizeof row / sizeof *row, row));
    }
    assert_null(apply_bag(&a, words).state);
    check_refused(cavs_tape_finish(a.t), CAVS_ESTATE, "input words", "long ago", NULL);

    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_EVALUATE));
    assert_non_null(cavs_tape_sample(a.t));
    list_words(&a, 0);
    mark = cavs_tape_mark(a.t);
    words = list_words(&a, 0);
    check_ok(cavs_tape_rewind(a.t, mark));
    assert_null(apply_bag(&a, words).state);
    check_refused(cavs_tape_finish(a.t), CAVS_ESTATE, "input words", "was taken back", NULL);
    close_scene(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_over_any_number_of_children_are_one_batching_task),
        cmocka_unit_test(children_by_number_and_all_alike_are_unfolded_by_number),
        cmocka_unit_test(random_graphs_have_the_gradients_of_operators_one_by_one),
        cmocka_unit_test(long_lists_have_the_gradients_of_operators_one_by_one),
        cmocka_unit_test(children_that_are_not_alike_are_applied_all_the_same),
        cmocka_unit_test(entries_beside_a_child_that_is_missing_read_zeros),
        cmocka_unit_test(a_child_of_another_width_is_told),
        cmocka_unit_test(workers_do_not_show_in_the_bits_of_applied_lists),
        cmocka_unit_test(a_list_that_is_there_no_more_is_refused),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("applied lists on tapes", tests, trial_runtime_up,
                                       trial_runtime_down);
}
