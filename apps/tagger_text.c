/* SPDX-License-Identifier: Apache-2.0 */
/* tagger_text.c - the words and tags of a tagger, and the sets that are text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/model_note.h"
#include "apps/common/packed_set.h"
#include "apps/common/tag_baseline.h"
#include "apps/tagger.h"

/* ---- words and tags -------------------------------------------------------------------------- */

/* Takes the words and tags of the model file, if there is one that has them. */
static int take_words(struct tagger *t)
{
    int rc = app_vocab(&t->app, "words", &t->words);

    if (rc == 0)
        rc = app_vocab(&t->app, "tags", &t->tags);
    if (rc == 0 && !t->words != !t->tags)
        rc = app_fail(&t->app.error, CAVS_EFORMAT,
                      "%s: it has words without tags, or tags without words", t->app.model_path);
    return rc;
}

/* Lists the frequent words, in the order in which they were seen first. */
static int choose_words(struct tagger *t, const struct vocab *seen)
{
    if (!(t->words = vocab_create()))
        return CAVS_ENOMEM;
    for (int id = 1; id < vocab_size(seen); id++) {
        const char *word = vocab_word(seen, id);

        if (vocab_count(seen, id) >= t->min_count && vocab_add(t->words, word, strlen(word)) < 0)
            return CAVS_ENOMEM;
    }
    return 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Takes words and tags from the training set, unless a model file has brought them. */
static int read_training(struct tagger *t, struct vocab *seen, struct sentences *text)
{
    struct app *a = &t->app;
    struct sentence_options o = {.words = seen, .grow = true, .keep_words = true};
    int rc;

    o.grow_tags = !t->tags;
    if (!t->tags && !(t->tags = vocab_create()))
        return CAVS_ENOMEM;
    o.tags = t->tags;
    rc = sentences_load(a->path[APP_TRAIN], &o, text, &a->error);
    if (rc == 0 && text->n == 0)
        rc = app_fail(&a->error, CAVS_EDATA, "%s: no sentences in it", a->path[APP_TRAIN]);
    return rc < 0 || t->words ? rc : choose_words(t, seen);
}

/* Entities that each word's commonest tag finds: 0, or a negative code. */
static int count_by_word(const struct tagger *t, const struct tag_baseline *b,
                         const struct sentences *s, struct entity_counts *found)
{
    int *guess = malloc((s->tokens + 1) * sizeof *guess);

    if (!guess)
        return CAVS_ENOMEM;
    for (size_t w = 0; w < s->tokens; w++)
        guess[w] = tag_baseline_guess(b, s->word[w]);
    for (int i = 0; i < s->n; i++)
        entities_count(found, t->tags, sentences_length(s, i), s->tag + s->first[i],
                       guess + s->first[i]);
    free(guess);
    return 0;
}

static void report_baseline(struct app *a, enum app_set set, const char *name, double value)
{
    char field[64];

    snprintf(field, sizeof field, "%s_%s", app_set_names[set], name);
    report_number(&a->report, field, value);
}

/* Counts what is right in this set if each word gets its commonest tag of the training set. */
static int report_baselines(struct tagger *t, enum app_set set, const struct tag_baseline *b,
                            const struct sentences *s)
{
    struct app *a = &t->app;
    struct entity_counts found = {0};
    int rc = count_by_word(t, b, s, &found);

    if (rc < 0)
        return rc;
    report_baseline(a, set, "majority_accuracy", tag_baseline_majority(b, s->tokens, s->tag));
    report_baseline(a, set, "word_baseline", tag_baseline_by_word(b, s->tokens, s->word, s->tag));
    report_baseline(a, set, "word_baseline_f1", entities_f1(&found));
    return 0;
}

/* A development or test set; `b` knows the training set, or is NULL. */
static int read_other(struct tagger *t, struct vocab *seen, enum app_set set,
                      const struct tag_baseline *b, struct sentences *text)
{
    struct app *a = &t->app;
    struct sentence_options o = {.words = seen, .tags = t->tags, .keep_words = true};
    int rc = sentences_load(a->path[set], &o, text, &a->error);

    return rc == 0 && b ? report_baselines(t, set, b, text) : rc;
}

/* The words of `seen` are all those of the training set: baselines know more words than the
 * model. */
static int read_sets(struct tagger *t, struct vocab *seen)
{
    struct app *a = &t->app;
    struct sentences *text = t->text;
    const struct sentences *train = &text[APP_TRAIN];
    struct tag_baseline b = {0};
    bool known = app_has_set(a, APP_TRAIN);
    int rc = known ? read_training(t, seen, &text[APP_TRAIN]) : 0;

    if (rc == 0 && !t->words)
        rc = app_fail(&a->error, CAVS_EINVAL,
                      "%s: no words in it: it was not saved by this program, or by an older "
                      "version; train with --train PATH --init FILE",
                      a->model_path);
    if (rc == 0 && known &&
        !tag_baseline_learn(&b, train->tokens, train->word, train->tag, vocab_size(seen)))
        rc = CAVS_ENOMEM;
    for (int i = APP_DEV; rc == 0 && i < APP_SETS; i++)
        if (app_has_set(a, i))
            rc = read_other(t, seen, i, known ? &b : NULL, &text[i]);
    tag_baseline_clear(&b);
    return rc;
}

static int read_text(struct tagger *t)
{
    struct vocab *seen = vocab_create();
    int rc = seen ? take_words(t) : CAVS_ENOMEM;

    if (rc == 0)
        rc = read_sets(t, seen);
    vocab_destroy(seen);
    return rc;
}

/* ---- packed ---------------------------------------------------------------------------------- */

static int take_packed(struct tagger *t, const char *path)
{
    static const char *const names[] = {"words", "tags", NULL};
    struct vocab **const all[] = {&t->words, &t->tags};

    return packed_vocabs(&t->app, path, names, all);
}

/* ---- all ------------------------------------------------------------------------------------- */

int tagger_read(struct tagger *t)
{
    struct app *a = &t->app;
    const char *packed = app_first_packed(a);
    int rc = packed ? take_packed(t, packed) : read_text(t);

    if (rc < 0)
        return rc;
    app_keep_vocab(a, "words", t->words, "embedding", NULL);
    app_keep_vocab(a, "tags", t->tags, NULL, "W_tag b_tag");
    return 0;
}
