/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dyn_parser_readings.c - sentences that are read side by side: their room, their words, the scores
 * of their next moves.
 */
#include <string.h>

#include "apps/common/reserve.h"
#include "apps/dyn_parser.h"

/* ---- sentences side by side ------------------------------------------------------------------ */

static size_t length_of(const struct parser_text *t, int sentence)
{
    return t->first[sentence + 1] - t->first[sentence];
}

/* Room for the readings of n sentences of so many words. */
static int reserve(struct dyn_parser *p, int n, size_t words)
{
    int scores = MOVES + vocab_size(p->shared.words.relations);

    return array_reserve(&p->readings, &p->readings_room, (size_t)n + 1, sizeof *p->readings) &&
                   array_reserve(&p->ints, &p->ints_room, 5 * words + 1, sizeof *p->ints) &&
                   array_reserve(&p->symbols, &p->symbols_room, (1 + POSITIONS) * words + 1,
                                 sizeof *p->symbols) &&
                   tape_rows_reserve(&p->scores, (size_t)n, scores) == 0
               ? 0
               : app_fail(&p->shared.app.error, CAVS_ENOMEM,
                          "no memory to parse %d sentences side by side", n);
}

static struct reading start(int n, int *ints, struct cavs_symbol **symbols)
{
    struct reading r = {
        .parse = {.n = n, .stack = ints, .head = ints + n, .relation = ints + 2 * n},
        .waiting = ints + 3 * n,
        .word = symbols,
        .at = symbols + n};

    parse_start(&r.parse);
    return r;
}

/* The oracle wants to know of a sentence how many dependents its words have. */
static void show_tree(struct reading *r, const int *head, const int *relation)
{
    r->head = head;
    r->relation = relation;
    memset(r->waiting, 0, (size_t)r->parse.n * sizeof *r->waiting);
    for (int v = 1; v < r->parse.n; v++)
        r->waiting[head[v]]++;
}

int dyn_parser_read_all(struct dyn_parser *p, const struct parser_text *t, const int *sentences,
                        int n, bool with_trees)
{
    bool drops = with_trees && !p->shared.app.options.infer && p->shared.word_dropout > 0;
    size_t words = 0, done = 0;
    int rc;

    for (int i = 0; i < n; i++)
        words += length_of(t, sentences[i]);
    rc = reserve(p, n, words);
    p->n = rc < 0 ? 0 : n;
    for (int i = 0; i < p->n; i++) {
        struct reading *r = &p->readings[i];
        size_t first = t->first[sentences[i]];
        int length = (int)length_of(t, sentences[i]), *row = p->ints + 5 * done + 4 * length;

        *r = start(length, p->ints + 5 * done, p->symbols + (1 + POSITIONS) * done);
        memcpy(row, t->word + first, (size_t)length * sizeof *row);
        if (drops)
            parser_draw_words(&p->shared, &p->draws, sentences[i], row);
        if (with_trees)
            show_tree(r, t->head + first, t->relation + first);
        dyn_parser_read(p, r, row, t->shape + first);
        done += (size_t)length;
    }
    return rc;
}

/* All at once: the first decisions need some words of a few sentences, and what they leave would
 * come in as small pieces as the moves do. */
int dyn_parser_compute_words(struct dyn_parser *p)
{
    struct tape_rows *all = &p->words;
    size_t words = 0;

    for (int i = 0; i < p->n; i++)
        words += (size_t)p->readings[i].parse.n;
    if (tape_rows_reserve(all, words, 2 * p->shared.app.options.hidden) < 0)
        return CAVS_ENOMEM;
    words = 0;
    for (int i = 0; i < p->n; i++) {
        const struct reading *r = &p->readings[i];

        memcpy(all->symbol + words, r->word, (size_t)r->parse.n * sizeof(void *));
        words += (size_t)r->parse.n;
    }
    return tape_rows_compute(all, p->shared.app.tape);
}

int dyn_parser_score_all(struct dyn_parser *p)
{
    int active = 0, rc;

    for (int i = 0; i < p->n; i++)
        if (!parse_is_done(&p->readings[i].parse)) {
            cavs_tape_resume(p->shared.app.tape, i);
            dyn_parser_decide(p, &p->readings[i]);
            p->scores.symbol[active++] = p->readings[i].scores;
        }
    p->scores.n = (size_t)active;
    rc = active ? tape_rows_compute(&p->scores, p->shared.app.tape) : 0;
    return rc < 0 ? rc : active;
}

int dyn_parser_has_moves(struct dyn_parser *p, const struct parser_text *t, int sentence, bool *has)
{
    size_t first = t->first[sentence];
    int rc = reserve(p, 1, length_of(t, sentence));
    struct reading r;

    if (rc < 0)
        return rc;
    r = start((int)length_of(t, sentence), p->ints, p->symbols);
    show_tree(&r, t->head + first, t->relation + first);
    while (!parse_is_done(&r.parse)) {
        enum move m = parse_oracle(&r.parse, r.head, r.waiting);

        if (m == MOVES) {
            *has = false;
            return 0;
        }
        parse_oracle_move(&r.parse, m, r.relation, r.waiting);
    }
    *has = true;
    return 0;
}
