/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_model_file.c - model files and checkpoints by themselves: what they say, without a model;
 * what their checksums find; that other programs can read them, and what other programs write can
 * be read.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/saved.h"

static struct cavs_session_options adam(void)
{
    struct cavs_session_options o = cavs_session_defaults();
    o.optimizer = CAVS_ADAM;
    o.lr = 0.125f;
    o.seed = 7;
    return o;
}

/* A session with optimizer state. */
static int scene_open(void **state)
{
    const struct cavs_session_options o = adam();
    const int batch[] = {0};
    int rc = saved_open(state, &o);
    struct saved *a = *state;
    if (rc == 0)
        check_ok(cavs_session_train(a->s, a->t.data, batch, 1));
    return rc;
}

static size_t header_length(const unsigned char *bytes)
{
    size_t n = 0;
    for (int i = 7; i >= 0; i--)
        n = n << 8 | bytes[i];
    return n;
}

static json_t *header(const unsigned char *bytes)
{
    json_t *h = json_loadb((const char *)bytes + 8, header_length(bytes), 0, NULL);
    assert_true(json_is_object(h));
    return h;
}

static struct cavs_model_file *open_file(const char *path)
{
    struct cavs_model_file *f;
    check_ok(cavs_model_file_open(path, &f));
    return f;
}

/* ---- notes ---- */

static void notes_are_in_every_file_from_then_on(void **state)
{
    struct saved *a = *state;
    struct cavs_model_file *f;
    check_ok(cavs_session_save(a->s, a->path));
    f = open_file(a->path);
    assert_null(cavs_model_file_note(f, "words"));
    cavs_model_file_close(f);
    check_ok(cavs_session_note(a->s, "words", "old"));
    check_ok(cavs_session_note(a->s, "words", "Gr\303\274\303\237e\n\"zwei\"\n"));
    check_ok(cavs_session_note(a->s, "hidden", "64"));
    for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
        check_ok(checkpoint ? cavs_session_checkpoint(a->s, a->path, "{}")
                            : cavs_session_save(a->s, a->path));
        f = open_file(a->path);
        assert_string_equal(cavs_model_file_note(f, "words"), "Gr\303\274\303\237e\n\"zwei\"\n");
        assert_string_equal(cavs_model_file_note(f, "hidden"), "64");
        assert_null(cavs_model_file_note(f, "other"));
        cavs_model_file_close(f);
    }
    check_ok(cavs_session_note(a->s, "words", NULL));
    check_ok(cavs_session_note(a->s, "never there", NULL));
    check_ok(cavs_session_save(a->s, a->path));
    f = open_file(a->path);
    assert_null(cavs_model_file_note(f, "words"));
    assert_string_equal(cavs_model_file_note(f, "hidden"), "64");
    cavs_model_file_close(f);
}

static void names_of_notes_that_are_refused(void **state)
{
    struct saved *a = *state;
    check_refused(cavs_session_note(a->s, "cavs.lr", "1"), CAVS_EINVAL, "cavs.lr");
    check_refused(cavs_session_note(a->s, "cavs.lr", NULL), CAVS_EINVAL, "cavs.lr");
    check_refused(cavs_session_note(a->s, "format", "pt"), CAVS_EINVAL, "format");
    check_refused(cavs_session_note(a->s, "", "x"), CAVS_EINVAL, "name");
    check_refused(cavs_session_note(NULL, "a", "x"), CAVS_EINVAL, "session");
    check_refused(cavs_session_note(a->s, "a", "\xff\xfe"), CAVS_EINVAL, "UTF-8");
    check_refused(cavs_session_note(a->s, "\xff\xfe", "a"), CAVS_EINVAL, "UTF-8");
}

/* In files they would stand for something else. */
static void names_of_parameters_that_are_refused(void **state)
{
    static const char *const names[] = {"cavs.metrics", "__metadata__"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct cavs_model *m;
        check_ok(cavs_model_create(&m));
        assert_null(cavs_model_param(m, names[i], 2, 2, CAVS_CONSTANT(0)));
        check_refused(cavs_model_finish(m), CAVS_EINVAL, names[i]);
        cavs_model_destroy(m);
    }
}

/* A note called lr is not the learning rate. */
static void notes_do_not_disturb_checkpoints(void **state)
{
    struct saved *a = *state;
    static const char *const names[] = {"lr", "seed", "updates", "optimizer", "shards", "note"};
    size_t n, m;
    char *note;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_ok(cavs_session_note(a->s, names[i], "nonsense"));
    check_ok(cavs_session_checkpoint(a->s, a->path, "mine"));
    unsigned char *before = saved_read(a->path, &n);
    check_ok(cavs_session_resume(a->s, a->path, &note));
    assert_string_equal(note, "mine");
    free(note);
    check_ok(cavs_session_checkpoint(a->s, a->path, "mine"));
    unsigned char *after = saved_read(a->path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
}

/* ---- parameters ---- */

static void parameters_by_number(void **state)
{
    struct saved *a = *state;
    for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
        check_ok(checkpoint ? cavs_session_checkpoint(a->s, a->path, NULL)
                            : cavs_session_save(a->s, a->path));
        struct cavs_model_file *f = open_file(a->path);
        assert_int_equal(cavs_model_file_count(f), 2);
        for (int i = 0; i < 2; i++) {
            const struct cavs_param *p =
                cavs_model_find_param(a->t.model, cavs_model_file_name(f, i));
            float want[6], got[6];
            size_t n = i ? 3 : 6;
            assert_string_equal(cavs_model_file_name(f, i), i ? "b" : "W");
            assert_int_equal(cavs_model_file_rows(f, i), i ? 1 : 2);
            assert_int_equal(cavs_model_file_cols(f, i), 3);
            check_ok(cavs_session_get_param(a->s, p, want));
            check_ok(cavs_model_file_read(f, i, got));
            assert_memory_equal(want, got, n * sizeof *got);
        }
        assert_null(cavs_model_file_name(f, 2));
        assert_int_equal(cavs_model_file_rows(f, -1), -1);
        assert_int_equal(cavs_model_file_cols(f, 2), -1);
        check_refused(cavs_model_file_read(f, 2, (float[6]){0}), CAVS_EINVAL, "2");
        cavs_model_file_close(f);
    }
}

/* What the file has and the model, too: the rest of the model stays. */
static void part_of_a_model_by_name(void **state)
{
    struct saved *a = *state;
    const float from[6] = {1, 2, 3, 4, 5, 6};
    float b[3], w[6], got[3];
    saved_write_model(a->path,
                      "{\"W\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                      "\"head\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[20,24]}}",
                      from, sizeof from);
    struct cavs_model_file *f = open_file(a->path);
    check_ok(cavs_session_get_param(a->s, cavs_model_find_param(a->t.model, "b"), b));
    for (int i = 0; i < cavs_model_file_count(f); i++) {
        const struct cavs_param *p = cavs_model_find_param(a->t.model, cavs_model_file_name(f, i));
        float values[6];
        if (p) {
            check_ok(cavs_model_file_read(f, i, values));
            check_ok(cavs_session_set_param(a->s, p, values));
        }
    }
    cavs_model_file_close(f);
    check_ok(cavs_session_get_param(a->s, cavs_model_find_param(a->t.model, "W"), w));
    check_ok(cavs_session_get_param(a->s, cavs_model_find_param(a->t.model, "b"), got));
    assert_memory_equal(w, from, sizeof w);
    assert_memory_equal(got, b, sizeof b);
}

/* ---- files of other programs ---- */

static void other_types_become_floats(void **state)
{
    struct saved *a = *state;
    const double doubles[2] = {0.1, -1e300};
    const uint16_t halves[8] = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x8000, 0x7c00, 0xfc00, 0x3555};
    const uint16_t brains[2] = {0x3f80, 0xc2f7};
    const float want_halves[8] = {1, -2, 65504, 0x1p-24f, -0.0f, INFINITY, -INFINITY, 0x1.554p-2f};
    unsigned char data[36];
    float got[8];
    memcpy(data, doubles, 16);
    memcpy(data + 16, halves, 16);
    memcpy(data + 32, brains, 4);
    saved_write_model(a->path,
                      "{\"__metadata__\":{\"format\":\"pt\"},"
                      "\"d\":{\"dtype\":\"F64\",\"shape\":[2,1],\"data_offsets\":[0,16]},"
                      "\"h\":{\"dtype\":\"F16\",\"shape\":[2,2,2],\"data_offsets\":[16,32]},"
                      "\"z\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[32,36]},"
                      "\"i\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]}}",
                      data, sizeof data);
    struct cavs_model_file *f = open_file(a->path);
    assert_string_equal(cavs_model_file_note(f, "format"), "pt");
    assert_int_equal(cavs_model_file_count(f), 4);
    check_ok(cavs_model_file_read(f, 0, got));
    assert_true(got[0] == 0.1f && got[1] == -INFINITY);
    assert_int_equal(cavs_model_file_rows(f, 1), 4);
    assert_int_equal(cavs_model_file_cols(f, 1), 2);
    check_ok(cavs_model_file_read(f, 1, got));
    assert_memory_equal(got, want_halves, sizeof want_halves);
    assert_int_equal(cavs_model_file_rows(f, 2), 1);
    check_ok(cavs_model_file_read(f, 2, got));
    assert_true(got[0] == 1 && got[1] == -123.5f);
    check_refused(cavs_model_file_read(f, 3, got), CAVS_EFORMAT, "i", "I64");
    cavs_model_file_close(f);
}

/* A model that somebody stored with fewer digits, or more. */
static void a_session_takes_numbers_of_other_types(void **state)
{
    struct saved *a = *state;
    const uint16_t brains[6] = {0x3f80, 0xc2f7, 0x0000, 0x8000, 0x7f7f, 0x0080};
    const float want_w[6] = {1, -123.5f, 0, -0.0f, 0x1.fep127f, 0x1p-126f};
    const double doubles[3] = {0.1, -3, 1e-3};
    const float want_b[3] = {0.1f, -3, 1e-3f};
    unsigned char data[36];
    float got[6];
    memcpy(data, brains, 12);
    memcpy(data + 12, doubles, 24);
    saved_write_model(a->path,
                      "{\"W\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
                      "\"b\":{\"dtype\":\"F64\",\"shape\":[1,3],\"data_offsets\":[12,36]}}",
                      data, sizeof data);
    check_ok(cavs_session_load(a->s, a->path));
    check_ok(cavs_session_get_param(a->s, cavs_model_find_param(a->t.model, "W"), got));
    assert_memory_equal(got, want_w, sizeof want_w);
    check_ok(cavs_session_get_param(a->s, cavs_model_find_param(a->t.model, "b"), got));
    assert_memory_equal(got, want_b, sizeof want_b);
}

/* The nearest of those with 8 significant bits, the even one of two. */
static void numbers_saved_as_bfloat16(void **state)
{
    struct saved *a = *state;
    const struct cavs_param *p = cavs_model_find_param(a->t.model, "W");
    const float exact[6] = {1, 0x1.01p0f, 0x1.03p0f, -0x1.010002p0f, 0x1p-126f, -123.5f};
    const float rounded[6] = {1, 1, 0x1.04p0f, -0x1.02p0f, 0x1p-126f, -123.5f};
    size_t n, half;
    float got[6];
    check_ok(cavs_session_set_param(a->s, p, exact));
    check_ok(cavs_session_save(a->s, a->path));
    free(saved_read(a->path, &n));
    check_ok(cavs_session_save_as(a->s, a->path, CAVS_BFLOAT16));
    unsigned char *bytes = saved_read(a->path, &half);
    json_t *h = header(bytes);
    const char *name;
    json_t *entry;
    json_object_foreach(h, name, entry)
    {
        if (strcmp(name, "__metadata__") != 0)
            assert_string_equal(json_string_value(json_object_get(entry, "dtype")), "BF16");
    }
    assert_int_equal(half - 8 - header_length(bytes), 2 * (6 + 3));
    assert_true(half < n);
    json_decref(h);
    free(bytes);
    check_ok(cavs_session_get_param(a->s, p, got));
    assert_memory_equal(got, exact, sizeof exact);
    check_ok(cavs_session_load(a->s, a->path));
    check_ok(cavs_session_get_param(a->s, p, got));
    assert_memory_equal(got, rounded, sizeof rounded);
    check_refused(cavs_session_save_as(a->s, a->path, CAVS_PRECISIONS), CAVS_EINVAL, "precision");
}

static void files_that_are_none(void **state)
{
    struct saved *a = *state;
    struct cavs_model_file *f = NULL;
    static const char *const headers[] = {
        "{\"W\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,28]}}",
        "{\"W\":{\"dtype\":\"F32\",\"shape\":[2,-3],\"data_offsets\":[0,24]}}",
        "{\"W\":{\"dtype\":\"F32\",\"shape\":[65536,65536,2],\"data_offsets\":[0,24]}}",
        "{\"W\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[8,32]}}",
        "{\"W\":{\"dtype\":\"F32\",\"shape\":[2,\"3\"],\"data_offsets\":[0,24]}}",
        "{\"W\":{\"dtype\":\"F32\",\"shape\":6,\"data_offsets\":[0,24]}}",
        "{\"W\":{\"dtype\":\"F32\",\"shape\":[6]}}"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        saved_write_model(a->path, headers[i], (char[24]){0}, 24);
        check_refused(cavs_model_file_open(a->path, &f), CAVS_EFORMAT, a->path, "W");
    }
    /* 2^61 + 30 numbers of 8 bytes: all but 240 of these are no more than a size_t counts */
    saved_write_model(a->path,
                      "{\"W\":{\"dtype\":\"F64\",\"shape\":[1946388001,1184677982],"
                      "\"data_offsets\":[0,240]}}",
                      (char[240]){0}, 240);
    check_refused(cavs_model_file_open(a->path, &f), CAVS_EFORMAT, a->path, "byte range");
    check_refused(cavs_model_file_open(a->folder, &f), CAVS_EFORMAT, a->folder, "is a folder");
    check_refused(cavs_model_file_open("/none/such", &f), CAVS_EIO, "/none/such");
    check_refused(cavs_model_file_open(NULL, &f), CAVS_EINVAL, "path");
    assert_null(f);
    cavs_model_file_close(NULL);
    assert_null(cavs_model_file_note(NULL, "a"));
    assert_int_equal(cavs_model_file_count(NULL), 0);
}

/* ---- what others ask of the format ---- */

static void check_metadata_is_text(json_t *header)
{
    const char *name;
    json_t *text;
    assert_true(json_object_size(json_object_get(header, "__metadata__")) > 0);
    json_object_foreach(json_object_get(header, "__metadata__"), name, text)
        assert_true(json_is_string(text));
}

/* A header whose length is a multiple of 8, metadata of texts, and matrices side by side up to the
 * end of the file. */
static void the_rules_of_safetensors(void **state)
{
    struct saved *a = *state;
    check_ok(cavs_session_note(a->s, "note", "text"));
    for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
        size_t n, at = 0;
        const char *name;
        json_t *entry;
        check_ok(checkpoint ? cavs_session_checkpoint(a->s, a->path, NULL)
                            : cavs_session_save(a->s, a->path));
        unsigned char *bytes = saved_read(a->path, &n);
        json_t *h = header(bytes);
        assert_int_equal(header_length(bytes) % 8, 0);
        check_metadata_is_text(h);
        json_object_foreach(h, name, entry)
        {
            json_int_t from, to;
            if (strcmp(name, "__metadata__") == 0)
                continue;
            assert_int_equal(json_unpack(entry, "{s:[I,I]}", "data_offsets", &from, &to), 0);
            assert_int_equal(from, at);
            at = (size_t)to;
        }
        assert_int_equal(8 + header_length(bytes) + at, n);
        json_decref(h);
        free(bytes);
    }
}

/* Earlier versions, and copies without our metadata: no checksums, no prefix. */
static void checkpoints_of_earlier_versions(void **state)
{
    static const char *const names[] = {"updates", "seed", "lr", "optimizer", "shards", "note"};
    struct saved *a = *state;
    size_t n, m;
    char *note;
    check_ok(cavs_session_checkpoint(a->s, a->path, "far"));
    unsigned char *bytes = saved_read(a->path, &n), *again;
    json_t *h = header(bytes), *old = json_object();
    json_object_set_new(old, "format", json_string("cavs checkpoint"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char own[32];
        snprintf(own, sizeof own, "cavs.%s", names[i]);
        json_object_set(old, names[i], json_object_get(json_object_get(h, "__metadata__"), own));
    }
    json_object_set_new(h, "__metadata__", old);
    char *text = json_dumps(h, 0);
    saved_write_model(a->path, text, bytes + 8 + header_length(bytes),
                      n - 8 - header_length(bytes));
    const struct cavs_session_options o = adam();
    struct cavs_session *s = trial_session(&a->t, &o);
    check_ok(cavs_session_resume(s, a->path, &note));
    assert_string_equal(note, "far");
    check_ok(cavs_session_checkpoint(s, a->path, "far"));
    again = saved_read(a->path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    cavs_session_destroy(s);
    free(note);
    free(again);
    free(text);
    free(bytes);
    json_decref(h);
}

/* ---- damage ---- */

/* Flips one bit of every byte, another one each time: each file is refused, or is as good as the
 * whole one. */
static void flip_bits(struct saved *a, int (*read)(struct saved *a), void (*check)(struct saved *a),
                      int *refused, size_t *n)
{
    unsigned char *bytes = saved_read(a->path, n);
    *refused = 0;
    for (size_t i = 0; i < *n; i++) {
        bytes[i] ^= 1 << i % 8;
        saved_write(a->path, bytes, *n);
        bytes[i] ^= 1 << i % 8;
        trial_note("byte %zu, bit %zu", i, i % 8);
        if (read(a) == 0)
            check(a);
        else
            *refused += 1;
    }
    free(bytes);
}

static float before[9];

static void get(struct saved *a, float values[9])
{
    check_ok(cavs_session_get_param(a->s, cavs_model_find_param(a->t.model, "W"), values));
    check_ok(cavs_session_get_param(a->s, cavs_model_find_param(a->t.model, "b"), values + 6));
}

static int load(struct saved *a)
{
    return cavs_session_load(a->s, a->path);
}

static void check_values(struct saved *a)
{
    float now[9];
    get(a, now);
    assert_memory_equal(now, before, sizeof now);
}

static void every_flipped_byte_of_a_model_file(void **state)
{
    struct saved *a = *state;
    int refused;
    size_t n;
    get(a, before);
    check_ok(cavs_session_save(a->s, a->path));
    flip_bits(a, load, check_values, &refused, &n);
    check_values(a);
    assert_true(refused > (int)n * 9 / 10);
}

static unsigned char *whole;
static size_t whole_n;

static int resume(struct saved *a)
{
    return cavs_session_resume(a->s, a->path, NULL);
}

/* All that a checkpoint keeps is as in the whole file. */
static void check_checkpoint(struct saved *a)
{
    char path[96];
    size_t n;
    snprintf(path, sizeof path, "%s/again", a->folder);
    check_ok(cavs_session_checkpoint(a->s, path, "far"));
    unsigned char *now = saved_read(path, &n);
    unlink(path);
    assert_int_equal(n, whole_n);
    assert_memory_equal(now, whole, n);
    free(now);
}

static void every_flipped_byte_of_a_checkpoint(void **state)
{
    struct saved *a = *state;
    int refused;
    size_t n;
    check_ok(cavs_session_checkpoint(a->s, a->path, "far"));
    whole = saved_read(a->path, &whole_n);
    flip_bits(a, resume, check_checkpoint, &refused, &n);
    check_checkpoint(a);
    assert_true(refused > (int)n * 9 / 10);
    free(whole);
}

/* The message names what is damaged. */
static void damage_has_a_name(void **state)
{
    struct saved *a = *state;
    size_t n;
    check_ok(cavs_session_checkpoint(a->s, a->path, NULL));
    unsigned char *bytes = saved_read(a->path, &n);
    json_t *h = header(bytes), *entry;
    const char *name;
    json_object_foreach(h, name, entry)
    {
        json_int_t from, to;
        if (json_unpack(entry, "{s:[I,I]}", "data_offsets", &from, &to) != 0)
            continue;
        size_t at = 8 + header_length(bytes) + (size_t)(from + to) / 2;
        bytes[at] ^= 4;
        saved_write(a->path, bytes, n);
        bytes[at] ^= 4;
        check_refused(cavs_session_resume(a->s, a->path, NULL), CAVS_EFORMAT, a->path, name,
                      "is damaged");
    }
    json_decref(h);
    char *lr = memmem(bytes, n, "cavs.lr\":\"0x1", 13);
    assert_non_null(lr);
    lr[12] = '3';
    saved_write(a->path, bytes, n);
    check_refused(cavs_session_resume(a->s, a->path, NULL), CAVS_EFORMAT, "metadata");
    free(bytes);
}

static void a_file_that_is_shortened_while_it_is_open(void **state)
{
    struct saved *a = *state;
    struct cavs_model_file *f;
    int last;
    float *values;
    check_ok(cavs_session_save(a->s, a->path));
    f = open_file(a->path);
    last = cavs_model_file_count(f) - 1;
    values = calloc((size_t)cavs_model_file_rows(f, last) * (size_t)cavs_model_file_cols(f, last),
                    sizeof *values);
    assert_true(last >= 0 && values);
    assert_int_equal(truncate(a->path, 16), 0);
    check_refused(cavs_model_file_read(f, last, values), CAVS_EFORMAT, a->path, "ends within",
                  cavs_model_file_name(f, last));
    free(values);
    cavs_model_file_close(f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scene_open, saved_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(notes_are_in_every_file_from_then_on),
        TEST(names_of_notes_that_are_refused),
        TEST(names_of_parameters_that_are_refused),
        TEST(notes_do_not_disturb_checkpoints),
        TEST(parameters_by_number),
        TEST(part_of_a_model_by_name),
        TEST(other_types_become_floats),
        TEST(a_session_takes_numbers_of_other_types),
        TEST(numbers_saved_as_bfloat16),
        TEST(files_that_are_none),
        TEST(the_rules_of_safetensors),
        TEST(checkpoints_of_earlier_versions),
        TEST(every_flipped_byte_of_a_model_file),
        TEST(every_flipped_byte_of_a_checkpoint),
        TEST(damage_has_a_name),
        TEST(a_file_that_is_shortened_while_it_is_open),
    };
    return cmocka_run_group_tests_name("model file", tests, trial_runtime_up, trial_runtime_down);
}
