/* SPDX-License-Identifier: Apache-2.0 */
/* simulated.c - see simulated.h. */
#include "core/run/simulated.h"

#ifdef CAVS_SIMULATED

#include <starpu.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/host.h>

#include "config.h"

#include "codelets/task_model.h"

#ifdef HAVE_MPI
#include <starpu_mpi.h>
#endif

/* What is paid at once, in seconds: a call of the simulator for each task would take longer than
 * the rest. */
#define WORTH_PAYING 10e-6

/* StarPU's guesses of what it spends itself: measured figures take their place (cost.h). */
void cavs__simulated_prepare(void)
{
    static const char *const guesses[] = {"STARPU_SIMGRID_TASK_SUBMIT_COST",
                                          "STARPU_SIMGRID_TASK_PUSH_COST",
                                          "STARPU_SIMGRID_FETCHING_INPUT_COST"};

    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++)
        setenv(guesses[i], "0", 0);
    setenv("CAVS_DEVICE_PRODUCTS", "library", 0); /* there is nothing to measure */
}

/* Where there are ranks each has its own machine. */
static sg_host_t core(int i)
{
    char name[40];

#ifdef HAVE_MPI
    snprintf(name, sizeof name, "StarPU-MPI%d-CPU%d", starpu_mpi_world_rank(), i);
#else
    snprintf(name, sizeof name, "CPU%d", i);
#endif
    return sg_host_by_name(name);
}

int cavs__simulated_cores(void)
{
    int n = 0;

    while (core(n))
        n++;
    return n;
}

double cavs__busy_seconds(void)
{
    return starpu_timing_now() * 1e-6;
}

void cavs__simulated_overhead(double seconds, double device_seconds)
{
    cavs__simulate_overhead(seconds * 1e6, device_seconds * 1e6);
}

static void work_on(sg_host_t host, double seconds)
{
    sg_actor_t self = sg_actor_self();
    sg_host_t own = sg_actor_get_host(self);

    sg_actor_set_host(self, host);
    sg_actor_execute(seconds * sg_host_get_speed(host));
    sg_actor_set_host(self, own);
}

/* Where there is least to do: there the system puts a thread. */
static sg_host_t least_busy(int cores)
{
    sg_host_t best = core(0);

    for (int i = 1; i < cores; i++) {
        if (sg_host_get_load(core(i)) < sg_host_get_load(best))
            best = core(i);
    }
    return best;
}

void cavs__simulated_work(double seconds)
{
    static double owed;
    int cores = cavs__simulated_cores();

    if (starpu_worker_get_id() >= 0) {
        starpu_sleep((float)seconds);
        return;
    }
    owed += seconds;
    if (owed < WORTH_PAYING)
        return;
    seconds = owed;
    owed = 0;
    if ((int)starpu_cpu_worker_get_count() < cores)
        starpu_sleep((float)seconds);
    else
        work_on(least_busy(cores), seconds);
}

void cavs__simulated_task_work(double seconds)
{
    starpu_sleep((float)seconds);
}

#endif
