/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tape_lists.c - sums, means and the largest of lists of recorded symbols: those of different
 * length are batched together, and are what operators one by one are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tape/tape.h"
#include "tests/random.h"
#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 20, WORDS = 7, MANY = 1000 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U, *V;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static void open_scene(struct scene *a, struct cavs_runtime *rt, int shards, int blocks_after)
{
    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-0.3f, 0.3f));
    a->V = cavs_model_param(a->m, "V", WIDTH, 3, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(a->m));
    tape_scene_open(rt, a->m, shards, blocks_after, &a->s, &a->t);
}

static void close_scene(struct scene *a)
{
    tape_scene_close(a->m, a->s, a->t);
}

static struct cavs_symbol *word(struct scene *a, int id)
{
    return cavs_lookup(a->E, cavs_tape_id(a->t, id % WORDS));
}

static void classify(struct scene *a, struct cavs_function *f, struct cavs_symbol *h, int label)
{
    tape_scene_classify(a->t, f, h, a->V, label);
}

/* ---- two ways to write what is made of a list ---- */

typedef struct cavs_symbol *of_list(struct scene *a, int n, struct cavs_symbol *const *xs);

static struct cavs_symbol *listed(struct scene *a, int n, struct cavs_symbol *const *xs)
{
    return cavs_sum_children(cavs_tape_list(a->t, n, xs));
}

static struct cavs_symbol *added(struct scene *a, int n, struct cavs_symbol *const *xs)
{
    struct cavs_symbol *sum = xs[0];

    (void)a;
    for (int i = 1; i < n; i++)
        sum = cavs_add(sum, xs[i]);
    return sum;
}

static struct cavs_symbol *mean_of(struct scene *a, int n, struct cavs_symbol *const *xs)
{
    return cavs_mean_children(cavs_tape_list(a->t, n, xs));
}

static struct cavs_symbol *shared_out(struct scene *a, int n, struct cavs_symbol *const *xs)
{
    return cavs_scale(added(a, n, xs), 1.0f / (float)n);
}

static struct cavs_symbol *largest_of(struct scene *a, int n, struct cavs_symbol *const *xs)
{
    return cavs_max_children(cavs_tape_list(a->t, n, xs));
}

/* Of equal ones the first. */
static struct cavs_symbol *compared(struct scene *a, int n, struct cavs_symbol *const *xs)
{
    struct cavs_symbol *x = xs[0];

    (void)a;
    for (int i = 1; i < n; i++)
        x = cavs_max(xs[i], x);
    return x;
}

enum { WAYS = 3 };
static of_list *const at_once[WAYS] = {listed, mean_of, largest_of};
static of_list *const one_by_one[WAYS] = {added, shared_out, compared};

/* Rows and batching tasks of such symbols so far. */
static void count_lists(const struct scene *a, int64_t *rows, int64_t *vts)
{
    const struct cavs__signatures *all = &a->t->recording.signatures;

    *rows = *vts = 0;
    for (int i = 0; i < all->n; i++) {
        if (all->all[i]->nlisted > 0) {
            *rows += all->all[i]->rows;
            *vts += all->all[i]->vts;
        }
    }
}

/* ---- trees ---- */

enum { MOST_CHILDREN = 6 };

/* A vertex over what its children give each, of which one may be there twice. */
static struct cavs_symbol *vertex(struct scene *a, of_list *of, int n,
                                  struct cavs_symbol **children)
{
    for (int i = 0; i < n; i++)
        children[i] = cavs_tanh(cavs_matmul(children[i], a->U));
    return cavs_tanh(of(a, n, children));
}

/* As many vertices, each over some of those before it. */
static struct cavs_symbol *random_graph(struct scene *a, of_list *of, uint64_t *seed, int vertices)
{
    struct cavs_symbol *x[64], *children[MOST_CHILDREN];
    int n = 3;

    for (int i = 0; i < n; i++)
        x[i] = word(a, random_int(seed, 0, WORDS - 1));
    for (; n < vertices; n++) {
        int arity = random_int(seed, 1, MOST_CHILDREN);

        for (int k = 0; k < arity; k++)
            children[k] = x[random_int(seed, 0, n - 1)];
        x[n] = vertex(a, of, arity, children);
    }
    return x[n - 1];
}

/* ---- batching ---- */

/* One sample that sums up as many words each. */
static void record_lists(struct scene *a, of_list *of, int n, const int *lengths)
{
    struct cavs_symbol *xs[16];
    struct cavs_function *f;

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
    f = cavs_tape_sample(a->t);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < lengths[i]; k++)
            xs[k] = word(a, i + k);
        classify(a, f, of(a, lengths[i], xs), i % 3);
    }
    check_ok(cavs_tape_finish(a->t));
}

static void lists_of_different_length_are_one_batching_task(void **unused)
{
    static const int lengths[] = {2, 3, 5, 9};
    struct cavs_tape_stats stats;
    int64_t rows, vts;
    struct scene a;

    (void)unused;
    for (int way = 0; way < WAYS; way++) {
        open_scene(&a, trial_runtime, 1, 0);
        record_lists(&a, at_once[way], 4, lengths);
        count_lists(&a, &rows, &vts);
        assert_int_equal(rows, 4);
        assert_int_equal(vts, 1);
        cavs_tape_stats(a.t, &stats);
        assert_int_equal(stats.batching_tasks, 5); /* lookups, lists, products, losses, metrics */
        close_scene(&a);
    }
}

/* Cells over so many words each, least and most of them. */
static void train_cells(struct scene *a, of_list *of, int least, int most, int recordings)
{
    struct cavs_symbol *xs[MOST_CHILDREN];

    for (int i = 0; i < recordings; i++) {
        check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
        for (int j = 0; j < 8; j++) {
            struct cavs_function *f = cavs_tape_sample(a->t);
            int n = least + j % (most - least + 1);

            for (int k = 0; k < n; k++)
                xs[k] = word(a, j + k);
            classify(a, f, cavs_tanh(cavs_matmul(of(a, n, xs), a->U)), j % 3);
        }
        check_ok(cavs_tape_finish(a->t));
    }
}

static void check_blocks(int way)
{
    static const char *const inside[WAYS] = {"results: add, add, matmul U, tanh",
                                             "results: add, add, mul, matmul U, tanh",
                                             "results: max, max, matmul U, tanh"};
    int64_t rows[3], vts[3];
    struct scene a;
    char *text;

    open_scene(&a, trial_runtime, 1, 1);
    train_cells(&a, at_once[way], 3, 3, 4);
    check_ok(cavs_tape_explain(a.t, &text));
    assert_non_null(strstr(text, inside[way]));
    free(text);
    count_lists(&a, &rows[0], &vts[0]);
    train_cells(&a, at_once[way], 3, 3, 1);
    count_lists(&a, &rows[1], &vts[1]);
    assert_int_equal(rows[1], rows[0]);

    train_cells(&a, at_once[way], 2, 5, 4);
    count_lists(&a, &rows[1], &vts[1]);
    train_cells(&a, at_once[way], 2, 5, 1);
    count_lists(&a, &rows[2], &vts[2]);
    assert_int_equal(rows[2] - rows[1], 8);
    assert_int_equal(vts[2] - vts[1], 1);
    check_ok(cavs_tape_explain(a.t, &text));
    assert_non_null(strstr(text, "results: matmul U, tanh"));
    free(text);
    close_scene(&a);
}

static void lists_of_one_length_are_in_blocks_and_others_stand_between_them(void **unused)
{
    (void)unused;
    for (int way = 0; way < WAYS; way++)
        check_blocks(way);
}

/* ---- values and gradients ---- */

/* Rows of the user's, whose sum is what the loss is made of by w. */
struct pencil {
    int n; /* entries */
    struct cavs_symbol *x[MANY];
    float *to[MANY];
    float row[MANY][WIDTH], gradient[MANY][WIDTH];
    float w[WIDTH], sum[WIDTH];
};

static void sum_by_pencil(struct pencil *p, int n)
{
    p->n = n;
    memset(p->sum, 0, sizeof p->sum);
    for (int i = 0; i < n; i++) {
        p->to[i] = p->gradient[i];
        for (int c = 0; c < WIDTH; c++) {
            p->row[i][c] = (float)((i * 7 + c) % 11) / 8;
            p->sum[c] += p->row[i][c];
        }
    }
    for (int c = 0; c < WIDTH; c++)
        p->w[c] = (float)c / 8 - 1;
}

/* Numbers are such that nothing is rounded. */
static void check_sum(struct scene *a, struct pencil *p)
{
    float got[WIDTH], *to = got;
    struct cavs_function *f;
    struct cavs_symbol *sum;

    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a->t);
    for (int i = 0; i < p->n; i++)
        p->x[i] = cavs_tape_row(a->t, WIDTH, p->row[i]);
    sum = listed(a, p->n, p->x);
    cavs_loss(f, "loss", cavs_sum(cavs_mul(sum, cavs_tape_row(a->t, WIDTH, p->w))), NULL);
    check_ok(cavs_tape_values(a->t, 1, &sum, &to));
    check_ok(cavs_tape_finish(a->t));
    assert_memory_equal(got, p->sum, sizeof got);
    check_ok(cavs_tape_gradients(a->t, p->n, p->x, p->to));
    for (int i = 0; i < p->n; i++)
        assert_memory_equal(p->gradient[i], p->w, sizeof p->w);
}

static void each_entry_gets_the_gradient_of_its_sum(void **unused)
{
    static const int lengths[] = {1, 2, 3, 33, MANY};
    struct pencil *p = calloc(1, sizeof *p);
    struct scene a;

    (void)unused;
    assert_non_null(p);
    for (int blocks = 0; blocks < 2; blocks++) {
        open_scene(&a, trial_runtime, 2, blocks);
        for (int i = 0; i < 10; i++) {
            sum_by_pencil(p, lengths[i % 5]);
            check_sum(&a, p);
        }
        close_scene(&a);
    }
    free(p);
}

/* Of row i, column c of n: the first of the largest, of which there are several. */
static float peak(int i, int c, int n)
{
    return i >= c % n && (i - c) % 3 == 0 ? 5 : (float)(i % 4);
}

static void check_largest(struct scene *a, struct pencil *p, int n)
{
    float got[WIDTH], *to = got;
    struct cavs_function *f;
    struct cavs_symbol *x;

    p->n = n;
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a->t);
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < WIDTH; c++)
            p->row[i][c] = peak(i, c, n);
        p->x[i] = cavs_tape_row(a->t, WIDTH, p->row[i]);
        p->to[i] = p->gradient[i];
    }
    x = largest_of(a, n, p->x);
    cavs_loss(f, "loss", cavs_sum(cavs_mul(x, cavs_tape_row(a->t, WIDTH, p->w))), NULL);
    check_ok(cavs_tape_values(a->t, 1, &x, &to));
    check_ok(cavs_tape_finish(a->t));
    check_ok(cavs_tape_gradients(a->t, n, p->x, p->to));
    for (int c = 0; c < WIDTH; c++) {
        int first = 0;

        for (int i = 1; i < n; i++)
            first = p->row[i][c] > p->row[first][c] ? i : first;
        assert_true(got[c] == p->row[first][c]);
        for (int i = 0; i < n; i++)
            assert_true(p->gradient[i][c] == (i == first ? p->w[c] : 0));
    }
}

static void the_first_of_the_largest_entries_gets_the_gradient(void **unused)
{
    static const int lengths[] = {1, 2, 3, 33, MANY};
    struct pencil *p = calloc(1, sizeof *p);
    struct scene a;

    (void)unused;
    assert_non_null(p);
    sum_by_pencil(p, 1);
    for (int blocks = 0; blocks < 2; blocks++) {
        open_scene(&a, trial_runtime, 2, blocks);
        for (int i = 0; i < 10; i++)
            check_largest(&a, p, lengths[i % 5]);
        close_scene(&a);
    }
    free(p);
}

static void an_entry_that_is_there_twice_counts_twice(void **unused)
{
    float x[2][WIDTH], got[3][WIDTH], *to[3] = {got[0], got[1], got[2]};
    struct cavs_symbol *in[3], *asked[3];
    struct cavs_function *f;
    struct scene a;

    (void)unused;
    for (int c = 0; c < WIDTH; c++) {
        x[0][c] = (float)c;
        x[1][c] = (float)(c * c);
    }
    open_scene(&a, trial_runtime, 2, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a.t);
    in[0] = in[2] = asked[0] = cavs_tape_row(a.t, WIDTH, x[0]);
    in[1] = asked[1] = cavs_tape_row(a.t, WIDTH, x[1]);
    asked[2] = listed(&a, 3, in);
    cavs_loss(f, "loss", cavs_sum(asked[2]), NULL);
    check_ok(cavs_tape_finish(a.t));
    check_ok(cavs_tape_values(a.t, 1, &asked[2], &to[2]));
    check_ok(cavs_tape_gradients(a.t, 2, asked, to));
    for (int c = 0; c < WIDTH; c++) {
        assert_true(got[0][c] == 2 && got[1][c] == 1);
        assert_true(got[2][c] == 2 * x[0][c] + x[1][c]);
    }
    close_scene(&a);
}

/* Columns from the begin of a line on or not, some that nothing trained is in, and constants. */
static void entries_need_not_be_alike(void **unused)
{
    float row[2 * WIDTH], got[3][5], *to[3] = {got[0], got[1], got[2]}, E[WORDS * WIDTH];
    struct cavs_symbol *x, *e, *in[3][3], *sums[3];
    struct cavs_function *f;
    struct scene a;

    (void)unused;
    for (int c = 0; c < 2 * WIDTH; c++)
        row[c] = (float)c;
    open_scene(&a, trial_runtime, 1, 0);
    check_ok(cavs_session_get_param(a.s, a.E, E));
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_GRADIENT));
    f = cavs_tape_sample(a.t);
    x = cavs_tape_row(a.t, 2 * WIDTH, row);
    e = word(&a, 0);
    for (int i = 0; i < 3; i++)
        in[i][0] = cavs_slice(e, 3, 5);
    in[0][1] = cavs_slice(x, 19, 5);
    in[0][2] = cavs_slice(x, 35, 5);
    in[1][1] = cavs_slice(x, 4, 5);
    in[2][1] = cavs_constant(f, 5, 4);
    for (int i = 0; i < 3; i++) {
        sums[i] = listed(&a, i == 0 ? 3 : 2, in[i]);
        cavs_loss(f, "loss", cavs_sum(sums[i]), NULL);
    }
    check_ok(cavs_tape_values(a.t, 3, sums, to));
    check_ok(cavs_tape_finish(a.t));
    for (int c = 0; c < 5; c++) {
        assert_true(fabsf(got[0][c] - (E[3 + c] + 19 + 35 + 2 * (float)c)) < 1e-5f);
        assert_true(fabsf(got[1][c] - (E[3 + c] + 4 + (float)c)) < 1e-5f);
        assert_true(fabsf(got[2][c] - (E[3 + c] + 4)) < 1e-5f);
    }
    check_ok(cavs_session_get_gradient(a.s, a.E, E));
    for (int c = 0; c < WIDTH; c++)
        assert_true(E[c] == (c >= 3 && c < 8 ? 3 : 0));
    close_scene(&a);
}

static void a_list_without_entries_is_refused(void **unused)
{
    struct scene a;

    (void)unused;
    open_scene(&a, trial_runtime, 1, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    assert_non_null(cavs_tape_sample(a.t));
    assert_null(cavs_tape_list(a.t, 0, NULL));
    check_refused(cavs_tape_finish(a.t), CAVS_EINVAL, "no entry", "test_tape_lists.c");
    close_scene(&a);
}

static void entries_of_another_width_are_refused_with_both(void **unused)
{
    struct cavs_symbol *in[2];
    struct scene a;

    (void)unused;
    open_scene(&a, trial_runtime, 1, 0);
    check_ok(cavs_tape_begin(a.t, CAVS_TAPE_TRAIN));
    assert_non_null(cavs_tape_sample(a.t));
    in[0] = word(&a, 1);
    in[1] = cavs_matmul(in[0], a.V);
    assert_null(cavs_tape_list(a.t, 2, in));
    check_refused(cavs_tape_finish(a.t), CAVS_ESHAPE, "entry 1", "width 3", "width 20",
                  "test_tape_lists.c:");
    record_lists(&a, listed, 1, (const int[]){2}); /* and goes on */
    close_scene(&a);
}

/* ---- random programs ---- */

enum { SAMPLES = 6, RECORDINGS = 5, NUMBERS = (WORDS + WIDTH) * WIDTH };

/* Some numbers are asked for in the middle, and some recorded in vain. */
static void record_graphs(struct scene *a, enum cavs_tape_run run, of_list *of, uint64_t seed,
                          bool values)
{
    float row[WIDTH], *to = row;

    check_ok(cavs_tape_begin(a->t, run));
    for (int i = 0; i < SAMPLES; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *h = random_graph(a, of, &seed, 8 + 4 * i);
        int64_t mark = cavs_tape_mark(a->t);

        h = random_graph(a, of, &seed, 10);
        if (values)
            check_ok(cavs_tape_values(a->t, 1, &h, &to));
        if (i % 2)
            check_ok(cavs_tape_rewind(a->t, mark));
        h = random_graph(a, of, &seed, 12);
        classify(a, f, h, i % 3);
    }
    check_ok(cavs_tape_finish(a->t));
}

static void take_gradients(struct scene *a, float *to)
{
    check_ok(cavs_session_get_gradient(a->s, a->E, to));
    check_ok(cavs_session_get_gradient(a->s, a->U, to + WORDS * WIDTH));
}

static void check_graphs(int way)
{
    static float want[NUMBERS], got[NUMBERS];
    struct scene of[2];

    for (int i = 0; i < 4; i++) {
        open_scene(&of[0], trial_runtime, 3, 0);
        open_scene(&of[1], trial_runtime, 3, i % 2);
        for (int k = 0; k < RECORDINGS; k++) {
            record_graphs(&of[0], CAVS_TAPE_GRADIENT, one_by_one[way], (uint64_t)(100 * i + k / 2),
                          i >= 2);
            record_graphs(&of[1], CAVS_TAPE_GRADIENT, at_once[way], (uint64_t)(100 * i + k / 2),
                          i >= 2);
            take_gradients(&of[0], want);
            take_gradients(&of[1], got);
            for (int j = 0; j < NUMBERS; j++)
                assert_true(fabsf(got[j] - want[j]) < 2e-5f);
        }
        close_scene(&of[0]);
        close_scene(&of[1]);
    }
}

static void random_graphs_have_the_gradients_of_operators_one_by_one(void **unused)
{
    (void)unused;
    for (int way = 0; way < WAYS; way++)
        check_graphs(way);
}

/* ---- workers ---- */

static void train(int workers, int blocks_after, float *values)
{
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;
    struct cavs_runtime *rt;
    struct scene a;

    r.workers = workers;
    r.leave_to_workers = true;
    check_ok(cavs_runtime_create(&r, &rt));
    open_scene(&a, rt, 3, blocks_after);
    for (int way = 0; way < WAYS; way++) {
        for (int k = 0; k < RECORDINGS; k++)
            record_graphs(&a, CAVS_TAPE_TRAIN, at_once[way], (uint64_t)k, false);
        train_cells(&a, at_once[way], 3, 3, 3);
        train_cells(&a, at_once[way], 2, 5, 3);
    }
    check_ok(cavs_session_get_param(a.s, a.E, values));
    check_ok(cavs_session_get_param(a.s, a.U, values + WORDS * WIDTH));
    close_scene(&a);
    cavs_runtime_destroy(rt);
}

static void workers_do_not_show_in_the_bits_of_lists(void **unused)
{
    static float first[NUMBERS], next[NUMBERS];

    (void)unused;
    trial_runtime_down(NULL);
    for (int blocks = 0; blocks < 2; blocks++) {
        train(1, blocks, first);
        for (int workers = 2; workers <= 3; workers++) {
            train(workers, blocks, next);
            assert_memory_equal(first, next, sizeof first);
        }
    }
    assert_int_equal(trial_runtime_up(NULL), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_different_length_are_one_batching_task),
        cmocka_unit_test(lists_of_one_length_are_in_blocks_and_others_stand_between_them),
        cmocka_unit_test(each_entry_gets_the_gradient_of_its_sum),
        cmocka_unit_test(the_first_of_the_largest_entries_gets_the_gradient),
        cmocka_unit_test(an_entry_that_is_there_twice_counts_twice),
        cmocka_unit_test(entries_need_not_be_alike),
        cmocka_unit_test(a_list_without_entries_is_refused),
        cmocka_unit_test(entries_of_another_width_are_refused_with_both),
        cmocka_unit_test(random_graphs_have_the_gradients_of_operators_one_by_one),
        cmocka_unit_test(workers_do_not_show_in_the_bits_of_lists),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("lists on tapes", tests, trial_runtime_up,
                                       trial_runtime_down);
}
