/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive.h - the oracle: a finished model evaluated one vertex after the other in double.
 *
 * It shares with the library nothing but the list of forward symbols: operators have formulas of
 * their own here, the graph is walked vertex by vertex, and gradients come from a tape of values,
 * not from the library's backward symbols.
 */
#ifndef CAVS_TESTS_NAIVE_H
#define CAVS_TESTS_NAIVE_H

#include <stdint.h>

#include "tests/sample.h"

/* Rows of one stage for the sample at hand. */
struct naive_stage {
    int n;                        /* vertices */
    double *state, *dstate;       /* [n * state_width] */
    double **channel, **dchannel; /* [nchannels] each [n * width]; zeros where nothing was pushed */
    double **tape, **dtape;       /* [n] all symbols' values at the vertex, and their gradients */
    int **offset; /* [n][symbol] start of its row, or rows of entries, on the tape; last: length */
};

struct naive {
    const struct cavs_model *model;
    double **param;    /* [nparams] values, set by the caller */
    double **gradient; /* [nparams] of the sum of all losses, added up over samples */
    double *sum;       /* [nmetrics] */
    double *count;     /* [nmetrics] */
    bool rounds;       /* operands of products with parameters to bfloat16; set by the caller */
    double noise;      /* every value and gradient moves by up to this share of it; set by the
                        * caller */
    uint64_t draws;    /* of the noise */
    const struct sample *sample;
    struct naive_stage *stages; /* of the last sample */
};

/* Parameters start as zeros. */
struct naive *naive_create(const struct cavs_model *finished);
void naive_destroy(struct naive *o);
/* Forgets gradients and metrics. */
void naive_reset(struct naive *o);
/* Evaluates one sample, and keeps its rows until the next call; adds to the metrics and, with
 * `backward`, to the gradients. */
void naive_run(struct naive *o, const struct sample *s, bool backward);
/* The sum of all losses since the last reset: what the gradient is of. */
double naive_objective(const struct naive *o);

/* naive_ops.c: one forward symbol at one vertex. */
struct naive_place {
    struct naive *oracle;
    const struct cavs_stage *stage;
    int vertex;
    int entry;            /* of the list that the symbol at hand has rows for */
    const int *offset;    /* of the vertex */
    double *value, *grad; /* the vertex's tape */
};
void naive_forward(const struct naive_place *at, const struct cavs_symbol *x);
/* How many entries the vertex has in a list of its function. */
int naive_entries(const struct naive *o, const struct cavs__list *list, int vertex);
/* Passes the gradient of x on to its operands, parameters, children and fetched rows. */
void naive_backward(const struct naive_place *at, const struct cavs_symbol *x);
/* Whether there is a pair of such functions for that operator. */
bool naive_knows(enum cavs__op op);

/* naive_math.c: the element-wise operators. */
struct naive_dual {
    double y, da, db; /* the result and its derivatives with respect to both operands */
};
/* false: there is no formula for an operator of that name. */
bool naive_elementwise(const char *op, double a, double b, double s, struct naive_dual *out);

#endif
