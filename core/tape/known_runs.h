/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_runs.h - runs that are as one before: what became of that becomes of them.
 *
 * Which blocks a run is cut into, and what it needs of others, follows from its signatures, from
 * what others need of it, what its members read of one another, and which of its other operands are
 * the same.  Of a known run these lie side by side.  They are compared when the last of its symbols
 * is found to be needed (needed.c): all that read the run were looked at by then, and where it is
 * known, nothing goes through its members one by one any more.
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

enum { CAVS__MOST_EXTERNAL = 64, CAVS__MOST_SPAN = 512 };

/* In the list of symbols that are needed: a known run stands there; b->taken says which. */
enum { CAVS__KNOWN_RUN = -1 };

/* A part of a run that is a vertex. */
struct cavs__known_part {
    struct cavs__tape_block *block; /* NULL: one symbol alone; of `external` `source` counts */
    uint64_t members;               /* that are read outside */
    int32_t signature;              /* of the block */
    int32_t head;                   /* its first result, or its only symbol */
    int32_t symbols[CAVS__MOST_MEMBERS];
    int noperands, nexternal;
    int32_t operands[CAVS__MOST_OPERANDS]; /* the first read that each is */
    int32_t width[CAVS__MOST_OPERANDS];
    struct cavs__external external[CAVS__MOST_EXTERNAL];
};

/* But for runs. */
static inline bool cavs__same_read(struct cavs__read a, struct cavs__read b)
{
    return a.of == b.of && a.from == b.from;
}

/* Does the part become what it became? */
static inline bool cavs__is_usable(const struct cavs__known_part *p)
{
    return !p->block || (p->block->signature == p->signature && !(p->members & ~p->block->results));
}

/* A read, and which bits of it count: of what is no member's, that it is none. */
struct cavs__known_read {
    uint64_t is, counts;
};

/* What is needed of others: the read, and the marks that this makes. */
struct cavs__known_need {
    int32_t read;
    uint8_t marks;
};

/* Symbols, and reads, are counted from those of the run's first one on. */
struct cavs__known_run {
    int32_t next; /* known run that began at the same site; -1: none */
    int span;     /* symbols from the first to the last that is needed */
    int nreads, nfound, nneeds, nparts;
    struct cavs__known_part parts[CAVS__RUN_PARTS];
    /* owned */
    int32_t *signature;             /* [span] */
    int32_t *found;                 /* [nfound] the symbols that others need */
    struct cavs__known_need *needs; /* [nneeds] */
    struct cavs__known_read *reads; /* [nreads] */
    uint8_t *marks, *after;         /* [span] before the run needs anything, and when it is cut */
};

/* A run of the recording that is as a known one. */
struct cavs__taken_run {
    int32_t known, run;
};

/* The known run that so many symbols from the beginning of this one on, up to the last that is
 * needed, are as; -1: none.  So it is noted what may be learned of them. */
int32_t cavs__known_find(struct cavs__blocks *b, const struct cavs__recording *r,
                         const struct cavs__run_begin *run, int span);

/* The list begins with a known run, the last of b->taken, which becomes vertices.  How many places
 * of the list; -1: out of memory. */
int cavs__known_become(struct cavs__blocks *b, struct cavs__recording *r, int n,
                       const int32_t *list);

/* Sources that the list begins with are vertices by themselves: how many. */
int cavs__take_sources(struct cavs__recording *r, int n, const int32_t *list);

/* ---- learned_runs.c ---- */

/* A run that is looked at member by member, to be known from then on: what it needs, and what
 * becomes of its parts. */
struct cavs__learning {
    bool useless; /* it is not to be known */
    int32_t first, last;
    int nneeds, nparts;
    struct cavs__known_need needs[CAVS__MOST_EXTERNAL];
    struct cavs__known_part parts[CAVS__RUN_PARTS];
};
void cavs__learn_begin(struct cavs__learning *l, const struct cavs__blocks *b,
                       const struct cavs__recorded_run *x, int n, const int32_t *list);
/* false: out of memory. */
bool cavs__learn_end(struct cavs__learning *l, struct cavs__blocks *b, struct cavs__recording *r);
void cavs__known_free(struct cavs__blocks *b);

#endif
