/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulated.h - what is different where StarPU runs on a simulated machine.
 *
 * StarPU with SimGrid runs everything in one thread of the system, and tasks take the time that
 * codelets/simulated_time.c gives, without being run.  The clock stands still while code of ours
 * runs: what that takes has to be said.  Elsewhere these functions do nothing.
 */
#ifndef CAVS_CORE_RUN_SIMULATED_H
#define CAVS_CORE_RUN_SIMULATED_H

#include <stdbool.h>
#include <time.h>

#ifdef CAVS_SIMULATED

/* Before StarPU starts. */
void cavs__simulated_prepare(void);
/* Cores of the simulated machine; 0: nothing is simulated. */
int cavs__simulated_cores(void);
/* What the runtime spends on each task of a CPU worker, and of a device. */
void cavs__simulated_overhead(double seconds, double device_seconds);
/* The main thread has worked for so long.  It has no core of its own if each has a worker. */
void cavs__simulated_work(double seconds);
/* A worker has, in a task that is run. */
void cavs__simulated_task_work(double seconds);
/* The simulated clock, as nothing waits for a processor there. */
double cavs__busy_seconds(void);

#else

static inline void cavs__simulated_prepare(void)
{
}
static inline int cavs__simulated_cores(void)
{
    return 0;
}
static inline void cavs__simulated_overhead(double seconds, double device_seconds)
{
    (void)seconds;
    (void)device_seconds;
}
static inline void cavs__simulated_work(double seconds)
{
    (void)seconds;
}
static inline void cavs__simulated_task_work(double seconds)
{
    (void)seconds;
}
/* Seconds of the processor that the calling thread has had: what it waits for, another thread or a
 * core, does not count. */
static inline double cavs__busy_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
#endif
