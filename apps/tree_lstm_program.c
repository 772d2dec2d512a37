/* SPDX-License-Identifier: Apache-2.0 */
/* tree_lstm_program.c - what the declared and the recorded Tree-LSTM share. */

#include "apps/tree_lstm.h"

/* The cell that wants two children at inner vertices; NULL: any number will do. */
static const char *binary_cell(const struct tree_lstm *t)
{
    return t->cell == CELL_CHILDSUM ? NULL : cell_names[t->cell];
}

struct tree_lstm_sizes tree_lstm_sizes(const struct tree_lstm *t)
{
    return (struct tree_lstm_sizes){
        .words = t->bank.words,
        .embed = t->app.options.embed,
        .hidden = t->app.options.hidden,
        .classes = TREE_CLASSES,
        .arities = &t->bank.arities,
        .predict = t->app.options.predict != NULL,
    };
}

int tree_lstm_load(struct tree_lstm *t)
{
    struct app *a = &t->app;
    struct treebank_options files = {
        .labels = TREE_CLASSES, .min_count = a->options.min_count, .binary = binary_cell(t)};
    int rc = treebank_load(&t->bank, a, &files);

    report_text(&a->report, "cell", cell_names[t->cell]);
    report_count(&a->report, "words", t->bank.words);
    return rc;
}

int tree_lstm_read(struct tree_lstm *t, int most)
{
    return tree_predictor_read(&t->predictor, &t->app, most, t->bank.vocab, binary_cell(t));
}

static void clear(struct app *a)
{
    struct tree_lstm *t = (struct tree_lstm *)a;

    tree_predictor_clear(&t->predictor);
    treebank_clear(&t->bank);
}

static const struct app_mean means[] = {
    {"loss", "loss"}, {"correct", "accuracy_all"}, {"root_correct", "accuracy_root"}, {NULL, NULL}};

struct program tree_lstm_program(void)
{
    return (struct program){
        .reads_data = true,
        .counts_words = true,
        .embeds = true,
        .default_set = {"sst/train.txt", "sst/dev.txt"},
        .clear = clear,
        .objective = APP_MEAN_OF_SAMPLES,
        .loss = "loss",
        .means = means,
    };
}

struct tree_lstm tree_lstm_defaults(void)
{
    struct tree_lstm t = {.app = {.options = app_options_defaults()}};

    t.app.options.embed = 256;
    t.app.options.session.optimizer = CAVS_ADAM;
    t.app.options.session.lr = 1e-3f;
    return t;
}
