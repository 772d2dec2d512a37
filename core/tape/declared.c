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
#include "core/tape/applying.h"
#include "core/tape/tape.h"

/* ---- may it be? ---- */

static bool reads_stages(const struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols; i++) {
        if (f->symbols[i]->op == CAVS__OP_FETCH)
            return true;
    }
    return false;
}

/* A count, and the array of so many. */
static bool is_list(int n, const void *list)
{
    return n == 0 || (n > 0 && list);
}

/* The number of the first child that the function does not gather, though it is there; -1: none. */
static int first_idle_child(const struct cavs__applying *w)
{
    for (int i = w->f->slots; w->f->slots != CAVS__ANY_CHILDREN && i < w->a->nchildren; i++) {
        if (w->a->children[i])
            return i;
    }
    return -1;
}

static bool may_apply(const struct cavs__applying *w)
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
    else if (!is_list(w->a->ninputs, w->a->inputs) || !is_list(w->a->nchildren, w->a->children) ||
             !is_list(w->a->nchannels, w->a->channels))
        cavs__function_fail(
            w->to, CAVS_EINVAL, w->at,
            "apply: function %s: %d inputs, %d children and %d channels; a count is "
            "below 0, or its array is not there (NULL)",
            f->name, w->a->ninputs, w->a->nchildren, w->a->nchannels);
    else if (first_idle_child(w) >= 0)
        cavs__function_fail(w->to, CAVS_EGRAPH, w->at,
                            "apply: function %s gathers %d children, but child %d is given",
                            f->name, f->slots, first_idle_child(w));
    else if (w->to->nsymbols >= w->t->recording.most)
        cavs__function_fail(w->to, CAVS_EINVAL, w->at,
                            "apply: function %s: more than %lld symbols (most_symbols)", f->name,
                            (long long)w->t->recording.most);
    return w->to->error == 0;
}

/* ---- what it reads ---- */

/* Says why x cannot be what the function reads there, by the name of the input. */
static bool refuse(const struct cavs__applying *w, struct cavs_symbol *x,
                   const struct cavs__given *to, const struct cavs__input *input)
{
    char op[200];

    snprintf(op, sizeof op, "apply: %s%s of function %s", input ? "input " : "child",
             input ? input->name : "", w->f->name);
    if (to->x->op == CAVS__OP_IDS)
        return cavs__is_ids(w->to, x, op, w->at) && cavs__limit_ids(x, input->limit, op, w->at);
    if (!cavs__is_value(w->to, x, op, w->at))
        return false;
    cavs__function_fail(w->to, CAVS_ESHAPE, w->at, "%s: %s has width %d, not %d", op,
                        cavs__symbol_label(x), x->width, to->x->width);
    return false;
}

static bool fits(const struct cavs__applying *w, struct cavs_symbol *x,
                 const struct cavs__given *to)
{
    const struct cavs__input *input =
        to->input == CAVS__A_CHILD ? NULL : w->f->stage->inputs[to->input];
    bool here = x->function == w->to && x->number < w->to->nsymbols, ids = x->op == CAVS__OP_IDS;

    if (here && ids && to->x->op == CAVS__OP_IDS && x->k < input->limit)
        return true;
    if (here && !ids && to->x->op != CAVS__OP_IDS && x->width == to->x->width && x->domain == 0)
        return true;
    return refuse(w, x, to, input);
}

/* Notes what an application gives to the operand: one symbol, or all entries of a list of any
 * length. */
static bool give_list(const struct cavs__applying *w, const struct cavs__given *to)
{
    const struct cavs_symbol *x =
        cavs__applied_list(w, to->input == CAVS__A_CHILD ? NULL : w->f->stage->inputs[to->input]);

    for (int i = 0; x && i < x->ninputs; i++) {
        if (!fits(w, x->inputs[i], to))
            return false;
    }
    w->value[to->x->number] = (struct cavs_symbol *)x;
    return true;
}

static bool reserve_values(struct cavs__applying *w)
{
    struct cavs__recording *r = &w->t->recording;
    size_t n = (size_t)w->u->f->nsymbols;

    if (!cavs__array_reserve(&r->applied, &r->applied_room, n, sizeof(*r->applied))) {
        cavs__function_fail(w->to, CAVS_ENOMEM, w->at, "apply: out of memory");
        return false;
    }
    w->value = r->applied;
    memset(w->value, 0, n * sizeof(*w->value));
    return true;
}

static bool give(struct cavs__applying *w)
{
    if (!reserve_values(w))
        return false;
    for (int i = 0; i < w->u->ngiven; i++) {
        const struct cavs__given *to = &w->u->given[i];
        struct cavs_symbol *x;

        if (to->entry == CAVS__ALL_ENTRIES) {
            if (!give_list(w, to))
                return false;
            continue;
        }
        x = to->input == CAVS__A_CHILD ? w->a->children[to->entry]
                                       : cavs__applied_input(w, w->f->stage->inputs[to->input]);
        if (x->domain > 0)
            x = x->inputs[to->entry];
        if (!fits(w, x, to))
            return false;
        w->value[to->x->number] = x;
    }
    return true;
}

/* ---- what is recorded ---- */

/* The tape's symbol that stands for symbol x of the unfolded function.  NULL: reported. */
static struct cavs_symbol *value_of(const struct cavs__applying *w, const struct cavs_symbol *x)
{
    struct cavs_symbol **y = &w->value[x->number], *in = NULL,
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

/* How many entries the lists of the piece have in this application. */
static int length_of(const struct cavs__applying *w, const struct cavs__unfolded_piece *p)
{
    const struct cavs__list *list = w->f->nlists > 0 ? w->f->lists[0] : NULL;
    const struct cavs_symbol *x = p->nlisted > 0 ? cavs__applied_list(w, list->input) : NULL;

    return x ? x->ninputs : 0;
}

/* Lists what the piece reads on the tape: its operands, and then the entries of each list.  Returns
 * how many these are; -1: reported. */
static int read_all(const struct cavs__applying *w, const struct cavs__unfolded_piece *p,
                    int length, struct cavs_symbol **in)
{
    int alone = p->noperands - p->nlisted, n = 0;

    for (int k = 0; k < (length > 0 ? p->noperands : alone); k++) {
        struct cavs_symbol *x = value_of(w, p->operands[k]);

        if (!x)
            return -1;
        if (k < alone)
            in[n++] = x;
        for (int i = 0; k >= alone && i < length; i++)
            in[n++] = x->inputs[i];
    }
    return n;
}

static struct cavs_symbol *record(const struct cavs__applying *w,
                                  const struct cavs__unfolded_piece *p, int number)
{
    int length = length_of(w, p), n;
    struct cavs__recording *r = &w->t->recording;
    struct cavs_symbol like = {.op = CAVS__OP_APPLY,
                               .width = p->width,
                               .metric = p->metric,
                               .is_loss = p->is_loss,
                               .k = number,
                               .which = (int)(w->u->print + (uint32_t)number % CAVS__PIECES),
                               .at = w->at},
                       **in;

    in = cavs__arena_alloc(&r->nodes[r->generation & 1].arena,
                           ((size_t)p->noperands + (size_t)p->nlisted * (size_t)length + 1) *
                               sizeof *in);
    if (!in) {
        cavs__function_fail(w->to, CAVS_ENOMEM, w->at, "apply: out of memory");
        return NULL;
    }
    n = read_all(w, p, length, in);
    return n < 0 ? NULL : cavs__add_symbol(w->to, like, n, in);
}

/* Records the piece as one symbol.  Where it has several results, each of them is columns of that
 * symbol. */
static bool record_piece(const struct cavs__applying *w, const struct cavs__unfolded_piece *p,
                         int number)
{
    struct cavs_symbol *x = p->n > 0 ? record(w, p, number) : NULL;

    for (int i = 0; i < p->nresults && x; i++) {
        struct cavs_symbol like = {.op = CAVS__OP_SLICE,
                                   .width = p->results[i]->width,
                                   .k = p->column[i],
                                   .at = w->at},
                           *y = like.width < p->width ? cavs__add_symbol(w->to, like, 1, &x) : x;

        w->value[p->results[i]->number] = y;
    }
    return w->to->error == 0;
}

static void show(const struct cavs__applying *w)
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
    struct cavs__applying w = {.t = t, .f = f, .a = a, .at = at};
    struct cavs_symbol *state;
    int number;

    if (!t)
        return NULL;
    w.to = t->recording.recorder.present;
    if (!may_apply(&w))
        return NULL;
    w.children = (struct cavs_symbol){
        .op = CAVS__OP_EACH_CHILD, .ninputs = a->nchildren, .inputs = (void *)a->children};
    for (int i = 0; i < a->nchannels; i++)
        a->channels[i].x = NULL;
    if (reads_stages(f))
        cavs__function_fail(w.to, CAVS_EPROGRAM, at,
                            "apply: function %s pulls from another stage, which a tape has not; "
                            "declare an input instead (cavs_pull), and give it the symbol",
                            f->name);
    number = w.to->error ? -1 : cavs__find_unfolded(&w);
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
