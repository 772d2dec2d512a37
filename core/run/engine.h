/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - what evaluates prepared batches: tensors, the tasks of the batches in flight, and the
 * homes of their shards.  It knows nothing of optimizers.
 *
 *   engine.c           tensors and scratch
 *   schedule_tasks.c   shards of a batch prepared by the workers
 *   room.c             memory for what a batch brings and for what its tasks write
 *   slot.c             the tasks of a batch in flight
 *   homes.c            which device, or the CPU workers, a shard belongs to
 *   home_shares.c      how much of a batch each of them gets
 *   placement.c        where a task may run
 *   submit.c           schedules -> StarPU tasks, in order
 *   submit_kind.c      those of one kind in one shard
 *   pieces.c           rows of one kind of task -> one task, or some side by side
 *   helpers.c          workers that help with a task
 *   join.c             tasks of a small batch, or of a device -> few
 *   joined_task.c      one that runs them
 *   made_gradients.c   gradients of a small batch made by the updates
 *   here.c             tasks of a smaller one run by the calling thread
 */
#ifndef CAVS_CORE_RUN_ENGINE_H
#define CAVS_CORE_RUN_ENGINE_H

#include <stdio.h>

#include "core/prepare/prepare.h"
#include "core/run/runtime.h"
#include "memory/arena.h"
#include "memory/tensor.h"

enum {
    CAVS__SLOTS = 3,           /* batches in flight, at most */
    CAVS__PARTIAL_ROWS = 2048, /* adding up one more partial gradient is then 1 % of making it */
    CAVS__MAX_HOMES = 17,      /* devices, and the CPU workers */
    CAVS__SPARE_SHARDS = 15,   /* of a device */
    CAVS__MOST_JOINED = 64     /* tasks that run as one */
};

/* The tasks of one home in a batch, or those of no shard: when the first could begin, and when the
 * last was done. */
struct cavs__lap {
    struct cavs__slot *slot;
    double began, done; /* starpu_timing_now() */
};

/* A batch in flight. */
struct cavs__slot {
    int pending; /* tasks not finished, plus one while submitting */
    starpu_pthread_mutex_t lock;
    starpu_pthread_cond_t done;
    bool busy;
    double done_at; /* starpu_timing_now() */
    /* for homes.c: */
    enum cavs__run run;
    double submitted;                           /* likewise */
    struct cavs__lap laps[CAVS__MAX_HOMES + 1]; /* [0]: of no shard */
    struct cavs__arena arena;
    struct cavs__arena *own; /* [nshards] for the tasks of a shard that workers submit; or NULL */
    double seconds;          /* what the batch should take */
    uint64_t busy_ns;        /* of workers with this batch, where there are several ranks */
    int place;               /* where it has what its tasks read; 0: in the slot's own place */
};

/* Workers that keep the tensors of some shards: a device, or all CPU workers; see homes.c. */
struct cavs__home {
    uint32_t where;                                   /* STARPU_CPU, .. */
    int device;                                       /* its number, -1: the CPU workers */
    const char *name;                                 /* for people */
    uint32_t workers[(STARPU_NMAXWORKERS + 31) / 32]; /* of a device, as starpu_task::workerids */
    unsigned node;                                    /* of its memory, to StarPU */
    int first, n, used;   /* its shards, first .. first+n-1, of which `used` get something */
    double room;          /* bytes that a shard should have at most; 0: any */
    double rate[2];       /* work a second: forward only, and all */
    unsigned given, seen; /* bit k: had work, and rate[k] is measured */
    unsigned hoped;       /* bit k: rate[k] has grown by hope alone since then */
    int in_turn[2];       /* for how many batches in turn it had work */
    int in_vain[2];       /* how many tries soon ended without work again */
};

struct cavs__homes {
    int n;
    bool cut; /* a batch is cut by how fast they are */
    struct cavs__home home[CAVS__MAX_HOMES];
    double work[CAVS__SLOTS][CAVS__MAX_HOMES]; /* of the batch in each slot */
    int slot;                                  /* of the batch that is being prepared */
    double *share;                             /* [nshards] scratch */
    size_t *bytes; /* likewise, for whoever asks cavs__homes_crowded() */
    bool *away;    /* [nshards] of this batch, computed by CPU workers; NULL: none */
    bool *whole;   /* [nshards] eager work of a shard is one block: it is a device's */
};

/* How the last batch was cut, for people. */
struct cavs__cuts {
    int vt, chain;    /* forward: V_t, and the tasks they share */
    int blocks, wide; /* over all shards; tasks cut by rows */
    int helped;       /* tasks with whose products other workers might help */
};

/* How many grains a task of a chain is worth where each shard has a worker; see submit.c. */
enum { CAVS__LONG_CHAIN = 4 };

/* Tasks that wait for others, to be submitted as one; see join.c. */
struct cavs__join {
    double grain; /* seconds that a task of CPUs should be worth; 0: each is submitted by itself */
    int n, buffers;
    double seconds;
    struct cavs__helping *helping; /* with all that is kept; NULL: nobody helps with all of it */
    struct starpu_task *tasks[CAVS__MOST_JOINED];
};

/* Batches and increments that the calling thread runs; see here.c. */
struct cavs__here {
    bool now;           /* it is one of those */
    bool awaited;       /* the caller has waited for the batch before, or waits for this one */
    int in_turn;        /* how many such batches came one after the other */
    double began, took; /* microseconds: when the batch began; what the last one took, or 0 */
    double busy;        /* seconds of the processor that the last one took, or 0 */
    bool undisturbed;   /* the clock in use, see cavs__caller_seconds() */
    double mean[2][2];  /* [evaluated][of one sample] seconds of recent batches; 0: none yet */
    float *scratch;
    size_t floats;
};

/* A gradient that the update of its parameter makes; see made_gradients.c. */
struct cavs__gradient {
    struct cavs__made made;
    const struct cavs__task_kind *kind; /* the kind of the task that would make it */
    starpu_data_handle_t handles[CAVS__MAX_BUFFERS];
    struct cavs__gradient *next; /* of another shard; NULL: none */
};

struct cavs__engine {
    const struct cavs_runtime *rt;
    const struct cavs_session_options *options; /* its session's */
    const struct cavs__plan *plan;
    struct cavs__rates rates; /* of products in the session's precision */
    int nshards;              /* most per batch */
    int ntensors;
    struct cavs__tensor *tensors; /* [ntensors] of the plan; those of parameters are the store's */
    size_t tensor_bytes;          /* of all tensors that cavs__reserve() made larger */
    starpu_data_handle_t scratch; /* a block for each worker */
    size_t scratch_floats;
    bool devices; /* tasks may run on devices: then scratch is for these, too */
    int nslots;   /* batches in flight */
    struct cavs__slot slots[CAVS__SLOTS];
    struct cavs__join join;
    struct cavs__helped *helped; /* [shards] of the batch, by helpers.c; NULL: nobody helps */
    /* Seconds of processors that the batch has taken so far: of workers, and of whoever arranges
     * its shards. */
    double preparing, arranging;
    struct cavs__here here;
    long batches;              /* submitted */
    int64_t tasks;             /* since the statistics were reset */
    int64_t noted;             /* tasks since StarPU forgot readers; see noted_readers.c */
    struct cavs__homes *homes; /* NULL: any worker takes any shard */
    bool (
        *grad_used)[CAVS__MAX_PARTIALS]; /* [nstored] partial gradients written by the last batch */
    struct cavs__gradient **made;        /* [nstored] made by their update; NULL: by a task */
    struct cavs__cuts *cuts;             /* [nstages] */
    struct cavs__fault fault;
    uint64_t nanoseconds[CAVS__COSTS]; /* of the workers, for each cost, if it is measured */
};

/* Where the optimizer's tasks add up their time; NULL: it is not measured. */
static inline uint64_t *cavs__update_nanoseconds(struct cavs__engine *e)
{
    return e->options->measure ? &e->nanoseconds[CAVS__COST_UPDATE] : NULL;
}

/* The slot of the batch that is being prepared. */
static inline int cavs__next_slot(const struct cavs__engine *e)
{
    return (int)(e->batches % e->nslots);
}

/* Which chunks have what the tasks of a batch read: those of the slot, or of the place where a kept
 * batch is. */
static inline int cavs__read_place(const struct cavs__engine *e, int slot)
{
    return e->slots[slot].place > 0 ? e->slots[slot].place : slot;
}

/* Partial gradients have chunks of their own numbering, see pieces.h. */
static inline int cavs__chunk_of(const struct cavs__engine *e, int tensor, int slot, int shard,
                                 int block)
{
    switch (e->plan->tensors[tensor].kind) {
    case CAVS__T_BUNDLE:
        return shard * CAVS__MAX_BLOCKS +
               (e->plan->tensors[tensor].space == CAVS__DISTINCT ? 0 : block);
    case CAVS__T_INDEX:
    case CAVS__T_INPUT: return cavs__read_place(e, slot) * e->nshards + shard;
    case CAVS__T_PARAM:
    case CAVS__T_COPY: return 0;
    default: return shard;
    }
}

/* engine.c */
/* From now on one more batch may be in flight: with ranks or tapes, preparing the next one may be
 * late. */
void cavs__engine_prepare_ahead(struct cavs__engine *e);
/* These are called in this order.  After the first one, even if it failed, the engine can be
 * freed. */
int cavs__engine_init(struct cavs__engine *e, const struct cavs_runtime *rt,
                      const struct cavs_session_options *options, bool devices);
int cavs__engine_create_tensors(struct cavs__engine *e, const struct cavs__plan *plan);
/* Makes the tensors that have been added to the plan since. */
int cavs__engine_follow_plan(struct cavs__engine *e);
/* Frees the engine, which has nothing in flight any more. */
void cavs__engine_free(struct cavs__engine *e);
void cavs__wait_slots(struct cavs__engine *e);
void cavs__wait_others(struct cavs__engine *e, int slot);
/* After a batch that has failed: waits for what was submitted of it, since tasks side by side may
 * lack the fence that orders them before others, and forgets the numbers that were not finite. */
void cavs__end_failed_batch(struct cavs__engine *e);
/* Submits what is kept to be joined, and waits for all tasks that there are. */
int cavs__wait_tasks(struct cavs__engine *e, int slot);
/* Makes room for so many rows in a chunk, which need not be there yet. */
int cavs__reserve(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows);
/* The same, for data that stay in main memory. */
int cavs__reserve_here(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows);
/* The same, for what a parameter has, of which batches do not tell the size. */
int cavs__reserve_of_param(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows);
/* Like cavs__reserve(), but the first `kept` rows keep their numbers. */
int cavs__extend(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows,
                 int64_t kept);
/* Of a new chunk to which the main thread alone writes, when all tasks that read it are done:
 * StarPU has no order to keep there, where memory is one, and must not, since one with traces notes
 * every task that has read something until the next task writes to it, and none ever does. */
void cavs__leave_unordered(const struct cavs__engine *e, const struct cavs__tensor *t, int chunk);
/* Makes the scratch block of a task at least that large; growing waits for the tasks that use
 * it. */
int cavs__reserve_scratch(struct cavs__engine *e, size_t floats);

/* schedule_tasks.c: has CPU workers do n pieces of work, for which the caller waits. 0 or the code
 * of the first piece that has failed. */
typedef int cavs__side_work(void *of, int i);
int cavs__side_by_side(struct cavs__engine *e, int n, cavs__side_work *work, void *of);
/* The same for work that takes about so many seconds in all: by the workers where that pays, else
 * by the caller, one piece after the other. */
int cavs__share_work(struct cavs__engine *e, int n, double seconds, cavs__side_work *work,
                     void *of);
/* Does work for each shard, which touches nothing that is another's, by the workers where that
 * pays.  sample: seconds of each sample, where the clock is a simulated one. */
typedef int cavs__shard_work(struct cavs__engine *e, struct cavs__batch *b, int shard);
int cavs__each_shard(struct cavs__engine *e, struct cavs__batch *b, cavs__shard_work *work,
                     double sample);

/* room.c: gives a batch its memory in the next slot, and writes there what its tasks read; or,
 * where it was written before, what has changed of it. */
int cavs__make_room(struct cavs__engine *e, struct cavs__batch *b);
int cavs__renew(struct cavs__engine *e, struct cavs__batch *b);

/* submit.c */
int cavs__submit_batch(struct cavs__engine *e, struct cavs__batch *b, int slot);
/* Does the engine join the tasks of batches that are worth little? */
bool cavs__joins_tasks(const struct cavs__engine *e);
/* What a batch of few rows should take. */
double cavs__small_seconds(const struct cavs__engine *e, const struct cavs__batch *b);
/* Seconds that joined tasks of a batch worth `seconds` should be worth; 0: none is joined. */
double cavs__join_until(const struct cavs__engine *e, enum cavs__run run, double seconds);

/* helpers.c: may workers without a shard help with tasks of the others? */
bool cavs__may_help(const struct cavs__engine *e);
/* How many shards a batch of these samples should have at most, so that workers can help with thin
 * V_t: as many as others, unless that is left to the session, and the samples are few and small. */
int cavs__shards_of_few(const struct cavs__engine *e, const struct cavs_data *d, const int *samples,
                        int n);
/* Opens one more task to helpers.  arena: of whoever submits it.  false: out of memory. */
bool cavs__helping_task(struct cavs__engine *e, struct cavs__arena *arena,
                        struct cavs__helping *helping);
/* Says where a joined task runs with which others help. */
void cavs__helped_place(const struct cavs__engine *e, struct starpu_task *t);
/* The batch will have no more tasks with which others help. */
void cavs__helped_end(struct cavs__engine *e, int shards);

/* cost.c: seconds that a task should be worth.  One at home on a device without end, unless the
 * program says how many: its launches wait in line there, and the end of a task, which StarPU sees
 * and answers, costs the time of several. 0: tasks are not joined. */
double cavs__grain(const struct cavs__engine *e);
double cavs__device_grain(const struct cavs__engine *e);

/* slot.c */
/* Makes a task of the slot, and of a shard or none (-1).  Never NULL. */
struct starpu_task *cavs__task_create(struct cavs__engine *e, int slot, int shard,
                                      struct starpu_codelet *cl, void *arg);
/* Adds a handle; a task takes any number of them.  If memory is short for that the task stays
 * incomplete: whoever submits it gets CAVS_ENOMEM. */
void cavs__task_buffer(struct starpu_task *t, starpu_data_handle_t handle,
                       enum starpu_data_access_mode mode);
/* Memory was short for something else that the task has to have: it stays incomplete, too. */
void cavs__task_lacks_memory(struct starpu_task *t);
/* Has the task all handles that were added?  0, or CAVS_ENOMEM, which is reported. */
int cavs__task_complete(const struct starpu_task *t);
int cavs__task_start(struct cavs__engine *e, int slot, struct starpu_task *t);
/* pieces.c: makes a task that does nothing.  One is submitted before, and one after, tasks that
 * write different rows of the same data at the same time: these take the data for reading, and it
 * takes them for writing. */
struct starpu_task *cavs__fence_create(struct cavs__engine *e, int slot);
void cavs__task_drop(struct starpu_task *t); /* a task that was not submitted */
void cavs__slot_open(struct cavs__slot *slot, int nshards);
void cavs__slot_close(struct cavs__slot *slot); /* no more tasks will be added */
void cavs__slot_wait(struct cavs__slot *slot);
/* The batch has to wait for something that is no task; that is done, which is counted under
 * slot->laps. */
void cavs__slot_hold(struct cavs__slot *slot);
void cavs__slot_release(void *laps);

/* join.c */
/* Submits a task of about so many seconds, or keeps it to be joined to others. */
int cavs__task_submit(struct cavs__engine *e, int slot, struct starpu_task *t, double seconds);
/* joined_task.c: makes one task of as many kept ones as a device has room for, the first *taken of
 * them.  NULL: out of memory. */
struct starpu_task *cavs__joined_task(struct cavs__engine *e, int slot, int *taken);
/* Submits what is kept, or forgets it. */
int cavs__join_flush(struct cavs__engine *e, int slot);
void cavs__join_drop(struct cavs__engine *e);

/* made_gradients.c: forgets the gradients of the batch before, as a new one begins. */
void cavs__forget_gradients(struct cavs__engine *e);

/* here.c: batches, and increments of a tape, that are worth little. */
struct cavs__worth {
    enum cavs__run run;
    bool one_sample;
    double seconds; /* that its tasks should take, without updates */
};
/* Decides whether the calling thread runs the tasks of what is prepared, up to the end. */
void cavs__here_begin(struct cavs__engine *e, const struct cavs__worth *b, int slot);
void cavs__here_end(struct cavs__engine *e);
/* Seconds that the calling thread has had of a processor.  Where recent batches ran here the
 * workers sleep, nobody pushes the thread aside, and an ordinary clock says the same without a
 * system call, of which a batch of 40 us would make ten.  Which clock is chosen as a batch or an
 * increment begins. */
void cavs__choose_clock(struct cavs__engine *e);
double cavs__caller_seconds(const struct cavs__engine *e);
/* Runs a task, and destroys it. */
void cavs__run_here(struct cavs__engine *e, struct starpu_task *t);

/* homes.c */
/* Decides how many shards there are, and where each lives. */
int cavs__homes_init(struct cavs__engine *e);
void cavs__homes_free(struct cavs__engine *e);
/* Is a batch cut by how fast homes are?  Several ranks cut it alike, whatever homes each has. */
bool cavs__homes_cut(const struct cavs__engine *e);
int cavs__device_homes(const struct cavs__homes *hs); /* how many homes are devices: the first */
/* The home of a shard of this batch; -1: it has none.  Where there is one home, tasks of no shard
 * (-1) have it, too. */
int cavs__home_of(const struct cavs__engine *e, int shard);
double cavs__shard_grain(const struct cavs__engine *e, int shard); /* as cavs__grain() */
double cavs__home_room(const struct cavs__engine *e, int home);    /* bytes of a task; 0: any */
/* Sends what tasks of a shard, or of none (-1), will read to the shard's device, if it has one,
 * which then need not wait for it. */
void cavs__send_home(const struct cavs__engine *e, int shard, struct cavs__tensor *t, int chunk);
bool cavs__cpus_have_shards(
    const struct cavs__engine *e); /* do CPU workers have shards of this batch, beside devices? */
bool cavs__is_at_cpus(const struct cavs__engine *e, int shard); /* is the shard at home there? */
/* The chunk of a parameter's gradient that a shard adds to: never one of another device's. */
int cavs__partial_of(const struct cavs__engine *e, int shard, int partial, int partials);
int cavs__partials(const struct cavs__engine *e); /* how many such chunks there are */
/* How many shards a batch of n samples has; with homes some can be empty. */
int cavs__shards_of_batch(const struct cavs__engine *e, int n);
/* Do shards with so many bytes of tensors take more of a device's memory than they should?  If so,
 * they are smaller the next time. */
bool cavs__homes_crowded(struct cavs__engine *e, const size_t *bytes);
/* Gives shards that cannot be cut, and that their device could not hold, to the CPU workers, with a
 * notice; if there are no such workers that is an error. */
int cavs__homes_send_away(struct cavs__engine *e, const size_t *bytes);

/* home_shares.c */
/* Are the homes of two shards alike, so that the shards are equally large? */
bool cavs__shards_alike(const struct cavs__engine *e, int a, int b);
/* What part of a batch each shard should have, relative to one another, [nshards]; NULL: the
 * same. */
const double *cavs__shares(const struct cavs__engine *e, enum cavs__run run);
/* These are called in this order for each batch: when the tasks that were in the slot are done;
 * when the slot is used anew; when a shard has been given work. */
void cavs__homes_observe(struct cavs__engine *e, int slot);
void cavs__homes_begin(struct cavs__engine *e, int slot, enum cavs__run run);
void cavs__homes_count(struct cavs__engine *e, int slot, int shard, double work);
/* How many devices have this rank's shards, which they compute side by side, and the work a second
 * of each of them, with gradients; 0: it is not known yet. */
int cavs__homes_pace(const struct cavs__engine *e, double *speed);
void cavs__homes_explain(FILE *out, const struct cavs__engine *e);

/* devices.c */
/* Decides which kinds of a plan run on devices, and compiles their groups for them. */
int cavs__plan_devices(struct cavs__plan *p);
/* The same for a tape, after the plan has grown. */
int cavs__plan_devices_anew(struct cavs__plan *p);
/* Before a batch with gradients: whether a worker can add what lookups have to dense gradients of
 * the same parameters, which is done on CPUs (looked_up.c). */
int cavs__check_looked_up(const struct cavs__plan *p);
/* The text of the groups of parts that are coming (part.h), for compile_ahead() of the devices.
 * The caller frees it.  NULL: nothing has to be compiled, or there is no memory for it. */
char *cavs__plan_coming_text(const struct cavs__plan *p);

/* device_scratch.c */
/* If there are devices, makes room for the scratch that a batch and its updates want there. */
int cavs__reserve_device_scratch(struct cavs__engine *e, const struct cavs__batch *b);
/* The same for so many floats, and for the updates. */
int cavs__reserve_device_floats(struct cavs__engine *e, const struct cavs__batch *b, size_t floats);

/* placement.c */
/* Says where a task of a shard, or of none (-1), runs: at the home of the shard, if it can run
 * there; or as CAVS_PLACEMENT in the environment says: cpu, device, alternate between them, or
 * any. */
void cavs__place_task(const struct cavs__engine *e, int shard, struct starpu_task *t);
/* Is a task, which has been placed, at home on a device? */
bool cavs__is_at_device(const struct starpu_task *t);
/* Keeps a task, which has been placed, off devices of these kinds, which cannot run it. */
void cavs__keep_off(struct starpu_task *t, uint32_t kinds);

#endif
