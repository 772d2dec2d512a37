/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assumed.c - the driver of GPUs of a simulated machine: nothing is compiled or launched.
 *
 * StarPU with SimGrid does not run tasks, so all that is left is to answer as a device would that
 * can do everything.  How long tasks take there, codelets/simulated_time.c says.
 */
#include "codelets/device/device.h"

#ifdef CAVS_SIMULATED

#include <stdio.h>
#include <stdlib.h>

/* What modules and kernels are here: something that is not NULL. */
static int nothing;

static int open_device(struct cavs__device *d)
{
    snprintf(d->name, sizeof d->name, "simulated GPU");
    d->has_double = true;
    d->units = 1;
    d->max_parameters = 4096;
    return 0;
}

static void identify(const struct cavs__device *d, char *to, size_t size)
{
    snprintf(to, size, "%s", d->name);
}

static void *compile(const struct cavs__device *d, const char *source, size_t *size,
                     struct cavs__complaint *why)
{
    void *code = calloc(1, *size = 1);

    (void)d;
    (void)source;
    if (!code)
        snprintf(why->text, sizeof why->text, "out of memory");
    return code;
}

static void *load(struct cavs__device *d, const void *code, size_t size,
                  struct cavs__complaint *why)
{
    (void)d;
    (void)code;
    (void)size;
    (void)why;
    return &nothing;
}

static void *find(struct cavs__device *d, void *module, const char *name)
{
    (void)d;
    (void)name;
    return module;
}

static void unload(struct cavs__device *d, void *module, int nkernels, void *const *kernels)
{
    (void)d;
    (void)module;
    (void)nkernels;
    (void)kernels;
}

static bool has_gemm(const struct cavs__device *d)
{
    (void)d;
    return true;
}

const struct cavs__driver cavs__simulated_device = {.products = "none",
                                                    .open = open_device,
                                                    .identify = identify,
                                                    .compile = compile,
                                                    .load = load,
                                                    .find = find,
                                                    .unload = unload,
                                                    .has_gemm = has_gemm};

#endif
