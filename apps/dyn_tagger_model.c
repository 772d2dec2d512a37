/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "apps/common/params.h"
#include "apps/common/reserve.h"
#include "apps/dyn_tagger.h"

/* ---- the network ----------------------------------------------------------------------------- */

static void declare_cells(struct cavs_model *m, const char *const names[2], int width, int hidden,
                          struct cavs_cell cell[2])
{
    for (int way = 0; way < 2; way++)
        cell[way] = cavs_lstm_params(m, names[way], width, hidden);
}

static int declare(struct dyn_tagger *t)
{
    static const char *const ways[] = {"forward", "backward"};
    static const char *const char_ways[] = {"char_forward", "char_backward"};
    const struct app_options *o = &t->shared.app.options;
    int classes = vocab_size(t->shared.tags), rc = cavs_model_create(&t->shared.app.model);
    struct cavs_model *m = t->shared.app.model;

    if (rc < 0)
        return rc;
    t->embedding = app_embedding(m, "embedding", vocab_size(t->shared.words), o->embed, 0.05f);
    if (t->char_embed) {
        t->char_embedding = app_embedding(m, "char_embedding", 256, t->char_embed, 0.05f);
        declare_cells(m, char_ways, t->char_embed, o->embed / 2, t->chars);
    }
    declare_cells(m, ways, o->embed, o->hidden, t->lstm);
    t->W_tag = app_weight(m, "W_tag", 2 * o->hidden, classes);
    t->b_tag = app_bias(m, "b_tag", classes);
    return cavs_model_finish(m);
}

static struct cavs_symbol *start(const struct cavs_cell *lstm, struct cavs_function *f)
{
    return cavs_constant(f, 2 * lstm->hidden, 0);
}

/* A word from its characters: where both ways end. */
static struct cavs_symbol *spell(const struct dyn_tagger *t, struct cavs_function *f,
                                 const char *word)
{
    const unsigned char *c = (const unsigned char *)word;
    size_t n = strlen(word);
    struct cavs_symbol *state[2] = {start(&t->chars[0], f), start(&t->chars[1], f)}, *end[2];

    for (int way = 0; way < 2; way++) {
        for (size_t i = 0; i < n; i++) {
            int id = c[way == CAVS_WAY_FORWARD ? i : n - 1 - i];
            struct cavs_symbol *x =
                cavs_lookup(t->char_embedding, cavs_tape_id(t->shared.app.tape, id));

            state[way] = cavs_cell_next(&t->chars[way], x, state[way]);
        }
        end[way] = cavs_cell_output(&t->chars[way], state[way]);
    }
    return cavs_concat(2, end);
}

static struct cavs_symbol *word(const struct dyn_tagger *t, struct cavs_function *f, int row,
                                const char *text)
{
    return t->char_embed && row == VOCAB_UNKNOWN
               ? spell(t, f, text)
               : cavs_lookup(t->embedding, cavs_tape_id(t->shared.app.tape, row));
}

/* The states of n words, read one way. */
static void read_words(const struct dyn_tagger *t, struct cavs_function *f, enum cavs_way way,
                       int n)
{
    const struct cavs_cell *lstm = &t->lstm[way];
    struct cavs_symbol *state = start(lstm, f);

    for (int i = 0; i < n; i++) {
        int w = way == CAVS_WAY_FORWARD ? i : n - 1 - i;

        state = cavs_cell_next(lstm, cavs_dropout(t->x[w], t->shared.app.options.dropout), state);
        t->h[way][w] = cavs_cell_output(lstm, state);
    }
}

static struct cavs_symbol *scores(const struct dyn_tagger *t, int w)
{
    struct cavs_symbol *both[] = {t->h[CAVS_WAY_FORWARD][w], t->h[CAVS_WAY_BACKWARD][w]};

    return cavs_affine(cavs_dropout(cavs_concat(2, both), t->shared.app.options.dropout), t->W_tag,
                       t->b_tag);
}

static void compare(const struct dyn_tagger *t, struct cavs_function *f, struct cavs_symbol *logits,
                    int tag)
{
    struct cavs_symbol *label = cavs_tape_id(t->shared.app.tape, tag);

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", cavs_correct(logits, label), label);
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* Sentence i, whose words are rows of the embedding by now: its words are compared with their tags
 * if there are any, and their scores go to `logits` if that is not NULL. */
static int record_sentence(struct dyn_tagger *t, const struct sentences *s, int i, bool tagged,
                           struct cavs_symbol **logits)
{
    struct cavs_function *f = cavs_tape_sample(t->shared.app.tape);
    size_t first = s->first[i];
    int n = sentences_length(s, i);

    if (!array_reserve(&t->x, &t->x_room, n, sizeof *t->x) ||
        !array_reserve(&t->h[0], &t->h_room[0], n, sizeof *t->x) ||
        !array_reserve(&t->h[1], &t->h_room[1], n, sizeof *t->x))
        return app_fail(&t->shared.app.error, CAVS_ENOMEM, "no memory for a sentence of %d words",
                        n);
    for (int w = 0; w < n; w++)
        t->x[w] = word(t, f, s->word[first + w], texts_get(&s->texts, first + w));
    read_words(t, f, CAVS_WAY_FORWARD, n);
    read_words(t, f, CAVS_WAY_BACKWARD, n);
    for (int w = 0; w < n; w++) {
        struct cavs_symbol *x = scores(t, w);

        if (tagged)
            compare(t, f, x, s->tag[first + w]);
        if (logits)
            logits[w] = x;
    }
    return 0;
}

static int reserve_logits(struct dyn_tagger *t, size_t words)
{
    int rc = tape_rows_reserve(&t->logits, words, vocab_size(t->shared.tags));

    return rc < 0
               ? app_fail(&t->shared.app.error, rc, "no memory for the scores of %zu words", words)
               : 0;
}

/* Entities are counted where tags are looked at: not in training. */
static int count_entities(struct dyn_tagger *t, const struct sentences *s, const int *samples,
                          int n)
{
    const float *logits = t->logits.numbers;
    int rc = tape_rows_compute(&t->logits, t->shared.app.tape);

    for (int i = 0; rc == 0 && i < n; i++) {
        int words = sentences_length(s, samples[i]);

        rc = tagger_count(&t->shared, words, s->tag + s->first[samples[i]], logits);
        logits += (size_t)words * (size_t)t->logits.width;
    }
    return rc;
}

static int record(struct app *a, enum app_set set, const int *samples, int n)
{
    struct dyn_tagger *t = (struct dyn_tagger *)a;
    const struct sentences *s = &t->shared.text[set];
    size_t words = 0, done = 0;
    int rc = 0;

    for (int i = 0; set != APP_TRAIN && i < n; i++)
        words += (size_t)sentences_length(s, samples[i]);
    if (set != APP_TRAIN)
        rc = reserve_logits(t, words);
    for (int i = 0; rc == 0 && i < n; i++) {
        rc = record_sentence(t, s, samples[i], true,
                             set == APP_TRAIN ? NULL : t->logits.symbol + done);
        done += (size_t)sentences_length(s, samples[i]);
    }
    return rc == 0 && set != APP_TRAIN ? count_entities(t, s, samples, n) : rc;
}

/* What the predictor has read. */
static int score(struct tagger *shared, struct cavs_data *none, const float **logits)
{
    struct dyn_tagger *t = (struct dyn_tagger *)shared;
    const struct sentences *s = &shared->predictor.read;
    int rc = reserve_logits(t, s->tokens);

    (void)none;
    if (rc == 0)
        rc = cavs_tape_begin(shared->app.tape, CAVS_TAPE_EVALUATE);
    for (int i = 0; rc == 0 && i < s->n; i++)
        rc = record_sentence(t, s, i, false, t->logits.symbol + s->first[i]);
    *logits = t->logits.numbers;
    return rc == 0 ? tape_rows_compute(&t->logits, shared->app.tape) : rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Words become rows of the embedding: those that are seen too rarely are unknown. */
static void offer(struct dyn_tagger *t, enum app_set set)
{
    struct app *a = &t->shared.app;
    struct sentences *s = &t->shared.text[set];

    app_record_set(a, set, s->n, s->first);
    for (size_t w = 0; w < s->tokens; w++) {
        const char *text = texts_get(&s->texts, w);

        s->word[w] = vocab_find(t->shared.words, text, strlen(text));
        app_record_array(a, set, text, strlen(text) + 1);
    }
    app_record_array(a, set, s->tag, s->tokens * sizeof *s->tag);
    if (set == APP_TRAIN)
        app_notice_unknown_ids(a, s->tokens, s->tag, "tags");
}

static int prepare(struct app *a)
{
    struct dyn_tagger *t = (struct dyn_tagger *)a;
    int rc = tagger_load(&t->shared);

    for (int i = 0; rc == 0 && i < APP_SETS; i++)
        if (app_has_set(a, i))
            offer(t, i);
    return rc < 0 ? rc : declare(t);
}

struct dyn_tagger dyn_tagger_defaults(void)
{
    return (struct dyn_tagger){.shared = tagger_defaults()};
}

struct program dyn_tagger_program(struct dyn_tagger *t)
{
    struct program p = tagger_program();

    t->shared.score = score;
    p.prepare = prepare;
    p.record = record;
    return p;
}

void dyn_tagger_clear(struct dyn_tagger *t)
{
    free(t->x);
    free(t->h[CAVS_WAY_FORWARD]);
    free(t->h[CAVS_WAY_BACKWARD]);
    tape_rows_clear(&t->logits);
}
