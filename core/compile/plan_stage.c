/* SPDX-License-Identifier: Apache-2.0 */
/* plan_stage.c - the plan of one stage: its tensors, and the work of its functions. */
#include <stdlib.h>

#include "codelets/groups/elementwise.h"
#include "core/base/error.h"
#include "core/compile/place.h"
#include "core/declare/operator.h"

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

/* What metrics count is vertices. */
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

/* Equal vertices may still have different lists. */
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

int cavs__plan_stage(struct cavs__plan *p, const struct cavs_stage *s)
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
