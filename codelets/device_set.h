/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_set.h - devices as everybody else sees them: one record of functions.
 *
 * The file that starts the runtime (core/run/start_devices.c) names the record that is in use,
 * which is that of codelets/device; no other file outside that folder includes its headers.
 *
 * Devices have numbers from 0 to CAVS__MAX_DEVICES, whatever kind they are of. Functions are called
 * by the main thread, except where it says so.
 */
#ifndef CAVS_CODELETS_DEVICE_SET_H
#define CAVS_CODELETS_DEVICE_SET_H

#include <stdbool.h>
#include <stdio.h>

#include <starpu.h>

#include "codelets/part.h"

enum {
    CAVS__MAX_DEVICES = 16,
    CAVS__FAILURES_TEXT = 4096,
    CAVS__UPDATE_FLOATS = 2048 /* scratch of an update or a norm, beside the rows that it sums */
};

struct cavs__device_facts {
    const char *name;
    uint32_t where; /* its kind, as in starpu_codelet::where */
    bool has_double;
    bool rounds; /* its products round operands to bfloat16 where the plan says so */
    uint32_t workers[(STARPU_NMAXWORKERS + 31) / 32]; /* as starpu_task::workerids */
    unsigned node;                                    /* of its memory, to StarPU */
    int64_t bytes; /* of memory that StarPU may use there; below 0: it does not say */
};

/* Kernels and products queued so far. */
struct cavs__launch_counts {
    int64_t all;
    /* How many segments tasks had, by the chain whose V_t they are, and how many launches these
     * took. */
    int64_t vt[CAVS__CHAINS], of_vt[CAVS__CHAINS];
};

/* What runs a task on a worker of a device: StarPU's function, whatever the kind of device. */
typedef void cavs__device_task(void *descr[], void *arg);

struct cavs__device_groups;
/* What a session has compiled for devices. */
struct cavs__device_texts {
    int nprograms, nsequences;
    struct cavs__ew_program **programs; /* fused groups that stand alone */
    struct cavs__sequence **sequences;
};

struct cavs__devices {
    /* ---- which there are ---- */
    uint32_t (*kinds)(void);    /* all that StarPU knows, as in starpu_codelet::where */
    int (*count)(void);         /* of devices that can be used */
    bool (*usable)(int number); /* by any thread; false: left out, or there is none */
    struct cavs__device_facts (*facts)(int number); /* of another than a usable one: zeros */
    bool (*takes_tasks)(int worker); /* by any thread; false: a CPU worker, or left out */

    /* ---- failures ---- */
    int (*failed)(void); /* devices that have failed so far */
    /* Has something failed since the last call?  Then the text says what, in whole lines; the
     * devices in question get no tasks from now on, and all tasks so far have been waited for. */
    bool (*failures)(char text[CAVS__FAILURES_TEXT]);

    /* ---- tasks: see task.h, update_task.h and lines_task.h for their arguments ---- */
    cavs__device_task *run_part, *run_update, *run_norm, *run_lines;
    /* Lets devices of these kinds run a codelet. */
    void (*implement)(struct starpu_codelet *cl, uint32_t where, cavs__device_task *run);
    /* How devices of one kind run a codelet; NULL: they do not. */
    cavs__device_task *(*implementation)(const struct starpu_codelet *cl, uint32_t where);
    /* Why the device cannot run all steps of a part, as a text for messages; NULL: it can. */
    const char *(*obstacle)(int number, const struct cavs__part *p);
    /* Floats of scratch for so many rows, whose lists have so many entries (by list of the
     * part). */
    size_t (*part_floats)(const struct cavs__part *p, int rows, const int32_t *entries);

    /* ---- fused groups and sequences ---- */
    bool (*launches_cost)(void);    /* on one of them at least: not on devices that are CPUs */
    bool (*group_fits)(int nviews); /* no device can launch one with more operands */
    /* The text of groups and sequences, as devices get it.  The caller frees it; NULL: out of
     * memory. */
    char *(*groups_text)(const struct cavs__device_texts *of);
    /* Compiles this text to the files in which groups_create() looks for it; any thread may call
     * this.  Where it cannot be compiled groups_create() says so. */
    void (*compile_ahead)(const char *text);
    /* Builds the kernels of groups and sequences on all devices at once; those that have kernels
     * already are dropped from the lists.  Programs and sequences refer to the result, so it is
     * freed after them.  It takes along what the session had before (NULL: nothing).  NULL: out of
     * memory, and `before` is as it was.  A device that cannot build them is left out. */
    struct cavs__device_groups *(*groups_create)(struct cavs__device_groups *before,
                                                 struct cavs__device_texts *of);
    void (*groups_destroy)(struct cavs__device_groups *g);

    /* ---- for people ---- */
    struct cavs__launch_counts (*launched)(void); /* on all devices */
    /* Launches of a part for so many rows, on the first device; 0: there is none. */
    int (*part_launches)(const struct cavs__part *p, int rows);
    void (*explain)(FILE *out); /* a line for each device */
};

extern const struct cavs__devices *cavs__devices;

/* device_set.c: gives a notice of each device that has been left out since it last did;
 * CAVS_ERUNTIME if they are required. */
int cavs__report_devices(bool require);

#endif
