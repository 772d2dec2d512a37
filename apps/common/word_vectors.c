/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/word_vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/lines.h"

/* The last n fields of a line begin at the returned place, behind the word, which may hold spaces;
 * 0: there are not so many. */
static size_t numbers_begin(const struct lines *l, int n)
{
    size_t at = l->length;

    while (at > 0 && n > 0)
        if (l->text[--at] == ' ')
            n--;
    return n == 0 ? at : 0;
}

/* A first line with the number of words and of columns, as word2vec writes it. */
static bool is_heading(const struct lines *l)
{
    int words, cols, end = 0;

    return l->number == 1 && sscanf(l->text, "%d %d%n", &words, &cols, &end) == 2 &&
           (size_t)end == l->length;
}

static int read_numbers(const struct lines *l, size_t at, int n, float *row, struct app_error *e)
{
    const char *text = l->text + at;

    for (int i = 0; i < n; i++) {
        char *end;

        row[i] = strtof(text, &end);
        if (end == text || (*end != ' ' && *end != '\0') || !isfinite(row[i]))
            return app_fail(e, CAVS_EFORMAT, "%s:%zu:%zu: expected a number", l->name, l->number,
                            (size_t)(text - l->text) + 2);
        text = end;
    }
    return 0;
}

static int count_fields(const struct lines *l)
{
    int n = 0;

    for (size_t i = 0; i < l->length; i++)
        n += l->text[i] == ' ';
    return n;
}

static void drop_spaces_at_the_end(struct lines *l)
{
    while (l->length && l->text[l->length - 1] == ' ')
        l->text[--l->length] = '\0';
}

/* Whether the line is a word without a space and its numbers, as nearly all are: a text that is no
 * table, and vectors of more columns, of which the last ones would do, begin otherwise. */
static bool is_plain(const struct lines *l, size_t at, int cols)
{
    const char *text = l->text + at;
    char *end;

    if (memchr(l->text, ' ', at))
        return false;
    for (int i = 0; i < cols; i++, text = end) {
        strtof(text, &end);
        if (end == text || (*end != ' ' && *end != '\0'))
            return false;
    }
    return true;
}

static int take_line(struct word_vectors *to, struct lines *l, struct app_error *e)
{
    size_t at;
    int id;

    drop_spaces_at_the_end(l);
    if (l->length == 0 || is_heading(l))
        return 0;
    at = numbers_begin(l, to->cols);
    if (at == 0)
        return app_fail(e, CAVS_EFORMAT,
                        "%s:%zu: %d numbers behind a word, --embed %d wants as many", l->name,
                        l->number, count_fields(l), to->cols);
    if (to->lines++ == 0 && !is_plain(l, at, to->cols))
        to->odd = l->number;
    id = vocab_find(to->words, l->text, at);
    if (id == VOCAB_UNKNOWN || to->found[id])
        return 0;
    to->found[id] = true;
    return read_numbers(l, at, to->cols, to->values + (size_t)id * to->cols, e);
}

/* A word may hold spaces, so that one odd line proves nothing; a file that begins with one and has
 * no word of those that are wanted is another sort of file. */
static int check_whole(const struct word_vectors *v, const char *name, struct app_error *e)
{
    int words = vocab_size(v->words);

    for (int i = 0; i < words && v->odd; i++)
        if (v->found[i])
            return 0;
    if (v->odd)
        return app_fail(e, CAVS_EFORMAT,
                        "%s:%zu: not a word and %d numbers, as --embed %d wants, and no line has "
                        "one of the %d words; word vectors of another width, or another file?",
                        name, v->odd, v->cols, v->cols, words);
    return 0;
}

int word_vectors_read(FILE *in, const char *name, struct word_vectors *to, struct app_error *e)
{
    struct lines l = {.in = in, .name = name};
    int rc = lines_open(&l, e);

    if (rc == 0)
        while ((rc = lines_next(&l, e)) > 0 && (rc = take_line(to, &l, e)) == 0)
            ;
    if (rc == 0)
        rc = check_whole(to, l.name, e);
    lines_close(&l);
    return rc;
}
