/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parser.h - a transition parser: a bidirectional LSTM reads the words, then a small network makes one move after the
 * other (transitions.h) from what lies on top of the stack and comes next.
 *
 *     forward, backward   stages over the words, chained in opposite directions; word 0 is the root
 *     word                over the words: what each position of a decision (enum position) gets of a word that lies there:
 *                         its two states side by side, times a matrix for that position
 *     decision            one vertex a move: the sum over its positions, tanh, then the move and, for LEFT and RIGHT, the
 *                         relation of the new dependent
 *
 * In training the moves are the oracle's, so all decisions of all sentences are known and evaluated at once.  To parse,
 * the words' rows are computed once, and then sentences are parsed side by side: a second model, with the stage
 * "decision" alone, makes the next move of all of them in one batch.
 */
#ifndef CAVS_APPS_PARSER_H
#define CAVS_APPS_PARSER_H

#include "apps/common/app.h"
#include "apps/common/data_files.h"
#include "core/cavs_cells.h"
#include "apps/parser_text.h"
#include "apps/transitions.h"

struct parser {
    struct app_options common;
    struct data_files files;
    int min_count, mlp, side_by_side;
    double word_dropout, dropout;

    struct parser_words words;
    struct parser_text train_text, dev_text;
    int *sentence_of; /* [samples]: the sentence of the training text */
    int skipped;      /* sentences with crossing arcs */

    struct cavs_model *model;
    struct cavs_cell lstm[2]; /* by enum cavs_way */
    struct cavs_stage *word, *decision;
    struct cavs_data *train, *dev;
    uint64_t batches; /* trained so far: what words are dropped depends on it */

    struct cavs_model *mover; /* the second model */
    struct cavs_stage *moves;
    struct cavs_session *mover_session;
    struct app app;
};

/* parser_model.c: 0 or a negative code. */
int parser_declare(struct parser *p);
int parser_declare_mover(struct parser *p);
/* parser_data.c */
int parser_make_data(struct parser *p, const struct parser_text *t, struct cavs_data **out,
                     int **sentence_of);
/* parser_decode.c: parses the development set with the present parameters; shares of words with the right head, and with
 * the right head and relation. */
int parser_decode(struct parser *p, double *uas, double *las);

/* Arrays of one sentence: the graph of its words, and what each move looks at. */
extern const char *const parser_positions[POSITIONS];

#endif
