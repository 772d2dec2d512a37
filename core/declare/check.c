/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - what can only be seen when all functions of a model are there. */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/declare/model.h"

static bool pushes(const struct cavs_function *f, const struct cavs__channel *c)
{
    for (int i = 0; i < f->nsymbols; i++) {
        if (f->symbols[i]->op == CAVS__OP_PUSH && f->symbols[i]->channel == c)
            return true;
    }
    return false;
}

/* A vertex whose function does not push on a channel of its stage shows zeros there. */
static int complete_channels(struct cavs_stage *s)
{
    for (int i = 0; i < s->nchannels; i++) {
        struct cavs__channel *c = s->channels[i];

        for (int j = 0; j < s->nfunctions; j++) {
            struct cavs_function *f = s->functions[j];
            struct cavs_symbol zero = {.op = CAVS__OP_CONST, .width = c->width, .at = CAVS_HERE};
            struct cavs_symbol push = {
                .op = CAVS__OP_PUSH, .width = c->width, .channel = c, .at = CAVS_HERE};
            struct cavs_symbol *x;

            if (pushes(f, c))
                continue;
            x = cavs__symbol_new(f, &zero, 0, NULL);
            if (!x || !cavs__symbol_new(f, &push, 1, &x))
                return cavs__fail_nomem("symbols", 0);
        }
    }
    return CAVS_OK;
}

/* Finds which functions pull each input. */
static int find_pulled(struct cavs_stage *s)
{
    for (int k = 0; k < s->ninputs; k++) {
        free(s->inputs[k]->pulled); /* of an earlier attempt to finish */
        s->inputs[k]->pulled = calloc((size_t)s->nfunctions, sizeof *s->inputs[k]->pulled);
        if (!s->inputs[k]->pulled)
            return cavs__fail_nomem("inputs", (size_t)s->nfunctions * sizeof(bool));
    }
    for (int j = 0; j < s->nfunctions; j++) {
        for (int i = 0; i < s->functions[j]->nsymbols; i++) {
            const struct cavs_symbol *x = s->functions[j]->symbols[i];

            if (x->input)
                x->input->pulled[j] = true;
        }
    }
    return CAVS_OK;
}

static int check_stage(struct cavs_stage *s)
{
    int rc;

    if (s->nfunctions == 0)
        return cavs__fail(CAVS_EPROGRAM, "stage %s has no vertex function", s->name);
    if (s->base && s->nfunctions != 1)
        return cavs__fail(CAVS_EPROGRAM,
                          "stage %s stands over stage %s and must have one function, not %d",
                          s->name, s->base->name, s->nfunctions);
    rc = complete_channels(s);
    return rc ? rc : find_pulled(s);
}

int cavs__model_check(struct cavs_model *m)
{
    if (m->nstages == 0 && m->nparams == 0)
        return cavs__fail(CAVS_EPROGRAM, "the model has no stage and no parameter");
    for (int i = 0; i < m->nstages; i++) {
        int rc = check_stage(m->stages[i]);

        if (rc)
            return rc;
    }
    return CAVS_OK;
}
