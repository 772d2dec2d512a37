/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tagger.h - a bidirectional LSTM that gives each word of a sentence its tag.
 *
 *     forward, backward   two stages over the same words, chained in opposite directions
 *     tag                 a stage over the words: the two states of a word side by side, its tag,
 *                         the loss
 *
 * Vertex w is word w of the sentence in all three stages; the tag stage stands over the forward one
 * and names vertices of the backward one by their number (the input "position").
 *
 * Words of the two LSTM stages have the function "word", which looks up an embedding.  A word
 * without a row there is rare: it takes the row of <unk>, or in a program that adds the function
 * "rare" it is made from something else.  The objective is the cross-entropy summed over a batch
 * and divided by --batch: a mean per sentence.
 */
#ifndef CAVS_APPS_TAGGER_H
#define CAVS_APPS_TAGGER_H

#include <limits.h>

#include "apps/common/entities.h"
#include "apps/common/program.h"
#include "apps/common/sentences.h"
#include "core/cavs_cells.h"

enum tagger_function { TAGGER_WORD, TAGGER_RARE }; /* numbers of the vertex functions */

struct tagger;

/* What bilstm_char_tagger adds. */
struct tagger_rare {
    /* declares stages that come before the words' */
    void (*declare)(struct tagger *t);
    /* what stands for the embedding of a rare word in its function f: --embed wide */
    struct cavs_symbol *(*embedding)(struct tagger *t, struct cavs_function *f);
    /* adds to the sample that is open: a sentence of n words of these functions; 0 or a negative
     * code */
    int (*add)(struct tagger *t, struct cavs_data *d, int n, const char *const *words,
               const int *functions);
};

/* --predict: the input and what was read last. */
struct tagger_predictor {
    struct sentence_stream *stream;
    struct sentences read;
    int *tags; /* the likeliest: room for those of a sentence or a batch */
    size_t room;
};

struct tagger {
    struct app app;                 /* first: the frame hands it over */
    const struct tagger_rare *rare; /* NULL: rare words are <unk> */
    int min_count;

    struct vocab *words; /* those with a row in the embedding */
    struct vocab *tags;
    struct sentences text[APP_SETS]; /* until it has become samples */
    struct cavs_cell lstm[2];        /* by enum cavs_way */
    struct cavs_stage *head;
    /* gives the scores of the words that the predictor has read, all in one array */
    int (*score)(struct tagger *t, struct cavs_data *d, const float **logits);
    struct entity_counts found; /* in the pass over a set that is going on */
    struct tagger_predictor predictor;
};

/* ---- for the programs ------------------------------------------------------------------------ */

/* The first rows of their tables of options; the struct that the values lie in begins with a struct
 * tagger. */
#define TAGGER_OPTIONS                                                                   \
    OPTION_GROUP("Text:"),                                                               \
        OPTION_ROW(OPTION_INT, "min-count", "N", struct tagger, min_count, OPTION_MODEL, \
                   "words seen less often in the training set are rare", 1, INT_MAX)

#define TAGGER_DOC                                                                              \
    "PATH is a file of sentences, one a line, of tokens word|TAG between spaces. Without "      \
    "--train, $CAVS_DATA/wikiner10k/train.txt and dev.txt are read. --predict reads such "      \
    "lines, too, or words without tags, and writes word|TAG with the tags that the model "      \
    "gives.\n\n"                                                                                \
    "Entities are what tags B-TYPE and I-TYPE mark (IOB1 or IOB2), counted as conlleval does: " \
    "f1, precision and recall. accuracy is of words. What needs no network is there beside "    \
    "them: majority_accuracy, if all words get the commonest tag; word_baseline and "           \
    "word_baseline_f1, accuracy and f1 if each word gets its commonest one. A word whose tag "  \
    "training has not seen counts as wrong in all of these.\n\n"                                \
    "Parameters in model files (e: --embed, h: --hidden; gates i, f, o, u side by side): "      \
    "embedding (words x e), forward_W (e x 4h), forward_U (h x 4h), forward_b, backward_W, "    \
    "backward_U, backward_b, W_tag (2h x tags), b_tag."

#define TAGGER_CHARS_DOC                                                                     \
    "  Of characters (c: --char-embed): char_embedding (256 x c), char_forward_W (c x 2e), " \
    "char_forward_U (e/2 x 2e), char_forward_b, char_backward_W, char_backward_U, "          \
    "char_backward_b."

/* struct program's check() where each way makes half of a rare word's embedding. */
void tagger_check_halves(struct app *a, const struct option_list *l);
struct tagger tagger_defaults(void);
/* All of the program but its name, doc, options, and how it gets at a model and samples. */
struct program tagger_program(void);
/* tagger.c: that, with declared networks; what is left is its name, doc, options, twin, and what
 * reads_packed says. */
struct program tagger_declared(struct tagger *t);
void tagger_clear(struct app *a);

/* ---- its parts ------------------------------------------------------------------------------- */

/* tagger_text.c: sets t->words and t->tags to those of the model file, or of the training set, and
 * reads the sets that are text into t->text, with their words as they are written.  What the
 * commonest tags give goes to the report. */
int tagger_read(struct tagger *t);

/* tagger_program.c: that, and what the report says of it. */
int tagger_load(struct tagger *t);

/* tagger_predict.c: compares what the model gives for n words with their labels, for what is
 * measured. */
int tagger_count(struct tagger *t, int n, const int *labels, const float *logits);
/* What the frame's struct program has. */
int tagger_measure(struct app *a, enum app_set set);
int tagger_predict(struct app *a, struct cavs_data *d, int most);
void tagger_predictor_clear(struct tagger_predictor *p);
#define TAGGER_LOGITS "logits" /* channel of the stage "tag": one for each tag */

#endif
