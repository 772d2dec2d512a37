/* SPDX-License-Identifier: Apache-2.0 */
/* block_function.c - the vertex function of a block: the operators of its members, and its results
 * side by side. */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "codelets/part.h"
#include "core/tape/signature_function.h"

/* A block's function being made. */
struct making {
    const struct cavs__signatures *all;
    struct cavs__signature *s;
    struct cavs_function *f;
    const int32_t *code;
    int n; /* members so far */
    struct cavs_symbol *value[CAVS__MOST_MEMBERS];
};

/* The symbol of the function that stands for operand `number` of the block, of this sort.  Where
 * the block reads the operand several times it is made once. */
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
    return of < 0 ? block_operand(m, ~of, o, at)
                  : cavs__columns_of(m->value[of], from, o->width, at);
}

static struct cavs_symbol *operate_in_block(struct making *m, const struct cavs__signature *of)
{
    struct cavs_symbol *in[CAVS__MOST_OPERANDS];

    for (int k = 0; k < of->n; k++) {
        in[k] = member_operand(m, &of->operands[k], of->like.at);
        if (!in[k])
            return NULL;
    }
    return cavs__operate(m->f, &of->like, of->n, in);
}

static struct cavs_symbol *share_in_block(struct making *m, struct cavs_symbol *sum, int n)
{
    struct cavs_symbol share = {
        .op = CAVS__OP_CONST, .width = 1, .s = 1.0f / (float)n, .at = sum->at};
    struct cavs_symbol mul = {
        .op = CAVS__OP_ELEMENTWISE, .k = CAVS__EW_mul, .width = sum->width, .at = sum->at};
    struct cavs_symbol *in[2] = {sum, cavs__add_to(m->f, share, 0, NULL)};

    return in[1] ? cavs__add_to(m->f, mul, 2, in) : NULL;
}

/* Sums, or takes the largest of, rows one after the other, as the kernels of the operators do; of
 * equal numbers the first counts. */
static struct cavs_symbol *take_in_block(struct making *m, const struct cavs__signature *of)
{
    bool largest = of->like.op == CAVS__OP_LIST_MAX;
    struct cavs_symbol like = {.op = CAVS__OP_ELEMENTWISE,
                               .k = largest ? CAVS__EW_max : CAVS__EW_add,
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
    return add_results(&m) && cavs__finish_signature_function(s);
}

static bool has_results(const struct cavs__signature *s, uint64_t results)
{
    for (int i = 0; i < s->nresults; i++)
        results ^= (uint64_t)1 << s->results[i].member;
    return results == 0;
}

int cavs__find_block(const struct cavs__signatures *all, const struct cavs__block_form *form,
                     uint64_t results)
{
    for (int i = 0; i < all->n; i++) {
        const struct cavs__signature *s = all->all[i];

        if (s->form.codes && s->form.ncodes == form->ncodes &&
            memcmp(s->form.codes, form->codes, (size_t)form->ncodes * sizeof *form->codes) == 0 &&
            has_results(s, results))
            return i;
    }
    return -1;
}

void cavs__keep_form(struct cavs__signature *s, const struct cavs__block_form *form)
{
    size_t bytes = (size_t)form->ncodes * sizeof *form->codes;

    s->form = (struct cavs__block_form){form->nmembers, form->ncodes, malloc(bytes)};
    if (s->form.codes)
        memcpy((int32_t *)s->form.codes, form->codes, bytes);
}

int cavs__add_block(struct cavs__signatures *all, const struct cavs__block_form *form,
                    uint64_t results)
{
    struct cavs__signature *s = calloc(1, sizeof *s);

    if (!s)
        return -1;
    *s = (struct cavs__signature){.like = {.op = CAVS__OP_RESULT}, .nmembers = form->nmembers};
    s->function = cavs__new_signature_function(all, "block");
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
