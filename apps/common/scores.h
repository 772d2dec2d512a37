/* SPDX-License-Identifier: Apache-2.0 */
/* scores.h - what scores (logits) of classes say: the likeliest class, and its share of the
 * softmax. */
#ifndef CAVS_APPS_SCORES_H
#define CAVS_APPS_SCORES_H

#include <jansson.h>

#include "apps/common/vocab.h"

/* The class with the largest of n scores; of equal ones the first, as cavs_correct() has it. */
int scores_likeliest(const float *score, int n);
/* Of classes that are words of a vocabulary: <unk> only if it is all there is. */
int scores_likeliest_known(const float *score, int n);
/* The probability of class k of n. */
double scores_probability(const float *score, int n, int k);
/* The probabilities of n classes as an object, by their names, which are the words of v from
 * `first` on; NULL: memory is short. */
json_t *scores_to_json(const float *score, int n, const struct vocab *v, int first);

#endif
