/* SPDX-License-Identifier: Apache-2.0 */
/* on_device.c - see on_device.h. */
#include "tests/on_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/device/products.h"
#include "codelets/groups/elementwise.h"
#include "core/run/session.h"

enum { MOST_VIEWS = 128 };

static struct cavs_runtime *runtime;

/* Also switches on what StarPU checks only on demand: it aborts when no task ends for so many
 * microseconds, and when tasks are left at its end. */
void on_device_environment(void)
{
    setenv("STARPU_OPENCL_ON_CPUS", "1", 0);
    setenv("STARPU_OPENCL_ONLY_ON_CPUS", "1", 0);
    setenv("STARPU_WATCHDOG_TIMEOUT", "120000000", 0);
    setenv("STARPU_WATCHDOG_CRASH", "1", 0);
    setenv("STARPU_MAX_MEMORY_USE", "1", 0);
}

bool on_device_cuda(void)
{
    const char *device = getenv("CAVS_TEST_DEVICE");

    return device && strcmp(device, "cuda") == 0;
}

bool on_device_up(void)
{
    bool cuda = on_device_cuda();
    struct cavs_runtime_options options = {.workers = 1, .cuda = cuda, .opencl = !cuda};

    on_device_environment();
    if (cavs_runtime_create(&options, &runtime) != 0)
        return false;
    if (cavs__devices_count() > 0)
        return true;
    on_device_down();
    return false;
}

void on_device_down(void)
{
    cavs_runtime_destroy(runtime);
    runtime = NULL;
}

/* ---- tasks ---- */

/* What a task does with its worker's device. */
struct doing {
    int (*queue)(struct cavs__device *d, void *descr[], void *of);
    void *of;
    int rc;
};

static void run(void *descr[], void *arg)
{
    struct doing *what = arg;
    struct cavs__device *d = cavs__device_of_worker(starpu_worker_get_id());

    what->rc = -1;
    if (!d)
        return;
    what->rc = what->queue(d, descr, what->of);
    cavs__device_flush(d);
}

static struct starpu_codelet codelet = {.where = STARPU_OPENCL | STARPU_CUDA,
                                        .cuda_funcs = {run},
                                        .cuda_flags = {STARPU_CUDA_ASYNC},
                                        .opencl_funcs = {run},
                                        .opencl_flags = {STARPU_OPENCL_ASYNC},
                                        .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                        .name = "test_on_device"};

/* A task of these buffers, which has ended. */
static void run_task(struct doing *what, int n, const starpu_data_handle_t *h,
                     const enum starpu_data_access_mode *modes)
{
    struct starpu_task *t = starpu_task_create();

    t->cl = &codelet;
    t->cl_arg = what;
    t->dyn_handles = malloc((size_t)n * sizeof *t->dyn_handles);
    t->dyn_modes = malloc((size_t)n * sizeof *t->dyn_modes);
    assert_true(t->dyn_handles && t->dyn_modes);
    memcpy(t->dyn_handles, h, (size_t)n * sizeof *h);
    memcpy(t->dyn_modes, modes, (size_t)n * sizeof *modes);
    t->nbuffers = n;
    t->synchronous = 1;
    assert_int_equal(starpu_task_submit(t), 0);
}

/* ---- one kernel, or products together ---- */

/* Buffers of the task: the views' tables, the index arrays one after the other, room to pack. */
struct job {
    const struct cavs__call *call;
    int products; /* 0: one kernel */
    int tiles;    /* of products */
    int rows, nviews;
    const struct cavs__view *v;
    unsigned flags;
    int at;                                 /* numbers before a view's first one */
    int index[MOST_VIEWS], ptr[MOST_VIEWS]; /* positions of a view's arrays */
};

/* Every three views of *all are those of a product. */
static int run_products(const struct job *j, const struct cavs__device_call *all)
{
    struct cavs__device_call c[CAVS__MOST_TOGETHER];
    const struct cavs__device_call *calls[CAVS__MOST_TOGETHER];

    for (int i = 0; i < j->products; i++) {
        c[i] = *all;
        c[i].call = &j->call[i];
        c[i].v = &all->v[i * 3];
        c[i].nviews = 3;
        calls[i] = &c[i];
    }
    return cavs__device_products_tiled(j->tiles, j->products, calls);
}

static int queue_job(struct cavs__device *d, void *descr[], void *of)
{
    const struct job *j = of;
    struct cavs__device_view v[MOST_VIEWS];
    struct cavs__device_call c = {.device = d,
                                  .call = j->call,
                                  .rows = j->rows,
                                  .v = v,
                                  .nviews = j->nviews,
                                  .flags = j->flags};

    c.index = d->backend->memory(descr[j->nviews]).p;
    c.room = d->backend->memory(descr[j->nviews + 1]);
    for (int i = 0; i < j->nviews; i++) {
        v[i] = (struct cavs__device_view){
            .ld = (int)j->v[i].ld, .cols = j->v[i].cols, .index = j->index[i], .ptr = j->ptr[i]};
        if (j->v[i].p)
            v[i].memory = d->backend->memory(descr[i]);
        v[i].memory.at += j->v[i].p ? j->at : 0;
    }
    return j->products ? run_products(j, &c) : cavs__device_queue(&c);
}

/* ---- operands ---- */

static int entries(const struct cavs__view *v, int rows)
{
    return v->ptr ? v->ptr[rows] : rows;
}

/* How many numbers of an index name a row: a piece is its row and two more. */
static int each(const struct job *j)
{
    return j->call->kernel->number == CAVS__KERNEL_sum_pieces ? 3 : 1;
}

/* How many numbers the index of view i has. */
static int indices(const struct job *j, int i)
{
    return j->v[i].index ? each(j) * entries(&j->v[i], j->rows) : 0;
}

/* Rows of view i, which are not those of the task in a matrix of weights and in a sum over rows. */
static int rows_of(const struct job *j, int i)
{
    const char *kernel = j->call->kernel->name;

    if (strcmp(kernel, "gemm") == 0 && i % 3 == 1)
        return j->v[i - 1].cols;
    if (strncmp(kernel, "gemm_", 5) == 0 && strcmp(kernel, "gemm_rows") != 0 && i == 2)
        return j->v[0].cols;
    return j->call->kernel->reduces && i == j->nviews - 1 ? 1 : j->rows;
}

/* Numbers from v->p on that the kernel may touch. */
static size_t span(const struct job *j, int i)
{
    const struct cavs__view *v = &j->v[i];
    int last = v->index ? -1 : rows_of(j, i) - 1;

    for (int k = 0; k < indices(j, i); k += each(j))
        last = v->index[k] > last ? v->index[k] : last;
    return last < 0 || !v->p ? 0 : (size_t)last * (size_t)v->ld + (size_t)v->cols;
}

static starpu_data_handle_t register_copy(const void *p, size_t n, int at)
{
    starpu_data_handle_t h;
    uint32_t size = (uint32_t)n + (uint32_t)at + 1;
    float *copy = calloc(size, sizeof *copy);

    assert_non_null(copy);
    if (p && n > 0)
        memcpy(copy + at, p, n * sizeof *copy);
    starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)copy, size, size, 1, sizeof *copy);
    return h;
}

/* Copies back to p unless it is NULL. */
static void unregister_copy(starpu_data_handle_t h, void *p, size_t n, int at)
{
    float *copy = (float *)starpu_matrix_get_local_ptr(h);

    starpu_data_unregister(h);
    if (p && n > 0)
        memcpy(p, copy + at, n * sizeof *copy);
    free(copy);
}

static int32_t *collect_index(struct job *j, int *n)
{
    int32_t *all;

    *n = 0;
    for (int i = 0; i < j->nviews; i++)
        *n += indices(j, i) + (j->v[i].ptr ? j->rows + 1 : 0);
    all = calloc((size_t)*n + 1, sizeof *all);
    assert_non_null(all);
    *n = 0;
    for (int i = 0; i < j->nviews; i++) {
        const struct cavs__view *v = &j->v[i];

        j->index[i] = v->index ? *n : -1;
        for (int k = 0; k < indices(j, i); k++)
            all[(*n)++] = v->index[k];
        j->ptr[i] = v->ptr ? *n : -1;
        for (int k = 0; v->ptr && k <= j->rows; k++)
            all[(*n)++] = v->ptr[k];
    }
    return all;
}

static int views_of(const struct cavs__call *call)
{
    const struct cavs__ew_spec *spec = call->program ? cavs__ew_program_spec(call->program) : NULL;

    return spec ? spec->ninputs + spec->noutputs : call->kernel->nviews;
}

static void run_job(struct job *j)
{
    struct doing what = {.queue = queue_job, .of = j};
    starpu_data_handle_t h[MOST_VIEWS + 2];
    enum starpu_data_access_mode modes[MOST_VIEWS + 2];
    size_t room = 0;
    int n, nindex;
    int32_t *index = collect_index(j, &nindex);

    for (n = 0; n < j->nviews; n++) {
        h[n] = register_copy(j->v[n].p, span(j, n), j->at);
        modes[n] = STARPU_RW;
        room += (size_t)j->rows * (size_t)j->v[n].cols;
    }
    h[n] = register_copy(index, (size_t)nindex, 0);
    modes[n++] = STARPU_R;
    h[n] = register_copy(NULL, room, 0);
    modes[n++] = STARPU_RW;
    run_task(&what, n, h, modes);
    for (int i = 0; i < n; i++)
        if (i < j->nviews)
            unregister_copy(h[i], j->v[i].p, span(j, i), j->at);
        else
            unregister_copy(h[i], NULL, 0, 0);
    free(index);
    assert_int_equal(what.rc, 0);
}

void on_device_run_at(int at, const struct cavs__call *call, int rows, const struct cavs__view *v,
                      unsigned flags)
{
    struct job j = {
        .call = call, .rows = rows, .nviews = views_of(call), .v = v, .flags = flags, .at = at};

    run_job(&j);
}

void on_device_run(const struct cavs__call *call, int rows, const struct cavs__view *v,
                   unsigned flags)
{
    on_device_run_at(0, call, rows, v, flags);
}

void on_device_products(int tiles, int n, const struct cavs__call *calls, int rows,
                        const struct cavs__view *v)
{
    struct job j = {
        .call = calls, .tiles = tiles, .products = n, .rows = rows, .nviews = 3 * n, .v = v};

    run_job(&j);
}

/* ---- anything else ---- */

struct work {
    on_device_queue *queue;
    void *arg;
};

static int queue_work(struct cavs__device *d, void *descr[], void *of)
{
    const struct work *w = of;

    return w->queue(d, d->backend->memory(descr[0]), d->backend->memory(descr[1]), w->arg);
}

void on_device_do(on_device_queue *queue, void *arg, float *numbers, size_t n, const int32_t *index,
                  size_t nindex)
{
    struct work w = {.queue = queue, .arg = arg};
    struct doing what = {.queue = queue_work, .of = &w};
    starpu_data_handle_t h[2] = {register_copy(numbers, n, 0), register_copy(index, nindex, 0)};

    run_task(&what, 2, h, (enum starpu_data_access_mode[]){STARPU_RW, STARPU_R});
    unregister_copy(h[0], numbers, n, 0);
    unregister_copy(h[1], NULL, 0, 0);
    assert_int_equal(what.rc, 0);
}
