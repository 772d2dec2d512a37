/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_resume.c - a session that resumes from a checkpoint goes on as the one that wrote it, to the
 * last bit; files that will not do are refused with a reason, and change nothing.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/trial.h"

enum { SAMPLES = 6, BATCH = 4, BEFORE = 3, AFTER = 4 };

struct scene {
    char folder[64], path[80];
};

static int scene_open(void **state)
{
    struct scene *a = calloc(1, sizeof *a);
    *state = a;
    snprintf(a->folder, sizeof a->folder, "/tmp/cavs-resume-XXXXXX");
    if (!mkdtemp(a->folder))
        return -1;
    snprintf(a->path, sizeof a->path, "%s/checkpoint", a->folder);
    return 0;
}

static int scene_close(void **state)
{
    struct scene *a = *state;
    unlink(a->path);
    rmdir(a->folder);
    free(a);
    return 0;
}

/* Words that are looked up, products that are merged into one, a frozen parameter, dropout. */
static struct cavs_model *build(void)
{
    enum { WIDTH = 5 };
    struct cavs_model *m = NULL;
    check_ok(cavs_model_create(&m));
    struct cavs_param *still = zoo_weight(m, "still", 1, WIDTH);
    struct cavs_stage *s = cavs_stage_create(m, "chain", WIDTH);
    struct cavs_function *f = cavs_function_create(s, "cell");
    struct cavs_symbol *x = cavs_lookup(zoo_weight(m, "words", 9, WIDTH), cavs_pull_ids(f, "word"));
    struct cavs_symbol *last = cavs_gather(f, 0);
    struct cavs_symbol *a = cavs_matmul(last, zoo_weight(m, "A", WIDTH, WIDTH));
    struct cavs_symbol *b = cavs_matmul(last, zoo_weight(m, "B", WIDTH, WIDTH));
    struct cavs_symbol *h = cavs_add(cavs_mul(cavs_sigmoid(a), cavs_dropout(x, 0.3f)),
                                     cavs_tanh(cavs_add(b, cavs_use(f, still))));
    cavs_param_freeze(still);
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    f = cavs_function_create(cavs_stage_over(m, "top", s, CAVS_ALL_VERTICES), "top");
    h = cavs_layer_norm(cavs_pull_from(f, s, "h", NULL), zoo_weight(m, "gain", 1, WIDTH), NULL);
    cavs_loss(f, "loss", cavs_sum(cavs_square(h)), cavs_pull_ids(f, "where"));
    cavs_metric(f, "mean", cavs_mean(h), NULL);
    check_ok(cavs_model_finish(m));
    return m;
}

static void open_trial(struct trial *t)
{
    static const char *const texts[SAMPLES] = {"chain:3", "single",  "chain:8",
                                               "empty",   "chain:5", "chain:4"};
    trial_open(t, build(), texts, SAMPLES, NULL);
}

static struct cavs_session_options options_of(enum cavs_optimizer optimizer)
{
    struct cavs_session_options o = cavs_session_defaults();
    o.optimizer = optimizer;
    o.shards = 3;
    o.seed = 8;
    o.clip = 0.7f;
    o.mean = true;
    o.weight_decay = 0.01f;
    return o;
}

static void train(struct trial *t, struct cavs_session *s, int from, int to)
{
    for (int step = from; step < to; step++) {
        int batch[BATCH];
        for (int i = 0; i < BATCH; i++)
            batch[i] = (step * BATCH + i * 5) % SAMPLES;
        check_ok(cavs_session_train(s, t->data, batch, step % 2 ? BATCH : BATCH - 1));
    }
}

static void check_same_params(const struct cavs_model *m, struct cavs_session *a,
                              struct cavs_session *b)
{
    for (int i = 0; i < cavs_model_param_count(m); i++) {
        const struct cavs_param *p = cavs_model_param_at(m, i);
        float x[64], y[64];
        size_t n = (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
        assert_true(n <= 64);
        check_ok(cavs_session_get_param(a, p, x));
        check_ok(cavs_session_get_param(b, p, y));
        if (memcmp(x, y, n * sizeof *x) != 0)
            fail_msg("%s differs", cavs_param_name(p));
    }
}

static void check_same_metrics(struct cavs_session *a, struct cavs_session *b)
{
    static const char *const names[] = {"loss", "mean"};
    for (int i = 0; i < 2; i++) {
        double x[2], y[2];
        check_ok(cavs_session_metric(a, names[i], &x[0], &x[1]));
        check_ok(cavs_session_metric(b, names[i], &y[0], &y[1]));
        assert_memory_equal(x, y, sizeof x);
        assert_true(x[1] > 0);
    }
}

static void check_optimizer(struct scene *a, enum cavs_optimizer optimizer)
{
    struct cavs_session_options o = options_of(optimizer), other = o;
    struct trial t;
    char *note = NULL;
    open_trial(&t);
    struct cavs_session *s = trial_session(&t, &o);
    train(&t, s, 0, BEFORE);
    check_ok(cavs_session_set_lr(s, 0.003f));
    check_ok(cavs_session_checkpoint(s, a->path, "three batches, \"so far\""));
    train(&t, s, BEFORE, BEFORE + AFTER);
    other.seed = 99; /* and another learning rate: both come from the file */
    other.lr = 1;
    struct cavs_session *resumed = trial_session(&t, &other);
    train(&t, resumed, 1, 2); /* nothing of this is to be left */
    check_ok(cavs_session_resume(resumed, a->path, &note));
    assert_string_equal(note, "three batches, \"so far\"");
    free(note);
    train(&t, resumed, BEFORE, BEFORE + AFTER);
    check_same_params(t.model, s, resumed);
    check_same_metrics(s, resumed);
    cavs_session_destroy(resumed);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void resumed_training_is_uninterrupted_training(void **state)
{
    for (int optimizer = 0; optimizer < CAVS_OPTIMIZERS; optimizer++) {
        trial_note("optimizer %s", cavs_optimizer_name(optimizer));
        check_optimizer(*state, (enum cavs_optimizer)optimizer);
    }
    trial_note("%s", "");
}

/* Sums of other shards are added up in another order; nothing else changes. */
static void shards_may_differ(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = options_of(CAVS_ADAM);
    struct trial t;
    double want[2], got[2];
    open_trial(&t);
    struct cavs_session *s = trial_session(&t, &o);
    train(&t, s, 0, BEFORE);
    check_ok(cavs_session_checkpoint(s, a->path, NULL));
    for (o.shards = 1; o.shards <= 5; o.shards += 4) {
        struct cavs_session *resumed = trial_session(&t, &o);
        check_ok(cavs_session_resume(resumed, a->path, NULL));
        check_same_params(t.model, s, resumed);
        check_ok(cavs_session_metric(s, "loss", &want[0], &want[1]));
        check_ok(cavs_session_metric(resumed, "loss", &got[0], &got[1]));
        assert_true(got[1] == want[1] && got[0] - want[0] < 1e-12 * want[0] &&
                    want[0] - got[0] < 1e-12 * want[0]);
        cavs_session_destroy(resumed);
    }
    cavs_session_destroy(s);
    trial_close(&t);
}

static void checkpoint_is_a_model_file(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = options_of(CAVS_ADAM);
    struct trial t;
    open_trial(&t);
    struct cavs_session *s = trial_session(&t, &o);
    train(&t, s, 0, BEFORE);
    check_ok(cavs_session_checkpoint(s, a->path, NULL));
    o.inference = true;
    struct cavs_session *other = trial_session(&t, &o);
    check_ok(cavs_session_load(other, a->path));
    check_same_params(t.model, s, other);
    cavs_session_destroy(other);
    cavs_session_destroy(s);
    trial_close(&t);
}

static int entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void checkpoint_replaces_the_file_and_leaves_nothing_else(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = options_of(CAVS_MOMENTUM);
    struct trial t;
    char *note = NULL;
    open_trial(&t);
    struct cavs_session *s = trial_session(&t, &o);
    check_ok(cavs_session_checkpoint(s, a->path, "one"));
    check_ok(cavs_session_checkpoint(s, a->path, "two"));
    check_ok(cavs_session_resume(s, a->path, &note));
    assert_string_equal(note, "two");
    assert_int_equal(entries(a->folder), 1);
    free(note);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* Whatever is refused leaves the session as it was. */
static void check_refused_resume(struct scene *a, struct trial *t, struct cavs_session *s, int code,
                                 const char *says)
{
    struct cavs_session_options o = options_of(CAVS_ADAM);
    struct cavs_session *fresh = trial_session(t, &o);
    char *note = (char *)"untouched";
    check_refused(cavs_session_resume(s, a->path, &note), code, says);
    assert_string_equal(note, "untouched");
    train(t, s, 0, 2);
    train(t, fresh, 0, 2);
    check_same_params(t->model, s, fresh);
    cavs_session_destroy(fresh);
}

static void shorten(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    fclose(f);
    assert_int_equal(truncate(path, n - 9), 0); /* within the metrics, which come last */
}

static void files_that_will_not_do(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = options_of(CAVS_SGD);
    struct trial t;
    open_trial(&t);
    struct cavs_session *sgd = trial_session(&t, &o);
    o = options_of(CAVS_ADAM);
    struct cavs_session *adam = trial_session(&t, &o);
    check_refused_resume(a, &t, adam, CAVS_EIO, a->path);
    cavs_session_destroy(adam);
    train(&t, sgd, 0, 2);
    check_ok(cavs_session_save(sgd, a->path));
    adam = trial_session(&t, &o);
    check_refused_resume(a, &t, adam, CAVS_EFORMAT, "not a checkpoint");
    cavs_session_destroy(adam);
    check_ok(cavs_session_checkpoint(sgd, a->path, NULL));
    adam = trial_session(&t, &o);
    check_refused_resume(a, &t, adam, CAVS_EINVAL, "SGD");
    train(&t, adam, 0, 1);
    check_ok(cavs_session_checkpoint(adam, a->path, NULL));
    cavs_session_destroy(adam);
    shorten(a->path);
    adam = trial_session(&t, &o);
    check_refused_resume(a, &t, adam, CAVS_EFORMAT, "cavs.metrics");
    cavs_session_destroy(adam);
    cavs_session_destroy(sgd);
    trial_close(&t);
}

static void inference_has_no_checkpoints(void **state)
{
    struct scene *a = *state;
    struct cavs_session_options o = options_of(CAVS_SGD);
    struct trial t;
    o.inference = true;
    open_trial(&t);
    struct cavs_session *s = trial_session(&t, &o);
    check_refused(cavs_session_checkpoint(s, a->path, NULL), CAVS_ESTATE, "inference");
    check_refused(cavs_session_resume(s, a->path, NULL), CAVS_ESTATE, "inference");
    check_refused(cavs_session_checkpoint(s, NULL, NULL), CAVS_EINVAL, "path");
    check_refused(cavs_session_resume(NULL, a->path, NULL), CAVS_EINVAL, "session");
    cavs_session_destroy(s);
    o.inference = false;
    s = trial_session(&t, &o);
    check_refused(cavs_session_checkpoint(s, a->path, "\xff\xfe"), CAVS_EINVAL, "UTF-8");
    check_refused(cavs_session_checkpoint(s, "/nonexistent/folder/file", NULL), CAVS_EIO,
                  "/nonexistent/folder/file");
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- the mean over a batch ------------------------------------------------------------------- */

/* Each batch as if scale had been 1 / its number of samples. */
static void mean_divides_by_the_samples_of_each_batch(void **state)
{
    struct cavs_session_options o = options_of(CAVS_SGD);
    struct trial t;
    (void)state;
    o.clip = 0;
    open_trial(&t);
    for (int n = 1; n <= SAMPLES; n++) {
        static const int batch[] = {0, 2, 1, 5, 4, 3};
        o.mean = true;
        o.scale = 0.5f;
        struct cavs_session *mean = trial_session(&t, &o);
        o.mean = false;
        o.scale = 0.5f / (float)n;
        struct cavs_session *scaled = trial_session(&t, &o);
        check_ok(cavs_session_train(mean, t.data, batch, n));
        check_ok(cavs_session_train(scaled, t.data, batch, n));
        check_same_params(t.model, mean, scaled);
        cavs_session_destroy(mean);
        cavs_session_destroy(scaled);
    }
    trial_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(resumed_training_is_uninterrupted_training, scene_open,
                                        scene_close),
        cmocka_unit_test_setup_teardown(shards_may_differ, scene_open, scene_close),
        cmocka_unit_test_setup_teardown(checkpoint_is_a_model_file, scene_open, scene_close),
        cmocka_unit_test_setup_teardown(checkpoint_replaces_the_file_and_leaves_nothing_else,
                                        scene_open, scene_close),
        cmocka_unit_test_setup_teardown(files_that_will_not_do, scene_open, scene_close),
        cmocka_unit_test_setup_teardown(inference_has_no_checkpoints, scene_open, scene_close),
        cmocka_unit_test(mean_divides_by_the_samples_of_each_batch),
    };
    trial_compile(false);
    return cmocka_run_group_tests_name("resume", tests, trial_runtime_up, trial_runtime_down);
}
