/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_task.c - what a device's worker does with a task.
 *
 * One function a codelet serves all kinds of devices: they differ in how StarPU hands over memory.
 * A device that has failed does nothing more; the session reports it.
 */
#include "codelets/device/device.h"
#include "codelets/device/walk.h"
#include "codelets/lines_task.h"
#include "codelets/update_task.h"

/* ---- buffers ---- */

static void find_buffers(const struct cavs__device *d, int n, void *descr[], struct cavs__memory *m)
{
    for (int i = 0; i < n; i++)
        m[i] = d->backend->memory(descr[i]);
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

/* By the numbers that the parts know them by; how many there are then, scratch the last of them. */
static int by_number(const struct cavs__part_args *a, int n, const struct cavs__memory *m,
                     struct cavs__memory *buffers)
{
    for (int i = 0; i < n; i++)
        buffers[a->numbers ? a->numbers[i] : i] = m[i];
    return a->numbers ? a->most + 1 : n;
}

/* before: launches of this worker when the task began */
static void count_vt(const struct cavs__part_args *a, int64_t before)
{
    struct cavs__launch_counts *c = cavs__launched_here();

    __atomic_add_fetch(&c->vt[a->chain], a->nsegments, __ATOMIC_RELAXED);
    __atomic_add_fetch(&c->of_vt[a->chain], c->all - before, __ATOMIC_RELAXED);
}

void cavs__device_run_part(void *descr[], void *arg)
{
    struct cavs__device *d = my_device();
    const struct cavs__part_args *a = arg;
    struct cavs__memory m[CAVS__MAX_BUFFERS + 1];
    struct cavs__memory buffers[(a->numbers ? a->most : CAVS__MAX_BUFFERS) + 1];
    int n = a->nbuffers;
    int64_t before = cavs__launched_here()->all;

    if (!d)
        return;
    find_buffers(d, n, descr, m);
    if (!cavs__part_queue(d, a, by_number(a, n, m, buffers), buffers, floats_of(descr[n - 1])))
        count_vt(a, before);
    cavs__device_flush(d);
}

/* ---- updates ---- */

static struct cavs__device_gradient gradient(const struct cavs__update_args *a,
                                             struct cavs__memory *g, struct cavs__memory lists,
                                             struct cavs__memory room, size_t floats)
{
    int at = (int)lists.at;

    for (int i = 0; i < a->ngrads; i++)
        g[i].at += (int64_t)a->at;
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

/* Lists and scratch. */
static int after_gradients(const struct cavs__update_args *a)
{
    return (a->sparse ? 1 : 0) + 1;
}

void cavs__device_run_update(void *descr[], void *arg)
{
    const struct cavs__update_args *a = arg;
    struct cavs__device *d = my_device();
    int n = 1 + a->nstates + a->ncopies + a->ngrads + (a->nnorms > 0) + after_gradients(a), at = 0;
    struct cavs__memory m[n];
    struct cavs__device_param p = {.rows = a->rows, .ld = (int)a->ld};
    struct cavs__device_gradient g;
    struct cavs__device_clip clip = {.norm = a->clip, .n = a->nnorms};
    int grads;

    if (!d)
        return;
    find_buffers(d, n, descr, m);
    p.w = m[at++];
    if (a->nstates > 0)
        p.s0 = m[at++];
    if (a->nstates > 1)
        p.s1 = m[at++];
    for (int i = 0; i < a->ncopies; i++, at++) { /* no other copy where there are devices */
        p.wt = m[at];
        p.ldt = (int)a->copies[i].ld;
    }
    grads = at;
    clip.norms = m[grads + a->ngrads];
    g = gradient(a, m + grads, m[n - 2], m[n - 1], floats_of(descr[n - 1]));
    if (!cavs__device_update(d, &a->rule, &g, &p, &clip))
        cavs__device_flush(d);
}

void cavs__device_run_norm(void *descr[], void *arg)
{
    const struct cavs__update_args *a = arg;
    struct cavs__device *d = my_device();
    int n = 1 + a->ngrads + after_gradients(a);
    struct cavs__memory m[n];
    struct cavs__device_gradient g;

    if (!d)
        return;
    find_buffers(d, n, descr, m);
    g = gradient(a, m + 1, m[n - 2], m[n - 1], floats_of(descr[n - 1]));
    if (!cavs__device_norm(d, &g, m[0], a->number))
        cavs__device_flush(d);
}

/* ---- lines ---- */

void cavs__device_run_lines(void *descr[], void *arg)
{
    const struct cavs__lines_args *a = arg;
    struct cavs__device *d = my_device();
    struct cavs__memory m[3];

    if (!d)
        return;
    find_buffers(d, 3, descr, m);
    if (!cavs__device_copy_rows(
            d, m[1].p, a->n,
            &(struct cavs__device_view){.memory = m[2],
                                        .ld = CAVS__LINE,
                                        .index = (int)m[1].at,
                                        .ptr = -1,
                                        .cols = CAVS__LINE},
            &(struct cavs__device_view){
                .memory = m[0], .ld = CAVS__LINE, .index = -1, .ptr = -1, .cols = CAVS__LINE}))
        cavs__device_flush(d);
}
