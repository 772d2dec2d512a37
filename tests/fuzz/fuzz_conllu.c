/* SPDX-License-Identifier: Apache-2.0 */
/* CoNLL-U: trees of HEAD, graphs of DEPS, and the text back. */
#include <stdlib.h>
#include <string.h>

#include "apps/common/conllu.h"
#include "tests/fuzz/targets.h"

static void check_children(int n, const int *ptr, const int *child)
{
    FUZZ_MUST(ptr[0] == 0, "children begin at %d", ptr[0]);
    for (int v = 0; v < n; v++)
        for (int k = ptr[v]; k < ptr[v + 1]; k++)
            FUZZ_MUST(child[k] >= 0 && child[k] < n, "child %d of %d nodes", child[k], n);
}

static void check_graphs(const struct conllu_sentence *s)
{
    int *memory = calloc(4 * (size_t)s->nodes + (size_t)s->nedges + 1, sizeof *memory);
    int *child = memory + s->nodes + 1, *scratch = child + s->nedges;

    FUZZ_MUST(memory && s->n > 0 && s->nodes >= s->n, "%d words, %d nodes", s->n, s->nodes);
    conllu_tree(s, memory, memory + s->n + 1);
    check_children(s->n, memory, memory + s->n + 1);
    conllu_graph(s, memory, child, NULL);
    check_children(s->nodes, memory, child);
    conllu_cut_cycles(s, memory, child, NULL, scratch);
    check_children(s->nodes, memory, child);
    FUZZ_MUST(conllu_cut_cycles(s, memory, child, NULL, scratch) == 0, "a cycle is left");
    free(memory);
}

/* Reads all; what is written goes to *written. */
static int read_all(const uint8_t *data, size_t size, struct conllu_options *o, FILE *written)
{
    static const struct conllu_columns same;
    struct conllu_text text = {0};
    FILE *in = fuzz_stream(data, size);
    struct conllu_stream *r;
    struct conllu_sentence s;
    struct app_error e = {0};
    int rc;

    o->text = &text;
    rc = conllu_open(&r, in, "fuzz", o, &e);
    while (rc >= 0 && (rc = conllu_next(r, &s, &e)) > 0) {
        check_graphs(&s);
        FUZZ_MUST(text.n == 1, "%d texts of one sentence", text.n);
        conllu_write(written, &text, 0, &same);
        conllu_text_empty(&text);
    }
    FUZZ_MUST(rc == 0 || e.text[0], "refused without a message");
    conllu_write_rest(written, &text);
    conllu_close(r);
    conllu_text_clear(&text);
    fclose(in);
    return rc;
}

/* A byte order mark at the beginning is dropped, all else is kept. */
static bool same_but_for_mark(const uint8_t *data, size_t size, const char *text, size_t n)
{
    size_t mark = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    return n == size - mark && memcmp(text, data + mark, n) == 0;
}

void fuzz_conllu(const uint8_t *data, size_t size)
{
    for (int partial = 0; partial < 2; partial++) {
        struct vocab *vocab = vocab_create();
        struct conllu_options o = {.forms = vocab,
                                   .upos = vocab,
                                   .relations = vocab,
                                   .deps = vocab,
                                   .grow_forms = true,
                                   .grow_tags = true,
                                   .lower = partial,
                                   .partial = partial};
        char *text = NULL;
        size_t n = 0;
        FILE *written = open_memstream(&text, &n);
        int rc = read_all(data, size, &o, written);

        fclose(written);
        FUZZ_MUST(rc < 0 || same_but_for_mark(data, size, text, n), "written otherwise: '%s'",
                  text);
        free(text);
        vocab_destroy(vocab);
    }
}
