/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL when memory is short. */
static char *file_in(const char *folder)
{
    char *path;

    return asprintf(&path, "%s/checkpoint.safetensors", folder) < 0 ? NULL : path;
}

static int check_folder(const char *folder, struct app_error *e)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return app_fail(e, CAVS_EIO, "--checkpoint %s: %s", folder, strerror(errno));
    if (access(folder, W_OK | X_OK) != 0)
        return app_fail(e, CAVS_EIO, "--checkpoint %s: %s", folder, strerror(errno));
    return 0;
}

int checkpoint_prepare(const struct app_options *o, struct app_error *e)
{
    char *path;
    int rc = check_folder(o->checkpoint, e);

    if (rc < 0)
        return rc;
    if (!(path = file_in(o->checkpoint)))
        return CAVS_ENOMEM;
    if (!o->resume && access(path, F_OK) == 0)
        rc = app_fail(e, CAVS_EINVAL,
                      "%s is there already: go on from it with --resume %s, or name another folder",
                      path, o->checkpoint);
    free(path);
    return rc;
}

/* ---- the note -------------------------------------------------------------------------------- */

/* JSON has integers of 64 bits with a sign: the seed goes as text. */
static json_t *describe(const struct app *a, const struct standing *s, const struct report *so_far)
{
    const struct app_options *o = a->options;
    char seed[32];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->session.seed);
    return json_pack("{s:s, s:i, s:i, s:s, s:f, s:i, s:i, s:i, s:f, s:o}", "app", a->name,
                     "samples", s->samples, "batch_size", o->batch, "seed", seed, "lr",
                     (double)o->session.lr, "epoch", s->epoch, "done", s->done, "batch", s->batch,
                     "seconds", s->seconds, "report", report_state(so_far));
}

int checkpoint_write(struct app *a, const struct standing *s, const struct report *so_far,
                     struct app_error *e)
{
    json_t *note = describe(a, s, so_far);
    char *text = note ? json_dumps(note, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    char *path = file_in(a->options->checkpoint);
    int rc = text && path ? cavs_session_checkpoint(a->session, path, text)
                          : app_fail(e, CAVS_ENOMEM, "no memory for a checkpoint");

    free(path);
    free(text);
    json_decref(note);
    return rc;
}

/* ---- resuming -------------------------------------------------------------------------------- */

/* What has to be the same for the run to go on as it was. */
static int check_same(const struct app *a, const struct standing *s, const char *path,
                      const json_t *note, struct app_error *e)
{
    const char *app = json_string_value(json_object_get(note, "app"));
    const char *seed = json_string_value(json_object_get(note, "seed"));
    const struct app_options *o = a->options;
    int samples = (int)json_integer_value(json_object_get(note, "samples"));
    int batch = (int)json_integer_value(json_object_get(note, "batch_size"));

    if (!app || strcmp(app, a->name) != 0)
        return app_fail(e, CAVS_EINVAL, "%s: a checkpoint of %s, not of %s", path,
                        app ? app : "another program", a->name);
    if (samples != s->samples)
        return app_fail(e, CAVS_EINVAL, "%s: the training set had %d samples, now it has %d", path,
                        samples, s->samples);
    if (batch != o->batch || !seed || strtoull(seed, NULL, 10) != o->session.seed)
        return app_fail(e, CAVS_EINVAL, "%s: the run had --batch %d --seed %s; go on with these",
                        path, batch, seed ? seed : "(none)");
    return 0;
}

static int read_standing(struct app *a, struct standing *s, const char *path, const json_t *note,
                         struct app_error *e)
{
    json_t *report = NULL;
    double lr;
    int rc;

    if (json_unpack((json_t *)note, "{s:F, s:i, s:i, s:i, s:F, s:o}", "lr", &lr, "epoch", &s->epoch,
                    "done", &s->done, "batch", &s->batch, "seconds", &s->seconds, "report",
                    &report) != 0 ||
        s->epoch < 1 || s->done < 0 || s->done > s->samples || s->batch < 0 ||
        !report_restore(&a->report, report))
        return app_fail(e, CAVS_EFORMAT, "%s: the note of this checkpoint cannot be understood",
                        path);
    if (s->epoch > s->epochs + 1 || (s->epoch == s->epochs + 1 && s->done > 0))
        return app_fail(e, CAVS_EINVAL, "%s: in epoch %d already, beyond --epochs %d", path,
                        s->epoch, s->epochs);
    /* another rate than the run began with is a wish; otherwise the checkpoint's holds */
    rc = (float)lr != a->options->session.lr
             ? cavs_session_set_lr(a->session, a->options->session.lr)
             : 0;
    return rc;
}

static int resume_from(struct app *a, struct standing *s, const char *path, struct app_error *e)
{
    char *text = NULL;
    json_t *note;
    int rc = cavs_session_resume(a->session, path, &text);

    if (rc < 0)
        return rc;
    note = json_loads(text, 0, NULL);
    free(text);
    rc = note ? check_same(a, s, path, note, e)
              : app_fail(e, CAVS_EFORMAT, "%s: not a checkpoint of a program", path);
    if (rc == 0)
        rc = read_standing(a, s, path, note, e);
    json_decref(note);
    return rc;
}

int checkpoint_read(struct app *a, struct standing *s, struct app_error *e)
{
    char *path = file_in(a->options->resume);
    int rc = path ? resume_from(a, s, path, e) : CAVS_ENOMEM;

    free(path);
    return rc;
}
