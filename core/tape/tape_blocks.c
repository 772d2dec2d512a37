/* SPDX-License-Identifier: Apache-2.0 */
/* tape_blocks.c - see tape_blocks.h: which vertices there are. */
#include "core/tape/tape_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"
#include "core/tape/known_runs.h"

enum { MOST_CODES = 1024 };

void cavs__blocks_free(struct cavs__blocks *b)
{
    for (int i = 0; i < b->n; i++) {
        free((int32_t *)b->all[i]->form.codes);
        free(b->all[i]);
    }
    free(b->all);
    cavs__table_free(&b->table);
    cavs__known_free(b);
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
    int nexternal; /* all, of which the first are here */
    struct cavs__external external[CAVS__MOST_EXTERNAL];
    struct cavs__tape_block *block; /* of the part; NULL: none */
    uint64_t members;               /* that are read outside */
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

/* Notes that this read is the operand with that code.  false: there is none. */
static bool note_external(struct run *x, int32_t read, int32_t code, bool id)
{
    int32_t of = x->r->reads[read].of;

    if (x->nexternal++ < CAVS__MOST_EXTERNAL)
        x->external[x->nexternal - 1] =
            (struct cavs__external){.read = read,
                                    .operand = ~code,
                                    .id = id,
                                    .source = !id && cavs__is_marked(x->r, of, CAVS__SOURCE)};
    return code != 0;
}

/* The codes of an operand, which is that read; false: it is one too many. */
static bool code_operand(struct run *x, const struct cavs__operand_sort *o, int32_t at)
{
    struct cavs__read read = x->r->reads[at];
    int32_t member, *code = x->codes + x->ncodes;

    if (o->kind == CAVS__OPERAND_ID) {
        x->ncodes++;
        code[0] = add_operand(x, read, NO_ROW);
        return note_external(x, at, code[0], true);
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
    code[0] = operand_of_run(x, read, o->width);
    return note_external(x, at, code[0], false);
}

static bool code_member(struct run *x, int32_t symbol)
{
    const struct cavs__entry *e = &x->r->entries[symbol];
    int32_t signature = x->r->signature[symbol];
    const struct cavs__signature *s = x->r->signatures.all[signature];
    int n = cavs__reads_of(s, e);

    if (n > CAVS__MOST_OPERANDS || x->ncodes + 2 + 2 * n > MOST_CODES)
        return false;
    x->codes[x->ncodes++] = signature;
    if (s->nlisted > 0)
        x->codes[x->ncodes++] = n;
    for (int k = 0; k < n; k++) {
        if (!code_operand(x, &s->operands[s->nlisted > 0 ? 0 : k], e->reads + k))
            return false;
    }
    return true;
}

static bool code_run(struct run *x)
{
    for (int i = 0; i < x->n; i++)
        x->r->entries[x->symbols[i]].vertex = x->first + i;
    x->ncodes = x->noperands = x->nexternal = 0;
    for (int i = 0; i < x->n; i++) {
        if (!code_member(x, x->symbols[i]))
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
static bool add_reads(struct cavs__recording *r, const struct cavs__together *v, int nresults)
{
    struct cavs__read *to;

    if (r->nreads > INT32_MAX / 2 ||
        !cavs__array_reserve(&r->reads, &r->read_room,
                             (size_t)(r->nreads + v->noperands + nresults), sizeof *r->reads))
        return false;
    to = r->reads + r->nreads;
    memcpy(to, v->operands, (size_t)v->noperands * sizeof *to);
    for (int i = 0; i < nresults; i++)
        to[v->noperands + i] = (struct cavs__read){.of = v->results[i]};
    r->nreads += v->noperands + nresults;
    return true;
}

bool cavs__put_together(struct cavs__recording *r, const struct cavs__together *v)
{
    const struct cavs__signature *s = r->signatures.all[v->signature];
    struct cavs__entry *head = &r->entries[v->head];

    head->head = v->head;
    head->vertex = 0;
    head->as = v->signature;
    head->operands = (int32_t)r->nreads;
    for (int i = 0; i < s->nresults; i++) {
        struct cavs__entry *e = &r->entries[v->results[i]];

        e->head = v->head;
        e->vertex = 0;
        e->column = s->results[i].column;
    }
    return add_reads(r, v, s->nresults);
}

/* The run is a vertex.  What is no result is not there for anybody else. */
static bool put_together(const struct run *x, int32_t signature)
{
    const struct cavs__signature *s = x->r->signatures.all[signature];
    uint8_t *marks = x->r->marks;
    struct cavs__together v = {.head = x->symbols[0],
                               .signature = signature,
                               .noperands = x->noperands,
                               .operands = x->operands};

    for (int i = 0; i < x->n; i++) {
        marks[x->symbols[i]] = (marks[x->symbols[i]] | CAVS__IN_BLOCK) & ~CAVS__ORDERED;
        x->r->entries[x->symbols[i]].vertex = 0;
    }
    for (int i = 0; i < s->nresults; i++) {
        v.results[i] = x->symbols[s->results[i].member];
        marks[v.results[i]] |= CAVS__ORDERED;
    }
    return cavs__put_together(x->r, &v);
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

    x->block = b;
    x->members = members;
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

/* What became of the part. */
static void learn_part(struct cavs__learning *l, const struct run *x, int32_t signature)
{
    struct cavs__known_part *p = &l->parts[l->nparts++];

    *p = (struct cavs__known_part){.block = signature < 0 ? NULL : x->block,
                                   .members = x->members,
                                   .signature = signature,
                                   .head = x->symbols[0]};
    l->useless |= (signature < 0 && x->n > 1) || (x->n > 1 && x->nexternal > CAVS__MOST_EXTERNAL);
    if (l->useless || signature < 0)
        return;
    p->noperands = x->noperands;
    p->nexternal = x->nexternal;
    memcpy(p->width, x->width, sizeof p->width);
    memcpy(p->external, x->external, sizeof p->external);
    memcpy(p->symbols, x->symbols, (size_t)x->n * sizeof *p->symbols);
}

/* The part's vertices, at *to, which moves on.  false: out of memory. */
static bool add_part(struct cavs__blocks *b, struct run *x, struct cavs__learning *l, int32_t **to)
{
    int32_t signature = signature_of(b, x);

    x->first += x->n;
    if (!l->useless)
        learn_part(l, x, signature);
    if (signature >= 0) {
        *(*to)++ = x->symbols[0];
        return put_together(x, signature);
    }
    memcpy(*to, x->symbols, (size_t)x->n * sizeof **to);
    *to += find_alone(x->r, x->n, x->symbols);
    return true;
}

/* The vertices of the first run of the list, member by member; how many symbols, or -1. */
static int take_run(struct cavs__blocks *b, struct run *x, int n, const int32_t *list, int32_t **to)
{
    struct cavs__learning l;
    int taken;

    x->all.first = x->first;
    taken = cavs__run_take(&x->all, n, list, to);
    x->first += x->all.n;
    cavs__learn_begin(&l, b, &x->all, taken, list);
    cavs__run_cut(&x->all);
    for (int part = 0; part < CAVS__RUN_PARTS; part++) {
        take_part(x, part);
        if (x->n > 0 && !add_part(b, x, &l, to))
            return -1;
    }
    return l.useless || cavs__learn_end(&l, b, x->r) ? taken : -1;
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
    for (int i = 0, taken; i < n; i += taken) {
        taken = cavs__take_sources(r, n - i, list + i, &to);
        if (taken == 0)
            taken = cavs__known_take(b, r, n - i, list + i, &to);
        if (taken == 0)
            taken = take_run(b, &x, n - i, list + i, &to);
        if (taken < 0)
            return -1;
    }
    return (int)(to - heads);
}
