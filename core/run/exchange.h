/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - what the ranks of a run send to one another with each batch, so that all have the
 * same parameters after it.
 *
 * A parameter that is multiplied has an owner, a rank that updates it and keeps what the optimizer
 * has of it; one that would keep its owner's link busy for long is cut by rows, and each part has
 * one.  The others send their sums of partial gradients there; it adds them up, updates, and
 * sends the new values to all.  Partial gradients are added up in pairs (codelets/update.h), and
 * each rank has consecutive ones, so most send one sum, and the bits do not depend on how many
 * ranks there are.  That takes twice the parameters for each rank but one, which is the least that
 * any way of adding up takes.
 *
 * Of looked-up parameters only touched rows travel, and everybody updates all of them, since other
 * batches touch others.  The gradients of a row are added up in the order of the batch.  A row that
 * several ranks touch has an owner among them: the first of them sends it what it has added up,
 * others each gradient apart, and it adds all up.  Where that would be too many, since a row occurs
 * again and again, its sum goes from one rank to the next, and the last has it.  Who has the sum of
 * a row sends it to all.  Of two ranks that have a gradient each of a row, both send it, and both
 * add up: nobody waits for a sum.
 *
 *   deal.c              shards -> ranks; which sums a rank makes
 *   exchange.c          life; what is agreed on for a batch, its tasks; norms
 *   exchange_messages.c  numbers that travel, and their tags
 *   exchange_pace.c     how fast the ranks are
 *   exchange_shares.c   who owns what
 *   exchange_parcels.c  what of it travels together
 *   exchange_sums.c     gradients -> owners
 *   exchange_values.c   owners -> values everywhere
 *   exchange_lists.c    which rows are touched
 *   exchange_routes.c   where they are added up
 *   exchange_row_sums.c the tasks that do
 *   exchange_rows.c     their messages
 */
#ifndef CAVS_CORE_RUN_EXCHANGE_H
#define CAVS_CORE_RUN_EXCHANGE_H

#include "codelets/exchange_task.h"
#include "core/ranks/ranks.h"
#include "core/run/engine.h"

/* Numbers that travel in one message: memory, and the handle that tasks know it by. */
struct cavs__block {
    float *p;
    size_t room; /* floats */
    starpu_data_handle_t handle;
};

/* The largest nodes of the tree of partial gradients below which one rank has all. */
struct cavs__subtotals {
    int n;
    uint8_t first[CAVS__PARTIALS], size[CAVS__PARTIALS];
};

/* A parameter, or some rows of a large one: what an owner has of it. */
struct cavs__share {
    const struct cavs_param *p;
    int first, rows, parcel;
    size_t at; /* where it begins in the parcel */
};

/* Shares of one owner that travel together; or a parameter that travels from where its gradients
 * are, and to where its values are, without being copied. */
struct cavs__parcel {
    int owner;
    const struct cavs_param *direct; /* NULL: they are copied */
    size_t floats;
    struct cavs__block all;                   /* the sum of all ranks; then the new values */
    struct cavs__block out[CAVS__PARTIALS];   /* at other ranks than the owner: their subtotals */
    struct cavs__block (*in)[CAVS__PARTIALS]; /* [ranks] at the owner: the same of each other */
};

enum { CAVS__EVERYONE = -1 }; /* in place of an owner */

/* A touched row of a looked-up parameter: which rank touches it first, and last; how many do;
 * gradients of all but the first; who has the sum, and how many of those who touch it come before;
 * where it is in the blocks of who has it; its number among those of this rank, -1: it has none. */
struct cavs__way {
    int32_t first, last, ranks, later, owner, turn, place, own;
    bool chained; /* from rank to rank */
};

/* The sums that a task makes, in the form that struct cavs__sum_rows_args wants. */
struct cavs__row_sums {
    int n;
    int32_t *ptr, *source, *row, *to, *at;
    int32_t *numbers; /* one array that all lists are in */
    size_t room;
};

/* What this rank adds up: what others have of it, those that come and go on, and its own ones. */
enum cavs__row_task { CAVS__GIVEN, CAVS__PASSED, CAVS__KEPT, CAVS__ROW_TASKS };

/* The touched rows of a looked-up parameter in one slot. */
struct cavs__table_rows {
    struct cavs__block came, onward;   /* sums that are passed on */
    struct cavs__block *given, *taken; /* [ranks] gradients of rows that others own, or this one */
    struct cavs__block *final; /* [2 ranks] sums of rows at their owners, then at the last */
    int ncame, nonward, *ngiven, *ntaken, *nfinal; /* how many rows these have */
    int32_t *lists;                                /* of this rank: as cavs__list_touched() */
    int64_t list_room;
    struct cavs__row_sums sums[CAVS__ROW_TASKS];
    struct cavs__touched whole; /* of all ranks: each row has one gradient, or everyone's */
};

/* What a rank has told of the rows of a table, one after the other. */
struct cavs__told {
    const int32_t *at, *end;
    bool counted; /* else it says two where a row has any number of gradients beyond one */
    int32_t id, gradients;
};

/* Times of the batch in a slot (starpu_timing_now()): when the gradients of this rank were there,
 * and when the last message of others had come. */
struct cavs__waiting {
    double ready, arrived;
    double work;            /* of the shards of this rank, if the batch is for training */
    struct cavs__lap *laps; /* of the slot */
};

_Static_assert((int)CAVS__PARTIALS == (int)CAVS__MAX_PARTIALS, "partial gradients of a parameter");

struct cavs__store_entry; /* store.h */

struct cavs__exchange {
    struct cavs__engine *e;
    struct cavs__store_entry *const *stored; /* [nstored] of the optimizer */
    struct cavs__ranks *ranks;
    int64_t tags; /* of this session: added to those below */
    struct starpu_codelet sum, sum_rows, pack, unpack, merge_norms;
    int nparcels;
    size_t parcels_room;
    struct cavs__parcel *parcels;
    int nshares;
    size_t shares_room;
    struct cavs__share *shares;
    int *share_of, *shares_of; /* [nstored] the first of a parameter, and how many there are */
    struct cavs__block *norms; /* [ranks] norms of other ranks */
    int ntables;               /* looked-up parameters that are trained */
    const struct cavs_param **tables;
    struct cavs__table_rows (*rows)[CAVS__SLOTS]; /* [ntables] */
    struct cavs__way *ways;                       /* scratch of them */
    size_t nways;
    int nshards, *rank_of;                 /* [nshards] of the batch at hand */
    int rank_of_chunk[CAVS__MAX_PARTIALS]; /* whose a chunk is in the batch at hand; -1: nobody's */
    int nsharing, *sharing;                /* ranks that have shards of the batch, ascending */
    struct cavs__pace *alike, *pace;       /* [ranks] by which they are dealt: */
    const struct cavs__pace *dealt_by;     /* one of these; NULL: they have to be dealt anew */
    struct cavs__pace *told;               /* [ranks] before the last batch */
    int looked;                            /* batches since paces were compared */
    double work, seconds;                  /* of this rank, of late */
    int32_t *mine, *theirs;                /* lists of touched rows, to tell one another */
    size_t mine_room, theirs_room;
    int64_t *lengths; /* [ranks] */
    uint64_t given;   /* values and rates since the last batch, in a number */
    struct cavs__waiting waiting[CAVS__SLOTS];
    struct cavs__block computed[CAVS__SLOTS]; /* written when this rank has all gradients */
};

/* NULL in *out where the process is alone. */
int cavs__exchange_create(struct cavs__engine *e, struct cavs__store_entry *const *stored,
                          struct cavs__exchange **out);
void cavs__exchange_free(struct cavs__exchange *x);
/* Does this rank update the parameter, or some rows of it, and keep the states of these? */
bool cavs__owns(const struct cavs__exchange *x, const struct cavs_param *p);
/* The i-th share of the parameter that this rank owns; NULL: there are not so many, or it has all
 * rows of a parameter that is not shared out. */
const struct cavs__share *cavs__own_share(const struct cavs__exchange *x,
                                          const struct cavs_param *p, int i);
/* A hash of who has which rows, which is never 0. */
uint64_t cavs__layout_of_shares(const struct cavs__exchange *x, const struct cavs_param *p);
/* The rows that this rank owns lie from *first up to behind the last of them. */
void cavs__own_rows(const struct cavs__exchange *x, const struct cavs_param *p, int *first,
                    int *end);

/* The plan has grown: parameters that have dense gradients now get owners, the others keep
 * theirs. */
int cavs__exchange_follow_plan(struct cavs__exchange *x);

/* Deals the shards of the batch at hand to the ranks.  measured: by how fast the ranks are, which
 * may change with each batch; else evenly. */
void cavs__exchange_deal(struct cavs__exchange *x, int nshards, bool measured);
bool cavs__is_here(const struct cavs__exchange *x, int shard);
int cavs__shards_of(const struct cavs__exchange *x, int rank);
/* Has the ranks agree when the batch is prepared, or could not be (rc): they go on if what has to
 * be the same is, and learn which rows are touched.  lists: [nstored], where those of all are put
 * for the update. */
int cavs__exchange_meet(struct cavs__exchange *x, struct cavs__batch *b, int slot,
                        struct cavs__tensor *lists, uint64_t same, int rc);
/* A call of the user's gives these bytes to the parameters, or to what updates them: ranks that
 * were given others are refused with the next batch. */
void cavs__exchange_given(struct cavs__exchange *x, const void *bytes, size_t n);
/* After the tasks of the batch, submits those that add up gradients, and the messages between. */
int cavs__submit_exchange(struct cavs__exchange *x, const struct cavs__batch *b, int slot);
/* After the tasks that make the norms of this rank's parameters, exchanges norms, so that all ranks
 * have all. */
int cavs__submit_norms(struct cavs__exchange *x, int slot, starpu_data_handle_t norms);
/* After the updates, sends their results to all. */
int cavs__submit_values(struct cavs__exchange *x, int slot);
/* The gradient of a share that this rank owns: handles, and which partial gradient each is, with
 * *at: where in them it begins, and *from: with which row of the parameter; rows without gaps.
 * Returns how many. */
int cavs__exchanged(const struct cavs__exchange *x, const struct cavs__share *share,
                    starpu_data_handle_t *handles, uint8_t *partial, size_t *at, int *from);
/* What the update of a share takes besides: a handle that is written when all gradients of this
 * rank are there.  The only worker of a rank computes them first, since other ranks wait for them;
 * for new values nobody waits before the next batch.  NULL: several workers do both side by
 * side. */
starpu_data_handle_t cavs__updates_after(const struct cavs__exchange *x, int slot);
/* For a looked-up parameter: which rows are touched, and the handles of their gradients by source;
 * returns how many handles. */
const struct cavs__touched *cavs__exchanged_rows(const struct cavs__exchange *x,
                                                 const struct cavs_param *p, int slot);
int cavs__exchanged_blocks(const struct cavs__exchange *x, const struct cavs_param *p, int slot,
                           const struct cavs__block **blocks);
/* The gradient of a share after a batch that was for gradients, when no task uses it any more. */
const float *cavs__exchanged_numbers(const struct cavs__exchange *x,
                                     const struct cavs__share *share);

/* The tasks of a batch of training, for which the ranks have met, are about to be submitted. */
void cavs__pace_begin(struct cavs__exchange *x, const struct cavs__batch *b, int slot);
/* The batch in the slot is done: how long the last message of others came after this rank's
 * gradients, and how long these took. */
void cavs__exchange_observe(struct cavs__exchange *x, int slot);

/* ---- between the files ---- */

/* deal.c: deals shards and chunks to so many ranks of these paces, rank_of[shard],
 * rank_of_chunk[chunk]; how long the slowest rank then takes, relative to other ways; the sums that
 * a rank makes. */
void cavs__deal(const struct cavs__engine *e, int nshards, int ranks, const struct cavs__pace *pace,
                int *rank_of, int *rank_of_chunk);
double cavs__deal_seconds(int nshards, const int *rank_of, int ranks,
                          const struct cavs__pace *pace);
struct cavs__subtotals cavs__subtotals_of(const int *rank_of_chunk, int rank);

/* exchange.c */
/* This rank's place among those that share in the batch; -1: it has no shard. */
int cavs__place_of(const struct cavs__exchange *x);

/* exchange_messages.c */
/* Makes a block of n numbers, once. */
int cavs__block_make(struct cavs__block *k, size_t n);
/* Gives a block, which nothing uses at the moment, another size.  devices: tasks on them may read
 * it. */
int cavs__block_resize(struct cavs__block *k, size_t n, bool devices);
void cavs__block_free(struct cavs__block *k);
int cavs__send(struct cavs__exchange *x, int slot, starpu_data_handle_t handle, int to,
               int64_t tag);
int cavs__receive(struct cavs__exchange *x, int slot, starpu_data_handle_t handle, int from,
                  int64_t tag);
/* Sends what the handle has from one rank to all others. */
int cavs__spread(struct cavs__exchange *x, int slot, starpu_data_handle_t handle, int from,
                 int64_t tag);
int64_t cavs__tag(int slot, int parcel, int subtotal);
/* kind: below CAVS__ROW_TAGS. */
enum { CAVS__TAG_ONWARD, CAVS__TAG_GIVEN, CAVS__TAG_FINAL, CAVS__TAG_LAST, CAVS__ROW_TAGS };
int64_t cavs__rows_tag(int table, int slot, int kind);
int64_t cavs__norms_tag(int slot);
/* Notes when all gradients of this rank are there. */
int cavs__submit_ready(struct cavs__exchange *x, int slot);

/* exchange_pace.c */
struct cavs__pace cavs__own_pace(const struct cavs__exchange *x);
void cavs__pace_observe(struct cavs__exchange *x, int slot);

/* exchange_shares.c */
enum { CAVS__SMALL_SHARE = 1 << 13 }; /* floats of one that travels with others */
size_t cavs__floats_in(const struct cavs__share *share);
bool cavs__is_whole(const struct cavs__share *share); /* it has all rows */
/* Cuts parameters that have no shares yet. */
int cavs__shares_add(struct cavs__exchange *x);
/* Deals shares, the largest first, to whoever has least.  load: [ranks] zeros; owner: [shares] -1
 * of those that have no parcel yet. */
void cavs__shares_deal(const struct cavs__exchange *x, size_t *load, int *owner);

/* exchange_parcels.c */
int cavs__parcels_create(struct cavs__exchange *x);
int cavs__parcels_follow_plan(struct cavs__exchange *x);
void cavs__parcels_free(struct cavs__exchange *x);
bool cavs__owns_parcel(const struct cavs__exchange *x, int parcel);

/* exchange_sums.c */
int cavs__parcels_receive(struct cavs__exchange *x, int slot);
int cavs__parcels_sum(struct cavs__exchange *x, int slot, bool trains);
int cavs__parcels_send(struct cavs__exchange *x, int slot);
int cavs__spread_gradients(struct cavs__exchange *x, int slot);
/* Adds the handles of this rank's partial gradients; returns how many, at most CAVS__PARTIALS for
 * each stored parameter. */
int cavs__own_partials(const struct cavs__exchange *x, starpu_data_handle_t *handles);

/* exchange_rows.c */
int cavs__rows_create(struct cavs__exchange *x);
int cavs__rows_follow_plan(struct cavs__exchange *x);
void cavs__rows_free(struct cavs__exchange *x);
int cavs__rows_receive(struct cavs__exchange *x, int slot);
int cavs__rows_send(struct cavs__exchange *x, int slot);

/* exchange_row_sums.c: submits first the sums that others wait for, then those that wait for
 * others. */
int cavs__rows_give(struct cavs__exchange *x, const struct cavs__batch *b, int slot);
int cavs__rows_sum(struct cavs__exchange *x, const struct cavs__batch *b, int slot);

/* exchange_lists.c */
int cavs__numbers_reserve(int32_t **p, size_t *room, size_t n);
int cavs__rows_list(struct cavs__exchange *x, const struct cavs__batch *b, int slot);
int cavs__rows_merge(struct cavs__exchange *x, struct cavs__batch *b, int slot,
                     struct cavs__tensor *lists);
/* A walk over the rows of a table that a rank has told of, before the first one; whether there is
 * one more. */
struct cavs__told cavs__told(const struct cavs__exchange *x, int rank, int table);
bool cavs__next_told(struct cavs__told *t);

/* exchange_routes.c: decides where the rows of all ranks go, which have the numbers mark[id] - 1,
 * and fills x->ways. */
int cavs__rows_route(struct cavs__exchange *x, const struct cavs__touched *own, int table,
                     struct cavs__table_rows *k, const int32_t *mark);

#endif
