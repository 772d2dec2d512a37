/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_runs.h - runs that equal an earlier one: they become the vertices that it became, without a
 * look at each of their symbols.
 *
 * Which blocks a run is cut into, and what it needs of other symbols, follows from four things: the
 * signatures of its members, the marks that readers outside have left on them, what the members
 * read of one another, and which of their other operands are the same.  A known run keeps these in
 * arrays, which are compared with those of the recording when the last symbol of a run is found to
 * be needed (needed.c goes backwards, so all readers of the run have left their marks by then).
 */
#ifndef CAVS_CORE_TAPE_KNOWN_RUNS_H
#define CAVS_CORE_TAPE_KNOWN_RUNS_H

#include <string.h>

#include "core/base/bits.h"
#include "core/tape/run_parts.h"
#include "core/tape/tape_blocks.h"

/* Something that a part of a run reads and that is no member of the part. */
struct cavs__external {
    int32_t read;    /* index in the recording's reads */
    int32_t operand; /* of the block, the number of the operand that it becomes */
    bool id, source; /* source: it is a symbol that reads no other */
};

enum { CAVS__MOST_EXTERNAL = 64, CAVS__MOST_SPAN = 512 };
enum { CAVS__SPAN_WORDS = CAVS__MOST_SPAN / CAVS__BITS_A_WORD };

/* In the list of needed symbols: here stands a known run, the next one of b->taken. */
enum { CAVS__KNOWN_RUN = -1 };

/* A part of a known run that becomes one vertex. */
struct cavs__known_part {
    struct cavs__tape_block *block; /* NULL: a single symbol */
    uint64_t members;               /* bit by bit, those that are read outside */
    int32_t signature;              /* of the block */
    int32_t head;                   /* its first result, or its only symbol */
    int32_t symbols[CAVS__MOST_MEMBERS];
    int noperands;
    int32_t operands[CAVS__MOST_OPERANDS]; /* of each, the first read that is this operand */
};

/* Are they equal, whichever runs they are within? */
static inline bool cavs__same_read(struct cavs__read a, struct cavs__read b)
{
    return a.of == b.of && a.from == b.from;
}

/* A read as a word: within one run, reads are equal if their words are. */
static inline uint64_t cavs__read_word(struct cavs__read read)
{
    uint64_t word;

    _Static_assert(sizeof read == sizeof word, "a read is a word");
    memcpy(&word, &read, sizeof word);
    return word;
}

/* Can the part still become what it became?  Its block may have been made anew since, with other
 * results. */
static inline bool cavs__is_usable(const struct cavs__known_part *p)
{
    return !p->block || (p->block->signature == p->signature && !(p->members & ~p->block->results));
}

/* A read as a word, and which of its bits are compared: all where it is of a member of the run,
 * else only that it is of none. */
struct cavs__known_read {
    uint64_t is, counts;
};

/* A symbol of another run, as a read, and marks: those that it gets because it is needed, or
 * CAVS__SOURCE if that is what it is. */
struct cavs__known_need {
    int32_t read;
    uint8_t marks;
};

/* Two reads. */
struct cavs__known_pair {
    int32_t a, b;
};

/* Symbols and reads are counted from the first ones of the run. */
struct cavs__known_run {
    int32_t next; /* another known run that begins at the same site; -1: none */
    int span;     /* symbols from the first to the last that is needed */
    int nreads, nneeds, nrows, nsame, ndiffer, nparts;
    /* The symbols that others need, and those of them that are no sources. */
    uint64_t found[CAVS__SPAN_WORDS], members[CAVS__SPAN_WORDS];
    struct cavs__known_part parts[CAVS__RUN_PARTS];
    /* owned */
    int32_t *signature;             /* [span] */
    struct cavs__known_need *needs; /* [nneeds] */
    struct cavs__known_need *rows;  /* [nrows] which of the rows that it reads are sources */
    /* [nsame] of its blocks one operand, and [ndiffer] two */
    struct cavs__known_pair *same, *differ;
    struct cavs__known_read *reads; /* [nreads] */
    uint8_t *marks, *after;         /* [span] before its own needs are marked, and when it is cut */
};

/* A run of the recording that equals a known one; both by number. */
struct cavs__taken_run {
    int32_t known, run;
};

/* The known run that equals the first `span` symbols of this one, up to the last that is needed;
 * -1: there is none, and the marks of these symbols are kept in b->before, since what becomes of
 * them may be learned. */
int32_t cavs__known_find(struct cavs__blocks *b, const struct cavs__recording *r,
                         const struct cavs__run_begin *run, int span);

/* Counts that the known run has been met so many times. */
void cavs__known_count(struct cavs__blocks *b, int32_t number, int32_t times);

/* Has a run become known since that the symbols equal, with the marks that are kept in
 * b->before? */
bool cavs__known_since(const struct cavs__blocks *b, const struct cavs__recording *r,
                       const struct cavs__run_begin *run, int span);

/* The known run, by number, that the list begins with when it begins with one. */
static inline int32_t cavs__known_next(const struct cavs__blocks *b)
{
    return b->taken[b->ntaken - 1].known;
}

/* Makes the vertices of that known run, which is not counted.  How many places of the list these
 * are; -1: out of memory. */
int cavs__known_become(struct cavs__blocks *b, struct cavs__recording *r, int n,
                       const int32_t *list);

/* Makes vertices of the sources that the list begins with, one each: how many there are. */
int cavs__take_sources(struct cavs__recording *r, int n, const int32_t *list);

/* ---- learned_runs.c ---- */

/* What a part of a run reads that is no member of it. */
struct cavs__learned_reads {
    int n;
    struct cavs__external external[CAVS__MOST_EXTERNAL];
    int32_t width[CAVS__MOST_OPERANDS]; /* of each operand of the block */
};

/* A run that goes through needed.c and tape_blocks.c symbol by symbol, while it is noted what it
 * needs and what becomes of its parts, so that it is known from then on. */
struct cavs__learning {
    bool useless; /* it cannot become known */
    int32_t first, last;
    int nneeds, nparts;
    struct cavs__known_need needs[CAVS__MOST_EXTERNAL];
    struct cavs__known_part parts[CAVS__RUN_PARTS];
    struct cavs__learned_reads reads[CAVS__RUN_PARTS]; /* of each part */
};
void cavs__learn_begin(struct cavs__learning *l, const struct cavs__blocks *b,
                       const struct cavs__recorded_run *x, int n, const int32_t *list);
/* false: out of memory. */
bool cavs__learn_end(struct cavs__learning *l, struct cavs__blocks *b, struct cavs__recording *r);
void cavs__known_free(struct cavs__blocks *b);

#endif
