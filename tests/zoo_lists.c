/* SPDX-License-Identifier: Apache-2.0 */
/* zoo_lists.c - vertices of any arity, labelled edges, parameters selected by them, and attention
 * over children and over other stages. */
#include "tests/zoo.h"

#include <stddef.h>

enum { WORDS = 9, EMBED = 4, HIDDEN = 5, CLASSES = 4, RELATIONS = 3 };

static struct cavs_symbol *word(struct cavs_model *m, struct cavs_function *f, int width)
{
    struct cavs_param *table = cavs_model_find_param(m, "embedding");
    return cavs_lookup(table ? table : zoo_weight(m, "embedding", WORDS, width),
                       cavs_pull_ids(f, "word"));
}

/* The child-sum Tree-LSTM for any number of children. */
static void build_childsum(struct cavs_model *m)
{
    struct cavs_stage *tree = cavs_stage_create(m, "tree", 2 * HIDDEN);
    struct cavs_function *f = cavs_function_create(tree, "cell");
    struct cavs_symbol *x = word(m, f, EMBED), *child[2], *gate[3];
    cavs_split(cavs_each_child(f), 2, child);
    struct cavs_symbol *wf =
        cavs_affine(x, zoo_weight(m, "W_f", EMBED, HIDDEN), zoo_weight(m, "b_f", 1, HIDDEN));
    struct cavs_symbol *forget =
        cavs_sigmoid(cavs_add(wf, cavs_matmul(child[0], zoo_weight(m, "U_f", HIDDEN, HIDDEN))));
    struct cavs_symbol *kept = cavs_sum_children(cavs_mul(forget, child[1]));
    struct cavs_symbol *iou = cavs_affine(x, zoo_weight(m, "W_iou", EMBED, 3 * HIDDEN),
                                          zoo_weight(m, "b_iou", 1, 3 * HIDDEN));
    cavs_split(cavs_add(iou, cavs_matmul(cavs_sum_children(child[0]),
                                         zoo_weight(m, "U_iou", HIDDEN, 3 * HIDDEN))),
               3, gate);
    zoo_lstm_end(f, gate[0], gate[1], gate[2], kept);
    zoo_classify(m, tree, "h", HIDDEN, CLASSES);
}

/* Every vertex looks at its children with a question of its own. */
static void build_attention(struct cavs_model *m)
{
    struct cavs_stage *dag = cavs_stage_create(m, "dag", HIDDEN);
    struct cavs_function *f = cavs_function_create(dag, "look");
    struct cavs_symbol *x = word(m, f, HIDDEN), *child = cavs_each_child(f);
    struct cavs_symbol *question = cavs_matmul(x, zoo_weight(m, "Q", HIDDEN, HIDDEN));
    struct cavs_symbol *key = cavs_matmul(child, zoo_weight(m, "K", HIDDEN, HIDDEN));
    struct cavs_symbol *weight = cavs_softmax_children(cavs_sum(cavs_mul(key, question)));
    struct cavs_symbol *seen = cavs_sum_children(cavs_mul(weight, child));
    struct cavs_symbol *h = cavs_tanh(cavs_add(x, seen));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, dag, "h", HIDDEN, CLASSES);
}

/* A matrix and an embedding for each relation, and a number per edge. */
static void build_relations(struct cavs_model *m)
{
    struct cavs_stage *tree = cavs_stage_create(m, "tree", HIDDEN);
    struct cavs_function *f = cavs_function_create(tree, "cell");
    struct cavs_symbol *relation = cavs_pull_edge_ids(f, "relation");
    struct cavs_symbol *message = cavs_matmul_select(
        cavs_each_child(f), zoo_weight(m, "U", RELATIONS * HIDDEN, HIDDEN), RELATIONS, relation);
    struct cavs_symbol *name = cavs_lookup(zoo_weight(m, "names", RELATIONS, HIDDEN), relation);
    message =
        cavs_tanh(cavs_add(message, cavs_add(name, cavs_use(f, zoo_weight(m, "b", 1, HIDDEN)))));
    message = cavs_mul(message, cavs_pull_edge(f, "strength", 1));
    struct cavs_symbol *h = cavs_tanh(cavs_add(word(m, f, HIDDEN), cavs_sum_children(message)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, tree, "h", HIDDEN, CLASSES);
}

/* All reductions at once, over rows put together from edges, vertices and parameters. */
static void build_reductions(struct cavs_model *m)
{
    struct cavs_stage *dag = cavs_stage_create(m, "dag", HIDDEN);
    struct cavs_function *leaf = cavs_function_create(dag, "leaf"),
                         *f = cavs_function_create(dag, "inner");
    struct cavs_symbol *start = word(m, leaf, HIDDEN);
    cavs_scatter(leaf, start);
    struct cavs_symbol *x = word(m, f, HIDDEN), *child = cavs_each_child(f),
                       *bias = cavs_use(f, zoo_weight(m, "b", 1, 2));
    struct cavs_symbol *all[4] = {child, cavs_pull_edge(f, "length", 3), bias, x};
    struct cavs_symbol *wide = cavs_concat(4, all);
    struct cavs_symbol *mixed = cavs_matmul(wide, zoo_weight(m, "W", 2 * HIDDEN + 5, HIDDEN));
    struct cavs_symbol *most = cavs_max_children(mixed), *mean = cavs_mean_children(mixed),
                       *share = cavs_softmax_children(mixed);
    struct cavs_symbol *sum = cavs_sum_children(cavs_mul(share, cavs_mul(mixed, x)));
    struct cavs_symbol *part = cavs_sum_children(cavs_slice(wide, 1, HIDDEN));
    struct cavs_symbol *h = cavs_tanh(cavs_add(cavs_add(most, mean), cavs_add(sum, part)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
    cavs_loss(f, "edge_loss", cavs_sum_children(cavs_sum(cavs_mul(wide, wide))), NULL);
}

/* No state: messages are made of what the edges bring alone. */
static void build_messages(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 0);
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *kind = cavs_pull_edge_ids(f, "kind"), *own = cavs_pull(f, "x", 3);
    struct cavs_symbol *logits =
        cavs_matmul_select(cavs_pull_edge(f, "features", 3), zoo_weight(m, "W", 2 * 3, CLASSES), 2,
                           cavs_pull_edge_ids(f, "side"));
    struct cavs_symbol *loss = cavs_softmax_cross_entropy(logits, kind);
    cavs_loss(f, "edges", cavs_mean_children(loss), NULL);
    cavs_loss(f, "own",
              cavs_sum(cavs_matmul_select(own, zoo_weight(m, "V", 4 * 3, 2), 4,
                                          cavs_pull_ids(f, "which"))),
              NULL);
    cavs_push(f, "best", cavs_max_children(cavs_add(logits, cavs_sum(own))));
}

/* Entries read columns of a row that a concatenation has a copy of. */
static void build_copied(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 0);
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *x = cavs_pull(f, "x", 4), *twice[2] = {x, x};
    struct cavs_symbol *each = cavs_mul(cavs_pull_edge(f, "features", 3), cavs_slice(x, 0, 3));
    cavs_loss(f, "edges", cavs_sum_children(cavs_sum(cavs_square(each))), NULL);
    cavs_loss(f, "own", cavs_sum(cavs_concat(2, twice)), NULL);
    cavs_loss(f, "product", cavs_sum(cavs_square(cavs_matmul(x, zoo_weight(m, "W", 4, 2)))), NULL);
}

/* An encoder, and a decoder whose steps look at any vertices of it, and at all of them. */
static void build_lookers(struct cavs_model *m)
{
    struct cavs_stage *chain = cavs_stage_create(m, "encoder", HIDDEN),
                      *decoder = cavs_stage_create(m, "decoder", HIDDEN);
    struct cavs_function *e = cavs_function_create(chain, "read"),
                         *f = cavs_function_create(decoder, "write");
    struct cavs_symbol *h = cavs_tanh(cavs_add(
        word(m, e, HIDDEN), cavs_matmul(cavs_gather(e, 0), zoo_weight(m, "U", HIDDEN, HIDDEN))));
    cavs_scatter(e, h);
    cavs_push(e, "h", h);
    cavs_push(e, "key", cavs_matmul(h, zoo_weight(m, "K", HIDDEN, 3)));
    struct cavs_symbol *s = cavs_gather(f, 0);
    struct cavs_symbol *question = cavs_matmul(s, zoo_weight(m, "Q", HIDDEN, 3));
    struct cavs_symbol *score =
        cavs_sum(cavs_mul(question, cavs_pull_from_each(f, chain, "key", NULL)));
    struct cavs_symbol *seen = cavs_sum_children(
        cavs_mul(cavs_softmax_children(score), cavs_pull_from_each(f, chain, "h", NULL)));
    struct cavs_symbol *near = cavs_max_children(cavs_pull_from_each(f, chain, "h", "near"));
    struct cavs_symbol *words = cavs_sum_children(
        cavs_lookup(cavs_model_find_param(m, "embedding"), cavs_pull_list_ids(f, "words")));
    struct cavs_symbol *y = cavs_tanh(cavs_add(cavs_add(s, seen), cavs_add(near, words)));
    cavs_scatter(f, y);
    cavs_push(f, "h", y);
    zoo_classify(m, decoder, "h", HIDDEN, CLASSES);
}

/* The first two children by number, all of them alike, and the third by number after that. */
static void build_both(struct cavs_model *m)
{
    struct cavs_stage *dag = cavs_stage_create(m, "dag", HIDDEN);
    struct cavs_function *f = cavs_function_create(dag, "both");
    struct cavs_symbol *x = word(m, f, HIDDEN), *first = cavs_gather(f, 0),
                       *second = cavs_gather(f, 1), *all = cavs_each_child(f);
    struct cavs_symbol *sum = cavs_sum_children(cavs_tanh(cavs_mul(all, second)));
    struct cavs_symbol *third = cavs_matmul(cavs_gather(f, 2), zoo_weight(m, "W", HIDDEN, HIDDEN));
    struct cavs_symbol *h =
        cavs_tanh(cavs_add(cavs_add(x, cavs_scale(first, 2)), cavs_add(sum, third)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, dag, "h", HIDDEN, CLASSES);
}

/* By number, and a number for each edge: no row of a child is asked for. */
static void build_weighed(struct cavs_model *m)
{
    struct cavs_stage *dag = cavs_stage_create(m, "dag", HIDDEN);
    struct cavs_function *f = cavs_function_create(dag, "weighed");
    struct cavs_symbol *weight = cavs_sum_children(cavs_pull_edge(f, "weight", 1));
    struct cavs_symbol *last = cavs_gather(f, 3);
    struct cavs_symbol *h = cavs_tanh(cavs_add(word(m, f, HIDDEN), cavs_mul(weight, last)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, dag, "h", HIDDEN, CLASSES);
}

/* Columns that are the same in all entries, of a constant beside a list and of one that is repeated
 * with the word, are rows of the list none the less. */
static void build_columns(struct cavs_model *m)
{
    struct cavs_stage *dag = cavs_stage_create(m, "dag", HIDDEN);
    struct cavs_function *f = cavs_function_create(dag, "columns");
    struct cavs_symbol *x = word(m, f, HIDDEN), *all = cavs_each_child(f),
                       *half = cavs_constant(f, 2, 0.5f);
    struct cavs_symbol *row = cavs_concat(2, ((struct cavs_symbol *[]){x, half})),
                       *rows = cavs_concat(3, ((struct cavs_symbol *[]){all, half, row}));
    struct cavs_symbol *count = cavs_sum_children(cavs_slice(rows, HIDDEN, 2)),
                       *any = cavs_max_children(cavs_slice(rows, 2 * HIDDEN + 2, 2));
    struct cavs_symbol *h = cavs_mul(cavs_sum(cavs_sub(count, any)), cavs_mean_children(all));
    h = cavs_tanh(cavs_add(x, h));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, dag, "h", HIDDEN, CLASSES);
}

const struct zoo_entry zoo_lists[] = {
    {"each_childsum",
     build_childsum,
     {"dag:25,slots=4,parents=1,seed=3", "star:12", "single", "chain:6", "random:7,missing=4",
      "empty", "flat:4", "dag:30,slots=9,parents=4,seed=5,shuffle=9"}},
    {"each_attention",
     build_attention,
     {"dag:25,slots=4,parents=5,seed=3", "star:150", "single", "chain:6", "random:7,missing=4",
      "empty", "flat:4", "dag:30,slots=9,parents=4,seed=5,shuffle=9"}},
    {"relations",
     build_relations,
     {"dag:25,slots=4,parents=1,seed=3", "star:70", "single", "chain:6", "random:7,missing=4",
      "empty", "flat:4", "dag:30,slots=9,parents=4,seed=5,shuffle=9"}},
    {"reductions",
     build_reductions,
     {"dag:25,slots=4,parents=3,seed=3,kinds=2", "star:200,kinds=2", "single,kinds=2",
      "chain:6,kinds=2", "random:7,missing=4,kinds=2", "empty",
      "dag:30,slots=9,parents=4,seed=5,shuffle=9,kinds=2"}},
    {"messages",
     build_messages,
     {"dag:25,slots=4,parents=3,seed=3", "star:300", "single", "chain:6", "empty", "flat:3"}},
    {"copied",
     build_copied,
     {"dag:25,slots=4,parents=3,seed=3", "star:300", "single", "chain:6", "empty", "flat:3"}},
    {"both",
     build_both,
     {"dag:25,slots=4,parents=3,seed=3", "star:70", "single", "chain:6", "random:7,missing=4",
      "empty", "flat:4", "dag:30,slots=9,parents=4,seed=5,shuffle=9"}},
    {"weighed",
     build_weighed,
     {"dag:25,slots=6,parents=3,seed=3", "star:9", "single", "chain:6", "random:7,missing=4",
      "empty", "dag:30,slots=9,parents=4,seed=5,shuffle=9"}},
    {"lookers",
     build_lookers,
     {"chain:6|chain:4", "chain:130|chain:3", "single|chain:7", "empty|chain:2", "chain:4|empty",
      "chain:9,shuffle=4|chain:5,shuffle=2"}},
    {"columns",
     build_columns,
     {"dag:25,slots=4,parents=3,seed=3", "star:9", "single", "chain:6", "empty", "flat:3"}},
    {NULL, NULL, {NULL}},
};
