/* SPDX-License-Identifier: Apache-2.0 */
/* run_parts.c - see run_parts.h. */
#include "core/tape/run_parts.h"

#include <string.h>

struct cavs__vertex *cavs__add_vertex(struct cavs__recording *r, int32_t symbol, int32_t sample,
                                      int32_t as, int32_t operands)
{
    struct cavs__vertex *v = &r->vertices[r->nvertices++];

    *v = (struct cavs__vertex){.symbol = symbol,
                               .sample = sample,
                               .as = as,
                               .operands = operands,
                               .waited_for = cavs__is_marked(r, symbol, CAVS__WAITED_FOR)};
    return v;
}

void cavs__leave_alone(struct cavs__recording *r, int32_t symbol)
{
    struct cavs__entry *e = &r->entries[symbol];

    r->places[symbol] = (struct cavs__row_place){.vertex = r->nvertices};
    cavs__add_vertex(r, symbol, e->sample, r->signature[symbol], e->reads)->nreads = e->nreads;
    e->member = 0;
}

/* ---- what the members read ---- */

static const struct cavs__signature *signature_of(const struct cavs__recorded_run *x,
                                                  const struct cavs__entry *e)
{
    return x->r->signatures.all[x->r->signature[e - x->r->entries]];
}

static int32_t reads_of(const struct cavs__recorded_run *x, const struct cavs__entry *e)
{
    return cavs__reads_of(signature_of(x, e), e->nreads);
}

/* The entry of the row that operand k is; NULL: it is no row. */
static struct cavs__entry *read_by(const struct cavs__recorded_run *x, const struct cavs__entry *e,
                                   int k)
{
    const struct cavs__read *read = &x->r->reads[e->reads + k];

    return read->from == CAVS__NO_ROW ? NULL : &x->r->entries[read->of];
}

/* Which member of the run it is; negative: none. */
static int member_of(const struct cavs__recorded_run *x, const struct cavs__entry *e)
{
    return e->member - x->first;
}

static const struct cavs__entry *member(const struct cavs__recorded_run *x, int i)
{
    return &x->r->entries[x->symbols[i]];
}

/* ---- the run ---- */

static bool is_product_of_source(const struct cavs__recorded_run *x, const struct cavs__entry *e)
{
    const struct cavs__entry *of = signature_of(x, e)->is_product ? read_by(x, e, 0) : NULL;

    return of && of->site == CAVS__NO_SITE;
}

static void add_member(struct cavs__recorded_run *x, int32_t symbol, struct cavs__entry *e)
{
    e->member = x->first + x->n;
    x->part[cavs__is_marked(x->r, symbol, CAVS__WAITED_FOR) ? CAVS__RUN_CHAIN : CAVS__RUN_LATER] |=
        cavs__member_bit(x->n);
    x->sourced |= is_product_of_source(x, e);
    x->symbols[x->n++] = symbol;
}

int cavs__run_take(struct cavs__recorded_run *x, int n, const int32_t *list)
{
    int32_t run = 0;
    int i = 0;

    x->n = 0;
    x->sourced = false;
    memset(x->part, 0, sizeof x->part);
    for (; i < n && list[i] >= 0; i++) {
        struct cavs__entry *e = &x->r->entries[list[i]];

        if (e->site == CAVS__NO_SITE) {
            cavs__leave_alone(x->r, list[i]);
            continue;
        }
        if (x->n > 0 && (e->run != run || x->n == CAVS__MOST_MEMBERS))
            break;
        run = e->run;
        add_member(x, list[i], e);
    }
    return i;
}

/* ---- what can be computed ahead ---- */

/* The members that are made of nothing but what reads no other symbol. */
static uint64_t pure_members(const struct cavs__recorded_run *x)
{
    uint64_t pure = 0;

    for (int i = 0; i < x->n; i++) {
        const struct cavs__entry *e = member(x, i);
        bool is_pure = true;

        for (int k = 0; k < reads_of(x, e) && is_pure; k++) {
            const struct cavs__entry *of = read_by(x, e, k);
            int read = of ? member_of(x, of) : -1;

            is_pure = !of || (read >= 0 ? pure >> read & 1 : of->site == CAVS__NO_SITE);
        }
        pure |= (uint64_t)is_pure << i;
    }
    return pure;
}

/* The members that this entry reads. */
static uint64_t members_read(const struct cavs__recorded_run *x, const struct cavs__entry *e)
{
    uint64_t members = 0;

    for (int k = 0; k < reads_of(x, e); k++) {
        const struct cavs__entry *of = read_by(x, e, k);

        if (of && member_of(x, of) >= 0)
            members |= cavs__member_bit(member_of(x, of));
    }
    return members;
}

/* Moves out of the chain what can be computed ahead of it: products, and what leads to them.  Cheap
 * operators behind the last product stay in the chain, where they are fused with what follows.
 * Where all of the run could be computed ahead there is no chain, and nothing moves
 * (core/compile/share.c). */
static void cut_ahead(struct cavs__recorded_run *x)
{
    uint64_t pure = pure_members(x), *chain = &x->part[CAVS__RUN_CHAIN], ahead = 0;

    for (int i = x->n - 1; i >= 0 && (*chain & ~pure); i--) {
        if (!(*chain & pure & cavs__member_bit(i)))
            continue;
        if (signature_of(x, member(x, i))->is_product)
            ahead |= cavs__member_bit(i);
        if (ahead & cavs__member_bit(i))
            ahead |= members_read(x, member(x, i));
    }
    x->part[CAVS__RUN_AHEAD] = ahead;
    *chain &= ~ahead;
}

/* ---- parts ---- */

/* Notes what this part reads of the others. */
static void note_reads(const struct cavs__recorded_run *x, uint64_t part)
{
    for (uint64_t left = part; left;) {
        uint64_t others = members_read(x, member(x, cavs__take_member(&left))) & ~part;

        while (others)
            x->r->marks[x->symbols[cavs__take_member(&others)]] |= CAVS__READ_OUTSIDE;
    }
}

void cavs__run_cut(struct cavs__recorded_run *x)
{
    if (x->sourced)
        cut_ahead(x);
    if (x->part[CAVS__RUN_AHEAD])
        note_reads(x, x->part[CAVS__RUN_CHAIN]);
    note_reads(x, x->part[CAVS__RUN_LATER]);
}
