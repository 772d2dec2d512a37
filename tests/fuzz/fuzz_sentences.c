/* SPDX-License-Identifier: Apache-2.0 */
/* Text, plain and tagged. */
#include <stdlib.h>
#include <string.h>

#include "apps/common/sentences.h"
#include "tests/fuzz/targets.h"

static int read_all(const uint8_t *data, size_t size, const struct sentence_options *o,
                    struct sentences *out)
{
    FILE *in = fuzz_stream(data, size);
    struct app_error e = {0};
    int rc = sentences_read(in, "fuzz", o, out, &e);

    FUZZ_MUST(rc == 0 || e.text[0], "refused without a message");
    fclose(in);
    return rc;
}

static void check_ids(const struct sentences *s, const struct sentence_options *o)
{
    FUZZ_MUST(s->first[0] == 0 && s->first[s->n] == s->tokens && s->texts.n == s->tokens,
              "%zu tokens do not add up", s->tokens);
    for (int i = 0; i < s->n; i++)
        FUZZ_MUST(sentences_length(s, i) > 0 && (!i || s->line[i] > s->line[i - 1]),
                  "sentence %d is empty or in front of the one before", i);
    for (size_t k = 0; k < s->tokens; k++) {
        FUZZ_MUST(s->word[k] >= 0 && s->word[k] < vocab_size(o->words), "word %d", s->word[k]);
        FUZZ_MUST(!o->tags || (s->tag[k] >= -1 && s->tag[k] < vocab_size(o->tags)), "tag %d",
                  s->tag[k]);
    }
}

/* A byte order mark comes first, which reading drops: one in the text may begin the first word. */
static void write_and_read(const struct sentences *s, const struct sentence_options *o)
{
    struct sentences again = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    fputs("\xef\xbb\xbf", out);
    for (int i = 0; i < s->n; i++)
        sentences_write(out, s, i, s->tag ? s->tag + s->first[i] : NULL, o->tags);
    fclose(out);
    FUZZ_MUST(read_all((const uint8_t *)text, size, o, &again) == 0, "written, but not read");
    FUZZ_MUST(again.n == s->n && again.tokens == s->tokens, "other sentences when read again");
    for (size_t k = 0; k < s->tokens; k++)
        FUZZ_MUST(again.word[k] == s->word[k] && (!s->tag || again.tag[k] == s->tag[k]),
                  "token %zu is another when read again", k);
    sentences_clear(&again);
    free(text);
}

static void try_options(const uint8_t *data, size_t size, bool tags, bool untagged, const char *end)
{
    struct sentence_options o = {.words = vocab_create(),
                                 .tags = tags ? vocab_create() : NULL,
                                 .end = end,
                                 .grow = true,
                                 .grow_tags = true,
                                 .keep_words = true,
                                 .untagged = untagged};
    struct sentences s = {0};

    if (read_all(data, size, &o, &s) == 0) {
        check_ids(&s, &o);
        if (!end)
            write_and_read(&s, &o);
    }
    sentences_clear(&s);
    vocab_destroy(o.words);
    vocab_destroy(o.tags);
}

void fuzz_sentences(const uint8_t *data, size_t size)
{
    try_options(data, size, false, false, NULL);
    try_options(data, size, false, false, "<eos>");
    try_options(data, size, true, false, NULL);
    try_options(data, size, true, true, NULL);
    try_options(data, size, true, true, "<eos>");
}
