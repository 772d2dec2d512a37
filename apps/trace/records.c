/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - the reader of tasks.rec and activity.data.
 *
 * tasks.rec has one record a task: lines "Key: value" (record_fields.c), ended by an empty line.
 * Jobs of StarPU's own are there too: they carry dependencies, but have no worker and no times.
 * Handles and orders of submission are each rank's own.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "apps/trace/records.h"

/* ---- records --------------------------------------------------------------------------------- */

static void begin_task(struct trace_reader *r)
{
    r->worker = -1;
    r->rank = 0;
    r->task = (struct trace_task){.codelet = -1,
                                  .worker = -1,
                                  .job = -1,
                                  .batch = -1,
                                  .start = -1,
                                  .end = -1,
                                  .order = -1,
                                  .job0 = r->raw.njobs,
                                  .access0 = r->raw.naccesses};
}

static int see_worker(struct trace *t, long id, const char *name)
{
    char *copy;

    while (t->nworkers <= id) {
        if (!CAVS__APPEND(t->workers, t->nworkers, NULL))
            return CAVS_ENOMEM;
    }
    if (t->workers[id])
        return CAVS_OK;
    copy = strdup(name);
    t->workers[id] = copy;
    return copy ? CAVS_OK : CAVS_ENOMEM;
}

/* -1 where there is no MPI.  Data and orders of different ranks become different. */
static int end_rank(struct trace_reader *r)
{
    if (r->rank >= TRACE_RANKS)
        return trace_bad_record(r, "no rank of that number:", r->t->codelets[r->task.codelet].name);
    r->task.rank = r->rank > 0 ? (int)r->rank : 0;
    if (r->task.rank >= r->t->nranks)
        r->t->nranks = r->task.rank + 1;
    if (r->task.order >= 0)
        r->task.order ^= (long)r->task.rank << TRACE_RANK_SHIFT;
    for (int i = r->task.access0; i < r->raw.naccesses; i++)
        r->raw.accesses[i].handle ^= (unsigned long)r->task.rank << TRACE_RANK_SHIFT;
    return CAVS_OK;
}

/* A task that was still running when the trace ended has a start only: it counts as not run. */
static int end_task(struct trace_reader *r)
{
    char name[32];
    int rc = CAVS_OK;

    if (r->task.codelet < 0)
        return CAVS_OK;
    if (r->task.job < 0)
        return trace_bad_record(r, "no JobId in the record of",
                                r->t->codelets[r->task.codelet].name);
    if (r->worker >= TRACE_RANK_WORKERS)
        return trace_bad_record(r,
                                "no worker of that number:", r->t->codelets[r->task.codelet].name);
    if (r->task.end >= 0 && r->task.end < r->task.start)
        return trace_bad_record(r, "ends before it starts:", r->t->codelets[r->task.codelet].name);
    rc = end_rank(r);
    if (!rc && r->worker >= 0 && r->task.start >= 0 && r->task.end >= 0) {
        snprintf(name, sizeof name, "worker %ld", r->worker);
        r->task.worker = r->task.rank * TRACE_RANK_WORKERS + (int)r->worker;
        rc = see_worker(r->t, r->task.worker, name);
    } else {
        r->task.start = r->task.end = r->task.submit;
    }
    if (!rc && !CAVS__APPEND(r->t->tasks, r->t->ntasks, r->task))
        rc = CAVS_ENOMEM;
    begin_task(r);
    return rc;
}

static int read_line(struct trace_reader *r, char *line)
{
    char *colon;

    r->line++;
    line[strcspn(line, "\n")] = '\0';
    if (!*line)
        return end_task(r);
    colon = strstr(line, ": ");
    if (!colon)
        return line[strlen(line) - 1] == ':'
                   ? CAVS_OK
                   : trace_bad_record(r, "expected 'Key: value', not", line);
    *colon = '\0';
    if (r->task.codelet < 0 && strcmp(line, "Name") != 0)
        return trace_bad_record(r, "expected a record to begin with Name, not", line);
    return trace_read_field(r, line, colon + 2);
}

static int read_tasks(struct trace_reader *r)
{
    FILE *in = fopen(r->path, "r");
    char *line = NULL;
    size_t size = 0;
    int rc = CAVS_OK;

    if (!in)
        return app_fail(r->error, CAVS_EIO, "cannot read %s", r->path);
    begin_task(r);
    while (!rc && getline(&line, &size, in) >= 0)
        rc = read_line(r, line);
    if (!rc)
        rc = ferror(in) ? app_fail(r->error, CAVS_EIO, "cannot read %s", r->path) : end_task(r);
    free(line);
    fclose(in);
    return rc;
}

/* The first lines of activity.data: "name <tab> 0 <tab> CPU 0".  Without the file workers have
 * their numbers. */
static int read_workers(const char *path, struct trace *t)
{
    FILE *in = fopen(path, "r");
    char *line = NULL, name[64];
    size_t size = 0;
    long id;
    int rc = CAVS_OK;

    while (in && !rc && getline(&line, &size, in) >= 0 &&
           sscanf(line, "name %ld %63[^\n]", &id, name) == 2) {
        if (id >= 0 && id < TRACE_RANK_WORKERS)
            rc = see_worker(t, id, name);
    }
    free(line);
    if (in)
        fclose(in);
    return rc;
}

/* ---- after the last record ------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct trace_task *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* activity.data has the names of rank 0's workers, or of all without saying whose: others have the
 * same. */
static int name_by_rank(struct trace *t)
{
    char name[96];
    int rc = CAVS_OK;

    for (int rank = t->nranks - 1; rank >= 0 && t->nranks > 1; rank--) {
        for (int i = 0; i < TRACE_RANK_WORKERS && i < t->nworkers && !rc; i++) {
            long id = (long)rank * TRACE_RANK_WORKERS + i;

            if (!t->workers[i])
                continue;
            snprintf(name, sizeof name, "rank %d, %s", rank, t->workers[i]);
            if (id < t->nworkers) {
                free(t->workers[id]);
                t->workers[id] = NULL;
            }
            rc = see_worker(t, id, name);
        }
    }
    return rc;
}

/* Where batches are marked, what lies outside of them (a measurement of the machine, say) is not
 * part of training. */
static void choose(struct trace *t)
{
    bool batches = false;

    for (int i = 0; i < t->ntasks; i++)
        batches |= t->tasks[i].worker >= 0 && t->tasks[i].batch >= 0;
    for (int i = 0; i < t->ntasks; i++)
        t->tasks[i].counted = t->tasks[i].worker >= 0 && (!batches || t->tasks[i].batch >= 0);
}

int trace_read(const char *tasks, const char *workers, struct trace *out, struct app_error *e)
{
    struct trace t = {0};
    struct trace_reader r = {.path = tasks, .error = e, .t = &t};
    int rc = read_workers(workers, &t);

    if (!rc)
        rc = read_tasks(&r);
    if (!rc)
        rc = name_by_rank(&t);
    if (!rc && t.ntasks > 0) {
        qsort(t.tasks, (size_t)t.ntasks, sizeof *t.tasks, by_start);
        rc = trace_link(&t, &r.raw);
    }
    free(r.raw.jobs);
    free(r.raw.accesses);
    if (rc) {
        trace_free(&t);
        return rc;
    }
    choose(&t);
    *out = t;
    return CAVS_OK;
}

void trace_free(struct trace *t)
{
    for (int i = 0; i < t->ncodelets; i++)
        free(t->codelets[i].name);
    for (int i = 0; i < t->nworkers; i++)
        free(t->workers[i]);
    free(t->codelets);
    free(t->workers);
    free(t->messages);
    free(t->tasks);
    free(t->deps);
}
