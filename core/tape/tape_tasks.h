/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_tasks.h - V_t of a tape become tasks of the session's engine.
 *
 * Consecutive V_t run in one task until it is worth the grain, as in a declared model's chain.  A
 * task lists the parameters that its V_t read, and ends when they become too many.  Sums over rows
 * are a task for each parameter, over all signatures that it is in.
 */
#ifndef CAVS_CORE_TAPE_TAPE_TASKS_H
#define CAVS_CORE_TAPE_TAPE_TASKS_H

#include "codelets/part.h"
#include "core/tape/tape.h"

/* Segments that are being put into tasks of one kind. */
struct cavs__sending {
    struct cavs_tape *t;
    struct cavs__engine *e;
    int slot, shard;
    const struct cavs__task_kind *k;
    enum cavs__phase phase;
    const struct cavs__part **parts; /* by function */
    int first, n;                    /* segments of the next task */
    struct cavs__segment *segments;
    bool keeps; /* some of them keep values for other parts */
    int nparams;
    int16_t params[CAVS__MOST_PARAMS];
    double seconds, grain;
};

/* A task being put together. */
struct cavs__new_task {
    struct starpu_task *task;
    struct cavs__part_args *a;
    int16_t *numbers; /* a->numbers, and for how many there is room; NULL: none so far */
    int room;
};

/* Memory of the slot; NULL: out of memory, which is reported. */
void *cavs__sending_take(struct cavs__sending *w, size_t bytes);
/* most: segments of all tasks together. */
int cavs__sending_begin(struct cavs__sending *w, struct cavs_tape *t, int slot, int shard,
                        const struct cavs__task_kind *k, int64_t most);
/* How many segments cavs__next_reached() gives of V_t i, at most. */
static inline int64_t cavs__segments_reached(const struct cavs__increment *d, int i)
{
    int32_t n = d->reached[i], others = d->vt[i].n - n;

    return n <= others ? n : others + 1;
}
/* Finds the next rows of V_t i, behind *rows, that gradients reach and that lie one after the
 * other. *rows begins as no rows, at the first of V_t i.  false: there are no more. */
bool cavs__next_reached(const struct cavs_tape *t, const struct cavs__increment *d, int i,
                        struct cavs__vt *rows);
/* Adds a V_t, or some of its rows, to the next task. */
int cavs__add_segment(struct cavs__sending *w, const struct cavs__increment *d,
                      const struct cavs__vt *vt);
/* Opens a task of the segments so far; then its buffers are added, any number of them, and then it
 * is submitted.  If memory is short for a buffer, submitting gives CAVS_ENOMEM. */
int cavs__open_task(struct cavs__sending *w, struct cavs__new_task *k);
/* Parts know the buffers of a task as they come, */
void cavs__add_buffer(struct cavs__sending *w, struct cavs__new_task *k, int tensor, int chunk,
                      bool written);
/* or all by the numbers of their tensors. */
void cavs__add_chunk(struct cavs__sending *w, struct cavs__new_task *k, int tensor, bool written);
int cavs__close_task(struct cavs__sending *w, struct cavs__new_task *k, int priority);
/* tape_sum_tasks.c: submits the sums of a phase. */
int cavs__submit_sums(struct cavs_tape *t, int slot, int shard, enum cavs__phase phase);

#endif
