/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parser.h - a transition parser: a bidirectional LSTM reads the words, then a small network makes
 * one move after the other (transitions.h) from what lies on top of the stack and comes next.
 *
 *     forward, backward   stages over the words, chained in opposite directions; word 0 is the root
 *     word                over the words: what each position of a decision (enum position) gets of
 *                         a word that lies there: its two states side by side, times a matrix for
 *                         that position
 *     decision            one vertex a move: the sum over its positions, tanh, then the move and,
 *                         for LEFT and RIGHT, the relation of the new dependent
 *
 * In training the moves are the oracle's, so all decisions of all sentences are known and evaluated
 * at once.  To parse, the words' rows are computed once, and then sentences are parsed side by
 * side: a second model, with the stage "decision" alone, makes the next move of all of them in one
 * batch.
 */
#ifndef CAVS_APPS_PARSER_H
#define CAVS_APPS_PARSER_H

#include "apps/common/conllu_predict.h"
#include "apps/common/program.h"
#include "apps/parser_text.h"
#include "apps/transitions.h"
#include "core/cavs_cells.h"

/* Trees of all sentences of a text, word by word as in struct parser_text.  Start from a zeroed
 * struct. */
struct parser_trees {
    int *head, *relation; /* relation 0: the model knows none */
    /* probabilities of the move that made the arc, and of its relation; NULL: not wanted */
    float *move, *label;
    size_t head_cap, relation_cap, move_cap, label_cap;
};

struct parser {
    struct app app; /* first: the frame hands it over */
    int mlp, side_by_side;
    float word_dropout;

    struct parser_words words;
    struct parser_text text[APP_SETS];
    long *counts;     /* [words]: how often a word is in the training set */
    int *sentence_of; /* [samples]: the sentence of the training text */
    int skipped;      /* sentences of the training set with crossing arcs */

    struct cavs_cell lstm[2]; /* by enum cavs_way */
    struct cavs_stage *word, *decision;
    uint64_t batches; /* trained so far: what words are dropped depends on it */

    struct cavs_model *mover; /* the second model */
    struct cavs_stage *moves;
    struct cavs_session *mover_session;

    struct conllu_predictor predictor;
    struct parser_text unparsed; /* what it read last */
    struct parser_trees trees;
};

/* parser_model.c: 0 or a negative code. */
int parser_declare(struct parser *p);
int parser_declare_mover(struct parser *p);
/* parser_data.c: adds a sample for each sentence; if sentence_of is not NULL, with the moves that
 * lead to its tree, and without sentences that none lead to: *sentence_of then gets the sentence of
 * each sample. */
int parser_add_text(struct parser *p, struct cavs_data *d, const struct parser_text *t,
                    int **sentence_of);
/* parser_decode.c: parses the text, whose sentences are the samples of d, with the present
 * parameters.  *out has to have room for all words; each tree has one root and no cycle.  1: a
 * signal came first. */
int parser_decode(struct parser *p, const struct parser_text *t, const struct cavs_data *d,
                  struct parser_trees *out);
/* False when memory is short. */
bool parser_trees_reserve(struct parser_trees *t, size_t words, bool shares);
void parser_trees_clear(struct parser_trees *t);
/* parser_predict.c: struct program's predict(). */
int parser_predict(struct app *a, struct cavs_data *d, int most);

/* What a decision looks at: inputs of the stage "decision", channels of the stage "word". */
extern const char *const parser_positions[POSITIONS];

#endif
