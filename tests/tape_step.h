/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_step.h - a step of a recurrent network, as tests record it: with a looked-up table E, a
 * matrix U, both of the model, and dropout.
 */
#ifndef CAVS_TESTS_TAPE_STEP_H
#define CAVS_TESTS_TAPE_STEP_H

#include "core/cavs.h"

/* E and U, for tape_step(); U within so much of zero. */
static inline void tape_step_params(struct cavs_model *m, int words, int width, float range)
{
    cavs_model_param(m, "E", words, width, CAVS_UNIFORM(-1, 1));
    cavs_model_param(m, "U", width, width, CAVS_UNIFORM(-range, range));
}

/* tanh(E[word] + dropout(h) U) */
static inline struct cavs_symbol *tape_step(struct cavs_tape *t, const struct cavs_model *m,
                                            struct cavs_symbol *h, int word)
{
    struct cavs_param *E = cavs_model_find_param(m, "E"), *U = cavs_model_find_param(m, "U");

    return cavs_tanh(
        cavs_add(cavs_lookup(E, cavs_tape_id(t, word)), cavs_matmul(cavs_dropout(h, 0.3f), U)));
}

#endif
