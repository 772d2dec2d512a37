/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_determinism.c - the same seed gives the same bits after training, whatever the workers and
 * the scheduler; and a long training does not grow.
 *
 * StarPU is started anew for every configuration, each in a child process of its own, which sends
 * a hash of all parameters back through a pipe.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/random.h"
#include "tests/sanitized.h"
#include "tests/skip.h"
#include "tests/trial.h"

#ifdef __SANITIZE_THREAD__ /* which makes all of it ten times slower */
enum { SAMPLES = 48, BATCH = 16, EPOCHS = 1 };
#else
enum { SAMPLES = 48, BATCH = 16, EPOCHS = 3 };
#endif

struct configuration {
    const char *model;
    int workers;
    const char *scheduler;
    enum cavs_policy policy;
    int shards;
    uint64_t seed;
    float grain;
    enum cavs_precision precision;
    bool callers; /* batches of this size are computed by the calling thread */
};

/* What a child has to say. */
struct answer {
    uint64_t hash;
    int64_t tasks;
    int rc;
    char message[256];
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

static int hash_params(struct cavs_session *s, const struct cavs_model *m, uint64_t *hash)
{
    int rc = 0;
    for (int i = 0; i < cavs_model_param_count(m) && !rc; i++) {
        const struct cavs_param *p = cavs_model_param_at(m, i);
        size_t size = (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p) * sizeof(float);
        float *values = malloc(size);
        rc = values ? cavs_session_get_param(s, p, values) : CAVS_ENOMEM;
        *hash = hash_bytes(*hash, values, rc ? 0 : size);
        free(values);
    }
    return rc;
}

static int fill(struct cavs_data *d, const struct cavs_model *m, const char *model)
{
    bool chains = strstr(model, "chain") != NULL;
    int rc = 0;
    for (int i = 0; i < SAMPLES && !rc; i++) {
        char text[64];
        snprintf(text, sizeof text, chains ? "chain:%d" : "random:%d,kinds=2,seed=%d",
                 1 + i * 7 % 30, i + 1);
        struct sample *s = sample_make(m, text, (uint64_t)i);
        rc = sample_add(s, d);
        sample_free(s);
    }
    return rc;
}

static int train(struct cavs_session *s, const struct cavs_data *d, int epochs)
{
    int rc = 0, batch[BATCH];
    for (int step = 0; step < epochs * SAMPLES / BATCH && !rc; step++) {
        for (int i = 0; i < BATCH; i++)
            batch[i] = (step * BATCH + i * 5) % SAMPLES;
        rc = cavs_session_train(s, d, batch, BATCH);
    }
    return rc ? rc : cavs_session_wait(s);
}

/* Everything from starting StarPU to stopping it; adds to the hash. tasks: how many were
 * submitted. */
static int train_and_hash(const struct configuration *c, uint64_t *hash, int64_t *tasks)
{
    struct cavs_stats stats = {0};
    struct cavs_runtime_options ro = CAVS_RUNTIME_DEFAULTS;
    struct cavs_session_options so = cavs_session_defaults();
    struct cavs_model *m = zoo_model(zoo_find(c->model));
    struct cavs_runtime *rt = NULL;
    struct cavs_session *s = NULL;
    struct cavs_data *d = NULL;
    ro.workers = c->workers;
    ro.scheduler = c->scheduler;
    ro.leave_to_workers = !c->callers;
    so.optimizer = CAVS_ADAM;
    so.clip = 1;
    so.lr = 0.01f;
    so.policy = c->policy;
    so.shards = c->shards;
    so.seed = c->seed;
    so.grain = c->grain;
    so.precision = c->precision;
    int rc = cavs_runtime_create(&ro, &rt);
    if (!rc)
        rc = cavs_data_create(m, &d);
    if (!rc)
        rc = fill(d, m, c->model);
    if (!rc)
        rc = cavs_session_create(rt, m, &so, &s);
    if (!rc)
        rc = train(s, d, EPOCHS);
    if (!rc)
        rc = hash_params(s, m, hash);
    cavs_session_stats(s, &stats);
    *tasks = stats.tasks;
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_runtime_destroy(rt);
    cavs_model_destroy(m);
    return rc;
}

/* Runs work(c) in a child.  The parent never starts StarPU. */
static struct answer in_child(void (*work)(const struct configuration *c, struct answer *a),
                              const struct configuration *c)
{
    struct answer a = {.rc = -1000, .message = "the child died"};
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        a = (struct answer){.rc = 0};
        work(c, &a);
        ssize_t n = write(ends[1], &a, sizeof a);
        _exit(n == (ssize_t)sizeof a ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &a, sizeof a) != (ssize_t)sizeof a)
        a.rc = -1000;
    close(ends[0]);
    waitpid(child, &status, 0);
    if (a.rc || status)
        fail_msg("%d workers, scheduler %s: rc %d, status %d: %s", c->workers, c->scheduler, a.rc,
                 status, a.message);
    return a;
}

static void hash_work(const struct configuration *c, struct answer *a)
{
    a->hash = 0xcbf29ce484222325u;
    a->rc = train_and_hash(c, &a->hash, &a->tasks);
    snprintf(a->message, sizeof a->message, "%s", cavs_error_message());
}

static uint64_t hash_of(struct configuration c)
{
    return in_child(hash_work, &c).hash;
}

static void check_same(struct configuration c, uint64_t want)
{
    uint64_t got = hash_of(c);
    if (got != want)
        fail_msg("%s, %d workers, scheduler %s: hash %016llx, want %016llx", c.model, c.workers,
                 c.scheduler, (unsigned long long)got, (unsigned long long)want);
}

static struct configuration usual(void)
{
    return (struct configuration){"tree_lstm_bench", 1,    "lws", CAVS_POLICY_FRONTIER, 4, 1, 0,
                                  CAVS_FLOAT32,      false};
}

static void any_number_of_workers(void **state)
{
    struct configuration c = usual();
    uint64_t want = hash_of(c);
    (void)state;
    check_same(c, want); /* and the very same thing twice */
    for (c.workers = 2; c.workers <= 4; c.workers += 2)
        check_same(c, want);
}

static void the_calling_thread_instead_of_workers(void **state)
{
    struct configuration c = usual();
    uint64_t want = hash_of(c);
    (void)state;
    c.callers = true;
    for (c.workers = 1; c.workers <= 2; c.workers++)
        check_same(c, want);
}

static void any_scheduler(void **state)
{
    static const char *const schedulers[] = {"eager", "prio", "dmda", "random", "ws"};
    struct configuration c = usual();
    uint64_t want = hash_of(c);
    (void)state;
    c.workers = 2;
    for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
        c.scheduler = schedulers[i];
        check_same(c, want);
    }
}

static void any_workers_with_the_agenda(void **state)
{
    struct configuration c = usual();
    (void)state;
    c.policy = CAVS_POLICY_AGENDA;
    c.shards = 3;
    uint64_t want = hash_of(c);
    c.workers = 2;
    check_same(c, want);
}

static void default_shards_do_not_depend_on_workers(void **state)
{
    struct configuration c = usual();
    (void)state;
    c.shards = 0;
    uint64_t want = hash_of(c);
    c.workers = 3;
    check_same(c, want);
}

/* So fine a grain that eager work runs in blocks and every task with rows enough is cut. */
static void check_fine_grain(struct configuration c)
{
    uint64_t want = hash_of(c);
    c.workers = 5;
    check_same(c, want);
    /* as many as cores: a task that is given to a worker waits until that one runs */
    c.workers = 2;
    check_same(c, want);
    c.scheduler = "random";
    check_same(c, want);
}

static void any_workers_when_rows_are_cut(void **state)
{
    struct configuration c = usual();
    (void)state;
    c.grain = 1e-7f;
    c.shards = 1;
    check_fine_grain(c);
    c.model = "tree_lstm_nary";
    check_fine_grain(c);
    c.model = "chain_lstm";
    check_fine_grain(c);
    c.model = "reductions";
    check_fine_grain(c);
}

/* The cost of a task and rates are given, and so how many V_t are worth a task. */
static void shards_with_a_worker_each_have_few_tasks(void **state)
{
    struct configuration c = usual();
    struct answer one, each;
    (void)state;
    c.grain = 1e-6f;
    c.shards = 2;
    setenv("CAVS_COST", "5 40 60 80 80", 1);
    one = in_child(hash_work, &c);
    c.workers = 2;
    each = in_child(hash_work, &c);
    unsetenv("CAVS_COST");
    assert_true(each.hash == one.hash);
    assert_true(each.tasks < one.tasks); /* though updates have fences with two workers */
}

/* Enough of both for workers to write index sections and to submit tasks, side by side; more
 * shards than samples. */
static void many_workers_and_shards(void **state)
{
    struct configuration c = usual();
    (void)state;
    c.grain = 1e-7f;
    for (c.shards = 12; c.shards <= 40; c.shards += 28) {
        c.workers = 1;
        uint64_t want = hash_of(c);
        c.workers = 9;
        check_same(c, want);
    }
}

static void any_workers_in_bfloat16(void **state)
{
    struct configuration c = usual();
    (void)state;
    c.precision = CAVS_BFLOAT16;
    uint64_t want = hash_of(c);
    c.workers = 2;
    check_same(c, want);
    c.grain = 1e-7f;
    c.shards = 1;
    want = hash_of(c);
    c.workers = 5;
    check_same(c, want);
}

static void another_seed_gives_other_values(void **state)
{
    struct configuration c = usual();
    (void)state;
    uint64_t first = hash_of(c);
    c.seed = 2;
    assert_true(hash_of(c) != first);
}

/* Runtimes one after the other in one process. */
static void restart_work(const struct configuration *c, struct answer *a)
{
    struct configuration twice = *c;
    uint64_t hash[3];
    for (int i = 0; i < 3 && !a->rc; i++) {
        hash[i] = 0xcbf29ce484222325u;
        twice.workers = 1 + i % 2;
        a->rc = train_and_hash(&twice, &hash[i], &a->tasks);
    }
    if (!a->rc && (hash[0] != hash[1] || hash[0] != hash[2])) {
        a->rc = -1;
        snprintf(a->message, sizeof a->message, "three runtimes in a row gave different values");
    } else {
        snprintf(a->message, sizeof a->message, "%s", cavs_error_message());
    }
}

static void runtimes_one_after_the_other(void **state)
{
    struct configuration c = usual();
    (void)state;
    in_child(restart_work, &c);
}

/* ---- growth ---- */

static long resident_kilobytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*s %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* What malloc() has given out: finer than resident memory, where the C library tells. */
static long allocated_kilobytes(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();
    return (long)((info.uordblks + info.hblkhd) / 1024);
#else
    return 0;
#endif
}

/* Many epochs on few samples: after the first ones nothing may be added but noise. */
static int train_and_watch(struct cavs_session *s, const struct cavs_data *d, struct answer *a)
{
    enum { WARM_UP = 20, MANY = 200 };
    int rc = train(s, d, WARM_UP);
    long resident = resident_kilobytes(), allocated = allocated_kilobytes();
    if (!rc)
        rc = train(s, d, MANY);
    resident = resident_kilobytes() - resident;
    allocated = allocated_kilobytes() - allocated;
    snprintf(a->message, sizeof a->message, "%d epochs added %ld kB of %ld kB, %ld kB allocated",
             MANY, resident, resident_kilobytes(), allocated);
    return rc ? rc : resident > 2048 || allocated > 256 ? -1 : 0;
}

static void growth_work(const struct configuration *c, struct answer *a)
{
    struct cavs_runtime_options ro = {
        .workers = c->workers, .scheduler = c->scheduler, .leave_to_workers = true};
    struct cavs_session_options so = cavs_session_defaults();
    struct cavs_model *m = zoo_model(zoo_find(c->model));
    struct cavs_runtime *rt = NULL;
    struct cavs_session *s = NULL;
    struct cavs_data *d = NULL;
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1); /* mallinfo2() tells of one: have workers use it, too */
#endif
    so.shards = c->shards;
    so.optimizer = CAVS_ADAM;
    so.keep_mb = 0; /* with so few samples batches come again by chance; what is kept has a limit */
    a->rc = cavs_runtime_create(&ro, &rt);
    if (!a->rc)
        a->rc = cavs_data_create(m, &d);
    if (!a->rc)
        a->rc = fill(d, m, c->model);
    if (!a->rc)
        a->rc = cavs_session_create(rt, m, &so, &s);
    if (!a->rc)
        a->rc = train_and_watch(s, d, a);
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_runtime_destroy(rt);
    cavs_model_destroy(m);
    if (getenv("CAVS_TEST_LONG"))
        fprintf(stderr, "%s\n", a->message);
}

static void memory_does_not_grow(void **state)
{
    struct configuration c = usual();
    (void)state;
#ifdef SANITIZED
    SKIP("what is freed stays resident with a sanitizer");
#endif
    c.workers = 2;
    in_child(growth_work, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_workers),
        cmocka_unit_test(the_calling_thread_instead_of_workers),
        cmocka_unit_test(any_scheduler),
        cmocka_unit_test(any_workers_with_the_agenda),
        cmocka_unit_test(default_shards_do_not_depend_on_workers),
        cmocka_unit_test(any_workers_when_rows_are_cut),
        cmocka_unit_test(shards_with_a_worker_each_have_few_tasks),
        cmocka_unit_test(any_workers_in_bfloat16),
        cmocka_unit_test(many_workers_and_shards),
        cmocka_unit_test(another_seed_gives_other_values),
        cmocka_unit_test(runtimes_one_after_the_other),
        cmocka_unit_test(memory_does_not_grow),
    };
    return cmocka_run_group_tests_name("determinism", tests, NULL, NULL);
}
