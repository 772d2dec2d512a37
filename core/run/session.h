/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - a plan with memory, parameters and batches in flight.
 *
 *   session.c     life, running a batch, waiting
 *   values.c      parameters' values and gradients
 *   output.c      pushed rows and metrics
 *   batch.c       samples -> shards -> schedules (main thread, hidden behind the workers)
 *   batch_graph.c samples of a shard -> input graphs
 *   room.c        rows in the tensors of a shard
 *   index.c       schedules -> index sections
 *   noise.c       keys of dropout
 *   distinct_inputs.c schedules -> what vertices with equal inputs share
 *   submit.c      schedules -> StarPU tasks
 *   slot.c        the tasks of a batch in flight
 *   cost.c        what work costs, to cut it well
 *   starpu_folder.c where StarPU keeps its files
 *   starpu_init.c StarPU's start, without a message that means nothing
 *   homes.c       which device, or the CPU workers, a shard belongs to
 *   optimizer.c   gradients -> updates
 *   checkpoint.c  model files and checkpoints
 *   metadata.c    what those say of themselves
 */
#ifndef CAVS_CORE_RUN_SESSION_H
#define CAVS_CORE_RUN_SESSION_H

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>

#include "codelets/update.h"
#include "core/run/cost.h"
#include "core/data/data.h"
#include "core/compile/plan.h"
#include "memory/arena.h"
#include "memory/tensor.h"
#include "scheduler/schedule.h"

enum {
    CAVS__SLOTS = 2, /* batches in flight */
    CAVS__MAX_PARTIALS = 8,
    CAVS__PARTIAL_ROWS = 2048, /* adding up one more partial gradient is then 1 % of making it */
    CAVS__MAX_BLOCKS = 8,      /* of a shard */
    CAVS__MAX_SHARDS = 4096,   /* of a session: more than any machine has cores */
    CAVS__MAX_HOMES = 17,      /* devices, and the CPU workers */
    CAVS__SPARE_SHARDS = 15    /* of a device */
};

/* What an eager block should be worth, at nominal rates: blocks cost tasks. */
#define CAVS__BLOCK_SECONDS 1e-3

enum cavs__run { CAVS__RUN_EVALUATE, CAVS__RUN_GRADIENT, CAVS__RUN_TRAIN };

struct cavs__record;

/* Where StarPU keeps its performance models if that is not left to it. */
struct cavs__folder {
    char *path; /* NULL: left to it */
    bool own;   /* of this run: it goes with it */
};

struct cavs_runtime {
    int workers;
    int cores; /* of the machine, for the default number of shards */
    int l2_bytes;
    int64_t l3_bytes; /* of one, which some cores share */
    bool one_memory;  /* all workers share one memory node */
    bool require;     /* a device that cannot be used is an error */
    pid_t pid;        /* of the process that has the workers: a child made by fork() has none */
    int sessions;     /* that are there */
    bool stopping;    /* with the last of them */
    struct cavs__cost_model cost;
    char scheduler[64];
    const char *placement;         /* CAVS_PLACEMENT, NULL: as the scheduler likes */
    struct cavs__record *record; /* NULL: not traced */
    struct cavs__folder folder;
};

/* One stage of one shard of the batch being scheduled.  Grow-only arrays, reused. */
struct cavs__shard_stage {
    int n, cap; /* vertices */
    int nchildren, cap_children;
    int32_t *function, *child_ptr, *child;
    int32_t *sample_of; /* [n] position of the vertex's sample in the shard */
    int32_t *over;      /* [n] vertex of the base stage stood over, in this shard's numbering */
    int32_t **ids;      /* [ninputs][n] id inputs */
    int32_t *start;     /* [samples of the shard + 1] first vertex of each sample */
    int cap_start;
    int32_t **keys;    /* [ninputs][n] for merging, of edge inputs per child */
    int32_t *fetched;  /* [n] scratch: fetched row per vertex */
    int *cap_ids;      /* [ninputs] capacity of ids and keys of inputs per edge or entry */
    int32_t **ids_ptr; /* [ninputs][n + 1] of inputs per entry: first of each vertex in ids */
    int *cap_ptr;      /* [ninputs] */
    int32_t *entries, *longest; /* [nlists] entries in all, and most of one vertex */
    struct cavs__schedule schedule;
    struct {
        int cap;
        int32_t *start, *n; /* [nfunctions] where a function's begin below, and how many it has */
        int32_t *number,
            *first;    /* number of each function row's inputs; stage row of each number */
        int32_t *keys; /* scratch */
    } distinct;        /* inputs, see distinct_inputs.c */
    int nblocks;
    int32_t cut[CAVS__MAX_BLOCKS + 1]; /* V_t at which blocks begin, and the end */
    int32_t *block_frow; /* [MAX_BLOCKS][nfunctions] first function row of each block */
    int32_t *offsets;    /* [nsections] in the arena of the slot */
    int index_size;
};

struct cavs__shard {
    int nsamples, cap;
    int *samples; /* numbers in the data */
    struct cavs__shard_stage *stages;
};

/* The tasks of one home, or of no shard: when they could begin, and when the last one was done. */
struct cavs__lap {
    struct cavs__slot *slot;
    double began, done; /* starpu_timing_now() */
};

/* A batch in flight. */
struct cavs__slot {
    int pending; /* tasks not finished, plus one while submitting */
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool busy;
    double done_at; /* starpu_timing_now() */
    /* for homes.c: */
    enum cavs__run run;
    double submitted;                           /* likewise */
    struct cavs__lap laps[CAVS__MAX_HOMES + 1]; /* [0]: of no shard */
    struct cavs__arena arena;
};

/* Workers that keep the tensors of some shards: a device, or all CPU workers; see homes.c. */
struct cavs__home {
    uint32_t where;                                   /* STARPU_CPU, .. */
    int device;                                       /* its number, -1: the CPU workers */
    const char *name;                                 /* for people */
    uint32_t workers[(STARPU_NMAXWORKERS + 31) / 32]; /* of a device, as starpu_task::workerids */
    int first, n, used;   /* its shards, and how many of them get something */
    double room;          /* bytes that a shard should have at most; 0: any */
    double rate[2];       /* work a second: forward only, and all */
    unsigned given, seen; /* bit k: had work, and rate[k] is measured */
};

struct cavs__homes {
    int n;
    struct cavs__home home[CAVS__MAX_HOMES];
    double work[CAVS__SLOTS][CAVS__MAX_HOMES]; /* of the batch in the slot */
    double *share;                             /* [nshards] scratch */
};

/* How the last batch was cut, for people. */
struct cavs__cuts {
    int vt, chain;    /* forward: V_t, and the tasks they share */
    int blocks, wide; /* over all shards; tasks cut by rows */
};

/* Rows of a looked-up parameter that a batch touches; see cavs__update_sparse(). */
struct cavs__touched {
    int n, nuses, occurrences;
    int32_t *ids, *ptr, *source, *row; /* in the parameter's tensor of lists */
    struct cavs__tensor **use;         /* gradient tensors and chunks, by source */
    int *chunk;
};

struct cavs_session {
    struct cavs_runtime *rt;
    const struct cavs_model *model;
    struct cavs_session_options options;
    struct cavs__plan *plan;
    int nshards;                   /* most per batch */
    struct cavs__tensor *tensors;  /* [plan->ntensors] */
    struct cavs__tensor *state[2]; /* [nparams] optimizer state */
    struct cavs__tensor norms;     /* sums of squares of gradients, one double per parameter */
    struct cavs__tensor
        *touched_lists; /* [nparams] of looked-up parameters: touched rows, by slot */
    starpu_data_handle_t scratch;
    size_t scratch_floats;
    bool devices; /* tasks may run on some: then scratch serves them, too */
    struct starpu_codelet update_codelet, norm_codelet;
    struct cavs__update rule;
    long step;           /* updates done, Adam's t */
    bool dropping;       /* the batch being scheduled is not an evaluation */
    long batch;          /* batches submitted */
    long gradient_batch; /* the same after the last cavs_session_gradient(): its gradient is there
                            until then */
    struct cavs__slot slots[CAVS__SLOTS];
    struct cavs__shard *shards; /* [nshards] */
    struct cavs__homes *homes;  /* NULL: any worker takes any shard */
    struct cavs__shard_scratch split_scratch;
    struct cavs__distinct_scratch distinct_scratch;
    double *sample_work; /* scratch of the split */
    int32_t *sample_shard;
    int sample_cap;
    bool (*grad_used)[CAVS__MAX_PARTIALS]; /* [nparams] partial gradients written by this batch */
    int32_t **id_mark; /* [nparams] scratch of touched rows: position + 1, 0 = not touched */
    struct cavs__touched **touched; /* [nparams] of the last batch, in the arena of its slot */
    struct cavs__cuts *cuts;        /* [nstages] */
    json_t *notes;                  /* texts by name for model files; NULL: none */
    struct cavs__fault fault;
    uint64_t nanoseconds[CAVS__COSTS]; /* of the workers, by cost, when measured */
    struct cavs_stats stats;
    int64_t launches_before; /* kernels queued on devices when the statistics were reset */
    int devices_failed;      /* before this session was made */
    bool lost;               /* some parameters were updated and some not */
    bool half_counted;       /* metrics have a part of a batch that failed; until they are reset */
};

/* Partial gradients have chunks of their own numbering, see submit.c. */
static inline int cavs__chunk_of(const struct cavs_session *s, int tensor, int slot, int shard,
                                 int block)
{
    switch (s->plan->tensors[tensor].kind) {
    case CAVS__T_BUNDLE:
        return shard * CAVS__MAX_BLOCKS +
               (s->plan->tensors[tensor].space == CAVS__DISTINCT ? 0 : block);
    case CAVS__T_INDEX:
    case CAVS__T_INPUT: return slot * s->nshards + shard;
    case CAVS__T_PARAM:
    case CAVS__T_PARAM_T: return 0;
    default: return shard;
    }
}

/* batch.c: cuts samples into shards, schedules them, fills the index sections of `slot`.  *nshards:
 * shards made. */
int cavs__batch_prepare(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                        int n, int slot, enum cavs__run run, int *nshards);
void cavs__shards_free(struct cavs_session *s);
/* batch_graph.c */
int cavs__shard_init(const struct cavs_session *s, struct cavs__shard *shard);
void cavs__shard_free(const struct cavs_session *s, struct cavs__shard *shard);
/* Of the shard's samples; stages it stands over come first. */
int cavs__make_graph(const struct cavs_data *d, struct cavs__shard *shard,
                     const struct cavs_stage *stage);
/* room.c: rows in the tensors of shard `number`; scratch for it; bytes of its tensors, about. */
int cavs__reserve_shard(struct cavs_session *s, const struct cavs__shard *shard, int number);
int cavs__reserve_shard_scratch(struct cavs_session *s, const struct cavs__shard *shard);
size_t cavs__shard_bytes(const struct cavs_session *s, const struct cavs__shard *shard);
/* index.c: fills the index sections of one stage of a shard; chunk: of the slot's index tensor. */
int cavs__fill_index(struct cavs_session *s, struct cavs__shard *shard, int stage, int slot,
                     int chunk);

/* A counting sort: rows[ptr[v]] .. rows[ptr[v + 1] - 1] are the i with values[i] = v, ascending, for v in
 * 0 .. nvalues - 1; negative values have no place. */
void cavs__invert(int32_t *ptr, int32_t *rows, const int32_t *values, int n, int nvalues);

/* noise.c: half of the key that every vertex of t has for dropout in this batch; 0 for all where
 * nothing is dropped.  In t->fetched, until that is used again. */
const int32_t *cavs__noise(const struct cavs_session *s, const struct cavs__shard *shard,
                           struct cavs__shard_stage *t, bool high);
/* list_index.c: lists of the vertices of a shard.  Where the entries of vertex v begin in what the
 * samples brought, and how many there are. */
int cavs__list_start(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                     const struct cavs__list *list, int v);
int cavs__list_length(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                      const struct cavs__list *list, int v);
/* Sets t->entries and t->longest; the stage has its schedule. */
int cavs__count_entries(const struct cavs__shard *shard, struct cavs__shard_stage *t,
                        const struct cavs_stage *stage);
/* Entries of a list in a block of V_t. */
int64_t cavs__block_entries(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                            const struct cavs__list *list, int block);
/* The section `sec`, which has a value per entry or is the pointers to them. */
void cavs__fill_list_section(const struct cavs_session *s, int32_t *out,
                             const struct cavs__shard *shard, struct cavs__shard_stage *t,
                             const struct cavs__section *sec);
/* Rows of the fetched stage, per entry. */
void cavs__fill_list_fetch(int32_t *out, const struct cavs__shard *shard,
                           const struct cavs__shard_stage *t, const struct cavs_symbol *fetch);

/* distinct_inputs.c: numbers the distinct inputs of the functions that share work. */
int cavs__number_distinct(struct cavs_session *s, struct cavs__shard_stage *t,
                          const struct cavs__stage_plan *sp);
bool cavs__is_distinct(enum cavs__section_kind kind);
int cavs__distinct_length(const struct cavs__section *sec, const struct cavs__shard_stage *t);
void cavs__fill_distinct(const struct cavs__section *sec, const struct cavs__shard_stage *t,
                         int32_t *out, int32_t *partner);

/* submit.c */
int cavs__submit_batch(struct cavs_session *s, int slot, int nshards, enum cavs__run run);

/* cost.c: seconds that a task of this session should be worth. */
double cavs__grain(const struct cavs_session *s);

/* slot.c */
/* A task of the slot, and of a shard or none (-1), for up to nbuffers handles, which the caller adds
 * by cavs__task_buffer().  NULL: out of memory. */
struct starpu_task *cavs__task_create(struct cavs_session *s, int slot, int shard,
                                      struct starpu_codelet *cl, void *arg, int nbuffers);
void cavs__task_buffer(struct starpu_task *t, starpu_data_handle_t handle,
                       enum starpu_data_access_mode mode);
int cavs__task_submit(struct cavs_session *s, int slot, struct starpu_task *t);
void cavs__task_drop(struct starpu_task *t); /* one that was not submitted */
void cavs__slot_open(struct cavs__slot *slot);
void cavs__slot_close(struct cavs__slot *slot); /* no more tasks will be added */
void cavs__slot_wait(struct cavs__slot *slot);

/* homes.c */
/* Decides how many shards there are, and where each lives. */
int cavs__homes_init(struct cavs_session *s);
void cavs__homes_free(struct cavs_session *s);
int cavs__home_of(const struct cavs_session *s, int shard); /* -1: none */
/* What part of a batch each shard should have, relative to one another, [nshards]; NULL: the same. */
const double *cavs__shares(const struct cavs_session *s, enum cavs__run run);
/* The chunk of a parameter's gradient that a shard adds to: never one of another device's. */
int cavs__partial_of(const struct cavs_session *s, int shard, int partial, int partials);
int cavs__partials(const struct cavs_session *s); /* such chunks */
/* Shards of a batch of n samples; with homes some can be empty. */
int cavs__shards_of_batch(const struct cavs_session *s, int n);
/* Shards with so many bytes of tensors are more than a device's memory should hold: true, and next
 * time they are smaller. */
bool cavs__homes_crowded(struct cavs_session *s, const size_t *bytes);
/* In this order, for each batch: the tasks that were in the slot are done; it is used anew; work that
 * has been given to a shard. */
void cavs__homes_observe(struct cavs_session *s, int slot);
void cavs__homes_begin(struct cavs_session *s, int slot, enum cavs__run run);
void cavs__homes_count(struct cavs_session *s, int slot, int shard, double work);
void cavs__homes_explain(FILE *out, const struct cavs_session *s);

/* optimizer.c */
void cavs__optimizer_init(struct cavs_session *s);
int cavs__find_touched(struct cavs_session *s, int slot, int nshards);
int cavs__submit_updates(struct cavs_session *s, int slot);

/* values.c */
int cavs__create_params(struct cavs_session *s);
/* Matrices of p's shape that the optimizer keeps, and their numbers. */
int cavs__states_of(const struct cavs_session *s, const struct cavs_param *p);
int cavs__get_state(struct cavs_session *s, const struct cavs_param *p, int k, float *values);
int cavs__set_state(struct cavs_session *s, const struct cavs_param *p, int k, const float *values);

/* starpu_folder.c */
/* Before starpu_init(): makes sure that StarPU has a folder that it can write, or says what to set. */
int cavs__folder_choose(struct cavs__folder *f);
/* After starpu_shutdown(). */
void cavs__folder_forget(struct cavs__folder *f);

/* starpu_init.c */
int cavs__starpu_init(struct starpu_conf *conf);

/* output.c: sum and count of every metric in every shard, (shards, 2 nmetrics + 1); the last column is
 * not used.  Rows of another number of shards are added up. */
int cavs__get_metrics(struct cavs_session *s, double *values);
int cavs__set_metrics(struct cavs_session *s, int shards, const double *values);

/* devices.c */
/* Decides which kinds of a plan run on devices, and compiles their groups for them. */
int cavs__plan_devices(struct cavs__plan *p);
/* If there are devices: scratch for as many rows as the batch, and its updates, want. */
int cavs__reserve_device_scratch(struct cavs_session *s, int nshards, bool updates);
/* Gives a notice of each device that has been left out since it last did; CAVS_ERUNTIME if they are
 * required. */
int cavs__report_devices(bool require);
/* CAVS_ERUNTIME if a device has failed in the middle of a task since the last call. */
int cavs__check_devices(const struct cavs_session *s);
/* Waits for everything submitted, and then asks that. */
int cavs__settle(struct cavs_session *s);
/* To its home, for a task of a shard (or none, -1), if it can run there; or as CAVS_PLACEMENT in the
 * environment says: cpu, device, alternate between them, or any. */
void cavs__place_task(const struct cavs_session *s, int shard, struct starpu_task *t);

/* runtime.c: stops with the last session of a runtime that has been destroyed before. */
void cavs__runtime_release(struct cavs_runtime *rt);
/* 0, or why `call` cannot use the session: there is none, or this process has no workers. */
int cavs__session_ready(const struct cavs_session *s, const char *call);
/* The same of a runtime. */
int cavs__runtime_ready(const struct cavs_runtime *rt, const char *call);

/* session.c */
void cavs__wait_slots(struct cavs_session *s);
int cavs__reserve(struct cavs_session *s, struct cavs__tensor *t, int chunk, int64_t rows);
/* Makes the scratch block of a task at least that large; growing waits for the tasks that use it. */
int cavs__reserve_scratch(struct cavs_session *s, size_t floats);

#endif
