/* SPDX-License-Identifier: Apache-2.0 */
/* seq2seq_model.c - the stages of encoder, decoder and answer, as seq2seq.c describes them. */
#include "apps/common/params.h"
#include "apps/seq2seq.h"

/* A function of a cell with a state that comes from anywhere. */
static void define(const struct cavs_cell *cell, struct cavs_function *f, struct cavs_param *table,
                   struct cavs_symbol *before)
{
    struct cavs_symbol *x = cavs_lookup(table, cavs_pull_ids(f, "symbol"));
    struct cavs_symbol *state = cavs_cell_next(cell, x, before);

    cavs_scatter(f, state);
    cavs_push(f, "state", state);
    cavs_push(f, "h", cavs_cell_output(cell, state));
}

static void declare_chains(struct seq2seq *s)
{
    int embed = s->app.options.embed, hidden = s->app.options.hidden;
    struct cavs_param *table = app_embedding(s->app.model, "embedding", s->symbols, embed, 0.1f);
    struct cavs_function *f;

    s->encoder = cavs_lstm_cell(s->app.model, "encoder", embed, hidden);
    f = cavs_function_create(s->encoder.stage, "symbol");
    define(&s->encoder, f, table, cavs_gather(f, 0));

    s->decoder = cavs_lstm_cell(s->app.model, "decoder", embed, hidden);
    f = cavs_function_create(s->decoder.stage, "first");
    define(&s->decoder, f, table, cavs_pull_from(f, s->encoder.stage, "state", "last"));
    f = cavs_function_create(s->decoder.stage, "next");
    define(&s->decoder, f, table, cavs_gather(f, 0));
}

/* A mean of the encoder's rows, weighted by how well they fit h, joins h. */
static struct cavs_symbol *attend(struct seq2seq *s, struct cavs_function *f, struct cavs_symbol *h)
{
    int n = s->app.options.hidden;
    struct cavs_param *W_score = app_weight(s->app.model, "W_score", n, n);
    struct cavs_param *W = app_weight(s->app.model, "W_attend", 2 * n, n);
    struct cavs_param *b = app_bias(s->app.model, "b_attend", n);
    struct cavs_symbol *rows = cavs_pull_from_each(f, s->encoder.stage, "h", NULL);
    struct cavs_symbol *score = cavs_sum(cavs_mul(rows, cavs_matmul(h, W_score)));
    struct cavs_symbol *both[2] = {cavs_sum_children(cavs_mul(cavs_softmax_children(score), rows)),
                                   h};

    return cavs_tanh(cavs_affine(cavs_concat(2, both), W, b));
}

static void declare_answer(struct seq2seq *s)
{
    int hidden = s->app.options.hidden;
    struct cavs_param *W = app_weight(s->app.model, "W_out", hidden, s->symbols);
    struct cavs_param *b = app_bias(s->app.model, "b_out", s->symbols);
    struct cavs_function *f;
    struct cavs_symbol *h, *logits, *label, *right;

    s->answer = cavs_stage_over(s->app.model, "answer", s->decoder.stage, CAVS_ALL_VERTICES);
    f = cavs_function_create(s->answer, "symbol");
    h = cavs_pull_from(f, s->decoder.stage, "h", NULL);
    logits = cavs_affine(s->no_attention ? h : attend(s, f, h), W, b);
    label = cavs_pull_ids(f, "label");
    right = cavs_correct(logits, label);
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", right, label);
    cavs_push(f, "right", right);
    if (s->app.options.predict || s->decode)
        cavs_push(f, SEQ2SEQ_LOGITS, logits);
}

int seq2seq_declare(struct seq2seq *s)
{
    int rc = cavs_model_create(&s->app.model);

    if (rc < 0)
        return rc;
    declare_chains(s);
    declare_answer(s);
    return cavs_model_finish(s->app.model);
}
