/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_stages.c - see random_program.h: stages that the model of a family declares
 * (random_model.h).  Their parameters are the programs', as far as they have the same shape.
 */
#include <stdio.h>
#include <string.h>

#include "tests/random_program.h"
#include "tests/trial.h"

/* What a tape mentions first becomes a metric of the model, which the oracle of the stages would
 * not know. */
static void name_metrics(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "named", 0), "f");
    struct cavs_symbol *zero = cavs_constant(f, 1, 0);

    for (int i = 0; i < PROGRAM_SUMMED; i++)
        cavs_metric_at(f, program_summed[i], zero, NULL, i < PROGRAM_LOSSES, CAVS_HERE);
}

void program_draw_stages(struct program_family *a)
{
    int widest = a->d.widest;

    a->d.m = a->m;
    draw_model(&a->d);
    a->d.widest = widest;
    name_metrics(a->m);
}

void program_open_samples(struct program_family *a)
{
    const char *text[DRAW_SAMPLES];

    draw_samples(&a->d);
    for (int i = 0; i < DRAW_SAMPLES; i++) {
        char *of = a->d.texts[i];

        /* no sample has vertices of those that are here for tapes alone */
        for (int k = a->d.nstages; k < a->m->nstages; k++)
            snprintf(of + strlen(of), sizeof a->d.texts[i] - strlen(of), "|empty");
        text[i] = of;
    }
    trial_open(&a->trial, a->m, text, DRAW_SAMPLES, NULL);
    a->trial.forgives_rounding = true;
}
