/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/packed_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/model_note.h"

/* ---- sets ------------------------------------------------------------------------------------ */

/* Words are numbers in the samples: both files have to mean the same by them. */
static int check_words(const struct cavs_packed *first, const char *first_path,
                       const struct cavs_packed *other, const char *path, struct app_error *e)
{
    static const char *const names[] = {"words", "tags", "relations"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = 0, m = 0;
        const void *a = cavs_packed_note(first, names[i], &n),
                   *b = cavs_packed_note(other, names[i], &m);

        if (!a != !b || n != m || (a && memcmp(a, b, n) != 0))
            return app_fail(
                e, CAVS_EDATA,
                "%s: its %s are not those of %s: pack it again with cavs-pack --like %s", path,
                names[i], first_path, first_path);
    }
    return 0;
}

static int check_alike(const char *first_path, const char *path, struct app_error *e)
{
    struct cavs_packed *first, *other;
    int rc = cavs_packed_open(first_path, &first);

    if (rc < 0)
        return rc;
    rc = cavs_packed_open(path, &other);
    if (rc == 0) {
        rc = check_words(first, first_path, other, path, e);
        cavs_packed_close(other);
    }
    cavs_packed_close(first);
    return rc;
}

int packed_open_set(struct app *a, enum app_set set)
{
    const char *path = a->options.packed[set], *first = app_first_packed(a);
    int rc = first != path ? check_alike(first, path, &a->error) : 0;

    return rc < 0 ? rc : cavs_data_open(a->model, path, &a->data[set]);
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

int packed_vocabs(struct app *a, const char *path, const char *const *names,
                  struct vocab **const *out)
{
    struct cavs_packed *p;
    int rc = cavs_packed_open(path, &p);

    if (rc < 0)
        return rc;
    for (int i = 0; rc == 0 && names[i]; i++)
        rc = packed_vocab(p, path, names[i], out[i], &a->error);
    cavs_packed_close(p);
    for (int i = 0; rc == 0 && names[i]; i++)
        rc = model_note_same_words(a, names[i], *out[i], path);
    return rc;
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
