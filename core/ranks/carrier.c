/* SPDX-License-Identifier: Apache-2.0 */
/* carrier.c - StarPU of ranks, and its thread that carries the messages.
 *
 * The thread would ask MPI again and again while it waits for a message, and take a core from a
 * worker; if it rested meanwhile, messages would be late.  So it is the first worker itself: it
 * looks for messages between two tasks.  It runs tasks only while something is to be received,
 * hence there is always something: a word from this rank to itself, sent at the end. */
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <starpu_expert.h>

#include "core/ranks/mpi.h"

enum { LAST_WORD = 1 << 30 /* a tag */ };

int cavs__ranks_init(struct cavs__ranks *r, struct starpu_conf *conf)
{
    if (!r)
        return starpu_init(conf);
    setenv("STARPU_MPI_DRIVER_CALL_FREQUENCY", "1", 0);
    setenv("STARPU_MPI_DRIVER_TASK_FREQUENCY", "1", 0);
    setenv("STARPU_MPI_NOBIND", "1", 0); /* but for the worker's own core */
    return starpu_mpi_init_conf(NULL, NULL, 0, r->carry, conf);
}

/* StarPU's thread asks MPI about messages as long as there is a runtime, and MPI ends the process
 * that asks after MPI_Finalize(), or crashes.  So that thread, when it has no task, is held. */
static bool ends, held;

static void hold_at_exit(void)
{
    if (!__atomic_load_n(&ends, __ATOMIC_ACQUIRE) ||
        starpu_worker_get_id() != starpu_worker_get_by_type(STARPU_CPU_WORKER, 0))
        return;
    __atomic_store_n(&held, true, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

bool cavs__carrier_hold(void)
{
    const struct timespec moment = {0, 1000000};
    const int patience = 2000; /* moments */

    __atomic_store_n(&ends, true, __ATOMIC_RELEASE);
    for (int i = 0; i < patience && !__atomic_load_n(&held, __ATOMIC_ACQUIRE); i++)
        nanosleep(&moment, NULL);
    return __atomic_load_n(&held, __ATOMIC_ACQUIRE);
}

/* A worker without a task gives its core to the thread that prepares the next batch, or to another
 * rank. */
static unsigned give_way(void *arg)
{
    (void)arg;
    hold_at_exit();
    sched_yield();
    return 0;
}

/* StarPU records each look for messages, a million a second: 20,000 will do. */
static unsigned rest(void *arg)
{
    const struct timespec some = {0, 5000};
    static _Thread_local bool woken_in_time;

    (void)arg;
    hold_at_exit();
    if (!woken_in_time)
        prctl(PR_SET_TIMERSLACK, 1UL);
    woken_in_time = true;
    nanosleep(&some, NULL);
    return 0;
}

int cavs__ranks_start(struct cavs__ranks *r, bool traced)
{
    if (!r)
        return CAVS_OK;
    starpu_idle_hook_register(traced ? rest : give_way, NULL);
    for (int i = 0; i < 2; i++)
        starpu_variable_data_register(&r->words[i], STARPU_MAIN_RAM, (uintptr_t)&r->last_word[i],
                                      sizeof r->last_word[i]);
    return cavs__ranks_receive(r, r->words[0], r->rank, LAST_WORD, NULL, NULL);
}

void cavs__ranks_shutdown(struct cavs__ranks *r)
{
    if (!r) {
        starpu_shutdown();
        return;
    }
    if (r->words[0])
        cavs__ranks_send(r, r->words[1], r->rank, LAST_WORD, NULL, NULL);
    for (int i = 0; i < 2 && r->words[0]; i++)
        starpu_data_unregister(r->words[i]);
    starpu_mpi_shutdown_comm(r->carry);
}
