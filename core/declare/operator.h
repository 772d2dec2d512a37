/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.h - what there is to know of an operator, in one record.
 *
 * Records stand in core/operators/, a family a file, with the calls that make such symbols.  Passes
 * look into the record of a symbol's operator instead of knowing operators by name, except for
 * those that are their very matter: a pass on products knows the product.
 */
#ifndef CAVS_CORE_DECLARE_OPERATOR_H
#define CAVS_CORE_DECLARE_OPERATOR_H

#include "core/declare/model.h"

/* What becomes of an operator when a function is compiled. */
enum cavs__role {
    CAVS__ROLE_SOURCE = 1,  /* nothing: others read its rows from where they are */
    CAVS__ROLE_CONSTANT,    /* nothing: the same row for all vertices and entries */
    CAVS__ROLE_VIEW,        /* nothing: columns of its operand, or other rows of it */
    CAVS__ROLE_CONCAT,      /* its operands are computed side by side */
    CAVS__ROLE_ELEMENTWISE, /* part of a fused group */
    CAVS__ROLE_SINGLE,      /* a step of its own, row by row */
    CAVS__ROLE_SINGLE_LIST, /* the same; takes all entries of a vertex together */
    CAVS__ROLE_DESTINATION, /* a sink: its last operand is computed where it says */
    CAVS__ROLE_SUM          /* a sink: a step of its own that sums over rows */
};

/* Where the chain of V_t begins and ends, in F and in dF. */
enum cavs__chain_end { CAVS__NO_END, CAVS__STARTS_CHAIN, CAVS__ENDS_CHAIN };

struct cavs__diff;
struct cavs__placer;
struct cavs__operand;
struct cavs__kernel;

struct cavs__operator {
    const char *name; /* as the user knows it */
    enum cavs__role role;
    enum cavs__chain_end chain;
    bool pure;   /* may be evaluated once for all vertices whose inputs are equal: share.c */
    bool random; /* in training, vertices with equal inputs differ by it */
    /* For what the result has rows, as cavs_symbol.domain says; of a symbol that is to be made. */
    int (*domain)(const struct cavs_symbol *like, int ninputs, struct cavs_symbol *const *inputs);
    double (*flops)(const struct cavs_symbol *x); /* nominal, per row; NULL: it is not a product */
    /* Hands the gradient g of y, NULL for a sink, on to what y is made of: core/compile/diff.h. */
    void (*diff)(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g);
    /* Where the rows of a source or constant are read, or those of a destination written, by the
     * part being made: core/compile/place.h.  NULL for all others. */
    struct cavs__operand (*where)(struct cavs__placer *p, const struct cavs_symbol *x);
    /* What computes single steps and sums, and how such a step is made: core/compile/emit.h.  NULL
     * for all others. */
    const struct cavs__kernel *kernel;
    int (*emit)(struct cavs__placer *p, const struct cavs_symbol *x);
};

/* autodiff.c: no gradient passes through y; y is made for dF, which is not differentiated again. */
void cavs__not_differentiable(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g);
void cavs__of_df(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g);

extern const struct cavs__operator *const cavs__operators[CAVS__OP_COUNT];

#define OPERATOR(NAME, record) extern const struct cavs__operator cavs__operator_##record;
#include "core/declare/operators.def"
#undef OPERATOR

static inline const struct cavs__operator *cavs__operator_of(const struct cavs_symbol *x)
{
    return cavs__operators[x->op];
}

static inline bool cavs__has_role(const struct cavs_symbol *x, enum cavs__role role)
{
    return cavs__operator_of(x)->role == role;
}

static inline bool cavs__is_sink(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_DESTINATION) || cavs__has_role(x, CAVS__ROLE_SUM);
}

/* Does dF, or F, read what other vertices of the stage have computed? */
static inline bool cavs__starts_chain(const struct cavs_symbol *x)
{
    return cavs__operator_of(x)->chain == CAVS__STARTS_CHAIN;
}

/* symbol.c: with its operands, and at least where the caller says; of vertices whatever they
 * are. */
int cavs__domain_of_operands(const struct cavs_symbol *like, int ninputs,
                             struct cavs_symbol *const *inputs);
int cavs__domain_of_vertices(const struct cavs_symbol *like, int ninputs,
                             struct cavs_symbol *const *inputs);

#endif
