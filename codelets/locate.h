/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locate.h - where the operands of a part are, as numbers: one resolver for CPUs and for devices.
 *
 * A part takes the rows of a segment some at a time: a tile on a CPU (part.c), a block on a device
 * (device/walk.c). What an operand says relative to a segment (part.h) becomes here a buffer,
 * floats from its begin, a pitch and positions in the index buffer. CPUs add pointers to these,
 * devices their memory, so that what is tested on CPUs holds for devices.
 *
 * It runs for every operand of every step of every tile, which is why it is inline.
 */
#ifndef CAVS_CODELETS_LOCATE_H
#define CAVS_CODELETS_LOCATE_H

#include "codelets/part.h"

/* Rows [start, start + rows) of one segment. */
struct cavs__rows {
    const struct cavs__part *part;
    const struct cavs__segment *segment;
    const int32_t *sections; /* where they begin in the index buffer */
    const int32_t *index;    /* the index buffer as main memory has it; NULL: there is none */
    int start, rows;
    int room; /* rows that a vertex value has room for in scratch */
    /* by list of the part: the first entry of these vertices, of the segment's and of the block's,
     * how many these vertices have, and where their scratch begins, in floats */
    int32_t first[CAVS__PART_LISTS], first_of_segment[CAVS__PART_LISTS];
    int32_t first_of_block[CAVS__PART_LISTS], entries[CAVS__PART_LISTS];
    int64_t entry_scratch[CAVS__PART_LISTS];
    int64_t used; /* floats of scratch */
};

/* Where row 0 of an operand is, and the rows after it. */
struct cavs__location {
    int buffer;         /* as struct cavs__operand has it */
    int64_t floats;     /* from the begin of the buffer: below 0 where row 0 itself is not read */
    ptrdiff_t ld;       /* 0: one row for all */
    int64_t index, ptr; /* of struct cavs__view, as positions in the index buffer; -1: none */
};

/* ---- the lists of these rows ---- */

/* The first entry in list i of the segment's vertex v, and those of the next ones after it. */
static inline const int32_t *cavs__entries_from(const struct cavs__rows *r, int i, int v)
{
    return r->index + r->sections[r->part->lists[i].ptr_section] + r->segment->frow0 + v;
}

/* Takes so many rows from `start` on, whose values stand `room` rows apart in scratch. */
static inline void cavs__rows_take(struct cavs__rows *r, int rows, int room)
{
    r->rows = rows;
    r->room = room;
    r->used = (int64_t)r->part->scratch * room;
    for (int i = 0; i < CAVS__PART_LISTS; i++) {
        const int32_t *ptr;

        if (!r->part->lists[i].used)
            continue;
        ptr = cavs__entries_from(r, i, 0);
        r->first[i] = ptr[r->start];
        r->first_of_segment[i] = ptr[0];
        r->first_of_block[i] = ptr[-r->segment->brow0];
        r->entries[i] = ptr[r->start + rows] - ptr[r->start];
        r->entry_scratch[i] = r->used;
        r->used += (int64_t)r->part->lists[i].scratch * (int64_t)cavs__entry_room(r->entries[i]);
    }
}

/* ---- operands ---- */

/* `list`: as of the operand, or 0 for its vertices. */
static inline int64_t cavs__first_row(const struct cavs__rows *r, const struct cavs__operand *o,
                                      int list)
{
    int l = list > 0 ? list - 1 : 0; /* of the entries' spaces; the edges of a stage have none */

    switch (o->space) {
    case CAVS__ROWS: return r->segment->row0 + r->start;
    case CAVS__DISTINCT:
    case CAVS__FROWS: return r->segment->frow0 + r->start;
    case CAVS__BROWS: return r->segment->brow0 + r->start;
    case CAVS__LINES: return list > 0 ? r->first[l] - r->first_of_segment[l] : r->start;
    case CAVS__ENTRIES: return r->first[l];
    case CAVS__BENTRIES: return r->first[l] - r->first_of_block[l];
    case CAVS__EDGES:
        if (list > 0) /* edges of the stage lie as the entries of the function do */
            return r->segment->edge0 + r->first[l] - r->first_of_segment[l];
        return r->segment->edge0 + (int64_t)r->start * o->slots + o->slot;
    default: return 0;
    }
}

/* How many function rows, or entries, there are before these rows. */
static inline int cavs__rows_before(const struct cavs__rows *r, int list)
{
    return list > 0 ? r->first[list - 1] : r->segment->frow0 + r->start;
}

/* What all operands in one buffer have in common: the begin of the value they are part of. */
static inline int64_t cavs__begin_of(const struct cavs__rows *r, const struct cavs__operand *o)
{
    if (o->buffer != CAVS__SCRATCH)
        return o->col;
    if (o->list == 0 || o->mode == CAVS__REPEATED)
        return (int64_t)o->region * r->room + o->col;
    return r->entry_scratch[o->list - 1] +
           (int64_t)o->region * (int64_t)cavs__entry_room(r->entries[o->list - 1]) + o->col;
}

/* A vertex's row, seen from its entries: indexed by function row, so row 0 is where function row 0
 * would be.  Only rows of these vertices are read. */
static inline void cavs__locate_repeated(const struct cavs__rows *r, const struct cavs__operand *o,
                                         struct cavs__location *at)
{
    if (o->space == CAVS__LINES)
        at->floats += (int64_t)r->segment->lines[o->slot] * CAVS__LINE;
    if (o->buffer >= 0)
        at->floats += cavs__first_row(r, o, 0) * o->ld;
    if (o->space == CAVS__EDGES)
        at->ld *= o->slots;
    at->floats -= cavs__rows_before(r, 0) * (int64_t)at->ld;
    at->index = r->sections[o->section] + cavs__rows_before(r, o->list);
}

static inline struct cavs__location cavs__locate(const struct cavs__rows *r,
                                                 const struct cavs__operand *o)
{
    struct cavs__location at = {
        .buffer = o->buffer, .floats = cavs__begin_of(r, o), .ld = o->ld, .index = -1, .ptr = -1};

    switch (o->mode) {
    case CAVS__DIRECT:
        if (o->space == CAVS__LINES)
            at.floats += (int64_t)r->segment->lines[o->slot] * CAVS__LINE;
        if (o->buffer >= 0)
            at.floats += cavs__first_row(r, o, o->list) * o->ld;
        if (o->space == CAVS__EDGES && o->list == 0)
            at.ld *= o->slots;
        break;
    case CAVS__REPEATED: cavs__locate_repeated(r, o, &at); break;
    case CAVS__SAME: at.ld = 0; break;
    case CAVS__INDEXED:
    case CAVS__IDS: at.index = r->sections[o->section] + cavs__rows_before(r, o->list); break;
    case CAVS__SUMMED:
        at.index = r->sections[o->section];
        at.ptr = r->sections[o->ptr_section] + r->start +
                 (o->space == CAVS__FROWS ? r->segment->frow0 : r->segment->row0);
        break;
    default: break;
    }
    if (o->listed)
        at.ptr = r->sections[r->part->lists[o->list - 1].ptr_section] + cavs__rows_before(r, 0);
    return at;
}

#endif
