/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - a model compiled for execution; see plan.h. */
#include "core/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/elementwise.h"
#include "codelets/task.h"
#include "core/array.h"
#include "core/error.h"
#include "core/place.h"
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
    if (!desc.name || !CAVS__APPEND(p->tensors, p->ntensors, desc))
        return cavs__fail_nomem("plan", sizeof desc);
    return p->ntensors - 1;
}

int cavs__plan_symbol_tensor(struct cavs__plan *p, enum cavs__tensor_kind kind, const struct cavs_symbol *x)
{
    struct cavs__tensor_desc d = {
        .kind = kind, .space = CAVS__FROWS, .cols = x->width, .stage = x->function->stage, .function = x->function, .symbol = x};

    for (int i = 0; i < p->ntensors; i++) {
        if (p->tensors[i].kind == kind && p->tensors[i].symbol == x)
            return i;
    }
    d.param = x->param;
    return cavs__plan_tensor(p, d, "%s.%s.grad.%s", d.stage->name, d.function->name,
                             x->param ? x->param->name : x->channel->name);
}

static bool same_section(const struct cavs__section *a, const struct cavs__section *b)
{
    return a->kind == b->kind && a->function == b->function && a->number == b->number && a->fetch == b->fetch;
}

int cavs__plan_section(struct cavs__stage_plan *s, struct cavs__section section)
{
    for (int i = 0; i < s->nsections; i++) {
        if (same_section(&s->sections[i], &section))
            return i;
    }
    return CAVS__APPEND(s->sections, s->nsections, section) ? s->nsections - 1 : CAVS_ENOMEM;
}

/* ---- parameters ---- */

static int plan_params(struct cavs__plan *p)
{
    const struct cavs_model *m = p->model;

    for (int i = 0; i < m->nstored; i++) {
        struct cavs_param *w = m->params[i];
        struct cavs__tensor_desc d = {.space = CAVS__FIXED, .param = w, .cols = w->cols, .kind = CAVS__T_PARAM};

        if (w->merged)
            continue;
        p->param[i] = cavs__plan_tensor(p, d, "%s", w->name);
        p->param_t[i] = p->grad[i] = -1;
        if (w->transposed && p->options.training) {
            d.kind = CAVS__T_PARAM_T;
            d.cols = w->rows;
            p->param_t[i] = cavs__plan_tensor(p, d, "%s.transposed", w->name);
        }
        if (w->dense_use && !w->frozen && p->options.training) {
            d.kind = CAVS__T_GRAD;
            d.cols = w->cols;
            p->grad[i] = cavs__plan_tensor(p, d, "%s.gradient", w->name);
        }
        if (p->param[i] < 0)
            return p->param[i];
    }
    p->metric = cavs__plan_tensor(
        p, (struct cavs__tensor_desc){.kind = CAVS__T_METRIC, .space = CAVS__FIXED, .cols = 4 * m->nmetrics + 4}, "metrics");
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
    for (int i = 0, at = 0; state->op == CAVS__OP_CONCAT && i < state->ninputs; at += state->inputs[i++]->width) {
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
            p, (struct cavs__tensor_desc){.kind = CAVS__T_PUSH, .space = CAVS__ROWS, .cols = c->width, .stage = s},
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
        sp->input[i] = cavs__plan_tensor(
            p, (struct cavs__tensor_desc){.kind = CAVS__T_INPUT, .space = CAVS__ROWS, .cols = in->width, .stage = s},
            "%s.%s", s->name, in->name);
        if (sp->input[i] < 0)
            return sp->input[i];
    }
    return CAVS_OK;
}

/* Nominal GEMM operations of a vertex. */
static double count_flops(const struct cavs_function *f, bool backward)
{
    double sum = 0;

    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];
        bool product = x->op == CAVS__OP_MATMUL || x->op == CAVS__OP_MATMUL_T || x->op == CAVS__OP_GRAD_MATMUL;

        if (product && x->live && (backward || !x->backward))
            sum += 2.0 * x->param->rows * x->param->cols;
    }
    return sum;
}

static bool mergeable(const struct cavs_stage *s)
{
    for (int j = 0; j < s->nfunctions; j++) {
        for (int i = 0; i < s->functions[j]->nsymbols; i++) {
            if (s->functions[j]->symbols[i]->op == CAVS__OP_METRIC)
                return false; /* metrics count vertices */
        }
    }
    return s->base == NULL;
}

static int plan_stage_tensors(struct cavs__plan *p, struct cavs__stage_plan *sp)
{
    const struct cavs_stage *s = sp->stage;

    sp->state = sp->edge = -1;
    sp->index = cavs__plan_tensor(
        p, (struct cavs__tensor_desc){.kind = CAVS__T_INDEX, .space = CAVS__FIXED, .cols = 1, .stage = s}, "%s.index",
        s->name);
    if (s->state_width > 0)
        sp->state = cavs__plan_tensor(p,
                                      (struct cavs__tensor_desc){
                                          .kind = CAVS__T_STATE, .space = CAVS__ROWS, .cols = s->state_width, .stage = s},
                                      "%s.state", s->name);
    if (s->state_grad && p->options.training)
        sp->edge = cavs__plan_tensor(p,
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
    sp->mergeable = mergeable(s);
    sp->push = calloc((size_t)s->nchannels + 1, sizeof *sp->push);
    sp->push_col = calloc((size_t)s->nchannels + 1, sizeof *sp->push_col);
    sp->input = calloc((size_t)s->ninputs + 1, sizeof *sp->input);
    sp->flops = calloc((size_t)s->nfunctions, sizeof *sp->flops);
    sp->flops_forward = calloc((size_t)s->nfunctions, sizeof *sp->flops_forward);
    if (!sp->push || !sp->push_col || !sp->input || !sp->flops || !sp->flops_forward)
        return cavs__fail_nomem("plan", sizeof *sp);
    for (int j = 0; j < s->nfunctions; j++) {
        sp->flops[j] = count_flops(s->functions[j], p->options.training);
        sp->flops_forward[j] = count_flops(s->functions[j], false);
    }
    rc = plan_stage_tensors(p, sp);
    if (!rc)
        rc = plan_channels(p, sp);
    if (!rc)
        rc = plan_inputs(p, sp);
    return rc;
}

/* ---- task kinds ---- */

static const char *const class_names[] = {"eager", "chain", "lazy"};
static const char *const phase_names[] = {"forward", "backward", "gradient"};

static struct cavs__task_kind *find_chain(struct cavs__stage_plan *sp, enum cavs__phase phase)
{
    for (int i = 0; i < sp->nkinds; i++) {
        if (!sp->kinds[i]->function && sp->kinds[i]->phase == phase)
            return sp->kinds[i];
    }
    return NULL;
}

static struct cavs__task_kind *new_kind(struct cavs__stage_plan *sp, const struct cavs_function *f,
                                        enum cavs__phase phase, enum cavs__class klass, const char *what)
{
    struct cavs__task_kind *k = calloc(1, sizeof *k);
    char name[160];

    if (!k)
        return NULL;
    if (what)
        snprintf(name, sizeof name, "%s.%s.%s.%s", sp->stage->name, f->name, phase_names[phase], what);
    else if (f)
        snprintf(name, sizeof name, "%s.%s.%s.%s", sp->stage->name, f->name, phase_names[phase], class_names[klass]);
    else
        snprintf(name, sizeof name, "%s.%s.%s", sp->stage->name, phase_names[phase], class_names[klass]);
    k->name = strdup(name);
    k->phase = phase;
    k->klass = klass;
    k->stage = sp->stage;
    k->function = f;
    k->index_buffer = CAVS__NO_BUFFER;
    k->parts = calloc((size_t)sp->stage->nfunctions, sizeof *k->parts);
    if (k->name && k->parts && CAVS__APPEND(sp->kinds, sp->nkinds, k))
        return k;
    free(k->name);
    free(k->parts);
    free(k);
    return NULL;
}

int cavs__plan_add_part(struct cavs__plan *p, const struct cavs_function *f, enum cavs__phase phase,
                        enum cavs__class klass, const char *what, struct cavs__part *part)
{
    struct cavs__stage_plan *sp = &p->stages[f->stage->number];
    bool chain = klass == CAVS__CHAIN;
    struct cavs__task_kind *k = chain ? find_chain(sp, phase) : NULL;

    if (!k)
        k = new_kind(sp, chain ? NULL : f, phase, klass, what);
    if (!k)
        return cavs__fail_nomem("task kind", sizeof *k);
    k->parts[f->number] = part;
    part->name = strdup(k->name);
    if (cavs__part_scratch(part) > p->scratch)
        p->scratch = cavs__part_scratch(part);
    return CAVS_OK;
}

static int order_of(const struct cavs__task_kind *k)
{
    return 3 * (int)k->phase + (int)k->klass;
}

/* Forward eager, chain, lazy; backward the same; then gradients.  Stable: functions keep their order. */
static void sort_kinds(struct cavs__stage_plan *sp)
{
    for (int i = 1; i < sp->nkinds; i++) {
        struct cavs__task_kind *k = sp->kinds[i];
        int j = i;

        for (; j > 0 && order_of(sp->kinds[j - 1]) > order_of(k); j--)
            sp->kinds[j] = sp->kinds[j - 1];
        sp->kinds[j] = k;
    }
}

/* ---- renumbering tensors to the buffers of a task ---- */

static int buffer_of(struct cavs__task_kind *k, int tensor)
{
    for (int i = 0; i < k->nbuffers; i++) {
        if (k->tensor[i] == tensor)
            return i;
    }
    if (k->nbuffers == CAVS__MAX_BUFFERS)
        return CAVS_EPROGRAM;
    k->tensor[k->nbuffers] = tensor;
    return k->nbuffers++;
}

static int bind_operand(const struct cavs__plan *p, struct cavs__task_kind *k, struct cavs__operand *o, bool output)
{
    int b = o->buffer;

    if (o->mode == CAVS__INDEXED || o->mode == CAVS__IDS || o->mode == CAVS__SUMMED) {
        k->index_buffer = buffer_of(k, p->stages[k->stage->number].index);
        if (k->index_buffer < 0)
            return k->index_buffer;
    }
    if (b < 0)
        return CAVS_OK;
    o->ld = cavs__tensor_ld(p->tensors[b].cols);
    b = buffer_of(k, b);
    if (b < 0)
        return b;
    o->buffer = (int16_t)b;
    k->written[b] |= output;
    return CAVS_OK;
}

static int bind_kind(const struct cavs__plan *p, struct cavs__task_kind *k)
{
    for (int f = 0; f < k->stage->nfunctions; f++) {
        struct cavs__part *part = k->parts[f];

        for (int i = 0; part && i < part->nsteps; i++) {
            struct cavs__step *s = &part->steps[i];

            k->gemm |= s->flops > 0;
            for (int j = 0; j < s->nviews; j++) {
                if (bind_operand(p, k, &s->v[j], j >= s->nviews - s->noutputs))
                    return cavs__fail(CAVS_EPROGRAM, "task %s touches more than %d tensors; split the function", k->name,
                                      CAVS__MAX_BUFFERS);
            }
            if (s->call.kernel->reduces)
                part->adds_to |= (uint64_t)1 << s->v[s->nviews - 1].buffer;
        }
    }
    cavs__task_codelet(k->name, &k->codelet);
    return CAVS_OK;
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

        sort_kinds(sp);
        for (int j = 0; j < sp->nkinds; j++) {
            int rc = bind_kind(p, sp->kinds[j]);

            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

int cavs__plan_create(const struct cavs_model *m, const struct cavs__plan_options *options, struct cavs__plan **out)
{
    struct cavs__plan *p = calloc(1, sizeof *p);
    size_t n = (size_t)m->nstored + 1;
    int rc = CAVS_OK;

    if (!p)
        return cavs__fail_nomem("plan", sizeof *p);
    p->model = m;
    p->options = *options;
    p->stages = calloc((size_t)m->nstages + 1, sizeof *p->stages);
    p->param = calloc(n, sizeof *p->param);
    p->param_t = calloc(n, sizeof *p->param_t);
    p->grad = calloc(n, sizeof *p->grad);
    if (!p->stages || !p->param || !p->param_t || !p->grad)
        rc = cavs__fail_nomem("plan", n * sizeof *p->param);
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

static void part_destroy(struct cavs__part *part)
{
    if (!part)
        return;
    for (int i = 0; i < part->nsteps; i++) {
        cavs__ew_program_destroy((struct cavs__ew_program *)part->steps[i].call.program);
        free((char *)part->steps[i].label);
        free(part->steps[i].v);
    }
    free(part->steps);
    free(part->name);
    free(part);
}

static void stage_plan_destroy(struct cavs__stage_plan *sp)
{
    for (int i = 0; i < sp->nkinds; i++) {
        for (int f = 0; f < sp->stage->nfunctions; f++)
            part_destroy(sp->kinds[i]->parts[f]);
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
}

void cavs__plan_destroy(struct cavs__plan *p)
{
    if (!p)
        return;
    for (int i = 0; p->stages && i < p->model->nstages; i++)
        stage_plan_destroy(&p->stages[i]);
    for (int i = 0; i < p->ntensors; i++)
        free(p->tensors[i].name);
    free(p->tensors);
    free(p->stages);
    free(p->param);
    free(p->param_t);
    free(p->grad);
    free(p);
}
