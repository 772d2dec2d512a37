/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/common/clashes.h"
#include "apps/common/data_files.h"
#include "apps/common/epoch_log.h"
#include "apps/common/model_note.h"
#include "apps/common/packed_set.h"
#include "apps/common/predict.h"
#include "apps/common/peers.h"
#include "apps/common/run_checkpoint.h"
#include "apps/common/sets.h"
#include "apps/common/start.h"
#include "apps/common/stop.h"
#include "apps/common/surroundings.h"
#include "apps/common/train.h"

/* ---- options --------------------------------------------------------------------------------- */

enum { MOST_TABLES = 15 };

static bool list_options(struct app *a, struct option_list *l)
{
    const struct program *p = a->program;
    struct option_set sets[MOST_TABLES] = {{0}};
    int n = 0;

    if (p->reads_data)
        sets[n++] = (struct option_set){app_options_data, &a->options};
    if (p->reads_packed)
        sets[n++] = (struct option_set){app_options_packed, &a->options};
    if (p->counts_words)
        sets[n++] = (struct option_set){app_options_words, &a->options};
    if (p->predict)
        sets[n++] = (struct option_set){app_options_predict, &a->options};
    if (p->shared_options)
        sets[n++] = (struct option_set){p->shared_options, a};
    if (p->options)
        sets[n++] = (struct option_set){p->options, a};
    sets[n++] = (struct option_set){app_options_training, &a->options};
    if (!p->one_sample)
        sets[n++] = (struct option_set){app_options_batch, &a->options};
    if (p->embeds)
        sets[n++] = (struct option_set){app_options_embed, &a->options};
    if (p->drops)
        sets[n++] = (struct option_set){app_options_dropout, &a->options};
    sets[n++] = (struct option_set){app_options_rate, &a->options};
    sets[n++] = (struct option_set){app_options_files, &a->options};
    if (p->record)
        sets[n++] = (struct option_set){app_options_recorded, &a->options};
    sets[n++] = (struct option_set){app_options_machine, &a->options};
    return options_list(l, sets);
}

/* A name that --best may have: a number which is there for the development set after each epoch. */
static bool is_measured(const struct program *p, const char *name)
{
    for (const struct app_mean *m = p->means; m && m->metric; m++)
        if (strcmp(m->field, name) == 0)
            return true;
    for (const char *const *m = p->measures; m && *m; m++)
        if (strcmp(*m, name) == 0)
            return true;
    return false;
}

static void check_best(const struct app *a)
{
    const struct program *p = a->program;
    char list[300] = "";

    if (!a->options.best || is_measured(p, a->options.best))
        return;
    for (const struct app_mean *m = p->means; m && m->metric; m++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "",
                 m->field);
    for (const char *const *m = p->measures; m && *m; m++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", *m);
    if (!*list)
        options_mistake("--best: nothing is measured here on a development set");
    options_mistake("--best wants one of %s, not '%s'", list, a->options.best);
}

static void check_options(struct app *a)
{
    app_options_check(&a->options, &a->list);
    check_best(a);
    clashes_check(&a->list);
    if (a->program->check)
        a->program->check(a, &a->list);
}

/* ---- what is read, and from where ------------------------------------------------------------ */

/* Training data are not touched where a model file says all that they would. */
bool app_trains(const struct app *a)
{
    return a->options.epochs > 0 || a->options.infer || a->options.resume || !a->model_path;
}

bool app_has_set(const struct app *a, enum app_set set)
{
    if (set == APP_TRAIN && !app_trains(a))
        return false;
    return a->path[set] || a->options.packed[set];
}

const char *app_first_packed(const struct app *a)
{
    for (int i = 0; i < APP_SETS; i++)
        if (a->options.packed[i] && app_has_set(a, i))
            return a->options.packed[i];
    return NULL;
}

static const char *what_trains_nothing(const struct app_options *o)
{
    if (o->infer)
        return "--infer reads it, too; without --infer, with --epochs 0 or --predict the model of "
               "--init is used as it is";
    if (o->predict)
        return "without --epochs the model of --init predicts as it is";
    return "with --epochs 0 or --predict the model of --init is not trained";
}

/* Whoever begins with a model and names no data may not mean to train it. */
static void say_what_trains_nothing(struct app *a)
{
    size_t at = strlen(a->error.text);

    snprintf(a->error.text + at, sizeof a->error.text - at, "; %s",
             what_trains_nothing(&a->options));
}

/* Sets that have a place below $CAVS_DATA are read from there if the user named none at all. */
static int find_sets(struct app *a)
{
    const struct app_options *o = &a->options;
    bool by_default = app_trains(a) && !o->set[APP_TRAIN] && !o->packed[APP_TRAIN];
    int rc = 0;

    for (int i = 0; rc == 0 && i < APP_SETS; i++) {
        const char *fallback = by_default ? a->program->default_set[i] : NULL;

        if (i == APP_TRAIN && !app_trains(a))
            continue;
        if (o->set[i] || (fallback && !o->packed[i]))
            rc = data_file_find(o->set[i], fallback, app_set_names[i], &a->path[i], &a->error);
        if (rc == CAVS_EIO && !o->set[i] && o->init)
            say_what_trains_nothing(a);
    }
    return rc;
}

static int fill_set(struct app *a, enum app_set set)
{
    int rc;

    if (a->options.packed[set])
        return packed_open_set(a, set);
    rc = cavs_data_create(a->model, &a->data[set]);
    return rc < 0 ? rc : a->program->fill(a, set, a->data[set]);
}

static int fill_sets(struct app *a)
{
    int rc = 0;

    for (int i = 0; rc == 0 && a->program->fill && i < APP_SETS; i++)
        if (app_has_set(a, i))
            rc = fill_set(a, i);
    return rc;
}

/* Of nothing there are no means. */
static int check_samples(struct app *a)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < APP_SETS; i++)
        if (app_has_set(a, i) && (!set_is_there(a, i) || set_size(a, i) == 0))
            rc = app_fail(&a->error, CAVS_EDATA, "%s: no samples in it",
                          a->options.packed[i] ? a->options.packed[i] : a->path[i]);
    return rc;
}

static void set_scale(struct app *a)
{
    float *scale = &a->options.session.scale;
    int batch = a->options.batch;

    switch (a->program->objective) {
    case APP_SUM: break;
    case APP_MEAN_OF_SAMPLES: *scale = 1.0f / (float)batch; break;
    case APP_MEAN_OF_VERTICES:
        if (set_is_there(a, APP_TRAIN))
            *scale = (float)set_size(a, APP_TRAIN) / set_vertices(a, APP_TRAIN) / batch;
        break;
    }
}

/* Every place that results go to is tried before work begins, by who writes there. */
static int try_outputs(struct app *a)
{
    const struct app_options *o = &a->options;
    const char *const paths[] = {o->save, o->log, o->output};

    for (size_t i = 0; peers_is_first() && i < sizeof paths / sizeof *paths; i++) {
        int rc = paths[i] ? cavs_file_writable(paths[i]) : 0;

        if (rc < 0)
            return rc;
    }
    return o->checkpoint && peers_is_first() ? checkpoint_prepare(a) : 0;
}

/* A run that could not find its best epoch would go on to the end, or give up at once, as if there
 * were none. */
static int check_dev_set(struct app *a)
{
    const struct app_options *o = &a->options;
    bool looks = o->best && o->epochs > 0 && !o->infer;
    const char *hint = o->packed[APP_TRAIN] ? ": --packed-dev names one" : ": --dev names one";

    return !looks || set_is_there(a, APP_DEV)
               ? 0
               : app_mistake(&a->error,
                             "--best %s is looked for on a development set, and there is none%s",
                             o->best, a->program->reads_data ? hint : "");
}

/* ---- the run --------------------------------------------------------------------------------- */

static int prepare(struct app *a)
{
    int rc;

    if (!report_create(&a->report, a->program->name))
        return CAVS_ENOMEM;
    if (a->program->samples)
        a->report.unit = a->program->samples;
    for (const struct app_mean *m = a->program->means; m && m->metric; m++)
        a->report.is_train_loss = a->report.is_train_loss || app_is_train_loss(a->program, m);
    if ((rc = model_note_open(a)) < 0)
        return rc;
    check_options(a);
    if ((rc = try_outputs(a)) < 0 || (rc = predictions_open(a)) < 0 || (rc = find_sets(a)) < 0 ||
        (rc = a->program->prepare(a)) < 0 || (rc = fill_sets(a)) < 0 ||
        (rc = check_samples(a)) < 0 || (rc = check_dev_set(a)) < 0 ||
        (set_is_there(a, APP_TRAIN) && (rc = model_note_check_data(a)) < 0))
        return rc;
    set_scale(a);
    stop_after_batches();
    return app_start(a);
}

static int evaluate_at_end(struct app *a)
{
    /* the epochs have looked at the development set, if there were any left */
    bool evaluated = a->options.epochs > 0 && !a->dev_is_new;
    int rc = 0;

    if (set_is_there(a, APP_DEV) && !evaluated)
        rc = app_report_set(a, APP_DEV);
    if (rc == 0 && set_is_there(a, APP_TEST))
        rc = app_report_set(a, APP_TEST);
    return rc == 0 && a->program->at_end ? a->program->at_end(a) : rc;
}

static int run(struct app *a)
{
    int rc = prepare(a);

    if (rc == 0 && set_is_there(a, APP_TRAIN))
        rc = app_train(a);
    if (rc == 0 && a->options.epochs == 0 && !a->options.resume)
        rc = epoch_log_leave_empty(a);
    if (rc == 0 && !stop_signal())
        rc = evaluate_at_end(a);
    if (rc == 0 && !stop_signal() && a->options.predict)
        rc = predictions_make(a);
    return rc < 0 || stop_signal() ? rc : app_finish(a);
}

static int status(const struct app *a, int rc)
{
    if (rc < 0)
        return app_status(a->program->name, rc, &a->error);
    if (stop_signal() && !a->stop_was_said)
        fprintf(stderr, "%s: stopped by %s, before the results\n", a->program->name,
                stop_signal_name());
    return stop_signal() ? 128 + stop_signal() : a->status;
}

static void clear(struct app *a)
{
    predictions_close(a);
    app_stop(a);
    if (a->program->clear)
        a->program->clear(a);
    sets_clear(a);
    for (int i = 0; i < APP_SETS; i++)
        free(a->path[i]);
    cavs_model_destroy(a->model);
    model_note_close(a);
    checkpoint_close(a);
    options_clear(&a->list);
}

#ifdef CAVS_SIMULATED
/* exit() in the middle of a simulation (argp's, after --help) would end in a crash of SimGrid. */
static void leave(int status, void *unused)
{
    (void)unused;
    fflush(NULL);
    _exit(status);
}
#endif

int program_main(const struct program *p, struct app *a, int argc, char **argv)
{
    int rc, failed;

#ifdef CAVS_SIMULATED
    on_exit(leave, NULL);
#endif
    app_settle(argv);
    peers_hush();
    stop_catch_signals(p->name);
    a->program = p;
    if (!list_options(a, &a->list)) {
        rc = CAVS_ENOMEM;
    } else {
        options_parse(&a->list, p->doc, 0, argc, argv);
        rc = run(a);
    }
    failed = rc;
    rc = status(a, rc);
    if (failed < 0)
        peers_fail(a, failed);
    clear(a);
    return rc;
}
