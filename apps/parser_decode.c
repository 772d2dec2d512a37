/* SPDX-License-Identifier: Apache-2.0 */
/* parser_decode.c - parsing side by side: the next moves of all unfinished sentences are one batch. */
#include <stdlib.h>
#include <string.h>

#include "apps/parser.h"

/* Some sentences of the development set. */
struct group {
    struct parser *parser;
    const int *samples; /* [n] */
    int n;
    int64_t words;
    struct parse *parses;   /* [n] */
    int *first;             /* [n]: row of a sentence's word 0 */
    int *ints;              /* what the parses consist of */
    float *row[POSITIONS];  /* [words][mlp] */
    float *seen[POSITIONS]; /* [n][mlp]: of the unfinished sentences */
    float *scores;          /* [n][MOVES + relations] */
};

static void group_clear(struct group *g)
{
    free(g->parses);
    free(g->first);
    free(g->ints);
    free(g->scores);
    for (int i = 0; i < POSITIONS; i++) {
        free(g->row[i]);
        free(g->seen[i]);
    }
}

static bool group_make(struct group *g)
{
    const struct parser *p = g->parser;
    size_t mlp = p->mlp, scores = cavs_channel_width(p->moves, "scores");
    bool enough = true;

    g->words = cavs_data_batch_vertices(p->dev, p->word, g->samples, g->n);
    g->parses = calloc(g->n, sizeof *g->parses);
    g->first = calloc(g->n, sizeof *g->first);
    g->ints = malloc(3 * (size_t)g->words * sizeof *g->ints);
    g->scores = malloc(g->n * scores * sizeof *g->scores);
    for (int i = 0; i < POSITIONS; i++) {
        g->row[i] = malloc(g->words * mlp * sizeof(float));
        g->seen[i] = malloc(g->n * mlp * sizeof(float));
        enough = enough && g->row[i] && g->seen[i];
    }
    return enough && g->parses && g->first && g->ints && g->scores;
}

static void start(struct group *g)
{
    const struct parser_text *t = &g->parser->dev_text;
    int *ints = g->ints, words = 0;

    for (int i = 0; i < g->n; i++) {
        int n = t->first[g->samples[i] + 1] - t->first[g->samples[i]];

        g->parses[i] =
            (struct parse){.n = n, .stack = ints, .head = ints + n, .relation = ints + 2 * n};
        parse_start(&g->parses[i]);
        g->first[i] = words;
        words += n;
        ints += 3 * n;
    }
}

/* What the words give to each position: once for all moves, and in one pass over the words. */
static int compute_rows(struct group *g)
{
    struct parser *p = g->parser;
    struct cavs_fetch fetches[POSITIONS];

    for (int i = 0; i < POSITIONS; i++)
        fetches[i] = (struct cavs_fetch){p->word, parser_positions[i], g->row[i]};
    return cavs_session_run(p->app.session, p->dev, g->samples, g->n, POSITIONS, fetches);
}

/* Copies what the unfinished sentences look at; returns how many they are. */
static int look(struct group *g)
{
    size_t mlp = g->parser->mlp;
    int active = 0;

    for (int i = 0; i < g->n; i++) {
        int at[POSITIONS];

        if (parse_is_done(&g->parses[i]))
            continue;
        parse_look(&g->parses[i], at);
        for (int k = 0; k < POSITIONS; k++) {
            float *to = g->seen[k] + active * mlp;

            if (at[k] < 0)
                memset(to, 0, mlp * sizeof *to);
            else
                memcpy(to, g->row[k] + (g->first[i] + at[k]) * mlp, mlp * sizeof *to);
        }
        active++;
    }
    return active;
}

/* Scores of the next moves: one sample of as many vertices. */
static int score(struct group *g, int active)
{
    struct parser *p = g->parser;
    struct cavs_data *d = NULL;
    int rc = cavs_data_create(p->mover, &d), sample = 0;

    if (rc < 0 || (rc = cavs_data_begin(d)) < 0 ||
        (rc = cavs_data_graph(d, p->moves, active, NULL, NULL, NULL)) < 0)
        goto out;
    for (int i = 0; rc == 0 && i < POSITIONS; i++)
        rc = cavs_data_rows(d, p->moves, parser_positions[i], active, g->seen[i]);
    if (rc == 0 && (rc = cavs_data_end(d)) == 0)
        rc = cavs_session_output(p->mover_session, d, &sample, 1, p->moves, "scores", g->scores);
out:
    cavs_data_destroy(d);
    return rc;
}

static int best(const float *scores, int n)
{
    int at = 0;

    for (int i = 1; i < n; i++)
        if (scores[i] > scores[at])
            at = i;
    return at;
}

/* The best of the allowed moves, for each. */
static void move(struct group *g)
{
    int relations = vocab_size(g->parser->words.relations), active = 0;

    for (int i = 0; i < g->n; i++) {
        struct parse *parse = &g->parses[i];
        const float *scores = g->scores + (size_t)active * (MOVES + relations);
        enum move m = MOVES;

        if (parse_is_done(parse))
            continue;
        for (enum move k = 0; k < MOVES; k++)
            if (parse_allows(parse, k) && (m == MOVES || scores[k] > scores[m]))
                m = k;
        parse_move(parse, m, best(scores + MOVES, relations));
        active++;
    }
}

static void count(const struct group *g, int64_t *heads, int64_t *both)
{
    const struct parser_text *t = &g->parser->dev_text;

    for (int i = 0; i < g->n; i++) {
        const struct parse *parse = &g->parses[i];
        size_t first = t->first[g->samples[i]];

        for (int v = 1; v < parse->n; v++) {
            bool right = parse->head[v] == t->head[first + v];

            *heads += right;
            *both += right && parse->relation[v] == t->relation[first + v];
        }
    }
}

static int parse_group(struct parser *p, const int *samples, int n, int64_t *heads, int64_t *both)
{
    struct group g = {.parser = p, .samples = samples, .n = n};
    int rc = group_make(&g) ? compute_rows(&g) : CAVS_ENOMEM, active;

    if (rc == 0)
        start(&g);
    while (rc == 0 && (active = look(&g)) > 0) {
        rc = score(&g, active);
        if (rc == 0)
            move(&g);
    }
    if (rc == 0)
        count(&g, heads, both);
    group_clear(&g);
    return rc;
}

/* The second model gets the parameters of the first that have the same names. */
static int copy_params(struct parser *p)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < cavs_model_param_count(p->mover); i++) {
        struct cavs_param *to = cavs_model_param_at(p->mover, i);
        struct cavs_param *from = cavs_model_find_param(p->model, cavs_param_name(to));
        float *values = malloc((size_t)cavs_param_rows(to) * cavs_param_cols(to) * sizeof *values);

        rc = values ? cavs_session_get_param(p->app.session, from, values) : CAVS_ENOMEM;
        if (rc == 0)
            rc = cavs_session_set_param(p->mover_session, to, values);
        free(values);
    }
    return rc;
}

int parser_decode(struct parser *p, double *uas, double *las)
{
    int size = cavs_data_size(p->dev), rc = copy_params(p);
    int *samples = malloc((size_t)p->side_by_side * sizeof *samples);
    int64_t heads = 0, both = 0, words = p->dev_text.words - p->dev_text.n;

    if (!samples)
        rc = CAVS_ENOMEM;
    for (int first = 0, n; rc == 0 && first < size; first += n) {
        n = size - first < p->side_by_side ? size - first : p->side_by_side;
        for (int i = 0; i < n; i++)
            samples[i] = first + i;
        rc = parse_group(p, samples, n, &heads, &both);
    }
    free(samples);
    *uas = (double)heads / words;
    *las = (double)both / words;
    return rc;
}
