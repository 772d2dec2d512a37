/* SPDX-License-Identifier: Apache-2.0 */
/* unfolded_pieces.c - see unfolded_parts.h: parts of an unfolded function as symbols of tapes. */
#include <stdlib.h>

#include "core/base/array.h"
#include "core/tape/unfolded_parts.h"

static bool add_once(struct cavs_symbol ***all, int *n, struct cavs_symbol *x)
{
    for (int i = 0; i < *n; i++) {
        if ((*all)[i] == x)
            return true;
    }
    return CAVS__APPEND(*all, *n, x);
}

/* Ids have the first numbers: there are inputs of the tape's stage for so many.  Lists have the
 * last ones, since they are of any length. */
static bool add_operands(struct cavs__cutting *c, struct cavs__unfolded_piece *p, bool ids,
                         bool listed)
{
    int before = p->noperands;
    bool ok = true;

    for (int i = 0; i < p->n && ok; i++) {
        for (int k = 0; k < p->members[i]->ninputs && ok; k++) {
            struct cavs_symbol *in = cavs__unsliced(p->members[i]->inputs[k]);

            if ((in->op == CAVS__OP_IDS) != ids || (in->domain > 0) != listed ||
                cavs__has_role(in, CAVS__ROLE_CONSTANT))
                continue;
            if (cavs__is_in_part(in) && c->part[in->number] == c->part[p->members[i]->number])
                continue;
            c->shown[in->number] = true;
            ok = add_once(&p->operands, &p->noperands, in);
        }
    }
    p->nlisted += listed ? p->noperands - before : 0;
    return ok;
}

static bool add_all_operands(struct cavs__cutting *c, struct cavs__unfolded_piece *p)
{
    return add_operands(c, p, true, false) && add_operands(c, p, false, false) &&
           add_operands(c, p, true, true) && add_operands(c, p, false, true);
}

static bool add_members(struct cavs__cutting *c, struct cavs__unfolded_piece *p, int part)
{
    for (int i = 0; i < c->n; i++) {
        struct cavs_symbol *x = cavs__symbol_cut(c, i);

        if (c->part[i] != part || !cavs__is_in_part(x))
            continue;
        if (!CAVS__APPEND(p->members, p->n, x))
            return false;
        if (x->op == CAVS__OP_METRIC)
            p->metric = x->metric;
        p->is_loss |= x->is_loss;
    }
    return true;
}

static bool add_result(struct cavs__unfolded_piece *p, struct cavs_symbol *x, int column)
{
    p->column[p->nresults] = column;
    return CAVS__APPEND(p->results, p->nresults, x);
}

/* Where x begins in a concatenation that is a result; -1: in none. */
static int column_inside(const struct cavs__unfolded_piece *p, const struct cavs_symbol *x)
{
    for (int i = 0; i < p->nplaced; i++) {
        const struct cavs_symbol *of = p->results[i];
        int column = p->column[i];

        for (int k = 0; of->op == CAVS__OP_CONCAT && k < of->ninputs; k++) {
            if (of->inputs[k] == x)
                return column;
            column += of->inputs[k]->width;
        }
    }
    return -1;
}

/* What all parts read is known.  Concatenations are first: what is shown of a state is columns of
 * it. */
static bool add_results(struct cavs__cutting *c, struct cavs__unfolded_piece *p)
{
    bool ok = (p->column = calloc((size_t)p->n + 1, sizeof *p->column)) != NULL;

    for (int concat = 1; concat >= 0; concat--) {
        for (int i = 0; i < p->n && ok; i++) {
            struct cavs_symbol *x = p->members[i];

            if (!c->shown[x->number] || (x->op == CAVS__OP_CONCAT) != concat ||
                column_inside(p, x) >= 0)
                continue;
            ok = add_result(p, x, p->width);
            p->width += x->width;
            p->nplaced = p->nresults;
        }
    }
    for (int i = 0; i < p->n && ok; i++) {
        int column = column_inside(p, p->members[i]);

        if (c->shown[p->members[i]->number] && column >= 0)
            ok = add_result(p, p->members[i], column);
    }
    return ok;
}

bool cavs__add_pieces(struct cavs__cutting *c)
{
    bool ok = true;

    for (int part = 0; part < CAVS__PIECES && ok; part++) {
        struct cavs__unfolded_piece *p = c->u->pieces[part] = calloc(1, sizeof *p);

        ok = p && add_members(c, p, part) && add_all_operands(c, p);
        if (ok)
            p->of = c->u;
    }
    for (int part = 0; part < CAVS__PIECES && ok; part++)
        ok = add_results(c, c->u->pieces[part]);
    return ok;
}
