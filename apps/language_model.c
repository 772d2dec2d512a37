/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/language_model.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/sentences.h"

#define EOS "<eos>"

/* ---- options --------------------------------------------------------------------------------- */

enum { KEY_TRAIN = 1, KEY_DEV, KEY_WORDS, KEY_DROPOUT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Text:", 1},
    {"train", KEY_TRAIN, "PATH", 0,
     "training text (default $CAVS_DATA/wikitext2/wiki.train.tokens)", 0},
    {"dev", KEY_DEV, "PATH", 0,
     "text to evaluate after each epoch (default $CAVS_DATA/wikitext2/wiki.valid.tokens, none if "
     "--train is given)",
     0},
    {"words", KEY_WORDS, "N", 0,
     "all but the N commonest words of the training text are <unk> (default 10000)", 0},
    {"dropout", KEY_DROPOUT, "X", 0,
     "in training, the share of zeros put into the words and the states that are read (default 0)",
     0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct language_model *lm = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &lm->packed;
        state->child_inputs[1] = &lm->common;
        break;
    case ARGP_KEY_SUCCESS:
        packed_check_options(state, &lm->packed, lm->files.train, lm->files.dev);
        break;
    case KEY_TRAIN: lm->files.train = arg; break;
    case KEY_DEV: lm->files.dev = arg; break;
    case KEY_WORDS: lm->max_words = app_int(state, "words", arg, 1, INT_MAX - 1); break;
    case KEY_DROPOUT: lm->dropout = app_real(state, "dropout", arg, 0, 0.999); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {
    {&packed_argp, 0, NULL, 0}, {&app_argp, 0, NULL, 0}, {0}};
const struct argp language_model_argp = {.options = options, .parser = parse, .children = children};

struct language_model language_model_defaults(const char *name)
{
    struct language_model lm = {
        .name = name,
        .common = app_options_defaults(),
        .files = {.default_train = "wikitext2/wiki.train.tokens",
                  .default_dev = "wikitext2/wiki.valid.tokens"},
        .max_words = 10000,
    };

    lm.common.epochs = 6;
    lm.common.batch = 32;
    lm.common.hidden = lm.common.embed = 512;
    lm.common.session.optimizer = CAVS_ADAM;
    lm.common.session.lr = 1e-3f;
    lm.common.session.clip = 1;
    return lm;
}

/* ---- text ------------------------------------------------------------------------------------ */

static int make_text(struct language_model *lm, struct sentences *s, const int *row,
                     struct language_text *out)
{
    out->stream = malloc((s->tokens + 1) * sizeof *out->stream);
    if (!out->stream)
        return CAVS_ENOMEM;
    out->stream[0] = vocab_find(lm->vocab, EOS, sizeof EOS - 1);
    for (size_t i = 0; i < s->tokens; i++)
        out->stream[i + 1] = row ? row[s->word[i]] : s->word[i];
    out->words = s->tokens;
    out->lines = s->n;
    out->line = s->first;
    s->first = NULL;
    return 0;
}

/* The training text, which is read first, decides on the words: <unk> and the commonest, in the order of first
 * appearance, are the rows of the embedding table. */
static int load(struct language_model *lm, const char *path, struct language_text *out,
                struct app_error *e)
{
    struct sentence_options o = {.words = lm->vocab, .end = EOS, .grow = !lm->rows};
    struct sentences s = {0};
    int rc = sentences_load(path, &o, &s, e), *row = NULL;

    if (rc == 0 && s.tokens == 0)
        rc = app_fail(e, CAVS_EDATA, "%s: no words in it", path);
    if (rc == 0 && !lm->rows) {
        row = vocab_keep(lm->vocab, lm->max_words);
        lm->rows = vocab_size(lm->vocab);
        rc = row ? 0 : CAVS_ENOMEM;
    }
    if (rc == 0)
        rc = make_text(lm, &s, row, out);
    free(row);
    sentences_clear(&s);
    return rc;
}

/* ---- model and data -------------------------------------------------------------------------- */

static int declare(struct language_model *lm)
{
    int embed = lm->common.embed, hidden = lm->common.hidden, rc = cavs_model_create(&lm->model);
    struct cavs_model *m = lm->model;
    struct cavs_param *table, *W, *b;
    struct cavs_function *f;
    struct cavs_symbol *h, *logits, *label;

    if (rc < 0)
        return rc;
    table = cavs_model_param(m, "embedding", lm->rows, embed, CAVS_UNIFORM(-0.05f, 0.05f));
    W = cavs_model_param(m, "W_out", hidden, lm->rows, cavs_init_glorot(hidden, lm->rows));
    b = cavs_model_param(m, "b_out", 1, lm->rows, CAVS_CONSTANT(0));
    lm->lstm = cavs_lstm_cell(m, "lstm", embed, hidden);
    f = cavs_function_create(lm->lstm.stage, "word");
    cavs_cell_define(&lm->lstm, f,
                     cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "word")), lm->dropout));

    lm->head = cavs_stage_over(m, "next", lm->lstm.stage, CAVS_ALL_VERTICES);
    f = cavs_function_create(lm->head, "next");
    h = cavs_dropout(cavs_pull_from(f, lm->lstm.stage, "h", NULL), lm->dropout);
    logits = cavs_affine(h, W, b);
    label = cavs_pull_ids(f, "label");
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    return cavs_model_finish(m);
}

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

static int make_data(const struct language_model *lm, const struct language_text *text,
                     struct cavs_data **out)
{
    /* a forward chain is the beginning of each longer one, so that one graph does for all */
    int longest = text->words < INT_MAX ? (int)text->words : INT_MAX - 1;
    int *child_ptr = malloc(((size_t)longest + 1) * sizeof *child_ptr);
    int *child = malloc(((size_t)longest + 1) * sizeof *child);
    int rc = child_ptr && child ? cavs_data_create(lm->model, out) : CAVS_ENOMEM;

    if (rc == 0)
        cavs_chain_graph(CAVS_WAY_FORWARD, longest, child_ptr, child);
    for (size_t begin = 0, end; rc == 0 && begin < text->words; begin = end) {
        end = lm->chain_end(lm, text, begin);
        rc = add_chain(lm, *out, text->stream + begin, end - begin, child_ptr, child);
    }
    free(child_ptr);
    free(child);
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Puts the perplexity since the last reset into the report. */
static int report_perplexity(struct language_model *lm, const char *name)
{
    double loss;
    int rc = app_mean(&lm->app, "loss", &loss);

    if (rc < 0)
        return rc;
    report_number(&lm->app.report, name, exp(loss));
    if (!lm->common.quiet)
        fprintf(stderr, "  %s %.2f\n", name, exp(loss));
    return 0;
}

static int after_epoch(void *context)
{
    struct language_model *lm = context;
    int rc = report_perplexity(lm, "train_perplexity");

    if (rc < 0 || !lm->dev)
        return rc;
    rc = app_evaluate(&lm->app, lm->dev);
    return rc < 0 ? rc : report_perplexity(lm, "dev_perplexity");
}

static int load_packed(struct language_model *lm, struct app_error *e)
{
    const char *path = lm->packed.train;
    struct cavs_packed *p;
    int rc = cavs_packed_open(path, &p);

    if (rc < 0)
        return rc;
    rc = packed_vocab_size(p, path, "words", &lm->rows, e);
    cavs_packed_close(p);
    return rc;
}

static int load_text(struct language_model *lm, struct app_error *e)
{
    struct data_files *f = &lm->files;
    int rc = data_files_find(f, e);

    if (rc < 0)
        return rc;
    if (!(lm->vocab = vocab_create()))
        return CAVS_ENOMEM;
    rc = load(lm, f->train_path, &lm->train_text, e);
    return rc < 0 || !f->dev_path ? rc : load(lm, f->dev_path, &lm->dev_text, e);
}

static int make_sets(struct language_model *lm, struct app_error *e)
{
    int rc;

    if (lm->packed.train)
        return packed_open_data(&lm->packed, lm->model, &lm->train, &lm->dev, e);
    rc = make_data(lm, &lm->train_text, &lm->train);
    return rc < 0 || !lm->files.dev_path ? rc : make_data(lm, &lm->dev_text, &lm->dev);
}

static int prepare(struct language_model *lm, struct app_error *e)
{
    int rc = lm->packed.train ? load_packed(lm, e) : load_text(lm, e);

    if (rc < 0 || (rc = declare(lm)) < 0 || (rc = make_sets(lm, e)) < 0)
        return rc;
    lm->common.session.scale = (float)cavs_data_size(lm->train) /
                               cavs_data_vertices(lm->train, lm->head) / lm->common.batch;
    return app_start(&lm->app, lm->name, &lm->common, lm->model);
}

static int run(struct language_model *lm, struct app_error *e)
{
    struct training training;
    int rc = prepare(lm, e);

    if (rc < 0)
        return rc;
    training = (struct training){
        .data = lm->train,
        .graph = lm->lstm.stage,
        .loss = "loss",
        .after_epoch = after_epoch,
        .error = e,
        .context = lm,
    };
    report_count(&lm->app.report, "words", lm->rows);
    if ((rc = app_train(&lm->app, &training)) < 0)
        return rc;
    return app_finish(&lm->app);
}

static void clear_text(struct language_text *t)
{
    free(t->stream);
    free(t->line);
}

int language_model_main(struct language_model *lm)
{
    struct app_error error = {""};
    int status = app_status(lm->name, run(lm, &error), &error);

    app_stop(&lm->app);
    cavs_data_destroy(lm->train);
    cavs_data_destroy(lm->dev);
    cavs_model_destroy(lm->model);
    clear_text(&lm->train_text);
    clear_text(&lm->dev_text);
    vocab_destroy(lm->vocab);
    data_files_clear(&lm->files);
    return status;
}
