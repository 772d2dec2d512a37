/* SPDX-License-Identifier: Apache-2.0 */
/* zoo_oddities.c - what is legal but rarely seen: unused parts, odd widths, wide vertices, many
 * parents, no edges. */
#include "tests/zoo.h"

#include <stddef.h>

enum { HIDDEN = 6 };

/* Many parents per vertex, three kinds of vertices by their number of children. */
static void build_dag(struct cavs_model *m)
{
    struct cavs_param *table = zoo_weight(m, "embedding", 7, HIDDEN);
    struct cavs_param *w1 = zoo_weight(m, "W_one", HIDDEN, HIDDEN),
                      *w2 = zoo_weight(m, "W_two", 2 * HIDDEN, HIDDEN);
    struct cavs_stage *dag = cavs_stage_create(m, "dag", HIDDEN);
    struct cavs_function *f[3] = {cavs_function_create(dag, "none"),
                                  cavs_function_create(dag, "one"),
                                  cavs_function_create(dag, "two")};
    struct cavs_symbol *both[2] = {cavs_gather(f[2], 0), cavs_gather(f[2], 1)}, *h[3];
    h[0] = cavs_lookup(table, cavs_pull_ids(f[0], "word"));
    h[1] = cavs_sigmoid(cavs_matmul(cavs_gather(f[1], 0), w1));
    h[2] = cavs_mul(cavs_tanh(cavs_matmul(cavs_concat(2, both), w2)),
                    cavs_lookup(table, cavs_pull_ids(f[2], "word")));
    for (int i = 0; i < 3; i++) {
        cavs_scatter(f[i], h[i]);
        if (i != 1) /* the other vertices show zeros */
            cavs_push(f[i], "h", h[i]);
    }
    zoo_classify(m, dag, "h", HIDDEN, 3);
}

/* Parts of gathered states, a gather that nobody uses, values that nobody uses, biases used
 * twice. */
static void build_partial(struct cavs_model *m)
{
    struct cavs_param *w = zoo_weight(m, "W", 2, HIDDEN), *b = zoo_weight(m, "b", 1, HIDDEN);
    struct cavs_param *idle = zoo_weight(m, "idle", HIDDEN, 3);
    struct cavs_stage *s = cavs_stage_create(m, "s", HIDDEN);
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *a = cavs_gather(f, 0), *bias = cavs_use(f, b),
                       *x = cavs_pull(f, "x", HIDDEN);
    cavs_gather(f, 2);
    cavs_log(cavs_neg(cavs_square(a)));                     /* not a number, and nobody asks */
    cavs_push(f, "unused", cavs_matmul(cavs_exp(x), idle)); /* shown, but in no loss */
    cavs_pull(f, "ignored", 2);
    struct cavs_symbol *y =
        cavs_matmul(cavs_add(cavs_slice(a, 1, 2), cavs_slice(cavs_gather(f, 1), 3, 2)), w);
    y = cavs_tanh(cavs_add(cavs_add(y, bias), cavs_mul(x, bias)));
    y = cavs_concat(3, ((struct cavs_symbol *[]){cavs_slice(y, 4, 2), cavs_slice(y, 0, 3),
                                                 cavs_slice(y, 4, 1)}));
    cavs_scatter(f, y);
    cavs_push(f, "y", cavs_slice(y, 2, 3));
    cavs_loss(f, "loss", cavs_sum(cavs_slice(y, 1, 4)), NULL);
}

/* Widths of one are repeated; sums, division, constants, exponentials and logarithms of safe
 * values. */
static void build_arithmetic(struct cavs_model *m)
{
    struct cavs_param *w = zoo_weight(m, "W", 4, HIDDEN), *one = zoo_weight(m, "scalar", 1, 1);
    struct cavs_stage *s = cavs_stage_create(m, "s", 0);
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *x = cavs_pull(f, "x", 4), *where = cavs_pull_ids(f, "where");
    struct cavs_symbol *y = cavs_matmul(x, w), *scalar = cavs_use(f, one);
    struct cavs_symbol *e = cavs_exp(cavs_scale(y, 0.5f));
    struct cavs_symbol *share = cavs_div(e, cavs_sum(e)); /* softmax by hand */
    struct cavs_symbol *entropy = cavs_neg(cavs_sum(cavs_mul(share, cavs_log(share))));
    struct cavs_symbol *bent = cavs_sub(cavs_mul(scalar, y), cavs_constant(f, 1, 0.25f));
    bent = cavs_add(cavs_relu(bent),
                    cavs_mul(cavs_constant(f, HIDDEN, 0.5f), cavs_div(scalar, cavs_shift(e, 1))));
    cavs_push(f, "share", share);
    cavs_loss(f, "entropy", entropy, where);
    cavs_loss(f, "bent", cavs_sum(cavs_square(bent)), NULL);
    cavs_metric(f, "mean", cavs_sum(y), where);
    cavs_metric(f, "ones", cavs_constant(f, 1, 1), NULL);
}

static struct cavs_symbol *apply(const char *op, struct cavs_symbol *x, float s)
{
    return cavs_apply1_at(op, x, s, CAVS_HERE);
}

/* The nonlinearities that have no macro, in a recurrent cell. */
static void build_nonlinear(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "chain", HIDDEN);
    struct cavs_function *f = cavs_function_create(s, "cell");
    struct cavs_param *u = zoo_weight(m, "U", HIDDEN, HIDDEN), *w = zoo_weight(m, "W", 3, HIDDEN);
    struct cavs_symbol *h =
        cavs_add(cavs_matmul(cavs_gather(f, 0), u), cavs_matmul(cavs_pull(f, "x", 3), w));
    struct cavs_symbol *up = apply("gelu", apply("elu", h, 0.7f), 0),
                       *down = apply("leaky_relu", h, 0.2f);
    struct cavs_symbol *most = cavs_apply2_at("max", up, down, CAVS_HERE);
    struct cavs_symbol *least = cavs_apply2_at("min", cavs_sum(up), down, CAVS_HERE);
    h = cavs_sub(apply("softplus", most, 0), apply("abs", least, 0));
    h = cavs_div(h, apply("sqrt", cavs_shift(cavs_square(h), 1), 0));
    h = apply("copy", apply("clip", h, 0.6f), 0);
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
}

/* Everything that looks at a whole row, in a recurrent cell with ids. */
static void build_rows(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "chain", HIDDEN);
    struct cavs_function *f = cavs_function_create(s, "cell");
    struct cavs_param *u = zoo_weight(m, "U", HIDDEN, HIDDEN), *w = zoo_weight(m, "W", 3, HIDDEN);
    struct cavs_symbol *which = cavs_pull_ids(f, "which");
    struct cavs_symbol *x = cavs_matmul(cavs_pull(f, "x", 3), w);
    struct cavs_symbol *h = cavs_add(cavs_matmul(cavs_gather(f, 0), u), x);
    h = cavs_tanh(
        cavs_layer_norm(h, zoo_weight(m, "gain", 1, HIDDEN), zoo_weight(m, "bias", 1, HIDDEN)));
    struct cavs_symbol *share = cavs_softmax(cavs_scale(h, 3));
    struct cavs_symbol *chosen = cavs_pick(cavs_log_softmax(cavs_add(h, x)), which);
    cavs_scatter(f, cavs_sub(h, cavs_mul(cavs_largest(h), share)));
    cavs_push(f, "share", share);
    cavs_push(f, "plain", cavs_layer_norm(x, NULL, NULL));
    cavs_loss(f, "likelihood", cavs_neg(chosen), which);
    cavs_loss(f, "middle", cavs_mean(cavs_mul(share, cavs_softmax(x))), NULL);
}

/* One loss of each kind. */
static void build_losses(struct cavs_model *m)
{
    enum { N = 5 };
    struct cavs_stage *s = cavs_stage_create(m, "points", 0);
    struct cavs_function *f = cavs_function_create(s, "losses");
    struct cavs_symbol *x = cavs_pull(f, "x", 3), *target = cavs_pull(f, "target", N);
    struct cavs_symbol *label = cavs_pull_ids(f, "label");
    struct cavs_symbol *y = cavs_scale(cavs_matmul(x, zoo_weight(m, "W", 3, N)), 4);
    cavs_loss(f, "absolute", cavs_absolute_error(y, target), NULL);
    cavs_loss(f, "huber", cavs_huber_error(y, target, 0.4f), label);
    cavs_loss(f, "binary", cavs_binary_cross_entropy(y, cavs_sigmoid(target)), NULL);
    cavs_loss(f, "hinge", cavs_hinge(y, label, 0.7f), NULL);
}

/* A static network: no state, no edges, two layers and an external target. */
static void build_mlp(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "points", 0);
    struct cavs_function *f = cavs_function_create(s, "mlp");
    struct cavs_symbol *x = cavs_pull(f, "x", 3), *target = cavs_pull(f, "target", 2);
    struct cavs_symbol *h =
        cavs_relu(cavs_affine(x, zoo_weight(m, "W1", 3, 16), zoo_weight(m, "b1", 1, 16)));
    struct cavs_symbol *y = cavs_affine(h, zoo_weight(m, "W2", 16, 2), zoo_weight(m, "b2", 1, 2));
    cavs_push(f, "y", y);
    cavs_loss(f, "loss", cavs_squared_error(y, target), NULL);
}

/* A root with many children, each through its own slot. */
static void build_star(struct cavs_model *m)
{
    enum { SLOTS = 40, SMALL = 3 };
    struct cavs_stage *s = cavs_stage_create(m, "star", SMALL);
    struct cavs_function *leaf = cavs_function_create(s, "leaf"),
                         *root = cavs_function_create(s, "root");
    struct cavs_symbol *x = cavs_matmul(cavs_pull(leaf, "x", 2), zoo_weight(m, "W", 2, SMALL)),
                       *sum = NULL;
    cavs_scatter(leaf, cavs_tanh(x));
    struct cavs_param *u = zoo_weight(m, "U", SMALL, SMALL);
    for (int k = 0; k < SLOTS; k++) {
        struct cavs_symbol *child = cavs_gather(root, k);
        child = k % 3 ? child : cavs_matmul(child, u);
        sum = sum ? cavs_add(sum, child) : child;
    }
    cavs_scatter(root, sum);
    cavs_loss(root, "loss", cavs_sum(cavs_square(sum)), NULL);
}

/* More children than any fused group has inputs: all summed at once, and side by side before a
 * product. */
static void build_wide(struct cavs_model *m)
{
    enum { SLOTS = 100, SMALL = 2 };
    struct cavs_stage *s = cavs_stage_create(m, "wide", SMALL);
    struct cavs_function *leaf = cavs_function_create(s, "leaf"),
                         *root = cavs_function_create(s, "root");
    struct cavs_symbol *child[SLOTS], *sum = NULL;
    cavs_scatter(leaf, cavs_matmul(cavs_pull(leaf, "x", 2), zoo_weight(m, "W", 2, SMALL)));
    for (int k = 0; k < SLOTS; k++) {
        child[k] = cavs_gather(root, k);
        sum = sum ? cavs_add(sum, cavs_tanh(child[k])) : child[k];
    }
    struct cavs_symbol *y =
        cavs_matmul(cavs_concat(SLOTS, child), zoo_weight(m, "U", SMALL * SLOTS, SMALL));
    cavs_scatter(root, cavs_tanh(cavs_add(y, sum)));
    cavs_push(root, "y", y);
    cavs_loss(root, "loss", cavs_sum(cavs_square(cavs_add(y, sum))), NULL);
}

/* Loss and metrics in some functions only, one name in two functions and a later stage. */
static void build_metrics(struct cavs_model *m)
{
    struct cavs_param *w = zoo_weight(m, "W", HIDDEN, HIDDEN);
    struct cavs_stage *s = cavs_stage_create(m, "s", HIDDEN);
    struct cavs_function *leaf = cavs_function_create(s, "leaf"),
                         *inner = cavs_function_create(s, "inner");
    struct cavs_symbol *x = cavs_sigmoid(cavs_matmul(cavs_pull(leaf, "x", HIDDEN), w));
    cavs_scatter(leaf, x);
    cavs_push(leaf, "h", x);
    cavs_metric(leaf, "size", cavs_sum(x), NULL);
    struct cavs_symbol *y =
        cavs_tanh(cavs_matmul(cavs_mul(cavs_gather(inner, 0), cavs_gather(inner, 1)), w));
    cavs_scatter(inner, y);
    cavs_loss(inner, "loss", cavs_sum(y), cavs_pull_ids(inner, "where"));
    cavs_metric(inner, "size", cavs_sum(y), cavs_pull_ids(inner, "where"));
    struct cavs_stage *top = cavs_stage_over(m, "top", s, CAVS_ALL_VERTICES);
    struct cavs_function *f = cavs_function_create(top, "f");
    cavs_loss(f, "loss", cavs_sum(cavs_square(cavs_pull_from(f, s, "h", NULL))), NULL);
}

/* A state that every vertex scatters and none gathers; a second stage reads it through a
 * channel. */
static void build_no_gather(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 2);
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *x = cavs_matmul(cavs_pull(f, "x", 2), zoo_weight(m, "W", 2, 2));
    cavs_scatter(f, x);
    cavs_push(f, "x", x);
    struct cavs_stage *t = cavs_stage_create(m, "t", 0);
    struct cavs_function *g = cavs_function_create(t, "g");
    struct cavs_symbol *pair =
        cavs_mul(cavs_pull_from(g, s, "x", "left"), cavs_pull_from(g, s, "x", "right"));
    cavs_loss(g, "loss", cavs_sum(pair), NULL);
    cavs_push(g, "pair", pair);
}

/* Trained words in some functions only; the recurrent part passes no parameter at all. */
static void build_no_weights(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 4);
    struct cavs_function *leaf = cavs_function_create(s, "leaf"),
                         *inner = cavs_function_create(s, "inner");
    struct cavs_symbol *x =
        cavs_lookup(zoo_weight(m, "embedding", 6, 4), cavs_pull_ids(leaf, "word"));
    cavs_scatter(leaf, x);
    struct cavs_symbol *y =
        cavs_tanh(cavs_sub(cavs_gather(inner, 0), cavs_scale(cavs_gather(inner, 1), 0.5f)));
    cavs_scatter(inner, y);
    cavs_push(inner, "y", y);
    cavs_loss(inner, "loss", cavs_sum(cavs_square(y)), NULL);
}

/* Scores of the children's states against a query, and the sum that they weigh; then the same by
 * matrices, of the two first children alone. */
static void build_products(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 4);
    struct cavs_function *leaf = cavs_function_create(s, "leaf"),
                         *inner = cavs_function_create(s, "inner");
    cavs_scatter(leaf, cavs_tanh(cavs_lookup(zoo_weight(m, "embedding", 6, 4),
                                             cavs_pull_ids(leaf, "word"))));
    struct cavs_symbol *query = cavs_matmul(cavs_pull(inner, "x", 3), zoo_weight(m, "Q", 3, 4));
    struct cavs_symbol *each = cavs_each_child(inner);
    struct cavs_symbol *read =
        cavs_sum_children(cavs_mul(cavs_softmax_children(cavs_dot(each, query)), each));
    struct cavs_symbol *keys =
        cavs_concat(2, ((struct cavs_symbol *[]){cavs_gather(inner, 0), cavs_gather(inner, 1)}));
    struct cavs_symbol *weights = cavs_softmax(cavs_product(keys, query, 2, 1));
    struct cavs_symbol *bilinear =
        cavs_product(cavs_product_tn(cavs_outer(query, read), query, 4, 1),
                     cavs_use(inner, zoo_weight(m, "b", 1, 4)), 1, 1);
    struct cavs_symbol *state =
        cavs_tanh(cavs_add(cavs_product(weights, keys, 1, 4), cavs_mul(read, bilinear)));
    cavs_scatter(inner, state);
    cavs_loss(inner, "loss", cavs_dot(state, query), NULL);
}

/* A table that is looked up by vertices, by the entries of a list and where equal inputs are
 * shared, and multiplied from both sides.  P and Q have one operand, but may not be joined: Q is
 * looked up, too. */
static void build_tied(struct cavs_model *m)
{
    struct cavs_param *table = zoo_weight(m, "embedding", 6, 4), *p = zoo_weight(m, "P", 4, 4),
                      *q = zoo_weight(m, "Q", 4, 4);
    struct cavs_stage *s = cavs_stage_create(m, "s", 4);
    struct cavs_function *leaf = cavs_function_create(s, "leaf"),
                         *inner = cavs_function_create(s, "inner");
    struct cavs_symbol *word = cavs_lookup(table, cavs_pull_ids(leaf, "word"));
    cavs_scatter(leaf, cavs_tanh(cavs_matmul(cavs_matmul_t(cavs_tanh(word), table), table)));
    struct cavs_symbol *x =
        cavs_add(cavs_lookup(table, cavs_pull_ids(inner, "word")),
                 cavs_mean_children(cavs_lookup(table, cavs_pull_list_ids(inner, "words"))));
    struct cavs_symbol *both = cavs_add(cavs_gather(inner, 0), cavs_gather(inner, 1));
    struct cavs_symbol *state =
        cavs_tanh(cavs_add(cavs_mul(cavs_matmul(both, p), cavs_matmul(both, q)),
                           cavs_add(x, cavs_lookup(q, cavs_pull_ids(inner, "row")))));
    cavs_scatter(inner, state);
    cavs_loss(
        inner, "loss",
        cavs_softmax_cross_entropy(cavs_matmul_t(state, table), cavs_pull_ids(inner, "label")),
        NULL);
}

/* A line of columns across the border of both children's states: their gradients are columns of a
 * concatenation, of zeros and what comes back to the line. */
static void build_border(struct cavs_model *m)
{
    enum { LINE = 16 };
    struct cavs_stage *s = cavs_stage_create(m, "s", LINE);
    struct cavs_function *leaf = cavs_function_create(s, "leaf"),
                         *inner = cavs_function_create(s, "inner");
    cavs_scatter(leaf,
                 cavs_tanh(cavs_matmul(cavs_pull(leaf, "x", 3), zoo_weight(m, "W", 3, LINE))));
    struct cavs_symbol *both =
        cavs_concat(2, ((struct cavs_symbol *[]){cavs_gather(inner, 0), cavs_gather(inner, 1)}));
    struct cavs_symbol *y =
        cavs_tanh(cavs_matmul(cavs_slice(both, LINE / 2, LINE), zoo_weight(m, "U", LINE, LINE)));
    cavs_scatter(inner, y);
    cavs_loss(inner, "loss", cavs_sum(cavs_square(y)), NULL);
}

/* What the chain keeps takes the place of what ran ahead of it, where the concatenation has an
 * operand that begins behind that, in the same line, and is read when its concatenation is not any
 * more. Two gradients look for a line. */
static void build_line(struct cavs_model *m)
{
    enum { WIDE = 20, NARROW = 8 };
    struct cavs_stage *s = cavs_stage_create(m, "s", WIDE);
    struct cavs_function *leaf = cavs_function_create(s, "leaf"),
                         *inner = cavs_function_create(s, "inner");
    cavs_scatter(leaf,
                 cavs_tanh(cavs_matmul(cavs_pull(leaf, "x", 3), zoo_weight(m, "W", 3, WIDE))));
    struct cavs_symbol *left = cavs_gather(inner, 0), *right = cavs_gather(inner, 1);
    struct cavs_symbol *ahead = cavs_matmul(cavs_pull(inner, "x", 3), zoo_weight(m, "E", 3, WIDE));
    struct cavs_symbol *u = cavs_tanh(cavs_add(ahead, left));
    struct cavs_symbol *a = cavs_matmul(u, zoo_weight(m, "A", WIDE, WIDE));
    struct cavs_symbol *b =
        cavs_tanh(cavs_matmul(cavs_add(u, right), zoo_weight(m, "B", WIDE, NARROW)));
    struct cavs_symbol *d =
        cavs_tanh(cavs_matmul(cavs_mul(u, right), zoo_weight(m, "D", WIDE, NARROW)));
    struct cavs_symbol *largest = cavs_largest(cavs_concat(2, ((struct cavs_symbol *[]){a, b})));
    struct cavs_symbol *y = cavs_add(cavs_matmul(b, zoo_weight(m, "C", NARROW, WIDE)),
                                     cavs_matmul(d, zoo_weight(m, "F", NARROW, WIDE)));
    y = cavs_tanh(cavs_add(largest, y));
    cavs_scatter(inner, y);
    cavs_loss(inner, "loss", cavs_sum(cavs_square(y)), NULL);
}

/* More products of one operand than are joined into one. */
static void build_gates(struct cavs_model *m)
{
    enum { GATES = 37 };
    struct cavs_stage *s = cavs_stage_create(m, "chain", HIDDEN);
    struct cavs_function *f = cavs_function_create(s, "cell");
    struct cavs_symbol *before = cavs_gather(f, 0), *h = cavs_pull(f, "x", HIDDEN);
    for (int i = 0; i < GATES; i++) {
        char name[] = {'W', (char)('0' + i / 10), (char)('0' + i % 10), 0};
        h = cavs_tanh(cavs_add(h, cavs_matmul(before, zoo_weight(m, name, HIDDEN, HIDDEN))));
    }
    cavs_scatter(f, h);
    cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
}

const struct zoo_entry zoo_oddities[] = {
    {"dag",
     build_dag,
     {"dag:40,parents=3,kinds=3,seed=3", "lattice:9,kinds=3",
      "dag:23,parents=6,kinds=3,seed=4,shuffle=5,missing=6", "single", "empty",
      "dag:15,parents=2,kinds=3,seed=8"}},
    {"partial",
     build_partial,
     {"dag:20,slots=3,parents=4", "chain:5", "single", "binary:4,missing=3", "empty", "flat:2"}},
    {"arithmetic", build_arithmetic, {"flat:13", "single", "empty", "flat:70"}},
    {"nonlinear", build_nonlinear, {"chain:9", "chain:4", "single", "chain:12,shuffle=2"}},
    {"rows", build_rows, {"chain:9", "chain:4", "single", "empty", "chain:12,shuffle=2"}},
    {"losses", build_losses, {"flat:13", "single", "empty", "flat:70"}},
    {"mlp", build_mlp, {"single", "single", "flat:5", "empty", "flat:131"}},
    {"star",
     build_star,
     {"star:40,kinds=2", "star:7,kinds=2", "star:33,kinds=2,missing=4", "single"}},
    {"wide",
     build_wide,
     {"star:100,kinds=2", "star:80,kinds=2,missing=3", "single", "star:1,kinds=2"}},
    {"metrics",
     build_metrics,
     {"binary:6,kinds=2", "single", "random:5,kinds=2", "random:9,kinds=2,seed=6"}},
    {"no_gather",
     build_no_gather,
     {"flat:4|flat:6", "single|single", "flat:3|empty", "empty|flat:2"}},
    {"products",
     build_products,
     {"binary:6,kinds=2", "single", "random:5,kinds=2", "dag:20,parents=3,kinds=2"}},
    {"tied",
     build_tied,
     {"binary:6,kinds=2", "single", "random:5,kinds=2", "empty", "binary:9,kinds=2"}},
    {"no_weights",
     build_no_weights,
     {"lattice:12,kinds=2", "binary:4,kinds=2", "single", "dag:20,parents=3,kinds=2"}},
    {"border",
     build_border,
     {"binary:6,kinds=2", "single", "random:9,kinds=2", "binary:12,kinds=2,missing=4"}},
    {"line",
     build_line,
     {"binary:6,kinds=2", "single", "random:9,kinds=2", "binary:12,kinds=2,missing=4"}},
    {"gates", build_gates, {"chain:9", "chain:4", "single", "empty", "chain:12,shuffle=2"}},
    {NULL, NULL, {NULL}},
};
