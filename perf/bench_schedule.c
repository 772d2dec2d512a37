/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_schedule.c - what preparing a batch costs, alone: no StarPU, one thread, warm memory.
 *
 *     bench_schedule [shards]
 *
 * prints, for batches of 64 balanced trees of 32 .. 2048 leaves whose words are drawn anew for
 * every batch (the graphs of figure 9), and for trees of random shape as large as those of SST,
 * nanoseconds a vertex: for schedules, and for the index sections and lists that tasks read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "apps/common/random.h"
#include "apps/tree_shapes.h"
#include "core/prepare/prepare.h"

enum { TREES = 64, REPEATS = 30, HIDDEN = 64 };

/* Trees of one size, a model that goes over them, and a batch. */
struct bench {
    int leaves, words, shards;
    enum tree_shape shape;
    struct rng r;
    struct cavs_model *model;
    struct cavs_stage *tree;
    struct cavs_data *data;
    struct cavs__plan *plan;
    struct cavs__batch batch;
    struct cavs__arena arena;
    int32_t **index, **lists;
    double schedule, index_time; /* the best so far, seconds */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(int ok)
{
    if (ok)
        return;
    fprintf(stderr, "bench_schedule: %s\n", cavs_error_message());
    exit(1);
}

/* ---- the model and its data ---- */

/* As apps/tree_fc.c has it. */
static void declare(struct bench *b)
{
    struct cavs_model *m;
    struct cavs_param *table, *w;
    struct cavs_function *leaf, *inner, *head;
    struct cavs_symbol *state, *both[2];

    need(cavs_model_create(&b->model) == 0);
    m = b->model;
    table = cavs_model_param(m, "embedding", b->words, HIDDEN, CAVS_UNIFORM(0, 1));
    w = cavs_model_param(m, "W", 2 * HIDDEN, HIDDEN, CAVS_UNIFORM(-1, 1));
    b->tree = cavs_stage_create(m, "tree", HIDDEN);
    leaf = cavs_function_create(b->tree, "leaf");
    inner = cavs_function_create(b->tree, "inner");
    state = cavs_lookup(table, cavs_pull_ids(leaf, "leaf"));
    cavs_scatter(leaf, state);
    cavs_push(leaf, "state", state);
    both[0] = cavs_gather(inner, 0);
    both[1] = cavs_gather(inner, 1);
    state = cavs_relu(cavs_matmul(cavs_concat(2, both), w));
    cavs_scatter(inner, state);
    cavs_push(inner, "state", state);
    head = cavs_function_create(cavs_stage_over(m, "loss", b->tree, CAVS_ROOTS), "loss");
    cavs_loss(head, "loss", cavs_sum(cavs_square(cavs_pull_from(head, b->tree, "state", NULL))),
              NULL);
    need(cavs_model_finish(m) == 0);
}

static void add_tree(struct bench *b)
{
    int n = 2 * b->leaves - 1, *p = malloc(4 * (size_t)(n + 1) * sizeof *p);
    int *function = p, *child_ptr = p + n + 1, *child = p + 2 * n + 2, *ids = p + 3 * n + 3;

    need(p != NULL);
    for (int v = 0; v < n; v++) {
        function[v] = v >= b->leaves;
        ids[v] = v >= b->leaves ? -1 : 0;
    }
    need(tree_shape_make(b->shape, b->leaves, &b->r, child_ptr, child) == 0 &&
         cavs_data_begin(b->data) == 0 &&
         cavs_data_graph(b->data, b->tree, n, function, child_ptr, child) == 0 &&
         cavs_data_ids(b->data, b->tree, "leaf", n, ids) == 0 && cavs_data_end(b->data) == 0);
    free(p);
}

static void draw_words(struct bench *b)
{
    for (int i = 0; i < TREES; i++) {
        int *ids = cavs_data_sample_ids(b->data, b->tree, "leaf", i);

        for (int v = 0; v < b->leaves; v++)
            ids[v] = rng_below(&b->r, b->words);
    }
}

/* ---- a batch ---- */

static void prepare(struct bench *b)
{
    int samples[TREES], nstages = b->model->nstages;
    struct cavs__request r = {.data = b->data,
                              .samples = samples,
                              .n = TREES,
                              .run = CAVS__RUN_TRAIN,
                              .nshards = b->shards};
    double start, middle, end;

    for (int i = 0; i < TREES; i++)
        samples[i] = i;
    cavs__arena_reset(&b->arena);
    start = now();
    need(cavs__batch_split(&b->batch, &r) == 0);
    for (int i = 0; i < b->shards; i++)
        need(cavs__schedule_shard(&b->batch, i) == 0);
    middle = now();
    need(cavs__batch_lay_out(&b->batch, &b->arena) == 0);
    for (int i = 0; i < b->shards * nstages; i++) {
        size_t n = (size_t)cavs__index_length(&b->batch, i / nstages, i % nstages) + 1;

        if (!b->index[i])
            need((b->index[i] = malloc(2 * n * sizeof **b->index)) != NULL);
        cavs__write_index(&b->batch, i / nstages, i % nstages, b->index[i]);
    }
    for (int i = 0; i < b->model->nstored; i++) {
        if (!b->batch.touched[i])
            continue;
        if (!b->lists[i])
            need((b->lists[i] = malloc(2 * (size_t)cavs__touched_length(b->batch.touched[i]) *
                                       sizeof **b->lists)) != NULL);
        cavs__list_touched(&b->batch, b->model->params[i], b->lists[i]);
    }
    end = now();
    b->schedule = middle - start < b->schedule ? middle - start : b->schedule;
    b->index_time = end - middle < b->index_time ? end - middle : b->index_time;
}

static void open_batch(struct bench *b)
{
    struct cavs__plan_options o = {.training = true, .l2_bytes = 1 << 20, .l3_bytes = 16 << 20};
    struct cavs__preparing how = {.policy = &cavs__policies[CAVS_POLICY_FRONTIER],
                                  .block_seconds = CAVS__BLOCK_SECONDS,
                                  .most_shards = b->shards};

    for (int i = 0; i < CAVS__RATE_SIZES; i++)
        o.rates.gemm[i] = 1.25e-11;
    o.rates.value = 1e-9;
    need(cavs__plan_create(b->model, &o, &b->plan) == 0);
    need(cavs__batch_init(&b->batch, b->plan, &how) == 0);
    b->index = calloc((size_t)(b->shards * b->model->nstages), sizeof *b->index);
    b->lists = calloc((size_t)b->model->nstored + 1, sizeof *b->lists);
    need(b->index && b->lists);
}

static void close_all(struct bench *b)
{
    for (int i = 0; i < b->shards * b->model->nstages; i++)
        free(b->index[i]);
    for (int i = 0; i < b->model->nstored; i++)
        free(b->lists[i]);
    free(b->index);
    free(b->lists);
    cavs__batch_free(&b->batch);
    cavs__arena_free(&b->arena);
    cavs__plan_destroy(b->plan);
    cavs_data_destroy(b->data);
    cavs_model_destroy(b->model);
}

static void run(enum tree_shape shape, int leaves, int words, int shards)
{
    struct bench b = {.leaves = leaves,
                      .words = words,
                      .shards = shards,
                      .shape = shape,
                      .schedule = 1e9,
                      .index_time = 1e9};
    double vertices = (double)TREES * (2 * leaves - 1);

    rng_seed(&b.r, 1, (unsigned)leaves);
    declare(&b);
    need(cavs_data_create(b.model, &b.data) == 0);
    for (int i = 0; i < TREES; i++)
        add_tree(&b);
    open_batch(&b);
    for (int i = 0; i < REPEATS; i++) {
        draw_words(&b);
        prepare(&b);
    }
    printf("%-9s %6d %8d %10.1f %8.1f %8.1f\n", tree_shape_names[shape], leaves, words,
           b.schedule * 1e9 / vertices, b.index_time * 1e9 / vertices,
           (b.schedule + b.index_time) * 1e9 / vertices);
    close_all(&b);
}

int main(int argc, char **argv)
{
    int shards = argc > 1 ? atoi(argv[1]) : 2;

    printf("64 trees in %d shards; nanoseconds a vertex\n%-9s %6s %8s %10s %8s %8s\n", shards,
           "tree", "leaves", "words", "schedule", "index", "all");
    for (int leaves = 32; leaves <= 2048; leaves *= 2)
        run(TREE_BALANCED, leaves, leaves, shards);
    run(TREE_RANDOM, 19, 15000, shards);
    return 0;
}
