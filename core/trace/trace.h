/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - what happened in a run: recorded by StarPU's FxT, converted by StarPU's tools,
 * summarised here.
 *
 *   run.c        a traced run: the folder; FxT's settings before StarPU starts, all the rest after
 *   tool.c       runs one of StarPU's programs
 *   summarise.c  reads a folder, writes summary.txt and gantt.svg into it
 *   phase.c      the part of training that a task belongs to, and its colour
 *   read.c       tasks.rec and activity.data -> struct cavs__trace
 *   pauses.c     trace.rec -> times in which FxT stopped the program
 *   link.c       who depends on whom, by job numbers and by data
 *   graph.c      when tasks became ready, the longest path
 *   totals.c     sums by codelet, worker, phase and batch
 *   sweep.c      sums over time: which phases ran side by side, why workers were idle
 *   text.c       summary.txt
 *   svg*.c       gantt.svg
 *
 * All but run.c and tool.c know StarPU only from its files.  Times are milliseconds on FxT's clock.
 */
#ifndef CAVS_CORE_TRACE_TRACE_H
#define CAVS_CORE_TRACE_TRACE_H

#include <stdbool.h>
#include <stdio.h>

/* ---- a traced run ---------------------------------------------------------------------------- */

struct cavs__trace_run;

/* Before starpu_init(): makes the folder dir, or takes it if it is empty, and switches FxT on
 * for this run.  Settings that the user made in STARPU_FXT_* and STARPU_TRACE_BUFFER_SIZE stay.
 * transfers: there are other memories than the CPUs', so record what moves between them. */
int cavs__trace_begin(const char *dir, bool transfers, struct cavs__trace_run **out);
/* After starpu_shutdown(): the environment is as it was, the folder gets its files.  Takes run,
 * which may be NULL. */
int cavs__trace_end(struct cavs__trace_run *run);
/* Instead of _end() where StarPU did not start. */
void cavs__trace_cancel(struct cavs__trace_run *run);

/* Runs one of StarPU's programs and waits for it: argv[0] beside the StarPU that we were built
 * with, else in PATH. What it prints goes to the file log, which is removed if it stays empty. */
int cavs__trace_tool(const char *const *argv, const char *log);

/* dir/summary.txt and dir/gantt.svg from what starpu_fxt_tool left in dir. */
int cavs__trace_summarise(const char *dir);

/* ---- phases ---------------------------------------------------------------------------------- */

enum cavs__trace_phase {
    CAVS__TRACE_EAGER,
    CAVS__TRACE_CHAIN,
    CAVS__TRACE_LAZY,
    CAVS__TRACE_GRADIENT,
    CAVS__TRACE_UPDATE,
    CAVS__TRACE_OTHER,
    CAVS__TRACE_PHASES
};

/* A phase and a direction: what is drawn in one colour. */
struct cavs__trace_kind {
    enum cavs__trace_phase phase;
    bool backward; /* of eager, chain and lazy */
};

/* From the name of a codelet (plan.c makes them): tree.backward.chain, tree.inner.gradient.U,
 * cavs_update ... */
struct cavs__trace_kind cavs__trace_kind_of(const char *codelet);
const char *cavs__trace_phase_name(enum cavs__trace_phase phase);
const char *cavs__trace_direction(struct cavs__trace_kind kind); /* " forward", " backward" or "" */
unsigned cavs__trace_color(
    struct cavs__trace_kind kind); /* 0xRRGGBB, also for codelets: ViTE and dag.dot show it */
/* Phases that run forward and backward: eager, chain, lazy. */
bool cavs__trace_has_directions(enum cavs__trace_phase phase);

/* ---- records --------------------------------------------------------------------------------- */

struct cavs__trace_codelet {
    char *name;
    struct cavs__trace_kind kind;
};

struct cavs__trace_task {
    int codelet;
    int worker; /* -1: a job of StarPU's own, or one that never ran; start and end mean nothing */
    long job;
    long batch; /* -1: outside of batches */
    double submit, start, end;
    bool counted;    /* ran, in a batch if there are batches: part of all statistics */
    int dep0, ndeps; /* deps[dep0 .. dep0 + ndeps): numbers of tasks */
    long order;      /* of submission; -1: StarPU's own */
    int job0, njobs; /* the same ranges in the arrays of struct cavs__trace_raw */
    int access0, naccesses;
};

struct cavs__trace {
    int ntasks, ndeps, ncodelets, nworkers;
    struct cavs__trace_task *tasks; /* by start */
    int *deps;
    struct cavs__trace_codelet *codelets;
    char **workers; /* names by StarPU's number; NULL: no such worker */
    int pauses;     /* times that FxT wrote its buffer to disk while the program ran */
    double paused;  /* ms of that */
};

/* tasks: the file's path.  workers: path of activity.data, which names workers; may be missing.
 * On failure *out is left alone; on success cavs__trace_free() it. */
int cavs__trace_read(const char *tasks, const char *workers, struct cavs__trace *out);
void cavs__trace_free(struct cavs__trace *t);
/* From trace.rec, which may be missing. */
void cavs__trace_read_pauses(const char *path, struct cavs__trace *t);

/* Dependencies as the file has them.  Those by number are incomplete: StarPU does not record the
 * ones on tasks that had ended already.  Those by data are complete, because tasks that use the
 * same data run in the order of submission. */
struct cavs__trace_raw {
    int njobs, naccesses;
    long *jobs;
    struct cavs__trace_access {
        unsigned long handle;
        bool read, write;
    } * accesses;
};

/* link.c, for cavs__trace_read(): makes t->deps. */
int cavs__trace_link(struct cavs__trace *t, const struct cavs__trace_raw *raw);

/* ---- statistics ------------------------------------------------------------------------------ */

/* By task number.  A job that did not run takes no time. */
struct cavs__trace_graph {
    double *ready; /* submitted, and everything it depends on has ended */
    double
        *path; /* ms of counted work on the longest path of dependencies that ends with this task */
    int *before; /* the task before it on that path; -1: it is the first */
};

int cavs__trace_graph_make(const struct cavs__trace *t, struct cavs__trace_graph *g);
void cavs__trace_graph_free(struct cavs__trace_graph *g);

struct cavs__trace_total {
    long count;
    double ms;
};

/* Why a worker had nothing to do. */
enum cavs__trace_idle {
    CAVS__TRACE_RUNTIME,  /* a task was ready: StarPU was about to start it */
    CAVS__TRACE_WAITING,  /* every task that was submitted waited for others */
    CAVS__TRACE_STARVING, /* no task was submitted: the main thread was late, or did other things */
    CAVS__TRACE_IDLES
};

struct cavs__trace_batch {
    long count;
    double begin, end;
};

struct cavs__trace_stats {
    double begin, end; /* first start, last end */
    int workers;
    struct cavs__trace_total all;
    struct cavs__trace_total *codelet; /* [ncodelets] */
    struct cavs__trace_total *worker;  /* [nworkers] */
    struct cavs__trace_total kind[CAVS__TRACE_PHASES][2];
    long nbatches;                   /* the largest number of a batch plus 1 */
    struct cavs__trace_batch *batch; /* [nbatches]; count 0: none of that number */
    double together
        [1 << CAVS__TRACE_PHASES];  /* ms in which exactly these phases (a bit each) were running */
    double idle[CAVS__TRACE_IDLES]; /* ms, summed over workers */
    struct cavs__trace_total path;  /* the longest path of dependencies */
    double path_kind[CAVS__TRACE_PHASES][2]; /* ms on it */
};

int cavs__trace_stats_make(const struct cavs__trace *t, struct cavs__trace_stats *s);
void cavs__trace_stats_free(struct cavs__trace_stats *s);
/* ms in which both phases were running; the same phase twice: in which it was running. */
double cavs__trace_both(const struct cavs__trace_stats *s, enum cavs__trace_phase a,
                        enum cavs__trace_phase b);
/* Numbers of the codelets that ran, the most time first; how many there are.  order has room for
 * ncodelets. */
int cavs__trace_by_time(const struct cavs__trace *t, const struct cavs__trace_stats *s, int *order);

/* sweep.c, for cavs__trace_stats_make(): fills together and idle. */
int cavs__trace_sweep(const struct cavs__trace *t, const struct cavs__trace_graph *g,
                      struct cavs__trace_stats *s);

/* ---- output ---------------------------------------------------------------------------------- */

void cavs__trace_text(FILE *out, const struct cavs__trace *t, const struct cavs__trace_stats *s);
int cavs__trace_svg(FILE *out, const struct cavs__trace *t, const struct cavs__trace_stats *s);
/* 100 part / whole, 0 for nothing of nothing. */
double cavs__trace_percent(double part, double whole);

#endif
