/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/model_note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/common/json_build.h"
#include "apps/common/run_checkpoint.h"
#include "apps/common/sets.h"

#define PROGRAM "program"
#define RUN     "run"

/* ---- reading --------------------------------------------------------------------------------- */

static int misunderstood(struct app *a, const char *note)
{
    return app_fail(&a->error, CAVS_EFORMAT, "%s: its note '%s' cannot be understood",
                    a->model_path, note);
}

/* A checkpoint belongs to a program, a model to its twin, too. */
static bool is_model_of(const struct app *a, const char *program)
{
    const char *twin = a->options.resume ? NULL : a->program->twin;

    return strcmp(program, a->program->name) == 0 || (twin && strcmp(program, twin) == 0);
}

static int take_program(struct app *a, const json_t *note)
{
    const char *program = json_string_value(json_object_get(note, "program"));
    const json_t *options = json_object_get(note, "options");

    if (!program || !json_is_object(options))
        return misunderstood(a, PROGRAM);
    if (!is_model_of(a, program))
        return app_fail(&a->error, CAVS_EINVAL, "%s: a model of %s, not of %s", a->model_path,
                        program, a->program->name);
    return options_from_json(&a->list, OPTION_MODEL, options, true, a->model_path, &a->error);
}

static int take_run(struct app *a, const json_t *note)
{
    json_t *options = json_object_get(note, "options");
    const json_t *kept = json_object_get(note, "kept");
    const char *data = json_string_value(json_object_get(note, "data"));
    const char *dev = json_string_value(json_object_get(note, "dev")); /* older ones do not say */
    int rc;

    if (!json_is_object(options) || !json_is_object(kept) || !data)
        return misunderstood(a, RUN);
    if (a->program->one_sample) /* older checkpoints have it, and it changed nothing */
        json_object_del(options, "batch");
    snprintf(a->fingerprint, sizeof a->fingerprint, "%s", data);
    snprintf(a->dev_fingerprint, sizeof a->dev_fingerprint, "%s", dev ? dev : "");
    rc = options_from_json(&a->list, OPTION_RUN, options, true, a->model_path, &a->error);
    return rc < 0 ? rc
                  : options_from_json(&a->list, OPTION_KEPT, kept, false, a->model_path, &a->error);
}

/* Hands the note of that name to `take`; a file without it is as good, unless it is wanted. */
static int take_note(struct app *a, const char *name, bool wanted,
                     int (*take)(struct app *a, const json_t *note))
{
    const char *text = cavs_model_file_note(a->model_file, name);
    json_t *note;
    int rc;

    if (!text)
        return wanted ? app_fail(&a->error, CAVS_EFORMAT, "%s: not a checkpoint of a program",
                                 a->model_path)
                      : 0;
    note = json_loads(text, 0, NULL);
    rc = note ? take(a, note) : misunderstood(a, name);
    json_decref(note);
    return rc;
}

static int find_checkpoint(struct app *a)
{
    const char *folder = a->options.resume;
    struct stat s;

    if (stat(folder, &s) == 0 && !S_ISDIR(s.st_mode))
        return app_fail(
            &a->error, CAVS_EINVAL,
            "--resume %s: it is a file, and the folder of --checkpoint is wanted (--init "
            "takes the parameters of a file)",
            folder);
    a->owned_path = checkpoint_file(folder);
    return a->owned_path ? 0 : CAVS_ENOMEM;
}

int model_note_open(struct app *a)
{
    bool resume = a->options.resume != NULL;
    int rc;

    if (resume && (rc = find_checkpoint(a)) < 0)
        return rc;
    a->model_path = resume ? a->owned_path : a->options.init;
    if (!a->model_path)
        return 0;
    if ((rc = cavs_model_file_open(a->model_path, &a->model_file)) < 0 ||
        (rc = take_note(a, PROGRAM, resume, take_program)) < 0)
        return rc;
    return resume ? take_note(a, RUN, true, take_run) : 0;
}

static int spell_fingerprint(struct app *a, enum app_set set, char text[24])
{
    uint64_t fingerprint;
    int rc = set_is_there(a, set) ? set_fingerprint(a, set, &fingerprint) : 0;

    if (rc < 0 || !set_is_there(a, set))
        snprintf(text, 24, "none");
    else
        snprintf(text, 24, "%016llx", (unsigned long long)fingerprint);
    return rc;
}

/* Numbers of one development set say nothing about those of another. */
static int check_dev(struct app *a)
{
    char mine[24], *theirs = a->dev_fingerprint;
    int rc = spell_fingerprint(a, APP_DEV, mine);

    a->dev_is_new = a->options.resume && *theirs && strcmp(mine, theirs) != 0;
    if (rc == 0 && a->dev_is_new && a->options.best)
        return app_fail(
            &a->error, CAVS_EINVAL,
            "%s: the run looked for its --best %s on another development set, whose "
            "fingerprint is %s, not %s; the run goes on with that one, and --init %s takes "
            "its parameters to others",
            a->model_path, a->options.best, theirs, mine, a->model_path);
    memcpy(theirs, mine, sizeof a->dev_fingerprint);
    return rc;
}

int model_note_check_data(struct app *a)
{
    char mine[24], *theirs = a->fingerprint;
    int rc = spell_fingerprint(a, APP_TRAIN, mine);

    if (rc < 0)
        return rc;
    if (a->options.resume && strcmp(mine, theirs) != 0)
        return app_fail(
            &a->error, CAVS_EINVAL,
            "%s: the run had another training set: as it is now, its fingerprint is %s, "
            "not %s; the run goes on with its own, and --init %s takes its parameters to others",
            a->model_path, mine, theirs, a->model_path);
    memcpy(a->fingerprint, mine, sizeof a->fingerprint);
    return check_dev(a);
}

void model_note_close(struct app *a)
{
    cavs_model_file_close(a->model_file);
    a->model_file = NULL;
    free(a->owned_path);
    a->owned_path = NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Takes the note. */
static int keep_note(struct app *a, const char *name, json_t *note)
{
    char *text = json_build_text(note, 17);
    int rc = text ? cavs_session_note(a->session, name, text) : CAVS_ENOMEM;

    free(text);
    json_decref(note);
    return rc;
}

static int keep_program(struct app *a)
{
    return keep_note(a, PROGRAM,
                     json_pack("{s:s, s:s, s:o}", "program", a->program->name, "version",
                               cavs_version(), "options", options_to_json(&a->list, OPTION_MODEL)));
}

static int keep_run(struct app *a)
{
    return keep_note(a, RUN,
                     json_pack("{s:o, s:o, s:s, s:s}", "options",
                               options_to_json(&a->list, OPTION_RUN), "kept",
                               options_to_json(&a->list, OPTION_KEPT), "data", a->fingerprint,
                               "dev", a->dev_fingerprint));
}

int model_note_keep(struct app *a)
{
    int rc = keep_program(a);

    if (rc == 0 && set_is_there(a, APP_TRAIN) && !a->options.session.inference)
        rc = keep_run(a);
    return rc == 0 ? model_note_keep_words(a) : rc;
}
