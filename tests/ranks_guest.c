/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks_guest.c - a program that uses MPI itself, and the library in between.
 *
 *     ranks_guest LEVEL COMMUNICATOR
 *
 * LEVEL is of threads: single, funneled, serialized or multiple.  COMMUNICATOR is whom the runtime
 * is of: all, half (every other process), self, or none, which leaves it to the library.  Each
 * process says what came of it, then whether MPI is still its own, and what comes of a runtime
 * after MPI has ended.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "core/cavs.h"

static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
static const int numbers[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                              MPI_THREAD_MULTIPLE};

static int level_of(const char *name)
{
    int i = 3;

    while (i > 0 && strcmp(levels[i], name) != 0)
        i--;
    return numbers[i];
}

static const char *mpi_works(void)
{
    int sum = 0, one = 1, all;

    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum == all ? "MPI works" : "MPI does not work";
}

static void try(const MPI_Comm *of, char *to, size_t size)
{
    struct cavs_runtime_options o = CAVS_RUNTIME_DEFAULTS;
    struct cavs_runtime *rt;

    o.workers = 1;
    o.communicator = of;
    if (cavs_runtime_create(&o, &rt) != 0) {
        snprintf(to, size, "%s", cavs_error_message());
        return;
    }
    snprintf(to, size, "%d of %d", cavs_runtime_rank(rt), cavs_runtime_ranks(rt));
    cavs_runtime_destroy(rt);
}

int main(int argc, char **argv)
{
    char during[512], after[512];
    const char *whom = argc > 2 ? argv[2] : "none", *works;
    MPI_Comm of = MPI_COMM_WORLD;
    int level, rank;

    MPI_Init_thread(&argc, &argv, level_of(argc > 1 ? argv[1] : ""), &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(whom, "half") == 0)
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &of);
    if (strcmp(whom, "self") == 0)
        of = MPI_COMM_SELF;
    try(strcmp(whom, "none") == 0 ? NULL : &of, during, sizeof during);
    works = mpi_works();
    MPI_Finalize();
    try(NULL, after, sizeof after);
    printf("%d: %s; %s; %s\n", rank, during, works, after);
    return 0;
}
