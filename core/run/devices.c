/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - what sessions do about devices: failures, and which kinds of tasks run there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device_set.h"
#include "codelets/groups/elementwise.h"
#include "codelets/task.h"
#include "core/base/error.h"
#include "core/run/session.h"

/* What a device was computing when it failed is lost, and with it all that the session has. */
static int fail_lost(const char *what)
{
    return cavs__fail(
        CAVS_ERUNTIME,
        "%s; what this session had is lost, start again from a model file or a checkpoint", what);
}

int cavs__check_devices(const struct cavs_session *s)
{
    char text[CAVS__FAILURES_TEXT];

    if (cavs__devices->failures(text)) {
        text[strlen(text) - 1] = 0;
        return fail_lost(text);
    }
    if (s->optimizer.store->lost)
        return fail_lost("StarPU refused a part of an update");
    return cavs__devices->failed() == s->devices_failed ? CAVS_OK
                                                        : fail_lost("a device has failed");
}

/* ---- kinds ---- */

/* Calls visit for every step with a fused group, of parts that are coming or of all others. */
static void each_launch(const struct cavs__plan *p, bool coming,
                        void (*visit)(struct cavs__step *step, struct cavs__device_texts *texts),
                        struct cavs__device_texts *texts)
{
    for (int i = 0; i < p->nstages; i++) {
        const struct cavs__stage_plan *sp = &p->stages[i];

        for (int j = 0; j < sp->nkinds; j++) {
            for (int f = 0; f < sp->kinds[j]->nparts; f++) {
                const struct cavs__part *part = sp->kinds[j]->parts[f];

                for (int k = 0; part && part->coming == coming && k < part->nsteps;
                     k += part->steps[k].sequence ? part->steps[k].sequence->n : 1)
                    visit(&part->steps[k], texts);
            }
        }
    }
}

/* A device's compiler need not see what the device could not launch. */
static bool fits(const struct cavs__ew_program *program)
{
    const struct cavs__ew_spec *spec = program ? cavs__ew_program_spec(program) : NULL;

    return spec && cavs__devices->group_fits(spec->ninputs + spec->noutputs);
}

static void count(struct cavs__step *step, struct cavs__device_texts *texts)
{
    texts->nsequences += step->sequence != NULL;
    texts->nprograms += !step->sequence && fits(step->call.program);
}

static void append(struct cavs__step *step, struct cavs__device_texts *texts)
{
    if (step->sequence)
        texts->sequences[texts->nsequences++] = step->sequence;
    else if (fits(step->call.program))
        texts->programs[texts->nprograms++] = (struct cavs__ew_program *)step->call.program;
}

/* Collects the groups of the plan, without those that a device cannot launch.  The caller frees the
 * lists. */
static int collect(const struct cavs__plan *p, bool coming, struct cavs__device_texts *texts)
{
    *texts = (struct cavs__device_texts){0};
    each_launch(p, coming, count, texts);
    texts->programs = calloc((size_t)texts->nprograms + 1, sizeof *texts->programs);
    texts->sequences = calloc((size_t)texts->nsequences + 1, sizeof *texts->sequences);
    if (!texts->programs || !texts->sequences)
        return cavs__fail_nomem("fused groups",
                                ((size_t)texts->nprograms + 1) * sizeof *texts->programs);
    texts->nprograms = texts->nsequences = 0;
    each_launch(p, coming, append, texts);
    return CAVS_OK;
}

/* For people and tests: the text of the groups as devices get it, in the file that
 * CAVS_DEVICE_TEXT names.  It needs no device. */
static int write_text(const struct cavs__device_texts *texts, const char *path)
{
    char *text = cavs__devices->groups_text(texts);
    FILE *f = text ? fopen(path, "w") : NULL;
    int rc = CAVS_OK;

    if (!text)
        rc = cavs__fail_nomem("fused groups", 0);
    else if (!f || fputs(text, f) < 0)
        rc = cavs__fail(CAVS_EIO, "CAVS_DEVICE_TEXT: cannot write %s: %s", path, strerror(errno));
    if (f && fclose(f) != 0 && !rc)
        rc = cavs__fail(CAVS_EIO, "CAVS_DEVICE_TEXT: cannot write %s: %s", path, strerror(errno));
    free(text);
    return rc;
}

static int compile_groups(struct cavs__plan *p)
{
    const char *path = getenv("CAVS_DEVICE_TEXT");
    struct cavs__device_texts texts;
    int rc;

    if (!path && cavs__devices->count() == 0)
        return CAVS_OK;
    rc = collect(p, false, &texts);
    if (!rc && path)
        rc = write_text(&texts, path);
    if (!rc && cavs__devices->count() > 0) {
        struct cavs__device_groups *all = cavs__devices->groups_create(p->groups, &texts);

        if (all)
            p->groups = all;
        else
            rc = cavs__fail_nomem("fused groups", 0);
    }
    free(texts.programs);
    free(texts.sequences);
    return rc;
}

/* The text of the groups; NULL: there is none, or no memory for it. */
static char *text_of(const struct cavs__device_texts *texts)
{
    return texts->nprograms + texts->nsequences > 0 ? cavs__devices->groups_text(texts) : NULL;
}

char *cavs__plan_coming_text(const struct cavs__plan *p)
{
    struct cavs__device_texts texts;
    char *text = NULL;

    if (p->options.cpu_only || cavs__devices->count() == 0)
        return NULL;
    if (collect(p, true, &texts) == CAVS_OK)
        text = text_of(&texts);
    free(texts.programs);
    free(texts.sequences);
    return text;
}

static int check_kind(const struct cavs__task_kind *k, uint32_t not_on)
{
    bool cpu_only = k->cpu_only || (k->codelet.where & ~not_on) == STARPU_CPU;

    if (!cpu_only || starpu_cpu_worker_get_count() > 0)
        return CAVS_OK;
    return cavs__fail(CAVS_ERUNTIME, "task %s runs on CPUs only (%s), but there is no CPU worker",
                      k->name, k->cpu_only ? k->cpu_only : "no device can be used");
}

/* It is an error if no worker is left, since all belong to devices that cannot be used. */
static int check_workers(void)
{
    if (starpu_worker_get_count() == 0 || starpu_cpu_worker_get_count() > 0)
        return CAVS_OK;
    return cavs__fail(CAVS_ERUNTIME, "no device can be used, and there is no CPU worker");
}

static int place_kind(struct cavs__task_kind *k)
{
    if (!k->cpu_only)
        cavs__task_on_devices(&k->codelet, k->nparts, k->parts, &k->cpu_only);
    return check_kind(k, 0);
}

/* The parts of a tape's kind come while its tasks run, and a part that a device cannot run must not
 * keep others from it.  So each part says where it cannot run, and a task goes by the parts that it
 * has. */
static int place_recorded(struct cavs__task_kind *k)
{
    int rc = CAVS_OK;

    if (!k->cpu_only)
        cavs__task_run_on_devices(&k->codelet, false, cavs__devices->run_part);
    for (int f = 0; f < k->nparts && !rc; f++) {
        struct cavs__part *part = k->parts[f];

        if (!part || part->coming)
            continue;
        if (!k->cpu_only)
            part->not_on = cavs__task_not_on(part, &part->why_not);
        rc = check_kind(k, part->not_on);
    }
    return rc;
}

static int place_stage(struct cavs__plan *p, struct cavs__stage_plan *sp)
{
    int rc = CAVS_OK;

    for (int i = 0; i < sp->nkinds && !rc; i++) {
        struct cavs__task_kind *k = sp->kinds[i];

        k->cpu_only = p->options.cpu_only;
        rc = sp->stage->recorded ? place_recorded(k) : place_kind(k);
    }
    return rc;
}

/* Stages from this one on have functions that are not placed yet. */
static int place_from(struct cavs__plan *p, int first)
{
    int rc = CAVS_OK;

    if (!p->options.cpu_only) {
        rc = compile_groups(p);
        if (!rc)
            rc = cavs__report_devices(p->options.require);
    }
    if (rc || cavs__devices->count() == 0)
        return rc ? rc : check_workers();
    for (int i = first; i < p->nstages && !rc; i++)
        rc = place_stage(p, &p->stages[i]);
    return rc;
}

int cavs__plan_devices(struct cavs__plan *p)
{
    return place_from(p, 0);
}

int cavs__plan_devices_anew(struct cavs__plan *p)
{
    return place_from(p, p->model->nstages);
}

int cavs__check_looked_up(const struct cavs__plan *p)
{
    for (int i = 0; i < p->model->nparams && starpu_cpu_worker_get_count() == 0; i++) {
        const struct cavs_param *w = p->model->params[i];

        if (!w->frozen && cavs__is_tied(p, w))
            return cavs__fail(CAVS_ERUNTIME,
                              "%s is both looked up and multiplied: its gradient is summed on CPUs "
                              "only, but there is no CPU worker",
                              w->name);
    }
    return CAVS_OK;
}
