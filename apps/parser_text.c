/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/parser_text.h"

#include <stdlib.h>
#include <string.h>

#include "apps/common/array.h"
#include "apps/common/conllu.h"

static const char ROOT[] = "<root>";

/* ---- sentences ------------------------------------------------------------------------------- */

struct reader {
    struct parser_text *text;
    const char *path;
};

static bool reserve(struct parser_text *t, int n)
{
    size_t words = t->words + n + 1;

    return array_reserve(&t->first, &t->first_cap, t->n + (size_t)2, sizeof *t->first) &&
           array_reserve(&t->form, &t->form_cap, words, sizeof(int)) &&
           array_reserve(&t->head, &t->head_cap, words, sizeof(int)) &&
           array_reserve(&t->relation, &t->relation_cap, words, sizeof(int));
}

static int add_sentence(void *context, const struct conllu_sentence *s, struct app_error *e)
{
    struct reader *r = context;
    struct parser_text *t = r->text;
    size_t at = t->words;

    if (!reserve(t, s->n))
        return app_fail(e, CAVS_ENOMEM, "%s:%zu: no memory for a sentence of %d words", r->path,
                        s->line, s->n);
    t->first[t->n++] = at;
    t->form[at] = 0;
    t->head[at] = t->relation[at] = -1;
    for (int v = 0; v < s->n; v++) {
        t->form[at + 1 + v] = s->form[v];
        t->head[at + 1 + v] = s->head[v] + 1; /* CONLLU_ROOT becomes word 0 */
        t->relation[at + 1 + v] = s->relation[v];
    }
    t->words += s->n + 1;
    t->first[t->n] = t->words;
    return 0;
}

int parser_text_load(const char *path, struct parser_words *w, struct parser_text *out,
                     struct app_error *e)
{
    bool is_first = !w->forms;
    struct conllu_options o = {.grow_forms = true, .grow_tags = is_first};
    struct reader r = {out, path};
    struct conllu_visitor visitor = {add_sentence, &r};
    int rc;

    if (is_first && (!(w->forms = vocab_create()) || !(w->relations = vocab_create())))
        return CAVS_ENOMEM;
    o.forms = w->forms;
    o.relations = w->relations;
    rc = conllu_read(path, &o, &visitor, e);
    if (rc == 0 && out->n == 0)
        rc = app_fail(e, CAVS_EDATA, "%s: no sentences in it", path);
    return rc;
}

void parser_text_clear(struct parser_text *t)
{
    free(t->first);
    free(t->form);
    free(t->head);
    free(t->relation);
    *t = (struct parser_text){0};
}

/* ---- words ----------------------------------------------------------------------------------- */

/* A copy in small letters (of ASCII; other bytes stay). */
static char *lowered(const char *form, size_t length)
{
    char *small = strdup(form);

    for (size_t i = 0; small && i < length; i++)
        if (small[i] >= 'A' && small[i] <= 'Z')
            small[i] += 'a' - 'A';
    return small;
}

/* The last three bytes in small letters, behind '^' if there is a capital: into shape[5]. */
static size_t shape_of(const char *form, const char *small, size_t length, char *shape)
{
    size_t n = length < 3 ? length : 3, capital = strcmp(form, small) != 0;

    shape[0] = '^';
    memcpy(shape + capital, small + length - n, n);
    return n + capital;
}

int parser_words_choose(struct parser_words *w, int min_count, struct app_error *e)
{
    int rc = 0, *map = NULL;

    w->words = vocab_create();
    w->shapes = vocab_create();
    if (!w->words || !w->shapes || vocab_add(w->words, ROOT, sizeof ROOT - 1) < 0 ||
        vocab_add(w->shapes, ROOT, sizeof ROOT - 1) < 0)
        rc = CAVS_ENOMEM;
    for (int id = 1; rc == 0 && id < vocab_size(w->forms); id++) {
        const char *form = vocab_word(w->forms, id);
        size_t length = strlen(form);
        char *small = lowered(form, length), shape[5];

        for (long i = 0; small && i < vocab_count(w->forms, id) && rc == 0; i++)
            if (vocab_add(w->words, small, length) < 0 ||
                vocab_add(w->shapes, shape, shape_of(form, small, length, shape)) < 0)
                rc = CAVS_ENOMEM;
        rc = small ? rc : CAVS_ENOMEM;
        free(small);
    }
    /* the root must not be rare */
    for (int i = 0; rc == 0 && i < min_count; i++)
        if (vocab_add(w->words, ROOT, sizeof ROOT - 1) < 0)
            rc = CAVS_ENOMEM;
    if (rc == 0 && !(map = vocab_trim(w->words, min_count)))
        rc = CAVS_ENOMEM;
    free(map);
    return rc < 0 ? app_fail(e, rc, "no memory for %d forms", vocab_size(w->forms)) : 0;
}

int parser_words_look_up(struct parser_words *w, struct app_error *e)
{
    int n = vocab_size(w->forms);

    w->form = calloc(n, sizeof *w->form);
    if (!w->form)
        return app_fail(e, CAVS_ENOMEM, "no memory for %d forms", n);
    w->form[0] = (struct parser_form){PARSER_ROOT_WORD, PARSER_ROOT_WORD, 0};
    for (int id = 1; id < n; id++) {
        const char *form = vocab_word(w->forms, id);
        size_t length = strlen(form);
        char *small = lowered(form, length), shape[5];

        if (!small)
            return app_fail(e, CAVS_ENOMEM, "no memory for %d forms", n);
        w->form[id].word = vocab_find(w->words, small, length);
        w->form[id].shape = vocab_find(w->shapes, shape, shape_of(form, small, length, shape));
        w->form[id].count = vocab_count(w->words, w->form[id].word);
        free(small);
    }
    return 0;
}

void parser_words_clear(struct parser_words *w)
{
    vocab_destroy(w->forms);
    vocab_destroy(w->relations);
    vocab_destroy(w->words);
    vocab_destroy(w->shapes);
    free(w->form);
}
