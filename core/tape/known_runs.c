/* SPDX-License-Identifier: Apache-2.0 */
/* known_runs.c - see known_runs.h: is a run as one before?  Then it becomes the same. */
#include "core/tape/known_runs.h"

#include <string.h>

/* ---- is it as one before ---- */

/* A run being compared, and the operands of its parts.  Of those, and of results (become_block()),
 * there are few: what has room for the most that there may be is not cleared. */
struct comparing {
    struct cavs__recording *r;
    int32_t first, reads; /* its first symbol and read */
    struct cavs__read operands[CAVS__RUN_PARTS][CAVS__MOST_OPERANDS];
};

static bool same_read(struct cavs__read a, struct cavs__read b)
{
    return a.of == b.of && a.from == b.from;
}

/* Was none of those before the same? */
static bool is_new(const struct cavs__known_part *p, const struct cavs__read *operands, int k)
{
    for (int i = 0; i < k; i++) {
        if (p->width[i] == p->width[k] && same_read(operands[i], operands[k]))
            return false;
    }
    return true;
}

/* Are the same operands the same, and the others not? */
static bool has_operands(const struct comparing *c, const struct cavs__known_part *p,
                         struct cavs__read *operands)
{
    int n = 0;

    for (int i = 0; i < p->nexternal; i++) {
        const struct cavs__external *x = &p->external[i];
        struct cavs__read read = c->r->reads[c->reads + x->read];

        if (!x->id && cavs__is_marked(c->r, read.of, CAVS__SOURCE) != x->source)
            return false;
        if (!p->block)
            continue;
        if (x->operand < n && !same_read(operands[x->operand], read))
            return false;
        if (x->operand < n)
            continue;
        operands[n++] = read;
        if (!x->id && !is_new(p, operands, n - 1))
            return false;
    }
    return true;
}

/* Without a branch: nearly always all are. */
static bool has_reads(const struct comparing *c, const struct cavs__known_run *known)
{
    const struct cavs__read *reads = c->r->reads + c->reads;
    uint32_t differ = 0;

    for (int i = 0; i < known->nreads; i++) {
        struct cavs__read x = known->reads[i], y = reads[i];
        uint32_t of = (uint32_t)x.of ^ (uint32_t)(y.of - c->first);

        differ |=
            (x.in_run ^ y.in_run) | (-(uint32_t)x.in_run & (of | (uint32_t)(x.from ^ y.from)));
    }
    return differ == 0;
}

/* Are these its symbols, and is it over behind them? */
static bool has_symbols(const struct comparing *c, const struct cavs__known_run *known, int n,
                        const int32_t *list)
{
    const struct cavs__entry *first = &c->r->entries[c->first], *last;
    int i = known->n;

    if (n < i || list[i - 1] != c->first + known->span - 1)
        return false;
    last = &c->r->entries[list[i - 1]];
    if (last->run != first->run || last->reads - first->reads != known->to_last)
        return false;
    while (i < n && cavs__is_marked(c->r, list[i], CAVS__SOURCE))
        i++;
    return i == n || c->r->entries[list[i]].run != first->run;
}

static bool is_as(struct comparing *c, const struct cavs__known_run *known, int n,
                  const int32_t *list)
{
    size_t span = (size_t)known->span;
    bool same =
        has_symbols(c, known, n, list) && memcmp(c->r->marks + c->first, known->marks, span) == 0 &&
        memcmp(c->r->signature + c->first, known->signature, span * sizeof *known->signature) ==
            0 &&
        has_reads(c, known);

    for (int i = 0; i < known->nparts && same; i++)
        same =
            cavs__is_usable(&known->parts[i]) && has_operands(c, &known->parts[i], c->operands[i]);
    return same;
}

/* ---- becoming the same ---- */

static bool become_block(const struct comparing *c, const struct cavs__known_part *p,
                         const struct cavs__read *operands)
{
    const struct cavs__signature *s = c->r->signatures.all[p->signature];
    struct cavs__together v;

    v.head = c->first + p->head;
    v.signature = p->signature;
    v.noperands = p->noperands;
    v.operands = operands;
    p->block->seen++;
    p->block->wanted |= p->members;
    for (int i = 0; i < s->nresults; i++)
        v.results[i] = c->first + p->symbols[s->results[i].member];
    return cavs__put_together(c->r, &v);
}

/* false: out of memory. */
static bool become(struct cavs__blocks *b, const struct comparing *c,
                   const struct cavs__known_run *known, int32_t **to)
{
    bool done = true;

    memcpy(c->r->marks + c->first, known->after, (size_t)known->span);
    for (int i = 0; i < known->nparts && done; i++) {
        const struct cavs__known_part *p = &known->parts[i];

        *(*to)++ = c->first + p->head;
        if (p->block) {
            done = become_block(c, p, c->operands[i]);
            continue;
        }
        b->alone[CAVS__ALONE_RUN]++;
        cavs__leave_alone(c->r, c->first + p->head);
    }
    return done;
}

int cavs__take_sources(struct cavs__recording *r, int n, const int32_t *list, int32_t **to)
{
    int i = 0;

    for (; i < n && cavs__is_marked(r, list[i], CAVS__SOURCE); i++) {
        cavs__leave_alone(r, list[i]);
        *(*to)++ = list[i];
    }
    return i;
}

int cavs__known_take(struct cavs__blocks *b, struct cavs__recording *r, int n, const int32_t *list,
                     int32_t **to)
{
    const struct cavs__entry *first = &r->entries[list[0]];
    int32_t number = r->sites.all[first->site].known;
    const struct cavs__known_run *known;
    struct comparing c;
    int taken;

    c.r = r;
    c.first = list[0];
    c.reads = first->reads;
    while (number >= 0 && !is_as(&c, b->known[number], n, list))
        number = b->known[number]->next;
    if (number < 0)
        return 0;
    known = b->known[number];
    for (int i = 0; i < known->nsources; i++)
        cavs__take_sources(r, 1, (const int32_t[]){c.first + known->sources[i]}, to);
    taken = known->n + cavs__take_sources(r, n - known->n, list + known->n, to);
    return become(b, &c, known, to) ? taken : -1;
}
