/* SPDX-License-Identifier: Apache-2.0 */
/* joined_task.c - one task that runs others, one after the other; see join.c. */
#include "codelets/device_set.h"
#include "codelets/task_model.h"
#include "core/base/hash_table.h"
#include "core/run/engine.h"
#include "memory/handover.h"

/* ---- running ---- */

struct part_of_joined {
    starpu_cpu_func_t run; /* for CPUs, or for a device */
    const struct starpu_codelet *cl;
    void *arg;
    int nbuffers;
    const int16_t *buffer; /* [nbuffers] their numbers in the joined task */
};

struct joined {
    int n;
    struct part_of_joined *parts;
    void **descr;                  /* scratch: as many as the part with most buffers has */
    double seconds;                /* what all parts should take */
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

static struct cavs__device_work device_work(struct starpu_task *task)
{
    const struct joined *j = task->cl_arg;
    struct cavs__device_work sum = {0};

    for (int i = 0; i < j->n; i++) {
        struct starpu_task part = {.cl = (struct starpu_codelet *)j->parts[i].cl,
                                   .cl_arg = j->parts[i].arg};
        struct cavs__device_work w = cavs__task_device_work(&part);

        sum.launches += w.launches;
        sum.flops += w.flops;
        sum.bytes += w.bytes;
    }
    return sum;
}

static struct starpu_codelet on_cpus = {.cpu_funcs = {run_joined},
                                        .cpu_funcs_name = {"cavs_joined"},
                                        .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                        .name = "cavs_joined"},
                             on_devices = {.nbuffers = STARPU_VARIABLE_NBUFFERS,
                                           .name = "cavs_joined"};

static struct starpu_codelet *codelet_for(const struct starpu_task *t)
{
    struct starpu_codelet *cl = cavs__is_at_device(t) ? &on_devices : &on_cpus;

    if (cavs__is_at_device(t)) {
        cl->where |= (uint32_t)t->where;
        cavs__devices->implement(cl, (uint32_t)t->where, run_joined);
    }
    cl->model =
        cavs__task_model(cl->name, &(struct cavs__task_measure){footprint, size, device_work});
    return cl;
}

/* ---- joining ---- */

/* A joined task that is being put together. */
struct joining {
    struct starpu_task *task;
    struct cavs__table handles; /* of the task's handles, by address */
    double bytes;               /* of the data of these handles */
};

/* The place in the table of a handle's number, or where it would be. */
static struct cavs__probe find(const struct joining *j, starpu_data_handle_t handle)
{
    uint32_t hash = cavs__mixed(cavs__mix(0, (uintptr_t)handle));
    struct cavs__probe p = cavs__table_probe(&j->handles, hash);
    int32_t number;

    while ((number = cavs__probe_at(&p)) >= 0 && STARPU_TASK_GET_HANDLE(j->task, number) != handle)
        cavs__probe_step(&p);
    return p;
}

/* How many bytes the data of a task have that the joined task does not have yet. */
static double more_bytes(const struct joining *j, const struct starpu_task *t)
{
    double bytes = 0;

    for (int k = 0; k < t->nbuffers; k++) {
        struct cavs__probe p = find(j, STARPU_TASK_GET_HANDLE(t, k));

        if (cavs__probe_at(&p) < 0)
            bytes += (double)starpu_data_get_size(STARPU_TASK_GET_HANDLE(t, k));
    }
    return bytes;
}

/* The number of a handle in the task, which gets the handle if it does not have it yet. */
static int16_t number_of(struct joining *j, starpu_data_handle_t handle,
                         enum starpu_data_access_mode mode)
{
    struct cavs__probe p = find(j, handle);
    int32_t number = cavs__probe_at(&p);

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
    *p = (struct part_of_joined){
        .run = cavs__is_at_device(t) ? cavs__devices->implementation(t->cl, (uint32_t)t->where)
                                     : t->cl->cpu_funcs[0],
        .cl = t->cl,
        .arg = t->cl_arg,
        .nbuffers = t->nbuffers,
        .buffer = buffer};
    for (int k = 0; k < t->nbuffers; k++)
        buffer[k] = number_of(j, STARPU_TASK_GET_HANDLE(t, k), STARPU_TASK_GET_MODE(t, k));
    if (t->priority > j->task->priority)
        j->task->priority = t->priority;
}

/* Makes room for the argument of a task that runs all that are kept; NULL: out of memory. */
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

/* How many bytes the task may have on its device; 0: any number. */
static double room_for(const struct cavs__engine *e, int slot, const struct starpu_task *t)
{
    const struct cavs__lap *lap = t->callback_arg;

    return cavs__is_at_device(t) ? cavs__home_room(e, (int)(lap - e->slots[slot].laps) - 1) : 0;
}

/* Makes a task without buffers that runs where the first of the kept ones would. */
static struct starpu_task *new_task(struct cavs__engine *e, int slot, struct joined *arg)
{
    const struct starpu_task *first = e->join.tasks[0];
    struct starpu_task *t = cavs__task_create(e, slot, -1, codelet_for(first), arg);

    t->priority = first->priority;
    t->where = first->where;
    t->workerids = first->workerids;
    t->workerids_len = first->workerids_len;
    t->callback_arg = first->callback_arg;
    return t;
}

struct starpu_task *cavs__joined_task(struct cavs__engine *e, int slot, int *taken)
{
    const struct cavs__join *kept = &e->join;
    struct cavs__arena *arena = &e->slots[slot].arena;
    double room = room_for(e, slot, kept->tasks[0]);
    struct joined *arg = new_joined(arena, kept);
    int16_t *buffer = cavs__arena_alloc(arena, (size_t)kept->buffers * sizeof *buffer);
    struct joining j = {0};
    int i = 0;

    j.handles.entries = cavs__arena_alloc(arena, cavs__table_bytes((size_t)kept->buffers));
    if (!arg || !buffer || !j.handles.entries)
        return NULL;
    cavs__table_empty(&j.handles, (size_t)kept->buffers);
    j.task = new_task(e, slot, arg);
    for (; i < kept->n; i++) {
        double more = room > 0 ? more_bytes(&j, kept->tasks[i]) : 0;

        if (i > 0 && room > 0 && j.bytes + more > room)
            break;
        j.bytes += more;
        add_part(&j, &arg->parts[i], buffer, kept->tasks[i]);
        buffer += kept->tasks[i]->nbuffers;
    }
    if (cavs__task_complete(j.task)) {
        cavs__task_drop(j.task);
        return NULL;
    }
    *taken = arg->n = i;
    if (kept->helping && cavs__helping_task(e, arena, kept->helping)) {
        arg->helping = kept->helping;
        cavs__helped_place(e, j.task);
    }
    return j.task;
}
