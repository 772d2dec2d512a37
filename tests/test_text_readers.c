/* SPDX-License-Identifier: Apache-2.0 */
/* The programs' reader of sentences, with and without tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/common/data_files.h"
#include "apps/common/sentences.h"
#include "tests/skip.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static int read_bytes(const char *text, size_t n, const struct sentence_options *o,
                      struct sentences *out, struct app_error *e)
{
    /* fmemopen() refuses empty buffers on some systems */
    FILE *in = n ? fmemopen((char *)text, n, "r") : fopen("/dev/null", "r");
    int rc;

    assert_non_null(in);
    rc = sentences_read(in, "t", o, out, e);
    fclose(in);
    return rc;
}

/* Sentences from text that has to be right. */
static struct sentences sentences(const char *text, const struct sentence_options *o)
{
    struct sentences s = {0};
    struct app_error e = {0};

    if (read_bytes(text, strlen(text), o, &s, &e) != 0)
        fail_msg("refused: %s", e.text);
    return s;
}

static void assert_ints(const int *got, int n, const int *want)
{
    for (int i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("element %d is %d, not %d", i, got[i], want[i]);
}

/* Options with vocabularies that grow. */
static struct sentence_options growing(bool tags)
{
    struct sentence_options o = {.words = vocab_create(), .grow = true, .grow_tags = tags};

    assert_non_null(o.words);
    if (tags)
        assert_non_null(o.tags = vocab_create());
    return o;
}

static void drop(struct sentence_options *o, struct sentences *s)
{
    sentences_clear(s);
    vocab_destroy(o->words);
    vocab_destroy(o->tags);
}

/* ---- plain text ------------------------------------------------------------------------------ */

static void a_byte_order_mark_is_no_part_of_the_first_word(void **state)
{
    struct sentence_options o = growing(false);
    struct sentences s = sentences("\xef\xbb\xbf"
                                   "a b\n\xef\xbb\xbf"
                                   "a",
                                   &o);

    (void)state;
    assert_int_equal(vocab_find(o.words, "a", 1), 1);
    assert_ints(s.word, 3, (int[]){1, 2, 3});
    sentences_clear(&s);
    s = sentences("\xef\xbb\xbf", &o);
    assert_int_equal(s.n, 0);
    drop(&o, &s);
}

static void lines_become_sentences(void **state)
{
    struct sentence_options o = growing(false);
    struct sentences s = sentences("a b  a\r\n\n \t\n b c", &o);

    (void)state;
    assert_int_equal(s.n, 2);
    assert_int_equal(s.tokens, 5);
    assert_int_equal(sentences_length(&s, 0), 3);
    assert_int_equal(sentences_length(&s, 1), 2);
    assert_ints(s.word, 5, (int[]){1, 2, 1, 2, 3});
    assert_null(s.tag);
    drop(&o, &s);
}

static void an_end_word_closes_every_line(void **state)
{
    struct sentence_options o = growing(false);
    struct sentences s;

    (void)state;
    o.end = "<eos>";
    s = sentences("a\n\nb\n", &o);
    assert_int_equal(s.n, 3);
    assert_ints(s.word, 5, (int[]){1, 2, 2, 3, 2});
    assert_string_equal(vocab_word(o.words, 2), "<eos>");
    drop(&o, &s);
}

static void an_end_word_has_no_tag(void **state)
{
    struct sentence_options o = growing(true);
    struct sentences s;

    (void)state;
    o.end = "<eos>";
    s = sentences("a|X b|Y\n\nc|X\n", &o);
    assert_int_equal(s.tokens, 6);
    assert_ints(s.tag, 6, (int[]){1, 2, -1, -1, 1, -1});
    assert_ints(s.word, 6, (int[]){1, 2, 3, 3, 4, 3});
    drop(&o, &s);
}

static void unknown_words_become_unk(void **state)
{
    struct sentence_options o = growing(false);
    struct sentences s = sentences("a <unk> b", &o);

    (void)state;
    assert_ints(s.word, 3, (int[]){1, VOCAB_UNKNOWN, 2});
    sentences_clear(&s);
    o.grow = false;
    s = sentences("b new", &o);
    assert_ints(s.word, 2, (int[]){2, VOCAB_UNKNOWN});
    assert_int_equal(vocab_size(o.words), 3);
    drop(&o, &s);
}

static void only_ascii_space_separates_words(void **state)
{
    struct sentence_options o = growing(false);
    struct sentences s = sentences("8\xc2\xa0"
                                   "1/2 caf\xc3\xa9\x0b",
                                   &o);

    (void)state;
    assert_int_equal(s.tokens, 2);
    drop(&o, &s);
}

static void an_empty_file_has_no_sentences(void **state)
{
    struct sentence_options o = growing(false);
    struct sentences s = sentences("", &o);

    (void)state;
    assert_int_equal(s.n, 0);
    assert_int_equal(s.tokens, 0);
    assert_int_equal(s.first[0], 0);
    drop(&o, &s);
}

/* ---- tags ------------------------------------------------------------------------------------ */

static void the_last_bar_divides_word_and_tag(void **state)
{
    struct sentence_options o = growing(true);
    struct sentences s = sentences("Anna|PER a|b|O |||O Anna|O", &o);

    (void)state;
    assert_int_equal(s.tokens, 4);
    assert_ints(s.word, 4, (int[]){1, 2, 3, 1});
    assert_ints(s.tag, 4, (int[]){1, 2, 2, 2});
    assert_string_equal(vocab_word(o.words, 2), "a|b");
    assert_string_equal(vocab_word(o.words, 3), "||");
    sentences_clear(&s);
    o.grow_tags = false;
    s = sentences("x|NEW x|O", &o);
    assert_ints(s.tag, 2, (int[]){VOCAB_UNKNOWN, 2});
    drop(&o, &s);
}

static void malformed_text_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        const char *message;
    } cases[] = {
        {"a|O b", 5, "t:1:5: expected word|TAG, found 'b'"},
        {"a|O\n\n |O", 8, "t:3:2: expected word|TAG, found '|O'"},
        {"a|", 2, "t:1:1: expected word|TAG, found 'a|'"},
        {"|", 1, "t:1:1: expected word|TAG, found '|'"},
        {"a|O\nb\0|O", 8, "t:2:2: expected text, found a NUL byte"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sentence_options o = growing(true);
        struct sentences s = {0};
        struct app_error e = {0};
        int rc = read_bytes(cases[i].text, cases[i].length, &o, &s, &e);

        if (rc != CAVS_EFORMAT || !strstr(e.text, cases[i].message))
            fail_msg("'%s' gave %d, '%s'\ninstead of '%s'", cases[i].text, rc, e.text,
                     cases[i].message);
        assert_int_equal(s.n, 0); /* nothing is half-loaded */
        assert_null(s.word);
        drop(&o, &s);
    }
}

static void a_missing_file_is_named(void **state)
{
    struct sentence_options o = growing(false);
    struct sentences s = {0};
    struct app_error e;

    (void)state;
    assert_int_equal(sentences_load("no/such/file.txt", &o, &s, &e), CAVS_EIO);
    assert_non_null(strstr(e.text, "no/such/file.txt: No such file"));
    assert_int_equal(sentences_load("/", &o, &s, &e), CAVS_EIO);
    drop(&o, &s);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void a_set_that_was_named_needs_no_folder_of_sets(void **state)
{
    struct app_error e;
    char *path = NULL;

    (void)state;
    assert_int_equal(data_file_find("/dev/null", "no/such", "train", &path, &e), 0);
    assert_string_equal(path, "/dev/null");
    free(path);
    path = NULL;
    assert_int_equal(data_file_find(NULL, "no/such", "train", &path, &e), CAVS_EIO);
    assert_non_null(strstr(e.text, "no data set at "));
    assert_non_null(strstr(e.text, "--train"));
    free(path);
}

static void check_set(const char *file, const char *end, bool tags, int lines, size_t tokens)
{
    const char *folder = getenv("CAVS_DATA");
    struct sentence_options o = growing(tags);
    struct sentences s = {0};
    struct app_error e = {0};
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/data", file);
    if (access(path, R_OK) != 0) {
        drop(&o, &s);
        SKIP("no data set at %s", path);
    }
    o.end = end;
    if (sentences_load(path, &o, &s, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(s.n, lines);
    assert_int_equal(s.tokens, tokens);
    drop(&o, &s);
}

static void wikitext2_has_its_known_size(void **state)
{
    (void)state;
    check_set("wikitext2/wiki.train.tokens", "<eos>", false, 36718, 2088628);
    check_set("wikitext2/wiki.valid.tokens", "<eos>", false, 3760, 217646);
}

static void wikiner_has_its_known_size(void **state)
{
    (void)state;
    check_set("wikiner10k/train.txt", NULL, true, 10000, 248038);
    check_set("wikiner10k/dev.txt", NULL, true, 1696, 39007);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_order_mark_is_no_part_of_the_first_word),
        cmocka_unit_test(lines_become_sentences),
        cmocka_unit_test(an_end_word_closes_every_line),
        cmocka_unit_test(an_end_word_has_no_tag),
        cmocka_unit_test(unknown_words_become_unk),
        cmocka_unit_test(only_ascii_space_separates_words),
        cmocka_unit_test(an_empty_file_has_no_sentences),
        cmocka_unit_test(the_last_bar_divides_word_and_tag),
        cmocka_unit_test(malformed_text_is_refused_with_its_place),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(a_set_that_was_named_needs_no_folder_of_sets),
        cmocka_unit_test(wikitext2_has_its_known_size),
        cmocka_unit_test(wikiner_has_its_known_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
