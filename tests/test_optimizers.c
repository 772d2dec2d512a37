/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_optimizers.c - training steps against a loop over doubles with the oracle's gradients.
 *
 * The model has dense parameters, a table of which every batch touches a few rows, some never, and
 * one that is also multiplied: all its rows are updated.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/naive_rules.h"
#include "tests/trial.h"

enum { WORDS = 40, UNTOUCHED = 20, STEPS = 4 };

static void build(struct cavs_model *m)
{
    struct cavs_param *table = zoo_weight(m, "table", WORDS, 4), *w = zoo_weight(m, "W", 4, 4);
    struct cavs_param *u = zoo_weight(m, "U", 4, 4), *b = zoo_weight(m, "b", 1, 4);
    struct cavs_param *fixed = zoo_weight(m, "fixed", 4, 4),
                      *tied = zoo_weight(m, "tied", WORDS, 4);
    cavs_param_freeze(fixed);
    struct cavs_stage *chain = cavs_stage_create(m, "chain", 4);
    struct cavs_function *f = cavs_function_create(chain, "f");
    struct cavs_symbol *word = cavs_pull_ids(f, "word"), *x = cavs_lookup(table, word);
    struct cavs_symbol *h = cavs_add(cavs_affine(x, w, b), cavs_matmul(cavs_gather(f, 0), u));
    h = cavs_add(h, cavs_lookup(tied, word));
    h = cavs_tanh(cavs_matmul(h, fixed));
    cavs_scatter(f, h);
    cavs_loss(f, "loss",
              cavs_add(cavs_squared_error(h, cavs_pull(f, "target", 4)),
                       cavs_softmax_cross_entropy(cavs_matmul_t(h, tied), word)),
              NULL);
}

/* Words 0 to 19 only, a different few in each sample. */
static void few_words(struct sample *s, int number)
{
    int *word = sample_ids(s, 0, "word");
    for (int v = 0; v < s->stages[0].n; v++)
        word[v] = word[v] < 0 ? -1 : (5 * number + word[v] % 7) % UNTOUCHED;
}

/* ---- the reference ---- */

struct reference {
    struct cavs_session_options o;
    double lr;
    int step;
    double (*state[8])[2]; /* per parameter and number */
};

static int size_of(const struct cavs_param *p)
{
    return p->rows * p->cols;
}

static void reference_open(struct reference *r, const struct trial *t,
                           const struct cavs_session_options *o)
{
    *r = (struct reference){.o = *o, .lr = o->lr};
    for (int i = 0; i < t->model->nparams; i++) {
        r->state[i] = calloc((size_t)size_of(t->model->params[i]), sizeof *r->state[i]);
        assert_non_null(r->state[i]);
    }
}

static void reference_close(struct reference *r)
{
    for (int i = 0; i < 8; i++)
        free(r->state[i]);
}

static bool row_is_touched(const struct trial *t, const int *batch, int n, int row)
{
    for (int i = 0; i < n; i++) {
        const int *word = sample_ids(t->samples[batch[i]], 0, "word");
        for (int v = 0; v < t->samples[batch[i]]->stages[0].n; v++) {
            if (word[v] == row)
                return true;
        }
    }
    return false;
}

/* What the gradient is multiplied by: the scale, less if the norm would be too large. */
static double factor(const struct reference *r, const struct trial *t)
{
    double scale = r->o.scale == 0 ? 1 : r->o.scale, squares = 0;
    for (int i = 0; i < t->model->nparams; i++) {
        for (int j = 0; j < size_of(t->model->params[i]) && !t->model->params[i]->frozen; j++)
            squares += t->oracle->gradient[i][j] * t->oracle->gradient[i][j];
    }
    double norm = scale * sqrt(squares);
    return r->o.clip > 0 && norm > r->o.clip ? scale * r->o.clip / norm : scale;
}

/* Updates the oracle's parameters. */
static void reference_step(struct reference *r, struct trial *t, const int *batch, int n)
{
    trial_oracle(t, batch, n, true);
    r->step++;
    double scale = factor(r, t);
    for (int i = 0; i < t->model->nparams; i++) {
        const struct cavs_param *p = t->model->params[i];
        for (int j = 0; j < size_of(p) && !p->frozen; j++) {
            if (p->lookup_use && !p->dense_use && !row_is_touched(t, batch, n, j / p->cols))
                continue;
            double *w = &t->oracle->param[i][j];
            double g = scale * t->oracle->gradient[i][j];
            *w = naive_rules[r->o.optimizer](&r->o, r->lr, r->step, *w, g, r->state[i][j]);
        }
    }
}

/* ---- the tests ---- */

static void check_params(struct trial *t, struct cavs_session *s, const char *when)
{
    char what[64];
    for (int i = 0; i < t->model->nparams; i++) {
        const struct cavs_param *p = t->model->params[i];
        float values[WORDS * 4];
        check_ok(cavs_session_get_param(s, p, values));
        snprintf(what, sizeof what, "%s %s", p->name, when);
        check_close(what, (size_t)size_of(p), values, t->oracle->param[i], 1e-4);
    }
}

static void remember(struct trial *t, struct cavs_session *s, float *table)
{
    check_ok(cavs_session_get_param(s, cavs_model_find_param(t->model, "table"), table));
}

/* Rows that no batch looked up have the very same bits as before. */
static void check_untouched(struct trial *t, struct cavs_session *s, const float *before)
{
    float after[WORDS * 4];
    remember(t, s, after);
    for (int i = 4 * UNTOUCHED; i < 4 * WORDS; i++) {
        if (after[i] != before[i])
            fail_msg("row %d of the table was never looked up, but went from %.9g to %.9g", i / 4,
                     before[i], after[i]);
    }
}

static void open_trial(struct trial *t)
{
    static const struct zoo_entry model = {"optimized", build, {NULL}};
    const char *const texts[] = {"chain:5", "chain:9", "single", "chain:12,shuffle=3",
                                 "empty",   "chain:7"};
    trial_open(t, zoo_model(&model), texts, 6, few_words);
}

static void check_training(const struct cavs_session_options *o)
{
    static const struct {
        int n, samples[4];
    } batches[STEPS] = {{2, {0, 1}}, {1, {2}}, {4, {3, 4, 5, 3}}, {2, {1, 5}}};
    struct trial t;
    struct reference r;
    float before[WORDS * 4];
    char when[32];
    open_trial(&t);
    struct cavs_session *s = trial_session(&t, o);
    reference_open(&r, &t, o);
    trial_take_params(&t, s);
    remember(&t, s, before);
    for (int i = 0; i < STEPS; i++) {
        check_ok(cavs_session_train(s, t.data, batches[i].samples, batches[i].n));
        reference_step(&r, &t, batches[i].samples, batches[i].n);
        snprintf(when, sizeof when, "after step %d", i + 1);
        check_params(&t, s, when);
    }
    check_untouched(&t, s, before);
    reference_close(&r);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* Numbers far from the defaults, so that each of them matters. */
static struct cavs_session_options strong(enum cavs_optimizer optimizer)
{
    struct cavs_session_options o = cavs_session_defaults();
    o.optimizer = optimizer;
    o.lr = 0.1f;
    o.momentum = 0.8f;
    o.decay = 0.7f;
    o.beta1 = 0.85f;
    o.beta2 = 0.95f;
    o.epsilon = 0.02f;
    o.shards = 2;
    return o;
}

static void plain(void **state)
{
    struct cavs_session_options o = strong(*(const enum cavs_optimizer *)*state);
    check_training(&o);
}

static void decayed(void **state)
{
    struct cavs_session_options o = strong(*(const enum cavs_optimizer *)*state);
    o.weight_decay = 0.3f;
    check_training(&o);
}

/* The norms of these batches are 1 to 10. */
static void clipped_and_scaled(void **state)
{
    struct cavs_session_options o = strong(*(const enum cavs_optimizer *)*state);
    o.clip = 0.4f;
    o.scale = 0.7f;
    o.weight_decay = 0.1f;
    check_training(&o);
}

static void not_clipped_below_the_norm(void **state)
{
    struct cavs_session_options o = strong(CAVS_SGD);
    (void)state;
    o.clip = 1e6f;
    o.scale = 0.25f;
    check_training(&o);
}

static void gradients_are_of_the_sum_whatever_the_update_makes_of_them(void **state)
{
    struct cavs_session_options o = strong(CAVS_SGD);
    struct cavs_session *s;
    struct trial t;

    (void)state;
    o.mean = true;
    o.scale = 0.7f;
    o.clip = 0.4f;
    o.weight_decay = 0.3f;
    open_trial(&t);
    s = trial_session(&t, &o);
    trial_check_gradients(&t, s, (int[]){0, 1, 2}, 3);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* Two stages that have nothing in common, and a parameter that is used and reaches no loss. */
static void build_apart(struct cavs_model *m)
{
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "other" : "one";
        struct cavs_function *f = cavs_function_create(cavs_stage_create(m, name, 0), name);

        if (i)
            cavs_push(f, "aside", cavs_matmul(cavs_pull(f, "x", 2), zoo_weight(m, "aside", 2, 2)));
        cavs_loss(
            f, "loss",
            cavs_sum(cavs_square(cavs_matmul(cavs_pull(f, "x", 2), zoo_weight(m, name, 2, 2)))),
            NULL);
    }
}

static void no_gradient_counts_as_zero(void **state)
{
    static const struct zoo_entry model = {"apart", build_apart, {NULL}};
    const char *const texts[] = {"single|single", "single|empty", "empty|single"};
    struct cavs_session_options o = strong(*(const enum cavs_optimizer *)*state);
    struct trial t;
    struct reference r;

    o.weight_decay = 0.3f;
    trial_open(&t, zoo_model(&model), texts, 3, NULL);
    struct cavs_session *s = trial_session(&t, &o);
    reference_open(&r, &t, &o);
    trial_take_params(&t, s);
    for (int i = 0; i < 6; i++) {
        const int sample = i % 3;

        check_ok(cavs_session_train(s, t.data, &sample, 1));
        reference_step(&r, &t, &sample, 1);
        check_params(&t, s, texts[sample]);
    }
    reference_close(&r);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void many_shards(void **state)
{
    struct cavs_session_options o = strong(CAVS_ADAM);
    (void)state;
    o.shards = 13; /* more than partial gradients, and than samples */
    o.clip = 0.4f;
    check_training(&o);
}

static void every_optimisation_off(void **state)
{
    struct cavs_session_options o = strong(CAVS_ADAM);
    (void)state;
    o.no_dedup = o.no_fusion = o.no_eager = o.no_lazy = true;
    check_training(&o);
}

static void learning_rate_changes_between_batches(void **state)
{
    struct cavs_session_options o = strong(CAVS_MOMENTUM);
    struct trial t;
    struct reference r;
    const int batch[] = {0, 3};
    (void)state;
    open_trial(&t);
    struct cavs_session *s = trial_session(&t, &o);
    reference_open(&r, &t, &o);
    trial_take_params(&t, s);
    for (int i = 0; i < 3; i++) {
        float lr = 0.2f / (float)(i + 1);
        check_ok(cavs_session_set_lr(s, lr));
        r.lr = lr;
        check_ok(cavs_session_train(s, t.data, batch, 2));
        reference_step(&r, &t, batch, 2);
    }
    check_params(&t, s, "after three rates");
    check_refused(cavs_session_set_lr(s, NAN), CAVS_EINVAL, "rate");
    reference_close(&r);
    cavs_session_destroy(s);
    trial_close(&t);
}

int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } kinds[] = {{"", plain},
                 {" with weight decay", decayed},
                 {" clipped and scaled", clipped_and_scaled},
                 {", no gradient counts as zero", no_gradient_counts_as_zero}};
    enum { KINDS = sizeof kinds / sizeof *kinds, ALL = KINDS * CAVS_OPTIMIZERS };
    static enum cavs_optimizer optimizers[CAVS_OPTIMIZERS];
    static char titles[ALL][48];
    struct CMUnitTest tests[ALL + 5] = {
        [ALL] = cmocka_unit_test(not_clipped_below_the_norm),
        [ALL + 1] = cmocka_unit_test(many_shards),
        [ALL + 2] = cmocka_unit_test(every_optimisation_off),
        [ALL + 3] = cmocka_unit_test(learning_rate_changes_between_batches),
        [ALL + 4] = cmocka_unit_test(gradients_are_of_the_sum_whatever_the_update_makes_of_them),
    };
    for (int i = 0; i < ALL; i++) {
        int optimizer = i / KINDS;
        optimizers[optimizer] = (enum cavs_optimizer)optimizer;
        snprintf(titles[i], sizeof titles[i], "%s%s", cavs_optimizer_name(optimizer),
                 kinds[i % KINDS].name);
        tests[i] = (struct CMUnitTest){.name = titles[i],
                                       .test_func = kinds[i % KINDS].run,
                                       .initial_state = &optimizers[optimizer]};
    }
    return cmocka_run_group_tests_name("optimizers", tests, trial_runtime_up, trial_runtime_down);
}
