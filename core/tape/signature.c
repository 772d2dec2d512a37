/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c - see signature.h. */
#include "core/tape/signature.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/declare/build.h"
#include "core/tape/unfolded.h"

/* ---- life ---- */

static void free_input(struct cavs__input *in)
{
    if (in)
        free(in->name);
    free(in);
}

/* An input of the tape's stage.  NULL: out of memory. */
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
    free_input(in);
    return NULL;
}

int cavs__signatures_init(struct cavs__signatures *s, struct cavs_model *m, int stage)
{
    *s = (struct cavs__signatures){
        .stage = {.model = m, .number = stage, .recorded = true, .name = strdup("tape")}};
    for (int i = 0; i < CAVS__INPUTS && s->stage.name; i++) {
        struct cavs__input *in = new_input(i, i < CAVS__GIVEN_INPUT);

        if (!in || !CAVS__APPEND(s->stage.inputs, s->stage.ninputs, in)) {
            free_input(in);
            return cavs__fail_nomem("tape", sizeof *in);
        }
    }
    return s->stage.name ? CAVS_OK : cavs__fail_nomem("tape", sizeof "tape");
}

void cavs__signature_free(struct cavs__signature *x)
{
    if (!x)
        return;
    cavs__function_destroy(x->function);
    free(x->chain[0].tensor);
    free(x->chain[1].tensor);
    free((int32_t *)x->form.codes);
    free(x->operands);
    free(x->results);
    free(x);
}

void cavs__signatures_free(struct cavs__signatures *s)
{
    for (int i = 0; i < s->n; i++)
        cavs__signature_free(s->all[i]);
    for (int i = 0; i < s->nunfolded; i++)
        cavs__unfolded_free(s->unfolded[i]);
    for (int i = 0; i < s->stage.ninputs; i++)
        free_input(s->stage.inputs[i]);
    free(s->stage.inputs);
    free(s->stage.functions);
    free(s->stage.name);
    free(s->all);
    free(s->unfolded);
    cavs__table_free(&s->table);
}

/* ---- finding ---- */

static uint32_t hash(const struct cavs_symbol *x, int n, const struct cavs__operand_sort *operands)
{
    uint64_t h = cavs__mix((uint64_t)x->op << 32 | (uint32_t)x->k,
                           (uint64_t)x->width << 32 | cavs__float_bits(x->s));

    h = cavs__mix(h, (uintptr_t)x->param ^ (uintptr_t)x->metric << 1 ^ (uint64_t)x->which);
    for (int i = 0; i < n; i++) {
        h = cavs__mix(h, operands[i].key[0]);
        h = cavs__mix(h, operands[i].key[1]);
    }
    return cavs__mixed(h);
}

static bool same_operator(const struct cavs__signature *s, const struct cavs_symbol *like, int n)
{
    return s->like.op == like->op && s->like.k == like->k && s->like.width == like->width &&
           s->like.which == like->which && s->like.param == like->param && s->n == n &&
           memcmp(&s->like.s, &like->s, sizeof like->s) == 0 && s->like.metric == like->metric &&
           s->like.is_loss == like->is_loss;
}

static bool same(const struct cavs__signature *s, const struct cavs_symbol *like, int n,
                 const struct cavs__operand_sort *operands)
{
    if (!same_operator(s, like, n))
        return false;
    for (int i = 0; i < n; i++) {
        if (!cavs__same_operand(&s->operands[i], &operands[i]))
            return false;
    }
    return true;
}

static uint64_t mix_name(uint64_t h, const char *name)
{
    return cavs__hash(h, name, strlen(name) + 1);
}

/* The same as hash(), but with names in place of addresses, so that it is the same in any
 * process. */
static uint64_t print_of(const struct cavs_symbol *x, int n,
                         const struct cavs__operand_sort *operands)
{
    const uint64_t numbers[] = {x->op,
                                (uint64_t)cavs__lasting_k(x),
                                (uint64_t)x->which,
                                (uint64_t)x->width,
                                cavs__float_bits(x->s),
                                x->is_loss};
    uint64_t h = cavs__hash(CAVS__HASH_START, numbers, sizeof numbers);

    h = mix_name(h, x->param ? x->param->name : "");
    h = mix_name(h, x->metric ? x->metric->name : "");
    for (int i = 0; i < n; i++) {
        const struct cavs__operand_sort *o = &operands[i];

        h = cavs__hash(h, o->key, sizeof o->key[0]);
        h = cavs__hash(h, (const uint32_t[]){o->kind, o->grad, o->param ? 0 : o->s},
                       3 * sizeof(uint32_t));
        h = mix_name(h, o->param ? o->param->name : "");
    }
    return h;
}

/* How many of the operands are entries of a list. */
static int listed_operands(const struct cavs__signatures *all, const struct cavs_symbol *like)
{
    return like->op == CAVS__OP_APPLY ? cavs__piece_of(all, like)->nlisted
                                      : cavs__takes_list(like->op);
}

static struct cavs__signature *new_signature(struct cavs__signatures *all,
                                             const struct cavs_symbol *like, int n,
                                             const struct cavs__operand_sort *operands)
{
    struct cavs__signature *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct cavs__signature){.like = *like,
                                  .print = print_of(like, n, operands),
                                  .nmembers = 1,
                                  .n = n,
                                  .nlisted = listed_operands(all, like)};
    s->operands = malloc(((size_t)n + 1) * sizeof *operands);
    if (s->operands && n > 0)
        memcpy(s->operands, operands, (size_t)n * sizeof *operands);
    if (s->operands && cavs__make_operator(all, s))
        return s;
    cavs__signature_free(s);
    return NULL;
}

int cavs__signature_append(struct cavs__signatures *all, struct cavs__signature *s)
{
    if (s && CAVS__APPEND(all->stage.functions, all->stage.nfunctions, s->function)) {
        if (CAVS__APPEND(all->all, all->n, s))
            return all->n - 1;
        all->stage.nfunctions--;
    }
    cavs__signature_free(s);
    return -1;
}

/* The number of the signature, and its place in the table; -1: there is none, and the place is
 * where it would be. */
static int32_t probe(const struct cavs__signatures *all, const struct cavs_symbol *like, int n,
                     const struct cavs__operand_sort *operands, struct cavs__probe *p)
{
    int32_t number;

    *p = cavs__table_probe(&all->table, hash(like, n, operands));
    while ((number = cavs__probe_at(p)) >= 0 && !same(all->all[number], like, n, operands))
        cavs__probe_step(p);
    return number;
}

int cavs__known_signature(const struct cavs__signatures *all, const struct cavs_symbol *like, int n,
                          const struct cavs__operand_sort *operands)
{
    struct cavs__probe p;

    return all->n > 0 ? probe(all, like, n, operands, &p) : -1;
}

int cavs__find_signature(struct cavs__signatures *all, const struct cavs_symbol *like, int n,
                         const struct cavs__operand_sort *operands)
{
    struct cavs__probe p;
    int32_t number;

    if (!cavs__table_grow(&all->table, (size_t)all->n + 1))
        return -1;
    number = probe(all, like, n, operands, &p);
    if (number >= 0)
        return number;
    number = cavs__signature_append(all, new_signature(all, like, n, operands));
    if (number >= 0)
        cavs__probe_put(&p, number);
    return number;
}

struct cavs__glance cavs__glance_at(const struct cavs__signatures *all, int32_t number)
{
    const struct cavs__signature *s = all->all[number];
    struct cavs__glance g = {.number = number,
                             .like = {.op = s->like.op,
                                      .k = s->like.k,
                                      .width = s->like.width,
                                      .which = s->like.which,
                                      .ninputs = s->n,
                                      .s = s->like.s,
                                      .is_loss = s->like.is_loss,
                                      .needs_grad = s->needs_grad,
                                      .param = s->like.param,
                                      .metric = s->like.metric}};

    for (int i = 0; i < s->n && i < 2; i++)
        memcpy(g.key[i], s->operands[i].key, sizeof g.key[i]);
    return g;
}
