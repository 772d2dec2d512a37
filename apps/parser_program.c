/* SPDX-License-Identifier: Apache-2.0 */
/* parser_program.c - what the declared and the recorded parser share. */
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/reserve.h"
#include "apps/common/scores.h"
#include "apps/parser.h"

const char *const parser_positions[POSITIONS] = {"stack0", "stack1", "stack2", "next"};

/* ---- words ----------------------------------------------------------------------------------- */

void parser_draw_words(const struct parser *p, struct rng *r, int sentence, int *row)
{
    const struct parser_text *t = &p->text[APP_TRAIN];
    size_t first = t->first[sentence], words = t->first[sentence + 1] - first;

    for (size_t v = 0; v < words; v++) {
        int word = t->word[first + v];
        double draw = (double)(rng_next(r) >> 11) * 0x1p-53;
        bool drop =
            v > 0 && draw * ((double)p->counts[word] + p->word_dropout) < (double)p->word_dropout;

        row[v] = drop ? VOCAB_UNKNOWN : word;
    }
}

static int count_words(struct parser *p)
{
    const struct parser_text *t = &p->text[APP_TRAIN];

    p->counts = calloc((size_t)vocab_size(p->words.words), sizeof *p->counts);
    if (!p->counts)
        return app_fail(&p->app.error, CAVS_ENOMEM, "no memory for %d words",
                        vocab_size(p->words.words));
    for (size_t v = 0; v < t->words; v++)
        p->counts[t->word[v]]++;
    return 0;
}

/* Words are those of the model file, or of the training set. */
static int read_sets(struct parser *p)
{
    static const char *const names[] = {"words", "shapes", "relations", NULL};
    struct parser_words *w = &p->words;
    struct vocab **const all[] = {&w->words, &w->shapes, &w->relations};
    struct app *a = &p->app;
    int rc = app_vocabs(a, names, all);

    if (rc == 0)
        rc = parser_words_choose(w, a->path[APP_TRAIN], a->options.min_count, &a->error);
    for (int i = 0; rc >= 0 && i < APP_SETS; i++)
        if (app_has_set(a, i))
            rc = parser_text_load(a->path[i], w, &p->text[i], &a->error);
    return rc < 0 ? rc : count_words(p);
}

int parser_load(struct parser *p)
{
    struct app *a = &p->app;
    int rc = read_sets(p);

    if (rc < 0)
        return rc;
    app_keep_vocab(a, "words", p->words.words, "embedding", NULL);
    app_keep_vocab(a, "shapes", p->words.shapes, "shape", NULL);
    app_keep_vocab(a, "relations", p->words.relations, NULL, NULL);
    report_count(&a->report, "words", vocab_size(p->words.words));
    report_count(&a->report, "relations", vocab_size(p->words.relations) - 1);
    report_count(&a->report, "skipped_sentences", 0);
    return 0;
}

/* ---- what is measured ------------------------------------------------------------------------ */

int parser_report_moves(struct parser *p)
{
    struct app *a = &p->app;
    double moves, relations;
    int rc = app_mean(a, "correct_move", &moves);

    if (rc == 0)
        rc = app_mean(a, "correct_relation", &relations);
    if (rc < 0)
        return rc;
    app_number(a, APP_TRAIN, "moves", moves);
    app_number(a, APP_TRAIN, "relations", relations);
    return 0;
}

int parser_reserve_trees(struct parser *p, enum app_set set)
{
    const struct parser_text *t = &p->text[set];

    return parser_trees_reserve(&p->trees, t->words, false)
               ? 0
               : app_fail(&p->app.error, CAVS_ENOMEM, "no memory for the trees of %d sentences",
                          t->n);
}

/* Shares of words with the right head, and with the right head and relation. */
void parser_report(struct parser *p, enum app_set set)
{
    const struct parser_text *t = &p->text[set];
    int64_t heads = 0, both = 0, words = (int64_t)t->words - t->n;

    for (int i = 0; i < t->n; i++)
        for (size_t v = t->first[i] + 1; v < t->first[i + 1]; v++) {
            bool right = p->trees.head[v] == t->head[v];

            heads += right;
            both += right && p->trees.relation[v] == t->relation[v];
        }
    app_number(&p->app, set, "uas", (double)heads / (double)words);
    app_number(&p->app, set, "las", (double)both / (double)words);
}

/* ---- trees ----------------------------------------------------------------------------------- */

bool parser_trees_reserve(struct parser_trees *t, size_t words, bool shares)
{
    return array_reserve(&t->head, &t->head_cap, words, sizeof *t->head) &&
           array_reserve(&t->relation, &t->relation_cap, words, sizeof *t->relation) &&
           (!shares || (array_reserve(&t->move, &t->move_cap, words, sizeof *t->move) &&
                        array_reserve(&t->label, &t->label_cap, words, sizeof *t->label)));
}

static void clear_trees(struct parser_trees *t)
{
    free(t->head);
    free(t->relation);
    free(t->move);
    free(t->label);
    *t = (struct parser_trees){0};
}

enum move parser_best_move(const struct parse *parse, const float *scores)
{
    enum move m = MOVES;

    for (enum move k = 0; k < MOVES; k++)
        if (parse_allows(parse, k) && (m == MOVES || scores[k] > scores[m]))
            m = k;
    return m;
}

void parser_move(const struct parser *p, struct parse *parse, const float *scores,
                 struct parser_trees *into, size_t first)
{
    int relations = vocab_size(p->words.relations);
    enum move m = parser_best_move(parse, scores);
    int relation = scores_likeliest_known(scores + MOVES, relations);
    size_t at = first + (size_t)parse->stack[parse->depth - (m == LEFT ? 2 : 1)];

    if (m != SHIFT && into->move) {
        into->move[at] = (float)scores_probability(scores, MOVES, m);
        into->label[at] = (float)scores_probability(scores + MOVES, relations, relation);
    }
    parse_move(parse, m, relation);
}

/* ---- the program ----------------------------------------------------------------------------- */

void parser_clear(struct parser *p)
{
    conllu_predictor_clear(&p->predictor);
    for (int i = 0; i < APP_SETS; i++)
        parser_text_clear(&p->text[i]);
    parser_text_clear(&p->unparsed);
    clear_trees(&p->trees);
    parser_words_clear(&p->words);
    free(p->counts);
    free(p->sentence_of);
}

/* What a word looks like has half the width of an embedding. */
static void check_embed(struct app *a, const struct option_list *l)
{
    (void)l;
    if (a->options.embed < 2)
        options_mistake("--embed has to be 2 or more, not %d: the shape of a word has half of it",
                        a->options.embed);
}

struct program parser_program(void)
{
    static const char *const measures[] = {"uas", "las", NULL};

    return (struct program){
        .reads_data = true,
        .counts_words = true,
        .embeds = true,
        .drops = true,
        .check = check_embed,
        .default_set = CONLLU_DEFAULT_SETS,
        .objective = APP_MEAN_OF_SAMPLES,
        .loss = "loss",
        .measures = measures,
        .measures_alone = true,
        .predict = parser_predict,
    };
}

struct parser parser_defaults(void)
{
    struct parser p = {.app = {.options = app_options_defaults()},
                       .mlp = 128,
                       .side_by_side = 512,
                       .word_dropout = 0.25f};

    p.app.options.epochs = 10;
    p.app.options.batch = 32;
    p.app.options.hidden = 128;
    p.app.options.embed = 100;
    p.app.options.min_count = 2;
    p.app.options.dropout = 0.2f;
    p.app.options.session.optimizer = CAVS_ADAM;
    p.app.options.session.lr = 2e-3f;
    p.app.options.session.clip = 5;
    return p;
}
