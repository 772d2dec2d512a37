/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial_rounding.c - what rounding may do to the numbers that are compared.
 *
 * Where terms cancel, or tanh and its like are close to their limits, the last digit of a value is
 * the first of what comes of it.  How much that is the oracle says: it is run with noise.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/trial.h"

enum { TRIES = 6 };
/* Noise may be lucky: sums in float32 have more roundings than the oracle has values. */
static const double ROUNDING = 0x1p-23, UNLUCKY = 16;

double trial_rounding(struct trial *t, size_t n, const double *want, trial_numbers *again,
                      const void *of)
{
    double most = 0;
    t->oracle->noise = ROUNDING;
    for (int i = 0; i < TRIES; i++) {
        double *moved = again(t, of);
        for (size_t j = 0; j < n; j++)
            most = fmax(most, fabs(moved[j] - want[j]));
        free(moved);
    }
    t->oracle->noise = 0;
    free(again(t, of)); /* it has again what it had */
    return UNLUCKY * most;
}
