/* SPDX-License-Identifier: Apache-2.0 */
/* tagger_predict.c - the tags that the model gives: counted in evaluations, written by
 * --predict. */
#include <stdlib.h>

#include "apps/common/json_build.h"
#include "apps/common/predict.h"
#include "apps/common/reserve.h"
#include "apps/common/scores.h"
#include "apps/common/utf8.h"
#include "apps/tagger.h"

/* Finds the tags of n words for t->predictor.tags; <unk> is no tag. */
static int choose_tags(struct tagger *t, size_t n, const float *logits)
{
    struct tagger_predictor *p = &t->predictor;
    int classes = vocab_size(t->tags);

    if (!array_reserve(&p->tags, &p->room, n + 1, sizeof *p->tags))
        return app_fail(&t->app.error, CAVS_ENOMEM, "no memory for the tags of %zu words", n);
    for (size_t w = 0; w < n; w++)
        p->tags[w] = scores_likeliest_known(logits + w * (size_t)classes, classes);
    return 0;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

int tagger_count(struct tagger *t, int words, const int *labels, const float *logits)
{
    int rc = choose_tags(t, (size_t)words, logits);

    if (rc == 0)
        entities_count(&t->found, t->tags, words, labels, t->predictor.tags);
    return rc;
}

int tagger_measure(struct app *a, enum app_set set)
{
    struct tagger *t = (struct tagger *)a;

    if (set == APP_TRAIN) /* which the epoch passed over, without a look at its tags */
        return 0;
    app_number(a, set, "f1", entities_f1(&t->found));
    app_number(a, set, "precision", entities_precision(&t->found));
    app_number(a, set, "recall", entities_recall(&t->found));
    t->found = (struct entity_counts){0};
    return 0;
}

/* ---- predictions: JSON ----------------------------------------------------------------------- */

/* Writes sentence i; the tags and logits of its words begin at these places. */
static int write_json(struct tagger *t, int i, const int *tags, const float *logits)
{
    const struct sentences *s = &t->predictor.read;
    json_t *words = json_array(), *names = json_array(), *all = json_array();
    int classes = vocab_size(t->tags);

    for (int w = 0; w < sentences_length(s, i); w++) {
        json_build_append(&words, utf8_to_json(texts_get(&s->texts, s->first[i] + (size_t)w)));
        json_build_append(&names, utf8_to_json(vocab_word(t->tags, tags[w])));
        json_build_append(
            &all, scores_to_json(logits + (size_t)w * (size_t)classes, classes, t->tags, 0));
    }
    return predictions_write_json(
        &t->app, json_pack("{s:o, s:o, s:o}", "words", words, "tags", names, "probabilities", all));
}

/* ---- predictions ----------------------------------------------------------------------------- */

static void write_text(struct tagger *t, int i, const int *tags)
{
    const struct sentences *s = &t->predictor.read;

    predictions_at_line(&t->app, s->line[i]);
    sentences_write(t->app.predictions.out, s, i, tags, t->tags);
}

static int open_input(struct tagger *t)
{
    struct app *a = &t->app;
    struct sentence_options o = {
        .words = t->words, .tags = t->tags, .keep_words = true, .untagged = true};

    return sentences_open(&t->predictor.stream, a->predictions.in, a->predictions.in_name, &o,
                          &a->error);
}

static int write_all(struct tagger *t, const float *logits)
{
    const struct tagger_predictor *p = &t->predictor;
    struct app *a = &t->app;
    int rc = choose_tags(t, p->read.tokens, logits);

    for (int i = 0; rc == 0 && i < p->read.n; i++) {
        size_t first = p->read.first[i];

        if (a->options.json)
            rc = write_json(t, i, p->tags + first, logits + first * (size_t)vocab_size(t->tags));
        else
            write_text(t, i, p->tags + first);
    }
    return rc;
}

/* Writes the sentences that were read last. */
static int predict_sentences(struct tagger *t, struct cavs_data *d)
{
    const float *logits;
    int rc = t->score(t, d, &logits);

    return rc == 0 ? write_all(t, logits) : rc;
}

/* If there is a mistake in the input, the sentences before it have been read, and are written. */
int tagger_predict(struct app *a, struct cavs_data *d, int most)
{
    struct tagger *t = (struct tagger *)a;
    struct tagger_predictor *p = &t->predictor;
    int rc = p->stream ? 0 : open_input(t), n;

    if (rc < 0)
        return rc;
    sentences_empty(&p->read);
    n = sentences_next(p->stream, most, &p->read, &a->error);
    if (p->read.n > 0 && (rc = predict_sentences(t, d)) < 0)
        return rc;
    if (n == 0)
        predictions_at_line(a, sentences_lines(p->stream) + 1);
    return n;
}

void tagger_predictor_clear(struct tagger_predictor *p)
{
    sentences_close(p->stream);
    sentences_clear(&p->read);
    free(p->tags);
}
