/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_fc - the Tree-FC benchmark: one fully connected layer applied over binary trees.
 *
 *     leaf      state = row of the embedding table, drawn anew for every leaf and batch
 *     inner     state = relu([left; right] W + b)
 *     loss      1/2 sum(state of the root ^2), summed over the batch
 *
 * That is --variant fold, the benchmark of TensorFlow Fold.  --variant cavs is what the Cavs paper
 * timed: the layer also at the leaves, and the loss over every vertex.  A leaf has no left and right;
 * its embedding e stands for both: state = relu([e; e] W + b).
 *
 * Parameters: embedding (leaves x hidden), W (2 hidden x hidden), b (1 x hidden), in both variants.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "apps/common/app.h"
#include "apps/common/random.h"
#include "apps/tree_shapes.h"

enum variant { FOLD, CAVS };
static const char *const variant_names[] = {"fold", "cavs", NULL};

struct tree_fc {
    struct app_options common;
    enum variant variant;
    enum tree_shape shape;
    int leaves, samples;
    struct cavs_model *model;
    struct cavs_stage *tree;
    struct cavs_data *data;
    struct rng leaf_ids;
};

/* ---- options --------------------------------------------------------------------------------- */

enum { KEY_VARIANT = 1, KEY_TREE, KEY_LEAVES, KEY_SAMPLES };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Trees:", 1},
    {"variant", KEY_VARIANT, "NAME", 0,
     "fold: layer at inner vertices, loss at the root (default); cavs: both at every vertex", 0},
    {"tree", KEY_TREE, "SHAPE", 0, "balanced (default), random or sequence", 0},
    {"leaves", KEY_LEAVES, "N", 0, "leaves of each tree (default 256)", 0},
    {"samples", KEY_SAMPLES, "N", 0, "trees in an epoch (default 512)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tree_fc *t = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &t->common; break;
    case KEY_VARIANT: t->variant = app_choice(state, "variant", arg, variant_names); break;
    case KEY_TREE: t->shape = app_choice(state, "tree", arg, tree_shape_names); break;
    case KEY_LEAVES: t->leaves = app_int(state, "leaves", arg, 1, 1 << 24); break;
    case KEY_SAMPLES: t->samples = app_int(state, "samples", arg, 1, INT_MAX); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    case ARGP_KEY_SUCCESS:
        if (t->common.embed && t->common.embed != t->common.hidden)
            argp_error(state, "--embed has to equal --hidden: a leaf's embedding is its state");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Trains a fully connected layer over binary trees: the Tree-FC benchmark."};

/* ---- model ----------------------------------------------------------------------------------- */

static struct cavs_symbol *layer(struct cavs_symbol *left, struct cavs_symbol *right,
                                 struct cavs_param *W, struct cavs_param *b)
{
    struct cavs_symbol *both[] = {left, right};

    return cavs_relu(cavs_affine(cavs_concat(2, both), W, b));
}

/* The state goes up to the parent and is visible to the loss. */
static void set_state(struct cavs_function *f, struct cavs_symbol *state)
{
    cavs_scatter(f, state);
    cavs_push(f, "state", state);
}

static struct cavs_stage *declare_tree(struct cavs_model *m, const struct tree_fc *t)
{
    int h = t->common.hidden;
    float range = 1.43f * sqrtf(3.0f / (2 * h));
    struct cavs_param *table = cavs_model_param(m, "embedding", t->leaves, h, CAVS_UNIFORM(0, 1));
    struct cavs_param *W = cavs_model_param(m, "W", 2 * h, h, CAVS_UNIFORM(-range, range));
    struct cavs_param *b = cavs_model_param(m, "b", 1, h, CAVS_CONSTANT(0));
    struct cavs_stage *tree = cavs_stage_create(m, "tree", h);
    struct cavs_function *leaf = cavs_function_create(tree, "leaf");   /* number 0 */
    struct cavs_function *inner = cavs_function_create(tree, "inner"); /* number 1 */
    struct cavs_symbol *e = cavs_lookup(table, cavs_pull_ids(leaf, "leaf"));

    set_state(leaf, t->variant == CAVS ? layer(e, e, W, b) : e);
    set_state(inner, layer(cavs_gather(inner, 0), cavs_gather(inner, 1), W, b));
    return tree;
}

static void declare_loss(struct cavs_model *m, struct cavs_stage *tree, enum cavs_over over)
{
    struct cavs_stage *head = cavs_stage_over(m, "loss", tree, over);
    struct cavs_function *f = cavs_function_create(head, "loss");
    struct cavs_symbol *state = cavs_pull_from(f, tree, "state", NULL);

    cavs_loss(f, "loss", cavs_scale(cavs_sum(cavs_square(state)), 0.5f), NULL);
}

static int declare(struct tree_fc *t)
{
    int rc = cavs_model_create(&t->model);

    if (rc < 0)
        return rc;
    t->tree = declare_tree(t->model, t);
    declare_loss(t->model, t->tree, t->variant == CAVS ? CAVS_ALL_VERTICES : CAVS_ROOTS);
    return cavs_model_finish(t->model);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* One sample; the leaves' ids are drawn before each batch, inner vertices have none. */
static int add_tree(struct tree_fc *t, struct rng *r, int *functions, int *child_ptr, int *kids,
                    int *ids)
{
    int n = 2 * t->leaves - 1, rc;

    for (int v = 0; v < n; v++) {
        functions[v] = v >= t->leaves;
        ids[v] = v >= t->leaves ? -1 : 0;
    }
    if ((rc = tree_shape_make(t->shape, t->leaves, r, child_ptr, kids)) < 0 ||
        (rc = cavs_data_begin(t->data)) < 0 ||
        (rc = cavs_data_graph(t->data, t->tree, n, functions, child_ptr, kids)) < 0 ||
        (rc = cavs_data_ids(t->data, t->tree, "leaf", n, ids)) < 0)
        return rc;
    return cavs_data_end(t->data);
}

static int make_data(struct tree_fc *t)
{
    size_t n = 2 * (size_t)t->leaves;
    int *scratch = malloc(4 * n * sizeof *scratch), rc = cavs_data_create(t->model, &t->data);
    struct rng shapes;

    rng_seed(&shapes, t->common.session.seed, UINT64_MAX);
    rng_seed(&t->leaf_ids, t->common.session.seed, UINT64_MAX - 1);
    if (!scratch)
        rc = CAVS_ENOMEM;
    for (int i = 0; rc == 0 && i < t->samples; i++)
        rc = add_tree(t, &shapes, scratch, scratch + n, scratch + 2 * n, scratch + 3 * n);
    free(scratch);
    return rc;
}

static int draw_leaves(void *context, const int *samples, int n)
{
    struct tree_fc *t = context;

    for (int i = 0; i < n; i++) {
        int *ids = cavs_data_sample_ids(t->data, t->tree, "leaf", samples[i]);

        for (int v = 0; v < t->leaves; v++)
            ids[v] = rng_below(&t->leaf_ids, t->leaves);
    }
    return 0;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int run(struct tree_fc *t, struct app *a, struct app_error *e)
{
    struct training training;
    int rc;

    if ((rc = declare(t)) < 0 || (rc = make_data(t)) < 0 ||
        (rc = app_start(a, "tree_fc", &t->common, t->model)) < 0)
        return rc;
    training = (struct training){
        .data = t->data,
        .graph = t->tree,
        .loss = "loss",
        .loss_per_sample = true,
        .before_batch = draw_leaves,
        .error = e,
        .context = t,
    };
    report_text(&a->report, "variant", variant_names[t->variant]);
    report_text(&a->report, "tree", tree_shape_names[t->shape]);
    report_count(&a->report, "leaves", t->leaves);
    if ((rc = app_train(a, &training)) < 0)
        return rc;
    return app_finish(a);
}

int main(int argc, char **argv)
{
    struct tree_fc t = {.common = app_options_defaults(), .leaves = 256, .samples = 512};
    struct app a = {0};
    struct app_error error = {""};
    int rc;

    t.common.hidden = 512;
    t.common.session.optimizer = CAVS_SGD;
    t.common.session.lr = 1e-5f;
    argp_parse(&argp, argc, argv, 0, NULL, &t);
    rc = app_status("tree_fc", run(&t, &a, &error), &error);
    app_stop(&a);
    cavs_data_destroy(t.data);
    cavs_model_destroy(t.model);
    return rc;
}
