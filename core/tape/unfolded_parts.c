/* SPDX-License-Identifier: Apache-2.0 */
/* unfolded_parts.c - see unfolded.h: which symbols of an unfolded function are computed together.
 */
#include <stdlib.h>

#include "core/base/array.h"
#include "core/declare/operator.h"
#include "core/tape/unfolded.h"

enum { NO_PART = -1 };

/* By symbol. */
struct cutting {
    struct cavs__unfolded *u;
    int n;
    bool *own;     /* made of the vertex's own inputs alone */
    bool *counted; /* leads to a metric */
    int *part;     /* NO_PART: it is given, looked up, the same everywhere, or of no use */
    bool *shown;   /* read by another part, or by who applies the function */
};

static bool is_computed(const struct cavs_symbol *x)
{
    return x->op != CAVS__OP_EACH_CHILD && x->op != CAVS__OP_OPERAND && x->op != CAVS__OP_IDS &&
           x->op != CAVS__OP_LOOKUP && x->op != CAVS__OP_SLICE &&
           !cavs__has_role(x, CAVS__ROLE_CONSTANT);
}

static struct cavs_symbol *symbol(const struct cutting *c, int i)
{
    return c->u->f->symbols[i];
}

/* ---- parts ---- */

static void find_own(struct cutting *c)
{
    for (int i = 0; i < c->n; i++)
        c->own[i] = true;
    for (int i = 0; i < c->u->ngiven; i++)
        c->own[c->u->given[i].x->number] = c->u->given[i].input != CAVS__A_CHILD;
    for (int i = 0; i < c->n; i++) {
        const struct cavs_symbol *x = symbol(c, i);

        for (int k = 0; k < x->ninputs; k++)
            c->own[i] &= c->own[x->inputs[k]->number];
    }
}

static void wait_for(struct cutting *c, struct cavs_symbol *x)
{
    if (!x)
        return;
    c->part[x->number] = CAVS__PIECE_CHAIN;
    c->shown[cavs__unsliced(x)->number] = true;
}

/* From what is shown, and from metrics, back. */
static void find_parts(struct cutting *c)
{
    wait_for(c, c->u->state);
    for (int i = 0; i < c->u->of->stage->nchannels; i++)
        wait_for(c, c->u->channels[i]);
    for (int i = c->n - 1; i >= 0; i--) {
        const struct cavs_symbol *x = symbol(c, i);

        c->counted[i] |= x->op == CAVS__OP_METRIC;
        if (c->part[i] == NO_PART && c->counted[i])
            c->part[i] = CAVS__PIECE_LATER;
        for (int k = 0; k < x->ninputs; k++) {
            int of = x->inputs[k]->number;

            c->counted[of] |= c->counted[i];
            if (c->part[i] == CAVS__PIECE_CHAIN)
                c->part[of] = CAVS__PIECE_CHAIN;
        }
    }
}

/* Products of own inputs, and what leads to them; where nothing else is in the chain it is not cut
 * (run_parts.c). */
static void find_ahead(struct cutting *c)
{
    bool cut = false;

    for (int i = 0; i < c->n; i++)
        cut |= c->part[i] == CAVS__PIECE_CHAIN && !c->own[i] && is_computed(symbol(c, i));
    for (int i = c->n - 1; i >= 0 && cut; i--) {
        const struct cavs_symbol *x = symbol(c, i);

        if (c->part[i] == CAVS__PIECE_CHAIN && c->own[i] && x->domain <= 0 &&
            cavs__operator_of(x)->flops)
            c->part[i] = CAVS__PIECE_AHEAD;
        for (int k = 0; k < x->ninputs && c->part[i] == CAVS__PIECE_AHEAD; k++)
            c->part[x->inputs[k]->number] = CAVS__PIECE_AHEAD;
    }
}

/* ---- pieces ---- */

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
static bool add_operands(struct cutting *c, struct cavs__piece *p, bool ids, bool listed)
{
    int before = p->noperands;
    bool ok = true;

    for (int i = 0; i < p->n && ok; i++) {
        for (int k = 0; k < p->members[i]->ninputs && ok; k++) {
            struct cavs_symbol *in = cavs__unsliced(p->members[i]->inputs[k]);

            if ((in->op == CAVS__OP_IDS) != ids || (in->domain > 0) != listed ||
                cavs__has_role(in, CAVS__ROLE_CONSTANT))
                continue;
            if (is_computed(in) && c->part[in->number] == c->part[p->members[i]->number])
                continue;
            c->shown[in->number] = true;
            ok = add_once(&p->operands, &p->noperands, in);
        }
    }
    p->nlisted += listed ? p->noperands - before : 0;
    return ok;
}

static bool add_all_operands(struct cutting *c, struct cavs__piece *p)
{
    return add_operands(c, p, true, false) && add_operands(c, p, false, false) &&
           add_operands(c, p, true, true) && add_operands(c, p, false, true);
}

static bool add_members(struct cutting *c, struct cavs__piece *p, int part)
{
    for (int i = 0; i < c->n; i++) {
        struct cavs_symbol *x = symbol(c, i);

        if (c->part[i] != part || !is_computed(x))
            continue;
        if (!CAVS__APPEND(p->members, p->n, x))
            return false;
        if (x->op == CAVS__OP_METRIC)
            p->metric = x->metric;
        p->is_loss |= x->is_loss;
    }
    return true;
}

static bool add_result(struct cavs__piece *p, struct cavs_symbol *x, int column)
{
    p->column[p->nresults] = column;
    return CAVS__APPEND(p->results, p->nresults, x);
}

/* Where x begins in a concatenation that is a result; -1: in none. */
static int column_inside(const struct cavs__piece *p, const struct cavs_symbol *x)
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
static bool add_results(struct cutting *c, struct cavs__piece *p)
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

static bool add_pieces(struct cutting *c)
{
    bool ok = true;

    for (int part = 0; part < CAVS__PIECES && ok; part++) {
        struct cavs__piece *p = c->u->pieces[part] = calloc(1, sizeof *p);

        ok = p && add_members(c, p, part) && add_all_operands(c, p);
        if (ok)
            p->of = c->u;
    }
    for (int part = 0; part < CAVS__PIECES && ok; part++)
        ok = add_results(c, c->u->pieces[part]);
    return ok;
}

/* ---- lists ---- */

static bool is_of_list(const struct cavs_symbol *x)
{
    return x->domain > 0 || x->op == CAVS__OP_LIST_SUM || x->op == CAVS__OP_LIST_MAX ||
           x->op == CAVS__OP_LIST_SHARE;
}

/* Rows of entries are inside of a part that reads their list: see unfolded.h. */
static bool may_stay_listed(const struct cutting *c, const struct cavs__piece *p)
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

static void check_lists(const struct cutting *c)
{
    for (int part = 0; part < CAVS__PIECES && c->u->listed; part++)
        c->u->by_length |= !may_stay_listed(c, c->u->pieces[part]);
}

bool cavs__unfolded_cut(struct cavs__unfolded *u)
{
    size_t n = (size_t)u->f->nsymbols + 1;
    struct cutting c = {.u = u, .n = u->f->nsymbols};
    bool *flags = calloc(n, 3 * sizeof *flags), ok;

    c.part = malloc(n * sizeof *c.part);
    u->value = malloc(n * sizeof(*u->value));
    ok = flags && c.part && u->value;
    if (ok) {
        c.own = flags;
        c.counted = flags + n;
        c.shown = flags + 2 * n;
        for (int i = 0; i < c.n; i++)
            c.part[i] = NO_PART;
        find_own(&c);
        find_parts(&c);
        find_ahead(&c);
        ok = add_pieces(&c);
    }
    if (ok)
        check_lists(&c);
    free(flags);
    free(c.part);
    return ok;
}
