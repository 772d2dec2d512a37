/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_checkpoint.h - --checkpoint, --every and --resume: a run that was stopped goes on where its
 * last checkpoint was written, and comes to the same numbers as if it had never stopped.
 *
 * A checkpoint is one file, DIR/checkpoint.safetensors, replaced as a whole: the session's, with
 * how far the run has come and its report so far in the note.  With --best, DIR/best.safetensors is
 * the best model so far.
 */
#ifndef CAVS_APPS_RUN_CHECKPOINT_H
#define CAVS_APPS_RUN_CHECKPOINT_H

#include "apps/common/program.h"

/* Where a run stands: before the batch that begins with sample `done` of that epoch's order. */
struct standing {
    int epoch, epochs; /* from 1 */
    int samples;       /* of the training set */
    int done, batch;   /* samples and batches of this epoch that are behind it */
    double seconds;    /* that this epoch has taken so far */
    double best;       /* the best number on the development set so far, */
    int best_epoch;    /* and when it was; 0: there is none */
};

/* The names of the files in a folder, to be freed; NULL when memory is short. */
char *checkpoint_file(const char *folder);
char *checkpoint_best_file(const char *folder);

/* Sees to it that checkpoints can be written, that no other run writes there until _close(), and
 * that none is overwritten by a run that did not resume. */
int checkpoint_prepare(struct app *a);
void checkpoint_close(struct app *a);
/* `so_far`: the report with what has been done of this epoch. */
int checkpoint_write(struct app *a, const struct standing *s, const struct report *so_far);
/* Resumes session and report; *s is set but for epochs and samples, which it has to say. */
int checkpoint_read(struct app *a, struct standing *s);

#endif
