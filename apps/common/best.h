/* SPDX-License-Identifier: Apache-2.0 */
/*
 * best.h - --best and --patience: the model of the epoch that was best on the development set.
 *
 * Its parameters are kept in memory, written to --save when a better one is found, so that a crash
 * does not lose it, and with --checkpoint to DIR/best.safetensors, from where a resumed run has
 * them.
 */
#ifndef CAVS_APPS_BEST_H
#define CAVS_APPS_BEST_H

#include "apps/common/program.h"

struct best {
    double value;
    int epoch;      /* 0: none yet */
    float **params; /* by number; NULL where none is kept */
    bool is_behind; /* what is in the folder of --checkpoint is not the best, or not there */
};

/* Start from a zeroed struct.  The epoch is over and its development set evaluated: is it the
 * best? */
int best_see(struct best *b, struct app *a, int epoch);
/* A checkpoint is to be written that says which epoch is the best: its model is there before. */
int best_catch_up(struct best *b, struct app *a);
/* Whether --patience has run out. */
bool best_gave_up(const struct best *b, const struct app *a, int epoch);
/* Reads back what a run that is resumed had found; value and epoch are those of its checkpoint. */
int best_resume(struct best *b, struct app *a);
/* The session gets the best parameters. */
int best_restore(const struct best *b, struct app *a);
void best_clear(struct best *b, const struct app *a);

#endif
