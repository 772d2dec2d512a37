/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_once.c - which symbols of a function a session evaluates once per distinct input. */
#include "core/compile/place.h"

#include <stdlib.h>

#include "core/base/error.h"

/* What depends on a COLLECT has a row for each distinct input, too. */
static bool is_shared(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    if (!x->backward)
        return x->shared;
    if (x->op == CAVS__OP_COLLECT)
        return true;
    for (int i = 0; i < x->ninputs; i++) {
        if (x->inputs[i]->backward && p->shared[x->inputs[i]->number])
            return true;
    }
    return false;
}

/* The derivative of a shared value may need what follows from shared values alone, such as e^y of
 * a log_softmax y.  No COLLECT leads there, but its rows have to be those of the work that reads
 * it. */
static void share_operands(struct cavs__placer *p, const struct cavs_symbol *x)
{
    for (int i = 0; i < x->ninputs; i++) {
        const struct cavs_symbol *b = x->inputs[i];

        if (b->backward && b->op != CAVS__OP_CONST)
            p->shared[b->number] = true;
    }
}

/* The input that x reads, or NULL. */
static const struct cavs__input *input_of(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_PULL || x->op == CAVS__OP_IDS ? x->input : NULL;
}

static bool is_after_spread(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    if (x->backward || x->klass != CAVS__EAGER || !cavs__is_elementwise(x) || p->shared[x->number])
        return false;
    for (int i = 0; i < x->ninputs; i++) {
        int col;
        const struct cavs_symbol *b = cavs__base(p, x->inputs[i], &col);

        if (p->value[b->number].after_spread || (p->shared[b->number] && cavs__is_computed(b)))
            return true;
    }
    return false;
}

/* What runs before the chain cannot wait for it: of symbols that such work reads, after_spread is
 * taken back. */
static void settle_after_spread(struct cavs__placer *p)
{
    for (int i = p->f->nsymbols - 1; i >= 0; i--) {
        const struct cavs_symbol *y = p->f->symbols[i];

        if (y->backward || y->klass != CAVS__EAGER || p->shared[i] || p->value[i].after_spread ||
            !cavs__is_computed(y) || !y->live)
            continue;
        for (int k = 0; k < y->ninputs; k++)
            p->value[cavs__root(p, y->inputs[k])->number].after_spread = false;
    }
}

int cavs__find_sharing(struct cavs__placer *p)
{
    const struct cavs_stage *s = p->f->stage;
    bool *inputs;

    for (int i = 0; i < p->f->nsymbols && !p->plan->options.no_sharing; i++)
        p->shares |= p->f->symbols[i]->op == CAVS__OP_SPREAD && p->f->symbols[i]->live;
    if (!p->shares)
        return CAVS_OK;
    inputs = calloc((size_t)s->ninputs + 1, sizeof *inputs);
    if (!inputs)
        return cavs__fail_nomem("plan: shared inputs", ((size_t)s->ninputs + 1) * sizeof *inputs);
    p->sp->shared_inputs[p->f->number] = inputs;
    for (int i = 0; i < p->f->nsymbols; i++) {
        const struct cavs_symbol *x = p->f->symbols[i];

        p->shared[i] = is_shared(p, x);
        if (p->shared[i] && !x->backward && input_of(x))
            inputs[input_of(x)->number] = true;
    }
    for (int i = p->f->nsymbols - 1; i >= 0; i--) {
        const struct cavs_symbol *x = p->f->symbols[i];

        if (p->shared[i] && x->backward && x->op != CAVS__OP_COLLECT)
            share_operands(p, x);
    }
    for (int i = 0; i < p->f->nsymbols; i++)
        p->value[i].after_spread = is_after_spread(p, p->f->symbols[i]);
    settle_after_spread(p);
    return CAVS_OK;
}

bool cavs__in_shared_part(const struct cavs__placer *p)
{
    if (p->part == CAVS__PART_SHARED || p->part == CAVS__PART_SHARED_BACK)
        return true;
    return p->part >= CAVS__PARTS_CLASSED && p->shares &&
           p->shared[p->sum_sink[p->part - CAVS__PARTS_CLASSED]->number];
}

bool cavs__is_spread_here(const struct cavs__placer *p, const struct cavs_symbol *b)
{
    return p->shares && p->shared[b->number] && cavs__is_computed(b) && !p->local[b->number].here &&
           !cavs__in_shared_part(p);
}
