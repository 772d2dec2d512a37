/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - what a kind of device brings: how it is asked for, and how it is used. */
#ifndef CAVS_CODELETS_DRIVER_H
#define CAVS_CODELETS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codelets/device_set.h"

/* Memory of a device: `p` is a cl_mem or an address, `at` the floats before the first number. */
struct cavs__memory {
    void *p;
    int64_t at;
};

enum { CAVS__MAX_ARGUMENTS = 700 };

/* A kernel with its arguments. */
struct cavs__launch {
    void *kernel;
    size_t groups[2], items; /* work-groups, and work-items in one */
    int nargs;
    struct cavs__argument {
        size_t size;
        union {
            void *p;
            int64_t l;
            int32_t i;
            float f;
        } value;
    } argument[CAVS__MAX_ARGUMENTS];
};

/* c (m, n) = or += a b, or a^T b, of rows at these pitches. */
struct cavs__product {
    bool transposed, accumulate;
    bool bf16; /* a device that can rounds operands to bfloat16 */
    int m, n, k, lda, ldb, ldc;
    struct cavs__memory a, b, c;
};

struct cavs__device;

/* What a compiler or a driver says of code that it does not take. */
struct cavs__complaint {
    char text[400];
};

/* How devices of one kind are used. All functions are called by a worker of the device; those that
 * return int return 0, or -1 after cavs__device_fail(). */
struct cavs__driver {
    const char *products; /* the library of gemm */
    int (*count)(void);   /* of devices, before StarPU starts; NULL: it cannot be said then */
    /* Once, by the main thread. NULL: there is nothing to do; so with stop and close. */
    void (*start)(void);
    void (*stop)(void);
    int (*open)(struct cavs__device *d);
    void (*close)(struct cavs__device *d);
    /* What code depends on besides its text: device, compiler, options. By any thread. */
    void (*identify)(const struct cavs__device *d, char *to, size_t size);
    /* Code made of source text, to be freed; NULL, and why: the compiler refuses it. By any
     * thread. */
    void *(*compile)(const struct cavs__device *d, const char *source, size_t *size,
                     struct cavs__complaint *why);
    /* A module of code; NULL, and why: it cannot be loaded. And a kernel of a module; NULL after
     * cavs__device_fail(). */
    void *(*load)(struct cavs__device *d, const void *code, size_t size,
                  struct cavs__complaint *why);
    void *(*find)(struct cavs__device *d, void *module, const char *name);
    void (*unload)(struct cavs__device *d, void *module, int nkernels, void *const *kernels);
    int (*launch)(struct cavs__device *d, const struct cavs__launch *l);
    void (*flush)(struct cavs__device *d); /* after the launches of a task; NULL: they start */
    int (*finish)(struct cavs__device *d); /* waits for all launches */
    /* Memory of so many bytes with this content, NULL: there is none. */
    void *(*allocate)(struct cavs__device *d, size_t bytes, const void *content);
    void (*release)(struct cavs__device *d, void *memory);
    /* Products by the device's library; false: there is none. */
    bool (*has_gemm)(const struct cavs__device *d);
    int (*gemm)(struct cavs__device *d, const struct cavs__product *p);
    bool rounds; /* it can, to bfloat16 */
};

struct cavs_runtime_options; /* core/cavs.h */

/* A kind of device: what it is to StarPU and in the options of the runtime, and its driver. */
struct cavs__backend {
    const char *name;
    uint32_t where; /* in starpu_codelet::where */
    enum starpu_worker_archtype worker;
    const struct cavs__driver *driver; /* NULL: built without */
    /* How many devices are asked for; -1: all. */
    int (*asked)(const struct cavs_runtime_options *o);
    const char *hint;  /* for who finds fewer than asked for */
    const char *given; /* the variable by which launchers say which a process sees, or NULL */
    /* What StarPU must know of it before it starts: its configuration and environment.  `driver` is
     * the one above.  Of `all` ranks on this machine that see the same devices, this is number
     * `here`.  Returns how many there will be; -1: all, whose number cannot be said yet. */
    int (*prepare)(const struct cavs__driver *driver, int asked, int here, int all,
                   struct starpu_conf *conf);
    /* Lets such devices run a codelet. */
    void (*implement)(struct starpu_codelet *cl, cavs__device_task *run);
    cavs__device_task *(*implementation)(const struct starpu_codelet *cl); /* that they run it by */
    /* Where a matrix that StarPU hands over is. */
    struct cavs__memory (*memory)(void *descr);
};
extern const struct cavs__backend cavs__backends[];
extern const int cavs__backends_count;

/* What backends.c names, of those that are built. */
extern const struct cavs__driver cavs__opencl, cavs__cuda, cavs__simulated_device;

#endif
