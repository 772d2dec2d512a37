/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - the order that StarPU keeps, told to ThreadSanitizer.
 *
 * StarPU is not built with ThreadSanitizer, which sees nothing of how tasks and data get from one
 * thread to another there.  These functions say what StarPU promises, and no more, at the places
 * where our code gives something to it or gets it:
 *
 *  - what the submitting thread did before starpu_task_submit() happens before the task;
 *  - tasks that take the same handle, one of them for writing, follow one another, and so does
 *    starpu_data_acquire();
 *  - every task happens before starpu_task_wait_for_all() returns.
 *
 * A task that uses memory without telling StarPU of it is then reported as a race, even if it went
 * well this time.  Without ThreadSanitizer all of this is empty.
 */
#ifndef CAVS_MEMORY_HANDOVER_H
#define CAVS_MEMORY_HANDOVER_H

#include <starpu.h>

#ifdef __SANITIZE_THREAD__
#define CAVS__THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAVS__THREAD_SANITIZER 1
#endif
#endif

#ifdef CAVS__THREAD_SANITIZER

/* Called before the task is submitted. */
void cavs__handover_submit(struct starpu_task *t);
/* The same for a task without code: tasks that write what it takes are ordered through it. */
void cavs__handover_fence(struct starpu_task *t);
/* Called where StarPU asks what a submitted task is like, and not what it works on. */
void cavs__handover_asked(struct starpu_task *t);
/* Called first and last in every function of a codelet. */
void cavs__handover_begin(void);
void cavs__handover_end(void);
/* A task that the calling thread runs itself, and that StarPU does not know; NULL: no more. */
void cavs__handover_here(struct starpu_task *t);
/* Called after starpu_data_acquire() or before unregistering, and before starpu_data_release(). */
void cavs__handover_acquired(starpu_data_handle_t handle);
void cavs__handover_released(starpu_data_handle_t handle);
/* Called after starpu_task_wait_for_all(). */
void cavs__handover_waited(void);

#else

static inline void cavs__handover_submit(struct starpu_task *t)
{
    (void)t;
}
static inline void cavs__handover_fence(struct starpu_task *t)
{
    (void)t;
}
static inline void cavs__handover_asked(struct starpu_task *t)
{
    (void)t;
}
static inline void cavs__handover_begin(void)
{
}
static inline void cavs__handover_end(void)
{
}
static inline void cavs__handover_here(struct starpu_task *t)
{
    (void)t;
}
static inline void cavs__handover_acquired(starpu_data_handle_t handle)
{
    (void)handle;
}
static inline void cavs__handover_released(starpu_data_handle_t handle)
{
    (void)handle;
}
static inline void cavs__handover_waited(void)
{
}

#endif
#endif
