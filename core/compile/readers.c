/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.c - which items of a part read a symbol: found once for all symbols, for a function may
 * have thousands.
 *
 * For each symbol the items stand in their order, one as often as it names the symbol.
 */
#include <stdlib.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/compile/place.h"

struct cavs_symbol *cavs__item_operand(const struct cavs__item *item, int k)
{
    if (item->copy)
        return k == 0 ? item->x : NULL;
    return k < item->x->ninputs ? item->x->inputs[k] : NULL;
}

/* The symbol under which a reader of `in` is found. */
static int key(const struct cavs__placer *p, struct cavs_symbol *in, bool roots)
{
    return (roots ? cavs__root(p, in) : in)->number;
}

static void count(const struct cavs__placer *p, struct cavs__readers *r, bool roots)
{
    struct cavs_symbol *in;

    for (int i = 0; i <= p->f->nsymbols; i++)
        r->first[i] = 0;
    for (int i = 0; i < p->nitems; i++) {
        for (int k = 0; (in = cavs__item_operand(&p->items[i], k)) != NULL; k++)
            r->first[key(p, in, roots)]++;
    }
    for (int i = 0; i < p->f->nsymbols; i++)
        r->first[i + 1] += r->first[i];
}

/* first[i] is where the readers of symbol i end; filling from the back makes it where they
 * begin. */
static void fill(const struct cavs__placer *p, struct cavs__readers *r, bool roots)
{
    struct cavs_symbol *in;

    for (int i = p->nitems - 1; i >= 0; i--) {
        for (int k = 0; (in = cavs__item_operand(&p->items[i], k)) != NULL; k++)
            r->item[--r->first[key(p, in, roots)]] = i;
    }
}

static int find(const struct cavs__placer *p, struct cavs__readers *r, bool roots)
{
    size_t bytes = ((size_t)p->f->nsymbols + 2) * sizeof *r->first, n;

    if (!r->first)
        r->first = malloc(bytes);
    if (!r->first)
        return cavs__fail_nomem("plan: readers of values", bytes);
    count(p, r, roots);
    n = (size_t)r->first[p->f->nsymbols] + 1;
    if (!cavs__array_reserve(&r->item, &r->cap, n, sizeof *r->item))
        return cavs__fail_nomem("plan: readers of values",
                                cavs__array_capacity(r->cap, n) * sizeof *r->item);
    fill(p, r, roots);
    return CAVS_OK;
}

int cavs__find_readers(struct cavs__placer *p)
{
    int rc = find(p, &p->readers, false);

    return rc ? rc : find(p, &p->root_readers, true);
}

void cavs__free_readers(struct cavs__placer *p)
{
    free(p->readers.first);
    free(p->readers.item);
    free(p->root_readers.first);
    free(p->root_readers.item);
}
