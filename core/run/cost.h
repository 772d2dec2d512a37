/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.h - what tasks cost, measured when the runtime starts: how much work a task must be worth for
 * the runtime's own cost not to show.  Only where tasks are cut depends on it, never a result.
 */
#ifndef CAVS_CORE_RUN_COST_H
#define CAVS_CORE_RUN_COST_H

#include "codelets/part.h"

enum { CAVS__COST_SIZES = 4 /* products of 1, 4, 16, 64 rows */ };

struct cavs__cost_model {
    double task;                   /* seconds of the runtime for a task in a chain of tasks */
    double gemm[CAVS__COST_SIZES]; /* seconds per operation */
    double value;                  /* seconds per number written by element-wise work and copies */
};

/* Measures on this thread and on StarPU's workers, which must have been started; about 2 ms.  quiet: does not
 * submit tasks (a trace would show them). */
void cavs__cost_measure(struct cavs__cost_model *c, bool quiet);
/* Estimate for so many rows of a part in one task, which have so many entries each in the lists of the
 * part. */
double cavs__cost_seconds(const struct cavs__cost_model *c, const struct cavs__part *p, int rows,
                          const double entries[CAVS__PART_LISTS]);
/* The same at nominal rates and two entries a row, the same on all machines: for what decides about results' last bits. */
double cavs__nominal_seconds(const struct cavs__part *p, int rows);

#endif
