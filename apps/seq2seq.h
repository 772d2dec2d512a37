/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seq2seq.h - what the files of seq2seq and dyn_seq2seq share: options, examples, and answers that
 * are written; the model and its samples are seq2seq's own.
 *
 *     seq2seq_program.c   options, examples, what is measured
 *     seq2seq_answers.c   --decode and --predict: sources are read, answers are written
 *     seq2seq_tasks.c     what there is to learn
 */
#ifndef CAVS_APPS_SEQ2SEQ_H
#define CAVS_APPS_SEQ2SEQ_H

#include <limits.h>

#include "apps/common/lines.h"
#include "apps/common/program.h"
#include "apps/seq2seq_tasks.h"
#include "core/cavs_cells.h"

#define SEQ2SEQ_ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct seq2seq, member, OPTION_##role, __VA_ARGS__)

#define SEQ2SEQ_OPTIONS                                                                            \
    OPTION_GROUP("Task:"),                                                                         \
        SEQ2SEQ_ROW(CHOICE, "task", "NAME", task, MODEL, "reverse or add", .choices = task_names), \
        SEQ2SEQ_ROW(INT, "length", "N", length, MODEL,                                             \
                    "at most N letters (default 10), or digits of a number (3)", 1,                \
                    EXAMPLE_MOST - 1),                                                             \
        SEQ2SEQ_ROW(INT, "samples", "N", nsamples, RUN, "examples in an epoch", 1, INT_MAX - 1),   \
        SEQ2SEQ_ROW(INT, "dev-samples", "N", dev_samples, RUN,                                     \
                    "examples to evaluate after each epoch, none of them trained on", 1,           \
                    INT_MAX - 1),                                                                  \
        SEQ2SEQ_ROW(FLAG, "no-attention", NULL, no_attention, MODEL,                               \
                    "answer from the decoder's state alone"),                                      \
        SEQ2SEQ_ROW(INT, "decode", "N", decode, FREE,                                              \
                    "print the decoded answers to N of them at the end", 0, INT_MAX - 1)

#define SEQ2SEQ_DOC                                                                             \
    "A sum is written from its last digit on. dev_exact is the share of answers without a "     \
    "mistake.\n\n"                                                                              \
    "--predict reads a source a line, \"stare\" or \"128+95\", and writes the answers, "        \
    "\"erats\" "                                                                                \
    "and \"322\"; with --json also the probability of each symbol, and last that of the "       \
    "end. Empty lines stay empty.\n\n"                                                          \
    "Parameters in model files (s: symbols, e: --embed, h: --hidden; gates i, f, o, u side by " \
    "side): embedding (s x e), encoder_W (e x 4h), encoder_U (h x 4h), encoder_b, decoder_W, "  \
    "decoder_U, decoder_b, W_score (h x h), W_attend (2h x h), b_attend, W_out (h x s), "       \
    "b_out."

/* An answer as it grows: x.nanswer symbols so far. */
struct guess {
    struct example x;
    double probability[EXAMPLE_MOST]; /* of each symbol, the end too */
    bool ended;
    size_t line; /* of --predict's input, where the source stands */
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
    struct cavs_stage *answer; /* of seq2seq */
    struct example *examples[APP_SETS];
    int nexamples[APP_SETS];
    int exact; /* answers of the development set without a mistake, in the pass at hand */
    struct seq2seq_decoder decoding;
    /* Finds answers to the sources of the first n guesses: 0 or a negative code. */
    int (*answer_all)(struct seq2seq *s, int n);
};

/* seq2seq_program.c */
struct seq2seq seq2seq_defaults(void);
/* All of the program but its name, doc, options, twin, and how it computes. */
struct program seq2seq_program(void);
/* Its check(), of the options that both have. */
void seq2seq_check(struct app *a, const struct option_list *l);
/* Draws the examples of all sets that there are. */
int seq2seq_draw(struct seq2seq *s);
void seq2seq_clear(struct app *a);

/* seq2seq_answers.c: struct program's; the first one is for --decode. */
int seq2seq_print_answers(struct app *a);
int seq2seq_predict(struct app *a, struct cavs_data *d, int most);
void seq2seq_decoder_clear(struct seq2seq_decoder *d);

/* ---- of seq2seq alone ---- */

#define SEQ2SEQ_LOGITS \
    "logits" /* the channel of the answer's scores, if there is something to decode */

/* The finished model. */
int seq2seq_declare(struct seq2seq *s);
enum { DECODER_FIRST, DECODER_NEXT }; /* numbers of the decoder's functions */

/* Adds an example with the first n symbols of its answer. */
int seq2seq_add(const struct seq2seq *s, struct cavs_data *d, const struct example *x, int n);

/* seq2seq_decode.c: answer_all(). */
int seq2seq_decode(struct seq2seq *s, int n);

#endif
