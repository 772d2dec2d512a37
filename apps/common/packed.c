/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/packed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

enum { KEY_PACKED = 0x200, KEY_PACKED_DEV };

static const struct argp_option options[] = {
    {"packed", KEY_PACKED, "FILE", 0, "training set as cavs-pack made it, in place of text", 0},
    {"packed-dev", KEY_PACKED_DEV, "FILE", 0, "the set to evaluate, packed --like the other", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct packed_files *f = state->input;

    switch (key) {
    case KEY_PACKED: f->train = arg; return 0;
    case KEY_PACKED_DEV: f->dev = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp packed_argp = {.options = options, .parser = parse};

void packed_check_options(struct argp_state *state, const struct packed_files *f, const char *train,
                          const char *dev)
{
    if (f->train && (train || dev))
        argp_error(state, "--packed is in place of --train and --dev: give either");
    if (f->dev && !f->train)
        argp_error(state, "--packed-dev wants --packed, too");
}

/* Words are numbers in the samples: both files have to mean the same by them. */
static int check_words(const struct packed_files *f, const struct cavs_packed *train,
                       const struct cavs_packed *dev, struct app_error *e)
{
    static const char *const names[] = {"words", "tags", "relations"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = 0, m = 0;
        const void *a = cavs_packed_note(train, names[i], &n),
                   *b = cavs_packed_note(dev, names[i], &m);

        if (!a != !b || n != m || (a && memcmp(a, b, n) != 0))
            return app_fail(
                e, CAVS_EDATA,
                "%s: its %s are not those of %s: pack it again with cavs-pack --like %s", f->dev,
                names[i], f->train, f->train);
    }
    return 0;
}

static int check_alike(const struct packed_files *f, struct app_error *e)
{
    struct cavs_packed *train, *dev;
    int rc = cavs_packed_open(f->train, &train);

    if (rc < 0)
        return rc;
    rc = cavs_packed_open(f->dev, &dev);
    if (rc == 0) {
        rc = check_words(f, train, dev, e);
        cavs_packed_close(dev);
    }
    cavs_packed_close(train);
    return rc;
}

int packed_open_data(const struct packed_files *f, const struct cavs_model *m,
                     struct cavs_data **train, struct cavs_data **dev, struct app_error *e)
{
    int rc = f->dev ? check_alike(f, e) : 0;

    if (rc == 0)
        rc = cavs_data_open(m, f->train, train);
    return rc < 0 || !f->dev ? rc : cavs_data_open(m, f->dev, dev);
}

/* ---- notes ----------------------------------------------------------------------------------- */

#define NO_NOTE "%s: no vocabulary '%s' in it: pack it with cavs-pack"

int packed_keep_vocab(struct cavs_data *d, const char *name, const struct vocab *v)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    int rc;

    if (!f)
        return CAVS_ENOMEM;
    for (int id = 0; id < vocab_size(v); id++)
        fprintf(f, "%s\n", vocab_word(v, id));
    rc = fclose(f) == 0 ? cavs_data_note(d, name, text, n) : CAVS_ENOMEM;
    free(text);
    return rc;
}

int packed_vocab(const struct cavs_packed *p, const char *path, const char *name,
                 struct vocab **out, struct app_error *e)
{
    size_t n;
    const char *text = cavs_packed_note(p, name, &n), *end;
    struct vocab *v = vocab_create();

    if (!text || !v) {
        vocab_destroy(v);
        return text ? CAVS_ENOMEM : app_fail(e, CAVS_EDATA, NO_NOTE, path, name);
    }
    for (; n > 0 && (end = memchr(text, '\n', n)); text = end + 1) {
        /* the first word is <unk>, which is there already */
        if (vocab_add(v, text, end - text) < 0) {
            vocab_destroy(v);
            return CAVS_ENOMEM;
        }
        n -= end + 1 - text;
    }
    *out = v;
    return 0;
}

int packed_vocab_size(const struct cavs_packed *p, const char *path, const char *name, int *size,
                      struct app_error *e)
{
    size_t n, lines = 0;
    const char *text = cavs_packed_note(p, name, &n);

    if (!text)
        return app_fail(e, CAVS_EDATA, NO_NOTE, path, name);
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    *size = lines < INT_MAX ? (int)lines : INT_MAX;
    return 0;
}

int packed_arities(const struct cavs_packed *p, const char *path, struct arities *a,
                   struct app_error *e)
{
    int n = cavs_packed_functions(p, "tree"), rc = 0;

    for (int i = 0; i < n && rc == 0; i++) {
        const char *name = cavs_packed_function(p, "tree", i);

        rc = arities_append(a, name);
        if (rc == CAVS_EDATA)
            return app_fail(e, rc,
                            "%s: function %d of stage tree is '%s', not a leaf or an inner vertex "
                            "of more children than the one before",
                            path, i, name);
    }
    if (n < 1)
        return app_fail(e, CAVS_EDATA, "%s: no stage 'tree' in it: cavs-pack brackets makes one",
                        path);
    return rc;
}
