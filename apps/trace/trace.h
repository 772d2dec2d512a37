/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - what happened in a run: recorded by StarPU's FxT, converted by StarPU's tools,
 * summarised here.
 *
 *   cavs_trace.c    the program
 *   convert.c       what StarPU recorded -> files that can be read, by starpu_fxt_tool
 *   summarise.c     reads a folder, writes summary.txt and gantt.svg into it
 *   records.c       tasks.rec and activity.data -> struct trace
 *   record_fields.c the lines of a record
 *   messages.c      comms.rec -> what ranks sent one another; and their clocks
 *   pauses.c        trace.rec -> times in which FxT stopped the program
 *   dependencies.c  who depends on whom, by job numbers and by data
 *   longest_path.c  when tasks became ready, the longest path
 *   totals.c        sums by codelet, worker, phase and batch
 *   sweep.c         sums over time: which phases ran side by side, why workers were idle, what
 *                   messages were waited for
 *   summary_text.c  summary.txt
 *   svg*.c          gantt.svg
 *
 * All but convert.c know StarPU only from its files.  Times are milliseconds on FxT's clock.
 * Functions that return int return 0 or a negative code of cavs.h; those without a struct
 * app_error fail for want of memory only.
 */
#ifndef CAVS_APPS_TRACE_TRACE_H
#define CAVS_APPS_TRACE_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/common/app_error.h"
#include "core/compile/work.h"

/* ---- a folder -------------------------------------------------------------------------------- */

/* Whether there is a file of that name in the folder, and its path. */
bool trace_has(const char *dir, const char *name, char *path, size_t size);

/* What StarPU recorded: the folder's trace.fxt or trace.fxt_0, or its only file whose name StarPU
 * gave it. */
bool trace_find_record(const char *dir, char *path, size_t size);
/* tasks.rec, paje.trace and the like from the record, into the folder.  The record of rank 0, whose
 * name ends in _0, brings those of other ranks beside it. */
int trace_convert(const char *dir, const char *record, struct app_error *e);

/* dir/summary.txt and dir/gantt.svg from what trace_convert() left in dir. */
int trace_summarise(const char *dir, struct app_error *e);

/* ---- records --------------------------------------------------------------------------------- */

enum { TRACE_RANKS = 64 /* as many as StarPU's tool takes */, TRACE_RANK_WORKERS = 1024 };

struct trace_codelet {
    char *name;
    struct cavs__work kind;
};

struct trace_task {
    int codelet;
    int rank;
    int worker; /* -1: a job of StarPU's own, or one that never ran; start and end mean nothing */
    long job;
    long batch; /* -1: outside of batches */
    double submit, start, end;
    bool counted;    /* ran, in a batch if there are batches: part of all statistics */
    int dep0, ndeps; /* deps[dep0 .. dep0 + ndeps): numbers of tasks */
    long order;      /* of submission; -1: StarPU's own */
    int job0, njobs; /* the same ranges in the arrays of struct trace_raw */
    int access0, naccesses;
};

struct trace_message {
    int from, to; /* ranks */
    double sent, came;
    long bytes;
};

struct trace {
    int ntasks, ndeps, ncodelets, nworkers, nranks, nmessages;
    struct trace_task *tasks; /* by start, as the ranks' own clocks have it */
    int *deps;
    struct trace_codelet *codelets;
    /* names by StarPU's number, and that of a rank's first is TRACE_RANK_WORKERS times the rank's;
     * NULL: no such worker */
    char **workers;
    struct trace_message *messages;
    int pauses;    /* times that FxT wrote its buffer to disk while the program ran */
    double paused; /* ms of that */
};

/* tasks: the file's path.  workers: path of activity.data, which names workers; may be missing.
 * On failure *out is left alone; on success trace_free() it. */
int trace_read(const char *tasks, const char *workers, struct trace *out, struct app_error *e);
void trace_free(struct trace *t);
/* From trace.rec, which may be missing. */
void trace_read_pauses(const char *path, struct trace *t);
/* From comms.rec, which may be missing.  Moves what ranks did to the clock of rank 0, as far as
 * they sent one another messages: the quickest takes as long there as back. */
int trace_read_messages(const char *path, struct trace *t, struct app_error *e);

/* Dependencies as the file has them.  Those by number are incomplete: StarPU does not record the
 * ones on tasks that had ended already.  Those by data are complete, because tasks that use the
 * same data run in the order of submission. */
struct trace_raw {
    int njobs, naccesses;
    long *jobs;
    struct trace_access {
        unsigned long handle;
        bool read, write;
    } * accesses;
};

/* dependencies.c, for trace_read(): makes t->deps. */
int trace_link(struct trace *t, const struct trace_raw *raw);

/* ---- statistics ------------------------------------------------------------------------------ */

/* By task number.  A job that did not run takes no time. */
struct trace_paths {
    double *ready; /* submitted, and everything it depends on has ended */
    /* ms of counted work on the longest path of dependencies that ends with this task */
    double *path;
    int *before; /* the task before it on that path; -1: it is the first */
};

int trace_paths_make(const struct trace *t, struct trace_paths *p);
void trace_paths_free(struct trace_paths *p);

struct trace_total {
    long count;
    double ms;
};

/* Why a worker had nothing to do. */
enum trace_idle {
    TRACE_RUNTIME,  /* a task was ready: StarPU was about to start it */
    TRACE_WAITING,  /* every task that was submitted waited for others */
    TRACE_STARVING, /* no task was submitted: the main thread was late, or did other things */
    TRACE_IDLES
};

struct trace_batch {
    long count;
    double begin, end;
};

/* What others sent to a rank. */
struct trace_rank {
    int workers;
    long messages;
    double bytes;
    double under_way; /* ms in which at least one message was */
    double exposed;   /* of them, the share that its workers were idle */
};

struct trace_stats {
    double begin, end; /* first start, last end */
    int workers;
    struct trace_total all;
    struct trace_total *codelet; /* [ncodelets] */
    struct trace_total *worker;  /* [nworkers] */
    struct trace_rank rank[TRACE_RANKS];
    struct trace_total kind[CAVS__WORK_PHASES][2];
    long nbatches;             /* the largest number of a batch plus 1 */
    struct trace_batch *batch; /* [nbatches]; count 0: none of that number */
    double together
        [1 << CAVS__WORK_PHASES]; /* ms in which exactly these phases (a bit each) were running */
    double idle[TRACE_IDLES];     /* ms, summed over workers */
    struct trace_total path;      /* the longest path of dependencies */
    double path_kind[CAVS__WORK_PHASES][2]; /* ms on it */
};

int trace_stats_make(const struct trace *t, struct trace_stats *s);
void trace_stats_free(struct trace_stats *s);
/* ms in which both phases were running; the same phase twice: in which it was running. */
double trace_both(const struct trace_stats *s, enum cavs__work_phase a, enum cavs__work_phase b);
/* Numbers of the codelets that ran, the most time first; how many there are.  order has room for
 * ncodelets. */
int trace_by_time(const struct trace *t, const struct trace_stats *s, int *order);

/* sweep.c, for trace_stats_make(): fills together, idle, and times of messages. */
int trace_sweep(const struct trace *t, const struct trace_paths *p, struct trace_stats *s);

/* ---- output ---------------------------------------------------------------------------------- */

void trace_text(FILE *out, const struct trace *t, const struct trace_stats *s);
int trace_svg(FILE *out, const struct trace *t, const struct trace_stats *s);
/* 100 part / whole, 0 for nothing of nothing. */
double trace_percent(double part, double whole);
/* What the word for so many things ends in. */
const char *trace_plural(long n);

#endif
