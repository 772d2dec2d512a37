/* SPDX-License-Identifier: Apache-2.0 */
/* parser - dependency trees by transitions; the model is in parser.h. */
#include "apps/parser.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/random.h"

/* ---- options --------------------------------------------------------------------------------- */

#define ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct parser, member, OPTION_##role, __VA_ARGS__)

static const struct app_option options[] = {
    OPTION_GROUP("Network:"),
    ROW(INT, "mlp", "N", mlp, MODEL, "width of the network that decides", 1, 1 << 20),
    ROW(REAL, "word-dropout", "A", word_dropout, RUN,
        "a word seen n times is <unk> in training with probability A / (n + A)", 0, 1e6),
    ROW(INT, "side-by-side", "N", side_by_side, FREE, "sentences parsed at once", 1, 1 << 20),
    {0}};

/* ---- training -------------------------------------------------------------------------------- */

/* Draws anew which words of a sentence are unknown. */
static void drop_words_of(struct parser *p, struct rng *r, int sample)
{
    const struct parser_text *t = &p->text[APP_TRAIN];
    struct cavs_data *d = p->app.data[APP_TRAIN];
    size_t first = t->first[p->sentence_of[sample]];
    int words = cavs_data_sample_vertices(d, p->word, sample), *row[2];

    for (int way = 0; way < 2; way++)
        row[way] = cavs_data_sample_ids(d, p->lstm[way].stage, "word", sample);
    for (int v = 0; v < words; v++) {
        int word = t->word[first + (size_t)v];
        double draw = (double)(rng_next(r) >> 11) * 0x1p-53;
        bool drop =
            v > 0 && draw * ((double)p->counts[word] + p->word_dropout) < (double)p->word_dropout;

        row[0][v] = row[1][v] = drop ? VOCAB_UNKNOWN : word;
    }
}

static int drop_words(struct app *a, const int *samples, int n)
{
    struct parser *p = (struct parser *)a;
    struct rng r;

    if (a->options.infer || p->word_dropout == 0)
        return 0;
    rng_seed(&r, a->options.session.seed, (1ull << 32) + p->batches++);
    for (int i = 0; i < n; i++)
        drop_words_of(p, &r, samples[i]);
    return 0;
}

/* ---- what is measured ------------------------------------------------------------------------ */

static int measure_moves(struct app *a)
{
    double moves, relations;
    int rc = app_mean(a, "correct_move", &moves);

    if (rc == 0)
        rc = app_mean(a, "correct_relation", &relations);
    if (rc < 0)
        return rc;
    app_number(a, APP_TRAIN, "moves", moves);
    app_number(a, APP_TRAIN, "relations", relations);
    return 0;
}

/* Shares of words with the right head, and with the right head and relation. */
static void report_attachment(struct app *a, enum app_set set)
{
    struct parser *p = (struct parser *)a;
    const struct parser_text *t = &p->text[set];
    int64_t heads = 0, both = 0, words = (int64_t)t->words - t->n;

    for (int i = 0; i < t->n; i++)
        for (size_t v = t->first[i] + 1; v < t->first[i + 1]; v++) {
            bool right = p->trees.head[v] == t->head[v];

            heads += right;
            both += right && p->trees.relation[v] == t->relation[v];
        }
    app_number(a, set, "uas", (double)heads / (double)words);
    app_number(a, set, "las", (double)both / (double)words);
}

static int measure(struct app *a, enum app_set set)
{
    struct parser *p = (struct parser *)a;
    struct cavs_stats before, after;
    char name[64];
    int rc;

    if (set == APP_TRAIN)
        return measure_moves(a);
    if (!parser_trees_reserve(&p->trees, p->text[set].words, false))
        return app_fail(&a->error, CAVS_ENOMEM, "no memory for the trees of %d sentences",
                        p->text[set].n);
    cavs_session_stats(a->session, &before);
    if ((rc = parser_decode(p, &p->text[set], a->data[set], &p->trees)) != 0)
        return rc;
    cavs_session_stats(a->session, &after);
    snprintf(name, sizeof name, "%s_batches", app_set_names[set]);
    report_count(&a->report, name, after.batches - before.batches);
    report_attachment(a, set);
    return 0;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int count_words(struct parser *p)
{
    const struct parser_text *t = &p->text[APP_TRAIN];

    p->counts = calloc((size_t)vocab_size(p->words.words), sizeof *p->counts);
    if (!p->counts)
        return app_fail(&p->app.error, CAVS_ENOMEM, "no memory for %d words",
                        vocab_size(p->words.words));
    for (size_t v = 0; v < t->words; v++)
        p->counts[t->word[v]]++;
    return 0;
}

/* Words are those of the model file, or of the training set. */
static int load(struct parser *p)
{
    static const char *const names[] = {"words", "shapes", "relations", NULL};
    struct parser_words *w = &p->words;
    struct vocab **const all[] = {&w->words, &w->shapes, &w->relations};
    struct app *a = &p->app;
    int rc = app_vocabs(a, names, all);

    if (rc == 0)
        rc = parser_words_choose(w, a->path[APP_TRAIN], a->options.min_count, &a->error);
    for (int i = 0; rc >= 0 && i < APP_SETS; i++)
        if (app_has_set(a, i))
            rc = parser_text_load(a->path[i], w, &p->text[i], &a->error);
    return rc < 0 ? rc : count_words(p);
}

static int prepare(struct app *a)
{
    struct parser *p = (struct parser *)a;
    int rc;

    if ((rc = load(p)) < 0 || (rc = parser_declare(p)) < 0)
        return rc;
    app_keep_vocab(a, "words", p->words.words, "embedding", NULL);
    app_keep_vocab(a, "shapes", p->words.shapes, "shape", NULL);
    app_keep_vocab(a, "relations", p->words.relations, NULL, NULL);
    a->graph = p->decision;
    report_count(&a->report, "words", vocab_size(p->words.words));
    report_count(&a->report, "relations", vocab_size(p->words.relations) - 1);
    report_count(&a->report, "skipped_sentences", 0);
    return 0;
}

static int fill(struct app *a, enum app_set set, struct cavs_data *d)
{
    struct parser *p = (struct parser *)a;
    int rc = parser_add_text(p, d, &p->text[set], set == APP_TRAIN ? &p->sentence_of : NULL);

    report_count(&a->report, "skipped_sentences", p->skipped);
    if (rc < 0 || set != APP_TRAIN)
        return rc;
    app_notice_unknown(a, d, p->decision, "relation", "relations");
    return cavs_data_size(d)
               ? 0
               : app_fail(&a->error, CAVS_EDATA, "%s: all trees have crossing arcs", a->path[set]);
}

static void stop(struct app *a)
{
    struct parser *p = (struct parser *)a;

    cavs_session_destroy(p->mover_session);
    p->mover_session = NULL;
}

static void clear(struct app *a)
{
    struct parser *p = (struct parser *)a;

    conllu_predictor_clear(&p->predictor);
    cavs_model_destroy(p->mover);
    for (int i = 0; i < APP_SETS; i++)
        parser_text_clear(&p->text[i]);
    parser_text_clear(&p->unparsed);
    parser_trees_clear(&p->trees);
    parser_words_clear(&p->words);
    free(p->counts);
    free(p->sentence_of);
}

static const char *const measures[] = {"uas", "las", NULL};

static const struct program program = {
    .name = "parser",
    .doc = "Trains an arc-standard parser with a bidirectional LSTM.\v"
           "PATH is a file in the CoNLL-U format. Without --train, the English Web Treebank of "
           "Universal Dependencies is read: $CAVS_DATA/ud_ewt/en_ewt-ud-train.conllu and "
           "en_ewt-ud-dev.conllu. Sentences whose trees have "
           "crossing arcs are left out of training (skipped_sentences), of nothing else: dev_uas, "
           "dev_las, test_uas and test_las are shares of all words, punctuation counted. "
           "--predict writes the columns HEAD and DEPREL, a tree of one root for each sentence; "
           "with --json it writes forms, heads (0: the root), relations, and the model's "
           "probabilities of the move that made each arc and of its relation, an object a "
           "sentence.\n\n"
           "Parameters in model files (e: --embed, h: --hidden, m: --mlp; gates i, f, o, u side "
           "by side): embedding (words x e), shape (endings x e/2), forward_W (1.5e x 4h), "
           "forward_U (h x 4h), forward_b, backward_W, backward_U, backward_b, W_stack0, "
           "W_stack1, W_stack2, W_next (2h x m), b_position, W_score (m x 3 + relations), b_score.",
    .options = options,
    .reads_data = true,
    .counts_words = true,
    .embeds = true,
    .drops = true,
    .default_set = CONLLU_DEFAULT_SETS,
    .prepare = prepare,
    .fill = fill,
    .stop = stop,
    .clear = clear,
    .objective = APP_MEAN_OF_SAMPLES,
    .loss = "loss",
    .before_batch = drop_words,
    .measures = measures,
    .measure = measure,
    .measures_alone = true,
    .predict = parser_predict,
};

int main(int argc, char **argv)
{
    struct parser p = {.app = {.options = app_options_defaults()},
                       .mlp = 128,
                       .side_by_side = 512,
                       .word_dropout = 0.25f};

    p.app.options.epochs = 10;
    p.app.options.batch = 32;
    p.app.options.hidden = 128;
    p.app.options.embed = 100;
    p.app.options.min_count = 2;
    p.app.options.dropout = 0.2f;
    p.app.options.session.optimizer = CAVS_ADAM;
    p.app.options.session.lr = 2e-3f;
    p.app.options.session.clip = 5;
    return program_main(&program, &p.app, argc, argv);
}
