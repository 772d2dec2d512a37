/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_text.c - chains of words: for the language models the stage "lstm" and, over it, "next" with
 * the word to be predicted; for bilstm_tagger the stages "forward" and "backward", and "tag" over
 * the first.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"
#include "apps/common/sentences.h"
#include "apps/pack.h"
#include "core/cavs_cells.h"

#define EOS "<eos>"

/* ---- language models ------------------------------------------------------------------------- */

enum { LSTM, NEXT };

/* The words that no chain has yet, behind the one before them. */
struct stream {
    struct pack *pack;
    int *text;
    size_t n, cap; /* n >= 1 once reading has begun */
};

/* Adds the words text[1 .. n] as a sample, each predicted from the one before. */
static int add_chain(struct pack *p, const int *text, int n)
{
    int *ptr = pack_ints(p, 2 * (size_t)n + 1), *child, rc;

    if (!ptr)
        return CAVS_ENOMEM;
    child = ptr + n + 1;
    cavs_chain_graph(CAVS_WAY_FORWARD, n, ptr, child);
    if ((rc = cavs_data_begin(p->data)) < 0 ||
        (rc = cavs_data_graph(p->data, p->stages[LSTM], n, NULL, ptr, child)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[LSTM], "word", n, text)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[NEXT], "label", n, text + 1)) < 0)
        return rc;
    return cavs_data_end(p->data);
}

/* Adds chains of n words, as long as there are so many left. */
static int cut(struct stream *s, size_t n)
{
    size_t at = 0;
    int rc = 0;

    for (; rc == 0 && n > 0 && s->n - 1 - at >= n; at += n)
        rc = add_chain(s->pack, s->text + at, n);
    s->n -= at;
    memmove(s->text, s->text + at, s->n * sizeof *s->text);
    return rc;
}

static int on_line(void *context, int n, const int *words, const int *tags, struct app_error *e)
{
    struct stream *s = context;

    (void)tags;
    (void)e;
    if (s->pack->growing)
        return 0;
    if (!array_reserve(&s->text, &s->cap, s->n + n + 1, sizeof *s->text))
        return CAVS_ENOMEM;
    if (!s->n)
        s->text[s->n++] = vocab_find(s->pack->words, EOS, sizeof EOS - 1);
    memcpy(s->text + s->n, words, n * sizeof *words);
    s->n += n;
    return cut(s, s->pack->steps ? s->pack->steps : n);
}

static int read_text(struct pack *p, struct app_error *e)
{
    struct sentence_options o = {.words = p->words, .end = EOS, .grow = p->growing};
    struct stream s = {.pack = p};
    struct sentence_visitor visitor = {on_line, &s};
    int rc = sentences_each(p->input, &o, &visitor, e);

    if (rc == 0 && s.n > 1)
        rc = cut(&s, s.n - 1);
    free(s.text);
    return rc;
}

static int declare_text(struct pack *p, struct app_error *e)
{
    static const char *const of_word[] = {"word", NULL}, *const of_next[] = {"label", NULL};

    (void)e;
    p->stages[LSTM] = pack_stage(p, "lstm");
    pack_function(p->stages[LSTM], "word", 1, of_word);
    p->stages[NEXT] = pack_over(p, "next", p->stages[LSTM], of_next);
    return 0;
}

const struct pack_form pack_text = {"text", read_text, declare_text};

/* ---- taggers --------------------------------------------------------------------------------- */

enum { FORWARD, BACKWARD, TAG };

static int add_words(struct pack *p, enum cavs_way way, int n, const int *words, int *ptr,
                     int *child)
{
    int rc;

    cavs_chain_graph(way, n, ptr, child);
    rc = cavs_data_graph(p->data, p->stages[way], n, NULL, ptr, child);
    return rc < 0 ? rc : cavs_data_ids(p->data, p->stages[way], "word", n, words);
}

static int on_sentence(void *context, int n, const int *words, const int *tags, struct app_error *e)
{
    struct pack *p = context;
    int *ptr, *child, *position, rc;

    (void)e;
    if (p->growing)
        return 0;
    if (!(ptr = pack_ints(p, 3 * (size_t)n + 1)))
        return CAVS_ENOMEM;
    child = ptr + n + 1;
    position = child + n;
    for (int w = 0; w < n; w++)
        position[w] = w;
    if ((rc = cavs_data_begin(p->data)) < 0 ||
        (rc = add_words(p, CAVS_WAY_FORWARD, n, words, ptr, child)) < 0 ||
        (rc = add_words(p, CAVS_WAY_BACKWARD, n, words, ptr, child)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[TAG], "position", n, position)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[TAG], "label", n, tags)) < 0)
        return rc;
    return cavs_data_end(p->data);
}

static int read_tagged(struct pack *p, struct app_error *e)
{
    struct sentence_options o = {
        .words = p->words, .tags = p->tags, .grow = p->growing, .grow_tags = p->growing};
    struct sentence_visitor visitor = {on_sentence, p};

    return sentences_each(p->input, &o, &visitor, e);
}

static int declare_tagged(struct pack *p, struct app_error *e)
{
    static const char *const names[] = {"forward", "backward"};
    static const char *const of_word[] = {"word", NULL}, *const of_tag[] = {"position", "label",
                                                                            NULL};

    (void)e;
    for (int way = FORWARD; way <= BACKWARD; way++) {
        p->stages[way] = pack_stage(p, names[way]);
        pack_function(p->stages[way], "word", 1, of_word);
    }
    p->stages[TAG] = pack_over(p, "tag", p->stages[FORWARD], of_tag);
    return 0;
}

const struct pack_form pack_tagged = {"tagged", read_tagged, declare_tagged};
