/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_fc - the Tree-FC benchmark: one fully connected layer applied over binary trees.
 *
 *     leaf      state = row of the embedding table, drawn anew for every leaf and batch
 *     inner     state = relu([left; right] W + b)
 *     loss      1/2 sum(state of the root ^2), summed over the batch
 *
 * That is --variant fold, the benchmark of TensorFlow Fold.  --variant cavs is what the Cavs paper
 * timed: the layer also at the leaves, and the loss over every vertex.  A leaf has no left and
 * right; its embedding e stands for both: state = relu([e; e] W + b).
 *
 * Parameters: embedding (leaves x hidden), W (2 hidden x hidden), b (1 x hidden), in both variants.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps/common/program.h"
#include "apps/common/random.h"
#include "apps/tree_shapes.h"

enum variant { FOLD, CAVS };
static const char *const variant_names[] = {"fold", "cavs", NULL};

struct tree_fc {
    struct app app;     /* first: the frame hands it over */
    int variant, shape; /* enum variant, enum tree_shape */
    int leaves, samples;
    struct cavs_stage *tree;
    struct rng leaf_ids;
};

/* ---- options --------------------------------------------------------------------------------- */

#define ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct tree_fc, member, OPTION_##role, __VA_ARGS__)

static const struct app_option options[] = {
    OPTION_GROUP("Trees:"),
    ROW(CHOICE, "variant", "NAME", variant, MODEL,
        "fold: layer at inner vertices, loss at the root; cavs: both at every vertex",
        .choices = variant_names),
    ROW(CHOICE, "tree", "SHAPE", shape, RUN, "balanced, random or sequence",
        .choices = tree_shape_names),
    ROW(INT, "leaves", "N", leaves, MODEL, "leaves of each tree", 1, 1 << 24),
    ROW(INT, "samples", "N", samples, RUN, "trees in an epoch", 1, INT_MAX),
    {0}};

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
    int h = t->app.options.hidden;
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
    int rc = cavs_model_create(&t->app.model);

    if (rc < 0)
        return rc;
    t->tree = declare_tree(t->app.model, t);
    declare_loss(t->app.model, t->tree, t->variant == CAVS ? CAVS_ALL_VERTICES : CAVS_ROOTS);
    return cavs_model_finish(t->app.model);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* One sample; the leaves' ids are drawn before each batch, inner vertices have none. */
static int add_tree(struct tree_fc *t, struct rng *r, int *functions, int *child_ptr, int *kids,
                    int *ids)
{
    struct cavs_data *d = t->app.data[APP_TRAIN];
    int n = 2 * t->leaves - 1, rc;

    for (int v = 0; v < n; v++) {
        functions[v] = v >= t->leaves;
        ids[v] = v >= t->leaves ? -1 : 0;
    }
    if ((rc = tree_shape_make(t->shape, t->leaves, r, child_ptr, kids)) < 0 ||
        (rc = cavs_data_begin(d)) < 0 ||
        (rc = cavs_data_graph(d, t->tree, n, functions, child_ptr, kids)) < 0 ||
        (rc = cavs_data_ids(d, t->tree, "leaf", n, ids)) < 0)
        return rc;
    return cavs_data_end(d);
}

/* What cannot end well is not begun: of each vertex four ints are kept at least, its function,
 * children and leaf. */
static int check_memory(struct tree_fc *t)
{
    double vertices = (2.0 * t->leaves - 1) * t->samples;
    double bytes = vertices * 4 * (double)sizeof(int);
    double here = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

    return bytes <= here ? 0
                         : app_mistake(&t->app.error,
                                       "--samples %d: so many trees of %d leaves take %.1f GB of "
                                       "memory or more, and this machine has %.1f",
                                       t->samples, t->leaves, bytes * 1e-9, here * 1e-9);
}

static int make_data(struct tree_fc *t)
{
    size_t n = 2 * (size_t)t->leaves;
    int rc = check_memory(t), *scratch = rc ? NULL : malloc(4 * n * sizeof *scratch);
    struct rng shapes;

    if (rc == 0)
        rc = cavs_data_create(t->app.model, &t->app.data[APP_TRAIN]);
    rng_seed(&shapes, t->app.options.session.seed, UINT64_MAX);
    rng_seed(&t->leaf_ids, t->app.options.session.seed, UINT64_MAX - 1);
    if (rc == 0 && !scratch)
        rc = CAVS_ENOMEM;
    for (int i = 0; rc == 0 && i < t->samples; i++)
        rc = add_tree(t, &shapes, scratch, scratch + n, scratch + 2 * n, scratch + 3 * n);
    free(scratch);
    return rc;
}

static int draw_leaves(struct app *a, const int *samples, int n)
{
    struct tree_fc *t = (struct tree_fc *)a;

    for (int i = 0; i < n; i++) {
        int *ids = cavs_data_sample_ids(a->data[APP_TRAIN], t->tree, "leaf", samples[i]);

        for (int v = 0; v < t->leaves; v++)
            ids[v] = rng_below(&t->leaf_ids, t->leaves);
    }
    return 0;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int prepare(struct app *a)
{
    struct tree_fc *t = (struct tree_fc *)a;
    int rc = declare(t);

    if (rc == 0)
        rc = make_data(t);
    a->graph = t->tree;
    report_text(&a->report, "variant", variant_names[t->variant]);
    report_text(&a->report, "tree", tree_shape_names[t->shape]);
    report_count(&a->report, "leaves", t->leaves);
    return rc;
}

static const struct program program = {
    .name = "tree_fc",
    .doc = "Trains a fully connected layer over binary trees: the Tree-FC benchmark.",
    .options = options,
    .prepare = prepare,
    .loss = "loss",
    .loss_per_sample = true,
    .before_batch = draw_leaves,
};

int main(int argc, char **argv)
{
    struct tree_fc t = {.app = {.options = app_options_defaults()}, .leaves = 256, .samples = 512};

    t.app.options.hidden = 512;
    t.app.options.session.optimizer = CAVS_SGD;
    t.app.options.session.lr = 1e-5f;
    return program_main(&program, &t.app, argc, argv);
}
