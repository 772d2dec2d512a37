/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Recurrent cells, ready-made: LSTM, GRU, and their chains in one or both directions.
 *
 * This is ordinary code on cavs.h (core/declare/cells.c includes nothing else of the library):
 * whoever wants another cell can copy it.  The conventions are those of cavs.h; the calls that
 * build symbols are macros that note where they were called.
 *
 *     struct cavs_cell lstm = cavs_lstm_cell(m, "lstm", embed, hidden);
 *     struct cavs_function *f = cavs_function_create(lstm.stage, "word");
 *     cavs_cell_define(&lstm, f, cavs_lookup(table, cavs_pull_ids(f, "word")));
 *
 * LSTM, state [c; h], gates i, f, o, u side by side in this order:
 *
 *     [i f o u] = x W + h' U + b
 *     c = s(i) tanh(u) + s(f + 1) c'    a cell that has not learnt anything yet remembers
 *     h = s(o) tanh(c)
 *
 * GRU, state h, gates r, z, n side by side in this order (Cho et al. 2014, in the form of cuDNN):
 *
 *     a = x W + b,  a' = h' U + b_u     each [r z n]
 *     r = s(a_r + a'_r),  z = s(a_z + a'_z),  n = tanh(a_n + r a'_n)
 *     h = n + z (h' - n)
 *
 * x W and h' U are two products and not one of [x; h']: x is known beforehand, so x W is evaluated
 * for all vertices of a batch at once and only h' U goes along the chain.  A missing child has the
 * state 0.
 */
#ifndef CAVS_CELLS_H
#define CAVS_CELLS_H

#include "cavs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup cells Recurrent cells
 * @{ */

/** The kinds of cells. */
enum cavs_cell_kind {
    CAVS_LSTM, /**< long short-term memory */
    CAVS_GRU   /**< gated recurrent unit */
};

/** A cell: its stage and parameters.  G is the number of its gates, 4 of an LSTM and 3 of a GRU. */
struct cavs_cell {
    enum cavs_cell_kind kind; /**< which cell it is */
    int width;                /**< of x */
    int hidden;               /**< the width of h */
    struct cavs_stage *stage; /**< its state is the cell's: 2 hidden wide (LSTM) or hidden (GRU) */
    struct cavs_param *W;     /**< width x G hidden */
    struct cavs_param *U;     /**< hidden x G hidden */
    struct cavs_param *b;     /**< 1 x G hidden */
    struct cavs_param *b_u;   /**< 1 x G hidden; GRU only */
};

/** An LSTM: a stage of that name and the parameters NAME_W, NAME_U and NAME_b.  Matrices start
 * uniform in Glorot's range for each gate, biases at 0.  Mistakes are reported by
 * cavs_model_finish(). */
struct cavs_cell cavs_lstm_cell(struct cavs_model *m, const char *name, int width, int hidden);
/** A GRU, in the same way; it has also the parameter NAME_b_u. */
struct cavs_cell cavs_gru_cell(struct cavs_model *m, const char *name, int width, int hidden);
/** The parameters of an LSTM alone: `stage` is NULL.  For cavs_cell_next() on tapes, and in
 * functions of any stage. */
struct cavs_cell cavs_lstm_params(struct cavs_model *m, const char *name, int width, int hidden);
/** Those of a GRU. */
struct cavs_cell cavs_gru_params(struct cavs_model *m, const char *name, int width, int hidden);

/** Makes f, a function of the cell's stage, the cell over child 0 with input x: gathers, scatters,
 * and pushes h on the channel "h". */
#define cavs_cell_define(cell, f, x) cavs_cell_define_at((cell), (f), (x), CAVS_HERE)
/** The state that follows on `before` with input x, for functions whose state does not come from
 * child 0 (the first word of a decoder), or which push something else.  Any stage will do. */
#define cavs_cell_next(cell, x, before) cavs_cell_next_at((cell), (x), (before), CAVS_HERE)
/** The h in a state. */
#define cavs_cell_output(cell, state) cavs_cell_output_at((cell), (state), CAVS_HERE)

/** @cond */
void cavs_cell_define_at(const struct cavs_cell *cell, struct cavs_function *f,
                         struct cavs_symbol *x, struct cavs_place at);
struct cavs_symbol *cavs_cell_next_at(const struct cavs_cell *cell, struct cavs_symbol *x,
                                      struct cavs_symbol *before, struct cavs_place at);
struct cavs_symbol *cavs_cell_output_at(const struct cavs_cell *cell, struct cavs_symbol *state,
                                        struct cavs_place at);
struct cavs_symbol *cavs_both_ways_at(struct cavs_function *f, const struct cavs_cell *forward,
                                      const struct cavs_cell *backward, const char *position,
                                      struct cavs_place at);
/** @endcond */

/** The directions of a chain. */
enum cavs_way {
    CAVS_WAY_FORWARD, /**< the child of v is v-1 */
    CAVS_WAY_BACKWARD /**< the child of v is v+1 */
};
/** The graph of a chain of n vertices with one child each, for cavs_data_graph().  child_ptr has
 * room for n + 1 numbers, children for n. */
void cavs_chain_graph(enum cavs_way way, int n, int *child_ptr, int *children);

/** Both directions over the same words: the two h of a word side by side, in a function of a stage
 * that stands over all vertices of forward's stage.  The id input `position` holds for each vertex
 * its number (0, 1, ...) in its sample: those of a stage over `forward` and of `backward` are the
 * same words. */
#define cavs_both_ways(f, forward, backward, position) \
    cavs_both_ways_at((f), (forward), (backward), (position), CAVS_HERE)

/** @} */

#ifdef __cplusplus
}
#endif
#endif
