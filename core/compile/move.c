/* SPDX-License-Identifier: Apache-2.0 */
/* move.c - what is computed by the part that reads it, and not as soon as it could be. */
#include "core/compile/place.h"

#include "core/declare/operator.h"

/* ---- sums of rows ---- */

/* The symbol only adds up rows that lie elsewhere: a push_grad without anything of the chain in
 * it. */
static bool is_mere_sum(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    return p->value[x->number].part == 3 + CAVS__EAGER && x->ninputs == 0 &&
           cavs__has_role(x, CAVS__ROLE_SINGLE);
}

/* The one part that reads x; CAVS__NO_PART: none, or there are several. */
static int part_of_readers(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    int part = CAVS__NO_PART;

    for (int i = x->number + 1; i < p->f->nsymbols; i++) {
        const struct cavs_symbol *y = p->f->symbols[i];

        for (int k = 0; k < y->ninputs && p->value[i].part != CAVS__NO_PART; k++) {
            if (cavs__root(p, y->inputs[k]) != x)
                continue;
            if (part != CAVS__NO_PART && part != p->value[i].part)
                return CAVS__NO_PART;
            part = p->value[i].part;
        }
    }
    return part;
}

/* A sum of rows that one later part reads is computed there, in a tile's scratch. If it were
 * computed before, it would be written to memory and read again, and on a device it would take
 * another launch for each V_t. */
static void move_sums(struct cavs__placer *p)
{
    if (p->plan->options.few_launches)
        return;
    for (int i = 0; i < p->f->nsymbols; i++) {
        const struct cavs_symbol *x = p->f->symbols[i];
        int part = is_mere_sum(p, x) ? part_of_readers(p, x) : CAVS__NO_PART;

        if (part == 3 + CAVS__CHAIN || part == 3 + CAVS__LAZY)
            p->value[i].part = part;
    }
}

/* ---- biases ---- */

/* Does the chain alone read x, in element-wise operators that it can be fused with? */
static bool only_chain_reads(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    int found = 0;

    for (int i = x->number + 1; i < p->f->nsymbols; i++) {
        const struct cavs_symbol *y = p->f->symbols[i];

        for (int k = 0; k < y->ninputs && p->value[i].part != CAVS__NO_PART; k++) {
            if (cavs__root(p, y->inputs[k]) != x)
                continue;
            if (y->inputs[k] != x || p->value[i].part != (int)CAVS__CHAIN ||
                !cavs__is_elementwise(y) || y->width != x->width)
                return false;
            found++;
        }
    }
    return found > 0;
}

/* The product, or a slice of it, to which the chain adds a row of a parameter. */
static bool is_bias_for_chain(const struct cavs__placer *p, const struct cavs_symbol *x,
                              const struct cavs_symbol *product)
{
    int col, first;

    if (x->ninputs != 2 || !cavs__is_elementwise(x) || p->value[x->number].part != (int)CAVS__EAGER)
        return false;
    first = cavs__base(p, x->inputs[0], &col) == product;
    return cavs__base(p, x->inputs[first], &col)->op == CAVS__OP_USE && only_chain_reads(p, x);
}

/* Moves all symbols that read the product to the part, if all of them may be moved. */
static void move_readers(struct cavs__placer *p, const struct cavs_symbol *product)
{
    for (int set = 0; set < 2; set++) {
        for (int i = product->number + 1; i < p->f->nsymbols; i++) {
            const struct cavs_symbol *y = p->f->symbols[i];
            bool reads = false;

            for (int k = 0; k < y->ninputs && p->value[i].part != CAVS__NO_PART; k++)
                reads |= cavs__root(p, y->inputs[k]) == product;
            if (reads && set)
                p->value[i].part = CAVS__CHAIN;
            else if (reads && !is_bias_for_chain(p, y, product))
                return;
        }
    }
}

/* What is added to a product ahead of the chain, the same for all rows, costs nothing in the chain,
 * where it is fused with what reads it; the product is then kept as it is made. */
static void move_biases(struct cavs__placer *p)
{
    for (int i = 0; i < p->f->nsymbols; i++) {
        const struct cavs_symbol *x = p->f->symbols[i];

        if (x->op == CAVS__OP_MATMUL && p->value[i].part == (int)CAVS__EAGER)
            move_readers(p, x);
    }
}

void cavs__move_to_readers(struct cavs__placer *p)
{
    move_sums(p);
    move_biases(p);
}
