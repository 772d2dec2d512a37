/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - finds what a function with a chain computes from a vertex's own inputs alone, such as
 * x W for the word x: it is evaluated once for all vertices of a shard whose inputs are equal, and
 * its gradient is summed over them first.
 *
 * Where such a value is used by what differs from vertex to vertex, the pass puts a SPREAD between
 * them: the value on the other side of it has a row per distinct input.  In dF, derived afterwards,
 * the gradient crosses the same places by COLLECT.  Sessions that share nothing read through both.
 *
 * (Vertices that are equal altogether, such as the leaves of trees, are one row to begin with:
 * scheduler/merge.c.)
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/compile/passes.h"
#include "core/declare/operator.h"

/* Per symbol of a function. */
struct mark {
    bool pure; /* depends on the vertex's own inputs and on parameters only */
    bool shared;
};

static void find_pure(const struct cavs_function *f, struct mark *marks)
{
    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];
        struct mark *m = &marks[i];

        m->pure = x->domain == 0 && cavs__operator_of(x)->pure;
        for (int k = 0; k < x->ninputs; k++)
            m->pure &= marks[x->inputs[k]->number].pure;
    }
}

/* Operands come first in the list, so recursion depth is bounded by the function. */
static void mark_shared(const struct cavs_symbol *x, struct mark *marks)
{
    if (marks[x->number].shared)
        return;
    marks[x->number].shared = true;
    for (int i = 0; i < x->ninputs; i++)
        mark_shared(x->inputs[i], marks);
}

/* Products are shared, and what leads to them. Cheap operators behind the last product stay with
 * the vertices, where they are fused with what follows. */
static void find_shared(const struct cavs_function *f, struct mark *marks)
{
    for (int i = 0; i < f->nsymbols; i++) {
        if (marks[i].pure && cavs__operator_of(f->symbols[i])->flops)
            mark_shared(f->symbols[i], marks);
    }
}

/* Constants are the same everywhere, and no gradient goes to ids and pulled rows: these need no
 * SPREAD. */
static bool needs_spread(const struct cavs_symbol *x)
{
    return x->op != CAVS__OP_CONST && x->op != CAVS__OP_IDS && x->op != CAVS__OP_PULL;
}

static struct cavs_symbol *new_spread(struct cavs_function *f, struct cavs_symbol *x)
{
    struct cavs_symbol *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct cavs_symbol){
        .function = f, .op = CAVS__OP_SPREAD, .width = x->width, .ninputs = 1, .at = x->at};
    s->inputs = malloc(sizeof *s->inputs);
    if (!s->inputs || !cavs__symbol_insert(f, x->number + 1, s)) {
        free(s->inputs);
        free(s);
        return NULL;
    }
    s->inputs[0] = x;
    return s;
}

/* Puts a SPREAD right behind every shared symbol that other symbols use, which then use the
 * SPREAD. */
static bool spread(struct cavs_function *f, const bool *shared, int n, struct cavs_symbol **before)
{
    for (int i = 0; i < n; i++) {
        struct cavs_symbol *x = before[i], *s = NULL;

        for (int j = i + 1; j < n && shared[i] && needs_spread(x); j++) {
            struct cavs_symbol *y = before[j];

            for (int k = 0; k < y->ninputs && !shared[j]; k++) {
                if (y->inputs[k] != x)
                    continue;
                if (!s && !(s = new_spread(f, x)))
                    return false;
                y->inputs[k] = s;
            }
        }
        x->shared = shared[i];
    }
    return true;
}

static bool has_chain(const struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols; i++) {
        if (cavs__starts_chain(f->symbols[i]))
            return true;
    }
    return false;
}

static int share_in(struct cavs_function *f)
{
    size_t n = (size_t)f->nsymbols;
    struct mark *marks = calloc(n + 1, sizeof *marks);
    struct cavs_symbol **before = calloc(n + 1, sizeof *before);
    bool *shared = calloc(n + 1, sizeof *shared), done = marks && before && shared;

    if (done) {
        find_pure(f, marks);
        find_shared(f, marks);
        for (size_t i = 0; i < n; i++) {
            before[i] = f->symbols[i];
            shared[i] = marks[i].shared;
        }
        done = spread(f, shared, (int)n, before);
    }
    free(marks);
    free(before);
    free(shared);
    return done ? CAVS_OK : cavs__fail_nomem("shared symbols", 0);
}

int cavs__pass_share(struct cavs_model *m)
{
    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++) {
            struct cavs_function *f = m->stages[i]->functions[j];
            int rc = has_chain(f) ? share_in(f) : CAVS_OK;

            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}
