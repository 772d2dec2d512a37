/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mutated_files.c - model files and checkpoints in which a bit has flipped, or that were cut:
 * each is refused, or comes to the very numbers of the sound one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_model.h"
#include "tests/fuzz/targets.h"

/* A sound file, and what a session comes to from it. */
struct sound {
    uint8_t *bytes;
    size_t size;
    float *values;
    char *note; /* of a checkpoint */
};

/* Takes the file: 0, with the parameters that come of it (of a checkpoint, after a batch more), or
 * a negative code. */
typedef int take(const char *path, float *values, char **note);

static int load_model(const char *path, float *values, char **note)
{
    int rc = cavs_session_load(fuzz_session(), path);

    *note = NULL;
    if (rc == 0)
        fuzz_get_values(fuzz_session(), values);
    return rc;
}

static int resume(const char *path, float *values, char **note)
{
    int rc;

    *note = NULL;
    rc = cavs_session_resume(fuzz_session(), path, note);
    if (rc < 0)
        return rc;
    fuzz_train(fuzz_session());
    fuzz_get_values(fuzz_session(), values);
    return 0;
}

static int take_bytes(take *how, const uint8_t *bytes, size_t size, float *values, char **note)
{
    struct fuzz_file file = fuzz_file(bytes, size);
    int rc = how(file.path, values, note);

    fuzz_file_close(&file);
    return rc;
}

static struct sound sound_file(void (*make)(const char *path), take *how)
{
    struct sound s = {0};

    s.bytes = fuzz_made(make, &s.size);
    s.values = calloc((size_t)fuzz_values(), sizeof *s.values);
    assert_non_null(s.values);
    if (take_bytes(how, s.bytes, s.size, s.values, &s.note) != 0)
        fail_msg("the sound file is refused: %s", cavs_error_message());
    return s;
}

static void drop(struct sound *s)
{
    free(s->bytes);
    free(s->values);
    free(s->note);
}

static bool same_note(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* 0: refused; 1: the same; -1: other numbers */
static int try_bytes(const struct sound *s, take *how, const uint8_t *bytes, size_t size)
{
    size_t n = (size_t)fuzz_values() * sizeof(float);
    float *values = malloc(n);
    char *note = NULL;
    int rc = take_bytes(how, bytes, size, values, &note), result = 0;

    if (rc == 0)
        result = memcmp(values, s->values, n) == 0 && same_note(note, s->note) ? 1 : -1;
    free(note);
    free(values);
    return result;
}

static void flip_every_bit(void (*make)(const char *path), take *how)
{
    struct sound s = sound_file(make, how);
    long refused = 0, same = 0, other = 0, first = -1;

    for (size_t bit = 0; bit < 8 * s.size; bit++) {
        int result;

        s.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        result = try_bytes(&s, how, s.bytes, s.size);
        s.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        refused += result == 0;
        same += result > 0;
        other += result < 0;
        if (result < 0 && first < 0)
            first = (long)bit;
    }
    print_message("# of %zu flipped bits %ld are refused, %ld change nothing\n", 8 * s.size,
                  refused, same);
    if (other)
        fail_msg("%ld of %zu flipped bits are not noticed; the first in byte %ld", other,
                 8 * s.size, first / 8);
    assert_true(refused > 0);
    drop(&s);
}

static void cut_everywhere(void (*make)(const char *path), take *how)
{
    struct sound s = sound_file(make, how);

    for (size_t n = 0; n < s.size; n++)
        if (try_bytes(&s, how, s.bytes, n) != 0)
            fail_msg("cut to %zu of %zu bytes, the file is not refused", n, s.size);
    drop(&s);
}

static void a_flipped_bit_of_a_checkpoint_is_noticed(void **state)
{
    (void)state;
    flip_every_bit(fuzz_make_checkpoint, resume);
}

static void a_flipped_bit_of_a_model_file_is_noticed(void **state)
{
    (void)state;
    flip_every_bit(fuzz_make_model_file, load_model);
}

static void a_file_that_was_cut_is_refused(void **state)
{
    (void)state;
    cut_everywhere(fuzz_make_checkpoint, resume);
    cut_everywhere(fuzz_make_model_file, load_model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_was_cut_is_refused),
        cmocka_unit_test(a_flipped_bit_of_a_checkpoint_is_noticed),
        cmocka_unit_test(a_flipped_bit_of_a_model_file_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
