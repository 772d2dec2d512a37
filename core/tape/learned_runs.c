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
    free(known->sources);
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
    b->known = NULL;
    b->nknown = 0;
}

/* Has it something that is not used any more? */
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

/* A place for one more that begins there, with no contents; NULL: out of memory. */
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

/* Are there some that do not read as many rows each time? */
static bool has_lists(const struct cavs__run *x)
{
    bool lists = false;

    for (int i = 0; i < x->n; i++)
        lists |= x->r->signatures.all[x->r->signature[x->symbols[i]]]->nlisted > 0;
    return lists;
}

void cavs__learn_begin(struct cavs__learning *l, const struct cavs__blocks *b,
                       const struct cavs__run *x, int n, const int32_t *list)
{
    int ordered = 0;

    l->useless = x->n < 2 || x->n == CAVS__MOST_MEMBERS ||
                 x->symbols[x->n - 1] - x->symbols[0] >= CAVS__MOST_SPAN || has_lists(x) ||
                 is_full(b, x->r->sites.all[x->r->entries[x->symbols[0]].site].known);
    if (l->useless)
        return;
    l->first = x->symbols[0];
    l->last = x->symbols[x->n - 1];
    l->n = l->nsources = l->nparts = 0;
    memcpy(l->marks, x->r->marks + l->first, (size_t)(l->last - l->first) + 1);
    for (int i = 0; i < n && list[i] <= l->last; i++) {
        if (cavs__is_marked(x->r, list[i], CAVS__SOURCE))
            l->sources[l->nsources++] = list[i] - l->first;
        l->n++;
    }
    for (int i = 0; i <= l->last - l->first; i++)
        ordered += l->marks[i] & CAVS__ORDERED;
    l->useless = ordered != l->n; /* some were there already */
}

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);

    return to ? memcpy(to, from, bytes) : NULL;
}

/* Symbols and reads from the first ones on. */
static void count_from(struct cavs__known_run *known, int32_t symbol, int32_t read)
{
    for (int i = 0; i < known->nreads; i++)
        known->reads[i].of -= known->reads[i].in_run ? symbol : 0;
    for (int i = 0; i < known->nparts; i++) {
        struct cavs__known_part *p = &known->parts[i];

        p->head -= symbol;
        for (int k = 0; k < CAVS__MOST_MEMBERS; k++)
            p->symbols[k] -= symbol;
        for (int k = 0; k < p->nexternal; k++)
            p->external[k].read -= read;
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
        .n = l->n,
        .span = (int)span,
        .to_last = last->reads - first->reads,
        .nreads = last->reads - first->reads + last->nreads,
        .nsources = l->nsources,
        .nparts = l->nparts,
        .signature = copy(r->signature + l->first, span * sizeof *r->signature),
        .sources = copy(l->sources, (size_t)l->nsources * sizeof *l->sources),
        .marks = copy(l->marks, span),
        .after = copy(r->marks + l->first, span)};
    known->reads = copy(r->reads + first->reads, (size_t)known->nreads * sizeof *r->reads);
    memcpy(known->parts, l->parts, sizeof known->parts);
    if (!known->signature || !known->sources || !known->marks || !known->after || !known->reads) {
        known->n = INT32_MAX; /* no list is as long */
        return false;
    }
    count_from(known, l->first, first->reads);
    return true;
}
