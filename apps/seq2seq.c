/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seq2seq - an encoder and a decoder LSTM learn to reverse strings and to add numbers.
 *
 *     encoder   a stage over the symbols of the source, a chain
 *     decoder   a stage over those of the answer: vertex t reads symbol t - 1 and is to say symbol t.  Its first vertex
 *               has a function of its own, whose state comes from the encoder's last vertex
 *     answer    over the decoder: the symbol, the loss.  With attention (Luong et al. 2015, "general") it looks at all
 *               vertices of the encoder before it answers
 *
 * An answer is right if all of its symbols are.  Whether greedy decoding finds it can be told without decoding: as long as
 * each symbol so far was right, the decoder has read what it reads in training, so that the decoded answer is right if
 * and only if every symbol is the likeliest one behind the right ones before it.  dev_exact is counted so; --decode does
 * decode, symbol by symbol.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/app.h"
#include "apps/seq2seq_tasks.h"
#include "core/cavs_cells.h"

enum { DECODER_FIRST, DECODER_NEXT }; /* numbers of the vertex functions */

struct seq2seq {
    struct app_options common;
    enum task task;
    int length, nsamples, dev_samples, decode;
    bool no_attention;
    int symbols; /* with the end */
    struct cavs_model *model;
    struct cavs_cell encoder, decoder;
    struct cavs_stage *answer;
    struct example *train_examples, *dev_examples;
    struct cavs_data *train, *dev;
    struct app app;
};

/* ---- options --------------------------------------------------------------------------------- */

enum { KEY_TASK = 1, KEY_LENGTH, KEY_SAMPLES, KEY_DEV_SAMPLES, KEY_DECODE, KEY_NO_ATTENTION };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Task:", 1},
    {"task", KEY_TASK, "NAME", 0, "reverse (default) or add", 0},
    {"length", KEY_LENGTH, "N", 0, "at most N letters (default 10), or digits of a number (3)", 0},
    {"samples", KEY_SAMPLES, "N", 0, "examples in an epoch (default 40000)", 0},
    {"dev-samples", KEY_DEV_SAMPLES, "N", 0,
     "examples to evaluate after each epoch, none of them trained on (default 2000)", 0},
    {"no-attention", KEY_NO_ATTENTION, NULL, 0, "answer from the decoder's state alone", 0},
    {"decode", KEY_DECODE, "N", 0, "print the decoded answers to N of them at the end", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct seq2seq *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->common; break;
    case KEY_TASK: s->task = app_choice(state, "task", arg, task_names); break;
    case KEY_LENGTH: s->length = app_int(state, "length", arg, 1, task_most(TASK_REVERSE)); break;
    case KEY_SAMPLES: s->nsamples = app_int(state, "samples", arg, 1, INT_MAX - 1); break;
    case KEY_DEV_SAMPLES:
        s->dev_samples = app_int(state, "dev-samples", arg, 1, INT_MAX - 1);
        break;
    case KEY_NO_ATTENTION: s->no_attention = true; break;
    case KEY_DECODE: s->decode = app_int(state, "decode", arg, 0, INT_MAX - 1); break;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); break;
    case ARGP_KEY_SUCCESS:
        if (!s->length)
            s->length = s->task == TASK_ADD ? 3 : 10;
        if (s->length > task_most(s->task))
            argp_error(state, "--task %s has at most --length %d", task_names[s->task],
                       task_most(s->task));
        if (s->decode > s->dev_samples)
            argp_error(state, "--decode %d is more than --dev-samples %d", s->decode,
                       s->dev_samples);
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc =
        "Trains an encoder and a decoder LSTM to reverse strings or to add numbers.\v"
        "A sum is written from its last digit on.  dev_exact is the share of answers without a "
        "mistake.\n\n"
        "Parameters in model files (s: symbols, e: --embed, h: --hidden; gates i, f, o, u side by "
        "side): embedding (s x e), encoder_W (e x 4h), encoder_U (h x 4h), encoder_b, decoder_W, "
        "decoder_U, decoder_b, W_score (h x h), W_attend (2h x h), b_attend, W_out (h x s), "
        "b_out."};

/* ---- model ----------------------------------------------------------------------------------- */

/* A function of a cell with a state that comes from anywhere. */
static void define(const struct cavs_cell *cell, struct cavs_function *f, struct cavs_param *table,
                   struct cavs_symbol *before)
{
    struct cavs_symbol *x = cavs_lookup(table, cavs_pull_ids(f, "symbol"));
    struct cavs_symbol *state = cavs_cell_next(cell, x, before);

    cavs_scatter(f, state);
    cavs_push(f, "state", state);
    cavs_push(f, "h", cavs_cell_output(cell, state));
}

static void declare_chains(struct seq2seq *s)
{
    int embed = s->common.embed, hidden = s->common.hidden;
    struct cavs_param *table =
        cavs_model_param(s->model, "embedding", s->symbols, embed, CAVS_UNIFORM(-0.1f, 0.1f));
    struct cavs_function *f;

    s->encoder = cavs_lstm_cell(s->model, "encoder", embed, hidden);
    f = cavs_function_create(s->encoder.stage, "symbol");
    define(&s->encoder, f, table, cavs_gather(f, 0));

    s->decoder = cavs_lstm_cell(s->model, "decoder", embed, hidden);
    f = cavs_function_create(s->decoder.stage, "first");
    define(&s->decoder, f, table, cavs_pull_from(f, s->encoder.stage, "state", "last"));
    f = cavs_function_create(s->decoder.stage, "next");
    define(&s->decoder, f, table, cavs_gather(f, 0));
}

/* A mean of the encoder's rows, weighted by how well they fit h, joins h. */
static struct cavs_symbol *attend(struct seq2seq *s, struct cavs_function *f, struct cavs_symbol *h)
{
    int n = s->common.hidden;
    struct cavs_param *W_score =
        cavs_model_param(s->model, "W_score", n, n, cavs_init_glorot(n, n));
    struct cavs_param *W =
        cavs_model_param(s->model, "W_attend", 2 * n, n, cavs_init_glorot(2 * n, n));
    struct cavs_param *b = cavs_model_param(s->model, "b_attend", 1, n, CAVS_CONSTANT(0));
    struct cavs_symbol *rows = cavs_pull_from_each(f, s->encoder.stage, "h", NULL);
    struct cavs_symbol *score = cavs_sum(cavs_mul(rows, cavs_matmul(h, W_score)));
    struct cavs_symbol *both[2] = {cavs_sum_children(cavs_mul(cavs_softmax_children(score), rows)),
                                   h};

    return cavs_tanh(cavs_affine(cavs_concat(2, both), W, b));
}

static void declare_answer(struct seq2seq *s)
{
    int hidden = s->common.hidden;
    struct cavs_init init = cavs_init_glorot(hidden, s->symbols);
    struct cavs_param *W = cavs_model_param(s->model, "W_out", hidden, s->symbols, init);
    struct cavs_param *b = cavs_model_param(s->model, "b_out", 1, s->symbols, CAVS_CONSTANT(0));
    struct cavs_function *f;
    struct cavs_symbol *h, *logits, *label, *right;

    s->answer = cavs_stage_over(s->model, "answer", s->decoder.stage, CAVS_ALL_VERTICES);
    f = cavs_function_create(s->answer, "symbol");
    h = cavs_pull_from(f, s->decoder.stage, "h", NULL);
    logits = cavs_affine(s->no_attention ? h : attend(s, f, h), W, b);
    label = cavs_pull_ids(f, "label");
    right = cavs_correct(logits, label);
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", right, label);
    cavs_push(f, "right", right);
    cavs_push(f, "logits", logits);
}

static int declare(struct seq2seq *s)
{
    int rc = cavs_model_create(&s->model);

    if (rc < 0)
        return rc;
    declare_chains(s);
    declare_answer(s);
    return cavs_model_finish(s->model);
}

/* ---- data ------------------------------------------------------------------------------------ */

static int add_chain(struct cavs_data *d, const struct cavs_cell *cell, int n, const int *functions,
                     const int *symbols)
{
    int child_ptr[EXAMPLE_MOST + 1], child[EXAMPLE_MOST], rc;

    cavs_chain_graph(CAVS_WAY_FORWARD, n, child_ptr, child);
    if (functions && n > 0) { /* the decoder's first vertex gathers nothing */
        child_ptr[0] = 0;
        for (int v = 1; v <= n; v++) {
            child_ptr[v] = v - 1;
            child[v - 1] = v - 1;
        }
    }
    rc = cavs_data_graph(d, cell->stage, n, functions, child_ptr, child);
    return rc < 0 ? rc : cavs_data_ids(d, cell->stage, "symbol", n, symbols);
}

/* An example with the first n symbols of its answer. */
static int add_example(struct seq2seq *s, struct cavs_data *d, const struct example *x, int n)
{
    int before[EXAMPLE_MOST], functions[EXAMPLE_MOST], last[EXAMPLE_MOST], rc;

    for (int t = 0; t < n; t++) {
        before[t] = t ? x->answer[t - 1] : 0;
        functions[t] = t ? DECODER_NEXT : DECODER_FIRST;
        last[t] = t ? -1 : x->nsource - 1;
    }
    if ((rc = cavs_data_begin(d)) < 0 ||
        (rc = add_chain(d, &s->encoder, x->nsource, NULL, x->source)) < 0 ||
        (rc = add_chain(d, &s->decoder, n, functions, before)) < 0 ||
        (rc = cavs_data_ids(d, s->decoder.stage, "last", n, last)) < 0 ||
        (rc = cavs_data_ids(d, s->answer, "label", n, x->answer)) < 0)
        return rc;
    return cavs_data_end(d);
}

static int make_data(struct seq2seq *s, bool dev, int n, struct example **examples,
                     struct cavs_data **out)
{
    struct rng r;
    int rc = cavs_data_create(s->model, out);

    *examples = malloc((n + (size_t)1) * sizeof **examples);
    if (!*examples)
        return CAVS_ENOMEM;
    rng_seed(&r, s->common.session.seed, (1ull << 33) + dev);
    for (int i = 0; rc == 0 && i < n; i++) {
        struct example *x = *examples + i;

        task_draw(s->task, s->length, dev, &r, x);
        rc = add_example(s, *out, x, x->nanswer);
    }
    return rc;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Answers of some development examples without a mistake. */
static int count_exact(struct seq2seq *s, const int *samples, int n, int *exact)
{
    int64_t rows = cavs_data_batch_vertices(s->dev, s->answer, samples, n);
    float *right = malloc((rows + 1) * sizeof *right), *at = right;
    int rc =
        right ? cavs_session_output(s->app.session, s->dev, samples, n, s->answer, "right", right)
              : CAVS_ENOMEM;

    for (int i = 0; rc == 0 && i < n; i++) {
        int wrong = 0;

        for (int t = 0; t < s->dev_examples[samples[i]].nanswer; t++)
            wrong += *at++ == 0;
        *exact += !wrong;
    }
    free(right);
    return rc;
}

static int evaluate(struct seq2seq *s, double *share)
{
    int exact = 0, rc = 0, batch = s->common.batch < s->dev_samples ? s->common.batch : s->dev_samples;
    int *samples = malloc(((size_t)batch + 1) * sizeof *samples);

    if (!samples)
        return CAVS_ENOMEM;
    for (int first = 0, n; rc == 0 && first < s->dev_samples; first += n) {
        n = s->dev_samples - first < batch ? s->dev_samples - first : batch;
        for (int i = 0; i < n; i++)
            samples[i] = first + i;
        rc = count_exact(s, samples, n, &exact);
    }
    free(samples);
    *share = (double)exact / s->dev_samples;
    return rc;
}

static int after_epoch(void *context)
{
    static const struct app_mean means[] = {{"correct", "symbols"}, {NULL, NULL}};
    struct seq2seq *s = context;
    double exact;
    int rc;

    if ((rc = app_report_epoch(&s->app, NULL, means)) < 0 || (rc = evaluate(s, &exact)) < 0)
        return rc;
    report_number(&s->app.report, "dev_exact", exact);
    if (!s->common.quiet)
        fprintf(stderr, "  dev_exact %.4f\n", exact);
    return 0;
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* The likeliest next symbol of each answer whose first t symbols are there. */
static int decode_step(struct seq2seq *s, struct example *guess, int t, float *logits)
{
    struct cavs_data *d = NULL;
    int n = s->decode, rc = cavs_data_create(s->model, &d), *samples = malloc(n * sizeof *samples);

    if (!samples)
        rc = CAVS_ENOMEM;
    for (int i = 0; rc == 0 && i < n; i++) {
        guess[i].answer[t] = 0; /* a label, of which nothing but a metric depends */
        samples[i] = i;
        rc = add_example(s, d, &guess[i], t + 1);
    }
    if (rc == 0)
        rc = cavs_session_output(s->app.session, d, samples, n, s->answer, "logits", logits);
    for (int i = 0; rc == 0 && i < n; i++) {
        const float *last = logits + ((size_t)i * (t + 1) + t) * s->symbols;

        for (int k = 1; k < s->symbols; k++)
            if (last[k] > last[guess[i].answer[t]])
                guess[i].answer[t] = k;
    }
    free(samples);
    cavs_data_destroy(d);
    return rc;
}

static void print_answers(struct seq2seq *s, const struct example *guess)
{
    int exact = 0;

    for (int i = 0; i < s->decode; i++) {
        const struct example *x = &s->dev_examples[i];
        char source[EXAMPLE_MOST + 1], answer[EXAMPLE_MOST + 1], want[EXAMPLE_MOST + 1];

        task_spell(s->task, x->source, x->nsource, source);
        task_spell(s->task, guess[i].answer, guess[i].nanswer, answer);
        task_spell(s->task, x->answer, x->nanswer, want);
        exact += strcmp(answer, want) == 0;
        printf("%s -> %s%s%s\n", source, answer, strcmp(answer, want) ? ", not " : "",
               strcmp(answer, want) ? want : "");
    }
    report_number(&s->app.report, "decoded_exact", (double)exact / s->decode);
}

/* All answers grow symbol by symbol, side by side; what comes behind an end does not count. */
static int decode(struct seq2seq *s)
{
    int longest = 0, rc = 0;
    struct example *guess = malloc((s->decode + (size_t)1) * sizeof *guess);
    float *logits;

    for (int i = 0; i < s->decode; i++)
        if (s->dev_examples[i].nanswer > longest)
            longest = s->dev_examples[i].nanswer;
    logits = malloc((size_t)s->decode * longest * s->symbols * sizeof *logits);
    if (!guess || !logits)
        rc = CAVS_ENOMEM;
    for (int i = 0; rc == 0 && i < s->decode; i++) {
        guess[i] = s->dev_examples[i];
        guess[i].nanswer = longest;
    }
    for (int t = 0; rc == 0 && t < longest; t++)
        rc = decode_step(s, guess, t, logits);
    if (rc == 0)
        print_answers(s, guess);
    free(guess);
    free(logits);
    return rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int prepare(struct seq2seq *s)
{
    int rc;

    s->symbols = 1 + strlen(task_symbols(s->task));
    if ((rc = declare(s)) < 0 ||
        (rc = make_data(s, false, s->nsamples, &s->train_examples, &s->train)) < 0 ||
        (rc = make_data(s, true, s->dev_samples, &s->dev_examples, &s->dev)) < 0)
        return rc;
    s->common.session.scale = 1.0f / s->common.batch;
    return app_start(&s->app, "seq2seq", &s->common, s->model);
}

static int run(struct seq2seq *s, struct app_error *e)
{
    struct training training;
    int rc = prepare(s);

    if (rc < 0)
        return rc;
    training = (struct training){
        .data = s->train,
        .graph = s->decoder.stage,
        .loss = "loss",
        .after_epoch = after_epoch,
        .error = e,
        .context = s,
    };
    report_text(&s->app.report, "task", task_names[s->task]);
    report_count(&s->app.report, "length", s->length);
    report_count(&s->app.report, "attention", !s->no_attention);
    if ((rc = app_train(&s->app, &training)) < 0 || (s->decode && (rc = decode(s)) < 0))
        return rc;
    return app_finish(&s->app);
}

int main(int argc, char **argv)
{
    struct seq2seq s = {.common = app_options_defaults(), .nsamples = 40000, .dev_samples = 2000};
    struct app_error error = {""};
    int status;

    s.common.epochs = 10;
    s.common.batch = 64;
    s.common.hidden = 128;
    s.common.embed = 64;
    s.common.session.optimizer = CAVS_ADAM;
    s.common.session.lr = 3e-3f;
    s.common.session.clip = 1;
    argp_parse(&argp, argc, argv, 0, NULL, &s);
    status = app_status("seq2seq", run(&s, &error), &error);
    app_stop(&s.app);
    cavs_data_destroy(s.train);
    cavs_data_destroy(s.dev);
    cavs_model_destroy(s.model);
    free(s.train_examples);
    free(s.dev_examples);
    return status;
}
