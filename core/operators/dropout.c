/* SPDX-License-Identifier: Apache-2.0 */
/* dropout.c - zeros at random places of a row. */
#include "core/operators/family.h"

/* Every call in a model has numbers of its own. */
static int next_site(const struct cavs_model *m)
{
    int n = 0;

    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++) {
            const struct cavs_function *f = m->stages[i]->functions[j];

            for (int k = 0; k < f->nsymbols; k++)
                n += f->symbols[k]->op == CAVS__OP_DROPOUT;
        }
    }
    return n;
}

struct cavs_symbol *cavs_dropout_at(struct cavs_symbol *x, float rate, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;

    if (!cavs__open_for(f, "dropout", at) || !cavs__is_value(f, x, "dropout", at))
        return NULL;
    if (!(rate >= 0 && rate < 1)) {
        FAIL(f, CAVS_EINVAL, "dropout: the rate %g is not from 0 up to, but not including, 1",
             (double)rate);
        return NULL;
    }
    if (rate == 0)
        return x;
    return cavs__add_symbol(f,
                            (struct cavs_symbol){.op = CAVS__OP_DROPOUT,
                                                 .width = x->width,
                                                 .s = rate,
                                                 .k = next_site(f->stage->model),
                                                 .at = at},
                            1, &x);
}

/* The same numbers are drawn again: nothing is kept. */
static void diff_dropout(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    if (y->inputs[0]->needs_grad)
        cavs__contribute(
            d, y, y->inputs[0],
            cavs__diff_symbol(d, y,
                              (struct cavs_symbol){
                                  .op = CAVS__OP_DROPOUT, .width = y->width, .s = y->s, .k = y->k},
                              1, &g));
}

const struct cavs__operator cavs__operator_dropout = {
    .name = "dropout",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = diff_dropout,
};
