/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal.c - finds the symbol of a function that is equal to a new one, so that nothing is computed
 * twice.
 *
 * Symbols hang in chains by a hash of what makes them equal.  Passes that change symbols put others
 * between them, after which the chains are made anew.
 */
#include <stdlib.h>
#include <string.h>

#include "core/declare/model.h"

/* Of a constant the bits count: 1 / 0 is not 1 / -0. */
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

static size_t mix(size_t h, size_t value)
{
    return (h ^ value) * (size_t)0x9e3779b97f4a7c15u;
}

static size_t hash(const struct cavs_symbol *like, int ninputs, struct cavs_symbol *const *inputs)
{
    size_t h = mix((size_t)like->op, (size_t)like->k);

    h = mix(h, (size_t)like->width);
    h = mix(h, bits(like->s));
    h = mix(h, (size_t)(uintptr_t)like->param);
    for (int i = 0; i < ninputs; i++)
        h = mix(h, (size_t)(uintptr_t)inputs[i]);
    return h ^ h >> 29;
}

static int *chain(const struct cavs__equals *e, const struct cavs_symbol *like, int ninputs,
                  struct cavs_symbol *const *inputs)
{
    return &e->head[hash(like, ninputs, inputs) & (size_t)(e->room - 1)];
}

/* Twice the room of what is there. */
static bool make_room(struct cavs__equals *e, int n)
{
    int room = 64;

    while (room < 2 * n)
        room *= 2;
    if (room > e->room) {
        cavs__equals_clear(e);
        e->head = malloc((size_t)room * sizeof *e->head);
        e->next = malloc((size_t)room * sizeof *e->next);
        if (!e->head || !e->next) {
            cavs__equals_clear(e);
            return false;
        }
        e->room = room;
    }
    for (int i = 0; i < e->room; i++)
        e->head[i] = -1;
    e->n = 0;
    return true;
}

/* Takes up what has been added since the last search. */
static bool follow(struct cavs__equals *e, const struct cavs_function *f)
{
    if ((e->n == 0 || f->nsymbols > e->room) && !make_room(e, f->nsymbols))
        return false;
    for (; e->n < f->nsymbols; e->n++) {
        const struct cavs_symbol *x = f->symbols[e->n];
        int *head = chain(e, x, x->ninputs, x->inputs);

        e->next[e->n] = *head;
        *head = e->n;
    }
    return true;
}

bool cavs__find_equal(struct cavs_function *f, const struct cavs_symbol *like, int ninputs,
                      struct cavs_symbol *const *inputs, struct cavs_symbol **found)
{
    *found = NULL;
    if (!follow(&f->equals, f))
        return false;
    /* newest first: the last one found is the one that has been there longest */
    for (int i = *chain(&f->equals, like, ninputs, inputs); i >= 0; i = f->equals.next[i]) {
        if (symbols_equal(f->symbols[i], like, ninputs, inputs))
            *found = f->symbols[i];
    }
    return true;
}

void cavs__equals_forget(struct cavs__equals *e)
{
    e->n = 0;
}

void cavs__equals_clear(struct cavs__equals *e)
{
    free(e->head);
    free(e->next);
    *e = (struct cavs__equals){0};
}
