/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autodiff.c - reverse-mode differentiation of a vertex function F: appends dF to its symbols.
 *
 * dF is a vertex function over the same graph walked from the parents to the children (Cavs
 * section 3.4): the adjoint of scatter is gathered from the parents' slots, the adjoint of
 * gather(k) is scattered to slot k, push and pull change places likewise, and each use of a
 * parameter ends in a gradient sink that reduces over all rows.  What one operator does is in its
 * record (core/operators/); this is the sweep over all.
 *
 * Stages are visited last to first, so that a channel knows which of its fetches pass a gradient
 * back.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/compile/diff.h"
#include "core/compile/passes.h"

/* What a forward sink asks of its operand. */
static void diff_sink(struct cavs__diff *d, struct cavs_symbol *y)
{
    if (y->inputs[0]->needs_grad)
        cavs__operator_of(y)->diff(d, y, NULL);
}

int cavs__differentiate(struct cavs_function *f)
{
    struct cavs__diff d = {.f = f, .nforward = f->nsymbols};

    d.to = calloc((size_t)f->nsymbols + 1, sizeof *d.to);
    if (!d.to)
        return cavs__fail_nomem("autodiff", ((size_t)f->nsymbols + 1) * sizeof *d.to);
    f->finished = false; /* the backward symbols go through the same builders */
    for (int i = 0; i < d.nforward && !d.failed; i++) {
        if (cavs__is_sink(f->symbols[i]))
            diff_sink(&d, f->symbols[i]);
    }
    for (int i = d.nforward - 1; i >= 0 && !d.failed; i--) {
        struct cavs_symbol *x = f->symbols[i];

        x->adjoint = d.to[i].n > 0 ? cavs__diff_total(&d, x) : NULL;
        if (x->adjoint && !d.failed)
            cavs__operator_of(x)->diff(&d, x, x->adjoint);
    }
    cavs__diff_children(&d);
    f->finished = true;
    for (int i = d.nforward; i < f->nsymbols; i++)
        f->symbols[i]->backward = true;
    for (int i = 0; i < d.nforward; i++)
        free(d.to[i].pieces);
    free(d.to);
    return d.failed ? cavs__fail_nomem("autodiff", 0) : CAVS_OK;
}

/* ---- all stages ---- */

/* Does a gradient enter this stage anywhere? */
static bool reached(const struct cavs_stage *s)
{
    for (int j = 0; j < s->nfunctions; j++) {
        const struct cavs_function *f = s->functions[j];

        for (int i = 0; i < f->nsymbols; i++) {
            const struct cavs_symbol *x = f->symbols[i];

            if (x->op == CAVS__OP_METRIC && x->is_loss && x->needs_grad)
                return true;
            for (int k = 0; x->op == CAVS__OP_PUSH && k < x->channel->nfetches; k++) {
                if (x->channel->fetches[k]->adjoint)
                    return true;
            }
        }
    }
    return false;
}

static bool gathers(const struct cavs_stage *s)
{
    for (int j = 0; j < s->nfunctions; j++) {
        for (int i = 0; i < s->functions[j]->nsymbols; i++) {
            if (cavs__starts_chain(s->functions[j]->symbols[i]))
                return true;
        }
    }
    return false;
}

int cavs__pass_autodiff(struct cavs_model *m)
{
    bool *state = calloc((size_t)m->nstages + 1, sizeof *state);

    if (!state)
        return cavs__fail_nomem("autodiff", (size_t)m->nstages + 1);
    for (int i = 0; i < m->nstages; i++) {
        /* a state is trained if something scattered is; that may itself depend on a gather: one
         * more sweep */
        state[i] = cavs__mark_needs_grad(m->stages[i], false);
        if (state[i])
            cavs__mark_needs_grad(m->stages[i], true);
    }
    for (int i = m->nstages - 1; i >= 0; i--) {
        struct cavs_stage *s = m->stages[i];
        bool enters = reached(s);

        s->state_grad = enters && state[i] && gathers(s);
        for (int j = 0; j < s->nfunctions && enters; j++) {
            int rc = cavs__differentiate(s->functions[j]);

            if (rc) {
                free(state);
                return rc;
            }
        }
    }
    free(state);
    return CAVS_OK;
}
