/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - from the input graphs of one shard to batching tasks V_t.  Pure C: knows nothing of
 * StarPU or devices.
 *
 * The schedule renumbers vertices so that every V_t is one contiguous range of rows: in the order
 * of the stage ("rows"), in the order of its function ("function rows": only vertices of that
 * function are counted) and in the order of its child slots ("edge rows").  Scatter is then "write
 * your own rows", gather is "read rows by index".
 *
 * Equal vertices (same function, same keys, equal children) may be merged into one row: identical
 * words, and whole identical subtrees, are then evaluated once; gradients of all parents add up in
 * that row.
 */
#ifndef CAVS_SCHEDULER_SCHEDULE_H
#define CAVS_SCHEDULER_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/hash_table.h"

/* One stage of one shard: the graphs of its samples laid one after the other. */
struct cavs__graph {
    int n; /* vertices */
    int nfunctions;
    const int32_t *function;  /* [n] in 0..nfunctions-1 */
    const int32_t *child_ptr; /* [n+1] */
    const int32_t *child;     /* [child_ptr[n]] vertex numbers, -1 = missing */
    const int *slots; /* [nfunctions] child slots a vertex of that function has, >= its number of
                       * children; -1: as many as the vertex has children */
    int nkeys; /* for merging: equal vertices have equal keys, functions and children's rows */
    const int32_t *const *keys;      /* [nkeys][n] */
    const bool *const *keyed;        /* [nkeys][nfunctions] whose vertices have it; NULL: all do */
    int nedge_keys;                  /* the same for each child */
    const int32_t *const *edge_keys; /* [nedge_keys][child_ptr[n]] */
    const bool *const *edge_keyed;
};

/* A batching task: M_t = n vertices of one function, evaluated together. */
struct cavs__vt {
    int32_t function;
    int32_t n;
    int32_t row0;  /* first row in the stage */
    int32_t frow0; /* first function row */
    int32_t edge0; /* first edge row; with fixed slots, slot k of row r is edge row
                    * edge0 + (r - row0) * slots + k */
    int32_t step;  /* position in time: V_t of equal step do not depend on one another */
};

/* Arrays belong to the schedule, are reused by the next cavs__schedule_make() and freed by
 * cavs__schedule_free(). */
struct cavs__schedule {
    int nvt;
    struct cavs__vt *vt;    /* in an order that respects all dependencies */
    int rows;               /* <= n: rows after merging */
    int edges;              /* edge rows */
    int32_t *row_of;        /* [n] row of each vertex (several vertices may share one) */
    int32_t *vertex_of;     /* [rows] one vertex of each row (the lowest-numbered) */
    int32_t *function_rows; /* [nfunctions] rows per function */
    int32_t *edge_ptr;      /* [rows+1] edge rows of each row */
    int32_t *edge_child;    /* [edges] row of the child in that slot, -1 = missing */
    int32_t *parent_ptr;    /* [rows+1] */
    int32_t *parent_edge;   /* [parent_ptr[rows]] edge rows that read this row, ascending */
    struct cavs__schedule_work *work; /* private scratch */
};

struct cavs__levelled_graph;

/* A policy: which vertices are evaluated together, and when. */
struct cavs__policy {
    const char *name;    /* as programs have it in --policy */
    const char *summary; /* what it puts together, in a line */
    bool alone; /* every vertex is a task of its own, as is every row that waits for no vertex */
    /* Gives every representative a step, so that children come before parents, and returns the
     * steps, by vertex.  s->vertex_of lists the representatives by (level, function), in the order
     * of their numbers where these are equal, and by (step, function) afterwards, likewise. */
    const int32_t *(*steps)(struct cavs__schedule *s, const struct cavs__levelled_graph *l);
};
/* By the numbers of enum cavs_policy. */
extern const struct cavs__policy cavs__policies[];

void cavs__schedule_init(struct cavs__schedule *s);
void cavs__schedule_free(struct cavs__schedule *s);

/* Makes the schedule of g.  Time O(vertices + edges + V_t) (agenda: V_t times the number of
 * functions); allocates only when g is larger than anything before.  The graph must be acyclic
 * (cavs__graph_check); vertices may be numbered in any order.  Rows of a V_t are ascending in
 * vertex_of (serial: vertices in their own order where that is children first).
 * 0, or -1 when out of memory or when there are more than 2^31 - 1 edge rows; s is then as it
 * was. */
int cavs__schedule_make(struct cavs__schedule *s, const struct cavs__graph *g,
                        const struct cavs__policy *policy, bool merge);

/* Cuts the V_t into 1 to `most` blocks of consecutive V_t, each worth about the same and not much
 * below `least`; a vertex of function f weighs weight[f] >= 0.  Block b is V_t cut[b] ..
 * cut[b+1]-1. Returns the number of blocks; cut has room for most+1. */
int cavs__schedule_cut(const struct cavs__schedule *s, const double *weight, double least, int most,
                       int32_t *cut);

/* Numbers n rows of nkeys keys each, keys[i * nkeys + k], so that equal rows have the same number:
 * in the order of first appearance.  number[i] is that of row i, first[d] the first row with number
 * d; both have room for n.  Returns how many numbers there are, -1 when out of memory.  *scratch
 * starts as {0} and only grows. */
int cavs__distinct(int n, int nkeys, const int32_t *keys, int32_t *number, int32_t *first,
                   struct cavs__table *scratch);

/* Checks one graph: functions and children in range, not more children than slots, acyclic.  On a
 * fault *vertex is an offending vertex, and *child says more:
 *   RANGE     the child that is no vertex
 *   SLOTS     how many children the vertex has
 *   CYCLE     its child on the cycle (both lie on it; equal for a vertex that is its own child)
 *   FUNCTION  its function number
 *   POINTERS  child_ptr[vertex+1]: child_ptr is negative or descends there
 * work: at least 2*n+1 int32 of scratch.  Never recurses: a chain of any length is fine. */
enum cavs__graph_fault {
    CAVS__GRAPH_OK,
    CAVS__GRAPH_RANGE,
    CAVS__GRAPH_SLOTS,
    CAVS__GRAPH_CYCLE,
    CAVS__GRAPH_FUNCTION,
    CAVS__GRAPH_POINTERS
};
enum cavs__graph_fault cavs__graph_check(const struct cavs__graph *g, int32_t *work,
                                         int32_t *vertex, int32_t *child);

/* Cuts n samples into `shards` >= 1 parts of about equal work, or in the proportions of
 * share[part] >= 0 if that is not NULL (first the long ones, together; ties by number, so the
 * result depends on the arguments only).  shard[i] gets the part of sample i.  0, or -1 when out
 * of memory. *scratch starts as {0} and is reused; it only grows. */
struct cavs__shard_scratch {
    void *p;
    size_t cap;
};
int cavs__shard_split(int n, const double *work, int shards, const double *share, int32_t *shard,
                      struct cavs__shard_scratch *scratch);
void cavs__shard_scratch_free(struct cavs__shard_scratch *scratch);

#endif
