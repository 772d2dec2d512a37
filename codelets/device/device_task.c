/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_task.c - StarPU's codelets on devices.
 *
 * One function a codelet serves CUDA and OpenCL: they differ in how StarPU hands over memory. A
 * device that has failed does nothing more; the session reports it.
 */
#include "codelets/device/device_task.h"

#include "codelets/device/walk.h"
#include "codelets/update_task.h"

/* ---- buffers ---- */

static struct cavs__memory memory_of(const struct cavs__device *d, void *descr)
{
    if (d->api->where == STARPU_OPENCL)
        return (struct cavs__memory){
            .p = (void *)STARPU_MATRIX_GET_DEV_HANDLE(descr),
            .at = (int64_t)(STARPU_MATRIX_GET_OFFSET(descr) / sizeof(float))};
    return (struct cavs__memory){.p = (void *)STARPU_MATRIX_GET_PTR(descr)};
}

static int buffers_of(const struct cavs__device *d, void *descr[], struct cavs__memory *m)
{
    int n = (int)STARPU_TASK_GET_NBUFFERS(starpu_task_get_current());

    for (int i = 0; i < n; i++)
        m[i] = memory_of(d, descr[i]);
    return n;
}

static size_t floats_of(void *descr)
{
    return (size_t)STARPU_MATRIX_GET_NX(descr) * (size_t)STARPU_MATRIX_GET_NY(descr);
}

static struct cavs__device *my_device(void)
{
    return cavs__device_of_worker(starpu_worker_get_id());
}

/* ---- parts ---- */

static void run_part(void *descr[], void *arg)
{
    struct cavs__device *d = my_device();
    struct cavs__memory buffers[CAVS__MAX_BUFFERS + 1];
    int n = d ? buffers_of(d, descr, buffers) : 0;

    if (d && !cavs__part_queue(d, arg, n, buffers, floats_of(descr[n - 1])))
        d->api->flush(d);
}

/* ---- updates ---- */

static struct cavs__device_gradient gradient(const struct cavs__update_args *a,
                                             const struct cavs__memory *g,
                                             struct cavs__memory lists, struct cavs__memory room,
                                             size_t floats)
{
    int at = (int)lists.at;

    return (struct cavs__device_gradient){.ngrads = a->ngrads,
                                          .g = g,
                                          .ld = (int)a->ldg,
                                          .sparse = a->sparse,
                                          .lists = a->sparse ? lists.p : NULL,
                                          .ids = at + a->ids,
                                          .ptr = at + a->ptr,
                                          .source = at + a->source,
                                          .row = at + a->row,
                                          .n = a->sparse ? a->n : a->rows,
                                          .cols = a->cols,
                                          .room = room,
                                          .floats = floats};
}

static void run_update(void *descr[], void *arg)
{
    const struct cavs__update_args *a = arg;
    struct cavs__device *d = my_device();
    struct cavs__memory m[STARPU_TASK_GET_NBUFFERS(starpu_task_get_current())];
    struct cavs__device_param p = {.ld = (int)a->ld, .ldt = (int)a->ldt};
    struct cavs__device_gradient g;
    int n = d ? buffers_of(d, descr, m) : 0, at = 0, norms, grads;

    if (!d)
        return;
    p.w = m[at++];
    if (a->nstates > 0)
        p.s0 = m[at++];
    if (a->nstates > 1)
        p.s1 = m[at++];
    if (a->transposed)
        p.wt = m[at++];
    grads = at;
    norms = grads + a->ngrads;
    g = gradient(a, m + grads, m[n - 2], m[n - 1], floats_of(descr[n - 1]));
    if (!cavs__device_update(d, &a->rule, &g, &p, a->clip, a->nnorms, m[norms]))
        d->api->flush(d);
}

static void run_norm(void *descr[], void *arg)
{
    const struct cavs__update_args *a = arg;
    struct cavs__device *d = my_device();
    struct cavs__memory m[STARPU_TASK_GET_NBUFFERS(starpu_task_get_current())];
    struct cavs__device_gradient g;
    int n = d ? buffers_of(d, descr, m) : 0;

    if (!d)
        return;
    g = gradient(a, m + 1, m[n - 2], m[n - 1], floats_of(descr[n - 1]));
    if (!cavs__device_norm(d, &g, m[0], a->number))
        d->api->flush(d);
}

/* ---- codelets ---- */

static int can_execute(unsigned worker, struct starpu_task *task, unsigned implementation)
{
    (void)task;
    (void)implementation;
    return starpu_worker_get_type((int)worker) == STARPU_CPU_WORKER ||
           cavs__device_takes_tasks((int)worker);
}

static void add_devices(struct starpu_codelet *cl, uint32_t where,
                        void (*run)(void *descr[], void *arg))
{
    cl->where = STARPU_CPU | where;
    cl->can_execute = can_execute;
    if (where & STARPU_OPENCL) {
        cl->opencl_funcs[0] = run;
        cl->opencl_flags[0] = STARPU_OPENCL_ASYNC;
    }
    if (where & STARPU_CUDA) {
        cl->cuda_funcs[0] = run;
        cl->cuda_flags[0] = STARPU_CUDA_ASYNC;
    }
}

static bool runs_on(int n, struct cavs__part *const *parts, const struct cavs__device *d,
                    const char **why)
{
    for (int i = 0; i < n; i++)
        if (parts[i] && !cavs__part_runs_on(parts[i], d, why))
            return false;
    return true;
}

void cavs__task_devices(struct starpu_codelet *cl, int n, struct cavs__part *const *parts,
                        const char **why)
{
    uint32_t where = cavs__devices_where();
    const char *obstacle;

    for (int i = 0; i < CAVS__MAX_DEVICES; i++) {
        const struct cavs__device *d = cavs__device_at(i);

        if (d && !runs_on(n, parts, d, &obstacle)) {
            where &= ~d->api->where;
            *why = obstacle;
        }
    }
    add_devices(cl, where, run_part);
}

/* Kinds of devices all of which compute in double. */
static uint32_t where_in_double(void)
{
    uint32_t where = cavs__devices_where();

    for (int i = 0; i < CAVS__MAX_DEVICES; i++) {
        const struct cavs__device *d = cavs__device_at(i);

        if (d && !d->has_double)
            where &= ~d->api->where;
    }
    return where;
}

void cavs__update_devices(struct starpu_codelet *cl, bool clips)
{
    add_devices(cl, clips ? where_in_double() : cavs__devices_where(), run_update);
}

void cavs__norm_devices(struct starpu_codelet *cl)
{
    add_devices(cl, where_in_double(), run_norm);
}
