/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of another model's file, by their names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/model_note.h"
#include "apps/common/start.h"

/* The position of a row or column of a parameter in the file; -1: it is not there. */
struct places {
    int n, *at;
    bool by_word;
};

static void same_places(struct places *p)
{
    for (int i = 0; i < p->n; i++)
        p->at[i] = i;
}

/* Number i of `mine` stands for the word first + i; in the file it is a word of `theirs`. */
static void word_places(struct places *p, const struct vocab *mine, const struct vocab *theirs,
                        int first)
{
    for (int i = 0; i < p->n; i++) {
        const char *word = vocab_word(mine, first + i);
        int id = vocab_find(theirs, word, strlen(word));

        p->at[i] = id == VOCAB_UNKNOWN && first + i != VOCAB_UNKNOWN ? -1 : id - first;
    }
    p->by_word = true;
}

/* Is the name one of the names in a list that blanks separate? */
static bool is_among(const char *names, const char *name)
{
    size_t n = strlen(name);

    for (; names && *names; names += strcspn(names, " "), names += strspn(names, " "))
        if (strcspn(names, " ") == n && strncmp(names, name, n) == 0)
            return true;
    return false;
}

static const struct app_words *words_of(const struct app *a, const char *param, bool rows)
{
    for (int i = 0; i < a->nwords; i++) {
        if (is_among(rows ? a->words[i].rows : a->words[i].cols, param))
            return &a->words[i];
    }
    return NULL;
}

/* One file, and what has been found of it so far. */
struct taking {
    struct app *a;
    struct cavs_model_file *file;
    const char *path;
    int taken, left;
};

/* `there`: rows or columns of the parameter in the file.  *fits: whether they can be told apart. */
static int find_places(struct taking *t, const char *param, bool rows, int there, struct places *p,
                       bool *fits)
{
    const struct app_words *w = words_of(t->a, param, rows);
    struct vocab *theirs = NULL;
    int first = w && vocab_size(w->vocab) == p->n + 1; /* classes need not have <unk> */
    int rc = w ? model_note_vocab(t->file, t->path, w->name, &theirs, &t->a->error) : 0;

    if (rc < 0)
        return rc;
    *fits = theirs ? vocab_size(theirs) == first + there : there == p->n;
    if (!(p->at = malloc(((size_t)p->n + 1) * sizeof *p->at)))
        rc = CAVS_ENOMEM;
    else if (theirs && *fits)
        word_places(p, w->vocab, theirs, first);
    else
        same_places(p);
    vocab_destroy(theirs);
    return rc;
}

static int count_found(const struct places *p)
{
    int n = 0;

    for (int i = 0; i < p->n; i++)
        n += p->at[i] >= 0;
    return n;
}

static int copy_values(struct taking *t, const struct cavs_param *p, int from,
                       const struct places *row, const struct places *col)
{
    int there = cavs_model_file_cols(t->file, from);
    float *mine = malloc(((size_t)row->n * col->n + 1) * sizeof *mine);
    float *theirs =
        malloc(((size_t)cavs_model_file_rows(t->file, from) * there + 1) * sizeof *theirs);
    int rc = mine && theirs ? cavs_session_get_param(t->a->session, p, mine) : CAVS_ENOMEM;

    if (rc == 0)
        rc = cavs_model_file_read(t->file, from, theirs);
    for (int r = 0; rc == 0 && r < row->n; r++)
        for (int c = 0; c < col->n; c++)
            if (row->at[r] >= 0 && col->at[c] >= 0)
                mine[(size_t)r * col->n + c] = theirs[(size_t)row->at[r] * there + col->at[c]];
    if (rc == 0)
        rc = cavs_session_set_param(t->a->session, p, mine);
    free(mine);
    free(theirs);
    return rc;
}

static void say_taken(const struct taking *t, const char *name, const struct places *row,
                      const struct places *col)
{
    if (t->a->options.quiet)
        return;
    fprintf(stderr, "  %s: taken", name);
    if (row->by_word)
        fprintf(stderr, ", %d of %d rows by their words", count_found(row), row->n);
    if (col->by_word)
        fprintf(stderr, ", %d of %d columns by their words", count_found(col), col->n);
    fputc('\n', stderr);
}

static int take(struct taking *t, const struct cavs_param *p, int from)
{
    const char *name = cavs_param_name(p);
    int rows = cavs_model_file_rows(t->file, from), cols = cavs_model_file_cols(t->file, from);
    struct places row = {.n = cavs_param_rows(p)}, col = {.n = cavs_param_cols(p)};
    bool rows_fit = false, cols_fit = false;
    int rc = find_places(t, name, true, rows, &row, &rows_fit);

    if (rc == 0)
        rc = find_places(t, name, false, cols, &col, &cols_fit);
    if (rc == 0 && rows_fit && cols_fit) {
        rc = copy_values(t, p, from, &row, &col);
        say_taken(t, name, &row, &col);
        t->taken++;
    } else if (rc == 0) {
        t->left++;
        if (!t->a->options.quiet)
            fprintf(stderr, "  %s: not taken, it is %d x %d there and %d x %d here\n", name, rows,
                    cols, row.n, col.n);
    }
    free(row.at);
    free(col.at);
    return rc;
}

static int find_in_file(const struct cavs_model_file *f, const char *name)
{
    for (int i = 0; i < cavs_model_file_count(f); i++)
        if (strcmp(cavs_model_file_name(f, i), name) == 0)
            return i;
    return -1;
}

static int take_all(struct taking *t)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < cavs_model_param_count(t->a->model); i++) {
        struct cavs_param *p = cavs_model_param_at(t->a->model, i);
        int from = find_in_file(t->file, cavs_param_name(p));

        if (from >= 0) {
            rc = take(t, p, from);
            continue;
        }
        t->left++;
        if (!t->a->options.quiet)
            fprintf(stderr, "  %s: not in the file\n", cavs_param_name(p));
    }
    for (int i = 0; rc == 0 && i < cavs_model_file_count(t->file); i++)
        if (!cavs_model_find_param(t->a->model, cavs_model_file_name(t->file, i)) &&
            !t->a->options.quiet)
            fprintf(stderr, "  %s: in the file only\n", cavs_model_file_name(t->file, i));
    return rc;
}

int app_take_partial(struct app *a)
{
    struct taking t = {.a = a, .path = a->options.partial};
    int rc = cavs_model_file_open(t.path, &t.file);

    if (rc < 0)
        return rc;
    if (!a->options.quiet)
        fprintf(stderr, "%s: parameters of %s\n", a->program->name, t.path);
    rc = take_all(&t);
    cavs_model_file_close(t.file);
    report_count(&a->report, "parameters_taken", t.taken);
    report_count(&a->report, "parameters_not_taken", t.left);
    if (rc == 0 && t.taken == 0)
        rc = app_fail(&a->error, CAVS_EINVAL, "%s: no parameter of it fits this model", t.path);
    return rc;
}
