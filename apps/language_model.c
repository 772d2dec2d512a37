/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/language_model.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/model_note.h"
#include "apps/common/packed_set.h"
#include "apps/common/params.h"

/* ---- options --------------------------------------------------------------------------------- */

#define ROW(kind, name, argument, member, role, ...)                                        \
    OPTION_ROW(OPTION_##kind, name, argument, struct language_model, member, OPTION_##role, \
               __VA_ARGS__)

static const struct app_option shared_options[] = {
    OPTION_GROUP("Text:"),
    ROW(INT, "words", "N", max_words, RUN,
        "all but the N commonest words of the training text are <unk>", 1, INT_MAX - 1),
    {0}};

struct language_model language_model_defaults(void)
{
    struct language_model lm = {.app = {.options = app_options_defaults()}, .max_words = 10000};
    struct app_options *o = &lm.app.options;

    o->epochs = 6;
    o->batch = 32;
    o->hidden = o->embed = 512;
    o->session.optimizer = CAVS_ADAM;
    o->session.lr = 1e-3f;
    o->session.clip = 1;
    return lm;
}

/* ---- text ------------------------------------------------------------------------------------ */

static int make_text(struct language_model *lm, struct sentences *s, const int *row,
                     struct language_text *out)
{
    out->stream = malloc((s->tokens + 1) * sizeof *out->stream);
    if (!out->stream)
        return CAVS_ENOMEM;
    out->stream[0] = vocab_find(lm->vocab, LANGUAGE_EOS, sizeof LANGUAGE_EOS - 1);
    for (size_t i = 0; i < s->tokens; i++)
        out->stream[i + 1] = row ? row[s->word[i]] : s->word[i];
    out->words = s->tokens;
    out->lines = s->n;
    out->line = s->first;
    s->first = NULL;
    return 0;
}

/* The training text, which is read first, decides on the words unless a model file has: <unk> and
 * the commonest, in the order of first appearance, are the rows of the embedding table. */
static int load(struct language_model *lm, enum app_set set, bool choose)
{
    struct app_error *e = &lm->app.error;
    struct sentence_options o = {.words = lm->vocab, .end = LANGUAGE_EOS, .grow = choose};
    struct sentences s = {0};
    int rc = sentences_load(lm->app.path[set], &o, &s, e), *row = NULL;

    if (rc == 0 && s.tokens == (size_t)s.n) /* the ends of empty lines alone */
        rc = app_fail(e, CAVS_EDATA, "%s: no words in it", lm->app.path[set]);
    if (rc == 0 && choose && !(row = vocab_keep(lm->vocab, lm->max_words)))
        rc = CAVS_ENOMEM;
    if (rc == 0)
        rc = make_text(lm, &s, row, &lm->text[set]);
    free(row);
    sentences_clear(&s);
    return rc;
}

static int load_text(struct language_model *lm)
{
    bool choose;
    int rc = app_vocab(&lm->app, "words", &lm->vocab);

    choose = !lm->vocab;
    if (rc == 0 && choose && !(lm->vocab = vocab_create()))
        rc = CAVS_ENOMEM;
    for (int i = 0; rc == 0 && i < APP_SETS; i++) {
        if (!lm->app.path[i])
            continue;
        rc = load(lm, i, choose);
        choose = false;
    }
    return rc;
}

static int load_packed(struct language_model *lm, const char *path)
{
    static const char *const names[] = {"words", NULL};
    struct vocab **const all[] = {&lm->vocab};

    return packed_vocabs(&lm->app, path, names, all);
}

/* ---- model ----------------------------------------------------------------------------------- */

static int declare(struct language_model *lm)
{
    int embed = lm->app.options.embed, hidden = lm->app.options.hidden;
    int words = vocab_size(lm->vocab), rc = cavs_model_create(&lm->app.model);
    struct cavs_model *m = lm->app.model;
    struct cavs_param *table, *W, *b;
    struct cavs_function *f;
    struct cavs_symbol *h, *logits, *label, *cost;

    if (rc < 0)
        return rc;
    table = app_embedding(m, "embedding", words, embed, 0.05f);
    W = app_weight(m, "W_out", hidden, words);
    b = app_bias(m, "b_out", words);
    lm->lstm = cavs_lstm_cell(m, "lstm", embed, hidden);
    f = cavs_function_create(lm->lstm.stage, "word");
    cavs_cell_define(
        &lm->lstm, f,
        cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "word")), lm->app.options.dropout));

    lm->head = cavs_stage_over(m, "next", lm->lstm.stage, CAVS_ALL_VERTICES);
    f = cavs_function_create(lm->head, "next");
    h = cavs_dropout(cavs_pull_from(f, lm->lstm.stage, "h", NULL), lm->app.options.dropout);
    logits = cavs_affine(h, W, b);
    label = cavs_pull_ids(f, "label");
    cost = cavs_softmax_cross_entropy(logits, label);
    cavs_loss(f, "loss", cost, label);
    if (lm->app.options.predict)
        cavs_push(f, LANGUAGE_COST, cost);
    return cavs_model_finish(m);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* One chain: its words are text[1 .. n], each predicted from the one before. */
static int add_chain(const struct language_model *lm, struct cavs_data *d, const int *text, int n,
                     const int *child_ptr, const int *child)
{
    int rc;

    if ((rc = cavs_data_begin(d)) < 0 ||
        (rc = cavs_data_graph(d, lm->lstm.stage, n, NULL, child_ptr, child)) < 0 ||
        (rc = cavs_data_ids(d, lm->lstm.stage, "word", n, text)) < 0 ||
        (rc = cavs_data_ids(d, lm->head, "label", n, text + 1)) < 0)
        return rc;
    return cavs_data_end(d);
}

int language_model_add(const struct language_model *lm, struct cavs_data *d,
                       const struct language_text *text)
{
    /* a forward chain is the beginning of each longer one, so that one graph does for all */
    int longest = text->words < INT_MAX ? (int)text->words : INT_MAX - 1, rc = 0;
    int *child_ptr = malloc(((size_t)longest + 1) * sizeof *child_ptr);
    int *child = malloc(((size_t)longest + 1) * sizeof *child);

    if (!child_ptr || !child)
        rc = CAVS_ENOMEM;
    else
        cavs_chain_graph(CAVS_WAY_FORWARD, longest, child_ptr, child);
    for (size_t begin = 0, end; rc == 0 && begin < text->words; begin = end) {
        end = lm->chain_end(lm, text, begin);
        rc = add_chain(lm, d, text->stream + begin, end - begin, child_ptr, child);
    }
    free(child_ptr);
    free(child);
    return rc;
}

static int fill(struct app *a, enum app_set set, struct cavs_data *d)
{
    struct language_model *lm = (struct language_model *)a;

    return language_model_add(lm, d, &lm->text[set]);
}

/* ---- the program ----------------------------------------------------------------------------- */

static int measure(struct app *a, enum app_set set)
{
    double loss;
    int rc = app_mean(a, "loss", &loss);

    if (rc == 0)
        app_number(a, set, "perplexity", exp(loss));
    return rc;
}

static int prepare(struct app *a)
{
    struct language_model *lm = (struct language_model *)a;
    const char *packed = app_first_packed(a);
    int rc = packed ? load_packed(lm, packed) : load_text(lm);

    if (rc < 0 || (rc = declare(lm)) < 0)
        return rc;
    a->graph = lm->lstm.stage;
    app_keep_vocab(a, "words", lm->vocab, "embedding", "W_out b_out");
    report_count(&a->report, "words", vocab_size(lm->vocab));
    return 0;
}

static void clear(struct app *a)
{
    struct language_model *lm = (struct language_model *)a;

    for (int i = 0; i < APP_SETS; i++) {
        free(lm->text[i].stream);
        free(lm->text[i].line);
    }
    sentences_close(lm->stream);
    sentences_clear(&lm->lines);
    vocab_destroy(lm->vocab);
}

struct program language_model_program(const char *name, const char *doc,
                                      const struct app_option *options)
{
    static const char *const measures[] = {"perplexity", NULL};

    return (struct program){
        .name = name,
        .doc = doc,
        .options = options,
        .shared_options = shared_options,
        .reads_data = true,
        .reads_packed = true,
        .embeds = true,
        .drops = true,
        .default_set = {"wikitext2/wiki.train.tokens", "wikitext2/wiki.valid.tokens"},
        .prepare = prepare,
        .fill = fill,
        .clear = clear,
        .objective = APP_MEAN_OF_VERTICES,
        .loss = "loss",
        .measures = measures,
        .measure = measure,
        .predict = language_model_predict,
    };
}
