/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first.c - your first vertex function: a network learns the value of Boolean formulas.
 *
 * A formula such as (1 and (0 xor 1)) is a tree of any shape: each vertex is a symbol, its children
 * are the operands.  doc/guide.md walks through this program.
 *
 *     first [FILE]    trains, shows what was learnt, writes the parameters to FILE
 */
#include <cavs.h>

#include <stdio.h>
#include <stdlib.h>

enum { ZERO, ONE, AND, OR, XOR, SYMBOLS };
enum { HIDDEN = 32, VALUES = 2 };
enum { MOST_LEAVES = 12, TRAIN = 2000, TEST = 500, SAMPLES = TRAIN + TEST, BATCH = 50, EPOCHS = 8 };
enum { SHOWN = TRAIN + 4 }; /* one of the new formulas */

/* The examples end at the first error; a program of yours may want to do something better. */
static void check(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "first: %s: %s\n", cavs_strerror(rc), cavs_error_message());
    exit(1);
}

/* ---- the model ------------------------------------------------------------------------------- */

struct network {
    struct cavs_model *model;
    struct cavs_stage *formula, *answer;
};

static struct cavs_stage *declare_formula(struct cavs_model *m)
{
    struct cavs_param *table = cavs_model_param(m, "symbols", SYMBOLS, HIDDEN, CAVS_UNIFORM(-1, 1));
    struct cavs_param *U =
        cavs_model_param(m, "U", 2 * HIDDEN, HIDDEN, cavs_init_glorot(2 * HIDDEN, HIDDEN));
    struct cavs_param *b = cavs_model_param(m, "b", 1, HIDDEN, CAVS_CONSTANT(0));
    struct cavs_stage *formula = cavs_stage_create(m, "formula", HIDDEN);
    struct cavs_function *leaf = cavs_function_create(formula, "leaf");   /* number 0 */
    struct cavs_function *inner = cavs_function_create(formula, "inner"); /* number 1 */
    struct cavs_symbol *x, *h, *both[2];

    /* leaf: the state is that of its symbol */
    h = cavs_tanh(cavs_lookup(table, cavs_pull_ids(leaf, "symbol")));
    cavs_scatter(leaf, h);
    cavs_push(leaf, "state", h);

    /* inner: tanh(symbol + [left; right] U + b) */
    x = cavs_lookup(table, cavs_pull_ids(inner, "symbol"));
    both[0] = cavs_gather(inner, 0);
    both[1] = cavs_gather(inner, 1);
    h = cavs_tanh(cavs_add(x, cavs_affine(cavs_concat(2, both), U, b)));
    cavs_scatter(inner, h);
    cavs_push(inner, "state", h);
    return formula;
}

static struct cavs_stage *declare_answer(struct cavs_model *m, struct cavs_stage *formula)
{
    struct cavs_param *W =
        cavs_model_param(m, "W", HIDDEN, VALUES, cavs_init_glorot(HIDDEN, VALUES));
    struct cavs_param *c = cavs_model_param(m, "c", 1, VALUES, CAVS_CONSTANT(0));
    struct cavs_stage *answer = cavs_stage_over(m, "answer", formula, CAVS_ALL_VERTICES);
    struct cavs_function *f = cavs_function_create(answer, "answer");
    struct cavs_symbol *state = cavs_pull_from(f, formula, "state", NULL);
    struct cavs_symbol *logits = cavs_affine(state, W, c);
    struct cavs_symbol *value = cavs_pull_ids(f, "value");

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, value), value);
    cavs_metric(f, "correct", cavs_correct(logits, value), value);
    cavs_push(f, "logits", logits);
    return answer;
}

static void declare(struct network *net)
{
    check(cavs_model_create(&net->model));
    net->formula = declare_formula(net->model);
    net->answer = declare_answer(net->model, net->formula);
    check(cavs_model_finish(net->model));
}

/* ---- the data -------------------------------------------------------------------------------- */

enum { MOST_VERTICES = 2 * MOST_LEAVES };

/* Vertices are numbered operands first; the last one is the whole formula. */
struct formula {
    int n, nchildren;
    int symbol[MOST_VERTICES], function[MOST_VERTICES], value[MOST_VERTICES];
    int child_ptr[MOST_VERTICES + 1], child[2 * MOST_VERTICES];
};

/* 0 .. n-1, the same sequence on every machine */
static int draw(int n)
{
    static unsigned long long state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned)n);
}

static int value_of(int symbol, int a, int b)
{
    return symbol == AND ? a & b : symbol == OR ? a | b : symbol == XOR ? a ^ b : symbol == ONE;
}

/* Appends a random formula of that many leaves and returns the number of its vertex. */
static int grow(struct formula *f, int leaves)
{
    int split = leaves > 1 ? 1 + draw(leaves - 1) : 0;
    int left = split ? grow(f, split) : -1, right = split ? grow(f, leaves - split) : -1;
    int v = f->n++;

    f->symbol[v] = split ? AND + draw(3) : draw(2);
    f->function[v] = split ? 1 : 0;
    f->value[v] = value_of(f->symbol[v], split ? f->value[left] : 0, split ? f->value[right] : 0);
    if (split) {
        f->child[f->nchildren++] = left;
        f->child[f->nchildren++] = right;
    }
    f->child_ptr[v + 1] = f->nchildren;
    return v;
}

static void add_sample(const struct network *net, struct cavs_data *d, const struct formula *f)
{
    check(cavs_data_begin(d));
    check(cavs_data_graph(d, net->formula, f->n, f->function, f->child_ptr, f->child));
    check(cavs_data_ids(d, net->formula, "symbol", f->n, f->symbol));
    check(cavs_data_ids(d, net->answer, "value", f->n, f->value));
    check(cavs_data_end(d));
}

static struct cavs_data *make_data(const struct network *net, struct formula *formulas)
{
    struct cavs_data *d;

    check(cavs_data_create(net->model, &d));
    for (int i = 0; i < SAMPLES; i++) {
        formulas[i] = (struct formula){0};
        grow(&formulas[i], 2 + draw(MOST_LEAVES - 1));
        add_sample(net, d, &formulas[i]);
    }
    return d;
}

/* ---- training and evaluation ----------------------------------------------------------------- */

static double mean(struct cavs_session *s, const char *metric)
{
    double sum, count;

    check(cavs_session_metric(s, metric, &sum, &count));
    return sum / count;
}

static void train(struct cavs_session *s, const struct cavs_data *d, int *samples)
{
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        check(cavs_session_reset_metrics(s));
        for (int i = TRAIN - 1; i > 0; i--) {
            int j = draw(i + 1), swap = samples[i];

            samples[i] = samples[j];
            samples[j] = swap;
        }
        for (int i = 0; i < TRAIN; i += BATCH)
            check(cavs_session_train(s, d, samples + i, BATCH));
        printf("epoch %d  loss %.3f  correct %.3f\n", epoch, mean(s, "loss"), mean(s, "correct"));
    }
}

static void evaluate(struct cavs_session *s, const struct cavs_data *d, const int *samples)
{
    check(cavs_session_reset_metrics(s));
    check(cavs_session_evaluate(s, d, samples, TEST));
    printf("new formulas: %.3f correct\n", mean(s, "correct"));
}

/* How much work was there, and how much of it was done at once? */
static void print_stats(const struct cavs_session *s)
{
    struct cavs_stats stats;

    cavs_session_stats(s, &stats);
    printf("%lld batches, %lld vertices, %lld evaluated, in %lld batching tasks\n",
           (long long)stats.batches, (long long)stats.vertices, (long long)stats.evaluated,
           (long long)stats.batching_tasks);
}

static void print_formula(const struct formula *f, int v)
{
    static const char *const names[] = {"0", "1", " and ", " or ", " xor "};
    const int *child = f->child + f->child_ptr[v];

    if (f->function[v] == 0) {
        printf("%s", names[f->symbol[v]]);
        return;
    }
    printf("(");
    print_formula(f, child[0]);
    printf("%s", names[f->symbol[v]]);
    print_formula(f, child[1]);
    printf(")");
}

/* What the network says about every part of one formula. */
static void show(struct cavs_session *s, const struct network *net, const struct cavs_data *d,
                 const struct formula *f, int sample)
{
    float logits[MOST_VERTICES][VALUES];

    check(cavs_session_output(s, d, &sample, 1, net->answer, "logits", logits[0]));
    for (int v = 0; v < f->n; v++) {
        if (f->function[v] == 0)
            continue;
        print_formula(f, v);
        printf(" = %d\n", logits[v][1] > logits[v][0]);
    }
}

int main(int argc, char **argv)
{
    static struct formula formulas[SAMPLES];
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_runtime *runtime;
    struct cavs_session *session;
    struct cavs_data *data;
    struct network net;
    int samples[SAMPLES];

    declare(&net);
    data = make_data(&net, formulas);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = i;
    options.optimizer = CAVS_ADAM;
    options.lr = 0.01f;
    options.mean = true;
    check(cavs_runtime_create(NULL, &runtime));
    check(cavs_session_create(runtime, net.model, &options, &session));
    train(session, data, samples);
    print_stats(session);
    evaluate(session, data, samples + TRAIN);
    show(session, &net, data, &formulas[SHOWN], SHOWN);
    if (argc > 1)
        check(cavs_session_save(session, argv[1]));
    cavs_session_destroy(session);
    cavs_runtime_destroy(runtime);
    cavs_data_destroy(data);
    cavs_model_destroy(net.model);
    return 0;
}
