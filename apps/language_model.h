/* SPDX-License-Identifier: Apache-2.0 */
/*
 * language_model.h - an LSTM that predicts each word of a text from those before it in the same chain.
 *
 * The text is one stream of words with <eos> after each line.  A program says where the stream is cut into
 * chains; then every word is predicted exactly once, from the word before it in the stream (<eos> before
 * the first) and the state of the chain, which is zero at its beginning.  Two ways of cutting so have the
 * same loss terms and can be compared.
 *
 * The objective is the cross-entropy summed over a batch and divided by the average number of words in a
 * batch, --batch times the mean length of a chain: a mean per word that gives each word the same weight.
 */
#ifndef CAVS_APPS_LANGUAGE_MODEL_H
#define CAVS_APPS_LANGUAGE_MODEL_H

#include <stddef.h>

#include "apps/common/app.h"
#include "apps/common/data_files.h"
#include "apps/common/packed.h"
#include "apps/common/vocab.h"
#include "core/cavs_cells.h"

struct language_text {
    size_t words;
    int *stream; /* [words + 1]: <eos>, then the words; rows of the embedding table */
    size_t lines;
    size_t *line; /* [lines + 1]: line l has the words line[l] .. line[l+1] */
};

struct language_model {
    const char *name; /* of the program */
    /* The end of the chain that begins with word `begin`: more than that, at most text->words. */
    size_t (*chain_end)(const struct language_model *lm, const struct language_text *text,
                        size_t begin);
    struct app_options common;
    struct data_files files;
    struct packed_files packed; /* chains as they were packed, in place of chain_end */
    int max_words;
    float dropout;

    struct vocab *vocab; /* its ids are rows of the embedding table */
    int rows;            /* 0: not read yet */
    struct language_text train_text, dev_text;
    struct cavs_model *model;
    struct cavs_cell lstm;
    struct cavs_stage *head;
    struct cavs_data *train, *dev;
    struct app app;
};

/* The options of both programs; its input is a struct language_model. */
extern const struct argp language_model_argp;
#define LANGUAGE_MODEL_DOC                                                                        \
    "PATH is a text of words between spaces; CAVS_DATA is ../shared/data unless the environment " \
    "says otherwise.\n\n"                                                                         \
    "Parameters in model files (w: words, e: --embed, h: --hidden; gates i, f, o, u side by "     \
    "side): embedding (w x e), lstm_W (e x 4h), lstm_U (h x 4h), lstm_b, W_out (h x w), b_out."

struct language_model language_model_defaults(const char *name);
/* The whole program after its options are known; returns the exit status. */
int language_model_main(struct language_model *lm);

#endif
