/* SPDX-License-Identifier: Apache-2.0 */
/* tree_lstm_predict.h - trees in brackets in, the same trees with the labels of a model out. */
#ifndef CAVS_APPS_TREE_LSTM_PREDICT_H
#define CAVS_APPS_TREE_LSTM_PREDICT_H

#include "apps/common/forest.h"
#include "apps/common/program.h"

enum { TREE_CLASSES = 5 };

/* Start from a zeroed struct. */
struct tree_predictor {
    struct ptb_stream *stream;
    struct forest trees; /* what was read last */
    int *labels;
    size_t room;
};

/* Reads the next trees, at most `most`, into p->trees; how many, 0 at the end, or a negative
 * code. */
int tree_predictor_read(struct tree_predictor *p, struct app *a, int most, struct vocab *words,
                        const char *binary_cell);
/* Writes them with the likeliest labels.  rows: a score for each vertex and class. */
int tree_predictor_write(struct tree_predictor *p, struct app *a, const float *rows);
void tree_predictor_clear(struct tree_predictor *p);

#endif
