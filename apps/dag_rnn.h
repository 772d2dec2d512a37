/* SPDX-License-Identifier: Apache-2.0 */
/* dag_rnn.h - what the two files of dag_rnn share: the model (dag_rnn.c) and its samples
 * (dag_rnn_data.c). */
#ifndef CAVS_APPS_DAG_RNN_H
#define CAVS_APPS_DAG_RNN_H

#include "apps/common/conllu_predict.h"

enum graph { GRAPH_DEPS, GRAPH_HEAD };

enum cycles { CYCLES_SKIP, CYCLES_CUT };

/* How much of a set there is, and how much of it is not evaluated. */
struct coverage {
    int64_t words;
    int64_t words_left_out;
    int sentences_left_out;
    int cyclic; /* sentences, left out or not */
};

struct dag_rnn {
    struct app app; /* first: the frame hands it over */
    int graph;      /* enum graph */
    int cycles;     /* enum cycles */
    int min_relation;
    struct vocab *words, *tags, *relations;
    struct cavs_stage *dag, *tag;
    struct coverage coverage[APP_SETS];
    struct conllu_predictor predictor;
    int *ints; /* scratch of a sentence */
    size_t cap;
};

/* Words, tags and relations of the model file, or those of the training set that are frequent
 * enough.  0 or a negative code, as of what follows. */
int dag_rnn_words(struct dag_rnn *d);
/* struct program's: dag_rnn_fill() also counts what is in the set. */
int dag_rnn_fill(struct app *a, enum app_set set, struct cavs_data *to);
int dag_rnn_predict(struct app *a, struct cavs_data *to, int most);

#endif
