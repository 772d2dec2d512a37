/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - see task.h. */
#include "codelets/task.h"

#include "codelets/task_model.h"
#include "memory/handover.h"

static void run_with_buffers(void *descr[], const struct cavs__part_args *a)
{
    void *buffers[(a->numbers ? a->most : CAVS__MAX_BUFFERS) + 1];

    for (int i = 0; i < a->nbuffers; i++)
        buffers[a->numbers ? a->numbers[i] : i] = (void *)STARPU_MATRIX_GET_PTR(descr[i]);
    if (a->helping)
        a->helping->begin(a->helping);
    cavs__part_run(a, buffers, (void *)STARPU_MATRIX_GET_PTR(descr[a->nbuffers - 1]));
    if (a->helping)
        a->helping->end(a->helping);
}

static void run_on_cpu(void *descr[], void *arg)
{
    cavs__handover_begin();
    run_with_buffers(descr, arg);
    cavs__handover_end();
}

static uint32_t mix(uint32_t hash, uint32_t value)
{
    hash ^= value + 0x9e3779b9u + (hash << 6) + (hash >> 2);
    return hash;
}

static uint32_t footprint(struct starpu_task *task)
{
    const struct cavs__part_args *a;
    uint32_t rows = 0, hash = 0;

    cavs__handover_asked(task);
    a = task->cl_arg;
    for (int i = 0; i < a->nsegments; i++) {
        const struct cavs__part *p = a->parts[a->segments[i].function];

        rows += (uint32_t)a->segments[i].rows;
        hash = mix(hash, p ? (uint32_t)p->scratch : 0);
    }
    for (int i = 0; i < a->nsegments && i < 1; i++) {
        const struct cavs__part *p = a->parts[a->segments[i].function];

        for (int s = 0; s < p->nsteps; s++)
            hash = mix(hash, (uint32_t)p->steps[s].flops);
    }
    return mix(hash, cavs__size_class(rows));
}

static size_t size(struct starpu_task *task, unsigned implementation)
{
    const struct cavs__part_args *a;

    (void)implementation;
    cavs__handover_asked(task);
    a = task->cl_arg;
    return (size_t)(a->seconds * 1e9) + 1;
}

static struct cavs__device_work device_work(struct starpu_task *task)
{
    const struct cavs__part_args *a = task->cl_arg;
    struct cavs__device_work w = {0};

    for (int i = 0; i < a->nsegments; i++) {
        const struct cavs__part *p = a->parts[a->segments[i].function];
        double rows = a->segments[i].rows;

        if (!p)
            continue;
        w.launches += cavs__devices->part_launches(p, a->segments[i].rows);
        w.flops += rows * p->flops;
        w.bytes += rows * (double)p->scratch * 3 * sizeof(float); /* two operands and a result */
    }
    return w;
}

void cavs__task_codelet(const char *name, struct starpu_codelet *cl)
{
    starpu_codelet_init(cl);
    cl->cpu_funcs[0] = run_on_cpu;
    cl->cpu_funcs_name[0] = "cavs_part";
    cl->nbuffers = STARPU_VARIABLE_NBUFFERS;
    cl->name = name;
    cl->model = cavs__task_model(name, &(struct cavs__task_measure){footprint, size, device_work});
}

/* ---- on devices ---- */

static int can_execute(unsigned worker, struct starpu_task *task, unsigned implementation)
{
    (void)task;
    (void)implementation;
    return starpu_worker_get_type((int)worker) == STARPU_CPU_WORKER ||
           cavs__devices->takes_tasks((int)worker);
}

/* A kind of device runs the codelet only if all devices of that kind can, because StarPU asks for a
 * kind first. */
static void add_devices(struct starpu_codelet *cl, uint32_t where, cavs__device_task *run)
{
    cl->where = STARPU_CPU | where;
    cl->can_execute = can_execute;
    cavs__devices->implement(cl, where, run);
}

uint32_t cavs__task_not_on(const struct cavs__part *p, const char **why)
{
    uint32_t cannot = 0;

    for (int i = 0; i < CAVS__MAX_DEVICES; i++) {
        uint32_t where = cavs__devices->facts(i).where;
        const char *reason = where ? cavs__devices->obstacle(i, p) : NULL;

        cannot |= reason ? where : 0;
        *why = reason ? reason : *why;
    }
    return cannot;
}

static uint32_t usable_kinds(void)
{
    uint32_t kinds = 0;

    for (int i = 0; i < CAVS__MAX_DEVICES; i++)
        kinds |= cavs__devices->facts(i).where;
    return kinds;
}

void cavs__task_on_devices(struct starpu_codelet *cl, int n, struct cavs__part *const *parts,
                           const char **why)
{
    uint32_t cannot = 0;

    for (int i = 0; i < n; i++)
        cannot |= parts[i] ? cavs__task_not_on(parts[i], why) : 0;
    add_devices(cl, usable_kinds() & ~cannot, cavs__devices->run_part);
}

void cavs__task_run_on_devices(struct starpu_codelet *cl, bool needs_double, cavs__device_task *run)
{
    uint32_t cannot = 0;

    for (int i = 0; i < CAVS__MAX_DEVICES; i++) {
        struct cavs__device_facts f = cavs__devices->facts(i);

        cannot |= needs_double && !f.has_double ? f.where : 0;
    }
    add_devices(cl, usable_kinds() & ~cannot, run);
}
