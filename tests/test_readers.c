/* SPDX-License-Identifier: Apache-2.0 */
/* The programs' readers of trees, their vocabulary, and the trees they make themselves. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/common/forest.h"
#include "apps/common/ptb.h"
#include "apps/common/random.h"
#include "apps/common/threefile.h"
#include "apps/common/vocab.h"
#include "apps/tree_shapes.h"
#include "tests/skip.h"

#define LABELS 5

/* ---- helpers --------------------------------------------------------------------------------- */

/* fmemopen() refuses empty buffers on some systems */
static FILE *open_text(const char *text)
{
    FILE *f = *text ? fmemopen((char *)text, strlen(text), "r") : fopen("/dev/null", "r");

    assert_non_null(f);
    return f;
}

static int read_brackets(const char *text, struct vocab *vocab, bool grow, struct forest *out,
                         struct app_error *e)
{
    struct ptb_options o = {.labels = LABELS, .vocab = vocab, .grow = grow};
    FILE *in = open_text(text);
    int rc = ptb_read(in, "t", &o, out, e);

    fclose(in);
    return rc;
}

/* A forest from text that has to be right. */
static struct forest brackets(const char *text, struct vocab *vocab)
{
    struct forest f = {0};
    struct app_error e = {0};

    if (read_brackets(text, vocab, true, &f, &e) != 0)
        fail_msg("refused: %s", e.text);
    return f;
}

static int read_three(const char *words, const char *parents, const char *labels,
                      struct forest *out, struct app_error *e)
{
    static const char *const names[] = {"w", "p", "l"};
    FILE *in[] = {open_text(words), open_text(parents), open_text(labels)};
    int rc = threefile_read(in, names, LABELS, out, e);

    for (int i = 0; i < 3; i++)
        fclose(in[i]);
    return rc;
}

static void assert_ints(const int *got, int n, const int *want)
{
    for (int i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("element %d is %d, not %d", i, got[i], want[i]);
}

static char *path_of(const char *folder_variable, const char *fallback, const char *file)
{
    const char *folder = getenv(folder_variable);
    char *path;

    assert_true(asprintf(&path, "%s/%s", folder ? folder : fallback, file) > 0);
    return path;
}

static struct forest_stats measure(const struct forest *f)
{
    struct forest_stats s = {0};
    struct app_error e;

    assert_int_equal(forest_measure(f, &s, &e), 0);
    return s;
}

/* ---- brackets -------------------------------------------------------------------------------- */

static void brackets_become_vertices_children_first(void **state)
{
    struct vocab *vocab = vocab_create();
    struct forest f = brackets("(4 (2 a) (3 (1 b) (0 a)))\n", vocab);
    struct tree t = forest_tree(&f, 0);

    (void)state;
    assert_int_equal(f.trees, 1);
    assert_int_equal(t.n, 5);
    assert_int_equal(t.line, 1);
    assert_ints(t.label, 5, (int[]){2, 1, 0, 3, 4});
    assert_ints(t.word, 5, (int[]){1, 2, 1, -1, -1});
    assert_ints(t.child_ptr, 6, (int[]){0, 0, 0, 0, 2, 4});
    assert_ints(t.children, 4, (int[]){1, 2, 0, 3});
    assert_string_equal(vocab_word(vocab, 2), "b");
    assert_int_equal(vocab_count(vocab, 1), 2);
    forest_clear(&f);
    vocab_destroy(vocab);
}

static void trees_keep_apart(void **state)
{
    struct vocab *vocab = vocab_create();
    struct forest f = brackets("(4 (2 a) (3 b)) (1 c)\r\n\n(0\n (2 a)\n\t(1 (3 b)))", vocab);
    struct tree one = forest_tree(&f, 1), two = forest_tree(&f, 2);

    (void)state;
    assert_int_equal(f.trees, 3);
    assert_int_equal(one.n, 1);
    assert_int_equal(one.word[0], 3);
    assert_int_equal(two.line, 3);
    assert_ints(two.child_ptr, 5, (int[]){0, 0, 0, 1, 3});
    assert_ints(two.children, 3, (int[]){1, 0, 2});
    forest_clear(&f);
    vocab_destroy(vocab);
}

static void any_arity_is_read(void **state)
{
    struct vocab *vocab = vocab_create();
    struct forest f = brackets("(0 (1 a) (2 b) (3 c) (4 (0 d)))", vocab);
    struct tree t = forest_tree(&f, 0);

    (void)state;
    assert_int_equal(tree_arity(&t, 5), 4);
    assert_int_equal(tree_arity(&t, 4), 1);
    forest_clear(&f);
    vocab_destroy(vocab);
}

static void only_ascii_space_separates_words(void **state)
{
    struct vocab *vocab = vocab_create();
    struct forest f = brackets("(0 (1 8\xc2\xa0"
                               "1/2) (2 caf\xc3\xa9))",
                               vocab);

    (void)state;
    assert_int_equal(f.vertices, 3);
    assert_int_equal(vocab_find(vocab,
                                "8\xc2\xa0"
                                "1/2",
                                6),
                     1);
    forest_clear(&f);
    vocab_destroy(vocab);
}

static void unknown_words_become_unk(void **state)
{
    struct vocab *vocab = vocab_create();
    struct forest train = brackets("(0 (1 a) (2 b))", vocab), dev = {0};
    struct app_error e;

    (void)state;
    assert_int_equal(read_brackets("(0 (1 b) (2 new))", vocab, false, &dev, &e), 0);
    assert_ints(dev.word, 2, (int[]){2, VOCAB_UNKNOWN});
    assert_int_equal(vocab_size(vocab), 3);
    forest_clear(&train);
    forest_clear(&dev);
    vocab_destroy(vocab);
}

static void an_empty_file_has_no_trees(void **state)
{
    struct vocab *vocab = vocab_create();
    struct forest f = brackets("", vocab);

    (void)state;
    assert_int_equal(f.trees, 0);
    assert_int_equal(measure(&f).vertices, 0);
    forest_clear(&f);
    vocab_destroy(vocab);
}

static void malformed_brackets_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"(2 a", "t:1:5: expected ')' for the '(' at 1:1, found the end of the file"},
        {"(2 (1 a) (2 b)", "expected ')' for the '(' at 1:1, found the end of the file"},
        {"(2 (1 a)\n(3 b)", "t:2:1: expected ')' for the '(' at 1:1 before a new tree begins"},
        {"(2 a))", "t:1:6: expected '(' or the end of the file outside of a tree, found ')'"},
        {"(2 a) b", "t:1:7: expected '(' or the end of the file outside of a tree, found 'b'"},
        {"x", "t:1:1: expected '(' or the end of the file outside of a tree, found 'x'"},
        {"()", "t:1:2: expected a label from 0 to 4 after '(', found ')'"},
        {"(1 a)\n(2 (3 ) (1 b))", "t:2:7: expected a word or '(' after the label, found ')'"},
        {"(2)", "t:1:3: expected a word or '(' after the label, found ')'"},
        {"((2 a) (1 b))", "t:1:2: expected a label from 0 to 4 after '(', found '('"},
        {"(a b)", "t:1:2: expected a label from 0 to 4 after '(', found 'a'"},
        {"(5 b)", "t:1:2: expected a label from 0 to 4 after '(', found '5'"},
        {"(-1 b)", "t:1:2: expected a label from 0 to 4 after '(', found '-1'"},
        {"(2.0 b)", "expected a label from 0 to 4 after '(', found '2.0'"},
        {"(4294967298 b)", "expected a label from 0 to 4 after '(', found '4294967298'"},
        {"(2 a b)", "t:1:6: expected ')' after a word, found 'b'"},
        {"(2 a (1 b))", "t:1:6: expected ')' after a word, found '('"},
        {"(2 (1 a) b)", "t:1:10: expected '(' or ')' after a subtree, found 'b'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vocab *vocab = vocab_create();
        struct forest f = {0};
        struct app_error e = {0};
        int rc = read_brackets(cases[i].text, vocab, true, &f, &e);

        if (rc != CAVS_EFORMAT || !strstr(e.text, cases[i].message))
            fail_msg("'%s' gave %d, '%s'\ninstead of '%s'", cases[i].text, rc, e.text,
                     cases[i].message);
        assert_int_equal(f.trees, 0); /* nothing is half-loaded */
        assert_null(f.label);
        vocab_destroy(vocab);
    }
}

static void a_missing_file_is_named(void **state)
{
    struct vocab *vocab = vocab_create();
    struct ptb_options o = {.labels = LABELS, .vocab = vocab};
    struct forest f = {0};
    struct app_error e;

    (void)state;
    assert_int_equal(ptb_load("no/such/file.txt", &o, &f, &e), CAVS_EIO);
    assert_non_null(strstr(e.text, "no/such/file.txt: No such file"));
    assert_int_equal(ptb_load("/", &o, &f, &e), CAVS_EIO);
    assert_int_equal(threefile_load("no/such", LABELS, &f, &e), CAVS_EIO);
    assert_non_null(strstr(e.text, "no/such/sents_idx.txt: No such file"));
    assert_non_null(strstr(e.text, "trees in brackets are one file"));
    vocab_destroy(vocab);
}

/* (1 (1 (1 ... word ... ))) */
static char *deep_brackets(int depth)
{
    char *text = malloc(4 * (size_t)depth + 8), *p = text;

    assert_non_null(text);
    for (int i = 0; i < depth; i++)
        p = stpcpy(p, i ? " (1" : "(1");
    p = stpcpy(p, " w");
    memset(p, ')', depth);
    p[depth] = '\0';
    return text;
}

static void a_chain_of_200000_vertices_is_read(void **state)
{
    struct vocab *vocab = vocab_create();
    char *text = deep_brackets(200000);
    struct forest f = brackets(text, vocab);

    (void)state;
    assert_int_equal(f.vertices, 200000);
    assert_int_equal(measure(&f).max_levels, 200000);
    assert_int_equal(measure(&f).leaves, 1);
    forest_clear(&f);
    vocab_destroy(vocab);
    free(text);
}

static void the_miniature_files_are_read(void **state)
{
    static const struct {
        const char *file;
        int trees, vertices, levels;
    } files[] = {{"mini.txt", 6, 36, 4}, {"mini-dev.txt", 2, 12, 3}, {"mini-any.txt", 3, 16, 4}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        char *folder = path_of("abs_top_srcdir", ".", "tests/data"), *path;
        struct vocab *vocab = vocab_create();
        struct ptb_options o = {.labels = LABELS, .vocab = vocab, .grow = true};
        struct forest f = {0};
        struct app_error e = {0};

        assert_true(asprintf(&path, "%s/%s", folder, files[i].file) > 0);
        if (ptb_load(path, &o, &f, &e) != 0)
            fail_msg("%s", e.text);
        assert_int_equal(f.trees, files[i].trees);
        assert_int_equal(f.vertices, files[i].vertices);
        assert_int_equal(measure(&f).max_levels, files[i].levels);
        forest_clear(&f);
        vocab_destroy(vocab);
        free(path);
        free(folder);
    }
}

/* The counts its users rely on; a level is a vertex on the way from the root to a leaf. */
static void the_sentiment_treebank_has_its_known_size(void **state)
{
    char *train = path_of("CAVS_DATA", "../shared/data", "sst/train.txt");
    char *dev = path_of("CAVS_DATA", "../shared/data", "sst/dev.txt");
    struct vocab *vocab = vocab_create();
    struct ptb_options o = {.labels = LABELS, .vocab = vocab, .grow = true};
    struct forest f = {0}, g = {0};
    struct app_error e = {0};
    struct forest_stats s;

    (void)state;
    if (access(train, R_OK) != 0 || access(dev, R_OK) != 0) {
        char wanted[4096];

        snprintf(wanted, sizeof wanted, "%s", train);
        vocab_destroy(vocab);
        free(train);
        free(dev);
        SKIP("no data set at %s", wanted);
    }
    if (ptb_load(train, &o, &f, &e) != 0)
        fail_msg("%s", e.text);
    s = measure(&f);
    assert_int_equal(f.trees, 8544);
    assert_int_equal(s.leaves, 163563);
    assert_int_equal(s.vertices, 318582);
    assert_int_equal(s.max_leaves, 52);
    assert_int_equal(s.max_vertices, 103);
    assert_int_equal(s.max_levels, 30);
    assert_int_equal(vocab_size(vocab), 1 + 18280);
    o.grow = false;
    assert_int_equal(ptb_load(dev, &o, &g, &e), 0);
    assert_int_equal(g.trees, 1101);
    forest_clear(&f);
    forest_clear(&g);
    vocab_destroy(vocab);
    free(train);
    free(dev);
}

/* ---- three files ----------------------------------------------------------------------------- */

static void three_files_become_the_same_trees(void **state)
{
    struct forest f = {0};
    struct app_error e = {0};
    struct tree t;

    (void)state;
    /* (4 (3 (2 7) (1 8)) (0 9)): the inner child has the larger number, but its words come first */
    assert_int_equal(read_three("7 8 9\n3\n", "4 4 5 5 0\n0\n", "2 1 0 3 4\n1", &f, &e), 0);
    assert_int_equal(f.trees, 2);
    t = forest_tree(&f, 0);
    assert_ints(t.word, 5, (int[]){7, 8, -1, 9, -1});
    assert_ints(t.label, 5, (int[]){2, 1, 3, 0, 4});
    assert_ints(t.child_ptr, 6, (int[]){0, 0, 0, 2, 2, 4});
    assert_ints(t.children, 4, (int[]){0, 1, 2, 3});
    t = forest_tree(&f, 1);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.word[0], 3);
    assert_int_equal(t.line, 2);
    forest_clear(&f);
}

static void parents_may_have_smaller_numbers_than_children(void **state)
{
    struct forest f = {0};
    struct app_error e = {0};
    struct tree t;

    (void)state;
    /* vertex 3 is the root, 5 has the words, 4 stands between them */
    assert_int_equal(read_three("1 2\n", "5 5 0 3 4\n", "0 1 2 3 4\n", &f, &e), 0);
    t = forest_tree(&f, 0);
    assert_ints(t.label, 5, (int[]){0, 1, 4, 3, 2});
    assert_ints(t.children, 4, (int[]){0, 1, 2, 3});
    forest_clear(&f);
}

static void malformed_three_files_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *words, *parents, *labels, *message;
    } cases[] = {
        {"1\n1\n", "0\n", "1\n1\n", "p:2: the file ends before this line, but w goes on"},
        {"1\n", "0\n", "1\n1\n", "w:2: the file ends before this line, but l goes on"},
        {"\n", "0\n", "1\n", "w:1:1: expected the ids of words, found an empty line"},
        {"1 2 3\n", "0 1\n", "1 1\n", "p:1:1: expected a parent for each of the 3 words, found 2"},
        {"1 2\n", "3 3 0\n", "1 1\n", "l:1:1: expected 3 labels, as many as parents, found 2"},
        {"1 x\n", "3 3 0\n", "1 1 1\n", "w:1:3: expected a whole number, found 'x'"},
        {"1 2\n", "3 3.5 0\n", "1 1 1\n", "p:1:3: expected a whole number, found '3.5'"},
        {"1 2\n", "3 99999999999 0\n", "1 1 1\n", "expected a whole number, found '99999999999'"},
        {"1 -2\n", "3 3 0\n", "1 1 1\n", "w:1:3: expected the id of a word, found -2"},
        {"1 2147483647\n", "3 3 0\n", "1 1 1\n", "w:1:3: expected the id of a word, found 2147"},
        {"1 2\n", "3 4 0\n", "1 1 1\n", "p:1:3: expected a vertex from 1 to 3 or 0"},
        {"1 2\n", "-1 3 0\n", "1 1 1\n", "p:1:1: expected a vertex from 1 to 3 or 0"},
        {"1 2\n", "3 1 0\n", "1 1 1\n", "p:1:3: expected an inner vertex (above 2), found 1"},
        {"1 2\n", "3 3 0\n", "1 1 5\n", "l:1:5: expected a label from 0 to 4, found 5"},
        {"1 2\n", "3 3 0\n", "1 -1 0\n", "l:1:3: expected a label from 0 to 4, found -1"},
        {"1 2\n", "3 3 3\n", "1 1 1\n", "p:1:1: expected a root (parent 0), found none"},
        {"1 2\n", "3 0 0\n", "1 1 1\n", "p:1:5: expected one root, found a second: 2 and 3"},
        {"1 2\n", "3 3 0 3\n", "1 1 1 1\n", "p:1:7: expected children for vertex 4"},
        {"1 2\n", "4 5 0 5 3\n1 1\n", "1 1 1 1 1\n", "the file ends before this line"},
        {"1 2\n", "3 4 0 5 4\n", "1 1 1 1 1\n", "found a cycle: vertex"},
        {"1 2\n", "3 3 0 5 4\n", "1 1 1 1 1\n", "found a cycle: vertex"},
        {"1\n", "0 2\n", "1 1\n", "found a cycle: vertex 2 is its own ancestor"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct forest f = {0};
        struct app_error e = {0};
        int rc = read_three(cases[i].words, cases[i].parents, cases[i].labels, &f, &e);

        if (rc != CAVS_EFORMAT || !strstr(e.text, cases[i].message))
            fail_msg("case %zu gave %d, '%s'\ninstead of '%s'", i, rc, e.text, cases[i].message);
        assert_int_equal(f.trees, 0);
        assert_null(f.label);
    }
}

static void an_error_after_good_samples_loads_nothing(void **state)
{
    struct forest f = {0};
    struct app_error e = {0};

    (void)state;
    assert_int_equal(read_three("1\n2\n", "0\n2\n", "1\n1\n", &f, &e), CAVS_EFORMAT);
    assert_non_null(strstr(e.text, "p:2:1: "));
    assert_int_equal(f.trees, 0);
    assert_null(f.label);
}

static void the_miniature_folder_is_read(void **state)
{
    char *folder = path_of("abs_top_srcdir", ".", "tests/data/mini-three");
    struct forest f = {0};
    struct app_error e = {0};
    struct forest_stats s;

    (void)state;
    if (threefile_load(folder, LABELS, &f, &e) != 0)
        fail_msg("%s", e.text);
    s = measure(&f);
    assert_int_equal(f.trees, 3);
    assert_int_equal(s.vertices, 13);
    assert_int_equal(s.max_levels, 4);
    assert_int_equal(s.max_word, 6);
    forest_clear(&f);
    free(folder);
}

/* ---- vocabulary ------------------------------------------------------------------------------ */

static void many_words_keep_their_ids(void **state)
{
    struct vocab *v = vocab_create();
    char word[16];

    (void)state;
    for (int i = 1; i <= 20000; i++)
        assert_int_equal(vocab_add(v, word, snprintf(word, sizeof word, "w%d", i)), i);
    for (int i = 1; i <= 20000; i += 7)
        assert_int_equal(vocab_find(v, word, snprintf(word, sizeof word, "w%d", i)), i);
    assert_int_equal(vocab_find(v, "w", 1), VOCAB_UNKNOWN);
    assert_int_equal(vocab_add(v, "<unk>", 5), VOCAB_UNKNOWN);
    vocab_destroy(v);
}

static void rare_words_are_trimmed(void **state)
{
    static const char *const words[] = {"a", "b", "a", "c", "b", "d"};
    struct vocab *v = vocab_create();
    int *map;

    (void)state;
    for (int i = 0; i < 6; i++)
        vocab_add(v, words[i], 1);
    map = vocab_trim(v, 2);
    assert_non_null(map);
    assert_ints(map, 5, (int[]){0, 1, 2, VOCAB_UNKNOWN, VOCAB_UNKNOWN});
    assert_int_equal(vocab_size(v), 3);
    assert_int_equal(vocab_find(v, "b", 1), 2);
    assert_int_equal(vocab_find(v, "c", 1), VOCAB_UNKNOWN);
    assert_int_equal(vocab_count(v, VOCAB_UNKNOWN), 2);
    free(map);
    vocab_destroy(v);
}

/* ---- trees made to order --------------------------------------------------------------------- */

/* Every vertex but the root is a child once, children come first; returns the number of levels. */
static int check_shape(enum tree_shape shape, int leaves)
{
    int n = 2 * leaves - 1;
    int *ptr = malloc((n + 1) * sizeof(int)), *kids = malloc(2 * leaves * sizeof(int));
    int *used = calloc(n, sizeof(int)), *level = calloc(n, sizeof(int)), levels;
    struct rng r;

    rng_seed(&r, 7, leaves);
    assert_int_equal(tree_shape_make(shape, leaves, &r, ptr, kids), 0);
    for (int v = 0; v < n; v++) {
        assert_int_equal(ptr[v + 1] - ptr[v], v < leaves ? 0 : 2);
        level[v] = 1;
        for (int k = ptr[v]; k < ptr[v + 1]; k++) {
            assert_in_range(kids[k], 0, v - 1);
            used[kids[k]]++;
            level[v] = level[v] > level[kids[k]] ? level[v] : level[kids[k]] + 1;
        }
    }
    for (int v = 0; v < n; v++)
        assert_int_equal(used[v], v < n - 1);
    levels = level[n - 1];
    free(ptr);
    free(kids);
    free(used);
    free(level);
    return levels;
}

static void made_trees_are_trees_of_their_shape(void **state)
{
    static const int sizes[] = {1, 2, 3, 7, 256, 1000};

    (void)state;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(check_shape(TREE_SEQUENCE, sizes[i]), sizes[i]);
        check_shape(TREE_RANDOM, sizes[i]);
        check_shape(TREE_BALANCED, sizes[i]);
    }
    assert_int_equal(check_shape(TREE_BALANCED, 256), 9);
    assert_int_equal(check_shape(TREE_BALANCED, 1000), 11);
    assert_int_equal(check_shape(TREE_SEQUENCE, 200000), 200000);
}

static void random_numbers_are_even_and_repeatable(void **state)
{
    struct rng a, b;
    int count[10] = {0};

    (void)state;
    rng_seed(&a, 1, 2);
    rng_seed(&b, 1, 2);
    for (int i = 0; i < 10000; i++) {
        uint32_t x = rng_below(&a, 10);

        assert_int_equal(x, rng_below(&b, 10));
        count[x]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(count[i], 850, 1150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brackets_become_vertices_children_first),
        cmocka_unit_test(trees_keep_apart),
        cmocka_unit_test(any_arity_is_read),
        cmocka_unit_test(only_ascii_space_separates_words),
        cmocka_unit_test(unknown_words_become_unk),
        cmocka_unit_test(an_empty_file_has_no_trees),
        cmocka_unit_test(malformed_brackets_are_refused_with_their_place),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(a_chain_of_200000_vertices_is_read),
        cmocka_unit_test(the_miniature_files_are_read),
        cmocka_unit_test(the_sentiment_treebank_has_its_known_size),
        cmocka_unit_test(three_files_become_the_same_trees),
        cmocka_unit_test(parents_may_have_smaller_numbers_than_children),
        cmocka_unit_test(malformed_three_files_are_refused_with_their_place),
        cmocka_unit_test(an_error_after_good_samples_loads_nothing),
        cmocka_unit_test(the_miniature_folder_is_read),
        cmocka_unit_test(many_words_keep_their_ids),
        cmocka_unit_test(rare_words_are_trimmed),
        cmocka_unit_test(made_trees_are_trees_of_their_shape),
        cmocka_unit_test(random_numbers_are_even_and_repeatable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
