/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_allocation.c - whichever allocation fails, nothing else does.
 *
 * The life of a model is lived once undisturbed, and then again and again with the n-th allocation
 * failing. The call in which that happens either does without, or gives a negative code and a
 * message that is true of it; made once more it succeeds, and in the end all numbers are those of
 * the undisturbed life, bit by bit. Where all allocations fail from the n-th on, the first call
 * that fails ends that life. No life leaves a block behind.
 *
 * Every n is tried if CAVS_TEST_LONG is set, else as many as a few seconds allow.
 */
#include "tests/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/failing_alloc.h"

enum { MOST_NUMBERS = 65536, QUICK = 24 };

struct life {
    const struct zoo_entry *zoo;
    struct sample *samples[ZOO_SAMPLES];
    int nsamples, order[ZOO_SAMPLES];
    bool again;                 /* a call that failed is made once more */
    struct cavs_model *pattern; /* whose samples they are */
    struct cavs_model *model;
    struct cavs_data *data, *packed;
    struct cavs_session *session;
    int n;
    double *numbers; /* [MOST_NUMBERS] all results, in order */
};

/* In memory, if possible: files are flushed to disk before they get their names. */
static char folder[64] = "/dev/shm/cavs-allocation-XXXXXX", model_file[96], packed_file[96];

/* ---- steps ---- */

static void keep(struct life *l, double value)
{
    assert_true(l->n < MOST_NUMBERS);
    l->numbers[l->n++] = value;
}

static int declare(struct life *l)
{
    int rc;

    cavs_model_destroy(l->model);
    l->model = NULL;
    rc = cavs_model_create(&l->model);
    if (rc)
        return rc;
    l->zoo->build(l->model);
    return cavs_model_finish(l->model);
}

static int add_samples(struct life *l, struct cavs_data *d)
{
    int rc = 0;

    for (int i = cavs_data_size(d); i < l->nsamples && !rc; i++) {
        l->samples[i]->model = l->model; /* stages of the same numbers */
        rc = sample_add(l->samples[i], d);
        l->samples[i]->model = l->pattern;
        assert_int_equal(cavs_data_size(d), i + !rc);
    }
    return rc;
}

static int make_data(struct life *l)
{
    int rc = l->data ? 0 : cavs_data_create(l->model, &l->data);

    return rc ? rc : add_samples(l, l->data);
}

static int make_session(struct life *l)
{
    struct cavs_session_options o = cavs_session_defaults();

    o.optimizer = CAVS_ADAM;
    o.shards = 3;
    o.clip = 1;
    o.seed = 7;
    return cavs_session_create(trial_runtime, l->model, &o, &l->session);
}

static int read_metrics(struct life *l)
{
    int rc = 0, n = l->n;

    for (int i = 0; i < l->model->nmetrics && !rc; i++) {
        double sum = 0, count = 0;

        rc = cavs_session_metric(l->session, l->model->metrics[i]->name, &sum, &count);
        keep(l, sum);
        keep(l, count);
    }
    l->n = rc ? n : l->n;
    return rc;
}

typedef int run_batch(struct cavs_session *, const struct cavs_data *, const int *, int);

static int batch(struct life *l, run_batch *run, const struct cavs_data *d, int first, int n)
{
    int rc = cavs_session_reset_metrics(l->session);

    if (!rc)
        rc = run(l->session, d, l->order + first, n);
    return rc ? rc : read_metrics(l);
}

/* The second is larger than the first. */
static int train_some(struct life *l)
{
    return batch(l, cavs_session_train, l->data, 0, 2);
}

static int train_all(struct life *l)
{
    return batch(l, cavs_session_train, l->data, 0, l->nsamples);
}

static int evaluate(struct life *l)
{
    return batch(l, cavs_session_evaluate, l->data, 1, l->nsamples - 1);
}

/* By a second session with the same parameters. */
static int evaluate_shared(struct life *l)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_session *first = l->session, *second = NULL;
    int rc;

    o.inference = true;
    o.shards = 3;
    rc = cavs_session_create_with(trial_runtime, l->model, &o, first, &second);
    if (rc)
        return rc;
    l->session = second;
    rc = evaluate(l);
    l->session = first;
    cavs_session_destroy(second);
    return rc;
}

static size_t param_size(const struct cavs_param *p)
{
    return (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
}

static void keep_floats(struct life *l, const float *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += values[i] * (double)(1 + i % 7);
    keep(l, sum);
}

static int gradient(struct life *l)
{
    float values[4096];
    int rc = cavs_session_gradient(l->session, l->data, l->order, l->nsamples);

    for (int i = 0; i < cavs_model_param_count(l->model) && !rc; i++) {
        const struct cavs_param *p = cavs_model_param_at(l->model, i);

        assert_true(param_size(p) <= 4096);
        rc = cavs_session_get_gradient(l->session, p, values);
        keep_floats(l, values, rc ? 0 : param_size(p));
    }
    return rc;
}

static int output(struct life *l)
{
    static float rows[65536];
    const struct cavs_stage *stage = l->model->stages[l->model->nstages - 1];
    const struct cavs__channel *c = stage->nchannels ? stage->channels[0] : NULL;
    int64_t n = c ? cavs_data_vertices(l->data, stage) * c->width : 0;
    int rc;

    assert_true(n <= 65536);
    if (!c)
        return 0;
    rc = batch(l, cavs_session_evaluate, l->data, 0, 1);
    if (!rc)
        rc = cavs_session_output(l->session, l->data, l->order, l->nsamples, stage, c->name, rows);
    if (!rc)
        keep_floats(l, rows, (size_t)n);
    return rc ? rc : read_metrics(l);
}

static int parameters(struct life *l)
{
    float values[4096];
    int rc = 0;

    for (int i = 0; i < cavs_model_param_count(l->model) && !rc; i++) {
        const struct cavs_param *p = cavs_model_param_at(l->model, i);

        rc = cavs_session_get_param(l->session, p, values);
        keep_floats(l, values, rc ? 0 : param_size(p));
    }
    return rc;
}

static int note(struct life *l)
{
    return cavs_session_note(l->session, "words", "a b c");
}

static int save(struct life *l)
{
    return cavs_session_save(l->session, model_file);
}

static int load(struct life *l)
{
    return cavs_session_load(l->session, model_file);
}

/* The same file without a session. */
static int read_file(struct life *l)
{
    static float values[4096];
    struct cavs_model_file *f = NULL;
    int rc = cavs_model_file_open(model_file, &f);

    if (!rc)
        assert_string_equal(cavs_model_file_note(f, "words"), "a b c");
    for (int i = 0; i < cavs_model_file_count(f) && !rc; i++) {
        size_t n = (size_t)cavs_model_file_rows(f, i) * (size_t)cavs_model_file_cols(f, i);

        assert_true(n <= 4096);
        rc = cavs_model_file_read(f, i, values);
        keep_floats(l, values, rc ? 0 : n);
    }
    cavs_model_file_close(f);
    return rc;
}

static int checkpoint(struct life *l)
{
    return cavs_session_checkpoint(l->session, model_file, "half way");
}

static int resume(struct life *l)
{
    char *note = NULL;
    int rc = cavs_session_resume(l->session, model_file, &note);

    if (!rc)
        assert_string_equal(note, "half way");
    else
        assert_null(note);
    failing_free(note);
    return rc;
}

static int explain(struct life *l)
{
    char *text = NULL;
    int rc = cavs_session_explain(l->session, &text);

    if (!rc)
        keep(l, (double)strlen(text) > 0);
    else
        assert_null(text);
    failing_free(text);
    return rc;
}

static int pack(struct life *l)
{
    int rc = l->packed ? 0 : cavs_data_pack(l->model, packed_file, &l->packed);

    if (!rc)
        rc = add_samples(l, l->packed);
    return rc ? rc : cavs_data_note(l->packed, "words", "a b c", 6);
}

static int write_packed(struct life *l)
{
    return cavs_data_write(l->packed);
}

static int open_packed(struct life *l)
{
    cavs_data_destroy(l->packed);
    l->packed = NULL;
    return cavs_data_open(l->model, packed_file, &l->packed);
}

static int train_packed(struct life *l)
{
    return batch(l, cavs_session_train, l->packed, 0, l->nsamples);
}

static int look_into(struct life *l)
{
    struct cavs_packed *p = NULL;
    char *text = NULL;
    int rc = cavs_packed_open(packed_file, &p);
    size_t n = 0;

    if (!rc) {
        const char *note = cavs_packed_note(p, "words", &n);

        assert_non_null(note);
        assert_string_equal(note, "a b c");
        rc = cavs_packed_verify(p);
    }
    if (!rc)
        rc = cavs_packed_describe(p, &text);
    if (!rc)
        keep(l, (double)strlen(text));
    failing_free(text);
    cavs_packed_close(p);
    return rc;
}

static const struct step {
    const char *name;
    int (*go)(struct life *l);
} steps[] = {{"declare", declare},
             {"data", make_data},
             {"session", make_session},
             {"train", train_some},
             {"train more", train_all},
             {"evaluate", evaluate},
             {"share parameters", evaluate_shared},
             {"gradient", gradient},
             {"output", output},
             {"note", note},
             {"save", save},
             {"read", read_file},
             {"train", train_all},
             {"load", load},
             {"checkpoint", checkpoint},
             {"train", train_some},
             {"resume", resume},
             {"train", train_some},
             {"explain", explain},
             {"pack", pack},
             {"write", write_packed},
             {"open", open_packed},
             {"train packed", train_packed},
             {"look into", look_into},
             {"parameters", parameters}};

/* ---- lives ---- */

static void end_life(struct life *l)
{
    cavs_session_destroy(l->session);
    cavs_data_destroy(l->data);
    cavs_data_destroy(l->packed);
    cavs_model_destroy(l->model);
    l->session = NULL;
    l->data = l->packed = NULL;
    l->model = NULL;
    unlink(model_file);
    unlink(packed_file);
}

/* Bytes that the message says were wanted, rounded up as it rounds; 0: it does not say. */
static double said_bytes(const char *message)
{
    const char *at = strstr(message, "wanted ");
    char unit[6] = "";
    double number = 0;

    if (!at || sscanf(at, "wanted %lf %5s", &number, unit) != 2)
        return 0;
    return unit[0] == 'b' ? number : (number + 0.05) * (unit[0] == 'k' ? 1e3 : 1e6);
}

/* A sentence on memory that is true, also where a file could not be opened for want of it. */
static void check_failure(const struct step *step, int rc, long n)
{
    const char *message = cavs_error_message();
    double said = said_bytes(message);

    if (failing_alloc_failures() == 0)
        fail_msg("%s, allocation %ld: %d (%s: %s), but no allocation failed", step->name, n, rc,
                 cavs_strerror(rc), message);
    if (rc != CAVS_ENOMEM || !strstr(message, "memory") || strstr(message, "wanted 0") ||
        strstr(message, "(0"))
        fail_msg("%s, allocation %ld: code %d, message \"%s\"", step->name, n, rc, message);
    /* What is handed out in small pieces is asked for in blocks of this size. */
    if (said > 0 && failing_alloc_failures() == 1 && failing_alloc_wanted() < 65536 &&
        said < (double)failing_alloc_wanted())
        fail_msg("%s, allocation %ld: message \"%s\", but %zu bytes were asked for", step->name, n,
                 message, failing_alloc_wanted());
}

/* Whether it came to its end. */
static bool live(struct life *l, long n)
{
    l->n = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int at = l->n, rc;

        *(char *)cavs_error_message() = 0;
        rc = steps[i].go(l);
        if (rc)
            check_failure(&steps[i], rc, n);
        if (rc && !l->again)
            return false;
        if (rc) {
            l->n = at;
            rc = steps[i].go(l);
        }
        if (rc)
            fail_msg("%s, allocation %ld: failed once more: %d (%s)", steps[i].name, n, rc,
                     cavs_error_message());
    }
    return true;
}

/* All blocks have been freed. */
static void check_freed(long n)
{
    char text[128];
    long left = failing_alloc_left(text, sizeof text);

    if (left > 0)
        fail_msg("allocation %ld: %ld blocks are left, the first: %s", n, left, text);
}

static void compare(const struct life *l, const struct life *undisturbed, long n)
{
    assert_int_equal(l->n, undisturbed->n);
    for (int i = 0; i < l->n; i++) {
        if (memcmp(&l->numbers[i], &undisturbed->numbers[i], sizeof *l->numbers) != 0)
            fail_msg("allocation %ld: result %d is %.9g, undisturbed %.9g", n, i, l->numbers[i],
                     undisturbed->numbers[i]);
    }
}

/* Dropout, a table and stages over one another: what no model of the zoo has together. */
static void build_tagger(struct cavs_model *m)
{
    struct cavs_stage *words = cavs_stage_create(m, "words", 6);
    struct cavs_function *f = cavs_function_create(words, "cell");
    struct cavs_param *table = cavs_model_param(m, "table", 9, 5, CAVS_UNIFORM(-1, 1));
    struct cavs_symbol *x = cavs_dropout(cavs_lookup(table, cavs_pull_ids(f, "word")), 0.3f);
    struct cavs_symbol *h = cavs_tanh(cavs_add(
        cavs_matmul(x, zoo_weight(m, "W", 5, 6)),
        cavs_affine(cavs_gather(f, 0), zoo_weight(m, "U", 6, 6), zoo_weight(m, "b", 1, 6))));

    cavs_scatter(f, h);
    cavs_push(f, "h", cavs_softmax(h));
    zoo_classify(m, words, "h", 6, 3);
}

static const struct zoo_entry tagger = {
    "tagger", build_tagger, {"chain:6", "chain:9,shuffle=2", "single", "empty", "chain:3"}};

static void make_samples(struct life *l)
{
    l->pattern = zoo_model(l->zoo);
    l->nsamples = zoo_samples(l->zoo);
    for (int i = 0; i < l->nsamples; i++) {
        l->samples[i] = sample_make(l->pattern, l->zoo->samples[i], 500 + (uint64_t)i);
        l->order[i] = i;
    }
}

/* How many of n are tried. */
static long stride(long n, int quick)
{
    return getenv("CAVS_TEST_LONG") || n < quick ? 1 : n / quick;
}

/* Lives before the count warm up what is made once in a process. */
static void lives(void **state)
{
    static double numbers[2][MOST_NUMBERS];
    struct life first = {.zoo = *state, .again = true, .numbers = numbers[0]}, l;
    long n;

    make_samples(&first);
    for (int i = 0; i < 2; i++) {
        failing_alloc_begin(0, false);
        assert_true(live(&first, 0));
        n = failing_alloc_end();
        end_life(&first);
    }
    check_freed(0);
    l = first;
    l.numbers = numbers[1];
    for (long i = 1 + (long)(first.nsamples % 3); i <= n; i += stride(n, QUICK)) {
        failing_alloc_begin(i, false);
        live(&l, i);
        failing_alloc_end();
        compare(&l, &first, i);
        end_life(&l);
        check_freed(i);
    }
    l.again = false;
    for (long i = 1; i <= n; i += stride(n, QUICK / 2)) {
        failing_alloc_begin(i, true);
        assert_false(live(&l, i));
        failing_alloc_end();
        end_life(&l);
        check_freed(i);
    }
    for (int i = 0; i < first.nsamples; i++)
        sample_free(first.samples[i]);
    cavs_model_destroy(first.pattern);
}

/* A batch that failed in the middle has tasks that have seen an infinity; the next one has none. */
static void numbers_of_a_batch_that_failed_are_forgotten(void **state)
{
    struct cavs_session_options o = cavs_session_defaults();
    float infinite[64] = {INFINITY}, zeros[64] = {0};
    int order[ZOO_SAMPLES], rc, halves = 0;
    double loss;
    struct trial t;

    (void)state;
    o.check_finite = true;
    o.grain = 1e-9f; /* tasks are neither joined nor run by the caller */
    trial_open_zoo(&t, zoo_find("tree_lstm_bench"));
    for (int i = 0; i < t.nsamples; i++)
        order[i] = i;
    for (long n = 1; n == 1 || failing_alloc_failures() > 0; n++) {
        struct cavs_session *s = trial_session(&t, &o);
        const struct cavs_param *b = cavs_model_find_param(t.model, "b_class");

        check_ok(cavs_session_set_param(s, b, infinite));
        failing_alloc_begin(n, false);
        rc = cavs_session_train(s, t.data, order, t.nsamples);
        failing_alloc_end();
        if (rc == CAVS_ENOMEM) {
            halves += cavs_session_metric(s, "loss", &loss, NULL) == CAVS_ESTATE;
            check_ok(cavs_session_set_param(s, b, zeros));
            check_ok(cavs_session_train(s, t.data, order, t.nsamples));
        }
        cavs_session_destroy(s);
    }
    assert_int_equal(rc, CAVS_ENUMERIC);
    assert_true(halves > 0);
    trial_close(&t);
}

static int up(void **state)
{
    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/cavs-allocation-XXXXXX");
        if (!mkdtemp(folder))
            return -1;
    }
    snprintf(model_file, sizeof model_file, "%s/model", folder);
    snprintf(packed_file, sizeof packed_file, "%s/packed", folder);
    trial_compile(false);
    return trial_runtime_up(state);
}

static int down(void **state)
{
    rmdir(folder);
    return trial_runtime_down(state);
}

static const struct zoo_entry *entry_at(int i)
{
    static const char *const names[] = {
        "rnn",  "tree_fc_cavs", "tree_lstm_nary", "encoder_decoder", "each_attention",
        "both", "wide",         "lookers",        "relations"};

    if (i == 0)
        return &tagger;
    return zoo_find(names[i - 1]);
}

enum { MODELS = 10, QUICK_MODELS = 8 };

static const char *name_at(int i)
{
    return entry_at(i)->name;
}

static void *state_at(int i)
{
    return (void *)entry_at(i);
}

/* With a name: that test alone. */
int main(int argc, char **argv)
{
    int n = getenv("CAVS_TEST_LONG") ? MODELS : QUICK_MODELS, failed;
    struct CMUnitTest *of_models = trial_tests(n, name_at, lives, state_at);
    struct CMUnitTest tests[MODELS + 1] = {
        cmocka_unit_test(numbers_of_a_batch_that_failed_are_forgotten)};

    memcpy(tests + 1, of_models, (size_t)n * sizeof *tests);
    free(of_models);
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    failed = _cmocka_run_group_tests("allocation", tests, (size_t)n + 1, up, down);
    return failed;
}
