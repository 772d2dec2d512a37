/* SPDX-License-Identifier: Apache-2.0 */
/* zoo_chains.c - sequences: an LSTM language model, a GRU on rows, a tagger with both
 * directions, normalized residuals. */
#include "tests/zoo.h"

#include <stddef.h>

enum { WORDS = 9, EMBED = 4, HIDDEN = 5 };

struct lstm {
    struct cavs_param *w, *u, *b;
};

static struct lstm lstm_params(struct cavs_model *m, const char *w, const char *u, const char *b)
{
    return (struct lstm){zoo_weight(m, w, EMBED, 4 * HIDDEN), zoo_weight(m, u, HIDDEN, 4 * HIDDEN),
                         zoo_weight(m, b, 1, 4 * HIDDEN)};
}

static struct cavs_stage *lstm_stage(struct cavs_model *m, const char *name, struct lstm p,
                                     struct cavs_param *table)
{
    struct cavs_stage *chain = cavs_stage_create(m, name, 2 * HIDDEN);
    struct cavs_function *f = cavs_function_create(chain, "cell");
    struct cavs_symbol *before[2], *gate[4];
    cavs_split(cavs_gather(f, 0), 2, before);
    struct cavs_symbol *x = cavs_lookup(table, cavs_pull_ids(f, "word"));
    cavs_split(cavs_add(cavs_affine(x, p.w, p.b), cavs_matmul(before[0], p.u)), 4, gate);
    zoo_lstm_end(f, gate[0], gate[1], gate[2], cavs_mul(cavs_sigmoid(gate[3]), before[1]));
    return chain;
}

static void build_chain_lstm(struct cavs_model *m)
{
    struct cavs_param *table = zoo_weight(m, "embedding", WORDS, EMBED);
    struct cavs_stage *chain = lstm_stage(m, "chain", lstm_params(m, "W", "U", "b"), table);
    zoo_classify(m, chain, "h", HIDDEN, WORDS);
}

/* h = (1 - z) h' + z tanh(x W + (r h') U), on rows instead of words, with the loss in the cell's
 * own stage. */
static void build_gru(struct cavs_model *m)
{
    struct cavs_param *w = zoo_weight(m, "W", EMBED, 3 * HIDDEN),
                      *b = zoo_weight(m, "b", 1, 3 * HIDDEN);
    struct cavs_param *uz = zoo_weight(m, "U_z", HIDDEN, HIDDEN),
                      *ur = zoo_weight(m, "U_r", HIDDEN, HIDDEN);
    struct cavs_param *uh = zoo_weight(m, "U_h", HIDDEN, HIDDEN),
                      *out = zoo_weight(m, "out", HIDDEN, 2);
    struct cavs_stage *chain = cavs_stage_create(m, "chain", HIDDEN);
    struct cavs_function *f = cavs_function_create(chain, "cell");
    struct cavs_symbol *before = cavs_gather(f, 0), *gate[3];
    cavs_split(cavs_affine(cavs_pull(f, "x", EMBED), w, b), 3, gate);
    struct cavs_symbol *z = cavs_sigmoid(cavs_add(gate[0], cavs_matmul(before, uz)));
    struct cavs_symbol *r = cavs_sigmoid(cavs_add(gate[1], cavs_matmul(before, ur)));
    struct cavs_symbol *fresh = cavs_tanh(cavs_add(gate[2], cavs_matmul(cavs_mul(r, before), uh)));
    struct cavs_symbol *old = cavs_mul(cavs_shift(cavs_neg(z), 1), before);
    struct cavs_symbol *h = cavs_add(old, cavs_mul(z, fresh));
    cavs_scatter(f, h);
    struct cavs_symbol *guess = cavs_matmul(h, out);
    cavs_push(f, "guess", guess);
    cavs_loss(f, "loss", cavs_squared_error(guess, cavs_pull(f, "target", 2)),
              cavs_pull_ids(f, "counts"));
}

/* Two chains over the same words; the tagger stands over one and finds its vertex of the other by
 * an index. */
static void build_bilstm(struct cavs_model *m)
{
    struct cavs_param *table = zoo_weight(m, "embedding", WORDS, EMBED);
    struct cavs_stage *right = lstm_stage(m, "right", lstm_params(m, "W_r", "U_r", "b_r"), table);
    struct cavs_stage *left = lstm_stage(m, "left", lstm_params(m, "W_l", "U_l", "b_l"), table);
    struct cavs_stage *tagger = cavs_stage_over(m, "tagger", left, CAVS_ALL_VERTICES);
    struct cavs_function *f = cavs_function_create(tagger, "tag");
    struct cavs_symbol *label = cavs_pull_ids(f, "label");
    struct cavs_symbol *h[2] = {cavs_pull_from(f, left, "h", NULL),
                                cavs_pull_from(f, right, "h", "mirror")};
    struct cavs_symbol *logits =
        cavs_matmul(cavs_concat(2, h), zoo_weight(m, "W_tag", 2 * HIDDEN, 4));
    cavs_push(f, "logits", logits);
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
}

/* A plain recurrent cell with few numbers a vertex, for chains of any length. */
static void build_rnn(struct cavs_model *m)
{
    enum { SMALL = 3 };
    struct cavs_stage *chain = cavs_stage_create(m, "chain", SMALL);
    struct cavs_function *f = cavs_function_create(chain, "cell");
    struct cavs_symbol *h = cavs_matmul(cavs_gather(f, 0), zoo_weight(m, "U", SMALL, SMALL));
    h = cavs_tanh(cavs_add(h, cavs_pull(f, "x", SMALL)));
    cavs_scatter(f, h);
    cavs_loss(f, "loss", cavs_sum(cavs_square(h)), NULL);
}

/* h = x + silu(n A) (n B), where x is h' and the word, and n is x at a root mean square of 1, times
 * a gain. */
static void build_residual(struct cavs_model *m)
{
    struct cavs_param *table = zoo_weight(m, "embedding", WORDS, HIDDEN),
                      *gain = zoo_weight(m, "gain", 1, HIDDEN),
                      *a = zoo_weight(m, "A", HIDDEN, HIDDEN),
                      *b = zoo_weight(m, "B", HIDDEN, HIDDEN);
    struct cavs_stage *chain = cavs_stage_create(m, "chain", HIDDEN);
    struct cavs_function *f = cavs_function_create(chain, "cell");
    struct cavs_symbol *x =
        cavs_add(cavs_gather(f, 0), cavs_lookup(table, cavs_pull_ids(f, "word")));
    struct cavs_symbol *n = cavs_rms_norm(x, gain);
    struct cavs_symbol *h = cavs_add(x, cavs_mul(cavs_silu(cavs_matmul(n, a)), cavs_matmul(n, b)));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, chain, "h", HIDDEN, WORDS);
}

/* h = tanh(x W + h' U), where x is made of the word by operators whose derivatives need more than
 * the gradient and the result: a word that occurs twice has one row of all of them. */
static void build_normed(struct cavs_model *m)
{
    enum { SMALL = 3 };
    struct cavs_param *table = zoo_weight(m, "embedding", 4, EMBED);
    struct cavs_stage *chain = cavs_stage_create(m, "chain", SMALL);
    struct cavs_function *f = cavs_function_create(chain, "cell");
    struct cavs_symbol *x = cavs_lookup(table, cavs_pull_ids(f, "word"));
    struct cavs_symbol *h = cavs_matmul(cavs_gather(f, 0), zoo_weight(m, "U", SMALL, SMALL));
    x = cavs_log_softmax(cavs_rms_norm(x, NULL));
    h = cavs_tanh(cavs_add(h, cavs_matmul(x, zoo_weight(m, "W", EMBED, SMALL))));
    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    zoo_classify(m, chain, "h", SMALL, 4);
}

const struct zoo_entry zoo_chains[] = {
    {"chain_lstm",
     build_chain_lstm,
     {"chain:9", "chain:1", "chain:4", "empty", "chain:17,shuffle=3", "chain:4", "flat:3"}},
    {"gru", build_gru, {"chain:7", "chain:12,shuffle=2", "single", "chain:3"}},
    {"bilstm",
     build_bilstm,
     {"chain:6|chain:6", "chain:3|chain:3,shuffle=7", "empty|empty", "chain:11|chain:11",
      "empty|chain:4"}},
    {"rnn", build_rnn, {"chain:5", "chain:40", "single"}},
    {"residual", build_residual, {"chain:6", "chain:11,shuffle=4", "single", "chain:3"}},
    {"normed", build_normed, {"chain:9", "chain:12,shuffle=2", "single", "chain:4", "empty"}},
    {NULL, NULL, {NULL}},
};
