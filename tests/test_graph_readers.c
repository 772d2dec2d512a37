/* SPDX-License-Identifier: Apache-2.0 */
/* The programs' readers of CoNLL-U sentences and of edge lists. */
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
#include "apps/common/edge_list.h"
#include "tests/skip.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static char folder[] = "/tmp/cavs-readers-XXXXXX";

static int folder_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* A file with that content, by a name that lives until the next call but one. */
static const char *file(const char *name, const void *text, size_t n)
{
    static char paths[2][80];
    static int turn;
    char *path = paths[turn = !turn];
    FILE *f;

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
    return path;
}

static void assert_ints(const int *got, int n, const int *want)
{
    for (int i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("element %d is %d, not %d", i, got[i], want[i]);
}

/* The path of a file of a data set; the test is skipped if it is not there. */
static const char *set(const char *name)
{
    static char path[4096];
    const char *data = getenv("CAVS_DATA");

    snprintf(path, sizeof path, "%s/%s", data ? data : "../shared/data", name);
    if (access(path, R_OK) != 0)
        SKIP("no data set at %s", path);
    return path;
}

/* ---- CoNLL-U --------------------------------------------------------------------------------- */

struct seen {
    int sentences;
    int64_t words, nodes, edges, acyclic,
        shared; /* shared: nodes with several heads, the root aside */
    int longest;
    void (*check)(const struct conllu_sentence *s);
};

/* Marks nodes all of whose children are marked, until there is none: by hand and slowly. */
static bool is_acyclic(int n, const int *ptr, const int *child)
{
    bool *marked = calloc(n, sizeof *marked), more = true;
    int left = n;

    while (more && left) {
        more = false;
        for (int v = 0; v < n; v++) {
            bool ready = !marked[v];

            for (int k = ptr[v]; k < ptr[v + 1]; k++)
                ready = ready && marked[child[k]];
            left -= ready;
            more |= ready;
            marked[v] |= ready;
        }
    }
    free(marked);
    return !left;
}

/* Whether the graph has no cycle; if it has, the edges that close them are taken out. */
static bool cut(const struct conllu_sentence *s)
{
    int *ptr = malloc((4 * s->nodes + s->nedges + 1) * sizeof *ptr), *child = ptr + s->nodes + 1;
    int edges, taken;
    bool acyclic;

    conllu_graph(s, ptr, child, NULL);
    edges = ptr[s->nodes];
    acyclic = is_acyclic(s->nodes, ptr, child);
    taken = conllu_cut_cycles(s, ptr, child, NULL, child + s->nedges);
    assert_int_equal(taken == 0, acyclic);
    assert_int_equal(ptr[s->nodes], edges - taken);
    assert_true(is_acyclic(s->nodes, ptr, child));
    free(ptr);
    return acyclic;
}

static int see(void *context, const struct conllu_sentence *s, struct app_error *e)
{
    struct seen *seen = context;
    int *heads = calloc(s->nodes, sizeof *heads);

    (void)e;
    if (seen->check)
        seen->check(s);
    seen->sentences++;
    seen->words += s->n;
    seen->nodes += s->nodes;
    seen->edges += s->nedges;
    seen->acyclic += cut(s);
    if (s->n > seen->longest)
        seen->longest = s->n;
    for (int i = 0; i < s->nedges; i++)
        heads[s->edges[i].node] += s->edges[i].head >= 0;
    for (int v = 0; v < s->nodes; v++)
        seen->shared += heads[v] >= 2;
    free(heads);
    return 0;
}

static int read_conllu(const char *text, size_t n, const struct conllu_options *o,
                       struct seen *seen, struct app_error *e)
{
    const char *path = file("t", text, n);
    struct conllu_visitor visitor = {see, seen};
    int rc = conllu_read(path, o, &visitor, e);

    unlink(path);
    return rc;
}

/* Three sentences: a multi-word token, an empty node, a word with two heads, a cycle of DEPS. */
#define LINE(id, form, upos, head, relation, deps) \
    id "\t" form "\t_\t" upos "\t_\t_\t" head "\t" relation "\t" deps "\t_\n"
static const char three[] = "# text = Cats can't swim\n" LINE(
    "1", "Cats", "NOUN", "4", "nsubj", "4:nsubj") LINE("2-3", "can't", "_", "_", "_", "_")
    LINE("2", "ca", "AUX", "4", "aux", "4:aux") LINE("3", "n't", "PART", "4", "advmod", "4:advmod")
        LINE("4", "swim", "VERB", "0", "root",
             "0:root") "\n\n"
                       "# an empty node: Ann likes tea, Bob _ coffee\n" LINE(
                           "1", "Ann", "PROPN", "2", "nsubj", "2:nsubj") LINE("2", "likes", "VERB",
                                                                              "0", "root", "0:root")
                           LINE("3", "tea", "NOUN", "2", "obj", "2:obj")
                               LINE("4", "Bob", "PROPN", "2", "conj", "4.1:nsubj")
                                   LINE("4.1", "likes", "VERB", "_", "_", "2:conj:and")
                                       LINE("5", "coffee", "NOUN", "4", "orphan",
                                            "4.1:obj|2:dep") "\n" LINE("1", "she", "PRON", "2",
                                                                       "nsubj", "2:nsubj|3:ref")
                                           LINE("2", "who", "VERB", "0", "root", "0:root|3:acl")
                                               LINE("3", "new word", "NOUN", "2", "obj", "2:obj");

static int at; /* the sentence that is checked next */

static void check_three(const struct conllu_sentence *s)
{
    int ptr[8], child[8], label[8], scratch[18];

    conllu_tree(s, ptr, child);
    switch (at++) {
    case 0:
        assert_int_equal(s->line, 2);
        assert_int_equal(s->n, 4);
        assert_int_equal(s->nodes, 4);
        assert_ints(s->form, 4, (int[]){1, 2, 3, 4});
        assert_ints(s->upos, 4, (int[]){1, 2, 3, 4});
        assert_ints(s->head, 4, (int[]){3, 3, 3, CONLLU_ROOT});
        assert_ints(s->relation, 4, (int[]){1, 2, 3, 4});
        assert_ints(ptr, 5, (int[]){0, 0, 0, 0, 3});
        assert_ints(child, 3, (int[]){0, 1, 2});
        break;
    case 1:
        assert_int_equal(s->n, 5);
        assert_int_equal(s->nodes, 6);
        assert_int_equal(s->form[5], s->form[1]); /* the empty node */
        assert_ints(ptr, 6, (int[]){0, 0, 3, 3, 4, 4});
        assert_ints(child, 4, (int[]){0, 2, 3, 4});
        conllu_graph(s, ptr, child, label);
        assert_ints(ptr, 7, (int[]){0, 0, 4, 4, 4, 4, 6});
        assert_ints(child, 6, (int[]){0, 2, 5, 4, 3, 4});
        assert_int_equal(label[0], label[4]); /* nsubj */
        assert_int_not_equal(label[1], label[2]);
        break;
    case 2:
        assert_int_equal(s->n, 3);
        assert_int_equal(s->nedges, 5);
        assert_int_equal(s->edges[3].head, 2);
        assert_int_equal(s->edges[2].head, CONLLU_ROOT);
        /* who -> she, who -> new word, new word -> she; new word -> who goes back */
        conllu_graph(s, ptr, child, label);
        assert_ints(child, 4, (int[]){0, 2, 0, 1});
        assert_int_equal(conllu_cut_cycles(s, ptr, child, label, scratch), 1);
        assert_ints(ptr, 4, (int[]){0, 0, 2, 3});
        assert_ints(child, 3, (int[]){0, 2, 0});
        assert_ints(label, 3, (int[]){1, s->edges[4].relation, s->edges[1].relation});
        break;
    default: fail_msg("a fourth sentence");
    }
}

static void sentences_have_trees_and_graphs(void **state)
{
    struct conllu_options o = {.forms = vocab_create(),
                               .upos = vocab_create(),
                               .relations = vocab_create(),
                               .deps = vocab_create(),
                               .grow_forms = true,
                               .grow_tags = true};
    struct seen seen = {.check = check_three};
    struct app_error e = {0};

    (void)state;
    at = 0;
    if (read_conllu(three, sizeof three - 1, &o, &seen, &e) != 0)
        fail_msg("refused: %s", e.text);
    assert_int_equal(seen.sentences, 3);
    assert_int_equal(seen.words, 12);
    assert_int_equal(seen.nodes, 13);
    assert_int_equal(seen.acyclic, 2);
    assert_int_equal(seen.shared, 2);
    assert_string_equal(vocab_word(o.forms, vocab_size(o.forms) - 1), "new word");
    assert_int_not_equal(vocab_find(o.deps, "conj:and", 8), VOCAB_UNKNOWN);
    vocab_destroy(o.forms);
    vocab_destroy(o.upos);
    vocab_destroy(o.relations);
    vocab_destroy(o.deps);
}

static void check_unknown(const struct conllu_sentence *s)
{
    assert_ints(s->form, 2, (int[]){1, VOCAB_UNKNOWN});
    assert_ints(s->upos, 2, (int[]){0, 0});
    assert_ints(s->relation, 2, (int[]){0, 0});
}

static void unwanted_columns_are_zero_and_unknown_words_unk(void **state)
{
    static const char text[] =
        LINE("1", "Cats", "X", "2", "a", "_") LINE("2", "swim", "Y", "0", "b", "_");
    struct conllu_options o = {.forms = vocab_create(), .lower = true};
    struct seen seen = {.check = check_unknown};
    struct app_error e = {0};

    (void)state;
    vocab_add(o.forms, "cats", 4);
    assert_int_equal(read_conllu(text, sizeof text - 1, &o, &seen, &e), 0);
    assert_int_equal(seen.sentences, 1);
    assert_int_equal(seen.edges, 0);
    assert_int_equal(vocab_size(o.forms), 2);
    vocab_destroy(o.forms);
}

static void malformed_sentences_are_refused_with_their_place(void **state)
{
#define GOOD LINE("1", "a", "X", "0", "root", "0:root")
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"1\ta\t_\tX\t_\t_\t0\troot\t_\n", ":1:21: expected 10 columns"},
        {"1\ta\t_\tX\t_\t_\t0\troot\t_\t_\tmore\n",
         "1:24: expected 10 columns between tabs, found 'more'"},
        {"1\t\t_\tX\t_\t_\t0\troot\t_\t_\n", ":1:3: expected a value or '_' in column 2"},
        {LINE("2", "a", "X", "0", "root", "_"), ":1:1: expected the ID 1, found '2'"},
        {GOOD LINE("1", "a", "X", "1", "x", "_"), ":2:1: expected the ID 2, found '1'"},
        {LINE("one", "a", "X", "0", "root", "_"), "expected an ID"},
        {LINE("1.", "a", "X", "0", "root", "_"), "expected an ID"},
        {LINE("2.1", "a", "X", "_", "_", "_"), "expected 0.1 or 1, found '2.1'"},
        {GOOD LINE("1.2", "a", "X", "_", "_", "_"), "expected 1.1 or 2, found '1.2'"},
        {LINE("2-3", "a", "_", "_", "_", "_"),
         "expected 1 or a range of words that begins with it"},
        {LINE("1-0", "a", "_", "_", "_", "_"), "range of words"},
        {LINE("1-2", "a", "_", "_", "_", "_") LINE("1-2", "a", "_", "_", "_", "_"),
         ":2:1: expected 1 or a range"},
        {LINE("1-2", "ab", "_", "_", "_", "_") GOOD "\n", ":3: expected word 2"},
        {LINE("1-2", "ab", "_", "_", "_", "_"), "expected word 1"},
        {LINE("0.1", "ab", "_", "_", "_", "_"), "expected word 1"},
        {LINE("1", "a", "X", "_", "root", "_"),
         ":1:13: expected the number of a word or 0 in the column HEAD"},
        {LINE("1", "a", "X", "2", "root", "_"),
         ":1:13: expected another word of the sentence or 0, found 2"},
        {LINE("1", "a", "X", "1", "root", "_"),
         "expected another word of the sentence or 0, found 1"},
        {GOOD LINE("2", "a", "X", "0", "root", "_"),
         ":2:13: expected the head of a word (there is a root before), found 0"},
        {GOOD "\n" LINE("1", "a", "X", "2", "x", "_") LINE("2", "a", "X", "1", "x", "_"),
         ":3: expected a tree, found a cycle: word 2 is its own ancestor"},
        {LINE("1", "a", "X", "0", "root", "root"),
         ":1:20: expected HEAD:RELATION in the column DEPS, found 'root'"},
        {LINE("1", "a", "X", "0", "root", "0:"), "expected HEAD:RELATION"},
        {LINE("1", "a", "X", "0", "root", "x:root"), "expected HEAD:RELATION"},
        {LINE("1", "a", "X", "0", "root", "0:root|"),
         ":1:27: expected HEAD:RELATION in the column DEPS, found ''"},
        {LINE("1", "a", "X", "0", "root", "0:root|2:x"),
         ":1:27: expected a node of the sentence or 0, found 2"},
        {LINE("1", "a", "X", "0", "root", "1.3:x"),
         "expected a node of the sentence or 0, found 1.3"},
        {LINE("1", "a", "X", "0", "root", "99999999999:x"), "expected HEAD:RELATION"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conllu_options o = {.lower = false};
        struct seen seen = {0};
        struct app_error e = {0};
        int rc = read_conllu(cases[i].text, strlen(cases[i].text), &o, &seen, &e);

        if (rc != CAVS_EFORMAT || !strstr(e.text, cases[i].says) || !strstr(e.text, folder))
            fail_msg("case %zu gave %d, \"%s\", not \"%s\"", i, rc, e.text, cases[i].says);
    }
}

static void a_line_of_spaces_and_tabs_ends_a_sentence(void **state)
{
    static const char text[] = " \n" GOOD " \t\r\n" GOOD "\t\n";
    struct conllu_options o = {.lower = false};
    struct seen seen = {0};
    struct app_error e = {0};

    (void)state;
    if (read_conllu(text, sizeof text - 1, &o, &seen, &e) != 0)
        fail_msg("refused: %s", e.text);
    assert_int_equal(seen.sentences, 2);
}

static void a_nul_byte_is_no_text(void **state)
{
    struct conllu_options o = {.lower = false};
    struct seen seen = {0};
    struct app_error e = {0};

    (void)state;
    assert_int_equal(read_conllu("# a\0b\n", 6, &o, &seen, &e), CAVS_EFORMAT);
    assert_non_null(strstr(e.text, ":1:4: expected text, found a NUL byte"));
    assert_int_equal(read_conllu("", 0, &o, &seen, &e), 0);
    assert_int_equal(seen.sentences, 0);
    assert_int_equal(conllu_read("/nonexistent/t", &o, NULL, &e), CAVS_EIO);
    assert_non_null(strstr(e.text, "/nonexistent/t"));
}

static void ud_ewt_has_its_known_size(void **state)
{
    static const struct {
        const char *file;
        int sentences, words, longest;
    } sets[] = {{"ud_ewt/en_ewt-ud-train.conllu", 12544, 204577, 159},
                {"ud_ewt/en_ewt-ud-dev.conllu", 2001, 25147, 0}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *path = set(sets[i].file);
        struct conllu_options o = {.lower = false};
        struct seen seen = {0};
        struct conllu_visitor visitor = {see, &seen};
        struct app_error e = {0};

        if (conllu_read(path, &o, &visitor, &e) != 0)
            fail_msg("%s", e.text);
        assert_int_equal(seen.sentences, sets[i].sentences);
        assert_int_equal(seen.words, sets[i].words);
        if (i > 0)
            continue;
        assert_int_equal(seen.longest, sets[i].longest);
        assert_int_equal(seen.acyclic, 10749);
        assert_int_equal(seen.shared, 9927);
        assert_int_equal(seen.nodes - seen.words, 37);
    }
}

/* ---- edge lists ------------------------------------------------------------------------------ */

static int read_graph(const char *content, const char *cites, struct edge_list *g,
                      struct app_error *e)
{
    const char *a = file("content", content, strlen(content)),
               *b = file("cites", cites, strlen(cites));
    int rc = edge_list_load(a, b, g, e);

    unlink(a);
    unlink(b);
    return rc;
}

static void nodes_and_edges_are_read(void **state)
{
    struct edge_list g = {0};
    struct app_error e = {0};

    (void)state;
    if (read_graph("a 0 1.5 cat\nb\t-1\t0\tdog\n\nc 1 1 cat\n", "a b\nb c\n\nc a\n", &g, &e) != 0)
        fail_msg("refused: %s", e.text);
    assert_int_equal(g.n, 3);
    assert_int_equal(g.width, 2);
    assert_memory_equal(g.feature, ((float[]){0, 1.5f, -1, 0, 1, 1}), 6 * sizeof(float));
    assert_ints(g.label, 3, (int[]){0, 1, 0});
    assert_int_equal(g.nedges, 3);
    assert_ints(g.to, 3, (int[]){0, 1, 2});
    assert_ints(g.from, 3, (int[]){1, 2, 0});
    assert_string_equal(vocab_word(g.names, 1 + 2), "c");
    assert_string_equal(vocab_word(g.labels, 1 + 1), "dog");
    edge_list_clear(&g);
}

/* Classes in the order of another file, and nodes without any. */
static void a_graph_for_a_model_has_its_classes(void **state)
{
    struct vocab *classes = vocab_create();
    struct edge_list known = {.form = {.width = 2, .classes = classes}};
    struct edge_list other = known, bare = known;
    struct app_error e = {0};

    (void)state;
    assert_int_equal(vocab_add(classes, "dog", 3), 1);
    assert_int_equal(vocab_add(classes, "cat", 3), 2);
    if (read_graph("a 0 1 cat\nb 1 0 dog\n", "", &known, &e) != 0)
        fail_msg("refused: %s", e.text);
    assert_ints(known.label, 2, (int[]){1, 0});
    assert_int_equal(read_graph("a 0 1 cat\nb 1 0 cow\n", "", &other, &e), CAVS_EFORMAT);
    assert_non_null(strstr(e.text, "content:2:7: expected a class of the model, found 'cow'"));
    bare.form.unlabelled = true;
    if (read_graph("a 0 1\nb 1 0 cow\nc 7 8 cat\n", "a c\n", &bare, &e) != 0)
        fail_msg("refused: %s", e.text);
    assert_ints(bare.label, 3, (int[]){-1, -1, -1});
    assert_memory_equal(bare.feature, ((float[]){0, 1, 1, 0, 7, 8}), 6 * sizeof(float));
    edge_list_clear(&known);
    edge_list_clear(&other);
    edge_list_clear(&bare);
    vocab_destroy(classes);
}

static void malformed_graphs_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *content, *cites, *says;
    } cases[] = {
        {"a\n", "", "content:1:2: expected features and a class"},
        {"a 0 x\na 0 x\n", "", "content:2:1: expected the name of a node that is not there yet"},
        {"a 0 one x\n", "", "content:1:5: expected a number, found 'one'"},
        {"a 0 1x x\n", "", "content:1:5: expected a number, found '1x'"},
        {"a nan x\n", "", "expected a number, found 'nan'"},
        {"a 0 1 x\nb 0 x\n", "", "content:2:5: expected 2 features before the class, not 1"},
        {"a 0 x\nb 0 1 x\n", "", "content:2:5: expected a class after 1 features"},
        {"a 0 x\n", "a b\n", "cites:1:3: expected the name of a node, found 'b'"},
        {"a 0 x\n", "a\n", "cites:1:2: expected the name of a node, found the end of the line"},
        {"a 0 x\n", "\na a a\n", "cites:2:5: expected the end of the line"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct edge_list g = {0};
        struct app_error e = {0};
        int rc = read_graph(cases[i].content, cases[i].cites, &g, &e);

        if (rc != CAVS_EFORMAT || !strstr(e.text, cases[i].says))
            fail_msg("case %zu gave %d, \"%s\", not \"%s\"", i, rc, e.text, cases[i].says);
        edge_list_clear(&g);
    }
}

static int read_split(const char *text, int **nodes, int *n, struct app_error *e)
{
    const char *path = file("split", text, strlen(text));
    int rc = edge_list_split(path, 10, nodes, n, e);

    unlink(path);
    return rc;
}

static void splits_are_read(void **state)
{
    static const char *const wrong[][2] = {
        {"10\n", ":1:1: expected a node from 0 to 9, found '10'"},
        {"1 2\n", ":1:3: expected one number a line"},
        {"Number of nodes:\nmany\n", ":2:1: expected a number of nodes"},
        {"Number of nodes:\n2\nIndices:\n1\n", "expected 2 nodes in all, found 1"},
    };
    struct app_error e = {0};
    int *nodes, n;

    (void)state;
    assert_int_equal(read_split("3\n\n9\n", &nodes, &n, &e), 0);
    assert_int_equal(n, 2);
    assert_ints(nodes, 2, (int[]){3, 9});
    free(nodes);
    assert_int_equal(read_split("Number:\n1\nPercentage:\n60\nIndices:\n0\n", &nodes, &n, &e), 0);
    assert_int_equal(n, 1);
    assert_ints(nodes, 1, (int[]){0});
    free(nodes);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (read_split(wrong[i][0], &nodes, &n, &e) != CAVS_EFORMAT || !strstr(e.text, wrong[i][1]))
            fail_msg("case %zu gave \"%s\"", i, e.text);
    }
}

static void cora_has_its_known_size(void **state)
{
    const char *path = set("cora/cora.cites");
    char cites[4096];
    struct edge_list g = {0};
    struct app_error e = {0};
    int *nodes, n;

    (void)state;
    strcpy(cites, path);
    if (edge_list_load(set("cora/cora.content"), cites, &g, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(g.n, 2708);
    assert_int_equal(g.width, 1433);
    assert_int_equal(g.nedges, 5429);
    assert_int_equal(vocab_size(g.labels), 1 + 7);
    if (edge_list_split(set("cora/cora.train"), g.n, &nodes, &n, &e) != 0)
        fail_msg("%s", e.text);
    assert_int_equal(n, 1624);
    free(nodes);
    edge_list_clear(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_have_trees_and_graphs),
        cmocka_unit_test(unwanted_columns_are_zero_and_unknown_words_unk),
        cmocka_unit_test(malformed_sentences_are_refused_with_their_place),
        cmocka_unit_test(a_line_of_spaces_and_tabs_ends_a_sentence),
        cmocka_unit_test(a_nul_byte_is_no_text),
        cmocka_unit_test(ud_ewt_has_its_known_size),
        cmocka_unit_test(nodes_and_edges_are_read),
        cmocka_unit_test(a_graph_for_a_model_has_its_classes),
        cmocka_unit_test(malformed_graphs_are_refused_with_their_place),
        cmocka_unit_test(splits_are_read),
        cmocka_unit_test(cora_has_its_known_size),
    };

    return cmocka_run_group_tests(tests, folder_up, folder_down);
}
