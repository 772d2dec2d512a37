/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - a part on a device: each step is launched once for all rows of a segment, so that the
 * scratch of a task holds values of all of them. A segment for which it is too small goes through
 * in blocks.
 */
#ifndef CAVS_CODELETS_DEVICE_WALK_H
#define CAVS_CODELETS_DEVICE_WALK_H

#include "codelets/device/device.h"
#include "codelets/part.h"

/* Floats of scratch for so many rows, whose lists have so many entries (by list of the part). */
size_t cavs__part_device_floats(const struct cavs__part *p, int rows, const int32_t *entries);
/* Kernels that the device launches for each run of so many rows. */
int cavs__part_launches(const struct cavs__part *p, const struct cavs__device *d, int rows);
/* Why the device cannot run all steps, for people; NULL: it can. */
const char *cavs__part_obstacle(const struct cavs__part *p, const struct cavs__device *d);
/* Calls that are one launch: a sequence, which the first one names, or else products, if there are
 * several, with a group before or after them.  0, or -1: the walk ends. */
typedef int cavs__take_fn(int n, const struct cavs__device_call *const *calls);
/* Makes all calls of a task, in order.  The last of the nbuffers buffers is scratch of so many
 * floats. Nothing is said of the device but in the calls: tests walk in main memory. */
int cavs__part_walk(struct cavs__device *d, const struct cavs__part_args *a, int nbuffers,
                    const struct cavs__memory *buffers, size_t scratch, cavs__take_fn *take);
/* Queues all kernels of a task. */
int cavs__part_queue(struct cavs__device *d, const struct cavs__part_args *a, int nbuffers,
                     const struct cavs__memory *buffers, size_t scratch);

#endif
