/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor - the `bench` Tree-LSTM and Tree-FC written by hand, without any runtime: what a skilled
 * user would write for these two models alone, and the bar that the engine's generality is held to.
 *
 * Same data, same order of samples, same objective and optimizer as apps/tree_lstm and
 * apps/tree_fc; with --init FILE (their --save) also the same parameters, so that losses can be
 * compared.  It shares with the library what is below any engine: matrix products
 * (codelets/products/gemm.h), the arithmetic of the optimizers (codelets/update.h) and the formulas
 * of sigmoid and tanh.  A word is evaluated as often as it occurs in a batch: sharing words is not
 * what one writes by hand.
 */
#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/common/data_files.h"
#include "apps/common/option_table.h"
#include "apps/common/progress.h"
#include "apps/common/ptb.h"
#include "apps/common/random.h"
#include "apps/common/report.h"
#include "apps/tree_shapes.h"
#include "perf/floor.h"

struct floor_program {
    struct floor_settings set;
    struct floor_params params;
    const char *train;
    struct forest trees, shapes; /* of Tree-LSTM, and of Tree-FC */
    struct rng leaf_ids;
    enum tree_shape shape;
    int epochs, leaves, samples, hidden;
    double lr;
    uint64_t seed;
    const char *init;
    bool json, quiet;
    struct report report;
};

/* ---- options --------------------------------------------------------------------------------- */

/* clang-format off */
enum key {
    KEY_MODEL = 1, KEY_TRAIN, KEY_TREE, KEY_LEAVES, KEY_SAMPLES, KEY_EPOCHS, KEY_BATCH, KEY_HIDDEN,
    KEY_EMBED, KEY_LR, KEY_SEED, KEY_INIT, KEY_INFER, KEY_WORKERS, KEY_JSON, KEY_QUIET
};
/* clang-format on */

static const struct argp_option options[] = {
    {"model", KEY_MODEL, "NAME", 0, "tree_lstm (default) or tree_fc", 1},
    {"train", KEY_TRAIN, "PATH", 0, "treebank for tree_lstm (default $CAVS_DATA/sst/train.txt)", 1},
    {"tree", KEY_TREE, "SHAPE", 0, "tree_fc: balanced (default), random or sequence", 1},
    {"leaves", KEY_LEAVES, "N", 0, "tree_fc: leaves of each tree (default 256)", 1},
    {"samples", KEY_SAMPLES, "N", 0, "tree_fc: trees in an epoch (default 512)", 1},
    {"epochs", KEY_EPOCHS, "N", 0, "passes over the samples (default 3)", 2},
    {"batch", KEY_BATCH, "K", 0, "samples in a minibatch (default 64)", 2},
    {"hidden", KEY_HIDDEN, "N", 0, "width of the hidden state (default 256, tree_fc 512)", 2},
    {"embed", KEY_EMBED, "N", 0, "tree_lstm: width of the embedding (default 256)", 2},
    {"lr", KEY_LR, "X", 0, "learning rate (default: Adam 1e-3, tree_fc SGD 1e-5)", 2},
    {"seed", KEY_SEED, "N", 0, "of the order of the samples (default 0)", 2},
    {"init", KEY_INIT, "FILE", 0, "parameters from this model file (--save of the apps)", 2},
    {"infer", KEY_INFER, NULL, 0, "forward passes only", 2},
    {"workers", KEY_WORKERS, "N", 0, "threads; default: one a core", 2},
    {"json", KEY_JSON, NULL, 0, "the results as one JSON object, with the apps' names", 3},
    {"quiet", KEY_QUIET, NULL, 0, "nothing on stderr", 3},
    {0}};

static int shape_named(struct argp_state *state, const char *arg)
{
    for (int i = 0; tree_shape_names[i]; i++)
        if (strcmp(arg, tree_shape_names[i]) == 0)
            return i;
    argp_error(state, "--tree wants balanced, random or sequence, not '%s'", arg);
    return 0;
}

static const struct floor_model *model_named(struct argp_state *state, const char *arg)
{
    if (strcmp(arg, floor_tree_lstm.name) == 0)
        return &floor_tree_lstm;
    if (strcmp(arg, floor_tree_fc.name) == 0)
        return &floor_tree_fc;
    argp_error(state, "--model wants tree_lstm or tree_fc, not '%s'", arg);
    return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct floor_program *p = state->input;

    switch (key) {
    case KEY_MODEL: p->set.model = model_named(state, arg); break;
    case KEY_TRAIN: p->train = arg; break;
    case KEY_TREE: p->shape = shape_named(state, arg); break;
    case KEY_LEAVES: p->leaves = app_int(state, "leaves", arg, 1, 1 << 24); break;
    case KEY_SAMPLES: p->samples = app_int(state, "samples", arg, 1, INT_MAX); break;
    case KEY_EPOCHS: p->epochs = app_int(state, "epochs", arg, 1, INT_MAX); break;
    case KEY_BATCH: p->set.batch = app_int(state, "batch", arg, 1, 1 << 20); break;
    case KEY_HIDDEN: p->hidden = app_int(state, "hidden", arg, 1, 1 << 16); break;
    case KEY_EMBED: p->set.sizes.embed = app_int(state, "embed", arg, 1, 1 << 16); break;
    case KEY_LR: p->lr = app_real(state, "lr", arg, 0, 1e6); break;
    case KEY_SEED: p->seed = (uint64_t)app_int(state, "seed", arg, 0, INT_MAX); break;
    case KEY_INIT: p->init = arg; break;
    case KEY_INFER: p->set.train = false; break;
    case KEY_WORKERS: p->set.threads = app_int(state, "workers", arg, 1, FLOOR_THREADS); break;
    case KEY_JSON: p->json = true; break;
    case KEY_QUIET: p->quiet = true; break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Trains the bench Tree-LSTM or Tree-FC with a hand-written loop without any runtime: "
           "the bar for the engine."};

/* ---- data ------------------------------------------------------------------------------------ */

static int check_binary(const struct forest *f, const char *path, struct app_error *e)
{
    for (int i = 0; i < f->trees; i++) {
        struct tree t = forest_tree(f, i);

        for (int v = 0; v < t.n; v++)
            if (tree_arity(&t, v) != 0 && tree_arity(&t, v) != 2)
                return app_fail(e, CAVS_EDATA, "%s:%zu: this program wants binary trees", path,
                                t.line);
    }
    return 0;
}

static int load_trees(struct floor_program *p, struct app_error *e)
{
    struct ptb_options o = {.labels = FLOOR_CLASSES, .vocab = vocab_create(), .grow = true};
    char *path = NULL;
    int rc = o.vocab ? data_file_find(p->train, "sst/train.txt", "train", &path, e) : CAVS_ENOMEM;

    if (rc == 0)
        rc = ptb_load(path, &o, &p->trees, e);
    if (rc == 0)
        rc = check_binary(&p->trees, path, e);
    p->set.forest = &p->trees;
    p->set.sizes.words = o.vocab ? vocab_size(o.vocab) : 0;
    vocab_destroy(o.vocab);
    free(path);
    return rc;
}

static int add_shape(struct floor_program *p, struct rng *r, int *child_ptr, int *children,
                     struct app_error *e)
{
    int n = 2 * p->leaves - 1, rc = tree_shape_make(p->shape, p->leaves, r, child_ptr, children);

    for (int v = 0; rc >= 0 && v < n; v++)
        rc = forest_add_vertex(&p->shapes, 0, v < p->leaves ? 0 : -1,
                               child_ptr[v + 1] - child_ptr[v], children + child_ptr[v], e);
    return rc < 0 ? rc : forest_end_tree(&p->shapes, 0, e);
}

static int make_shapes(struct floor_program *p, struct app_error *e)
{
    int *child_ptr = floor_zeros(4 * (size_t)p->leaves, sizeof *child_ptr), rc = 0;
    struct rng r;

    rng_seed(&r, p->seed, UINT64_MAX);
    rng_seed(&p->leaf_ids, p->seed, UINT64_MAX - 1);
    for (int i = 0; rc == 0 && i < p->samples; i++)
        rc = add_shape(p, &r, child_ptr, child_ptr + 2 * (size_t)p->leaves, e);
    free(child_ptr);
    p->set.forest = &p->shapes;
    p->set.sizes.words = p->leaves;
    return rc;
}

/* The same draws as apps/tree_fc. */
static void draw_leaves(void *context, const int *samples, int n)
{
    struct floor_program *p = context;

    for (int i = 0; i < n; i++) {
        int *ids = p->shapes.word + p->shapes.first[samples[i]];

        for (int v = 0; v < p->leaves; v++)
            ids[v] = (int)rng_below(&p->leaf_ids, p->leaves);
    }
}

/* ---- the program ----------------------------------------------------------------------------- */

static void set_up_tree_lstm(struct floor_program *p)
{
    p->set.sizes.hidden = p->hidden ? p->hidden : 256;
    p->set.update = (struct cavs__update){.rule = CAVS_ADAM,
                                          .lr = p->lr > 0 ? (float)p->lr : 1e-3f,
                                          .beta1 = 0.9f,
                                          .beta2 = 0.999f,
                                          .epsilon = 1e-8f,
                                          .scale = 1.0f / p->set.batch};
}

static void set_up_tree_fc(struct floor_program *p)
{
    p->set.sizes.hidden = p->set.sizes.embed = p->hidden ? p->hidden : 512;
    p->set.update =
        (struct cavs__update){.rule = CAVS_SGD, .lr = p->lr > 0 ? (float)p->lr : 1e-5f, .scale = 1};
    p->set.before_batch = draw_leaves;
    p->set.context = p;
}

static int set_up(struct floor_program *p, struct app_error *e)
{
    bool lstm = p->set.model == &floor_tree_lstm;
    int rc = lstm ? load_trees(p, e) : make_shapes(p, e);

    if (rc < 0)
        return rc;
    if (lstm)
        set_up_tree_lstm(p);
    else
        set_up_tree_fc(p);
    p->set.model->declare(&p->params, &p->set.sizes);
    floor_params_create(&p->params, p->set.threads, p->set.train, p->seed);
    if (p->init && !floor_params_load(&p->params, p->init))
        return app_fail(e, CAVS_EFORMAT, "%s does not hold this model", p->init);
    return 0;
}

static void draw_order(const struct floor_program *p, int epoch, int *order)
{
    int n = p->set.forest->trees;
    struct rng r;

    for (int i = 0; i < n; i++)
        order[i] = i;
    rng_seed(&r, p->seed, epoch);
    if (p->set.train)
        rng_shuffle(&r, order, n);
}

static void record(struct floor_program *p, int epoch, double seconds, double loss)
{
    const struct forest *f = p->set.forest;
    struct forest_stats all = {0};
    struct cavs_stats stats = {0};
    struct app_error e;

    forest_measure(f, &all, &e);
    stats.batches = (f->trees + p->set.batch - 1) / p->set.batch;
    stats.flops = p->set.model->flops(&p->set.sizes, all.leaves, all.vertices - all.leaves) *
                  (p->set.train ? 3 : 1);
    report_add_work(&p->report, seconds, f->trees, all.vertices, &stats);
    report_add_epoch(&p->report, seconds, loss);
    if (!p->quiet)
        fprintf(stderr, "epoch %d/%d  loss %.4f  %.2f s  %.1f samples/s\n", epoch, p->epochs, loss,
                seconds, f->trees / seconds);
}

static void train(struct floor_program *p)
{
    int n = p->set.forest->trees, *order = floor_zeros(n, sizeof *order);
    struct floor_run *run = floor_run_create(&p->set, &p->params);

    for (int epoch = 1; epoch <= p->epochs; epoch++) {
        double begin = app_now(), loss;

        draw_order(p, epoch, order);
        loss = floor_run_epoch(run, order, n);
        record(p, epoch, app_now() - begin, loss);
    }
    floor_run_destroy(run);
    free(order);
}

static int run(struct floor_program *p, struct app_error *e)
{
    int rc = set_up(p, e);

    if (rc < 0)
        return rc;
    if (!report_create(&p->report, "floor"))
        return app_fail(e, CAVS_ENOMEM, "no memory for the report");
    p->report.workers = p->set.threads;
    report_text(&p->report, "model", p->set.model->name);
    report_text(&p->report, "gemm", cavs__gemm()->name);
    train(p);
    return report_print(&p->report, stdout, p->json, e);
}

static void clean_up(struct floor_program *p)
{
    report_destroy(&p->report);
    floor_params_destroy(&p->params);
    forest_clear(&p->trees);
    forest_clear(&p->shapes);
}

int main(int argc, char **argv)
{
    struct floor_program p = {
        .set = {.model = &floor_tree_lstm, .batch = 64, .train = true, .sizes = {.embed = 256}},
        .epochs = 3,
        .leaves = 256,
        .samples = 512,
    };
    struct app_error e = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int rc;

    p.set.threads = cores < 1 ? 1 : cores > FLOOR_THREADS ? FLOOR_THREADS : (int)cores;
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &p);
    cavs__gemm_init();
    rc = run(&p, &e);
    if (rc < 0)
        fprintf(stderr, "floor: %s\n", e.text);
    clean_up(&p);
    return rc < 0;
}
