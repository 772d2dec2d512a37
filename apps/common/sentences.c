/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/sentences.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/lines.h"
#include "apps/common/reserve.h"

struct sentence_stream {
    struct lines lines; /* first: lines_stream() makes it */
    struct sentence_options options;
    struct app_error *error; /* of the present call */
    struct sentences *to;
    int failed; /* what ended the reading, or 0 */
};

static int no_memory(struct sentence_stream *r)
{
    return app_fail(r->error, CAVS_ENOMEM, "%s:%zu: no memory after %zu tokens", r->lines.name,
                    r->lines.number, r->to->tokens);
}

static int find_id(struct vocab *v, bool grow, const struct field *f)
{
    return grow ? vocab_add(v, f->text, f->length) : vocab_find(v, f->text, f->length);
}

/* tag NULL: it has none */
static int add_token(struct sentence_stream *r, const struct field *word, const struct field *tag)
{
    const struct sentence_options *o = &r->options;
    struct sentences *s = r->to;
    int tag_id = tag ? find_id(o->tags, o->grow_tags, tag) : -1;
    int word_id = find_id(o->words, o->grow, word);

    if (word_id < 0 || (tag && tag_id < 0) ||
        !array_reserve(&s->word, &s->word_cap, s->tokens + 1, sizeof *s->word) ||
        (o->tags && !array_reserve(&s->tag, &s->tag_cap, s->tokens + 1, sizeof *s->tag)) ||
        (o->keep_words && !texts_add(&s->texts, word->text, word->length)))
        return no_memory(r);
    if (o->tags)
        s->tag[s->tokens] = tag_id;
    s->word[s->tokens++] = word_id;
    return 0;
}

static int on_token(struct sentence_stream *r, const struct field *token)
{
    const char *bar = r->options.tags ? memrchr(token->text, '|', token->length) : NULL;
    struct field word = *token, tag = *token;

    word.length = bar ? bar - token->text : 0;
    tag.text = token->text + word.length + 1;
    tag.length = token->length - word.length - 1;
    if (word.length && tag.length)
        return add_token(r, &word, &tag);
    if (!r->options.tags || r->options.untagged)
        return add_token(r, token, NULL);
    return lines_expected(&r->lines, token, r->error, "word|TAG");
}

/* The tokens since the last call are a sentence. */
static int end_sentence(struct sentence_stream *r)
{
    struct sentences *s = r->to;

    if (s->tokens == s->first[s->n])
        return 0;
    if (s->n == INT_MAX || s->tokens - s->first[s->n] >= INT_MAX)
        return app_fail(r->error, CAVS_EDATA, "%s:%zu: more than %d sentences, or words in one",
                        r->lines.name, r->lines.number, INT_MAX);
    if (!array_reserve(&s->first, &s->first_cap, s->n + (size_t)2, sizeof *s->first) ||
        !array_reserve(&s->line, &s->line_cap, s->n + (size_t)1, sizeof *s->line))
        return no_memory(r);
    s->line[s->n] = r->lines.number;
    s->first[++s->n] = s->tokens;
    return 0;
}

/* The next token of the line; false at its end. */
static bool find_token(const struct lines *l, size_t *at, struct field *out)
{
    static const char separators[] = " \t\r";

    *at += strspn(l->text + *at, separators);
    *out = (struct field){l->text + *at, strcspn(l->text + *at, separators), *at + 1};
    *at += out->length;
    return out->length > 0;
}

static int parse_line(struct sentence_stream *r)
{
    const char *end = r->options.end;
    struct field token;
    size_t at = 0;
    int rc = 0;

    while (rc == 0 && find_token(&r->lines, &at, &token))
        rc = on_token(r, &token);
    if (rc == 0 && end)
        rc = add_token(r, &(struct field){end, strlen(end), at + 1}, NULL);
    return rc < 0 ? rc : end_sentence(r);
}

/* ---- streams --------------------------------------------------------------------------------- */

int sentences_open(struct sentence_stream **out, FILE *in, const char *name,
                   const struct sentence_options *options, struct app_error *e)
{
    int rc;
    struct sentence_stream *r = lines_stream(sizeof *r, in, name, &rc, e);

    if (r)
        r->options = *options;
    *out = r;
    return rc;
}

void sentences_close(struct sentence_stream *r)
{
    if (!r)
        return;
    lines_close(&r->lines);
    free(r);
}

size_t sentences_lines(const struct sentence_stream *r)
{
    return r->lines.number;
}

static int start(struct sentence_stream *r)
{
    struct sentences *s = r->to;

    if (!array_reserve(&s->first, &s->first_cap, 1, sizeof *s->first))
        return no_memory(r);
    s->first[0] = 0;
    return 0;
}

/* Forgets the tokens of an unfinished sentence. */
static void drop_tokens(struct sentences *s)
{
    s->tokens = s->first ? s->first[s->n] : 0;
    texts_keep(&s->texts, s->tokens);
}

int sentences_next(struct sentence_stream *r, int n, struct sentences *to, struct app_error *e)
{
    int before = to->n, rc = r->failed;

    r->to = to;
    r->error = e;
    if (rc == 0)
        rc = start(r);
    while (rc >= 0 && to->n - before < n && (rc = lines_next(&r->lines, e)) > 0)
        rc = parse_line(r);
    if (rc < 0) {
        drop_tokens(to);
        r->failed = rc;
        return rc;
    }
    return to->n - before;
}

/* ---- whole files ----------------------------------------------------------------------------- */

static int hand_over(struct sentences *s, const struct sentence_visitor *visitor,
                     struct app_error *e)
{
    int rc = visitor->each(visitor->context, s->tokens, s->word, s->tag, e);

    sentences_empty(s);
    return rc < 0 ? rc : 0;
}

/* The sentences go to the visitor one by one, or else to *out. */
static int read_sentences(FILE *in, const char *name, const struct sentence_options *options,
                          const struct sentence_visitor *visitor, struct sentences *out,
                          struct app_error *e)
{
    struct sentence_stream *r;
    struct sentences s = {0};
    int rc = sentences_open(&r, in, name, options, e);

    if (rc < 0)
        return rc;
    while ((rc = sentences_next(r, visitor ? 1 : INT_MAX, &s, e)) > 0)
        if (visitor && (rc = hand_over(&s, visitor, e)) < 0)
            break;
    sentences_close(r);
    if (rc < 0 || visitor)
        sentences_clear(&s);
    else
        *out = s;
    return rc;
}

int sentences_read(FILE *in, const char *name, const struct sentence_options *options,
                   struct sentences *out, struct app_error *e)
{
    return read_sentences(in, name, options, NULL, out, e);
}

int sentences_load(const char *path, const struct sentence_options *options, struct sentences *out,
                   struct app_error *e)
{
    return read_sentences(NULL, path, options, NULL, out, e);
}

int sentences_each(const char *path, const struct sentence_options *options,
                   const struct sentence_visitor *visitor, struct app_error *e)
{
    return read_sentences(NULL, path, options, visitor, NULL, e);
}

void sentences_empty(struct sentences *s)
{
    s->n = 0;
    drop_tokens(s);
}

void sentences_clear(struct sentences *s)
{
    free(s->first);
    free(s->line);
    free(s->word);
    free(s->tag);
    texts_clear(&s->texts);
    *s = (struct sentences){0};
}

void sentences_write(FILE *out, const struct sentences *s, int i, const int *tags,
                     const struct vocab *names)
{
    for (int k = 0; k < sentences_length(s, i); k++) {
        fprintf(out, "%s%s", k ? " " : "", texts_get(&s->texts, s->first[i] + k));
        if (tags && tags[k] >= 0)
            fprintf(out, "|%s", vocab_word(names, tags[k]));
    }
    putc('\n', out);
}
