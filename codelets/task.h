/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - the StarPU codelets: how a worker runs the parts of a task.
 *
 * A task's buffers are those of its kind, then one scratch block.  Its argument is a struct
 * cavs__part_args, owned by whoever submitted it.  What a codelet does on devices is decided here
 * and nowhere else.
 */
#ifndef CAVS_CODELETS_TASK_H
#define CAVS_CODELETS_TASK_H

#include <starpu.h>

#include "codelets/device_set.h"
#include "codelets/part.h"

/* Fills a codelet that runs parts, with a performance model keyed by task kind, shapes and number
 * of rows. name is kept by reference. */
void cavs__task_codelet(const char *name, struct starpu_codelet *cl);
/* Kinds of devices that cannot run a part; if there is one, *why says why, else it is left
 * alone. */
uint32_t cavs__task_not_on(const struct cavs__part *p, const char **why);
/* Lets a codelet of parts (by function number, NULL where there is none) run on those kinds of
 * devices that can run all of them; *why likewise. */
void cavs__task_on_devices(struct starpu_codelet *cl, int n, struct cavs__part *const *parts,
                           const char **why);
/* Lets a codelet run this on all kinds of devices, or on those that compute in double. */
void cavs__task_run_on_devices(struct starpu_codelet *cl, bool needs_double,
                               cavs__device_task *run);

#endif
