/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.h - rows of one kind of task, to be submitted as one task or as several: between
 * submit_kind.c and pieces.c. */
#ifndef CAVS_CORE_RUN_PIECES_H
#define CAVS_CORE_RUN_PIECES_H

#include "core/run/engine.h"

/* A batch being submitted. */
struct cavs__submission {
    struct cavs__engine *e;
    const struct cavs__batch *b;
    int slot;
    struct cavs__arena *arena; /* memory for what tasks read */
    int ways;                  /* workers that a shard's rows may be cut among */
    int partials;              /* partial gradients of a shard */
    double grain;              /* seconds that a task should be worth */
    int chain;                 /* grains that one of a chain should be worth */
};

/* Rows of one kind of task, in one block of one shard. */
struct cavs__piece {
    const struct cavs__submission *of;
    const struct cavs__task_kind *k;
    const struct cavs__shard_stage *t;
    int shard, block;
    int n;
    struct cavs__segment *segments;
};

static inline struct cavs__cuts *cavs__cuts_of(const struct cavs__piece *w)
{
    return &w->of->e->cuts[w->k->stage->number];
}

/* Adds to a count; several threads may submit at the same time. */
static inline void cavs__count_cuts(int *cuts, int n)
{
    __atomic_add_fetch(cuts, n, __ATOMIC_RELAXED);
}

/* Room for n segments in the arena; NULL: out of memory. */
struct cavs__segment *cavs__new_segments(const struct cavs__submission *of, int n);
int64_t cavs__piece_rows(const struct cavs__piece *w);
/* Bits of the buffers that these segments add to: not every function of a chain adds to every
 * gradient that the chain writes. */
uint64_t cavs__piece_adds_to(const struct cavs__piece *w);
/* How many seconds a segment should take. */
double cavs__piece_seconds(const struct cavs__piece *w, const struct cavs__segment *seg);
/* How many workers it may be cut among: each piece has to be worth several grains, since pieces run
 * between two more tasks. */
int cavs__piece_ways(const struct cavs__piece *w);

/* Makes the argument of its task, whose buffers these are, and one of scratch.  NULL: out of
 * memory, which is reported. */
struct cavs__part_args *cavs__piece_args(const struct cavs__piece *w, int partial,
                                         starpu_data_handle_t *handles);

/* helpers.c */
/* For a batch that begins: whether there will be helpers, and if they help with all of its tasks,
 * joined to one. */
void cavs__helped_begin(const struct cavs__submission *of, int shards);
/* What lets others help with the task of a piece; NULL: that does not pay. */
struct cavs__helping *cavs__helping_of(const struct cavs__piece *w);

/* made_gradients.c: where a piece of a gradient is all of it, and may be made by the update, it
 * will be. */
int cavs__make_at_update(const struct cavs__piece *w, bool *will_be);

/* Submits it as one task; as one task, or as pieces side by side; as n pieces, each of which adds
 * to a partial gradient of its own. */
int cavs__submit_task(const struct cavs__piece *w, int priority);
int cavs__submit_cut(const struct cavs__piece *w, int priority);
int cavs__submit_partials(const struct cavs__piece *w, int n, int priority);

/* submit_kind.c: all tasks of a kind in a shard. */
int cavs__submit_kind(struct cavs__piece *w, enum cavs__phase phase);

#endif
