/* SPDX-License-Identifier: Apache-2.0 */
/* naive.c - walks the stages and vertices of one sample, forward and back. */
#include "tests/naive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

static void *array(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p) {
        fputs("naive: out of memory\n", stderr);
        abort();
    }
    return p;
}

static double *zeros(size_t n)
{
    return array(n, sizeof(double));
}

int naive_entries(const struct naive *o, const struct cavs__list *list, int vertex)
{
    const struct sample_stage *s = &o->sample->stages[list->function->stage->number];
    if (list->children)
        return s->graph->child_ptr[vertex + 1] - s->graph->child_ptr[vertex];
    if (list->input)
        return s->ptr[list->input->number][vertex + 1] - s->ptr[list->input->number][vertex];
    return o->sample->stages[list->whole->number].n;
}

/* Only forward symbols have a place on the tape. */
static int *tape_layout(const struct naive *o, const struct cavs_function *f, int vertex)
{
    int *offset = array((size_t)f->nsymbols + 1, sizeof *offset), length = 0;
    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];
        int rows = x->domain ? naive_entries(o, f->lists[x->domain - 1], vertex) : 1;
        offset[i] = length;
        length += x->backward ? 0 : rows * x->width;
    }
    offset[f->nsymbols] = length;
    return offset;
}

struct naive *naive_create(const struct cavs_model *m)
{
    struct naive *o = array(1, sizeof *o);
    o->model = m;
    o->param = array((size_t)m->nparams, sizeof *o->param);
    o->gradient = array((size_t)m->nparams, sizeof *o->gradient);
    for (int i = 0; i < m->nparams; i++) {
        size_t n = (size_t)m->params[i]->rows * m->params[i]->cols;
        o->param[i] = zeros(n);
        o->gradient[i] = zeros(n);
    }
    o->sum = zeros((size_t)m->nmetrics);
    o->count = zeros((size_t)m->nmetrics);
    o->stages = array((size_t)m->nstages, sizeof *o->stages);
    return o;
}

static void free_rows(double **rows, int n)
{
    for (int i = 0; rows && i < n; i++)
        free(rows[i]);
    free(rows);
}

static void forget_sample(struct naive *o)
{
    for (int i = 0; i < o->model->nstages; i++) {
        struct naive_stage *s = &o->stages[i];
        int channels = o->model->stages[i]->nchannels;
        free(s->state);
        free(s->dstate);
        free_rows(s->channel, channels);
        free_rows(s->dchannel, channels);
        free_rows(s->tape, s->n);
        free_rows(s->dtape, s->n);
        for (int v = 0; s->offset && v < s->n; v++)
            free(s->offset[v]);
        free(s->offset);
        memset(s, 0, sizeof *s);
    }
}

void naive_destroy(struct naive *o)
{
    if (!o)
        return;
    forget_sample(o);
    free_rows(o->param, o->model->nparams);
    free_rows(o->gradient, o->model->nparams);
    free(o->sum);
    free(o->count);
    free(o->stages);
    free(o);
}

void naive_reset(struct naive *o)
{
    for (int i = 0; i < o->model->nparams; i++) {
        const struct cavs_param *p = o->model->params[i];
        memset(o->gradient[i], 0, sizeof(double) * (size_t)p->rows * (size_t)p->cols);
    }
    memset(o->sum, 0, sizeof(double) * (size_t)o->model->nmetrics);
    memset(o->count, 0, sizeof(double) * (size_t)o->model->nmetrics);
}

static void prepare_stage(struct naive *o, const struct cavs_stage *stage, int n)
{
    struct naive_stage *s = &o->stages[stage->number];
    s->n = n;
    s->state = zeros((size_t)n * stage->state_width);
    s->dstate = zeros((size_t)n * stage->state_width);
    s->channel = array((size_t)stage->nchannels, sizeof *s->channel);
    s->dchannel = array((size_t)stage->nchannels, sizeof *s->dchannel);
    for (int i = 0; i < stage->nchannels; i++) {
        s->channel[i] = zeros((size_t)n * stage->channels[i]->width);
        s->dchannel[i] = zeros((size_t)n * stage->channels[i]->width);
    }
    s->tape = array((size_t)n, sizeof *s->tape);
    s->dtape = array((size_t)n, sizeof *s->dtape);
    s->offset = array((size_t)n, sizeof *s->offset);
}

static const struct cavs_function *function_of(const struct naive *o,
                                               const struct cavs_stage *stage, int v)
{
    return stage->functions[o->sample->stages[stage->number].graph->functions[v]];
}

static struct naive_place stand_at(struct naive *o, const struct cavs_stage *stage, int v)
{
    const struct cavs_function *f = function_of(o, stage, v);
    struct naive_stage *s = &o->stages[stage->number];
    if (!s->tape[v]) {
        s->offset[v] = tape_layout(o, f, v);
        s->tape[v] = zeros((size_t)s->offset[v][f->nsymbols]);
        s->dtape[v] = zeros((size_t)s->offset[v][f->nsymbols]);
    }
    return (struct naive_place){o, stage, v, 0, s->offset[v], s->tape[v], s->dtape[v]};
}

/* Moves the rows of x at a vertex, which begin there in `rows`, as rounding may. */
static void shake(struct naive *o, const struct naive_place *at, const struct cavs_symbol *x,
                  double *rows)
{
    for (int i = at->offset[x->number]; o->noise != 0 && i < at->offset[x->number + 1]; i++)
        rows[i] *= 1 + random_double(&o->draws, -o->noise, o->noise);
}

static void vertex_forward(struct naive *o, const struct cavs_stage *stage, int v)
{
    const struct cavs_function *f = function_of(o, stage, v);
    struct naive_place at = stand_at(o, stage, v);
    for (int i = 0; i < f->nsymbols; i++) {
        if (f->symbols[i]->backward)
            continue;
        naive_forward(&at, f->symbols[i]);
        shake(o, &at, f->symbols[i], at.value);
    }
}

static void vertex_backward(struct naive *o, const struct cavs_stage *stage, int v)
{
    const struct cavs_function *f = function_of(o, stage, v);
    struct naive_place at = stand_at(o, stage, v);
    for (int i = f->nsymbols - 1; i >= 0; i--) {
        if (f->symbols[i]->backward)
            continue;
        shake(o, &at, f->symbols[i], at.grad);
        naive_backward(&at, f->symbols[i]);
    }
}

static void stage_forward(struct naive *o, const struct cavs_stage *stage)
{
    const struct sample_stage *s = &o->sample->stages[stage->number];
    int *order = array((size_t)s->n, sizeof *order);
    prepare_stage(o, stage, s->n);
    graph_order(s->graph, order);
    for (int i = 0; i < s->n; i++)
        vertex_forward(o, stage, order[i]);
    free(order);
}

static void stage_backward(struct naive *o, const struct cavs_stage *stage)
{
    const struct sample_stage *s = &o->sample->stages[stage->number];
    int *order = array((size_t)s->n, sizeof *order);
    graph_order(s->graph, order);
    for (int i = s->n - 1; i >= 0; i--)
        vertex_backward(o, stage, order[i]);
    free(order);
}

void naive_run(struct naive *o, const struct sample *s, bool backward)
{
    forget_sample(o);
    o->sample = s;
    for (int i = 0; i < o->model->nstages; i++)
        stage_forward(o, o->model->stages[i]);
    for (int i = o->model->nstages - 1; backward && i >= 0; i--)
        stage_backward(o, o->model->stages[i]);
}

/* A metric is a loss if some function says so; its name then is not used for anything else. */
static bool is_loss(const struct cavs_stage *stage, int metric)
{
    for (int i = 0; i < stage->nfunctions; i++) {
        for (int j = 0; j < stage->functions[i]->nsymbols; j++) {
            const struct cavs_symbol *x = stage->functions[i]->symbols[j];
            if (x->op == CAVS__OP_METRIC && x->is_loss && x->metric->number == metric)
                return true;
        }
    }
    return false;
}

double naive_objective(const struct naive *o)
{
    double objective = 0;
    for (int metric = 0; metric < o->model->nmetrics; metric++) {
        bool counts = false;
        for (int i = 0; i < o->model->nstages; i++)
            counts = counts || is_loss(o->model->stages[i], metric);
        objective += counts ? o->sum[metric] : 0;
    }
    return objective;
}
