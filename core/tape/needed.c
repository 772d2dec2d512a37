/* SPDX-License-Identifier: Apache-2.0 */
/* needed.c - see order_parts.h: what is needed for the symbols that are wanted. */
#include <string.h>

#include "core/base/array.h"
#include "core/base/bits.h"
#include "core/base/fetches.h"
#include "core/tape/known_runs.h"
#include "core/tape/order_parts.h"

/* The symbol was computed inside of a block and not kept.  It is computed once more, after those
 * symbols of its run that it is made of.  From the next recording on it is kept, and none of this
 * is needed. */
static void ask_for(struct cavs__recording *r, int symbol)
{
    r->sites.all[r->entries[symbol].site].asked = true;
    cavs__sites_visit_all(&r->sites);
}

/* Notes that the symbol is to be computed.  again: it is read by a symbol that had been computed in
 * a block and is computed once more. */
static void find(struct cavs__needed *d, int symbol, bool again)
{
    uint8_t *marks = &d->r->marks[symbol];
    int word = symbol / CAVS__BITS_A_WORD;

    if (*marks & CAVS__IN_BLOCK && !again)
        ask_for(d->r, symbol);
    *marks = (*marks & ~CAVS__WAITED_FOR) | CAVS__ORDERED | (d->cut ? 0 : CAVS__WAITED_FOR);
    d->o->found[word] |= cavs__bit((size_t)symbol);
    d->lo = word < d->lo ? word : d->lo;
    d->hi = word > d->hi ? word : d->hi;
}

static inline void need(struct cavs__needed *d, int symbol, unsigned marks, bool again)
{
    if (!(d->r->marks[symbol] & CAVS__ORDERED))
        find(d, symbol, again);
    d->r->marks[symbol] |= marks;
}

/* Notes that the rows are needed that the symbol reads; a source reads none.  All its readers are
 * behind it, so it is known whether something waits for the symbol.  If so, something waits for
 * what it reads, too; and what a symbol of another run reads is always waited for, unless that only
 * sums it up in the end. */
static inline void need_operands(struct cavs__needed *d, int symbol)
{
    const struct cavs__entry *e = &d->r->entries[symbol];
    const struct cavs__read *reads = d->r->reads + e->reads;
    unsigned marks = d->r->marks[symbol], inside = marks & CAVS__WAITED_FOR,
             outside = CAVS__READ_OUTSIDE | (marks & CAVS__SUMMED_UP ? 0 : CAVS__WAITED_FOR);
    bool again = marks & CAVS__IN_BLOCK;

    for (int k = 0; k < e->nreads; k++) {
        if (reads[k].from != CAVS__NO_ROW)
            need(d, reads[k].of, reads[k].in_run ? inside : outside, again);
    }
}

/* A source becomes a vertex by itself: what that takes is on its way meanwhile. */
CAVS__FETCHES void fetch_source(const struct cavs__needed *d, int symbol)
{
    __builtin_prefetch(&d->r->entries[symbol], 1);
}

/* ---- known runs ---- */

static size_t words_of(const struct cavs__known_run *known)
{
    return cavs__bit_words((size_t)known->span);
}

/* Are the symbols of the known run that others need to be computed now, and not there from an
 * earlier increment? */
static bool are_found(const struct cavs__needed *d, const struct cavs__known_run *known,
                      int32_t first)
{
    return cavs__bits_include(d->o->found, (size_t)first, known->found, words_of(known));
}

/* Notes what the run needs of others.  Its members are not listed one by one, but for sources that
 * lie among them. */
static void need_run(struct cavs__needed *d, const struct cavs__known_run *known,
                     const struct cavs__run_begin *run)
{
    const struct cavs__read *reads = d->r->reads + run->reads;

    cavs__bits_remove(d->o->found, (size_t)run->first, known->members, words_of(known));
    for (int i = 0; i < known->nneeds; i++)
        need(d, reads[known->needs[i].read].of, known->needs[i].marks, false);
    memcpy(d->r->marks + run->first, known->after, (size_t)known->span);
}

/* If the run of this symbol, which is the last one of it that is needed, is a known one, takes it
 * as a whole. */
static bool take_run(struct cavs__needed *d, int symbol)
{
    struct cavs__blocks *b = d->cut;
    const struct cavs__run_begin *run;
    int32_t number;

    if (cavs__is_marked(d->r, symbol, CAVS__SOURCE) ||
        (d->run < d->r->nruns && symbol >= d->r->runs[d->run].first))
        return false;
    do
        run = &d->r->runs[--d->run];
    while (run->first > symbol);
    number = cavs__known_find(b, d->r, run, symbol - run->first + 1);
    if (number < 0 || !are_found(d, b->known[number], run->first) ||
        !cavs__array_reserve(&b->taken, &b->taken_room, (size_t)b->ntaken + 1, sizeof *b->taken))
        return false;
    b->taken[b->ntaken++] = (struct cavs__taken_run){number, d->run};
    need_run(d, b->known[number], run);
    return true;
}

/* ---- all ---- */

bool cavs__reserve_needed(struct cavs__needed *d, size_t n)
{
    struct cavs__order *o = d->o;
    size_t words = cavs__bit_words(n + 1), old = o->found_room;

    if (!cavs__array_reserve(&o->list, &o->list_room, n, sizeof *o->list) ||
        !cavs__array_reserve(&o->found, &o->found_room, words, sizeof *o->found))
        return false;
    memset(o->found + old, 0, (o->found_room - old) * sizeof *o->found);
    return !d->cut ||
           cavs__array_reserve(&d->cut->before, &d->cut->before_room, n, sizeof *d->cut->before);
}

void cavs__find_needed(struct cavs__needed *d, const struct cavs__wanted *wanted, int symbols)
{
    int32_t *list = d->o->list + symbols;

    for (int i = 0; i < wanted->n; i++)
        need(d, wanted->symbols[i], wanted->rows ? CAVS__READ_OUTSIDE | CAVS__WAITED_FOR : 0,
             false);
    for (int word = d->hi; word >= d->lo; word--) {
        uint64_t *found = &d->o->found[word];

        while (*found) {
            int symbol = CAVS__BITS_A_WORD * word + CAVS__BITS_A_WORD - 1 - __builtin_clzll(*found);

            if (d->cut && take_run(d, symbol)) {
                *--list = CAVS__KNOWN_RUN;
                continue;
            }
            *found &= ~cavs__bit((size_t)symbol);
            *--list = symbol;
            if (cavs__is_marked(d->r, symbol, CAVS__SOURCE))
                fetch_source(d, symbol);
            else
                need_operands(d, symbol);
        }
    }
    d->n = (int)(d->o->list + symbols - list);
}
