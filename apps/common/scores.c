/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/scores.h"

#include <math.h>

#include "apps/common/json_build.h"
#include "apps/common/utf8.h"

static int likeliest_from(const float *score, int n, int first)
{
    int best = first;

    for (int k = first + 1; k < n; k++)
        if (score[k] > score[best])
            best = k;
    return best;
}

int scores_likeliest(const float *score, int n)
{
    return likeliest_from(score, n, 0);
}

int scores_likeliest_known(const float *score, int n)
{
    return n > 1 ? likeliest_from(score, n, VOCAB_UNKNOWN + 1) : VOCAB_UNKNOWN;
}

/* Of exp(score - the largest), so that none overflows. */
static double sum_of(const float *score, int n, float largest)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += exp((double)score[k] - largest);
    return sum;
}

double scores_probability(const float *score, int n, int k)
{
    float largest = score[scores_likeliest(score, n)];

    return exp((double)score[k] - largest) / sum_of(score, n, largest);
}

json_t *scores_to_json(const float *score, int n, const struct vocab *v, int first)
{
    float largest = score[scores_likeliest(score, n)];
    double sum = sum_of(score, n, largest);
    json_t *all = json_object();

    for (int k = 0; all && k < n; k++) {
        json_t *name = utf8_to_json(vocab_word(v, first + k));

        json_build_set(&all, json_string_value(name),
                       json_build_number(exp((double)score[k] - largest) / sum));
        json_decref(name);
    }
    return all;
}
