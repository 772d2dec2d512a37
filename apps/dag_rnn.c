/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dag_rnn - parts of speech by an LSTM over directed acyclic graphs: a word's state is made from those of its dependents in
 * the enhanced dependencies of a sentence (the column DEPS), where a word may have several heads.
 *
 *     h'_k = h_k + r_k              of each dependent k, with an embedding r_k of how it depends
 *     [i o u] = x W + (sum of h'_k) U + b
 *     f_k = x W_f + h'_k U_f + b_f
 *     c = s(i) tanh(u) + sum of s(f_k) c_k
 *     h = s(o) tanh(c)
 *
 * A state has as many parents as its word has heads.  With --graph head the same model runs over the trees of the column
 * HEAD, of the same sentences: what the other edges are worth.  Sentences whose enhanced graph has a cycle are left out.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/app.h"
#include "apps/common/array.h"
#include "apps/common/conllu.h"
#include "apps/common/data_files.h"

enum graph { GRAPH_DEPS, GRAPH_HEAD };
static const char *const graph_names[] = {"deps", "head", NULL};

struct dag_rnn {
    struct app_options common;
    struct data_files files;
    enum graph graph;
    int min_count, min_relation;
    double dropout;
    struct vocab *words, *tags, *relations;
    struct cavs_model *model;
    struct cavs_stage *dag, *tag;
    struct cavs_data *train, *dev;
    struct app app;
};

/* ---- options --------------------------------------------------------------------------------- */

enum { KEY_TRAIN = 1, KEY_DEV, KEY_GRAPH, KEY_MIN_COUNT, KEY_MIN_RELATION, KEY_DROPOUT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Sentences and graphs:", 1},
    {"train", KEY_TRAIN, "PATH", 0,
     "training set (default $CAVS_DATA/ud_ewt/en_ewt-ud-train.conllu)", 0},
    {"dev", KEY_DEV, "PATH", 0,
     "set to evaluate after each epoch (default $CAVS_DATA/ud_ewt/en_ewt-ud-dev.conllu, none if "
     "--train is given)",
     0},
    {"graph", KEY_GRAPH, "NAME", 0, "deps (default) or head", 0},
    {"min-count", KEY_MIN_COUNT, "N", 0, "words seen less often are <unk> (default 2)", 0},
    {"min-relation", KEY_MIN_RELATION, "N", 0, "likewise relations (default 10)", 0},
    {"dropout", KEY_DROPOUT, "X", 0, "share of the words' inputs and states set to 0 (default 0.3)",
     0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct dag_rnn *d = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &d->common; break;
    case KEY_TRAIN: d->files.train = arg; break;
    case KEY_DEV: d->files.dev = arg; break;
    case KEY_GRAPH: d->graph = app_choice(state, "graph", arg, graph_names); break;
    case KEY_MIN_COUNT: d->min_count = app_int(state, "min-count", arg, 1, INT_MAX); break;
    case KEY_MIN_RELATION: d->min_relation = app_int(state, "min-relation", arg, 1, INT_MAX); break;
    case KEY_DROPOUT: d->dropout = app_real(state, "dropout", arg, 0, 0.99); break;
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
        "Trains an LSTM over the graphs of enhanced dependencies to tell parts of speech.\v"
        "PATH is a file in the CoNLL-U format; CAVS_DATA is ../shared/data unless the environment "
        "says otherwise.  Accuracies are over words, not empty nodes.\n\n"
        "Parameters in model files (e: --embed, h: --hidden; gates i, o, u side by side): "
        "embedding "
        "(words x e), relation (relations x h), W (e x 3h), U (h x 3h), b, W_f (e x h), U_f (h x "
        "h), b_f, W_tag (h x tags), b_tag."};

/* ---- model ----------------------------------------------------------------------------------- */

/* n matrices of equal size side by side, each with its own range. */
static struct cavs_param *weight(struct dag_rnn *d, const char *name, int rows, int cols, int n)
{
    return cavs_model_param(d->model, name, rows, n * cols, cavs_init_glorot(rows, cols));
}

static struct cavs_param *bias(struct dag_rnn *d, const char *name, int cols, float value)
{
    return cavs_model_param(d->model, name, 1, cols, CAVS_CONSTANT(value));
}

static struct cavs_symbol *input(struct dag_rnn *d, struct cavs_function *f)
{
    struct cavs_param *table = cavs_model_param(d->model, "embedding", vocab_size(d->words),
                                                d->common.embed, CAVS_UNIFORM(-0.1f, 0.1f));

    return cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "word")), (float)d->dropout);
}

static void declare_dag(struct dag_rnn *d)
{
    int e = d->common.embed, h = d->common.hidden;
    struct cavs_param *relations = cavs_model_param(d->model, "relation", vocab_size(d->relations),
                                                    h, CAVS_UNIFORM(-0.1f, 0.1f));
    struct cavs_function *f;
    struct cavs_symbol *x, *child[2], *gate[3], *forget, *c, *state[2];

    d->dag = cavs_stage_create(d->model, "dag", 2 * h);
    f = cavs_function_create(d->dag, "word");
    x = input(d, f);
    cavs_split(cavs_each_child(f), 2, child); /* c_k, h_k */
    child[1] = cavs_add(child[1], cavs_lookup(relations, cavs_pull_edge_ids(f, "relation")));
    cavs_split(cavs_add(cavs_affine(x, weight(d, "W", e, h, 3), bias(d, "b", 3 * h, 0)),
                        cavs_matmul(cavs_sum_children(child[1]), weight(d, "U", h, h, 3))),
               3, gate);
    forget = cavs_add(cavs_affine(x, weight(d, "W_f", e, h, 1), bias(d, "b_f", h, 1)),
                      cavs_matmul(child[1], weight(d, "U_f", h, h, 1)));
    c = cavs_add(cavs_mul(cavs_sigmoid(gate[0]), cavs_tanh(gate[2])),
                 cavs_sum_children(cavs_mul(cavs_sigmoid(forget), child[0])));
    state[0] = c;
    state[1] = cavs_mul(cavs_sigmoid(gate[1]), cavs_tanh(c));
    cavs_scatter(f, cavs_concat(2, state));
    cavs_push(f, "h", state[1]);
}

static void declare_tag(struct dag_rnn *d)
{
    int h = d->common.hidden, tags = vocab_size(d->tags);
    struct cavs_function *f;
    struct cavs_symbol *logits, *label;

    d->tag = cavs_stage_over(d->model, "tag", d->dag, CAVS_ALL_VERTICES);
    f = cavs_function_create(d->tag, "tag");
    logits = cavs_affine(cavs_dropout(cavs_pull_from(f, d->dag, "h", NULL), (float)d->dropout),
                         weight(d, "W_tag", h, tags, 1), bias(d, "b_tag", tags, 0));
    label = cavs_pull_ids(f, "label");
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", cavs_correct(logits, label), label);
}

static int declare(struct dag_rnn *d)
{
    int rc = cavs_model_create(&d->model);

    if (rc < 0)
        return rc;
    declare_dag(d);
    declare_tag(d);
    return cavs_model_finish(d->model);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* The sentences of one file on their way to the data. */
struct reading {
    struct dag_rnn *d;
    struct cavs_data *data; /* NULL: only words are noted */
    int *ints;              /* scratch */
    size_t cap;
    int cyclic;
};

static int add_sentence(struct reading *r, const struct conllu_sentence *s, int *scratch)
{
    struct dag_rnn *d = r->d;
    bool deps = d->graph == GRAPH_DEPS;
    int n = deps ? s->nodes : s->n, edges = deps ? s->nedges : s->n, rc;
    int *ptr = scratch, *child = ptr + n + 1, *relation = child + edges, *label = relation + edges;

    if (deps)
        conllu_graph(s, ptr, child, relation);
    else
        conllu_tree(s, ptr, child);
    for (int k = 0; !deps && k < ptr[n]; k++)
        relation[k] = s->relation[child[k]];
    for (int v = 0; v < n; v++)
        label[v] = v < s->n ? s->upos[v] : -1;
    if ((rc = cavs_data_begin(r->data)) < 0 ||
        (rc = cavs_data_graph(r->data, d->dag, n, NULL, ptr, child)) < 0 ||
        (rc = cavs_data_ids(r->data, d->dag, "word", n, s->form)) < 0 ||
        (rc = cavs_data_edge_ids(r->data, d->dag, "relation", ptr[n], relation)) < 0 ||
        (rc = cavs_data_ids(r->data, d->tag, "label", n, label)) < 0)
        return rc;
    return cavs_data_end(r->data);
}

static int on_sentence(void *context, const struct conllu_sentence *s, struct app_error *e)
{
    struct reading *r = context;

    if (!r->data)
        return 0;
    if (!array_reserve(&r->ints, &r->cap, 4 * (size_t)s->nodes + 2 * (size_t)s->nedges + 1,
                       sizeof *r->ints))
        return app_fail(e, CAVS_ENOMEM, "no memory for a sentence of %d words", s->n);
    if (conllu_is_acyclic(s, r->ints))
        return add_sentence(r, s, r->ints);
    r->cyclic++;
    return 0;
}

static int read_file(struct dag_rnn *d, const char *path, bool grow, struct cavs_data *data,
                     int *cyclic, struct app_error *e)
{
    struct reading r = {.d = d, .data = data};
    struct conllu_visitor visitor = {on_sentence, &r};
    struct conllu_options o = {
        .forms = d->words, .upos = d->tags, .grow_forms = grow, .grow_tags = grow, .lower = true};
    int rc;

    if (d->graph == GRAPH_DEPS)
        o.deps = d->relations;
    else
        o.relations = d->relations;
    rc = conllu_read(path, &o, &visitor, e);
    free(r.ints);
    *cyclic = r.cyclic;
    return rc;
}

/* The first reading: words and relations that are frequent enough. */
static int choose_words(struct dag_rnn *d, struct app_error *e)
{
    int rc, cyclic, *map;

    if (!(d->words = vocab_create()) || !(d->tags = vocab_create()) ||
        !(d->relations = vocab_create()))
        return CAVS_ENOMEM;
    if ((rc = read_file(d, d->files.train_path, true, NULL, &cyclic, e)) < 0)
        return rc;
    map = vocab_trim(d->words, d->min_count);
    free(map);
    if (!map || !(map = vocab_trim(d->relations, d->min_relation)))
        return CAVS_ENOMEM;
    free(map);
    return 0;
}

static int make_data(struct dag_rnn *d, const char *path, struct cavs_data **out, int *cyclic,
                     struct app_error *e)
{
    int rc = cavs_data_create(d->model, out);

    if (rc < 0 || (rc = read_file(d, path, false, *out, cyclic, e)) < 0)
        return rc;
    return cavs_data_size(*out) ? 0
                                : app_fail(e, CAVS_EDATA, "%s: no acyclic sentences in it", path);
}

/* ---- the program ----------------------------------------------------------------------------- */

static int after_epoch(void *context)
{
    static const struct app_mean means[] = {
        {"loss", "loss"}, {"correct", "accuracy"}, {NULL, NULL}};
    struct dag_rnn *d = context;

    return app_report_epoch(&d->app, d->dev, means);
}

static int run(struct dag_rnn *d, struct app_error *e)
{
    struct training training;
    int cyclic = 0, dev_cyclic = 0, rc;

    if ((rc = data_files_find(&d->files, e)) < 0 || (rc = choose_words(d, e)) < 0 ||
        (rc = declare(d)) < 0 ||
        (rc = make_data(d, d->files.train_path, &d->train, &cyclic, e)) < 0 ||
        (d->files.dev_path && (rc = make_data(d, d->files.dev_path, &d->dev, &dev_cyclic, e)) < 0))
        return rc;
    d->common.session.scale = 1.0f / d->common.batch;
    if ((rc = app_start(&d->app, "dag_rnn", &d->common, d->model)) < 0)
        return rc;
    training = (struct training){
        .data = d->train,
        .graph = d->dag,
        .loss = "loss",
        .after_epoch = after_epoch,
        .error = e,
        .context = d,
    };
    report_text(&d->app.report, "graph", graph_names[d->graph]);
    report_count(&d->app.report, "words", vocab_size(d->words));
    report_count(&d->app.report, "relations", vocab_size(d->relations));
    report_count(&d->app.report, "cyclic_sentences", cyclic);
    report_count(&d->app.report, "dev_cyclic_sentences", dev_cyclic);
    rc = app_train(&d->app, &training);
    return rc < 0 ? rc : app_finish(&d->app);
}

int main(int argc, char **argv)
{
    struct dag_rnn d = {.common = app_options_defaults(),
                        .files = {.default_train = "ud_ewt/en_ewt-ud-train.conllu",
                                  .default_dev = "ud_ewt/en_ewt-ud-dev.conllu"},
                        .min_count = 2,
                        .min_relation = 10,
                        .dropout = 0.3};
    struct app_error error = {""};
    int status;

    d.common.epochs = 10;
    d.common.batch = 32;
    d.common.hidden = 128;
    d.common.embed = 100;
    d.common.session.optimizer = CAVS_ADAM;
    d.common.session.lr = 2e-3f;
    d.common.session.clip = 5;
    argp_parse(&argp, argc, argv, 0, NULL, &d);
    status = app_status("dag_rnn", run(&d, &error), &error);
    app_stop(&d.app);
    cavs_data_destroy(d.train);
    cavs_data_destroy(d.dev);
    cavs_model_destroy(d.model);
    vocab_destroy(d.words);
    vocab_destroy(d.tags);
    vocab_destroy(d.relations);
    data_files_clear(&d.files);
    return status;
}
