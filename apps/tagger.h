/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tagger.h - a bidirectional LSTM that gives each word of a sentence its tag.
 *
 *     forward, backward   two stages over the same words, chained in opposite directions
 *     tag                 a stage over the words: the two states of a word side by side, its tag, the loss
 *
 * Vertex w is word w of the sentence in all three stages; the tag stage stands over the forward one and
 * names vertices of the backward one by their number (the input "position").
 *
 * Words of the two LSTM stages have the function "word", which looks up an embedding.  A program may add
 * the function "rare" for rare words, made from something else.  The objective is the cross-entropy summed
 * over a batch and divided by --batch: a mean per sentence.
 */
#ifndef CAVS_APPS_TAGGER_H
#define CAVS_APPS_TAGGER_H

#include "apps/common/app.h"
#include "apps/common/data_files.h"
#include "apps/common/packed.h"
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
    /* adds to the sample that is open: a sentence of n words (ids of t->words) of these functions; 0 or a
     * negative code */
    int (*add)(struct tagger *t, struct cavs_data *d, int n, const int *words,
               const int *functions);
};

struct tagger {
    const char *name;               /* of the program */
    const struct tagger_rare *rare; /* NULL: rare words are <unk> */
    struct app_options common;
    struct data_files files;
    struct packed_files packed; /* used by bilstm_tagger only: rare words are not packed */
    int min_count;
    float dropout;

    struct vocab *words, *tags; /* of both sets */
    int *row;          /* [trained]: row in the embedding table of a word, 0 for a rare one */
    int trained, rows; /* words of the training set; rows of the table */
    struct sentences train_text, dev_text;
    struct cavs_model *model;
    struct cavs_cell lstm[2]; /* by enum cavs_way */
    struct cavs_stage *head;
    struct cavs_data *train, *dev;
    struct app app;
};

/* The options of both programs; its input is a struct tagger. */
extern const struct argp tagger_argp;
#define TAGGER_DOC                                                                              \
    "PATH is a file of sentences, one a line, of tokens word|TAG between spaces; CAVS_DATA is " \
    "../shared/data unless the environment says otherwise.\n\n"                                 \
    "Parameters in model files (e: --embed, h: --hidden; gates i, f, o, u side by side): "      \
    "embedding (words x e), forward_W (e x 4h), forward_U (h x 4h), forward_b, backward_W, "    \
    "backward_U, backward_b, W_tag (2h x tags), b_tag."

struct tagger tagger_defaults(const char *name);
/* The whole program after its options are known; returns the exit status. */
int tagger_main(struct tagger *t);

#endif
