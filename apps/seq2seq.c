/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seq2seq - an encoder and a decoder LSTM learn to reverse strings and to add numbers.
 *
 *     encoder   a stage over the symbols of the source, a chain
 *     decoder   a stage over those of the answer: vertex t reads symbol t - 1 and is to say symbol
 *               t.  Its first vertex has a function of its own, whose state comes from the
 *               encoder's last vertex
 *     answer    over the decoder: the symbol, the loss.  With attention (Luong et al. 2015,
 *               "general") it looks at all vertices of the encoder before it answers
 *
 * An answer is right if all of its symbols are.  Whether greedy decoding finds it can be told
 * without decoding: as long as each symbol so far was right, the decoder has read what it reads in
 * training, so that the decoded answer is right if and only if every symbol is the likeliest one
 * behind the right ones before it.  dev_exact is counted so; --decode and --predict do decode,
 * symbol by symbol (seq2seq_decode.c).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apps/seq2seq.h"

/* ---- options --------------------------------------------------------------------------------- */

#define ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct seq2seq, member, OPTION_##role, __VA_ARGS__)

static const struct app_option options[] = {
    OPTION_GROUP("Task:"),
    ROW(CHOICE, "task", "NAME", task, MODEL, "reverse or add", .choices = task_names),
    ROW(INT, "length", "N", length, MODEL,
        "at most N letters (default 10), or digits of a number (3)", 1, EXAMPLE_MOST - 1),
    ROW(INT, "samples", "N", nsamples, RUN, "examples in an epoch", 1, INT_MAX - 1),
    ROW(INT, "dev-samples", "N", dev_samples, RUN,
        "examples to evaluate after each epoch, none of them trained on", 1, INT_MAX - 1),
    ROW(FLAG, "no-attention", NULL, no_attention, MODEL, "answer from the decoder's state alone"),
    ROW(INT, "decode", "N", decode, FREE, "print the decoded answers to N of them at the end", 0,
        INT_MAX - 1),
    {0}};

static void check(struct app *a, const struct option_list *l)
{
    struct seq2seq *s = (struct seq2seq *)a;

    (void)l;
    if (!s->length)
        s->length = s->task == TASK_ADD ? 3 : 10;
    if (s->length > task_most(s->task))
        options_mistake("--task %s has at most --length %d", task_names[s->task],
                        task_most(s->task));
    if (s->decode > s->dev_samples)
        options_mistake("--decode %d is more than --dev-samples %d", s->decode, s->dev_samples);
    if (s->decode && a->options.predict)
        options_mistake(
            "--decode prints answers to examples, --predict those to FILE: give either");
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

int seq2seq_add(const struct seq2seq *s, struct cavs_data *d, const struct example *x, int n)
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

static int make_set(struct seq2seq *s, enum app_set set, int n, struct example *keep)
{
    struct rng r;
    bool dev = set == APP_DEV;
    int rc = cavs_data_create(s->app.model, &s->app.data[set]);

    rng_seed(&r, s->app.options.session.seed, (1ull << 33) + dev);
    for (int i = 0; rc == 0 && i < n; i++) {
        struct example x;

        task_draw(s->task, s->length, dev, &r, &x);
        rc = seq2seq_add(s, s->app.data[set], &x, x.nanswer);
        if (keep)
            keep[i] = x;
    }
    return rc;
}

static int make_sets(struct seq2seq *s)
{
    bool trains = app_trains(&s->app);
    int rc = trains ? make_set(s, APP_TRAIN, s->nsamples, NULL) : 0;

    if (rc < 0 || (s->app.options.predict && !trains))
        return rc;
    s->dev_examples = malloc(((size_t)s->dev_samples + 1) * sizeof *s->dev_examples);
    return s->dev_examples ? make_set(s, APP_DEV, s->dev_samples, s->dev_examples) : CAVS_ENOMEM;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Counts answers without a mistake. */
static int evaluate(struct app *a, struct cavs_data *d, const int *samples, int n)
{
    struct seq2seq *s = (struct seq2seq *)a;
    struct cavs_fetch fetch = {s->answer, "right", NULL};
    int rc = app_rows_of(a, d, samples, n, &fetch);
    const float *right = fetch.rows;

    for (int i = 0; rc == 0 && i < n; i++) {
        int wrong = 0;

        for (int t = cavs_data_sample_vertices(d, s->answer, samples[i]); t > 0; t--)
            wrong += *right++ == 0;
        s->exact += !wrong;
    }
    return rc;
}

static int measure(struct app *a, enum app_set set)
{
    struct seq2seq *s = (struct seq2seq *)a;

    if (set == APP_TRAIN) /* whose answers nobody has looked at */
        return 0;
    app_number(a, set, "exact", (double)s->exact / cavs_data_size(a->data[set]));
    s->exact = 0;
    return 0;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int prepare(struct app *a)
{
    struct seq2seq *s = (struct seq2seq *)a;
    int rc;

    s->symbols = 1 + (int)strlen(task_symbols(s->task));
    if ((rc = seq2seq_declare(s)) < 0 || (rc = make_sets(s)) < 0)
        return rc;
    a->graph = s->decoder.stage;
    report_text(&a->report, "task", task_names[s->task]);
    report_count(&a->report, "length", s->length);
    report_count(&a->report, "attention", !s->no_attention);
    return 0;
}

static void clear(struct app *a)
{
    struct seq2seq *s = (struct seq2seq *)a;

    free(s->dev_examples);
    seq2seq_decoder_clear(&s->decoding);
}

static const struct app_mean means[] = {{"loss", "loss"}, {"correct", "symbols"}, {NULL, NULL}};
static const char *const measures[] = {"exact", NULL};

static const struct program program = {
    .name = "seq2seq",
    .doc =
        "Trains an encoder and a decoder LSTM to reverse strings or to add numbers.\v"
        "A sum is written from its last digit on. dev_exact is the share of answers without a "
        "mistake.\n\n"
        "--predict reads a source a line, \"stare\" or \"128+95\", and writes the answers, "
        "\"erats\" "
        "and \"322\"; with --json also the probability of each symbol, and last that of the "
        "end.\n\n"
        "Parameters in model files (s: symbols, e: --embed, h: --hidden; gates i, f, o, u side by "
        "side): embedding (s x e), encoder_W (e x 4h), encoder_U (h x 4h), encoder_b, decoder_W, "
        "decoder_U, decoder_b, W_score (h x h), W_attend (2h x h), b_attend, W_out (h x s), "
        "b_out.",
    .options = options,
    .embeds = true,
    .check = check,
    .prepare = prepare,
    .clear = clear,
    .objective = APP_MEAN_OF_SAMPLES,
    .loss = "loss",
    .means = means,
    .measures = measures,
    .evaluate = evaluate,
    .measure = measure,
    .at_end = seq2seq_print_answers,
    .predict = seq2seq_predict,
};

int main(int argc, char **argv)
{
    struct seq2seq s = {
        .app = {.options = app_options_defaults()}, .nsamples = 40000, .dev_samples = 2000};

    s.app.options.epochs = 10;
    s.app.options.hidden = 128;
    s.app.options.embed = 64;
    s.app.options.session.optimizer = CAVS_ADAM;
    s.app.options.session.lr = 3e-3f;
    s.app.options.session.clip = 1;
    return program_main(&program, &s.app, argc, argv);
}
