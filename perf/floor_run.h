/* SPDX-License-Identifier: Apache-2.0 */
/* floor_run.h - the threads of the hand-written models, and what each has of a batch. */
#ifndef CAVS_PERF_FLOOR_RUN_H
#define CAVS_PERF_FLOOR_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "perf/floor.h"

struct floor_barrier {
    int threads;
    atomic_int arrived, round;
};

/* The table's rows that a thread updates: where each one's gradients are. */
struct floor_touched {
    int64_t *stamp; /* [words]: the batch that a word was last seen in */
    int *number;    /* [words]: its place in ids */
    int32_t *ids, *ptr, *source, *row, *next;
};

struct floor_member {
    struct floor_part part;
    struct floor_run *run;
    pthread_t thread;
    int *trees; /* of the batch */
    int ntrees;
    struct floor_touched touched;
};

struct floor_sized_tree {
    int tree, vertices;
};

struct floor_run {
    const struct floor_settings *set;
    struct floor_params *params;
    struct floor_barrier barrier;
    struct floor_member *members;
    const int *order;
    int samples;
    int64_t step; /* updates so far */
    double loss;  /* of the epoch */
    int64_t count;
    struct floor_sized_tree *sorted; /* [batch]: its trees, largest first */
};

/* floor_update.c: a thread's share of all parameters follows from the gradients of the batch. */
void floor_update(struct floor_member *m);

#endif
