/* SPDX-License-Identifier: Apache-2.0 */
/* conllu_predict.h - --predict for sentences: CoNLL-U in, the same lines with a model's columns
 * out, or a JSON object each. */
#ifndef CAVS_APPS_CONLLU_PREDICT_H
#define CAVS_APPS_CONLLU_PREDICT_H

#include "apps/common/conllu.h"
#include "apps/common/program.h"

/* struct program's default_set. */
#define CONLLU_DEFAULT_SETS                                            \
    {                                                                  \
        "ud_ewt/en_ewt-ud-train.conllu", "ud_ewt/en_ewt-ud-dev.conllu" \
    }

/* Start from a zeroed struct. */
struct conllu_predictor {
    struct conllu_stream *stream;
    struct conllu_text text; /* the sentences that were read last */
    bool at_end;             /* nothing follows them */
    int *ids;
    size_t room;
};

/*
 * Reads the next sentences, at most `most`, and hands each to the visitor.  How many, 0 at the end,
 * or a negative code; what is wrong in the middle is said in the next call, so that the sentences
 * before it are predicted.  Of the options `partial` and `text` are set here; what they point to
 * has to be the same in each call.
 */
int conllu_predictor_read(struct conllu_predictor *p, struct app *a, int most,
                          const struct conllu_options *o, const struct conllu_visitor *visitor);
/* Writes sentence i of these with the columns. */
void conllu_predictor_write(struct conllu_predictor *p, struct app *a, int i,
                            const struct conllu_columns *c);
/* Writes what stands behind the last sentence; to be called after the sentences of each
 * conllu_predictor_read(). */
void conllu_predictor_finish(struct conllu_predictor *p, struct app *a);
/* The words of sentence i as they are written: an array; NULL: memory is short. */
json_t *conllu_predictor_forms(const struct conllu_predictor *p, int i);
void conllu_predictor_clear(struct conllu_predictor *p);

/* The channel on which a stage pushes the scores of all tags. */
#define CONLLU_LOGITS "logits"

/* Writes all sentences, the samples of d, with the likeliest tags in the column UPOS: those of the
 * stage's vertices, of which the first of each sample are its words.  <unk> is no tag.  JSON:
 * "forms", "upos" and "probabilities", an object of all tags for each word. */
int conllu_predictor_tag(struct conllu_predictor *p, struct app *a, const struct cavs_data *d,
                         const struct cavs_stage *stage, const struct vocab *tags);

#endif
