/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - what the calls that build symbols share; failures are recorded in the function
 * (cavs__function_fail()). */
#ifndef CAVS_CORE_DECLARE_BUILD_H
#define CAVS_CORE_DECLARE_BUILD_H

#include <string.h>

#include "core/declare/model.h"

#define FAIL(f, code, ...) cavs__function_fail((f), (code), at, __VA_ARGS__)

/* May f still grow?  Is x one of its float symbols, one of its id inputs, is p a parameter of its
 * model?  Where a tape records, these are asked for every symbol: what they say mostly is said
 * here. */
bool cavs__is_closed(struct cavs_function *f, const char *op, struct cavs_place at);
bool cavs__is_no_value(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                       struct cavs_place at);
bool cavs__are_no_ids(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                      struct cavs_place at);
bool cavs__is_no_param(struct cavs_function *f, const struct cavs_param *p, const char *op,
                       struct cavs_place at);
/* Reports that x has another row than one per vertex.  Always true. */
bool cavs__is_of_entries(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                         struct cavs_place at);

static inline bool cavs__open_for(struct cavs_function *f, const char *op, struct cavs_place at)
{
    return f && (!f->finished || !cavs__is_closed(f, op, at));
}

static inline bool cavs__is_value(struct cavs_function *f, const struct cavs_symbol *x,
                                  const char *op, struct cavs_place at)
{
    return (x->function == f && x->number < f->nsymbols && x->op != CAVS__OP_IDS) ||
           !cavs__is_no_value(f, x, op, at);
}

static inline bool cavs__is_ids(struct cavs_function *f, const struct cavs_symbol *x,
                                const char *op, struct cavs_place at)
{
    return (x->function == f && x->number < f->nsymbols && x->op == CAVS__OP_IDS) ||
           !cavs__are_no_ids(f, x, op, at);
}

static inline bool cavs__is_param(struct cavs_function *f, const struct cavs_param *p,
                                  const char *op, struct cavs_place at)
{
    return p || !cavs__is_no_param(f, p, op, at);
}

/* May x, a symbol of f, be used where there is one row per vertex? */
static inline bool cavs__is_of_vertices(struct cavs_function *f, const struct cavs_symbol *x,
                                        const char *op, struct cavs_place at)
{
    return x->domain == 0 || !cavs__is_of_entries(f, x, op, at);
}

/* Is f there for x?  Where only f is missing (NULL), no earlier mistake has led to that: x's own
 * function reports it, since else a loss would be left out without a word. */
bool cavs__is_function_for(const struct cavs_function *f, const struct cavs_symbol *x,
                           const char *op, struct cavs_place at);
/* May f still grow by what a tape does not have: graphs, and inputs that samples bring by name? */
bool cavs__open_for_vertices(struct cavs_function *f, const char *op, struct cavs_place at);
/* Ids of this input have to be below the limit: data with others are refused, and so is an id of a
 * tape at once. */
bool cavs__limit_ids(struct cavs_symbol *ids, int limit, const char *op, struct cavs_place at);
/* Brings operands of one operator together: what has a row per vertex is repeated for each entry if
 * another operand has a row per entry.  Ids cannot be repeated. */
bool cavs__repeat_for_lists(struct cavs_function *f, const char *op, int n, struct cavs_symbol **xs,
                            struct cavs_place at);

static inline bool cavs__to_one_domain(struct cavs_function *f, const char *op, int n,
                                       struct cavs_symbol **xs, struct cavs_place at)
{
    int lists = 0;

    for (int i = 0; i < n; i++)
        lists |= xs[i]->domain;
    return lists == 0 || cavs__repeat_for_lists(f, op, n, xs, at);
}

/* May something be noted that all functions of the model have in common?  A sample that a worker
 * records beside others must find it noted; else false, and the sample is recorded anew behind the
 * others (core/tape/scribes.h). */
bool cavs__may_note(struct cavs_function *f, const char *op, struct cavs_place at);
/* Notes that it is so, unless it is noted already.  false: it may not be. */
bool cavs__note_first(struct cavs_function *f, bool *what, const char *op, struct cavs_place at);

static inline bool cavs__note(struct cavs_function *f, bool *what, const char *op,
                              struct cavs_place at)
{
    return *what || cavs__note_first(f, what, op, at);
}

/* Notes that a declared function multiplies or uses the parameter.  What a tape does is its
 * session's alone, whose plan gets a gradient of it (core/compile/plan.h); false as above. */
static inline bool cavs__note_dense_use(struct cavs_function *f, struct cavs_param *p,
                                        const char *op, struct cavs_place at)
{
    return f->recorder || cavs__note(f, &p->dense_use, op, at);
}

/* Reports that there was no memory for a symbol like x. Always false. */
bool cavs__symbol_nomem(struct cavs_function *f, const struct cavs_symbol *x);

/* Makes a symbol like this one with n operands, or finds an equal one; NULL: reported. */
struct cavs_symbol *cavs__declare_symbol(struct cavs_function *f, const struct cavs_symbol *like,
                                         int n, struct cavs_symbol *const *inputs);

/* What a recorded symbol is, as far as builders know it; the rest of it is 0. */
static inline void cavs__write_symbol(struct cavs_symbol *x, struct cavs_symbol like)
{
    x->op = like.op;
    x->domain = like.domain;
    x->width = like.width;
    x->param = like.param;
    x->metric = like.metric;
    x->k = like.k;
    x->which = like.which;
    x->s = like.s;
    x->is_loss = like.is_loss;
    x->at = like.at;
}

static inline uint32_t cavs__float_bits(float s)
{
    uint32_t bits;

    memcpy(&bits, &s, sizeof bits);
    return bits;
}

/* Is it all the same that builders say of two symbols, the first with n operands?  All of one
 * operator is compared without a branch, because nearly always nothing differs. */
static inline bool cavs__is_like(const struct cavs_symbol *x, int n, const struct cavs_symbol *as)
{
    uint64_t words;
    uint32_t numbers;

    if (x->op != as->op)
        return false;
    words = ((uintptr_t)x->param ^ (uintptr_t)as->param) |
            ((uintptr_t)x->metric ^ (uintptr_t)as->metric) |
            ((uintptr_t)x->at.file ^ (uintptr_t)as->at.file);
    numbers = (uint32_t)(x->domain ^ as->domain) | (uint32_t)(x->width ^ as->width) |
              (uint32_t)(x->k ^ as->k) | (uint32_t)(x->which ^ as->which) |
              (cavs__float_bits(x->s) ^ cavs__float_bits(as->s)) |
              (uint32_t)(x->at.line ^ as->at.line) | (uint32_t)(n ^ as->ninputs) |
              (uint32_t)(x->is_loss ^ as->is_loss);

    return (words | numbers) == 0;
}

/* Records the symbol if it is what a tape says that it may well be, with operands of the kinds that
 * they were then: what a builder asks of them was so then, but for the numbers of ids.  NULL: it is
 * not, and the builder has to look. */
static inline __attribute__((always_inline)) struct cavs_symbol *cavs__add_usual(
    const struct cavs_function *f, struct cavs_symbol like, int n,
    struct cavs_symbol *const *inputs)
{
    struct cavs__recorder *r = f ? f->recorder : NULL;

    if (!r || f->finished || !cavs__is_like(&like, n, *r->likely))
        return NULL;
    for (int i = 0; i < n; i++) {
        if (inputs[i]->function != f || inputs[i]->number >= f->nsymbols)
            return NULL;
    }
    return r->again(r, inputs);
}

/* The same as cavs__declare_symbol() for a function or a tape; a tape writes the symbol where it is
 * to be, and copies nothing. */
static inline __attribute__((always_inline)) struct cavs_symbol *cavs__add_symbol(
    struct cavs_function *f, struct cavs_symbol like, int n, struct cavs_symbol *const *inputs)
{
    struct cavs__recorder *r = f->recorder;
    struct cavs_symbol *usual;

    if (!r) {
        /* A copy, so that what a tape only compares need not be in memory. */
        const struct cavs_symbol declared = like;

        return cavs__declare_symbol(f, &declared, n, inputs);
    }
    usual = cavs__is_like(&like, n, *r->likely) ? r->again(r, inputs) : NULL;
    if (usual)
        return usual;
    cavs__write_symbol(r->next, like);
    return r->add(r, n, inputs);
}

#endif
