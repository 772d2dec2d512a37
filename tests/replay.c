/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - see replay.h. */
#include "tests/replay.h"

#include <stdlib.h>

#include "codelets/groups/elementwise.h"
#include "core/declare/build.h"
#include "tests/trial.h"

enum { MOST_SYMBOLS = 2000, MOST_NAMED = 32 };

/* A stage of the sample: what its vertices have scattered and pushed. */
struct rows {
    struct cavs_symbol **state;    /* [n] */
    struct cavs_symbol ***channel; /* [nchannels][n] */
};

struct replay {
    struct cavs_tape *t;
    struct cavs_function *f; /* of the tape */
    const struct sample *sample;
    enum replay_by by;
    struct rows *stages;
};

/* A vertex being recorded. */
struct standing {
    struct replay *r;
    const struct cavs_stage *stage;
    int v;
    struct cavs_symbol *value[MOST_SYMBOLS]; /* by symbol of its function */
};

static struct cavs_symbol *gathered(const struct standing *at, const struct cavs_symbol *x)
{
    const struct graph *g = at->r->sample->stages[at->stage->number].graph;
    int n = g->child_ptr[at->v + 1] - g->child_ptr[at->v];
    int child = x->k < n ? g->children[g->child_ptr[at->v] + x->k] : -1;

    return child < 0 ? cavs_constant(at->r->f, x->width, 0)
                     : at->r->stages[at->stage->number].state[child];
}

static struct cavs_symbol *fetched(const struct standing *at, const struct cavs_symbol *x)
{
    const struct sample_stage *s = &at->r->sample->stages[at->stage->number];
    int v = x->ninputs > 0 ? s->ids[x->inputs[0]->input->number][at->v] : s->under[at->v];

    return v < 0 ? cavs_constant(at->r->f, x->width, 0)
                 : at->r->stages[x->channel->stage->number].channel[x->channel->number][v];
}

/* A list without entries, which a tape has not. */
static struct cavs_symbol *const none = (struct cavs_symbol *)&none;

static struct cavs_symbol *list(const struct standing *at, int n, struct cavs_symbol *const *xs)
{
    return n > 0 ? cavs_tape_list(at->r->t, n, xs) : none;
}

/* Where the entries of a list begin in what the sample has of it, and how many there are. */
static int entries_of(const struct standing *at, const struct cavs__list *l, int *from)
{
    const struct sample_stage *s = &at->r->sample->stages[at->stage->number];
    const int *ptr = l->children ? s->graph->child_ptr : l->input ? s->ptr[l->input->number] : NULL;

    *from = ptr ? ptr[at->v] : 0;
    return ptr ? ptr[at->v + 1] - ptr[at->v] : at->r->sample->stages[l->whole->number].n;
}

static struct cavs_symbol *entry(const struct standing *at, const struct cavs_symbol *x, int e)
{
    const struct sample_stage *s = &at->r->sample->stages[at->stage->number];
    struct cavs_symbol **rows;
    int v;

    if (x->op == CAVS__OP_PULL)
        return cavs_tape_row(at->r->t, x->width, s->rows[x->input->number] + e * x->width);
    if (x->op == CAVS__OP_IDS)
        return cavs_tape_id(at->r->t, s->ids[x->input->number][e]);
    if (x->op == CAVS__OP_EACH_CHILD) {
        rows = at->r->stages[at->stage->number].state;
        v = s->graph->children[e];
    } else {
        rows = at->r->stages[x->channel->stage->number].channel[x->channel->number];
        v = x->ninputs > 0 ? s->ids[x->inputs[0]->input->number][e] : e;
    }
    return v < 0 ? cavs_constant(at->r->f, x->width, 0) : rows[v];
}

/* A source of rows per entry. */
static struct cavs_symbol *entries(const struct standing *at, const struct cavs_symbol *x)
{
    struct cavs_symbol *xs[MOST_SYMBOLS];
    int from, n = entries_of(at, x->function->lists[x->domain - 1], &from);

    assert_true(n < MOST_SYMBOLS);
    for (int i = 0; i < n; i++)
        xs[i] = entry(at, x, from + i);
    return list(at, n, xs);
}

static bool is_source(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_PULL || x->op == CAVS__OP_IDS || x->op == CAVS__OP_FETCH ||
           x->op == CAVS__OP_EACH_CHILD;
}

static struct cavs_symbol *repeated(const struct standing *at, const struct cavs_symbol *x,
                                    struct cavs_symbol *in)
{
    struct cavs_symbol *xs[MOST_SYMBOLS];
    int from, n = entries_of(at, x->function->lists[x->domain - 1], &from);

    for (int i = 0; i < n; i++)
        xs[i] = in;
    return list(at, n, xs);
}

static struct cavs_symbol *share(const struct standing *at, const struct cavs_symbol *x)
{
    int from, n = entries_of(at, x->function->lists[x->k - 1], &from);

    return cavs_constant(at->r->f, 1, n > 0 ? 1.0f / (float)n : 0);
}

static struct cavs_symbol *elementwise(const struct cavs_symbol *x, struct cavs_symbol *const *in)
{
    const char *name = cavs__ew_name(x->k);

    return x->ninputs == 1 ? cavs_apply1(name, in[0], x->s) : cavs_apply2(name, in[0], in[1]);
}

static struct cavs_symbol *source(const struct standing *at, const struct cavs_symbol *x)
{
    const struct sample_stage *s = &at->r->sample->stages[at->stage->number];

    switch (x->op) {
    case CAVS__OP_PULL:
        return cavs_tape_row(at->r->t, x->width, s->rows[x->input->number] + at->v * x->width);
    case CAVS__OP_IDS: return cavs_tape_id(at->r->t, s->ids[x->input->number][at->v]);
    case CAVS__OP_FETCH: return fetched(at, x);
    case CAVS__OP_GATHER: return gathered(at, x);
    case CAVS__OP_USE: return cavs_use(at->r->f, x->param);
    default: return cavs_constant(at->r->f, x->width, x->s);
    }
}

static struct cavs_symbol *operate(const struct standing *at, const struct cavs_symbol *x,
                                   struct cavs_symbol *const *in)
{
    if (x->domain > 0 && is_source(x))
        return entries(at, x);
    for (int k = 0; k < x->ninputs; k++) {
        if (in[k] == none)
            return x->domain > 0 ? none : cavs_constant(at->r->f, x->width, 0);
    }
    switch (x->op) {
    case CAVS__OP_REPEAT: return repeated(at, x, in[0]);
    case CAVS__OP_LIST_SHARE: return share(at, x);
    case CAVS__OP_LIST_SUM: return cavs_sum_children(in[0]);
    case CAVS__OP_LIST_MAX: return cavs_max_children(in[0]);
    case CAVS__OP_LIST_SOFTMAX: return cavs_softmax_children(in[0]);
    case CAVS__OP_LOOKUP: return cavs_lookup(x->param, in[0]);
    case CAVS__OP_MATMUL: return cavs_matmul(in[0], x->param);
    case CAVS__OP_MATMUL_T: return cavs_matmul_t(in[0], x->param);
    case CAVS__OP_MATMUL_SELECT:
        return cavs_matmul_select(in[0], x->param, x->param->rows / x->inputs[0]->width, in[1]);
    case CAVS__OP_PRODUCT:
        return cavs_product_at(in[0], in[1], x->k, x->width / x->k, x->which, CAVS_HERE);
    case CAVS__OP_ELEMENTWISE: return elementwise(x, in);
    case CAVS__OP_CONCAT: return cavs_concat(x->ninputs, in);
    case CAVS__OP_SLICE: return cavs_slice(in[0], x->k, x->width);
    case CAVS__OP_ROW_SUM: return cavs_sum(in[0]);
    case CAVS__OP_ROW_MAX: return cavs_largest(in[0]);
    case CAVS__OP_SOFTMAX: return cavs_softmax(in[0]);
    case CAVS__OP_LOG_SOFTMAX: return cavs_log_softmax(in[0]);
    case CAVS__OP_RMS_NORM: return cavs_rms_norm(in[0], NULL);
    case CAVS__OP_DROPOUT: return cavs_dropout(in[0], x->s);
    case CAVS__OP_PICK: return cavs_pick(in[0], in[1]);
    case CAVS__OP_XENT: return cavs_softmax_cross_entropy(in[0], in[1]);
    case CAVS__OP_CORRECT: return cavs_correct(in[0], in[1]);
    case CAVS__OP_SPREAD: return in[0];
    case CAVS__OP_MASK: /* made by losses only */
        return cavs__add_symbol(
            at->r->f, (struct cavs_symbol){.op = CAVS__OP_MASK, .width = 1, .at = CAVS_HERE}, 1,
            (struct cavs_symbol **)in);
    case CAVS__OP_PULL:
    case CAVS__OP_IDS:
    case CAVS__OP_FETCH:
    case CAVS__OP_GATHER:
    case CAVS__OP_USE:
    case CAVS__OP_CONST: return source(at, x);
    default: fail_msg("a tape has no %s", cavs__symbol_label(x));
    }
    return NULL;
}

static void record(struct standing *at, const struct cavs_symbol *x)
{
    struct cavs_symbol *in[MOST_SYMBOLS];
    struct rows *rows = &at->r->stages[at->stage->number];

    for (int k = 0; k < x->ninputs; k++)
        in[k] = at->value[x->inputs[k]->number];
    if (x->op == CAVS__OP_SCATTER)
        rows->state[at->v] = in[0];
    else if (x->op == CAVS__OP_PUSH)
        rows->channel[x->channel->number][at->v] = in[0];
    else if (x->op == CAVS__OP_METRIC && x->is_loss)
        cavs_loss(at->r->f, x->metric->name, in[0], x->ninputs > 1 ? in[1] : NULL);
    else if (x->op == CAVS__OP_METRIC)
        cavs_metric(at->r->f, x->metric->name, in[0], x->ninputs > 1 ? in[1] : NULL);
    else
        at->value[x->number] = operate(at, x, in);
}

/* ---- the function as a whole ---- */

static bool reads_stages(const struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols; i++) {
        if (f->symbols[i]->op == CAVS__OP_FETCH)
            return true;
    }
    return false;
}

/* A list longer than what one symbol takes ids of. */
static bool has_long_list(const struct standing *at, const struct cavs_function *f)
{
    bool is_long = false;
    int from;

    for (int i = 0; i < f->nlists; i++)
        is_long |= entries_of(at, f->lists[i], &from) > 100;
    return is_long;
}

/* What the sample has for an input of the function; NULL: an empty list. */
static struct cavs_symbol *given(const struct standing *at, const struct cavs_function *f,
                                 const struct cavs__input *input)
{
    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];
        struct cavs_symbol *y;

        if (x->input != input || x->backward)
            continue;
        y = x->domain > 0 ? entries(at, x) : source(at, x);
        return y == none ? NULL : y;
    }
    return NULL;
}

static void apply(struct standing *at, const struct cavs_function *f)
{
    const struct graph *g = at->r->sample->stages[at->stage->number].graph;
    struct rows *rows = &at->r->stages[at->stage->number];
    struct cavs_named inputs[MOST_NAMED], channels[MOST_NAMED];
    struct cavs_symbol *children[MOST_SYMBOLS];
    struct cavs_application a = {
        .inputs = inputs, .channels = channels, .nchannels = at->stage->nchannels};

    assert_true(at->stage->ninputs <= MOST_NAMED && at->stage->nchannels <= MOST_NAMED);
    for (int i = 0; i < at->stage->ninputs; i++) {
        if (at->stage->inputs[i]->pulled[f->number])
            inputs[a.ninputs++] =
                (struct cavs_named){at->stage->inputs[i]->name, given(at, f, at->stage->inputs[i])};
    }
    for (int i = 0; i < at->stage->nchannels; i++)
        channels[i].name = at->stage->channels[i]->name;
    a.children = children;
    for (int e = g->child_ptr ? g->child_ptr[at->v] : 0;
         g->child_ptr && e < g->child_ptr[at->v + 1]; e++)
        children[a.nchildren++] = g->children[e] < 0 ? NULL : rows->state[g->children[e]];
    rows->state[at->v] = cavs_tape_apply(at->r->t, f, &a);
    for (int i = 0; i < at->stage->nchannels; i++)
        rows->channel[i][at->v] = channels[i].x;
}

/* ---- samples ---- */

static void record_vertex(struct replay *r, const struct cavs_stage *stage, int v)
{
    const struct cavs_function *f =
        stage->functions[r->sample->stages[stage->number].graph->functions[v]];
    static struct standing at;

    at.r = r;
    at.stage = stage;
    at.v = v;
    assert_true(f->nsymbols < MOST_SYMBOLS);
    if (r->by == REPLAY_FUNCTIONS && !reads_stages(f) && !has_long_list(&at, f)) {
        apply(&at, f);
        return;
    }
    for (int i = 0; i < f->nsymbols; i++) {
        if (!f->symbols[i]->backward)
            record(&at, f->symbols[i]);
    }
}

static void *array(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);

    assert_non_null(p);
    return p;
}

static void record_stage(struct replay *r, const struct cavs_stage *stage)
{
    const struct sample_stage *s = &r->sample->stages[stage->number];
    struct rows *rows = &r->stages[stage->number];
    int *order = array((size_t)s->n, sizeof *order);

    rows->state = array((size_t)s->n, sizeof *rows->state);
    rows->channel = array((size_t)stage->nchannels, sizeof *rows->channel);
    for (int i = 0; i < stage->nchannels; i++)
        rows->channel[i] = array((size_t)s->n, sizeof **rows->channel);
    graph_order(s->graph, order);
    for (int i = 0; i < s->n; i++)
        record_vertex(r, stage, order[i]);
    free(order);
}

static void forget_stage(struct rows *rows, const struct cavs_stage *stage)
{
    for (int i = 0; i < stage->nchannels; i++)
        free(rows->channel[i]);
    free(rows->channel);
    free(rows->state);
}

void replay_sample(struct cavs_tape *t, const struct sample *s, enum replay_by by,
                   replay_between *between, void *context)
{
    const struct cavs_model *m = s->model;
    struct replay r = {.t = t, .f = cavs_tape_sample(t), .sample = s, .by = by};

    r.stages = array((size_t)m->nstages, sizeof *r.stages);
    for (int i = 0; i < m->nstages; i++) {
        record_stage(&r, m->stages[i]);
        if (between && m->stages[i]->state_width > 0)
            between(t, s->stages[i].n, r.stages[i].state, context);
    }
    for (int i = 0; i < m->nstages; i++)
        forget_stage(&r.stages[i], m->stages[i]);
    free(r.stages);
}
