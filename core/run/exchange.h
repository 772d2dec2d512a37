/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - the gradients of all ranks made one, so that every rank updates its parameters by
 * the same numbers.
 *
 * Partial gradients are added up in the order of their chunks, as one process does: each rank has
 * consecutive ones, adds them to the sum of the ranks before, and sends that to the next.  The last
 * one has the whole sum, which goes back the same way.  So the bits do not depend on how many ranks
 * there are, and what all send is what any way of adding up takes at least: twice the parameters
 * for each rank but one.  Of looked-up parameters only touched rows travel, in the order in which
 * they are touched.
 *
 *   deal.c           shards -> ranks
 *   exchange.c       parcels: parameters that travel together; and what is agreed on for a batch
 *   exchange_rows.c  touched rows
 */
#ifndef CAVS_CORE_RUN_EXCHANGE_H
#define CAVS_CORE_RUN_EXCHANGE_H

#include "codelets/sum_task.h"
#include "core/ranks/ranks.h"
#include "core/run/engine.h"

/* Numbers that travel in one message: memory, and the handle that tasks know it by. */
struct cavs__block {
    float *p;
    size_t room, n; /* floats */
    starpu_data_handle_t handle;
};

/* Parameters whose gradients travel together. */
struct cavs__parcel {
    struct cavs__block sum;
};

/* The touched rows of a looked-up parameter in one slot. */
struct cavs__rows {
    struct cavs__block before, sum, all; /* of ranks before; with this one; of all */
    int32_t *lists;                      /* of this rank: what cavs__list_touched() gives */
    int64_t list_room;
    int32_t *place; /* [own rows] where they are among those of all */
    size_t place_room;
    int old, upto;              /* rows that the ranks before touch, and they with this one */
    struct cavs__touched whole; /* of all ranks: each row has one gradient */
};

struct cavs__exchange {
    struct cavs__engine *e;
    struct cavs__ranks *ranks;
    struct starpu_codelet sum_codelet;
    int nparcels;
    struct cavs__parcel *parcels;
    int *parcel_of; /* [nstored] -1: none */
    size_t *at;     /* [nstored] where in its parcel */
    int ntables;    /* looked-up parameters that are trained */
    const struct cavs_param **tables;
    struct cavs__rows (*rows)[CAVS__SLOTS]; /* [ntables] */
    int *rank_of;                           /* [nshards] of the batch at hand */
    int nsharing, *sharing;                 /* ranks that have shards of it, ascending */
    int32_t *mine, *theirs;                 /* lists of touched rows, to tell one another */
    size_t mine_room, theirs_room;
    int64_t *lengths; /* [ranks] */
};

/* NULL in *out where the process is alone. */
int cavs__exchange_create(struct cavs__engine *e, struct cavs__exchange **out);
void cavs__exchange_free(struct cavs__exchange *x);

/* A batch has been cut into shards: those of other ranks become empty here. */
int cavs__exchange_deal(struct cavs__exchange *x, struct cavs__batch *b);
/* The batch is prepared, or not (rc): all ranks agree, and learn which rows are touched.  lists:
 * [nstored], where those of all are put for the update. */
int cavs__exchange_meet(struct cavs__exchange *x, struct cavs__batch *b, int slot,
                        struct cavs__tensor *lists, int rc);
/* After the tasks of the batch: the sums, and what carries them. */
int cavs__submit_exchange(struct cavs__exchange *x, const struct cavs__batch *b, int slot);
/* The handle of the gradient of all ranks, with *at: where in it that of p begins. */
starpu_data_handle_t cavs__exchanged(const struct cavs__exchange *x, const struct cavs_param *p,
                                     int slot, size_t *at);
/* Of a looked-up parameter: which rows. */
const struct cavs__touched *cavs__exchanged_rows(const struct cavs__exchange *x,
                                                 const struct cavs_param *p, int slot);
/* When no task uses it any more: its numbers, rows without gaps. */
const float *cavs__exchanged_numbers(const struct cavs__exchange *x, const struct cavs_param *p,
                                     int slot);

/* All tasks of the batch are submitted, or it failed. */
void cavs__rows_forget(struct cavs__exchange *x, int slot);

/* ---- between the files ---- */

/* deal.c: rank_of[shard], for ranks [ranks]. */
void cavs__deal(const struct cavs__engine *e, const struct cavs__batch *b, int ranks, int *rank_of);

/* exchange.c */
int cavs__block_reserve(struct cavs__block *k, size_t n);
void cavs__block_register(struct cavs__block *k, size_t n);
/* This rank's place among those that share in the batch; -1: it has no shard. */
int cavs__place_of(const struct cavs__exchange *x);
int cavs__carry(struct cavs__exchange *x, int slot, starpu_data_handle_t handle, int to, int from,
                int64_t tag);
/* Where the whole sum comes from, and where it goes to; -1: nowhere. */
void cavs__way_back(const struct cavs__exchange *x, int *from, int *to);

/* exchange_rows.c */
int cavs__rows_create(struct cavs__exchange *x);
void cavs__rows_free(struct cavs__exchange *x);
int cavs__rows_list(struct cavs__exchange *x, const struct cavs__batch *b, int slot);
int cavs__rows_merge(struct cavs__exchange *x, struct cavs__batch *b, int slot,
                     struct cavs__tensor *lists);
int cavs__rows_receive(struct cavs__exchange *x, int slot);
int cavs__rows_sum(struct cavs__exchange *x, const struct cavs__batch *b, int slot);
int cavs__rows_send(struct cavs__exchange *x, int slot);

#endif
