/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c - see signature.h. */
#include "core/tape/signature.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/compile/passes.h"
#include "core/declare/operator.h"

/* ---- life ---- */

static struct cavs__input *new_input(int number, bool ids)
{
    struct cavs__input *in = calloc(1, sizeof *in);

    if (in)
        *in = (struct cavs__input){.name = strdup(ids ? "id" : "row"),
                                   .number = number,
                                   .per = CAVS__PER_VERTEX,
                                   .ids = ids,
                                   .limit = INT32_MAX};
    if (in && in->name)
        return in;
    free(in);
    return NULL;
}

int cavs__signatures_init(struct cavs__signatures *s, struct cavs_model *m, int stage)
{
    *s = (struct cavs__signatures){
        .stage = {.model = m, .number = stage, .recorded = true, .name = strdup("tape")}};
    for (int i = 0; i < CAVS__INPUTS && s->stage.name; i++) {
        struct cavs__input *in = new_input(i, i < CAVS__GIVEN_INPUT);

        if (!in || !CAVS__APPEND(s->stage.inputs, s->stage.ninputs, in))
            return cavs__fail_nomem("tape", sizeof *in);
    }
    return s->stage.name ? CAVS_OK : cavs__fail_nomem("tape", sizeof "tape");
}

static void signature_free(struct cavs__signature *x)
{
    if (!x)
        return;
    cavs__function_destroy(x->function);
    free(x->chain[0].tensor);
    free(x->chain[1].tensor);
    free(x->operands);
    free(x);
}

void cavs__signatures_free(struct cavs__signatures *s)
{
    for (int i = 0; i < s->n; i++)
        signature_free(s->all[i]);
    for (int i = 0; i < s->stage.ninputs; i++) {
        free(s->stage.inputs[i]->name);
        free(s->stage.inputs[i]);
    }
    free(s->stage.inputs);
    free(s->stage.functions);
    free(s->stage.name);
    free(s->all);
    cavs__table_free(&s->table);
}

/* ---- the function of a signature ---- */

static struct cavs_symbol *add(struct cavs_function *f, struct cavs_symbol like, int n,
                               struct cavs_symbol *const *inputs)
{
    struct cavs_symbol *x = cavs__symbol_new(f, &like, n, inputs);

    if (x)
        x->needs_grad = cavs__symbol_needs_grad(x, x->which != 0);
    return x;
}

static struct cavs_symbol *columns_of(struct cavs_symbol *x, int from, int width,
                                      struct cavs_place at)
{
    if (!x || x->width == width)
        return x;
    return add(x->function,
               (struct cavs_symbol){.op = CAVS__OP_SLICE, .width = width, .k = from, .at = at}, 1,
               &x);
}

/* A parameter that was joined with others is columns of what they became
 * (core/compile/join_products.c). */
static struct cavs_symbol *columns_of_param(struct cavs_function *f, struct cavs_param *p, int from,
                                            int width, struct cavs_place at)
{
    struct cavs_param *whole = p->merged ? p->merged : p;

    return columns_of(add(f,
                          (struct cavs_symbol){
                              .op = CAVS__OP_USE, .width = whole->cols, .param = whole, .at = at},
                          0, NULL),
                      from + (p->merged ? p->merged_col : 0), width, at);
}

static struct cavs_symbol *operand(struct cavs_function *f, int k,
                                   const struct cavs__operand_sort *o, struct cavs_place at)
{
    struct cavs_symbol like = {.k = k, .at = at};
    float s;

    switch (o->kind) {
    case CAVS__OPERAND_ROW:
        like.op = CAVS__OP_OPERAND;
        like.which = o->grad;
        like.width = o->from + o->width;
        return columns_of(add(f, like, 0, NULL), o->from, o->width, at);
    case CAVS__OPERAND_PARAM: return columns_of_param(f, o->param, o->from, o->width, at);
    case CAVS__OPERAND_CONSTANT:
        memcpy(&s, &o->s, sizeof s);
        return add(f,
                   (struct cavs_symbol){.op = CAVS__OP_CONST, .width = o->width, .s = s, .at = at},
                   0, NULL);
    case CAVS__OPERAND_ID:
        return add(f,
                   (struct cavs_symbol){.op = CAVS__OP_IDS, .input = f->stage->inputs[k], .at = at},
                   0, NULL);
    }
    return NULL;
}

/* x between zeros, as wide as what p was joined to. */
static struct cavs_symbol *among_zeros(struct cavs_function *f, const struct cavs_param *p,
                                       struct cavs_symbol *x)
{
    struct cavs_symbol like = {.op = CAVS__OP_CONST, .at = x->at}, *in[3];
    int n = 0, rest = p->merged->cols - p->merged_col - p->cols;

    like.width = p->merged_col;
    if (like.width > 0)
        in[n++] = add(f, like, 0, NULL);
    in[n++] = x;
    like.width = rest;
    if (rest > 0)
        in[n++] = add(f, like, 0, NULL);
    if (!in[0] || !in[n - 1])
        return NULL;
    like = (struct cavs_symbol){.op = CAVS__OP_CONCAT, .width = p->merged->cols, .at = x->at};
    return add(f, like, n, in);
}

/* The operator itself; of a product by a joined parameter, its columns of the product. */
static struct cavs_symbol *operate(struct cavs_function *f, const struct cavs__signature *s,
                                   struct cavs_symbol *const *in)
{
    struct cavs_symbol like = s->like;
    struct cavs_param *p = like.param;

    if (like.op == CAVS__OP_PULL)
        like.input = f->stage->inputs[CAVS__GIVEN_INPUT];
    if (!p || !p->merged)
        return add(f, like, s->n, in);
    like.param = p->merged;
    if (like.op == CAVS__OP_MATMUL_T) {
        struct cavs_symbol *x = among_zeros(f, p, in[0]);

        return x ? add(f, like, 1, &x) : NULL;
    }
    like.width = p->merged->cols;
    return columns_of(add(f, like, s->n, in), p->merged_col, p->cols, like.at);
}

/* Rows that the user gives have a gradient where that was asked for; else nothing does that is not
 * made of something trained. */
static bool make_symbols(struct cavs_function *f, const struct cavs__signature *s)
{
    struct cavs_symbol **in = calloc((size_t)s->n + 1, sizeof *in), *x = NULL;
    bool ok = in != NULL;

    for (int k = 0; k < s->n && ok; k++)
        ok = (in[k] = operand(f, k, &s->operands[k], s->like.at)) != NULL;
    if (ok)
        x = operate(f, s, in);
    free(in);
    if (x && x->op == CAVS__OP_PULL)
        x->needs_grad = x->which;
    if (!x || cavs__is_sink(x))
        return x != NULL;
    return add(f, (struct cavs_symbol){.op = CAVS__OP_RESULT, .width = x->width, .at = x->at}, 1,
               &x) != NULL;
}

/* Does a gradient go anywhere from here?  Notes the operands that it goes to. */
static bool passes_gradients(struct cavs__signature *s)
{
    const struct cavs_function *f = s->function;
    bool passes = false;

    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        if (x->op == CAVS__OP_OPERAND_GRAD)
            s->operands[x->k].passes = true;
        if (x->backward ? cavs__is_sink(x) && x->op != CAVS__OP_KEPT_GRAD
                        : x->needs_grad && (x->op == CAVS__OP_LOOKUP || x->op == CAVS__OP_PULL))
            passes = true;
    }
    return passes;
}

static bool make_function(struct cavs__signatures *all, struct cavs__signature *s)
{
    struct cavs_function *f = calloc(1, sizeof *f);

    if (!f)
        return false;
    s->function = f;
    *f = (struct cavs_function){
        .stage = &all->stage, .name = strdup(cavs__symbol_label(&s->like)), .number = all->n};
    if (!f->name || !make_symbols(f, s) || cavs__differentiate(f))
        return false;
    s->needs_grad = passes_gradients(s);
    cavs__classify_recorded(f);
    return true;
}

/* ---- finding ---- */

static uint64_t bits(float s)
{
    uint32_t u;

    memcpy(&u, &s, sizeof u);
    return u;
}

static uint32_t hash(const struct cavs_symbol *x, int n, const struct cavs__operand_sort *operands)
{
    uint64_t h =
        cavs__mix((uint64_t)x->op << 32 | (uint32_t)x->k, (uint64_t)x->width << 32 | bits(x->s));

    h = cavs__mix(h, (uintptr_t)x->param ^ (uintptr_t)x->metric << 1 ^ (uint64_t)x->which);
    for (int i = 0; i < n; i++) {
        const struct cavs__operand_sort *o = &operands[i];

        h = cavs__mix(h, (uint64_t)o->kind << 60 | (uint64_t)o->grad << 59 |
                             (uint64_t)o->from << 32 | (uint32_t)o->width);
        if (o->kind == CAVS__OPERAND_PARAM || o->kind == CAVS__OPERAND_CONSTANT)
            h = cavs__mix(h, (uintptr_t)o->param ^ o->s);
    }
    return cavs__mixed(h);
}

static bool same_operand(const struct cavs__operand_sort *a, const struct cavs__operand_sort *b)
{
    return a->kind == b->kind && a->grad == b->grad && a->from == b->from && a->width == b->width &&
           a->s == b->s && a->param == b->param;
}

static bool same(const struct cavs__signature *s, const struct cavs_symbol *x, int n,
                 const struct cavs__operand_sort *operands)
{
    if (s->like.op != x->op || s->like.k != x->k || s->like.which != x->which ||
        s->like.width != x->width || bits(s->like.s) != bits(x->s) || s->like.param != x->param ||
        s->like.metric != x->metric || s->like.is_loss != x->is_loss || s->n != n)
        return false;
    for (int i = 0; i < n; i++) {
        if (!same_operand(&s->operands[i], &operands[i]))
            return false;
    }
    return true;
}

static struct cavs__signature *new_signature(struct cavs__signatures *all,
                                             const struct cavs_symbol *like, int n,
                                             const struct cavs__operand_sort *operands)
{
    struct cavs__signature *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct cavs__signature){.like = *like, .n = n};
    s->operands = malloc(((size_t)n + 1) * sizeof *operands);
    if (s->operands && n > 0)
        memcpy(s->operands, operands, (size_t)n * sizeof *operands);
    if (s->operands && make_function(all, s))
        return s;
    signature_free(s);
    return NULL;
}

/* Its number; -1: out of memory. */
static int add_signature(struct cavs__signatures *all, const struct cavs_symbol *like, int n,
                         const struct cavs__operand_sort *operands)
{
    struct cavs__signature *s = new_signature(all, like, n, operands);

    if (s && CAVS__APPEND(all->stage.functions, all->stage.nfunctions, s->function)) {
        if (CAVS__APPEND(all->all, all->n, s))
            return all->n - 1;
        all->stage.nfunctions--;
    }
    signature_free(s);
    return -1;
}

int cavs__find_signature(struct cavs__signatures *all, const struct cavs_symbol *like, int n,
                         const struct cavs__operand_sort *operands)
{
    struct cavs__probe p;
    int32_t number;

    if (!cavs__table_grow(&all->table, (size_t)all->n + 1))
        return -1;
    p = cavs__table_probe(&all->table, hash(like, n, operands));
    while ((number = cavs__probe_at(&p)) >= 0 && !same(all->all[number], like, n, operands))
        cavs__probe_step(&p);
    if (number >= 0)
        return number;
    number = add_signature(all, like, n, operands);
    if (number >= 0)
        cavs__probe_put(&p, number);
    return number;
}
