/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - finding the other ranks; start and end of MPI. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/ranks/mpi.h"

enum { PATIENCE = 3 /* seconds, for the end of all */ };

/* ---- MPI itself ---- */

/* What launchers leave in the environment of the processes that they start: Open MPI, MPICH and
 * others by PMI, PMIx.  Without one of them MPI is not even started: that takes a while. */
static bool was_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (getenv(names[i]))
            return true;
    }
    return false;
}

static bool is_ours;               /* MPI was started here, not by the program */
static struct cavs__ranks *opened; /* by a runtime, of which a process has one at a time */

/* Waits for the others, who may wait for this rank: exit() was called in the midst of a run, and
 * when this rank is silent one of them ends it.  MPI_Finalize() would wait as well, but it opens a
 * fence of PMIx, with which mpirun can hang when the run is ended. */
static void wait_for_exit_of_all(struct cavs__ranks *r)
{
    const struct timespec moment = {0, 10000000};
    MPI_Request all;
    int here = 0;

    if (MPI_Ibarrier(r->watch, &all) != MPI_SUCCESS)
        return;
    while (MPI_Test(&all, &here, MPI_STATUS_IGNORE) == MPI_SUCCESS && !here)
        nanosleep(&moment, NULL);
    if (here)
        cavs__watch_hear_out(r);
}

static void finalize(void)
{
    int done = 0;

    if (opened)
        cavs__watch_fall_silent(opened);
    MPI_Finalized(&done);
    if (done)
        return;
    if (opened)
        wait_for_exit_of_all(opened);
    if (!opened || !opened->words[0] || cavs__carrier_hold())
        MPI_Finalize();
}

/* Sets *there if MPI runs.  It starts once in a process and ends with it. */
static int init(const void *communicator, int *there)
{
    int level, ended = 0;

    MPI_Initialized(there);
    MPI_Finalized(&ended);
    if (ended && (communicator || was_launched()))
        return cavs__fail(CAVS_ESTATE,
                          "MPI has ended in this process: there are no ranks any more");
    if (!*there && communicator)
        return cavs__fail(CAVS_ESTATE, "a communicator was given, and MPI was not started");
    *there &= !ended;
    if (*there || !was_launched())
        return CAVS_OK;
    cavs__ranks_send_at_once();
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
        return cavs__fail(CAVS_ERUNTIME, "MPI did not start");
    atexit(finalize);
    *there = is_ours = true;
    return CAVS_OK;
}

/* A process that is alone does not ask MPI for anything. */
static int check_threads(void)
{
    int level = MPI_THREAD_SINGLE;

    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE
               ? CAVS_OK
               : cavs__fail(CAVS_ERUNTIME,
                            "MPI runs without MPI_THREAD_MULTIPLE, which several ranks need");
}

/* ---- ranks ---- */

static int find_neighbours(struct cavs__ranks *r, MPI_Comm world)
{
    MPI_Comm machine;

    if (MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, r->rank, MPI_INFO_NULL, &machine) !=
        MPI_SUCCESS)
        return -1;
    MPI_Comm_rank(machine, &r->here);
    MPI_Comm_size(machine, &r->all_here);
    return MPI_Comm_free(&machine) == MPI_SUCCESS ? 0 : -1;
}

static void free_room(struct cavs__ranks *r)
{
    if (r)
        free(r->room);
    free(r);
}

/* With room for meetings, or NULL on all ranks: where there is none nothing can be agreed on but
 * by MPI's own means. */
static struct cavs__ranks *make_room(MPI_Comm world, int count)
{
    struct cavs__ranks *r = calloc(1, sizeof *r);
    int rank, lacks;

    if (r)
        r->count = count;
    MPI_Comm_rank(world, &rank);
    lacks = !r || cavs__ranks_room(r) ? rank : count;
    MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MIN, world);
    if (lacks == count) {
        r->rank = rank;
        return r;
    }
    cavs__fail(CAVS_ENOMEM, "rank %d: out of memory: ranks", lacks);
    free_room(r);
    return NULL;
}

static int make_communicators(struct cavs__ranks *r, MPI_Comm world)
{
    return MPI_Comm_dup(world, &r->agree) == MPI_SUCCESS &&
                   MPI_Comm_dup(world, &r->carry) == MPI_SUCCESS &&
                   MPI_Comm_dup(world, &r->watch) == MPI_SUCCESS && find_neighbours(r, world) == 0
               ? CAVS_OK
               : cavs__fail(CAVS_ERUNTIME, "MPI makes no communicators for %d ranks", r->count);
}

static int open_in(MPI_Comm world, int count, struct cavs__ranks **out)
{
    struct cavs__ranks *r = make_room(world, count);
    int rc;

    if (!r)
        return CAVS_ENOMEM;
    rc = make_communicators(r, world);
    if (rc) {
        free_room(r);
        return rc;
    }
    rc = cavs__ranks_same_version(r);
    if (!rc)
        rc = cavs__ranks_agree(r, cavs__watch_start(r));
    r->watched = !rc;
    if (rc)
        cavs__ranks_close(r);
    else
        *out = opened = r;
    return rc;
}

int cavs__ranks_open(const void *communicator, struct cavs__ranks **out)
{
    int there, rc = init(communicator, &there), count = 1;
    MPI_Comm world = MPI_COMM_WORLD;

    *out = NULL;
    if (rc || !there)
        return rc;
    if (communicator)
        world = *(const MPI_Comm *)communicator;
    MPI_Comm_size(world, &count);
    if (count == 1)
        return CAVS_OK;
    rc = check_threads();
    return rc ? rc : open_in(world, count, out);
}

void cavs__ranks_close(struct cavs__ranks *r)
{
    if (!r)
        return;
    opened = NULL;
    cavs__watch_stop(r);
    MPI_Comm_free(&r->agree);
    MPI_Comm_free(&r->carry);
    MPI_Comm_free(&r->watch);
    free_room(r);
}

bool cavs__ranks_are_all(const struct cavs__ranks *r)
{
    int all = 1;

    if (r)
        MPI_Comm_size(MPI_COMM_WORLD, &all);
    return !r || r->count == all;
}

int cavs__ranks_here(const struct cavs__ranks *r, int *count)
{
    *count = r ? r->all_here : 1;
    return r ? r->here : 0;
}

/* All values are equal if the lowest of them and the highest are. */
bool cavs__ranks_differ_here(const struct cavs__ranks *r, uint64_t value)
{
    uint64_t ends[] = {value, ~value};
    MPI_Comm machine;

    if (!r || MPI_Comm_split_type(r->agree, MPI_COMM_TYPE_SHARED, r->rank, MPI_INFO_NULL,
                                  &machine) != MPI_SUCCESS)
        return false;
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, machine);
    MPI_Comm_free(&machine);
    return ends[0] != ~ends[1];
}

/* mpirun of Open MPI ends all when a process has ended with a status.  Others know nothing of one
 * that has not started MPI, for which all that have wait then. */
static bool waits_for_all(void)
{
    return was_launched() && !getenv("OMPI_COMM_WORLD_SIZE");
}

/* Before there is a runtime, or when there is none any more, the others are all of MPI, which is
 * started where they would else wait for this process. */
static bool has_others(void)
{
    int started = 0, ended = 0, count = 1;

    MPI_Initialized(&started);
    if (!started && waits_for_all())
        is_ours = MPI_Init(NULL, NULL) == MPI_SUCCESS;
    if (is_ours)
        MPI_Finalized(&ended);
    if (is_ours && !ended)
        MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count > 1;
}

/* mpirun of MPICH ends as soon as it hears of the end of all: what it has not read by then of what
 * ranks have said is lost. */
static void let_be_read(void)
{
    const struct timespec moment = {0, 300000000};

    if (waits_for_all())
        nanosleep(&moment, NULL);
}

/* MPI_Abort() of MPICH may wait for a rank that is in MPI_Finalize(), which waits for this one.  A
 * signal that ends this process is the end of all for its mpirun, too. */
void cavs__mpi_abort(MPI_Comm world, int status)
{
    signal(SIGALRM, SIG_DFL);
    alarm(PATIENCE);
    let_be_read();
    MPI_Abort(world, status);
}

void cavs__ranks_abort(struct cavs__ranks *r, int status)
{
    if (r || has_others())
        cavs__mpi_abort(r ? r->agree : MPI_COMM_WORLD, status);
}
