/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm_chain.h - the LSTM cell over a chain of vertices, on the public interface of the library.
 *
 *     i, f, o, u = x W + h' U + b     side by side in this order; h', c' of the one child, zeros without
 *     c = s(i) tanh(u) + s(f + 1) c'  a cell that has not learnt anything yet remembers
 *     h = s(o) tanh(c)
 *
 * x W and h' U are two products and not one of [x; h']: x is known beforehand, so x W is evaluated for all
 * vertices of a batch at once and only h' U goes along the chain.
 */
#ifndef CAVS_APPS_LSTM_CHAIN_H
#define CAVS_APPS_LSTM_CHAIN_H

#include "core/cavs.h"

struct lstm {
    struct cavs_stage *stage; /* its vertices push h on the channel "h" */
    struct cavs_param *W, *U, *b;
};

/* A stage of that name and the parameters NAME_W (width x 4 hidden), NAME_U (hidden x 4 hidden), NAME_b. */
struct lstm lstm_declare(struct cavs_model *m, const char *name, int width, int hidden);

/* Makes f, a function of the cell's stage, the cell with input x (of the declared width). */
void lstm_define(const struct lstm *l, struct cavs_function *f, struct cavs_symbol *x);

/* The graph of a chain of n vertices that have one child each, for cavs_data_graph(): the child of v is v-1
 * (forward) or v+1 (backward).  child_ptr has n + 1 elements, children n. */
enum lstm_way { LSTM_FORWARD, LSTM_BACKWARD };
void lstm_graph(enum lstm_way way, int n, int *child_ptr, int *children);

#endif
