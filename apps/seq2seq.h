/* SPDX-License-Identifier: Apache-2.0 */
/* seq2seq.h - what the files of seq2seq share: its state, and examples as samples. */
#ifndef CAVS_APPS_SEQ2SEQ_H
#define CAVS_APPS_SEQ2SEQ_H

#include "apps/common/lines.h"
#include "apps/common/program.h"
#include "apps/seq2seq_tasks.h"
#include "core/cavs_cells.h"

#define SEQ2SEQ_LOGITS \
    "logits" /* the channel of the answer's scores, if there is something to decode */

/* An answer as it grows: x.nanswer symbols so far. */
struct guess {
    struct example x;
    double probability[EXAMPLE_MOST]; /* of each symbol, the end too */
    bool ended;
};

/* Start from a zeroed struct. */
struct seq2seq_decoder {
    struct guess *guess; /* answers that grow side by side */
    size_t room;
    struct lines lines; /* sources of --predict */
    bool open;
    int failed; /* what to return when all that came before is written */
};

struct seq2seq {
    struct app app; /* first: the frame hands it over */
    int task;       /* enum task */
    int length, nsamples, dev_samples, decode;
    bool no_attention;
    int symbols; /* with the end */
    struct cavs_cell encoder, decoder;
    struct cavs_stage *answer;
    struct example *dev_examples;
    int exact; /* answers of the development set without a mistake, in the pass at hand */
    struct seq2seq_decoder decoding;
};

/* The finished model. */
int seq2seq_declare(struct seq2seq *s);
enum { DECODER_FIRST, DECODER_NEXT }; /* numbers of the decoder's functions */

/* Adds an example with the first n symbols of its answer. */
int seq2seq_add(const struct seq2seq *s, struct cavs_data *d, const struct example *x, int n);

/* struct program's; the first one is for --decode. */
int seq2seq_print_answers(struct app *a);
int seq2seq_predict(struct app *a, struct cavs_data *d, int most);
void seq2seq_decoder_clear(struct seq2seq_decoder *d);

#endif
