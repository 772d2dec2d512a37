/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_parser_train.c - a batch of training: the decisions of its sentences, by an oracle or by
 * exploration. */
#include <stdlib.h>

#include "apps/dyn_parser.h"

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
 * own move.  A word whose head is wrong has no relation to learn. */
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
    int width = p->scores.width, active = 0, rc = dyn_parser_compute_words(p);

    if (rc < 0)
        return rc;
    do {
        active = rc = dyn_parser_score_all(p);
        for (int i = 0, k = 0; rc >= 0 && i < p->n && k < active; i++)
            if (!parse_is_done(&p->readings[i].parse)) {
                cavs_tape_resume(p->shared.app.tape, i);
                rc = advance(p, &p->readings[i], p->scores.numbers + (size_t)k++ * (size_t)width,
                             explores);
            }
    } while (rc >= 0 && active > 0);
    return rc < 0 ? rc : 0;
}

int dyn_parser_begin_batch(struct app *a, const int *samples, int n)
{
    struct dyn_parser *p = (struct dyn_parser *)a;

    (void)samples;
    (void)n;
    rng_seed(&p->draws, a->options.session.seed, (1ull << 32) + p->shared.batches++);
    return 0;
}

static bool is_exploring(const struct dyn_parser *p)
{
    uint64_t size = (uint64_t)p->shared.app.recorded[APP_TRAIN].n;
    uint64_t batch = (uint64_t)p->shared.app.options.batch, batches = (size + batch - 1) / batch;

    return p->shared.batches > (uint64_t)p->explore_after * batches;
}

int dyn_parser_record(struct app *a, enum app_set set, const int *samples, int n)
{
    struct dyn_parser *p = (struct dyn_parser *)a;
    int *sentences = malloc(((size_t)n + 1) * sizeof *sentences), rc;

    if (!sentences)
        return CAVS_ENOMEM;
    for (int i = 0; i < n; i++)
        sentences[i] = p->shared.sentence_of[samples[i]];
    rc = dyn_parser_read_all(p, &p->shared.text[set], sentences, n, true);
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
