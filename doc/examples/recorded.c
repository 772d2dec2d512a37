/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.c - the network of first.c without stages and graphs: a formula is a text, and the
 * network is what reads it, recorded on a tape.
 *
 *     recorded    trains, shows what was learnt
 */
#include <cavs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char symbols[] = "01&|^";
enum { SYMBOLS = 5, HIDDEN = 32, VALUES = 2 };
enum { MOST_LEAVES = 12, LENGTH = 4 * MOST_LEAVES, TRAIN = 2000, TEST = 500 };
enum { BATCH = 50, EPOCHS = 8 };

static void check(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "recorded: %s: %s\n", cavs_strerror(rc), cavs_error_message());
    exit(1);
}

/* ---- the network ----------------------------------------------------------------------------- */

struct network {
    struct cavs_tape *tape;
    struct cavs_param *table, *U, *b, *W, *c;
};

static struct cavs_symbol *symbol(const struct network *net, char c)
{
    return cavs_lookup(net->table, cavs_tape_id(net->tape, (int)(strchr(symbols, c) - symbols)));
}

static void compare(const struct network *net, struct cavs_symbol *state, int value)
{
    struct cavs_symbol *logits = cavs_affine(state, net->W, net->c);
    struct cavs_symbol *truth = cavs_tape_id(net->tape, value);
    struct cavs_function *f = cavs_tape_function(net->tape);

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, truth), NULL);
    cavs_metric(f, "correct", cavs_correct(logits, truth), NULL);
}

/* What the formula that begins at *text is. */
static int value_at(const char **text)
{
    int a, b;
    char op;

    if (*(*text)++ != '(')
        return (*text)[-1] == '1';
    a = value_at(text);
    op = *(*text)++;
    b = value_at(text);
    ++*text; /* ) */
    return op == '&' ? a & b : op == '|' ? a | b : a ^ b;
}

static int value_of(const char *formula)
{
    return value_at(&formula);
}

/* The state of the formula that begins at *text. */
static struct cavs_symbol *read(const struct network *net, const char **text)
{
    const char *formula = *text;
    struct cavs_symbol *operand[2], *x;

    if (*(*text)++ != '(') {
        x = symbol(net, *formula);
    } else {
        operand[0] = read(net, text);
        x = symbol(net, *(*text)++);
        operand[1] = read(net, text);
        ++*text; /* ) */
        x = cavs_add(x, cavs_affine(cavs_concat(2, operand), net->U, net->b));
    }
    x = cavs_tanh(x);
    compare(net, x, value_of(formula));
    return x;
}

/* Formulas that have nothing in common but the network: what can be computed together is. */
static void run(const struct network *net, enum cavs_tape_run what, int n, char formula[][LENGTH])
{
    check(cavs_tape_begin(net->tape, what));
    for (int i = 0; i < n; i++) {
        const char *text = formula[i];

        cavs_tape_sample(net->tape);
        read(net, &text);
    }
    check(cavs_tape_finish(net->tape));
}

/* ---- formulas -------------------------------------------------------------------------------- */

/* 0 .. n-1, the same sequence on every machine */
static int draw(int n)
{
    static unsigned long long state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned)n);
}

/* A random formula of that many leaves; where it ends. */
static char *grow(char *text, int leaves)
{
    int left;

    if (leaves == 1) {
        *text++ = symbols[draw(2)];
    } else {
        left = 1 + draw(leaves - 1);
        *text++ = '(';
        text = grow(text, left);
        *text++ = symbols[2 + draw(3)];
        text = grow(text, leaves - left);
        *text++ = ')';
    }
    *text = '\0';
    return text;
}

/* ---- training and evaluation ----------------------------------------------------------------- */

static double mean(struct cavs_session *s, const char *metric)
{
    double sum, count;

    check(cavs_session_metric(s, metric, &sum, &count));
    check(cavs_session_reset_metrics(s));
    return sum / count;
}

static void declare(struct network *net, struct cavs_model **m)
{
    check(cavs_model_create(m));
    net->table = cavs_model_param(*m, "symbols", SYMBOLS, HIDDEN, CAVS_UNIFORM(-1, 1));
    net->U = cavs_model_param(*m, "U", 2 * HIDDEN, HIDDEN, cavs_init_glorot(2 * HIDDEN, HIDDEN));
    net->b = cavs_model_param(*m, "b", 1, HIDDEN, CAVS_CONSTANT(0));
    net->W = cavs_model_param(*m, "W", HIDDEN, VALUES, cavs_init_glorot(HIDDEN, VALUES));
    net->c = cavs_model_param(*m, "c", 1, VALUES, CAVS_CONSTANT(0));
    check(cavs_model_finish(*m));
}

int main(void)
{
    static char train[TRAIN][LENGTH], test[TEST][LENGTH];
    struct cavs_session_options options = cavs_session_defaults();
    struct network net;
    struct cavs_model *model;
    struct cavs_runtime *runtime;
    struct cavs_session *session;

    for (int i = 0; i < TRAIN; i++)
        grow(train[i], 2 + draw(MOST_LEAVES - 1));
    for (int i = 0; i < TEST; i++)
        grow(test[i], 2 + draw(MOST_LEAVES - 1));
    options.optimizer = CAVS_ADAM;
    options.lr = 0.01f;
    options.mean = true;
    declare(&net, &model);
    check(cavs_runtime_create(NULL, &runtime));
    check(cavs_session_create(runtime, model, &options, &session));
    check(cavs_tape_create(session, NULL, &net.tape));
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        for (int i = 0; i < TRAIN; i += BATCH)
            run(&net, CAVS_TAPE_TRAIN, BATCH, train + i);
        printf("epoch %d  loss %.3f\n", epoch, mean(session, "loss"));
    }
    check(cavs_session_reset_metrics(session));
    run(&net, CAVS_TAPE_EVALUATE, TEST, test);
    printf("new formulas: %.3f correct\n", mean(session, "correct"));
    cavs_tape_destroy(net.tape);
    cavs_session_destroy(session);
    check(cavs_runtime_destroy(runtime));
    cavs_model_destroy(model);
    return 0;
}
