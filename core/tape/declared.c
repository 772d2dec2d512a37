/* SPDX-License-Identifier: Apache-2.0 */
/*
 * declared.c - a declared vertex function applied on a tape: one symbol for each piece of the
 * unfolded function (unfolded.h), from the first recording on.  From then on they are like all
 * others.
 */
#include <string.h>

#include "core/base/array.h"
#include "core/declare/build.h"
#include "core/declare/operator.h"
#include "core/tape/tape.h"
#include "core/tape/unfolded.h"

/* A function on its way to the tape. */
struct applying {
    struct cavs_tape *t;
    struct cavs_function *to; /* the recording's */
    const struct cavs_function *f;
    struct cavs_application *a;
    struct cavs_place at;
    struct cavs__unfolded *u;
};

/* ---- may it be? ---- */

static bool reads_stages(const struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols; i++) {
        if (f->symbols[i]->op == CAVS__OP_FETCH)
            return true;
    }
    return false;
}

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
    else if (w->to->nsymbols >= w->t->recording.most)
        cavs__function_fail(w->to, CAVS_EINVAL, w->at,
                            "apply: function %s: more than %lld symbols (most_symbols)", f->name,
                            (long long)w->t->recording.most);
    return w->to->error == 0;
}

/* ---- for what it is unfolded ---- */

static struct cavs_symbol *given(const struct applying *w, const struct cavs__input *input)
{
    for (int i = 0; i < w->a->ninputs; i++) {
        if (w->a->inputs[i].name && strcmp(w->a->inputs[i].name, input->name) == 0)
            return w->a->inputs[i].x;
    }
    return NULL;
}

/* Its length and 1; 0: there is none.  A list may be empty, and is not given then. */
static int32_t code_input(const struct applying *w, const struct cavs__input *input)
{
    const struct cavs_symbol *x = given(w, input);
    bool list = input->per != CAVS__PER_VERTEX;
    int length = x ? x->domain : 0;

    if (!x && !list)
        cavs__function_fail(w->to, CAVS_EDATA, w->at,
                            "apply: function %s pulls input %s, which is not given", w->f->name,
                            input->name);
    else if (x && (length > 0) != list)
        cavs__function_fail(w->to, CAVS_ESHAPE, w->at, "apply: input %s of function %s is %s list",
                            input->name, w->f->name, list ? "a" : "no");
    else if (input->per == CAVS__PER_EDGE && length != w->a->nchildren)
        cavs__function_fail(w->to, CAVS_ESHAPE, w->at,
                            "apply: input %s of function %s has %d entries, but there are %d "
                            "children",
                            input->name, w->f->name, length, w->a->nchildren);
    return length + 1;
}

/* false: reported. */
static bool code(const struct applying *w, int32_t *codes)
{
    const struct cavs_stage *stage = w->f->stage;

    for (int i = 0; i < stage->ninputs; i++)
        codes[i] = stage->inputs[i]->pulled[w->f->number] ? code_input(w, stage->inputs[i]) : 0;
    for (int i = 0; i < w->a->nchildren; i++)
        codes[stage->ninputs + i] = w->a->children[i] != NULL;
    return w->to->error == 0;
}

static struct cavs__unfolded *find(const struct cavs__signatures *all, const struct applying *w,
                                   int n, const int32_t *codes, int *number)
{
    for (*number = 0; *number < all->nunfolded; ++*number) {
        struct cavs__unfolded *u = all->unfolded[*number];

        if (u->of == w->f && u->ncodes == n &&
            memcmp(u->codes, codes, (size_t)n * sizeof *codes) == 0)
            return u;
    }
    return NULL;
}

/* Inputs of the tape's stage are so many. */
static bool has_ids(const struct applying *w, const struct cavs__unfolded *u)
{
    for (int i = 0; i < CAVS__PIECES; i++) {
        const struct cavs__piece *p = u->pieces[i];

        if (p->noperands > CAVS__GIVEN_INPUT &&
            p->operands[CAVS__GIVEN_INPUT]->op == CAVS__OP_IDS) {
            cavs__function_fail(w->to, CAVS_EPROGRAM, w->at,
                                "apply: function %s reads more than %d ids but for lookups; record "
                                "its operators instead",
                                w->f->name, CAVS__GIVEN_INPUT);
            return false;
        }
    }
    return true;
}

/* Its number; -1: reported. */
static int unfold(struct applying *w)
{
    struct cavs__recording *r = &w->t->recording;
    struct cavs__signatures *all = &r->signatures;
    int n = w->f->stage->ninputs + w->a->nchildren, number;

    if (!cavs__array_reserve(&r->codes, &r->code_room, (size_t)n + 1, sizeof *r->codes)) {
        cavs__function_fail(w->to, CAVS_ENOMEM, w->at, "apply: out of memory");
        return -1;
    }
    if (!code(w, r->codes))
        return -1;
    w->u = find(all, w, n, r->codes, &number);
    if (w->u)
        return number;
    w->u = cavs__unfold(&all->stage, w->f, n, r->codes, w->to, w->at);
    if (!w->u)
        return -1;
    if (has_ids(w, w->u) && CAVS__APPEND(all->unfolded, all->nunfolded, w->u))
        return number;
    cavs__function_fail(w->to, CAVS_ENOMEM, w->at, "apply: out of memory");
    cavs__unfolded_free(w->u);
    return -1;
}

/* ---- what it reads ---- */

static bool fits(const struct applying *w, struct cavs_symbol *x, const struct cavs__given *to)
{
    const struct cavs__input *input =
        to->input == CAVS__A_CHILD ? NULL : w->f->stage->inputs[to->input];

    if (to->x->op == CAVS__OP_IDS)
        return cavs__is_ids(w->to, x, "apply", w->at) &&
               cavs__limit_ids(x, input->limit, "apply", w->at);
    if (!cavs__is_value(w->to, x, "apply", w->at))
        return false;
    if (x->width == to->x->width && x->domain == 0)
        return true;
    cavs__function_fail(w->to, CAVS_ESHAPE, w->at, "apply: %s %s is %d wide in function %s, not %d",
                        input ? "input" : "child", cavs__symbol_label(x), to->x->width, w->f->name,
                        x->width);
    return false;
}

static bool give(struct applying *w)
{
    memset(w->u->value, 0, (size_t)w->u->f->nsymbols * sizeof(*w->u->value));
    for (int i = 0; i < w->u->ngiven; i++) {
        const struct cavs__given *to = &w->u->given[i];
        struct cavs_symbol *x = to->input == CAVS__A_CHILD
                                    ? w->a->children[to->entry]
                                    : given(w, w->f->stage->inputs[to->input]);

        if (x->domain > 0)
            x = x->inputs[to->entry];
        if (!fits(w, x, to))
            return false;
        w->u->value[to->x->number] = x;
    }
    return true;
}

/* ---- what is recorded ---- */

/* Of the tape, for a symbol of the function; NULL: reported. */
static struct cavs_symbol *value_of(const struct applying *w, const struct cavs_symbol *x)
{
    struct cavs_symbol **y = &w->u->value[x->number], *in = NULL,
                       like = {.op = x->op,
                               .width = x->width,
                               .param = x->param,
                               .k = x->k,
                               .s = x->s,
                               .at = x->at};

    if (!*y && x->ninputs > 0) /* columns, or a lookup */
        in = value_of(w, x->inputs[0]);
    if (!*y && (in || x->ninputs == 0))
        *y = cavs__add_symbol(w->to, like, x->ninputs, &in);
    return *y;
}

static struct cavs_symbol *record(const struct applying *w, const struct cavs__piece *p, int number)
{
    struct cavs__recording *r = &w->t->recording;
    struct cavs_symbol like = {.op = CAVS__OP_APPLY,
                               .width = p->width,
                               .metric = p->metric,
                               .is_loss = p->is_loss,
                               .k = number,
                               .at = w->at},
                       **in;

    in = cavs__arena_alloc(&r->nodes[r->generation & 1].arena,
                           ((size_t)p->noperands + 1) * sizeof *in);
    if (!in) {
        cavs__function_fail(w->to, CAVS_ENOMEM, w->at, "apply: out of memory");
        return NULL;
    }
    for (int k = 0; k < p->noperands; k++) {
        in[k] = value_of(w, p->operands[k]);
        if (!in[k])
            return NULL;
    }
    return cavs__add_symbol(w->to, like, p->noperands, in);
}

/* One of several results is columns of the symbol. */
static bool record_piece(const struct applying *w, const struct cavs__piece *p, int number)
{
    struct cavs_symbol *x = p->n > 0 ? record(w, p, number) : NULL;

    for (int i = 0; i < p->nresults && x; i++) {
        struct cavs_symbol like = {.op = CAVS__OP_SLICE,
                                   .width = p->results[i]->width,
                                   .k = p->column[i],
                                   .at = w->at},
                           *y = like.width < p->width ? cavs__add_symbol(w->to, like, 1, &x) : x;

        w->u->value[p->results[i]->number] = y;
    }
    return w->to->error == 0;
}

static void show(const struct applying *w)
{
    const struct cavs_stage *stage = w->f->stage;

    for (int i = 0; i < w->a->nchannels; i++) {
        for (int c = 0; c < stage->nchannels && w->a->channels[i].name; c++) {
            if (w->u->channels[c] && strcmp(w->a->channels[i].name, stage->channels[c]->name) == 0)
                w->a->channels[i].x = value_of(w, w->u->channels[c]);
        }
    }
}

struct cavs_symbol *cavs_tape_apply_at(struct cavs_tape *t, const struct cavs_function *f,
                                       struct cavs_application *a, struct cavs_place at)
{
    struct applying w = {.t = t, .f = f, .a = a, .at = at};
    struct cavs_symbol *state;
    int number;

    if (!t)
        return NULL;
    w.to = t->recording.recorder.present;
    if (!may_apply(&w))
        return NULL;
    for (int i = 0; i < a->nchannels; i++)
        a->channels[i].x = NULL;
    if (reads_stages(f))
        cavs__function_fail(w.to, CAVS_EPROGRAM, at,
                            "apply: function %s pulls from another stage, which a tape has not; "
                            "declare an input instead (cavs_pull), and give it the symbol",
                            f->name);
    number = w.to->error ? -1 : unfold(&w);
    if (number < 0 || !give(&w))
        return NULL;
    for (int i = 0; i < CAVS__PIECES; i++) {
        if (!record_piece(&w, w.u->pieces[i], number * CAVS__PIECES + i))
            return NULL;
    }
    show(&w);
    state = w.u->state ? value_of(&w, w.u->state) : NULL;
    return w.to->error ? NULL : state;
}
