/* SPDX-License-Identifier: Apache-2.0 */
/* unfolded_parts.c - see unfolded.h: which symbols of an unfolded function are computed together.
 */
#include <stdlib.h>

#include "core/declare/operator.h"
#include "core/tape/unfolded_parts.h"

/* ---- parts ---- */

static void find_own(struct cavs__cutting *c)
{
    for (int i = 0; i < c->n; i++)
        c->own[i] = true;
    for (int i = 0; i < c->u->ngiven; i++)
        c->own[c->u->given[i].x->number] = c->u->given[i].input != CAVS__A_CHILD;
    for (int i = 0; i < c->n; i++) {
        const struct cavs_symbol *x = cavs__symbol_cut(c, i);

        for (int k = 0; k < x->ninputs; k++)
            c->own[i] &= c->own[x->inputs[k]->number];
    }
}

static void wait_for(struct cavs__cutting *c, struct cavs_symbol *x)
{
    if (!x)
        return;
    c->part[x->number] = CAVS__PIECE_CHAIN;
    c->shown[cavs__unsliced(x)->number] = true;
}

/* Finds parts from what is shown, and from metrics, back to what they read. */
static void find_parts(struct cavs__cutting *c)
{
    wait_for(c, c->u->state);
    for (int i = 0; i < c->u->of->stage->nchannels; i++)
        wait_for(c, c->u->channels[i]);
    for (int i = c->n - 1; i >= 0; i--) {
        const struct cavs_symbol *x = cavs__symbol_cut(c, i);

        c->counted[i] |= x->op == CAVS__OP_METRIC;
        if (c->part[i] == CAVS__NO_PART && c->counted[i])
            c->part[i] = CAVS__PIECE_LATER;
        for (int k = 0; k < x->ninputs; k++) {
            int of = x->inputs[k]->number;

            c->counted[of] |= c->counted[i];
            if (c->part[i] == CAVS__PIECE_CHAIN)
                c->part[of] = CAVS__PIECE_CHAIN;
        }
    }
}

/* Puts products of the vertex's own inputs, and what leads to them, ahead of the chain; where
 * nothing else is in the chain it is not cut (run_parts.c). */
static void find_ahead(struct cavs__cutting *c)
{
    bool cut = false;

    for (int i = 0; i < c->n; i++)
        cut |= c->part[i] == CAVS__PIECE_CHAIN && !c->own[i] &&
               cavs__is_in_part(cavs__symbol_cut(c, i));
    for (int i = c->n - 1; i >= 0 && cut; i--) {
        const struct cavs_symbol *x = cavs__symbol_cut(c, i);

        if (c->part[i] == CAVS__PIECE_CHAIN && c->own[i] && x->domain <= 0 &&
            cavs__operator_of(x)->flops)
            c->part[i] = CAVS__PIECE_AHEAD;
        for (int k = 0; k < x->ninputs && c->part[i] == CAVS__PIECE_AHEAD; k++)
            c->part[x->inputs[k]->number] = CAVS__PIECE_AHEAD;
    }
}

/* ---- lists ---- */

static bool is_of_list(const struct cavs_symbol *x)
{
    return x->domain > 0 || x->op == CAVS__OP_LIST_SUM || x->op == CAVS__OP_LIST_MAX ||
           x->op == CAVS__OP_LIST_SHARE;
}

/* Rows of entries are inside of a part that reads their list: see unfolded.h. */
static bool may_stay_listed(const struct cavs__cutting *c, const struct cavs__unfolded_piece *p)
{
    bool may = true;

    for (int i = 0; i < p->n; i++) {
        const struct cavs_symbol *x = p->members[i];

        if (!is_of_list(x))
            continue;
        may &= p->nlisted > 0;
        may &= x->domain <= 0 ||
               (!c->shown[x->number] && x->op != CAVS__OP_METRIC && !cavs__operator_of(x)->random);
    }
    return may;
}

static void check_lists(const struct cavs__cutting *c)
{
    for (int part = 0; part < CAVS__PIECES && c->u->listed; part++)
        c->u->by_length |= !may_stay_listed(c, c->u->pieces[part]);
}

bool cavs__unfolded_cut(struct cavs__unfolded *u)
{
    size_t n = (size_t)u->f->nsymbols + 1;
    struct cavs__cutting c = {.u = u, .n = u->f->nsymbols};
    bool *flags = calloc(n, 3 * sizeof *flags), ok;

    c.part = malloc(n * sizeof *c.part);
    ok = flags && c.part;
    if (ok) {
        c.own = flags;
        c.counted = flags + n;
        c.shown = flags + 2 * n;
        for (int i = 0; i < c.n; i++)
            c.part[i] = CAVS__NO_PART;
        find_own(&c);
        find_parts(&c);
        find_ahead(&c);
        ok = cavs__add_pieces(&c);
    }
    if (ok)
        check_lists(&c);
    free(flags);
    free(c.part);
    return ok;
}
