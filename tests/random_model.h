/* SPDX-License-Identifier: Apache-2.0 */
/* random_model.h - vertex functions that nobody would write, drawn at random, with graphs for
 * them. */
#ifndef CAVS_TESTS_RANDOM_MODEL_H
#define CAVS_TESTS_RANDOM_MODEL_H

#include <stdint.h>

#include "core/declare/model.h"

enum { DRAW_POOL = 60, DRAW_SAMPLES = 6 };

/* Everything that is drawn for one model; a seed is the whole of it. */
struct draw {
    uint64_t seed;
    struct cavs_model *m; /* set by the caller, and empty */
    struct cavs_stage *stages[3];
    int nstages, kinds;      /* functions of the first stage: by number of children */
    struct cavs_function *f; /* being built */
    int nsymbols;
    struct cavs_symbol *pool[DRAW_POOL]; /* its values so far */
    uint64_t shapes; /* a hash of the values' shapes, which later draws depend on */
    char texts[DRAW_SAMPLES][200];
};

/* 0 .. n-1 */
int draw_pick(struct draw *d, int n);
/* Declares d->m, which is not finished then: a graph with functions by number of children, then
 * perhaps a stage over it, then perhaps another graph. */
void draw_model(struct draw *d);
/* Texts for sample_make(); after draw_model(). */
void draw_samples(struct draw *d);

#endif
