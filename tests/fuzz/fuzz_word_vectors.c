/* SPDX-License-Identifier: Apache-2.0 */
/* Word vectors as text; its first line says how many columns there are to be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/word_vectors.h"
#include "tests/fuzz/targets.h"

enum { MOST_COLUMNS = 9 };

static const char *const known[] = {"the", "of", "New York", "1", "\xc3\xa4"};
enum { ROWS = 1 + sizeof known / sizeof known[0] };

struct table {
    float values[ROWS * MOST_COLUMNS];
    bool found[ROWS];
    struct word_vectors v;
};

static void make(struct table *t, const struct vocab *words, int cols)
{
    memset(t, 0, sizeof *t);
    for (int i = 0; i < ROWS * MOST_COLUMNS; i++)
        t->values[i] = NAN;
    t->v =
        (struct word_vectors){.words = words, .cols = cols, .values = t->values, .found = t->found};
}

/* Rows of words that were not found stay what they were; those of the others are numbers, unless
 * something was refused. */
static int read_all(const uint8_t *data, size_t size, struct table *t)
{
    FILE *in = fuzz_stream(data, size);
    struct app_error e = {0};
    int rc = word_vectors_read(in, "fuzz", &t->v, &e);

    fclose(in);
    FUZZ_MUST(rc == 0 || e.text[0], "refused without a message");
    FUZZ_MUST(!t->found[VOCAB_UNKNOWN], "an unknown word has a vector");
    for (int i = 0; i < ROWS * t->v.cols; i++)
        if (!t->found[i / t->v.cols])
            FUZZ_MUST(isnan(t->values[i]), "number %d is nobody's, and was written", i);
        else
            FUZZ_MUST(rc < 0 || isfinite(t->values[i]), "number %d is %g", i, t->values[i]);
    return rc;
}

static void write_and_read(const struct table *t, struct table *again)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, "%d %d\n", ROWS, t->v.cols);
    for (int i = 0; i < ROWS; i++) {
        fprintf(out, "%s", t->found[i] ? vocab_word(t->v.words, i) : "nobody's");
        for (int j = 0; j < t->v.cols; j++)
            fprintf(out, " %.9g", t->found[i] ? t->values[i * t->v.cols + j] : 0);
        fprintf(out, "\n");
    }
    fclose(out);
    FUZZ_MUST(read_all((const uint8_t *)text, size, again) == 0, "written, but not read");
    FUZZ_MUST(memcmp(t->found, again->found, sizeof t->found) == 0 &&
                  memcmp(t->values, again->values, sizeof t->values) == 0,
              "other numbers when read again");
    free(text);
}

void fuzz_word_vectors(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    int cols = 1 + (unsigned)fuzz_byte(&b) % MOST_COLUMNS;
    struct vocab *words = vocab_create();
    struct table t, again;

    FUZZ_MUST(words, "no memory");
    for (int i = 1; i < ROWS; i++)
        FUZZ_MUST(vocab_add(words, known[i - 1], strlen(known[i - 1])) == i, "no memory");
    make(&t, words, cols);
    make(&again, words, cols);
    if (read_all(b.data, b.size, &t) == 0)
        write_and_read(&t, &again);
    vocab_destroy(words);
}
