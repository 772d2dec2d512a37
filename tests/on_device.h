/* SPDX-License-Identifier: Apache-2.0 */
/*
 * on_device.h - kernels on a device, from operands in main memory: what tests use to put a
 * device in the place of the CPU.
 */
#ifndef CAVS_TESTS_ON_DEVICE_H
#define CAVS_TESTS_ON_DEVICE_H

#include <stdbool.h>

#include "codelets/device/driver.h"
#include "codelets/kernels/kernel.h"

/* Lets StarPU take PoCL's CPU as an OpenCL device, and check itself; before StarPU starts. */
void on_device_environment(void);
/* CAVS_TEST_DEVICE=cuda in the environment: the tests are of a CUDA device, not of an OpenCL
 * one. */
bool on_device_cuda(void);
/* StarPU with one device; false: there is none. */
bool on_device_up(void);
void on_device_down(void);

/* Copies the operands to the device, runs, and copies all of them back.  A fused group must have
 * been compiled for devices. */
void on_device_run(const struct cavs__call *call, int rows, const struct cavs__view *v,
                   unsigned flags);
/* The same where the copies begin `at` numbers into their memory. */
void on_device_run_at(int at, const struct cavs__call *call, int rows, const struct cavs__view *v,
                      unsigned flags);
/* The same for n calls of "gemm" in one launch, with these tiles (CAVS__TILES_...); three views of
 * each. */
void on_device_products(int tiles, int n, const struct cavs__call *calls, int rows,
                        const struct cavs__view *v);

/* Anything else that is queued on numbers and on an index, of which copies are on the device; the
 * numbers are copied back. */
typedef int on_device_queue(struct cavs__device *d, struct cavs__memory numbers,
                            struct cavs__memory index, void *arg);
void on_device_do(on_device_queue *queue, void *arg, float *numbers, size_t n, const int32_t *index,
                  size_t nindex);

#endif
