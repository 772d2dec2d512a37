/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - devices: what all of them share, behind one table of functions for each kind
 * (driver.h).
 *
 *     backends.c      the kinds of devices: what StarPU and the options call them
 *     opencl.c        OpenCL's driver, and CLBlast if it is there
 *     cuda.c          CUDA's: cuBLAS on StarPU's streams; nvrtc.c compiles
 *     assumed.c       that of GPUs of simulated machines
 *     device.c        which devices there are, and what each worker has
 *     device_failures.c  which of them are left out
 *     launching.c     kernels, their arguments, and how many there were
 *     device_task.c   what their workers do with a task
 *     walk.c          the steps of a part, each over all rows of a segment
 *     device_kernels.c  the kernels of kernel.h: a launch each
 *     device_sums.c   but for sums of rows, of which many are two launches
 *     products.c      and for matrix products: by a library or by our kernel, which takes several;
 *                     products_choice.c: which of both; fused_products.c: what else it takes along
 *     device_update.c optimizers
 *     device_groups.c fused groups
 *     sequences.c     steps that are one launch, a group of items each vertex
 *     device_code.c   modules from source text, whose code is kept
 *     device_cache.c  what is kept in files
 *     source.c        the text of all kernels: dialect.cl, rows.cl, kernels.cl, products.cl, groups
 *     offer.c         what all others see: the record of codelets/device_set.h
 *
 * Only the file that starts the runtime (core/run/start_devices.c) includes this header from
 * outside. A device is used by its workers only, except where it says so. Kernels are queued in
 * order; a codelet returns when all its kernels are queued.
 */
#ifndef CAVS_CODELETS_DEVICE_H
#define CAVS_CODELETS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codelets/device/driver.h"
#include "codelets/device_set.h"
#include "codelets/kernels/kernel.h"

/* The kernels of kernels.cl and products.cl. */
#define CAVS__DEVICE_KERNELS(K)                                    \
    CAVS__ROW_KERNELS(K)                                           \
    K(copy_rows)                                                   \
    K(transpose)                                                   \
    K(gemm_tn)                                                     \
    K(column_sum)                                                  \
    K(sum_rows)                                                    \
    K(sum_pieces)                                                  \
    K(mask)                                                        \
    K(pick)                                                        \
    K(pick_grad)                                                   \
    K(dropout)                                                     \
    K(gemm_select)                                                 \
    K(gemm_tn_select)                                              \
    K(gemm_rows)                                                   \
    K(list_sum)                                                    \
    K(list_max)                                                    \
    K(list_max_grad)                                               \
    K(list_softmax)                                                \
    K(list_softmax_grad)                                           \
    K(list_share)                                                  \
    K(sparse_sum)                                                  \
    K(update)                                                      \
    K(sparse_update)                                               \
    K(products_narrow)                                             \
    K(products_short)                                              \
    K(products_tall)                                               \
    /* these compute in double, which an OpenCL device may lack */ \
    K(metric)                                                      \
    K(squares)                                                     \
    K(norm)                                                        \
    K(clip)

enum cavs__device_kernel {
#define CAVS__NUMBER(name) CAVS__DEVICE_##name,
    CAVS__DEVICE_KERNELS(CAVS__NUMBER)
#undef CAVS__NUMBER
        CAVS__DEVICE_COUNT,
    CAVS__DEVICE_IN_DOUBLE = CAVS__DEVICE_metric /* from here on */
};

/* struct cavs__view on a device: index and ptr are positions in the index buffer of the task, or
 * below 0. */
struct cavs__device_view {
    struct cavs__memory memory;
    int ld, index, ptr, cols;
};

struct cavs__device {
    const struct cavs__backend *backend;
    const struct cavs__driver *driver; /* of the backend */
    int number;                        /* among all */
    int id;                            /* StarPU's */
    char name[96];
    bool usable;      /* false: it has failed, and computes nothing from now on */
    bool left_out;    /* and gets no more tasks, which has been said */
    char reason[400]; /* the first failure */
    /* CUDA: what code is made for: cavs__nvrtc_architecture() */
    char architecture[32];
    size_t max_parameters;
    bool overlaps; /* CUDA: groups of a launch are sent before the one before has ended */
    bool has_double, is_cpu;
    int units; /* groups that run at the same time, at least */
    /* [rounded to bfloat16][several][some are rows by index] products of up to so many
     * multiplications are one launch; of more the library's: products.h. Where there is no library
     * that does not count. */
    double together[2][2][2];
    void *module, *kernels[CAVS__DEVICE_COUNT];
    void *own;            /* of opencl.c or cuda.c */
    int compiled, cached; /* modules made by the compiler, and from files */
};

/* ---- device.c ---- */

/* Finds the devices of StarPU's workers and builds their kernels; after starpu_init(). Which are
 * left out and why, cavs__devices_failures() says. */
void cavs__devices_open(void);
extern bool cavs__devices_tf32; /* products of CUDA devices may round operands to TF32 */
void cavs__devices_close(void); /* before starpu_shutdown() */
int cavs__devices_count(void);  /* usable ones */
int cavs__devices_found(const struct cavs__backend *b); /* of that kind, usable or not */
/* NULL: no device's, or one left out. */
struct cavs__device *cavs__device_of_worker(int worker);
struct cavs__device *cavs__device_at(int number);     /* NULL: none or left out */
struct cavs__device *cavs__device_opened(int number); /* NULL: there are not so many */
size_t cavs__devices_parameters(void); /* bytes of arguments that all of them take; 4096 at most */
bool cavs__device_takes_tasks(int worker);
void cavs__device_flush(struct cavs__device *d); /* after the launches of a task */
/* Runs a function on one worker of each usable device, or of each that was opened. */
void cavs__devices_each(void (*run)(struct cavs__device *d, void *arg), void *arg);
void cavs__devices_each_opened(void (*run)(struct cavs__device *d, void *arg), void *arg);

/* ---- device_failures.c ---- */

/* The device has failed; the first call says why. Its tasks are still taken, and do nothing, until
 * cavs__devices_failures() leaves it out: what has been submitted must end somewhere. */
void cavs__device_fail(struct cavs__device *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool cavs__devices_failures(
    char text[CAVS__FAILURES_TEXT]); /* see device_set.h; and the next ones */
int cavs__devices_failed(void);

extern const struct cavs__devices cavs__devices_offer; /* offer.c */

/* ---- device_task.c ---- */

cavs__device_task cavs__device_run_part, cavs__device_run_update, cavs__device_run_norm,
    cavs__device_run_lines;

/* ---- launching.c ---- */

/* What the calling worker has launched: nobody else writes there. */
struct cavs__launch_counts *cavs__launched_here(void);
struct cavs__launch_counts cavs__devices_launched(void);
void cavs__launches_forget(void); /* all of them; before the workers have anything to do */
void cavs__count_launch(void);    /* a kernel of cavs__launch(), or a product of a library */

void cavs__launch_kernel(struct cavs__launch *l, void *kernel, int64_t groups_x, int64_t groups_y,
                         int items);
/* Of kernels.cl, for n items or for groups. */
void cavs__launch_items(struct cavs__launch *l, struct cavs__device *d, enum cavs__device_kernel k,
                        int64_t n);
void cavs__launch_groups(struct cavs__launch *l, struct cavs__device *d, enum cavs__device_kernel k,
                         int64_t x, int64_t y, int items);
/* For rows of n numbers (TAKE_ROW of dialect.cl), of which an item takes so many at once; with
 * cavs__launch_rows() one where that would leave the device room for more items. The first
 * arguments are there: the index buffer, rows, n, lanes. */
enum {
    CAVS__NUMBERS = 4,       /* of rows.cl */
    CAVS__MANY = 16,         /* of kernels.cl */
    CAVS__LANES_AT_HAND = 5, /* of items that have each other's numbers without waiting */
    CAVS__ROW_ITEMS = 256,   /* of a group */
    CAVS__UNIT_ITEMS = 2048  /* that a unit of a GPU has room for */
};
/* The logarithm of how many items share a row of n numbers if each takes so many of them. */
int cavs__lanes(int64_t n, int numbers);
void cavs__launch_numbers(struct cavs__launch *l, void *kernel, void *index, int64_t rows,
                          int64_t n, int numbers);
void cavs__launch_rows(struct cavs__launch *l, struct cavs__device *d, void *kernel, void *index,
                       int64_t rows, int64_t n, int numbers);
/* For rows of n numbers, each of which the items of one group take: TAKE_WHOLE_ROW. No more of them
 * share a row than exchange numbers at once, unless each had to take more than CAVS__MANY. */
void cavs__launch_whole_rows(struct cavs__launch *l, void *kernel, void *index, int64_t rows,
                             int64_t n);
void cavs__argument_int(struct cavs__launch *l, int64_t value);
void cavs__argument_float(struct cavs__launch *l, float value);
void cavs__argument_pointer(struct cavs__launch *l, void *p);
void cavs__argument_memory(struct cavs__launch *l, struct cavs__memory m);
void cavs__argument_view(struct cavs__launch *l, const struct cavs__device_view *v);
int cavs__launch(struct cavs__device *d, const struct cavs__launch *l);

/* ---- device_kernels.c ---- */

/* One kernel of kernel.h over rows that lie in device memory. */
struct cavs__device_call {
    struct cavs__device *device;
    const struct cavs__call *call;
    int rows;
    const struct cavs__device_view *v;
    int nviews;
    unsigned flags;
    void *index;                           /* the index buffer */
    struct cavs__memory room;              /* cavs__device_room() floats a row */
    const struct cavs__sequence *sequence; /* that begins with it; NULL: none */
    int vertices, ptr; /* whose entries the rows are, and where their first ones are in the index
                          buffer; below 0: rows are vertices */
};
/* Queues the kernel. 0, or -1: the device has failed. */
int cavs__device_queue(const struct cavs__device_call *c);

/* Rows of one view to another, whose rows are not named by an index. */
int cavs__device_copy_rows(struct cavs__device *d, void *index, int rows,
                           const struct cavs__device_view *from,
                           const struct cavs__device_view *to);

/* How a device does what a kernel does, or why it does not; every kernel has one or the other. */
struct cavs__device_implementation {
    int (*queue)(const struct cavs__device_call *c); /* as cavs__device_queue() */
    bool needs_double;
    const char *why_not; /* queue is NULL: tasks with such a step run on CPUs only */
};
extern const struct cavs__device_implementation cavs__device_kernels[CAVS__KERNEL_COUNT];

/* Floats a row that the call needs besides its operands. scattered(i): operand i is not rows of
 * numbers at a fixed pitch. */
int cavs__device_room(const struct cavs__call *call, const int *cols, const bool *scattered);

/* ---- device_update.c: see update.h ---- */

struct cavs__update;
/* The gradient: dense arrays, or rows of arrays as cavs__update_sparse() has it, with the lists at
 * these places of `lists`. */
struct cavs__device_gradient {
    int ngrads;
    const struct cavs__memory *g;
    int ld;
    bool sparse;
    void *lists;
    int ids, ptr, source, row; /* positions in lists */
    int n;                     /* rows: of the parameter, or touched */
    int cols;
    struct cavs__memory room; /* of `floats` numbers */
    size_t floats;
};
struct cavs__device_param {
    int rows, ld, ldt;
    struct cavs__memory w, s0, s1, wt; /* wt.p NULL: none; it is written as a whole */
};
/* Gradients are clipped to a norm; n 0: they are not. */
struct cavs__device_clip {
    float norm;
    int n; /* numbers whose sum is the squared norm */
    struct cavs__memory norms;
};
int cavs__device_update(struct cavs__device *d, const struct cavs__update *u,
                        const struct cavs__device_gradient *g, const struct cavs__device_param *p,
                        const struct cavs__device_clip *clip);
int cavs__device_norm(struct cavs__device *d, const struct cavs__device_gradient *g,
                      struct cavs__memory norms, int number);

/* ---- device_groups.c ---- */

/* See device_set.h. */
struct cavs__device_groups *cavs__device_groups_create(struct cavs__device_groups *before,
                                                       struct cavs__device_texts *of);
void cavs__device_compile_ahead(const char *text);
void cavs__device_groups_destroy(struct cavs__device_groups *g);
/* The kernel of a program; NULL: not there. */
void *cavs__device_group(const struct cavs__ew_program *p, const struct cavs__device *d);
void *cavs__device_sequence_kernel(const struct cavs__sequence *q, const struct cavs__device *d);
/* Bytes of arguments that a group of so many views takes. */
size_t cavs__device_group_bytes(int nviews);

/* ---- device_cache.c ---- */

/* What was made or measured of a text, on what `identity` names: device, compiler, options. To be
 * freed; NULL: there is none. */
void *cavs__device_cache_get(const char *identity, const char *source, size_t *size);
bool cavs__device_cache_has(const char *identity, const char *source);
void cavs__device_cache_put(const char *identity, const char *source, const void *data,
                            size_t size);

/* ---- device_code.c ---- */

/* A module made of source text; NULL after cavs__device_fail(). */
void *cavs__device_build(struct cavs__device *d, const char *source);
/* Makes the code that cavs__device_build() then finds in a file, if that can be; by any thread. */
void cavs__device_build_ahead(const struct cavs__device *d, const char *source);

/* ---- source.c ---- */

extern const char cavs__device_kernels_text[]; /* with the dialect before it */
extern const char *const cavs__device_kernel_names[CAVS__DEVICE_COUNT];
/* Whose kernel each of them has, groups first, then sequences: the first one's of those whose
 * texts are equal. 0, or -1: out of memory. */
int cavs__device_find_equal(const struct cavs__device_texts *of, int *first);
/* Functions group0, group1 .. and sequence0 .., of equal ones the first: see device_set.h. */
char *cavs__device_groups_text(const struct cavs__device_texts *of);

#endif
