/* SPDX-License-Identifier: Apache-2.0 */
/* parser - dependency trees by transitions; the model is in parser.h. */
#include "apps/parser.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/random.h"

/* ---- options --------------------------------------------------------------------------------- */

enum { KEY_TRAIN = 1, KEY_DEV, KEY_MIN_COUNT, KEY_MLP, KEY_WORD_DROPOUT, KEY_DROPOUT, KEY_SIDE };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Treebank and network:", 1},
    {"train", KEY_TRAIN, "PATH", 0,
     "training set (default $CAVS_DATA/ud_ewt/en_ewt-ud-train.conllu)", 0},
    {"dev", KEY_DEV, "PATH", 0,
     "set to parse after each epoch (default $CAVS_DATA/ud_ewt/en_ewt-ud-dev.conllu, none if "
     "--train is given)",
     0},
    {"min-count", KEY_MIN_COUNT, "N", 0, "words seen less often are <unk> (default 2)", 0},
    {"mlp", KEY_MLP, "N", 0, "width of the network that decides (default 128)", 0},
    {"dropout", KEY_DROPOUT, "X", 0, "share of the words' inputs and states set to 0 (default 0.2)",
     0},
    {"word-dropout", KEY_WORD_DROPOUT, "A", 0,
     "a word seen n times is <unk> in training with probability A / (n + A) (default 0.25)", 0},
    {"side-by-side", KEY_SIDE, "N", 0, "sentences parsed at once (default 512)", 0},
    {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct parser *p = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &p->common; break;
    case KEY_TRAIN: p->files.train = arg; break;
    case KEY_DEV: p->files.dev = arg; break;
    case KEY_MIN_COUNT: p->min_count = app_int(state, "min-count", arg, 1, INT_MAX); break;
    case KEY_MLP: p->mlp = app_int(state, "mlp", arg, 1, 1 << 20); break;
    case KEY_DROPOUT: p->dropout = app_real(state, "dropout", arg, 0, 0.99); break;
    case KEY_WORD_DROPOUT: p->word_dropout = app_real(state, "word-dropout", arg, 0, 1e6); break;
    case KEY_SIDE: p->side_by_side = app_int(state, "side-by-side", arg, 1, 1 << 20); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .children = children,
    .doc =
        "Trains an arc-standard parser with a bidirectional LSTM.\v"
        "PATH is a file in the CoNLL-U format; CAVS_DATA is ../shared/data unless the environment "
        "says otherwise.  Sentences whose trees have crossing arcs are left out of training.  "
        "dev_uas and dev_las are shares of all words, punctuation counted.\n\n"
        "Parameters in model files (e: --embed, h: --hidden, m: --mlp; gates i, f, o, u side by "
        "side): embedding (words x e), shape (endings x e/2), forward_W (1.5e x 4h), forward_U "
        "(h x 4h), forward_b, backward_W, backward_U, backward_b, W_stack0, W_stack1, W_stack2, "
        "W_next (2h x m), b_position, W_score (m x 3 + relations), b_score."};

/* ---- training -------------------------------------------------------------------------------- */

/* Draws anew which words of these sentences are unknown. */
static int drop_words(void *context, const int *samples, int n)
{
    struct parser *p = context;
    struct rng r;

    rng_seed(&r, p->common.session.seed, (1ull << 32) + p->batches++);
    for (int i = 0; i < n; i++) {
        size_t first = p->train_text.first[p->sentence_of[samples[i]]];
        int words = cavs_data_sample_vertices(p->train, p->word, samples[i]);
        int *row[2];

        for (int way = 0; way < 2; way++)
            row[way] = cavs_data_sample_ids(p->train, p->lstm[way].stage, "word", samples[i]);
        for (int v = 0; v < words; v++) {
            const struct parser_form *f = &p->words.form[p->train_text.form[first + v]];
            double draw = (rng_next(&r) >> 11) * 0x1p-53;
            bool drop = v > 0 && draw * (f->count + p->word_dropout) < p->word_dropout;

            row[0][v] = row[1][v] = drop ? VOCAB_UNKNOWN : f->word;
        }
    }
    return 0;
}

static int after_epoch(void *context)
{
    static const struct app_mean means[] = {
        {"correct_move", "moves"}, {"correct_relation", "relations"}, {NULL, NULL}};
    struct parser *p = context;
    struct cavs_stats before, after;
    double uas, las;
    int rc = app_report_epoch(&p->app, NULL, means);

    if (rc < 0 || !p->dev)
        return rc;
    cavs_session_stats(p->app.session, &before);
    if ((rc = parser_decode(p, &uas, &las)) < 0)
        return rc;
    cavs_session_stats(p->app.session, &after);
    report_count(&p->app.report, "dev_batches", after.batches - before.batches);
    report_number(&p->app.report, "dev_uas", uas);
    report_number(&p->app.report, "dev_las", las);
    if (!p->common.quiet)
        fprintf(stderr, "  dev_uas %.4f  dev_las %.4f\n", uas, las);
    return 0;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int load(struct parser *p, struct app_error *e)
{
    int rc;

    if ((rc = data_files_find(&p->files, e)) < 0 ||
        (rc = parser_text_load(p->files.train_path, &p->words, &p->train_text, e)) < 0 ||
        (rc = parser_words_choose(&p->words, p->min_count, e)) < 0 ||
        (p->files.dev_path &&
         (rc = parser_text_load(p->files.dev_path, &p->words, &p->dev_text, e)) < 0))
        return rc;
    return parser_words_look_up(&p->words, e);
}

static int make_mover(struct parser *p)
{
    struct cavs_session_options o = p->common.session;
    int rc = parser_declare_mover(p);

    o.inference = true;
    return rc < 0 ? rc : cavs_session_create(p->app.runtime, p->mover, &o, &p->mover_session);
}

static int prepare(struct parser *p, struct app_error *e)
{
    int rc;

    if ((rc = load(p, e)) < 0 || (rc = parser_declare(p)) < 0 ||
        (rc = parser_make_data(p, &p->train_text, &p->train, &p->sentence_of)) < 0 ||
        (p->files.dev_path && (rc = parser_make_data(p, &p->dev_text, &p->dev, NULL)) < 0))
        return rc;
    if (cavs_data_size(p->train) == 0)
        return app_fail(e, CAVS_EDATA, "%s: all trees have crossing arcs", p->files.train_path);
    p->common.session.scale = 1.0f / p->common.batch;
    rc = app_start(&p->app, "parser", &p->common, p->model);
    return rc < 0 || !p->dev ? rc : make_mover(p);
}

static int run(struct parser *p, struct app_error *e)
{
    struct training training;
    int rc = prepare(p, e);

    if (rc < 0)
        return rc;
    training = (struct training){
        .data = p->train,
        .graph = p->decision,
        .loss = "loss",
        .before_batch = p->common.infer || p->word_dropout == 0 ? NULL : drop_words,
        .after_epoch = after_epoch,
        .error = e,
        .context = p,
    };
    report_count(&p->app.report, "words", vocab_size(p->words.words));
    report_count(&p->app.report, "relations", vocab_size(p->words.relations) - 1);
    report_count(&p->app.report, "skipped_sentences", p->skipped);
    if ((rc = app_train(&p->app, &training)) < 0)
        return rc;
    /* its session has to end before the runtime, which --trace ends */
    cavs_session_destroy(p->mover_session);
    p->mover_session = NULL;
    return app_finish(&p->app);
}

static void clean_up(struct parser *p)
{
    cavs_session_destroy(p->mover_session);
    app_stop(&p->app);
    cavs_data_destroy(p->train);
    cavs_data_destroy(p->dev);
    cavs_model_destroy(p->model);
    cavs_model_destroy(p->mover);
    parser_text_clear(&p->train_text);
    parser_text_clear(&p->dev_text);
    parser_words_clear(&p->words);
    free(p->sentence_of);
    data_files_clear(&p->files);
}

int main(int argc, char **argv)
{
    struct parser p = {.common = app_options_defaults(),
                       .files = {.default_train = "ud_ewt/en_ewt-ud-train.conllu",
                                 .default_dev = "ud_ewt/en_ewt-ud-dev.conllu"},
                       .min_count = 2,
                       .mlp = 128,
                       .side_by_side = 512,
                       .dropout = 0.2,
                       .word_dropout = 0.25};
    struct app_error error = {""};
    int status;

    p.common.epochs = 10;
    p.common.batch = 32;
    p.common.hidden = 128;
    p.common.embed = 100;
    p.common.session.optimizer = CAVS_ADAM;
    p.common.session.lr = 2e-3f;
    p.common.session.clip = 5;
    argp_parse(&argp, argc, argv, 0, NULL, &p);
    status = app_status("parser", run(&p, &error), &error);
    clean_up(&p);
    return status;
}
