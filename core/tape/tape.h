/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.h - a tape: a recording, and the session that computes it.
 *
 *   recording.c      recordings and samples; recording_parts.h: the symbols of the present one
 *                    (record_usual.c: those that come as they mostly do)
 *   record_samples.c samples that a function records: scribes.c on workers, whose are
 *                    joined by written_samples.c; foreseen.c: what becomes of them
 *   signature.c      sorts of symbols that can be computed together; signature_function.h: what
 *                    they compute
 *   sites.c          where in the code they were recorded, and which runs recur
 *   tape_blocks.c    symbols that are wanted -> vertices: runs that recur are one; run_form.h:
 *                    those that are alike
 *   run_parts.c      what of a run is computed ahead, and what later
 *   known_runs.c     runs that are as one before; learned_runs.c: which these are
 *   background.c     the compiler at work for blocks
 *   found.c          what of this a checkpoint has
 *   order.c          vertices -> V_t: an increment; order_parts.h
 *   compiled.c       signatures -> parts of the session's plan
 *   row_places.c     where the rows of an increment are
 *   reached.c        which of them gradients reach, and from where
 *   fill.c           what tasks read: index sections (fill_sections.c), rows of the user's
 *   lookups.c        rows of tables whose gradients there are
 *   tape_tasks.c     V_t -> tasks: tape_chain_tasks.c, tape_sum_tasks.c
 *   declared.c       a declared function applied; unfold.c and unfolded_parts.c make symbols of it:
 *                    unfolded.h
 *   fault_tape.c     numbers that are not finite
 *   increments.c     all of these, in order: values, or everything; going.h
 *   answers.c        what the user reads: answered_rows.c, and collected_rows.c of devices
 *   tape.c           life, and the calls that record
 *
 * Nothing of this computes: parts run as those of declared models do, in tasks of the session's
 * engine, and its optimizer updates.
 */
#ifndef CAVS_CORE_TAPE_TAPE_H
#define CAVS_CORE_TAPE_TAPE_H

#include "core/run/session.h"
#include "core/tape/collected_rows.h"
#include "core/tape/order.h"

/* Buffers of a task of the chain: those that all have, and parameters. */
enum { CAVS__FIXED_BUFFERS = 8, CAVS__MOST_PARAMS = CAVS__MAX_BUFFERS - CAVS__FIXED_BUFFERS };

/* What a recording has on one shard. */
struct cavs__tape_shard {
    struct cavs__increment *first, *last;
    int64_t rows, operands, given; /* lines so far; `given` are those of the last increment */
    int64_t evaluated;             /* lines of rows that are computed */
    /* Lines of operands up to the last in which a part keeps something: of what is computed, and
     * with the last increment. */
    int64_t kept, to_keep;
    int source; /* among the shards that have something: lookups.c */
    int32_t npieces;
    int32_t all_pieces; /* where the pieces are in the index */
};

/* Vertices of the recording's first symbols, which were found while these were recorded. */
struct cavs__foreseen {
    int symbols; /* 0: there are none */
    int vertices;
    int scribes;   /* that have found them */
    int64_t taken; /* recordings in which they were what was wanted */
    /* How many recordings nobody tries, since it failed: still to come, and as it was set then. */
    int wait, waits;
};

struct cavs_tape {
    struct cavs__session_tape of_session;
    struct cavs_session *session;
    struct cavs_tape_options options;
    struct cavs__recording recording;
    struct cavs__order order;
    struct cavs__blocks blocks;
    struct cavs__tape_shard *shards; /* [nshards] */
    struct cavs__increment **fresh;  /* [nshards] the first that is not computed yet; NULL: none */
    bool planned;                    /* the plan has a stage for it */
    bool finished;                   /* the recording is finished */
    int symbols_finished;            /* when it was: symbols that are still there */
    uint64_t noise;                  /* dropout's keys are made from it; 0: nothing is dropped */
    int compiled;                    /* signatures that are compiled */
    int resumed;                     /* resumptions of the session that the tape has seen */
    bool behind;                     /* the session has not made all tensors of its plan yet */
    bool in_sample; /* cavs_tape_record() is at work: the user's function may be recording */
    int nscribes;
    struct cavs__scribe **scribes; /* [nscribes] scribes.h */
    /* How many samples are recorded on the tape itself before scribes try again: still to come, and
     * as it was set at the last try. */
    int alone, waits;
    bool at_once; /* all of the recording before was computed at one go, when it was finished */
    struct cavs__foreseen foreseen;
    struct cavs__collecting collecting;
    struct cavs_tape_stats stats;
};

static inline struct cavs__stage_plan *cavs__tape_plan(const struct cavs_tape *t)
{
    return &t->session->plan->stages[t->recording.signatures.stage.number];
}

static inline const struct cavs__signature *cavs__signature_of(const struct cavs_tape *t,
                                                               const struct cavs__vt *vt)
{
    return t->recording.signatures.all[vt->function];
}

static inline struct cavs__arena *cavs__arena_of_shard(struct cavs_tape *t, int shard)
{
    return &t->order.shards[shard].arena;
}

/* compiled.c: parts for all signatures that have none yet. */
int cavs__compile_signatures(struct cavs_tape *t);

/* Compiles the parts of the signature of a block, which has to be the newest. */
int cavs__compile_block(struct cavs_tape *t, int signature);

/* background.c: blocks whose time has come are used; those that are worth it are begun with; the
 * compiler is waited for. */
void cavs__use_blocks(struct cavs_tape *t);
int cavs__make_blocks(struct cavs_tape *t);
void cavs__end_blocks(struct cavs_tape *t);

/* found.c: for a checkpoint, which sites, forms of runs and gradients there are; and back from it,
 * when the session has been resumed; what is recorded on is empty then.  false: out of memory. */
json_t *cavs__describe_found(const struct cavs__session_tape *tape);
bool cavs__recall_found(struct cavs_tape *t);

/* row_places.c: places for the rows of an increment. */
int cavs__place_rows(struct cavs_tape *t, int shard, struct cavs__increment *d);

/* reached.c: whose gradients there are, and the pieces that they are sums of, in all increments. */
int cavs__find_reached(struct cavs_tape *t, int shard);

/* Writes three numbers for each piece. */
void cavs__write_pieces(struct cavs_tape *t, int shard, int32_t *pieces);

/* record_samples.c: may this be called?  Not by what records a sample of cavs_tape_record().  0 or
 * a code. */
int cavs__not_in_sample(const struct cavs_tape *t, const char *call);
/* The same, and not before a recording has begun. */
int cavs__recording_begun(const struct cavs_tape *t, const char *call);

/* foreseen.c: how many vertices have been foreseen, if they are what is wanted now; else none are,
 * and their marks are taken back. */
int cavs__take_foreseen(struct cavs_tape *t, bool finish);
void cavs__forget_foreseen(struct cavs_tape *t);

/* lookups.c: lists rows of looked-up parameters, as cavs__list_gradients() does for a declared
 * batch. */
int cavs__list_tape_lookups(struct cavs_tape *t, int slot);

/* tape_chain_tasks.c, tape_sum_tasks.c: submit the tasks of one shard. */
int cavs__submit_forward(struct cavs_tape *t, int slot, int shard);
int cavs__submit_backward(struct cavs_tape *t, int slot, int shard);
int cavs__submit_gradients(struct cavs_tape *t, int slot, int shard);

/* fault_tape.c: CAVS_ENUMERIC if a task has seen a number that is not finite. */
int cavs__report_tape_fault(struct cavs_tape *t);

/* increments.c: computes the symbols and what they need; then gradients of all losses, and an
 * update, if that is what the recording is for. */
int cavs__evaluate(struct cavs_tape *t, int n, const int32_t *symbols, bool finish);

#endif
