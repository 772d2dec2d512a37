/* SPDX-License-Identifier: Apache-2.0 */
/* plan_tensors.c - which tensors and index sections a plan has, those of parameters first. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/compile/place.h"

int cavs__plan_tensor(struct cavs__plan *p, struct cavs__tensor_desc desc, const char *format, ...)
{
    char name[128];
    va_list ap;

    /* operands know them by numbers of 16 bits */
    if (p->ntensors > INT16_MAX)
        return cavs__fail(CAVS_EPROGRAM,
                          "model: its parameters, gradients and values take more than %d tensors",
                          INT16_MAX + 1);
    va_start(ap, format);
    vsnprintf(name, sizeof name, format, ap);
    va_end(ap);
    desc.name = strdup(name);
    if (!desc.name || !CAVS__APPEND(p->tensors, p->ntensors, desc)) {
        free(desc.name);
        return cavs__fail_nomem("plan: tensor",
                                strlen(name) + 1 + cavs__array_bytes(p->ntensors, sizeof desc));
    }
    return p->ntensors - 1;
}

int cavs__plan_symbol_tensor(struct cavs__plan *p, enum cavs__tensor_kind kind,
                             const struct cavs_symbol *x, bool shared)
{
    struct cavs__tensor_desc d = {.kind = kind,
                                  .space = shared      ? CAVS__DISTINCT
                                           : x->domain ? CAVS__ENTRIES
                                                       : CAVS__FROWS,
                                  .list = x->domain ? x->function->lists[x->domain - 1] : NULL,
                                  .cols = x->width,
                                  .stage = x->function->stage,
                                  .function = x->function,
                                  .symbol = x};

    for (int i = 0; i < p->ntensors; i++) {
        if (p->tensors[i].kind == kind && p->tensors[i].symbol == x)
            return i;
    }
    d.param = x->param;
    return cavs__plan_tensor(p, d, "%s.%s.grad.%s", d.stage->name, d.function->name,
                             x->param     ? x->param->name
                             : x->channel ? x->channel->name
                                          : "shared");
}

static bool same_section(const struct cavs__section *a, const struct cavs__section *b)
{
    return a->kind == b->kind && a->function == b->function && a->number == b->number &&
           a->list == b->list && a->fetch == b->fetch;
}

int cavs__plan_section(struct cavs__stage_plan *s, struct cavs__section section)
{
    for (int i = 0; i < s->nsections; i++) {
        if (same_section(&s->sections[i], &section))
            return i;
    }
    return CAVS__APPEND(s->sections, s->nsections, section)
               ? s->nsections - 1
               : cavs__fail_nomem("plan: index section",
                                  cavs__array_bytes(s->nsections, sizeof section));
}

static int plan_param(struct cavs__plan *p, const struct cavs_param *w)
{
    struct cavs__tensor_desc d = {
        .space = CAVS__FIXED, .param = w, .cols = w->cols, .kind = CAVS__T_PARAM};
    int i = w->number, rc;

    p->grad[i] = -1;
    for (int l = 0; l < CAVS__LAYOUTS; l++)
        p->copies[i][l] = -1;
    rc = p->param[i] = cavs__plan_tensor(p, d, "%s", w->name);
    if (rc >= 0 && w->dense_use && !w->frozen && p->options.training)
        rc = cavs__plan_gradient(p, w);
    return rc < 0 ? rc : CAVS_OK;
}

int cavs__plan_gradient(struct cavs__plan *p, const struct cavs_param *w)
{
    struct cavs__tensor_desc d = {
        .space = CAVS__FIXED, .param = w, .cols = w->cols, .kind = CAVS__T_GRAD};

    if (p->grad[w->number] < 0)
        p->grad[w->number] = cavs__plan_tensor(p, d, "%s.gradient", w->name);
    return p->grad[w->number];
}

static enum cavs__layout in_bf16(enum cavs__layout layout)
{
    return layout == CAVS__LAYOUT_PANELS              ? CAVS__LAYOUT_BF16
           : layout == CAVS__LAYOUT_PANELS_TRANSPOSED ? CAVS__LAYOUT_BF16_TRANSPOSED
                                                      : layout;
}

static enum cavs__layout without_panels(enum cavs__layout layout)
{
    switch (layout) {
    case CAVS__LAYOUT_PANELS: return CAVS__LAYOUT_ROWS;
    case CAVS__LAYOUT_PANELS_TRANSPOSED: return CAVS__LAYOUT_TRANSPOSED;
    case CAVS__LAYOUT_ROWS:
    case CAVS__LAYOUT_TRANSPOSED:
    case CAVS__LAYOUT_BF16:
    case CAVS__LAYOUT_BF16_TRANSPOSED:
    case CAVS__LAYOUTS: break;
    }
    return layout;
}

int cavs__plan_weights(struct cavs__plan *p, const struct cavs_param *w, enum cavs__layout layout)
{
    static const char *const names[CAVS__LAYOUTS] = {
        [CAVS__LAYOUT_TRANSPOSED] = "transposed",
        [CAVS__LAYOUT_PANELS] = "panels",
        [CAVS__LAYOUT_PANELS_TRANSPOSED] = "panels.transposed",
        [CAVS__LAYOUT_BF16] = "bf16",
        [CAVS__LAYOUT_BF16_TRANSPOSED] = "bf16.transposed"};
    struct cavs__tensor_desc d = {.space = CAVS__FIXED, .param = w, .kind = CAVS__T_COPY};
    int *copy;

    if (p->options.bf16)
        layout = in_bf16(layout);
    else if (!p->options.panels)
        layout = without_panels(layout);
    if (layout == CAVS__LAYOUT_ROWS)
        return p->param[w->number];
    copy = &p->copies[w->number][layout];
    d.cols = cavs__layout_cols(layout, w->rows, w->cols);
    if (*copy < 0)
        *copy = cavs__plan_tensor(p, d, "%s.%s", w->name, names[layout]);
    return *copy;
}

int cavs__plan_params(struct cavs__plan *p)
{
    const struct cavs_model *m = p->model;

    for (int i = 0; i < m->nstored; i++) {
        int rc = m->params[i]->merged ? CAVS_OK : plan_param(p, m->params[i]);

        if (rc)
            return rc;
    }
    p->metric = cavs__plan_tensor(p,
                                  (struct cavs__tensor_desc){.kind = CAVS__T_METRIC,
                                                             .space = CAVS__FIXED,
                                                             .cols = 4 * m->most_metrics + 4},
                                  "metrics");
    return p->metric < 0 ? p->metric : CAVS_OK;
}
