/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/app.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int explain(const struct cavs_session *s)
{
    char *text;
    int rc = cavs_session_explain(s, &text);

    if (rc < 0)
        return rc;
    fputs(text, stdout);
    free(text);
    return 0;
}

/* What goes on otherwise than asked for: once on stderr, and in the report. */
static void notice(const char *text, void *context)
{
    struct app *a = context;

    fprintf(stderr, "%s: note: %s\n", a->name, text);
    report_notice(&a->report, text);
}

/* A run that could be traced elsewhere is still a run: say it and go on. */
static struct cavs_runtime_options runtime_options(struct app *a, const struct app_options *o)
{
    struct cavs_runtime_options options = o->runtime;

    if (options.trace && !options.require && !cavs_runtime_can_trace()) {
        notice("no trace: this StarPU was built without FxT; ./quickstart builds one that has it",
               a);
        options.trace = NULL;
    }
    return options;
}

int app_start(struct app *a, const char *name, const struct app_options *o,
              const struct cavs_model *m)
{
    struct cavs_runtime_options options;
    int rc;

    a->name = name;
    a->options = o;
    if (!report_create(&a->report, name))
        return CAVS_ENOMEM;
    cavs_notice_set_handler(notice, a);
    options = runtime_options(a, o);
    if ((rc = cavs_runtime_create(&options, &a->runtime)) < 0)
        return rc;
    a->report.workers = cavs_runtime_workers(a->runtime);
    if ((rc = cavs_session_create(a->runtime, m, &o->session, &a->session)) < 0)
        return rc;
    if (o->init && (rc = cavs_session_load(a->session, o->init)) < 0)
        return rc;
    return o->explain ? explain(a->session) : 0;
}

/* The trace is made when the workers have stopped; what goes wrong with it is an error of this run. */
static int finish_trace(struct app *a)
{
    int rc;

    cavs_session_destroy(a->session);
    a->session = NULL;
    rc = cavs_runtime_destroy(a->runtime);
    a->runtime = NULL;
    if (rc == 0 && !a->options->quiet)
        fprintf(stderr, "%s: trace in %s; see summary.txt and gantt.svg there\n", a->name,
                a->options->runtime.trace);
    return rc;
}

int app_finish(struct app *a)
{
    int rc = 0;

    if (a->options->roofline)
        a->report.sgemm_peak = cavs_runtime_sgemm_peak(a->runtime);
    if (a->options->save)
        rc = cavs_session_save(a->session, a->options->save);
    if (rc == 0 && !report_print(&a->report, a->options->json)) {
        fprintf(stderr, "%s: cannot write the results to stdout\n", a->name);
        rc = CAVS_EIO;
    }
    if (rc == 0 && a->options->runtime.trace && cavs_runtime_can_trace())
        rc = finish_trace(a);
    return rc;
}

void app_stop(struct app *a)
{
    cavs_session_destroy(a->session);
    cavs_runtime_destroy(a->runtime);
    cavs_notice_set_handler(NULL, NULL);
    report_destroy(&a->report);
}

int app_evaluate(struct app *a, const struct cavs_data *d)
{
    int size = cavs_data_size(d), rc = cavs_session_reset_metrics(a->session);
    int most = size < a->options->batch ? size : a->options->batch;
    int *batch = malloc(((size_t)most + 1) * sizeof *batch);

    if (!batch)
        rc = CAVS_ENOMEM;
    for (int first = 0, n; rc == 0 && first < size; first += n) {
        n = size - first < most ? size - first : most;
        for (int i = 0; i < n; i++)
            batch[i] = first + i;
        rc = cavs_session_evaluate(a->session, d, batch, n);
    }
    free(batch);
    return rc;
}

int app_mean(struct app *a, const char *metric, double *mean)
{
    double sum, count;
    int rc = cavs_session_metric(a->session, metric, &sum, &count);

    if (rc == 0)
        *mean = count > 0 ? sum / count : NAN;
    return rc;
}

static int report_means(struct app *a, const char *set, const struct app_mean *means)
{
    for (; means->metric; means++) {
        char name[64];
        double mean;
        int rc = app_mean(a, means->metric, &mean);

        if (rc < 0)
            return rc;
        snprintf(name, sizeof name, "%s_%s", set, means->field);
        report_number(&a->report, name, mean);
        if (!a->options->quiet)
            fprintf(stderr, "  %s %.4f", name, mean);
    }
    if (!a->options->quiet)
        fputc('\n', stderr);
    return 0;
}

int app_report_epoch(struct app *a, const struct cavs_data *dev, const struct app_mean *means)
{
    int rc = report_means(a, "train", means);

    if (rc < 0 || !dev)
        return rc;
    rc = app_evaluate(a, dev);
    return rc < 0 ? rc : report_means(a, "dev", means);
}

int app_status(const char *name, int rc, const struct app_error *e)
{
    const char *text = e->text[0] ? e->text : cavs_error_message();

    if (rc >= 0)
        return APP_OK;
    fprintf(stderr, "%s: %s\n", name, text[0] ? text : cavs_strerror(rc));
    return APP_FAILED;
}
