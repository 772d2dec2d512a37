/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/tagger.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- options --------------------------------------------------------------------------------- */

enum { KEY_TRAIN = 1, KEY_DEV, KEY_MIN_COUNT, KEY_DROPOUT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Text:", 1},
    {"train", KEY_TRAIN, "PATH", 0, "training set (default $CAVS_DATA/wikiner10k/train.txt)", 0},
    {"dev", KEY_DEV, "PATH", 0,
     "set to evaluate after each epoch (default $CAVS_DATA/wikiner10k/dev.txt, none if --train is "
     "given)",
     0},
    {"min-count", KEY_MIN_COUNT, "N", 0,
     "words seen less often in the training set are rare (default 5)", 0},
    {"dropout", KEY_DROPOUT, "X", 0,
     "in training, the share of zeros put into the words and the states that are read (default 0)",
     0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tagger *t = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &t->common; break;
    case ARGP_KEY_SUCCESS:
        packed_check_options(state, &t->packed, t->files.train, t->files.dev);
        break;
    case KEY_TRAIN: t->files.train = arg; break;
    case KEY_DEV: t->files.dev = arg; break;
    case KEY_MIN_COUNT: t->min_count = app_int(state, "min-count", arg, 1, INT_MAX); break;
    case KEY_DROPOUT: t->dropout = app_real(state, "dropout", arg, 0, 0.999); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_argp, 0, NULL, 0}, {0}};
const struct argp tagger_argp = {.options = options, .parser = parse, .children = children};

struct tagger tagger_defaults(const char *name)
{
    struct tagger t = {
        .name = name,
        .common = app_options_defaults(),
        .files = {.default_train = "wikiner10k/train.txt", .default_dev = "wikiner10k/dev.txt"},
        .min_count = 5,
    };

    t.common.epochs = 5;
    t.common.batch = 32;
    t.common.embed = 128;
    t.common.session.optimizer = CAVS_ADAM;
    t.common.session.lr = 1e-3f;
    return t;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Every frequent word of the training set has a row of its own. */
static int choose_words(struct tagger *t)
{
    t->trained = vocab_size(t->words);
    t->row = calloc(t->trained, sizeof *t->row);
    if (!t->row)
        return CAVS_ENOMEM;
    t->rows = 1;
    for (int id = 1; id < t->trained; id++)
        if (vocab_count(t->words, id) >= t->min_count)
            t->row[id] = t->rows++;
    return 0;
}

/* Row 0 is <unk>: a word that is rare, or only in the development set. */
static int row_of(const struct tagger *t, int word)
{
    return word < t->trained ? t->row[word] : VOCAB_UNKNOWN;
}

static int load_packed(struct tagger *t, struct app_error *e)
{
    const char *path = t->packed.train;
    struct cavs_packed *p;
    int rc = cavs_packed_open(path, &p);

    if (rc < 0)
        return rc;
    rc = packed_vocab_size(p, path, "words", &t->rows, e);
    if (rc == 0)
        rc = packed_vocab(p, path, "tags", &t->tags, e);
    cavs_packed_close(p);
    return rc;
}

static int load_text(struct tagger *t, struct app_error *e)
{
    struct sentence_options o = {.grow = true, .grow_tags = true};
    int rc = data_files_find(&t->files, e);

    if (rc < 0)
        return rc;
    if (!(t->words = o.words = vocab_create()) || !(t->tags = o.tags = vocab_create()))
        return CAVS_ENOMEM;
    if ((rc = sentences_load(t->files.train_path, &o, &t->train_text, e)) < 0 ||
        (rc = choose_words(t)) < 0)
        return rc;
    if (t->train_text.n == 0)
        return app_fail(e, CAVS_EDATA, "%s: no sentences in it", t->files.train_path);
    o.grow_tags = false;
    return t->files.dev_path ? sentences_load(t->files.dev_path, &o, &t->dev_text, e) : 0;
}

/* ---- model ----------------------------------------------------------------------------------- */

static void declare_words(struct tagger *t, enum cavs_way way, struct cavs_param *table)
{
    static const char *const names[] = {"forward", "backward"};
    struct cavs_cell *lstm = &t->lstm[way];
    struct cavs_function *f;

    *lstm = cavs_lstm_cell(t->model, names[way], t->common.embed, t->common.hidden);
    f = cavs_function_create(lstm->stage, "word");
    cavs_cell_define(lstm, f,
                     cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "word")), t->dropout));
    if (!t->rare)
        return;
    f = cavs_function_create(lstm->stage, "rare");
    cavs_cell_define(lstm, f, cavs_dropout(t->rare->embedding(t, f), t->dropout));
}

static void declare_head(struct tagger *t)
{
    int width = 2 * t->common.hidden, classes = vocab_size(t->tags);
    struct cavs_init init = cavs_init_glorot(width, classes);
    struct cavs_param *W = cavs_model_param(t->model, "W_tag", width, classes, init);
    struct cavs_param *b = cavs_model_param(t->model, "b_tag", 1, classes, CAVS_CONSTANT(0));
    const struct cavs_cell *forward = &t->lstm[CAVS_WAY_FORWARD],
                           *backward = &t->lstm[CAVS_WAY_BACKWARD];
    struct cavs_function *f;
    struct cavs_symbol *h, *logits, *label;

    t->head = cavs_stage_over(t->model, "tag", forward->stage, CAVS_ALL_VERTICES);
    f = cavs_function_create(t->head, "tag");
    h = cavs_dropout(cavs_both_ways(f, forward, backward, "position"), t->dropout);
    logits = cavs_affine(h, W, b);
    label = cavs_pull_ids(f, "label");
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", cavs_correct(logits, label), label);
}

static int declare(struct tagger *t)
{
    int rc = cavs_model_create(&t->model);
    struct cavs_param *table;

    if (rc < 0)
        return rc;
    table = cavs_model_param(t->model, "embedding", t->rows, t->common.embed,
                             CAVS_UNIFORM(-0.05f, 0.05f));
    if (t->rare)
        t->rare->declare(t);
    declare_words(t, CAVS_WAY_FORWARD, table);
    declare_words(t, CAVS_WAY_BACKWARD, table);
    declare_head(t);
    return cavs_model_finish(t->model);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Arrays of one sentence, with room for the longest. */
struct scratch {
    int *function, *row, *position, *child_ptr, *child;
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

static int add_sentence(struct tagger *t, struct cavs_data *d, int n, const int *words,
                        const int *tags, const struct scratch *s)
{
    int rc;

    for (int w = 0; w < n; w++) {
        s->row[w] = row_of(t, words[w]);
        s->function[w] = t->rare && s->row[w] == VOCAB_UNKNOWN ? TAGGER_RARE : TAGGER_WORD;
        s->position[w] = w;
    }
    if ((rc = cavs_data_begin(d)) < 0 ||
        (t->rare && (rc = t->rare->add(t, d, n, words, s->function)) < 0) ||
        (rc = add_words(t, d, CAVS_WAY_FORWARD, n, s)) < 0 ||
        (rc = add_words(t, d, CAVS_WAY_BACKWARD, n, s)) < 0 ||
        (rc = cavs_data_ids(d, t->head, "position", n, s->position)) < 0 ||
        (rc = cavs_data_ids(d, t->head, "label", n, tags)) < 0)
        return rc;
    return cavs_data_end(d);
}

static int make_data(struct tagger *t, const struct sentences *text, struct cavs_data **out)
{
    size_t room = 1;
    struct scratch s;
    int *all, rc;

    for (int i = 0; i < text->n; i++)
        if ((size_t)sentences_length(text, i) >= room)
            room = (size_t)sentences_length(text, i) + 1;
    all = malloc(5 * room * sizeof *all);
    if (!all)
        return CAVS_ENOMEM;
    s = (struct scratch){all, all + room, all + 2 * room, all + 3 * room, all + 4 * room};
    rc = cavs_data_create(t->model, out);
    for (int i = 0; rc == 0 && i < text->n; i++) {
        size_t first = text->first[i];

        rc = add_sentence(t, *out, sentences_length(text, i), text->word + first, text->tag + first,
                          &s);
    }
    free(all);
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int after_epoch(void *context)
{
    static const struct app_mean means[] = {
        {"loss", "loss"}, {"correct", "accuracy"}, {NULL, NULL}};
    struct tagger *t = context;

    return app_report_epoch(&t->app, t->dev, means);
}

static int make_sets(struct tagger *t, struct app_error *e)
{
    int rc;

    if (t->packed.train)
        return packed_open_data(&t->packed, t->model, &t->train, &t->dev, e);
    rc = make_data(t, &t->train_text, &t->train);
    return rc < 0 || !t->files.dev_path ? rc : make_data(t, &t->dev_text, &t->dev);
}

static int prepare(struct tagger *t, struct app_error *e)
{
    int rc = t->packed.train ? load_packed(t, e) : load_text(t, e);

    if (rc < 0 || (rc = declare(t)) < 0 || (rc = make_sets(t, e)) < 0)
        return rc;
    t->common.session.scale = 1.0f / t->common.batch;
    return app_start(&t->app, t->name, &t->common, t->model);
}

static int run(struct tagger *t, struct app_error *e)
{
    struct training training;
    int rc = prepare(t, e);

    if (rc < 0)
        return rc;
    training = (struct training){
        .data = t->train,
        .graph = t->lstm[CAVS_WAY_FORWARD].stage,
        .loss = "loss",
        .after_epoch = after_epoch,
        .error = e,
        .context = t,
    };
    report_count(&t->app.report, "words", t->rows);
    report_count(&t->app.report, "tags", vocab_size(t->tags) - 1);
    if ((rc = app_train(&t->app, &training)) < 0)
        return rc;
    return app_finish(&t->app);
}

int tagger_main(struct tagger *t)
{
    struct app_error error = {""};
    int status = app_status(t->name, run(t, &error), &error);

    app_stop(&t->app);
    cavs_data_destroy(t->train);
    cavs_data_destroy(t->dev);
    cavs_model_destroy(t->model);
    sentences_clear(&t->train_text);
    sentences_clear(&t->dev_text);
    vocab_destroy(t->words);
    vocab_destroy(t->tags);
    free(t->row);
    data_files_clear(&t->files);
    return status;
}
