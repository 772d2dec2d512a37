/* SPDX-License-Identifier: Apache-2.0 */
/* known_classes.h - how many are right where classes are words of a vocabulary. */
#ifndef CAVS_APPS_KNOWN_CLASSES_H
#define CAVS_APPS_KNOWN_CLASSES_H

#include <float.h>

#include "apps/common/vocab.h"
#include "core/cavs.h"

/* cavs_correct() of what predictions choose, which <unk>, the first class, never is: a label that
 * training has not seen is a mistake, whatever the model says. */
static inline struct cavs_symbol *correct_known(struct cavs_function *f, struct cavs_symbol *logits,
                                                struct cavs_symbol *labels)
{
    int first = VOCAB_UNKNOWN + 1, known = cavs_symbol_width(logits) - first;
    struct cavs_symbol *scores[2] = {cavs_constant(f, first, -FLT_MAX)};

    if (!known)
        return cavs_constant(f, 1, 0);
    scores[1] = cavs_slice(logits, first, known);
    return cavs_correct(cavs_concat(2, scores), labels);
}

#endif
