/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/treebank.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "apps/common/model_note.h"
#include "apps/common/packed_set.h"
#include "apps/common/ptb.h"
#include "apps/common/threefile.h"

#define TABLE "embedding"

static bool is_folder(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* ---- brackets -------------------------------------------------------------------------------- */

static int trim_words(struct treebank *b, int min_count, struct app_error *e)
{
    struct forest *train = &b->set[APP_TRAIN];
    int *map = vocab_trim(b->vocab, min_count);

    if (!map)
        return app_fail(e, CAVS_ENOMEM, "no memory for the vocabulary");
    for (size_t v = 0; v < train->vertices; v++)
        if (train->word[v] >= 0)
            train->word[v] = map[train->word[v]];
    free(map);
    return 0;
}

/* The training set, which is read first, makes the vocabulary unless a model file has brought
 * one. */
static int load_brackets(struct treebank *b, struct app *a, const struct treebank_options *o)
{
    int rc = app_vocab(a, "words", &b->vocab);
    struct ptb_options ptb = {.labels = o->labels, .grow = !b->vocab};

    if (rc == 0 && !b->vocab && !(b->vocab = vocab_create()))
        rc = app_fail(&a->error, CAVS_ENOMEM, "no memory for a vocabulary");
    ptb.vocab = b->vocab;
    for (int i = 0; rc == 0 && i < APP_SETS; i++) {
        if (!a->path[i])
            continue;
        rc = ptb_load(a->path[i], &ptb, &b->set[i], &a->error);
        if (rc == 0 && i == APP_TRAIN && ptb.grow && o->min_count > 1)
            rc = trim_words(b, o->min_count, &a->error);
        ptb.grow = false;
    }
    if (rc == 0)
        b->words = vocab_size(b->vocab);
    return rc;
}

/* ---- three files ----------------------------------------------------------------------------- */

static int load_three_files(struct treebank *b, struct app *a, const struct treebank_options *o)
{
    int rows = app_model_rows(a, TABLE), rc = 0;

    for (int i = 0; rc == 0 && i < APP_SETS; i++) {
        struct forest_stats stats = {.max_word = -1};

        if (!a->path[i])
            continue;
        rc = threefile_load(a->path[i], o->labels, &b->set[i], &a->error);
        if (rc == 0)
            rc = forest_measure(&b->set[i], &stats, &a->error);
        if (rc == 0 && rows && stats.max_word >= rows)
            rc = app_fail(&a->error, CAVS_EDATA, "%s: word %d, but the model %s has %d words",
                          a->path[i], stats.max_word, a->model_path, rows);
        if (stats.max_word >= b->words)
            b->words = 1 + stats.max_word;
    }
    if (rows)
        b->words = rows;
    return rc;
}

/* ---- numbers of children --------------------------------------------------------------------- */

/* The cell of a model that is there cannot be chosen any more. */
static int refuse(struct app *a, const char *what, int arity, const char *binary)
{
    const char *model = a->model_path;

    return app_fail(&a->error, CAVS_EDATA, "%s %d child%s, --cell %s%s%s wants two: %s", what,
                    arity, arity == 1 ? "" : "ren", binary, model ? " of " : "", model ? model : "",
                    model ? "train a model with --cell childsum" : "take --cell childsum");
}

int treebank_check_tree(struct app *a, const struct tree *t, const char *path, const char *binary)
{
    char what[300];

    for (int v = 0; binary && v < t->n; v++) {
        int arity = tree_arity(t, v);

        if (arity == 0 || arity == 2)
            continue;
        snprintf(what, sizeof what, "%s:%zu: a vertex of this tree has", path, t->line);
        return refuse(a, what, arity, binary);
    }
    return 0;
}

static int note_set(struct treebank *b, struct app *a, int set, const char *binary)
{
    const struct forest *f = &b->set[set];
    int rc = 0;

    for (int i = 0; rc == 0 && i < f->trees; i++) {
        struct tree tree = forest_tree(f, i);

        rc = treebank_check_tree(a, &tree, a->path[set], binary);
        if (rc == 0)
            rc = arities_note_tree(&b->arities, &tree);
    }
    return rc;
}

/* Of trees that are to be labelled nothing is known yet. */
static int note_all(struct treebank *b, const char *binary)
{
    int rc = arities_note(&b->arities, 0);

    for (int k = 1; rc == 0 && k <= ARITY_MANY; k++)
        if (!binary || k == 2)
            rc = arities_note(&b->arities, k);
    return rc;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* 1 if the sets are folders, 0 if files; both together have no words in common. */
static int find_form(struct app *a)
{
    const char *first = NULL;

    for (int i = 0; i < APP_SETS; i++) {
        if (!a->path[i])
            continue;
        if (first && is_folder(first) != is_folder(a->path[i]))
            return app_fail(&a->error, CAVS_EINVAL,
                            "%s and %s are of different forms: expected files or folders", first,
                            a->path[i]);
        first = a->path[i];
    }
    return first && is_folder(first);
}

static int load_text(struct treebank *b, struct app *a, const struct treebank_options *o)
{
    int folders = find_form(a), rc;

    if (folders < 0)
        return folders;
    rc = folders ? load_three_files(b, a, o) : load_brackets(b, a, o);
    for (int i = 0; rc == 0 && i < APP_SETS; i++)
        rc = note_set(b, a, i, o->binary);
    return rc;
}

/* ---- packed ---------------------------------------------------------------------------------- */

static int check_packed(struct app *a, const struct arities *r, const char *path,
                        const char *binary)
{
    char what[300];

    snprintf(what, sizeof what, "%s: it has vertices with", path);
    for (int i = 0; binary && i < r->n; i++)
        if (r->children[i] != 0 && r->children[i] != 2)
            return refuse(a, what, r->children[i], binary);
    return 0;
}

/* Packed trees have the functions that --cell childsum has, and their words with them. */
static int find_packed(struct treebank *b, struct app *a, const char *path,
                       const struct treebank_options *o)
{
    struct cavs_packed *p;
    int rc = cavs_packed_open(path, &p);

    if (rc < 0)
        return rc;
    if ((rc = packed_arities(p, path, &b->arities, &a->error)) == 0 &&
        (rc = packed_vocab(p, path, "words", &b->vocab, &a->error)) == 0 &&
        (rc = check_packed(a, &b->arities, path, o->binary)) == 0)
        rc = model_note_same_words(a, "words", b->vocab, path);
    if (rc == 0)
        b->words = vocab_size(b->vocab);
    cavs_packed_close(p);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

int treebank_load(struct treebank *b, struct app *a, const struct treebank_options *o)
{
    const char *packed = app_first_packed(a);
    int rc = packed ? find_packed(b, a, packed, o) : load_text(b, a, o);

    if (rc == 0 && (a->options.predict || b->arities.n == 0))
        rc = note_all(b, o->binary);
    if (rc == 0 && b->vocab)
        app_keep_vocab(a, "words", b->vocab, TABLE, NULL);
    return rc;
}

void treebank_clear(struct treebank *b)
{
    for (int i = 0; i < APP_SETS; i++)
        forest_clear(&b->set[i]);
    arities_clear(&b->arities);
    vocab_destroy(b->vocab);
}
