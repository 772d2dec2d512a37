/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c - stages of a model, their channels and vertex functions: made, found, freed. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/declare/model.h"

static void symbol_destroy(struct cavs_symbol *x)
{
    free(x->inputs);
    free(x);
}

void cavs__function_destroy(struct cavs_function *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->nsymbols; i++)
        symbol_destroy(f->symbols[i]);
    for (int i = 0; i < f->nlists; i++)
        free(f->lists[i]);
    free(f->symbols);
    cavs__equals_clear(&f->equals);
    free(f->message);
    free(f->name);
    free(f);
}

static void channel_destroy(struct cavs__channel *c)
{
    free(c->fetches);
    free(c->name);
    free(c);
}

void cavs__stage_destroy(struct cavs_stage *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->nfunctions; i++)
        cavs__function_destroy(s->functions[i]);
    for (int i = 0; i < s->ninputs; i++) {
        free(s->inputs[i]->name);
        free(s->inputs[i]->pulled);
        free(s->inputs[i]);
    }
    for (int i = 0; i < s->nchannels; i++)
        channel_destroy(s->channels[i]);
    free(s->functions);
    free(s->inputs);
    free(s->channels);
    free(s->lists);
    free(s->name);
    free(s);
}

static int check_stage(struct cavs_model *m, const char *name, int state_width)
{
    if (!name || !*name)
        return cavs__model_fail(m, CAVS_EINVAL, "a stage needs a name");
    if (m->finished)
        return cavs__model_fail(m, CAVS_ESTATE, "stage %s: the model is finished", name);
    if (state_width < 0)
        return cavs__model_fail(m, CAVS_EINVAL, "stage %s: negative state width", name);
    if (cavs_model_find_stage(m, name))
        return cavs__model_fail(m, CAVS_EINVAL, "stage %s is declared twice", name);
    return CAVS_OK;
}

struct cavs_stage *cavs_stage_create(struct cavs_model *m, const char *name, int state_width)
{
    struct cavs_stage *s;

    if (!m || check_stage(m, name, state_width))
        return NULL;
    s = calloc(1, sizeof *s);
    if (s)
        *s = (struct cavs_stage){
            .model = m, .name = strdup(name), .state_width = state_width, .number = m->nstages};
    if (!s || !s->name || !CAVS__APPEND(m->stages, m->nstages, s)) {
        cavs__stage_destroy(s);
        cavs__model_fail(m, CAVS_ENOMEM, "out of memory for stage %s", name);
        return NULL;
    }
    return s;
}

static int check_base(struct cavs_model *m, const char *name, const struct cavs_stage *base,
                      enum cavs_over which)
{
    int rc = check_stage(m, name, 0);

    if (!rc && (!base || base->model != m))
        rc = cavs__model_fail(m, CAVS_EPROGRAM, "stage %s stands over %s", name,
                              base ? "a stage of another model" : "no stage (NULL)");
    if (!rc && which != CAVS_ALL_VERTICES && which != CAVS_ROOTS)
        rc = cavs__model_fail(m, CAVS_EINVAL, "stage %s: there are no vertices of kind %d", name,
                              (int)which);
    return rc;
}

struct cavs_stage *cavs_stage_over(struct cavs_model *m, const char *name, struct cavs_stage *base,
                                   enum cavs_over which)
{
    struct cavs_stage *s;

    if (!m || check_base(m, name, base, which))
        return NULL;
    s = cavs_stage_create(m, name, 0);
    if (s) {
        s->base = base;
        s->over = which;
    }
    return s;
}

int cavs_model_stage_count(const struct cavs_model *m)
{
    return m ? m->nstages : 0;
}

struct cavs_stage *cavs_model_stage_at(const struct cavs_model *m, int i)
{
    return m && i >= 0 && i < m->nstages ? m->stages[i] : NULL;
}

struct cavs_stage *cavs_model_find_stage(const struct cavs_model *m, const char *name)
{
    for (int i = 0; m && name && i < m->nstages; i++) {
        if (strcmp(m->stages[i]->name, name) == 0)
            return m->stages[i];
    }
    return NULL;
}

const char *cavs_stage_name(const struct cavs_stage *s)
{
    return s ? s->name : NULL;
}

int cavs_stage_state_width(const struct cavs_stage *s)
{
    return s ? s->state_width : 0;
}

int cavs_stage_function_count(const struct cavs_stage *s)
{
    return s ? s->nfunctions : 0;
}

struct cavs_function *cavs_stage_function_at(const struct cavs_stage *s, int i)
{
    return s && i >= 0 && i < s->nfunctions ? s->functions[i] : NULL;
}

int cavs_stage_channel_count(const struct cavs_stage *s)
{
    return s ? s->nchannels : 0;
}

const char *cavs_stage_channel_at(const struct cavs_stage *s, int i)
{
    return s && i >= 0 && i < s->nchannels ? s->channels[i]->name : NULL;
}

int cavs_channel_width(const struct cavs_stage *s, const char *channel)
{
    for (int i = 0; s && channel && i < s->nchannels; i++) {
        if (strcmp(s->channels[i]->name, channel) == 0)
            return s->channels[i]->width;
    }
    return 0;
}

static int check_function(const struct cavs_stage *s, const char *name)
{
    if (!name || !*name)
        return cavs__model_fail(s->model, CAVS_EINVAL, "stage %s: a function needs a name",
                                s->name);
    if (s->model->finished)
        return cavs__model_fail(s->model, CAVS_ESTATE,
                                "stage %s: function %s: the model is finished", s->name, name);
    for (int i = 0; i < s->nfunctions; i++) {
        if (strcmp(s->functions[i]->name, name) == 0)
            return cavs__model_fail(s->model, CAVS_EINVAL,
                                    "stage %s: function %s is declared twice", s->name, name);
    }
    return CAVS_OK;
}

struct cavs_function *cavs_function_create(struct cavs_stage *stage, const char *name)
{
    struct cavs_function *f;

    if (!stage || check_function(stage, name))
        return NULL;
    f = calloc(1, sizeof *f);
    if (f)
        *f = (struct cavs_function){
            .stage = stage, .name = strdup(name), .number = stage->nfunctions};
    if (!f || !f->name || !CAVS__APPEND(stage->functions, stage->nfunctions, f)) {
        cavs__function_destroy(f);
        cavs__model_fail(stage->model, CAVS_ENOMEM, "out of memory for function %s.%s", stage->name,
                         name);
        return NULL;
    }
    return f;
}

const char *cavs_function_name(const struct cavs_function *f)
{
    return f ? f->name : NULL;
}

int cavs_function_number(const struct cavs_function *f)
{
    return f ? f->number : CAVS_EINVAL;
}

int cavs_function_finish(struct cavs_function *f)
{
    const struct cavs_symbol *last = f && f->nsymbols > 0 ? f->symbols[f->nsymbols - 1] : NULL;

    if (!f)
        return cavs__fail(CAVS_EINVAL,
                          "cavs_function_finish(NULL): the function could not be created");
    if (f->error)
        return cavs__fail(f->error, "%s", f->message ? f->message : cavs_strerror(f->error));
    if (f->finished)
        return CAVS_OK;
    if (f->stage->state_width > 0 && !f->scatter)
        return cavs__function_fail(
            f, CAVS_EPROGRAM, last ? last->at : (struct cavs_place){NULL, 0},
            "no scatter: every function of stage %s must scatter a state of width %d",
            f->stage->name, f->stage->state_width);
    f->finished = true;
    return CAVS_OK;
}
