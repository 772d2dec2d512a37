/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.c - NVIDIA GPUs: NVRTC's code loaded by the driver, launched on StarPU's streams, products
 * by cuBLAS.
 *
 * Modules are the driver's business. It is opened at run time, not linked: with it no program would
 * start on a machine without a GPU.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <starpu.h>
#include <starpu_cublas_v2.h>
#include <starpu_cuda.h>

#include "codelets/device/device.h"
#include "codelets/device/nvrtc.h"

/* The driver's functions that are needed. */
static struct {
    void *library;
    CUresult (*load)(CUmodule *module, const void *image);
    CUresult (*unload)(CUmodule module);
    CUresult (*function)(CUfunction *f, CUmodule module, const char *name);
    CUresult (*launch)(const CUlaunchConfig *config, CUfunction f, void **arguments, void **extra);
    CUresult (*text)(CUresult rc, const char **text);
} driver;

/* ---- once ---- */

static void start(void)
{
    driver.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver.library) {
        *(void **)&driver.load = dlsym(driver.library, "cuModuleLoadData");
        *(void **)&driver.unload = dlsym(driver.library, "cuModuleUnload");
        *(void **)&driver.function = dlsym(driver.library, "cuModuleGetFunction");
        *(void **)&driver.launch = dlsym(driver.library, "cuLaunchKernelEx");
        *(void **)&driver.text = dlsym(driver.library, "cuGetErrorString");
    }
    starpu_cublas_init();
}

static void stop(void)
{
    starpu_cublas_shutdown();
    if (driver.library)
        dlclose(driver.library);
    memset(&driver, 0, sizeof driver);
}

static const char *text_of(CUresult rc)
{
    const char *text = NULL;

    return driver.text(rc, &text) == CUDA_SUCCESS && text ? text : "unknown error";
}

/* ---- life ---- */

static int count(void)
{
    int n = 0;

    return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

/* StarPU takes a GPU's memory in pieces of 32 MB for all that is small: with fewer than three it
 * looks for memory for ever. */
#define LEAST_MEMORY ((starpu_ssize_t)96 << 20)

static bool has_memory(struct cavs__device *d)
{
    starpu_ssize_t bytes = starpu_memory_get_total(starpu_worker_get_local_memory_node());

    if (bytes < 0 || bytes >= LEAST_MEMORY)
        return true;
    cavs__device_fail(d, "StarPU may use %d MB of its memory, and wants %d", (int)(bytes >> 20),
                      (int)(LEAST_MEMORY >> 20));
    return false;
}

static int open_device(struct cavs__device *d)
{
    struct cudaDeviceProp properties;
    cudaError_t rc = cudaGetDeviceProperties(&properties, d->id);
    const char *missing = cavs__nvrtc_missing();

    if (!driver.load || !driver.unload || !driver.function || !driver.launch || !driver.text) {
        cavs__device_fail(d, "libcuda.so.1 cannot be used");
        return -1;
    }
    if (rc != cudaSuccess) {
        cavs__device_fail(d, "%s", cudaGetErrorString(rc));
        return -1;
    }
    snprintf(d->name, sizeof d->name, "%.95s", properties.name);
    if (missing) {
        cavs__device_fail(d, "NVRTC cannot be used: %s", missing);
        return -1;
    }
    cavs__nvrtc_architecture(properties.major * 10 + properties.minor, d->architecture,
                             sizeof d->architecture);
    d->overlaps = atoi(strchr(d->architecture, '_') + 1) >= 90;
    d->has_double = true;
    d->units = properties.multiProcessorCount;
    d->max_parameters = 4096;
    return has_memory(d) ? 0 : -1;
}

/* ---- modules ---- */

static void identify(const struct cavs__device *d, char *to, size_t size)
{
    int compiler = cavs__nvrtc_version(), version = 0;

    cudaDriverGetVersion(&version);
    snprintf(to, size, "CUDA %d.%d, driver %d, %s", compiler / 1000, compiler % 1000 / 10, version,
             d->architecture);
}

static void *compile(const struct cavs__device *d, const char *source, size_t *size,
                     struct cavs__complaint *why)
{
    char log[300];
    void *code;

    if (!cavs__nvrtc_compile(source, d->architecture, &code, size, log, sizeof log))
        return code;
    snprintf(why->text, sizeof why->text, "NVRTC refuses the kernels for %s: %s", d->architecture,
             log);
    return NULL;
}

static void *load(struct cavs__device *d, const void *code, size_t size,
                  struct cavs__complaint *why)
{
    CUmodule module;
    CUresult rc = driver.load(&module, code);

    (void)size;
    if (rc == CUDA_SUCCESS)
        return module;
    snprintf(why->text, sizeof why->text, "the driver refuses the kernels for %s: %s",
             d->architecture, text_of(rc));
    return NULL;
}

static void *find(struct cavs__device *d, void *module, const char *name)
{
    CUfunction f;
    CUresult rc = driver.function(&f, module, name);

    if (rc == CUDA_SUCCESS)
        return f;
    cavs__device_fail(d, "kernel %s is missing: %s", name, text_of(rc));
    return NULL;
}

static void unload(struct cavs__device *d, void *module, int nkernels, void *const *kernels)
{
    (void)d, (void)nkernels, (void)kernels;
    driver.unload(module);
}

/* ---- launches ---- */

/* Where kernels wait for the launch before by themselves, as IN_TURN of dialect.cl has it, their
 * groups are sent while it is at work: else the GPU has nothing to do for a microsecond between
 * any two. */
static int launch(struct cavs__device *d, const struct cavs__launch *l)
{
    CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                               .value.programmaticStreamSerializationAllowed = 1};
    const CUlaunchConfig config = {.gridDimX = (unsigned)l->groups[0],
                                   .gridDimY = (unsigned)l->groups[1],
                                   .gridDimZ = 1,
                                   .blockDimX = (unsigned)l->items,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = (CUstream)starpu_cuda_get_local_stream(),
                                   .attrs = &early,
                                   .numAttrs = d->overlaps};
    void *arguments[CAVS__MAX_ARGUMENTS];
    CUresult rc;

    for (int i = 0; i < l->nargs; i++)
        arguments[i] = (void *)&l->argument[i].value;
    rc = driver.launch(&config, l->kernel, arguments, NULL);
    if (rc == CUDA_SUCCESS)
        return 0;
    cavs__device_fail(d, "a kernel could not be launched: %s", text_of(rc));
    return -1;
}

static int finish(struct cavs__device *d)
{
    cudaError_t rc = cudaStreamSynchronize(starpu_cuda_get_local_stream());

    if (rc == cudaSuccess)
        return 0;
    cavs__device_fail(d, "kernels failed: %s", cudaGetErrorString(rc));
    return -1;
}

/* ---- memory ---- */

/* The copy goes through the stream of the kernels, which wait for no other. */
static void *allocate(struct cavs__device *d, size_t bytes, const void *content)
{
    cudaStream_t stream = starpu_cuda_get_local_stream();
    void *memory = NULL;

    (void)d;
    if (cudaMalloc(&memory, bytes) != cudaSuccess)
        return NULL;
    if (cudaMemcpyAsync(memory, content, bytes, cudaMemcpyHostToDevice, stream) == cudaSuccess &&
        cudaStreamSynchronize(stream) == cudaSuccess)
        return memory;
    cudaFree(memory);
    return NULL;
}

static void release(struct cavs__device *d, void *memory)
{
    (void)d;
    cudaFree(memory);
}

/* ---- products ---- */

static bool has_gemm(const struct cavs__device *d)
{
    (void)d;
    return true;
}

/* What becomes of the operands, which are float32 in memory, on their way into the multipliers. */
static cublasComputeType_t computes(const struct cavs__product *p)
{
    return p->bf16              ? CUBLAS_COMPUTE_32F_FAST_16BF
           : cavs__devices_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                : CUBLAS_COMPUTE_32F;
}

/* cuBLAS counts by columns: it sees the transposes of our matrices, and computes c^T = b^T a^T. */
static int gemm(struct cavs__device *d, const struct cavs__product *p)
{
    const float one = 1, old = p->accumulate ? 1 : 0;
    cublasHandle_t handle = starpu_cublas_get_local_handle();
    cublasStatus_t rc = cublasSetStream(handle, starpu_cuda_get_local_stream());

    if (rc == CUBLAS_STATUS_SUCCESS)
        rc = cublasGemmEx(handle, CUBLAS_OP_N, p->transposed ? CUBLAS_OP_T : CUBLAS_OP_N, p->n,
                          p->m, p->k, &one, (const float *)p->b.p + p->b.at, CUDA_R_32F, p->ldb,
                          (const float *)p->a.p + p->a.at, CUDA_R_32F, p->lda, &old,
                          (float *)p->c.p + p->c.at, CUDA_R_32F, p->ldc, computes(p),
                          CUBLAS_GEMM_DEFAULT);
    cavs__count_launch();
    if (rc == CUBLAS_STATUS_SUCCESS)
        return 0;
    cavs__device_fail(d, "cublasGemmEx: %s", cublasGetStatusString(rc));
    return -1;
}

const struct cavs__driver cavs__cuda = {
    .products = "cuBLAS",
    .count = count,
    .start = start,
    .stop = stop,
    .open = open_device,
    .identify = identify,
    .compile = compile,
    .load = load,
    .find = find,
    .unload = unload,
    .launch = launch,
    .finish = finish,
    .allocate = allocate,
    .release = release,
    .has_gemm = has_gemm,
    .gemm = gemm,
    .rounds = true,
};
