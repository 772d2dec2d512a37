/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/sentences.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/array.h"

struct reader {
    const char *name;
    const struct sentence_options *options;
    const struct sentence_visitor *visitor; /* or NULL */
    struct app_error *error;
    struct sentences sentences;
    size_t line, column;
};

static int no_memory(struct reader *r)
{
    return app_fail(r->error, CAVS_ENOMEM, "%s:%zu: no memory after %zu tokens", r->name, r->line,
                    r->sentences.tokens);
}

static int find_id(struct vocab *v, bool grow, const char *text, size_t length)
{
    return grow ? vocab_add(v, text, length) : vocab_find(v, text, length);
}

static int add_word(struct reader *r, const char *text, size_t length)
{
    struct sentences *s = &r->sentences;
    int id = find_id(r->options->words, r->options->grow, text, length);

    if (id < 0 || !array_reserve(&s->word, &s->word_cap, s->tokens + 1, sizeof *s->word))
        return no_memory(r);
    s->word[s->tokens++] = id;
    return 0;
}

static int add_tag(struct reader *r, const char *text, size_t length)
{
    struct sentences *s = &r->sentences;
    int id = find_id(r->options->tags, r->options->grow_tags, text, length);

    if (id < 0 || !array_reserve(&s->tag, &s->tag_cap, s->tokens + 1, sizeof *s->tag))
        return no_memory(r);
    s->tag[s->tokens] = id;
    return 0;
}

static int add_token(struct reader *r, const char *text, size_t length)
{
    const char *bar;
    size_t word;
    int rc;

    if (!r->options->tags)
        return add_word(r, text, length);
    bar = memrchr(text, '|', length);
    word = bar ? bar - text : 0;
    if (word == 0 || word + 1 == length)
        return app_fail(r->error, CAVS_EFORMAT, "%s:%zu:%zu: expected word|TAG, found '%.*s'",
                        r->name, r->line, r->column, length < 60 ? (int)length : 60, text);
    rc = add_tag(r, bar + 1, length - word - 1);
    return rc < 0 ? rc : add_word(r, text, word);
}

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int hand_over(struct reader *r)
{
    struct sentences *s = &r->sentences;
    int rc = r->visitor->each(r->visitor->context, s->tokens, s->word, s->tag, r->error);

    s->n = 0;
    s->tokens = 0;
    return rc < 0 ? rc : 0;
}

/* The tokens since the last call are a sentence. */
static int end_sentence(struct reader *r)
{
    struct sentences *s = &r->sentences;

    if (s->tokens == s->first[s->n])
        return 0;
    if (s->n == INT_MAX || s->tokens - s->first[s->n] >= INT_MAX)
        return app_fail(r->error, CAVS_EDATA, "%s:%zu: more than %d sentences, or words in one",
                        r->name, r->line, INT_MAX);
    if (!array_reserve(&s->first, &s->first_cap, s->n + 2, sizeof *s->first))
        return no_memory(r);
    s->first[++s->n] = s->tokens;
    return r->visitor ? hand_over(r) : 0;
}

static int parse_line(struct reader *r, const char *text, size_t n)
{
    const char *end = r->options->end, *nul = memchr(text, '\0', n);
    int rc = 0;

    r->line++;
    if (nul)
        return app_fail(r->error, CAVS_EFORMAT, "%s:%zu:%zu: expected text, found a NUL byte",
                        r->name, r->line, nul - text + 1);
    for (size_t i = 0, length; rc == 0 && i < n; i += length + 1) {
        for (length = 0; i + length < n && !is_separator(text[i + length]);)
            length++;
        r->column = i + 1;
        if (length)
            rc = add_token(r, text + i, length);
    }
    if (rc == 0 && end)
        rc = add_word(r, end, strlen(end));
    return rc < 0 ? rc : end_sentence(r);
}

static int parse(struct reader *r, FILE *in)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t n;
    int rc = 0;

    if (!array_reserve(&r->sentences.first, &r->sentences.first_cap, 1, sizeof *r->sentences.first))
        return no_memory(r);
    r->sentences.first[0] = 0;
    errno = 0;
    while (rc == 0 && (n = getline(&text, &capacity, in)) >= 0)
        rc = parse_line(r, text, n);
    if (rc == 0 && !feof(in))
        rc = app_fail(r->error, CAVS_EIO, "%s: %s", r->name, strerror(errno));
    free(text);
    return rc;
}

static int read_sentences(FILE *in, const char *name, const struct sentence_options *options,
                          const struct sentence_visitor *visitor, struct sentences *out,
                          struct app_error *e)
{
    struct reader r = {.name = name, .options = options, .visitor = visitor, .error = e};
    int rc = parse(&r, in);

    if (rc < 0 || visitor)
        sentences_clear(&r.sentences);
    else
        *out = r.sentences;
    return rc;
}

int sentences_read(FILE *in, const char *name, const struct sentence_options *options,
                   struct sentences *out, struct app_error *e)
{
    return read_sentences(in, name, options, NULL, out, e);
}

static int load_sentences(const char *path, const struct sentence_options *options,
                          const struct sentence_visitor *visitor, struct sentences *out,
                          struct app_error *e)
{
    FILE *in = fopen(path, "r");
    int rc;

    if (!in)
        return app_fail(e, CAVS_EIO, "%s: %s", path, strerror(errno));
    rc = read_sentences(in, path, options, visitor, out, e);
    fclose(in);
    return rc;
}

int sentences_load(const char *path, const struct sentence_options *options, struct sentences *out,
                   struct app_error *e)
{
    return load_sentences(path, options, NULL, out, e);
}

int sentences_each(const char *path, const struct sentence_options *options,
                   const struct sentence_visitor *visitor, struct app_error *e)
{
    return load_sentences(path, options, visitor, NULL, e);
}

void sentences_clear(struct sentences *s)
{
    free(s->first);
    free(s->word);
    free(s->tag);
    *s = (struct sentences){0};
}
