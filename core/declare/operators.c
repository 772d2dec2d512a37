/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c - what connects a vertex function with the outside: inputs, the graph, channels,
 * metrics. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/base/array.h"
#include "core/declare/build.h"
#include "core/base/error.h"
#include "core/declare/model.h"

/* Every builder starts with one of these: may f still grow, is x one of its float symbols? */
bool cavs__open_for(struct cavs_function *f, const char *op, struct cavs_place at)
{
    if (!f)
        return false;
    if (f->finished) {
        FAIL(f, CAVS_ESTATE, "%s after the function was finished", op);
        return false;
    }
    return true;
}

bool cavs__is_value(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                    struct cavs_place at)
{
    if (x->function != f)
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s (%s:%d) belongs to function %s.%s", op,
             cavs__symbol_label(x), x->at.file, x->at.line, x->function->stage->name,
             x->function->name);
    else if (x->op == CAVS__OP_IDS)
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s is an id input; use it with lookup or as labels", op,
             x->input->name);
    else
        return true;
    return false;
}

bool cavs__is_ids(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                  struct cavs_place at)
{
    if (x->function != f)
        FAIL(f, CAVS_EPROGRAM, "%s: ids %s belong to function %s.%s", op, cavs__symbol_label(x),
             x->function->stage->name, x->function->name);
    else if (x->op != CAVS__OP_IDS)
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s of width %d where ids are wanted (cavs_pull_ids)",
             op, cavs__symbol_label(x), x->width);
    else
        return true;
    return false;
}

/* A parameter that could not be found or made: said here, because here is the line that needs it.
 */
bool cavs__is_param(struct cavs_function *f, const struct cavs_param *p, const char *op,
                    struct cavs_place at)
{
    if (!p)
        FAIL(f, CAVS_EINVAL, "%s: the parameter is NULL", op);
    return p != NULL;
}

struct cavs_symbol *cavs__add_symbol(struct cavs_function *f, struct cavs_symbol like, int n,
                                     struct cavs_symbol *const *inputs)
{
    struct cavs_symbol *x = cavs__symbol_new(f, &like, n, inputs);

    if (!x)
        cavs__function_fail(f, CAVS_ENOMEM, like.at, "%s: out of memory", cavs__op_name(like.op));
    return x;
}

static const char *const owners[] = {"vertex", "edge", "entry of a list"};

/* The stage's input of that name, made at first mention; NULL (reported) if it was declared
 * otherwise before. */
struct cavs__input *cavs__find_input(struct cavs_function *f, const char *name, enum cavs__per per,
                                     bool ids, int width, struct cavs_place at)
{
    struct cavs_stage *s = f->stage;
    struct cavs__input *in;

    for (int i = 0; i < s->ninputs; i++) {
        in = s->inputs[i];
        if (strcmp(in->name, name) != 0)
            continue;
        if (in->ids == ids && in->width == width && in->per == per)
            return in;
        if (in->per != per) {
            FAIL(f, CAVS_ESHAPE,
                 "pull: input %s has a value per %s here, but one per %s elsewhere in stage %s",
                 name, owners[per], owners[in->per], s->name);
            return NULL;
        }
        FAIL(f, CAVS_ESHAPE,
             "pull: input %s is %s of width %d here, but %s of width %d elsewhere in stage %s",
             name, ids ? "ids" : "rows", width, in->ids ? "ids" : "rows", in->width, s->name);
        return NULL;
    }
    in = calloc(1, sizeof *in);
    if (in)
        *in = (struct cavs__input){.name = strdup(name),
                                   .number = s->ninputs,
                                   .per = per,
                                   .ids = ids,
                                   .width = width,
                                   .limit = INT32_MAX};
    if (!in || !in->name || !CAVS__APPEND(s->inputs, s->ninputs, in)) {
        free(in ? in->name : NULL);
        free(in);
        FAIL(f, CAVS_ENOMEM, "pull: out of memory for input %s", name);
        return NULL;
    }
    return in;
}

struct cavs_symbol *cavs_pull_at(struct cavs_function *f, const char *name, int width,
                                 struct cavs_place at)
{
    struct cavs__input *in;

    if (!cavs__open_for(f, "pull", at))
        return NULL;
    if (!name || width <= 0) {
        FAIL(f, CAVS_ESHAPE, "pull %s: width %d is not positive", name ? name : "(null)", width);
        return NULL;
    }
    in = cavs__find_input(f, name, CAVS__PER_VERTEX, false, width, at);
    if (!in)
        return NULL;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_PULL, .width = width, .input = in, .at = at}, 0,
        NULL);
}

struct cavs_symbol *cavs__ids_symbol(struct cavs_function *f, struct cavs__input *in, int domain,
                                     struct cavs_place at)
{
    return in ? cavs__add_symbol(f,
                                 (struct cavs_symbol){
                                     .op = CAVS__OP_IDS, .domain = domain, .input = in, .at = at},
                                 0, NULL)
              : NULL;
}

struct cavs_symbol *cavs_pull_ids_at(struct cavs_function *f, const char *name,
                                     struct cavs_place at)
{
    if (!cavs__open_for(f, "pull_ids", at))
        return NULL;
    if (!name) {
        FAIL(f, CAVS_EINVAL, "pull_ids: the input needs a name");
        return NULL;
    }
    return cavs__ids_symbol(f, cavs__find_input(f, name, CAVS__PER_VERTEX, true, 0, at), 0, at);
}

static struct cavs__channel *find_channel(const struct cavs_stage *s, const char *name)
{
    for (int i = 0; i < s->nchannels; i++) {
        if (strcmp(s->channels[i]->name, name) == 0)
            return s->channels[i];
    }
    return NULL;
}

struct cavs__channel *cavs__channel_to_fetch(struct cavs_function *f, const char *op,
                                             struct cavs_stage *from, const char *channel,
                                             struct cavs_place at)
{
    struct cavs__channel *c = NULL;

    if (!from || !channel)
        FAIL(f, CAVS_EINVAL, "%s: no %s given", op, from ? "channel" : "stage");
    else if (from->model != f->stage->model || from->number >= f->stage->number)
        FAIL(f, CAVS_EPROGRAM, "%s: stage %s is not earlier than stage %s", op, from->name,
             f->stage->name);
    else if (!(c = find_channel(from, channel)))
        FAIL(f, CAVS_EPROGRAM, "%s: nothing is pushed on channel %s of stage %s", op, channel,
             from->name);
    return c;
}

/* ids, if there are any, then name vertices of the channel's stage. */
struct cavs_symbol *cavs__fetch_symbol(struct cavs_function *f, const char *op,
                                       struct cavs__channel *c, struct cavs_symbol *ids, int domain,
                                       struct cavs_place at)
{
    struct cavs_symbol *x;

    if (ids && ids->input->vertices_of && ids->input->vertices_of != c->stage) {
        FAIL(f, CAVS_EPROGRAM, "%s: index %s names vertices of stage %s, not of %s", op,
             ids->input->name, ids->input->vertices_of->name, c->stage->name);
        return NULL;
    }
    if (ids)
        ids->input->vertices_of = c->stage;
    x = cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = CAVS__OP_FETCH, .domain = domain, .width = c->width, .channel = c, .at = at},
        ids ? 1 : 0, &ids);
    for (int i = 0; x && i < c->nfetches; i++) {
        if (c->fetches[i] == x)
            return x;
    }
    if (x && !CAVS__APPEND(c->fetches, c->nfetches, x)) {
        FAIL(f, CAVS_ENOMEM, "%s: out of memory", op);
        return NULL;
    }
    return x;
}

struct cavs_symbol *cavs_pull_from_at(struct cavs_function *f, struct cavs_stage *from,
                                      const char *channel, const char *index, struct cavs_place at)
{
    struct cavs__channel *c;
    struct cavs_symbol *ids = NULL;

    if (!cavs__open_for(f, "pull_from", at))
        return NULL;
    if (from && !index && from->number < f->stage->number && f->stage->base != from) {
        FAIL(f, CAVS_EPROGRAM,
             "pull_from: without an index, stage %s must stand over stage %s (cavs_stage_over)",
             f->stage->name, from->name);
        return NULL;
    }
    c = cavs__channel_to_fetch(f, "pull_from", from, channel, at);
    if (c && index)
        ids = cavs_pull_ids_at(f, index, at);
    if (!c || (index && !ids))
        return NULL;
    return cavs__fetch_symbol(f, "pull_from", c, ids, 0, at);
}

struct cavs_symbol *cavs_use_at(struct cavs_function *f, struct cavs_param *p, struct cavs_place at)
{
    if (!cavs__open_for(f, "use", at) || !cavs__is_param(f, p, "use", at))
        return NULL;
    if (p->model != f->stage->model || p->rows != 1) {
        FAIL(f, CAVS_ESHAPE, "use: parameter %s (%d x %d) %s", p->name, p->rows, p->cols,
             p->rows != 1 ? "must have one row" : "belongs to another model");
        return NULL;
    }
    p->dense_use = true;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_USE, .width = p->cols, .param = p, .at = at}, 0,
        NULL);
}

struct cavs_symbol *cavs_constant_at(struct cavs_function *f, int width, float value,
                                     struct cavs_place at)
{
    if (!cavs__open_for(f, "constant", at))
        return NULL;
    if (width <= 0) {
        FAIL(f, CAVS_ESHAPE, "constant: width %d is not positive", width);
        return NULL;
    }
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_CONST, .width = width, .s = value, .at = at}, 0,
        NULL);
}

struct cavs_symbol *cavs_gather_at(struct cavs_function *f, int k, struct cavs_place at)
{
    if (!cavs__open_for(f, "gather", at))
        return NULL;
    if (f->stage->state_width == 0) {
        FAIL(f, CAVS_EPROGRAM, "gather(%d): stage %s has no state", k, f->stage->name);
        return NULL;
    }
    if (k < 0 || k > 65535) {
        FAIL(f, CAVS_EINVAL, "gather(%d): child slots are numbered from 0 to 65535", k);
        return NULL;
    }
    if (f->slots == 0) {
        f->slots_at = at;
    }
    if (f->slots != CAVS__ANY_CHILDREN && k + 1 > f->slots)
        f->slots = k + 1;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = CAVS__OP_GATHER, .width = f->stage->state_width, .k = k, .at = at},
        0, NULL);
}

void cavs_scatter_at(struct cavs_function *f, struct cavs_symbol *x, struct cavs_place at)
{
    if (!cavs__open_for(f, "scatter", at))
        return;
    if (!x) {
        FAIL(f, CAVS_EPROGRAM, "scatter of NULL");
    } else if (f->scatter) {
        FAIL(f, CAVS_EPROGRAM, "second scatter; the first is at %s:%d", f->scatter->at.file,
             f->scatter->at.line);
    } else if (cavs__is_value(f, x, "scatter", at) && cavs__is_of_vertices(f, x, "scatter", at)) {
        if (x->width != f->stage->state_width)
            FAIL(f, CAVS_ESHAPE, "scatter: %s of width %d, but the state of stage %s has width %d",
                 cavs__symbol_label(x), x->width, f->stage->name, f->stage->state_width);
        else
            f->scatter = cavs__add_symbol(
                f, (struct cavs_symbol){.op = CAVS__OP_SCATTER, .width = x->width, .at = at}, 1,
                &x);
    }
}

static struct cavs__channel *channel_to_push(struct cavs_function *f, const char *name, int width,
                                             struct cavs_place at)
{
    struct cavs_stage *s = f->stage;
    struct cavs__channel *c = find_channel(s, name);

    if (c && c->width != width) {
        FAIL(f, CAVS_ESHAPE, "push %s: width %d here, but %d elsewhere in stage %s", name, width,
             c->width, s->name);
        return NULL;
    }
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (c)
        *c = (struct cavs__channel){
            .name = strdup(name), .stage = s, .number = s->nchannels, .width = width};
    if (!c || !c->name || !CAVS__APPEND(s->channels, s->nchannels, c)) {
        free(c ? c->name : NULL);
        free(c);
        FAIL(f, CAVS_ENOMEM, "push: out of memory for channel %s", name);
        return NULL;
    }
    return c;
}

void cavs_push_at(struct cavs_function *f, const char *channel, struct cavs_symbol *x,
                  struct cavs_place at)
{
    struct cavs__channel *c;

    if (!cavs__open_for(f, "push", at))
        return;
    if (!x || !channel) {
        FAIL(f, CAVS_EPROGRAM, "push %s of %s", channel ? channel : "(null)",
             x ? cavs__symbol_label(x) : "NULL");
        return;
    }
    if (!cavs__is_value(f, x, "push", at) || !cavs__is_of_vertices(f, x, "push", at))
        return;
    c = channel_to_push(f, channel, x->width, at);
    for (int i = 0; c && i < f->nsymbols; i++) {
        if (f->symbols[i]->op == CAVS__OP_PUSH && f->symbols[i]->channel == c) {
            FAIL(f, CAVS_EPROGRAM, "second push on channel %s; the first is at %s:%d", channel,
                 f->symbols[i]->at.file, f->symbols[i]->at.line);
            return;
        }
    }
    if (c)
        cavs__add_symbol(
            f, (struct cavs_symbol){.op = CAVS__OP_PUSH, .width = x->width, .channel = c, .at = at},
            1, &x);
}

/* The model's metric of that name, made at first mention; NULL: reported. */
static struct cavs__metric *find_metric(struct cavs_function *f, const char *name,
                                        struct cavs_place at)
{
    struct cavs_model *m = f->stage->model;
    struct cavs__metric *metric;

    for (int i = 0; i < m->nmetrics; i++) {
        if (strcmp(m->metrics[i]->name, name) == 0)
            return m->metrics[i];
    }
    metric = calloc(1, sizeof *metric);
    if (metric)
        *metric = (struct cavs__metric){.name = strdup(name), .number = m->nmetrics};
    if (!metric || !metric->name || !CAVS__APPEND(m->metrics, m->nmetrics, metric)) {
        free(metric ? metric->name : NULL);
        free(metric);
        FAIL(f, CAVS_ENOMEM, "out of memory for metric %s", name);
        return NULL;
    }
    return metric;
}

void cavs_metric_at(struct cavs_function *f, const char *name, struct cavs_symbol *x,
                    struct cavs_symbol *where, bool is_loss, struct cavs_place at)
{
    const char *op = is_loss ? "loss" : "metric";
    struct cavs_symbol *in[2] = {x, where};
    struct cavs__metric *metric;

    if (!cavs__open_for(f, op, at))
        return;
    if (!x || !name) {
        FAIL(f, CAVS_EPROGRAM, "%s %s of %s", op, name ? name : "(null)",
             x ? cavs__symbol_label(x) : "NULL");
        return;
    }
    if (!cavs__is_value(f, x, op, at) || !cavs__is_of_vertices(f, x, op, at) ||
        (where && (!cavs__is_ids(f, where, op, at) || !cavs__is_of_vertices(f, where, op, at))))
        return;
    if (x->width != 1) {
        FAIL(f, CAVS_ESHAPE, "%s %s: %s has width %d, not 1 (cavs_sum)", op, name,
             cavs__symbol_label(x), x->width);
        return;
    }
    metric = find_metric(f, name, at);
    if (metric)
        cavs__add_symbol(
            f,
            (struct cavs_symbol){
                .op = CAVS__OP_METRIC, .width = 1, .metric = metric, .is_loss = is_loss, .at = at},
            where ? 2 : 1, in);
}
