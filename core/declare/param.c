/* SPDX-License-Identifier: Apache-2.0 */
/* param.c - parameters of a model: declared, frozen, found and asked about. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/json_text.h"
#include "core/base/own_name.h"
#include "core/declare/model.h"

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

static int check_name(struct cavs_model *m, const char *name)
{
    if (!name || !*name)
        return cavs__model_fail(m, CAVS_EINVAL, "a parameter needs a name");
    if (!cavs__is_utf8(name))
        return cavs__model_fail(m, CAVS_EINVAL,
                                "parameter %s: model files want names in UTF-8, which this is not",
                                name);
    if (cavs__is_own(name) || strcmp(name, "__metadata__") == 0)
        return cavs__model_fail(m, CAVS_EINVAL,
                                "parameter %s: model files need this name themselves", name);
    if (cavs_model_find_param(m, name))
        return cavs__model_fail(m, CAVS_EINVAL, "parameter %s is declared twice", name);
    return CAVS_OK;
}

static int check_init(struct cavs_model *m, const char *name, struct cavs_init init)
{
    switch (init.kind) {
    case CAVS_INIT_CONSTANT:
        if (isnan(init.a))
            return cavs__model_fail(m, CAVS_EINVAL, "parameter %s: starts as NaN", name);
        return CAVS_OK;
    case CAVS_INIT_UNIFORM:
        if (!isfinite(init.b - init.a) || init.a > init.b)
            return cavs__model_fail(m, CAVS_EINVAL,
                                    "parameter %s: uniform in [%g, %g): not a finite range", name,
                                    (double)init.a, (double)init.b);
        return CAVS_OK;
    case CAVS_INIT_NORMAL:
        if (!isfinite(init.a) || !isfinite(init.b) || init.b < 0)
            return cavs__model_fail(m, CAVS_EINVAL,
                                    "parameter %s: normal with mean %g and deviation %g: both "
                                    "are finite, and the deviation is at least 0",
                                    name, (double)init.a, (double)init.b);
        return CAVS_OK;
    }
    return cavs__model_fail(m, CAVS_EINVAL, "parameter %s: there is no distribution %d", name,
                            (int)init.kind);
}

static int check_param(struct cavs_model *m, const char *name, int rows, int cols,
                       struct cavs_init init)
{
    int rc;

    if (m->finished)
        return cavs__model_fail(m, CAVS_ESTATE, "parameter %s: the model is finished",
                                name ? name : "without a name");
    rc = check_name(m, name);
    if (!rc && (rows <= 0 || cols <= 0))
        rc = cavs__model_fail(m, CAVS_ESHAPE, "parameter %s: shape %d x %d is not positive", name,
                              rows, cols);
    return rc ? rc : check_init(m, name, init);
}

struct cavs_param *cavs_model_param(struct cavs_model *m, const char *name, int rows, int cols,
                                    struct cavs_init init)
{
    struct cavs_param *p;

    if (!m || check_param(m, name, rows, cols, init))
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
