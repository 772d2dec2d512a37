/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classify.c - which symbols are asked for, and when each can be computed relative to the chain.
 *
 * Cavs section 3.5, Proposition 2, applied to F and, with the parts of gather and scatter taken by
 * the state gradient and the slot gradients, to dF: a symbol that does not depend on a gather is
 * eager, one that does but that no scatter depends on is lazy, the rest is the chain.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/compile/passes.h"
#include "core/declare/operator.h"

static void mark_live(struct cavs_symbol *x)
{
    /* Operands come first in the list, so recursion depth is bounded by the function, not by any
     * graph. */
    if (x->live)
        return;
    x->live = true;
    for (int i = 0; i < x->ninputs; i++)
        mark_live(x->inputs[i]);
}

static void mark_all_live(struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols; i++) {
        if (cavs__is_sink(f->symbols[i]))
            mark_live(f->symbols[i]);
    }
}

void cavs__pass_live(struct cavs_model *m)
{
    for (int s = 0; s < m->nstages; s++) {
        for (int j = 0; j < m->stages[s]->nfunctions; j++)
            mark_all_live(m->stages[s]->functions[j]);
    }
}

void cavs__classify_recorded(struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols; i++)
        f->symbols[i]->klass = CAVS__CHAIN;
    mark_all_live(f);
}

static void classify_function(struct cavs_function *f, bool *after, bool *before)
{
    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        after[i] = cavs__starts_chain(x);
        before[i] = false;
        /* dF reads what F computed: only operands of the same direction carry the dependency */
        for (int k = 0; k < x->ninputs; k++)
            after[i] |= after[x->inputs[k]->number] && x->inputs[k]->backward == x->backward;
    }
    for (int i = f->nsymbols - 1; i >= 0; i--) {
        struct cavs_symbol *x = f->symbols[i];

        before[i] |= cavs__operator_of(x)->chain == CAVS__ENDS_CHAIN;
        for (int k = 0; k < x->ninputs && before[i]; k++)
            before[x->inputs[k]->number] |= x->inputs[k]->backward == x->backward;
        x->klass = !after[i] ? CAVS__EAGER : before[i] ? CAVS__CHAIN : CAVS__LAZY;
    }
}

int cavs__pass_classify(struct cavs_model *m)
{
    for (int s = 0; s < m->nstages; s++) {
        for (int j = 0; j < m->stages[s]->nfunctions; j++) {
            struct cavs_function *f = m->stages[s]->functions[j];
            bool *flags = calloc(2 * (size_t)f->nsymbols + 1, sizeof *flags);

            if (!flags)
                return cavs__fail_nomem("classification", 2 * (size_t)f->nsymbols + 1);
            classify_function(f, flags, flags + f->nsymbols);
            free(flags);
        }
    }
    return CAVS_OK;
}
