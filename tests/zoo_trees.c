/* SPDX-License-Identifier: Apache-2.0 */
/* zoo_trees.c - tree-shaped networks: both Tree-FC variants, the three Tree-LSTM cells, and a cell
 * that sees children beside a word and its tag. */
#include "tests/zoo.h"

#include <stddef.h>

enum { WORDS = 11, EMBED = 5, HIDDEN = 6, CLASSES = 5 };

/* 1/2 sum of squares of channel "h", over all vertices or the roots. */
static void half_square(struct cavs_model *m, struct cavs_stage *tree, enum cavs_over which)
{
    struct cavs_stage *loss = cavs_stage_over(m, "loss", tree, which);
    struct cavs_function *f = cavs_function_create(loss, "square");
    struct cavs_symbol *h = cavs_pull_from(f, tree, "h", NULL);
    cavs_loss(f, "loss", cavs_scale(cavs_sum(cavs_square(h)), 0.5f), NULL);
}

static struct cavs_symbol *fc_cell(struct cavs_model *m, struct cavs_symbol *left,
                                   struct cavs_symbol *right)
{
    struct cavs_symbol *both = cavs_concat(2, ((struct cavs_symbol *[]){left, right}));
    return cavs_relu(
        cavs_affine(both, cavs_model_find_param(m, "W"), cavs_model_find_param(m, "b")));
}

static void fc_params(struct cavs_model *m)
{
    zoo_weight(m, "embedding", WORDS, HIDDEN);
    zoo_weight(m, "W", 2 * HIDDEN, HIDDEN);
    zoo_weight(m, "b", 1, HIDDEN);
}

/* TensorFlow Fold's: leaves are the embedding itself. */
static void build_tree_fc_fold(struct cavs_model *m)
{
    fc_params(m);
    struct cavs_stage *tree = cavs_stage_create(m, "tree", HIDDEN);
    struct cavs_function *leaf = cavs_function_create(tree, "leaf");
    struct cavs_symbol *x =
        cavs_lookup(cavs_model_find_param(m, "embedding"), cavs_pull_ids(leaf, "word"));
    cavs_scatter(leaf, x);
    cavs_push(leaf, "h", x);
    struct cavs_function *inner = cavs_function_create(tree, "inner");
    struct cavs_symbol *y = fc_cell(m, cavs_gather(inner, 0), cavs_gather(inner, 1));
    cavs_scatter(inner, y);
    cavs_push(inner, "h", y);
    half_square(m, tree, CAVS_ROOTS);
}

/* The original Cavs program's: one function, the cell also at the leaves, a loss at every
 * vertex. */
static void build_tree_fc_cavs(struct cavs_model *m)
{
    fc_params(m);
    struct cavs_stage *tree = cavs_stage_create(m, "tree", HIDDEN);
    struct cavs_function *f = cavs_function_create(tree, "cell");
    struct cavs_symbol *x =
        cavs_lookup(cavs_model_find_param(m, "embedding"), cavs_pull_ids(f, "word"));
    struct cavs_symbol *y =
        fc_cell(m, cavs_add(cavs_gather(f, 0), x), cavs_add(cavs_gather(f, 1), x));
    cavs_scatter(f, y);
    cavs_push(f, "h", y);
    half_square(m, tree, CAVS_ALL_VERTICES);
}

static struct cavs_symbol *bias_add(struct cavs_model *m, struct cavs_symbol *x,
                                    struct cavs_function *f, const char *bias)
{
    return cavs_add(x, cavs_use(f, cavs_model_find_param(m, bias)));
}

static void lstm_leaf(struct cavs_model *m, struct cavs_stage *tree)
{
    struct cavs_function *f = cavs_function_create(tree, "leaf");
    struct cavs_symbol *gate[3],
        *x = cavs_lookup(cavs_model_find_param(m, "embedding"), cavs_pull_ids(f, "word"));
    cavs_split(cavs_affine(x, cavs_model_find_param(m, "W_iou"), cavs_model_find_param(m, "b_iou")),
               3, gate);
    zoo_lstm_end(f, gate[0], gate[1], gate[2], NULL);
}

static void lstm_params(struct cavs_model *m, int gathered)
{
    zoo_weight(m, "embedding", WORDS, EMBED);
    zoo_weight(m, "W_iou", EMBED, 3 * HIDDEN);
    zoo_weight(m, "b_iou", 1, 3 * HIDDEN);
    zoo_weight(m, "U_iou", gathered, 3 * HIDDEN);
    zoo_weight(m, "b_f", 1, HIDDEN);
}

/* The DyNet paper's benchmark: two forget matrices with one shared bias. */
static void build_lstm_bench(struct cavs_model *m)
{
    lstm_params(m, 2 * HIDDEN);
    struct cavs_param *forget[2] = {zoo_weight(m, "F_left", HIDDEN, HIDDEN),
                                    zoo_weight(m, "F_right", HIDDEN, HIDDEN)};
    struct cavs_stage *tree = cavs_stage_create(m, "tree", 2 * HIDDEN);
    lstm_leaf(m, tree);
    struct cavs_function *f = cavs_function_create(tree, "inner");
    struct cavs_symbol *h[2], *gate[3], *kept[2];
    for (int k = 0; k < 2; k++) {
        struct cavs_symbol *state = cavs_gather(f, k);
        h[k] = cavs_slice(state, 0, HIDDEN);
        kept[k] = cavs_mul(cavs_sigmoid(bias_add(m, cavs_matmul(h[k], forget[k]), f, "b_f")),
                           cavs_slice(state, HIDDEN, HIDDEN));
    }
    cavs_split(
        bias_add(m, cavs_matmul(cavs_concat(2, h), cavs_model_find_param(m, "U_iou")), f, "b_iou"),
        3, gate);
    zoo_lstm_end(f, gate[0], gate[1], gate[2], cavs_add(kept[0], kept[1]));
    zoo_classify(m, tree, "h", HIDDEN, CLASSES);
}

/* Cavs Figure 4: one function; sums over the children, of which some or all may be missing. */
static void build_lstm_childsum(struct cavs_model *m)
{
    enum { SLOTS = 4 };
    lstm_params(m, HIDDEN);
    struct cavs_param *wf = zoo_weight(m, "W_f", EMBED, HIDDEN),
                      *uf = zoo_weight(m, "U_f", HIDDEN, HIDDEN);
    struct cavs_stage *tree = cavs_stage_create(m, "tree", 2 * HIDDEN);
    struct cavs_function *f = cavs_function_create(tree, "cell");
    struct cavs_symbol *x =
        cavs_lookup(cavs_model_find_param(m, "embedding"), cavs_pull_ids(f, "word"));
    struct cavs_symbol *wx = bias_add(m, cavs_matmul(x, wf), f, "b_f"), *sum = NULL, *kept = NULL,
                       *gate[3];
    for (int k = 0; k < SLOTS; k++) {
        struct cavs_symbol *part[2];
        cavs_split(cavs_gather(f, k), 2, part);
        struct cavs_symbol *fc =
            cavs_mul(cavs_sigmoid(cavs_add(wx, cavs_matmul(part[0], uf))), part[1]);
        sum = sum ? cavs_add(sum, part[0]) : part[0];
        kept = kept ? cavs_add(kept, fc) : fc;
    }
    struct cavs_symbol *iou =
        cavs_affine(x, cavs_model_find_param(m, "W_iou"), cavs_model_find_param(m, "b_iou"));
    cavs_split(cavs_add(iou, cavs_matmul(sum, cavs_model_find_param(m, "U_iou"))), 3, gate);
    zoo_lstm_end(f, gate[0], gate[1], gate[2], kept);
    zoo_classify(m, tree, "h", HIDDEN, CLASSES);
}

/* Tai et al.: every gate from both children. */
static void build_lstm_nary(struct cavs_model *m)
{
    lstm_params(m, 2 * HIDDEN);
    struct cavs_param *uf = zoo_weight(m, "U_f", 2 * HIDDEN, 2 * HIDDEN);
    struct cavs_stage *tree = cavs_stage_create(m, "tree", 2 * HIDDEN);
    lstm_leaf(m, tree);
    struct cavs_function *f = cavs_function_create(tree, "inner");
    struct cavs_symbol *l[2], *r[2], *gate[3], *keep[2];
    cavs_split(cavs_gather(f, 0), 2, l);
    cavs_split(cavs_gather(f, 1), 2, r);
    struct cavs_symbol *both = cavs_concat(2, ((struct cavs_symbol *[]){l[0], r[0]}));
    cavs_split(bias_add(m, cavs_matmul(both, cavs_model_find_param(m, "U_iou")), f, "b_iou"), 3,
               gate);
    cavs_split(cavs_matmul(both, uf), 2, keep);
    struct cavs_symbol *left = cavs_mul(cavs_sigmoid(bias_add(m, keep[0], f, "b_f")), l[1]);
    struct cavs_symbol *right = cavs_mul(cavs_sigmoid(bias_add(m, keep[1], f, "b_f")), r[1]);
    zoo_lstm_end(f, gate[0], gate[1], gate[2], cavs_add(left, right));
    zoo_classify(m, tree, "h", HIDDEN, CLASSES);
}

#define TREES                                                                              \
    {                                                                                      \
        "random:9,seed=1,kinds=2", "binary:8,kinds=2", "single,kinds=2",                   \
            "sequence:6,kinds=2,shuffle=3", "empty", "random:12,seed=4,kinds=2,shuffle=5", \
            "forest:3,seed=2,kinds=2", "binary:5,kinds=2"                                  \
    }

/* A word and its tag side by side are multiplied, once for equal ones, and every child is seen
 * beside them. */
static void build_tagged(struct cavs_model *m)
{
    enum { WIDTH = 2, BOTH = 2 * WIDTH, STATE = BOTH };
    struct cavs_stage *tree = cavs_stage_create(m, "tree", STATE);
    struct cavs_function *f = cavs_function_create(tree, "cell");
    struct cavs_symbol *xs[2] = {
        cavs_lookup(zoo_weight(m, "words", 5, WIDTH), cavs_pull_ids(f, "word")),
        cavs_lookup(zoo_weight(m, "tags", 3, WIDTH), cavs_pull_ids(f, "tag"))};
    struct cavs_symbol *x = cavs_concat(2, xs), *child = cavs_each_child(f);
    struct cavs_symbol *h =
        cavs_add(cavs_matmul(x, zoo_weight(m, "W", BOTH, STATE)), cavs_sum_children(child));
    h = cavs_tanh(h);
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    cavs_push(f, "seen", cavs_tanh(cavs_sum_children(cavs_add(x, child))));
    zoo_classify(m, tree, "seen", BOTH, 4);
}

const struct zoo_entry zoo_trees[] = {
    {"tree_fc_fold", build_tree_fc_fold, TREES},
    {"tree_fc_cavs",
     build_tree_fc_cavs,
     {"binary:8", "random:7,seed=2,shuffle=2", "single", "sequence:5", "empty", "binary:6",
      "forest:4,missing=5"}},
    {"tree_lstm_bench", build_lstm_bench, TREES},
    {"tree_lstm_childsum",
     build_lstm_childsum,
     {"dag:25,slots=4,parents=1,seed=3", "star:4", "single", "chain:6", "random:7,missing=4",
      "empty", "flat:4", "dag:18,slots=3,parents=1,seed=5,shuffle=9"}},
    {"tree_lstm_nary", build_lstm_nary, TREES},
    {"tagged",
     build_tagged,
     {"dag:25,slots=4,parents=3,seed=3", "star:9", "single", "chain:6", "empty", "flat:3"}},
    {NULL, NULL, {NULL}},
};
