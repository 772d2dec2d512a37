/* SPDX-License-Identifier: Apache-2.0 */
/* needs_grad.c - which symbols depend on something trained: the backward prune. */
#include "codelets/groups/elementwise.h"
#include "core/compile/passes.h"
#include "core/declare/operator.h"

/* Is what this channel shows computed from something trained? */
static bool channel_needs_grad(const struct cavs__channel *c)
{
    for (int j = 0; j < c->stage->nfunctions; j++) {
        const struct cavs_function *f = c->stage->functions[j];

        for (int i = 0; i < f->nsymbols; i++) {
            if (f->symbols[i]->op == CAVS__OP_PUSH && f->symbols[i]->channel == c &&
                f->symbols[i]->needs_grad)
                return true;
        }
    }
    return false;
}

bool cavs__symbol_needs_grad(const struct cavs_symbol *x, bool state)
{
    if (cavs__starts_chain(x))
        return state;
    if (x->op == CAVS__OP_FETCH)
        return channel_needs_grad(x->channel);
    if (cavs__operator_of(x)->diff == cavs__not_differentiable ||
        (x->op == CAVS__OP_ELEMENTWISE && !cavs__ew_passes(x->k)))
        return false;
    if (x->param && !x->param->frozen)
        return true;
    for (int i = 0; i < x->ninputs; i++) {
        if (x->inputs[i]->needs_grad)
            return true;
    }
    return false;
}

/* One sweep over a stage; tells whether a scattered state needs a gradient. */
bool cavs__mark_needs_grad(struct cavs_stage *s, bool state)
{
    bool scattered = false;

    for (int j = 0; j < s->nfunctions; j++) {
        struct cavs_function *f = s->functions[j];

        for (int i = 0; i < f->nsymbols; i++)
            f->symbols[i]->needs_grad = cavs__symbol_needs_grad(f->symbols[i], state);
        scattered |= f->scatter && f->scatter->needs_grad;
    }
    return scattered;
}
