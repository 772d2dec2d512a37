/* SPDX-License-Identifier: Apache-2.0 */
/* dropout.c - zeros at random places of a row. */
#include "core/operators/family.h"

/* Every call of dropout in a model draws numbers of its own. */
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
                                                 .k = f->recorder ? 0 : next_site(f->stage->model),
                                                 .at = at},
                            1, &x);
}

/* The same numbers are drawn again, so nothing of them is kept. */
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

/* One half of the key of each row; in a session that does not train there is none. */
static struct cavs__operand noise(struct cavs__placer *p, enum cavs__section_kind half, int domain)
{
    if (!p->plan->options.training)
        return (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT};
    return cavs__ids_operand(
        p, (struct cavs__section){.kind = half, .function = p->f, .list = domain});
}

static int emit_dropout(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = cavs__new_step(p, x, 4, &s);

    if (rc)
        return rc;
    s->v[0] = cavs__read_operand(p, x, 0);
    s->v[1] = noise(p, CAVS__S_NOISE_LOW, x->domain);
    s->v[2] = noise(p, CAVS__S_NOISE_HIGH, x->domain);
    s->v[3] = cavs__result_operand(p, x);
    s->call.rate = x->s;
    s->call.site = (uint32_t)x->k;
    return CAVS_OK;
}

const struct cavs__operator cavs__operator_dropout = {
    .name = "dropout",
    .role = CAVS__ROLE_SINGLE,
    .random = true,
    .domain = cavs__domain_of_operands,
    .diff = diff_dropout,
    .kernel = &cavs__kernel_dropout,
    .emit = emit_dropout,
};
