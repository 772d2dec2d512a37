/* SPDX-License-Identifier: Apache-2.0 */
/* signature_function.c - see signature_function.h: the function of an operator. */
#include <stdlib.h>
#include <string.h>

#include "core/compile/passes.h"
#include "core/declare/operator.h"
#include "core/tape/signature_function.h"
#include "core/tape/unfolded.h"

static struct cavs_symbol *operate_on_operands(struct cavs_function *f,
                                               const struct cavs__signature *s)
{
    struct cavs_symbol **in = calloc((size_t)s->n + 1, sizeof *in), *x = NULL;
    bool ok = in != NULL;

    for (int k = 0; k < s->n && ok; k++)
        ok = (in[k] = cavs__add_operand(f, k, 0, &s->operands[k], s->like.at)) != NULL;
    if (ok)
        x = cavs__operate(f, &s->like, s->n, in);
    free(in);
    return x;
}

static struct cavs_symbol *take_rows(struct cavs_function *f, const struct cavs__signature *s)
{
    const struct cavs__operand_sort *o = &s->operands[0];
    struct cavs_place at = s->like.at;

    return s->like.op == CAVS__OP_LIST_SUM   ? cavs__sum_of_rows(f, o, at)
           : s->like.op == CAVS__OP_LIST_MAX ? cavs__largest_of_rows(f, o, at)
                                             : cavs__mean_of_rows(f, o, at);
}

/* Rows that the user gives have a gradient where that was asked for; else nothing does that is not
 * made of something trained. */
static bool make_symbols(struct cavs_function *f, const struct cavs__signature *s)
{
    struct cavs_symbol *x =
        cavs__takes_list(s->like.op) ? take_rows(f, s) : operate_on_operands(f, s);

    if (x && x->op == CAVS__OP_PULL)
        x->needs_grad = x->which;
    if (!x || cavs__is_sink(x))
        return x != NULL;
    return cavs__add_to(f,
                        (struct cavs_symbol){.op = CAVS__OP_RESULT, .width = x->width, .at = x->at},
                        1, &x) != NULL;
}

/* Does a gradient pass on from the result?  Notes the operands that it passes to. */
static bool passes_gradients(struct cavs__signature *s)
{
    const struct cavs_function *f = s->function;
    bool passes = false;

    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        if (x->op == CAVS__OP_OPERAND_GRAD) {
            s->operands[x->k].passes = true;
            s->operands[x->k].each = x->domain > 0;
        }
        if (x->backward ? cavs__is_sink(x) && x->op != CAVS__OP_KEPT_GRAD
                        : x->needs_grad && (x->op == CAVS__OP_LOOKUP || x->op == CAVS__OP_PULL))
            passes = true;
    }
    return passes;
}

/* Metrics, dropout and rows that the user gives may differ although their operands are equal. */
static bool is_repeatable(const struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        if (x->op == CAVS__OP_METRIC || x->op == CAVS__OP_PULL || cavs__operator_of(x)->random)
            return false;
    }
    return true;
}

/* Finds by which ids vertices are compared, if they may be equal.  With more ids than are compared,
 * or with lists of ids, they may not. */
static void find_ids(struct cavs__signature *s)
{
    s->repeatable = is_repeatable(s->function);
    s->nids = 0;
    for (int k = 0; k < s->n && s->repeatable; k++) {
        if (s->operands[k].kind != CAVS__OPERAND_ID)
            continue;
        s->repeatable = k < s->n - s->nlisted && s->nids < CAVS__MOST_IDS;
        if (s->repeatable)
            s->ids[s->nids++] = k;
    }
    if (!s->repeatable)
        s->nids = 0;
}

bool cavs__finish_signature_function(struct cavs__signature *s)
{
    find_ids(s);
    s->is_product = cavs__operator_of(&s->like)->flops != NULL;
    if (cavs__differentiate(s->function))
        return false;
    s->needs_grad = passes_gradients(s);
    cavs__classify_recorded(s->function);
    return true;
}

struct cavs_function *cavs__new_signature_function(struct cavs__signatures *all, const char *name)
{
    struct cavs_function *f = calloc(1, sizeof *f);

    if (f)
        *f = (struct cavs_function){.stage = &all->stage, .name = strdup(name), .number = all->n};
    return f;
}

bool cavs__make_operator(struct cavs__signatures *all, struct cavs__signature *s)
{
    bool applied = s->like.op == CAVS__OP_APPLY;

    s->function = cavs__new_signature_function(
        all, applied ? cavs__piece_of(all, &s->like)->of->of->name : cavs__symbol_label(&s->like));
    return s->function && s->function->name &&
           (applied ? cavs__make_piece(all, s) : make_symbols(s->function, s)) &&
           cavs__finish_signature_function(s);
}
