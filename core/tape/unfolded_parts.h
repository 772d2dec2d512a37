/* SPDX-License-Identifier: Apache-2.0 */
/* unfolded_parts.h - an unfolded function being cut: which of its symbols are computed together. */
#ifndef CAVS_CORE_TAPE_UNFOLDED_PARTS_H
#define CAVS_CORE_TAPE_UNFOLDED_PARTS_H

#include "core/declare/operator.h"
#include "core/tape/unfolded.h"

enum { CAVS__NO_PART = -1 };

/* Arrays have an element for each symbol. */
struct cavs__cutting {
    struct cavs__unfolded *u;
    int n;
    bool *own;     /* made of the vertex's own inputs alone */
    bool *counted; /* leads to a metric */
    int *part;     /* CAVS__NO_PART: it is given, looked up, the same everywhere, or of no use */
    bool *shown;   /* read by another part, or by who applies the function */
};

static inline bool cavs__is_in_part(const struct cavs_symbol *x)
{
    return x->op != CAVS__OP_EACH_CHILD && x->op != CAVS__OP_OPERAND && x->op != CAVS__OP_IDS &&
           x->op != CAVS__OP_LOOKUP && x->op != CAVS__OP_SLICE &&
           !cavs__has_role(x, CAVS__ROLE_CONSTANT);
}

static inline struct cavs_symbol *cavs__symbol_cut(const struct cavs__cutting *c, int i)
{
    return c->u->f->symbols[i];
}

/* unfolded_pieces.c: c->u->pieces, of the parts that are known; notes what they read of one another
 * as shown.  false: out of memory. */
bool cavs__add_pieces(struct cavs__cutting *c);

#endif
