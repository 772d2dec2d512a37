/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_packed.c - packed data: what is packed and opened again is the same to the last bit, and so
 * is training on it; files that are truncated, damaged or made for something else are refused with
 * the reason.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <signal.h>
#include <unistd.h>

#include "core/data/packed.h"
#include "tests/random.h"
#include "tests/sample.h"
#include "tests/skip.h"
#include "tests/trial.h"
#include "tests/wide_rows.h"

static char folder[] = "/tmp/cavs-packed-XXXXXX", path[64];

/* ---- helpers ---- */

static int group_up(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/data", folder);
    return trial_runtime_up(state);
}

static int group_down(void **state)
{
    unlink(path);
    return rmdir(folder) != 0 || trial_runtime_down(state);
}

static int files_in_folder(void)
{
    DIR *d = opendir(folder);
    int n = -2; /* . and .. */
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* The trial's samples, over and over. */
static void fill(const struct trial *t, struct cavs_data *d, int n)
{
    for (int i = 0; i < n; i++)
        check_ok(sample_add(t->samples[i % t->nsamples], d));
}

static void pack(const struct trial *t, int n)
{
    struct cavs_data *d;
    check_ok(cavs_data_pack(t->model, path, &d));
    fill(t, d, n);
    check_ok(cavs_data_note(d, "made", "by", 2));
    check_ok(cavs_data_note(d, "made", "for a test", 10));
    check_ok(cavs_data_write(d));
    cavs_data_destroy(d);
}

/* Values of a column that samples bring, sample by sample, as records of a file have them. */
static bool same_values(const struct cavs_data *got, const struct cavs_data *want, int stage, int k)
{
    struct cavs__stage_data *g = &got->stages[stage], *w = &want->stages[stage];
    const int64_t *starts = cavs__stage_column_starts(w, k),
                  *others = cavs__stage_column_starts(g, k);
    const struct cavs__column *a = cavs__stage_column(g, k, NULL, NULL),
                              *b = cavs__stage_column(w, k, NULL, NULL);
    bool same = true;
    for (int i = 0; i < want->samples && b->n > 0 && same; i++) {
        size_t n = (size_t)(starts[i + 1] - starts[i]) * b->size;
        same = n == 0 || memcmp(cavs__values_at(got, a, others, i),
                                cavs__values_at(want, b, starts, i), n) == 0;
    }
    return same && a->n == b->n;
}

/* One number for each sample, or the count of the only function, which nobody reads. */
static bool same_array(const struct cavs__stage_data *s, const struct cavs__column *a,
                       const struct cavs__column *b)
{
    if (b == &s->count && s->stage->nfunctions == 1)
        return true;
    return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n * a->size) == 0);
}

static void check_columns(struct cavs_data *got, struct cavs_data *want)
{
    assert_int_equal(cavs_data_size(got), cavs_data_size(want));
    for (int i = 0; i < want->model->nstages; i++) {
        struct cavs__stage_data *g = &got->stages[i], *w = &want->stages[i];
        for (int k = 0; k < cavs__stage_columns(w); k++) {
            const char *name;
            struct cavs__column *a = cavs__stage_column(g, k, NULL, NULL),
                                *b = cavs__stage_column(w, k, &name, NULL);
            if (cavs__stage_column_starts(w, k) ? !same_values(got, want, i, k)
                                                : !same_array(w, a, b))
                fail_msg("stage %s: %s has %zu elements, not %zu, or differs", w->stage->name, name,
                         a->n, b->n);
        }
    }
}

/* Parameters after two epochs, hashed. */
static uint64_t train(struct trial *t, const struct cavs_data *d)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_session *s;
    uint64_t hash = 0;
    int batch[] = {0, 1, 2, 3, 4, 5, 6, 7};

    o.seed = 5;
    s = trial_session(t, &o);
    for (int i = 0; i < 4; i++)
        check_ok(cavs_session_train(s, d, batch + i % 2 * 4, 4));
    for (int i = 0; i < cavs_model_param_count(t->model); i++) {
        const struct cavs_param *p = cavs_model_param_at(t->model, i);
        size_t n = (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
        float *values = malloc(n * sizeof *values);
        check_ok(cavs_session_get_param(s, p, values));
        hash = 31 * hash + cavs__hash(CAVS__HASH_START, values, n * sizeof *values);
        free(values);
    }
    cavs_session_destroy(s);
    return hash;
}

/* ---- there and back ---- */

static void every_model_trains_on_packed_data_as_on_others(void **state)
{
    (void)state;
    for (int i = 0; i < zoo_count(); i++) {
        struct cavs_data *plain, *opened;
        struct trial t;
        trial_open_zoo(&t, zoo_at(i));
        trial_note("%s", zoo_at(i)->name);
        check_ok(cavs_data_create(t.model, &plain));
        fill(&t, plain, 8);
        pack(&t, 8);
        check_ok(cavs_data_open(t.model, path, &opened));
        check_columns(opened, plain);
        for (int large = 0; large < 2; large++) {
            opened->packed->large = large;
            memset(opened->checks->in, 0, 8 * sizeof *opened->checks->in);
            if (train(&t, opened) != train(&t, plain))
                fail_msg("%s: other parameters after training on packed data", zoo_at(i)->name);
        }
        cavs_data_destroy(plain);
        cavs_data_destroy(opened);
        trial_close(&t);
    }
    trial_note("%s", "");
    assert_int_equal(files_in_folder(), 1);
}

static void unfinished_packing_leaves_no_files(void **state)
{
    struct cavs_data *d, *opened;
    struct trial t;
    (void)state;
    trial_open_zoo(&t, zoo_at(0));
    unlink(path);
    check_ok(cavs_data_pack(t.model, path, &d));
    fill(&t, d, 3);
    cavs_data_destroy(d);
    assert_int_equal(files_in_folder(), 0);
    check_ok(cavs_data_pack(t.model, path, &d));
    check_ok(cavs_data_write(d));
    check_ok(cavs_data_open(t.model, path, &opened));
    assert_int_equal(cavs_data_size(opened), 0);
    cavs_data_destroy(opened);
    fill(&t, d, 3);
    check_ok(cavs_data_write(d));
    cavs_data_destroy(d);
    check_ok(cavs_data_open(t.model, path, &opened));
    assert_int_equal(cavs_data_size(opened), 3);
    cavs_data_destroy(opened);
    trial_close(&t);
}

static void a_sample_that_fails_is_not_packed(void **state)
{
    struct cavs_data *d, *plain, *opened;
    struct trial t;
    (void)state;
    trial_open_zoo(&t, zoo_at(0));
    check_ok(cavs_data_create(t.model, &plain));
    fill(&t, plain, 4);
    check_ok(cavs_data_pack(t.model, path, &d));
    fill(&t, d, 2);
    check_ok(cavs_data_begin(d));
    assert_true(cavs_data_end(d) < 0);
    check_ok(cavs_data_begin(d));
    check_refused(cavs_data_write(d), CAVS_ESTATE, "open");
    assert_true(cavs_data_end(d) < 0);
    for (int i = 2; i < 4; i++)
        check_ok(sample_add(t.samples[i % t.nsamples], d));
    check_ok(cavs_data_write(d));
    check_ok(cavs_data_open(t.model, path, &opened));
    check_columns(opened, plain);
    cavs_data_destroy(opened);
    cavs_data_destroy(plain);
    cavs_data_destroy(d);
    trial_close(&t);
}

static void opened_data_take_no_samples_and_leave_their_file_alone(void **state)
{
    struct cavs_data *d;
    struct cavs_packed *p;
    struct trial t;
    int *ids, old;
    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    pack(&t, 4);
    check_ok(cavs_data_open(t.model, path, &d));
    check_refused(cavs_data_begin(d), CAVS_ESTATE, "added");
    check_refused(cavs_data_write(d), CAVS_EINVAL, "cavs_data_pack");
    check_refused(cavs_data_note(d, "a", "b", 1), CAVS_EINVAL, "cavs_data_pack");
    ids = cavs_data_sample_ids(d, t.model->stages[0], t.model->stages[0]->inputs[0]->name, 0);
    assert_non_null(ids);
    old = ids[0];
    ids[0] = old + 1;
    cavs_data_destroy(d);
    check_ok(cavs_packed_open(path, &p));
    check_ok(cavs_packed_verify(p));
    cavs_packed_close(p);
    trial_close(&t);
}

static void a_file_that_is_shortened_is_noticed_by_the_next_batch(void **state)
{
    struct cavs_session *s;
    struct cavs_data *d;
    struct cavs_packed *p;
    struct trial t;
    int batch[] = {0, 1, 2, 3};
    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    pack(&t, 4);
    s = trial_session(&t, NULL);
    check_ok(cavs_data_open(t.model, path, &d));
    check_ok(cavs_packed_open(path, &p));
    check_ok(cavs_session_train(s, d, batch, 4));
    check_ok(cavs_session_wait(s));
    assert_int_equal(truncate(path, 0), 0);
    check_refused(cavs_session_train(s, d, batch, 4), CAVS_EIO, path, "shortened");
    check_refused(cavs_session_evaluate(s, d, batch, 4), CAVS_EIO, path, "shortened");
    check_refused(cavs_packed_verify(p), CAVS_EIO, path, "shortened");
    cavs_packed_close(p);
    cavs_data_destroy(d);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void a_file_that_is_shortened_is_noticed_by_the_next_question(void **state)
{
    struct cavs_data *d;
    struct cavs_packed *p;
    struct trial t;
    uint64_t number;
    char *text = NULL;
    int ids[64];
    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    pack(&t, 4);
    check_ok(cavs_data_open(t.model, path, &d));
    check_ok(cavs_packed_open(path, &p));
    assert_true(cavs_data_copy_ids(d, t.model->stages[0], "word", 0, 64, ids) > 0);
    assert_int_equal(truncate(path, 0), 0);
    check_refused(cavs_data_copy_ids(d, t.model->stages[0], "word", 0, 64, ids), CAVS_EIO, path,
                  "shortened");
    check_refused(cavs_data_fingerprint(d, &number), CAVS_EIO, path, "shortened");
    check_refused(cavs_packed_describe(p, &text), CAVS_EIO, path, "shortened");
    assert_null(text);
    cavs_packed_close(p);
    cavs_data_destroy(d);
    trial_close(&t);
}

/* Not when all samples have been added. */
static void names_that_a_file_cannot_have_are_refused_at_once(void **state)
{
    struct cavs_model *m;
    struct cavs_function *f;
    struct cavs_data *d = NULL;
    struct trial t;

    (void)state;
    check_ok(cavs_model_create(&m));
    f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    cavs_push(f, "y", cavs_tanh(cavs_pull(f, "na\xefve", 2)));
    check_ok(cavs_model_finish(m));
    check_refused(cavs_data_pack(m, path, &d), CAVS_EINVAL, "UTF-8", "na\xefve");
    assert_null(d);
    cavs_model_destroy(m);

    trial_open_zoo(&t, zoo_find("gru"));
    check_ok(cavs_data_pack(t.model, path, &d));
    check_refused(cavs_data_note(d, "\xff", "x", 1), CAVS_EINVAL, "UTF-8");
    fill(&t, d, 1);
    check_ok(cavs_data_write(d));
    cavs_data_destroy(d);
    trial_close(&t);
}

static void a_file_tells_what_is_in_it(void **state)
{
    struct cavs_packed *p;
    struct trial t;
    size_t n = 0;
    char *text;
    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    pack(&t, 4);
    check_ok(cavs_packed_open(path, &p));
    assert_int_equal(cavs_packed_size(p), 4);
    assert_int_equal(cavs_packed_functions(p, t.model->stages[0]->name),
                     t.model->stages[0]->nfunctions);
    assert_string_equal(cavs_packed_function(p, t.model->stages[0]->name, 0),
                        t.model->stages[0]->functions[0]->name);
    assert_null(cavs_packed_function(p, t.model->stages[0]->name, 99));
    assert_int_equal(cavs_packed_functions(p, "nowhere"), -1);
    assert_memory_equal(cavs_packed_note(p, "made", &n), "for a test", 10);
    assert_int_equal(n, 10);
    assert_null(cavs_packed_note(p, "unmade", &n));
    check_ok(cavs_packed_describe(p, &text));
    assert_non_null(strstr(text, "4 samples"));
    assert_non_null(strstr(text, t.model->stages[0]->name));
    assert_non_null(strstr(text, t.model->stages[0]->inputs[0]->name));
    assert_non_null(strstr(text, "note made: 10 bytes"));
    free(text);
    cavs_packed_close(p);
    trial_close(&t);
}

static void a_full_disk_is_an_error(void **state)
{
    struct rlimit limit, small;
    struct cavs_data *d;
    struct trial t;
    int rc = 0;
    (void)state;
    trial_open_zoo(&t, zoo_at(0));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    check_ok(cavs_data_pack(t.model, path, &d));
    small.rlim_cur = 1 << 18;
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 1000000 && !rc; i++)
        rc = sample_add(t.samples[i % t.nsamples], d);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(rc, CAVS_EIO);
    cavs_data_destroy(d);
    check_refused(cavs_data_pack(t.model, "/nonexistent/data", &d), CAVS_EIO, "/nonexistent/data");
    trial_close(&t);
}

/* ---- files that do not fit ---- */

static void tree(struct cavs_model *m, const char *stage, const char *input, int width, bool over,
                 bool two)
{
    struct cavs_stage *s = cavs_stage_create(m, stage, 1), *top;
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *x = width ? cavs_sum(cavs_pull(f, input, width))
                                  : cavs_lookup(zoo_weight(m, "E", 5, 1), cavs_pull_ids(f, input));
    cavs_scatter(f, cavs_add(x, cavs_gather(f, 0)));
    cavs_push(f, "h", x);
    if (two) {
        f = cavs_function_create(s, "g");
        cavs_scatter(f, cavs_constant(f, 1, 0));
        cavs_push(f, "h", cavs_constant(f, 1, 0));
    }
    if (over) {
        top = cavs_stage_over(m, "top", s, CAVS_ROOTS);
        f = cavs_function_create(top, "t");
        cavs_loss(f, "loss", cavs_pull_from(f, s, "h", NULL), NULL);
    }
    check_ok(cavs_model_finish(m));
}

/* Packs a sample of such a model, which pulls rows. */
static struct cavs_model *pack_rows(void)
{
    struct cavs_model *m;
    struct cavs_data *d;
    int ptr[] = {0, 0, 1}, child[] = {0};
    check_ok(cavs_model_create(&m));
    tree(m, "tree", "x", 2, false, false);
    check_ok(cavs_data_pack(m, path, &d));
    check_ok(cavs_data_begin(d));
    check_ok(cavs_data_graph(d, m->stages[0], 2, NULL, ptr, child));
    check_ok(cavs_data_rows(d, m->stages[0], "x", 2, (float[]){1, 2, 3, 4}));
    check_ok(cavs_data_end(d));
    check_ok(cavs_data_write(d));
    cavs_data_destroy(d);
    return m;
}

static void models_that_differ_are_refused(void **state)
{
    static const struct {
        const char *stage, *input;
        int width;
        bool over, two;
        const char *says;
    } others[] = {
        {"wood", "x", 2, false, false, "stage wood is not in it"},
        {"tree", "y", 2, false, false, "no input y"},
        {"tree", "x", 3, false, false, "width 3"},
        {"tree", "x", 0, false, false, "rows of width 2 in it, the model wants ids"},
        {"tree", "x", 2, false, true, "number of functions"},
        {"tree", "x", 2, true, false, "top is not in it"},
    };
    struct cavs_model *m = pack_rows();
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct cavs_model *other;
        struct cavs_data *none = (void *)state;
        check_ok(cavs_model_create(&other));
        tree(other, others[i].stage, others[i].input, others[i].width, others[i].over,
             others[i].two);
        check_refused(cavs_data_open(other, path, &none), CAVS_EDATA, path, others[i].says);
        assert_ptr_equal(none, state);
        cavs_model_destroy(other);
    }
    cavs_model_destroy(m);
}

/* ---- damaged files ---- */

static char *bytes;
static size_t nbytes;

static void read_all(void)
{
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    nbytes = (size_t)ftell(f);
    rewind(f);
    free(bytes);
    bytes = malloc(nbytes + 64);
    assert_int_equal(fread(bytes, 1, nbytes, f), nbytes);
    fclose(f);
}

static void write_all(const void *what, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(what, 1, n, f), n);
    fclose(f);
}

static void refuse_open(const char *says)
{
    struct cavs_packed *p = NULL;
    check_refused(cavs_packed_open(path, &p), CAVS_EFORMAT, path, says);
    assert_null(p);
}

/* Puts other bytes there, for one attempt. */
static void refuse_changed(size_t at, const void *with, size_t n, const char *says)
{
    char old[64];
    memcpy(old, bytes + at, n);
    memcpy(bytes + at, with, n);
    write_all(bytes, nbytes);
    refuse_open(says);
    memcpy(bytes + at, old, n);
}

static struct cavs__packed_header *header(void)
{
    return (struct cavs__packed_header *)bytes;
}

static void sign_directory(void)
{
    header()->checksum =
        cavs__hash(CAVS__HASH_START, bytes + sizeof *header(), header()->directory);
}

/* Replaces text of the directory by as much other text, and makes the checksum right again. */
static void change_directory(const char *from, const char *to)
{
    char *at = memmem(bytes + sizeof *header(), header()->directory, from, strlen(from));
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    sign_directory();
    write_all(bytes, nbytes);
}

static void damaged_headers_are_refused(void **state)
{
    struct trial t;
    uint32_t order = __builtin_bswap32(CAVS__PACKED_ORDER), version = 1;
    uint64_t longer, huge = UINT64_MAX - 63, odd = 65;
    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    pack(&t, 4);
    read_all();
    longer = nbytes + 1;
    refuse_changed(0, "D", 1, "no file of packed data");
    refuse_changed(8, &order, 4, "other byte order");
    refuse_changed(8, "xxxx", 4, "mark of the byte order");
    refuse_changed(12, &version, 4, "version 1 of the format, this library reads 2: pack it again");
    refuse_changed(16, &huge, 8, "directory does not fit");
    refuse_changed(16, &odd, 8, "directory does not fit");
    refuse_changed(24, &longer, 8, "truncated");
    refuse_changed(32, "xxxxxxxx", 8, "checksum of the directory");
    refuse_changed(80, "x", 1, "checksum of the directory");
    trial_close(&t);
}

/* Such a stage would have other columns, and records of the same length. */
static void a_stage_that_stands_over_no_other_is_refused(void **state)
{
    struct cavs_model *m = pack_rows();
    struct cavs_data *none = NULL;
    (void)state;
    read_all();
    change_directory("\"over\":null", "\"over\":{  }");
    check_refused(cavs_data_open(m, path, &none), CAVS_EDATA, path, "stage tree stands over");
    assert_null(none);
    cavs_model_destroy(m);
}

static void truncated_files_are_refused_wherever_they_end(void **state)
{
    (void)state;
    for (size_t n = 1; n < nbytes; n += n < 130 ? 1 : 997) {
        write_all(bytes, n);
        refuse_open(n < sizeof *header() ? "no file of packed data" : "truncated");
    }
    write_all(bytes, nbytes - 1);
    refuse_open("truncated");
    write_all(bytes, nbytes + 1);
    refuse_open("something follows it");
    write_all("", 0);
    refuse_open("no file of packed data");
    write_all("(3 (2 It) (2 is))\n", 18);
    refuse_open("no file of packed data");
}

static void damaged_directories_are_refused(void **state)
{
    static const char *const changes[][3] = {
        {"\"samples\":4", "\"samples\":x", "directory"},
        {"\"samples\":4", "\"sampels\":4", "lacks samples"},
        {"\"notes\":{", "\"motes\":{", "lacks samples, stages or notes"},
        {"\"functions\":[", "\"functiens\":[", "lacks"},
        {"\"records\":[", "\"recorbs\":[", "no [offset"},
        {"\"width\":1", "\"width\":x", "directory"},
        {"\"start\":[0,", "\"start\":[9,", "not aligned"},
    };
    struct cavs_packed *p;
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        change_directory(changes[i][0], changes[i][1]);
        refuse_open(changes[i][2]);
        change_directory(changes[i][1], changes[i][0]);
    }
    check_ok(cavs_packed_open(path, &p));
    cavs_packed_close(p);
}

/* The array "start" of the first stage, said to lie or to end elsewhere. */
static void arrays_of_another_place_or_length_are_refused(void **state)
{
    char text[64], far[64], other[64];
    long long offset, n;
    const char *at;
    struct cavs_data *d = NULL;
    struct trial t;
    (void)state;
    at = memmem(bytes + sizeof *header(), header()->directory, "\"start\":[", 9);
    assert_non_null(at);
    assert_int_equal(sscanf(at + 9, "%lld,%lld", &offset, &n), 2);
    snprintf(text, sizeof text, "\"start\":[%lld,%lld,", offset, n);
    snprintf(far, sizeof far, "%s", text);
    memset(far + 9, '9', strcspn(far + 9, ","));
    change_directory(text, far);
    refuse_open("array start");
    change_directory(far, text);
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    for (int less = 1; less <= 4; less += 3) { /* no whole elements; one element too few */
        snprintf(other, sizeof other, "\"start\":[%lld,%lld,", offset, n - less);
        change_directory(text, other);
        check_refused(cavs_data_open(t.model, path, &d), CAVS_EFORMAT, path, "tree", "start");
        assert_null(d);
        change_directory(other, text);
    }
    trial_close(&t);
}

/* ---- damaged arrays ---- */

static bool is_index(const char *array)
{
    return strcmp(array, "start") == 0 || strcmp(array, "first") == 0 ||
           strcmp(array, "count") == 0;
}

/* Where an array of the first stage begins in the file, or what the first sample has of it. */
static size_t place(const char *name, bool in_records)
{
    struct cavs_packed *p;
    size_t at, n;
    const void *array;
    json_t *stage, *arrays;
    write_all(bytes, nbytes);
    check_ok(cavs_packed_open(path, &p));
    check_ok(cavs__records_open(p));
    stage = json_array_get(json_object_get(p->directory, "stages"), 0);
    arrays = json_object_get(stage, "arrays");
    if (in_records)
        array = cavs__record_values(&p->records, cavs__records_find(&p->records, arrays, name), 0);
    else
        assert_true(cavs__packed_array(p, json_object_get(arrays, name), &array, &n) && n > 0);
    at = (size_t)((const char *)array - p->bytes);
    cavs_packed_close(p);
    return at;
}

/* Writes one number there, for one attempt. */
static void check_damage(struct trial *t, const char *array, int element, int value, int code)
{
    size_t at = place(array, !is_index(array)) + (size_t)element * 4;
    int old, batch[] = {0, 1, 2, 3}, rc;
    struct cavs_session *s = trial_session(t, NULL);
    struct cavs_packed *p;
    struct cavs_data *d = NULL;
    memcpy(&old, bytes + at, sizeof old);
    memcpy(bytes + at, &value, sizeof old);
    write_all(bytes, nbytes);
    memcpy(bytes + at, &old, sizeof old);
    check_ok(cavs_packed_open(path, &p));
    check_refused(cavs_packed_verify(p), CAVS_EFORMAT, is_index(array) ? array : "records",
                  "checksum");
    cavs_packed_close(p);
    rc = cavs_data_open(t->model, path, &d);
    if (rc == 0)
        rc = cavs_session_train(s, d, batch, 4);
    if (rc != code)
        fail_msg("%s[%d] = %d gave %d, not %d: %s", array, element, value, rc, code,
                 cavs_error_message());
    cavs_session_destroy(s);
    cavs_data_destroy(d);
}

static void damaged_arrays_are_found(void **state)
{
    static const struct {
        const char *array;
        int element, value, code;
    } damages[] = {
        {"function", 1, 77, CAVS_EGRAPH},    {"function", 0, -1, CAVS_EGRAPH},
        {"degree", 0, 1, CAVS_EGRAPH},       {"degree", 1, -3, CAVS_EGRAPH},
        {"degree", 1, 1 << 30, CAVS_EGRAPH}, {"child", 0, 1 << 20, CAVS_EGRAPH},
        {"child", 0, -2, CAVS_EGRAPH},       {"start", 2, 1 << 30, CAVS_EFORMAT},
        {"start", 0, 1, CAVS_EFORMAT},       {"first", 3, -1, CAVS_EFORMAT},
    };
    struct trial t;
    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        check_damage(&t, damages[i].array, damages[i].element, damages[i].value, damages[i].code);
    trial_close(&t);
}

/* Is a file with this byte changed refused by those who open it, or by who compares all of it? */
static bool is_noticed(size_t at)
{
    struct cavs_packed *p = NULL;
    char old = bytes[at];
    bool noticed;

    bytes[at] = (char)(old ^ 1);
    write_all(bytes, nbytes);
    noticed = cavs_packed_open(path, &p) != 0 || cavs_packed_verify(p) == CAVS_EFORMAT;
    cavs_packed_close(p);
    bytes[at] = old;
    return noticed;
}

/* Also of the zeros behind the header and behind arrays, of which the last byte is one. */
static void no_byte_can_be_changed_without_notice(void **state)
{
    const size_t step = getenv("CAVS_TEST_LONG") ? 1 : 5;

    (void)state;
    assert_int_equal(bytes[nbytes - 1], 0);
    assert_true(is_noticed(nbytes - 1));
    for (size_t at = 0; at < nbytes; at += step) {
        if (!is_noticed(at))
            fail_msg("byte %zu of %zu", at, nbytes);
    }
}

/* Whatever one byte becomes: refused or trained, never worse. */
static void any_byte_may_be_wrong(void **state)
{
    uint64_t random = 11;
    struct trial t;
    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    struct cavs_session *s = trial_session(&t, NULL);
    for (int i = 0; i < 400; i++) {
        size_t at = (size_t)random_int(&random, 0, (int)nbytes - 1);
        char old = bytes[at];
        struct cavs_data *d = NULL;
        int batch[] = {0, 1, 2, 3};
        bytes[at] = (char)random_int(&random, 0, 255);
        write_all(bytes, nbytes);
        if (cavs_data_open(t.model, path, &d) == 0) {
            d->packed->large = at % 2;
            cavs_session_evaluate(s, d, batch, 4);
            check_ok(cavs_session_wait(s));
        }
        cavs_data_destroy(d);
        bytes[at] = old;
    }
    cavs_session_destroy(s);
    trial_close(&t);
    free(bytes);
    bytes = NULL;
}

/* Of the model before it the file has none: it has one function. */
static void damaged_counts_are_found(void **state)
{
    struct trial t;
    (void)state;
    trial_open_zoo(&t, zoo_find("metrics"));
    pack(&t, 4);
    read_all();
    check_damage(&t, "count", 0, -1, CAVS_EGRAPH);
    check_damage(&t, "count", 1, 77, CAVS_EGRAPH);
    trial_close(&t);
    free(bytes);
    bytes = NULL;
}

/* ---- larger than memory may be ---- */

enum { LARGE = 4096 /* samples: 256 MB */, AT_ONCE = 16, MOST = 2048 };

/* Half of an epoch in random order in small batches, and the other half in one. */
static void of_a_large_file_hardly_a_page_is_in_memory(void **state)
{
    struct cavs_model *m = wide_rows_model();
    struct cavs_session *s;
    struct cavs_data *d;
    int order[LARGE], before, now, most = 0;

    (void)state;
    assert_non_null(m);
    check_ok(wide_rows_pack(m, path, LARGE));
    check_ok(cavs_session_create(trial_runtime, m, NULL, &s));
    before = wide_rows_status("RssFile");
    check_ok(cavs_data_open(m, path, &d));
    wide_rows_shuffle(order, LARGE);
    for (int i = 0; i < LARGE; i += i < LARGE - MOST ? AT_ONCE : MOST) {
        check_ok(cavs_session_train(s, d, order + i, i < LARGE - MOST ? AT_ONCE : MOST));
        now = wide_rows_status("RssFile");
        most = now > most ? now : most;
    }
    check_ok(cavs_session_wait(s));
    assert_in_range(most, before, before + 16); /* of 256 MB */
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void checking_a_large_file_leaves_it_on_its_disk(void **state)
{
    struct cavs_model *m = wide_rows_model();
    struct cavs_packed *p;
    int before;

    (void)state;
    assert_non_null(m);
    check_ok(wide_rows_pack(m, path, LARGE));
    before = wide_rows_status("RssFile");
    check_ok(cavs_packed_open(path, &p));
    check_ok(cavs_packed_verify(p));
    assert_in_range(wide_rows_status("RssFile"), before, before + 16); /* of 256 MB */
    cavs_packed_close(p);
    cavs_model_destroy(m);
}

/* Pages of the file that are in memory, from a place on. */
static size_t resident(const struct cavs_packed *p, size_t from, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = n / page, found = 0;
    char *at = (char *)p->bytes + (from + page - 1) / page * page;
    unsigned char *in_memory = malloc(pages + 1);
    assert_int_equal(mincore(at, (pages - 1) * page, in_memory), 0);
    for (size_t i = 0; i + 1 < pages; i++)
        found += in_memory[i] & 1;
    free(in_memory);
    return found;
}

/* In place of the system's, which it calls: how often it is told what is about to be read. */
static int told;

int posix_fadvise(int fd, off_t from, off_t n, int advice)
{
    told += advice == POSIX_FADV_WILLNEED;
    return syscall(SYS_fadvise64, fd, from, n, advice) == 0 ? 0 : errno;
}

static void the_system_is_told_once_of_each_sample_of_a_batch(void **state)
{
    enum { SAMPLES = 8, EPOCHS = 3 };
    struct cavs_session_options o = cavs_session_defaults();
    int all[SAMPLES] = {0, 1, 2, 3, 4, 5, 6, 7}, records = 0;
    struct cavs_session *s;
    struct cavs_data *d;
    struct trial t;

    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    pack(&t, SAMPLES);
    check_ok(cavs_data_open(t.model, path, &d));
    d->packed->large = true;
    o.keep_mb = 0;
    for (int i = 0; i < SAMPLES; i++) {
        size_t from;

        records += cavs__record_place(&d->packed->records, i, &from) > 0;
    }
    assert_in_range(records, SAMPLES / 2, SAMPLES); /* a sample may be empty */
    s = trial_session(&t, &o);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        told = 0;
        for (int i = 0; i < SAMPLES; i += SAMPLES / 2)
            check_ok(cavs_session_train(s, d, all + i, SAMPLES / 2));
        assert_int_equal(told, records);
    }
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    trial_close(&t);
}

/* Column by column they would lie in a dozen places, and a disk that reads ahead would bring
 * megabytes for each. */
static void of_a_cold_file_a_sample_takes_the_pages_that_it_lies_in(void **state)
{
    enum { SAMPLES = 40000, STEP = 4000 };
    struct cavs_session *s;
    struct cavs_data *d;
    struct trial t;
    size_t before, pages = 0;
    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    pack(&t, SAMPLES);
    check_ok(cavs_data_open(t.model, path, &d));
    d->packed->large = true;
    cavs__packed_read_by_samples(d->packed);
    posix_fadvise(d->packed->fd, 0, 0, POSIX_FADV_DONTNEED);
    before =
        resident(d->packed, d->packed->records.offset, d->packed->n - d->packed->records.offset);
    if (before > 100)
        SKIP("the system keeps the file in memory");
    s = trial_session(&t, NULL);
    for (int i = STEP / 2; i < SAMPLES; i += STEP) {
        size_t from, n = cavs__record_place(&d->packed->records, i, &from);
        pages += n / (size_t)sysconf(_SC_PAGESIZE) + 2;
        check_ok(cavs_session_train(s, d, &i, 1));
    }
    check_ok(cavs_session_wait(s));
    assert_in_range(
        resident(d->packed, d->packed->records.offset, d->packed->n - d->packed->records.offset),
        before + 1, before + pages);
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    trial_close(&t);
}

/* Which would be mapped from then on. */
static void copies_of_ids_do_not_lend_a_large_file(void **state)
{
    const struct cavs__input *input;
    struct cavs_data *d;
    struct trial t;
    int copy[1000], n;

    (void)state;
    trial_open_zoo(&t, zoo_find("tree_fc_cavs"));
    pack(&t, 4);
    input = t.model->stages[0]->inputs[0];
    check_ok(cavs_data_open(t.model, path, &d));
    d->packed->large = true;
    n = cavs_data_copy_ids(d, t.model->stages[0], input->name, 3, 1000, copy);
    assert_in_range(n, 1, 1000);
    assert_false(d->lent);
    assert_memory_equal(cavs_data_sample_ids(d, t.model->stages[0], input->name, 3), copy,
                        (size_t)n * sizeof *copy);
    cavs_data_destroy(d);
    trial_close(&t);
}

/* Row i of the file is 0.01 in the columns up to i, and the model says nearly 0 of every row, where
 * 1 is wanted: the gradient of half the squared difference is minus the sum of the rows. */
static void rows_read_at_once_and_one_by_one_are_those_of_the_samples(void **state)
{
    enum { SAMPLES = 6, COLUMNS = SAMPLES + 1 };
    static const struct {
        int n, samples[SAMPLES];
    } batches[] = {{6, {0, 1, 2, 3, 4, 5}}, {4, {2, 3, 4, 0}}, {3, {5, 4, 2}}, {2, {3, 3}}};
    static float gradient[WIDE_ROW];
    struct cavs_model *m = wide_rows_model();
    struct cavs_session *s;
    struct cavs_data *d;

    (void)state;
    assert_non_null(m);
    check_ok(wide_rows_pack(m, path, SAMPLES));
    check_ok(cavs_data_open(m, path, &d));
    check_ok(cavs_session_create(trial_runtime, m, NULL, &s));
    for (size_t i = 0; i < 2 * sizeof batches / sizeof *batches; i++) {
        const int n = batches[i / 2].n, *samples = batches[i / 2].samples;

        d->packed->large = i % 2;
        check_ok(cavs_session_gradient(s, d, samples, n));
        check_ok(cavs_session_get_gradient(s, cavs_model_find_param(m, "W"), gradient));
        for (int c = 0; c < COLUMNS; c++) {
            int rows = 0;

            for (int k = 0; k < n; k++)
                rows += samples[k] >= c;
            if (fabs(gradient[c] + 0.01 * rows) > 1e-4)
                fail_msg("batch %zu, column %d: gradient %g of %d rows", i / 2, c, gradient[c],
                         rows);
        }
    }
    cavs_session_destroy(s);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_trains_on_packed_data_as_on_others),
        cmocka_unit_test(unfinished_packing_leaves_no_files),
        cmocka_unit_test(a_sample_that_fails_is_not_packed),
        cmocka_unit_test(opened_data_take_no_samples_and_leave_their_file_alone),
        cmocka_unit_test(a_file_that_is_shortened_is_noticed_by_the_next_batch),
        cmocka_unit_test(a_file_that_is_shortened_is_noticed_by_the_next_question),
        cmocka_unit_test(names_that_a_file_cannot_have_are_refused_at_once),
        cmocka_unit_test(a_file_tells_what_is_in_it),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(models_that_differ_are_refused),
        cmocka_unit_test(a_stage_that_stands_over_no_other_is_refused),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(truncated_files_are_refused_wherever_they_end),
        cmocka_unit_test(damaged_directories_are_refused),
        cmocka_unit_test(arrays_of_another_place_or_length_are_refused),
        cmocka_unit_test(damaged_arrays_are_found),
        cmocka_unit_test(no_byte_can_be_changed_without_notice),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(damaged_counts_are_found),
        cmocka_unit_test(of_a_large_file_hardly_a_page_is_in_memory),
        cmocka_unit_test(checking_a_large_file_leaves_it_on_its_disk),
        cmocka_unit_test(of_a_cold_file_a_sample_takes_the_pages_that_it_lies_in),
        cmocka_unit_test(the_system_is_told_once_of_each_sample_of_a_batch),
        cmocka_unit_test(copies_of_ids_do_not_lend_a_large_file),
        cmocka_unit_test(rows_read_at_once_and_one_by_one_are_those_of_the_samples),
    };
    trial_compile(false);
    return cmocka_run_group_tests_name("packed", tests, group_up, group_down);
}
