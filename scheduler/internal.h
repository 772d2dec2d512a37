/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - what the parts of the scheduler share.
 *
 * A schedule is made in passes: children before parents, and levels (topology.c); vertices sorted
 * by level and function (layout.c); equal ones to one representative (merge.c); a step in time for
 * every representative (policies.c, agenda.c); numbers and edges for rows (layout.c).  All arrays
 * live in one block (capacity.c).
 */
#ifndef CAVS_SCHEDULER_INTERNAL_H
#define CAVS_SCHEDULER_INTERNAL_H

#include "scheduler/schedule.h"

struct cavs__agenda_function {
    int64_t depth_sum;  /* over all its vertices */
    int32_t count;      /* all its vertices */
    int32_t head, tail; /* ready vertices are queue[head .. tail) */
    int32_t ends;       /* classes that end when the ready vertices are evaluated */
    int32_t rank;       /* among functions, by average depth */
    bool is_ready;      /* some vertex of it is: its rank is in a set */
};

struct cavs__agenda_rank {
    double depth; /* the function's average */
    int32_t function;
};

enum { CAVS__RANKS_A_WORD = 64 };

/* Words of a set of ranks of so many functions. */
static inline int64_t cavs__rank_words(int64_t functions)
{
    return functions / CAVS__RANKS_A_WORD + 1;
}

struct cavs__agenda_edge {
    int32_t parent;
    int32_t next; /* edge into the same child */
};

/* What a policy goes by; levels are in the work of the schedule. */
struct cavs__levelled_graph {
    const struct cavs__graph *graph;
    const int32_t *order; /* [n] children before parents; NULL: the vertices' own order is so */
    const int32_t *rep;   /* [n] representatives; NULL: every vertex is its own */
    int32_t levels;       /* how many there are */
};

struct cavs__capacity {
    int64_t vertices, edges, functions;
};

/* Scratch of one schedule, at the head of its block.  n: vertices of the graph. */
struct cavs__schedule_work {
    struct cavs__capacity capacity;
    int32_t *level;   /* [n] longest distance from a leaf */
    int32_t *order;   /* [n] children before parents, when the numbers are not so already */
    int32_t *cursor;  /* [n] how far the search for that order got */
    int32_t *rep;     /* [n] the lowest-numbered vertex equal to this one */
    int32_t *nodes;   /* [n] agenda: representatives, ascending; before, between passes of a sort */
    int32_t *step;    /* [n] position in time, for representatives */
    int32_t *sorted;  /* [n] all vertices by class, for merging */
    int32_t *count;   /* [max(n, functions) + 1] buckets of the sort */
    int32_t *pending; /* [n] agenda: children not yet evaluated */
    int32_t *queue;   /* [n] agenda: ready vertices, a segment per function; before, all vertices */
    int32_t *unready; /* [n] agenda: by class, vertices that are neither ready nor evaluated */
    int32_t *first_up; /* [n] agenda: lists of the edges that read a representative; -1 = end */
    struct cavs__agenda_edge *up;         /* [edges] */
    struct cavs__agenda_function *agenda; /* [functions] */
    struct cavs__agenda_rank *ranks;      /* [functions] lowest first */
    uint64_t *ready, *ending; /* sets of ranks: with ready vertices, and of these with ends */
    struct cavs__table table; /* of vertices, for merging */
};

/* Makes room for g.  0, or -1 when out of memory or over the int32 range; s is then as it was. */
int cavs__schedule_reserve(struct cavs__schedule *s, const struct cavs__graph *g);

/* Orders vertices children first into order[n]; cursor[n] is scratch.  Returns -1, or a vertex
 * of a cycle with *child set to its child on that cycle. */
int32_t cavs__children_first(const struct cavs__graph *g, int32_t *order, int32_t *cursor,
                             int32_t *child);

/* Sets level[n], visiting vertices in the given order (NULL: by number).  Returns the number of
 * levels, or -1 if order is NULL and a vertex has a child numbered after it. */
int32_t cavs__levels(const struct cavs__graph *g, const int32_t *order, int32_t *level);

/* Lists all vertices by (level, function), ascending where these are equal: a class is what one V_t
 * of depth has. */
void cavs__sort_by_class(const struct cavs__graph *g, int32_t levels, struct cavs__schedule_work *w,
                         int32_t *out);

/* Sets w->rep, from all vertices by class in w->sorted; lists the representatives, in the same
 * order, and returns how many there are. */
int32_t cavs__merge_equal(const struct cavs__graph *g, struct cavs__schedule_work *w, int32_t *out);

/* Sets w->step for the m representatives w->nodes (rep NULL: every vertex is its own); returns
 * the number of steps, at most `classes`.  Before: w->step[v] < classes is the class of v, those
 * that have its level and its function. */
int32_t cavs__agenda_steps(const struct cavs__graph *g, const int32_t *rep, int32_t m,
                           int32_t classes, struct cavs__schedule_work *w);

/* Sorts in[n] stably by key[in[i]], 0 <= key < keys, into out[n]; count[keys+1] is scratch. */
void cavs__sort_by_key(const int32_t *key, int32_t keys, const int32_t *in, int32_t n, int32_t *out,
                       int32_t *count);

/* From s->vertex_of[s->rows], sorted by (step, function): V_t, row numbers, edges and parents. */
void cavs__schedule_lay_out(struct cavs__schedule *s, const struct cavs__graph *g,
                            const int32_t *rep, const int32_t *step);

static inline int32_t cavs__representative(const int32_t *rep, int32_t v)
{
    return rep ? rep[v] : v;
}

#endif
