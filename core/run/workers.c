/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.c - StarPU's workers at rest: one that has no task looks for one all the time, and takes
 * a core for milliseconds at a time from a thread that prepares some.
 *
 * Programs that submit tasks of their own beside the library say so (leave_to_workers), and they
 * never sleep.
 *
 * Where there are other ranks, a worker that waits for their messages offers its core.  The thread
 * that prepares batches then does not take one at another time.
 */
#include <pthread.h>
#include <sched.h>
#include <starpu.h>

#include "core/run/runtime.h"
#include "core/run/simulated.h"

/* There is one runtime in a process.  The thread that submits tasks sets when_idle, and a worker
 * may find itself idle.  All of these but one are written under the lock; asleep and when_idle are
 * looked at without it first. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool asleep, when_idle;
static int batches; /* batches with tasks that are not done */
static bool held;   /* written without it, by the threads that submit */

static bool is_set(const bool *what)
{
    return __atomic_load_n(what, __ATOMIC_RELAXED);
}

static void set(bool *what, bool value)
{
    __atomic_store_n(what, value, __ATOMIC_RELAXED);
}

/* The next three functions are called under the lock. */

static void fall_asleep(void)
{
    if (!asleep)
        starpu_pause();
    set(&asleep, true);
}

static void wake_up(void)
{
    if (asleep)
        starpu_resume();
    set(&asleep, false);
}

/* Has workers sleep if no batch has a task.  A worker that is in the middle of a task, such as the
 * one that may be calling this, ends it first. */
static void sleep_if_idle(void)
{
    if (when_idle && batches == 0)
        fall_asleep();
}

/* The batch at hand is one of those that are not done; others are of other sessions, and have
 * tasks. */
void cavs__workers_rest(void)
{
    pthread_mutex_lock(&lock);
    if (batches <= 1)
        fall_asleep();
    pthread_mutex_unlock(&lock);
}

static bool share_cores(const struct cavs_runtime *rt)
{
    cpu_set_t mine;

    return sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) <= rt->workers;
}

void cavs__workers_rest_when_idle(const struct cavs_runtime *rt)
{
    if (is_set(&when_idle) || rt->leave_to_workers || rt->record || rt->ranks || !rt->one_memory ||
        cavs__simulated_cores() > 0 || !share_cores(rt))
        return;
    pthread_mutex_lock(&lock);
    set(&when_idle, true);
    sleep_if_idle();
    pthread_mutex_unlock(&lock);
}

void cavs__workers_begin_batch(void)
{
    pthread_mutex_lock(&lock);
    batches++;
    pthread_mutex_unlock(&lock);
}

void cavs__workers_end_batch(void)
{
    pthread_mutex_lock(&lock);
    batches--;
    sleep_if_idle();
    pthread_mutex_unlock(&lock);
}

void cavs__workers_hold(void)
{
    set(&held, true);
}

/* Is called by whoever submits a task.  A worker that does so is awake, and what it does is a
 * task. */
void cavs__workers_have_task(void)
{
    if (starpu_worker_get_id() < 0 && !is_set(&held))
        cavs__workers_wake();
}

void cavs__workers_wake_for_tasks(void)
{
    set(&held, false);
    if (!is_set(&asleep))
        return;
    pthread_mutex_lock(&lock);
    if (batches > 0)
        wake_up();
    pthread_mutex_unlock(&lock);
}

void cavs__workers_wake(void)
{
    set(&held, false);
    if (!is_set(&when_idle) && !is_set(&asleep))
        return;
    pthread_mutex_lock(&lock);
    wake_up();
    set(&when_idle, false);
    pthread_mutex_unlock(&lock);
}

/* ---- ranks ---- */

/* A thread that wakes up when a batch is done would push aside the worker that begins with the next
 * one, for which the other ranks wait in turn.  It is the caller's thread: its policy is put back,
 * and one that is not the usual one is left alone. */
int cavs__workers_first(const struct cavs_runtime *rt)
{
    const struct sched_param any = {0};

    return rt->ranks && sched_getscheduler(0) == SCHED_OTHER &&
                   sched_setscheduler(0, SCHED_BATCH, &any) == 0
               ? SCHED_OTHER
               : -1;
}

void cavs__workers_no_longer_first(int policy)
{
    const struct sched_param any = {0};

    if (policy >= 0)
        sched_setscheduler(0, policy, &any);
}
