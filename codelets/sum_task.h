/* SPDX-License-Identifier: Apache-2.0 */
/* sum_task.h - the StarPU codelet that adds the gradients of one rank to those of the ranks
 * before. */
#ifndef CAVS_CODELETS_SUM_TASK_H
#define CAVS_CODELETS_SUM_TASK_H

#include <stdbool.h>

#include <starpu.h>

#include "codelets/update.h"

/* Argument, owned by whoever submitted the task.  Buffers: the sum; of a sparse gradient with
 * `old` > 0 what the ranks before have; the gradients. */
struct cavs__sum_args {
    int rows, cols;
    bool adds; /* to what is there */
    size_t at; /* where in the buffer of the sum this one begins */
    ptrdiff_t ldg;
    int ngrads;
    const float **gradients; /* scratch of the task */
    bool sparse;             /* then: as cavs__sum_sparse() has it, in main memory */
    int n, old;
    const int32_t *ptr, *source, *row, *place;
};

void cavs__sum_codelet(struct starpu_codelet *cl);

#endif
