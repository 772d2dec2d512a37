/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dyn_spinn.h - SPINN (Bowman et al. 2016): a network that reads a sentence word by word, decides
 * by itself when the two topmost pieces of its stack are one phrase, and is a Tree-LSTM over the
 * tree that it makes in that way.  Which vertices there are depends on what was computed of those
 * before: no graph could be given beforehand.
 *
 * A piece has a state [c; h].  x is the embedding of a word, s() the logistic function:
 *
 *     word     [c h] = x W_leaf + b_leaf
 *     tracker  an LSTM over all moves, which sees h of the next word and of the two topmost pieces;
 *              its own h, t, gives the scores of the moves: t W_move + b_move (shift, reduce)
 *     phrase   [i o u f_l f_r] = [h_l; h_r; t] U + b
 *              c = s(i) tanh(u) + s(f_l) c_l + s(f_r) c_r,  h = s(o) tanh(c)
 *     label    h W_class + b_class
 *
 * In training a sentence is read along its own tree, or, with probability --explore, the way that
 * the network takes; a move is right if it makes a phrase of that tree where it can.  Labels are
 * compared for all phrases of it, and at the end for the whole.  Where nothing is trained the
 * network always goes its own way.  All sentences of a batch advance together, a move at a time.
 */
#ifndef CAVS_APPS_DYN_SPINN_H
#define CAVS_APPS_DYN_SPINN_H

#include "apps/common/program.h"
#include "apps/common/random.h"
#include "apps/common/tape_rows.h"
#include "apps/tree_lstm_predict.h"
#include "apps/treebank.h"
#include "core/cavs_cells.h"

enum spinn_move { SPINN_SHIFT, SPINN_REDUCE, SPINN_MOVES };

/* What lies on the stack. */
struct piece {
    struct cavs_symbol *c, *h;
    int vertex; /* of the sentence's tree that it is; -1: no phrase of it */
    int made;   /* its number in the tree that the network makes */
};

/* A sentence that is being read. */
struct reading {
    struct cavs_function *of; /* its sample */
    struct tree tree;
    const int *parent; /* [n] */
    bool labelled;     /* compare with the tree */
    bool own_way;
    int words, next, depth, phrases; /* phrases: those that are of the tree */
    int vertices, *children;         /* made so far; [vertices][2] children of each, -1 at words */
    const int *leaf;                 /* [words] vertices that are words */
    struct piece *stack;             /* [words] */
    struct piece front;              /* the next word, if front_of says so */
    int front_of;
    struct cavs_symbol **logits;         /* [n] of what is made; NULL: not wanted */
    struct cavs_symbol *tracker, *moves; /* its state, and the scores of the next move */
};

struct dyn_spinn {
    struct app app; /* first: the frame hands it over */
    int tracker_width;
    float explore;
    struct treebank bank;

    struct cavs_param *embedding, *W_leaf, *b_leaf, *W_move, *b_move, *U, *b, *W_class, *b_class;
    struct cavs_cell tracker;

    struct reading *readings;
    int n, *ints;
    struct piece *pieces;
    size_t readings_room, ints_room, pieces_room;
    struct tape_rows moves, logits;
    struct rng draws;
    uint64_t batches;
    int64_t phrases, all_phrases; /* of the pass over a set that is going on */

    struct tree_predictor predictor;
    struct forest made;
};

/* dyn_spinn_model.c */
int dyn_spinn_declare(struct dyn_spinn *s);
/* Whether all words are read and one piece is left. */
bool dyn_spinn_is_done(const struct reading *r);
/* Whether there is more than one move. */
bool dyn_spinn_has_choice(const struct reading *r);
/* Records the next decision; r->moves are its scores. */
void dyn_spinn_decide(struct dyn_spinn *s, struct reading *r);
/* The move by these scores (NULL: the tree's), compared with the tree where it has one. */
void dyn_spinn_move(struct dyn_spinn *s, struct reading *r, const float *scores);

#endif
