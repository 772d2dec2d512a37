/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_counts.c - into how many batches a recorded graph falls, beside DyNet
 * (perf/peers/dynet_counts), of graphs that are the same in both, operator by operator.
 *
 *     tape_counts FILE TREES K
 *
 * records the first trees of a treebank, K at a time, and prints as JSON how many V_t there are by
 * each policy.  A vertex is a lookup and tanh at leaves, and concat, product and tanh above; each
 * has a product and a loss of its own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/ptb.h"
#include "apps/common/tape_rows.h"
#include "core/cavs.h"

enum { CLASSES = 5, HIDDEN = 32 };

struct graph {
    struct forest trees;
    struct cavs_model *model;
    struct cavs_param *E, *W, *V;
    struct cavs_session *session;
    struct cavs_tape *tape;
    struct cavs_symbol **h;
    struct tape_rows losses; /* asked for, not added up: a sum is one node in DyNet */
    size_t n;
};

static void need(int ok, const char *why)
{
    if (ok)
        return;
    fprintf(stderr, "tape_counts: %s\n", why);
    exit(1);
}

static void check(int rc)
{
    need(rc == 0, cavs_error_message());
}

static void record(struct graph *g, const struct tree *tree)
{
    cavs_tape_sample(g->tape);
    for (int v = 0; v < tree->n; v++) {
        const int *child = tree->children + tree->child_ptr[v];
        struct cavs_symbol *x, *label = cavs_tape_id(g->tape, tree->label[v]);

        if (tree_arity(tree, v) == 0) {
            x = cavs_lookup(g->E, cavs_tape_id(g->tape, tree->word[v]));
        } else {
            struct cavs_symbol *both[] = {g->h[child[0]], g->h[child[1]]};

            x = cavs_matmul(cavs_concat(2, both), g->W);
        }
        g->h[v] = cavs_tanh(x);
        g->losses.symbol[g->n++] = cavs_softmax_cross_entropy(cavs_matmul(g->h[v], g->V), label);
    }
}

/* V_t of all trees, k at a time. */
static long long count(struct graph *g, enum cavs_policy policy, int k)
{
    struct cavs_tape_options o = cavs_tape_defaults();
    struct cavs_tape_stats stats;

    o.policy = policy;
    check(cavs_tape_create(g->session, &o, &g->tape));
    for (int i = 0; i < g->trees.trees; i += k) {
        check(cavs_tape_begin(g->tape, CAVS_TAPE_EVALUATE));
        g->n = 0;
        for (int t = i; t < i + k && t < g->trees.trees; t++) {
            struct tree tree = forest_tree(&g->trees, t);

            record(g, &tree);
        }
        g->losses.n = g->n;
        check(tape_rows_compute(&g->losses, g->tape));
    }
    cavs_tape_stats(g->tape, &stats);
    cavs_tape_destroy(g->tape);
    return (long long)stats.batching_tasks;
}

static void load(struct graph *g, const char *path, int trees)
{
    struct vocab *words = vocab_create();
    struct ptb_options o = {.labels = CLASSES, .vocab = words, .grow = true};
    struct app_error e = {0};
    struct forest_stats stats;
    size_t vertices;

    need(words && ptb_load(path, &o, &g->trees, &e) == 0, e.text);
    need(trees > 0 && trees <= g->trees.trees, "not so many trees");
    g->trees.trees = trees;
    vertices = g->trees.first[trees];
    need(forest_measure(&g->trees, &stats, &e) == 0, e.text);
    g->h = malloc((vertices + 1) * sizeof *g->h);
    need(g->h && tape_rows_reserve(&g->losses, vertices, 1) == 0, "no memory");
    check(cavs_model_create(&g->model));
    g->E = cavs_model_param(g->model, "E", vocab_size(words), HIDDEN, CAVS_UNIFORM(-1, 1));
    g->W = cavs_model_param(g->model, "W", 2 * HIDDEN, HIDDEN, CAVS_UNIFORM(-1, 1));
    g->V = cavs_model_param(g->model, "V", HIDDEN, CLASSES, CAVS_UNIFORM(-1, 1));
    check(cavs_model_finish(g->model));
    vocab_destroy(words);
}

int main(int argc, char **argv)
{
    struct cavs_runtime_options machine = {.workers = 1};
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_runtime *rt;
    struct graph g = {0};
    int k;

    need(argc == 4, "expected FILE TREES K");
    load(&g, argv[1], atoi(argv[2]));
    k = atoi(argv[3]);
    need(k > 0, "K is too small");
    check(cavs_runtime_create(&machine, &rt));
    options.shards = 1;
    check(cavs_session_create(rt, g.model, &options, &g.session));
    printf("{\"trees\": %d, \"k\": %d", g.trees.trees, k);
    for (int p = 0; p < CAVS_POLICIES; p++)
        printf(", \"%s\": %lld", cavs_policy_name(p), count(&g, p, k));
    printf("}\n");
    cavs_session_destroy(g.session);
    check(cavs_runtime_destroy(rt));
    cavs_model_destroy(g.model);
    forest_clear(&g.trees);
    tape_rows_clear(&g.losses);
    free(g.h);
    return 0;
}
