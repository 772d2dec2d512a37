/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seq2seq - an encoder and a decoder LSTM learn to reverse strings and to add numbers.
 *
 *     encoder   a stage over the symbols of the source, a chain
 *     decoder   a stage over those of the answer: vertex t reads symbol t - 1 and is to say symbol
 *               t.  Its first vertex has a function of its own, whose state comes from the
 *               encoder's last vertex
 *     answer    over the decoder: the symbol, the loss.  With attention (Luong et al. 2015,
 *               "general") it looks at all vertices of the encoder before it answers
 *
 * An answer is right if all of its symbols are.  Whether greedy decoding finds it can be told
 * without decoding: as long as each symbol so far was right, the decoder has read what it reads in
 * training, so that the decoded answer is right if and only if every symbol is the likeliest one
 * behind the right ones before it.  dev_exact is counted so; --decode and --predict do decode,
 * symbol by symbol (seq2seq_decode.c).
 */
#include <stdlib.h>
#include <string.h>

#include "apps/seq2seq.h"

/* ---- data ------------------------------------------------------------------------------------ */

static int add_chain(struct cavs_data *d, const struct cavs_cell *cell, int n, const int *functions,
                     const int *symbols)
{
    int child_ptr[EXAMPLE_MOST + 1], child[EXAMPLE_MOST], rc;

    cavs_chain_graph(CAVS_WAY_FORWARD, n, child_ptr, child);
    if (functions && n > 0) { /* the decoder's first vertex gathers nothing */
        child_ptr[0] = 0;
        for (int v = 1; v <= n; v++) {
            child_ptr[v] = v - 1;
            child[v - 1] = v - 1;
        }
    }
    rc = cavs_data_graph(d, cell->stage, n, functions, child_ptr, child);
    return rc < 0 ? rc : cavs_data_ids(d, cell->stage, "symbol", n, symbols);
}

int seq2seq_add(const struct seq2seq *s, struct cavs_data *d, const struct example *x, int n)
{
    int before[EXAMPLE_MOST], functions[EXAMPLE_MOST], last[EXAMPLE_MOST], rc;

    for (int t = 0; t < n; t++) {
        before[t] = t ? x->answer[t - 1] : 0;
        functions[t] = t ? DECODER_NEXT : DECODER_FIRST;
        last[t] = t ? -1 : x->nsource - 1;
    }
    if ((rc = cavs_data_begin(d)) < 0 ||
        (rc = add_chain(d, &s->encoder, x->nsource, NULL, x->source)) < 0 ||
        (rc = add_chain(d, &s->decoder, n, functions, before)) < 0 ||
        (rc = cavs_data_ids(d, s->decoder.stage, "last", n, last)) < 0 ||
        (rc = cavs_data_ids(d, s->answer, "label", n, x->answer)) < 0)
        return rc;
    return cavs_data_end(d);
}

static int make_set(struct seq2seq *s, enum app_set set)
{
    int rc = cavs_data_create(s->app.model, &s->app.data[set]);

    for (int i = 0; rc == 0 && i < s->nexamples[set]; i++) {
        const struct example *x = &s->examples[set][i];

        rc = seq2seq_add(s, s->app.data[set], x, x->nanswer);
    }
    return rc;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Counts answers without a mistake. */
static int evaluate(struct app *a, struct cavs_data *d, const int *samples, int n)
{
    struct seq2seq *s = (struct seq2seq *)a;
    struct cavs_fetch fetch = {s->answer, "right", NULL};
    int rc = app_rows_of(a, d, samples, n, &fetch);
    const float *right = fetch.rows;

    for (int i = 0; rc == 0 && i < n; i++) {
        int wrong = 0;

        for (int t = cavs_data_sample_vertices(d, s->answer, samples[i]); t > 0; t--)
            wrong += *right++ == 0;
        s->exact += !wrong;
    }
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static const struct app_option options[] = {SEQ2SEQ_OPTIONS, {0}};

static int prepare(struct app *a)
{
    struct seq2seq *s = (struct seq2seq *)a;
    int rc = seq2seq_draw(s);

    if (rc == 0)
        rc = seq2seq_declare(s);
    for (int set = 0; rc == 0 && set < APP_SETS; set++)
        if (s->examples[set])
            rc = make_set(s, set);
    free(s->examples[APP_TRAIN]); /* samples by now */
    s->examples[APP_TRAIN] = NULL;
    a->graph = s->decoder.stage;
    return rc;
}

int main(int argc, char **argv)
{
    struct seq2seq s = seq2seq_defaults();
    struct program p = seq2seq_program();

    s.answer_all = seq2seq_decode;
    p.name = "seq2seq";
    p.doc =
        "Trains an encoder and a decoder LSTM to reverse strings or to add numbers.\v" SEQ2SEQ_DOC;
    p.options = options;
    p.prepare = prepare;
    p.evaluate = evaluate;
    p.twin = "dyn_seq2seq";
    return program_main(&p, &s.app, argc, argv);
}
