/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "apps/common/params.h"
#include "apps/dyn_parser.h"

int dyn_parser_declare(struct dyn_parser *p)
{
    static const char *const names[] = {"forward", "backward"};
    const struct app_options *o = &p->shared.app.options;
    const struct parser_words *w = &p->shared.words;
    int scores = MOVES + vocab_size(w->relations), shape = o->embed / 2, mlp = p->shared.mlp;
    int rc = cavs_model_create(&p->shared.app.model);
    struct cavs_model *m = p->shared.app.model;
    char name[32];

    if (rc < 0)
        return rc;
    p->embedding = app_embedding(m, "embedding", vocab_size(w->words), o->embed, 0.1f);
    p->shape = app_embedding(m, "shape", vocab_size(w->shapes), shape, 0.1f);
    for (int way = 0; way < 2; way++)
        p->lstm[way] = cavs_lstm_params(m, names[way], o->embed + shape, o->hidden);
    for (int i = 0; i < POSITIONS; i++) {
        snprintf(name, sizeof name, "W_%s", parser_positions[i]);
        p->W[i] = app_weight(m, name, 2 * o->hidden, mlp);
    }
    p->b_position = app_bias(m, "b_position", mlp);
    p->W_score = app_weight(m, "W_score", mlp, scores);
    p->b_score = app_bias(m, "b_score", scores);
    return cavs_model_finish(m);
}

/* ---- words ----------------------------------------------------------------------------------- */

static struct cavs_symbol *embed(const struct dyn_parser *p, int word, int shape)
{
    struct cavs_tape *t = p->shared.app.tape;
    struct cavs_symbol *x[] = {cavs_lookup(p->embedding, cavs_tape_id(t, word)),
                               cavs_lookup(p->shape, cavs_tape_id(t, shape))};

    return cavs_concat(2, x);
}

/* What each word is beside its neighbours on one side: symbols of a row of r->at each. */
static void read_way(const struct dyn_parser *p, struct reading *r, enum cavs_way way)
{
    const struct cavs_cell *lstm = &p->lstm[way];
    struct cavs_symbol *state = cavs_constant(r->of, 2 * lstm->hidden, 0);

    for (int i = 0; i < r->parse.n; i++) {
        int v = way == CAVS_WAY_FORWARD ? i : r->parse.n - 1 - i;

        state =
            cavs_cell_next(lstm, cavs_dropout(r->word[v], p->shared.app.options.dropout), state);
        r->at[v * POSITIONS + (int)way] = cavs_cell_output(lstm, state);
    }
}

void dyn_parser_read(struct dyn_parser *p, struct reading *r, const int *word, const int *shape)
{
    r->of = cavs_tape_sample(p->shared.app.tape);
    for (int v = 0; v < r->parse.n; v++)
        r->word[v] = embed(p, word[v], shape[v]);
    read_way(p, r, CAVS_WAY_FORWARD);
    read_way(p, r, CAVS_WAY_BACKWARD);
    for (int v = 0; v < r->parse.n; v++) {
        struct cavs_symbol **at = r->at + v * POSITIONS;

        r->word[v] = cavs_dropout(cavs_concat(2, at), p->shared.app.options.dropout);
        for (int i = 0; i < POSITIONS; i++)
            at[i] = NULL;
    }
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* What a word is to a position, computed at first need. */
static struct cavs_symbol *word_at(const struct dyn_parser *p, struct reading *r, int word,
                                   enum position i)
{
    struct cavs_symbol **at = &r->at[word * POSITIONS + (int)i];

    if (!*at)
        *at = cavs_matmul(r->word[word], p->W[i]);
    return *at;
}

void dyn_parser_decide(struct dyn_parser *p, struct reading *r)
{
    struct cavs_symbol *sum = cavs_use(r->of, p->b_position);
    int at[POSITIONS];

    parse_look(&r->parse, at);
    for (int i = 0; i < POSITIONS; i++)
        if (at[i] >= 0)
            sum = cavs_add(sum, word_at(p, r, at[i], i));
    r->scores = cavs_affine(cavs_tanh(sum), p->W_score, p->b_score);
}

void dyn_parser_compare(struct dyn_parser *p, const struct reading *r, enum move m, int relation)
{
    struct cavs_tape *t = p->shared.app.tape;
    struct cavs_symbol *of_move = cavs_tape_id(t, m), *of_relation = cavs_tape_id(t, relation);
    struct cavs_symbol *moves = cavs_slice(r->scores, 0, MOVES);
    struct cavs_symbol *relations =
        cavs_slice(r->scores, MOVES, vocab_size(p->shared.words.relations));
    struct cavs_symbol *loss = cavs_softmax_cross_entropy(moves, of_move);

    if (relation >= 0)
        loss = cavs_add(loss, cavs_softmax_cross_entropy(relations, of_relation));
    cavs_loss(r->of, "loss", loss, of_move);
    cavs_metric(r->of, "correct_move", cavs_correct(moves, of_move), of_move);
    if (relation >= 0)
        cavs_metric(r->of, "correct_relation", cavs_correct(relations, of_relation), of_relation);
}
