/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bilstm_char_tagger - bilstm_tagger that spells its rare words: two LSTMs read the characters of a
 * word in both directions, and their last states side by side are its embedding.
 *
 *     char_forward, char_backward   stages over the characters of all rare words of a sentence, one
 *                                   chain a word; in words of n characters that begin at vertex a
 *     rare (of the word stages)     fetches vertex a + n - 1 of the first and vertex a of the
 *                                   second
 *
 * A character is a byte: no encoding is assumed, and a word is never empty.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/common/params.h"
#include "apps/common/reserve.h"
#include "apps/tagger.h"

struct char_tagger {
    struct tagger tagger; /* first, so that its functions find the rest */
    int char_embed;
    struct cavs_cell lstm[2]; /* by enum cavs_way */
    int *chars, *child_ptr, *child;
    size_t chars_cap, ptr_cap, child_cap;
    int *end[2]; /* for each word, the character where that way ends; -1 for frequent words */
    size_t end_cap[2];
};

static const char *const end_names[] = {"last_char", "first_char"};

/* ---- options --------------------------------------------------------------------------------- */

static const struct app_option options[] = {
    TAGGER_OPTIONS,
    OPTION_GROUP("Characters:"),
    OPTION_ROW(OPTION_INT, "char-embed", "N", struct char_tagger, char_embed, OPTION_MODEL,
               "width of a character's embedding", 1, 1 << 20),
    {0}};

/* ---- model ----------------------------------------------------------------------------------- */

static void declare_chars(struct tagger *t)
{
    static const char *const names[] = {"char_forward", "char_backward"};
    struct char_tagger *c = (struct char_tagger *)t;
    struct cavs_param *table =
        app_embedding(t->app.model, "char_embedding", 256, c->char_embed, 0.05f);

    for (int way = 0; way < 2; way++) {
        struct cavs_function *f;

        c->lstm[way] =
            cavs_lstm_cell(t->app.model, names[way], c->char_embed, t->app.options.embed / 2);
        f = cavs_function_create(c->lstm[way].stage, "char");
        cavs_cell_define(&c->lstm[way], f, cavs_lookup(table, cavs_pull_ids(f, "char")));
    }
}

static struct cavs_symbol *spelling(struct tagger *t, struct cavs_function *f)
{
    const struct char_tagger *c = (struct char_tagger *)t;
    struct cavs_symbol *ends[2];

    for (int way = 0; way < 2; way++)
        ends[way] = cavs_pull_from(f, c->lstm[way].stage, "h", end_names[way]);
    return cavs_concat(2, ends);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* The characters of the rare words one after the other, and where each begins and ends.  Returns
 * how many characters there are, or a negative code. */
static int collect_chars(struct char_tagger *c, int n, const char *const *words,
                         const int *functions)
{
    size_t chars = 0;

    for (int way = 0; way < 2; way++)
        if (!array_reserve(&c->end[way], &c->end_cap[way], n, sizeof **c->end))
            return CAVS_ENOMEM;
    for (int w = 0; w < n; w++) {
        size_t length = functions[w] == TAGGER_RARE ? strlen(words[w]) : 0;

        if (chars + length > INT_MAX)
            return app_fail(&c->tagger.app.error, CAVS_EDATA,
                            "a sentence whose rare words have more than %d characters", INT_MAX);
        if (!array_reserve(&c->chars, &c->chars_cap, chars + length, sizeof *c->chars))
            return CAVS_ENOMEM;
        for (size_t i = 0; i < length; i++)
            c->chars[chars + i] = (unsigned char)words[w][i];
        c->end[CAVS_WAY_BACKWARD][w] = length ? (int)chars : -1;
        chars += length;
        c->end[CAVS_WAY_FORWARD][w] = length ? (int)chars - 1 : -1;
    }
    return (int)chars;
}

/* The characters are one long chain, cut where a word ends: the first character that this direction
 * reads has no child. */
static void char_graph(struct char_tagger *c, enum cavs_way way, int chars, int words)
{
    const int *begin = c->end[!way];

    cavs_chain_graph(way, chars, c->child_ptr, c->child);
    for (int w = 0; w < words; w++)
        if (begin[w] >= 0)
            c->child[begin[w]] = -1;
}

static int add_chars(struct tagger *t, struct cavs_data *d, int n, const char *const *words,
                     const int *functions)
{
    struct char_tagger *c = (struct char_tagger *)t;
    int chars = collect_chars(c, n, words, functions), rc = 0;

    if (chars < 0)
        return chars;
    if (!array_reserve(&c->child_ptr, &c->ptr_cap, (size_t)chars + 1, sizeof *c->child_ptr) ||
        !array_reserve(&c->child, &c->child_cap, (size_t)chars + 1, sizeof *c->child))
        return CAVS_ENOMEM;
    for (int way = 0; rc == 0 && way < 2; way++) {
        struct cavs_stage *stage = c->lstm[way].stage;

        char_graph(c, way, chars, n);
        if ((rc = cavs_data_graph(d, stage, chars, NULL, c->child_ptr, c->child)) < 0 ||
            (rc = cavs_data_ids(d, stage, "char", chars, c->chars)) < 0)
            return rc;
        /* both word stages fetch the same vertices */
        for (int i = 0; rc == 0 && i < 2; i++)
            rc = cavs_data_ids(d, t->lstm[i].stage, end_names[way], n, c->end[way]);
    }
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void clear(struct app *a)
{
    struct char_tagger *c = (struct char_tagger *)a;

    tagger_clear(a);
    free(c->chars);
    free(c->child_ptr);
    free(c->child);
    free(c->end[CAVS_WAY_FORWARD]);
    free(c->end[CAVS_WAY_BACKWARD]);
}

int main(int argc, char **argv)
{
    static const struct tagger_rare rare = {declare_chars, spelling, add_chars};
    struct char_tagger c = {.tagger = tagger_defaults(), .char_embed = 32};
    struct program p = tagger_declared(&c.tagger);

    c.tagger.rare = &rare;
    p.name = "bilstm_char_tagger";
    p.doc = "Trains a bidirectional LSTM to tag the words of sentences; rare words are "
            "spelt.\v" TAGGER_DOC TAGGER_CHARS_DOC;
    p.options = options;
    p.twin = "dyn_char_tagger";
    p.check = tagger_check_halves;
    p.clear = clear;
    return program_main(&p, &c.tagger.app, argc, argv);
}
