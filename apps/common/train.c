/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/option_values.h"
#include "apps/common/random.h"
#include "apps/common/peers.h"
#include "apps/common/sets.h"
#include "apps/common/status.h"
#include "apps/common/stop.h"
#include "apps/common/train_loop.h"

void loop_draw_order(struct loop *l)
{
    const struct app_options *o = &l->app->options;
    struct rng r;

    for (int i = 0; i < l->state.samples; i++)
        l->order[i] = i;
    rng_seed(&r, o->session.seed, l->state.epoch);
    if (!o->infer)
        rng_shuffle(&r, l->order, l->state.samples);
}

static int read_loss(struct loop *l)
{
    const struct program *p = l->app->program;
    double sum, count;
    int rc = app_sum(l->app, p->loss, &sum, &count);

    if (rc < 0)
        return rc;
    if (p->loss_per_sample)
        count = l->state.done;
    l->state.loss = count > 0 ? sum / count : NAN;
    return 0;
}

int loop_batch_size(const struct loop *l)
{
    int left = l->state.samples - l->state.done, batch = l->app->options.batch;

    return left < batch ? left : batch;
}

static double rate_now(const struct loop *l)
{
    const struct app_options *o = &l->app->options;
    const struct progress_state *s = &l->state;
    long before = (long)(s->epoch - 1) * s->batches + s->batch;

    return o->session.lr * learning_rate_at(&o->rate, before, s->batches, s->epochs);
}

static int run_batch(struct loop *l, const int *samples, int n)
{
    struct app *a = l->app;
    const struct app_options *o = &a->options;
    int rc = 0;

    peers_raise(a, (progress_due(&l->progress) ? PEERS_PROGRESS : 0) |
                       (loop_retries_checkpoint(l) ? PEERS_CHECKPOINT : 0));
    if (a->program->before_batch)
        rc = a->program->before_batch(a, samples, n);
    if (rc == 0 && o->infer)
        return set_evaluate(a, APP_TRAIN, samples, n);
    if (rc == 0 && !learning_rate_is_constant(&o->rate))
        rc = cavs_session_set_lr(a->session, (float)rate_now(l));
    return rc < 0 ? rc : set_train(a, samples, n);
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

void loop_add_work(const struct loop *l, struct report *r, double seconds)
{
    const struct app *a = l->app;
    struct cavs_stats stats;
    int64_t vertices = 0;

    for (int i = l->skipped; i < l->state.done; i++)
        vertices += set_sample_vertices(a, APP_TRAIN, l->order[i]);
    cavs_session_stats(a->session, &stats);
    report_add_work(r, seconds, l->state.done - l->skipped, vertices, &stats);
}

/* ---- numbers that are none ------------------------------------------------------------------- */

static int is_param_finite(struct app *a, const struct cavs_param *p, bool *finite)
{
    size_t n = (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
    float *values = malloc((n + 1) * sizeof *values);
    int rc = values ? cavs_session_get_param(a->session, p, values) : CAVS_ENOMEM;

    for (size_t i = 0; rc == 0 && *finite && i < n; i++)
        *finite = isfinite(values[i]);
    free(values);
    return rc;
}

int loop_check_params(struct loop *l)
{
    struct app *a = l->app;
    bool finite = true;
    int rc = 0;

    for (int i = 0; rc == 0 && finite && i < cavs_model_param_count(a->model); i++)
        rc = is_param_finite(a, cavs_model_param_at(a->model, i), &finite);
    if (rc < 0 || finite)
        return rc;
    fprintf(stderr,
            "%s: in epoch %d parameters became NaN or infinite: the run ends%s; a smaller --lr or "
            "--clip may help, "
            "--check-finite says where it begins\n",
            a->program->name, l->state.epoch,
            a->options.checkpoint ? " without a checkpoint of them" : "");
    a->status = APP_DIVERGED;
    l->over = true;
    return 0;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static int after_batch(struct loop *l)
{
    int rc;

    l->raised = peers_raised(l->app);
    rc = loop_checkpoint_is_due(l) ? loop_checkpoint_in_epoch(l) : 0;

    if (rc == 0 && !l->over && (l->raised & PEERS_PROGRESS))
        rc = show_progress(l);
    if (rc == 0 && !l->over && isnan(l->state.loss))
        rc = loop_check_params(l);
    return rc;
}

static int run_batches(struct loop *l)
{
    struct progress_state *s = &l->state;
    int rc = 0;

    while (rc == 0 && !l->over && s->done < s->samples && !stop_signal()) {
        int n = loop_batch_size(l);

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
    struct report *r = &l->app->report;

    loop_add_work(l, r, seconds);
    report_add_epoch(r, l->seconds_before + seconds, l->state.loss);
    report_of_epoch(r, "lr", option_real_as_spelled((float)rate_now(l)));
    l->state.all_done += l->state.samples - l->skipped;
    l->state.all_seconds += seconds;
    progress_epoch(&l->progress, &l->state, l->seconds_before + seconds);
    if (!isfinite(l->state.loss))
        fprintf(stderr, "%s: the loss is not finite; --check-finite says where that begins\n",
                l->app->program->name);
}

/* A better model that cannot be written is still in memory. */
static int look_at_best(struct loop *l)
{
    struct app *a = l->app;
    int rc =
        a->options.best && set_is_there(a, APP_DEV) ? best_see(&l->best, a, l->state.epoch) : 0;

    if (rc == CAVS_EIO) {
        fprintf(stderr, "%s: the best model was not written: %s\n", a->program->name,
                cavs_error_message());
        rc = 0;
    }
    if (rc == 0 && a->options.best && best_gave_up(&l->best, a, l->state.epoch)) {
        l->over = true;
        if (!a->options.quiet)
            fprintf(stderr, "%s: no better %s since epoch %d: the training ends\n",
                    a->program->name, a->options.best, l->best.epoch);
    }
    return rc;
}

/* What memory was short for may be the number that --best goes by. */
static int check_report(struct app *a)
{
    return report_is_whole(&a->report)
               ? 0
               : app_fail(&a->error, CAVS_ENOMEM, "no memory for the results");
}

/* What comes after the training of an epoch.  A signal during the evaluation leaves a checkpoint
 * from which it is made anew. */
static int evaluate_epoch(struct loop *l)
{
    struct app *a = l->app;
    int rc = set_is_there(a, APP_DEV) ? app_report_set(a, APP_DEV) : 0;

    a->dev_is_new = a->dev_is_new && rc != 0;
    if (rc > 0)
        return a->options.checkpoint ? loop_checkpoint_before_evaluation(l) : 0;
    if (rc < 0 || (rc = check_report(a)) < 0 || (!l->over && (rc = look_at_best(l)) < 0))
        return rc;
    epoch_log_add(&l->log, a, a->report.epoch);
    report_end_epoch(&a->report);
    return a->options.checkpoint && a->status != APP_DIVERGED ? loop_checkpoint_after_epoch(l) : 0;
}

/* All batches are behind. */
static int end_epoch(struct loop *l)
{
    int rc;

    if (!isfinite(l->state.loss) && (rc = loop_check_params(l)) < 0)
        return rc;
    rc = app_report_set(l->app, APP_TRAIN);
    return rc < 0 ? rc : evaluate_epoch(l);
}

/* The next epoch begins with its first batch. */
static void rewind_epoch(struct loop *l)
{
    l->skipped = l->state.done = l->state.batch = 0;
    l->seconds_before = 0;
}

/* From where the run stands to the end of the epoch. */
static int run_epoch(struct loop *l)
{
    double seconds;
    int rc = l->skipped ? 0 : cavs_session_reset_metrics(l->app->session);

    if (l->evaluates) {
        l->evaluates = false;
        rewind_epoch(l);
        return evaluate_epoch(l);
    }
    cavs_session_reset_stats(l->app->session);
    loop_draw_order(l);
    l->started = app_now();
    if (rc < 0 || (rc = run_batches(l)) < 0)
        return rc;
    seconds = app_now() - l->started;
    if (l->state.done < l->state.samples && !l->over)
        return 0; /* a signal */
    if ((rc = read_loss(l)) < 0)
        return rc;
    record_epoch(l, seconds);
    rewind_epoch(l);
    return end_epoch(l);
}

static void say_stopped(const struct loop *l)
{
    struct app *a = l->app;

    a->stop_was_said = true;
    fprintf(stderr, "%s: stopped by %s ", a->program->name, stop_signal_name());
    if (l->state.done)
        fprintf(stderr, "in epoch %d after %d of %d samples", l->state.epoch, l->state.done,
                l->state.samples);
    else
        fprintf(stderr, "after epoch %d", l->app->report.epochs);
    if (a->options.checkpoint && !l->failed_at)
        fprintf(stderr, "; go on with --resume %s\n", a->options.checkpoint);
    else
        fprintf(stderr, "; nothing was kept%s\n",
                a->options.checkpoint ? "" : ": --checkpoint DIR does");
}

static int run_epochs(struct loop *l)
{
    struct app *a = l->app;
    int rc = 0;

    l->state.epoch = 1;
    if (a->options.resume)
        rc = loop_resume(l);
    if (rc == 0)
        rc = epoch_log_open(&l->log, a);
    while (rc == 0 && !l->over && l->state.epoch <= l->state.epochs && !stop_signal()) {
        rc = run_epoch(l);
        if (rc == 0 && !stop_signal())
            l->state.epoch++;
    }
    if (rc == 0 && stop_signal())
        say_stopped(l);
    else if (rc == 0 && l->best.epoch)
        rc = best_restore(&l->best, a);
    if (rc == 0 && l->failed_at > 0 && a->status == APP_OK)
        a->status = APP_FAILED;
    return rc;
}

int app_train(struct app *a)
{
    int size = set_size(a, APP_TRAIN), batch = a->options.batch, rc;
    struct loop l = {
        .app = a,
        .progress = progress_start(a->options.quiet, a->report.unit),
        .state = {.epochs = a->options.epochs,
                  .samples = size,
                  .batches = size / batch + (size % batch != 0)},
        .order = malloc(((size_t)size + 1) * sizeof(int)),
    };

    if (!l.order)
        return CAVS_ENOMEM;
    a->report.measured = a->options.session.measure;
    rc = run_epochs(&l);
    best_clear(&l.best, a);
    epoch_log_close(&l.log);
    free(l.order);
    return rc;
}
