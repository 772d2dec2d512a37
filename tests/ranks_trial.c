/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks_trial.c - trains small models of every kind, and a tape, and prints a hash of all that
 * comes of it: a line for each model and way of training.  tests/test_ranks.t runs it as one
 * process and as several ranks, and compares.
 *
 *     ranks_trial SHARDS [MODEL | tape | sharing]
 *     ranks_trial SHARDS random FIRST-LAST  the same for models drawn at random (random_model.h)
 *     ranks_trial SHARDS turns       trains two sessions in turns, that share parameters or not
 *     ranks_trial SHARDS saving FILE writes checkpoints, while memory runs out at rank 1
 *     ranks_trial 1 opening          makes runtimes, while memory runs out at rank 1
 *     ranks_trial SHARDS unlike      makes other sessions at rank 1, then gives it other values
 *     ranks_trial SHARDS strangers   trains on other samples at rank 1
 *     ranks_trial SHARDS mixed       makes other calls at rank 1
 *     ranks_trial SHARDS leaving     calls exit() at rank 1 while the others wait for it
 *     ranks_trial SHARDS leaving all calls exit(0) at all ranks
 *     ranks_trial SHARDS pack FILE N writes a packed file of N / 16 MB
 *     ranks_trial SHARDS packed FILE trains an epoch on it, prints the loss, and by how many MB the
 *                                    memory of each rank has grown at most
 *     ranks_trial WORKERS bound      prints which hardware threads the workers are bound to
 *     ranks_trial GPUS gpus          prints which GPUs the rank has
 *     ranks_trial 1 limit            prints up to how many bytes Open MPI is told to send at once
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/hash.h"
#include "tests/failing_alloc.h"
#include "tests/random_model.h"
#include "tests/sample.h"
#include "tests/tape_step.h"
#include "tests/wide_rows.h"
#include "tests/zoo.h"

static struct cavs_runtime *runtime;

static void check(int rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, cavs_error_message());
    cavs_runtime_abort(runtime, 1);
    exit(1);
}

/* A line in one piece: MPICH takes the buffer from stdout, after which puts() writes in two, and
 * other ranks speak in between. */
static void say(const char *text)
{
    fprintf(stdout, "%s\n", text);
}

/* Three samples of each text: *n. */
static struct cavs_data *make_samples(const struct cavs_model *m, int ntexts,
                                      const char *const *texts, int *n)
{
    struct cavs_data *d;

    check(cavs_data_create(m, &d), "data");
    for (*n = 0; *n < 3 * ntexts; ++*n) {
        struct sample *s = sample_make(m, texts[*n % ntexts], (uint64_t)(*n / ntexts));

        check(sample_add(s, d), "sample");
        sample_free(s);
    }
    return d;
}

static struct cavs_data *make_data(const struct zoo_entry *z, const struct cavs_model *m, int *n)
{
    return make_samples(m, zoo_samples(z), z->samples, n);
}

static uint64_t hash_values(struct cavs_session *s, const struct cavs_model *m, uint64_t h,
                            int (*get)(struct cavs_session *, const struct cavs_param *, float *))
{
    for (int i = 0; i < cavs_model_param_count(m); i++) {
        const struct cavs_param *p = cavs_model_param_at(m, i);
        size_t n = (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
        float *values = malloc(n * sizeof *values);

        check(values ? get(s, p, values) : CAVS_ENOMEM, "values");
        for (size_t k = 0; k < n; k++)
            values[k] = values[k] == 0 ? 0 : values[k]; /* zeros have no sign here */
        h = cavs__hash(h, values, n * sizeof *values);
        free(values);
    }
    return h;
}

/* Batches of several sizes, some with fewer samples than there are shards. */
static void train(struct cavs_session *s, const struct cavs_data *d, int n)
{
    static const int sizes[] = {7, 1, 12, 2, 9, 3};
    int order[64];

    for (int step = 0; step < 6; step++) {
        int size = sizes[step] < n ? sizes[step] : n;

        for (int i = 0; i < size; i++)
            order[i] = (step * 5 + i * 3) % n;
        check(cavs_session_train(s, d, order, size), "train");
    }
}

static uint64_t hash_metrics(struct cavs_session *s, uint64_t h)
{
    double sum = 0, count = 0;
    float rounded;

    if (cavs_session_metric(s, "loss", &sum, &count) < 0)
        return h;
    rounded = (float)sum; /* shards are added up by whoever has worked on them */
    h = cavs__hash(h, &rounded, sizeof rounded);
    return cavs__hash(h, &count, sizeof count);
}

/* Trains on n samples, takes their gradients and evaluates them; frees the model and them. */
static void try_on(struct cavs_model *m, struct cavs_data *d, int n, struct cavs_session_options o,
                   const char *name, const char *how)
{
    struct cavs_session *s;
    int all[64];
    uint64_t h = CAVS__HASH_START;

    check(cavs_session_create(runtime, m, &o, &s), "session");
    train(s, d, n);
    h = hash_values(s, m, h, cavs_session_get_param);
    h = hash_metrics(s, h);
    for (int i = 0; i < n; i++)
        all[i] = i;
    check(cavs_session_gradient(s, d, all, n), "gradient");
    h = hash_values(s, m, h, cavs_session_get_gradient);
    check(cavs_session_reset_metrics(s), "metrics");
    check(cavs_session_evaluate(s, d, all, n), "evaluate");
    h = hash_metrics(s, h);
    if (cavs_runtime_rank(runtime) == 0)
        printf("%s %s %016llx\n", name, how, (unsigned long long)h);
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void try(const struct zoo_entry *z, struct cavs_session_options o, const char *how)
{
    struct cavs_model *m = zoo_model(z);
    int n;
    struct cavs_data *d = make_data(z, m, &n);

    try_on(m, d, n, o, z->name, how);
}

/* ---- models that nobody would write ---- */

static void draw_options(struct draw *d, struct cavs_session_options *o)
{
    const int shards = o->shards;

    draw_engine(d, o);
    o->shards = shards; /* those of the comparison */
    o->seed = d->seed;
    o->optimizer = (enum cavs_optimizer)draw_pick(d, CAVS_OPTIMIZERS);
    o->clip = draw_pick(d, 2) ? 0.5f : 0;
    o->mean = draw_pick(d, 3) == 0;
    o->weight_decay = draw_pick(d, 3) ? 0 : 0.01f;
}

static void try_seed(uint64_t seed, struct cavs_session_options o)
{
    struct draw d = {.seed = seed, .drops = seed % 2};
    const char *texts[DRAW_SAMPLES];
    struct cavs_data *data;
    char name[32];
    int n;

    check(cavs_model_create(&d.m), "model");
    draw_model(&d);
    check(cavs_model_finish(d.m), "model");
    draw_samples(&d);
    for (int i = 0; i < DRAW_SAMPLES; i++)
        texts[i] = d.texts[i];
    draw_options(&d, &o);
    data = make_samples(d.m, DRAW_SAMPLES, texts, &n);
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    try_on(d.m, data, n, o, name, cavs_optimizer_name((int)o.optimizer));
}

/* seeds: as draw_range() reads them */
static void try_random(const char *seeds, struct cavs_session_options o)
{
    uint64_t first, last;

    draw_range(seeds, &first, &last);
    for (uint64_t seed = first; seed <= last; seed++)
        try_seed(seed, o);
}

/* ---- a tape ---- */

enum { WIDTH = 20, WORDS = 7, LARGEST = 11 };

static struct cavs_model *tape_model(void)
{
    struct cavs_model *m;

    check(cavs_model_create(&m), "model");
    tape_step_params(m, WORDS, WIDTH, 0.3f);
    cavs_model_param(m, "V", WIDTH, WORDS, CAVS_UNIFORM(-1, 1));
    check(cavs_model_finish(m), "model");
    return m;
}

/* From some batch on what was only looked up is multiplied, too. */
static struct cavs_symbol *logits(const struct cavs_model *m, struct cavs_symbol *h, bool tied)
{
    struct cavs_param *E = cavs_model_find_param(m, "E"), *V = cavs_model_find_param(m, "V");

    return cavs_matmul(tied ? cavs_matmul(cavs_tanh(cavs_matmul(h, V)), E) : h, V);
}

/* What samples read depends on values in the middle; some batches have fewer samples than there are
 * shards.  Returns the hash of what the tape has told, of gradients that they are refused if so. */
static uint64_t record(struct cavs_tape *t, const struct cavs_model *m, enum cavs_tape_run run,
                       int seed, uint64_t hash, bool refused)
{
    int n = 1 + 5 * seed % LARGEST;
    float numbers[LARGEST][WIDTH], *rows[LARGEST];
    struct cavs_symbol *h[LARGEST];

    check(cavs_tape_begin(t, run), "begin");
    for (int k = 0; k < n; k++) {
        rows[k] = numbers[k];
        h[k] = cavs_constant(cavs_tape_sample(t), WIDTH, 0);
        for (int i = 0; i < 2 + (k + seed) % 5; i++)
            h[k] = tape_step(t, m, h[k], (i + k) % WORDS);
    }
    check(cavs_tape_values(t, n, h, rows), "values");
    for (int k = 0; k < n; k++) {
        struct cavs_symbol *x = h[k];

        hash = cavs__hash(hash, numbers[k], sizeof numbers[k]);
        check(cavs_tape_resume(t, k) ? 0 : CAVS_EINVAL, "resume");
        for (int i = 0; numbers[k][0] > 0 && i < 3; i++)
            x = tape_step(t, m, x, i % WORDS);
        cavs_loss(cavs_tape_function(t), "loss",
                  cavs_softmax_cross_entropy(logits(m, x, seed > 5), cavs_tape_id(t, k % WORDS)),
                  NULL);
    }
    check(cavs_tape_finish(t), "finish");
    if (run != CAVS_TAPE_GRADIENT)
        return hash;
    if ((cavs_tape_gradients(t, n, h, rows) == CAVS_ESTATE) != refused)
        check(CAVS_ESTATE, "gradients");
    for (int k = 0; k < n && !refused; k++)
        hash = cavs__hash(hash, numbers[k], sizeof numbers[k]);
    return hash;
}

static void try_tape(struct cavs_session_options o, const char *how)
{
    struct cavs_model *m = tape_model();
    uint64_t h = CAVS__HASH_START;
    struct cavs_session *s;
    struct cavs_tape *t;

    check(cavs_session_create(runtime, m, &o, &s), "session");
    check(cavs_tape_create(s, NULL, &t), "tape");
    for (int i = 0; i < 20; i++)
        h = record(t, m, CAVS_TAPE_TRAIN, i, h, false);
    h = hash_values(s, m, h, cavs_session_get_param);
    h = hash_metrics(s, h);
    h = record(t, m, CAVS_TAPE_GRADIENT, 6, h, true); /* they are in blocks */
    h = record(t, m, CAVS_TAPE_GRADIENT, 6, h, false);
    h = hash_values(s, m, h, cavs_session_get_gradient);
    if (cavs_runtime_rank(runtime) == 0)
        printf("tape %s %016llx\n", how, (unsigned long long)h);
    cavs_tape_destroy(t);
    cavs_session_destroy(s);
    cavs_model_destroy(m);
}

/* ---- sessions that share a parameter ---- */

/* By its width V is smaller than W, or larger: the largest one has the first rank. */
static struct cavs_model *two_products(int width)
{
    struct cavs_model *m;
    struct cavs_param *W, *V;
    struct cavs_function *f;
    struct cavs_symbol *h;

    check(cavs_model_create(&m), "model");
    W = cavs_model_param(m, "W", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    V = cavs_model_param(m, width < WIDTH ? "small" : "large", WIDTH, width, CAVS_UNIFORM(-1, 1));
    f = cavs_function_create(cavs_stage_create(m, "stage", WIDTH), "f");
    h = cavs_tanh(cavs_matmul(cavs_pull(f, "x", WIDTH), W));
    cavs_scatter(f, h);
    cavs_loss(f, "loss", cavs_sum(cavs_square(cavs_matmul(h, V))), NULL);
    check(cavs_model_finish(m), "model");
    return m;
}

static void try_sharing(struct cavs_session_options o)
{
    struct cavs_model *first = two_products(WIDTH / 2), *second = two_products(2 * WIDTH);
    struct cavs_session *s, *t = NULL;
    int rc;

    check(cavs_session_create(runtime, first, &o, &s), "session");
    check(cavs_session_create_with(runtime, first, &o, s, &t), "session");
    cavs_session_destroy(t);
    rc = cavs_session_create_with(runtime, second, &o, s, &t);
    say(rc < 0 ? cavs_error_message() : "accepted");
    if (!rc)
        cavs_session_destroy(t);
    cavs_session_destroy(s);
    cavs_model_destroy(first);
    cavs_model_destroy(second);
}

/* ---- two sessions in turns ---- */

/* Batches of one are over while those of many, which are before them, still run. */
static void train_in_turns(struct cavs_session *many, struct cavs_session *one,
                           const struct cavs_data *d, int n)
{
    int all[64], last;

    for (int i = 0; i < n; i++)
        all[i] = i;
    for (int step = 0; step < 40; step++) {
        last = step % n;
        check(cavs_session_train(many, d, all, n), "train");
        check(cavs_session_train(one, d, &last, 1), "train");
    }
}

/* Says what two sessions have made, and frees them. */
static void end_pair(struct cavs_session *first, struct cavs_session *second, struct cavs_data *d,
                     struct cavs_model *m, uint64_t h)
{
    if (cavs_runtime_rank(runtime) == 0)
        printf("%016llx\n", (unsigned long long)h);
    cavs_session_destroy(first);
    cavs_session_destroy(second);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void try_turns(struct cavs_session_options o, bool sharing)
{
    const struct zoo_entry *z = zoo_find("tree_lstm_bench");
    struct cavs_model *m = zoo_model(z);
    struct cavs_session *many, *one;
    int n;
    struct cavs_data *d = make_data(z, m, &n);
    uint64_t h = CAVS__HASH_START;

    check(cavs_session_create(runtime, m, &o, &many), "session");
    check(cavs_session_create_with(runtime, m, &o, sharing ? many : NULL, &one), "session");
    train_in_turns(many, one, d, n);
    h = hash_values(many, m, h, cavs_session_get_param);
    h = hash_values(one, m, h, cavs_session_get_param);
    end_pair(one, many, d, m, h);
}

/* ---- a session that reads other copies of the weights ---- */

static void try_copies(struct cavs_session_options o)
{
    const struct zoo_entry *z = zoo_find("tree_lstm_bench");
    struct cavs_model *m = zoo_model(z);
    struct cavs_session *trains, *rounds;
    int n, all[64];
    struct cavs_data *d = make_data(z, m, &n);

    for (int i = 0; i < n; i++)
        all[i] = i;
    check(cavs_session_create(runtime, m, &o, &trains), "session");
    o.precision = CAVS_BFLOAT16;
    o.inference = true;
    check(cavs_session_create_with(runtime, m, &o, trains, &rounds), "session");
    train(trains, d, n);
    check(cavs_session_evaluate(rounds, d, all, n), "evaluate");
    uint64_t h = hash_metrics(rounds, CAVS__HASH_START);
    end_pair(trains, rounds, d, m, h);
}

/* ---- memory that runs out at one rank ---- */

enum { CHECKPOINTS = 160 };

/* A line of several pieces. */
static FILE *line;
static char *said;
static size_t said_length;

static void begin_line(void)
{
    line = open_memstream(&said, &said_length);
    check(line ? CAVS_OK : CAVS_ENOMEM, "line");
}

static void end_line(void)
{
    fclose(line);
    say(said);
    free(said);
}

/* Whichever allocation of rank 1 fails, all ranks hear of it, and go on; some are not needed. */
static void try_saving(struct cavs_session_options o, const char *path)
{
    const struct zoo_entry *z = zoo_find("tree_lstm_bench");
    struct cavs_model *m = zoo_model(z);
    int n, rank = cavs_runtime_rank(runtime);
    struct cavs_data *d = make_data(z, m, &n);
    struct cavs_session *s;

    check(cavs_session_create(runtime, m, &o, &s), "session");
    train(s, d, n);
    begin_line();
    fprintf(line, "rank %d:", rank);
    for (int i = 1; i <= CHECKPOINTS; i++) {
        int rc;

        failing_alloc_begin(rank == 1 ? i : 0, false);
        rc = cavs_session_checkpoint(s, path, NULL);
        failing_alloc_end();
        fprintf(line, " %s", rc == CAVS_ENOMEM ? "refused" : rc ? cavs_error_message() : "kept");
    }
    end_line();
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

/* ---- a rank that makes other sessions, or gives one other values ---- */

static void tell(int rc)
{
    say(rc == 0 ? "accepted" : cavs_error_message());
}

/* Rank 1 has the second model, and the second options. */
static void try_session(struct cavs_model *m, const struct cavs_session_options *o)
{
    struct cavs_session *s = NULL;

    tell(cavs_session_create(runtime, m, o, &s));
    cavs_session_destroy(s);
}

/* Of the first parameter; values: all of them. */
static int set_all(struct cavs_session *s, const struct cavs_model *m, float value)
{
    const struct cavs_param *p = cavs_model_param_at(m, 0);
    int n = cavs_param_rows(p) * cavs_param_cols(p);
    float *values = malloc((size_t)n * sizeof *values);
    int rc;

    check(values ? 0 : CAVS_ENOMEM, "values");
    for (int i = 0; i < n; i++)
        values[i] = value;
    rc = cavs_session_set_param(s, p, values);
    free(values);
    return rc;
}

static void give(struct cavs_session_options o)
{
    const struct zoo_entry *z = zoo_find("tree_lstm_bench");
    struct cavs_model *m = zoo_model(z);
    float rank = (float)cavs_runtime_rank(runtime);
    const int both[] = {0, 1};
    struct cavs_session *s;
    int n;
    struct cavs_data *d = make_data(z, m, &n);

    check(cavs_session_create(runtime, m, &o, &s), "session");
    for (int same = 0; same < 2; same++) {
        check(set_all(s, m, same ? 0.5f : rank), "values");
        tell(cavs_session_train(s, d, both, 2));
    }
    cavs_session_destroy(s);
    check(cavs_session_create(runtime, m, &o, &s), "session");
    check(cavs_session_set_lr(s, 0.5f + rank), "rate");
    tell(cavs_session_train(s, d, both, 2));
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void try_unlike(struct cavs_session_options o)
{
    int rank = cavs_runtime_rank(runtime);
    struct cavs_model *m = two_products(WIDTH), *other = two_products(WIDTH + 1 + rank);
    struct cavs_session_options faster = o, finer = o;

    faster.lr += (float)rank;
    finer.shards += rank;
    try_session(m, &faster);
    try_session(m, &finer);
    try_session(other, &o);
    try_session(m, &o);
    give(o);
    cavs_model_destroy(m);
    cavs_model_destroy(other);
}

/* ---- a rank that has other samples ---- */

/* As many, of as many vertices: rank 1 has them in another order. */
static void try_strangers(struct cavs_session_options o)
{
    const struct zoo_entry *z = zoo_find("tree_lstm_bench");
    struct cavs_model *m = zoo_model(z);
    struct cavs_data *d;
    struct cavs_session *s;
    const int both[] = {0, 1};

    check(cavs_data_create(m, &d), "data");
    for (int i = 0; i < 2; i++) {
        struct sample *one =
            sample_make(m, z->samples[0], (uint64_t)(i == cavs_runtime_rank(runtime)));

        check(sample_add(one, d), "sample");
        sample_free(one);
    }
    check(cavs_session_create(runtime, m, &o, &s), "session");
    say(cavs_session_train(s, d, both, 2) == CAVS_ESTATE ? cavs_error_message() : "accepted");
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

/* ---- a rank that makes another call ---- */

/* A pair after the other: rank 0 makes the first call of it, rank 1 the second. */
static void try_mixed(struct cavs_session_options o)
{
    const struct zoo_entry *z = zoo_find("tree_lstm_bench");
    struct cavs_model *m = zoo_model(z);
    int n, all[] = {0, 1}, first = cavs_runtime_rank(runtime);
    struct cavs_data *d = make_data(z, m, &n);
    struct cavs_session *s;
    double sum, count;

    check(cavs_session_create(runtime, m, &o, &s), "session");
    check(cavs_session_train(s, d, all, 2), "train");
    for (int i = 0; i < 6; i++) {
        int call = (i + first + first * (i / 3)) % 3, rc;

        if (call == 0)
            rc = cavs_runtime_same(runtime, "a name", "its value");
        else if (call == 1)
            rc = cavs_session_train(s, d, all, 2);
        else
            rc = cavs_session_metric(s, "loss", &sum, &count);
        printf("%d: %s\n", call, rc == CAVS_ESTATE ? cavs_error_message() : "accepted");
    }
    check(cavs_runtime_same(runtime, "a name", "its value"), "the same call");
    check(cavs_session_train(s, d, all, 2), "train");
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

/* ---- packed data that are larger than what a rank may have in memory ---- */

static void pack(const char *path, int samples)
{
    struct cavs_model *m = wide_rows_model();

    check(m ? wide_rows_pack(m, path, samples) : CAVS_ENOMEM, "pack");
    cavs_model_destroy(m);
}

static void try_packed(struct cavs_session_options o, const char *path)
{
    struct cavs_model *m = wide_rows_model();
    struct cavs_session *s;
    struct cavs_data *d;
    double sum, count;
    int before, n, *order;

    check(m ? cavs_session_create(runtime, m, &o, &s) : CAVS_ENOMEM, "session");
    before = wide_rows_status("VmHWM");
    check(cavs_data_open(m, path, &d), "open");
    n = cavs_data_size(d);
    order = malloc((size_t)n * sizeof *order);
    check(order ? CAVS_OK : CAVS_ENOMEM, "order");
    wide_rows_shuffle(order, n);
    for (int i = 0; i < n; i += 64)
        check(cavs_session_train(s, d, order + i, n - i < 64 ? n - i : 64), "train");
    check(cavs_session_metric(s, "loss", &sum, &count), "loss");
    printf("loss %.9g\nrank %d: %d MB\n", sum, cavs_runtime_rank(runtime),
           wide_rows_status("VmHWM") - before);
    free(order);
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void print_bound(void)
{
    char text[256] = "";

    for (unsigned i = 0; i < starpu_worker_get_count(); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %u",
                 starpu_worker_get_bindid(i));
    printf("rank %d:%s\n", cavs_runtime_rank(runtime), text);
}

static void print_gpus(void)
{
    char text[256] = "";
    int last = -1;

    for (int i = 0; i < (int)starpu_worker_get_count(); i++) {
        if (starpu_worker_get_type(i) != STARPU_CUDA_WORKER || starpu_worker_get_devid(i) == last)
            continue;
        last = starpu_worker_get_devid(i);
        snprintf(text + strlen(text), sizeof text - strlen(text), " %d", last);
    }
    printf("rank %d:%s\n", cavs_runtime_rank(runtime), text);
}

static void print_limit(void)
{
    const char *limit = getenv("OMPI_MCA_btl_vader_eager_limit");

    printf("rank %d: %s\n", cavs_runtime_rank(runtime), limit ? limit : "as it is");
}

/* Rank 1 calls exit() where the others wait for it. */
static void try_leaving(bool all)
{
    if (all)
        exit(EXIT_SUCCESS);
    if (cavs_runtime_rank(runtime) == 1)
        exit(EXIT_FAILURE);
    cavs_runtime_same(runtime, "a name", "its value");
}

/* Whichever allocation of rank 1 fails, all ranks are refused a runtime, and make the next.  The
 * first one comes before a process finds the others. */
static void try_opening(const struct cavs_runtime_options *o)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK") ?: getenv("PMI_RANK");
    bool fails = rank && atoi(rank) == 1;

    begin_line();
    fprintf(line, "rank %s:", rank);
    for (int i = 1; i < 12; i++) {
        int rc;

        failing_alloc_begin(fails && i > 1 ? i : 0, false);
        rc = cavs_runtime_create(o, &runtime);
        failing_alloc_end();
        fprintf(line, " %s;", rc ? cavs_error_message() : "made");
        if (rc == 0)
            check(cavs_runtime_destroy(runtime), "end");
    }
    end_line();
    exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
    struct cavs_runtime_options ro = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options o = cavs_session_defaults();

    const bool bound = argc > 2 && strcmp(argv[2], "bound") == 0,
               gpus = argc > 2 && strcmp(argv[2], "gpus") == 0;

    ro.workers = bound ? atoi(argv[1]) : 1;
    ro.cuda = gpus ? atoi(argv[1]) : 0;
    if (argc > 2 && strcmp(argv[2], "opening") == 0)
        try_opening(&ro);
    check(cavs_runtime_create(&ro, &runtime), "runtime");
    if (bound)
        print_bound();
    if (gpus)
        print_gpus();
    if (argc > 2 && strcmp(argv[2], "limit") == 0)
        print_limit();
    o.shards = argc > 1 ? atoi(argv[1]) : 4;
    for (int rule = 0; rule < CAVS_OPTIMIZERS && argc < 3; rule++) {
        o.optimizer = (enum cavs_optimizer)rule;
        o.clip = rule % 2 ? 0.5f : 0;
        try(zoo_find("tree_lstm_bench"), o, cavs_optimizer_name(o.optimizer));
    }
    o.optimizer = CAVS_ADAM;
    o.clip = 1;
    for (int i = 0; zoo_at(i); i++) {
        if (argc < 3 || strcmp(zoo_at(i)->name, argv[2]) == 0)
            try(zoo_at(i), o, "all");
    }
    if (argc < 3 || strcmp(argv[2], "tape") == 0) {
        try_tape(o, "clipped");
        o.clip = 0;
        o.optimizer = CAVS_SGD;
        try_tape(o, "sgd");
    }
    if (argc > 3 && strcmp(argv[2], "random") == 0)
        try_random(argv[3], o);
    if (argc > 2 && strcmp(argv[2], "sharing") == 0)
        try_sharing(o);
    for (int sharing = 0; sharing < 2 && argc > 2 && strcmp(argv[2], "turns") == 0; sharing++)
        try_turns(o, sharing);
    if (argc > 2 && strcmp(argv[2], "copies") == 0)
        try_copies(o);
    if (argc > 2 && strcmp(argv[2], "strangers") == 0)
        try_strangers(o);
    if (argc > 2 && strcmp(argv[2], "unlike") == 0)
        try_unlike(o);
    if (argc > 2 && strcmp(argv[2], "mixed") == 0)
        try_mixed(o);
    if (argc > 2 && strcmp(argv[2], "leaving") == 0)
        try_leaving(argc > 3);
    if (argc > 3 && strcmp(argv[2], "saving") == 0)
        try_saving(o, argv[3]);
    if (argc > 4 && strcmp(argv[2], "pack") == 0)
        pack(argv[3], atoi(argv[4]));
    if (argc > 3 && strcmp(argv[2], "packed") == 0)
        try_packed(o, argv[3]);
    check(cavs_runtime_destroy(runtime), "end");
    return 0;
}
