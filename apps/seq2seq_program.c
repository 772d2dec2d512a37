/* SPDX-License-Identifier: Apache-2.0 */
/* seq2seq_program.c - options of seq2seq and dyn_seq2seq, their examples, and what is measured. */
#include <stdlib.h>
#include <string.h>

#include "apps/seq2seq.h"

void seq2seq_check(struct app *a, const struct option_list *l)
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

/* ---- examples -------------------------------------------------------------------------------- */

static int draw_set(struct seq2seq *s, enum app_set set, int n)
{
    struct rng r;
    bool dev = set == APP_DEV;
    struct example *x = calloc((size_t)n + 1, sizeof *x);

    if (!x)
        return app_fail(&s->app.error, CAVS_ENOMEM, "no memory for %d examples", n);
    rng_seed(&r, s->app.options.session.seed, (1ull << 33) + dev);
    for (int i = 0; i < n; i++)
        task_draw(s->task, s->length, dev, &r, &x[i]);
    s->examples[set] = x;
    s->nexamples[set] = n;
    return 0;
}

int seq2seq_draw(struct seq2seq *s)
{
    bool trains = app_trains(&s->app);
    int rc = trains ? draw_set(s, APP_TRAIN, s->nsamples) : 0;

    s->symbols = 1 + (int)strlen(task_symbols(s->task));
    report_text(&s->app.report, "task", task_names[s->task]);
    report_count(&s->app.report, "length", s->length);
    report_count(&s->app.report, "attention", !s->no_attention);
    if (rc < 0 || (s->app.options.predict && !trains))
        return rc;
    return draw_set(s, APP_DEV, s->dev_samples);
}

/* ---- the program ----------------------------------------------------------------------------- */

static int measure(struct app *a, enum app_set set)
{
    struct seq2seq *s = (struct seq2seq *)a;

    if (set == APP_TRAIN) /* whose answers nobody has looked at */
        return 0;
    app_number(a, set, "exact", (double)s->exact / s->nexamples[set]);
    s->exact = 0;
    return 0;
}

void seq2seq_clear(struct app *a)
{
    struct seq2seq *s = (struct seq2seq *)a;

    for (int i = 0; i < APP_SETS; i++)
        free(s->examples[i]);
    seq2seq_decoder_clear(&s->decoding);
}

struct seq2seq seq2seq_defaults(void)
{
    struct seq2seq s = {
        .app = {.options = app_options_defaults()}, .nsamples = 40000, .dev_samples = 2000};

    s.app.options.epochs = 10;
    s.app.options.hidden = 128;
    s.app.options.embed = 64;
    s.app.options.session.optimizer = CAVS_ADAM;
    s.app.options.session.lr = 3e-3f;
    s.app.options.session.clip = 1;
    return s;
}

struct program seq2seq_program(void)
{
    static const struct app_mean means[] = {{"loss", "loss"}, {"correct", "symbols"}, {NULL, NULL}};
    static const char *const measures[] = {"exact", NULL};

    return (struct program){
        .embeds = true,
        .check = seq2seq_check,
        .clear = seq2seq_clear,
        .objective = APP_MEAN_OF_SAMPLES,
        .loss = "loss",
        .means = means,
        .measures = measures,
        .measure = measure,
        .at_end = seq2seq_print_answers,
        .predict = seq2seq_predict,
    };
}
