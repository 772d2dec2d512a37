/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dag_rnn - parts of speech by an LSTM over directed acyclic graphs: a word's state is made from
 * those of its dependents in the enhanced dependencies of a sentence (the column DEPS), where a
 * word may have several heads.
 *
 *     h'_k = h_k + r_k              of each dependent k, with an embedding r_k of how it depends
 *     [i o u] = x W + (sum of h'_k) U + b
 *     f_k = x W_f + h'_k U_f + b_f
 *     c = s(i) tanh(u) + sum of s(f_k) c_k
 *     h = s(o) tanh(c)
 *
 * A state has as many parents as its word has heads.  With --graph head the same model runs over
 * the trees of the column HEAD, of the same sentences: what the other edges are worth.
 *
 * Enhanced graphs may have cycles.  Training leaves these sentences out, and evaluation does,
 * unless --cycles cut has the edges taken out that close a cycle (conllu_cut_cycles()).
 * Predictions always do that, so that each sentence gets one.
 */
#include "apps/dag_rnn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/known_classes.h"
#include "apps/common/params.h"

static const char *const graph_names[] = {"deps", "head", NULL};
static const char *const cycles_names[] = {"skip", "cut", NULL};

/* ---- options --------------------------------------------------------------------------------- */

#define ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct dag_rnn, member, OPTION_##role, __VA_ARGS__)

static const struct app_option options[] = {
    OPTION_GROUP("Sentences and graphs:"),
    ROW(CHOICE, "graph", "NAME", graph, MODEL,
        "edges are those of the column DEPS or HEAD: deps or head", .choices = graph_names),
    ROW(CHOICE, "cycles", "NAME", cycles, KEPT,
        "sentences of the development and test set whose DEPS have a cycle: skip leaves them out, "
        "as training does; cut takes "
        "out the edges that close it, as predictions do",
        .choices = cycles_names),
    ROW(INT, "min-relation", "N", min_relation, RUN, "relations seen less often are <unk>", 1,
        INT_MAX),
    {0}};

/* ---- model ----------------------------------------------------------------------------------- */

static struct cavs_symbol *input(struct dag_rnn *d, struct cavs_function *f)
{
    struct cavs_param *table =
        app_embedding(d->app.model, "embedding", vocab_size(d->words), d->app.options.embed, 0.1f);

    return cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "word")), d->app.options.dropout);
}

static void declare_dag(struct dag_rnn *d)
{
    int e = d->app.options.embed, h = d->app.options.hidden;
    struct cavs_model *m = d->app.model;
    struct cavs_param *relations = app_embedding(m, "relation", vocab_size(d->relations), h, 0.1f);
    struct cavs_function *f;
    struct cavs_symbol *x, *child[2], *gate[3], *forget, *c, *state[2];

    d->dag = cavs_stage_create(m, "dag", 2 * h);
    f = cavs_function_create(d->dag, "word");
    x = input(d, f);
    cavs_split(cavs_each_child(f), 2, child); /* c_k, h_k */
    child[1] = cavs_add(child[1], cavs_lookup(relations, cavs_pull_edge_ids(f, "relation")));
    cavs_split(cavs_add(cavs_affine(x, app_weights(m, "W", e, h, 3), app_bias(m, "b", 3 * h)),
                        cavs_matmul(cavs_sum_children(child[1]), app_weights(m, "U", h, h, 3))),
               3, gate);
    forget = cavs_add(cavs_matmul(x, app_weight(m, "W_f", e, h)),
                      cavs_affine(child[1], app_weight(m, "U_f", h, h),
                                  cavs_model_param(m, "b_f", 1, h, CAVS_CONSTANT(1))));
    c = cavs_add(cavs_mul(cavs_sigmoid(gate[0]), cavs_tanh(gate[2])),
                 cavs_sum_children(cavs_mul(cavs_sigmoid(forget), child[0])));
    state[0] = c;
    state[1] = cavs_mul(cavs_sigmoid(gate[1]), cavs_tanh(c));
    cavs_scatter(f, cavs_concat(2, state));
    cavs_push(f, "h", state[1]);
}

static void declare_tag(struct dag_rnn *d)
{
    int h = d->app.options.hidden, tags = vocab_size(d->tags);
    struct cavs_model *m = d->app.model;
    struct cavs_function *f;
    struct cavs_symbol *logits, *label;

    d->tag = cavs_stage_over(m, "tag", d->dag, CAVS_ALL_VERTICES);
    f = cavs_function_create(d->tag, "tag");
    logits = cavs_affine(cavs_dropout(cavs_pull_from(f, d->dag, "h", NULL), d->app.options.dropout),
                         app_weight(m, "W_tag", h, tags), app_bias(m, "b_tag", tags));
    if (d->app.options.predict)
        cavs_push(f, CONLLU_LOGITS, logits);
    label = cavs_pull_ids(f, "label");
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", correct_known(f, logits, label), label);
}

static int declare(struct dag_rnn *d)
{
    int rc = cavs_model_create(&d->app.model);

    if (rc < 0)
        return rc;
    declare_dag(d);
    declare_tag(d);
    return cavs_model_finish(d->app.model);
}

/* ---- what is measured ------------------------------------------------------------------------ */

static const char *field(char name[64], enum app_set set, const char *what)
{
    snprintf(name, 64, "%s_%s", app_set_names[set], what);
    return name;
}

/* What the accuracies of the set leave out stands beside them. */
static void report_coverage(struct app *a, enum app_set set, const struct coverage *c)
{
    char name[64];

    report_count(&a->report,
                 set == APP_TRAIN ? "cyclic_sentences" : field(name, set, "cyclic_sentences"),
                 c->cyclic);
    report_count(&a->report, field(name, set, "words"), c->words);
    report_count(&a->report, field(name, set, "words_left_out"), c->words_left_out);
    report_count(&a->report, field(name, set, "sentences_left_out"), c->sentences_left_out);
}

/* As if all words that are left out had a wrong tag. */
static int measure(struct app *a, enum app_set set)
{
    struct dag_rnn *d = (struct dag_rnn *)a;
    double correct, counted;
    int rc = cavs_session_metric(a->session, "correct", &correct, &counted);

    if (rc == 0 && set != APP_TRAIN)
        app_number(a, set, "accuracy_of_all_words",
                   correct / (counted + (double)d->coverage[set].words_left_out));
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int prepare(struct app *a)
{
    struct dag_rnn *d = (struct dag_rnn *)a;
    int rc;

    if ((rc = dag_rnn_words(d)) < 0 || (rc = declare(d)) < 0)
        return rc;
    app_keep_vocab(a, "words", d->words, "embedding", NULL);
    app_keep_vocab(a, "tags", d->tags, NULL, "W_tag b_tag");
    app_keep_vocab(a, "relations", d->relations, "relation", NULL);
    a->graph = d->dag;
    report_text(&a->report, "graph", graph_names[d->graph]);
    report_count(&a->report, "words", vocab_size(d->words));
    report_count(&a->report, "relations", vocab_size(d->relations));
    return 0;
}

static int fill(struct app *a, enum app_set set, struct cavs_data *d)
{
    const struct dag_rnn *dag = (const struct dag_rnn *)a;
    int rc = dag_rnn_fill(a, set, d);

    if (rc < 0)
        return rc;
    report_coverage(a, set, &dag->coverage[set]);
    if (set == APP_TRAIN)
        app_notice_unknown(a, d, dag->tag, "label", "tags");
    return 0;
}

static void clear(struct app *a)
{
    struct dag_rnn *d = (struct dag_rnn *)a;

    conllu_predictor_clear(&d->predictor);
    vocab_destroy(d->words);
    vocab_destroy(d->tags);
    vocab_destroy(d->relations);
    free(d->ints);
}

static const struct app_mean means[] = {{"loss", "loss"}, {"correct", "accuracy"}, {NULL, NULL}};
static const char *const measures[] = {"accuracy_of_all_words", NULL};

static const struct program program = {
    .name = "dag_rnn",
    .doc = "Trains an LSTM over the graphs of enhanced dependencies to tell parts of speech.\v"
           "PATH is a file in the CoNLL-U format with the columns DEPS, or for --graph head HEAD "
           "and DEPREL. Without --train, the English Web Treebank of Universal Dependencies is "
           "read: $CAVS_DATA/ud_ewt/en_ewt-ud-train.conllu and en_ewt-ud-dev.conllu.\n\n"
           "Accuracies are over words, not empty nodes; one whose part of speech training has not "
           "seen counts as wrong. Sentences whose DEPS have a cycle are left "
           "out (--graph head, too, so that both compare): the report has how many "
           "there are (cyclic_sentences, of the other sets dev_cyclic_sentences and so on), "
           "..._words, ..._words_left_out and ..._sentences_left_out of each set, and "
           "..._accuracy_of_all_words, which counts the words left out as wrong. --predict leaves "
           "out nothing. It writes the column UPOS; with --json it writes forms, upos and the "
           "probabilities of all tags, an object a sentence.\n\n"
           "Parameters in model files (e: --embed, h: --hidden; gates i, o, u side by side): "
           "embedding (words x e), relation (relations x h), W (e x 3h), U (h x 3h), b, W_f (e x "
           "h), U_f (h x h), b_f, W_tag (h x tags), b_tag.",
    .options = options,
    .reads_data = true,
    .counts_words = true,
    .embeds = true,
    .drops = true,
    .default_set = CONLLU_DEFAULT_SETS,
    .prepare = prepare,
    .fill = fill,
    .clear = clear,
    .objective = APP_MEAN_OF_SAMPLES,
    .loss = "loss",
    .means = means,
    .measures = measures,
    .measure = measure,
    .predict = dag_rnn_predict,
};

int main(int argc, char **argv)
{
    struct dag_rnn d = {.app = {.options = app_options_defaults()}, .min_relation = 10};

    d.app.options.epochs = 10;
    d.app.options.batch = 32;
    d.app.options.hidden = 128;
    d.app.options.embed = 100;
    d.app.options.min_count = 2;
    d.app.options.dropout = 0.3f;
    d.app.options.session.optimizer = CAVS_ADAM;
    d.app.options.session.lr = 2e-3f;
    d.app.options.session.clip = 5;
    return program_main(&program, &d.app, argc, argv);
}
