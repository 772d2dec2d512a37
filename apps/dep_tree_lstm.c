/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dep_tree_lstm - the part of speech of every word from the words below it: a child-sum Tree-LSTM (Tai et al., ACL 2015)
 * over dependency trees, with a matrix for every relation.
 *
 *     [m_k ; q_k] = h_k U_r           for child k, which stands in relation r
 *     i, o, u     = x W_iou + sum of m_k + b_iou
 *     f_k         = s(x W_f + q_k + b_f)
 *     c           = s(i) tanh(u) + sum of f_k c_k,   h = s(o) tanh(c)
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/app.h"
#include "apps/common/conllu.h"
#include "apps/common/data_files.h"

struct dep_tree_lstm {
    struct app_options common;
    struct data_files files;
    int min_count;
    float dropout;
    struct vocab *forms, *tags, *relations;
    struct cavs_model *model;
    struct cavs_stage *tree, *classifier;
    struct cavs_data *train, *dev;
    struct app app;
};

/* ---- options ------------------------------------------------------------------------------------------------------ */

enum { KEY_TRAIN = 1, KEY_DEV, KEY_MIN_COUNT, KEY_DROPOUT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Sentences and cell:", 1},
    {"train", KEY_TRAIN, "FILE", 0,
     "training set in the CoNLL-U format (default $CAVS_DATA/ud_ewt/en_ewt-ud-train.conllu)", 0},
    {"dev", KEY_DEV, "FILE", 0,
     "set to evaluate after each epoch (default $CAVS_DATA/ud_ewt/en_ewt-ud-dev.conllu, none if "
     "--train is given)",
     0},
    {"min-count", KEY_MIN_COUNT, "N", 0,
     "words seen less often in the training set are <unk> (default 2)", 0},
    {"dropout", KEY_DROPOUT, "RATE", 0, "of words and of what is classified (default 0.3)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct dep_tree_lstm *t = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &t->common; break;
    case KEY_TRAIN: t->files.train = arg; break;
    case KEY_DEV: t->files.dev = arg; break;
    case KEY_MIN_COUNT: t->min_count = app_int(state, "min-count", arg, 1, INT_MAX); break;
    case KEY_DROPOUT: t->dropout = (float)app_real(state, "dropout", arg, 0, 0.99); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc =
        "Trains a Tree-LSTM over dependency trees to tag every word with its part of speech.\v"
        "CAVS_DATA is ../shared/data unless the environment says otherwise.  Parameters in model "
        "files (e: --embed, h: --hidden): embedding (words x e), W_iou (e x 3h), b_iou, W_f (e x "
        "h), b_f, U (relations h x 4h: a block of h rows for each), W_class (h x tags), b_class."};

/* ---- model -------------------------------------------------------------------------------------------------------- */

static struct cavs_param *weight(struct cavs_model *m, const char *name, int rows, int cols,
                                 struct cavs_init init)
{
    return cavs_model_param(m, name, rows, cols, init);
}

static struct cavs_param *bias(struct cavs_model *m, const char *name, int cols)
{
    return cavs_model_param(m, name, 1, cols, CAVS_CONSTANT(0));
}

static void declare_cell(struct dep_tree_lstm *t)
{
    int e = t->common.embed, h = t->common.hidden, relations = vocab_size(t->relations);
    struct cavs_model *m = t->model;
    struct cavs_function *f = cavs_function_create(t->tree, "word");
    struct cavs_param *table =
        weight(m, "embedding", vocab_size(t->forms), e, CAVS_UNIFORM(-0.1f, 0.1f));
    struct cavs_symbol *x = cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "form")), t->dropout);
    struct cavs_symbol *child[2], *gate[3], *message, *iou, *forget, *c, *state[2];

    cavs_split(cavs_each_child(f), 2, child); /* c, h */
    message =
        cavs_matmul_select(child[1], weight(m, "U", relations * h, 4 * h, cavs_init_glorot(h, h)),
                           relations, cavs_pull_edge_ids(f, "relation"));
    iou = cavs_affine(x, weight(m, "W_iou", e, 3 * h, cavs_init_glorot(e, h)),
                      bias(m, "b_iou", 3 * h));
    iou = cavs_add(iou, cavs_sum_children(cavs_slice(message, 0, 3 * h)));
    forget = cavs_affine(x, weight(m, "W_f", e, h, cavs_init_glorot(e, h)), bias(m, "b_f", h));
    forget = cavs_sigmoid(cavs_add(cavs_slice(message, 3 * h, h), forget));
    cavs_split(iou, 3, gate);
    c = cavs_mul(cavs_sigmoid(gate[0]), cavs_tanh(gate[2]));
    state[0] = cavs_add(c, cavs_sum_children(cavs_mul(forget, child[0])));
    state[1] = cavs_mul(cavs_sigmoid(gate[1]), cavs_tanh(state[0]));
    cavs_scatter(f, cavs_concat(2, state));
    cavs_push(f, "h", state[1]);
}

static int declare(struct dep_tree_lstm *t)
{
    int h = t->common.hidden, tags = vocab_size(t->tags), rc = cavs_model_create(&t->model);
    struct cavs_function *f;
    struct cavs_symbol *logits, *tag;

    if (rc < 0)
        return rc;
    t->tree = cavs_stage_create(t->model, "tree", 2 * h);
    declare_cell(t);
    t->classifier = cavs_stage_over(t->model, "class", t->tree, CAVS_ALL_VERTICES);
    f = cavs_function_create(t->classifier, "class");
    logits = cavs_affine(cavs_dropout(cavs_pull_from(f, t->tree, "h", NULL), t->dropout),
                         weight(t->model, "W_class", h, tags, cavs_init_glorot(h, tags)),
                         bias(t->model, "b_class", tags));
    tag = cavs_pull_ids(f, "tag");
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, tag), tag);
    cavs_metric(f, "correct", cavs_correct(logits, tag), tag);
    return cavs_model_finish(t->model);
}

/* ---- data --------------------------------------------------------------------------------------------------------- */

/* Sentences on their way into a set; NULL: only their words are wanted. */
struct adding {
    const struct dep_tree_lstm *program;
    struct cavs_data *to;
};

static int add_tree(const struct dep_tree_lstm *t, struct cavs_data *d,
                    const struct conllu_sentence *s, int *child_ptr, int *child, int *relation)
{
    int rc;

    conllu_tree(s, child_ptr, child);
    for (int e = 0; e < child_ptr[s->n]; e++)
        relation[e] = s->relation[child[e]];
    if ((rc = cavs_data_begin(d)) < 0 ||
        (rc = cavs_data_graph(d, t->tree, s->n, NULL, child_ptr, child)) < 0 ||
        (rc = cavs_data_ids(d, t->tree, "form", s->n, s->form)) < 0 ||
        (rc = cavs_data_edge_ids(d, t->tree, "relation", child_ptr[s->n], relation)) < 0 ||
        (rc = cavs_data_ids(d, t->classifier, "tag", s->n, s->upos)) < 0)
        return rc;
    return cavs_data_end(d);
}

static int add_sentence(void *context, const struct conllu_sentence *s, struct app_error *e)
{
    const struct adding *a = context;
    int *memory, rc;

    (void)e;
    if (!a->to)
        return 0;
    memory = malloc(((size_t)s->n + 1) * 3 * sizeof *memory);
    if (!memory)
        return CAVS_ENOMEM;
    rc = add_tree(a->program, a->to, s, memory, memory + s->n + 1, memory + 2 * (s->n + 1));
    free(memory);
    return rc;
}

static int read_file(const struct dep_tree_lstm *t, const char *path, struct cavs_data *to,
                     struct app_error *e)
{
    struct adding adding = {t, to};
    struct conllu_options options = {.forms = t->forms,
                                     .upos = t->tags,
                                     .relations = t->relations,
                                     .grow_forms = !to,
                                     .grow_tags = !to,
                                     .lower = true};
    struct conllu_visitor visitor = {.each = add_sentence, .context = &adding};

    return conllu_read(path, &options, &visitor, e);
}

/* Words, tags and relations are those of the training set. */
static int read_vocabularies(struct dep_tree_lstm *t, struct app_error *e)
{
    int rc = data_files_find(&t->files, e), *renumbered;

    t->forms = vocab_create();
    t->tags = vocab_create();
    t->relations = vocab_create();
    if (rc < 0)
        return rc;
    if (!t->forms || !t->tags || !t->relations)
        return CAVS_ENOMEM;
    if ((rc = read_file(t, t->files.train_path, NULL, e)) < 0)
        return rc;
    renumbered = vocab_trim(t->forms, t->min_count);
    free(renumbered);
    return renumbered ? 0 : CAVS_ENOMEM;
}

static int make_sets(struct dep_tree_lstm *t, struct app_error *e)
{
    int rc;

    if ((rc = cavs_data_create(t->model, &t->train)) < 0 ||
        (rc = read_file(t, t->files.train_path, t->train, e)) < 0)
        return rc;
    if (!t->files.dev_path)
        return 0;
    rc = cavs_data_create(t->model, &t->dev);
    return rc < 0 ? rc : read_file(t, t->files.dev_path, t->dev, e);
}

/* ---- the program -------------------------------------------------------------------------------------------------- */

static int after_epoch(void *context)
{
    static const struct app_mean means[] = {
        {"loss", "loss"}, {"correct", "accuracy"}, {NULL, NULL}};
    struct dep_tree_lstm *t = context;

    return app_report_epoch(&t->app, t->dev, means);
}

static int run(struct dep_tree_lstm *t, struct app_error *e)
{
    struct training training;
    int rc;

    if ((rc = read_vocabularies(t, e)) < 0 || (rc = declare(t)) < 0 || (rc = make_sets(t, e)) < 0 ||
        (rc = app_start(&t->app, "dep_tree_lstm", &t->common, t->model)) < 0)
        return rc;
    training = (struct training){.data = t->train,
                                 .graph = t->tree,
                                 .loss = "loss",
                                 .after_epoch = after_epoch,
                                 .error = e,
                                 .context = t};
    report_count(&t->app.report, "words", vocab_size(t->forms));
    report_count(&t->app.report, "relations", vocab_size(t->relations));
    rc = app_train(&t->app, &training);
    return rc < 0 ? rc : app_finish(&t->app);
}

static void clean_up(struct dep_tree_lstm *t)
{
    app_stop(&t->app);
    cavs_data_destroy(t->train);
    cavs_data_destroy(t->dev);
    cavs_model_destroy(t->model);
    vocab_destroy(t->forms);
    vocab_destroy(t->tags);
    vocab_destroy(t->relations);
    data_files_clear(&t->files);
}

int main(int argc, char **argv)
{
    struct dep_tree_lstm t = {.common = app_options_defaults(),
                              .files = {.default_train = "ud_ewt/en_ewt-ud-train.conllu",
                                        .default_dev = "ud_ewt/en_ewt-ud-dev.conllu"},
                              .min_count = 2,
                              .dropout = 0.3f};
    struct app_error error = {""};
    int rc;

    t.common.embed = 128;
    t.common.hidden = 128;
    t.common.session.optimizer = CAVS_ADAM;
    t.common.session.lr = 2e-3f;
    argp_parse(&argp, argc, argv, 0, NULL, &t);
    t.common.session.scale = 1.0f / (float)t.common.batch;
    rc = app_status("dep_tree_lstm", run(&t, &error), &error);
    clean_up(&t);
    return rc;
}
