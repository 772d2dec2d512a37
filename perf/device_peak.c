/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_peak - what a device can do at most, measured through the library's own device layer:
 * matrix products, and what a StarPU task and a launch cost there.
 *
 *     gemm_gflops       products of square matrices by the library that programs use on the device
 *                       (gemm_by: cuBLAS, CLBlast, or the kernel of ours), of the best size
 *     task_us           a chain of tasks on the device that do nothing: StarPU's overhead
 *     launch_us         a chain of launches of a small kernel in one task
 *     task_launch_us    a chain of tasks with one such launch each: the least that a V_t costs
 *
 * Each is the best of five.  perf/gpu-check holds the programs' GFLOP/s against the first.
 */
#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "apps/common/options.h"
#include "apps/common/progress.h"
#include "codelets/device/device.h"
#include "core/cavs.h"
#include "perf/device_asked.h"

enum { TRIES = 5, LEAST_SIZE = 256, SMALL = 64 };
static const double LEAST_SECONDS = 0.05; /* of one timing of products */
static const double LONG_PRODUCT = 0.005; /* after one that takes so long, no larger ones */

struct program {
    struct device_asked asked;
    bool bf16, json;
    int most, chain; /* largest matrices; tasks and launches in a chain */
    struct cavs_runtime *rt;
    struct cavs__device *device;
    double gflops, task, launch, task_launch; /* the last three in seconds */
    int size;                                 /* of the best product */
    json_t *sizes;
};

/* ---- options --------------------------------------------------------------------------------- */

enum key { KEY_DEVICE = 1, KEY_MOST, KEY_CHAIN, KEY_TF32, KEY_BF16, KEY_JSON };

static const struct argp_option options[] = {
    DEVICE_OPTION(KEY_DEVICE),
    {"most", KEY_MOST, "N", 0, "products of N x N matrices at most (default 8192)", 1},
    {"chain", KEY_CHAIN, "N", 0, "tasks and launches in a chain (default 1000)", 1},
    {"tf32", KEY_TF32, NULL, 0, "let CUDA devices round operands of products to TF32", 1},
    {"bf16", KEY_BF16, NULL, 0, "let them round to bfloat16", 1},
    {"json", KEY_JSON, NULL, 0, "the results as one JSON object", 1},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct program *p = state->input;

    switch (key) {
    case KEY_DEVICE: device_option(&p->asked, arg, state); break;
    case KEY_MOST: p->most = app_int(state, "most", arg, LEAST_SIZE, 1 << 15); break;
    case KEY_CHAIN: p->chain = app_int(state, "chain", arg, 1, 1 << 20); break;
    case KEY_TF32: p->asked.tf32 = true; break;
    case KEY_BF16: p->bf16 = true; break;
    case KEY_JSON: p->json = true; break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Measures a device: matrix products, and what a StarPU task and a launch cost there."};

/* ---- tasks ----------------------------------------------------------------------------------- */

/* What a task queues on the device, and how often. */
struct job {
    int (*queue)(struct cavs__device *d, const struct cavs__memory *m, int size);
    int repeats, size;
};

static void run_job(void *descr[], void *arg)
{
    const struct job *j = arg;
    struct cavs__device *d = cavs__device_of_worker(starpu_worker_get_id());
    struct cavs__memory m[3];

    if (!d || !j->queue)
        return;
    for (int i = 0; i < 3; i++)
        m[i] = d->backend->memory(descr[i]);
    for (int i = 0; i < j->repeats; i++)
        if (j->queue(d, m, j->size))
            return;
    cavs__device_flush(d);
}

static struct starpu_codelet codelet = {
    .where = STARPU_OPENCL | STARPU_CUDA,
    .cuda_funcs = {run_job},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .opencl_funcs = {run_job},
    .opencl_flags = {STARPU_OPENCL_ASYNC},
    .nbuffers = 3,
    .modes = {STARPU_R, STARPU_R, STARPU_RW},
    .name = "device_peak",
};

/* Seconds that so many tasks take, one after the other; below 0: StarPU refuses them. */
static double run_tasks(const struct job *j, int n, starpu_data_handle_t *h)
{
    double begin = app_now();

    for (int i = 0; i < n; i++) {
        struct starpu_task *t = starpu_task_create();

        t->cl = &codelet;
        t->cl_arg = (void *)j;
        for (int k = 0; k < 3; k++)
            t->handles[k] = h[k];
        if (starpu_task_submit(t)) {
            starpu_task_destroy(t);
            return -1;
        }
    }
    starpu_task_wait_for_all();
    return app_now() - begin;
}

/* The first one is left out: it brings the data, and libraries compile in it. */
static double best_of(const struct job *j, int n, starpu_data_handle_t *h)
{
    double best = run_tasks(j, n, h), seconds = best;

    for (int i = 0; i < TRIES && seconds >= 0; i++) {
        seconds = run_tasks(j, n, h);
        best = i == 0 || seconds < best ? seconds : best;
    }
    return best;
}

/* ---- what is queued -------------------------------------------------------------------------- */

static int multiply(struct cavs__device *d, const struct cavs__memory *m, int size, bool bf16)
{
    struct cavs__call call = {.kernel = cavs__kernel_find("gemm"), .device_bf16 = bf16};
    struct cavs__device_view v[3];
    struct cavs__device_call c = {
        .device = d, .call = &call, .rows = size, .v = v, .nviews = 3, .index = m[0].p};

    for (int i = 0; i < 3; i++)
        v[i] = (struct cavs__device_view){
            .memory = m[i], .ld = size, .index = -1, .ptr = -1, .cols = size};
    return cavs__device_queue(&c);
}

static int queue_product(struct cavs__device *d, const struct cavs__memory *m, int size)
{
    return multiply(d, m, size, false);
}

static int queue_rounded(struct cavs__device *d, const struct cavs__memory *m, int size)
{
    return multiply(d, m, size, true);
}

/* Copies a row. */
static int queue_small(struct cavs__device *d, const struct cavs__memory *m, int size)
{
    struct cavs__device_view from = {.memory = m[0], .ld = size, .index = -1, .cols = size},
                             to = {.memory = m[2], .ld = size, .index = -1, .cols = size};

    return cavs__device_copy_rows(d, m[0].p, 1, &from, &to);
}

/* ---- matrices -------------------------------------------------------------------------------- */

struct matrices {
    float *p[3];
    starpu_data_handle_t h[3];
};

static bool make_matrices(struct matrices *a, int size)
{
    size_t n = (size_t)size * (size_t)size;

    for (int i = 0; i < 3; i++)
        a->p[i] = malloc(n * sizeof(float));
    if (!a->p[0] || !a->p[1] || !a->p[2]) {
        for (int i = 0; i < 3; i++)
            free(a->p[i]);
        return false;
    }
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < n; k++)
            a->p[i][k] = (float)(k % 17) / 17.0f - 0.5f;
        starpu_matrix_data_register(&a->h[i], STARPU_MAIN_RAM, (uintptr_t)a->p[i], (uint32_t)size,
                                    (uint32_t)size, (uint32_t)size, sizeof(float));
    }
    return true;
}

static void free_matrices(struct matrices *a)
{
    for (int i = 0; i < 3; i++) {
        starpu_data_unregister(a->h[i]);
        free(a->p[i]);
    }
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Seconds of one product; below 0: it cannot be done. */
static double time_product(int size, bool bf16)
{
    struct job j = {bf16 ? queue_rounded : queue_product, 1, size};
    struct matrices a;
    double seconds;

    if (!make_matrices(&a, size))
        return -1;
    seconds = best_of(&j, 1, a.h);
    while (seconds >= 0 && seconds < LEAST_SECONDS && j.repeats < 1 << 16) {
        j.repeats *= 2;
        seconds = run_tasks(&j, 1, a.h);
    }
    if (seconds >= 0)
        seconds = best_of(&j, 1, a.h);
    free_matrices(&a);
    return seconds / j.repeats;
}

static void measure_products(struct program *p)
{
    double seconds = 0;

    for (int size = LEAST_SIZE; size <= p->most && seconds < LONG_PRODUCT; size *= 2) {
        double gflops;

        seconds = time_product(size, p->bf16);
        if (seconds <= 0 || !p->device->usable)
            return;
        gflops = 2e-9 * size * size * size / seconds;
        json_array_append_new(p->sizes, json_pack("{s:i, s:f}", "size", size, "gflops", gflops));
        if (gflops > p->gflops) {
            p->gflops = gflops;
            p->size = size;
        }
    }
}

static void measure_chains(struct program *p)
{
    const struct job nothing = {NULL, 0, SMALL}, once = {queue_small, 1, SMALL},
                     often = {queue_small, p->chain, SMALL};
    struct matrices a;

    if (!make_matrices(&a, SMALL))
        return;
    p->task = best_of(&nothing, p->chain, a.h) / p->chain;
    p->launch = best_of(&often, 1, a.h) / p->chain;
    p->task_launch = best_of(&once, p->chain, a.h) / p->chain;
    free_matrices(&a);
}

/* ---- the program ----------------------------------------------------------------------------- */

static const char *product_library(const struct cavs__device *d)
{
    return d->driver->has_gemm(d) ? d->driver->products : "own kernel";
}

static bool print(const struct program *p)
{
    const struct cavs__device *d = p->device;
    json_t *all = json_pack(
        "{s:s, s:s, s:s, s:s, s:b, s:b, s:f, s:i, s:O, s:f, s:f, s:f, s:s}", "app", "device_peak",
        "kind", d->backend->name, "device", d->name, "gemm_by", product_library(d), "tf32",
        p->asked.tf32, "bf16", p->bf16, "gemm_gflops", p->gflops, "gemm_size", p->size,
        "gemm_sizes", p->sizes, "task_us", 1e6 * p->task, "launch_us", 1e6 * p->launch,
        "task_launch_us", 1e6 * p->task_launch, "scheduler", cavs_runtime_scheduler(p->rt));
    bool done = all != NULL;

    if (all && p->json)
        done = json_dumpf(all, stdout, JSON_COMPACT) == 0 && puts("") >= 0;
    else if (all)
        done = printf("%s (%s)\n"
                      "products by %-12s %10.1f GFLOP/s, of %d x %d matrices\n"
                      "an empty task            %10.2f us (%s)\n"
                      "a launch                 %10.2f us\n"
                      "a task with one launch   %10.2f us\n",
                      d->name, d->backend->name, product_library(d), p->gflops, p->size, p->size,
                      1e6 * p->task, cavs_runtime_scheduler(p->rt), 1e6 * p->launch,
                      1e6 * p->task_launch) > 0;
    json_decref(all);
    return done && fflush(stdout) == 0;
}

/* NULL, or what went wrong. */
static const char *measure(struct program *p)
{
    p->device = cavs__device_at(0);
    if (!p->device)
        return "no device";
    p->sizes = json_array();
    measure_products(p);
    measure_chains(p);
    if (!p->device->usable)
        return p->device->reason;
    if (!(p->gflops > 0 && p->task > 0 && p->launch > 0 && p->task_launch > 0))
        return "no memory for the matrices";
    return print(p) ? NULL : "cannot write to stdout";
}

int main(int argc, char **argv)
{
    struct program p = {.most = 8192, .chain = 1000};
    const char *why;

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &p);
    p.rt = device_runtime(&p.asked);
    if (!p.rt)
        return 1;
    why = measure(&p);
    if (why)
        fprintf(stderr, "device_peak: %s\n", why);
    json_decref(p.sizes);
    cavs_runtime_destroy(p.rt);
    return why != NULL;
}
