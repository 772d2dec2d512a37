/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.h - what tasks cost, measured when the runtime starts: how much work a task must be worth
 * for the runtime's own cost not to show.  Only where tasks are cut depends on it, never a result.
 */
#ifndef CAVS_CORE_RUN_COST_H
#define CAVS_CORE_RUN_COST_H

#include "core/compile/plan.h"

struct cavs__cost_model {
    bool given;  /* by CAVS_COST, not measured */
    double task; /* seconds of the runtime for a task in a chain of tasks */
    struct cavs__rates rates;
    /* Seconds of the main thread, where its clock does not run (simulated.h); else 0: a sample in
     * the schedule of its shard, and in all else that is prepared; a submitted task. */
    double arrange, lay_out, submit;
    double around; /* and of a worker, before a task and after it; else 0 */
};

/* The same on all machines: for what decides about results' last bits. */
extern const struct cavs__rates cavs__nominal_rates;

/* Measures on this thread and on StarPU's workers, which must have been started; about 2 ms.
 * quiet: does not submit tasks (a trace would show them).  What CAVS_COST says is not measured. */
void cavs__cost_measure(struct cavs__cost_model *c, bool quiet);
/* Products of bfloat16 operands on this thread; less than 1 ms. */
void cavs__cost_measure_bf16(struct cavs__rates *r);

#endif
