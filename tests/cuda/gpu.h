/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - GPUs that are none: what the stand-ins for NVIDIA's libraries in this folder share.
 *
 *     gpu_options.c   $CAVS_STAND_IN: how many, how large, which faults; complaints; the report
 *     gpu_memory.c    memory of a device, which traps when the host touches it
 *     gpu_streams.c   streams, events, and the thread of a device that works them off late
 *     gpu_copies.c    copies, pinned memory
 *     gpu_kernels.c   launches: blocks one after the other, their threads as fibers
 *     cudart.c cudriver.c cublas*.c cusolvers.c cunvrtc.c    NVIDIA's functions, by these
 *     dialect.h       what makes C++ of CUDA's text
 *     gpu_kernel.h    what such a text and the launcher share
 *     wrong.c         does one thing wrong, to see that it is noticed
 *     build           makes the libraries; run: runs a command on them
 *
 * What a program does wrong (memory freed under a kernel, a copy outside of an allocation) is a
 * complaint, which ends the process with a message.  What may go wrong on a GPU is an error code.
 */
#ifndef CAVS_TESTS_CUDA_GPU_H
#define CAVS_TESTS_CUDA_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/cuda/gpu_kernel.h"

enum { GPU_MOST = 8 };

/* ---- gpu_options.c ---- */

/* A fault with the number of the call that it comes at, from 1; 0: never. */
struct gpu_fault {
    long at;
    bool lasting; /* and at all later ones: "5+" */
    long seen;
};
struct gpu_options {
    int devices;
    size_t memory[GPU_MOST]; /* bytes */
    unsigned seed;
    int late;                      /* microseconds that an operation may wait */
    int slow[GPU_MOST];            /* microseconds that each takes more */
    struct gpu_fault malloc_fails; /* cudaMalloc(): out of memory */
    struct gpu_fault launch_fails; /* cuLaunchKernelEx() */
    struct gpu_fault product_fails;
    struct gpu_fault lost;   /* the device of this launch, of all devices', is gone from then on */
    const char *check_nvrtc; /* NVIDIA's own, which has to take all texts, too; NULL: none */
    const char *report;      /* a file for gpu_counts; NULL: none */
};
const struct gpu_options *gpu_options(void);
/* Whether it comes now. */
bool gpu_comes(const struct gpu_fault *fault);
_Noreturn void gpu_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What was done, for the report: a line each, "name number". */
struct gpu_counts {
    long launches, products, products_tf32, products_bf16;
    long copies_up, copies_down, copies_peer, unpinned_up, unpinned_down;
    long bytes_up, bytes_down;
    long copies_waited; /* by calls that return when all is copied */
    long waits;         /* for a stream, an event or a device, by calls that return then */
    long allocations, frees, texts, modules, host_allocations;
    long most_bytes[GPU_MOST], bytes[GPU_MOST], blocks[GPU_MOST]; /* of each device */
};
extern struct gpu_counts gpu_counts;
void gpu_count(long *counter, long n);

/* ---- gpu_memory.c ---- Addresses of devices are different from all others. */

/* NULL: does not fit. */
void *gpu_allocate(int device, size_t bytes);
/* false: nothing begins there. */
bool gpu_release(void *p);
void gpu_release_all(int device);
size_t gpu_free_bytes(int device);
/* Which device's memory p is, or -1. */
int gpu_device_of(const void *p);
/* Whether these bytes are in one allocation of that device. */
bool gpu_is_allocated(int device, const void *p, size_t bytes);
/* Where the device, and nobody else, reads and writes what is at p. */
void *gpu_inside(const void *p);

/* ---- gpu_streams.c ---- */

struct gpu_stream;
struct gpu_event;
/* Work: run(op) on the device's thread; freed after it. */
struct gpu_op {
    void (*run)(struct gpu_op *op);
    struct gpu_op *next;
    int device;
    uint64_t number; /* in the order in which all were issued */
    int64_t due;
};
/* size: of the whole structure that begins with the operation; zeroed. */
void *gpu_op(size_t size, void (*run)(struct gpu_op *op));
/* stream NULL: the default stream of the device. */
void gpu_issue(int device, struct gpu_stream *stream, void *op);
struct gpu_stream *gpu_stream_create(int device, bool blocking);
void gpu_stream_destroy(struct gpu_stream *s);
int gpu_stream_device(const struct gpu_stream *s);
bool gpu_stream_done(int device, struct gpu_stream *s);
void gpu_stream_wait(int device, struct gpu_stream *s);
void gpu_wait(int device);
/* Whether the device has nothing left to do. */
bool gpu_idle(int device);
void gpu_reset(int device);
struct gpu_event *gpu_event_create(void);
void gpu_event_destroy(struct gpu_event *e);
void gpu_event_record(struct gpu_event *e, int device, struct gpu_stream *s);
bool gpu_event_done(struct gpu_event *e);
void gpu_event_wait(struct gpu_event *e);
/* A device that is lost does nothing more; whether it is. */
void gpu_lose(int device);
bool gpu_lost(int device);
int64_t gpu_now(void); /* microseconds */
/* The device that the calling thread has chosen. */
int gpu_current(void);
void gpu_choose(int device);

/* ---- gpu_copies.c ---- */

/* height rows of so many bytes, each pitch after the one before it. */
struct gpu_copy {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
};
/* Up, down or between devices, as the addresses say.  false: between two places of the host, or
 * outside of what is allocated. */
bool gpu_copy(int device, struct gpu_stream *s, const struct gpu_copy *c);
void gpu_fill(int device, struct gpu_stream *s, void *to, int byte, size_t bytes);
void gpu_pin(const void *p, size_t bytes);
bool gpu_unpin(const void *p);

/* ---- gpu_kernels.c ---- */

struct gpu_module;
struct gpu_module *gpu_module_load(int device, const void *image, size_t bytes);
void gpu_module_unload(struct gpu_module *m);
struct gpu_function; /* a kernel of a module */
struct gpu_function *gpu_module_find(struct gpu_module *m, const char *name);
/* NULL, or what is wrong with such a launch. overlaps: the kernel waits for what is before it. */
const char *gpu_launch(struct gpu_function *f, const unsigned blocks[3], const unsigned items[3],
                       bool overlaps, struct gpu_stream *s, void **arguments);
int gpu_function_device(const struct gpu_function *f);
/* Copies of a launch's arguments, as it takes them. */
void **gpu_arguments_copy(const struct gpu_function *f, void **arguments);
void gpu_arguments_free(void **copy);

#endif
