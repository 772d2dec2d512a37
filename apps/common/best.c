/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/best.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/clashes.h"
#include "apps/common/run_checkpoint.h"

static const char *const smaller_is_better[] = {"loss", "perplexity", NULL};

static bool is_better(const char *name, double value, double than)
{
    for (const char *const *s = smaller_is_better; *s; s++)
        if (strcmp(*s, name) == 0)
            return value < than;
    return value > than;
}

static size_t count_values(const struct cavs_param *p)
{
    return (size_t)cavs_param_rows(p) * (size_t)cavs_param_cols(p);
}

static int make_room(struct best *b, const struct app *a)
{
    int n = cavs_model_param_count(a->model);

    if (!b->params && !(b->params = calloc((size_t)n + 1, sizeof *b->params)))
        return CAVS_ENOMEM;
    for (int i = 0; i < n; i++)
        if (!b->params[i] &&
            !(b->params[i] =
                  malloc(count_values(cavs_model_param_at(a->model, i)) * sizeof **b->params)))
            return CAVS_ENOMEM;
    return 0;
}

static int keep_params(struct best *b, struct app *a)
{
    int rc = make_room(b, a);

    for (int i = 0; rc == 0 && i < cavs_model_param_count(a->model); i++)
        rc = cavs_session_get_param(a->session, cavs_model_param_at(a->model, i), b->params[i]);
    return rc;
}

static int write_best(struct best *b, struct app *a)
{
    char *path = checkpoint_best_file(a->options.checkpoint);
    int rc = cavs_runtime_agree(a->runtime, path ? 0 : CAVS_ENOMEM);

    if (rc == 0)
        rc = cavs_session_save(a->session, path);
    b->is_behind = rc < 0;
    free(path);
    return rc;
}

static int write_files(struct best *b, struct app *a)
{
    int rc = a->options.checkpoint ? write_best(b, a) : 0;

    if (rc == 0 && a->options.save)
        rc = cavs_session_save_as(a->session, a->options.save, a->options.save_precision);
    return rc;
}

int best_see(struct best *b, struct app *a, int epoch)
{
    char field[64];
    double value;
    json_t *number;
    int rc;

    snprintf(field, sizeof field, "dev_%s", a->options.best);
    number = json_object_get(a->report.epoch, field);
    value = json_is_number(number) ? json_number_value(number) : NAN;
    if (!isfinite(value) || (b->epoch && !is_better(a->options.best, value, b->value)))
        return 0;
    b->value = value;
    b->epoch = epoch;
    report_number(&a->report, "best", value);
    report_count(&a->report, "best_epoch", epoch);
    rc = keep_params(b, a);
    b->is_behind = a->options.checkpoint;
    return rc < 0 ? rc : write_files(b, a);
}

/* The session's first *n parameters change places with the best ones; sets how many have.  Whoever
 * calls it once more has all as it was. */
static int exchange(struct best *b, struct app *a, float *room, int *n)
{
    int rc = 0, i = 0;

    while (rc == 0 && i < *n) {
        const struct cavs_param *p = cavs_model_param_at(a->model, i);

        rc = cavs_session_get_param(a->session, p, room);
        if (rc == 0)
            rc = cavs_session_set_param(a->session, p, b->params[i]);
        if (rc == 0)
            memcpy(b->params[i++], room, count_values(p) * sizeof *room);
    }
    *n = i;
    return rc;
}

static float *room_for_the_largest(const struct app *a)
{
    size_t most = 1;

    for (int i = 0; i < cavs_model_param_count(a->model); i++) {
        size_t n = count_values(cavs_model_param_at(a->model, i));

        most = n > most ? n : most;
    }
    return malloc(most * sizeof(float));
}

int best_catch_up(struct best *b, struct app *a)
{
    float *room = b->is_behind ? room_for_the_largest(a) : NULL;
    int rc, back = 0, n = cavs_model_param_count(a->model);

    if (!b->is_behind)
        return 0;
    rc = cavs_runtime_agree(a->runtime, room ? 0 : CAVS_ENOMEM);
    if (rc == 0) {
        rc = exchange(b, a, room, &n);
        if (rc == 0)
            rc = write_best(b, a);
        back = exchange(b, a, room, &n);
    }
    free(room);
    return rc < 0 ? rc : back;
}

bool best_gave_up(const struct best *b, const struct app *a, int epoch)
{
    return a->options.patience && epoch - b->epoch >= a->options.patience;
}

/* The parameter of the file's i-th name, if it has its shape; -1: there is none. */
static int find_param(const struct app *a, const struct cavs_model_file *f, int i)
{
    for (int k = 0; k < cavs_model_param_count(a->model); k++) {
        const struct cavs_param *p = cavs_model_param_at(a->model, k);

        if (strcmp(cavs_param_name(p), cavs_model_file_name(f, i)) == 0)
            return cavs_model_file_rows(f, i) == cavs_param_rows(p) &&
                           cavs_model_file_cols(f, i) == cavs_param_cols(p)
                       ? k
                       : -1;
    }
    return -1;
}

static int read_params(struct best *b, struct app *a, struct cavs_model_file *f, const char *path)
{
    int rc = make_room(b, a), found = 0;

    for (int i = 0; rc == 0 && i < cavs_model_file_count(f); i++) {
        int k = find_param(a, f, i);

        if (k >= 0)
            rc = cavs_model_file_read(f, i, b->params[k]);
        found += k >= 0;
    }
    return rc < 0 || found == cavs_model_param_count(a->model)
               ? rc
               : app_fail(&a->error, CAVS_EFORMAT, "%s: not a model of this run", path);
}

/* Whether checkpoints go to another folder than that which the best model was read from. */
static int look_behind(struct best *b, const struct app *a, const char *read)
{
    char *path = a->options.checkpoint ? checkpoint_best_file(a->options.checkpoint) : NULL;
    int rc = a->options.checkpoint && !path ? CAVS_ENOMEM : 0;

    b->is_behind = path && !same_file(path, read);
    free(path);
    return rc;
}

int best_resume(struct best *b, struct app *a)
{
    struct cavs_model_file *f = NULL;
    char *path = checkpoint_best_file(a->options.resume);
    int rc = path ? cavs_model_file_open(path, &f) : CAVS_ENOMEM;

    if (rc == 0)
        rc = read_params(b, a, f, path);
    if (rc == 0)
        rc = look_behind(b, a, path);
    cavs_model_file_close(f);
    free(path);
    return rc;
}

int best_restore(const struct best *b, struct app *a)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < cavs_model_param_count(a->model); i++)
        rc = cavs_session_set_param(a->session, cavs_model_param_at(a->model, i), b->params[i]);
    return rc;
}

void best_clear(struct best *b, const struct app *a)
{
    for (int i = 0; b->params && i < cavs_model_param_count(a->model); i++)
        free(b->params[i]);
    free(b->params);
    *b = (struct best){0};
}
