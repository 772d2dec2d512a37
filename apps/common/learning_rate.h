/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learning_rate.h - how the learning rate changes in the course of a training.
 *
 * It is a function of how many batches are behind, so a resumed run needs nothing but the options
 * to go on with it.
 */
#ifndef CAVS_APPS_LEARNING_RATE_H
#define CAVS_APPS_LEARNING_RATE_H

#include <stdbool.h>

enum rate_schedule { RATE_CONSTANT, RATE_STEP, RATE_EXPONENTIAL, RATE_COSINE };
extern const char *const rate_schedule_names[]; /* ended by NULL */

struct learning_rate {
    int schedule; /* enum rate_schedule */
    int step;     /* RATE_STEP: multiply by `factor` after so many epochs */
    /* RATE_STEP, RATE_EXPONENTIAL: of an epoch; RATE_COSINE: share of the rate that is left at the
     * end */
    float factor;
    /* so many batches from 0 to the full rate, in a straight line; the schedule runs meanwhile */
    int warmup;
};

/* Whether the rate is the same throughout. */
bool learning_rate_is_constant(const struct learning_rate *r);
/* What to multiply --lr by for a batch, `before` batches of a run of `epochs` epochs of `batches`
 * batches being behind. */
double learning_rate_at(const struct learning_rate *r, long before, int batches, int epochs);

#endif
