/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - tasks of a small batch that run as one.
 *
 * What the runtime spends on a task shows where a batch is worth little: one tree, a few
 * sentences.  The tasks of such a batch are not submitted one by one but kept, in order, until
 * together they are worth it; one task that takes the data of them all then runs them one after the
 * other, an order that StarPU might have chosen, too.
 */
#include "core/base/error.h"
#include "codelets/task_model.h"
#include "core/base/hash_table.h"
#include "core/run/engine.h"
#include "memory/handover.h"

/* ---- running ---- */

struct part_of_joined {
    starpu_cpu_func_t run;
    void *arg;
    int nbuffers;
    const int16_t *buffer; /* [nbuffers] numbers among those of the task that they are joined to */
};

struct joined {
    int n;
    struct part_of_joined *parts;
    void **descr;                  /* scratch: as many as the part with most buffers has */
    double seconds;                /* what all should take */
    struct cavs__helping *helping; /* NULL: nobody helps */
};

static void run_joined(void *descr[], void *arg)
{
    const struct joined *j = arg;

    cavs__handover_begin();
    if (j->helping)
        j->helping->begin(j->helping);
    for (int i = 0; i < j->n; i++) {
        const struct part_of_joined *p = &j->parts[i];

        for (int k = 0; k < p->nbuffers; k++)
            j->descr[k] = descr[p->buffer[k]];
        p->run(j->descr, p->arg);
    }
    if (j->helping)
        j->helping->end(j->helping);
    cavs__handover_end();
}

static size_t size(struct starpu_task *task, unsigned implementation)
{
    const struct joined *j;

    (void)implementation;
    cavs__handover_asked(task);
    j = task->cl_arg;
    return (size_t)(j->seconds * 1e9) + 1;
}

static uint32_t footprint(struct starpu_task *task)
{
    return cavs__size_class(size(task, 0));
}

static struct starpu_codelet joined_codelet = {.cpu_funcs = {run_joined},
                                               .cpu_funcs_name = {"cavs_joined"},
                                               .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                               .name = "cavs_joined"};

/* ---- joining ---- */

enum { MOST_BUFFERS = 512 };

/* A task being put together. */
struct joining {
    struct starpu_task *task;
    struct cavs__table handles; /* the task's, by address */
};

/* The number of a handle among those of the task, which gets it if it does not have it yet. */
static int16_t number_of(struct joining *j, starpu_data_handle_t handle,
                         enum starpu_data_access_mode mode)
{
    uint32_t hash = cavs__mixed(cavs__mix(0, (uintptr_t)handle));
    struct cavs__probe p = cavs__table_probe(&j->handles, hash);
    int32_t number;

    while ((number = cavs__probe_at(&p)) >= 0 && STARPU_TASK_GET_HANDLE(j->task, number) != handle)
        cavs__probe_step(&p);
    if (number >= 0) {
        mode |= STARPU_TASK_GET_MODE(j->task, number);
        STARPU_TASK_SET_MODE(j->task, mode, number);
        return (int16_t)number;
    }
    number = j->task->nbuffers;
    cavs__probe_put(&p, number);
    cavs__task_buffer(j->task, handle, mode);
    return (int16_t)number;
}

static void add_part(struct joining *j, struct part_of_joined *p, int16_t *buffer,
                     const struct starpu_task *t)
{
    *p = (struct part_of_joined){t->cl->cpu_funcs[0], t->cl_arg, t->nbuffers, buffer};
    for (int k = 0; k < t->nbuffers; k++)
        buffer[k] = number_of(j, STARPU_TASK_GET_HANDLE(t, k), STARPU_TASK_GET_MODE(t, k));
    if (t->priority > j->task->priority)
        j->task->priority = t->priority;
}

/* Room for the argument of one task that runs all that are kept; NULL: out of memory. */
static struct joined *new_joined(struct cavs__arena *arena, const struct cavs__join *k)
{
    struct joined *j = cavs__arena_alloc(arena, sizeof *j);
    size_t most = 0, bytes;

    for (int i = 0; i < k->n; i++)
        most = (size_t)k->tasks[i]->nbuffers > most ? (size_t)k->tasks[i]->nbuffers : most;
    bytes = (size_t)k->n * sizeof *j->parts + most * sizeof *j->descr;
    if (!j || !(j->parts = cavs__arena_alloc(arena, bytes)))
        return NULL;
    j->n = k->n;
    j->seconds = k->seconds;
    j->helping = NULL;
    j->descr = (void **)(j->parts + k->n);
    return j;
}

/* NULL: out of memory. */
static struct starpu_task *join(struct cavs__engine *e, int slot)
{
    const struct cavs__join *kept = &e->join;
    struct cavs__arena *arena = &e->slots[slot].arena;
    struct joined *arg = new_joined(arena, kept);
    int16_t *buffer = cavs__arena_alloc(arena, (size_t)kept->buffers * sizeof *buffer);
    struct joining j = {0};

    joined_codelet.model = cavs__task_model(
        joined_codelet.name, &(struct cavs__task_measure){.footprint = footprint, .size = size});
    j.handles.entries = cavs__arena_alloc(arena, cavs__table_bytes((size_t)kept->buffers));
    if (!arg || !buffer || !j.handles.entries)
        return NULL;
    cavs__table_empty(&j.handles, (size_t)kept->buffers);
    j.task = cavs__task_create(e, slot, -1, &joined_codelet, arg, kept->buffers);
    for (int i = 0; j.task && i < kept->n; i++) {
        j.task->priority = i == 0 ? kept->tasks[0]->priority : j.task->priority;
        add_part(&j, &arg->parts[i], buffer, kept->tasks[i]);
        buffer += kept->tasks[i]->nbuffers;
    }
    if (j.task && kept->helping && cavs__helping_task(e, slot, kept->helping)) {
        arg->helping = kept->helping;
        cavs__helped_place(e, j.task);
    }
    return j.task;
}

/* ---- keeping ---- */

void cavs__join_drop(struct cavs__engine *e)
{
    for (int i = 0; i < e->join.n; i++)
        cavs__task_drop(e->join.tasks[i]);
    e->join = (struct cavs__join){.grain = e->join.grain, .helping = e->join.helping};
}

int cavs__join_flush(struct cavs__engine *e, int slot)
{
    struct cavs__join *kept = &e->join;
    struct starpu_task *t;
    int n = kept->n, rc = CAVS_OK;

    t = n > 1 || (n == 1 && kept->helping) ? join(e, slot) : NULL;
    if (t) {
        cavs__join_drop(e);
        return cavs__task_start(e, slot, t);
    }
    for (int i = 0; i < n; i++) { /* without memory for another one, each by itself */
        if (rc)
            cavs__task_drop(kept->tasks[i]);
        else
            rc = cavs__task_start(e, slot, kept->tasks[i]);
    }
    kept->n = 0;
    cavs__join_drop(e);
    return rc;
}

int cavs__task_submit(struct cavs__engine *e, int slot, struct starpu_task *t, double seconds)
{
    struct cavs__join *kept = &e->join;
    int rc = CAVS_OK;

    if (e->here.now) {
        cavs__run_here(e, t);
        return CAVS_OK;
    }
    if (kept->grain <= 0)
        return cavs__task_start(e, slot, t);
    if (kept->n == CAVS__MOST_JOINED || kept->buffers + t->nbuffers > MOST_BUFFERS)
        rc = cavs__join_flush(e, slot);
    if (rc) {
        cavs__task_drop(t);
        return rc;
    }
    kept->tasks[kept->n++] = t;
    kept->buffers += t->nbuffers;
    kept->seconds += seconds;
    return kept->seconds < kept->grain && kept->buffers <= MOST_BUFFERS ? CAVS_OK
                                                                        : cavs__join_flush(e, slot);
}
