/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentences.h - text in memory, one sentence a line, as plain words or as `word|TAG`.
 *
 * Tokens are separated by ASCII space, tab and line ends only: words may hold any other byte (a
 * no-break space for one) but NUL, and with tags the last '|' of a token is the one that divides
 * it.
 */
#ifndef CAVS_APPS_SENTENCES_H
#define CAVS_APPS_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apps/common/app_error.h"
#include "apps/common/texts.h"
#include "apps/common/vocab.h"

struct sentences {
    int n;
    size_t tokens;
    /* [n + 1]: sentence s has the tokens first[s] .. first[s+1] of all; NULL before the first
     * read */
    size_t *first;
    size_t *line;       /* [n]: where it stands in its file */
    int *word;          /* [tokens] */
    int *tag;           /* [tokens]: -1 for a token without one; NULL without tags */
    struct texts texts; /* [tokens]: words as they were written; or empty, if not wanted */
    size_t first_cap, line_cap, word_cap, tag_cap;
};

struct sentence_options {
    struct vocab *words;
    struct vocab *tags; /* NULL: plain words */
    /* a word to end each line with, without a tag; NULL: none, and empty lines are skipped */
    const char *end;
    bool grow;       /* new words are added to the vocabulary; without it they become <unk> */
    bool grow_tags;  /* the same for tags: an unknown one is a class that no training example has */
    bool keep_words; /* as they are written, without tags: sentences.texts */
    bool untagged;   /* tokens that are not word|TAG are words without a tag */
};

/*
 * Sentences from a file, some at a time.  `in` stays the caller's; NULL: the file `name`, or
 * standard input if that is "-".  The options are copied; what they point to and the name have to
 * live as long.  0 or a negative code.
 */
struct sentence_stream;
int sentences_open(struct sentence_stream **out, FILE *in, const char *name,
                   const struct sentence_options *options, struct app_error *e);
void sentences_close(struct sentence_stream *s); /* NULL is fine */

/*
 * Adds the next n sentences at most, and reads no further than they go.  How many there were, 0 at
 * the end of the file, or a negative code with a message that says file, line, column (from 1, in
 * bytes), what was expected there and what was found; the sentences before that line are then in
 * *to, and nothing more can be read.
 */
int sentences_next(struct sentence_stream *s, int n, struct sentences *to, struct app_error *e);
/* Lines read so far, empty ones too. */
size_t sentences_lines(const struct sentence_stream *s);

/* All sentences to the end of the file.  0, or as above; *out is then untouched, but a growing
 * vocabulary keeps the words seen so far. */
int sentences_read(FILE *in, const char *name, const struct sentence_options *options,
                   struct sentences *out, struct app_error *e);
int sentences_load(const char *path, const struct sentence_options *options, struct sentences *out,
                   struct app_error *e);

/* Is given one sentence after the other (tags NULL without tags); what is negative ends the
 * reading. */
struct sentence_visitor {
    int (*each)(void *context, int n, const int *words, const int *tags, struct app_error *e);
    void *context;
};
/* The same, but the sentences go to the visitor one by one: for files larger than memory. */
int sentences_each(const char *path, const struct sentence_options *options,
                   const struct sentence_visitor *visitor, struct app_error *e);

/* Start from a zeroed struct. */
void sentences_clear(struct sentences *s);
/* No sentences are left; their memory is used again. */
void sentences_empty(struct sentences *s);

/*
 * Writes sentence i on a line, its words as they were read (keep_words), with these tags [length]
 * behind a '|'; -1 (or tags NULL): none.  Empty lines before it are the caller's: s->line says how
 * many.  Errors are those of the file (ferror()).
 */
void sentences_write(FILE *out, const struct sentences *s, int i, const int *tags,
                     const struct vocab *names);

static inline int sentences_length(const struct sentences *s, int i)
{
    return s->first[i + 1] - s->first[i];
}

#endif
