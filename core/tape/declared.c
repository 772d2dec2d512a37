/* SPDX-License-Identifier: Apache-2.0 */
/*
 * declared.c - a declared vertex function applied on a tape: its symbols are recorded one by one,
 * between what the caller gives for inputs and children and what it gets for state and channels.
 * From then on they are like all others.
 */
#include <stdlib.h>
#include <string.h>

#include "core/declare/build.h"
#include "core/tape/tape.h"

/* A function on its way to the tape. */
struct applying {
    struct cavs_function *to; /* the recording's */
    const struct cavs_function *f;
    struct cavs_application *a;
    struct cavs_place at;
    struct cavs_symbol **value; /* [f->nsymbols] */
    struct cavs_symbol *state;
};

/* ---- what it reads ---- */

static struct cavs_symbol *given(const struct applying *w, const char *name)
{
    for (int i = 0; i < w->a->ninputs; i++) {
        if (w->a->inputs[i].name && strcmp(w->a->inputs[i].name, name) == 0)
            return w->a->inputs[i].x;
    }
    cavs__function_fail(w->to, CAVS_EDATA, w->at,
                        "apply: function %s pulls input %s, which is not "
                        "given",
                        w->f->name, name);
    return NULL;
}

static bool has_width(const struct applying *w, const struct cavs_symbol *x, int width,
                      const char *what)
{
    if (x->width == width && x->domain == 0)
        return true;
    cavs__function_fail(w->to, CAVS_ESHAPE, w->at, "apply: %s %s is %d wide in function %s, not %d",
                        what, cavs__symbol_label(x), width, w->f->name, x->width);
    return false;
}

static struct cavs_symbol *pull(const struct applying *w, const struct cavs_symbol *x)
{
    struct cavs_symbol *in = given(w, x->input->name);

    if (!in || !cavs__is_value(w->to, in, "apply", w->at) || !has_width(w, in, x->width, "input"))
        return NULL;
    return in;
}

static struct cavs_symbol *pull_ids(const struct applying *w, const struct cavs_symbol *x)
{
    struct cavs_symbol *in = given(w, x->input->name);

    if (!in || !cavs__is_ids(w->to, in, "apply", w->at) ||
        !cavs__limit_ids(in, x->input->limit, "apply", w->at))
        return NULL;
    return in;
}

/* Zeros where there is no child, as in declared graphs. */
static struct cavs_symbol *gather(const struct applying *w, const struct cavs_symbol *x)
{
    struct cavs_symbol *child = x->k < w->a->nchildren ? w->a->children[x->k] : NULL;

    if (!child)
        return cavs_constant_at(w->to, x->width, 0, w->at);
    if (!cavs__is_value(w->to, child, "apply", w->at) || !has_width(w, child, x->width, "child"))
        return NULL;
    return child;
}

/* ---- what it computes ---- */

static struct cavs_symbol *compute(const struct applying *w, const struct cavs_symbol *x)
{
    struct cavs_symbol like = {.op = x->op,
                               .width = x->width,
                               .param = x->param,
                               .k = x->k,
                               .which = x->which,
                               .s = x->s,
                               .at = x->at};
    struct cavs_symbol *in[2], **inputs = in, *y = NULL;

    if (x->ninputs > 2)
        inputs = malloc((size_t)x->ninputs * sizeof(*inputs));
    if (!inputs) {
        cavs__function_fail(w->to, CAVS_ENOMEM, w->at, "apply: out of memory");
        return NULL;
    }
    for (int i = 0; i < x->ninputs; i++)
        inputs[i] = w->value[x->inputs[i]->number];
    y = cavs__add_symbol(w->to, like, x->ninputs, inputs);
    if (inputs != in)
        free(inputs);
    return y;
}

static void show(const struct applying *w, const struct cavs_symbol *x, struct cavs_symbol *shown)
{
    for (int i = 0; i < w->a->nchannels; i++) {
        struct cavs_named *to = &w->a->channels[i];

        if (to->name && strcmp(to->name, x->channel->name) == 0)
            to->x = shown;
    }
}

/* false: reported. */
static bool apply_symbol(struct applying *w, const struct cavs_symbol *x)
{
    struct cavs_symbol *in = x->ninputs > 0 ? w->value[x->inputs[0]->number] : NULL,
                       **y = &w->value[x->number];

    switch (x->op) {
    case CAVS__OP_PULL: *y = pull(w, x); break;
    case CAVS__OP_IDS: *y = pull_ids(w, x); break;
    case CAVS__OP_GATHER: *y = gather(w, x); break;
    case CAVS__OP_SPREAD: *y = in; break;
    case CAVS__OP_SCATTER: w->state = in; break;
    case CAVS__OP_PUSH: show(w, x, in); break;
    case CAVS__OP_METRIC:
        cavs_metric_at(w->to, x->metric->name, in,
                       x->ninputs > 1 ? w->value[x->inputs[1]->number] : NULL, x->is_loss, x->at);
        break;
    case CAVS__OP_FETCH:
        cavs__function_fail(w->to, CAVS_EPROGRAM, w->at,
                            "apply: function %s pulls from another stage, which a tape has not",
                            w->f->name);
        break;
    default: *y = compute(w, x);
    }
    return w->to->error == 0;
}

/* ---- the call ---- */

static bool may_apply(const struct applying *w)
{
    const struct cavs_function *f = w->f;

    if (!cavs__open_for(w->to, "apply", w->at))
        return false;
    if (!f || !w->a || f->recorder || f->stage->model != w->to->stage->model)
        cavs__function_fail(w->to, CAVS_EINVAL, w->at, "apply: %s",
                            !f || !w->a ? "no function, or nothing that it is applied to (NULL)"
                            : f->recorder
                                ? "this is a tape's function, not a declared one"
                                : "the function is of another model than the tape's session");
    else if (f->nlists > 0)
        cavs__function_fail(w->to, CAVS_EPROGRAM, w->at,
                            "apply: function %s reads lists; record its operators "
                            "(cavs_tape_list)",
                            f->name);
    return w->to->error == 0;
}

struct cavs_symbol *cavs_tape_apply_at(struct cavs_tape *t, const struct cavs_function *f,
                                       struct cavs_application *a, struct cavs_place at)
{
    struct applying w = {.f = f, .a = a, .at = at};
    bool ok = true;

    if (!t)
        return NULL;
    w.to = t->recording.recorder.present;
    if (!may_apply(&w))
        return NULL;
    w.value = calloc((size_t)f->nsymbols + 1, sizeof(*w.value));
    if (!w.value) {
        cavs__function_fail(w.to, CAVS_ENOMEM, at, "apply: out of memory");
        return NULL;
    }
    for (int i = 0; i < a->nchannels; i++)
        a->channels[i].x = NULL;
    for (int i = 0; i < f->nsymbols && ok; i++)
        ok = f->symbols[i]->backward || apply_symbol(&w, f->symbols[i]);
    free(w.value);
    return ok ? w.state : NULL;
}
