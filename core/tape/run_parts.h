/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_parts.h - a run of symbols (sites.h) cut into parts, as a declared function is: what can be
 * computed ahead of all chains, what others wait for, and what nothing waits for.
 */
#ifndef CAVS_CORE_TAPE_RUN_PARTS_H
#define CAVS_CORE_TAPE_RUN_PARTS_H

#include "core/tape/recording.h"

enum cavs__run_part {
    /* products of what reads no other symbol, such as x W for the word x, and what leads to them */
    CAVS__RUN_AHEAD,
    CAVS__RUN_CHAIN,
    CAVS__RUN_LATER,
    CAVS__RUN_PARTS
};

struct cavs__recorded_run {
    struct cavs__recording *r;
    int n;
    int32_t symbols[CAVS__MOST_MEMBERS];
    uint64_t part[CAVS__RUN_PARTS]; /* which members, bit by bit */
    bool sourced;                   /* there is a product of what reads no other symbol */
    /* `member` of the first one; the others follow.  Nothing that is not of the run has one as
     * large. */
    int32_t first;
};

static inline uint64_t cavs__member_bit(int member)
{
    return (uint64_t)1 << member;
}

/* The first of some members, of which there is one, and takes it from them. */
static inline int cavs__take_member(uint64_t *members)
{
    int first = __builtin_ctzll(*members);

    *members &= *members - 1;
    return first;
}

/* Takes the first run of the list, of which there are n: how many symbols those are.  What reads no
 * other symbol may stand before it: that is a vertex by itself. */
int cavs__run_take(struct cavs__recorded_run *x, int n, const int32_t *list);
/* Cuts it, and notes what one part reads of another. */
void cavs__run_cut(struct cavs__recorded_run *x);
/* A vertex more, for which there is room. */
struct cavs__vertex *cavs__add_vertex(struct cavs__recording *r, int32_t symbol, int32_t sample,
                                      int32_t as, int32_t operands);
/* The symbol is a vertex by itself. */
void cavs__leave_alone(struct cavs__recording *r, int32_t symbol);

#endif
