/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lstm_cells.h - three Tree-LSTM cells and the classifier above them.
 *
 * The state of a vertex is [c; h], 2 hidden numbers.  x is the embedding of a leaf's word, s() the
 * logistic function; everywhere
 *     c = s(i) tanh(u) + sum over children of s(f_k) c_k,     h = s(o) tanh(c)
 *
 *                leaf                     inner vertices
 *     bench      [i o u] = x W_iou +      [i o u] = [h_l; h_r] U_iou + b_iou
 *                          b_leaf         f_l = h_l F1 + b_f,  f_r = h_r F2 + b_f
 *     childsum   [i o u] = x W_iou +      [i o u] = (sum of h_k) U_iou + b_iou
 *                          b_iou          f_k = h_k U_f + b_f
 *     nary       [i o u] = x W_iou +      [i o u f_l f_r] = [h_l; h_r] U_iouf + b_iouf
 *                          b_leaf
 *
 * bench and nary want two children at each inner vertex, childsum takes any number.
 * The classifier of every vertex: logits = h W_class + b_class.
 */
#ifndef CAVS_APPS_TREE_LSTM_CELLS_H
#define CAVS_APPS_TREE_LSTM_CELLS_H

#include <stdbool.h>

#include "apps/common/arities.h"
#include "core/cavs.h"

enum cell { CELL_BENCH, CELL_CHILDSUM, CELL_NARY };
/* By number, ended by NULL. */
extern const char *const cell_names[];

struct tree_lstm_sizes {
    int words, embed, hidden, classes;
    const struct arities *arities; /* the vertex functions wanted; the first is the leaf */
    bool predict;                  /* the classifier pushes what predictions are made from */
};
#define TREE_LOGITS "logits" /* that channel: a score for each class */

/* ---- from symbols to symbols: for vertex functions, and for tapes ---------------------------- */

/* A cell's parameters, by the names above. */
struct tree_lstm_cell {
    enum cell kind;
    struct cavs_param *embedding, *W_iou, *b_leaf;
    /* of inner vertices, NULL if there are none: U and b of what is computed of all children, F1
     * and F2 of each (childsum: both are U_f) */
    struct cavs_param *U, *b, *F1, *F2, *b_f;
    /* of childsum, where it is recorded: the tape, and room for as many symbols as a vertex has
     * children */
    struct cavs_tape *tape;
    struct cavs_symbol **room;
};
struct tree_lstm_state {
    struct cavs_symbol *c, *h;
};

struct tree_lstm_cell tree_lstm_params(struct cavs_model *m, enum cell kind,
                                       const struct tree_lstm_sizes *sizes);
/* The state of a leaf with this word. */
struct tree_lstm_state tree_lstm_leaf(const struct tree_lstm_cell *p, struct cavs_symbol *word);
/* The state of a vertex with n children, at least one: two for bench and nary. */
struct tree_lstm_state tree_lstm_inner(const struct tree_lstm_cell *p, int n,
                                       const struct tree_lstm_state *children);

/* The classifier's parameters. */
struct tree_lstm_head {
    struct cavs_param *W, *b;
};
struct tree_lstm_head tree_lstm_head_params(struct cavs_model *m,
                                            const struct tree_lstm_sizes *sizes);

/* ---- stages of them -------------------------------------------------------------------------- */

/*
 * Declares the stage "tree" of state width 2 hidden, which pulls the ids "word" at leaves and
 * pushes "h". Its functions have the numbers that arities_function() gives.
 */
struct cavs_stage *tree_lstm_declare(struct cavs_model *m, enum cell cell,
                                     const struct tree_lstm_sizes *sizes);

/*
 * Declares the stage "class" over all vertices of the tree: pulls the ids "label" and "root" (the
 * label at the root, -1 elsewhere), has the loss "loss" and counts "correct" and "root_correct".
 */
struct cavs_stage *tree_lstm_classifier(struct cavs_model *m, struct cavs_stage *tree,
                                        const struct tree_lstm_sizes *sizes);

#endif
