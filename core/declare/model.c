/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - life of models, their metrics, and the first mistake in one. */
#include "core/declare/model.h"

#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"

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
    } else if (at.file) {
        snprintf(where, sizeof where, "%s:%d: function %s.%s: %s", at.file, at.line, f->stage->name,
                 f->name, text);
    } else {
        snprintf(where, sizeof where, "function %s.%s: %s", f->stage->name, f->name, text);
    }
    cavs__fail(code, "%s", where);
    if (f->recorder && f->recorder->elsewhere) {
        __atomic_store_n(&f->recorder->asked, true, __ATOMIC_RELAXED);
        return code;
    }
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

struct cavs__metric *cavs__known_metric(const struct cavs_model *m, const char *name)
{
    for (int i = 0; i < m->nmetrics; i++)
        if (strcmp(m->metrics[i]->name, name) == 0)
            return m->metrics[i];
    return NULL;
}

struct cavs__metric *cavs__model_metric(struct cavs_model *m, const char *name)
{
    struct cavs__metric *metric = cavs__known_metric(m, name);

    if (metric)
        return metric;
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
        cavs__stage_destroy(m->stages[i]);
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

const char *cavs_version(void)
{
    return PACKAGE_VERSION;
}
