/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/model_note.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/run_checkpoint.h"
#include "apps/common/json_build.h"
#include "apps/common/utf8.h"

#define PROGRAM "program"
#define RUN     "run"
#define WORDS   "vocabulary."

/* ---- words as text ----------------------------------------------------------------------------- */

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

/* ---- reading ------------------------------------------------------------------------------------ */

static int misunderstood(struct app *a, const char *note)
{
    return app_fail(&a->error, CAVS_EFORMAT, "%s: its note '%s' cannot be understood",
                    a->model_path, note);
}

static int take_program(struct app *a, const json_t *note)
{
    const char *program = json_string_value(json_object_get(note, "program"));
    const json_t *options = json_object_get(note, "options");

    if (!program || !json_is_object(options))
        return misunderstood(a, PROGRAM);
    if (strcmp(program, a->program->name) != 0)
        return app_fail(&a->error, CAVS_EINVAL, "%s: a model of %s, not of %s", a->model_path,
                        program, a->program->name);
    return options_from_json(&a->list, OPTION_MODEL, options, true, a->model_path, &a->error);
}

static int take_run(struct app *a, const json_t *note)
{
    const json_t *options = json_object_get(note, "options"), *kept = json_object_get(note, "kept");
    const char *data = json_string_value(json_object_get(note, "data"));
    int rc;

    if (!json_is_object(options) || !json_is_object(kept) || !data)
        return misunderstood(a, RUN);
    snprintf(a->fingerprint, sizeof a->fingerprint, "%s", data);
    rc = options_from_json(&a->list, OPTION_RUN, options, true, a->model_path, &a->error);
    return rc < 0 ? rc
                  : options_from_json(&a->list, OPTION_KEPT, kept, false, a->model_path, &a->error);
}

/* Hands the note of that name to `take`; a file without it is as good, unless it is wanted. */
static int take_note(struct app *a, const char *name, bool wanted,
                     int (*take)(struct app *a, const json_t *note))
{
    const char *text = cavs_model_file_note(a->model_file, name);
    json_t *note;
    int rc;

    if (!text)
        return wanted ? app_fail(&a->error, CAVS_EFORMAT, "%s: not a checkpoint of a program",
                                 a->model_path)
                      : 0;
    note = json_loads(text, 0, NULL);
    rc = note ? take(a, note) : misunderstood(a, name);
    json_decref(note);
    return rc;
}

int model_note_open(struct app *a)
{
    bool resume = a->options.resume != NULL;
    int rc;

    if (resume && !(a->owned_path = checkpoint_file(a->options.resume)))
        return CAVS_ENOMEM;
    a->model_path = resume ? a->owned_path : a->options.init;
    if (!a->model_path)
        return 0;
    if ((rc = cavs_model_file_open(a->model_path, &a->model_file)) < 0 ||
        (rc = take_note(a, PROGRAM, resume, take_program)) < 0)
        return rc;
    return resume ? take_note(a, RUN, true, take_run) : 0;
}

int model_note_check_data(struct app *a)
{
    uint64_t fingerprint;
    char mine[24], *theirs = a->fingerprint;
    int rc = cavs_data_fingerprint(a->data[APP_TRAIN], &fingerprint);

    if (rc < 0)
        return rc;
    snprintf(mine, sizeof mine, "%016llx", (unsigned long long)fingerprint);
    if (a->options.resume && strcmp(mine, theirs) != 0)
        return app_fail(
            &a->error, CAVS_EINVAL,
            "%s: the run had another training set: as it is now, its fingerprint is %s, "
            "not %s",
            a->model_path, mine, theirs);
    memcpy(a->fingerprint, mine, sizeof a->fingerprint);
    return 0;
}

void model_note_close(struct app *a)
{
    cavs_model_file_close(a->model_file);
    a->model_file = NULL;
    free(a->owned_path);
    a->owned_path = NULL;
}

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

/* ---- writing ------------------------------------------------------------------------------------ */

void app_keep_vocab(struct app *a, const char *name, const struct vocab *v, const char *rows,
                    const char *cols)
{
    if (a->nwords < APP_MOST_VOCABS)
        a->words[a->nwords++] = (struct app_words){name, v, rows, cols};
}

/* Takes the note. */
static int keep_note(struct app *a, const char *name, json_t *note)
{
    char *text = json_build_text(note, 17);
    int rc = text ? cavs_session_note(a->session, name, text) : CAVS_ENOMEM;

    free(text);
    json_decref(note);
    return rc;
}

static int keep_program(struct app *a)
{
    return keep_note(a, PROGRAM,
                     json_pack("{s:s, s:s, s:o}", "program", a->program->name, "version",
                               cavs_version(), "options", options_to_json(&a->list, OPTION_MODEL)));
}

static int keep_run(struct app *a)
{
    return keep_note(a, RUN,
                     json_pack("{s:o, s:o, s:s}", "options", options_to_json(&a->list, OPTION_RUN),
                               "kept", options_to_json(&a->list, OPTION_KEPT), "data",
                               a->fingerprint));
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

int model_note_keep(struct app *a)
{
    int rc = keep_program(a);

    if (rc == 0 && a->data[APP_TRAIN] && !a->options.session.inference)
        rc = keep_run(a);
    for (int i = 0; rc == 0 && i < a->nwords; i++)
        rc = keep_words(a, &a->words[i]);
    return rc;
}
