/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/treebank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/common/data_files.h"
#include "apps/common/ptb.h"
#include "apps/common/threefile.h"
#include "apps/common/vocab.h"

static bool is_folder(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int choose_paths(struct treebank *b, const struct treebank_options *o, struct app_error *e)
{
    struct data_files f = {.train = o->train,
                           .dev = o->dev,
                           .default_train = "sst/train.txt",
                           .default_dev = "sst/dev.txt"};
    int rc = data_files_find(&f, e);

    b->train_path = f.train_path;
    b->dev_path = f.dev_path;
    if (rc == 0 && b->dev_path && is_folder(b->train_path) != is_folder(b->dev_path))
        rc = app_fail(e, CAVS_EINVAL,
                      "%s and %s are of different forms: expected two files or two folders",
                      b->train_path, b->dev_path);
    return rc;
}

static int trim_words(struct forest *train, struct vocab *vocab, int min_count, struct app_error *e)
{
    int *map = vocab_trim(vocab, min_count);

    if (!map)
        return app_fail(e, CAVS_ENOMEM, "no memory for the vocabulary");
    for (size_t v = 0; v < train->vertices; v++)
        if (train->word[v] >= 0)
            train->word[v] = map[train->word[v]];
    free(map);
    return 0;
}

static int load_brackets(struct treebank *b, const struct treebank_options *o, struct app_error *e)
{
    struct ptb_options ptb = {.labels = o->labels, .vocab = vocab_create(), .grow = true};
    int rc;

    if (!ptb.vocab)
        return app_fail(e, CAVS_ENOMEM, "no memory for a vocabulary");
    rc = ptb_load(b->train_path, &ptb, &b->train, e);
    if (rc == 0 && o->min_count > 1)
        rc = trim_words(&b->train, ptb.vocab, o->min_count, e);
    ptb.grow = false;
    if (rc == 0 && b->dev_path)
        rc = ptb_load(b->dev_path, &ptb, &b->dev, e);
    b->words = vocab_size(ptb.vocab);
    vocab_destroy(ptb.vocab);
    return rc;
}

static int load_three_files(struct treebank *b, const struct treebank_options *o,
                            struct app_error *e)
{
    struct forest_stats train, dev = {.max_word = -1};
    int rc = threefile_load(b->train_path, o->labels, &b->train, e);

    if (rc == 0 && b->dev_path)
        rc = threefile_load(b->dev_path, o->labels, &b->dev, e);
    if (rc == 0)
        rc = forest_measure(&b->train, &train, e);
    if (rc == 0)
        rc = forest_measure(&b->dev, &dev, e);
    if (rc == 0)
        b->words = 1 + (train.max_word > dev.max_word ? train.max_word : dev.max_word);
    return rc;
}

/* ---- numbers of children --------------------------------------------------------------------- */

static int note_tree(struct treebank *b, const struct tree *t, const char *path, const char *binary,
                     struct app_error *e)
{
    for (int v = 0; binary && v < t->n; v++) {
        int arity = tree_arity(t, v);

        if (arity != 0 && arity != 2)
            return app_fail(e, CAVS_EDATA,
                            "%s:%zu: a vertex of this tree has %d child%s, --cell %s wants "
                            "two: take --cell childsum",
                            path, t->line, arity, arity == 1 ? "" : "ren", binary);
    }
    return arities_note_tree(&b->arities, t);
}

static int note_forest(struct treebank *b, const struct forest *f, const char *path,
                       const char *binary, struct app_error *e)
{
    int rc = 0;

    for (int i = 0; i < f->trees && rc == 0; i++) {
        struct tree tree = forest_tree(f, i);

        rc = note_tree(b, &tree, path, binary, e);
    }
    return rc;
}

static int find_arities(struct treebank *b, const char *binary, struct app_error *e)
{
    int rc = note_forest(b, &b->train, b->train_path, binary, e);

    return rc < 0 ? rc : note_forest(b, &b->dev, b->dev_path, binary, e);
}

static int check_packed(const struct arities *a, const char *path, const char *binary,
                        struct app_error *e)
{
    for (int i = 0; binary && i < a->n; i++)
        if (a->children[i] != 0 && a->children[i] != 2)
            return app_fail(e, CAVS_EDATA,
                            "%s: it has vertices with %d child%s, --cell %s wants two: take --cell "
                            "childsum",
                            path, a->children[i], a->children[i] == 1 ? "" : "ren", binary);
    return 0;
}

/* Packed trees have the functions that --cell childsum has. */
static int find_packed(struct treebank *b, const struct treebank_options *o, struct app_error *e)
{
    const char *path = o->packed.train;
    struct cavs_packed *p;
    int rc = cavs_packed_open(path, &p);

    if (rc < 0)
        return rc;
    rc = packed_arities(p, path, &b->arities, e);
    if (rc == 0)
        rc = packed_vocab_size(p, path, "words", &b->words, e);
    if (rc == 0)
        rc = check_packed(&b->arities, path, o->binary, e);
    cavs_packed_close(p);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int load_text(struct treebank *b, const struct treebank_options *o, struct app_error *e)
{
    int rc = choose_paths(b, o, e);

    if (rc < 0)
        return rc;
    rc = is_folder(b->train_path) ? load_three_files(b, o, e) : load_brackets(b, o, e);
    if (rc == 0 && b->train.trees == 0)
        rc = app_fail(e, CAVS_EDATA, "%s: no trees in it", b->train_path);
    return rc < 0 ? rc : find_arities(b, o->binary, e);
}

int treebank_load(struct treebank *b, const struct treebank_options *o, struct app_error *e)
{
    return o->packed.train ? find_packed(b, o, e) : load_text(b, o, e);
}

void treebank_clear(struct treebank *b)
{
    forest_clear(&b->train);
    forest_clear(&b->dev);
    arities_clear(&b->arities);
    free(b->train_path);
    free(b->dev_path);
}
