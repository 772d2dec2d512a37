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
#include "apps/common/random.h"
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

    /* Parses sentences: d is empty, for their samples.  0, 1 if a signal came first, or a negative
     * code. */
    int (*parse)(struct parser *p, const struct parser_text *t, struct cavs_data *d,
                 struct parser_trees *out);
    struct conllu_predictor predictor;
    struct parser_text unparsed; /* what it read last */
    struct parser_trees trees;
};

#define PARSER_ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct parser, member, OPTION_##role, __VA_ARGS__)

#define PARSER_OPTIONS                                                                            \
    OPTION_GROUP("Network:"),                                                                     \
        PARSER_ROW(INT, "mlp", "N", mlp, MODEL, "width of the network that decides", 1, 1 << 20), \
        PARSER_ROW(REAL, "word-dropout", "A", word_dropout, RUN,                                  \
                   "a word seen n times is <unk> in training with probability A / (n + A)", 0,    \
                   1e6),                                                                          \
        PARSER_ROW(INT, "side-by-side", "N", side_by_side, KEPT, "sentences parsed at once", 1,   \
                   1 << 20)

#define PARSER_DOC                                                                                \
    "PATH is a file in the CoNLL-U format. Without --train, the English Web Treebank of "         \
    "Universal Dependencies is read: $CAVS_DATA/ud_ewt/en_ewt-ud-train.conllu and "               \
    "en_ewt-ud-dev.conllu. Sentences whose trees have crossing arcs are left out of training "    \
    "(skipped_sentences), of nothing else: dev_uas, dev_las, test_uas and test_las are shares "   \
    "of all words, punctuation counted; train_moves and train_relations are shares of those "     \
    "that were right. --predict writes the columns HEAD and DEPREL, a tree of one root for each " \
    "sentence; with --json it writes forms, heads (0: the root), relations, and the model's "     \
    "probabilities of the move that made each arc and of its relation, an object a "              \
    "sentence.\n\n"                                                                               \
    "Parameters in model files (e: --embed, h: --hidden, m: --mlp; gates i, f, o, u side "        \
    "by side): embedding (words x e), shape (endings x e/2), forward_W (1.5e x 4h), "             \
    "forward_U (h x 4h), forward_b, backward_W, backward_U, backward_b, W_stack0, "               \
    "W_stack1, W_stack2, W_next (2h x m), b_position, W_score (m x 3 + relations), b_score."

/* ---- parser_program.c: what the declared and the recorded parser share ----------------------- */

struct parser parser_defaults(void);
/* All of the program but its name, doc, options, and how it gets at a model and samples. */
struct program parser_program(void);
void parser_clear(struct parser *p);
/* Words and sets; the report says what they are. */
int parser_load(struct parser *p);
/* Draws which words of a training sentence are unknown: rows of the embedding for all. */
void parser_draw_words(const struct parser *p, struct rng *r, int sentence, int *row);
/* What is right of the decisions of the epoch. */
int parser_report_moves(struct parser *p);
/* Room in p->trees for those of the set.  0 or a negative code. */
int parser_reserve_trees(struct parser *p, enum app_set set);
/* Compares p->trees with those of the set. */
void parser_report(struct parser *p, enum app_set set);
/* The best of the allowed moves by these scores, and that move made, with the likeliest relation;
 * probabilities go into the trees, in which the sentence begins at `first`. */
enum move parser_best_move(const struct parse *parse, const float *scores);
void parser_move(const struct parser *p, struct parse *parse, const float *scores,
                 struct parser_trees *into, size_t first);

/* ---- the declared one ------------------------------------------------------------------------ */

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
/* The same, and adds the samples first: struct parser's parse(). */
int parser_decode_samples(struct parser *p, const struct parser_text *t, struct cavs_data *d,
                          struct parser_trees *out);
/* False when memory is short. */
bool parser_trees_reserve(struct parser_trees *t, size_t words, bool shares);
/* parser_predict.c: struct program's predict(). */
int parser_predict(struct app *a, struct cavs_data *d, int most);

/* What a decision looks at: inputs of the stage "decision", channels of the stage "word". */
extern const char *const parser_positions[POSITIONS];

#endif
