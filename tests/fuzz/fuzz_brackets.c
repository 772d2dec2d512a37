/* SPDX-License-Identifier: Apache-2.0 */
/* Trees in brackets, with labels and without. */
#include <stdlib.h>
#include <string.h>

#include "apps/common/ptb.h"
#include "tests/fuzz/targets.h"

static int read_all(const uint8_t *data, size_t size, const struct ptb_options *o,
                    struct forest *out)
{
    FILE *in = fuzz_stream(data, size);
    struct app_error e = {0};
    int rc = ptb_read(in, "fuzz", o, out, &e);

    FUZZ_MUST(rc == 0 || e.text[0], "refused without a message");
    fclose(in);
    return rc;
}

/* One tree after the other comes to the same as all at once. */
static void read_singly(const uint8_t *data, size_t size, const struct ptb_options *o, int want_rc,
                        const struct forest *want)
{
    FILE *in = fuzz_stream(data, size);
    struct ptb_stream *s;
    struct forest f = {0};
    struct app_error e = {0};
    int rc = ptb_open(&s, in, "fuzz", o, &e), trees = 0;

    while (rc >= 0 && (rc = ptb_next(s, 1, &f, &e)) > 0) {
        FUZZ_MUST(rc == 1 && f.trees == 1, "%d trees of 1", f.trees);
        forest_empty(&f);
        trees++;
    }
    FUZZ_MUST(rc == want_rc, "%d tree by tree, %d at once", rc, want_rc);
    FUZZ_MUST(rc < 0 || trees == want->trees, "%d trees one by one, not %d", trees, want->trees);
    ptb_close(s);
    forest_clear(&f);
    fclose(in);
}

static void check_same(const struct forest *a, const struct forest *b)
{
    FUZZ_MUST(a->trees == b->trees && a->vertices == b->vertices, "other trees when read again");
    for (size_t v = 0; v < a->vertices; v++)
        FUZZ_MUST(a->label[v] == b->label[v] && a->word[v] == b->word[v] &&
                      strcmp(texts_get(&a->texts, v), texts_get(&b->texts, v)) == 0,
                  "vertex %zu is another when read again", v);
}

static void write_and_read(const struct forest *f, const struct ptb_options *o)
{
    struct forest again = {0};
    struct forest_stats stats;
    struct app_error e = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    FUZZ_MUST(forest_measure(f, &stats, &e) == 0, "%s", e.text);
    for (int t = 0; t < f->trees; t++)
        FUZZ_MUST(ptb_write(out, f, t, NULL, &e) == 0, "%s", e.text);
    fclose(out);
    FUZZ_MUST(read_all((const uint8_t *)text, size, o, &again) == 0, "written, but not read");
    check_same(f, &again);
    forest_clear(&again);
    free(text);
}

void fuzz_brackets(const uint8_t *data, size_t size)
{
    for (int unlabelled = 0; unlabelled < 2; unlabelled++) {
        struct ptb_options o = {.labels = 5,
                                .vocab = vocab_create(),
                                .grow = true,
                                .keep_words = true,
                                .unlabelled = unlabelled};
        struct forest f = {0};
        int rc = read_all(data, size, &o, &f);

        read_singly(data, size, &o, rc, &f);
        if (rc == 0)
            write_and_read(&f, &o);
        forest_clear(&f);
        vocab_destroy(o.vocab);
    }
}
