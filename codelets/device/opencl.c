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
static void explain(struct cavs__device *d, const struct opencl *o, cl_program program, cl_int rc)
{
    size_t size = 0;
    char *log, *line;

    clGetProgramBuildInfo(program, o->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    log = calloc(1, size + 1);
    if (log)
        clGetProgramBuildInfo(program, o->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    line = log ? strstr(log, "error") : NULL;
    cavs__device_fail(d, "its compiler refuses the kernels (%d): %.*s", rc,
                      line ? (int)strcspn(line, "\n") : 0, line ? line : "");
    free(log);
}

#define FLAGS_SIZE 512

/* Everything that the compiled code depends on besides its text. */
static void identify(const struct opencl *o, const char *flags, char *to, size_t size)
{
    static const cl_device_info what[] = {CL_DEVICE_VENDOR, CL_DEVICE_NAME, CL_DEVICE_VERSION,
                                          CL_DRIVER_VERSION};
    size_t n = (size_t)snprintf(to, size, "OpenCL %s", flags);

    for (size_t i = 0; i < sizeof what / sizeof *what && n < size; i++) {
        char text[256] = "";

        clGetDeviceInfo(o->device, what[i], sizeof text, text, NULL);
        n += (size_t)snprintf(to + n, size - n, "; %s", text);
    }
}

static cl_program from_file(const struct opencl *o, const char *identity, const char *source)
{
    size_t size = 0;
    unsigned char *code = cavs__device_cache_get(identity, source, &size);
    const unsigned char *const codes[] = {code};
    cl_int rc = CL_SUCCESS, status = CL_SUCCESS;
    cl_program program = NULL;

    if (code)
        program = clCreateProgramWithBinary(o->context, 1, &o->device, &size,
                                            (const unsigned char **)codes, &status, &rc);
    free(code);
    if (!program || rc != CL_SUCCESS)
        return NULL;
    if (clBuildProgram(program, 1, &o->device, NULL, NULL, NULL) == CL_SUCCESS)
        return program;
    clReleaseProgram(program);
    return NULL;
}

static void to_file(cl_program program, const char *identity, const char *source)
{
    size_t size = 0;
    unsigned char *code;

    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || size == 0 ||
        !(code = malloc(size)))
        return;
    if (!clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof code, &code, NULL))
        cavs__device_cache_put(identity, source, code, size);
    free(code);
}

static void choose_flags(const struct cavs__device *d, char flags[FLAGS_SIZE])
{
    const char *more = getenv("CAVS_OPENCL_FLAGS");

    snprintf(flags, FLAGS_SIZE, "-cl-std=CL1.2 %s %s", d->is_cpu ? "-DON_CPU" : "",
             more ? more : "");
}

/* Where *rc is not CL_SUCCESS, the program is there for its log; NULL: there is none. */
static cl_program compile(const struct opencl *o, const char *source, const char *flags, cl_int *rc)
{
    cl_program program = clCreateProgramWithSource(o->context, 1, &source, NULL, rc);

    if (*rc == CL_SUCCESS)
        *rc = clBuildProgram(program, 1, &o->device, flags, NULL, NULL);
    return program;
}

static cl_program compile_now(struct cavs__device *d, const char *source, const char *flags)
{
    cl_int rc = CL_SUCCESS;
    cl_program program = compile(d->own, source, flags, &rc);

    if (rc == CL_SUCCESS)
        return program;
    if (program) {
        explain(d, d->own, program, rc);
        clReleaseProgram(program);
    } else {
        cavs__device_fail(d, "no program (%d)", rc);
    }
    return NULL;
}

static void *build(struct cavs__device *d, const char *source)
{
    char flags[FLAGS_SIZE], identity[FLAGS_SIZE + 2048];
    cl_program program;

    choose_flags(d, flags);
    identify(d->own, flags, identity, sizeof identity);
    program = from_file(d->own, identity, source);
    if (program) {
        d->cached++;
        return program;
    }
    program = compile_now(d, source, flags);
    if (program) {
        d->compiled++;
        to_file(program, identity, source);
    }
    return program;
}

static void compile_ahead(const struct cavs__device *d, const char *source)
{
    char flags[FLAGS_SIZE], identity[FLAGS_SIZE + 2048];
    cl_int rc = CL_SUCCESS;
    cl_program program;

    choose_flags(d, flags);
    identify(d->own, flags, identity, sizeof identity);
    if (cavs__device_is_cached(identity, source))
        return;
    program = compile(d->own, source, flags, &rc);
    if (rc == CL_SUCCESS)
        to_file(program, identity, source);
    if (program)
        clReleaseProgram(program);
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
    .build = build,
    .compile_ahead = compile_ahead,
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
