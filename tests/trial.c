/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - library against oracle. */
#include "tests/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-4;

static char note[128];

void trial_note(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(note, sizeof note, format, ap);
    va_end(ap);
}

void check_ok_at(int rc, const char *call, const char *file, int line)
{
    if (rc != 0)
        fail_msg("%s:%d: %s gave %d (%s): %s %s", file, line, call, rc, cavs_strerror(rc),
                 cavs_error_message(), note);
}

void check_refused_at(int rc, int code, const char *call, const char *file, int line,
                      const char *const *texts)
{
    if (rc != code)
        fail_msg("%s:%d: %s gave %d (%s), not %d (%s); message: %s", file, line, call, rc,
                 cavs_strerror(rc), code, cavs_strerror(code), cavs_error_message());
    for (; *texts; texts++) {
        if (!strstr(cavs_error_message(), *texts))
            fail_msg("%s:%d: %s: the message \"%s\" does not say \"%s\"", file, line, call,
                     cavs_error_message(), *texts);
    }
}

/* The number that is furthest from what it should be, or the first NaN. */
static size_t worst_of(size_t n, const float *got, const double *want)
{
    size_t at = 0;
    for (size_t i = 1; i < n && !isnan(got[at] - want[at]); i++) {
        if (!(fabs(got[i] - want[i]) <= fabs(got[at] - want[at])))
            at = i;
    }
    return at;
}

static double largest_of(size_t n, const double *x)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

static bool are_close(size_t n, const float *got, const double *want, double limit)
{
    size_t at = worst_of(n, got, want);
    return n == 0 || fabs(got[at] - want[at]) <= limit;
}

static void check_within(const char *what, size_t n, const float *got, const double *want,
                         double limit)
{
    size_t at = worst_of(n, got, want);
    if (!are_close(n, got, want, limit))
        fail_msg("%s[%zu]: got %.9g, want %.9g (difference %.3g; largest of %zu values %.3g) %s",
                 what, at, got[at], want[at], fabs(got[at] - want[at]), n, largest_of(n, want),
                 note);
}

void check_close(const char *what, size_t n, const float *got, const double *want, double tolerance)
{
    check_within(what, n, got, want, tolerance * fmax(largest_of(n, want), 1e-6));
}

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
                     note);
        double limit = TOLERANCE * (fmax(fabs(want), t->floor) + 1e-3 * count + 1e-6);
        if (t->forgives_rounding && !(fabs(sum - want) <= limit))
            limit = trial_rounding(t, 1, &want, metric_again, &i);
        if (!(fabs(sum - want) <= limit))
            fail_msg("metric %s: got %.9g, want %.9g %s", name, sum, want, note);
    }
}

/* With t->forgives_rounding `again`, unless NULL, makes the numbers wanted once more. */
static void check_numbers(struct trial *t, const char *what, size_t n, const float *got,
                          const double *want, trial_numbers *again, const void *of)
{
    double limit = TOLERANCE * fmax(largest_of(n, want), fmax(t->floor, 1e-6));
    if (t->forgives_rounding && again && !are_close(n, got, want, limit))
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

struct cavs_runtime *trial_runtime;

int trial_runtime_up(void **state)
{
    struct cavs_runtime_options options = CAVS_RUNTIME_DEFAULTS;
    const char *workers = getenv("CAVS_TEST_WORKERS");
    const char *opencl = getenv("CAVS_TEST_OPENCL"), *cuda = getenv("CAVS_TEST_CUDA");
    options.leave_to_workers = true; /* else no task would come of what is as small as tests are */
    options.workers = workers ? atoi(workers) : 2;
    options.opencl = opencl ? atoi(opencl) : 0;
    options.cuda = cuda ? atoi(cuda) : 0;
    (void)state;
    if (cavs_runtime_create(&options, &trial_runtime) == 0)
        return 0;
    print_error("no runtime: %s\n", cavs_error_message());
    return -1;
}

int trial_runtime_down(void **state)
{
    (void)state;
    cavs_runtime_destroy(trial_runtime);
    trial_runtime = NULL;
    return 0;
}

struct cavs_session *trial_session(struct trial *t, const struct cavs_session_options *options)
{
    struct cavs_session *s = NULL;
    check_ok(cavs_session_create(trial_runtime, t->model, options, &s));
    return s;
}

void trial_compile(bool on)
{
    static int given = -1;
    if (given < 0)
        given = getenv("CAVS_FUSION") != NULL;
    if (!given && on)
        unsetenv("CAVS_FUSION");
    else if (!given)
        setenv("CAVS_FUSION", "interpret", 1);
}

struct CMUnitTest *trial_tests(int n, const char *(*name)(int i), CMUnitTestFunction run,
                               void *(*state)(int i))
{
    struct CMUnitTest *tests = calloc((size_t)n, sizeof *tests);
    for (int i = 0; tests && i < n; i++)
        tests[i] =
            (struct CMUnitTest){.name = name(i), .test_func = run, .initial_state = state(i)};
    return tests;
}
