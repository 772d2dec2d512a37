/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/tagger.h"

#include <stdlib.h>
#include <string.h>

#include "apps/common/known_classes.h"
#include "apps/common/params.h"

/* ---- model ----------------------------------------------------------------------------------- */

static void declare_words(struct tagger *t, enum cavs_way way, struct cavs_param *table)
{
    static const char *const names[] = {"forward", "backward"};
    const struct app_options *o = &t->app.options;
    struct cavs_cell *lstm = &t->lstm[way];
    struct cavs_function *f;

    *lstm = cavs_lstm_cell(t->app.model, names[way], o->embed, o->hidden);
    f = cavs_function_create(lstm->stage, "word");
    cavs_cell_define(
        lstm, f,
        cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "word")), t->app.options.dropout));
    if (!t->rare)
        return;
    f = cavs_function_create(lstm->stage, "rare");
    cavs_cell_define(lstm, f, cavs_dropout(t->rare->embedding(t, f), t->app.options.dropout));
}

/* Whether someone looks at the tags themselves: a copy of a few numbers a word, which training
 * alone does without. */
static bool wants_tags(const struct app *a)
{
    return a->options.predict || app_has_set(a, APP_DEV) || app_has_set(a, APP_TEST);
}

static void declare_head(struct tagger *t)
{
    struct cavs_model *m = t->app.model;
    int width = 2 * t->app.options.hidden, classes = vocab_size(t->tags);
    struct cavs_param *W = app_weight(m, "W_tag", width, classes);
    struct cavs_param *b = app_bias(m, "b_tag", classes);
    const struct cavs_cell *forward = &t->lstm[CAVS_WAY_FORWARD],
                           *backward = &t->lstm[CAVS_WAY_BACKWARD];
    struct cavs_function *f;
    struct cavs_symbol *h, *logits, *label;

    t->head = cavs_stage_over(m, "tag", forward->stage, CAVS_ALL_VERTICES);
    f = cavs_function_create(t->head, "tag");
    h = cavs_dropout(cavs_both_ways(f, forward, backward, "position"), t->app.options.dropout);
    logits = cavs_affine(h, W, b);
    if (wants_tags(&t->app))
        cavs_push(f, TAGGER_LOGITS, logits);
    label = cavs_pull_ids(f, "label");
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", correct_known(f, logits, label), label);
}

static int declare(struct tagger *t)
{
    int rc = cavs_model_create(&t->app.model);
    struct cavs_param *table;

    if (rc < 0)
        return rc;
    table =
        app_embedding(t->app.model, "embedding", vocab_size(t->words), t->app.options.embed, 0.05f);
    if (t->rare)
        t->rare->declare(t);
    declare_words(t, CAVS_WAY_FORWARD, table);
    declare_words(t, CAVS_WAY_BACKWARD, table);
    declare_head(t);
    return cavs_model_finish(t->app.model);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* One sentence, with room for the longest. */
struct scratch {
    const char **text;
    int *function, *row, *position, *label, *child_ptr, *child;
};

static int add_words(const struct tagger *t, struct cavs_data *d, enum cavs_way way, int n,
                     const struct scratch *s)
{
    struct cavs_stage *stage = t->lstm[way].stage;
    int rc;

    cavs_chain_graph(way, n, s->child_ptr, s->child);
    rc = cavs_data_graph(d, stage, n, s->function, s->child_ptr, s->child);
    return rc < 0 ? rc : cavs_data_ids(d, stage, "word", n, s->row);
}

/* Its words are s->text, its tags s->label. */
static int add_sentence(struct tagger *t, struct cavs_data *d, int n, const struct scratch *s)
{
    int rc;

    for (int w = 0; w < n; w++) {
        s->row[w] = vocab_find(t->words, s->text[w], strlen(s->text[w]));
        s->function[w] = t->rare && s->row[w] == VOCAB_UNKNOWN ? TAGGER_RARE : TAGGER_WORD;
        s->position[w] = w;
    }
    if ((rc = cavs_data_begin(d)) < 0 ||
        (t->rare && (rc = t->rare->add(t, d, n, s->text, s->function)) < 0) ||
        (rc = add_words(t, d, CAVS_WAY_FORWARD, n, s)) < 0 ||
        (rc = add_words(t, d, CAVS_WAY_BACKWARD, n, s)) < 0 ||
        (rc = cavs_data_ids(d, t->head, "position", n, s->position)) < 0 ||
        (rc = cavs_data_ids(d, t->head, "label", n, s->label)) < 0)
        return rc;
    return cavs_data_end(d);
}

static size_t longest(const struct sentences *s)
{
    size_t most = 0;

    for (int i = 0; i < s->n; i++)
        if ((size_t)sentences_length(s, i) > most)
            most = (size_t)sentences_length(s, i);
    return most;
}

static int add_all(struct tagger *t, const struct sentences *from, bool tagged, struct cavs_data *d,
                   const struct scratch *s)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < from->n; i++) {
        int n = sentences_length(from, i);

        for (int w = 0; w < n; w++) {
            s->text[w] = texts_get(&from->texts, from->first[i] + w);
            s->label[w] = tagged ? from->tag[from->first[i] + w] : -1;
        }
        rc = add_sentence(t, d, n, s);
    }
    return rc;
}

/* Samples from sentences with their words as they are written; not `tagged`: without labels. */
static int tagger_add(struct tagger *t, struct cavs_data *d, const struct sentences *from,
                      bool tagged)
{
    size_t n = longest(from) + 1;
    const char **texts = malloc(n * sizeof *texts);
    int *all = malloc(6 * n * sizeof *all);
    struct scratch s = {texts, all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n};
    int rc = texts && all ? add_all(t, from, tagged, d, &s) : CAVS_ENOMEM;

    free(texts);
    free(all);
    return rc;
}

static int fill(struct app *a, enum app_set set, struct cavs_data *d)
{
    struct tagger *t = (struct tagger *)a;
    int rc = tagger_add(t, d, &t->text[set], true);

    sentences_clear(&t->text[set]);
    if (rc == 0 && set == APP_TRAIN)
        app_notice_unknown(a, d, t->head, "label", "tags");
    return rc;
}

/* ---- scores ---------------------------------------------------------------------------------- */

static int longest_sample(const struct tagger *t, const struct cavs_data *d, const int *samples,
                          int n)
{
    int most = 0;

    for (int i = 0; i < n; i++) {
        int words = cavs_data_sample_vertices(d, t->head, samples[i]);

        most = words > most ? words : most;
    }
    return most;
}

static int evaluate(struct app *a, struct cavs_data *d, const int *samples, int n)
{
    struct tagger *t = (struct tagger *)a;
    struct cavs_fetch fetch = {t->head, TAGGER_LOGITS, NULL};
    int rc = app_rows_of(a, d, samples, n, &fetch), room = longest_sample(t, d, samples, n);
    const float *logits = fetch.rows;
    int *labels = malloc(((size_t)room + 1) * sizeof *labels);

    if (rc == 0 && !labels)
        rc = app_fail(&a->error, CAVS_ENOMEM, "no memory for the tags of %d words", room);
    for (int i = 0; rc == 0 && i < n; i++) {
        int words = cavs_data_copy_ids(d, t->head, "label", samples[i], room, labels);

        rc = words < 0 ? words : tagger_count(t, words, labels, logits);
        if (rc == 0)
            logits += (size_t)words * (size_t)vocab_size(t->tags);
    }
    free(labels);
    return rc;
}

static int score(struct tagger *t, struct cavs_data *d, const float **logits)
{
    struct cavs_fetch fetch = {t->head, TAGGER_LOGITS, NULL};
    int rc = tagger_add(t, d, &t->predictor.read, false);

    if (rc == 0)
        rc = app_rows(&t->app, d, &fetch);
    *logits = fetch.rows;
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int prepare(struct app *a)
{
    struct tagger *t = (struct tagger *)a;
    int rc = tagger_load(t);

    if (rc == 0)
        rc = declare(t);
    a->graph = t->lstm[CAVS_WAY_FORWARD].stage;
    return rc;
}

struct program tagger_declared(struct tagger *t)
{
    struct program p = tagger_program();

    t->score = score;
    p.prepare = prepare;
    p.fill = fill;
    p.evaluate = evaluate;
    return p;
}
