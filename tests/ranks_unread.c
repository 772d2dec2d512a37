/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks_unread.c - two ranks, of which the second rests eight times as long as it wants to, so that
 * words of the first wait for it.  Each says how many communicators had messages that nobody has
 * read when they were freed.
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "core/cavs.h"

static int rank, unread;

static int rest(time_t seconds, long nanoseconds, struct timespec *left)
{
    const struct timespec t = {seconds, nanoseconds};

    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &t, left);
    return errno ? -1 : 0;
}

/* In the place of the C library's. */
int nanosleep(const struct timespec *t, struct timespec *left)
{
    const long second = 1000000000, all = t->tv_nsec * (rank == 1 ? 8 : 1);

    return rest(t->tv_sec + all / second, all % second, left);
}

/* In the place of MPI's, as MPI provides for. */
int MPI_Comm_free(MPI_Comm *of)
{
    int here = 0;

    for (int looks = 0; looks < 100 && !here; looks++)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, *of, &here, MPI_STATUS_IGNORE);
    unread += here;
    return PMPI_Comm_free(of);
}

int main(void)
{
    struct cavs_runtime_options o = CAVS_RUNTIME_DEFAULTS;
    struct cavs_runtime *rt;

    o.workers = 1;
    if (cavs_runtime_create(&o, &rt) != 0) {
        fprintf(stderr, "%s\n", cavs_error_message());
        return 1;
    }
    rank = cavs_runtime_rank(rt);
    rest(3, 100000000, NULL);
    cavs_runtime_destroy(rt);
    fprintf(stdout, "rank %d: %d unread\n", rank, unread);
    return 0;
}
