/* SPDX-License-Identifier: Apache-2.0 */
/* signature_function.c - the vertex function of a signature: operands, an operator or the operators
 * of a block, and what is read of them elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "codelets/part.h"
#include "core/compile/passes.h"
#include "core/declare/operator.h"
#include "core/tape/unfolded.h"

struct cavs_symbol *cavs__add_to(struct cavs_function *f, struct cavs_symbol like, int n,
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
    return cavs__add_to(
        x->function,
        (struct cavs_symbol){.op = CAVS__OP_SLICE, .width = width, .k = from, .at = at}, 1, &x);
}

/* A parameter that was joined with others is columns of what they became
 * (core/compile/join_products.c). */
static struct cavs_symbol *columns_of_param(struct cavs_function *f, struct cavs_param *p, int from,
                                            int width, struct cavs_place at)
{
    struct cavs_param *whole = p->merged ? p->merged : p;

    return columns_of(
        cavs__add_to(f,
                     (struct cavs_symbol){
                         .op = CAVS__OP_USE, .width = whole->cols, .param = whole, .at = at},
                     0, NULL),
        from + (p->merged ? p->merged_col : 0), width, at);
}

int cavs__add_list(struct cavs_function *f)
{
    f->lists[0] = calloc(1, sizeof *f->lists[0]);
    if (!f->lists[0])
        return 0;
    f->lists[0]->function = f;
    return f->nlists = 1;
}

struct cavs_symbol *cavs__add_operand(struct cavs_function *f, int k, int domain,
                                      const struct cavs__operand_sort *o, struct cavs_place at)
{
    struct cavs_symbol like = {.k = k, .domain = domain, .at = at};
    float s;

    switch (o->kind) {
    case CAVS__OPERAND_ROW:
        like.op = CAVS__OP_OPERAND;
        like.which = o->grad;
        like.width = o->from + o->width;
        return columns_of(cavs__add_to(f, like, 0, NULL), o->from, o->width, at);
    case CAVS__OPERAND_PARAM: return columns_of_param(f, o->param, o->from, o->width, at);
    case CAVS__OPERAND_CONSTANT:
        memcpy(&s, &o->s, sizeof s);
        return cavs__add_to(
            f, (struct cavs_symbol){.op = CAVS__OP_CONST, .width = o->width, .s = s, .at = at}, 0,
            NULL);
    case CAVS__OPERAND_ID:
        return cavs__add_to(
            f,
            (struct cavs_symbol){
                .op = CAVS__OP_IDS, .domain = domain, .input = f->stage->inputs[k], .at = at},
            0, NULL);
    }
    return NULL;
}

/* The sum of as many rows like o as are read. */
static struct cavs_symbol *sum_of_rows(struct cavs_function *f, const struct cavs__operand_sort *o,
                                       struct cavs_place at)
{
    struct cavs_symbol like = {
        .op = CAVS__OP_OPERAND_SUM, .width = o->from + o->width, .which = o->grad, .at = at};

    return columns_of(cavs__add_to(f, like, 0, NULL), o->from, o->width, at);
}

static struct cavs_symbol *mean_of_rows(struct cavs_function *f, const struct cavs__operand_sort *o,
                                        struct cavs_place at)
{
    int list = cavs__add_list(f);
    struct cavs_symbol share = {.op = CAVS__OP_LIST_SHARE, .width = 1, .k = list, .at = at},
                       mul = {.op = CAVS__OP_ELEMENTWISE,
                              .k = cavs__ew_find("mul"),
                              .width = o->width,
                              .at = at},
                       *in[2] = {list ? sum_of_rows(f, o, at) : NULL};

    in[1] = in[0] ? cavs__add_to(f, share, 0, NULL) : NULL;
    return in[1] ? cavs__add_to(f, mul, 2, in) : NULL;
}

/* Each entry has a gradient of its own. */
static struct cavs_symbol *largest_of_rows(struct cavs_function *f,
                                           const struct cavs__operand_sort *o, struct cavs_place at)
{
    int list = cavs__add_list(f);
    struct cavs_symbol like = {.op = CAVS__OP_LIST_MAX, .width = o->width, .k = list, .at = at};
    struct cavs_symbol *x = list ? cavs__add_operand(f, 0, list, o, at) : NULL;

    return x ? cavs__add_to(f, like, 1, &x) : NULL;
}

/* x between zeros, as wide as what p was joined to. */
static struct cavs_symbol *among_zeros(struct cavs_function *f, const struct cavs_param *p,
                                       struct cavs_symbol *x)
{
    struct cavs_symbol like = {.op = CAVS__OP_CONST, .at = x->at}, *in[3];
    int n = 0, rest = p->merged->cols - p->merged_col - p->cols;

    like.width = p->merged_col;
    if (like.width > 0)
        in[n++] = cavs__add_to(f, like, 0, NULL);
    in[n++] = x;
    like.width = rest;
    if (rest > 0)
        in[n++] = cavs__add_to(f, like, 0, NULL);
    if (!in[0] || !in[n - 1])
        return NULL;
    like = (struct cavs_symbol){.op = CAVS__OP_CONCAT, .width = p->merged->cols, .at = x->at};
    return cavs__add_to(f, like, n, in);
}

/* The operator itself; of a product by a joined parameter, its columns of the product. */
static struct cavs_symbol *operate(struct cavs_function *f, const struct cavs_symbol *of, int n,
                                   struct cavs_symbol *const *in)
{
    struct cavs_symbol like = *of;
    struct cavs_param *p = like.param;

    if (like.op == CAVS__OP_PULL)
        like.input = f->stage->inputs[CAVS__GIVEN_INPUT];
    if (!p || !p->merged)
        return cavs__add_to(f, like, n, in);
    like.param = p->merged;
    if (like.op == CAVS__OP_MATMUL_T) {
        struct cavs_symbol *x = among_zeros(f, p, in[0]);

        return x ? cavs__add_to(f, like, 1, &x) : NULL;
    }
    like.width = p->merged->cols;
    return columns_of(cavs__add_to(f, like, n, in), p->merged_col, p->cols, like.at);
}

/* ---- operators ---- */

static struct cavs_symbol *operate_on_operands(struct cavs_function *f,
                                               const struct cavs__signature *s)
{
    struct cavs_symbol **in = calloc((size_t)s->n + 1, sizeof *in), *x = NULL;
    bool ok = in != NULL;

    for (int k = 0; k < s->n && ok; k++)
        ok = (in[k] = cavs__add_operand(f, k, 0, &s->operands[k], s->like.at)) != NULL;
    if (ok)
        x = operate(f, &s->like, s->n, in);
    free(in);
    return x;
}

static struct cavs_symbol *take_rows(struct cavs_function *f, const struct cavs__signature *s)
{
    const struct cavs__operand_sort *o = &s->operands[0];
    struct cavs_place at = s->like.at;

    return s->like.op == CAVS__OP_LIST_SUM   ? sum_of_rows(f, o, at)
           : s->like.op == CAVS__OP_LIST_MAX ? largest_of_rows(f, o, at)
                                             : mean_of_rows(f, o, at);
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

/* Does a gradient go anywhere from here?  Notes the operands that it goes to. */
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

/* What counts, is drawn by chance or given by the user differs where operands do not. */
static bool is_repeatable(const struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        if (x->op == CAVS__OP_METRIC || x->op == CAVS__OP_PULL || cavs__operator_of(x)->random)
            return false;
    }
    return true;
}

/* s->function, of which symbols are there. */
static bool finish_function(struct cavs__signature *s)
{
    s->repeatable = is_repeatable(s->function);
    for (int k = s->n - s->nlisted; k < s->n; k++) /* of which not all are compared */
        s->repeatable &= s->operands[k].kind != CAVS__OPERAND_ID;
    s->is_product = cavs__operator_of(&s->like)->flops != NULL;
    if (cavs__differentiate(s->function))
        return false;
    s->needs_grad = passes_gradients(s);
    cavs__classify_recorded(s->function);
    return true;
}

static struct cavs_function *new_function(struct cavs__signatures *all, const char *name)
{
    struct cavs_function *f = calloc(1, sizeof *f);

    if (f)
        *f = (struct cavs_function){.stage = &all->stage, .name = strdup(name), .number = all->n};
    return f;
}

bool cavs__make_operator(struct cavs__signatures *all, struct cavs__signature *s)
{
    bool applied = s->like.op == CAVS__OP_APPLY;

    s->function = new_function(all, applied ? cavs__piece_of(all, &s->like)->of->of->name
                                            : cavs__symbol_label(&s->like));
    return s->function && s->function->name &&
           (applied ? cavs__make_piece(all, s) : make_symbols(s->function, s)) &&
           finish_function(s);
}

/* ---- blocks ---- */

/* A block's function being made. */
struct making {
    const struct cavs__signatures *all;
    struct cavs__signature *s;
    struct cavs_function *f;
    const int32_t *code;
    int n; /* members so far */
    struct cavs_symbol *value[CAVS__MOST_MEMBERS];
};

/* Operand `number` of the block, of this sort; what has been noted of it before is the same. */
static struct cavs_symbol *block_operand(struct making *m, int number,
                                         const struct cavs__operand_sort *o, struct cavs_place at)
{
    struct cavs__operand_sort *mine = &m->s->operands[number];

    *mine = *o;
    mine->passes = false;
    mine->section = -1;
    m->s->n = number >= m->s->n ? number + 1 : m->s->n;
    return cavs__add_operand(m->f, number, 0, mine, at);
}

static struct cavs_symbol *member_operand(struct making *m, const struct cavs__operand_sort *o,
                                          struct cavs_place at)
{
    int32_t of, from;

    if (o->kind == CAVS__OPERAND_ID)
        return block_operand(m, ~*m->code++, o, at);
    if (o->kind != CAVS__OPERAND_ROW)
        return cavs__add_operand(m->f, 0, 0, o, at);
    of = *m->code++;
    from = *m->code++;
    return of < 0 ? block_operand(m, ~of, o, at) : columns_of(m->value[of], from, o->width, at);
}

static struct cavs_symbol *operate_in_block(struct making *m, const struct cavs__signature *of)
{
    struct cavs_symbol *in[CAVS__MOST_OPERANDS];

    for (int k = 0; k < of->n; k++) {
        in[k] = member_operand(m, &of->operands[k], of->like.at);
        if (!in[k])
            return NULL;
    }
    return operate(m->f, &of->like, of->n, in);
}

static struct cavs_symbol *share_in_block(struct making *m, struct cavs_symbol *sum, int n)
{
    struct cavs_symbol share = {
        .op = CAVS__OP_CONST, .width = 1, .s = 1.0f / (float)n, .at = sum->at};
    struct cavs_symbol mul = {
        .op = CAVS__OP_ELEMENTWISE, .k = cavs__ew_find("mul"), .width = sum->width, .at = sum->at};
    struct cavs_symbol *in[2] = {sum, cavs__add_to(m->f, share, 0, NULL)};

    return in[1] ? cavs__add_to(m->f, mul, 2, in) : NULL;
}

/* One row after the other, as the kernels of the operators do; of equal ones the first counts. */
static struct cavs_symbol *take_in_block(struct making *m, const struct cavs__signature *of)
{
    bool largest = of->like.op == CAVS__OP_LIST_MAX;
    struct cavs_symbol like = {.op = CAVS__OP_ELEMENTWISE,
                               .k = cavs__ew_find(largest ? "max" : "add"),
                               .width = of->like.width,
                               .at = of->like.at};
    int n = *m->code++;
    struct cavs_symbol *in[2], *x = member_operand(m, &of->operands[0], like.at);

    for (int i = 1; i < n && x; i++) {
        in[largest] = x;
        in[!largest] = member_operand(m, &of->operands[0], like.at);
        x = in[!largest] ? cavs__add_to(m->f, like, 2, in) : NULL;
    }
    return x && of->like.op == CAVS__OP_LIST_MEAN ? share_in_block(m, x, n) : x;
}

static bool add_member(struct making *m)
{
    const struct cavs__signature *of = m->all->all[*m->code++];
    struct cavs_symbol *x =
        cavs__takes_list(of->like.op) ? take_in_block(m, of) : operate_in_block(m, of);

    m->value[m->n++] = x;
    m->s->like.is_loss |= of->like.is_loss;
    return x != NULL;
}

static bool add_results(struct making *m)
{
    struct cavs__signature *s = m->s;

    for (int i = 0; i < s->nresults; i++) {
        struct cavs_symbol *x = m->value[s->results[i].member];

        s->results[i].column = s->like.width;
        s->like.width += cavs__lines_of(x->width) * CAVS__LINE;
    }
    for (int i = 0; i < s->nresults; i++) {
        struct cavs_symbol *x = m->value[s->results[i].member];
        struct cavs_symbol like = {.op = CAVS__OP_RESULT,
                                   .width = x->width,
                                   .k = s->results[i].column,
                                   .which = s->like.width,
                                   .at = x->at};

        if (!cavs__add_to(m->f, like, 1, &x))
            return false;
    }
    return true;
}

static bool make_block(const struct cavs__signatures *all, struct cavs__signature *s,
                       const struct cavs__block_form *form)
{
    struct making m = {.all = all, .s = s, .f = s->function, .code = form->codes};

    s->function->compiled = true;
    while (m.n < form->nmembers) {
        if (!add_member(&m))
            return false;
    }
    s->like.at = m.value[0]->at;
    return add_results(&m) && finish_function(s);
}

int cavs__add_block(struct cavs__signatures *all, const struct cavs__block_form *form,
                    uint64_t results)
{
    struct cavs__signature *s = calloc(1, sizeof *s);

    if (!s)
        return -1;
    *s = (struct cavs__signature){.like = {.op = CAVS__OP_RESULT}, .nmembers = form->nmembers};
    s->function = new_function(all, "block");
    s->operands = calloc(CAVS__MOST_OPERANDS, sizeof *s->operands);
    s->results = calloc(CAVS__MOST_MEMBERS, sizeof *s->results);
    for (int i = 0; s->results && i < form->nmembers; i++) {
        if (results >> i & 1)
            s->results[s->nresults++].member = i;
    }
    if (s->function && s->function->name && s->operands && s->results && make_block(all, s, form))
        return cavs__signature_append(all, s);
    cavs__signature_free(s);
    return -1;
}
