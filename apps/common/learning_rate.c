/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/learning_rate.h"

#include <math.h>
#include <stddef.h>

const char *const rate_schedule_names[] = {"constant", "step", "exponential", "cosine", NULL};

bool learning_rate_is_constant(const struct learning_rate *r)
{
    return r->schedule == RATE_CONSTANT && r->warmup == 0;
}

static double schedule_at(const struct learning_rate *r, double epochs_behind, int epochs)
{
    double share = epochs > 0 ? fmin(1, epochs_behind / epochs) : 0;

    switch ((enum rate_schedule)r->schedule) {
    case RATE_CONSTANT: return 1;
    case RATE_STEP: return pow((double)r->factor, floor(epochs_behind / r->step));
    case RATE_EXPONENTIAL: return pow((double)r->factor, epochs_behind);
    case RATE_COSINE: return r->factor + (1 - r->factor) * 0.5 * (1 + cos(M_PI * share));
    }
    return 1;
}

double learning_rate_at(const struct learning_rate *r, long before, int batches, int epochs)
{
    double epochs_behind = batches > 0 ? (double)before / batches : 0;
    double warm = before < r->warmup ? (double)(before + 1) / r->warmup : 1;

    return warm * schedule_at(r, epochs_behind, epochs);
}
