/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seq2seq_decode.c - greedy decoding: answers grow side by side, each by its likeliest next symbol,
 * until it has an end or there is no more room.
 */
#include "apps/common/scores.h"
#include "apps/seq2seq.h"

/* Those of n that have no end yet, as samples, each with t symbols and one to be found. */
static int add_growing(struct seq2seq *s, int n, int t, struct cavs_data *d)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < n; i++) {
        struct guess *g = &s->decoding.guess[i];

        if (g->ended)
            continue;
        g->x.answer[t] = 0; /* a label, of which nothing but a metric depends */
        rc = seq2seq_add(s, d, &g->x, t + 1);
    }
    return rc;
}

/* The scores of t + 1 symbols of each growing answer, of which the last are new. */
static int take_symbols(struct seq2seq *s, int n, int t, const float *scores)
{
    int growing = 0;

    for (int i = 0; i < n; i++) {
        struct guess *g = &s->decoding.guess[i];
        const float *last = scores + (size_t)t * (size_t)s->symbols;

        if (g->ended)
            continue;
        g->x.answer[t] = scores_likeliest(last, s->symbols);
        g->probability[t] = scores_probability(last, s->symbols, g->x.answer[t]);
        g->x.nanswer = t + 1;
        g->ended = g->x.answer[t] == 0;
        growing += !g->ended;
        scores += (size_t)(t + 1) * (size_t)s->symbols;
    }
    return growing;
}

/* Answers to the sources of the first n guesses. */
int seq2seq_decode(struct seq2seq *s, int n)
{
    int rc = 0, growing = n;

    for (int i = 0; i < n; i++)
        s->decoding.guess[i].ended = false;
    for (int t = 0; rc == 0 && growing > 0 && t < EXAMPLE_MOST; t++) {
        struct cavs_data *d = NULL;
        struct cavs_fetch scores = {s->answer, SEQ2SEQ_LOGITS, NULL};

        if ((rc = cavs_data_create(s->app.model, &d)) == 0 && (rc = add_growing(s, n, t, d)) == 0 &&
            (rc = app_rows(&s->app, d, &scores)) == 0)
            growing = take_symbols(s, n, t, scores.rows);
        cavs_data_destroy(d);
    }
    return rc;
}
