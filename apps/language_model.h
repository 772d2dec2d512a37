/* SPDX-License-Identifier: Apache-2.0 */
/*
 * language_model.h - an LSTM that predicts each word of a text from those before it in the same
 * chain.
 *
 * The text is one stream of words with <eos> after each line.  A program says where the stream is
 * cut into chains; then every word is predicted exactly once, from the word before it in the stream
 * (<eos> before the first) and the state of the chain, which is zero at its beginning.  Two ways of
 * cutting so have the same loss terms and can be compared.
 *
 * The objective is the cross-entropy summed over a batch and divided by the average number of words
 * in a batch, --batch times the mean length of a chain: a mean per word that gives each word the
 * same weight.
 */
#ifndef CAVS_APPS_LANGUAGE_MODEL_H
#define CAVS_APPS_LANGUAGE_MODEL_H

#include <stddef.h>

#include "apps/common/program.h"
#include "apps/common/sentences.h"
#include "core/cavs_cells.h"

struct language_text {
    size_t words;
    int *stream; /* [words + 1]: <eos>, then the words; rows of the embedding table */
    size_t lines;
    size_t *line; /* [lines + 1]: line l has the words line[l] .. line[l+1] */
};

struct language_model {
    struct app app; /* first: the frame hands it over */
    /* The end of the chain that begins with word `begin`: more than that, at most text->words. */
    size_t (*chain_end)(const struct language_model *lm, const struct language_text *text,
                        size_t begin);
    int max_words;

    struct vocab *vocab; /* its ids are rows of the embedding table */
    struct language_text text[APP_SETS];
    struct cavs_cell lstm;
    struct cavs_stage *head;

    struct sentence_stream *stream; /* of what is to be predicted, */
    struct sentences lines;         /* and what was read of it last */
};

#define LANGUAGE_EOS  "<eos>"
#define LANGUAGE_COST "cost" /* channel: minus the log-probability of a word */

/* Adds all chains of a text to the data. */
int language_model_add(const struct language_model *lm, struct cavs_data *d,
                       const struct language_text *text);
/* language_model_predict.c: what `predict` of a program is (apps/common/program.h). */
int language_model_predict(struct app *a, struct cavs_data *d, int most);

#define LANGUAGE_MODEL_DOC                                                                        \
    "PATH is a text of words between spaces, where each line, an empty one too, ends with the "   \
    "word <eos>; without --train, "                                                               \
    "$CAVS_DATA/wikitext2/wiki.train.tokens and wiki.valid.tokens are read. --predict writes "    \
    "for each line its perplexity, a tab, and the line; with --json also the log-probability of " \
    "each word.\n\n"                                                                              \
    "Parameters in model files (w: words, e: --embed, h: --hidden; gates i, f, o, u side by "     \
    "side): embedding (w x e), lstm_W (e x 4h), lstm_U (h x 4h), lstm_b, W_out (h x w), b_out."

/* What both programs have in common; a program adds its name, its options and what they are for. */
struct program language_model_program(const char *name, const char *doc,
                                      const struct app_option *options);
struct language_model language_model_defaults(void);

#endif
