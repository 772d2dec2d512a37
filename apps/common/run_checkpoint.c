/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/run_checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/common/clashes.h"
#include "apps/common/json_build.h"
#include "apps/common/run_lock.h"

static char *file_in(const char *folder, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s.safetensors", folder, name) < 0 ? NULL : path;
}

char *checkpoint_file(const char *folder)
{
    return file_in(folder, "checkpoint");
}

char *checkpoint_best_file(const char *folder)
{
    return file_in(folder, "best");
}

static int make_folder(const char *folder, struct app_error *e)
{
    struct stat now;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return app_fail(e, CAVS_EIO, "--checkpoint %s: %s", folder, strerror(errno));
    if (stat(folder, &now) != 0 || !S_ISDIR(now.st_mode))
        return app_fail(e, CAVS_EIO, "--checkpoint %s: it is a file, a folder is wanted", folder);
    return 0;
}

/* One that cannot be opened is not locked: whether it can be written to is found out anyway. */
static int lock_folder(struct app *a)
{
    const char *folder = a->options.checkpoint;

    a->checkpoints = opendir(folder);
    return !a->checkpoints || run_lock(dirfd(a->checkpoints))
               ? 0
               : app_fail(&a->error, CAVS_EIO, "--checkpoint %s: another run is writing there",
                          folder);
}

/* A checkpoint that is not the one from which this run goes on. */
static bool is_another(const struct app *a, const char *path)
{
    struct stat now;

    return stat(path, &now) == 0 && S_ISREG(now.st_mode) &&
           !(a->options.resume && same_file(path, a->model_path));
}

int checkpoint_prepare(struct app *a)
{
    const struct app_options *o = &a->options;
    char *path;
    int rc;

    if ((rc = make_folder(o->checkpoint, &a->error)) < 0 || (rc = lock_folder(a)) < 0)
        return rc;
    if (!(path = checkpoint_file(o->checkpoint)))
        return CAVS_ENOMEM;
    rc = cavs_file_writable(path);
    if (rc == 0 && is_another(a, path))
        rc = app_fail(&a->error, CAVS_EINVAL,
                      "%s is there already: go on from it with --resume %s, or name another folder",
                      path, o->checkpoint);
    free(path);
    return rc;
}

void checkpoint_close(struct app *a)
{
    if (a->checkpoints)
        closedir(a->checkpoints);
    a->checkpoints = NULL;
}

/* ---- the note -------------------------------------------------------------------------------- */

static json_t *describe(const struct standing *s, const struct report *so_far)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:i, s:o}", "samples", s->samples, "epoch",
                     s->epoch, "done", s->done, "batch", s->batch, "seconds", s->seconds, "best",
                     s->best, "best_epoch", s->best_epoch, "report", report_state(so_far));
}

int checkpoint_write(struct app *a, const struct standing *s, const struct report *so_far)
{
    json_t *note = describe(s, so_far);
    char *text = json_build_text(note, 17);
    char *path = checkpoint_file(a->options.checkpoint);
    int rc = cavs_runtime_agree(a->runtime, text && path ? 0 : CAVS_ENOMEM);

    if (rc == 0)
        rc = cavs_session_checkpoint(a->session, path, text);
    free(path);
    free(text);
    json_decref(note);
    return rc;
}

/* ---- resuming -------------------------------------------------------------------------------- */

static int read_standing(struct app *a, struct standing *s, const char *path, const json_t *note)
{
    json_t *report = NULL;
    int samples;

    if (json_unpack((json_t *)note, "{s:i, s:i, s:i, s:i, s:F, s:F, s:i, s:o}", "samples", &samples,
                    "epoch", &s->epoch, "done", &s->done, "batch", &s->batch, "seconds",
                    &s->seconds, "best", &s->best, "best_epoch", &s->best_epoch, "report",
                    &report) != 0 ||
        samples != s->samples || s->epoch < 1 || s->done < 0 || s->done > s->samples ||
        s->batch < 0 || !report_restore(&a->report, report))
        return app_fail(&a->error, CAVS_EFORMAT,
                        "%s: the note of this checkpoint cannot be understood", path);
    if (s->epoch - 1 > s->epochs || (s->epoch - 1 == s->epochs && s->done > 0))
        return app_mistake(
            &a->error,
            "%s: %d epochs and %d samples of the next one are done, beyond --epochs %d: "
            "give %d or more",
            path, s->epoch - 1, s->done, s->epochs, s->epoch - (s->done == 0));
    return 0;
}

int checkpoint_read(struct app *a, struct standing *s)
{
    char *text = NULL;
    json_t *note;
    int rc = cavs_session_resume(a->session, a->model_path, &text);

    if (rc < 0)
        return rc;
    note = json_loads(text, 0, NULL);
    free(text);
    rc = note ? read_standing(a, s, a->model_path, note)
              : app_fail(&a->error, CAVS_EFORMAT, "%s: not a checkpoint of a program",
                         a->model_path);
    json_decref(note);
    /* the option has the checkpoint's rate, unless another was asked for */
    return rc < 0 ? rc : cavs_session_set_lr(a->session, a->options.session.lr);
}
