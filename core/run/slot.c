/* SPDX-License-Identifier: Apache-2.0 */
/* slot.c - the tasks of a batch in flight: making, submitting and counting them. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/engine.h"
#include "core/run/simulated.h"
#include "memory/handover.h"

/* ---- slots: counting the tasks of a batch ---- */

void cavs__slot_open(struct cavs__slot *slot, int nshards)
{
    cavs__workers_begin_batch();
    slot->pending = 1;
    slot->busy = true;
    slot->place = 0;
    slot->busy_ns = 0;
    cavs__arena_reset(&slot->arena);
    for (int i = 0; slot->own && i < nshards; i++)
        cavs__arena_reset(&slot->own[i]);
}

void cavs__slot_release(void *arg)
{
    struct cavs__lap *lap = arg;
    struct cavs__slot *slot = lap->slot;
    double now;

    if (lap != slot->laps) { /* counts for its home */
        now = starpu_timing_now();
        __atomic_store(&lap->done, &now, __ATOMIC_RELAXED);
    }

    if (__atomic_sub_fetch(&slot->pending, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    starpu_pthread_mutex_lock(&slot->lock);
    slot->busy = false;
    slot->done_at = starpu_timing_now();
    starpu_pthread_cond_signal(&slot->done);
    starpu_pthread_mutex_unlock(&slot->lock);
    cavs__workers_end_batch();
}

void cavs__slot_hold(struct cavs__slot *slot)
{
    __atomic_add_fetch(&slot->pending, 1, __ATOMIC_RELAXED);
}

void cavs__slot_close(struct cavs__slot *slot)
{
    cavs__slot_release(slot->laps);
}

void cavs__slot_wait(struct cavs__slot *slot)
{
    starpu_pthread_mutex_lock(&slot->lock);
    while (slot->busy)
        starpu_pthread_cond_wait(&slot->done, &slot->lock);
    starpu_pthread_mutex_unlock(&slot->lock);
}

/* ---- tasks ---- */

/* StarPU does not free what was never submitted. */
void cavs__task_drop(struct starpu_task *t)
{
    t->destroy = 0;
    starpu_task_destroy(t);
}

struct starpu_task *cavs__task_create(struct cavs__engine *e, int slot, int shard,
                                      struct starpu_codelet *cl, void *arg)
{
    struct starpu_task *t = starpu_task_create();

    t->cl = cl;
    t->cl_arg = arg;
    t->nbuffers = 0;
    t->callback_func = cavs__slot_release;
    t->callback_arg = &e->slots[slot].laps[cavs__home_of(e, shard) + 1];
    cavs__place_task(e, shard, t);
    return t;
}

/* StarPU keeps up to STARPU_NMAXBUFS handles inside a task; more go to arrays that it frees with
 * the task.  These have room for so many, or twice as many, or four times: how many a task has says
 * for how many it has room.  Nobody counts ahead, so nobody can count wrong. */
enum { IN_ARRAYS = STARPU_NMAXBUFS < 32 ? 64 : 2 * STARPU_NMAXBUFS, LACKS_MEMORY = -1 };

static int room_for_buffers(const struct starpu_task *t)
{
    int room = t->dyn_handles ? IN_ARRAYS : STARPU_NMAXBUFS;

    while (room < t->nbuffers)
        room *= 2;
    return room;
}

void cavs__task_lacks_memory(struct starpu_task *t)
{
    t->nbuffers = LACKS_MEMORY;
}

/* false: out of memory, which is reported. */
static bool make_room(struct starpu_task *t)
{
    size_t n = (size_t)t->nbuffers, room = t->dyn_handles ? 2 * n : IN_ARRAYS;
    starpu_data_handle_t *handles = malloc(room * sizeof *handles);
    enum starpu_data_access_mode *modes = malloc(room * sizeof *modes);

    if (!handles || !modes) {
        free(handles);
        free(modes);
        cavs__task_lacks_memory(t);
        cavs__fail_nomem("task", room * (sizeof *handles + sizeof *modes));
        return false;
    }
    memcpy(handles, t->dyn_handles ? t->dyn_handles : t->handles, n * sizeof *handles);
    memcpy(modes, t->dyn_modes ? t->dyn_modes : t->modes, n * sizeof *modes);
    free(t->dyn_handles);
    free(t->dyn_modes);
    t->dyn_handles = handles;
    t->dyn_modes = modes;
    return true;
}

void cavs__task_buffer(struct starpu_task *t, starpu_data_handle_t handle,
                       enum starpu_data_access_mode mode)
{
    if (t->nbuffers == LACKS_MEMORY || (t->nbuffers == room_for_buffers(t) && !make_room(t)))
        return;
    (t->dyn_handles ? t->dyn_handles : t->handles)[t->nbuffers] = handle;
    (t->dyn_modes ? t->dyn_modes : t->modes)[t->nbuffers] = mode;
    t->nbuffers++;
}

int cavs__task_complete(const struct starpu_task *t)
{
    return t->nbuffers == LACKS_MEMORY ? CAVS_ENOMEM : CAVS_OK;
}

/* Says of what a task writes that it is not read before.  Where all workers share one memory that
 * changes nothing for the task, since nothing is copied; but of a writer that reads StarPU makes
 * two tasks if several tasks have read the data before: one that waits for these, and itself. */
static void write_without_reading(struct starpu_task *t)
{
    for (int i = 0; i < t->nbuffers; i++) {
        if (STARPU_TASK_GET_MODE(t, i) == STARPU_RW)
            STARPU_TASK_SET_MODE(t, STARPU_W, i);
    }
}

int cavs__task_start(struct cavs__engine *e, int slot, struct starpu_task *t)
{
    int rc = cavs__task_complete(t);

    if (rc) {
        cavs__task_drop(t);
        return rc;
    }
    if (e->rt->one_memory)
        write_without_reading(t);
    __atomic_add_fetch(&e->slots[slot].pending, 1, __ATOMIC_RELAXED);
    cavs__workers_have_task();
    cavs__handover_submit(t);
    rc = starpu_task_submit(t);
    if (rc == 0) {
        __atomic_add_fetch(&e->tasks, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&e->noted, 1, __ATOMIC_RELAXED);
        cavs__simulated_work(e->rt->cost.submit);
        return CAVS_OK;
    }
    cavs__slot_release(e->slots[slot].laps);
    rc = cavs__fail(CAVS_ERUNTIME, "StarPU refused task %s: %s", t->cl->name, strerror(-rc));
    cavs__task_drop(t);
    return rc;
}
