/* SPDX-License-Identifier: Apache-2.0 */
/* tape_blocks.c - see tape_blocks.h: which vertices there are. */
#include "core/tape/tape_blocks.h"

#include <string.h>

#include "core/base/array.h"
#include "core/tape/run_form.h"

/* Appends the operands and the results of a block to the reads of the recording. */
static bool add_reads(struct cavs__recording *r, const struct cavs__together *v, int nresults)
{
    struct cavs__read *to;

    if (r->nreads > CAVS__MOST_READS ||
        !cavs__array_reserve(&r->reads, &r->read_room,
                             (size_t)(r->nreads + v->noperands + nresults), sizeof *r->reads))
        return false;
    to = r->reads + r->nreads;
    for (int i = 0; i < v->noperands; i++)
        to[i] = r->reads[v->from + v->operands[i]];
    for (int i = 0; i < nresults; i++)
        to[v->noperands + i] = (struct cavs__read){.of = v->results[i]};
    r->nreads += v->noperands + nresults;
    r->block_reads = r->nreads;
    return true;
}

bool cavs__put_together(struct cavs__recording *r, const struct cavs__together *v)
{
    cavs__add_vertex(r, v->head, v->sample, v->signature, (int32_t)r->nreads);
    if (!add_reads(r, v, r->signatures.all[v->signature]->nresults))
        return false;
    cavs__note_places(r, r->nvertices - 1);
    return true;
}

/* The symbol that stands for the vertex.  That is its first result, which is there for the rest of
 * the recording: any other member may be computed once more by a later increment, in another
 * vertex, while results of this one are still read. */
static int32_t head_of(const struct cavs__formed_run *x, int32_t signature)
{
    const struct cavs__signature *s = signature < 0 ? NULL : x->r->signatures.all[signature];

    return x->symbols[s && s->nresults > 0 ? s->results[0].member : 0];
}

/* Makes the run one vertex.  A member that is no result cannot be read by anybody else. */
static bool put_together(const struct cavs__formed_run *x, int32_t signature)
{
    const struct cavs__signature *s = x->r->signatures.all[signature];
    uint8_t *marks = x->r->marks;
    struct cavs__together v = {.head = head_of(x, signature),
                               .sample = x->r->entries[x->symbols[0]].sample,
                               .signature = signature,
                               .noperands = x->noperands,
                               .operands = x->operands};

    for (int i = 0; i < x->n; i++) {
        marks[x->symbols[i]] = (marks[x->symbols[i]] | CAVS__IN_BLOCK) & ~CAVS__ORDERED;
        x->r->entries[x->symbols[i]].member = 0;
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

static uint64_t read_outside(const struct cavs__formed_run *x)
{
    uint64_t members = 0;

    for (int i = 0; i < x->n; i++)
        members |= (uint64_t)cavs__is_marked(x->r, x->symbols[i], CAVS__READ_OUTSIDE) << i;
    return members;
}

/* The signature that the run has as a block; -1: it is computed operator by operator. */
static int32_t signature_of(struct cavs__blocks *all, struct cavs__formed_run *x)
{
    uint64_t members = read_outside(x);
    struct cavs__tape_block *b = x->n > 1 && cavs__code_run(x) ? cavs__block_of_form(all, x) : NULL;

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

/* Takes the part of the run that is to be a vertex. */
static void take_part(struct cavs__formed_run *x, enum cavs__run_part part)
{
    x->n = 0;
    for (uint64_t members = x->all.part[part]; members;)
        x->symbols[x->n++] = x->all.symbols[cavs__take_member(&members)];
}

static void leave_alone(struct cavs__recording *r, int n, const int32_t *symbols)
{
    for (int i = 0; i < n; i++)
        cavs__leave_alone(r, symbols[i]);
}

/* A symbol that is alone may be so because it could be computed ahead: that depends on which of
 * its operands read no other symbol. */
static void learn_sources(struct cavs__learning *l, struct cavs__learned_reads *reads,
                          const struct cavs__recording *r, int32_t symbol)
{
    const struct cavs__entry *e = &r->entries[symbol];
    int n = cavs__reads_of(r->signatures.all[r->signature[symbol]], e->nreads);

    l->useless |= n > CAVS__MOST_EXTERNAL;
    for (int k = 0; k < n && !l->useless; k++) {
        int32_t read = (int32_t)(e->reads + k);

        if (r->reads[read].from != CAVS__NO_ROW)
            reads->external[reads->n++] = (struct cavs__external){
                .read = read, .source = cavs__is_marked(r, r->reads[read].of, CAVS__SOURCE)};
    }
}

/* Notes what became of the part. */
static void learn_part(struct cavs__learning *l, const struct cavs__formed_run *x,
                       int32_t signature)
{
    struct cavs__learned_reads *reads = &l->reads[l->nparts];
    struct cavs__known_part *p = &l->parts[l->nparts++];

    reads->n = 0;
    *p = (struct cavs__known_part){.block = signature < 0 ? NULL : x->block,
                                   .members = x->members,
                                   .signature = signature,
                                   .head = head_of(x, signature)};
    l->useless |= (signature < 0 && x->n > 1) || (x->n > 1 && x->nexternal > CAVS__MOST_EXTERNAL);
    if (!l->useless && signature < 0)
        learn_sources(l, reads, x->r, x->symbols[0]);
    if (l->useless || signature < 0)
        return;
    p->noperands = x->noperands;
    memcpy(p->operands, x->operands, sizeof p->operands);
    reads->n = x->nexternal;
    memcpy(reads->width, x->width, sizeof reads->width);
    memcpy(reads->external, x->external, sizeof reads->external);
    memcpy(p->symbols, x->symbols, (size_t)x->n * sizeof *p->symbols);
}

/* Adds the vertices of the part.  false: out of memory. */
static bool add_part(struct cavs__blocks *b, struct cavs__formed_run *x, struct cavs__learning *l)
{
    int32_t signature = signature_of(b, x);

    x->first += x->n;
    if (!l->useless)
        learn_part(l, x, signature);
    if (signature >= 0)
        return put_together(x, signature);
    leave_alone(x->r, x->n, x->symbols);
    return true;
}

/* Adds the vertices of the known run that the list begins with. */
static int take_known(struct cavs__blocks *b, struct cavs__recording *r, int n, const int32_t *list)
{
    cavs__known_count(b, cavs__known_next(b), 1);
    return cavs__known_become(b, r, n, list);
}

/* Adds the vertices of the first run of the list, member by member.  Returns how many symbols it
 * has; -1: out of memory. */
static int take_run(struct cavs__blocks *b, struct cavs__formed_run *x, int n, const int32_t *list)
{
    struct cavs__learning l;
    int taken;

    x->all.first = x->first;
    taken = cavs__run_take(&x->all, n, list);
    x->first += x->all.n;
    cavs__learn_begin(&l, b, &x->all, taken, list);
    cavs__run_cut(&x->all);
    for (int part = 0; part < CAVS__RUN_PARTS; part++) {
        take_part(x, part);
        if (x->n > 0 && !add_part(b, x, &l))
            return -1;
    }
    return l.useless || cavs__learn_end(&l, b, x->r) ? taken : -1;
}

bool cavs__find_vertices(struct cavs__blocks *b, struct cavs__recording *r, int n,
                         const int32_t *list)
{
    struct cavs__formed_run x = {.r = r, .all.r = r, .first = 1};
    size_t most = (size_t)n + (size_t)b->ntaken * (CAVS__RUN_PARTS - 1);

    if (!cavs__array_reserve(&r->vertices, &r->vertex_room, (size_t)r->nvertices + most,
                             sizeof *r->vertices))
        return false;
    if (b->after == 0) {
        leave_alone(r, n, list);
        return true;
    }
    for (int i = 0, taken; i < n; i += taken) {
        taken = cavs__take_sources(r, n - i, list + i);
        if (taken == 0 && list[i] < 0)
            taken = take_known(b, r, n - i, list + i);
        if (taken == 0)
            taken = take_run(b, &x, n - i, list + i);
        if (taken < 0)
            return false;
    }
    return true;
}
