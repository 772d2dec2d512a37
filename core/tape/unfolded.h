/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unfolded.h - a declared vertex function as it is applied on a tape.
 *
 * A function is unfolded once: its symbols, between what is given and what it scatters and pushes.
 * They are cut as those of a declared function are, into at most three parts: products of the
 * vertex's own inputs, what others wait for, and what leads to losses and metrics alone.  Each part
 * is one symbol of the tape, whose signature has the part's function.  Rows of tables are looked up
 * before it, by symbols of their own, as everywhere on a tape.
 *
 * A list, of children or of what is given, stays one: its entries are one operand, and symbols that
 * have a row for each of them are in domain 1, as in the declared function.  So one signature
 * serves all lengths.  Where that cannot be, the function is unfolded for each number of children
 * and length of lists, with operators on lists written out: where it has several lists, or gathers
 * some of its children by number, too; where entries are not read alike or children are missing;
 * where a part would have to leave another one a row for each entry; and where rows of entries are
 * dropped at random or counted.
 */
#ifndef CAVS_CORE_TAPE_UNFOLDED_H
#define CAVS_CORE_TAPE_UNFOLDED_H

#include "core/declare/model.h"
#include "core/tape/signature.h"

enum { CAVS__PIECE_AHEAD, CAVS__PIECE_CHAIN, CAVS__PIECE_LATER, CAVS__PIECES };

/* Symbols here are those of the unfolded function. */

enum { CAVS__A_CHILD = -1, CAVS__ALL_ENTRIES = -1, CAVS__ANY_LENGTH = -1 };

struct cavs__given {
    struct cavs_symbol *x; /* OPERAND or IDS */
    int input;             /* of the stage, or CAVS__A_CHILD */
    int entry;             /* of the input's list, or of the children; CAVS__ALL_ENTRIES */
};

/* What becomes one symbol of a tape. */
struct cavs__unfolded_piece {
    const struct cavs__unfolded *of;
    int n, noperands, nresults;
    int nlisted; /* how many operands are lists: the last ones */
    int nplaced; /* results that stand side by side; others are columns of these */
    struct cavs_symbol **members, **operands, **results;
    int *column; /* [nresults] where it begins in the symbol's row */
    int width;
    struct cavs__metric *metric; /* one of those that it counts, or NULL */
    bool is_loss;
};

struct cavs__unfolded {
    const struct cavs_function *of;
    /* for which it is: of each input of the stage, 1 + the length of the list that is given, or 0;
     * of each child, is it there?  CAVS__ANY_LENGTH: of the input's list, or of all children */
    int ncodes, nchildren;
    int32_t *codes;
    uint32_t print;          /* of function and codes: what tells it from others, in any process */
    bool listed;             /* some list is of any length */
    bool by_length;          /* it cannot be of any length, and is not applied */
    struct cavs_function *f; /* its symbols */
    struct cavs__recorder recorder;
    struct cavs_symbol next;
    int ngiven;
    struct cavs__given *given;
    struct cavs_symbol *state;     /* NULL: it scatters none */
    struct cavs_symbol **channels; /* [of->stage->nchannels]; NULL: it pushes nothing there */
    struct cavs__unfolded_piece *pieces[CAVS__PIECES]; /* NULL: nothing is left for it */
};

/* unfolded.c: an unfolded function without symbols; NULL: out of memory. */
struct cavs__unfolded *cavs__new_unfolded(struct cavs_stage *stage, const struct cavs_function *of,
                                          int ncodes, const int32_t *codes);
void cavs__unfolded_free(struct cavs__unfolded *u);

/* unfold.c: unfolds a function; NULL: reported in `to`. */
struct cavs__unfolded *cavs__unfold(struct cavs_stage *stage, const struct cavs_function *of,
                                    int ncodes, const int32_t *codes, struct cavs_function *to,
                                    struct cavs_place at);

/* unfolded_parts.c: decides which symbols are computed together.  false: out of memory. */
bool cavs__unfolded_cut(struct cavs__unfolded *u);

/* Symbols of tapes say by k which piece they are. */
static inline const struct cavs__unfolded_piece *cavs__piece_of(const struct cavs__signatures *all,
                                                                const struct cavs_symbol *x)
{
    return all->unfolded[x->k / CAVS__PIECES]->pieces[x->k % CAVS__PIECES];
}

/* What x is columns of. */
static inline struct cavs_symbol *cavs__unsliced(struct cavs_symbol *x)
{
    while (x->op == CAVS__OP_SLICE)
        x = x->inputs[0];
    return x;
}

#endif
