/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.h - sorts of recorded symbols: what has the same signature can be computed together.
 *
 * A signature is the operator with its attribute, parameter and metric, and of each operand how
 * wide it is, whether it has a gradient, or which parameter, constant or id it is.  The entries of
 * a list that is summed up, say, are one operand, however many there are.  Compared exactly behind
 * the hash.  Each has a small vertex function in a stage of the tape's own, the operator between
 * its operands and its result, which goes through the compiler's passes as any other does.
 */
#ifndef CAVS_CORE_TAPE_SIGNATURE_H
#define CAVS_CORE_TAPE_SIGNATURE_H

#include <string.h>

#include "core/base/hash_table.h"
#include "core/declare/model.h"

/* Inputs of their stage: ids, one for each operand that may be one, of declared functions that
 * read lists, too, and the rows that a user gives. */
enum { CAVS__MOST_OPERANDS = 32 /* of blocks */, CAVS__GIVEN_INPUT = 256, CAVS__INPUTS };

enum cavs__operand_kind {
    CAVS__OPERAND_ROW,      /* of another symbol */
    CAVS__OPERAND_PARAM,    /* a parameter of one row */
    CAVS__OPERAND_CONSTANT, /* s in every column */
    CAVS__OPERAND_ID
};

/* How an operator reads an operand. */
struct cavs__operand_sort {
    enum cavs__operand_kind kind;
    bool grad;  /* rows: they have a gradient */
    int from;   /* rows: the first column, in their line; parameters: likewise, in the row */
    int width;  /* columns from there */
    uint32_t s; /* bits of a constant */
    struct cavs_param *param;
    uint64_t key[2]; /* all of these: cavs__set_key() */
    /* what becomes of it in its signature: */
    bool passes; /* rows: the operator has a gradient for it */
    bool each;   /* of a list: for each entry one */
    int section; /* rows and ids: the index section, -1: none; see compiled.c */
};

/* Whole words are compared: what was just written in parts takes long to be read at once. */
static inline uint64_t cavs__columns_key(int from, int width)
{
    return (uint64_t)(uint32_t)from << 32 | (uint32_t)width;
}

static inline void cavs__set_key(struct cavs__operand_sort *o)
{
    o->key[0] = cavs__columns_key(o->from, o->width);
    o->key[1] = (uint64_t)o->kind << 62 | (uint64_t)o->grad << 61 |
                (o->param ? (uint64_t)(uintptr_t)o->param : o->s);
}

static inline bool cavs__same_operand(const struct cavs__operand_sort *a,
                                      const struct cavs__operand_sort *b)
{
    return a->key[0] == b->key[0] && a->key[1] == b->key[1];
}

/* k of a symbol, in any process: what declared functions are numbered by depends on which was
 * applied first. */
static inline int cavs__lasting_k(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_APPLY ? x->which : x->k;
}

/* What a part of a signature's chain reads of parameters, as tensors. */
struct cavs__read_params {
    struct cavs__part *part; /* NULL: there is nothing to do */
    int n;
    int16_t *tensor; /* [n] */
};

enum { CAVS__MOST_MEMBERS = 64 /* of a block: there is a bit for each */ };

/* A symbol of a block that is read elsewhere: columns of the block's row, from a line on. */
struct cavs__result {
    int member, column;
};

/*
 * A block as it is told from others: of each member the number of its signature; for each of its
 * operands that is an id, ~k for operand k of the block; and for each that is a row, the member
 * that it is of and the column from which on it is read there, or ~k and nothing.  Of what takes
 * a list, how many entries there are stands before them.
 */
struct cavs__block_form {
    int nmembers, ncodes;
    const int32_t *codes;
};

enum { CAVS__MOST_IDS = 4 /* by which vertices are compared, at most */ };

struct cavs__signature {
    struct cavs_symbol like; /* operator, attributes, width; of a block: RESULT, width of its row */
    uint64_t print;          /* of an operator: what tells it from others, in any process */
    int nmembers;            /* operators: more than one in a block */
    struct cavs__block_form form; /* of a block, which owns its codes; NULL: nobody looks for it */
    int nresults;                 /* of a block */
    struct cavs__result *results; /* [nresults] */
    int n;
    int nlisted; /* of them, the last: each is an entry of a list, of whatever length */
    struct cavs__operand_sort *operands; /* [n] */
    struct cavs_function *function;
    bool needs_grad;         /* gradients of the result pass on, to operands or parameters */
    bool repeatable;         /* vertices with equal operands may be one */
    int nids;                /* those are compared by these ids; else there are none */
    int ids[CAVS__MOST_IDS]; /* [nids] which operands they are */
    bool is_product;         /* of an operator: it is worth being put ahead */
    /* set by compiled.c: */
    int noise[2], given; /* index sections: dropout's keys, rows that the user gave; -1: none */
    int first, owner;    /* likewise, with lists: the first of each symbol's entries, and whose each
                       * entry is */
    struct cavs__read_params chain[2]; /* forward and backward */
    double flops, flops_forward;       /* nominal, of a row */
    double entry_flops[2];             /* of an entry of its list: all, and forward */
    int64_t rows, vts;                 /* evaluated so far: explain_tape.c */
};

/* Does it make one row of the entries of a list? */
static inline bool cavs__takes_list(enum cavs__op op)
{
    return op == CAVS__OP_LIST_SUM || op == CAVS__OP_LIST_MEAN || op == CAVS__OP_LIST_MAX;
}

/* Is there something that one part leaves for another? */
static inline bool cavs__keeps(const struct cavs__signature *s)
{
    return s->function->kept > 0 || s->function->kept_entries > 0;
}

struct cavs__unfolded; /* unfolded.h */

struct cavs__signatures {
    struct cavs_stage stage; /* of all functions */
    int n;
    struct cavs__signature **all; /* [n] by number, which is that of the function */
    struct cavs__table table;     /* of them, by all that tells them apart */
    int nunfolded;
    struct cavs__unfolded **unfolded; /* declared functions that were applied */
};

/*
 * What tells a signature from others, and no more: most symbols have the one that was last where
 * they are recorded, and of that nothing else is looked at.
 */
struct cavs__glance {
    int32_t number;          /* of the signature; -1: none yet */
    struct cavs_symbol like; /* what builders say of it, and whether there is a gradient */
    uint64_t key[2][2];      /* of its first operands: cavs__set_key() */
};

/* Is it of an operator like this one, whatever its operands are, if it is of its site?  Neighbours
 * in the struct are not compared one after the other: compilers make one word of them. */
static inline bool cavs__same_at_site(const struct cavs__glance *g, const struct cavs_symbol *like)
{
    return g->like.ninputs == like->ninputs && g->like.which == like->which &&
           g->like.metric == like->metric && memcmp(&g->like.s, &like->s, sizeof like->s) == 0 &&
           g->like.is_loss == like->is_loss && g->number >= 0;
}

/* The same, wherever it is recorded. */
static inline bool cavs__same_at_a_glance(const struct cavs__glance *g,
                                          const struct cavs_symbol *like)
{
    return g->like.op == like->op && g->like.width == like->width && g->like.k == like->k &&
           g->like.param == like->param && cavs__same_at_site(g, like);
}

int cavs__signatures_init(struct cavs__signatures *s, struct cavs_model *m, int stage);
void cavs__signatures_free(struct cavs__signatures *s);
/* The number of the signature of an operator like this one with these operands, made at first
 * mention; -1: out of memory. */
int cavs__find_signature(struct cavs__signatures *s, const struct cavs_symbol *like, int n,
                         const struct cavs__operand_sort *operands);
/* The same; -1: there is none. */
int cavs__known_signature(const struct cavs__signatures *s, const struct cavs_symbol *like, int n,
                          const struct cavs__operand_sort *operands);

struct cavs__glance cavs__glance_at(const struct cavs__signatures *s, int32_t number);

/* block_function.c: the signature of a block of which these members are results, bit by bit;
 * found by nobody who looks for an operator's.  Its number; -1: out of memory. */
int cavs__add_block(struct cavs__signatures *s, const struct cavs__block_form *form,
                    uint64_t results);

/* One that was made before, and kept with its form; -1: there is none. */
int cavs__find_block(const struct cavs__signatures *s, const struct cavs__block_form *form,
                     uint64_t results);
/* Without memory for it, it is made once more. */
void cavs__keep_form(struct cavs__signature *s, const struct cavs__block_form *form);

/* signature_function.c: makes the function of an operator's signature.  false: out of memory. */
bool cavs__make_operator(struct cavs__signatures *all, struct cavs__signature *s);
/* signature.c, for those files: appends it, or frees it, and its number or -1. */
int cavs__signature_append(struct cavs__signatures *all, struct cavs__signature *s);
void cavs__signature_free(struct cavs__signature *s);

#endif
