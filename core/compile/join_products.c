/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_products.c - products that share an operand become one (Cavs section 3.5 calls it kernel
 * fusion of the gates).
 *
 * x W1, x W2, .. is x [W1 W2 ..] cut into slices: one product, and in dF, which is derived
 * afterwards, one product with the transpose and one parameter gradient.  The parameters keep their
 * names and shapes for the user; their numbers live side by side in one merged parameter.  That
 * asks that they appear together everywhere: in every function that multiplies by one of them, all
 * are multiplied by, once, with the same operand, and nothing else is done with them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/compile/passes.h"

enum { MOST_MEMBERS = 16 };

struct set {
    int n;
    struct cavs_param *member[MOST_MEMBERS];
};

static bool is_product(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_MATMUL;
}

/* The product has a row for each entry of a list. Its gradient is then a sum over these; side by
 * side with the gradients of other products, which come from elsewhere, it would first have to be
 * copied. */
static bool is_repeated(const struct cavs_function *f, const struct cavs_symbol *x)
{
    for (int i = 0; i < f->nsymbols; i++) {
        if (f->symbols[i]->op == CAVS__OP_REPEAT && f->symbols[i]->inputs[0] == x)
            return true;
    }
    return false;
}

static bool in_set(const struct set *s, const struct cavs_param *p)
{
    for (int i = 0; i < s->n; i++) {
        if (s->member[i] == p)
            return true;
    }
    return false;
}

/* Has the parameter its numbers to itself?  Neither one that is joined with others already, nor
 * what these have become, is joined once more. */
static bool is_single(const struct cavs_param *p)
{
    return !p->merged && p->nmembers == 0;
}

/* The parameters that x, or rather its operand, is multiplied by in its function: as many as have
 * no more columns together than a parameter may have. */
static struct set products_of(const struct cavs_function *f, const struct cavs_symbol *like)
{
    const bool repeated = is_repeated(f, like);
    struct set s = {0};
    int room = INT32_MAX;

    for (int i = 0; i < f->nsymbols && s.n < MOST_MEMBERS; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        if (is_product(x) && x->inputs[0] == like->inputs[0] && is_repeated(f, x) == repeated &&
            is_single(x->param) && !in_set(&s, x->param) && x->param->cols <= room) {
            s.member[s.n++] = x->param;
            room -= x->param->cols;
        }
    }
    return s;
}

/* Is f a function that multiplies by all of s or by none, with one operand and for the same
 * rows? */
static bool together_in(const struct cavs_function *f, const struct set *s)
{
    const struct cavs_symbol *first = NULL;
    int found = 0;

    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        if (!is_product(x) || !in_set(s, x->param))
            continue;
        first = first ? first : x;
        if (x->inputs[0] != first->inputs[0] || is_repeated(f, x) != is_repeated(f, first))
            return false;
        found++;
    }
    return found == 0 || found == s->n;
}

static bool together_everywhere(const struct cavs_model *m, const struct set *s)
{
    for (int i = 1; i < s->n; i++) {
        if (s->member[i]->frozen != s->member[0]->frozen)
            return false;
    }
    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++) {
            const struct cavs_function *f = m->stages[i]->functions[j];

            for (int k = 0; k < f->nsymbols; k++) {
                if (!is_product(f->symbols[k]) && in_set(s, f->symbols[k]->param))
                    return false;
            }
            if (!together_in(f, s))
                return false;
        }
    }
    return true;
}

static struct cavs_param *merged_param(struct cavs_model *m, const struct set *s)
{
    struct cavs_param *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    *p = *s->member[0];
    p->name = strdup(s->member[0]->name);
    p->number = m->nstored;
    p->cols = 0;
    p->members = calloc((size_t)s->n, sizeof *p->members);
    if (!p->name || !p->members || !CAVS__APPEND(m->params, m->nstored, p)) {
        free(p->name);
        free(p->members);
        free(p);
        return NULL;
    }
    for (int i = 0; i < s->n; i++) {
        s->member[i]->merged = p;
        s->member[i]->merged_col = p->cols;
        p->members[p->nmembers++] = s->member[i];
        p->cols += s->member[i]->cols;
    }
    return p;
}

/* A product with p in the place of the first product with a member; the members' products become
 * slices of it. */
static bool rewrite(struct cavs_function *f, struct cavs_param *p)
{
    struct cavs_symbol *product = NULL;

    for (int i = 0; i < f->nsymbols; i++) {
        struct cavs_symbol *x = f->symbols[i];

        if (!is_product(x) || x->param->merged != p)
            continue;
        if (!product) {
            product = malloc(sizeof *product);
            if (!product)
                return false;
            *product = *x;
            product->inputs = malloc(sizeof *product->inputs);
            product->param = p;
            product->width = p->cols;
            if (!product->inputs || !cavs__symbol_insert(f, i, product)) {
                free(product->inputs);
                free(product);
                return false;
            }
            product->inputs[0] = x->inputs[0];
            i++;
        }
        x->op = CAVS__OP_SLICE;
        x->k = x->param->merged_col;
        x->param = NULL;
        x->inputs[0] = product;
    }
    return true;
}

static int merge_set(struct cavs_model *m, const struct set *s)
{
    struct cavs_param *p = merged_param(m, s);

    if (!p)
        return cavs__fail_nomem("merged parameter", 0);
    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++) {
            if (!rewrite(m->stages[i]->functions[j], p))
                return cavs__fail_nomem("merged product", 0);
        }
    }
    return CAVS_OK;
}

int cavs__pass_merge(struct cavs_model *m)
{
    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++) {
            struct cavs_function *f = m->stages[i]->functions[j];

            for (int k = 0; k < f->nsymbols; k++) {
                const struct cavs_symbol *x = f->symbols[k];
                struct set s = is_product(x) ? products_of(f, x) : (struct set){0};
                int rc = s.n > 1 && together_everywhere(m, &s) ? merge_set(m, &s) : CAVS_OK;

                if (rc)
                    return rc;
            }
        }
    }
    return CAVS_OK;
}
