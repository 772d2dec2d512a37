/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_in_place.c - gradients of a block lie where its values were, and are the same there. */
#include "tests/tape_scene.h"
#include "tests/trial.h"

enum { WIDTH = 32, WORDS = 7, SAMPLES = 5, RECORDINGS = 6 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *E, *U, *V;
    struct cavs_session *s;
    struct cavs_tape *t;
    float numbers[3][WIDTH * WIDTH]; /* of the parameters, in the end */
};

static void open_scene(struct scene *a, bool in_place)
{
    check_ok(cavs_model_create(&a->m));
    a->E = cavs_model_param(a->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    a->V = cavs_model_param(a->m, "V", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(a->m));
    tape_scene_open(trial_runtime, a->m, 1, 1, &a->s, &a->t);
    assert_true(a->s->plan->options.in_place);
    a->s->plan->options.in_place = in_place;
}

typedef struct cavs_symbol *network(struct scene *a, struct cavs_symbol *x, struct cavs_symbol *y);

/* The gates' gradients are products' operands, and their values are read by them alone. */
static struct cavs_symbol *two_gates(struct scene *a, struct cavs_symbol *x, struct cavs_symbol *y)
{
    return cavs_mul(cavs_sigmoid(cavs_matmul(x, a->U)), cavs_tanh(cavs_matmul(y, a->V)));
}

/* Of the first product's result, the second one's gradient is made later. */
static struct cavs_symbol *one_behind_the_other(struct scene *a, struct cavs_symbol *x,
                                                struct cavs_symbol *y)
{
    struct cavs_symbol *first = cavs_sigmoid(cavs_matmul(cavs_add(x, y), a->U));

    return cavs_mul(first, cavs_tanh(cavs_matmul(first, a->V)));
}

static struct cavs_symbol *look_up(struct scene *a, int word)
{
    return cavs_square(cavs_lookup(a->E, cavs_tape_id(a->t, word % WORDS)));
}

static void train(struct scene *a, network *record)
{
    check_ok(cavs_tape_begin(a->t, CAVS_TAPE_TRAIN));
    for (int i = 0; i < SAMPLES; i++) {
        struct cavs_function *f = cavs_tape_sample(a->t);
        struct cavs_symbol *h = look_up(a, i);

        for (int k = 1; k < i + 2; k++)
            h = record(a, h, look_up(a, i + k));
        cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
    }
    check_ok(cavs_tape_finish(a->t));
}

/* How many numbers a row keeps of the block that keeps the most. */
static int most_kept(const struct scene *a)
{
    int most = 0;

    for (int i = 0; i < a->t->recording.signatures.n; i++) {
        const struct cavs__signature *s = a->t->recording.signatures.all[i];

        if (s->nmembers > 1 && s->rows > 0 && s->function->kept > most)
            most = s->function->kept;
    }
    return most;
}

static int train_all(struct scene *a, bool in_place, network *record)
{
    int kept;

    open_scene(a, in_place);
    for (int i = 0; i < RECORDINGS; i++)
        train(a, record);
    check_ok(cavs_session_get_param(a->s, a->E, a->numbers[0]));
    check_ok(cavs_session_get_param(a->s, a->U, a->numbers[1]));
    check_ok(cavs_session_get_param(a->s, a->V, a->numbers[2]));
    kept = most_kept(a);
    tape_scene_close(a->m, a->s, a->t);
    return kept;
}

/* Both ways train the same, and that many numbers less are kept in place. */
static void check_in_place(network *record, int less)
{
    static struct scene apart, in_place;
    int kept = train_all(&apart, false, record);

    assert_true(kept > less);
    assert_int_equal(train_all(&in_place, true, record), kept - less);
    assert_memory_equal(apart.numbers, in_place.numbers, sizeof apart.numbers);
}

static void gradients_of_blocks_lie_where_values_were(void **unused)
{
    (void)unused;
    check_in_place(two_gates, 2 * WIDTH);
    check_in_place(one_behind_the_other, WIDTH);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_blocks_lie_where_values_were),
    };

    trial_compile(false);
    return cmocka_run_group_tests_name("in place", tests, trial_runtime_up, trial_runtime_down);
}
