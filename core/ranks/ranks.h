/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - processes that run one program together, each a rank of an MPI communicator.
 *
 * All of them make the same calls of the library in the same order, with the same arguments; what
 * is between them is here: that they are there, that they agree, and what tasks send to one
 * another.  NULL in place of ranks is a process that is alone; that is all there is in a build
 * without MPI (alone.c).
 *
 *   launch.c     finding the others; start and end of MPI
 *   carrier.c    start and end of StarPU, and its thread that carries messages
 *   at_once.c    which messages MPI sends at once
 *   agree.c      what the main threads tell one another, all of them at once
 *   collect.c    how that gets to all
 *   transfer.c   data from task to task
 *   watch.c      a rank that is silent ends the run of all
 *
 * On machines that are simulated (doc/scaling.md) launch_simulated.c and collect_simulated.c are in
 * the places of launch.c, carrier.c, collect.c and watch.c; unshared.c says of neighbours what
 * launch.c does, where there are none.
 */
#ifndef CAVS_CORE_RANKS_RANKS_H
#define CAVS_CORE_RANKS_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <starpu.h>

#include "core/cavs.h"

struct cavs__ranks;

/* ---- launch.c ---- */

/* Before StarPU starts: *out is NULL where the process is alone.  communicator: an MPI_Comm *, or
 * NULL, for all that mpirun has started. */
int cavs__ranks_open(const void *communicator, struct cavs__ranks **out);
void cavs__ranks_close(struct cavs__ranks *r);

/* Not some of those that mpirun has started. */
bool cavs__ranks_are_all(const struct cavs__ranks *r);
/* Of the ranks on this machine: which one this is, and how many there are. */
int cavs__ranks_here(const struct cavs__ranks *r, int *count);
/* Whether not all of these have the same value; all ranks call. */
bool cavs__ranks_differ_here(const struct cavs__ranks *r, uint64_t value);
/* Ends the processes of all ranks with that exit status. */
void cavs__ranks_abort(struct cavs__ranks *r, int status);

/* ---- carrier.c ---- */

/* starpu_init(), with MPI; its outcome. */
int cavs__ranks_init(struct cavs__ranks *r, struct starpu_conf *conf);
/* Then, before any task.  traced: StarPU records this run. */
int cavs__ranks_start(struct cavs__ranks *r, bool traced);
/* starpu_shutdown(), with MPI. */
void cavs__ranks_shutdown(struct cavs__ranks *r);

/* ---- agree.c ---- */

int cavs__rank(const struct cavs__ranks *r);
int cavs__ranks_count(const struct cavs__ranks *r);

/* ---- likewise; every rank calls, and waits for all others ---- */

/* How fast a rank is. */
struct cavs__pace {
    int workers;
    double speed; /* work a second of each; 0: not known */
};

/* What one rank brings to a meeting, and gets from it. */
struct cavs__meeting {
    const char *call;         /* which has to be the same everywhere; NULL: any that has no name */
    int rc;                   /* of what it did before; its message goes to all */
    uint64_t same;            /* of what has to be the same everywhere: */
    const char *what, *value; /* its name; and itself in words, NULL: there are none */
    uint64_t given;           /* the same, of what parameters were given */
    const int32_t *list;      /* for the others, of this length */
    int64_t length, *lengths; /* [ranks], NULL: nobody wants them */
    int32_t *lists;           /* one after the other, if all are short; see below */
    struct cavs__pace pace, *paces; /* [ranks], NULL: nobody wants them */
};
/* A list of at most so many numbers goes along with a meeting, which then still is one message
 * that MPI sends at once: no more than 4 KB, on one machine.  cavs__meeting.lists has room for so
 * many of each rank.  What is longer takes a meeting of its own, cavs__ranks_gather_lists(). */
enum { CAVS__SHORT_LIST = 896 };
/* 0, or the same error on all ranks: the first one that any of them brought, with the number of
 * that rank in its message. */
int cavs__ranks_meet(struct cavs__ranks *r, const struct cavs__meeting *m);
/* The same for an outcome alone. */
int cavs__ranks_agree(struct cavs__ranks *r, int rc);
/* And before what follows, which MPI would mix up with what another call brings. */
int cavs__ranks_agree_on(struct cavs__ranks *r, const char *call, int rc);
/* all: [ranks][bytes] what each brings. */
int cavs__ranks_gather(struct cavs__ranks *r, const void *mine, size_t bytes, void *all);
/* The n[rank] numbers of each, one rank after the other. */
int cavs__ranks_gather_lists(struct cavs__ranks *r, const int32_t *mine, const int64_t *n,
                             int32_t *all);
/* Rows that one rank has and the others have zeros for. */
int cavs__ranks_complete(struct cavs__ranks *r, float *rows, size_t n);
/* CAVS_EINVAL on all, naming what differs, if a rank has another value than rank 0. */
int cavs__ranks_same(struct cavs__ranks *r, const char *what, const char *value);
/* Bits that a rank wants all to know; with the next meeting, all have them: the union.  They are
 * there until they have been asked for, whatever other meetings come before. */
void cavs__ranks_raise(struct cavs__ranks *r, unsigned bits);
unsigned cavs__ranks_raised(struct cavs__ranks *r);

/* ---- transfer.c: ordered among the tasks that use the handle, as if it were one of them ---- */

typedef void cavs__sent(void *arg);
int cavs__ranks_send(struct cavs__ranks *r, starpu_data_handle_t handle, int to, int64_t tag,
                     cavs__sent *done, void *arg);
int cavs__ranks_receive(struct cavs__ranks *r, starpu_data_handle_t handle, int from, int64_t tag,
                        cavs__sent *done, void *arg);
/* What whoever sends adds to its tags, so that nobody else has them: messages of two sessions may
 * be under way at a time.  Every rank calls, in the same order. */
int64_t cavs__ranks_tags(struct cavs__ranks *r);
/* Bytes sent so far by this rank. */
int64_t cavs__ranks_bytes(const struct cavs__ranks *r);
/* Seconds that some of it was waited for, as whoever sends and receives has found. */
void cavs__ranks_wait(struct cavs__ranks *r, double seconds);
double cavs__ranks_waited(const struct cavs__ranks *r);

#endif
