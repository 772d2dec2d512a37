/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - a model compiled, with memory, parameters and batches in flight: what this room gives
 * to others.
 *
 * A session prepares a batch, has the engine evaluate it and the optimizer update the parameters.
 *
 *   session.c     life
 *   same_session.c  that all ranks have made the same
 *   run_batch.c   training, gradients, evaluation: one batch; prepare_batch.c: before its tasks
 *   fault.c       where a number that is not finite came from
 *   stats.c       statistics
 *   choices.c     what a session says of itself
 *   values.c      parameters' values; initial_values.c: the first ones; read_gradients.c
 *   store.h       parameters as they are stored, of sessions that share them
 *   noted_readers.c  what StarPU notes of those who read them
 *   states.c      what the optimizer keeps of them, for checkpoints
 *   output.c      pushed rows
 *   metrics.c     sums and counts of metrics
 *   engine.h      what evaluates batches, and its files
 *   optimizer.h   gradients -> updates
 *   runtime.h     StarPU and the machine
 *   cost.h        what work costs, to cut it well
 *   peak.c        how fast the machine is
 */
#ifndef CAVS_CORE_RUN_SESSION_H
#define CAVS_CORE_RUN_SESSION_H

#include <jansson.h>

#include "codelets/device_set.h"
#include "core/run/engine.h"
#include "core/run/optimizer.h"
#include "core/run/runtime.h"

/* What a tape is to its session. */
struct cavs__session_tape {
    struct cavs__session_tape *next;
    /* What it has found out about the program that records; NULL: out of memory. */
    json_t *(*describe)(const struct cavs__session_tape *tape);
};

struct cavs_session {
    struct cavs_runtime *rt;
    const struct cavs_model *model;
    struct cavs_session_options options;
    struct cavs__plan *plan;
    struct cavs__engine engine;
    struct cavs__batch *batch; /* the last one: `fresh`, or one that is kept */
    struct cavs__batch fresh;
    struct cavs__kept kept;
    struct cavs__optimizer optimizer;
    long gradient_batch; /* batches after the last cavs_session_gradient(): its gradient is there
                            until there are more */
    bool half_counted;   /* metrics have a part of a batch that failed; until they are reset */
    json_t *notes;       /* texts by name for model files; NULL: none */
    struct cavs_stats stats;
    struct cavs__launch_counts launched_before; /* launches when the statistics were reset */
    int devices_failed;                         /* that had failed before this session was made */
    struct cavs__session_tape *tapes;           /* in the order in which they were made */
    bool destroyed;                             /* it is freed with the last tape */
    int resumed;                                /* how many times; from checkpoints */
    json_t *found; /* by tapes, in that order, when the last of these was written; NULL: nothing */
};

/* session.c: tapes hold their session, so that it does not matter which is destroyed first. */
void cavs__session_hold(struct cavs_session *s, struct cavs__session_tape *tape);
void cavs__session_release(struct cavs_session *s, struct cavs__session_tape *tape);
/* session.c: 0, or why `call` cannot use the session: there is none, or this process has no
 * workers. */
int cavs__session_ready(const struct cavs_session *s, const char *call);
/* Waits for everything that was submitted; then the same as cavs__check_devices(). */
int cavs__settle(struct cavs_session *s);
/* same_session.c: the outcome of making a session, on all ranks; refused if they have made sessions
 * of other options or other parameters. */
int cavs__session_agree(struct cavs_session *s, int rc);
/* prepare_batch.c: makes everything that is wanted before the tasks of r->samples are submitted:
 * s->batch, and what its tasks read.  A batch that fails here leaves no trace.  All ranks go on, or
 * none. */
int cavs__prepare_batch(struct cavs_session *s, struct cavs__request *r, int slot);

/* run_batch.c: cavs__here_begin(), unless other sessions may have tasks at the parameters. */
void cavs__may_run_here(struct cavs_session *s, const struct cavs__worth *b, int slot);
/* run_batch.c: after the tasks that compute the batch, submits those that use its gradients, and
 * whatever is still kept to be joined: sums of looked-up rows, messages between ranks, updates. */
int cavs__submit_uses(struct cavs_session *s, int nsamples, int nshards, int slot);
/* devices.c: CAVS_ERUNTIME if a device has failed in the middle of a task since the last call. */
int cavs__check_devices(const struct cavs_session *s);

/* fault.c: CAVS_ENUMERIC if a task has seen a number that is not finite. */
int cavs__report_fault(struct cavs_session *s);

/* device_room.c: whether every device there is has room for the parameters.  A notice if not;
 * CAVS_ERUNTIME if devices are required, or nobody else can compute. */
int cavs__check_device_room(const struct cavs_session *s, bool *there);

/* values.c */
int cavs__create_params(struct cavs_session *s);
/* Makes the tensors that have been added to the plan since, with what they hold of parameters, and
 * scratch. */
int cavs__session_follow_plan(struct cavs_session *s);

/* noted_readers.c: now and then, before a batch or increment, has StarPU forget who has read the
 * parameters that are not updated. */
void cavs__forget_readers(struct cavs_session *s, enum cavs__run run);

/* states.c: how many matrices of p's shape the optimizer keeps, and their numbers. */
int cavs__states_of(const struct cavs_session *s, const struct cavs_param *p);
/* Does each rank keep only some of what the optimizer has of the parameter? */
bool cavs__shares_state(const struct cavs_session *s, const struct cavs_param *p);
/* Reads and writes rows of a state.  Those that another rank keeps are read as zeros, and are not
 * written. */
int cavs__get_state(struct cavs_session *s, const struct cavs_param *p, int k, float *values);
int cavs__set_state(struct cavs_session *s, const struct cavs_param *p, int k, const float *values);

/* metrics.c: sum and count of every metric in every shard, (shards, 2 nmetrics + 1); the last
 * column is not used.  Rows of another number of shards are added up; metrics behind so many are
 * zero. */
int cavs__get_metrics(struct cavs_session *s, double *values);
int cavs__set_metrics(struct cavs_session *s, int shards, int metrics, const double *values);

#endif
