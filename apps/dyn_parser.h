/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dyn_parser.h - the transition parser of parser.h as ordinary code, recorded on a tape:
 * parameters, files and, without exploration, losses are the same.
 *
 * With exploration the parser is trained on the way that it takes itself: each decision is recorded
 * when the one before has been computed and made, by the model with probability --explore, else by
 * an oracle which knows of every state what the moves cost from there (dynamic_oracle.h).  The
 * truth of a decision is the best move of no cost.  All sentences of a batch advance together: a
 * move of each is one cavs_tape_values().
 */
#ifndef CAVS_APPS_DYN_PARSER_H
#define CAVS_APPS_DYN_PARSER_H

#include "apps/common/tape_rows.h"
#include "apps/dynamic_oracle.h"
#include "apps/parser.h"

/* A sentence that is being read. */
struct reading {
    struct cavs_function *of; /* its sample */
    struct parse parse;
    const int *head, *relation; /* its tree, in training */
    int *waiting;               /* of that, for parse_oracle_move() */
    struct cavs_symbol **word;  /* [n]: both states of each word */
    struct cavs_symbol **at;    /* [n][POSITIONS]: what it is to each, once that was needed */
    struct cavs_symbol *scores; /* of the decision at hand */
};

struct dyn_parser {
    struct parser shared; /* first: the frame hands it over */
    float explore;
    int explore_after;

    struct cavs_param *embedding, *shape, *W[POSITIONS], *b_position, *W_score, *b_score;
    struct cavs_cell lstm[2]; /* by enum cavs_way */

    /* the sentences that are being read, and what they consist of */
    struct reading *readings;
    int n, *ints;
    struct cavs_symbol **symbols;
    size_t readings_room, ints_room, symbols_room;
    struct tape_rows words;
    struct tape_rows scores; /* of those that are not done */

    size_t *moves; /* [sentences + 1]: where the moves of training sentences begin */
    struct dynamic_oracle oracle;
    struct rng draws; /* of this batch */
};

/* ---- dyn_parser_model.c ---------------------------------------------------------------------- */

int dyn_parser_declare(struct dyn_parser *p);
/* Begins a sample, of a sentence whose words have these rows: reads it in both ways. */
void dyn_parser_read(struct dyn_parser *p, struct reading *r, const int *word, const int *shape);
/* Records the next decision: r->scores, MOVES of moves and then those of relations. */
void dyn_parser_decide(struct dyn_parser *p, struct reading *r);
/* Compares the decision with a move and a relation; -1: none. */
void dyn_parser_compare(struct dyn_parser *p, const struct reading *r, enum move m, int relation);

/* ---- dyn_parser_readings.c ------------------------------------------------------------------- */

/* Reads n sentences of a text; with their trees, and in training with some words dropped. */
int dyn_parser_read_all(struct dyn_parser *p, const struct parser_text *t, const int *sentences,
                        int n, bool with_trees);
/* Computes all words of all sentences at once, once they are read. */
int dyn_parser_compute_words(struct dyn_parser *p);
/* Computes the scores of the next moves of all sentences that are not done, in their order; how
 * many these are, or a negative code. */
int dyn_parser_score_all(struct dyn_parser *p);
/* Whether the oracle's moves lead to the tree of a sentence: it has no crossing arcs.  Overwrites
 * what was read. */
int dyn_parser_has_moves(struct dyn_parser *p, const struct parser_text *t, int sentence,
                         bool *has);

/* ---- dyn_parser_train.c, dyn_parser_decode.c: what the frame calls (program.h, parser.h) ----- */

/* Which words are dropped and where the model goes its own way follows from the seed and the number
 * of batches so far. */
int dyn_parser_begin_batch(struct app *a, const int *samples, int n);
int dyn_parser_record(struct app *a, enum app_set set, const int *samples, int n);
int dyn_parser_parse(struct parser *shared, const struct parser_text *t, struct cavs_data *none,
                     struct parser_trees *out);

#endif
