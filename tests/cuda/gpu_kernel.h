/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_kernel.h - what the launcher (gpu_kernels.c) and a compiled text (dialect.h) share, in C and
 * C++.
 */
#ifndef CAVS_TESTS_CUDA_GPU_KERNEL_H
#define CAVS_TESTS_CUDA_GPU_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* What a text says of a kernel: the table `gpu_kernels` has one for each. */
struct gpu_kernel {
    const char *name;
    int items, arguments; /* threads of a block; of the function */
    const uint16_t *sizes;
    const bool *pointers;
    void (*run)(void **arguments);
};
/* Threads of a block as a text sees them; each module has its own. */
struct gpu_place {
    unsigned thread, block[2], blocks[2], items;
    unsigned waited; /* so many of the block, for the launch before */
    void (*barrier)(int line);
    char *shared, *shared_end;
};

#endif
