/* SPDX-License-Identifier: Apache-2.0 */
/* seq2seq_answers.c - sources that are read, and the decoded answers that are written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/json_build.h"
#include "apps/common/predict.h"
#include "apps/common/reserve.h"
#include "apps/seq2seq.h"

static int make_room(struct seq2seq *s, int n)
{
    struct seq2seq_decoder *d = &s->decoding;

    if (array_reserve(&d->guess, &d->room, (size_t)n, sizeof *d->guess))
        return 0;
    return app_fail(&s->app.error, CAVS_ENOMEM, "no memory for %d answers", n);
}

/* ---- of the development set ------------------------------------------------------------------ */

static bool print_answer(const struct seq2seq *s, const struct example *x, const struct guess *g)
{
    char source[EXAMPLE_MOST + 1], answer[EXAMPLE_MOST + 1], want[EXAMPLE_MOST + 1];
    bool right;

    task_spell(s->task, x->source, x->nsource, source);
    task_spell(s->task, g->x.answer, g->x.nanswer, answer);
    task_spell(s->task, x->answer, x->nanswer, want);
    right = strcmp(answer, want) == 0;
    printf("%s -> %s%s%s\n", source, answer, right ? "" : ", not ", right ? "" : want);
    return right;
}

int seq2seq_print_answers(struct app *a)
{
    struct seq2seq *s = (struct seq2seq *)a;
    int exact = 0, rc = 0;

    for (int first = 0, n; rc == 0 && first < s->decode; first += n) {
        n = s->decode - first < a->options.batch ? s->decode - first : a->options.batch;
        if ((rc = make_room(s, n)) < 0)
            return rc;
        for (int i = 0; i < n; i++)
            s->decoding.guess[i].x = s->examples[APP_DEV][first + i];
        rc = s->answer_all(s, n);
        for (int i = 0; rc == 0 && i < n; i++)
            exact += print_answer(s, &s->examples[APP_DEV][first + i], &s->decoding.guess[i]);
    }
    if (rc == 0 && s->decode)
        report_number(&a->report, "decoded_exact", (double)exact / s->decode);
    return rc;
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* The next line that is not empty is source i: 1, 0 at the end, or a negative code. */
static int read_source(struct seq2seq *s, int i)
{
    struct lines *l = &s->decoding.lines;
    int rc, column;

    do
        rc = lines_next(l, &s->app.error);
    while (rc > 0 && lines_blank(l));
    if (rc <= 0 || (rc = make_room(s, i + 1)) < 0)
        return rc;
    s->decoding.guess[i].line = l->number;
    column = task_read(s->task, l->text, l->length, &s->decoding.guess[i].x);
    if (column)
        return lines_expected(
            l,
            &(struct field){l->text + column - 1, l->length - (size_t)column + 1, (size_t)column},
            &s->app.error, "%s", task_sources(s->task));
    return 1;
}

/* As many as there are, at most `most`. */
static int read_sources(struct seq2seq *s, int most)
{
    struct seq2seq_decoder *d = &s->decoding;
    int n = 0, rc = d->failed;

    if (!d->open) {
        d->lines = (struct lines){.in = s->app.predictions.in, .name = s->app.predictions.in_name};
        rc = lines_open(&d->lines, &s->app.error);
        d->open = true;
    }
    while (rc >= 0 && n < most && (rc = read_source(s, n)) > 0)
        n++;
    d->failed = rc < 0 ? rc : 0;
    return n > 0 ? n : rc;
}

static int write_json(struct app *a, const struct guess *g, const char *source, const char *answer)
{
    json_t *shares = json_array();

    for (int t = 0; t < g->x.nanswer; t++)
        json_build_append(&shares, json_build_number(g->probability[t]));
    return predictions_write_json(a, json_pack("{s:s, s:s, s:o}", "source", source, "answer",
                                               answer, "probabilities", shares));
}

static int write_guess(struct seq2seq *s, const struct guess *g)
{
    char source[EXAMPLE_MOST + 1], answer[EXAMPLE_MOST + 1];

    task_spell(s->task, g->x.source, g->x.nsource, source);
    task_spell(s->task, g->x.answer, g->x.nanswer, answer);
    if (s->app.options.json)
        return write_json(&s->app, g, source, answer);
    predictions_at_line(&s->app, g->line);
    fprintf(s->app.predictions.out, "%s\n", answer);
    return 0;
}

int seq2seq_predict(struct app *a, struct cavs_data *d, int most)
{
    struct seq2seq *s = (struct seq2seq *)a;
    int n = read_sources(s, most), rc = n > 0 ? s->answer_all(s, n) : 0;

    (void)d; /* each symbol of the answers wants data of its own */
    for (int i = 0; rc == 0 && i < n; i++)
        rc = write_guess(s, &s->decoding.guess[i]);
    if (n == 0)
        predictions_at_line(a, s->decoding.lines.number + 1);
    return rc < 0 ? rc : n;
}

void seq2seq_decoder_clear(struct seq2seq_decoder *d)
{
    if (d->open)
        lines_close(&d->lines);
    free(d->guess);
}
