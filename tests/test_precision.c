/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_precision.c - sessions whose products round their operands to bfloat16, beside sessions of
 * float32 that have the same parameters.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/products/bf16.h"
#include "tests/trial.h"

/* A model's sessions in both precisions; with the same seed they begin with the same parameters. */
struct pair {
    struct trial t;
    struct cavs_session *in[CAVS_PRECISIONS];
    int n, batch[ZOO_SAMPLES];
};

static struct cavs_session_options options(enum cavs_precision precision)
{
    struct cavs_session_options o = cavs_session_defaults();

    o.precision = precision;
    o.optimizer = CAVS_ADAM;
    o.lr = 0.03f;
    o.shards = 2;
    return o;
}

static void pair_open(struct pair *p, const char *model)
{
    trial_open_zoo(&p->t, zoo_find(model));
    p->n = p->t.nsamples;
    for (int i = 0; i < p->n; i++)
        p->batch[i] = i;
    for (int i = 0; i < CAVS_PRECISIONS; i++) {
        struct cavs_session_options o = options((enum cavs_precision)i);
        p->in[i] = trial_session(&p->t, &o);
    }
}

static void pair_close(struct pair *p)
{
    for (int i = 0; i < CAVS_PRECISIONS; i++)
        cavs_session_destroy(p->in[i]);
    trial_close(&p->t);
}

static size_t size_of(const struct cavs_param *p)
{
    return (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
}

static float *room_for(const struct cavs_param *p)
{
    float *values = calloc(size_of(p) + 1, sizeof *values);

    assert_non_null(values);
    return values;
}

static double mean_loss(struct pair *p, struct cavs_session *s)
{
    double sum = 0, count = 0;

    check_ok(cavs_session_reset_metrics(s));
    check_ok(cavs_session_evaluate(s, p->t.data, p->batch, p->n));
    check_ok(cavs_session_metric(s, "loss", &sum, &count));
    return sum / count;
}

static void train(struct pair *p, struct cavs_session *s, int steps)
{
    for (int i = 0; i < steps; i++)
        check_ok(cavs_session_train(s, p->t.data, p->batch, p->n));
    check_ok(cavs_session_wait(s));
}

static void copy_params(struct pair *p, struct cavs_session *from, struct cavs_session *to)
{
    for (int i = 0; i < cavs_model_param_count(p->t.model); i++) {
        const struct cavs_param *w = cavs_model_param_at(p->t.model, i);
        float *values = room_for(w);
        check_ok(cavs_session_get_param(from, w, values));
        check_ok(cavs_session_set_param(to, w, values));
        free(values);
    }
}

/* ---- gradients ---- */

/* |rounded - exact| / |exact| of the gradient of all parameters together */
static double distance_of_gradients(struct pair *p)
{
    double apart = 0, size = 0;

    for (int i = 0; i < CAVS_PRECISIONS; i++)
        check_ok(cavs_session_gradient(p->in[i], p->t.data, p->batch, p->n));
    for (int i = 0; i < cavs_model_param_count(p->t.model); i++) {
        const struct cavs_param *w = cavs_model_param_at(p->t.model, i);
        float *exact = room_for(w), *rounded = room_for(w);
        check_ok(cavs_session_get_gradient(p->in[CAVS_FLOAT32], w, exact));
        check_ok(cavs_session_get_gradient(p->in[CAVS_BFLOAT16], w, rounded));
        for (size_t k = 0; k < size_of(w); k++) {
            apart += pow((double)rounded[k] - (double)exact[k], 2);
            size += (double)exact[k] * (double)exact[k];
        }
        free(exact);
        free(rounded);
    }
    return sqrt(apart / size);
}

/* |got - want| / |want| of the gradient of all parameters together; it ought to be the oracle's */
static double distance_from_oracle(struct trial *t, struct cavs_session *s)
{
    double apart = 0, size = 0;

    for (int i = 0; i < cavs_model_param_count(t->model); i++) {
        const struct cavs_param *w = cavs_model_param_at(t->model, i);
        float *got = room_for(w);
        check_ok(cavs_session_get_gradient(s, w, got));
        for (size_t k = 0; k < size_of(w); k++) {
            apart += pow((double)got[k] - t->oracle->gradient[i][k], 2);
            size += pow(t->oracle->gradient[i][k], 2);
        }
        free(got);
    }
    return sqrt(apart / size);
}

/* Equal vertices and inputs are evaluated each for itself, as the oracle does: else the gradients
 * of several are rounded as one.  A number that lies between two of bfloat16 may go the other way
 * where float32 has another last digit than double, which is seldom. */
static void check_rounding(const char *model)
{
    struct pair p;
    struct cavs_session_options o = options(CAVS_BFLOAT16);
    double distance[2];

    pair_open(&p, model);
    o.no_dedup = true;
    struct cavs_session *s = trial_session(&p.t, &o);
    trial_take_params(&p.t, s);
    check_ok(cavs_session_gradient(s, p.t.data, p.batch, p.n));
    for (int rounds = 0; rounds < 2; rounds++) {
        p.t.oracle->rounds = rounds;
        trial_oracle(&p.t, p.batch, p.n, true);
        distance[rounds] = distance_from_oracle(&p.t, s);
    }
    if (!(distance[1] < 0.1 * distance[0]))
        fail_msg("%s: %g from rounded operands, %g from exact ones", model, distance[1],
                 distance[0]);
    cavs_session_destroy(s);
    pair_close(&p);
}

/* Rounding an operand changes it by up to 1 / 512. */
static void check_gradients(const char *model)
{
    struct pair p;

    pair_open(&p, model);
    double distance = distance_of_gradients(&p);
    if (!(distance > 1e-5 && distance < 0.02))
        fail_msg("%s: gradients are %g apart", model, distance);
    pair_close(&p);
}

static void of_each_model(void (*check)(const char *))
{
    static const char *const models[] = {
        "tree_lstm_bench", "tree_lstm_nary", "tree_lstm_childsum", "tree_fc_cavs",
        "chain_lstm",      "bilstm",         "each_attention",     "mlp"};

    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check(models[i]);
}

static void gradients_are_near_those_of_float32_and_not_the_same(void **state)
{
    (void)state;
    of_each_model(check_gradients);
}

static void gradients_are_those_of_rounded_operands_and_nothing_else_rounded(void **state)
{
    (void)state;
    of_each_model(check_rounding);
}

/* ---- training ---- */

static void check_training(const char *model)
{
    struct pair p;
    double loss[CAVS_PRECISIONS], before;

    pair_open(&p, model);
    before = mean_loss(&p, p.in[CAVS_FLOAT32]);
    for (int i = 0; i < CAVS_PRECISIONS; i++) {
        train(&p, p.in[i], 100);
        loss[i] = mean_loss(&p, p.in[i]);
    }
    if (!(loss[CAVS_FLOAT32] < 0.8 * before) ||
        !(fabs(loss[CAVS_BFLOAT16] - loss[CAVS_FLOAT32]) < 0.03 * loss[CAVS_FLOAT32]))
        fail_msg("%s: loss %g before training, then %g, in bfloat16 %g", model, before,
                 loss[CAVS_FLOAT32], loss[CAVS_BFLOAT16]);
    pair_close(&p);
}

static void training_converges_as_in_float32(void **state)
{
    (void)state;
    check_training("tree_lstm_bench");
    check_training("chain_lstm");
}

/* ---- packed copies of parameters ---- */

/* Of a model whose products are joined, so that a parameter is some columns of a copy. */
static void products_see_what_updates_and_users_write(void **state)
{
    struct pair p;
    struct cavs_session_options o = options(CAVS_BFLOAT16);

    (void)state;
    pair_open(&p, "chain_lstm");
    o.seed = 7;
    struct cavs_session *other = trial_session(&p.t, &o);
    assert_true(mean_loss(&p, other) != mean_loss(&p, p.in[CAVS_BFLOAT16]));
    train(&p, p.in[CAVS_BFLOAT16], 3);
    copy_params(&p, p.in[CAVS_BFLOAT16], other);
    assert_true(mean_loss(&p, other) == mean_loss(&p, p.in[CAVS_BFLOAT16]));
    cavs_session_destroy(other);
    pair_close(&p);
}

/* ---- what is said of it ---- */

static void check_explained(struct cavs_session *s, const char *text, bool there)
{
    char *explanation = NULL;

    check_ok(cavs_session_explain(s, &explanation));
    if ((strstr(explanation, text) != NULL) != there)
        fail_msg("\"%s\" is %sin the explanation:\n%s", text, there ? "not " : "", explanation);
    free(explanation);
}

static void explanations_name_the_products(void **state)
{
    struct pair p;
    const char *name = cavs__bf16()->name;

    (void)state;
    pair_open(&p, "rnn");
    check_explained(p.in[CAVS_BFLOAT16], "rounded to bfloat16", true);
    check_explained(p.in[CAVS_BFLOAT16], strcmp(name, "converted") ? name : "is not faster", true);
    check_explained(p.in[CAVS_FLOAT32], "bfloat16", false);
    pair_close(&p);
}

static void an_unknown_precision_is_refused(void **state)
{
    struct trial t;
    struct cavs_session_options o = options((enum cavs_precision)CAVS_PRECISIONS);
    struct cavs_session *s = NULL;

    (void)state;
    trial_open_zoo(&t, zoo_find("rnn"));
    check_refused(cavs_session_create(trial_runtime, t.model, &o, &s), CAVS_EINVAL, "precision");
    trial_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_near_those_of_float32_and_not_the_same),
        cmocka_unit_test(gradients_are_those_of_rounded_operands_and_nothing_else_rounded),
        cmocka_unit_test(training_converges_as_in_float32),
        cmocka_unit_test(products_see_what_updates_and_users_write),
        cmocka_unit_test(explanations_name_the_products),
        cmocka_unit_test(an_unknown_precision_is_refused),
    };

    return cmocka_run_group_tests_name("precision", tests, trial_runtime_up, trial_runtime_down);
}
