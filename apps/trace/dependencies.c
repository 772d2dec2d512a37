/* SPDX-License-Identifier: Apache-2.0 */
/* dependencies.c - who depends on whom: by the numbers of jobs that StarPU recorded, and by the
 * data they use. */
#include <stdlib.h>

#include "core/base/array.h"
#include "apps/trace/trace.h"

struct number {
    long key; /* of a job; of submission */
    int task;
};

/* What happened last to a piece of data.  Readers are a list through the accesses. */
struct datum {
    int writer;      /* task; -1: none */
    int last_reader; /* access; -1: none since the writer */
};

struct linking {
    struct trace *t;
    const struct trace_raw *raw;
    struct number *jobs;      /* [ntasks] sorted */
    struct number *submitted; /* [ntasks] sorted */
    unsigned long *handles;   /* sorted, unique */
    int nhandles;
    struct datum *data; /* [nhandles] */
    int *reader, *next; /* [naccesses] the task that reads, and the next reader in the list */
};

static int by_key(const void *a, const void *b)
{
    const struct number *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->task - y->task;
}

static int by_handle(const void *a, const void *b)
{
    unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

    return x < y ? -1 : x > y;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static int allocate(struct linking *l)
{
    size_t n = (size_t)l->t->ntasks + 1, m = (size_t)l->raw->naccesses + 1;

    l->jobs = malloc(n * sizeof *l->jobs);
    l->submitted = malloc(n * sizeof *l->submitted);
    l->handles = malloc(m * sizeof *l->handles);
    l->data = malloc(m * sizeof *l->data);
    l->reader = malloc(m * sizeof *l->reader);
    l->next = malloc(m * sizeof *l->next);
    if (l->jobs && l->submitted && l->handles && l->data && l->reader && l->next)
        return CAVS_OK;
    return CAVS_ENOMEM;
}

static void release(struct linking *l)
{
    free(l->jobs);
    free(l->submitted);
    free(l->handles);
    free(l->data);
    free(l->reader);
    free(l->next);
}

static void number_tasks(struct linking *l)
{
    for (int i = 0; i < l->t->ntasks; i++) {
        l->jobs[i] = (struct number){l->t->tasks[i].job, i};
        l->submitted[i] = (struct number){l->t->tasks[i].order, i};
    }
    qsort(l->jobs, (size_t)l->t->ntasks, sizeof *l->jobs, by_key);
    qsort(l->submitted, (size_t)l->t->ntasks, sizeof *l->submitted, by_key);
}

static void number_handles(struct linking *l)
{
    for (int i = 0; i < l->raw->naccesses; i++)
        l->handles[i] = l->raw->accesses[i].handle;
    qsort(l->handles, (size_t)l->raw->naccesses, sizeof *l->handles, by_handle);
    for (int i = 0; i < l->raw->naccesses; i++) {
        if (l->nhandles == 0 || l->handles[l->nhandles - 1] != l->handles[i])
            l->handles[l->nhandles++] = l->handles[i];
    }
    for (int i = 0; i < l->nhandles; i++)
        l->data[i] = (struct datum){-1, -1};
}

static struct datum *find_datum(const struct linking *l, unsigned long handle)
{
    const unsigned long *h =
        bsearch(&handle, l->handles, (size_t)l->nhandles, sizeof handle, by_handle);

    return &l->data[h - l->handles];
}

/* The task of that job; -1: not in the trace. */
static int find_job(const struct linking *l, long job)
{
    size_t low = 0, high = (size_t)l->t->ntasks;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (l->jobs[middle].key < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low < (size_t)l->t->ntasks && l->jobs[low].key == job ? l->jobs[low].task : -1;
}

/* ---- links ----------------------------------------------------------------------------------- */

static bool add(struct linking *l, struct trace_task *x, int on)
{
    if (on < 0 || &l->t->tasks[on] == x)
        return true;
    x->ndeps++;
    return CAVS__APPEND(l->t->deps, l->t->ndeps, on);
}

/* A writer waits for everybody who read what it overwrites, or if nobody did for who wrote it. */
static bool add_access(struct linking *l, struct trace_task *x, const struct trace_access *a)
{
    const struct datum *d = find_datum(l, a->handle);
    bool ok = true;

    if (!a->read && !a->write)
        return true;
    if (a->read || d->last_reader < 0)
        ok = add(l, x, d->writer);
    for (int r = d->last_reader; a->write && r >= 0 && ok; r = l->next[r])
        ok = add(l, x, l->reader[r]);
    return ok;
}

static void note_access(struct linking *l, int task, int access)
{
    const struct trace_access *a = &l->raw->accesses[access];
    struct datum *d = find_datum(l, a->handle);

    if (a->write) {
        *d = (struct datum){task, -1};
    } else if (a->read) {
        l->reader[access] = task;
        l->next[access] = d->last_reader;
        d->last_reader = access;
    }
}

static bool link_task(struct linking *l, int task)
{
    struct trace_task *x = &l->t->tasks[task];
    bool ok = true;

    x->dep0 = l->t->ndeps;
    for (int i = x->job0; i < x->job0 + x->njobs && ok; i++)
        ok = add(l, x, find_job(l, l->raw->jobs[i]));
    if (x->order < 0)
        return ok;
    for (int i = x->access0; i < x->access0 + x->naccesses && ok; i++)
        ok = add_access(l, x, &l->raw->accesses[i]);
    for (int i = x->access0; i < x->access0 + x->naccesses; i++)
        note_access(l, task, i);
    return ok;
}

int trace_link(struct trace *t, const struct trace_raw *raw)
{
    struct linking l = {.t = t, .raw = raw};
    int rc = allocate(&l);

    if (!rc) {
        number_tasks(&l);
        number_handles(&l);
    }
    for (int i = 0; i < t->ntasks && !rc; i++) {
        if (!link_task(&l, l.submitted[i].task))
            rc = CAVS_ENOMEM;
    }
    release(&l);
    return rc;
}
