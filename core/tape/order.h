/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - from symbols that are wanted to V_t: an increment of the recording, shard by shard.
 *
 * Symbols, or blocks of them, are vertices, their signatures functions, the rows that they read
 * children; what an earlier increment has evaluated is a row that is there.  The scheduler is that
 * of declared models.
 *
 * Where there are blocks, equal vertices are computed once, as those of a declared stage are: words
 * that occur several times, and whatever follows from them alone.  What nothing waits for, losses
 * and what leads to them alone, is an increment of its own behind the others, as the lazy part of a
 * declared function is: one V_t for each kind of classifier, however deep its vertices lie.
 */
#ifndef CAVS_CORE_TAPE_ORDER_H
#define CAVS_CORE_TAPE_ORDER_H

#include "core/base/fetches.h"
#include "core/run/engine.h"
#include "core/tape/tape_blocks.h"
#include "scheduler/schedule.h"

/* What is evaluated at one go, of one shard.  Lives as long as the recording. */
struct cavs__increment {
    int n, nvt;
    int64_t repeated;       /* symbols that are equal to others */
    struct cavs__vt *vt;    /* [nvt] */
    int32_t *vertex;        /* [n] the vertex of each row; -1: it was taken back since */
    int32_t *operands;      /* [n] the first read of that vertex; -1: likewise */
    int32_t highest;        /* the last of their symbols */
    int nfunctions;         /* signatures that were there */
    int32_t *function_rows; /* [nfunctions] */
    /* NULL where there are no lists (row_places.c): */
    int32_t *entry0, *length; /* [n] entries of each row's list: the first, among all of its
                                 function, and how many */
    int32_t *entries;         /* [nfunctions] entries of all lists */
    int32_t *longest;         /* [nfunctions] entries of the longest list */
    int32_t **lines;  /* [nfunctions] where its rows begin: row_places.c; NULL: it has none */
    int32_t *offsets; /* [sections] in the index: fill.c */
    int32_t *pieces;  /* [n + 1] first piece of each row's gradient: reached.c */
    int32_t *reached; /* [nvt] how many rows gradients reach: reached.c */
    struct cavs__target **targets;          /* [nvt] of those: reached.c */
    struct cavs__increment *before, *after; /* of the same shard */
};

/* Vertices of one sample, one after the other. */
struct cavs__span {
    int32_t first, end;
    int32_t group;    /* that the sample belongs to */
    int32_t children; /* how many rows they read, at most */
};

/* What putting a shard in order takes.  Each shard has its own, since several are put in order at
 * the same time. */
struct cavs__shard_order {
    struct cavs__schedule schedule;
    struct cavs__arena arena; /* what there is of the shard until the next recording begins */
    /* growing scratch */
    size_t function_room, vertex_room, child_room;
    /* Functions of a graph are the signatures in it, in the order in which they come: schedules do
     * not depend on what earlier recordings had. */
    int nfunctions;
    int32_t *signature; /* [functions] */
    int *slots;         /* [functions] */
    int32_t *number;    /* [signatures] of its function; -1: not in this graph */
    int32_t *function, *child_ptr, *child, *vertex;
    /* What equal vertices have in common, beside functions and children: those of the nids ids that
     * their function has; and of each child the column, and the symbol where an earlier increment
     * has evaluated it. */
    bool repeats; /* some vertices may be equal */
    int nids;
    bool *has_id[CAVS__MOST_IDS]; /* [functions] */
    int32_t *ids[CAVS__MOST_IDS], *read[2];
};

struct cavs__order {
    const struct cavs__policy *policy;
    int nshards;
    bool shares;                      /* equal vertices are computed once */
    struct cavs__shard_order *shards; /* [nshards] */
    struct cavs__shard_scratch split;
    /* growing scratch */
    size_t list_room, found_room, sample_room, span_room;
    int32_t *list;   /* symbols that are needed */
    uint64_t *found; /* a bit a symbol that is still to be listed */
    int32_t *shard;  /* [samples] the same for all samples of a group; -1: none yet */
    int known;       /* samples that have an entry there */
    double *work;    /* [samples] */
    double *bytes;   /* [samples] what the rows of each take */
    int32_t *chosen; /* [samples] */
    int32_t *groups; /* [samples] */
    int nvertices;   /* that are to be put in order */
    int nspans;
    struct cavs__span *spans; /* [nspans] of these vertices */
};

int cavs__order_init(struct cavs__order *o, int nshards, enum cavs_policy policy);
void cavs__order_free(struct cavs__order *o);
/* A recording has begun: its samples have no shards yet. */
void cavs__order_begin(struct cavs__order *o);
/* So many samples are left after a rewind; those that follow have no shards yet. */
void cavs__order_rewind(struct cavs__order *o, int samples);
/* The vertex of a row; NULL: it was taken back since. */
static inline struct cavs__vertex *cavs__vertex_of_row(const struct cavs__recording *r,
                                                       const struct cavs__increment *d, int row)
{
    return d->vertex[row] < 0 ? NULL : &r->vertices[d->vertex[row]];
}
/* Rows of a V_t are vertices of many samples, far from one another in memory, as is what they read.
 * While a row is looked at, operand k, which is no list, of the rows behind it is on its way: first
 * the number of what a row reads, and then the place of that. */
CAVS__FETCHES void cavs__fetch_operand(const struct cavs__recording *r,
                                       const struct cavs__increment *d, int row, int end, int k)
{
    enum { STEP = 6 };

    if (row + 2 * STEP < end && d->operands[row + 2 * STEP] >= 0)
        __builtin_prefetch(&r->reads[d->operands[row + 2 * STEP] + k]);
    if (row + STEP < end && d->operands[row + STEP] >= 0)
        __builtin_prefetch(&r->places[r->reads[d->operands[row + STEP] + k].of]);
}
/* How many entries the lists of its rows have. */
static inline int32_t cavs__entries_of_vt(const struct cavs__increment *d,
                                          const struct cavs__vt *vt)
{
    int32_t last = vt->row0 + vt->n - 1;

    return d->entry0 ? d->entry0[last] + d->length[last] - d->entry0[vt->row0] : 0;
}
/* Takes back the rows of all symbols from this number on. */
void cavs__take_rows_back(const struct cavs__recording *r, struct cavs__increment *d, int symbols);
/* What is to be evaluated. */
struct cavs__wanted {
    int n;
    const int32_t *symbols; /* [n] */
    bool rows;              /* the user reads their rows */
    int foreseen;           /* vertices that are there already, which is all of them; 0: none */
    struct cavs__engine *e; /* whose homes tell how large shards are; NULL: equal */
};
/* Finds the vertices that these symbols need and that no earlier increment has computed, and puts
 * them into shards. 0 or a code; after an error the recording is of no more use. */
int cavs__order(struct cavs__order *o, struct cavs__recording *r, struct cavs__blocks *b,
                const struct cavs__wanted *wanted);
/* Puts the vertices of a shard in order. *out is its first increment, behind which another may be;
 * NULL: there is nothing to do.  Touches nothing of another shard. 0 or a code, as above. */
int cavs__order_shard(const struct cavs__order *o, struct cavs__recording *r, int shard,
                      struct cavs__increment **out);

#endif
