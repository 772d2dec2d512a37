/* SPDX-License-Identifier: Apache-2.0 */
/* parser_data.c - samples of the parser: the words of a sentence, and in training the moves that
 * lead to its tree. */
#include <stdlib.h>
#include <string.h>

#include "apps/parser.h"

/* Arrays with room for the longest sentence of n words, roots counted, and its 2 n - 2 moves. */
struct scratch {
    int *all;
    int *position, *child_ptr, *child, *waiting;
    int *at[POSITIONS], *move, *relation; /* of moves */
    struct parse parse;
};

static bool scratch_make(struct scratch *s, size_t n)
{
    int **of_words[] = {&s->position,    &s->child_ptr,  &s->child,         &s->waiting,
                        &s->parse.stack, &s->parse.head, &s->parse.relation};
    size_t words = sizeof of_words / sizeof *of_words, at = 0;

    n++; /* child_ptr has one more */
    s->all = malloc((words + 2 * (POSITIONS + 2)) * n * sizeof *s->all);
    for (size_t i = 0; s->all && i < words; i++, at += n)
        *of_words[i] = s->all + at;
    for (int i = 0; s->all && i < POSITIONS; i++, at += 2 * n)
        s->at[i] = s->all + at;
    s->move = s->all ? s->all + at : NULL;
    s->relation = s->all ? s->move + 2 * n : NULL;
    return s->all;
}

static size_t longest(const struct parser_text *t)
{
    size_t n = 1;

    for (int i = 0; i < t->n; i++)
        if (t->first[i + 1] - t->first[i] > n)
            n = t->first[i + 1] - t->first[i];
    return n;
}

/* The oracle's moves; -1 if the tree has crossing arcs. */
static int collect_moves(struct scratch *s, int n, const int *head, const int *relation)
{
    int moves = 0;

    s->parse.n = n;
    parse_start(&s->parse);
    memset(s->waiting, 0, n * sizeof *s->waiting);
    for (int v = 1; v < n; v++)
        s->waiting[head[v]]++;
    for (; !parse_is_done(&s->parse); moves++) {
        enum move m = parse_oracle(&s->parse, head, s->waiting);
        int at[POSITIONS];

        if (m == MOVES)
            return -1;
        parse_look(&s->parse, at);
        for (int i = 0; i < POSITIONS; i++)
            s->at[i][moves] = at[i];
        s->move[moves] = m;
        s->relation[moves] = parse_oracle_move(&s->parse, m, relation, s->waiting);
    }
    return moves;
}

static int add_words(struct parser *p, struct cavs_data *d, const struct parser_text *t, int i,
                     struct scratch *s)
{
    const int *word = t->word + t->first[i], *shape = t->shape + t->first[i];
    int n = (int)(t->first[i + 1] - t->first[i]), rc;

    for (int v = 0; v < n; v++)
        s->position[v] = v;
    for (int way = 0; way < 2; way++) {
        struct cavs_stage *stage = p->lstm[way].stage;

        cavs_chain_graph(way, n, s->child_ptr, s->child);
        if ((rc = cavs_data_graph(d, stage, n, NULL, s->child_ptr, s->child)) < 0 ||
            (rc = cavs_data_ids(d, stage, "word", n, word)) < 0 ||
            (rc = cavs_data_ids(d, stage, "shape", n, shape)) < 0)
            return rc;
    }
    return cavs_data_ids(d, p->word, "position", n, s->position);
}

static int add_moves(struct parser *p, struct cavs_data *d, int moves, struct scratch *s)
{
    int rc = cavs_data_graph(d, p->decision, moves, NULL, NULL, NULL);

    for (int i = 0; rc == 0 && i < POSITIONS; i++)
        rc = cavs_data_ids(d, p->decision, parser_positions[i], moves, s->at[i]);
    if (rc < 0 || (rc = cavs_data_ids(d, p->decision, "move", moves, s->move)) < 0)
        return rc;
    return cavs_data_ids(d, p->decision, "relation", moves, s->relation);
}

static int add_sentence(struct parser *p, struct cavs_data *d, const struct parser_text *t, int i,
                        int moves, struct scratch *s)
{
    int rc;

    if ((rc = cavs_data_begin(d)) < 0 || (rc = add_words(p, d, t, i, s)) < 0 ||
        (rc = add_moves(p, d, moves, s)) < 0)
        return rc;
    return cavs_data_end(d);
}

int parser_add_text(struct parser *p, struct cavs_data *d, const struct parser_text *t,
                    int **sentence_of)
{
    struct scratch s = {0};
    int *map = calloc(t->n + 1, sizeof *map), added = 0;
    int rc = map && scratch_make(&s, longest(t)) ? 0 : CAVS_ENOMEM;

    for (int i = 0; rc == 0 && i < t->n; i++) {
        size_t first = t->first[i];
        int n = t->first[i + 1] - first, moves = 0;

        if (sentence_of)
            moves = collect_moves(&s, n, t->head + first, t->relation + first);
        p->skipped += moves < 0;
        if (moves < 0)
            continue;
        map[added++] = i;
        rc = add_sentence(p, d, t, i, moves, &s);
    }
    free(s.all);
    if (sentence_of)
        *sentence_of = map;
    else
        free(map);
    return rc;
}
