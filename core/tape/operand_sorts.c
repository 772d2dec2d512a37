/* SPDX-License-Identifier: Apache-2.0 */
/* operand_sorts.c - see recording_parts.h: what operands are to their operator, and so which
 * signature it has. */
#include <string.h>

#include "core/base/array.h"
#include "core/tape/recording_parts.h"
#include "core/tape/unfolded.h"

struct cavs__read cavs__sort_operand(struct cavs_symbol *in, struct cavs__operand_sort *o)
{
    int from;
    const struct cavs__node *node = cavs__node_of(in, &from);
    struct cavs__read read = {.of = node->x.number, .from = CAVS__NO_ROW};

    *o = (struct cavs__operand_sort){.width = in->width, .from = from};
    switch (node->x.op) {
    case CAVS__OP_IDS:
        o->kind = CAVS__OPERAND_ID;
        o->from = 0;
        read.of = node->x.k;
        break;
    case CAVS__OP_CONST:
        o->kind = CAVS__OPERAND_CONSTANT;
        o->from = 0;
        memcpy(&o->s, &node->x.s, sizeof o->s);
        break;
    case CAVS__OP_USE:
        o->kind = CAVS__OPERAND_PARAM;
        o->param = node->x.param;
        break;
    default:
        o->kind = CAVS__OPERAND_ROW;
        o->grad = node->x.needs_grad;
        read.from = from;
        o->from %= CAVS__LINE; /* the index leaves out the lines before */
    }
    cavs__set_key(o);
    return read;
}

/* The number of the signature of x with the first n of the sorts as its operands; -1: out of
 * memory. */
static int signature_of(struct cavs__recording *r, const struct cavs_symbol *x, int n,
                        const struct cavs__operand_sort *sorts)
{
    return r->recorder.aside ? cavs__known_signature(&r->signatures, x, n, sorts)
                             : cavs__find_signature(&r->signatures, x, n, sorts);
}

static int find_signature(struct cavs__recording *r, const struct cavs_symbol *x)
{
    if (!cavs__array_reserve(&r->sorts, &r->sort_room, (size_t)x->ninputs, sizeof *r->sorts))
        return -1;
    for (int i = 0; i < x->ninputs; i++)
        cavs__sort_operand(x->inputs[i], &r->sorts[i]);
    return signature_of(r, x, x->ninputs, r->sorts);
}

/* The sort of a list that is one operand.  Its entries are alike, except that some may have no
 * gradient. */
static struct cavs__operand_sort sort_entries(int n, struct cavs_symbol *const *entries)
{
    struct cavs__operand_sort all, o;

    cavs__sort_operand(entries[0], &all);
    for (int i = 1; i < n; i++) {
        cavs__sort_operand(entries[i], &o);
        all.grad |= o.grad;
    }
    cavs__set_key(&all);
    return all;
}

/* The sort of a list without entries: what most other lists of that operand are. */
static struct cavs__operand_sort sort_no_entries(const struct cavs_symbol *operand)
{
    struct cavs__operand_sort all = {.kind = CAVS__OPERAND_ROW, .grad = true};

    if (operand->op == CAVS__OP_IDS)
        all = (struct cavs__operand_sort){.kind = CAVS__OPERAND_ID};
    all.width = operand->width;
    cavs__set_key(&all);
    return all;
}

/* The signature of a declared function that is applied to lists: each list is one operand, behind
 * all others. */
static int find_applied(struct cavs__recording *r, const struct cavs_symbol *x,
                        const struct cavs__unfolded_piece *p)
{
    int n = p->noperands, alone = n - p->nlisted, length = (x->ninputs - alone) / p->nlisted;

    if (!cavs__array_reserve(&r->sorts, &r->sort_room, (size_t)n, sizeof *r->sorts))
        return -1;
    for (int k = 0; k < alone; k++)
        cavs__sort_operand(x->inputs[k], &r->sorts[k]);
    for (int k = alone, at = alone; k < n; k++, at += length)
        r->sorts[k] =
            length > 0 ? sort_entries(length, x->inputs + at) : sort_no_entries(p->operands[k]);
    return signature_of(r, x, n, r->sorts);
}

int cavs__sorted_signature(struct cavs__recording *r, const struct cavs_symbol *x)
{
    if (cavs__takes_list(x->op)) {
        struct cavs__operand_sort all = sort_entries(x->ninputs, x->inputs);

        return signature_of(r, x, 1, &all);
    }
    if (x->op == CAVS__OP_APPLY) {
        const struct cavs__unfolded_piece *p = cavs__piece_of(&r->signatures, x);

        if (p->nlisted > 0)
            return find_applied(r, x, p);
    }
    return find_signature(r, x);
}
