/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c - lists of symbols: nothing but a way to write.  An operator on a list is one on each of
 * its entries, recorded one by one, and batched as all others are.  The sum, mean or largest of
 * rows is one symbol on a tape, whatever the number of entries; elsewhere, and of constants and the
 * like, a tree of operators.
 */
#include <stdlib.h>

#include "core/declare/build.h"
#include "core/tape/recording.h"

/* ---- lists ---- */

/* A list is told from others by its length alone, so that operators take lists of one length
 * together. */
static struct cavs_symbol *new_list(struct cavs_function *f, int n,
                                    struct cavs_symbol *const *entries, struct cavs_place at)
{
    struct cavs_symbol like = {
        .op = CAVS__OP_EACH_CHILD, .domain = n, .width = entries[0]->width, .at = at};

    if (entries[0]->op == CAVS__OP_IDS)
        like.op = CAVS__OP_IDS;
    /* all of them are within a limit if the largest is */
    for (int i = 0; i < n && like.op == CAVS__OP_IDS; i++)
        like.k = i == 0 || entries[i]->k > like.k ? entries[i]->k : like.k;
    return cavs__add_symbol(f, like, n, entries);
}

static bool are_alike(struct cavs_function *f, int n, struct cavs_symbol *const *xs,
                      struct cavs_place at)
{
    for (int i = 0; i < n; i++) {
        if (!xs[i] || !(xs[0]->op == CAVS__OP_IDS ? cavs__is_ids(f, xs[i], "list", at)
                                                  : cavs__is_value(f, xs[i], "list", at)))
            return false;
        if (xs[i]->domain > 0) {
            FAIL(f, CAVS_ESHAPE, "list: entry %d is a list itself", i);
            return false;
        }
        if (xs[i]->width != xs[0]->width) {
            FAIL(f, CAVS_ESHAPE, "list: entry %d, %s, has width %d, and the first, %s, width %d", i,
                 cavs__symbol_label(xs[i]), xs[i]->width, cavs__symbol_label(xs[0]), xs[0]->width);
            return false;
        }
    }
    return true;
}

struct cavs_symbol *cavs__record_list(struct cavs_function *f, int n, struct cavs_symbol *const *xs,
                                      struct cavs_place at)
{
    if (!cavs__open_for(f, "list", at))
        return NULL;
    if (n <= 0 || !xs) {
        FAIL(f, CAVS_EINVAL, "list: %s", n <= 0 ? "it has no entry" : "no array of entries (NULL)");
        return NULL;
    }
    if (!are_alike(f, n, xs, at))
        return NULL;
    return new_list(f, n, xs, at);
}

/* ---- operators on them ---- */

/* One of the operators of two operands. */
typedef struct cavs_symbol *binary(struct cavs_symbol *a, struct cavs_symbol *b,
                                   struct cavs_place at);

/* x[0] op x[1] op .., in pairs and pairs of pairs; where op takes the largest, the first of equal
 * ones counts. */
static struct cavs_symbol *reduce(binary *op, int n, struct cavs_symbol **x, struct cavs_place at)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++)
            x[i] = op(x[2 * i + 1], x[2 * i], at);
        if (n % 2)
            x[n / 2] = x[n - 1];
    }
    return x[0];
}

static void copy(int n, struct cavs_symbol *const *from, struct cavs_symbol **to)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

static struct cavs_symbol *mean(struct cavs_function *f, int n, struct cavs_symbol **x,
                                struct cavs_place at)
{
    struct cavs_symbol *share = cavs_constant_at(f, 1, 1.0f / (float)n, at);

    return cavs_mul_at(reduce(cavs_add_at, n, x, at), share, at);
}

/* Takes all entries together by an operator that reads two, in pairs and pairs of pairs; x is room
 * for the entries. */
static struct cavs_symbol *take(struct cavs_function *f, enum cavs__op op, int n,
                                struct cavs_symbol **x, struct cavs_place at)
{
    return op == CAVS__OP_LIST_MEAN
               ? mean(f, n, x, at)
               : reduce(op == CAVS__OP_LIST_SUM ? cavs_add_at : cavs_max_at, n, x, at);
}

/* The softmax over entries subtracts the largest of them first, as that over columns does; `room`
 * is for as many symbols as there are entries. */
static void softmax(struct cavs_function *f, int n, struct cavs_symbol *const *x,
                    struct cavs_symbol **out, struct cavs_symbol **room, struct cavs_place at)
{
    struct cavs_symbol *largest, *sum;

    copy(n, x, room);
    largest = f->error ? NULL : cavs_max_children_at(new_list(f, n, room, at), at);
    for (int i = 0; i < n; i++)
        out[i] = cavs_exp_at(cavs_sub_at(x[i], largest, at), 0, at);
    sum = f->error ? NULL : cavs_sum_children_at(new_list(f, n, out, at), at);
    for (int i = 0; i < n; i++)
        out[i] = cavs_div_at(out[i], sum, at);
}

/* The operator on entry i of the lists among its operands. */
static struct cavs_symbol *on_entry(struct cavs_function *f, const struct cavs_symbol *like, int n,
                                    struct cavs_symbol *const *inputs, int i,
                                    struct cavs_symbol **room)
{
    struct cavs_symbol one = *like;

    one.domain = 0;
    for (int k = 0; k < n; k++)
        room[k] = inputs[k]->domain > 0 ? inputs[k]->inputs[i] : inputs[k];
    return cavs__add_symbol(f, one, n, room);
}

static int domain_of(const struct cavs_symbol *like, int n, struct cavs_symbol *const *inputs)
{
    for (int k = 0; k < n; k++) {
        if (inputs[k]->domain > 0)
            return inputs[k]->domain;
    }
    return like->op == CAVS__OP_LIST_SHARE ? like->k : like->domain;
}

bool cavs__are_rows(const struct cavs_symbol *list)
{
    int first = 0, from;

    for (int i = 0; i < list->ninputs; i++) {
        const struct cavs__node *of = cavs__node_of(list->inputs[i], &from);

        if (of->x.op == CAVS__OP_IDS || of->x.op == CAVS__OP_CONST || of->x.op == CAVS__OP_USE)
            return false;
        first = i == 0 ? from % CAVS__LINE : first;
        if (from % CAVS__LINE != first)
            return false;
    }
    return true;
}

bool cavs__reads_lists(const struct cavs_symbol *like, int n, struct cavs_symbol *const *inputs)
{
    return like->op != CAVS__OP_EACH_CHILD && !(like->op == CAVS__OP_IDS && n > 0) &&
           domain_of(like, n, inputs) > 0;
}

struct cavs_symbol *cavs__record_on_lists(struct cavs_function *f, const struct cavs_symbol *like,
                                          int n, struct cavs_symbol *const *inputs)
{
    int length = domain_of(like, n, inputs);
    size_t most = (size_t)(n > length ? n : length);
    struct cavs_symbol **out = calloc(2 * most + 1, sizeof *out), *x = NULL;
    struct cavs_place at = like->at;

    if (!out) {
        FAIL(f, CAVS_ENOMEM, "%s: out of memory", cavs__symbol_label(like));
        return NULL;
    }
    if (like->op == CAVS__OP_LIST_SHARE)
        x = cavs_constant_at(f, 1, 1.0f / (float)length, at);
    else if (cavs__takes_list(like->op)) {
        copy(length, inputs[0]->inputs, out);
        x = take(f, like->op, length, out, at);
    } else {
        if (like->op == CAVS__OP_LIST_SOFTMAX)
            softmax(f, length, inputs[0]->inputs, out, out + most, at);
        for (int i = 0; i < length && like->op != CAVS__OP_LIST_SOFTMAX; i++)
            out[i] = like->op == CAVS__OP_REPEAT ? inputs[0]
                                                 : on_entry(f, like, n, inputs, i, out + most);
        x = f->error ? NULL : new_list(f, length, out, at);
    }
    free(out);
    return x;
}
