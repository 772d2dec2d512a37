/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scribes.h - samples that are recorded side by side, each by a worker, and become part of a tape
 * as if they had been recorded on it one after the other.
 *
 * A scribe has a tape of its own, which the user's function is handed.  Its symbols, and all that
 * goes by symbol, are the scribe's; signatures, metrics and parameters are the tape's, where they
 * are known, and sites are a copy of the tape's.  None of that changes while scribes write.  A
 * sample that would change some, a new signature, say, or a way on from a site that was not taken
 * before, is no use, nor is one with a mistake: it is recorded on the tape itself, where it has to
 * be the next one, and so has the signatures, runs, numbers and messages that it would have had.
 * Of others that are written down nothing but the numbers of symbols changes when they are copied:
 * symbols stay where they are, as users know them.
 */
#ifndef CAVS_CORE_TAPE_SCRIBES_H
#define CAVS_CORE_TAPE_SCRIBES_H

#include <stdatomic.h>

#include "core/tape/tape.h"

/* A place in the arrays of a recording, or the distance between two of them. */
struct cavs__extent {
    int32_t symbols, runs, sinks, vertices;
    int64_t reads;
};

/* A sample of the call. */
struct cavs__written {
    const struct cavs__recording *by; /* NULL: it is no use */
    int32_t number;                   /* how many symbols it has */
    struct cavs__extent from, end;    /* of the scribe's recording */
    struct cavs__extent to;           /* on the tape */
};

struct cavs__scribe {
    struct cavs_tape tape;
    int64_t as; /* changes of the tape's sites when it copied them; -1: not yet */
    int known;  /* how many known runs the tape had then */
    int copied; /* samples of the call that it has looked at: its own ones are on the tape then */
    size_t time_room;
    int32_t *times; /* by known run: how often it has met it in what it has foreseen of the call */
};

/* The user's function, for sample i of a call. */
typedef int cavs__record_sample(struct cavs_tape *t, int i, void *user);

/* Samples [first, n) of a call. */
struct cavs__to_record {
    int first, n;
    cavs__record_sample *record;
    void *user;
};
/* Records them side by side, by as many scribes as there are workers; *useful: how many, from the
 * first one on, are part of the tape then.  0 or a code. */
int cavs__write_side_by_side(struct cavs_tape *t, const struct cavs__to_record *call, int *useful);
void cavs__scribes_free(struct cavs_tape *t);

/* ---- written_samples.c ---- */

/* Samples that are written at one go. */
struct cavs__writing {
    struct cavs_tape *t;
    const struct cavs__to_record *call;
    int sample; /* on the tape, of the first one */
    int n;
    atomic_int next; /* the first that no scribe has begun with */
    atomic_bool stop;
    bool foresees;                 /* what becomes of the samples is to be found, too: foreseen.c */
    atomic_bool unforeseen;        /* it could not be, of some sample */
    struct cavs__written *samples; /* [n] */
    starpu_pthread_mutex_t lock;
    int placed;              /* under the lock: how many samples have their places on the tape */
    struct cavs__extent end; /* under the lock: where these end */
};

/* Where a recording ends. */
static inline struct cavs__extent cavs__extent_of(const struct cavs__recording *r)
{
    return (struct cavs__extent){cavs__symbols_of(r), r->nruns, r->nsinks, r->nvertices, r->nreads};
}

/* Copies the scribe's samples whose places are known by now, while it still has them in its cache.
 * It leaves alone those of other scribes, which still write. */
void cavs__copy_placed(struct cavs__writing *w, struct cavs__scribe *s);
/* When all samples are written, those that are of use become part of the tape, w->n of them.
 * false: reported. */
bool cavs__join_written(struct cavs__writing *w, int scribes);

/* ---- foreseen.c ---- */

/* May what becomes of the tape's next samples be foreseen? */
bool cavs__may_foresee(const struct cavs_tape *t);
/* Gets the scribe ready for it. false: out of memory. */
bool cavs__foresee_begin(struct cavs__scribe *s, const struct cavs_tape *tape);
/* Finds the vertices that the losses and metrics of the sample need, which is the last that the
 * scribe has written.  false: it cannot be done, and nothing has changed. */
bool cavs__foresee_sample(struct cavs__scribe *s, const struct cavs__extent *from);
void cavs__foresee_free(struct cavs__scribe *s);
/* When the samples that scribes have written are on the tape: keeps what was foreseen of them, if
 * it was of all. */
void cavs__keep_foreseen(struct cavs_tape *t, const struct cavs__writing *w, int scribes);

#endif
