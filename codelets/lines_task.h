/* SPDX-License-Identifier: Apache-2.0 */
/* lines_task.h - the StarPU codelet that collects some lines (CAVS__LINE numbers) of what a device
 * keeps, so that they alone travel. */
#ifndef CAVS_CODELETS_LINES_TASK_H
#define CAVS_CODELETS_LINES_TASK_H

#include <starpu.h>

/* Argument, owned by whoever submitted the task.  Buffers: the collected lines, one after the
 * other; which they are, as int32_t; what they are lines of. */
struct cavs__lines_args {
    int n;
};

void cavs__lines_codelet(struct starpu_codelet *cl);

#endif
