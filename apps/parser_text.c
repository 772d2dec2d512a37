/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/parser_text.h"

#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"

static const char ROOT[] = "<root>";

/* ---- words ----------------------------------------------------------------------------------- */

/* What a word is known by. */
struct form {
    const char *small; /* in small letters (of ASCII; other bytes stay) */
    size_t length, shape_length;
    char shape[4]; /* the last three bytes in small letters, behind '^' if there is a capital */
};

/* In the scratch of w, until the next call; false when memory is short. */
static bool look_at(struct parser_words *w, const char *form, size_t length, struct form *out)
{
    size_t end = length < 3 ? length : 3, capital = 0;

    if (!array_reserve(&w->small, &w->small_cap, length + 1, 1))
        return false;
    for (size_t i = 0; i < length; i++) {
        bool large = form[i] >= 'A' && form[i] <= 'Z';

        w->small[i] = large ? form[i] + ('a' - 'A') : form[i];
        capital |= large;
    }
    *out = (struct form){.small = w->small, .length = length, .shape_length = end + capital};
    out->shape[0] = '^';
    memcpy(out->shape + capital, w->small + length - end, end);
    return true;
}

/* The sentences of one file. */
struct reader {
    struct parser_words *words;
    struct parser_text *text; /* NULL: only words are noted */
    struct conllu_text lines; /* of the present sentence */
};

static int note_words(struct parser_words *w, const struct conllu_text *lines)
{
    size_t at = 0, length;
    const char *text;
    struct form form;

    while ((text = conllu_text_form(lines, 0, &at, &length)))
        if (!look_at(w, text, length, &form) || vocab_add(w->words, form.small, form.length) < 0 ||
            vocab_add(w->shapes, form.shape, form.shape_length) < 0)
            return CAVS_ENOMEM;
    return 0;
}

static int on_sentence(void *context, const struct conllu_sentence *s, struct app_error *e)
{
    struct reader *r = context;
    int rc = r->text ? parser_text_add(r->text, r->words, s, &r->lines, 0, e)
                     : note_words(r->words, &r->lines);

    conllu_text_empty(&r->lines);
    return rc;
}

static int read_file(struct reader *r, const char *path, struct app_error *e)
{
    struct conllu_options o = {
        .relations = r->words->relations, .grow_tags = !r->text, .text = &r->lines};
    struct conllu_visitor visitor = {on_sentence, r};
    int rc = conllu_read(path, &o, &visitor, e);

    conllu_text_clear(&r->lines);
    return rc;
}

static bool add_root(struct parser_words *w)
{
    return vocab_add(w->words, ROOT, sizeof ROOT - 1) >= 0 &&
           vocab_add(w->shapes, ROOT, sizeof ROOT - 1) >= 0;
}

int parser_words_choose(struct parser_words *w, const char *path, int min_count,
                        struct app_error *e)
{
    struct reader r = {.words = w};
    int rc = add_root(w) ? read_file(&r, path, e) : CAVS_ENOMEM, *map;

    if (rc < 0)
        return rc;
    /* the root must not be rare */
    vocab_seen(w->words, vocab_find(w->words, ROOT, sizeof ROOT - 1), min_count);
    map = vocab_trim(w->words, min_count);
    free(map);
    return map ? 0 : app_fail(e, CAVS_ENOMEM, "no memory for %d words", vocab_size(w->words));
}

void parser_words_clear(struct parser_words *w)
{
    vocab_destroy(w->relations);
    vocab_destroy(w->words);
    vocab_destroy(w->shapes);
    free(w->small);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static bool reserve(struct parser_text *t, int n)
{
    size_t words = t->words + (size_t)n + 1;

    return array_reserve(&t->first, &t->first_cap, t->n + (size_t)2, sizeof *t->first) &&
           array_reserve(&t->word, &t->word_cap, words, sizeof(int)) &&
           array_reserve(&t->shape, &t->shape_cap, words, sizeof(int)) &&
           array_reserve(&t->head, &t->head_cap, words, sizeof(int)) &&
           array_reserve(&t->relation, &t->relation_cap, words, sizeof(int));
}

static void add_word(struct parser_text *t, int word, int shape, int head, int relation)
{
    t->word[t->words] = word;
    t->shape[t->words] = shape;
    t->head[t->words] = head;
    t->relation[t->words++] = relation;
}

int parser_text_add(struct parser_text *t, struct parser_words *w, const struct conllu_sentence *s,
                    const struct conllu_text *lines, int i, struct app_error *e)
{
    size_t at = 0, length;
    struct form form;

    if (!reserve(t, s->n))
        return app_fail(e, CAVS_ENOMEM, "no memory for a sentence of %d words", s->n);
    t->first[t->n++] = t->words;
    add_word(t, PARSER_ROOT_WORD, PARSER_ROOT_WORD, -1, -1);
    for (int v = 0; v < s->n; v++) {
        const char *text = conllu_text_form(lines, i, &at, &length);

        if (!look_at(w, text, length, &form))
            return app_fail(e, CAVS_ENOMEM, "no memory for a word of %zu bytes", length);
        /* CONLLU_ROOT becomes word 0, CONLLU_NO_HEAD -1 */
        add_word(t, vocab_find(w->words, form.small, form.length),
                 vocab_find(w->shapes, form.shape, form.shape_length), s->head[v] + 1,
                 s->relation[v]);
    }
    t->first[t->n] = t->words;
    return 0;
}

int parser_text_load(const char *path, struct parser_words *w, struct parser_text *out,
                     struct app_error *e)
{
    struct reader r = {.words = w, .text = out};
    int rc = read_file(&r, path, e);

    if (rc == 0 && out->n == 0)
        rc = app_fail(e, CAVS_EDATA, "%s: no sentences in it", path);
    return rc;
}

void parser_text_empty(struct parser_text *t)
{
    t->n = 0;
    t->words = 0;
}

void parser_text_clear(struct parser_text *t)
{
    free(t->first);
    free(t->word);
    free(t->shape);
    free(t->head);
    free(t->relation);
    *t = (struct parser_text){0};
}
