/* SPDX-License-Identifier: Apache-2.0 */
/* cudriver.c - the functions of CUDA's driver that the library looks up. */
#include "tests/cuda/gpu.h"

#include <elf.h>
#include <string.h>

#include <cuda.h>

/* Of a shared object: its table of sections comes last. */
static size_t image_bytes(const void *image)
{
    const Elf64_Ehdr *head = image;

    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
        return 0;
    return head->e_shoff + (size_t)head->e_shentsize * head->e_shnum;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    size_t bytes = image_bytes(image);

    *module = bytes ? (CUmodule)gpu_module_load(gpu_current(), image, bytes) : NULL;
    return *module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

CUresult cuModuleUnload(CUmodule module)
{
    gpu_module_unload((struct gpu_module *)module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name)
{
    *f = (CUfunction)gpu_module_find((struct gpu_module *)module, name);
    return *f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* Whether the kernel may begin before the launch before has ended: then it has to wait itself. */
static bool overlaps(const CUlaunchConfig *c)
{
    if (c->numAttrs > 1 ||
        (c->numAttrs == 1 && c->attrs->id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION))
        gpu_complain("a launch has attributes that are not known here");
    return c->numAttrs == 1 && c->attrs->value.programmaticStreamSerializationAllowed;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **arguments, void **extra)
{
    struct gpu_function *function = (struct gpu_function *)f;
    int device = gpu_function_device(function);
    const char *why;

    if (gpu_comes(&gpu_options()->lost))
        gpu_lose(device);
    if (gpu_lost(device))
        return CUDA_ERROR_LAUNCH_FAILED;
    if (gpu_comes(&gpu_options()->launch_fails))
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (c->sharedMemBytes || extra || device != gpu_current())
        gpu_complain("a launch with shared memory, with extras, or on another device");
    why = gpu_launch(function, (unsigned[3]){c->gridDimX, c->gridDimY, c->gridDimZ},
                     (unsigned[3]){c->blockDimX, c->blockDimY, c->blockDimZ}, overlaps(c),
                     (struct gpu_stream *)c->hStream, arguments);
    if (why)
        fprintf(stderr, "stand-in GPU: a launch of %u x %u x %u blocks of %u threads: %s\n",
                c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, why);
    return why ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult rc, const char **text)
{
    *text = rc == CUDA_SUCCESS                         ? "no error"
            : rc == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ? "too many resources requested for launch"
            : rc == CUDA_ERROR_LAUNCH_FAILED           ? "unspecified launch failure"
            : rc == CUDA_ERROR_INVALID_VALUE           ? "invalid argument"
            : rc == CUDA_ERROR_INVALID_IMAGE           ? "device kernel image is invalid"
                                                       : "some other error";
    return CUDA_SUCCESS;
}
