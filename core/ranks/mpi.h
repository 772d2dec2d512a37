/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h - what the files of this room know of MPI. */
#ifndef CAVS_CORE_RANKS_MPI_H
#define CAVS_CORE_RANKS_MPI_H

#include <pthread.h>
#include <stdbool.h>
#include <starpu_mpi.h>

#include "core/ranks/ranks.h"

struct cavs__watch;

struct cavs__ranks {
    int rank, count;
    int here, all_here; /* among those on this machine */
    /* main threads; StarPU's thread; the watch: each has a communicator of its own */
    MPI_Comm agree, carry, watch;
    unsigned wanted, raised; /* bits: of this rank, for the next meeting; of all, not asked for */
    int64_t bytes;           /* sent */
    int64_t senders;         /* that have tags of their own so far */
    double waited;           /* seconds */
    starpu_data_handle_t words[2]; /* from this rank to itself, see carrier.c */
    int last_word[2];
    bool guarded; /* all ranks have tried to start their watch */
    bool watched; /* and have done so */
    struct cavs__watch *guard;
    struct cavs__word *room; /* for a meeting, which must not fail at one rank alone */
};

/* agree.c: makes room in r->room for what ranks agree on. */
int cavs__ranks_room(struct cavs__ranks *r);
/* Compares versions, before ranks exchange anything else. */
int cavs__ranks_same_version(struct cavs__ranks *r);

/* carrier.c: keeps StarPU's thread, which has no task any more, from MPI, before that ends in a
 * process with a runtime.  False if the thread does not come within 2 s: it is in a task that does
 * not end, or has called exit(). */
bool cavs__carrier_hold(void);

/* at_once.c: sets how long a message may be that MPI sends at once; called before MPI starts. */
void cavs__ranks_send_at_once(void);

/* launch.c: ends all processes, this one at the latest after some seconds. */
void cavs__mpi_abort(MPI_Comm world, int status);

/* watch.c */
int cavs__watch_start(struct cavs__ranks *r);
void cavs__watch_stop(struct cavs__ranks *r);
/* Takes what the others have said, when no thread listens any more, neither here nor there. */
void cavs__watch_hear_out(struct cavs__ranks *r);
/* This process ends in the midst of a run: the others hear nothing of it any more. */
void cavs__watch_fall_silent(struct cavs__ranks *r);

#endif
