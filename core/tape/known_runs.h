/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_runs.h - runs that are as one before: what became of that becomes of them.
 *
 * Which blocks a run is cut into follows from its signatures, its marks, what its members read of
 * one another, and which of its other operands are the same.  Of a known run these lie side by
 * side, and are compared before tape_blocks.c goes through the members one by one.
 */
#ifndef CAVS_CORE_TAPE_KNOWN_RUNS_H
#define CAVS_CORE_TAPE_KNOWN_RUNS_H

#include "core/tape/run_parts.h"
#include "core/tape/tape_blocks.h"

/* What a part reads that is no member of it. */
struct cavs__external {
    int32_t read; /* of the recording; of a known run: from the first member's first one on */
    int32_t operand;
    bool id, source; /* source: it reads no other symbol */
};

enum { CAVS__MOST_EXTERNAL = 64 };

/* A part of a run that is a vertex. */
struct cavs__known_part {
    struct cavs__tape_block *block; /* NULL: one symbol alone; of `external` `source` counts */
    uint64_t members;               /* that are read outside */
    int32_t signature;              /* of the block */
    int32_t head;                   /* its first result, or its only symbol */
    int32_t symbols[CAVS__MOST_MEMBERS];
    int noperands, nexternal;
    int32_t width[CAVS__MOST_OPERANDS];
    struct cavs__external external[CAVS__MOST_EXTERNAL];
};

/* Does the part become what it became? */
static inline bool cavs__is_usable(const struct cavs__known_part *p)
{
    return !p->block || (p->block->signature == p->signature && !(p->members & ~p->block->results));
}

/* Symbols are counted from the first one on. */
struct cavs__known_run {
    int32_t next;    /* known run that began at the same site; -1: none */
    int n, span;     /* symbols of the list; symbols from the first to the last of these */
    int32_t to_last; /* reads from those of the first one to those of the last one */
    int nreads, nsources, nparts;
    struct cavs__known_part parts[CAVS__RUN_PARTS];
    /* owned */
    int32_t *signature;       /* [span] */
    int32_t *sources;         /* [nsources] in between */
    struct cavs__read *reads; /* [nreads] */
    uint8_t *marks, *after;   /* [span] before the run was cut, and after it was */
};

/* The first run of the list, which begins with one of its members: takes it, if it is known, and
 * its vertices go to *to, which moves on.  How many symbols; 0: it is not known; -1: out of memory.
 */
int cavs__known_take(struct cavs__blocks *b, struct cavs__recording *r, int n, const int32_t *list,
                     int32_t **to);

/* Sources that the list begins with are vertices by themselves: how many. */
int cavs__take_sources(struct cavs__recording *r, int n, const int32_t *list, int32_t **to);

/* ---- learned_runs.c ---- */

enum { CAVS__MOST_SPAN = 512 };

/* A run that is looked at member by member, to be known from then on: its marks before it is cut,
 * and what becomes of its parts. */
struct cavs__learning {
    bool useless; /* it is not to be known */
    int32_t first, last;
    int n, nsources, nparts;
    int32_t sources[CAVS__MOST_SPAN];
    uint8_t marks[CAVS__MOST_SPAN];
    struct cavs__known_part parts[CAVS__RUN_PARTS];
};
void cavs__learn_begin(struct cavs__learning *l, const struct cavs__blocks *b,
                       const struct cavs__run *x, int n, const int32_t *list);
/* false: out of memory. */
bool cavs__learn_end(struct cavs__learning *l, struct cavs__blocks *b, struct cavs__recording *r);
void cavs__known_free(struct cavs__blocks *b);

#endif
