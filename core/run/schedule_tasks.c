/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_tasks.c - what prepares a batch side by side, as tasks of the CPU workers: shards are
 * scheduled, and what their tasks read is written, of tapes, too; samples of these are recorded.
 *
 * The main thread waits meanwhile: it would take a core from them.  Workers begin when they are
 * done with the task that they have, before any other that waits, since the batch being computed
 * has enough of these.  Where it takes less than half of what a task should, the main thread is
 * sooner done than the workers are woken.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/run/engine.h"
#include "core/run/simulated.h"
#include "memory/handover.h"

/* ---- a job ---- */

struct job {
    struct cavs__engine *e;
    cavs__side_work *work;
    void *of;
    int i, rc;
    int *pending; /* how many jobs are not done; under `lock` */
    double seconds, simulated;
    char message[1024]; /* of an error; messages belong to the thread that makes them */
};

static starpu_pthread_mutex_t lock = STARPU_PTHREAD_MUTEX_INITIALIZER;
static starpu_pthread_cond_t done = STARPU_PTHREAD_COND_INITIALIZER;

static void run_job(void *descr[], void *arg)
{
    struct job *j = arg;
    double start = cavs__busy_seconds();

    (void)descr;
    cavs__handover_begin();
    j->rc = j->work(j->of, j->i);
    cavs__simulated_task_work(j->simulated);
    if (j->rc)
        snprintf(j->message, sizeof j->message, "%s", cavs_error_message());
    cavs__handover_end();
    j->seconds = cavs__busy_seconds() - start;
    starpu_pthread_mutex_lock(&lock);
    if (--*j->pending == 0)
        starpu_pthread_cond_broadcast(&done); /* several threads may wait, each for its jobs */
    starpu_pthread_mutex_unlock(&lock);
}

static struct starpu_codelet codelet = {.where = STARPU_CPU,
                                        .cpu_funcs = {run_job},
                                        .cpu_funcs_name = {"cavs_prepare"},
#ifdef CAVS_SIMULATED
                                        .flags = STARPU_CODELET_SIMGRID_EXECUTE,
#endif
                                        .name = "cavs_prepare"};

/* ---- all of them ---- */

/* Submits the job.  false: StarPU did not take it, and it has to be done here. */
static bool start(struct cavs__engine *e, struct job *j)
{
    struct starpu_task *t = starpu_task_create();

    t->cl = &codelet;
    t->cl_arg = j;
    t->priority = 3; /* above updates */
    cavs__workers_wake();
    cavs__handover_submit(t);
    if (starpu_task_submit(t) == 0) {
        __atomic_add_fetch(&e->tasks, 1, __ATOMIC_RELAXED);
        return true;
    }
    cavs__task_drop(t);
    return false;
}

static void wait_for(const int *pending)
{
    starpu_pthread_mutex_lock(&lock);
    while (*pending > 0)
        starpu_pthread_cond_wait(&done, &lock);
    starpu_pthread_mutex_unlock(&lock);
}

/* Does n jobs and adds the time that they took to e->preparing. */
static int run_all(struct cavs__engine *e, struct job *jobs, int n)
{
    int pending = n, rc = CAVS_OK;

    for (int i = 0; i < n; i++) {
        jobs[i].pending = &pending;
        if (!start(e, &jobs[i]))
            run_job(NULL, &jobs[i]);
    }
    wait_for(&pending);
    for (int i = 0; i < n; i++) {
        e->preparing += jobs[i].seconds;
        if (jobs[i].rc && !rc)
            rc = cavs__fail(jobs[i].rc, "%s", jobs[i].message);
    }
    return rc;
}

int cavs__side_by_side(struct cavs__engine *e, int n, cavs__side_work *work, void *of)
{
    struct job *jobs = calloc((size_t)n + 1, sizeof *jobs);
    int rc;

    if (!jobs)
        return cavs__fail_nomem("tasks", (size_t)n * sizeof *jobs);
    for (int i = 0; i < n; i++)
        jobs[i] = (struct job){.e = e, .work = work, .of = of, .i = i};
    rc = run_all(e, jobs, n);
    free(jobs);
    return rc;
}

static bool pays(const struct cavs__engine *e, int n, double seconds)
{
    return n > 1 && starpu_cpu_worker_get_count() > 1 && seconds > cavs__grain(e) / 2;
}

int cavs__share_work(struct cavs__engine *e, int n, double seconds, cavs__side_work *work, void *of)
{
    int rc = CAVS_OK;

    if (pays(e, n, seconds) && cavs__simulated_cores() == 0)
        return cavs__side_by_side(e, n, work, of);
    for (int i = 0; i < n && !rc; i++)
        rc = work(of, i);
    return rc;
}

/* ---- shards ---- */

struct shards {
    struct cavs__engine *e;
    struct cavs__batch *b;
    cavs__shard_work *work;
};

static int work_on_shard(void *of, int i)
{
    const struct shards *s = of;

    return s->work(s->e, s->b, i);
}

int cavs__each_shard(struct cavs__engine *e, struct cavs__batch *b, cavs__shard_work *work,
                     double sample)
{
    const double vertex = 25e-9; /* seconds, of one that is not the first of its kind */
    bool many = pays(e, b->nshards, (double)cavs__batch_vertices(b) * vertex);
    struct job *jobs = many ? calloc((size_t)b->nshards, sizeof *jobs) : NULL;
    struct shards all = {e, b, work};
    double before = cavs__caller_seconds(e), prepared = e->preparing;
    int n = 0, rc = CAVS_OK;

    for (int i = 0; i < b->nshards && !rc; i++) {
        struct job job = {.e = e,
                          .work = work_on_shard,
                          .of = &all,
                          .i = i,
                          .simulated = b->shards[i].nsamples * sample};

        if (jobs && b->shards[i].nsamples > 0)
            jobs[n++] = job;
        else
            rc = work(e, b, i);
        if (!jobs && !rc)
            cavs__simulated_work(job.simulated);
    }
    if (!rc && n > 0)
        rc = run_all(e, jobs, n);
    e->arranging += n > 0 ? e->preparing - prepared : cavs__caller_seconds(e) - before;
    free(jobs);
    return rc;
}
