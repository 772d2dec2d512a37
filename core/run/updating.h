/* SPDX-License-Identifier: Apache-2.0 */
/*
 * updating.h - the update of one batch while its tasks are made; for the two files that do so.
 *
 *     make_updates.c     one task: what it reads and writes
 *     submit_updates.c   which tasks there are, and in which order they are submitted
 */
#ifndef CAVS_CORE_RUN_UPDATING_H
#define CAVS_CORE_RUN_UPDATING_H

#include "core/run/optimizer.h"

/* The update of one batch. */
struct cavs__updating {
    struct cavs__optimizer *o;
    struct cavs__engine *e;
    const struct cavs__batch *b;
    int slot;
    const struct cavs__share *share; /* that tasks are made for; NULL: all of the parameter */
    int n; /* tasks, all made before the first is submitted: it happens to all parameters or none */
    int nnorms;   /* so many of them, the first ones, are norms */
    double bytes; /* bytes of parameters and states that they read and write */
    struct starpu_task **tasks;
};

/* The rows that are updated of a parameter whose gradient is one of looked-up rows alone; NULL: its
 * gradient is dense, and all rows are updated. */
const struct cavs__touched *cavs__sparse_rows(const struct cavs__updating *u,
                                              const struct cavs_param *p);
/* May tasks write different numbers of one block at the same time, between two fences? */
bool cavs__updates_side_by_side(const struct cavs__engine *e);

/* Each of these adds a task to u->tasks; 0 or a code. */
/* The norm of a parameter's gradient. */
int cavs__make_norm_task(struct cavs__updating *u, const struct cavs_param *p);
/* The update of rows first .. first+rows-1.  mode: of what other pieces write, too, or nobody
 * else. */
int cavs__make_update_piece(struct cavs__updating *u, const struct cavs_param *p, int first,
                            int rows, enum starpu_data_access_mode mode);
/* A fence around pieces of the update of p; NULL: around the norms. */
int cavs__make_update_fence(struct cavs__updating *u, const struct cavs_param *p);

#endif
