/* SPDX-License-Identifier: Apache-2.0 */
/* opencl.c - OpenCL devices: StarPU's context and queue, programs, launches, CLBlast. */
#define CL_TARGET_OPENCL_VERSION 120

#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_opencl.h>
#ifdef HAVE_CLBLAST
#include <clblast_c.h>
#endif

#include "codelets/device/device.h"

struct opencl {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    bool library; /* products by CLBlast */
};

/* ---- life ---- */

/* CLBlast is tuned for GPUs, and compiles for seconds at first use: on a CPU our own kernel is
 * taken unless the user says otherwise. */
static bool wants_library(cl_device_type type)
{
#ifdef HAVE_CLBLAST
    const char *choice = getenv("CAVS_OPENCL_GEMM");

    return choice ? !strcmp(choice, "clblast") : !(type & CL_DEVICE_TYPE_CPU);
#else
    (void)type;
    return false;
#endif
}

static void look_at(struct cavs__device *d, const struct opencl *o, cl_device_type *type)
{
    char name[sizeof d->name] = "", extensions[8192] = "";
    size_t parameters = 0;
    cl_uint units = 1;

    if (!clGetDeviceInfo(o->device, CL_DEVICE_NAME, sizeof name, name, NULL) && name[0])
        memcpy(d->name, name, sizeof name);
    d->name[sizeof d->name - 1] = 0;
    clGetDeviceInfo(o->device, CL_DEVICE_TYPE, sizeof *type, type, NULL);
    clGetDeviceInfo(o->device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL);
    clGetDeviceInfo(o->device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof parameters, &parameters, NULL);
    d->has_double = strstr(extensions, "cl_khr_fp64") != NULL;
    clGetDeviceInfo(o->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    d->units = (int)units;
    d->is_cpu = (*type & CL_DEVICE_TYPE_CPU) != 0;
    d->max_parameters = parameters < 1024 ? 1024 : parameters > 4096 ? 4096 : parameters;
}

static int open_device(struct cavs__device *d)
{
    struct opencl *o = calloc(1, sizeof *o);
    cl_device_type type = 0;

    if (!o) {
        cavs__device_fail(d, "out of memory");
        return -1;
    }
    starpu_opencl_get_context(d->id, &o->context);
    starpu_opencl_get_device(d->id, &o->device);
    starpu_opencl_get_queue(d->id, &o->queue);
    d->own = o;
    look_at(d, o, &type);
    o->library = wants_library(type);
    return 0;
}

static void close_device(struct cavs__device *d)
{
    free(d->own);
    d->own = NULL;
}

/* ---- programs ---- */

/* The first line of the compiler's log that is about an error. */
static void explain(const struct opencl *o, cl_program program, cl_int rc,
                    struct cavs__complaint *why)
{
    size_t size = 0;
    char *log, *line;

    clGetProgramBuildInfo(program, o->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    log = calloc(1, size + 1);
    if (log)
        clGetProgramBuildInfo(program, o->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    line = log ? strstr(log, "error") : NULL;
    snprintf(why->text, sizeof why->text, "its compiler refuses the kernels (%d): %.*s", rc,
             line ? (int)strcspn(line, "\n") : 0, line ? line : "");
    free(log);
}

#define FLAGS_SIZE 512

static void choose_flags(const struct cavs__device *d, char flags[FLAGS_SIZE])
{
    const char *more = getenv("CAVS_OPENCL_FLAGS");

    snprintf(flags, FLAGS_SIZE, "-cl-std=CL1.2 %s %s", d->is_cpu ? "-DON_CPU" : "",
             more ? more : "");
}

static void identify(const struct cavs__device *d, char *to, size_t size)
{
    static const cl_device_info what[] = {CL_DEVICE_VENDOR, CL_DEVICE_NAME, CL_DEVICE_VERSION,
                                          CL_DRIVER_VERSION};
    const struct opencl *o = d->own;
    char flags[FLAGS_SIZE];
    size_t n;

    choose_flags(d, flags);
    n = (size_t)snprintf(to, size, "OpenCL %s", flags);
    for (size_t i = 0; i < sizeof what / sizeof *what && n < size; i++) {
        char text[256] = "";

        clGetDeviceInfo(o->device, what[i], sizeof text, text, NULL);
        n += (size_t)snprintf(to + n, size - n, "; %s", text);
    }
}

/* The code of a program that is built for one device. */
static void *code_of(cl_program program, size_t *size, struct cavs__complaint *why)
{
    unsigned char *code = NULL;
    cl_int rc = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL);

    if (rc == CL_SUCCESS && *size > 0 && (code = malloc(*size)))
        rc = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof code, &code, NULL);
    if (code && rc == CL_SUCCESS)
        return code;
    free(code);
    snprintf(why->text, sizeof why->text, "its compiler does not hand over what it made (%d)", rc);
    return NULL;
}

static void *compile(const struct cavs__device *d, const char *source, size_t *size,
                     struct cavs__complaint *why)
{
    const struct opencl *o = d->own;
    char flags[FLAGS_SIZE];
    void *code = NULL;
    cl_int rc = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(o->context, 1, &source, NULL, &rc);

    if (rc != CL_SUCCESS) {
        snprintf(why->text, sizeof why->text, "no program (%d)", rc);
        return NULL;
    }
    choose_flags(d, flags);
    rc = clBuildProgram(program, 1, &o->device, flags, NULL, NULL);
    if (rc == CL_SUCCESS)
        code = code_of(program, size, why);
    else
        explain(o, program, rc, why);
    clReleaseProgram(program);
    return code;
}

static void *load(struct cavs__device *d, const void *code, size_t size,
                  struct cavs__complaint *why)
{
    const struct opencl *o = d->own;
    const unsigned char *codes[] = {code};
    cl_int rc = CL_SUCCESS, status = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithBinary(o->context, 1, &o->device, &size, codes, &status, &rc);

    if (program && rc == CL_SUCCESS)
        rc = clBuildProgram(program, 1, &o->device, NULL, NULL, NULL);
    if (program && rc == CL_SUCCESS)
        return program;
    if (program)
        clReleaseProgram(program);
    snprintf(why->text, sizeof why->text, "it refuses what its compiler made (%d)", rc);
    return NULL;
}

static void *find(struct cavs__device *d, void *module, const char *name)
{
    cl_int rc = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(module, name, &rc);

    if (rc == CL_SUCCESS)
        return kernel;
    cavs__device_fail(d, "kernel %s is missing (%d)", name, rc);
    return NULL;
}

static void unload(struct cavs__device *d, void *module, int nkernels, void *const *kernels)
{
    (void)d;
    for (int i = 0; i < nkernels; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    clReleaseProgram(module);
}

/* ---- launches ---- */

static int launch(struct cavs__device *d, const struct cavs__launch *l)
{
    const struct opencl *o = d->own;
    size_t all[2] = {l->groups[0] * l->items, l->groups[1]}, one[2] = {l->items, 1};
    cl_int rc = CL_SUCCESS;

    for (int i = 0; i < l->nargs && rc == CL_SUCCESS; i++)
        rc = clSetKernelArg(l->kernel, (cl_uint)i, l->argument[i].size, &l->argument[i].value);
    if (rc == CL_SUCCESS)
        rc = clEnqueueNDRangeKernel(o->queue, l->kernel, 2, NULL, all, one, 0, NULL, NULL);
    if (rc == CL_SUCCESS)
        return 0;
    cavs__device_fail(d, "a kernel could not be launched (%d)", rc);
    return -1;
}

static void flush(struct cavs__device *d)
{
    clFlush(((const struct opencl *)d->own)->queue);
}

static int finish(struct cavs__device *d)
{
    cl_int rc = clFinish(((const struct opencl *)d->own)->queue);

    if (rc == CL_SUCCESS)
        return 0;
    cavs__device_fail(d, "kernels failed (%d)", rc);
    return -1;
}

/* ---- memory ---- */

static void *allocate(struct cavs__device *d, size_t bytes, const void *content)
{
    const struct opencl *o = d->own;

    return clCreateBuffer(o->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                          (void *)content, NULL);
}

static void release(struct cavs__device *d, void *memory)
{
    (void)d;
    clReleaseMemObject(memory);
}

/* ---- products ---- */

static bool has_gemm(const struct cavs__device *d)
{
    return ((const struct opencl *)d->own)->library;
}

static int gemm(struct cavs__device *d, const struct cavs__product *p)
{
#ifdef HAVE_CLBLAST
    struct opencl *o = d->own;
    CLBlastStatusCode rc = CLBlastSgemm(
        CLBlastLayoutRowMajor, p->transposed ? CLBlastTransposeYes : CLBlastTransposeNo,
        CLBlastTransposeNo, (size_t)p->m, (size_t)p->n, (size_t)p->k, 1, p->a.p, (size_t)p->a.at,
        (size_t)p->lda, p->b.p, (size_t)p->b.at, (size_t)p->ldb, p->accumulate ? 1 : 0, p->c.p,
        (size_t)p->c.at, (size_t)p->ldc, &o->queue, NULL);

    cavs__count_launch();
    if (rc == CLBlastSuccess)
        return 0;
    cavs__device_fail(d, "CLBlast's sgemm failed (%d)", (int)rc);
#else
    (void)p;
    cavs__device_fail(d, "there is no library of products");
#endif
    return -1;
}

const struct cavs__driver cavs__opencl = {
    .products = "CLBlast",
    .open = open_device,
    .close = close_device,
    .identify = identify,
    .compile = compile,
    .load = load,
    .find = find,
    .unload = unload,
    .launch = launch,
    .flush = flush,
    .finish = finish,
    .allocate = allocate,
    .release = release,
    .has_gemm = has_gemm,
    .gemm = gemm,
};
