/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "apps/common/params.h"
#include "apps/parser.h"

/* From what the positions give to scores: MOVES of moves, then those of relations. */
static struct cavs_symbol *decide(struct parser *p, struct cavs_model *m, struct cavs_function *f,
                                  struct cavs_symbol *const at[POSITIONS])
{
    int scores = MOVES + vocab_size(p->words.relations);
    struct cavs_symbol *sum = cavs_use(f, app_bias(m, "b_position", p->mlp));

    for (int i = 0; i < POSITIONS; i++)
        sum = cavs_add(sum, at[i]);
    return cavs_affine(cavs_tanh(sum), app_weight(m, "W_score", p->mlp, scores),
                       app_bias(m, "b_score", scores));
}

static void declare_words(struct parser *p)
{
    static const char *const names[] = {"forward", "backward"};
    int embed = p->app.options.embed, shape = embed / 2;
    struct cavs_param *words =
        app_embedding(p->app.model, "embedding", vocab_size(p->words.words), embed, 0.1f);
    struct cavs_param *shapes =
        app_embedding(p->app.model, "shape", vocab_size(p->words.shapes), shape, 0.1f);

    for (int way = 0; way < 2; way++) {
        struct cavs_cell *lstm = &p->lstm[way];
        struct cavs_function *f;
        struct cavs_symbol *x[2];

        *lstm = cavs_lstm_cell(p->app.model, names[way], embed + shape, p->app.options.hidden);
        f = cavs_function_create(lstm->stage, "word");
        x[0] = cavs_lookup(words, cavs_pull_ids(f, "word"));
        x[1] = cavs_lookup(shapes, cavs_pull_ids(f, "shape"));
        cavs_cell_define(lstm, f, cavs_dropout(cavs_concat(2, x), p->app.options.dropout));
    }
}

static void declare_positions(struct parser *p)
{
    struct cavs_cell *forward = &p->lstm[CAVS_WAY_FORWARD];
    struct cavs_function *f;
    struct cavs_symbol *both;

    p->word = cavs_stage_over(p->app.model, "word", forward->stage, CAVS_ALL_VERTICES);
    f = cavs_function_create(p->word, "word");
    both = cavs_both_ways(f, forward, &p->lstm[CAVS_WAY_BACKWARD], "position");
    both = cavs_dropout(both, p->app.options.dropout);
    for (int i = 0; i < POSITIONS; i++) {
        char name[32];

        snprintf(name, sizeof name, "W_%s", parser_positions[i]);
        cavs_push(
            f, parser_positions[i],
            cavs_matmul(both, app_weight(p->app.model, name, 2 * p->app.options.hidden, p->mlp)));
    }
}

static void declare_decisions(struct parser *p)
{
    struct cavs_symbol *at[POSITIONS], *scores, *move, *relation, *of_move, *of_relation;
    struct cavs_function *f;

    p->decision = cavs_stage_create(p->app.model, "decision", 0);
    f = cavs_function_create(p->decision, "decision");
    for (int i = 0; i < POSITIONS; i++)
        at[i] = cavs_pull_from(f, p->word, parser_positions[i], parser_positions[i]);
    scores = decide(p, p->app.model, f, at);
    move = cavs_slice(scores, 0, MOVES);
    relation = cavs_slice(scores, MOVES, vocab_size(p->words.relations));
    of_move = cavs_pull_ids(f, "move");
    of_relation = cavs_pull_ids(f, "relation");
    cavs_loss(f, "loss",
              cavs_add(cavs_softmax_cross_entropy(move, of_move),
                       cavs_softmax_cross_entropy(relation, of_relation)),
              of_move);
    cavs_metric(f, "correct_move", cavs_correct(move, of_move), of_move);
    cavs_metric(f, "correct_relation", cavs_correct(relation, of_relation), of_relation);
}

int parser_declare(struct parser *p)
{
    int rc = cavs_model_create(&p->app.model);

    if (rc < 0)
        return rc;
    declare_words(p);
    declare_positions(p);
    declare_decisions(p);
    return cavs_model_finish(p->app.model);
}

int parser_declare_mover(struct parser *p)
{
    struct cavs_symbol *at[POSITIONS];
    struct cavs_function *f;
    int rc = cavs_model_create(&p->mover);

    if (rc < 0)
        return rc;
    p->moves = cavs_stage_create(p->mover, "decision", 0);
    f = cavs_function_create(p->moves, "decision");
    for (int i = 0; i < POSITIONS; i++)
        at[i] = cavs_pull(f, parser_positions[i], p->mlp);
    cavs_push(f, "scores", decide(p, p->mover, f, at));
    return cavs_model_finish(p->mover);
}
