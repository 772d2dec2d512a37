/* SPDX-License-Identifier: Apache-2.0 */
/* channels.c - what vertices of a stage show to later stages: push, and the fetches that read
 * it. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/operators/family.h"

static struct cavs__channel *find_channel(const struct cavs_stage *s, const char *name)
{
    for (int i = 0; i < s->nchannels; i++) {
        if (strcmp(s->channels[i]->name, name) == 0)
            return s->channels[i];
    }
    return NULL;
}

/* ---- fetches ---- */

static struct cavs__channel *channel_to_fetch(struct cavs_function *f, const char *op,
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
static struct cavs_symbol *fetch_symbol(struct cavs_function *f, const char *op,
                                        struct cavs__channel *c, struct cavs_symbol *ids,
                                        int domain, struct cavs_place at)
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

    if (!cavs__open_for_vertices(f, "pull_from", at))
        return NULL;
    if (from && !index && from->number < f->stage->number && f->stage->base != from) {
        FAIL(f, CAVS_EPROGRAM,
             "pull_from: without an index, stage %s must stand over stage %s (cavs_stage_over)",
             f->stage->name, from->name);
        return NULL;
    }
    c = channel_to_fetch(f, "pull_from", from, channel, at);
    if (c && index)
        ids = cavs_pull_ids_at(f, index, at);
    if (!c || (index && !ids))
        return NULL;
    return fetch_symbol(f, "pull_from", c, ids, 0, at);
}

struct cavs_symbol *cavs_pull_from_each_at(struct cavs_function *f, struct cavs_stage *from,
                                           const char *channel, const char *name,
                                           struct cavs_place at)
{
    static const char op[] = "pull_from_each";
    struct cavs_symbol *ids = NULL;
    struct cavs__channel *c;
    int domain;

    if (!cavs__open_for_vertices(f, op, at))
        return NULL;
    c = channel_to_fetch(f, op, from, channel, at);
    if (!c)
        return NULL;
    if (name) {
        ids = cavs_pull_list_ids_at(f, name, at);
        domain = ids ? ids->domain : 0;
    } else {
        domain = cavs__list_domain(f, (struct cavs__list){.whole = from}, op, at);
    }
    return domain ? fetch_symbol(f, op, c, ids, domain, at) : NULL;
}

static void diff_fetch(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    cavs__diff_symbol(
        d, y, (struct cavs_symbol){.op = CAVS__OP_FETCH_GRAD, .width = g->width, .fetch = y}, 1,
        &g);
}

static struct cavs__operand where_fetch(struct cavs__placer *p, const struct cavs_symbol *x)
{
    const struct cavs__stage_plan *from = &p->plan->stages[x->channel->stage->number];
    struct cavs__section s = {
        .kind = CAVS__S_FETCH, .function = p->f, .list = x->domain, .fetch = x};

    return cavs__indexed_operand(p, from->push[x->channel->number],
                                 from->push_col[x->channel->number], x->width, s);
}

const struct cavs__operator cavs__operator_fetch = {
    .name = "pull_from",
    .role = CAVS__ROLE_SOURCE,
    .domain = cavs__domain_of_operands,
    .diff = diff_fetch,
    .where = where_fetch,
};

/* ---- push ---- */

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

    if (!cavs__is_function_for(f, x, "push", at) || !cavs__open_for_vertices(f, "push", at))
        return;
    if (!x || !channel) {
        FAIL(f, CAVS_EPROGRAM, "push %s of %s", channel ? channel : "(without a name)",
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

/* A gradient from each fetch that passes one back. */
static void diff_push(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    (void)g;
    for (int i = 0; i < y->channel->nfetches; i++) {
        struct cavs_symbol *fetch = y->channel->fetches[i];

        if (fetch->adjoint)
            cavs__contribute(d, y, y->inputs[0],
                             cavs__diff_symbol(d, y,
                                               (struct cavs_symbol){.op = CAVS__OP_PUSH_GRAD,
                                                                    .width = y->width,
                                                                    .fetch = fetch},
                                               0, NULL));
    }
}

static struct cavs__operand where_push(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__tensor_operand(p->sp->push[x->channel->number], CAVS__ROWS, CAVS__DIRECT,
                                p->sp->push_col[x->channel->number], x->width);
}

const struct cavs__operator cavs__operator_push = {
    .name = "push",
    .role = CAVS__ROLE_DESTINATION,
    .domain = cavs__domain_of_operands,
    .diff = diff_push,
    .where = where_push,
};

static int emit_push_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int tensor = cavs__plan_symbol_tensor(p->plan, CAVS__T_FETCH_GRAD, x->fetch, false);

    return cavs__emit_sum_rows(
        p, x, cavs__checked(p, tensor),
        (struct cavs__section){.kind = CAVS__S_CONSUMER_PTR, .fetch = x->fetch},
        (struct cavs__section){.kind = CAVS__S_CONSUMER_ROW, .fetch = x->fetch});
}

const struct cavs__operator cavs__operator_push_grad = {
    .name = "push_grad",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_sum_rows,
    .emit = emit_push_grad,
};

static struct cavs__operand where_fetch_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int tensor = cavs__plan_symbol_tensor(p->plan, CAVS__T_FETCH_GRAD, x->fetch, false);
    struct cavs__operand o =
        cavs__tensor_operand(cavs__checked(p, tensor), x->domain ? CAVS__ENTRIES : CAVS__FROWS,
                             CAVS__DIRECT, 0, x->width);

    o.list = (uint8_t)x->domain;
    return o;
}

const struct cavs__operator cavs__operator_fetch_grad = {
    .name = "fetch_grad",
    .role = CAVS__ROLE_DESTINATION,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .where = where_fetch_grad,
};
