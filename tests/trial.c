/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - library against oracle. */
#include "tests/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-4;

void trial_open(struct trial *t, struct cavs_model *m, const char *const *texts, int nsamples,
                trial_adjust *adjust)
{
    *t = (struct trial){.model = m, .nsamples = nsamples, .oracle = naive_create(m)};
    check_ok(cavs_data_create(m, &t->data));
    t->samples = calloc((size_t)nsamples + 1, sizeof(struct sample *));
    assert_non_null(t->samples);
    for (int i = 0; i < nsamples; i++) {
        t->samples[i] = sample_make(m, texts[i], 1000 + (uint64_t)i);
        if (adjust)
            adjust(t->samples[i], i);
        check_ok(sample_add(t->samples[i], t->data));
    }
}

void trial_open_zoo(struct trial *t, const struct zoo_entry *z)
{
    trial_open(t, zoo_model(z), z->samples, zoo_samples(z), NULL);
}

void trial_close(struct trial *t)
{
    naive_destroy(t->oracle);
    for (int i = 0; i < t->nsamples; i++)
        sample_free(t->samples[i]);
    free(t->samples);
    cavs_data_destroy(t->data);
    cavs_model_destroy(t->model);
}

static float *floats(size_t n)
{
    float *p = calloc(n + 1, sizeof *p);
    assert_non_null(p);
    return p;
}

static size_t param_size(const struct cavs_param *p)
{
    return (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
}

void trial_take_params(struct trial *t, struct cavs_session *s)
{
    for (int i = 0; i < cavs_model_param_count(t->model); i++) {
        const struct cavs_param *p = cavs_model_param_at(t->model, i);
        float *values = floats(param_size(p));
        check_ok(cavs_session_get_param(s, p, values));
        for (size_t j = 0; j < param_size(p); j++)
            t->oracle->param[i][j] = values[j];
        free(values);
    }
}

void trial_oracle(struct trial *t, const int *batch, int n, bool backward)
{
    t->batch = batch;
    t->nbatch = n;
    naive_reset(t->oracle);
    for (int i = 0; i < n; i++)
        naive_run(t->oracle, t->samples[batch[i]], backward);
}

static double *copy_of(size_t n, const double *x)
{
    double *copy = calloc(n + 1, sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, x, n * sizeof *copy);
    return copy;
}

static double *metric_again(struct trial *t, const void *number)
{
    trial_oracle(t, t->batch, t->nbatch, true);
    return copy_of(1, &t->oracle->sum[*(const int *)number]);
}

static double *gradient_again(struct trial *t, const void *param)
{
    const struct cavs_param *p = param;
    trial_oracle(t, t->batch, t->nbatch, true);
    return copy_of(param_size(p), t->oracle->gradient[p->number]);
}

void trial_check_metrics(struct trial *t, struct cavs_session *s)
{
    for (int i = 0; i < t->model->nmetrics; i++) {
        const char *name = t->model->metrics[i]->name;
        double sum = NAN, count = NAN, want = t->oracle->sum[i];
        check_ok(cavs_session_metric(s, name, &sum, &count));
        if (count != t->oracle->count[i])
            fail_msg("metric %s: counted %g vertices, want %g %s", name, count, t->oracle->count[i],
                     trial_noted());
        double limit = TOLERANCE * (fmax(fabs(want), t->floor) + 1e-3 * count + 1e-6);
        if (t->forgives_rounding && !(fabs(sum - want) <= limit))
            limit = trial_rounding(t, 1, &want, metric_again, &i);
        if (!(fabs(sum - want) <= limit))
            fail_msg("metric %s: got %.9g, want %.9g %s", name, sum, want, trial_noted());
    }
}

/* With t->forgives_rounding `again`, unless NULL, makes the numbers wanted once more. */
static void check_numbers(struct trial *t, const char *what, size_t n, const float *got,
                          const double *want, trial_numbers *again, const void *of)
{
    double limit = TOLERANCE * fmax(trial_largest(n, want), fmax(t->floor, 1e-6));
    if (t->forgives_rounding && again && !trial_is_close(n, got, want, limit))
        limit = trial_rounding(t, n, want, again, of);
    check_within(what, n, got, want, limit);
}

static void check_gradient(struct trial *t, struct cavs_session *s, const struct cavs_param *p)
{
    char what[64];
    float *got = floats(param_size(p));
    double *want = copy_of(param_size(p), t->oracle->gradient[p->number]);
    if (p->frozen)
        memset(want, 0, param_size(p) * sizeof *want);
    snprintf(what, sizeof what, "gradient of %s", cavs_param_name(p));
    check_ok(cavs_session_get_gradient(s, p, got));
    check_numbers(t, what, param_size(p), got, want, p->frozen ? NULL : gradient_again, p);
    free(want);
    free(got);
}

void trial_check_gradients(struct trial *t, struct cavs_session *s, const int *batch, int n)
{
    trial_take_params(t, s);
    trial_oracle(t, batch, n, true);
    check_ok(cavs_session_reset_metrics(s));
    check_ok(cavs_session_gradient(s, t->data, batch, n));
    if (n > 0)
        trial_compare(t, s);
    else
        trial_check_metrics(t, s);
}

void trial_compare(struct trial *t, struct cavs_session *s)
{
    trial_check_metrics(t, s);
    for (int i = 0; i < cavs_model_param_count(t->model); i++)
        check_gradient(t, s, cavs_model_param_at(t->model, i));
}

static int stage_vertices(const struct trial *t, const int *batch, int n, int stage)
{
    int vertices = 0;
    for (int i = 0; i < n; i++)
        vertices += t->samples[batch[i]]->stages[stage].n;
    return vertices;
}

/* The oracle's rows of one channel, samples of the batch one after the other. */
static double *channel_rows(struct trial *t, const void *channel)
{
    const struct cavs__channel *c = channel;
    int stage = c->stage->number, vertices = stage_vertices(t, t->batch, t->nbatch, stage);
    double *rows = calloc((size_t)vertices * c->width + 1, sizeof *rows), *to = rows;
    assert_non_null(rows);
    for (int i = 0; i < t->nbatch; i++) {
        size_t size = (size_t)t->samples[t->batch[i]]->stages[stage].n * c->width;
        naive_run(t->oracle, t->samples[t->batch[i]], false);
        memcpy(to, t->oracle->stages[stage].channel[c->number], size * sizeof *rows);
        to += size;
    }
    return rows;
}

static void check_channel(struct trial *t, struct cavs_session *s, const struct cavs__channel *c)
{
    char what[64];
    size_t size = (size_t)stage_vertices(t, t->batch, t->nbatch, c->stage->number) * c->width;
    double *want = channel_rows(t, c);
    float *got = floats(size);
    snprintf(what, sizeof what, "channel %s of %s", c->name, c->stage->name);
    check_ok(cavs_session_output(s, t->data, t->batch, t->nbatch, c->stage, c->name, got));
    check_numbers(t, what, size, got, want, channel_rows, c);
    free(want);
    free(got);
}

void trial_check_outputs(struct trial *t, struct cavs_session *s, const int *batch, int n)
{
    trial_take_params(t, s);
    t->batch = batch;
    t->nbatch = n;
    for (int i = 0; i < t->model->nstages; i++) {
        for (int j = 0; j < t->model->stages[i]->nchannels; j++)
            check_channel(t, s, t->model->stages[i]->channels[j]);
    }
}
