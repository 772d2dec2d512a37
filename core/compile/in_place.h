/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place.h - between in_place.c, which moves what a part keeps, and in_place_room.c, which knows
 * where it may go.
 */
#ifndef CAVS_CORE_COMPILE_IN_PLACE_H
#define CAVS_CORE_COMPILE_IN_PLACE_H

#include "core/compile/place.h"

/* Columns of the bundle of the part being made: a value, or a concatenation with its operands. */
struct cavs__field {
    int col, end;
    int first, n;   /* of the writers */
    int tensor, to; /* where it goes, -1: it stays */
};

/* An item that writes to the bundle. */
struct cavs__field_writer {
    int item, col, cols;
};

/* Values of a bundle, by the cache line that they are in: value[first[l]] up to value[first[l +
 * 1]]. */
struct cavs__field_lines {
    int n;
    int *first, *value;
    bool *taken; /* a field has moved there */
};

/* What is known of a symbol while fields move into one bundle. */
struct cavs__reach {
    bool there; /* reads values of the bundle, if through a concatenation */
    bool made;  /* waits for the part being made: reads its values, or what is made of them */
    bool later; /* is read by others than that part and the one that made it */
};

/* What a part keeps: columns of a tensor of its own, or of what a row of a tape keeps. */
struct cavs__bundle {
    int tensor; /* -1: it keeps nothing */
    int slot;   /* of the operands there */
    int from, end;
};

struct cavs__moving {
    struct cavs__placer *p;
    struct cavs__bundle bundle; /* of the part being made */
    int nfields, nwriters;
    struct cavs__field *fields;
    struct cavs__field_writer *writers; /* by column */
    int from;                           /* the part whose bundle the fields move into */
    struct cavs__bundle into;           /* that bundle */
    struct cavs__field_lines lines;     /* of it */
    struct cavs__reach *of;             /* [nsymbols] */
};

static inline bool cavs__lies_in(const struct cavs__operand *at, const struct cavs__bundle *b)
{
    return at->buffer == b->tensor && at->mode == CAVS__DIRECT && at->slot == b->slot &&
           at->list == 0 && at->col >= b->from && at->col < b->end;
}

/* Finds what there is to know of the bundle `into`: CAVS_OK with *may, or an error code.  Not *may:
 * somebody would have to wait for the part being made who does not wait for it anyway. */
int cavs__find_room(struct cavs__moving *m, bool *may);
void cavs__free_room(struct cavs__moving *m);
/* May the field begin at that column of it? */
bool cavs__field_fits(const struct cavs__moving *m, const struct cavs__field *f, int to);

#endif
