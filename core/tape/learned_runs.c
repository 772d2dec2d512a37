/* SPDX-License-Identifier: Apache-2.0 */
/* learned_runs.c - see known_runs.h: how a run becomes known. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/tape/known_runs.h"

enum { MOST_A_SITE = 4 };

static void free_contents(struct cavs__known_run *known)
{
    free(known->signature);
    free(known->needs);
    free(known->rows);
    free(known->same);
    free(known->differ);
    free(known->reads);
    free(known->marks);
    free(known->after);
}

void cavs__known_free(struct cavs__blocks *b)
{
    for (int i = 0; i < b->nknown; i++) {
        free_contents(b->known[i]);
        free(b->known[i]);
    }
    free(b->known);
    free(b->before);
    free(b->taken);
    b->known = NULL;
    b->before = NULL;
    b->taken = NULL;
    b->nknown = b->ntaken = 0;
    b->before_room = b->taken_room = 0;
}

/* Does it become blocks that are not in use any more? */
static bool is_stale(const struct cavs__known_run *known)
{
    bool usable = true;

    for (int i = 0; i < known->nparts; i++)
        usable &= cavs__is_usable(&known->parts[i]);
    return !usable;
}

static bool is_full(const struct cavs__blocks *b, int32_t first)
{
    int n = 0;

    for (; first >= 0; first = b->known[first]->next)
        n += !is_stale(b->known[first]);
    return n >= MOST_A_SITE;
}

/* A place for one more known run in the list of a site: that of a stale one, or a new one.  It has
 * no contents; NULL: out of memory. */
static struct cavs__known_run *new_known(struct cavs__blocks *b, int32_t *first)
{
    struct cavs__known_run *known;

    for (int32_t i = *first; i >= 0; i = b->known[i]->next) {
        if (!is_stale(b->known[i]))
            continue;
        free_contents(b->known[i]);
        return b->known[i];
    }
    known = calloc(1, sizeof *known);
    if (!known || !CAVS__APPEND(b->known, b->nknown, known)) {
        free(known);
        return NULL;
    }
    known->next = *first;
    *first = b->nknown - 1;
    return known;
}

/* Are there members that read lists, whose lengths may differ each time? */
static bool has_lists(const struct cavs__recorded_run *x)
{
    bool lists = false;

    for (int i = 0; i < x->n; i++)
        lists |= x->r->signatures.all[x->r->signature[x->symbols[i]]]->nlisted > 0;
    return lists;
}

/* Have some of its symbols been computed by an earlier increment?  Such a run is not learned. */
static bool has_evaluated(const struct cavs__learning *l, const struct cavs__recording *r, int n,
                          const int32_t *list)
{
    int listed = 0, ordered = 0;

    for (int i = 0; i < n; i++)
        listed += list[i] >= l->first && list[i] <= l->last;
    for (int32_t i = l->first; i <= l->last; i++)
        ordered += cavs__is_marked(r, i, CAVS__ORDERED);
    return ordered != listed;
}

/* Do their reads lie side by side?  Not if an increment was computed between them. */
static bool is_dense(const struct cavs__recording *r, int32_t first, int32_t last)
{
    int32_t reads = r->entries[first].reads;

    for (int32_t i = first; i <= last; i++) {
        if (r->entries[i].reads != reads)
            return false;
        reads += r->entries[i].nreads;
    }
    return true;
}

/* Notes what a member needs of other runs, as needed.c has marked it. */
static void learn_needs(struct cavs__learning *l, const struct cavs__recording *r, int32_t symbol)
{
    const struct cavs__entry *e = &r->entries[symbol];
    bool sum = cavs__is_marked(r, symbol, CAVS__SUMMED_UP);

    for (int32_t k = e->reads; k < e->reads + e->nreads && !l->useless; k++) {
        if (r->reads[k].from == CAVS__NO_ROW || r->reads[k].in_run)
            continue;
        l->useless = l->nneeds == CAVS__MOST_EXTERNAL;
        if (!l->useless)
            l->needs[l->nneeds++] = (struct cavs__known_need){
                .read = k, .marks = CAVS__READ_OUTSIDE | (sum ? 0 : CAVS__WAITED_FOR)};
    }
}

/* Has an equal run been learned since the symbols of this one were found to be needed? */
static bool is_learned(const struct cavs__learning *l, const struct cavs__blocks *b,
                       const struct cavs__recording *r)
{
    const struct cavs__entry *e = &r->entries[l->first];
    struct cavs__run_begin run = {
        .first = l->first, .site = e->site, .reads = e->reads, .sample = e->sample};

    return cavs__known_since(b, r, &run, l->last - l->first + 1);
}

void cavs__learn_begin(struct cavs__learning *l, const struct cavs__blocks *b,
                       const struct cavs__recorded_run *x, int n, const int32_t *list)
{
    l->first = x->r->entries[x->symbols[0]].run;
    l->last = x->symbols[x->n - 1];
    l->nneeds = l->nparts = 0;
    l->useless = x->n < 2 || x->n == CAVS__MOST_MEMBERS || l->last - l->first >= CAVS__MOST_SPAN ||
                 has_lists(x) || is_full(b, x->r->sites.all[x->r->entries[l->first].site].known) ||
                 has_evaluated(l, x->r, n, list) || !is_dense(x->r, l->first, l->last) ||
                 is_learned(l, b, x->r);
    for (int i = 0; i < x->n && !l->useless; i++)
        learn_needs(l, x->r, x->symbols[i]);
}

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);

    return to ? memcpy(to, from, bytes) : NULL;
}

/* ---- which reads are the same ---- */

/* Is what it reads a row of another run? */
static bool is_outside(const struct cavs__recording *r, const struct cavs__external *x)
{
    return !x->id && !r->reads[x->read].in_run;
}

/* Notes how an operand of a block, when it is read first, is told from those before it.  Ids are
 * operands of their own, however many are equal, and so are rows that are read in another width;
 * what is of the run itself is compared with all reads.  false: out of memory. */
static bool learn_new_operand(struct cavs__known_run *known, const struct cavs__recording *r,
                              const struct cavs__known_part *p,
                              const struct cavs__learned_reads *reads,
                              const struct cavs__external *x)
{
    for (int i = 0; i < x->operand; i++) {
        const struct cavs__known_pair pair = {p->operands[i], x->read};

        if (reads->width[i] == reads->width[x->operand] && !r->reads[pair.a].in_run &&
            !CAVS__APPEND(known->differ, known->ndiffer, pair))
            return false;
    }
    return true;
}

/* Notes what has to be so of a row of another run that the part reads.  false: out of memory. */
static bool learn_row(struct cavs__known_run *known, const struct cavs__recording *r,
                      const struct cavs__known_part *p, const struct cavs__learned_reads *reads,
                      const struct cavs__external *x)
{
    const struct cavs__known_need row = {x->read, x->source ? CAVS__SOURCE : 0};
    const struct cavs__known_pair pair = {p->operands[x->operand], x->read};

    if (p->block && pair.a != x->read)
        return CAVS__APPEND(known->same, known->nsame, pair);
    return CAVS__APPEND(known->rows, known->nrows, row) &&
           (!p->block || learn_new_operand(known, r, p, reads, x));
}

static bool learn_rows(struct cavs__known_run *known, const struct cavs__learning *l,
                       const struct cavs__recording *r)
{
    bool room = true;

    for (int i = 0; i < l->nparts; i++) {
        for (int k = 0; k < l->reads[i].n && room; k++) {
            const struct cavs__external *x = &l->reads[i].external[k];

            if (is_outside(r, x))
                room = learn_row(known, r, &l->parts[i], &l->reads[i], x);
        }
    }
    return room;
}

/* ---- all ---- */

/* From now on symbols and reads are counted from the first ones of the run. */
static void count_from(struct cavs__known_run *known, int32_t symbol, int32_t read)
{
    for (int i = 0; i < known->nneeds; i++)
        known->needs[i].read -= read;
    for (int i = 0; i < known->nrows; i++)
        known->rows[i].read -= read;
    for (int i = 0; i < known->nsame; i++) {
        known->same[i].a -= read;
        known->same[i].b -= read;
    }
    for (int i = 0; i < known->ndiffer; i++) {
        known->differ[i].a -= read;
        known->differ[i].b -= read;
    }
    for (int i = 0; i < known->nparts; i++) {
        struct cavs__known_part *p = &known->parts[i];

        p->head -= symbol;
        for (int k = 0; k < CAVS__MOST_MEMBERS; k++)
            p->symbols[k] -= symbol;
        for (int k = 0; k < p->noperands; k++)
            p->operands[k] -= read;
    }
}

/* false: out of memory. */
static bool learn_reads(struct cavs__known_run *known, const struct cavs__read *reads,
                        int32_t first)
{
    known->reads = malloc(((size_t)known->nreads + 1) * sizeof *known->reads);
    for (int i = 0; known->reads && i < known->nreads; i++) {
        struct cavs__read read = reads[i];

        read.of -= first;
        known->reads[i] =
            read.in_run
                ? (struct cavs__known_read){cavs__read_word(read), UINT64_MAX}
                : (struct cavs__known_read){0, cavs__read_word((struct cavs__read){.in_run = 1})};
    }
    return known->reads != NULL;
}

static void learn_found(struct cavs__known_run *known)
{
    for (int i = 0; i < known->span; i++) {
        if (!(known->marks[i] & CAVS__ORDERED))
            continue;
        cavs__bits_add(known->found, (size_t)i);
        if (!(known->marks[i] & CAVS__SOURCE))
            cavs__bits_add(known->members, (size_t)i);
    }
}

bool cavs__learn_end(struct cavs__learning *l, struct cavs__blocks *b, struct cavs__recording *r)
{
    const struct cavs__entry *first = &r->entries[l->first], *last = &r->entries[l->last];
    size_t span = (size_t)(l->last - l->first) + 1;
    struct cavs__known_run *known = new_known(b, &r->sites.all[first->site].known);

    if (!known)
        return false;
    *known = (struct cavs__known_run){
        .next = known->next,
        .span = (int)span,
        .nreads = last->reads - first->reads + last->nreads,
        .nneeds = l->nneeds,
        .nparts = l->nparts,
        .signature = copy(r->signature + l->first, span * sizeof *r->signature),
        .needs = copy(l->needs, (size_t)l->nneeds * sizeof *l->needs),
        .marks = copy(b->before + l->first, span),
        .after = copy(r->marks + l->first, span)};
    memcpy(known->parts, l->parts, sizeof known->parts);
    if (!known->signature || !known->needs || !known->marks || !known->after ||
        !learn_rows(known, l, r) || !learn_reads(known, r->reads + first->reads, l->first)) {
        known->span = 0; /* no run is as short, so it is never found */
        return false;
    }
    learn_found(known);
    count_from(known, l->first, first->reads);
    return true;
}
