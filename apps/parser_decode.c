/* SPDX-License-Identifier: Apache-2.0 */
/* parser_decode.c - parsing side by side: the next moves of all unfinished sentences are one
 * batch. */
#include <stdlib.h>
#include <string.h>

#include "apps/common/peers.h"
#include "apps/common/stop.h"
#include "apps/parser.h"

/* Some sentences of a text. */
struct group {
    struct parser *parser;
    const struct parser_text *text;
    const struct cavs_data *data;
    const int *samples;        /* [n]: sentences of the text, samples of the data */
    struct parser_trees *into; /* what is found out */
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

    g->words = cavs_data_batch_vertices(g->data, p->word, g->samples, g->n);
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
    const struct parser_text *t = g->text;
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
    return cavs_session_run(p->app.session, g->data, g->samples, g->n, POSITIONS, fetches);
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

static void move_all(struct group *g)
{
    size_t width = MOVES + (size_t)vocab_size(g->parser->words.relations), active = 0;

    for (int i = 0; i < g->n; i++)
        if (!parse_is_done(&g->parses[i]))
            parser_move(g->parser, &g->parses[i], g->scores + active++ * width, g->into,
                        g->text->first[g->samples[i]]);
}

static void keep_trees(const struct group *g)
{
    for (int i = 0; i < g->n; i++) {
        const struct parse *parse = &g->parses[i];
        size_t first = g->text->first[g->samples[i]], bytes = (size_t)parse->n * sizeof(int);

        memcpy(g->into->head + first, parse->head, bytes);
        memcpy(g->into->relation + first, parse->relation, bytes);
    }
}

static int parse_group(struct group *g)
{
    int rc = group_make(g) ? compute_rows(g) : CAVS_ENOMEM, active;

    if (rc == 0)
        start(g);
    while (rc == 0 && (active = look(g)) > 0) {
        rc = score(g, active);
        if (rc == 0)
            move_all(g);
    }
    if (rc == 0)
        keep_trees(g);
    group_clear(g);
    return rc;
}

/* ---- the second model ------------------------------------------------------------------------ */

/* Its parameters are those of the first that have the same names. */
static int make_mover(struct parser *p)
{
    struct cavs_session_options o = p->app.options.session;
    int rc = parser_declare_mover(p);

    o.inference = true;
    return rc < 0 ? rc
                  : cavs_session_create_with(p->app.runtime, p->mover, &o, p->app.session,
                                             &p->mover_session);
}

/* ---- all ---------------------------------------------------------------------------------- */

int parser_decode(struct parser *p, const struct parser_text *t, const struct cavs_data *d,
                  struct parser_trees *out)
{
    int rc = p->mover_session ? 0 : make_mover(p);
    int *samples = malloc((size_t)p->side_by_side * sizeof *samples);

    if (rc == 0 && !samples)
        rc = CAVS_ENOMEM;
    for (int first = 0, n; rc == 0 && peers_go_on(&p->app) && first < t->n; first += n) {
        struct group g = {.parser = p, .text = t, .data = d, .samples = samples, .into = out};

        n = t->n - first < p->side_by_side ? t->n - first : p->side_by_side;
        for (int i = 0; i < n; i++)
            samples[i] = first + i;
        g.n = n;
        rc = parse_group(&g);
    }
    free(samples);
    return rc == 0 && stop_signal() ? 1 : rc;
}

int parser_decode_samples(struct parser *p, const struct parser_text *t, struct cavs_data *d,
                          struct parser_trees *out)
{
    int rc = parser_add_text(p, d, t, NULL);

    return rc == 0 ? parser_decode(p, t, d, out) : rc;
}
