/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_parser.c - dependency trees by transitions, trained by exploration: the program; the model is
 * in dyn_parser.h. */
#include "apps/dyn_parser.h"

#include <limits.h>
#include <stdlib.h>

/* ---- data ------------------------------------------------------------------------------------ */

/* The training set: sentences that can be parsed by moves. */
static int choose_sentences(struct dyn_parser *p)
{
    const struct parser_text *t = &p->shared.text[APP_TRAIN];
    int n = 0, rc = 0;

    p->shared.sentence_of = calloc((size_t)t->n + 1, sizeof(int));
    p->moves = calloc((size_t)t->n + 1, sizeof *p->moves);
    if (!p->shared.sentence_of || !p->moves)
        return CAVS_ENOMEM;
    for (int i = 0; rc == 0 && i < t->n; i++) {
        bool has_moves;

        rc = dyn_parser_has_moves(p, t, i, &has_moves);
        if (rc < 0 || !has_moves)
            continue;
        p->shared.sentence_of[n] = i;
        p->moves[n + 1] = p->moves[n] + 2 * (t->first[i + 1] - t->first[i] - 1);
        n++;
    }
    p->shared.skipped = t->n - n;
    report_count(&p->shared.app.report, "skipped_sentences", p->shared.skipped);
    app_record_set(&p->shared.app, APP_TRAIN, n, p->moves);
    return rc == 0 && n == 0
               ? app_fail(&p->shared.app.error, CAVS_EDATA, "%s: all trees have crossing arcs",
                          p->shared.app.path[APP_TRAIN])
               : rc;
}

static void offer(struct dyn_parser *p, enum app_set set)
{
    const struct parser_text *t = &p->shared.text[set];
    struct app *a = &p->shared.app;

    if (set != APP_TRAIN)
        app_record_set(a, set, t->n, t->first);
    else
        app_notice_unknown_ids(a, t->words, t->relation, "relations");
    app_record_array(a, set, t->word, t->words * sizeof *t->word);
    app_record_array(a, set, t->shape, t->words * sizeof *t->shape);
    app_record_array(a, set, t->head, t->words * sizeof *t->head);
    app_record_array(a, set, t->relation, t->words * sizeof *t->relation);
}

static int prepare(struct app *a)
{
    struct dyn_parser *p = (struct dyn_parser *)a;
    int rc = parser_load(&p->shared);

    if (rc == 0 && app_has_set(a, APP_TRAIN))
        rc = choose_sentences(p);
    for (int i = 0; rc == 0 && i < APP_SETS; i++)
        if (app_has_set(a, i))
            offer(p, i);
    return rc < 0 ? rc : dyn_parser_declare(p);
}

/* ---- the program ----------------------------------------------------------------------------- */

static int measure(struct app *a, enum app_set set)
{
    struct parser *p = (struct parser *)a;
    int rc;

    if (set == APP_TRAIN)
        return parser_report_moves(p);
    if ((rc = parser_reserve_trees(p, set)) == 0 &&
        (rc = dyn_parser_parse(p, &p->text[set], NULL, &p->trees)) == 0)
        parser_report(p, set);
    return rc;
}

static void clear(struct app *a)
{
    struct dyn_parser *p = (struct dyn_parser *)a;

    parser_clear(&p->shared);
    dynamic_oracle_clear(&p->oracle);
    tape_rows_clear(&p->words);
    tape_rows_clear(&p->scores);
    free(p->readings);
    free(p->ints);
    free(p->symbols);
    free(p->moves);
}

#define ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct dyn_parser, member, OPTION_##role, __VA_ARGS__)

int main(int argc, char **argv)
{
    static const struct app_option options[] = {
        PARSER_OPTIONS,
        OPTION_GROUP("Exploration:"),
        ROW(REAL, "explore", "P", explore, RUN,
            "in training, the model's own move is made with probability P; 0: only the moves of an "
            "oracle that knows one way to each tree",
            0, 1),
        ROW(INT, "explore-after", "N", explore_after, RUN, "epochs before that begins", 0, INT_MAX),
        {0}};
    struct dyn_parser p = {.shared = parser_defaults(), .explore = 0.9f, .explore_after = 1};
    struct program program = parser_program();

    p.shared.parse = dyn_parser_parse;
    program.name = "dyn_parser";
    program.doc =
        "Trains an arc-standard parser with a bidirectional LSTM, by exploration: parser, "
        "but recorded on a tape.\v" PARSER_DOC;
    program.options = options;
    program.twin = "parser";
    program.prepare = prepare;
    program.record = dyn_parser_record;
    program.clear = clear;
    program.before_batch = dyn_parser_begin_batch;
    program.measure = measure;
    return program_main(&program, &p.shared.app, argc, argv);
}
