/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - one sample for all stages of a model, made from a line of text, handed alike to the
 * library and the oracle.
 */
#ifndef CAVS_TESTS_SAMPLE_H
#define CAVS_TESTS_SAMPLE_H

#include <stdint.h>

#include "core/declare/model.h"
#include "tests/graphs.h"

struct sample_stage {
    int n;               /* vertices */
    struct graph *graph; /* no edges and function 0 for a stage that stands over another */
    int *under;          /* [n] vertex of the base stood over; NULL without a base */
    int **ids;           /* [ninputs] each [values], or NULL where the input is of rows */
    float **rows;        /* [ninputs] each [values * width], or NULL where the input is of ids */
    int **ptr;           /* [ninputs] each [n + 1], first entry of each vertex; or NULL */
};

struct sample {
    const struct cavs_model *model;
    struct sample_stage *stages; /* [nstages] */
};

/* text: the graphs (graphs.h) of the stages that bring their own, in order, separated by '|'.
 * Inputs are filled at random: rows uniform in [-1, 1), ids anywhere in their range or, one time
 * in eight, -1; lists have up to 4 entries.  Aborts when text and model do not fit. */
struct sample *sample_make(const struct cavs_model *finished, const char *text, uint64_t seed);
void sample_free(struct sample *s);
/* The ids or rows of an input by name, for a test to change before the sample is added. */
int *sample_ids(struct sample *s, int stage, const char *input);
float *sample_rows(struct sample *s, int stage, const char *input);

/* Adds it to the data: what cavs_data_end(), or the first call that failed, returns. */
int sample_add(const struct sample *s, struct cavs_data *d);

#endif
