/* SPDX-License-Identifier: Apache-2.0 */
/* The small model that targets share, its session and its samples. */
#include "tests/fuzz/fuzz_model.h"

#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

enum { STATE = 2, WORDS = 3 };

static struct cavs_runtime *runtime;
static struct cavs_model *model;
static struct cavs_session *session;
static struct cavs_stage *tree, *roots;
static struct cavs_data *data;

static void must(int rc)
{
    FUZZ_MUST(rc == 0, "%d: %s", rc, cavs_error_message());
}

static void end(struct cavs_function *f, struct cavs_symbol *h)
{
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
}

/* A leaf, an inner vertex of two children, one of any number with an id at each. */
static void declare_tree(void)
{
    struct cavs_init small = CAVS_UNIFORM(-0.5f, 0.5f);
    struct cavs_param *table = cavs_model_param(model, "embedding", WORDS, STATE, small);
    struct cavs_param *u = cavs_model_param(model, "U", STATE, STATE, small);
    struct cavs_param *relation = cavs_model_param(model, "relation", WORDS, STATE, small);
    struct cavs_function *leaf = cavs_function_create(tree, "leaf");
    struct cavs_function *inner = cavs_function_create(tree, "inner");
    struct cavs_function *any = cavs_function_create(tree, "any");
    struct cavs_symbol *two, *all;

    end(leaf, cavs_lookup(table, cavs_pull_ids(leaf, "word")));
    two = cavs_add(cavs_gather(inner, 0), cavs_gather(inner, 1));
    end(inner, cavs_tanh(cavs_matmul(two, u)));
    all = cavs_mul(cavs_each_child(any), cavs_lookup(relation, cavs_pull_edge_ids(any, "edge")));
    end(any, cavs_tanh(cavs_sum_children(all)));
}

struct cavs_stage *fuzz_stage(void)
{
    fuzz_model();
    return tree;
}

const struct cavs_model *fuzz_model(void)
{
    struct cavs_function *loss;

    if (model)
        return model;
    must(cavs_model_create(&model));
    tree = cavs_stage_create(model, "tree", STATE);
    declare_tree();
    roots = cavs_stage_over(model, "class", tree, CAVS_ROOTS);
    loss = cavs_function_create(roots, "class");
    cavs_loss(loss, "loss",
              cavs_softmax_cross_entropy(cavs_pull_from(loss, tree, "h", NULL),
                                         cavs_pull_ids(loss, "label")),
              NULL);
    must(cavs_model_finish(model));
    return model;
}

static void start(void)
{
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;

    setenv("CAVS_FUSION", "interpret", 0);
    r.workers = 1;
    must(cavs_runtime_create(&r, &runtime));
    session = fuzz_new_session();
    must(cavs_data_create(model, &data));
    fuzz_fill(data);
}

static void stop(void)
{
    cavs_session_destroy(session);
    cavs_data_destroy(data);
    cavs_model_destroy(model);
    if (runtime)
        cavs_runtime_destroy(runtime);
}

struct cavs_session *fuzz_new_session(void)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_session *s;

    o.optimizer = CAVS_ADAM;
    o.shards = 1;
    o.seed = 1;
    must(cavs_session_create(runtime, fuzz_model(), &o, &s));
    return s;
}

struct cavs_session *fuzz_session(void)
{
    if (!session) {
        start();
        atexit(stop);
    }
    return session;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* (leaf leaf) under any, and the same with functions and ids of sample i. */
static void add_sample(struct cavs_data *d, int i)
{
    const int n = 4, functions[] = {0, 0, i % 2 ? 1 : 2, 2}, ptr[] = {0, 0, 0, 2, 3};
    const int children[] = {0, 1, 2}, words[] = {i % WORDS, 1, -1, -1};
    const int edges[] = {0, i % WORDS, 2}, label = i % STATE;

    must(cavs_data_begin(d));
    must(cavs_data_graph(d, tree, n, functions, ptr, children));
    must(cavs_data_ids(d, tree, "word", n, words));
    must(cavs_data_edge_ids(d, tree, "edge", ptr[n], edges));
    must(cavs_data_ids(d, roots, "label", 1, &label));
    must(cavs_data_end(d));
}

void fuzz_fill(struct cavs_data *d)
{
    for (int i = 0; i < 4; i++)
        add_sample(d, i);
}

void fuzz_train(struct cavs_session *s)
{
    must(cavs_session_train(s, data, (const int[]){0, 1, 2, 3}, 4));
    must(cavs_session_wait(s));
}

/* ---- parameters ------------------------------------------------------------------------------ */

int fuzz_values(void)
{
    int n = 0;

    for (int i = 0; i < cavs_model_param_count(model); i++) {
        const struct cavs_param *p = cavs_model_param_at(model, i);

        n += cavs_param_rows(p) * cavs_param_cols(p);
    }
    return n;
}

void fuzz_get_values(struct cavs_session *s, float *values)
{
    for (int i = 0; i < cavs_model_param_count(model); i++) {
        const struct cavs_param *p = cavs_model_param_at(model, i);

        must(cavs_session_get_param(s, p, values));
        values += cavs_param_rows(p) * cavs_param_cols(p);
    }
}

void fuzz_set_values(struct cavs_session *s, const float *values)
{
    for (int i = 0; i < cavs_model_param_count(model); i++) {
        const struct cavs_param *p = cavs_model_param_at(model, i);

        must(cavs_session_set_param(s, p, values));
        values += cavs_param_rows(p) * cavs_param_cols(p);
    }
}
