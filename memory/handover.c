/* SPDX-License-Identifier: Apache-2.0 */
/* handover.c - see handover.h. */
#include "memory/handover.h"

#ifdef CAVS__THREAD_SANITIZER

/* ThreadSanitizer's own: what was done before a release of an address happens before what is done
 * after a later acquire of it. */
void __tsan_acquire(void *address);
void __tsan_release(void *address);

static char all_tasks;

/* Two addresses for each handle: its writers release one of them, and its readers the other. */
static void *written(starpu_data_handle_t handle)
{
    return handle;
}

static void *read_by(starpu_data_handle_t handle)
{
    return (char *)handle + 8;
}

static void take(starpu_data_handle_t handle, enum starpu_data_access_mode mode)
{
    if (mode & STARPU_SCRATCH) /* each worker has its own */
        return;
    __tsan_acquire(written(handle));
    if (mode & STARPU_W)
        __tsan_acquire(read_by(handle));
}

static void give(starpu_data_handle_t handle, enum starpu_data_access_mode mode)
{
    if (!(mode & STARPU_SCRATCH))
        __tsan_release(mode & STARPU_W ? written(handle) : read_by(handle));
}

void cavs__handover_asked(struct starpu_task *t)
{
    __tsan_acquire(t);
}

static _Thread_local struct starpu_task *here;

void cavs__handover_here(struct starpu_task *t)
{
    here = t;
}

static struct starpu_task *current(void)
{
    return here ? here : starpu_task_get_current();
}

void cavs__handover_begin(void)
{
    struct starpu_task *t = current();

    cavs__handover_asked(t);
    for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(t); i++)
        take(STARPU_TASK_GET_HANDLE(t, i), STARPU_TASK_GET_MODE(t, i));
}

void cavs__handover_end(void)
{
    struct starpu_task *t = current();

    for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(t); i++)
        give(STARPU_TASK_GET_HANDLE(t, i), STARPU_TASK_GET_MODE(t, i));
    __tsan_release(&all_tasks);
}

void cavs__handover_submit(struct starpu_task *t)
{
    __tsan_release(t);
}

static void pass(void *unused)
{
    (void)unused;
    cavs__handover_begin();
    cavs__handover_end();
}

/* StarPU calls this when all that the task waits for is done, and lets go of what waits for it
 * afterwards. */
void cavs__handover_fence(struct starpu_task *t)
{
    t->prologue_callback_pop_func = pass;
}

void cavs__handover_acquired(starpu_data_handle_t handle)
{
    take(handle, STARPU_RW);
}

void cavs__handover_released(starpu_data_handle_t handle)
{
    give(handle, STARPU_RW);
}

void cavs__handover_waited(void)
{
    __tsan_acquire(&all_tasks);
}

#endif
