/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - tasks that run as one.
 *
 * What the runtime spends on a task shows where a batch is worth little: one tree, a few
 * sentences.  The tasks of such a batch are not submitted one by one but kept, in order, until
 * together they are worth it; one task that takes the data of them all then runs them one after the
 * other, an order that StarPU might have chosen, too.
 *
 * It also shows on a device, whatever a batch is worth: the device has nothing to do from the end
 * of one task until StarPU has seen it and has launched the next one that waited for it, which is
 * the time of several launches.  Tasks at home on one are joined until one comes that is not: where
 * a device is alone, a batch is one task.
 */
#include <string.h>

#include "core/run/engine.h"

enum { MOST_BUFFERS = 512 };

void cavs__join_drop(struct cavs__engine *e)
{
    for (int i = 0; i < e->join.n; i++)
        cavs__task_drop(e->join.tasks[i]);
    e->join = (struct cavs__join){.grain = e->join.grain, .helping = e->join.helping};
}

/* Forgets the first n of the kept tasks, which have become part of another one. */
static void forget_first(struct cavs__engine *e, int n)
{
    struct cavs__join *kept = &e->join;

    for (int i = 0; i < n; i++) {
        kept->buffers -= kept->tasks[i]->nbuffers;
        cavs__task_drop(kept->tasks[i]);
    }
    kept->n -= n;
    memmove(kept->tasks, kept->tasks + n, (size_t)kept->n * sizeof *kept->tasks);
}

/* Submits each kept task by itself, where there is no memory for one that runs them all. */
static int start_each(struct cavs__engine *e, int slot)
{
    struct cavs__join *kept = &e->join;
    int rc = CAVS_OK;

    for (int i = 0; i < kept->n; i++) {
        if (rc)
            cavs__task_drop(kept->tasks[i]);
        else
            rc = cavs__task_start(e, slot, kept->tasks[i]);
    }
    kept->n = 0;
    return rc;
}

int cavs__join_flush(struct cavs__engine *e, int slot)
{
    struct cavs__join *kept = &e->join;
    int taken, rc = CAVS_OK;

    while (!rc && (kept->n > 1 || (kept->n == 1 && kept->helping))) {
        struct starpu_task *t = cavs__joined_task(e, slot, &taken);

        if (!t)
            break;
        forget_first(e, taken);
        rc = cavs__task_start(e, slot, t);
    }
    if (!rc)
        rc = start_each(e, slot);
    cavs__join_drop(e);
    return rc;
}

static bool in_one_place(const struct starpu_task *a, const struct starpu_task *b)
{
    return a->where == b->where && a->workerids == b->workerids;
}

/* Are there as many kept tasks that no other may be joined to them? */
static bool is_full(const struct cavs__join *kept, const struct starpu_task *t)
{
    return kept->n == CAVS__MOST_JOINED || kept->buffers + t->nbuffers > MOST_BUFFERS;
}

int cavs__task_submit(struct cavs__engine *e, int slot, struct starpu_task *t, double seconds)
{
    struct cavs__join *kept = &e->join;
    double grain = cavs__is_at_device(t) ? cavs__device_grain(e) : kept->grain;
    int rc = cavs__task_complete(t);

    if (!rc && e->here.now) {
        cavs__run_here(e, t);
        return CAVS_OK;
    }
    if (!rc && kept->n > 0 && (grain <= 0 || !in_one_place(kept->tasks[0], t) || is_full(kept, t)))
        rc = cavs__join_flush(e, slot);
    if (rc) {
        cavs__task_drop(t);
        return rc;
    }
    if (grain <= 0)
        return cavs__task_start(e, slot, t);
    kept->tasks[kept->n++] = t;
    kept->buffers += t->nbuffers;
    kept->seconds += seconds;
    return kept->seconds < grain && kept->buffers <= MOST_BUFFERS ? CAVS_OK
                                                                  : cavs__join_flush(e, slot);
}
