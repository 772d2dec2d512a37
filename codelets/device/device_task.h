/* SPDX-License-Identifier: Apache-2.0 */
/* device_task.h - what makes StarPU's codelets run on devices as well. */
#ifndef CAVS_CODELETS_DEVICE_DEVICE_TASK_H
#define CAVS_CODELETS_DEVICE_DEVICE_TASK_H

#include <starpu.h>

#include "codelets/part.h"

/* Lets a codelet of parts (by function number, NULL where there is none) run on those kinds of
 * devices that can run all of them. If there is a kind that cannot, *why says why, else it is left
 * alone. */
void cavs__task_devices(struct starpu_codelet *cl, int n, struct cavs__part *const *parts,
                        const char **why);
/* The codelets of update_task.h. */
void cavs__update_devices(struct starpu_codelet *cl, bool clips);
void cavs__norm_devices(struct starpu_codelet *cl);

#endif
