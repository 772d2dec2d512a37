/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - a model compiled for execution; see plan.h. */
#include "core/compile/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device_set.h"
#include "codelets/groups/elementwise.h"
#include "codelets/task.h"
#include "core/base/array.h"
#include "core/base/error.h"
#include "core/compile/place.h"
#include "core/declare/operator.h"
#include "memory/tensor.h"

/* ---- tensors and sections ---- */

int cavs__plan_tensor(struct cavs__plan *p, struct cavs__tensor_desc desc, const char *format, ...)
{
    char name[128];
    va_list ap;

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

/* ---- parameters ---- */

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

static int plan_params(struct cavs__plan *p)
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

/* ---- stages ---- */

/* Column at which function f scatters what it pushes on c, or -1. */
static int column_in_state(const struct cavs_function *f, const struct cavs__channel *c)
{
    const struct cavs_symbol *state = f->scatter ? f->scatter->inputs[0] : NULL, *x = NULL;

    for (int i = 0; i < f->nsymbols; i++) {
        if (f->symbols[i]->op == CAVS__OP_PUSH && f->symbols[i]->channel == c)
            x = f->symbols[i]->inputs[0];
    }
    if (!state || !x)
        return -1;
    if (x == state)
        return 0;
    for (int i = 0, at = 0; state->op == CAVS__OP_CONCAT && i < state->ninputs;
         at += state->inputs[i++]->width) {
        if (state->inputs[i] == x)
            return at;
    }
    return -1;
}

/* A channel that shows a part of what every function scatters is a view of the state. */
static int channel_column(const struct cavs_stage *s, const struct cavs__channel *c)
{
    int col = column_in_state(s->functions[0], c);

    for (int i = 1; i < s->nfunctions; i++) {
        if (column_in_state(s->functions[i], c) != col)
            return -1;
    }
    return col;
}

static int plan_channels(struct cavs__plan *p, struct cavs__stage_plan *sp)
{
    const struct cavs_stage *s = sp->stage;

    for (int i = 0; i < s->nchannels; i++) {
        const struct cavs__channel *c = s->channels[i];
        int col = s->state_width > 0 ? channel_column(s, c) : -1;

        sp->push[i] = sp->state;
        sp->push_col[i] = col;
        if (col >= 0)
            continue;
        sp->push_col[i] = 0;
        sp->push[i] = cavs__plan_tensor(
            p,
            (struct cavs__tensor_desc){
                .kind = CAVS__T_PUSH, .space = CAVS__ROWS, .cols = c->width, .stage = s},
            "%s.%s", s->name, c->name);
        if (sp->push[i] < 0)
            return sp->push[i];
    }
    return CAVS_OK;
}

static int plan_inputs(struct cavs__plan *p, struct cavs__stage_plan *sp)
{
    const struct cavs_stage *s = sp->stage;

    for (int i = 0; i < s->ninputs; i++) {
        const struct cavs__input *in = s->inputs[i];

        sp->input[i] = -1;
        if (in->ids)
            continue;
        sp->input[i] =
            cavs__plan_tensor(p,
                              (struct cavs__tensor_desc){
                                  .kind = CAVS__T_INPUT,
                                  .space = in->per == CAVS__PER_EDGE ? CAVS__EDGES : CAVS__ROWS,
                                  .cols = in->width,
                                  .stage = s},
                              "%s.%s", s->name, in->name);
        if (sp->input[i] < 0)
            return sp->input[i];
    }
    return CAVS_OK;
}

double cavs__function_flops(const struct cavs_function *f, int domain, bool backward)
{
    double sum = 0;

    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        if (x->live && x->domain == domain && (backward || !x->backward))
            sum += cavs__operator_of(x)->flops ? cavs__operator_of(x)->flops(x) : 0;
    }
    return sum;
}

static void count_list_flops(struct cavs__stage_plan *sp, const struct cavs_function *f,
                             bool training)
{
    for (int d = 1; d <= f->nlists; d++) {
        int number = f->lists[d - 1]->number;

        sp->list_flops[number] = cavs__function_flops(f, d, training);
        sp->list_flops_forward[number] = cavs__function_flops(f, d, false);
    }
}

static bool is_random(const struct cavs_symbol *x)
{
    return cavs__operator_of(x)->random;
}

/* Metrics count vertices. */
static bool counts(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_METRIC;
}

static bool contains(const struct cavs_stage *s, bool (*it)(const struct cavs_symbol *x))
{
    for (int j = 0; j < s->nfunctions; j++) {
        for (int i = 0; i < s->functions[j]->nsymbols; i++) {
            if (it(s->functions[j]->symbols[i]))
                return true;
        }
    }
    return false;
}

/* Equal vertices may have different lists. */
static bool brings_lists(const struct cavs_stage *s)
{
    for (int i = 0; i < s->nlists; i++) {
        if (!s->lists[i]->children)
            return true;
    }
    return false;
}

static int plan_stage_tensors(struct cavs__plan *p, struct cavs__stage_plan *sp)
{
    const struct cavs_stage *s = sp->stage;

    sp->state = sp->edge = -1;
    sp->index =
        cavs__plan_tensor(p,
                          (struct cavs__tensor_desc){
                              .kind = CAVS__T_INDEX, .space = CAVS__FIXED, .cols = 1, .stage = s},
                          "%s.index", s->name);
    if (s->state_width > 0)
        sp->state = cavs__plan_tensor(
            p,
            (struct cavs__tensor_desc){
                .kind = CAVS__T_STATE, .space = CAVS__ROWS, .cols = s->state_width, .stage = s},
            "%s.state", s->name);
    if (s->state_grad && p->options.training)
        sp->edge = cavs__plan_tensor(
            p,
            (struct cavs__tensor_desc){
                .kind = CAVS__T_EDGE, .space = CAVS__EDGES, .cols = s->state_width, .stage = s},
            "%s.state.grad", s->name);
    return sp->index < 0 || sp->state < -1 || sp->edge < -1 ? CAVS_ENOMEM : CAVS_OK;
}

static int plan_stage(struct cavs__plan *p, const struct cavs_stage *s)
{
    struct cavs__stage_plan *sp = &p->stages[s->number];
    int rc;

    sp->stage = s;
    sp->noisy = p->options.training && contains(s, is_random);
    sp->mergeable = !s->base && !sp->noisy && !contains(s, counts) && !brings_lists(s);
    sp->push = calloc((size_t)s->nchannels + 1, sizeof *sp->push);
    sp->push_col = calloc((size_t)s->nchannels + 1, sizeof *sp->push_col);
    sp->input = calloc((size_t)s->ninputs + 1, sizeof *sp->input);
    sp->flops = calloc((size_t)s->nfunctions, sizeof *sp->flops);
    sp->flops_forward = calloc((size_t)s->nfunctions, sizeof *sp->flops_forward);
    sp->streamed = calloc((size_t)s->nfunctions, sizeof *sp->streamed);
    sp->shared_inputs = calloc((size_t)s->nfunctions, sizeof *sp->shared_inputs);
    sp->list_flops = calloc((size_t)s->nlists + 1, sizeof *sp->list_flops);
    sp->list_flops_forward = calloc((size_t)s->nlists + 1, sizeof *sp->list_flops_forward);
    if (!sp->push || !sp->push_col || !sp->input || !sp->flops || !sp->flops_forward ||
        !sp->streamed || !sp->shared_inputs || !sp->list_flops || !sp->list_flops_forward)
        return cavs__fail_nomem("plan: stage", ((size_t)s->nchannels + (size_t)s->ninputs + 3 +
                                                4 * (size_t)s->nfunctions + 2 * (size_t)s->nlists) *
                                                   sizeof(double));
    for (int j = 0; j < s->nfunctions; j++) {
        sp->flops[j] = cavs__function_flops(s->functions[j], 0, p->options.training);
        sp->flops_forward[j] = cavs__function_flops(s->functions[j], 0, false);
        count_list_flops(sp, s->functions[j], p->options.training);
    }
    rc = plan_stage_tensors(p, sp);
    if (!rc)
        rc = plan_channels(p, sp);
    if (!rc)
        rc = plan_inputs(p, sp);
    return rc;
}

static int plan_functions(struct cavs__plan *p)
{
    for (int i = 0; i < p->model->nstages; i++) {
        for (int j = 0; j < p->model->stages[i]->nfunctions; j++) {
            int rc = cavs__place_function(p, p->model->stages[i]->functions[j]);

            if (rc)
                return rc;
        }
    }
    for (int i = 0; i < p->model->nstages; i++) {
        struct cavs__stage_plan *sp = &p->stages[i];

        cavs__sort_kinds(sp);
        for (int j = 0; j < sp->nkinds; j++) {
            int rc = cavs__bind_kind(p, sp->kinds[j]);

            if (rc)
                return rc;
        }
        cavs__find_streamed(sp, &p->options);
    }
    return CAVS_OK;
}

int cavs__plan_create(const struct cavs_model *m, const struct cavs__plan_options *options,
                      struct cavs__plan **out)
{
    struct cavs__plan *p = calloc(1, sizeof *p);
    size_t n = (size_t)m->nstored + 1;
    int rc = CAVS_OK;

    if (!p)
        return cavs__fail_nomem("plan", sizeof *p);
    p->model = m;
    p->options = *options;
    p->nstages = m->nstages;
    p->stages = calloc((size_t)m->nstages + 1, sizeof *p->stages);
    p->param = calloc(n, sizeof *p->param);
    p->copies = calloc(n, sizeof *p->copies);
    p->grad = calloc(n, sizeof *p->grad);
    if (!p->stages || !p->param || !p->copies || !p->grad)
        rc = cavs__fail_nomem("plan: tensors", n * (2 * sizeof *p->param + sizeof *p->copies) +
                                                   ((size_t)m->nstages + 1) * sizeof *p->stages);
    if (!rc)
        rc = plan_params(p);
    for (int i = 0; i < m->nstages && !rc; i++)
        rc = plan_stage(p, m->stages[i]);
    cavs__ew_batch_begin();
    if (!rc)
        rc = plan_functions(p);
    cavs__ew_batch_end();
    if (rc) {
        cavs__plan_destroy(p);
        return rc;
    }
    *out = p;
    return CAVS_OK;
}

void cavs__part_destroy(struct cavs__part *part)
{
    if (!part)
        return;
    for (int i = 0; i < part->nsteps; i++) {
        cavs__ew_program_destroy((struct cavs__ew_program *)part->steps[i].call.program);
        free((char *)part->steps[i].label);
        free(part->steps[i].origin);
        free(part->steps[i].sequence);
        free(part->steps[i].v);
    }
    free(part->steps);
    free(part->name);
    free(part);
}

void cavs__stage_plan_destroy(struct cavs__stage_plan *sp)
{
    for (int i = 0; i < sp->nkinds; i++) {
        for (int f = 0; f < sp->kinds[i]->nparts; f++)
            cavs__part_destroy(sp->kinds[i]->parts[f]);
        free(sp->kinds[i]->parts);
        free(sp->kinds[i]->name);
        free(sp->kinds[i]);
    }
    free(sp->kinds);
    free(sp->sections);
    free(sp->push);
    free(sp->push_col);
    free(sp->input);
    free(sp->flops);
    free(sp->flops_forward);
    free(sp->streamed);
    for (int f = 0; sp->shared_inputs && f < sp->stage->nfunctions; f++)
        free(sp->shared_inputs[f]);
    free(sp->shared_inputs);
    free(sp->list_flops);
    free(sp->list_flops_forward);
}

void cavs__plan_destroy(struct cavs__plan *p)
{
    if (!p)
        return;
    for (int i = 0; p->stages && i < p->nstages; i++)
        cavs__stage_plan_destroy(&p->stages[i]);
    cavs__devices->groups_destroy(p->groups);
    for (int i = 0; i < p->ntensors; i++)
        free(p->tensors[i].name);
    free(p->tensors);
    free(p->stages);
    free(p->param);
    free(p->copies);
    free(p->grad);
    free(p);
}
