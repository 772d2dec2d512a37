/* SPDX-License-Identifier: Apache-2.0 */
/* train_loop.h - what the files of app_train() share: where the run stands, and the checkpoints it
 * writes there. */
#ifndef CAVS_APPS_TRAIN_LOOP_H
#define CAVS_APPS_TRAIN_LOOP_H

#include "apps/common/best.h"
#include "apps/common/epoch_log.h"
#include "apps/common/program.h"
#include "apps/common/progress.h"

/* One run of app_train(). */
struct loop {
    struct app *app;
    struct progress progress;
    struct progress_state state;
    struct best best;
    struct epoch_log log;
    int *order; /* the samples in the order of this epoch */
    double started;
    unsigned raised;  /* what all ranks know of, after the last batch */
    bool over;        /* nothing more is to be trained */
    double failed_at; /* when the last checkpoint could not be written; 0: it could */
    /* the run resumed where all batches of the epoch were behind it, but not its evaluation */
    bool evaluates;
    /* of this epoch, what was done before a checkpoint from which the run has resumed */
    int skipped;
    double seconds_before;
};

/* train.c: the order of the samples in the epoch at hand, which depends on the seed and the epoch
 * only; how many the next batch has, which begins at state.done; and what this process has done of
 * the epoch, for the report. */
void loop_draw_order(struct loop *l);
int loop_batch_size(const struct loop *l);
void loop_add_work(const struct loop *l, struct report *r, double seconds);
/* Ends the run if the parameters are no numbers any more: from there, nothing comes back. */
int loop_check_params(struct loop *l);

/* train_checkpoint.c: writes a checkpoint in the middle of an epoch, after its last batch, or after
 * it.  What cannot be written is said, and tried again: the run is worth more than its checkpoint.
 * Negative codes are for other mistakes. */
int loop_checkpoint_in_epoch(struct loop *l);
int loop_checkpoint_before_evaluation(struct loop *l);
int loop_checkpoint_after_epoch(struct loop *l);
/* Whether one that could not be written is to be tried again; whether one is due after a batch. */
bool loop_retries_checkpoint(const struct loop *l);
bool loop_checkpoint_is_due(const struct loop *l);
/* Takes the run up from --resume: sets the epoch to begin with, and where in it. */
int loop_resume(struct loop *l);

#endif
