/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - what the derivatives of operators are made with.
 *
 * The derivative of y gets the gradient g of the objective with respect to y, NULL for a sink, and
 * contributes to the gradients of y's operands.  Symbols that it makes stand in dF and have the
 * rows of `of`, at least.  Once memory has run out there are no more of them: NULL goes in and NULL
 * comes out.
 */
#ifndef CAVS_CORE_COMPILE_DIFF_H
#define CAVS_CORE_COMPILE_DIFF_H

#include "core/declare/operator.h"

/* Gradients that reach parts of a value: columns [from, from + g->width). */
struct cavs__gradient_piece {
    int from;
    struct cavs_symbol *g;
};

struct cavs__contributions {
    int n;
    struct cavs__gradient_piece *pieces; /* whole-width ones: from = 0, g->width = width */
};

/* A function that is being differentiated (autodiff.c). */
struct cavs__diff {
    struct cavs_function *f;
    int nforward;                   /* its symbols before dF */
    struct cavs__contributions *to; /* [nforward] */
    bool failed;                    /* out of memory */
};

/* Appends any symbol that looks like this one. */
struct cavs_symbol *cavs__diff_symbol(struct cavs__diff *d, const struct cavs_symbol *of,
                                      struct cavs_symbol like, int n,
                                      struct cavs_symbol *const *inputs);
/* A constant that is s in every column. */
struct cavs_symbol *cavs__diff_constant(struct cavs__diff *d, const struct cavs_symbol *of,
                                        int width, float s);
/* Makes an element-wise operator that has no attributes. An operand of one column is repeated. */
struct cavs_symbol *cavs__diff_apply1(struct cavs__diff *d, const struct cavs_symbol *of,
                                      const char *name, struct cavs_symbol *a);
struct cavs_symbol *cavs__diff_apply2(struct cavs__diff *d, const struct cavs_symbol *of,
                                      const char *name, struct cavs_symbol *a,
                                      struct cavs_symbol *b);
/* The sum of each row; the sum over the entries of each vertex in a list. */
struct cavs_symbol *cavs__diff_row_sum(struct cavs__diff *d, const struct cavs_symbol *of,
                                       struct cavs_symbol *a);
struct cavs_symbol *cavs__diff_list_sum(struct cavs__diff *d, const struct cavs_symbol *of,
                                        int domain, struct cavs_symbol *g);

/* Adds g, which y passes to its operand x, to the gradient of x, unless nobody needs that. If y has
 * rows of entries and x is the same for all entries, x gets their sum. */
void cavs__contribute(struct cavs__diff *d, const struct cavs_symbol *y, struct cavs_symbol *x,
                      struct cavs_symbol *g);
/* The same for the columns of x from `from` on, as many as g has. */
void cavs__contribute_columns(struct cavs__diff *d, struct cavs_symbol *x, int from,
                              struct cavs_symbol *g);

/* For autodiff.c. */
/* The sum of what contributed to the gradient of x, one at least. */
struct cavs_symbol *cavs__diff_total(struct cavs__diff *d, struct cavs_symbol *x);
/* diff_children.c: every slot of a vertex is read by its child, so each gets a gradient. */
void cavs__diff_children(struct cavs__diff *d);

#endif
