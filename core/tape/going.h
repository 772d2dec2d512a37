/* SPDX-License-Identifier: Apache-2.0 */
/* going.h - an increment on its way from symbols that are wanted to tasks: increments.c. */
#ifndef CAVS_CORE_TAPE_GOING_H
#define CAVS_CORE_TAPE_GOING_H

#include "core/tape/tape.h"

/* One increment of a tape, on all shards. */
struct cavs__going {
    struct cavs_tape *t;
    struct cavs__engine *e;
    struct cavs__exchange *x; /* NULL: the process is alone */
    int slot;
    bool gradients, update;
    bool awaited; /* the caller waits for it */
    bool fresh;   /* there is something to evaluate, here or at another rank */
};

/* ---- fill.c ---- */

/* Makes room for all that tasks read and write, and writes what they read: of all increments where
 * gradients are computed, else of the newest alone. */
int cavs__fill(struct cavs__going *g);

/* ---- increment_devices.c ---- */

/* Tells the homes of shards how much work they get, and makes room for the scratch of devices. */
int cavs__prepare_increment_devices(struct cavs__going *g);

/* ---- submit_increment.c ---- */

enum cavs__run cavs__run_of_going(const struct cavs__going *g);
/* Prepares all that the tasks of an increment read and write.  All ranks go on, or none. */
int cavs__prepare_increment(struct cavs__going *g);
int cavs__submit_increment(struct cavs__going *g);

#endif
