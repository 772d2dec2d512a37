/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/start.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/common/model_note.h"
#include "apps/common/predict.h"
#include "apps/common/json_build.h"
#include "apps/common/peers.h"
#include "apps/common/sets.h"
#include "apps/common/tool.h"

/* Predictions have standard output for themselves. */
static int print_text(const struct app *a, int rc, char *text)
{
    if (rc < 0)
        return rc;
    fputs(text, predictions_take_stdout(a) ? stderr : stdout);
    free(text);
    return 0;
}

/* What a tape has to say is of what it has recorded: the first batch there is. */
static int explain_recorded(struct app *a)
{
    int batch = a->options.batch, size = 0, rc = 0, *samples, n;
    enum app_set set = APP_TRAIN;
    char *text = NULL;

    while (set < APP_SETS && !set_is_there(a, set))
        set++;
    if (set < APP_SETS)
        size = set_size(a, set);
    n = size < batch ? size : batch;
    if (!(samples = malloc(((size_t)n + 1) * sizeof *samples)))
        return CAVS_ENOMEM;
    for (int i = 0; i < n; i++)
        samples[i] = i;
    if (n > 0)
        rc = set_evaluate(a, set, samples, n);
    free(samples);
    if (rc == 0)
        rc = cavs_tape_explain(a->tape, &text);
    return print_text(a, rc, text);
}

static int make_tape(const struct app *a, struct cavs_tape **out)
{
    struct cavs_tape_options options = cavs_tape_defaults();

    options.policy = a->options.session.policy;
    if (a->options.no_blocks)
        options.blocks_after = 0;
    options.one_recorder = a->options.one_recorder;
    return cavs_tape_create(a->session, &options, out);
}

/* In this order, by which checkpoints know them. */
static int make_tapes(struct app *a)
{
    int rc = a->options.session.inference ? 0 : make_tape(a, &a->training);

    return rc == 0 ? make_tape(a, &a->tape) : rc;
}

/* On a tape that is used for nothing else: which blocks there are depends on all that a tape has
 * recorded. */
static int explain_tape(struct app *a)
{
    struct cavs_tape *kept = a->tape;
    int rc = make_tape(a, &a->tape);

    if (rc == 0) {
        rc = explain_recorded(a);
        cavs_tape_destroy(a->tape);
    }
    a->tape = kept;
    return rc;
}

static int explain(struct app *a)
{
    char *text = NULL;
    int rc = cavs_session_explain(a->session, &text);

    rc = print_text(a, rc, text);
    return rc == 0 && a->tape ? explain_tape(a) : rc;
}

void app_notice(struct app *a, const char *format, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(stderr, "%s: note: %s\n", a->program->name, text);
    report_notice(&a->report, text);
}

static void notice(const char *text, void *context)
{
    struct app *a = context;
    char by[APP_ASKED_BY];

    app_notice(a, "%s%s", text, app_asked_by(&a->options, text, by));
}

/* A run that could be traced elsewhere is still a run: say it and go on. */
static struct cavs_runtime_options runtime_options(struct app *a)
{
    struct cavs_runtime_options options = a->options.runtime;

    if (options.trace && !options.require && !cavs_runtime_can_trace()) {
        app_notice(
            a, "no trace: this StarPU was built without FxT; ./quickstart builds one that has it");
        options.trace = NULL;
    }
    return options;
}

/* Where the parameters start; --resume brings them later. */
static int fill_parameters(struct app *a)
{
    const struct app_options *o = &a->options;
    int rc = 0;

    if (o->init)
        rc = cavs_session_load(a->session, o->init);
    if (rc == 0 && o->partial)
        rc = app_take_partial(a);
    if (rc == 0 && o->vectors)
        rc = app_take_vectors(a);
    return rc;
}

int app_start(struct app *a)
{
    struct cavs_runtime_options options;
    char by[APP_ASKED_BY];
    int rc;

    cavs_notice_set_handler(notice, a);
    options = runtime_options(a);
    if ((rc = cavs_runtime_create(&options, &a->runtime)) < 0)
        return app_fail(&a->error, rc, "%.440s%s", cavs_error_text(rc),
                        app_asked_by(&a->options, cavs_error_text(rc), by));
    a->report.workers = cavs_runtime_workers(a->runtime);
    a->report.ranks = cavs_runtime_ranks(a->runtime);
    if ((rc = peers_compare(a)) < 0 ||
        (rc = cavs_session_create(a->runtime, a->model, &a->options.session, &a->session)) < 0 ||
        (a->program->record && (rc = make_tapes(a)) < 0) || (rc = model_note_keep(a)) < 0 ||
        (rc = fill_parameters(a)) < 0)
        return rc;
    return a->options.explain ? explain(a) : 0;
}

/* Tapes end before the session that they are on, sessions before their runtime. */
static int end_runtime(struct app *a)
{
    int rc;

    if (a->program->stop)
        a->program->stop(a);
    cavs_tape_destroy(a->tape);
    cavs_tape_destroy(a->training);
    a->tape = a->training = NULL;
    cavs_session_destroy(a->session);
    a->session = NULL;
    rc = cavs_runtime_destroy(a->runtime);
    a->runtime = NULL;
    return rc;
}

/* The folder that this program lies in; NULL: it cannot be found out. */
static const char *own_folder(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    char *end;

    if (n < 0)
        return NULL;
    path[n] = '\0';
    end = strrchr(path, '/');
    if (!end)
        return NULL;
    *end = '\0';
    return path;
}

/* The runtime leaves a record; cavs-trace makes what people read of it. */
static int convert_trace(struct app *a)
{
    const char *dir = a->options.runtime.trace;
    const char *const argv[] = {"cavs-trace", "--quiet", "--", dir, NULL};
    char folder[4096];
    struct tool tool = {.argv = argv, .folders = {own_folder(folder, sizeof folder)}};
    struct app_error why = {0};
    int rc = tool_run(&tool, &why);

    return rc ? app_fail(&a->error, rc, "the trace in %s is incomplete: %.300s", dir, why.text) : 0;
}

/* Ranks of other machines may have their records there. */
static void tell_missing(const struct app *a, int ranks)
{
    const char *dir = a->options.runtime.trace;
    char path[4200];

    for (int i = 1; i < ranks; i++) {
        snprintf(path, sizeof path, "%s/trace.fxt_%d", dir, i);
        if (access(path, F_OK) != 0)
            fprintf(stderr,
                    "%s: %s is on the machine of rank %d: bring it here, and cavs-trace %s "
                    "has all\n",
                    a->program->name, path, i, dir);
    }
}

/* The trace is made when the workers have stopped; what goes wrong with it is an error of this
 * run. */
static int finish_trace(struct app *a)
{
    int ranks = cavs_runtime_ranks(a->runtime), rc = end_runtime(a);

    if (!peers_is_first())
        return rc;
    if (rc == 0)
        rc = convert_trace(a);
    if (rc == 0 && !a->options.quiet) {
        tell_missing(a, ranks);
        fprintf(stderr, "%s: trace in %s; see summary.txt and gantt.svg there\n", a->program->name,
                a->options.runtime.trace);
    }
    return rc;
}

static int print_report(struct app *a)
{
    bool taken = predictions_take_stdout(a);

    if (taken && a->options.quiet)
        return 0;
    return report_print(&a->report, taken ? stderr : stdout, a->options.json && !taken, &a->error);
}

int app_finish(struct app *a)
{
    int rc = 0, printed;

    if (a->options.roofline) {
        a->report.sgemm_peak = cavs_runtime_sgemm_peak(a->runtime);
        a->report.memory_peak = cavs_runtime_memory_peak(a->runtime);
    }
    if (a->options.save && a->status != APP_DIVERGED)
        rc = cavs_session_save_as(a->session, a->options.save, a->options.save_precision);
    a->report.bytes_sent = cavs_runtime_bytes_sent(a->runtime);
    a->report.exchange_s = cavs_runtime_exchange_seconds(a->runtime);
    for (int i = 0; i < a->report.ranks; i++)
        json_build_append(&a->report.rank_shards,
                          json_integer(cavs_session_rank_shards(a->session, i)));
    if (a->tape)
        report_number(&a->report, "record_s", a->record_seconds);
    printed = peers_is_first() ? print_report(a) : 0; /* whatever became of the model */
    rc = rc < 0 ? rc : printed;
    if (rc == 0 && a->options.runtime.trace && cavs_runtime_can_trace())
        rc = finish_trace(a);
    return rc;
}

void app_stop(struct app *a)
{
    cavs_notice_set_handler(NULL, NULL);
    end_runtime(a);
    report_destroy(&a->report);
}
