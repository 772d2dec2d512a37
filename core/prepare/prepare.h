/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare.h - from samples to what the tasks of a batch read.
 *
 * Takes a plan, data, and the numbers of samples.  Gives a batch: shards, with the schedule, the
 * blocks and the index sections of each of their stages, and the rows that it touches of looked-up
 * parameters.  Whoever submits the batch only reads it, and provides the memory for what tasks
 * read: how much, this room says.
 *
 * It runs while the workers compute the batch before, on the main thread or, shard by shard, on
 * theirs, knows neither tensors nor tasks nor StarPU, and is linear in vertices and edges.  Arrays
 * grow to the largest batch and stay: then nothing is allocated any more, but for batches that come
 * again, which are kept.
 *
 *   batch.c            life; samples -> shards
 *   shard_memory.c     arrays of a shard
 *   batch_graph.c      samples of a shard -> input graphs
 *   arrange.c          graphs -> schedules, cut into blocks
 *   distinct_inputs.c  schedules -> what vertices with equal inputs share
 *   index.c            schedules -> index sections
 *   list_index.c       the same of ragged lists
 *   noise.c            keys of dropout
 *   pulled_rows.c      float rows that the samples bring
 *   kept.c             batches that come again
 *   touched.c          rows of looked-up parameters
 *   size.c             rows of tensors, and scratch, that a shard wants
 */
#ifndef CAVS_CORE_PREPARE_PREPARE_H
#define CAVS_CORE_PREPARE_PREPARE_H

#include "core/compile/plan.h"
#include "core/data/data.h"
#include "memory/arena.h"
#include "scheduler/schedule.h"

enum {
    CAVS__MAX_BLOCKS = 8,    /* of a shard */
    CAVS__MAX_SHARDS = 4096, /* of a batch: more than any machine has cores */
    CAVS__MAX_PARTIALS = 128 /* gradients of a parameter, which are then added up */
};

/* What an eager block should be worth, at nominal rates: blocks cost tasks. */
#define CAVS__BLOCK_SECONDS 1e-3

enum cavs__run { CAVS__RUN_EVALUATE, CAVS__RUN_GRADIENT, CAVS__RUN_TRAIN };

/* One stage of one shard.  Grow-only arrays, reused. */
struct cavs__shard_stage {
    int n, cap; /* vertices */
    int nchildren, cap_children;
    int32_t *function, *child_ptr, *child;
    int32_t *sample_of; /* [n] position of the vertex's sample in the shard */
    int32_t *over;      /* [n] the vertex of the base stage that it stands over */
    int32_t **ids;      /* [ninputs][n] id inputs */
    int32_t *start;     /* [samples of the shard + 1] first vertex of each sample */
    int cap_start;
    int32_t **keys;    /* [ninputs][n] for merging, of inputs that name vertices: their rows */
    int *cap_ids;      /* [ninputs] capacity of ids of inputs per edge or entry */
    int32_t **ids_ptr; /* [ninputs][n + 1] of inputs per entry: first of each vertex in ids */
    int32_t *entries, *longest; /* [nlists] entries in all, and most of one vertex */
    struct cavs__schedule schedule;
    struct {
        int cap;
        int32_t *start, *n; /* [nfunctions] where a function's begin below, and how many it has */
        int32_t *number,
            *first;    /* number of each function row's inputs; stage row of each number */
        int32_t *keys; /* scratch */
    } distinct;        /* inputs, see distinct_inputs.c */
    int nblocks;
    int32_t cut[CAVS__MAX_BLOCKS + 1]; /* V_t at which blocks begin, and the end */
    int32_t *block_frow; /* [MAX_BLOCKS][nfunctions] first function row of each block */
    int32_t *offsets;    /* [nsections + 1] of the index sections, in the arena of the batch */
};

struct cavs__shard {
    int nsamples;
    int *samples;   /* [nsamples] numbers in the data */
    int *positions; /* [nsamples] in the batch, ascending */
    size_t cap;     /* of both */
    double work;    /* of them all */
    struct cavs__shard_stage *stages;
    struct {
        struct cavs__table distinct;
        int32_t *by_vertex, *by_row; /* of a stage: its vertices, and the rows of a fetch of its */
        int row_cap;
    } scratch; /* a shard is one thread's at a time */
};

/* One lookup in one shard: its rows are those of a tensor of gradients. */
struct cavs__lookup {
    const struct cavs_symbol *grad;
    int tensor, shard;
};

/* Rows of a looked-up parameter that a batch touches; see cavs__update_sparse(). */
struct cavs__touched {
    int n, occurrences;
    int nlookups;
    ptrdiff_t ld;                      /* floats from one row of a gradient to the next */
    struct cavs__lookup *lookups;      /* by source; in the arena of the batch */
    bool stays;                        /* a gradient's row must not take a sum's place: it is
                                        * of several of these, or read after the update */
    int32_t *ids, *ptr, *source, *row; /* cavs__list_touched() writes these to where it is told */
};

/* How all batches are prepared. */
struct cavs__preparing {
    const struct cavs__policy *policy;
    bool apart;           /* equal vertices have rows of their own */
    double block_seconds; /* what an eager block should be worth */
    int most_shards;
};

/* What is asked for: from which samples a batch is to be made, and what for. */
struct cavs__request {
    const struct cavs_data *data;
    const int *samples;
    int n; /* of them */
    enum cavs__run run;
    uint64_t seed; /* of dropout, with the number of updates so far */
    long updates;
    int nshards;
    const double *share; /* [nshards] of the work, relative to one another; NULL: the same */
    const bool *whole;   /* [nshards] eager work of a shard is one block; NULL: of none */
};

/* A prepared batch: there is one for all batches of a session in turn, and one for each that is
 * kept. */
struct cavs__batch {
    const struct cavs__plan *plan;
    struct cavs__preparing how;
    /* its arrays are the caller's, and there only while the batch is made */
    struct cavs__request request;
    int nshards;
    struct cavs__shard *shards;     /* [how.most_shards] */
    struct cavs__touched **touched; /* [nstored] in the arena of the batch; NULL: not looked up */
    struct cavs__arena *arena;      /* of what lasts as long as the batch */
    struct cavs__batch_scratch *scratch;
    bool lent; /* the scratch is another batch's */
};

/* A batch that has come before: the same samples of the same data, in the same order. */
struct cavs__kept_batch {
    struct cavs__batch batch; /* its request says what it was made of, but for arrays */
    struct cavs__arena arena;
    int number;       /* among those that are kept */
    unsigned written; /* bit i: what its tasks read is in its i-th place; 0: not prepared */
    uint64_t hash, data, last; /* hash of the request; number of the data; when it came last */
    int *samples;              /* the samples of the request */
    size_t cap, bytes;         /* of the samples; of all that is kept */
};

/* All that a session keeps, and what it remembers of others. */
struct cavs__kept {
    size_t limit, bytes; /* 0: nothing is kept */
    uint64_t now;        /* batches so far */
    int n;
    size_t cap;
    struct cavs__kept_batch **batches; /* [n] */
    struct cavs__table table;          /* of them */
    struct cavs__once *once;           /* batches that came once lately */
};

/* How many partial gradients shards take turns at.  Each that is more costs memory and adding up;
 * each that is less, shards that wait for one another. */
static inline int cavs__partials_among(int most_shards)
{
    return most_shards < 32    ? 8
           : most_shards < 64  ? 16
           : most_shards < 128 ? 32
           : most_shards < 256 ? 64
                               : CAVS__MAX_PARTIALS;
}

/* The partial gradient to which a shard adds its rows; where there are fewer shards than there may
 * be, the i-th of several. */
static inline int cavs__partial_at(const struct cavs__batch *b, int shard, int i)
{
    return (shard * (b->how.most_shards / b->nshards) + i) %
           cavs__partials_among(b->how.most_shards);
}

/* batch.c.  A zeroed batch can be freed. */
int cavs__batch_init(struct cavs__batch *b, const struct cavs__plan *plan,
                     const struct cavs__preparing *how);
void cavs__batch_free(struct cavs__batch *b);

/* The same, but with the scratch of another batch, which has to be freed after this one. */
int cavs__batch_init_beside(struct cavs__batch *b, const struct cavs__batch *other);

/* Cuts the samples into shards. */
int cavs__batch_split(struct cavs__batch *b, const struct cavs__request *request);
/* Then schedules one of the shards.  Different shards may be scheduled side by side. */
int cavs__schedule_shard(struct cavs__batch *b, int shard);
/* How many vertices all stages of all shards have. */
int64_t cavs__batch_vertices(const struct cavs__batch *b);
/* Then decides where index sections will be and, but for evaluations, finds what lookups there
 * are. */
int cavs__batch_lay_out(struct cavs__batch *b, struct cavs__arena *arena);
/* Adds a batch to the statistics. */
void cavs__batch_count(const struct cavs__batch *b, struct cavs_stats *stats);

/* index.c: how many numbers the index sections of a stage of a shard have, and the numbers. */
int cavs__index_length(const struct cavs__batch *b, int shard, int stage);
void cavs__write_index(const struct cavs__batch *b, int shard, int stage, int32_t *index);

/* Keys of dropout are all that differs between two batches of the same samples.  Has a stage
 * sections of them?  Writes these alone. */
bool cavs__has_noise(const struct cavs__stage_plan *sp);
void cavs__write_noise(const struct cavs__batch *b, int shard, int stage, int32_t *index);

/* noise.c: the keys of dropout.  A batch has a number, from which those of its samples are made,
 * and from these the keys of their vertices.  A sample is known by its place in the batch, a vertex
 * by its place in the sample.  A key is never 0, which stands for no dropout. */
uint64_t cavs__batch_noise(uint64_t seed, long updates);
uint64_t cavs__sample_noise(uint64_t batch, int sample);
uint64_t cavs__vertex_noise(uint64_t sample, int vertex);

/* pulled_rows.c: how many rows a shard has of an input of rows, and the rows, ld numbers apart. */
int cavs__pulled_rows(const struct cavs__shard *shard, const struct cavs_stage *stage, int input);
void cavs__write_pulled(const struct cavs__batch *b, const struct cavs__shard *shard,
                        const struct cavs_stage *stage, int input, float *out, ptrdiff_t ld);

/* touched.c: how many numbers there are to list of the rows of a parameter that the batch touches,
 * and the lists. */
int64_t cavs__touched_length(const struct cavs__touched *t);
void cavs__list_touched(const struct cavs__batch *b, const struct cavs_param *p, int32_t *lists);
/* Scratch for numbering the rows of a looked-up parameter: [rows] zeros, which have to be zeros
 * again afterwards.  NULL: out of memory, which is reported; not again once it was there. */
int32_t *cavs__id_marks(const struct cavs__batch *b, const struct cavs_param *p);

/* size.c: rows that a shard wants in a tensor that its tasks write, of a block where the tensor has
 * one for each; bytes of all its tensors, about; floats of scratch, where it has vertices with more
 * entries than a tile is meant for. */
int64_t cavs__rows_needed(const struct cavs__shard *shard, const struct cavs__tensor_desc *d,
                          int block);
int cavs__blocks_of(const struct cavs__shard *shard, const struct cavs__tensor_desc *d);
size_t cavs__shard_bytes(const struct cavs__plan *p, const struct cavs__shard *shard);
size_t cavs__shard_scratch(const struct cavs__plan *p, const struct cavs__shard *shard);
/* Bytes that keeping a prepared batch takes, about, with so many copies of what its tasks read. */
size_t cavs__batch_bytes(const struct cavs__batch *b, int copies);

/* kept.c: a zeroed struct keeps nothing and can be freed.  limit: bytes. */
int cavs__kept_init(struct cavs__kept *k, size_t limit);
void cavs__kept_free(struct cavs__kept *k);
/* The kept batch of this request, or one that is to be prepared since the request has come before;
 * r is its request then.  NULL: the batch is to be prepared as any other is. */
struct cavs__kept_batch *cavs__kept_batch_of(struct cavs__kept *k, const struct cavs__batch *like,
                                             const struct cavs__request *r);
/* Forgets a kept batch that could not be prepared. */
void cavs__kept_drop(struct cavs__kept_batch *kept);
/* Notes that a batch was prepared that is not kept, and how many bytes keeping it takes. */
void cavs__kept_note(struct cavs__kept *k, const struct cavs__request *r, size_t bytes);

#endif
