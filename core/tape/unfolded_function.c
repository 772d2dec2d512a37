/* SPDX-License-Identifier: Apache-2.0 */
/* unfolded_function.c - the vertex function of a piece of a declared one: see unfolded.h. */
#include <stdlib.h>

#include "core/declare/operator.h"
#include "core/tape/signature_function.h"
#include "core/tape/unfolded.h"

/* A vertex function that is being made. */
struct making {
    struct cavs_function *f;
    struct cavs_symbol **value; /* for each symbol of the unfolded function; NULL: not yet */
};

/* The symbol that stands for x.  Columns, constants and parameters of one row are made when they
 * are read first. */
static struct cavs_symbol *value_of(struct making *m, const struct cavs_symbol *x)
{
    struct cavs_symbol **y = &m->value[x->number], *in = NULL, like = *x;

    if (!*y && x->ninputs > 0)
        in = value_of(m, x->inputs[0]);
    if (!*y && (in || x->ninputs == 0))
        *y = cavs__add_to(m->f, like, x->ninputs, &in);
    return *y;
}

static bool add_member(struct making *m, const struct cavs_symbol *x)
{
    struct cavs_symbol **in = calloc((size_t)x->ninputs + 1, sizeof *in), **y;
    bool ok = in != NULL;

    for (int i = 0; i < x->ninputs && ok; i++)
        ok = (in[i] = value_of(m, x->inputs[i])) != NULL;
    y = &m->value[x->number];
    if (ok)
        *y = cavs__add_to(m->f, *x, x->ninputs, in);
    free(in);
    return ok && *y;
}

/* Adds the result of the piece; several results stand side by side in one row. */
static bool add_result(struct making *m, const struct cavs__unfolded_piece *p)
{
    struct cavs_symbol **in = calloc((size_t)p->nplaced + 1, sizeof *in), *x = NULL;
    struct cavs_symbol like = {.op = CAVS__OP_CONCAT, .width = p->width, .at = p->results[0]->at};

    for (int i = 0; i < p->nplaced && in; i++)
        in[i] = m->value[p->results[i]->number];
    if (in)
        x = p->nplaced > 1 ? cavs__add_to(m->f, like, p->nplaced, in) : in[0];
    free(in);
    like.op = CAVS__OP_RESULT;
    return x && cavs__add_to(m->f, like, 1, &x);
}

bool cavs__make_piece(const struct cavs__signatures *all, struct cavs__signature *s)
{
    const struct cavs__unfolded_piece *p = cavs__piece_of(all, &s->like);
    struct making m = {.f = s->function};
    int list = 0;
    bool ok;

    s->function->compiled = true;
    m.value = calloc((size_t)p->of->f->nsymbols, sizeof(*m.value));
    ok = m.value != NULL;
    if (ok && s->nlisted > 0)
        ok = (list = cavs__add_list(m.f)) > 0;
    for (int k = 0; k < s->n && ok; k++) {
        struct cavs_symbol **y = &m.value[p->operands[k]->number];
        int domain = k < s->n - s->nlisted ? 0 : list;

        ok = (*y = cavs__add_operand(m.f, k, domain, &s->operands[k], s->like.at)) != NULL;
    }
    for (int i = 0; i < p->n && ok; i++)
        ok = add_member(&m, p->members[i]);
    if (ok && p->nplaced > 0)
        ok = add_result(&m, p);
    free(m.value);
    return ok;
}
