/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_model.h - StarPU's performance models: how long a task of a kind takes.
 *
 * Histories: StarPU adds up the times of tasks that are alike.  Schedulers like dmda place tasks by
 * them, and a simulated machine (doc/scaling.md) needs as long for a task as they say.  Where
 * nobody asks for them tasks have none: StarPU would read the files of all in the first batch.
 */
#ifndef CAVS_CODELETS_TASK_MODEL_H
#define CAVS_CODELETS_TASK_MODEL_H

#include <starpu.h>
#include <stdbool.h>

/* A task on a device: kernels that are launched one after the other, and what they do together. */
struct cavs__device_work {
    double launches, flops, bytes; /* of products; that are read and written */
};

/* Tasks with the same footprint are alike. size: what a task is worth, in nanoseconds of a nominal
 * core, so that times of sizes that were never seen follow from those that were. */
struct cavs__task_measure {
    uint32_t (*footprint)(struct starpu_task *task);
    size_t (*size)(struct starpu_task *task, unsigned implementation);
    /* What it is for a device, for simulated ones. NULL: no device runs it. */
    struct cavs__device_work (*device_work)(struct starpu_task *task);
};

/* Whether somebody asks for models, as is supposed until this is called.  For codelets that are
 * made later. */
void cavs__task_models_wanted(bool wanted);

/* The model of that name.  StarPU keeps pointers to the models that it has seen and writes them out
 * when it shuts down, so models outlive sessions: there is one per name, made at first mention and
 * never freed. NULL (no model) where none is wanted, or when out of memory. */
struct starpu_perfmodel *cavs__task_model(const char *name,
                                          const struct cavs__task_measure *measure);

/* Sizes to within a quarter, or an eighth: tasks differ, and a history needs several of each
 * size. */
uint32_t cavs__size_class(uint64_t size);

/* What a task is for a device, if its model says so. */
struct cavs__device_work cavs__task_device_work(struct starpu_task *task);

#ifdef CAVS_SIMULATED
/* simulated_time.c: makes the model give what the history of its name says. */
void cavs__simulate_model(struct starpu_perfmodel *model, const struct cavs__task_measure *measure);
/* Sets what a CPU worker, and a device, spends on each task besides the task's own work, in
 * microseconds. */
void cavs__simulate_overhead(double us, double device_us);
#endif

#endif
