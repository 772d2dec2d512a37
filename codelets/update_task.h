/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update_task.h - the StarPU codelets of the optimizer: how a worker updates a parameter, or adds
 * up the squares of its gradient.
 */
#ifndef CAVS_CODELETS_UPDATE_TASK_H
#define CAVS_CODELETS_UPDATE_TASK_H

#include <stdbool.h>

#include <starpu.h>

#include "codelets/part.h"
#include "codelets/update.h"

/* Argument of both, owned by whoever submitted the task.  Buffers of an update: the parameter, its
 * states, its copies, the gradients, [norms], [lists], [scratch], or instead of gradients and what
 * follows them scratch and the buffers of each `made`; of a norm: norms, the gradients, [lists],
 * [scratch]. */
struct cavs__update_args {
    struct cavs__update rule;
    float clip;
    int nnorms;      /* > 0: norms holds that many sums of squares */
    int first, rows; /* of a dense parameter: all of them, or a piece */
    int cols, nstates, number;
    ptrdiff_t ld, ldg;
    int ncopies;
    struct cavs__copy copies[CAVS__LAYOUTS]; /* without their addresses */
    int ngrads;
    uint8_t partial[CAVS__PARTIALS]; /* which one each gradient of a dense parameter is */
    const float **gradients; /* scratch of the task: room for ngrads, and CAVS__PARTIALS, of them */
    const struct cavs__made *made; /* NULL: the gradients are there */
    size_t at;                     /* where in the buffers of the gradients these begin, */
    int grads_from, states_from;   /* with which row of the parameter; and the states likewise */
    bool summed;                   /* norms keep what they add up, and updates read that */
    bool sparse; /* then lists holds what cavs__update_sparse() takes, from these positions on */
    int n, ids, ptr, source, row;
    uint64_t *nanoseconds; /* that tasks take on CPUs are added here; NULL: do not measure */
};

/* clips: the task reads norms. Both codelets run on devices, too, as far as these compute in
 * double. */
void cavs__update_codelet(struct starpu_codelet *cl, bool clips);
void cavs__norm_codelet(struct starpu_codelet *cl);

#endif
