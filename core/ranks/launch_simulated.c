/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_simulated.c - launch.c and carrier.c on machines that are simulated (SimGrid's smpirun).
 *
 * StarPU starts MPI before main(), for one rank, too.  Nobody watches over the others: all ranks
 * are threads of one process, each with copies of all variables, and the clock of the system says
 * nothing there.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/ranks/mpi.h"

int cavs__ranks_open(const void *communicator, struct cavs__ranks **out)
{
    struct cavs__ranks *r;

    *out = NULL;
    if (communicator)
        return cavs__fail(CAVS_ERUNTIME, "simulated ranks have one communicator, of all");
    if (starpu_mpi_world_size() <= 1)
        return CAVS_OK;
    r = calloc(1, sizeof *r);
    if (!r)
        return cavs__fail_nomem("ranks", sizeof *r);
    r->rank = starpu_mpi_world_rank();
    r->count = starpu_mpi_world_size();
    r->all_here = 1;
    r->carry = MPI_COMM_WORLD;
    if (cavs__ranks_room(r)) {
        free(r);
        return CAVS_ENOMEM;
    }
    *out = r;
    return CAVS_OK;
}

int cavs__ranks_init(struct cavs__ranks *r, struct starpu_conf *conf)
{
    (void)r;
    return starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, conf);
}

int cavs__ranks_start(struct cavs__ranks *r, bool traced)
{
    (void)r;
    (void)traced;
    return CAVS_OK;
}

void cavs__ranks_shutdown(struct cavs__ranks *r)
{
    (void)r;
    starpu_mpi_shutdown_comm(MPI_COMM_WORLD);
}

void cavs__ranks_close(struct cavs__ranks *r)
{
    if (r)
        free(r->room);
    free(r);
}

void cavs__ranks_abort(struct cavs__ranks *r, int status)
{
    if (r)
        _Exit(status);
}
