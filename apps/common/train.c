/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over epochs and batches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/app.h"
#include "apps/common/progress.h"
#include "apps/common/random.h"

/* One run of app_train(). */
struct loop {
    struct app *app;
    const struct training *training;
    struct progress progress;
    struct progress_state state;
    int *order; /* the samples in the order of this epoch */
    double started;
};

/* The order depends on the seed and the epoch only, not on what ran before. */
static void draw_order(struct loop *l)
{
    const struct app_options *o = l->app->options;
    struct rng r;

    for (int i = 0; i < l->state.samples; i++)
        l->order[i] = i;
    rng_seed(&r, o->session.seed, l->state.epoch);
    if (!o->infer)
        rng_shuffle(&r, l->order, l->state.samples);
}

static int read_loss(struct loop *l)
{
    double sum, count;
    int rc = cavs_session_metric(l->app->session, l->training->loss, &sum, &count);

    if (rc < 0)
        return rc;
    if (l->training->loss_per_sample)
        count = l->state.done;
    l->state.loss = count > 0 ? sum / count : NAN;
    return 0;
}

static int run_batch(struct loop *l, const int *samples, int n)
{
    const struct training *t = l->training;
    int rc = 0;

    if (t->before_batch)
        rc = t->before_batch(t->context, samples, n);
    if (rc < 0)
        return rc;
    if (l->app->options->infer)
        return cavs_session_evaluate(l->app->session, t->data, samples, n);
    return cavs_session_train(l->app->session, t->data, samples, n);
}

static int show_progress(struct loop *l)
{
    struct progress_state now;
    int rc = read_loss(l);

    now = l->state;
    now.all_done += now.done;
    now.all_seconds += app_now() - l->started;
    progress_show(&l->progress, &now);
    return rc;
}

static int run_batches(struct loop *l)
{
    struct progress_state *s = &l->state;
    int batch = l->app->options->batch, rc = 0;

    for (s->done = s->batch = 0; rc == 0 && s->done < s->samples;) {
        int n = s->samples - s->done < batch ? s->samples - s->done : batch;

        rc = run_batch(l, l->order + s->done, n);
        s->done += n;
        s->batch++;
        if (rc == 0 && progress_due(&l->progress))
            rc = show_progress(l);
    }
    return rc == 0 ? cavs_session_wait(l->app->session) : rc;
}

static void record_epoch(struct loop *l, double seconds)
{
    struct report *r = &l->app->report;
    struct cavs_stats stats;

    cavs_session_stats(l->app->session, &stats);
    report_add_epoch(r, seconds, l->state.loss, &stats);
    r->samples += l->state.samples;
    r->vertices += cavs_data_vertices(l->training->data, l->training->graph);
    l->state.all_done += l->state.samples;
    l->state.all_seconds += seconds;
    progress_epoch(&l->progress, &l->state, seconds);
    if (!isfinite(l->state.loss))
        fprintf(stderr, "%s: the loss is not finite; --check-finite says where that begins\n",
                l->app->name);
}

static int run_epoch(struct loop *l)
{
    const struct training *t = l->training;
    double seconds;
    int rc = cavs_session_reset_metrics(l->app->session);

    cavs_session_reset_stats(l->app->session);
    draw_order(l);
    l->started = app_now();
    if (rc < 0 || (rc = run_batches(l)) < 0)
        return rc;
    seconds = app_now() - l->started;
    if ((rc = read_loss(l)) < 0)
        return rc;
    record_epoch(l, seconds);
    return t->after_epoch ? t->after_epoch(t->context) : 0;
}

int app_train(struct app *a, const struct training *t)
{
    int size = cavs_data_size(t->data), batch = a->options->batch, rc = 0;
    struct loop l = {
        .app = a,
        .training = t,
        .progress = progress_start(a->options->quiet),
        .state = {.epochs = a->options->epochs,
                  .samples = size,
                  .batches = size / batch + (size % batch != 0)},
        .order = malloc((size + 1) * sizeof(int)),
    };

    if (!l.order)
        return CAVS_ENOMEM;
    for (l.state.epoch = 1; rc == 0 && l.state.epoch <= l.state.epochs; l.state.epoch++)
        rc = run_epoch(&l);
    free(l.order);
    return rc;
}
