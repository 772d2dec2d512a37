/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cavs_cells.h - recurrent cells, ready-made: LSTM, GRU, and their chains in one or both directions.
 *
 * Ordinary code on cavs.h (core/declare/cells.c includes nothing else): whoever wants another cell can copy it.
 * The conventions are those of cavs.h; the calls that build symbols are macros that note where they were called.
 *
 *     struct cavs_cell lstm = cavs_lstm_cell(m, "lstm", embed, hidden);
 *     struct cavs_function *f = cavs_function_create(lstm.stage, "word");
 *     cavs_cell_define(&lstm, f, cavs_lookup(table, cavs_pull_ids(f, "word")));
 *
 * LSTM, state [c; h], gates i, f, o, u side by side in this order:
 *     [i f o u] = x W + h' U + b
 *     c = s(i) tanh(u) + s(f + 1) c'    a cell that has not learnt anything yet remembers
 *     h = s(o) tanh(c)
 * GRU, state h, gates r, z, n side by side in this order (Cho et al. 2014, in the form of cuDNN):
 *     a = x W + b,  a' = h' U + b_u     each [r z n]
 *     r = s(a_r + a'_r),  z = s(a_z + a'_z),  n = tanh(a_n + r a'_n)
 *     h = n + z (h' - n)
 *
 * x W and h' U are two products and not one of [x; h']: x is known beforehand, so x W is evaluated for all vertices of a
 * batch at once and only h' U goes along the chain.  A missing child has the state 0.
 */
#ifndef CAVS_CELLS_H
#define CAVS_CELLS_H

#include "cavs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cavs_cell_kind { CAVS_LSTM, CAVS_GRU };

struct cavs_cell {
    enum cavs_cell_kind kind;
    int width, hidden;               /* of x and of h */
    struct cavs_stage *stage;        /* its state is the cell's: 2 hidden wide (LSTM) or hidden (GRU) */
    struct cavs_param *W, *U, *b;    /* width x G hidden, hidden x G hidden, 1 x G hidden; G = 4 (LSTM) or 3 gates */
    struct cavs_param *b_u;          /* 1 x G hidden; GRU only */
};

/* A stage of that name and the parameters NAME_W, NAME_U, NAME_b and for a GRU NAME_b_u.  Matrices start uniform in
 * Glorot's range for each gate, biases at 0.  Mistakes are reported by cavs_model_finish(). */
struct cavs_cell cavs_lstm_cell(struct cavs_model *m, const char *name, int width, int hidden);
struct cavs_cell cavs_gru_cell(struct cavs_model *m, const char *name, int width, int hidden);

/* Makes f, a function of the cell's stage, the cell over child 0 with input x: gathers, scatters, and pushes h on the
 * channel "h". */
#define cavs_cell_define(cell, f, x) cavs_cell_define_at((cell), (f), (x), CAVS_HERE)
void cavs_cell_define_at(const struct cavs_cell *cell, struct cavs_function *f, struct cavs_symbol *x, struct cavs_place at);

/* The same piece by piece, for functions whose state does not come from child 0 (the first word of a decoder), or which
 * push something else: the state that follows on `before` with input x, and the h in a state.  Any stage will do. */
#define cavs_cell_next(cell, x, before) cavs_cell_next_at((cell), (x), (before), CAVS_HERE)
#define cavs_cell_output(cell, state) cavs_cell_output_at((cell), (state), CAVS_HERE)
struct cavs_symbol *cavs_cell_next_at(const struct cavs_cell *cell, struct cavs_symbol *x, struct cavs_symbol *before,
                                      struct cavs_place at);
struct cavs_symbol *cavs_cell_output_at(const struct cavs_cell *cell, struct cavs_symbol *state, struct cavs_place at);

/* The graph of a chain of n vertices with one child each, for cavs_data_graph(): the child of v is v-1 (forward) or v+1
 * (backward).  child_ptr has room for n + 1 numbers, children for n. */
enum cavs_way { CAVS_WAY_FORWARD, CAVS_WAY_BACKWARD };
void cavs_chain_graph(enum cavs_way way, int n, int *child_ptr, int *children);

/* Both directions over the same words: the two h of a word side by side, in a function of a stage that stands over all
 * vertices of forward's stage.  The id input `position` holds for each vertex its number (0, 1, ...) in its sample: those
 * of a stage over `forward` and of `backward` are the same words. */
#define cavs_both_ways(f, forward, backward, position) cavs_both_ways_at((f), (forward), (backward), (position), CAVS_HERE)
struct cavs_symbol *cavs_both_ways_at(struct cavs_function *f, const struct cavs_cell *forward,
                                      const struct cavs_cell *backward, const char *position, struct cavs_place at);

#ifdef __cplusplus
}
#endif
#endif
