/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_parser - dependency trees by transitions, trained by exploration; the model is in
 * dyn_parser.h. */
#include "apps/dyn_parser.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"
#include "apps/common/stop.h"

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

/* Reads n sentences of a text; with their trees, and in training with some words dropped. */
static int read_all(struct dyn_parser *p, const struct parser_text *t, const int *sentences, int n,
                    bool with_trees)
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

/* All words of all sentences at once: the first decisions need some of a few sentences, and what
 * they leave would come in as small pieces as the moves do. */
static int compute_words(struct dyn_parser *p)
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

/* The scores of the next moves of all sentences that are not done, in their order; how many these
 * are, or a negative code. */
static int score_all(struct dyn_parser *p)
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

/* ---- training -------------------------------------------------------------------------------- */

/* The moves of the oracle, all known beforehand. */
static void follow_oracle(struct dyn_parser *p, struct reading *r)
{
    while (!parse_is_done(&r->parse)) {
        enum move m = parse_oracle(&r->parse, r->head, r->waiting);
        int relation;

        dyn_parser_decide(p, r);
        relation =
            m == SHIFT ? -1 : r->relation[r->parse.stack[r->parse.depth - (m == LEFT ? 2 : 1)]];
        dyn_parser_compare(p, r, m, relation);
        parse_oracle_move(&r->parse, m, r->relation, r->waiting);
    }
}

/* The best of the moves that cost nothing. */
static enum move best_right_move(const int cost[MOVES], const float *scores)
{
    enum move best = MOVES;

    for (enum move m = 0; m < MOVES; m++)
        if (cost[m] == 0 && (best == MOVES || scores[m] > scores[best]))
            best = m;
    return best;
}

static bool draw_exploration(struct dyn_parser *p)
{
    return (double)(rng_next(&p->draws) >> 11) * 0x1p-53 < (double)p->explore;
}

/* Compares a decision with the truth, and goes on with that or, if it explores, with the model's
 * own
 * move.  A word whose head is wrong has no relation to learn. */
static int advance(struct dyn_parser *p, struct reading *r, const float *scores, bool explores)
{
    int cost[MOVES], rc = dynamic_oracle_costs(&p->oracle, &r->parse, r->head, cost);
    int relation = -1;
    enum move m;

    if (rc < 0)
        return rc;
    m = best_right_move(cost, scores);
    if (m != SHIFT) {
        int top = r->parse.stack[r->parse.depth - 1], second = r->parse.stack[r->parse.depth - 2];
        int dependent = m == LEFT ? second : top, head = m == LEFT ? top : second;

        relation = r->head[dependent] == head ? r->relation[dependent] : -1;
    }
    dyn_parser_compare(p, r, m, relation);
    if (explores && draw_exploration(p))
        m = parser_best_move(&r->parse, scores);
    parse_move(&r->parse, m, -1);
    return 0;
}

static int advance_all(struct dyn_parser *p, bool explores)
{
    int width = p->scores.width, active = 0, rc = compute_words(p);

    if (rc < 0)
        return rc;
    do {
        active = rc = score_all(p);
        for (int i = 0, k = 0; rc >= 0 && i < p->n && k < active; i++)
            if (!parse_is_done(&p->readings[i].parse)) {
                cavs_tape_resume(p->shared.app.tape, i);
                rc = advance(p, &p->readings[i], p->scores.numbers + (size_t)k++ * (size_t)width,
                             explores);
            }
    } while (rc >= 0 && active > 0);
    return rc < 0 ? rc : 0;
}

/* Which words are dropped and where the model goes its own way follows from the seed and the number
 * of batches so far. */
static int begin_batch(struct app *a, const int *samples, int n)
{
    struct dyn_parser *p = (struct dyn_parser *)a;

    (void)samples;
    (void)n;
    rng_seed(&p->draws, a->options.session.seed, (1ull << 32) + p->shared.batches++);
    return 0;
}

static int sentences_of(const struct dyn_parser *p, const int *samples, int n, int *out)
{
    for (int i = 0; i < n; i++)
        out[i] = p->shared.sentence_of[samples[i]];
    return n;
}

static bool is_exploring(const struct dyn_parser *p)
{
    uint64_t size = (uint64_t)p->shared.app.recorded[APP_TRAIN].n;
    uint64_t batch = (uint64_t)p->shared.app.options.batch, batches = (size + batch - 1) / batch;

    return p->shared.batches > (uint64_t)p->explore_after * batches;
}

static int record(struct app *a, enum app_set set, const int *samples, int n)
{
    struct dyn_parser *p = (struct dyn_parser *)a;
    int *sentences = malloc(((size_t)n + 1) * sizeof *sentences), rc;

    if (!sentences)
        return CAVS_ENOMEM;
    sentences_of(p, samples, n, sentences);
    rc = read_all(p, &p->shared.text[set], sentences, n, true);
    free(sentences);
    if (rc < 0)
        return rc;
    if (p->explore > 0)
        return advance_all(p, is_exploring(p));
    for (int i = 0; i < p->n; i++) {
        cavs_tape_resume(a->tape, i);
        follow_oracle(p, &p->readings[i]);
    }
    return 0;
}

/* ---- parsing --------------------------------------------------------------------------------- */

static void move_all(struct dyn_parser *p, const struct parser_text *t, int first,
                     struct parser_trees *out)
{
    const float *scores = p->scores.numbers;

    for (int i = 0; i < p->n; i++)
        if (!parse_is_done(&p->readings[i].parse)) {
            parser_move(&p->shared, &p->readings[i].parse, scores, out, t->first[first + i]);
            scores += p->scores.width;
        }
}

static void keep_trees(const struct dyn_parser *p, const struct parser_text *t, int first,
                       struct parser_trees *out)
{
    for (int i = 0; i < p->n; i++) {
        const struct parse *parse = &p->readings[i].parse;
        size_t at = t->first[first + i], bytes = (size_t)parse->n * sizeof(int);

        memcpy(out->head + at, parse->head, bytes);
        memcpy(out->relation + at, parse->relation, bytes);
    }
}

static int parse_some(struct dyn_parser *p, const struct parser_text *t, const int *sentences,
                      int n, struct parser_trees *out)
{
    int rc = cavs_tape_begin(p->shared.app.tape, CAVS_TAPE_EVALUATE);

    if (rc == 0)
        rc = read_all(p, t, sentences, n, false);
    if (rc == 0)
        rc = compute_words(p);
    if (rc == 0)
        while ((rc = score_all(p)) > 0)
            move_all(p, t, sentences[0], out);
    if (rc == 0)
        keep_trees(p, t, sentences[0], out);
    return rc;
}

static int parse(struct parser *shared, const struct parser_text *t, struct cavs_data *none,
                 struct parser_trees *out)
{
    struct dyn_parser *p = (struct dyn_parser *)shared;
    int most = shared->side_by_side, *sentences = malloc((size_t)most * sizeof *sentences), rc = 0;

    (void)none;
    if (!sentences)
        return CAVS_ENOMEM;
    for (int first = 0, n; rc == 0 && first < t->n && !stop_signal(); first += n) {
        n = t->n - first < most ? t->n - first : most;
        for (int i = 0; i < n; i++)
            sentences[i] = first + i;
        rc = parse_some(p, t, sentences, n, out);
    }
    free(sentences);
    return rc == 0 && stop_signal() ? 1 : rc;
}

static int measure(struct app *a, enum app_set set)
{
    struct parser *p = (struct parser *)a;
    int rc;

    if (set == APP_TRAIN)
        return parser_report_moves(p);
    if ((rc = parser_reserve_trees(p, set)) == 0 &&
        (rc = parse(p, &p->text[set], NULL, &p->trees)) == 0)
        parser_report(p, set);
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Whether the oracle's moves lead to the tree of a sentence: it has no crossing arcs. */
static bool has_moves(struct dyn_parser *p, const struct parser_text *t, int sentence)
{
    size_t first = t->first[sentence];
    int n = (int)length_of(t, sentence);
    struct reading r = start(n, p->ints, p->symbols);

    show_tree(&r, t->head + first, t->relation + first);
    while (!parse_is_done(&r.parse)) {
        enum move m = parse_oracle(&r.parse, r.head, r.waiting);

        if (m == MOVES)
            return false;
        parse_oracle_move(&r.parse, m, r.relation, r.waiting);
    }
    return true;
}

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
        rc = reserve(p, 1, length_of(t, i));
        if (rc < 0 || !has_moves(p, t, i))
            continue;
        p->shared.sentence_of[n] = i;
        p->moves[n + 1] = p->moves[n] + 2 * (length_of(t, i) - 1);
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

    p.shared.parse = parse;
    program.name = "dyn_parser";
    program.doc =
        "Trains an arc-standard parser with a bidirectional LSTM, by exploration: parser, "
        "but recorded on a tape.\v" PARSER_DOC;
    program.options = options;
    program.twin = "parser";
    program.prepare = prepare;
    program.record = record;
    program.clear = clear;
    program.before_batch = begin_batch;
    program.measure = measure;
    return program_main(&program, &p.shared.app, argc, argv);
}
