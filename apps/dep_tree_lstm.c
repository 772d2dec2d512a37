/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dep_tree_lstm - the part of speech of every word from the words below it: a child-sum Tree-LSTM
 * (Tai et al., ACL 2015) over dependency trees, with a matrix for every relation.
 *
 *     i, o, u = x W_iou + sum of m_k + b_iou         over the children k
 *     f_k     = s(x W_f + q_k + b_f)
 *     c       = s(i) tanh(u) + sum of f_k c_k,   h = s(o) tanh(c)
 *     [m ; q] = h U_r                             for a word that stands in relation r to its head
 *
 * A word's message to its head is made where the word is: most words have none below them, so most
 * messages are made at once, and those with the same U_r together.
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/conllu_predict.h"
#include "apps/common/known_classes.h"
#include "apps/common/packed_set.h"
#include "apps/common/params.h"

struct dep_tree_lstm {
    struct app app; /* first: the frame hands it over */
    struct vocab *forms, *tags, *relations;
    struct cavs_stage *tree, *classifier;
    struct conllu_predictor predictor;
};

/* ---- model ----------------------------------------------------------------------------------- */

static void declare_cell(struct dep_tree_lstm *t)
{
    int e = t->app.options.embed, h = t->app.options.hidden, relations = vocab_size(t->relations);
    struct cavs_model *m = t->app.model;
    struct cavs_function *f = cavs_function_create(t->tree, "word");
    struct cavs_param *table = app_embedding(m, "embedding", vocab_size(t->forms), e, 0.1f);
    struct cavs_symbol *x =
        cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "word")), t->app.options.dropout);
    struct cavs_symbol *child = cavs_each_child(f), *gate[3], *iou, *forget, *state, *sent[2];

    iou = cavs_affine(x, app_weights(m, "W_iou", e, h, 3), app_bias(m, "b_iou", 3 * h));
    iou = cavs_add(iou, cavs_sum_children(cavs_slice(child, h, 3 * h)));
    /* Nothing but products is left ahead of the tree's steps. */
    forget = cavs_add(cavs_matmul(x, app_weight(m, "W_f", e, h)),
                      cavs_add(cavs_slice(child, 4 * h, h), cavs_use(f, app_bias(m, "b_f", h))));
    forget = cavs_sigmoid(forget);
    cavs_split(iou, 3, gate);
    sent[0] = cavs_add(cavs_mul(cavs_sigmoid(gate[0]), cavs_tanh(gate[2])),
                       cavs_sum_children(cavs_mul(forget, cavs_slice(child, 0, h))));
    state = cavs_mul(cavs_sigmoid(gate[1]), cavs_tanh(sent[0]));
    sent[1] = cavs_matmul_select(
        state, cavs_model_param(m, "U", relations * h, 4 * h, cavs_init_glorot(h, h)), relations,
        cavs_pull_ids(f, "relation"));
    cavs_scatter(f, cavs_concat(2, sent));
    cavs_push(f, "h", state);
}

static int declare(struct dep_tree_lstm *t)
{
    int h = t->app.options.hidden, tags = vocab_size(t->tags),
        rc = cavs_model_create(&t->app.model);
    struct cavs_function *f;
    struct cavs_symbol *logits, *label;

    if (rc < 0)
        return rc;
    t->tree = cavs_stage_create(t->app.model, "tree", 5 * h); /* c, m, q */
    declare_cell(t);
    t->classifier = cavs_stage_over(t->app.model, "tag", t->tree, CAVS_ALL_VERTICES);
    f = cavs_function_create(t->classifier, "tag");
    logits = cavs_affine(
        cavs_dropout(cavs_pull_from(f, t->tree, "h", NULL), t->app.options.dropout),
        app_weight(t->app.model, "W_class", h, tags), app_bias(t->app.model, "b_class", tags));
    if (t->app.options.predict)
        cavs_push(f, CONLLU_LOGITS, logits);
    label = cavs_pull_ids(f, "label");
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", correct_known(f, logits, label), label);
    return cavs_model_finish(t->app.model);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Sentences on their way into a set; NULL: only their words are wanted. */
struct adding {
    const struct dep_tree_lstm *program;
    struct cavs_data *to;
};

/* The root has nobody to send a message to. */
static int add_tree(const struct dep_tree_lstm *t, struct cavs_data *d,
                    const struct conllu_sentence *s, int *child_ptr, int *child, int *relation)
{
    int rc;

    conllu_tree(s, child_ptr, child);
    conllu_tree_relations(s, relation);
    if ((rc = cavs_data_begin(d)) < 0 ||
        (rc = cavs_data_graph(d, t->tree, s->n, NULL, child_ptr, child)) < 0 ||
        (rc = cavs_data_ids(d, t->tree, "word", s->n, s->form)) < 0 ||
        (rc = cavs_data_ids(d, t->tree, "relation", s->n, relation)) < 0 ||
        (rc = cavs_data_ids(d, t->classifier, "label", s->n, s->upos)) < 0)
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

static struct conllu_options reader(const struct dep_tree_lstm *t, bool grow)
{
    return (struct conllu_options){.forms = t->forms,
                                   .upos = t->tags,
                                   .relations = t->relations,
                                   .grow_forms = grow,
                                   .grow_tags = grow,
                                   .lower = true,
                                   .wanted = CONLLU_HEAD | CONLLU_DEPREL};
}

static int read_file(struct dep_tree_lstm *t, const char *path, struct cavs_data *to)
{
    struct adding adding = {t, to};
    struct conllu_options o = reader(t, !to);
    struct conllu_visitor visitor = {.each = add_sentence, .context = &adding};

    return conllu_read(path, &o, &visitor, &t->app.error);
}

/* Words, tags and relations are those of packed data, of the model file, or of the training set. */
static int find_words(struct dep_tree_lstm *t)
{
    static const char *const names[] = {"words", "tags", "relations", NULL};
    struct vocab **const all[] = {&t->forms, &t->tags, &t->relations};
    const char *packed = app_first_packed(&t->app);
    int rc, *renumbered;

    if (packed)
        return packed_vocabs(&t->app, packed, names, all);
    if ((rc = app_vocabs(&t->app, names, all)) != 0)
        return rc;
    if ((rc = read_file(t, t->app.path[APP_TRAIN], NULL)) < 0)
        return rc;
    renumbered = vocab_trim(t->forms, t->app.options.min_count);
    free(renumbered);
    return renumbered ? 0 : CAVS_ENOMEM;
}

static int fill(struct app *a, enum app_set set, struct cavs_data *d)
{
    struct dep_tree_lstm *t = (struct dep_tree_lstm *)a;
    int rc = read_file(t, a->path[set], d);

    if (rc == 0 && set == APP_TRAIN)
        app_notice_unknown(a, d, t->classifier, "label", "tags");
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int prepare(struct app *a)
{
    struct dep_tree_lstm *t = (struct dep_tree_lstm *)a;
    int rc;

    if ((rc = find_words(t)) < 0 || (rc = declare(t)) < 0)
        return rc;
    app_keep_vocab(a, "words", t->forms, "embedding", NULL);
    app_keep_vocab(a, "tags", t->tags, NULL, "W_class b_class");
    app_keep_vocab(a, "relations", t->relations, NULL, NULL);
    a->graph = t->tree;
    report_count(&a->report, "words", vocab_size(t->forms));
    report_count(&a->report, "relations", vocab_size(t->relations));
    return 0;
}

static int predict(struct app *a, struct cavs_data *d, int most)
{
    struct dep_tree_lstm *t = (struct dep_tree_lstm *)a;
    struct adding adding = {.program = t, .to = d};
    struct conllu_options o = reader(t, false);
    struct conllu_visitor visitor = {.each = add_sentence, .context = &adding};
    int n = conllu_predictor_read(&t->predictor, a, most, &o, &visitor), rc = 0;

    if (n > 0)
        rc = conllu_predictor_tag(&t->predictor, a, d, t->classifier, t->tags);
    return rc < 0 ? rc : n;
}

static void clear(struct app *a)
{
    struct dep_tree_lstm *t = (struct dep_tree_lstm *)a;

    conllu_predictor_clear(&t->predictor);
    vocab_destroy(t->forms);
    vocab_destroy(t->tags);
    vocab_destroy(t->relations);
}

static const struct app_mean means[] = {{"loss", "loss"}, {"correct", "accuracy"}, {NULL, NULL}};

static const struct program program = {
    .name = "dep_tree_lstm",
    .doc =
        "Trains a Tree-LSTM over dependency trees to tag every word with its part of speech.\v"
        "PATH is a file in the CoNLL-U format with trees in the columns HEAD and DEPREL. Without "
        "--train, the English Web Treebank of Universal Dependencies is read: "
        "$CAVS_DATA/ud_ewt/en_ewt-ud-train.conllu and en_ewt-ud-dev.conllu. accuracy is of "
        "all words; one whose part of speech training has not seen counts as wrong. --predict "
        "writes the column UPOS and leaves everything else as it is; with "
        "--json it writes forms, upos and the probabilities of all tags, an object a "
        "sentence.\n\n"
        "Parameters in model files (e: --embed, h: --hidden): embedding (words x e), W_iou (e x "
        "3h), b_iou, W_f (e x h), b_f, U (relations h x 4h: a block of h rows for each), W_class "
        "(h x tags), b_class.",
    .reads_data = true,
    .reads_packed = true,
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
    .predict = predict,
};

int main(int argc, char **argv)
{
    struct dep_tree_lstm t = {.app = {.options = app_options_defaults()}};

    t.app.options.min_count = 2;
    t.app.options.dropout = 0.3f;
    t.app.options.embed = 128;
    t.app.options.hidden = 128;
    t.app.options.session.optimizer = CAVS_ADAM;
    t.app.options.session.lr = 2e-3f;
    return program_main(&program, &t.app, argc, argv);
}
