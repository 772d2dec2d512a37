/* SPDX-License-Identifier: Apache-2.0 */
/* tape_blocks.c - see tape_blocks.h: which vertices there are. */
#include "core/tape/tape_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"
#include "core/tape/run_parts.h"

enum { MOST_CODES = 1024 };

void cavs__blocks_free(struct cavs__blocks *b)
{
    for (int i = 0; i < b->n; i++) {
        free((int32_t *)b->all[i]->form.codes);
        free(b->all[i]);
    }
    free(b->all);
    cavs__table_free(&b->table);
}

/* ---- the form of a run ---- */

/* A run being looked at, and the part of it that is to be a vertex. */
struct run {
    struct cavs__recording *r;
    struct cavs__run all;
    int n;
    int32_t symbols[CAVS__MOST_MEMBERS];
    int32_t first; /* `vertex` of the part's first one, from which on they have numbers */
    int ncodes, noperands;
    int32_t codes[MOST_CODES];
    struct cavs__read operands[CAVS__MOST_OPERANDS];
    int32_t width[CAVS__MOST_OPERANDS];
};

static int32_t add_operand(struct run *x, struct cavs__read read, int32_t width)
{
    if (x->noperands == CAVS__MOST_OPERANDS)
        return 0;
    x->operands[x->noperands] = read;
    x->width[x->noperands] = width;
    return ~x->noperands++;
}

/* ~k: it is operand k of the run; 0: there are too many. */
static int32_t operand_of_run(struct run *x, struct cavs__read read, int32_t width)
{
    for (int k = 0; k < x->noperands; k++) {
        if (x->operands[k].of == read.of && x->operands[k].from == read.from &&
            x->width[k] == width)
            return ~k;
    }
    return add_operand(x, read, width);
}

enum { NO_ROW = -1 /* width: an id is no row */ };

/* The codes of an operand; false: it is one too many. */
static bool code_operand(struct run *x, const struct cavs__operand_sort *o, struct cavs__read read)
{
    int32_t member, *code = x->codes + x->ncodes;

    if (o->kind == CAVS__OPERAND_ID) {
        x->ncodes++;
        return (code[0] = add_operand(x, read, NO_ROW)) != 0;
    }
    if (o->kind != CAVS__OPERAND_ROW)
        return true;
    x->ncodes += 2;
    member = x->r->entries[read.of].vertex - x->first;
    if (member >= 0) {
        code[0] = member;
        code[1] = read.from;
        return true;
    }
    code[1] = 0;
    return (code[0] = operand_of_run(x, read, o->width)) != 0;
}

static bool code_member(struct run *x, const struct cavs__entry *e)
{
    const struct cavs__signature *s = x->r->signatures.all[e->signature];
    int n = cavs__reads_of(s, e);

    if (n > CAVS__MOST_OPERANDS || x->ncodes + 2 + 2 * n > MOST_CODES)
        return false;
    x->codes[x->ncodes++] = e->signature;
    if (s->nlisted > 0)
        x->codes[x->ncodes++] = n;
    for (int k = 0; k < n; k++) {
        if (!code_operand(x, &s->operands[s->nlisted > 0 ? 0 : k], x->r->reads[e->reads + k]))
            return false;
    }
    return true;
}

static bool code_run(struct run *x)
{
    for (int i = 0; i < x->n; i++)
        x->r->entries[x->symbols[i]].vertex = x->first + i;
    x->ncodes = x->noperands = 0;
    for (int i = 0; i < x->n; i++) {
        if (!code_member(x, &x->r->entries[x->symbols[i]]))
            return false;
    }
    return true;
}

static uint64_t read_outside(const struct run *x)
{
    uint64_t members = 0;

    for (int i = 0; i < x->n; i++)
        members |= (uint64_t)cavs__is_marked(x->r, x->symbols[i], CAVS__READ_OUTSIDE) << i;
    return members;
}

/* ---- the block of that form ---- */

static bool has_form(const struct cavs__tape_block *b, const struct run *x)
{
    return b->ncodes == x->ncodes &&
           memcmp(b->form.codes, x->codes, (size_t)x->ncodes * sizeof *x->codes) == 0;
}

/* Codes of what a symbol of that signature reads. */
static int codes_of(const struct cavs__signature *s, const int32_t *codes)
{
    int n = 0;

    for (int k = 0; k < s->n; k++)
        n += s->operands[k].kind == CAVS__OPERAND_ID    ? 1
             : s->operands[k].kind == CAVS__OPERAND_ROW ? 2
                                                        : 0;
    return s->nlisted > 0 ? 1 + n * codes[0] : n;
}

/* Signatures by their prints; what the other codes are is in their order. */
static uint64_t print_of(const struct run *x)
{
    uint64_t h = cavs__hash(CAVS__HASH_START, x->codes, 0);

    for (int i = 0, at = 0; i < x->n; i++) {
        const struct cavs__signature *s = x->r->signatures.all[x->codes[at++]];
        int n = codes_of(s, x->codes + at);

        h = cavs__hash(h, &s->print, sizeof s->print);
        h = cavs__hash(h, x->codes + at, (size_t)n * sizeof *x->codes);
        at += n;
    }
    return h;
}

bool cavs__block_expect(struct cavs__blocks *all, const struct cavs__tape_block *expected)
{
    struct cavs__tape_block *b = malloc(sizeof *b);

    if (b && CAVS__APPEND(all->all, all->n, b)) {
        *b = *expected;
        all->unmet++;
        return true;
    }
    free(b);
    return false;
}

/* The form of that print that is not met yet; -1: there is none. */
static int32_t expected_block(const struct cavs__blocks *all, uint64_t print)
{
    for (int i = 0; all->unmet > 0 && i < all->n; i++) {
        if (!all->all[i]->form.codes && all->all[i]->print == print)
            return i;
    }
    return -1;
}

/* Its number, or -1: out of memory. */
static int32_t add_block(struct cavs__blocks *all, const struct run *x)
{
    struct cavs__tape_block new = {
        .print = print_of(x), .signature = CAVS__NO_BLOCK, .coming = CAVS__NO_BLOCK};
    int32_t *codes = malloc((size_t)x->ncodes * sizeof *codes), i;

    if (!codes)
        return -1;
    i = expected_block(all, new.print);
    if (i < 0 && cavs__block_expect(all, &new))
        i = all->n - 1;
    if (i < 0) {
        free(codes);
        return -1;
    }
    memcpy(codes, x->codes, (size_t)x->ncodes * sizeof *codes);
    all->all[i]->form = (struct cavs__block_form){x->n, codes};
    all->all[i]->ncodes = x->ncodes;
    all->unmet--;
    cavs__make_later(all, all->all[i]);
    return i;
}

static int32_t look_up(struct cavs__blocks *all, const struct run *x)
{
    uint64_t h = 0;
    struct cavs__probe p;
    int32_t number;

    for (int i = 0; i < x->ncodes; i++)
        h = cavs__mix(h, (uint32_t)x->codes[i]);
    if (!cavs__table_grow(&all->table, (size_t)all->n + 1))
        return -1;
    p = cavs__table_probe(&all->table, cavs__mixed(h));
    while ((number = cavs__probe_at(&p)) >= 0 && !has_form(all->all[number], x))
        cavs__probe_step(&p);
    if (number < 0 && (number = add_block(all, x)) >= 0)
        cavs__probe_put(&p, number);
    return number;
}

/* NULL: out of memory. */
static struct cavs__tape_block *block_of(struct cavs__blocks *all, const struct run *x)
{
    int32_t *last = &x->r->sites.all[x->r->entries[x->symbols[0]].site].block;

    if (*last < 0 || !has_form(all->all[*last], x))
        *last = look_up(all, x);
    return *last < 0 ? NULL : all->all[*last];
}

/* ---- vertices ---- */

/* Operands and results of the block, in reads. */
static bool add_reads(const struct run *x, const struct cavs__signature *s)
{
    struct cavs__recording *r = x->r;
    struct cavs__read *to;

    if (r->nreads > INT32_MAX / 2 ||
        !cavs__array_reserve(&r->reads, &r->read_room,
                             (size_t)(r->nreads + x->noperands + s->nresults), sizeof *r->reads))
        return false;
    to = r->reads + r->nreads;
    memcpy(to, x->operands, (size_t)x->noperands * sizeof *to);
    for (int i = 0; i < s->nresults; i++)
        to[x->noperands + i] = (struct cavs__read){.of = x->symbols[s->results[i].member]};
    r->nreads += x->noperands + s->nresults;
    return true;
}

/* The run is a vertex.  What is no result is not there for anybody else. */
static bool put_together(const struct run *x, int32_t signature)
{
    const struct cavs__signature *s = x->r->signatures.all[signature];
    struct cavs__entry *entries = x->r->entries, *head = &entries[x->symbols[0]];

    for (int i = 0; i < x->n; i++) {
        struct cavs__entry *e = &entries[x->symbols[i]];

        e->head = x->symbols[0];
        x->r->marks[x->symbols[i]] = (x->r->marks[x->symbols[i]] | CAVS__IN_BLOCK) & ~CAVS__ORDERED;
        e->vertex = 0;
    }
    for (int i = 0; i < s->nresults; i++) {
        struct cavs__entry *e = &entries[x->symbols[s->results[i].member]];

        x->r->marks[x->symbols[s->results[i].member]] |= CAVS__ORDERED;
        e->column = s->results[i].column;
    }
    head->as = signature;
    head->operands = (int32_t)x->r->nreads;
    return add_reads(x, s);
}

static enum cavs__alone why_alone(const struct cavs__blocks *all, const struct cavs__tape_block *b)
{
    if (b->refused || (b->coming < 0 && all->made + all->made_before >= CAVS__MOST_BLOCKS))
        return CAVS__ALONE_LARGE;
    if (b->signature >= 0)
        return CAVS__ALONE_READ;
    return b->coming >= 0 ? CAVS__ALONE_COMING : CAVS__ALONE_NEW;
}

/* The signature that the run has as a block; -1: it is computed operator by operator. */
static int32_t signature_of(struct cavs__blocks *all, struct run *x)
{
    uint64_t members = read_outside(x);
    struct cavs__tape_block *b = x->n > 1 && code_run(x) ? block_of(all, x) : NULL;

    if (!b) {
        all->alone[x->n > 1 ? CAVS__ALONE_LARGE : CAVS__ALONE_RUN] += x->n;
        return -1;
    }
    b->seen++;
    b->wanted |= members;
    if (b->signature >= 0 && !(members & ~b->results))
        return b->signature;
    all->alone[why_alone(all, b)] += x->n;
    return -1;
}

/* The part of the run that is to be a vertex. */
static void take_part(struct run *x, enum cavs__run_part part)
{
    x->n = 0;
    for (uint64_t members = x->all.part[part]; members;)
        x->symbols[x->n++] = x->all.symbols[cavs__take_member(&members)];
}

static int find_alone(struct cavs__recording *r, int n, const int32_t *symbols)
{
    for (int i = 0; i < n; i++)
        cavs__leave_alone(r, symbols[i]);
    return n;
}

/* The part's vertices, at *to, which moves on.  false: out of memory. */
static bool add_part(struct cavs__blocks *b, struct run *x, int32_t **to)
{
    int32_t signature = signature_of(b, x);

    x->first += x->n;
    if (signature >= 0) {
        *(*to)++ = x->symbols[0];
        return put_together(x, signature);
    }
    memcpy(*to, x->symbols, (size_t)x->n * sizeof **to);
    *to += find_alone(x->r, x->n, x->symbols);
    return true;
}

int cavs__find_vertices(struct cavs__blocks *b, struct cavs__recording *r, bool together, int n,
                        const int32_t *list, int32_t *heads)
{
    struct run x = {.r = r, .all.r = r, .first = 1};
    int32_t *to = heads;

    if (b->after == 0 || !together) {
        b->alone[CAVS__ALONE_ASKED] += b->after > 0 ? n : 0;
        memmove(heads, list, (size_t)n * sizeof *heads);
        return find_alone(r, n, heads);
    }
    for (int i = 0; i < n;) {
        x.all.first = x.first;
        i += cavs__run_take(&x.all, n - i, list + i, &to);
        x.first += x.all.n;
        cavs__run_cut(&x.all);
        for (int part = 0; part < CAVS__RUN_PARTS; part++) {
            take_part(&x, part);
            if (x.n > 0 && !add_part(b, &x, &to))
                return -1;
        }
    }
    return (int)(to - heads);
}
