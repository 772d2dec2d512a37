/* SPDX-License-Identifier: Apache-2.0 */
/* run_parts.c - see run_parts.h. */
#include "core/tape/run_parts.h"

#include <string.h>

void cavs__leave_alone(struct cavs__recording *r, int32_t symbol)
{
    struct cavs__entry *e = &r->entries[symbol];

    e->head = symbol;
    e->as = e->signature;
    e->operands = e->reads;
    e->column = 0;
    e->in_block = false;
}

int cavs__run_take(struct cavs__run *x, int n, const int32_t *list, int32_t **before)
{
    int i = 0;

    x->n = 0;
    for (; i < n; i++) {
        struct cavs__entry *e = &x->r->entries[list[i]];

        if (e->site == CAVS__NO_SITE) {
            cavs__leave_alone(x->r, list[i]);
            *(*before)++ = list[i];
            continue;
        }
        if (x->n > 0 && (e->run != x->r->entries[x->symbols[0]].run || x->n == CAVS__MOST_MEMBERS))
            break;
        e->vertex = x->first + x->n;
        x->symbols[x->n++] = list[i];
    }
    return i;
}

/* ---- what the members read ---- */

static const struct cavs__signature *signature_of(const struct cavs__run *x, int member)
{
    return x->r->signatures.all[x->r->entries[x->symbols[member]].signature];
}

/* The entry that operand k of the member is of; NULL: it is no row. */
static struct cavs__entry *read_by(const struct cavs__run *x, int member, int k)
{
    const struct cavs__entry *e = &x->r->entries[x->symbols[member]];

    if (signature_of(x, member)->operands[k].kind != CAVS__OPERAND_ROW)
        return NULL;
    return &x->r->entries[x->r->reads[e->reads + k].of];
}

/* Which member it is; negative: none. */
static int member_of(const struct cavs__run *x, const struct cavs__entry *e)
{
    return e->vertex - x->first;
}

/* ---- what can be computed ahead ---- */

/* Whether members are made of nothing but what reads no other symbol. */
static void find_pure(const struct cavs__run *x, bool *pure)
{
    for (int i = 0; i < x->n; i++) {
        pure[i] = true;
        for (int k = 0; k < signature_of(x, i)->n && pure[i]; k++) {
            const struct cavs__entry *of = read_by(x, i, k);
            int member = of ? member_of(x, of) : -1;

            pure[i] = !of || (member >= 0 ? pure[member] : of->site == CAVS__NO_SITE);
        }
    }
}

/* Is there a product to look at?  Few runs have one. */
static bool has_product_of_source(const struct cavs__run *x)
{
    for (int i = 0; i < x->n; i++) {
        const struct cavs__entry *of = signature_of(x, i)->is_product ? read_by(x, i, 0) : NULL;

        if (of && of->site == CAVS__NO_SITE)
            return true;
    }
    return false;
}

/* Cheap operators behind the last product stay in the chain, where they are fused with what
 * follows; where all could be computed ahead there is no chain (core/compile/share.c). */
static void cut_ahead(struct cavs__run *x)
{
    bool pure[CAVS__MOST_MEMBERS], chain = false;

    find_pure(x, pure);
    for (int i = 0; i < x->n; i++)
        chain |= x->part[i] == CAVS__RUN_CHAIN && !pure[i];
    for (int i = x->n - 1; i >= 0 && chain; i--) {
        if (!pure[i] || x->part[i] == CAVS__RUN_LATER)
            continue;
        if (signature_of(x, i)->is_product)
            x->part[i] = CAVS__RUN_AHEAD;
        for (int k = 0; k < signature_of(x, i)->n && x->part[i] == CAVS__RUN_AHEAD; k++) {
            const struct cavs__entry *of = read_by(x, i, k);

            if (of && member_of(x, of) >= 0)
                x->part[member_of(x, of)] = CAVS__RUN_AHEAD;
        }
    }
}

/* ---- parts ---- */

static void note_reads(const struct cavs__run *x, int member)
{
    for (int k = 0; k < signature_of(x, member)->n; k++) {
        struct cavs__entry *of = read_by(x, member, k);

        if (of && member_of(x, of) >= 0)
            of->read_outside |= x->part[member_of(x, of)] != x->part[member];
    }
}

void cavs__run_cut(struct cavs__run *x)
{
    bool ahead = has_product_of_source(x);

    for (int i = 0; i < x->n; i++)
        x->part[i] = x->r->entries[x->symbols[i]].waited_for ? CAVS__RUN_CHAIN : CAVS__RUN_LATER;
    if (ahead)
        cut_ahead(x);
    for (int i = 0; i < x->n; i++) {
        if (ahead || x->part[i] == CAVS__RUN_LATER)
            note_reads(x, i);
    }
}
