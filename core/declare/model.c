/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - life of models, parameters, stages and functions. */
#include "core/declare/model.h"

#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/base/own_name.h"

int cavs__model_fail(struct cavs_model *m, int code, const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    cavs__fail(code, "%s", text);
    if (m && !m->error) {
        m->error = code;
        m->message = strdup(text);
    }
    return code;
}

int cavs__function_fail(struct cavs_function *f, int code, struct cavs_place at, const char *format,
                        ...)
{
    char text[512], where[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (f->recorder) {
        f = f->recorder->present;
        snprintf(where, sizeof where, "%s:%d: tape: %s", at.file, at.line, text);
    } else {
        snprintf(where, sizeof where, "%s:%d: function %s.%s: %s", at.file, at.line, f->stage->name,
                 f->name, text);
    }
    cavs__fail(code, "%s", where);
    if (f->finished && !f->recorder)
        return cavs__model_fail(f->stage->model, code, "%s", where);
    if (!f->error) {
        f->error = code;
        f->message = strdup(where);
    }
    return code;
}

int cavs_model_create(struct cavs_model **out)
{
    struct cavs_model *m = out ? calloc(1, sizeof *m) : NULL;

    if (!out)
        return cavs__fail(CAVS_EINVAL, "cavs_model_create(NULL)");
    if (!m)
        return cavs__fail_nomem("model", sizeof *m);
    *out = m;
    return CAVS_OK;
}

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

static void stage_destroy(struct cavs_stage *s)
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

struct cavs__metric *cavs__model_metric(struct cavs_model *m, const char *name)
{
    struct cavs__metric *metric;

    for (int i = 0; i < m->nmetrics; i++)
        if (strcmp(m->metrics[i]->name, name) == 0)
            return m->metrics[i];
    if (m->finished && m->nmetrics == m->most_metrics)
        return NULL;
    metric = calloc(1, sizeof *metric);
    if (metric)
        *metric = (struct cavs__metric){.name = strdup(name), .number = m->nmetrics};
    if (!metric || !metric->name || !CAVS__APPEND(m->metrics, m->nmetrics, metric)) {
        free(metric ? metric->name : NULL);
        free(metric);
        return NULL;
    }
    return metric;
}

static void model_free(struct cavs_model *m)
{
    for (int i = 0; i < m->nstages; i++)
        stage_destroy(m->stages[i]);
    for (int i = 0; i < m->nstored; i++) {
        free(m->params[i]->members);
        free(m->params[i]->name);
        free(m->params[i]);
    }
    for (int i = 0; i < m->nmetrics; i++) {
        free(m->metrics[i]->name);
        free(m->metrics[i]);
    }
    free(m->stages);
    free(m->params);
    free(m->metrics);
    free(m->message);
    free(m);
}

void cavs_model_destroy(struct cavs_model *m)
{
    if (!m)
        return;
    m->destroyed = true;
    if (m->users == 0)
        model_free(m);
}

/* Whoever uses a finished model only reads it; its users are counted all the same. */
void cavs__model_hold(const struct cavs_model *m)
{
    ((struct cavs_model *)m)->users++;
}

void cavs__model_release(const struct cavs_model *m)
{
    if (--((struct cavs_model *)m)->users == 0 && m->destroyed)
        model_free((struct cavs_model *)m);
}

struct cavs_init cavs_init_glorot(int rows, int cols)
{
    float a = sqrtf(6.0f / ((float)rows + (float)cols));

    return CAVS_UNIFORM(-a, a);
}

struct cavs_param *cavs_model_find_param(const struct cavs_model *m, const char *name)
{
    for (int i = 0; m && name && i < m->nparams; i++) {
        if (strcmp(m->params[i]->name, name) == 0)
            return m->params[i];
    }
    return NULL;
}

static int check_param(struct cavs_model *m, const char *name, int rows, int cols)
{
    if (m->finished)
        return cavs__model_fail(m, CAVS_ESTATE, "parameter %s: the model is finished",
                                name ? name : "(null)");
    if (!name || !*name)
        return cavs__model_fail(m, CAVS_EINVAL, "a parameter needs a name");
    if (cavs__is_own(name) || strcmp(name, "__metadata__") == 0)
        return cavs__model_fail(m, CAVS_EINVAL,
                                "parameter %s: model files need this name themselves", name);
    if (rows <= 0 || cols <= 0)
        return cavs__model_fail(m, CAVS_ESHAPE, "parameter %s: shape %d x %d is not positive", name,
                                rows, cols);
    if (cavs_model_find_param(m, name))
        return cavs__model_fail(m, CAVS_EINVAL, "parameter %s is declared twice", name);
    return CAVS_OK;
}

struct cavs_param *cavs_model_param(struct cavs_model *m, const char *name, int rows, int cols,
                                    struct cavs_init init)
{
    struct cavs_param *p;

    if (!m || check_param(m, name, rows, cols))
        return NULL;
    p = calloc(1, sizeof *p);
    if (p)
        *p = (struct cavs_param){.model = m,
                                 .name = strdup(name),
                                 .rows = rows,
                                 .cols = cols,
                                 .init = init,
                                 .number = m->nparams};
    if (!p || !p->name || !CAVS__APPEND(m->params, m->nparams, p)) {
        free(p ? p->name : NULL);
        free(p);
        cavs__model_fail(m, CAVS_ENOMEM, "out of memory for parameter %s", name);
        return NULL;
    }
    m->nstored = m->nparams;
    return p;
}

void cavs_param_freeze(struct cavs_param *p)
{
    if (!p)
        return;
    if (p->model->finished)
        cavs__model_fail(p->model, CAVS_ESTATE, "parameter %s: freeze before the model is finished",
                         p->name);
    else
        p->frozen = true;
}

int cavs_model_param_count(const struct cavs_model *m)
{
    return m ? m->nparams : 0;
}

struct cavs_param *cavs_model_param_at(const struct cavs_model *m, int i)
{
    return m && i >= 0 && i < m->nparams ? m->params[i] : NULL;
}

const char *cavs_param_name(const struct cavs_param *p)
{
    return p ? p->name : NULL;
}

int cavs_param_rows(const struct cavs_param *p)
{
    return p ? p->rows : 0;
}

int cavs_param_cols(const struct cavs_param *p)
{
    return p ? p->cols : 0;
}

struct cavs_stage *cavs_stage_create(struct cavs_model *m, const char *name, int state_width)
{
    struct cavs_stage *s;

    if (!m || m->finished || !name || state_width < 0) {
        if (m)
            cavs__model_fail(m, m->finished ? CAVS_ESTATE : CAVS_EINVAL, "stage %s: %s",
                             name ? name : "(null)",
                             m->finished       ? "the model is finished"
                             : state_width < 0 ? "negative state width"
                                               : "a stage needs a name");
        return NULL;
    }
    s = calloc(1, sizeof *s);
    if (s)
        *s = (struct cavs_stage){
            .model = m, .name = strdup(name), .state_width = state_width, .number = m->nstages};
    if (!s || !s->name || !CAVS__APPEND(m->stages, m->nstages, s)) {
        stage_destroy(s);
        cavs__model_fail(m, CAVS_ENOMEM, "out of memory for stage %s", name);
        return NULL;
    }
    return s;
}

struct cavs_stage *cavs_stage_over(struct cavs_model *m, const char *name, struct cavs_stage *base,
                                   enum cavs_over which)
{
    struct cavs_stage *s;

    if (!m)
        return NULL;
    if (!base || base->model != m) {
        cavs__model_fail(m, CAVS_EPROGRAM, "stage %s stands over %s", name ? name : "(null)",
                         base ? "a stage of another model" : "no stage (NULL)");
        return NULL;
    }
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

struct cavs_function *cavs_function_create(struct cavs_stage *stage, const char *name)
{
    struct cavs_function *f;

    if (!stage)
        return NULL;
    if (stage->model->finished || !name) {
        cavs__model_fail(stage->model, stage->model->finished ? CAVS_ESTATE : CAVS_EINVAL,
                         "stage %s: function %s: %s", stage->name, name ? name : "(null)",
                         name ? "the model is finished" : "needs a name");
        return NULL;
    }
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
            f, CAVS_EPROGRAM, last ? last->at : (struct cavs_place){"(empty)", 0},
            "no scatter: every function of stage %s must scatter a state of width %d",
            f->stage->name, f->stage->state_width);
    f->finished = true;
    return CAVS_OK;
}

const char *cavs_version(void)
{
    return PACKAGE_VERSION;
}
