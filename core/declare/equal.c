/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal.c - finds the symbol of a function that is equal to a new one, so that nothing is computed
 * twice.
 *
 * The table goes by what makes symbols equal.  Passes that change symbols put others between them,
 * after which it is made anew.
 */
#include <string.h>

#include "core/declare/model.h"

/* Of a constant the bits are compared: 1 / 0 is not 1 / -0. */
static uint32_t bits(float s)
{
    uint32_t u;

    memcpy(&u, &s, sizeof u);
    return u;
}

static bool symbols_equal(const struct cavs_symbol *x, const struct cavs_symbol *like, int ninputs,
                          struct cavs_symbol *const *inputs)
{
    return x->op == like->op && x->domain == like->domain && x->width == like->width &&
           x->ninputs == ninputs && x->param == like->param && x->input == like->input &&
           x->channel == like->channel && x->metric == like->metric && x->fetch == like->fetch &&
           x->k == like->k && x->which == like->which && bits(x->s) == bits(like->s) &&
           (ninputs == 0 || memcmp(x->inputs, inputs, (size_t)ninputs * sizeof *inputs) == 0);
}

static uint32_t hash(const struct cavs_symbol *like, int ninputs, struct cavs_symbol *const *inputs)
{
    uint64_t h = cavs__mix((uint64_t)like->op, (uint64_t)like->k);

    h = cavs__mix(h, (uint64_t)like->width);
    h = cavs__mix(h, bits(like->s));
    h = cavs__mix(h, (uintptr_t)like->param);
    for (int i = 0; i < ninputs; i++)
        h = cavs__mix(h, (uintptr_t)inputs[i]);
    return cavs__mixed(h);
}

/* Enters the symbols that have been added since the last search. */
static bool follow(struct cavs__equals *e, const struct cavs_function *f)
{
    if (e->n == 0 || f->nsymbols > e->room) {
        e->n = 0;
        e->room = 2 * f->nsymbols;
        if (!cavs__table_begin(&e->table, (size_t)e->room))
            return false;
    }
    for (; e->n < f->nsymbols; e->n++) {
        const struct cavs_symbol *x = f->symbols[e->n];

        cavs__table_put(&e->table, hash(x, x->ninputs, x->inputs), e->n);
    }
    return true;
}

bool cavs__find_equal(struct cavs_function *f, const struct cavs_symbol *like, int ninputs,
                      struct cavs_symbol *const *inputs, struct cavs_symbol **found)
{
    struct cavs__probe p;
    int32_t i;

    *found = NULL;
    if (!follow(&f->equals, f))
        return false;
    p = cavs__table_probe(&f->equals.table, hash(like, ninputs, inputs));
    while ((i = cavs__probe_at(&p)) >= 0 && !symbols_equal(f->symbols[i], like, ninputs, inputs))
        cavs__probe_step(&p);
    if (i >= 0)
        *found = f->symbols[i];
    return true;
}

void cavs__equals_forget(struct cavs__equals *e)
{
    e->n = 0;
}

void cavs__equals_clear(struct cavs__equals *e)
{
    cavs__table_free(&e->table);
    *e = (struct cavs__equals){0};
}
