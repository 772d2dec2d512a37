/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - a rank that is silent ends the run of all.
 *
 * A thread of each rank says a word to rank 0 several times a second, and rank 0 to each.  Who has
 * heard nothing of another for so many turns of its own names it, and ends all.  Turns, not
 * seconds: a machine on which everything was stopped for a while finds all ranks as silent as
 * itself.  Of the silence of rank 0 the lowest rank that is left tells first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/ranks/mpi.h"

enum { TURN = 250000000 /* nanoseconds */, PATIENCE = 24 /* turns */, TAG = 1, LAST = 1 };

struct peer {
    int rank, silent; /* turns */
    char heard, said; /* LAST: there will be no other word */
    bool ended;       /* the last one was heard */
    MPI_Request hear, say;
};

struct cavs__watch {
    pthread_t thread;
    bool runs, stops;
    int npeers;
    struct peer *peers;
};

/* ---- one other rank ---- */

static void listen_to(const struct cavs__ranks *r, struct peer *p)
{
    MPI_Irecv(&p->heard, 1, MPI_CHAR, p->rank, TAG, r->watch, &p->hear);
}

static void take_word(const struct cavs__ranks *r, struct peer *p)
{
    p->silent = 0;
    p->ended = p->heard == LAST;
    if (!p->ended)
        listen_to(r, p);
}

static void look_at(const struct cavs__ranks *r, struct peer *p)
{
    int done = 1;

    p->silent++;
    for (int heard = 1; heard && !p->ended;) {
        MPI_Test(&p->hear, &heard, MPI_STATUS_IGNORE);
        if (heard)
            take_word(r, p);
    }
    if (p->say != MPI_REQUEST_NULL)
        MPI_Test(&p->say, &done, MPI_STATUS_IGNORE);
    if (done)
        MPI_Isend(&p->said, 1, MPI_CHAR, p->rank, TAG, r->watch, &p->say);
}

static void give_up(const struct cavs__ranks *r, const struct peer *p)
{
    dprintf(STDERR_FILENO, "%s: rank %d has said nothing for %d s: the run ends\n",
            program_invocation_short_name, p->rank, PATIENCE / 4);
    cavs__mpi_abort(r->watch, 1);
    _exit(1);
}

/* ---- the thread ---- */

static void *watch(void *arg)
{
    const struct cavs__ranks *r = arg;
    const struct timespec turn = {0, TURN};
    struct cavs__watch *w = r->guard;

    while (!__atomic_load_n(&w->stops, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < w->npeers; i++) {
            look_at(r, &w->peers[i]);
            if (w->peers[i].silent > PATIENCE + r->rank)
                give_up(r, &w->peers[i]);
        }
        nanosleep(&turn, NULL);
    }
    return NULL;
}

int cavs__watch_start(struct cavs__ranks *r)
{
    struct cavs__watch *w = calloc(1, sizeof *w);
    int npeers = r->rank == 0 ? r->count - 1 : 1;

    r->guarded = true;
    r->guard = w;
    if (w)
        w->peers = calloc((size_t)npeers, sizeof *w->peers);
    if (!w || !w->peers)
        return cavs__fail_nomem("ranks", sizeof *w + (size_t)r->count * sizeof *w->peers);
    w->npeers = npeers;
    for (int i = 0; i < w->npeers; i++) {
        w->peers[i] = (struct peer){.rank = r->rank == 0 ? i + 1 : 0, .say = MPI_REQUEST_NULL};
        listen_to(r, &w->peers[i]);
    }
    w->runs = pthread_create(&w->thread, NULL, watch, r) == 0;
    return w->runs ? CAVS_OK
                   : cavs__fail(CAVS_ERUNTIME, "no thread for the watch over the other ranks");
}

static void join_thread(struct cavs__watch *w)
{
    if (!w || !w->runs)
        return;
    w->runs = false;
    __atomic_store_n(&w->stops, true, __ATOMIC_RELEASE);
    pthread_join(w->thread, NULL);
}

void cavs__watch_fall_silent(struct cavs__ranks *r)
{
    join_thread(r->guard);
}

/* A word that nobody takes stays MPI's, and UCX, which MPICH of Debian has below it, says so at its
 * end, on stdout, in the midst of the results.  So each rank hears all that others have said.  All
 * of them call, and have a watch whose thread has ended. */
void cavs__watch_hear_out(struct cavs__ranks *r)
{
    struct cavs__watch *w = r->guard;

    for (int i = 0; i < w->npeers; i++) {
        struct peer *p = &w->peers[i];

        MPI_Wait(&p->say, MPI_STATUS_IGNORE);
        p->said = LAST;
        MPI_Isend(&p->said, 1, MPI_CHAR, p->rank, TAG, r->watch, &p->say);
    }
    for (int i = 0; i < w->npeers; i++) {
        while (!w->peers[i].ended) {
            MPI_Wait(&w->peers[i].hear, MPI_STATUS_IGNORE);
            take_word(r, &w->peers[i]);
        }
        MPI_Wait(&w->peers[i].say, MPI_STATUS_IGNORE);
    }
}

/* Ends the watch when all ranks are at their end. */
void cavs__watch_stop(struct cavs__ranks *r)
{
    struct cavs__watch *w = r->guard;
    bool all = r->guarded && cavs__ranks_agree_on(r, "the end", CAVS_OK) == CAVS_OK && r->watched;

    join_thread(w);
    if (all)
        cavs__watch_hear_out(r);
    for (int i = 0; w && i < w->npeers; i++) {
        if (w->peers[i].hear != MPI_REQUEST_NULL)
            MPI_Cancel(&w->peers[i].hear);
        MPI_Wait(&w->peers[i].hear, MPI_STATUS_IGNORE);
        if (w->peers[i].say != MPI_REQUEST_NULL)
            MPI_Request_free(&w->peers[i].say);
    }
    if (w)
        free(w->peers);
    free(w);
}
