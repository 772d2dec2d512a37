/* SPDX-License-Identifier: Apache-2.0 */
/* model_words.c - vocabularies in model files: as text, for programs that read them, and for files
 * that are written. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/model_note.h"
#include "apps/common/utf8.h"

#define WORDS "vocabulary."

/* ---- words as text --------------------------------------------------------------------------- */

static void put_word(FILE *f, const char *word)
{
    for (const unsigned char *s = (const unsigned char *)word; *s;) {
        int n = utf8_length((const char *)s);

        if (*s == '\\')
            fputs("\\\\", f);
        else if (n == 0)
            fprintf(f, "\\x%02X", *s);
        else
            fwrite(s, 1, n, f);
        s += n ? n : 1;
    }
    fputc('\n', f);
}

static int hex_value(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : toupper((unsigned char)c) - 'A' + 10;
}

/* The line from `from` to `end`, in place; returns its length, or -1. */
static long unescape(char *from, const char *end)
{
    char *to = from;

    for (const char *s = from; s < end; s++) {
        if (*s != '\\') {
            *to++ = *s;
        } else if (end - s > 1 && s[1] == '\\') {
            *to++ = *s++;
        } else if (end - s > 3 && s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
                   isxdigit((unsigned char)s[3])) {
            *to++ = (char)(hex_value(s[2]) * 16 + hex_value(s[3]));
            s += 3;
        } else {
            return -1;
        }
    }
    return to - from;
}

static char *words_to_text(const struct vocab *v)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    if (!f)
        return NULL;
    for (int id = 0; id < vocab_size(v); id++)
        put_word(f, vocab_word(v, id));
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

static bool is_unknown(const char *word, size_t n)
{
    const char *unknown = "<unk>";

    return n == strlen(unknown) && memcmp(word, unknown, n) == 0;
}

/* Each line has to be a word of its own, in the order of ids. */
static bool add_lines(struct vocab *v, char *text)
{
    int id = 0;

    for (char *line = text, *end; *line; line = end + 1, id++) {
        long n;

        end = strchr(line, '\n');
        if (!end || (n = unescape(line, end)) < 0)
            return false;
        if (id == VOCAB_UNKNOWN ? !is_unknown(line, (size_t)n)
                                : vocab_add(v, line, (size_t)n) != id)
            return false;
    }
    return id > 0;
}

int model_note_vocab(const struct cavs_model_file *f, const char *path, const char *name,
                     struct vocab **out, struct app_error *e)
{
    char key[64], *copy;
    const char *text;
    bool sound, no_memory;

    *out = NULL;
    snprintf(key, sizeof key, WORDS "%s", name);
    if (!(text = cavs_model_file_note(f, key)))
        return 0;
    copy = strdup(text);
    *out = vocab_create();
    no_memory = !copy || !*out;
    sound = !no_memory && add_lines(*out, copy);
    if (!sound) {
        vocab_destroy(*out);
        *out = NULL;
    }
    free(copy);
    if (!sound && no_memory)
        return app_fail(e, CAVS_ENOMEM, "%s: no memory for its vocabulary of %s", path, name);
    return sound ? 0
                 : app_fail(e, CAVS_EFORMAT, "%s: its vocabulary of %s cannot be understood", path,
                            name);
}

/* ---- of the model file ----------------------------------------------------------------------- */

int app_vocab(struct app *a, const char *name, struct vocab **out)
{
    *out = NULL;
    if (!a->model_file)
        return 0;
    return model_note_vocab(a->model_file, a->model_path, name, out, &a->error);
}

int app_vocabs(struct app *a, const char *const *names, struct vocab **const *out)
{
    int rc = 0, found = 0, n = 0;

    for (; rc == 0 && names[n]; n++) {
        rc = app_vocab(a, names[n], out[n]);
        found += *out[n] != NULL;
    }
    if (rc < 0 || found == n)
        return rc < 0 ? rc : 1;
    if (!app_has_set(a, APP_TRAIN))
        return app_fail(&a->error, CAVS_EDATA,
                        "%s: it does not say what words it was made with, and without training "
                        "data they are not known",
                        a->model_path);
    for (int i = 0; i < n; i++) {
        vocab_destroy(*out[i]);
        if (!(*out[i] = vocab_create()))
            return app_fail(&a->error, CAVS_ENOMEM, "no memory for a vocabulary");
    }
    return 0;
}

int app_model_rows(const struct app *a, const char *param)
{
    for (int i = 0; a->model_file && i < cavs_model_file_count(a->model_file); i++)
        if (strcmp(cavs_model_file_name(a->model_file, i), param) == 0)
            return cavs_model_file_rows(a->model_file, i);
    return 0;
}

int model_note_same_words(struct app *a, const char *name, const struct vocab *v, const char *path)
{
    struct vocab *mine;
    int rc = app_vocab(a, name, &mine), id = 0;

    if (rc < 0 || !mine)
        return rc;
    while (id < vocab_size(v) && id < vocab_size(mine) &&
           strcmp(vocab_word(v, id), vocab_word(mine, id)) == 0)
        id++;
    if (id < vocab_size(v) || id < vocab_size(mine))
        rc = app_fail(&a->error, CAVS_EINVAL,
                      "%s: its %s are not those of %s: number %d is '%s' there, '%s' in the model",
                      path, name, a->model_path, id,
                      id < vocab_size(v) ? vocab_word(v, id) : "(none)",
                      id < vocab_size(mine) ? vocab_word(mine, id) : "(none)");
    vocab_destroy(mine);
    return rc;
}

static long long count_unknown(size_t n, const int *labels)
{
    long long unknown = 0;

    for (size_t i = 0; i < n; i++)
        unknown += labels[i] == VOCAB_UNKNOWN;
    return unknown;
}

static void say_unknown(struct app *a, long long unknown, const char *what)
{
    if (unknown)
        app_notice(a, "%s: %lld %s are none that %s knows, and are trained as <unk>",
                   a->path[APP_TRAIN], unknown, what, a->model_path);
}

void app_notice_unknown(struct app *a, struct cavs_data *d, const struct cavs_stage *stage,
                        const char *input, const char *what)
{
    long long unknown = 0;

    for (int i = 0; a->model_file && i < cavs_data_size(d); i++)
        unknown += count_unknown((size_t)cavs_data_sample_vertices(d, stage, i),
                                 cavs_data_sample_ids(d, stage, input, i));
    say_unknown(a, unknown, what);
}

void app_notice_unknown_ids(struct app *a, size_t n, const int *labels, const char *what)
{
    say_unknown(a, a->model_file ? count_unknown(n, labels) : 0, what);
}

/* ---- of files that are written --------------------------------------------------------------- */

void app_keep_vocab(struct app *a, const char *name, const struct vocab *v, const char *rows,
                    const char *cols)
{
    if (a->nwords < APP_MOST_VOCABS)
        a->words[a->nwords++] = (struct app_words){name, v, rows, cols};
}

static int keep_words(struct app *a, const struct app_words *w)
{
    char key[64], *text = words_to_text(w->vocab);
    int rc;

    snprintf(key, sizeof key, WORDS "%s", w->name);
    rc = text ? cavs_session_note(a->session, key, text) : CAVS_ENOMEM;
    free(text);
    return rc;
}

int model_note_keep_words(struct app *a)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < a->nwords; i++)
        rc = keep_words(a, &a->words[i]);
    return rc;
}
