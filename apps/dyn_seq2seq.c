/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_seq2seq - seq2seq recorded on a tape; see dyn_seq2seq.h. */
#include "apps/dyn_seq2seq.h"

#include <stdlib.h>

#include "apps/common/params.h"

/* ---- the network ----------------------------------------------------------------------------- */

static int declare(struct dyn_seq2seq *s)
{
    struct seq2seq *q = &s->shared;
    int embed = q->app.options.embed, hidden = q->app.options.hidden,
        rc = cavs_model_create(&q->app.model);
    struct cavs_model *m = q->app.model;

    if (rc < 0)
        return rc;
    s->embedding = app_embedding(m, "embedding", q->symbols, embed, 0.1f);
    q->encoder = cavs_lstm_params(m, "encoder", embed, hidden);
    q->decoder = cavs_lstm_params(m, "decoder", embed, hidden);
    s->W_out = app_weight(m, "W_out", hidden, q->symbols);
    s->b_out = app_bias(m, "b_out", q->symbols);
    if (!q->no_attention) {
        s->W_score = app_weight(m, "W_score", hidden, hidden);
        s->W_attend = app_weight(m, "W_attend", 2 * hidden, hidden);
        s->b_attend = app_bias(m, "b_attend", hidden);
    }
    return cavs_model_finish(m);
}

static struct cavs_symbol *next(struct dyn_seq2seq *s, const struct cavs_cell *cell, int symbol,
                                struct cavs_symbol *state)
{
    struct cavs_symbol *id = cavs_tape_id(s->shared.app.tape, symbol);

    return cavs_cell_next(cell, cavs_lookup(s->embedding, id), state);
}

struct reading dyn_seq2seq_read(struct dyn_seq2seq *s, struct cavs_function *f,
                                const struct example *x)
{
    const struct cavs_cell *encoder = &s->shared.encoder;
    struct reading r = {.state = cavs_constant(f, 2 * encoder->hidden, 0), .n = x->nsource};
    struct cavs_symbol *h[EXAMPLE_MOST];

    for (int i = 0; i < x->nsource; i++) {
        r.state = next(s, encoder, x->source[i], r.state);
        h[i] = cavs_cell_output(encoder, r.state);
    }
    if (x->nsource > 0 && !s->shared.no_attention)
        r.rows = cavs_concat(x->nsource, h);
    return r;
}

struct cavs_symbol *dyn_seq2seq_next(struct dyn_seq2seq *s, int symbol, struct cavs_symbol *state)
{
    return next(s, &s->shared.decoder, symbol, state);
}

/* A mean of the encoder's rows, weighted by how well they fit h, joins h. */
static struct cavs_symbol *attend(struct dyn_seq2seq *s, const struct reading *r,
                                  struct cavs_symbol *h)
{
    int width = cavs_symbol_width(h);
    struct cavs_symbol *score, *both[2];

    if (r->rows) {
        score = cavs_product(r->rows, cavs_matmul(h, s->W_score), r->n, 1);
        both[0] = cavs_product(cavs_softmax(score), r->rows, 1, width);
    } else {
        both[0] = cavs_scale(h, 0);
    }
    both[1] = h;
    return cavs_tanh(cavs_affine(cavs_concat(2, both), s->W_attend, s->b_attend));
}

struct cavs_symbol *dyn_seq2seq_scores(struct dyn_seq2seq *s, const struct reading *r,
                                       struct cavs_symbol *state)
{
    struct cavs_symbol *h = cavs_cell_output(&s->shared.decoder, state);

    return cavs_affine(s->W_score ? attend(s, r, h) : h, s->W_out, s->b_out);
}

/* ---- examples -------------------------------------------------------------------------------- */

/* Which symbols are right goes to `right` if that is not NULL. */
static void record_example(struct dyn_seq2seq *s, const struct example *x,
                           struct cavs_symbol **right)
{
    struct cavs_tape *tape = s->shared.app.tape;
    struct cavs_function *f = cavs_tape_sample(tape);
    struct reading r = dyn_seq2seq_read(s, f, x);
    struct cavs_symbol *state = r.state;

    for (int t = 0; t < x->nanswer; t++) {
        struct cavs_symbol *label = cavs_tape_id(tape, x->answer[t]), *scores, *correct;

        state = dyn_seq2seq_next(s, t ? x->answer[t - 1] : 0, state);
        scores = dyn_seq2seq_scores(s, &r, state);
        correct = cavs_correct(scores, label);
        cavs_loss(f, "loss", cavs_softmax_cross_entropy(scores, label), label);
        cavs_metric(f, "correct", correct, label);
        if (right)
            right[t] = correct;
    }
}

/* Counts answers without a mistake. */
static int count_exact(struct dyn_seq2seq *s, enum app_set set, const int *samples, int n)
{
    const float *right = s->right.numbers;
    int rc = tape_rows_compute(&s->right, s->shared.app.tape);

    for (int i = 0; rc == 0 && i < n; i++) {
        int wrong = 0;

        for (int t = s->shared.examples[set][samples[i]].nanswer; t > 0; t--)
            wrong += *right++ == 0;
        s->shared.exact += !wrong;
    }
    return rc;
}

static int record(struct app *a, enum app_set set, const int *samples, int n)
{
    struct dyn_seq2seq *s = (struct dyn_seq2seq *)a;
    const struct example *x = s->shared.examples[set];
    size_t symbols = 0, done = 0;
    int rc = 0;

    for (int i = 0; set != APP_TRAIN && i < n; i++)
        symbols += (size_t)x[samples[i]].nanswer;
    if (set != APP_TRAIN && tape_rows_reserve(&s->right, symbols, 1) < 0)
        rc = app_fail(&a->error, CAVS_ENOMEM, "no memory for %zu symbols", symbols);
    for (int i = 0; rc == 0 && i < n; i++) {
        record_example(s, &x[samples[i]], set == APP_TRAIN ? NULL : s->right.symbol + done);
        done += (size_t)x[samples[i]].nanswer;
    }
    return rc == 0 && set != APP_TRAIN ? count_exact(s, set, samples, n) : rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static const struct app_option options[] = {
    SEQ2SEQ_OPTIONS,
    OPTION_ROW(OPTION_INT, "beam", "N", struct dyn_seq2seq, width, OPTION_KEPT,
               "answers that grow side by side while the likeliest is searched for; 1: greedy", 1,
               1000),
    {0}};

/* Examples are evaluated by their right answers, so a beam is of answers that are written. */
static void check(struct app *a, const struct option_list *l)
{
    seq2seq_check(a, l);
    if (options_given(l, "beam") && !((struct seq2seq *)a)->decode && !a->options.predict)
        options_mistake("--beam is for answers that are written: add --decode N or --predict FILE");
}

/* Tells the frame which samples a set has. */
static int offer(struct dyn_seq2seq *s, enum app_set set)
{
    struct seq2seq *q = &s->shared;
    size_t *first = calloc((size_t)q->nexamples[set] + 1, sizeof *first);

    if (!first)
        return app_fail(&q->app.error, CAVS_ENOMEM, "no memory for %d examples", q->nexamples[set]);
    s->first[set] = first;
    for (int i = 0; i < q->nexamples[set]; i++) {
        const struct example *x = &q->examples[set][i];

        first[i + 1] = first[i] + (size_t)x->nanswer;
        app_record_array(&q->app, set, x->source, (size_t)x->nsource * sizeof *x->source);
        app_record_array(&q->app, set, x->answer, (size_t)x->nanswer * sizeof *x->answer);
    }
    app_record_set(&q->app, set, q->nexamples[set], first);
    return 0;
}

static int prepare(struct app *a)
{
    struct dyn_seq2seq *s = (struct dyn_seq2seq *)a;
    int rc = seq2seq_draw(&s->shared);

    for (int set = 0; rc == 0 && set < APP_SETS; set++)
        if (s->shared.examples[set])
            rc = offer(s, set);
    return rc == 0 ? declare(s) : rc;
}

static void clear(struct app *a)
{
    struct dyn_seq2seq *s = (struct dyn_seq2seq *)a;

    for (int i = 0; i < APP_SETS; i++)
        free(s->first[i]);
    free(s->reading);
    free(s->beams);
    free(s->prefixes);
    tape_rows_clear(&s->right);
    tape_rows_clear(&s->scores);
    seq2seq_clear(a);
}

int main(int argc, char **argv)
{
    struct dyn_seq2seq s = {.shared = seq2seq_defaults(), .width = 1};
    struct program p = seq2seq_program();

    s.shared.answer_all = dyn_seq2seq_search;
    p.name = "dyn_seq2seq";
    p.doc =
        "Trains an encoder and a decoder LSTM to reverse strings or to add numbers: seq2seq, but "
        "recorded on a tape, and with a search for the likeliest answer.\v" SEQ2SEQ_DOC;
    p.options = options;
    p.check = check;
    p.prepare = prepare;
    p.record = record;
    p.clear = clear;
    p.twin = "seq2seq";
    return program_main(&p, &s.shared.app, argc, argv);
}
