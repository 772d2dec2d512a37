/* SPDX-License-Identifier: Apache-2.0 */
/* needed.c - see order_parts.h: what is needed for the symbols that are wanted. */
#include <string.h>

#include "core/base/array.h"
#include "core/tape/order_parts.h"

enum { SYMBOLS_A_WORD = 64 /* of o->found */ };

/* The symbol is not there yet.  One that a block has computed and not kept is computed once more;
 * the next time it is kept. */
static void find(struct cavs__needed *d, int symbol)
{
    uint8_t *marks = &d->r->marks[symbol];
    int word = symbol / SYMBOLS_A_WORD;

    if (*marks & CAVS__IN_BLOCK) {
        d->r->entries[symbol].vertex = CAVS__FOUND;
        d->r->sites.all[d->r->entries[symbol].site].asked = true;
    }
    *marks = (*marks & ~CAVS__WAITED_FOR) | CAVS__ORDERED | (d->cut ? 0 : CAVS__WAITED_FOR);
    d->n++;
    d->o->found[word] |= (uint64_t)1 << symbol % SYMBOLS_A_WORD;
    d->lo = word < d->lo ? word : d->lo;
    d->hi = word > d->hi ? word : d->hi;
}

static inline void need(struct cavs__needed *d, int symbol, unsigned marks)
{
    if (!(d->r->marks[symbol] & CAVS__ORDERED))
        find(d, symbol);
    d->r->marks[symbol] |= marks;
}

/* The rows that the symbol reads.  All its readers are behind it: it is known whether it is waited
 * for, and what it reads is waited for then, and also where another run reads it, but for a sum. */
static inline void need_operands(struct cavs__needed *d, int symbol)
{
    const struct cavs__entry *e = &d->r->entries[symbol];
    const struct cavs__read *reads = d->r->reads + e->reads;
    unsigned marks = d->r->marks[symbol], inside = marks & CAVS__WAITED_FOR,
             outside = CAVS__READ_OUTSIDE | (marks & CAVS__SUMMED_UP ? 0 : CAVS__WAITED_FOR);

    d->rows += e->nreads;
    for (int k = 0; k < e->nreads; k++) {
        if (reads[k].from != CAVS__NO_ROW)
            need(d, reads[k].of, reads[k].in_run ? inside : outside);
    }
}

bool cavs__reserve_needed(struct cavs__order *o, size_t n)
{
    size_t words = n / SYMBOLS_A_WORD + 1, old = o->found_room;

    if (!cavs__array_reserve(&o->list, &o->list_room, n, sizeof *o->list) ||
        !cavs__array_reserve(&o->found, &o->found_room, words, sizeof *o->found))
        return false;
    memset(o->found + old, 0, (o->found_room - old) * sizeof *o->found);
    return true;
}

/* The last symbol of a word of o->found, which it is taken out of. */
static int take_last(uint64_t *word)
{
    int last = SYMBOLS_A_WORD - 1 - __builtin_clzll(*word);

    *word &= ~((uint64_t)1 << last);
    return last;
}

void cavs__find_needed(struct cavs__needed *d, const struct cavs__wanted *wanted, int symbols)
{
    int32_t *list = d->o->list + symbols;

    for (int i = 0; i < wanted->n; i++)
        need(d, wanted->symbols[i], wanted->rows ? CAVS__READ_OUTSIDE | CAVS__WAITED_FOR : 0);
    for (int word = d->hi; word >= d->lo; word--) {
        while (d->o->found[word]) {
            *--list = SYMBOLS_A_WORD * word + take_last(&d->o->found[word]);
            need_operands(d, *list);
        }
    }
}
