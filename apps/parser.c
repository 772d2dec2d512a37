/* SPDX-License-Identifier: Apache-2.0 */
/* parser - dependency trees by transitions; the model is in parser.h. */
#include "apps/parser.h"

#include <stdio.h>
#include <string.h>

#include "apps/common/random.h"

/* ---- training -------------------------------------------------------------------------------- */

/* Draws anew which words of a sentence are unknown. */
static void drop_words_of(struct parser *p, struct rng *r, int sample)
{
    struct cavs_data *d = p->app.data[APP_TRAIN];
    size_t words = (size_t)cavs_data_sample_vertices(d, p->word, sample);
    int *row[2];

    for (int way = 0; way < 2; way++)
        row[way] = cavs_data_sample_ids(d, p->lstm[way].stage, "word", sample);
    parser_draw_words(p, r, p->sentence_of[sample], row[0]);
    memcpy(row[1], row[0], words * sizeof *row[0]);
}

static int drop_words(struct app *a, const int *samples, int n)
{
    struct parser *p = (struct parser *)a;
    struct rng r;

    if (a->options.infer || p->word_dropout == 0)
        return 0;
    rng_seed(&r, a->options.session.seed, (1ull << 32) + p->batches++);
    for (int i = 0; i < n; i++)
        drop_words_of(p, &r, samples[i]);
    return 0;
}

/* ---- what is measured ------------------------------------------------------------------------ */

static int measure(struct app *a, enum app_set set)
{
    struct parser *p = (struct parser *)a;
    struct cavs_stats before, after;
    char name[64];
    int rc;

    if (set == APP_TRAIN)
        return parser_report_moves(p);
    if ((rc = parser_reserve_trees(p, set)) < 0)
        return rc;
    cavs_session_stats(a->session, &before);
    if ((rc = parser_decode(p, &p->text[set], a->data[set], &p->trees)) != 0)
        return rc;
    cavs_session_stats(a->session, &after);
    snprintf(name, sizeof name, "%s_batches", app_set_names[set]);
    report_count(&a->report, name, after.batches - before.batches);
    parser_report(p, set);
    return 0;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int prepare(struct app *a)
{
    struct parser *p = (struct parser *)a;
    int rc;

    if ((rc = parser_load(p)) < 0 || (rc = parser_declare(p)) < 0)
        return rc;
    a->graph = p->decision;
    return 0;
}

static int fill(struct app *a, enum app_set set, struct cavs_data *d)
{
    struct parser *p = (struct parser *)a;
    int rc = parser_add_text(p, d, &p->text[set], set == APP_TRAIN ? &p->sentence_of : NULL);

    report_count(&a->report, "skipped_sentences", p->skipped);
    if (rc < 0 || set != APP_TRAIN)
        return rc;
    app_notice_unknown(a, d, p->decision, "relation", "relations");
    return cavs_data_size(d)
               ? 0
               : app_fail(&a->error, CAVS_EDATA, "%s: all trees have crossing arcs", a->path[set]);
}

static void stop(struct app *a)
{
    struct parser *p = (struct parser *)a;

    cavs_session_destroy(p->mover_session);
    p->mover_session = NULL;
}

static void clear(struct app *a)
{
    struct parser *p = (struct parser *)a;

    cavs_model_destroy(p->mover);
    parser_clear(p);
}

int main(int argc, char **argv)
{
    static const struct app_option options[] = {PARSER_OPTIONS, {0}};
    struct parser p = parser_defaults();
    struct program program = parser_program();

    p.parse = parser_decode_samples;
    program.name = "parser";
    program.doc = "Trains an arc-standard parser with a bidirectional LSTM.\v" PARSER_DOC
                  "\n\nOf the development and the test set the report also has batches: how often "
                  "the network has read the words of --side-by-side sentences.";
    program.options = options;
    program.twin = "dyn_parser";
    program.prepare = prepare;
    program.fill = fill;
    program.stop = stop;
    program.clear = clear;
    program.before_batch = drop_words;
    program.measure = measure;
    return program_main(&program, &p.app, argc, argv);
}
