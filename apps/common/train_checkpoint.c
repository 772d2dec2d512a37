/* SPDX-License-Identifier: Apache-2.0 */
/* train_checkpoint.c - when a run writes its checkpoints, and how it goes on from one. */
#include <stdio.h>

#include "apps/common/peers.h"
#include "apps/common/run_checkpoint.h"
#include "apps/common/status.h"
#include "apps/common/stop.h"
#include "apps/common/train_loop.h"

enum { SECONDS_TO_RETRY = 30 }; /* after a checkpoint that could not be written */

/* ---- writing --------------------------------------------------------------------------------- */

static int write_checkpoint(struct loop *l, const struct standing *s, const struct report *so_far)
{
    struct app *a = l->app;
    int rc = loop_check_params(l);

    if (rc < 0 || a->status == APP_DIVERGED)
        return rc;
    if ((rc = best_catch_up(&l->best, a)) == 0)
        rc = checkpoint_write(a, s, so_far);
    l->failed_at = rc < 0 ? app_now() : 0;
    if (rc < 0)
        fprintf(stderr, "%s: no checkpoint: %s; it will be tried again\n", a->program->name,
                app_error_text(rc, &a->error));
    a->error.text[0] = '\0';
    return 0;
}

int loop_checkpoint_in_epoch(struct loop *l)
{
    const struct progress_state *s = &l->state;
    double seconds = app_now() - l->started;
    struct standing here = {.epoch = s->epoch,
                            .samples = s->samples,
                            .done = s->done,
                            .batch = s->batch,
                            .seconds = l->seconds_before + seconds,
                            .best = l->best.value,
                            .best_epoch = l->best.epoch};
    struct report so_far = l->app->report;

    loop_add_work(l, &so_far, seconds);
    return write_checkpoint(l, &here, &so_far);
}

/* The report has the training of this epoch already, as an epoch that is open. */
int loop_checkpoint_before_evaluation(struct loop *l)
{
    struct standing here = {.epoch = l->state.epoch,
                            .samples = l->state.samples,
                            .done = l->state.samples,
                            .batch = l->state.batches,
                            .best = l->best.value,
                            .best_epoch = l->best.epoch};

    return write_checkpoint(l, &here, &l->app->report);
}

int loop_checkpoint_after_epoch(struct loop *l)
{
    struct standing next = {.epoch = l->state.epoch + 1,
                            .samples = l->state.samples,
                            .best = l->best.value,
                            .best_epoch = l->best.epoch};

    return write_checkpoint(l, &next, &l->app->report);
}

bool loop_retries_checkpoint(const struct loop *l)
{
    return l->failed_at > 0 && app_now() - l->failed_at > SECONDS_TO_RETRY;
}

bool loop_checkpoint_is_due(const struct loop *l)
{
    const struct app_options *o = &l->app->options;
    bool due = o->every && l->state.batch % o->every == 0 && l->state.done < l->state.samples;

    return o->checkpoint && (due || (l->raised & PEERS_CHECKPOINT) || stop_signal());
}

/* ---- resuming -------------------------------------------------------------------------------- */

/* Batches that are behind the run draw what they drew, so that the next ones find it as it was. */
static int repeat_draws(struct loop *l, int samples)
{
    struct app *a = l->app;
    int rc = 0;

    loop_draw_order(l);
    for (l->state.done = 0; rc == 0 && a->program->before_batch && l->state.done < samples;) {
        int n = loop_batch_size(l);

        rc = a->program->before_batch(a, l->order + l->state.done, n);
        l->state.done += n;
    }
    return rc;
}

int loop_resume(struct loop *l)
{
    struct progress_state *s = &l->state;
    struct standing here = {.epochs = s->epochs, .samples = s->samples};
    int rc = checkpoint_read(l->app, &here);

    for (s->epoch = 1; rc == 0 && s->epoch < here.epoch; s->epoch++)
        rc = repeat_draws(l, s->samples);
    if (rc == 0)
        rc = repeat_draws(l, here.done);
    s->done = l->skipped = here.done;
    s->batch = here.batch;
    l->seconds_before = here.seconds;
    l->evaluates = report_epoch_is_open(&l->app->report);
    l->best.value = here.best;
    l->best.epoch = here.best_epoch;
    l->over = here.best_epoch && best_gave_up(&l->best, l->app, here.epoch - 1);
    return rc == 0 && here.best_epoch ? best_resume(&l->best, l->app) : rc;
}
