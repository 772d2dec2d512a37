/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over epochs and batches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/app.h"
#include "apps/common/checkpoint.h"
#include "apps/common/progress.h"
#include "apps/common/random.h"

/* One run of app_train(). */
struct loop {
    struct app *app;
    const struct training *training;
    struct app_error *error;
    struct progress progress;
    struct progress_state state;
    int *order; /* the samples in the order of this epoch */
    double started;
    /* of this epoch, what was done before a checkpoint from which the run has resumed */
    int skipped;
    double seconds_before;
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

/* The next batch of the epoch begins at `done`. */
static int batch_size(const struct loop *l)
{
    int left = l->state.samples - l->state.done, batch = l->app->options->batch;

    return left < batch ? left : batch;
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
    now.all_done += now.done - l->skipped;
    now.all_seconds += app_now() - l->started;
    progress_show(&l->progress, &now);
    return rc;
}

/* ---- checkpoints ------------------------------------------------------------------------------ */

/* What this process has done of the epoch goes into the report. */
static void add_work(struct loop *l, struct report *r, double seconds)
{
    const struct training *t = l->training;
    struct cavs_stats stats;
    int64_t vertices = 0;

    for (int i = l->skipped; i < l->state.done; i++)
        vertices += cavs_data_sample_vertices(t->data, t->graph, l->order[i]);
    cavs_session_stats(l->app->session, &stats);
    report_add_work(r, seconds, l->state.done - l->skipped, vertices, &stats);
}

static int checkpoint_in_epoch(struct loop *l)
{
    const struct progress_state *s = &l->state;
    double seconds = app_now() - l->started;
    struct standing here = {.epoch = s->epoch,
                            .samples = s->samples,
                            .done = s->done,
                            .batch = s->batch,
                            .seconds = l->seconds_before + seconds};
    struct report so_far = l->app->report;

    add_work(l, &so_far, seconds);
    return checkpoint_write(l->app, &here, &so_far, l->error);
}

static int checkpoint_after_epoch(struct loop *l)
{
    struct standing next = {.epoch = l->state.epoch + 1, .samples = l->state.samples};

    return checkpoint_write(l->app, &next, &l->app->report, l->error);
}

/* Batches that are behind the run draw what they drew, so that the next ones find it as it was. */
static int repeat_draws(struct loop *l, int samples)
{
    const struct training *t = l->training;
    int rc = 0;

    draw_order(l);
    for (l->state.done = 0; rc == 0 && t->before_batch && l->state.done < samples;) {
        int n = batch_size(l);

        rc = t->before_batch(t->context, l->order + l->state.done, n);
        l->state.done += n;
    }
    return rc;
}

/* Sets the epoch to begin with, and where in it. */
static int resume(struct loop *l)
{
    struct progress_state *s = &l->state;
    struct standing here = {.epochs = s->epochs, .samples = s->samples};
    int rc = checkpoint_read(l->app, &here, l->error);

    for (s->epoch = 1; rc == 0 && s->epoch < here.epoch; s->epoch++)
        rc = repeat_draws(l, s->samples);
    if (rc == 0)
        rc = repeat_draws(l, here.done);
    s->done = l->skipped = here.done;
    s->batch = here.batch;
    l->seconds_before = here.seconds;
    return rc;
}

/* ---- epochs ----------------------------------------------------------------------------------- */

static int after_batch(struct loop *l)
{
    const struct app_options *o = l->app->options;
    int rc = 0;

    if (o->checkpoint && o->every && l->state.batch % o->every == 0 &&
        l->state.done < l->state.samples)
        rc = checkpoint_in_epoch(l);
    if (rc == 0 && progress_due(&l->progress))
        rc = show_progress(l);
    return rc;
}

static int run_batches(struct loop *l)
{
    struct progress_state *s = &l->state;
    int rc = 0;

    while (rc == 0 && s->done < s->samples) {
        int n = batch_size(l);

        rc = run_batch(l, l->order + s->done, n);
        s->done += n;
        s->batch++;
        if (rc == 0)
            rc = after_batch(l);
    }
    return rc == 0 ? cavs_session_wait(l->app->session) : rc;
}

static void record_epoch(struct loop *l, double seconds)
{
    add_work(l, &l->app->report, seconds);
    report_add_epoch(&l->app->report, l->seconds_before + seconds, l->state.loss);
    l->state.all_done += l->state.samples - l->skipped;
    l->state.all_seconds += seconds;
    progress_epoch(&l->progress, &l->state, l->seconds_before + seconds);
    if (!isfinite(l->state.loss))
        fprintf(stderr, "%s: the loss is not finite; --check-finite says where that begins\n",
                l->app->name);
}

/* From where the run stands to the end of the epoch. */
static int run_epoch(struct loop *l)
{
    const struct training *t = l->training;
    double seconds;
    int rc = l->skipped ? 0 : cavs_session_reset_metrics(l->app->session);

    cavs_session_reset_stats(l->app->session);
    draw_order(l);
    l->started = app_now();
    if (rc < 0 || (rc = run_batches(l)) < 0)
        return rc;
    seconds = app_now() - l->started;
    if ((rc = read_loss(l)) < 0)
        return rc;
    record_epoch(l, seconds);
    l->skipped = l->state.done = l->state.batch = 0;
    l->seconds_before = 0;
    if (t->after_epoch && (rc = t->after_epoch(t->context)) < 0)
        return rc;
    return l->app->options->checkpoint ? checkpoint_after_epoch(l) : 0;
}

static int run_epochs(struct loop *l)
{
    const struct app_options *o = l->app->options;
    int rc = o->checkpoint ? checkpoint_prepare(o, l->error) : 0;

    l->state.epoch = 1;
    if (rc == 0 && o->resume)
        rc = resume(l);
    for (; rc == 0 && l->state.epoch <= l->state.epochs; l->state.epoch++)
        rc = run_epoch(l);
    return rc;
}

int app_train(struct app *a, const struct training *t)
{
    int size = cavs_data_size(t->data), batch = a->options->batch, rc = 0;
    struct app_error own = {""};
    struct loop l = {
        .app = a,
        .training = t,
        .error = t->error ? t->error : &own,
        .progress = progress_start(a->options->quiet),
        .state = {.epochs = a->options->epochs,
                  .samples = size,
                  .batches = size / batch + (size % batch != 0)},
        .order = malloc((size + 1) * sizeof(int)),
    };

    if (!l.order)
        return CAVS_ENOMEM;
    rc = run_epochs(&l);
    if (own.text[0])
        fprintf(stderr, "%s: %s\n", a->name, own.text);
    free(l.order);
    return rc;
}
