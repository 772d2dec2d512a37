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

#include "core/cavs.h"

enum cell { CELL_BENCH, CELL_CHILDSUM, CELL_NARY };
/* By number, ended by NULL. */
extern const char *const cell_names[];

struct tree_lstm_sizes {
    int words, embed, hidden, classes;
    const bool *arities; /* [max_arity + 1]: inner vertices with so many children occur */
    int max_arity;
};

/*
 * Declares the stage "tree" of state width 2 hidden, which pulls the ids "word" at leaves and pushes "h".
 * The function of a leaf has number 0; function_of[k] becomes the number of the function for k
 * children (function_of has max_arity + 1 elements; those of arities that do not occur are left).
 */
struct cavs_stage *tree_lstm_declare(struct cavs_model *m, enum cell cell,
                                     const struct tree_lstm_sizes *sizes, int *function_of);

/*
 * Declares the stage "class" over all vertices of the tree: pulls the ids "label" and "root" (the
 * label at the root, -1 elsewhere), has the loss "loss" and counts "correct" and "root_correct".
 */
struct cavs_stage *tree_lstm_classifier(struct cavs_model *m, struct cavs_stage *tree,
                                        const struct tree_lstm_sizes *sizes);

#endif
