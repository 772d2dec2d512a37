/* SPDX-License-Identifier: Apache-2.0 */
/* Word vectors in GloVe's text form: a word and its numbers a line, between single spaces. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/lines.h"
#include "apps/common/start.h"

#define VOCABULARY "words"

struct table {
    struct app *a;
    const struct vocab *vocab;
    const struct cavs_param *p;
    int rows, cols;
    float *values;
    bool *found;
};

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

static int take_line(struct table *t, const struct lines *l)
{
    struct app_error *e = &t->a->error;
    size_t at;
    int id;

    while (l->length && l->text[l->length - 1] == ' ')
        l->text[--((struct lines *)l)->length] = '\0';
    if (l->length == 0 || is_heading(l))
        return 0;
    at = numbers_begin(l, t->cols);
    if (at == 0)
        return app_fail(e, CAVS_EFORMAT,
                        "%s:%zu: %d numbers behind a word, --embed %d wants as many", l->name,
                        l->number, count_fields(l), t->cols);
    id = vocab_find(t->vocab, l->text, at);
    if (id == VOCAB_UNKNOWN || t->found[id])
        return 0;
    t->found[id] = true;
    return read_numbers(l, at, t->cols, t->values + (size_t)id * t->cols, e);
}

static int read_file(struct table *t, const char *path)
{
    struct lines l = {.name = path};
    int rc = lines_open(&l, &t->a->error);

    if (rc == 0)
        while ((rc = lines_next(&l, &t->a->error)) > 0 && (rc = take_line(t, &l)) == 0)
            ;
    lines_close(&l);
    return rc;
}

static void say_found(const struct table *t, const char *path)
{
    int n = 0;

    for (int i = 0; i < t->rows; i++)
        n += t->found[i];
    report_count(&t->a->report, "vectors_found", n);
    report_count(&t->a->report, "vectors_missing", t->rows - n);
    if (!t->a->options.quiet)
        fprintf(stderr, "%s: %s has vectors for %d of %d words\n", t->a->program->name, path, n,
                t->rows);
}

static int fill_table(struct table *t, const char *path)
{
    int rc;

    t->values = malloc(((size_t)t->rows * t->cols + 1) * sizeof *t->values);
    t->found = calloc((size_t)t->rows + 1, sizeof *t->found);
    if (!t->values || !t->found)
        return CAVS_ENOMEM;
    if ((rc = cavs_session_get_param(t->a->session, t->p, t->values)) < 0 ||
        (rc = read_file(t, path)) < 0 ||
        (rc = cavs_session_set_param(t->a->session, t->p, t->values)) < 0)
        return rc;
    say_found(t, path);
    return 0;
}

int app_take_vectors(struct app *a)
{
    struct table t = {.a = a};
    int rc;

    for (int i = 0; i < a->nwords; i++)
        if (strcmp(a->words[i].name, VOCABULARY) == 0 && a->words[i].rows) {
            t.vocab = a->words[i].vocab;
            t.p = cavs_model_find_param(a->model, a->words[i].rows);
        }
    if (!t.p)
        return app_fail(&a->error, CAVS_EINVAL,
                        "--vectors: the data at hand have no words to look up, or %s has no "
                        "embedding of them",
                        a->program->name);
    t.rows = cavs_param_rows(t.p);
    t.cols = cavs_param_cols(t.p);
    rc = fill_table(&t, a->options.vectors);
    free(t.values);
    free(t.found);
    return rc;
}
