/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lstm.h - sentiment of every phrase of a sentence: a Tree-LSTM over parse trees, declared
 * (tree_lstm.c) or recorded on a tape (dyn_tree_lstm.c), with the same parameters and options.
 *
 * The cells and their parameters are in tree_lstm_cells.h.  The objective is the cross-entropy
 * summed over all vertices of a batch and divided by --batch: a mean per tree, so that one learning
 * rate suits all batch sizes (the last, smaller batch of an epoch is divided by --batch too: each
 * tree has the same weight).
 */
#ifndef CAVS_APPS_TREE_LSTM_H
#define CAVS_APPS_TREE_LSTM_H

#include "apps/common/program.h"
#include "apps/tree_lstm_cells.h"
#include "apps/tree_lstm_predict.h"
#include "apps/treebank.h"

struct tree_lstm {
    struct app app; /* first: the frame hands it over */
    int cell;       /* enum cell */
    struct treebank bank;
    struct tree_predictor predictor;
};

#define TREE_LSTM_OPTIONS                                                               \
    OPTION_GROUP("Treebank and cell:"),                                                 \
        OPTION_ROW(OPTION_CHOICE, "cell", "NAME", struct tree_lstm, cell, OPTION_MODEL, \
                   "bench, childsum or nary", .choices = cell_names)

#define TREE_LSTM_DOC                                                                              \
    "PATH is a file of trees in labelled brackets, \"(3 (2 good) (2 film))\", or a folder "        \
    "with the three files sents_idx.txt, parents.txt and labels.txt. Without --train, "            \
    "$CAVS_DATA/sst/train.txt and dev.txt are read. --predict reads brackets, whose labels "       \
    "may be missing or '?', and writes them with the labels that the model gives.\n\n"             \
    "In the report accuracy_all is of all vertices that have a label, accuracy_root of the roots " \
    "among them.\n\n"                                                                              \
    "Cells: bench and nary want two children at each inner vertex, childsum takes any "            \
    "number. Their parameters in model files (e: --embed, h: --hidden; gates side by side "        \
    "in the order of their names):\n"                                                              \
    "  all       embedding (words x e), W_iou (e x 3h), W_class (h x 5), b_class\n"                \
    "  bench     b_leaf, U_iou (2h x 3h), b_iou, F1 (h x h), F2 (h x h), b_f\n"                    \
    "  childsum  b_iou, U_iou (h x 3h), U_f (h x h), b_f\n"                                        \
    "  nary      b_leaf, U_iouf (2h x 5h), b_iouf"

struct tree_lstm tree_lstm_defaults(void);
/* All of the program but its name, doc, options, and how it gets at a model and samples. */
struct program tree_lstm_program(void);

/* Reads the sets; the report says what of. */
int tree_lstm_load(struct tree_lstm *t);
struct tree_lstm_sizes tree_lstm_sizes(const struct tree_lstm *t);
/* Reads the next trees to be labelled into t->predictor; as tree_predictor_read(). */
int tree_lstm_read(struct tree_lstm *t, int most);

#endif
