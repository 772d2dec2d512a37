/* SPDX-License-Identifier: Apache-2.0 */
/* The readers' streams: some samples at a time, labels that are not known, and what is written
 * back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/common/conllu.h"
#include "apps/common/ptb.h"
#include "apps/common/sentences.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static FILE *open_text(const char *text)
{
    FILE *f = fmemopen((char *)text, strlen(text), "r");

    assert_non_null(f);
    return f;
}

static void assert_ints(const int *got, int n, const int *want)
{
    for (int i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("element %d is %d, not %d", i, got[i], want[i]);
}

static void assert_code(int got, int want, const struct app_error *e)
{
    if (got != want)
        fail_msg("%d instead of %d: '%s'", got, want, e->text);
}

static void assert_says(const struct app_error *e, const char *message)
{
    if (!strstr(e->text, message))
        fail_msg("'%s'\ninstead of '%s'", e->text, message);
}

/* A file in memory to be written to; written() closes it. */
struct output {
    FILE *file;
    char *text;
    size_t size;
};

static FILE *output_open(struct output *o)
{
    *o = (struct output){NULL, NULL, 0};
    o->file = open_memstream(&o->text, &o->size);
    assert_non_null(o->file);
    return o->file;
}

static void assert_written(struct output *o, const char *want)
{
    assert_int_equal(fclose(o->file), 0);
    assert_string_equal(o->text, want);
    free(o->text);
}

/* Standard input is this text; put_back() gives back what it was. */
static int replace_stdin(const char *text)
{
    int saved = dup(STDIN_FILENO), ends[2];

    assert_true(saved >= 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    return saved;
}

static void put_back(int saved)
{
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
    clearerr(stdin);
}

/* ---- brackets -------------------------------------------------------------------------------- */

static struct ptb_stream *brackets(FILE *in, const struct ptb_options *o)
{
    struct ptb_stream *s;
    struct app_error e = {0};

    assert_code(ptb_open(&s, in, "t", o, &e), 0, &e);
    return s;
}

static void trees_come_some_at_a_time(void **state)
{
    FILE *in = open_text("(1 a) (2 (0 b) (0\n a)) (3 c)\n\n(4 a)");
    struct ptb_options o = {.labels = 5, .vocab = vocab_create(), .grow = true};
    struct ptb_stream *s = brackets(in, &o);
    struct forest f = {0};
    struct app_error e = {0};
    struct tree t;

    (void)state;
    assert_code(ptb_next(s, 2, &f, &e), 2, &e);
    assert_int_equal(f.trees, 2);
    assert_int_equal(f.vertices, 4);
    forest_empty(&f);
    assert_code(ptb_next(s, 1, &f, &e), 1, &e);
    assert_code(ptb_next(s, 5, &f, &e), 1, &e); /* appended */
    assert_int_equal(f.trees, 2);
    t = forest_tree(&f, 1);
    assert_int_equal(t.label[0], 4);
    assert_int_equal(t.word[0], 1);
    assert_int_equal(t.line, 4);
    assert_code(ptb_next(s, 5, &f, &e), 0, &e);
    ptb_close(s);
    forest_clear(&f);
    vocab_destroy(o.vocab);
    fclose(in);
}

static void trees_before_an_error_are_there(void **state)
{
    FILE *in = open_text("(1 a)\n(2 (0 b) (0 a)\n(3 c)\n");
    struct ptb_options o = {.labels = 5, .vocab = vocab_create(), .keep_words = true};
    struct ptb_stream *s = brackets(in, &o);
    struct forest f = {0};
    struct app_error e = {0};

    (void)state;
    assert_code(ptb_next(s, 9, &f, &e), CAVS_EFORMAT, &e);
    assert_says(&e, "t:3:1: expected ')' for the '(' at 2:1");
    assert_int_equal(f.trees, 1);
    assert_int_equal(f.vertices, 1);
    assert_int_equal(f.texts.n, 1);
    assert_string_equal(forest_text(&f, 0, 0), "a");
    assert_code(ptb_next(s, 9, &f, &e), CAVS_EFORMAT, &e);
    assert_int_equal(f.trees, 1);
    ptb_close(s);
    forest_clear(&f);
    vocab_destroy(o.vocab);
    fclose(in);
}

static void a_stream_reads_no_further_than_asked(void **state)
{
    static const char text[] = "(1 a) (2 b)\n(x";
    struct ptb_options o = {.labels = 5, .vocab = vocab_create()};
    FILE *in = open_text(text);
    struct ptb_stream *s = brackets(in, &o);
    struct forest f = {0};
    struct app_error e = {0};

    (void)state;
    assert_code(ptb_next(s, 2, &f, &e), 2, &e); /* what is wrong comes later */
    assert_code(ptb_next(s, 1, &f, &e), CAVS_EFORMAT, &e);
    ptb_close(s);
    forest_clear(&f);
    vocab_destroy(o.vocab);
    fclose(in);
}

static void standard_input_is_a_dash(void **state)
{
    int saved = replace_stdin("(1 a)\n(7 b)\n");
    struct ptb_options o = {.labels = 5, .vocab = vocab_create()};
    struct ptb_stream *s;
    struct forest f = {0};
    struct app_error e = {0};

    (void)state;
    assert_code(ptb_open(&s, NULL, "-", &o, &e), 0, &e);
    assert_code(ptb_next(s, 1, &f, &e), 1, &e);
    assert_code(ptb_next(s, 1, &f, &e), CAVS_EFORMAT, &e);
    assert_says(&e, "standard input:2:2: expected a label from 0 to 4");
    ptb_close(s);
    put_back(saved);
    forest_clear(&f);
    vocab_destroy(o.vocab);
}

static void labels_may_be_missing(void **state)
{
    FILE *in = open_text("((A) (2 film)) (? (1\n b) ((2) (9 3)))");
    struct ptb_options o = {
        .labels = 5, .vocab = vocab_create(), .grow = true, .keep_words = true, .unlabelled = true};
    struct ptb_stream *s = brackets(in, &o);
    struct forest f = {0};
    struct app_error e = {0};
    struct tree t;

    (void)state;
    assert_code(ptb_next(s, 9, &f, &e), 2, &e);
    t = forest_tree(&f, 0);
    assert_ints(t.label, 3, (int[]){-1, 2, -1});
    assert_ints(t.word, 3, (int[]){1, 2, -1});
    t = forest_tree(&f, 1);
    assert_int_equal(t.n, 5);
    assert_ints(t.label, 5, (int[]){1, -1, -1, -1, -1}); /* 9 is none of the labels */
    assert_string_equal(forest_text(&f, 1, 0), "b");
    assert_string_equal(forest_text(&f, 1, 1), "2"); /* alone, it is a word */
    assert_string_equal(forest_text(&f, 1, 2), "3");
    assert_string_equal(forest_text(&f, 1, 3), "");
    ptb_close(s);
    forest_clear(&f);
    vocab_destroy(o.vocab);
    fclose(in);
}

static void malformed_unlabelled_brackets_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"()", "t:1:2: expected a word or '('"},
        {"(a b)", "t:1:4: expected one word in a bracket, or a label (a number or '?') before it"},
        {"(very (good))", "t:1:7: expected one word in a bracket, or a label"},
        {"(1 a b)", "t:1:6: expected ')' after a word, found 'b'"},
        {"((a) b)", "t:1:6: expected '(' or ')' after a subtree, found 'b'"},
        {"(a\n", "t:1:3: expected ')' for the '(' at 1:1, found the end of the file"},
        {"((a)\n(b))", "t:2:1: expected ')' for the '(' at 1:1 before a new tree begins"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *in = open_text(cases[i].text);
        struct ptb_options o = {.labels = 5, .vocab = vocab_create(), .unlabelled = true};
        struct ptb_stream *s = brackets(in, &o);
        struct forest f = {0};
        struct app_error e = {0};

        assert_code(ptb_next(s, 9, &f, &e), CAVS_EFORMAT, &e);
        assert_says(&e, cases[i].message);
        ptb_close(s);
        forest_clear(&f);
        vocab_destroy(o.vocab);
        fclose(in);
    }
}

static void trees_are_written_as_they_were(void **state)
{
    static const char text[] = "(4 (2 a) (3 (1 b) (0 a)))\n(1 x)\n(0 (1 (2 (3 d))) (? f))\n";
    FILE *in = open_text(text);
    struct ptb_options o = {
        .labels = 5, .vocab = vocab_create(), .keep_words = true, .unlabelled = true};
    struct ptb_stream *s = brackets(in, &o);
    struct forest f = {0};
    struct app_error e = {0};
    struct output out;

    (void)state;
    assert_code(ptb_next(s, 9, &f, &e), 3, &e);
    output_open(&out);
    for (int t = 0; t < 3; t++)
        assert_code(ptb_write(out.file, &f, t, NULL, &e), 0, &e);
    assert_written(&out, text);
    output_open(&out);
    assert_code(ptb_write(out.file, &f, 0, (int[]){1, 2, 3, 4, 0}, &e), 0, &e);
    assert_written(&out, "(0 (1 a) (4 (2 b) (3 a)))\n");
    ptb_close(s);
    forest_clear(&f);
    vocab_destroy(o.vocab);
    fclose(in);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static struct sentence_stream *sentences(FILE *in, const struct sentence_options *o)
{
    struct sentence_stream *s;
    struct app_error e = {0};

    assert_code(sentences_open(&s, in, "t", o, &e), 0, &e);
    return s;
}

static void sentences_come_some_at_a_time(void **state)
{
    FILE *in = open_text("a b\n\n c\nb\n");
    struct sentence_options o = {.words = vocab_create(), .grow = true, .keep_words = true};
    struct sentence_stream *r = sentences(in, &o);
    struct sentences s = {0};
    struct app_error e = {0};

    (void)state;
    assert_code(sentences_next(r, 2, &s, &e), 2, &e);
    assert_int_equal(s.tokens, 3);
    assert_int_equal(s.line[1], 3);
    sentences_empty(&s);
    assert_code(sentences_next(r, 2, &s, &e), 1, &e);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.word[0], 2);
    assert_string_equal(texts_get(&s.texts, 0), "b");
    assert_code(sentences_next(r, 2, &s, &e), 0, &e);
    assert_int_equal(sentences_lines(r), 4);
    sentences_close(r);
    sentences_clear(&s);
    vocab_destroy(o.words);
    fclose(in);
}

static void sentences_before_an_error_are_there(void **state)
{
    FILE *in = open_text("a|X b|X\nc|X d\n");
    struct sentence_options o = {
        .words = vocab_create(), .tags = vocab_create(), .keep_words = true};
    struct sentence_stream *r = sentences(in, &o);
    struct sentences s = {0};
    struct app_error e = {0};

    (void)state;
    assert_code(sentences_next(r, 9, &s, &e), CAVS_EFORMAT, &e);
    assert_says(&e, "t:2:5: expected word|TAG, found 'd'");
    assert_int_equal(s.n, 1);
    assert_int_equal(s.tokens, 2);
    assert_int_equal(s.texts.n, 2);
    assert_code(sentences_next(r, 9, &s, &e), CAVS_EFORMAT, &e);
    sentences_close(r);
    sentences_clear(&s);
    vocab_destroy(o.words);
    vocab_destroy(o.tags);
    fclose(in);
}

static void tags_may_be_missing_and_are_written(void **state)
{
    FILE *in = open_text("Ann|PER sees a|b|O\n|O  x| new\n");
    struct sentence_options o = {.words = vocab_create(),
                                 .tags = vocab_create(),
                                 .grow_tags = true,
                                 .keep_words = true,
                                 .untagged = true};
    struct sentence_stream *r = sentences(in, &o);
    struct sentences s = {0};
    struct app_error e = {0};
    struct output out;

    (void)state;
    assert_code(sentences_next(r, 9, &s, &e), 2, &e);
    assert_ints(s.tag, 6, (int[]){1, -1, 2, -1, -1, -1});
    assert_ints(s.word, 6, (int[]){0, 0, 0, 0, 0, 0});
    output_open(&out);
    sentences_write(out.file, &s, 0, s.tag, o.tags);
    sentences_write(out.file, &s, 1, (int[]){2, 1, 1}, o.tags);
    sentences_write(out.file, &s, 1, NULL, NULL);
    assert_written(&out, "Ann|PER sees a|b|O\n|O|O x||PER new|PER\n|O x| new\n");
    sentences_close(r);
    sentences_clear(&s);
    vocab_destroy(o.words);
    vocab_destroy(o.tags);
    fclose(in);
}

/* ---- CoNLL-U --------------------------------------------------------------------------------- */

static const char conllu[] = "# newdoc\n\n# text = can't\n"
                             "1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
                             "1\tca\tcan\t_\tMD\t_\t_\t_\t_\t_\n"
                             "# between\n"
                             "2\tn't\tnot\tPART\tRB\tX=Y\t0\troot\t_\t_\n"
                             "2.1\tgo\tgo\t_\t_\t_\t_\t_\t_\t_\r\n"
                             "\r\n\n"
                             "1\tb\tb\tX\t_\t_\t0\troot\t_\t_\n\n"
                             "# the end\n\n";

static void conllu_of_which_parts_are_unknown_is_read(void **state)
{
    FILE *in = open_text(conllu);
    struct conllu_options o = {
        .upos = vocab_create(), .relations = vocab_create(), .grow_tags = true, .partial = true};
    struct conllu_stream *r;
    struct conllu_sentence s;
    struct app_error e = {0};
    int ptr[3], child[2];

    (void)state;
    assert_code(conllu_open(&r, in, "t", &o, &e), 0, &e);
    assert_code(conllu_next(r, &s, &e), 1, &e);
    assert_int_equal(s.n, 2);
    assert_ints(s.upos, 3, (int[]){-1, 1, -1});
    assert_ints(s.head, 2, (int[]){CONLLU_NO_HEAD, CONLLU_ROOT});
    assert_ints(s.relation, 2, (int[]){-1, 1});
    conllu_tree(&s, ptr, child);
    assert_ints(ptr, 3, (int[]){0, 0, 0});
    assert_code(conllu_next(r, &s, &e), 1, &e);
    assert_int_equal(s.head[0], CONLLU_ROOT);
    assert_code(conllu_next(r, &s, &e), 0, &e);
    conllu_close(r);
    vocab_destroy(o.upos);
    vocab_destroy(o.relations);
    fclose(in);
}

static void columns_that_are_wanted_must_not_be_empty(void **state)
{
    static const struct {
        unsigned wanted;
        const char *message;
    } cases[] = {{CONLLU_HEAD, "t:5:17: expected the number of a word or 0 in the column HEAD"},
                 {CONLLU_DEPREL, "t:5:19: expected a relation in the column DEPREL"},
                 {CONLLU_DEPS, "t:5:21: expected HEAD:RELATION in the column DEPS"}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        FILE *in = open_text(conllu);
        struct conllu_options o = {.partial = true, .wanted = cases[i].wanted};
        struct conllu_stream *r;
        struct conllu_sentence s;
        struct app_error e = {0};

        assert_code(conllu_open(&r, in, "t", &o, &e), 0, &e);
        assert_int_equal(conllu_next(r, &s, &e), CAVS_EFORMAT);
        if (strncmp(e.text, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("said '%s', not '%s'", e.text, cases[i].message);
        conllu_close(r);
        fclose(in);
    }
}

static void forms_are_found_as_they_are_written(void **state)
{
    FILE *in = open_text(conllu);
    struct conllu_text text = {0};
    struct conllu_options o = {.partial = true, .text = &text};
    struct conllu_stream *r;
    struct conllu_sentence s;
    struct app_error e = {0};
    const char *form;
    size_t at = 0, n;

    (void)state;
    assert_code(conllu_open(&r, in, "t", &o, &e), 0, &e);
    assert_code(conllu_next(r, &s, &e), 1, &e);
    form = conllu_text_form(&text, 0, &at, &n);
    assert_int_equal(n, 2);
    assert_memory_equal(form, "ca", 2);
    form = conllu_text_form(&text, 0, &at, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(form, "n't", 3);
    assert_null(conllu_text_form(&text, 0, &at, &n));
    conllu_text_clear(&text);
    conllu_close(r);
    fclose(in);
}

static void conllu_is_written_as_it_was(void **state)
{
    static const int batches[] = {1, 2, 9};

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct conllu_text text = {0};
        struct conllu_options o = {.partial = true, .text = &text};
        struct conllu_columns same = {0};
        FILE *in = open_text(conllu);
        struct conllu_stream *r;
        struct conllu_sentence s;
        struct app_error e = {0};
        struct output out;
        int n, rc = 1;

        output_open(&out);
        assert_code(conllu_open(&r, in, "t", &o, &e), 0, &e);
        while (rc > 0) {
            for (n = 0; n < batches[k] && (rc = conllu_next(r, &s, &e)) > 0; n++)
                ;
            assert_code(rc < 0, 0, &e);
            assert_int_equal(text.n, n);
            for (int i = 0; i < n; i++)
                conllu_write(out.file, &text, i, &same);
            conllu_write_rest(out.file, &text);
            conllu_text_empty(&text);
        }
        assert_written(&out, conllu);
        conllu_text_clear(&text);
        conllu_close(r);
        fclose(in);
    }
}

static void predicted_columns_are_filled_in(void **state)
{
    FILE *in = open_text(conllu);
    struct conllu_text text = {0};
    struct conllu_options o = {.upos = vocab_create(), .partial = true, .text = &text};
    struct conllu_columns c = {.upos = (int[]){1, 2},
                               .head = (int[]){CONLLU_ROOT, 0},
                               .relation = (int[]){2, -1},
                               .upos_names = o.upos,
                               .relation_names = o.upos};
    struct conllu_stream *r;
    struct conllu_sentence s;
    struct app_error e = {0};
    struct output out;

    (void)state;
    vocab_add(o.upos, "AUX", 3);
    vocab_add(o.upos, "root", 4);
    assert_code(conllu_open(&r, in, "t", &o, &e), 0, &e);
    assert_code(conllu_next(r, &s, &e), 1, &e);
    output_open(&out);
    conllu_write(out.file, &text, 0, &c);
    assert_written(&out, "# newdoc\n\n# text = can't\n"
                         "1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
                         "1\tca\tcan\tAUX\tMD\t_\t0\troot\t_\t_\n"
                         "# between\n"
                         "2\tn't\tnot\troot\tRB\tX=Y\t1\t_\t_\t_\n"
                         "2.1\tgo\tgo\t_\t_\t_\t_\t_\t_\t_\r\n"
                         "\r\n");
    conllu_text_clear(&text);
    conllu_close(r);
    vocab_destroy(o.upos);
    fclose(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_come_some_at_a_time),
        cmocka_unit_test(trees_before_an_error_are_there),
        cmocka_unit_test(a_stream_reads_no_further_than_asked),
        cmocka_unit_test(standard_input_is_a_dash),
        cmocka_unit_test(labels_may_be_missing),
        cmocka_unit_test(malformed_unlabelled_brackets_are_refused),
        cmocka_unit_test(trees_are_written_as_they_were),
        cmocka_unit_test(sentences_come_some_at_a_time),
        cmocka_unit_test(sentences_before_an_error_are_there),
        cmocka_unit_test(tags_may_be_missing_and_are_written),
        cmocka_unit_test(conllu_of_which_parts_are_unknown_is_read),
        cmocka_unit_test(columns_that_are_wanted_must_not_be_empty),
        cmocka_unit_test(forms_are_found_as_they_are_written),
        cmocka_unit_test(conllu_is_written_as_it_was),
        cmocka_unit_test(predicted_columns_are_filled_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
