/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_task.h - the StarPU codelets around what ranks send to one another: sums of gradients,
 * values of parameters as they travel, norms.
 */
#ifndef CAVS_CODELETS_EXCHANGE_TASK_H
#define CAVS_CODELETS_EXCHANGE_TASK_H

#include <stdbool.h>

#include <starpu.h>

#include "codelets/update.h"

/* Arguments are owned by whoever submitted the task.  A parcel is a buffer with some parameters one
 * after the other, without gaps. */

/* A parameter in a parcel, or rows of it. */
struct cavs__parcel_item {
    int first, rows, cols;
    size_t at;    /* where in the parcel they begin */
    ptrdiff_t ld; /* of its gradients, or of its values */
    /* sums: this rank's partial gradients */
    int ngrads;
    uint8_t partial[CAVS__PARTIALS];
    /* values: what else they are written to */
    int ncopies;
    struct cavs__copy copies[CAVS__LAYOUTS]; /* without their addresses */
};

/* Sums of dense gradients.  Buffers: the sum, which is a parcel; of each item its partial
 * gradients; parcels with sums of others. */
struct cavs__sum_args {
    int nitems, nothers;
    const struct cavs__parcel_item *items;
    uint8_t other[CAVS__PARTIALS]; /* the first of the partial gradients that each has added up */
};
void cavs__sum_codelet(struct starpu_codelet *cl);

/* Sums of touched rows, as cavs__sum_sparse() takes them: each sum is a row of a block.  Buffers:
 * blocks that are written; blocks whose rows are added up; the gradients of this rank. */
struct cavs__sum_rows_args {
    int n, cols;
    const int32_t *ptr, *source, *row; /* source: number of a block, or nblocks + a gradient */
    const int32_t *to, *at;            /* [n] number of a block, and which row of it */
    int nblocks;                       /* numbers that blocks may have */
    int nwritten, nread, ngrads;
    const int32_t *number; /* [nwritten + nread] of the blocks that there are */
    ptrdiff_t ldg;
    /* scratch of the task: [nblocks], [n], and both [nblocks + ngrads] */
    float **blocks, **places;
    const float **sources;
    ptrdiff_t *ld;
};
void cavs__sum_rows_codelet(struct starpu_codelet *cl);

/* Buffers: a parcel; of each item the parameter and, where it is written, its copies.  Without a
 * parcel (`there`) the values are in the parameter already. */
struct cavs__values_args {
    int nitems;
    bool there;
    const struct cavs__parcel_item *items;
};
/* Copies parameters into a parcel; copies a parcel into parameters, or values that are there
 * already into their copies. */
void cavs__pack_codelet(struct starpu_codelet *cl);
void cavs__unpack_codelet(struct starpu_codelet *cl);

/* Collects the sums of squares of all parameters from the ranks that have them.  Buffers: norms; of
 * each of n other ranks what it has. */
struct cavs__norms_args {
    int n, nparams;
    const int32_t *source; /* [nparams] which buffer, -1: it is there already */
};
void cavs__norms_codelet(struct starpu_codelet *cl);

#endif
