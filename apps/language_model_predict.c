/* SPDX-License-Identifier: Apache-2.0 */
/* language_model_predict.c - lines of text in, the perplexity of each before it out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/json_build.h"
#include "apps/common/predict.h"
#include "apps/common/utf8.h"
#include "apps/language_model.h"

static int read_lines(struct language_model *lm, int most)
{
    struct app *a = &lm->app;
    struct sentence_options o = {.words = lm->vocab, .end = LANGUAGE_EOS, .keep_words = true};
    int rc = lm->stream ? 0
                        : sentences_open(&lm->stream, a->predictions.in, a->predictions.in_name, &o,
                                         &a->error);

    if (rc < 0)
        return rc;
    sentences_empty(&lm->lines);
    return sentences_next(lm->stream, most, &lm->lines, &a->error);
}

/* Every line stands by itself: its chains begin and end with it. */
static int add_line(struct language_model *lm, struct cavs_data *d, int i)
{
    const struct sentences *s = &lm->lines;
    size_t n = (size_t)sentences_length(s, i), line[2] = {0, n};
    struct language_text text = {
        .words = n, .stream = malloc((n + 1) * sizeof *text.stream), .lines = 1, .line = line};
    int rc;

    if (!text.stream)
        return CAVS_ENOMEM;
    text.stream[0] = vocab_find(lm->vocab, LANGUAGE_EOS, sizeof LANGUAGE_EOS - 1);
    memcpy(text.stream + 1, s->word + s->first[i], n * sizeof *text.stream);
    rc = language_model_add(lm, d, &text);
    free(text.stream);
    return rc;
}

static int write_line(struct language_model *lm, int i, double perplexity)
{
    const struct sentences *s = &lm->lines;
    FILE *out = lm->app.predictions.out;

    fprintf(out, "%.4f\t", perplexity);
    for (size_t k = s->first[i]; k + 1 < s->first[i + 1]; k++)
        fprintf(out, "%s%s", k > s->first[i] ? " " : "", texts_get(&s->texts, k));
    fputc('\n', out);
    return 0;
}

static int write_json(struct language_model *lm, int i, const float *cost, double perplexity)
{
    const struct sentences *s = &lm->lines;
    json_t *line = json_object(), *words = json_array(), *numbers = json_array();

    for (size_t k = s->first[i]; k < s->first[i + 1]; k++) {
        bool last = k + 1 == s->first[i + 1];

        json_build_append(&words, utf8_to_json(last ? LANGUAGE_EOS : texts_get(&s->texts, k)));
        json_build_append(&numbers, json_build_number(-(double)cost[k - s->first[i]]));
    }
    json_build_set(&line, "perplexity", json_build_number(perplexity));
    json_build_set(&line, "words", words);
    json_build_set(&line, "log_probabilities", numbers);
    return predictions_write_json(&lm->app, line);
}

static int write_lines(struct language_model *lm, const float *cost)
{
    const struct sentences *s = &lm->lines;
    int rc = 0;

    for (int i = 0; rc == 0 && i < s->n; i++) {
        double sum = 0;

        for (size_t k = s->first[i]; k < s->first[i + 1]; k++)
            sum += (double)cost[k];
        sum = exp(sum / sentences_length(s, i));
        rc = lm->app.options.json ? write_json(lm, i, cost + s->first[i], sum)
                                  : write_line(lm, i, sum);
    }
    return rc;
}

int language_model_predict(struct app *a, struct cavs_data *d, int most)
{
    struct language_model *lm = (struct language_model *)a;
    struct cavs_fetch cost = {lm->head, LANGUAGE_COST, NULL};
    int n = read_lines(lm, most), rc = 0;

    if (n <= 0)
        return n;
    for (int i = 0; rc == 0 && i < n; i++)
        rc = add_line(lm, d, i);
    if (rc == 0)
        rc = app_rows(a, d, &cost);
    if (rc == 0)
        rc = write_lines(lm, cost.rows);
    return rc < 0 ? rc : n;
}
