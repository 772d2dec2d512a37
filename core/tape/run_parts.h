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
    /* `member` of the first symbol; those of the others follow.  Nothing outside of the run has one
     * as large. */
    int32_t first;
};

static inline uint64_t cavs__member_bit(int member)
{
    return (uint64_t)1 << member;
}

/* Takes the first member from a set that is not empty. */
static inline int cavs__take_member(uint64_t *members)
{
    int first = __builtin_ctzll(*members);

    *members &= *members - 1;
    return first;
}

/* Takes the first run of the list, which has n symbols left, and returns how many symbols it has.
 * A symbol that reads no other may stand before it, which is a vertex by itself. */
int cavs__run_take(struct cavs__recorded_run *x, int n, const int32_t *list);
/* Cuts it, and notes what one part reads of another. */
void cavs__run_cut(struct cavs__recorded_run *x);
/* Adds a vertex, for which there is room. */
struct cavs__vertex *cavs__add_vertex(struct cavs__recording *r, int32_t symbol, int32_t sample,
                                      int32_t as, int32_t operands);
/* Makes the symbol a vertex by itself. */
void cavs__leave_alone(struct cavs__recording *r, int32_t symbol);
/* Notes where the rows of the vertex are: of the symbol that stands for it and, of a block, of its
 * results, which follow its operands in the reads. */
static inline void cavs__note_places(struct cavs__recording *r, int32_t vertex)
{
    const struct cavs__vertex *v = &r->vertices[vertex];
    const struct cavs__signature *s = r->signatures.all[v->as];
    const struct cavs__read *results = r->reads + v->operands + s->n;

    r->places[v->symbol] = (struct cavs__row_place){.vertex = vertex};
    for (int i = 0; i < s->nresults; i++)
        r->places[results[i].of] =
            (struct cavs__row_place){.vertex = vertex, .column = s->results[i].column};
}

#endif
