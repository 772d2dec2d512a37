/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dyn_seq2seq_search.c - beam search: of each answer the likeliest prefixes grow side by side, and
 * of what they may become the likeliest are kept.
 *
 * In each step the states of all prefixes of all answers are recorded, and then, behind a mark, the
 * scores of what may follow.  Those are asked for all at once, and taken back: states alone remain.
 * A prefix that has an end stays what it is, and its search is over when no other could become
 * likelier.
 */
#include <math.h>
#include <string.h>

#include "apps/common/reserve.h"
#include "apps/common/scores.h"
#include "apps/dyn_seq2seq.h"

static int make_room(struct dyn_seq2seq *s, int n)
{
    size_t answers = (size_t)n;

    if (array_reserve(&s->reading, &s->reading_room, answers, sizeof *s->reading) &&
        array_reserve(&s->beams, &s->beams_room, answers, sizeof *s->beams) &&
        array_reserve(&s->prefixes, &s->prefixes_room, 2 * answers * (size_t)s->width,
                      sizeof *s->prefixes))
        return 0;
    return app_fail(&s->shared.app.error, CAVS_ENOMEM, "no memory to search for %d answers", n);
}

/* Where the prefixes of answer i are in turn t. */
static struct prefix *place(const struct dyn_seq2seq *s, int n, int i, int t)
{
    return s->prefixes + ((size_t)(t % 2) * (size_t)n + (size_t)i) * (size_t)s->width;
}

/* Reads the source, and begins with an empty prefix. */
static void start(struct dyn_seq2seq *s, int n, int i)
{
    struct cavs_function *f = cavs_tape_sample(s->shared.app.tape);
    const struct example *x = &s->shared.decoding.guess[i].x;
    struct prefix *p = place(s, n, i, 0);

    s->reading[i] = dyn_seq2seq_read(s, f, x);
    *p = (struct prefix){.state = s->reading[i].state};
    s->beams[i] = (struct beam){.n = 1, .prefix = p};
}

/* The likeliest comes first: once that has an end, the others cannot overtake it. */
static bool is_done(const struct beam *b)
{
    return b->prefix[0].answer.ended;
}

/* The states of all prefixes that grow; returns how many they are. */
static int record_states(struct dyn_seq2seq *s, int n, int t)
{
    int growing = 0;

    for (int i = 0; i < n; i++) {
        struct beam *b = &s->beams[i];

        cavs_tape_resume(s->shared.app.tape, i);
        for (int k = 0; k < b->n && !is_done(b); k++) {
            struct prefix *p = &b->prefix[k];

            if (p->answer.ended)
                continue;
            p->state = dyn_seq2seq_next(s, t ? p->answer.x.answer[t - 1] : 0, p->state);
            growing++;
        }
    }
    return growing;
}

/* Their scores, in the same order. */
static int compute_scores(struct dyn_seq2seq *s, int n, int growing)
{
    struct cavs_tape *tape = s->shared.app.tape;
    int64_t mark = cavs_tape_mark(tape);
    int at = 0, rc = tape_rows_reserve(&s->scores, (size_t)growing, s->shared.symbols);

    if (rc < 0)
        return app_fail(&s->shared.app.error, rc, "no memory for the scores of %d answers",
                        growing);
    for (int i = 0; i < n; i++) {
        const struct beam *b = &s->beams[i];

        cavs_tape_resume(tape, i);
        for (int k = 0; k < b->n && !is_done(b); k++)
            if (!b->prefix[k].answer.ended)
                s->scores.symbol[at++] = dyn_seq2seq_scores(s, &s->reading[i], b->prefix[k].state);
    }
    rc = tape_rows_compute(&s->scores, tape);
    return rc < 0 ? rc : cavs_tape_rewind(tape, mark);
}

/* p, or what it becomes by a symbol of that probability (symbol < 0: it has its end), among the
 * `kept` likeliest so far of at most `most`, in their order; of equal ones the first stays
 * ahead. */
static int keep(struct prefix *best, int kept, int most, const struct prefix *p, int symbol,
                double probability)
{
    double logarithm = p->logarithm + (symbol < 0 ? 0 : log(probability));
    int at = kept, t = p->answer.x.nanswer;

    while (at > 0 && best[at - 1].logarithm < logarithm)
        at--;
    if (at == most)
        return kept;
    kept += kept < most;
    memmove(best + at + 1, best + at, (size_t)(kept - 1 - at) * sizeof *best);
    best[at] = *p;
    best[at].logarithm = logarithm;
    if (symbol < 0)
        return kept;
    best[at].answer.x.answer[t] = symbol;
    best[at].answer.x.nanswer = t + 1;
    best[at].answer.probability[t] = probability;
    best[at].answer.ended = symbol == 0;
    return kept;
}

/* What the prefixes of a beam become by these scores, of which each that grows has a row. */
static const float *grow(struct dyn_seq2seq *s, struct beam *b, struct prefix *best,
                         const float *scores)
{
    int symbols = s->shared.symbols, kept = 0;

    for (int k = 0; k < b->n; k++) {
        if (b->prefix[k].answer.ended) {
            kept = keep(best, kept, s->width, &b->prefix[k], -1, 1);
            continue;
        }
        for (int c = 0; c < symbols; c++)
            kept = keep(best, kept, s->width, &b->prefix[k], c,
                        scores_probability(scores, symbols, c));
        scores += symbols;
    }
    *b = (struct beam){.n = kept, .prefix = best};
    return scores;
}

static void keep_answers(struct dyn_seq2seq *s, int n)
{
    for (int i = 0; i < n; i++) {
        struct guess *to = &s->shared.decoding.guess[i], *from = &s->beams[i].prefix[0].answer;

        to->x.nanswer = from->x.nanswer;
        memcpy(to->x.answer, from->x.answer, sizeof to->x.answer);
        memcpy(to->probability, from->probability, sizeof to->probability);
        to->ended = from->ended;
    }
}

int dyn_seq2seq_search(struct seq2seq *shared, int n)
{
    struct dyn_seq2seq *s = (struct dyn_seq2seq *)shared;
    int rc = make_room(s, n), growing;

    if (rc == 0)
        rc = cavs_tape_begin(shared->app.tape, CAVS_TAPE_EVALUATE);
    for (int i = 0; rc == 0 && i < n; i++)
        start(s, n, i);
    for (int t = 0; rc == 0 && t < EXAMPLE_MOST && (growing = record_states(s, n, t)) > 0; t++) {
        const float *scores;

        rc = compute_scores(s, n, growing);
        scores = s->scores.numbers;
        for (int i = 0; rc == 0 && i < n; i++)
            if (!is_done(&s->beams[i]))
                scores = grow(s, &s->beams[i], place(s, n, i, t + 1), scores);
    }
    if (rc == 0)
        keep_answers(s, n);
    return rc;
}
