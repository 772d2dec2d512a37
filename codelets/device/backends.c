/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backends.c - the kinds of devices: what StarPU and the options call them, and their drivers.
 *
 * A kind is there even where it was not built: then StarPU is told to start none of its workers,
 * and who asks for some is told that there are none. doc/adding-a-device.md says what another one
 * takes.
 */
#include "config.h"

#include <stdlib.h>

#include "codelets/device/device.h"
#include "core/cavs.h"

/* ---- CUDA ---- */

static int asked_cuda(const struct cavs_runtime_options *o)
{
    return o->cuda;
}

/* Each rank takes as many as it asks for, or its part of all, from behind those of the rank before;
 * where there are not so many, several have one.  StarPU's environment goes before this. */
static void share_cuda(int there, int asked, int here, int all, struct starpu_conf *conf)
{
    conf->ncuda = asked > 0 ? asked : there / all > 0 ? there / all : 1;
    conf->use_explicit_workers_cuda_gpuid = 1;
    for (int i = 0; i < STARPU_NMAXWORKERS; i++)
        conf->workers_cuda_gpuid[i] = (unsigned)((here * conf->ncuda + i) % there);
}

/* Small kernels of one device overlap on two streams, and tasks wait in line there, so that it does
 * not wait for us. */
static int prepare_cuda(const struct cavs__driver *driver, int asked, int here, int all,
                        struct starpu_conf *conf)
{
    int there;

    conf->ncuda = asked;
    if (asked == 0 || !driver)
        return 0;
    setenv("STARPU_NWORKER_PER_CUDA", "2", 0);
    setenv("STARPU_CUDA_PIPELINE", "4", 0);
    if (!driver->count)
        return asked;
    there = driver->count();
    if (all > 1 && there > 1)
        share_cuda(there, asked, here, all, conf);
    return conf->ncuda >= 0 && conf->ncuda < there ? conf->ncuda : there;
}

static void implement_cuda(struct starpu_codelet *cl, cavs__device_task *run)
{
    cl->cuda_funcs[0] = run;
    cl->cuda_flags[0] = STARPU_CUDA_ASYNC;
}

static cavs__device_task *cuda_implementation(const struct starpu_codelet *cl)
{
    return cl->cuda_funcs[0];
}

static struct cavs__memory cuda_memory(void *descr)
{
    return (struct cavs__memory){.p = (void *)STARPU_MATRIX_GET_PTR(descr)};
}

/* ---- OpenCL ---- */

static int asked_opencl(const struct cavs_runtime_options *o)
{
    return o->opencl;
}

static int prepare_opencl(const struct cavs__driver *driver, int asked, int here, int all,
                          struct starpu_conf *conf)
{
    (void)driver;
    (void)here;
    (void)all;
    conf->nopencl = asked;
    return asked;
}

static void implement_opencl(struct starpu_codelet *cl, cavs__device_task *run)
{
    cl->opencl_funcs[0] = run;
    cl->opencl_flags[0] = STARPU_OPENCL_ASYNC;
}

static cavs__device_task *opencl_implementation(const struct starpu_codelet *cl)
{
    return cl->opencl_funcs[0];
}

static struct cavs__memory opencl_memory(void *descr)
{
    return (struct cavs__memory){.p = (void *)STARPU_MATRIX_GET_DEV_HANDLE(descr),
                                 .at = (int64_t)(STARPU_MATRIX_GET_OFFSET(descr) / sizeof(float))};
}

/* ---- all of them ---- */

#if defined HAVE_CUDA || defined CAVS_SIMULATED
#define CUDA_HINT ""
#else
#define CUDA_HINT ": this library was built without CUDA"
#endif
#ifdef HAVE_OPENCL
#define OPENCL_HINT " (those that are CPUs count with STARPU_OPENCL_ON_CPUS=1)"
#else
#define OPENCL_HINT ": this library was built without OpenCL"
#endif

const struct cavs__backend cavs__backends[] = {
    {
        .name = "CUDA",
        .where = STARPU_CUDA,
        .worker = STARPU_CUDA_WORKER,
#ifdef CAVS_SIMULATED
        .driver = &cavs__simulated_device,
#elif defined HAVE_CUDA
        .driver = &cavs__cuda,
#endif
        .asked = asked_cuda,
        .hint = CUDA_HINT,
        .given = "CUDA_VISIBLE_DEVICES",
        .prepare = prepare_cuda,
        .implement = implement_cuda,
        .implementation = cuda_implementation,
        .memory = cuda_memory,
    },
    {
        .name = "OpenCL",
        .where = STARPU_OPENCL,
        .worker = STARPU_OPENCL_WORKER,
#ifdef HAVE_OPENCL
        .driver = &cavs__opencl,
#endif
        .asked = asked_opencl,
        .hint = OPENCL_HINT,
        .prepare = prepare_opencl,
        .implement = implement_opencl,
        .implementation = opencl_implementation,
        .memory = opencl_memory,
    },
};
const int cavs__backends_count = sizeof cavs__backends / sizeof *cavs__backends;
