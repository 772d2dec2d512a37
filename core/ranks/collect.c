/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c - what the main threads of all ranks bring together, by MPI's own calls.
 *
 * Whoever is early sleeps in short turns: MPI itself would wait by asking again and again, and take
 * the core from a worker.
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "core/base/error.h"
#include "core/ranks/mpi.h"

enum {
    IMPATIENT = 20,      /* turns without a rest */
    REST = 20000,        /* nanoseconds, of the first one */
    LONG_REST = 1000000, /* about the longest */
    PART = 2             /* of the time waited so far, which is between them */
};

/* Asks from time to time, the more seldom the longer it waits: each look takes a worker's core for
 * microseconds.  Linux would add 50 us to each rest, by which one batch after the other would be
 * late; the thread is the caller's, so its slack is put back. */
static int ask(MPI_Request *request)
{
    struct timespec rest = {0, REST};
    int slack = prctl(PR_GET_TIMERSLACK), done = 0, rc = MPI_SUCCESS;
    long waited = 0;

    prctl(PR_SET_TIMERSLACK, 1UL);
    while (rc == MPI_SUCCESS && !done) {
        if (waited / PART > rest.tv_nsec && rest.tv_nsec < LONG_REST)
            rest.tv_nsec = waited / PART;
        waited += rest.tv_nsec;
        nanosleep(&rest, NULL);
        rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
    prctl(PR_SET_TIMERSLACK, (unsigned long)slack);
    return rc;
}

static int finish(int started, MPI_Request *request)
{
    int done = 0;

    for (int turn = 0; started == MPI_SUCCESS && !done && turn <= IMPATIENT; turn++)
        started = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (started == MPI_SUCCESS && !done)
        started = ask(request);
    return started == MPI_SUCCESS ? CAVS_OK
                                  : cavs__fail(CAVS_ERUNTIME, "MPI: another rank is out of reach");
}

int cavs__ranks_gather(struct cavs__ranks *r, const void *mine, size_t bytes, void *all)
{
    MPI_Request request;

    return finish(
        MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, r->agree, &request),
        &request);
}

int cavs__ranks_gather_lists(struct cavs__ranks *r, const int32_t *mine, const int64_t *n,
                             int32_t *all)
{
    int *counts = calloc(2 * (size_t)r->count, sizeof *counts), *starts, rc;
    MPI_Request request;

    if (!counts)
        return cavs__fail_nomem("lists of ranks", 2 * (size_t)r->count * sizeof *counts);
    starts = counts + r->count;
    for (int i = 0; i < r->count; i++) {
        counts[i] = (int)n[i];
        starts[i] = i ? starts[i - 1] + counts[i - 1] : 0;
    }
    rc = finish(MPI_Iallgatherv(mine, counts[r->rank], MPI_INT32_T, all, counts, starts,
                                MPI_INT32_T, r->agree, &request),
                &request);
    free(counts);
    return rc;
}

/* Bits of zeros are zeros, so nothing is rounded, and what is not a number stays what it is. */
int cavs__ranks_complete(struct cavs__ranks *r, float *rows, size_t n)
{
    const size_t most = 1 << 28; /* numbers of one call */
    int rc = CAVS_OK;

    for (size_t i = 0; i < n && !rc; i += most) {
        MPI_Request request;

        rc = finish(MPI_Iallreduce(MPI_IN_PLACE, rows + i, (int)(n - i < most ? n - i : most),
                                   MPI_INT32_T, MPI_BOR, r->agree, &request),
                    &request);
    }
    return rc;
}
