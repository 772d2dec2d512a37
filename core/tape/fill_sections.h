/* SPDX-License-Identifier: Apache-2.0 */
/* fill_sections.h - what tasks read of a V_t: lines of rows, ids, lists, keys of noise. */
#ifndef CAVS_CORE_TAPE_FILL_SECTIONS_H
#define CAVS_CORE_TAPE_FILL_SECTIONS_H

#include "core/tape/tape.h"

/* The index of a shard being written. */
struct cavs__filling {
    struct cavs_tape *t;
    const struct cavs__increment *d;
    int32_t *index;
    float *given;         /* where rows go that the user gave; NULL: tasks have read them before */
    int32_t given_so_far; /* lines */
    uint64_t batch;       /* of dropout's keys; 0: nothing is dropped */
};

/* Writes the sections of a V_t of w->d. */
void cavs__fill_vt(struct cavs__filling *w, const struct cavs__vt *vt);

#endif
