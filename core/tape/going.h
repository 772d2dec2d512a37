/* SPDX-License-Identifier: Apache-2.0 */
/* going.h - an increment on its way from symbols that are wanted to tasks: increments.c. */
#ifndef CAVS_CORE_TAPE_GOING_H
#define CAVS_CORE_TAPE_GOING_H

#include "core/tape/tape.h"

/* One go. */
struct cavs__going {
    struct cavs_tape *t;
    struct cavs__engine *e;
    struct cavs__exchange *x; /* NULL: the process is alone */
    int slot;
    bool gradients, update;
    bool fresh; /* there is something to evaluate, here or at another rank */
};

/* ---- fill.c ---- */

/* Room for all that tasks write and read, and what they read: with gradients of all increments,
 * else of the newest. */
int cavs__fill(struct cavs__going *g);

/* ---- increment_devices.c ---- */

/* What the homes of shards have to do, and scratch for it. */
int cavs__prepare_increment_devices(struct cavs__going *g);

/* ---- submit_increment.c ---- */

enum cavs__run cavs__run_of_going(const struct cavs__going *g);
/* What tasks read, and room for what they write: all ranks go on, or none. */
int cavs__prepare_increment(struct cavs__going *g);
int cavs__submit_increment(struct cavs__going *g);

#endif
