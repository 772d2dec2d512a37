/* SPDX-License-Identifier: Apache-2.0 */
/* zoo_stages.c - models of several stages, and ways in which rows travel between them. */
#include "tests/zoo.h"

#include <stddef.h>

enum { WORDS = 8, HIDDEN = 5 };

static struct cavs_stage *tree_stage(struct cavs_model *m)
{
    struct cavs_param *table = zoo_weight(m, "embedding", WORDS, HIDDEN),
                      *w = zoo_weight(m, "W", 2 * HIDDEN, HIDDEN);
    struct cavs_stage *tree = cavs_stage_create(m, "tree", HIDDEN);
    struct cavs_function *f = cavs_function_create(tree, "cell");
    struct cavs_symbol *both[2] = {cavs_gather(f, 0), cavs_gather(f, 1)};
    struct cavs_symbol *x = cavs_lookup(table, cavs_pull_ids(f, "word"));
    struct cavs_symbol *h = cavs_tanh(cavs_add(x, cavs_matmul(cavs_concat(2, both), w)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    cavs_push(f, "again", cavs_scale(h, 2));
    return tree;
}

/* Heads over all vertices and over the roots, one of them fetching a channel twice and pushing
 * on. */
static void build_heads(struct cavs_model *m)
{
    struct cavs_stage *tree = tree_stage(m);
    zoo_classify(m, tree, "h", HIDDEN, 3);
    struct cavs_stage *top = cavs_stage_over(m, "top", tree, CAVS_ROOTS);
    struct cavs_function *f = cavs_function_create(top, "root");
    struct cavs_symbol *h = cavs_pull_from(f, tree, "h", NULL),
                       *again = cavs_pull_from(f, tree, "again", NULL);
    struct cavs_symbol *other = cavs_pull_from(f, tree, "h", "friend");
    struct cavs_symbol *y = cavs_mul(cavs_add(h, again), other);
    cavs_push(f, "y", y);
    cavs_loss(f, "root_loss", cavs_sum(cavs_square(y)), NULL);
}

/* A tree is encoded; a chain of decoding steps starts from any vertex of it, by index. */
static void build_encoder_decoder(struct cavs_model *m)
{
    struct cavs_stage *tree = tree_stage(m);
    struct cavs_stage *chain = cavs_stage_create(m, "decoder", HIDDEN);
    struct cavs_function *f = cavs_function_create(chain, "step");
    struct cavs_symbol *seen = cavs_pull_from(f, tree, "h", "attend");
    struct cavs_symbol *h = cavs_matmul(cavs_gather(f, 0), zoo_weight(m, "V", HIDDEN, HIDDEN));
    h = cavs_tanh(cavs_add(h, seen));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, chain, "h", HIDDEN, 4);
}

/* Stages over stages over stages; nothing of the last but one reaches a loss. */
static void build_tower(struct cavs_model *m)
{
    struct cavs_stage *below = tree_stage(m);
    static const char *const names[] = {"first", "second", "third"};
    const char *channel = "h";
    for (int i = 0; i < 3; i++) {
        struct cavs_stage *stage =
            cavs_stage_over(m, names[i], below, i == 0 ? CAVS_ROOTS : CAVS_ALL_VERTICES);
        struct cavs_function *f = cavs_function_create(stage, "layer");
        struct cavs_symbol *x = cavs_pull_from(f, below, channel, NULL);
        struct cavs_symbol *y =
            cavs_sigmoid(cavs_matmul(x, zoo_weight(m, names[i], HIDDEN, HIDDEN)));
        channel = "out";
        cavs_push(f, channel, y);
        if (i == 1)
            cavs_loss(f, "loss", cavs_sum(y), NULL);
        below = stage;
    }
}

/* The same matrix in two functions of one stage, and in another stage. */
static void build_shared(struct cavs_model *m)
{
    struct cavs_param *w = zoo_weight(m, "W", HIDDEN, HIDDEN), *b = zoo_weight(m, "b", 1, HIDDEN);
    struct cavs_stage *tree = cavs_stage_create(m, "tree", HIDDEN);
    struct cavs_function *leaf = cavs_function_create(tree, "leaf"),
                         *inner = cavs_function_create(tree, "inner");
    struct cavs_symbol *x = cavs_tanh(cavs_affine(cavs_pull(leaf, "x", HIDDEN), w, b));
    cavs_scatter(leaf, x);
    cavs_push(leaf, "h", x);
    struct cavs_symbol *left = cavs_affine(cavs_gather(inner, 0), w, b);
    struct cavs_symbol *right = cavs_affine(cavs_gather(inner, 1), w, b);
    struct cavs_symbol *h = cavs_tanh(cavs_sub(left, cavs_mul(right, cavs_use(inner, b))));
    cavs_scatter(inner, h);
    cavs_push(inner, "h", h);
    struct cavs_stage *top = cavs_stage_over(m, "top", tree, CAVS_ROOTS);
    struct cavs_function *f = cavs_function_create(top, "out");
    struct cavs_symbol *y = cavs_affine(cavs_pull_from(f, tree, "h", NULL), w, b);
    cavs_push(f, "y", y);
    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

/* Frozen parameters in the middle of trained ones: gradients go through them, not into them.  And
 * one beside a trained one: products of one operand, which are not joined then. */
static void build_frozen(struct cavs_model *m)
{
    struct cavs_param *table = zoo_weight(m, "embedding", WORDS, HIDDEN),
                      *deep = zoo_weight(m, "deep", WORDS, HIDDEN);
    struct cavs_param *w = zoo_weight(m, "W", HIDDEN, HIDDEN), *b = zoo_weight(m, "b", 1, HIDDEN);
    struct cavs_param *u = zoo_weight(m, "U", HIDDEN, HIDDEN),
                      *v = zoo_weight(m, "V", HIDDEN, HIDDEN);
    cavs_param_freeze(table);
    cavs_param_freeze(w);
    cavs_param_freeze(b);
    struct cavs_stage *chain = cavs_stage_create(m, "chain", HIDDEN);
    struct cavs_function *f = cavs_function_create(chain, "cell");
    struct cavs_symbol *word = cavs_pull_ids(f, "word");
    struct cavs_symbol *x = cavs_add(cavs_lookup(table, word), cavs_lookup(deep, word));
    struct cavs_symbol *read = cavs_mul(cavs_affine(x, w, b), cavs_sigmoid(cavs_matmul(x, v)));
    struct cavs_symbol *h = cavs_tanh(cavs_add(read, cavs_matmul(cavs_gather(f, 0), u)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, chain, "h", HIDDEN, 3);
}

/* Bilinear scores: the one number that F keeps is less wide than what dF keeps. */
static void build_scored(struct cavs_model *m)
{
    struct cavs_stage *pair = cavs_stage_create(m, "pair", 0);
    struct cavs_function *f = cavs_function_create(pair, "score");
    struct cavs_symbol *x =
        cavs_matmul(cavs_pull(f, "x", HIDDEN), zoo_weight(m, "W", HIDDEN, HIDDEN));
    cavs_push(f, "score", cavs_square(cavs_dot(x, cavs_pull(f, "y", HIDDEN))));
    struct cavs_stage *top = cavs_stage_over(m, "top", pair, CAVS_ALL_VERTICES);
    struct cavs_function *g = cavs_function_create(top, "out");
    struct cavs_symbol *score = cavs_pull_from(g, pair, "score", NULL);
    cavs_loss(g, "loss", cavs_squared_error(score, cavs_pull(g, "truth", 1)), NULL);
}

const struct zoo_entry zoo_stages[] = {
    {"heads",
     build_heads,
     {"random:6", "forest:4,seed=3", "single", "empty", "binary:4,shuffle=2", "flat:3"}},
    {"encoder_decoder",
     build_encoder_decoder,
     {"random:6|chain:4", "single|chain:7", "empty|chain:2", "binary:4|empty",
      "lattice:9,shuffle=4|chain:5,shuffle=2"}},
    {"tower", build_tower, {"forest:5", "binary:4", "empty", "single"}},
    {"shared",
     build_shared,
     {"binary:4,kinds=2", "random:7,kinds=2", "single,kinds=2", "sequence:4,kinds=2"}},
    {"frozen", build_frozen, {"chain:5", "chain:9", "single"}},
    {"scored", build_scored, {"flat:13", "single", "empty", "flat:70"}},
    {NULL, NULL, {NULL}},
};
