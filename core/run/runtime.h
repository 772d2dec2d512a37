/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - the machine and StarPU's workers on it. */
#ifndef CAVS_CORE_RUN_RUNTIME_H
#define CAVS_CORE_RUN_RUNTIME_H

#include <starpu.h>
#include <sys/types.h>

#include "core/cavs.h"
#include "core/ranks/ranks.h"
#include "core/run/cost.h"

struct cavs__record;

/* Where StarPU keeps its performance models if that is not left to it. */
struct cavs__folder {
    char *path; /* NULL: left to it */
    bool own;   /* it belongs to this run, and is removed with it */
};

struct cavs_runtime {
    int workers;
    int cores;   /* of the machine */
    int shards;  /* into how many a session cuts a batch by default */
    int threads; /* hardware threads of a core */
    int l2_bytes;
    int64_t l3_bytes; /* of one third-level cache, which some cores share */
    bool one_memory;  /* all workers share one memory node */
    bool leave_to_workers;
    bool require;  /* a device that cannot be used is an error */
    pid_t pid;     /* of the process that has the workers: a child made by fork() has none */
    int sessions;  /* how many there are */
    bool stopping; /* the runtime stops with the last session */
    struct cavs__cost_model cost;
    char scheduler[64];
    struct cavs__ranks *ranks;   /* NULL: the process is alone */
    unsigned raised;             /* bits that were raised, where there are no other ranks */
    const char *placement;       /* CAVS_PLACEMENT, NULL: as the scheduler likes */
    struct cavs__record *record; /* NULL: not traced */
    struct cavs__folder folder;
};

/* start_runtime.c: opens the ranks and the record, and starts StarPU with its devices.  What was
 * opened stays in *rt after a failure, too: the caller closes it. */
int cavs__runtime_start(const struct cavs_runtime_options *o, struct cavs_runtime *rt);

/* runtime.c: stops with the last session of a runtime that has been destroyed before. */
void cavs__runtime_release(struct cavs_runtime *rt);
/* 0, or a code, with a message that says why `call` cannot use the runtime: there is none, or this
 * process has no workers. */
int cavs__runtime_ready(const struct cavs_runtime *rt, const char *call);

/* workers.c: workers sleep until they are woken, which has to be done before any task is submitted.
 * It is called within a batch, and does nothing while another session has one. */
void cavs__workers_rest(void);
/* The same from now on whenever no batch has a task, where the calling thread has no core to
 * itself.  Not where there are other ranks: one of the workers looks for messages. */
void cavs__workers_rest_when_idle(const struct cavs_runtime *rt);
/* Tasks of a batch will be submitted from now on; all of them are done. */
void cavs__workers_begin_batch(void);
void cavs__workers_end_batch(void);
/* Workers that sleep go on sleeping until cavs__workers_wake(): one that wakes up for one task soon
 * has nothing to do, and keeps the thread that has more from submitting them. */
void cavs__workers_hold(void);
void cavs__workers_have_task(void);
/* Wakes them for what has been submitted, which may be done before this returns.  Then they may
 * sleep again, while the program goes on recording. */
void cavs__workers_wake_for_tasks(void);
void cavs__workers_wake(void);
/* With several ranks: whenever the calling thread wakes up it waits until a worker has nothing to
 * do, or has had its share of the core.  Returns what ends that. */
int cavs__workers_first(const struct cavs_runtime *rt);
void cavs__workers_no_longer_first(int policy);

/* starpu_folder.c */
/* Before starpu_init(): makes sure that StarPU has a folder that it can write, or says what to
 * set. */
int cavs__folder_choose(struct cavs__folder *f);
/* After starpu_shutdown(). */
void cavs__folder_forget(struct cavs__folder *f);

/* starpu_init.c: StarPU's start, without a message that means nothing. */
int cavs__starpu_init(struct cavs__ranks *r, struct starpu_conf *conf);

#endif
