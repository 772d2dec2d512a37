/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.h - --checkpoint, --every and --resume: a run that was stopped goes on where its last
 * checkpoint was written, and comes to the same numbers as if it had never stopped.
 *
 * A checkpoint is one file, DIR/checkpoint.safetensors, replaced as a whole: the session's, with how far the
 * run has come and its report so far in the note.
 */
#ifndef CAVS_APPS_CHECKPOINT_H
#define CAVS_APPS_CHECKPOINT_H

#include "apps/common/app.h"

/* Where a run stands: before the batch that begins with sample `done` of that epoch's order. */
struct standing {
    int epoch, epochs; /* from 1 */
    int samples;       /* of the training set */
    int done, batch;   /* samples and batches of this epoch that are behind it */
    double seconds;    /* that this epoch has taken so far */
};

/* Sees to it that checkpoints can be written, and that none is overwritten by a run that did not resume. */
int checkpoint_prepare(const struct app_options *o, struct app_error *e);
/* `so_far`: the report with what has been done of this epoch. */
int checkpoint_write(struct app *a, const struct standing *s, const struct report *so_far,
                     struct app_error *e);
/* Resumes session and report; *s is set but for epochs and samples, which it has to say. */
int checkpoint_read(struct app *a, struct standing *s, struct app_error *e);

#endif
