/* SPDX-License-Identifier: Apache-2.0 */
/* rows_task.h - the StarPU codelet that adds the gradients of rows that were looked up to a dense
 * gradient of the same parameter. */
#ifndef CAVS_CODELETS_ROWS_TASK_H
#define CAVS_CODELETS_ROWS_TASK_H

#include <stdbool.h>

#include <starpu.h>

#include "codelets/update.h"

/* Argument, owned by whoever submitted the task.  Buffers: the dense gradient; the lists, which
 * hold what cavs__add_rows() takes from these positions on; the gradients of rows. */
struct cavs__rows_args {
    int rows, cols;    /* of the dense gradient's whole; columns that are added to */
    int from;          /* the first of them */
    bool first;        /* nothing has been added to it yet: it is zero */
    ptrdiff_t ld, ldg; /* of the dense gradient, of the rows */
    int n, ptr, source, row;
    int ngrads;
    const float **gradients; /* [sources] scratch of the task; of others NULL */
    const int *buffer; /* [sources] its buffer among the gradients; -1: it is not added here */
    int nsources;
    uint64_t *nanoseconds; /* as of an update */
};

void cavs__rows_codelet(struct starpu_codelet *cl);

#endif
