/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two_ways.c - a model of several stages: one chain reads a word from the left, one from the right,
 * and a third stage judges every letter by what both have seen.
 *
 * Letter v is labelled 1 if the letters before and after it are equal, which neither chain knows
 * alone; letters at the ends have no label.  doc/guide.md, "More than one stage", is about this.
 */
#include <cavs.h>

#include <stdio.h>
#include <stdlib.h>

enum { LETTERS = 4, EMBED = 8, HIDDEN = 16 };
enum { MOST = 20, TRAIN = 1500, TEST = 300, SAMPLES = TRAIN + TEST, BATCH = 50, EPOCHS = 12 };

struct network {
    struct cavs_model *model;
    struct cavs_stage *forward, *backward, *judge;
};

static void check(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "two_ways: %s: %s\n", cavs_strerror(rc), cavs_error_message());
    exit(1);
}

/* ---- the model ------------------------------------------------------------------------------- */

/* A chain: state = tanh(letter W + previous state U + b).  The first vertex has no child, and what
 * it gathers is zeros. */
static struct cavs_stage *declare_chain(struct cavs_model *m, const char *name,
                                        struct cavs_param *table)
{
    char W[32], U[32], b[32];
    struct cavs_stage *chain = cavs_stage_create(m, name, HIDDEN);
    struct cavs_function *f = cavs_function_create(chain, "step");
    struct cavs_symbol *x, *h;

    snprintf(W, sizeof W, "%s.W", name);
    snprintf(U, sizeof U, "%s.U", name);
    snprintf(b, sizeof b, "%s.b", name);
    x = cavs_affine(cavs_lookup(table, cavs_pull_ids(f, "letter")),
                    cavs_model_param(m, W, EMBED, HIDDEN, cavs_init_glorot(EMBED, HIDDEN)),
                    cavs_model_param(m, b, 1, HIDDEN, CAVS_CONSTANT(0)));
    h = cavs_matmul(cavs_gather(f, 0),
                    cavs_model_param(m, U, HIDDEN, HIDDEN, cavs_init_glorot(HIDDEN, HIDDEN)));
    h = cavs_tanh(cavs_add(x, h));
    cavs_scatter(f, h);
    cavs_push(f, "state", h);
    return chain;
}

/* No edges, but a graph of its own, because it has no single stage to stand over. */
static struct cavs_stage *declare_judge(struct network *net)
{
    struct cavs_model *m = net->model;
    struct cavs_stage *judge = cavs_stage_create(m, "judge", 0);
    struct cavs_function *f = cavs_function_create(judge, "judge");
    struct cavs_symbol *seen[2], *logits, *label = cavs_pull_ids(f, "label");

    seen[0] = cavs_pull_from(f, net->forward, "state", "before");
    seen[1] = cavs_pull_from(f, net->backward, "state", "after");
    logits =
        cavs_affine(cavs_tanh(cavs_affine(cavs_concat(2, seen),
                                          cavs_model_param(m, "W1", 2 * HIDDEN, HIDDEN,
                                                           cavs_init_glorot(2 * HIDDEN, HIDDEN)),
                                          cavs_model_param(m, "b1", 1, HIDDEN, CAVS_CONSTANT(0)))),
                    cavs_model_param(m, "W2", HIDDEN, 2, cavs_init_glorot(HIDDEN, 2)),
                    cavs_model_param(m, "b2", 1, 2, CAVS_CONSTANT(0)));
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", cavs_correct(logits, label), label);
    return judge;
}

static void declare(struct network *net)
{
    struct cavs_param *table;

    check(cavs_model_create(&net->model));
    table = cavs_model_param(net->model, "letters", LETTERS, EMBED, CAVS_NORMAL(0, 1));
    net->forward = declare_chain(net->model, "forward", table);
    net->backward = declare_chain(net->model, "backward", table);
    net->judge = declare_judge(net);
    check(cavs_model_finish(net->model));
}

/* ---- the data -------------------------------------------------------------------------------- */

static int draw(int n)
{
    static unsigned long long state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned)n);
}

/* Vertex v of both chains is letter v; its child is the letter read before it. */
static void add_chain(const struct cavs_stage *chain, struct cavs_data *d, int n, const int *letter,
                      int step)
{
    int child_ptr[MOST + 1], child[MOST];

    for (int v = 0; v < n; v++) {
        int before = v - step;

        child_ptr[v] = v;
        child[v] = before >= 0 && before < n ? before : -1;
    }
    child_ptr[n] = n;
    check(cavs_data_graph(d, chain, n, NULL, child_ptr, child));
    check(cavs_data_ids(d, chain, "letter", n, letter));
}

static void add_word(const struct network *net, struct cavs_data *d)
{
    int n = 3 + draw(MOST - 2), letter[MOST], label[MOST], before[MOST], after[MOST];

    for (int v = 0; v < n; v++)
        letter[v] = draw(LETTERS);
    for (int v = 0; v < n; v++) {
        bool inside = v > 0 && v < n - 1;

        label[v] = inside ? letter[v - 1] == letter[v + 1] : -1;
        before[v] = v - 1; /* -1: there is none; it reads as zeros */
        after[v] = v < n - 1 ? v + 1 : -1;
    }
    check(cavs_data_begin(d));
    add_chain(net->forward, d, n, letter, 1);
    add_chain(net->backward, d, n, letter, -1);
    check(cavs_data_graph(d, net->judge, n, NULL, NULL, NULL));
    check(cavs_data_ids(d, net->judge, "before", n, before));
    check(cavs_data_ids(d, net->judge, "after", n, after));
    check(cavs_data_ids(d, net->judge, "label", n, label));
    check(cavs_data_end(d));
}

/* ---- the program ----------------------------------------------------------------------------- */

static double mean(struct cavs_session *s, const char *metric)
{
    double sum, count;

    check(cavs_session_metric(s, metric, &sum, &count));
    return sum / count;
}

int main(void)
{
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_runtime *runtime;
    struct cavs_session *session;
    struct cavs_data *data;
    struct network net;
    int samples[SAMPLES];

    declare(&net);
    check(cavs_data_create(net.model, &data));
    for (int i = 0; i < SAMPLES; i++) {
        samples[i] = i;
        add_word(&net, data);
    }
    options.optimizer = CAVS_ADAM;
    options.lr = 0.01f;
    options.scale = 1.0f / BATCH;
    check(cavs_runtime_create(NULL, &runtime));
    check(cavs_session_create(runtime, net.model, &options, &session));
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        check(cavs_session_reset_metrics(session));
        for (int i = 0; i < TRAIN; i += BATCH)
            check(cavs_session_train(session, data, samples + i, BATCH));
    }
    printf("training:  loss %.3f, %.3f correct\n", mean(session, "loss"), mean(session, "correct"));
    check(cavs_session_reset_metrics(session));
    check(cavs_session_evaluate(session, data, samples + TRAIN, TEST));
    printf("new words: loss %.3f, %.3f correct\n", mean(session, "loss"), mean(session, "correct"));
    cavs_session_destroy(session);
    cavs_runtime_destroy(runtime);
    cavs_data_destroy(data);
    cavs_model_destroy(net.model);
    return 0;
}
