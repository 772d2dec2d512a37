/* SPDX-License-Identifier: Apache-2.0 */
/* svg_detail.c - which batches the picture shows enlarged: typical ones, not those at the start or
 * those that something disturbed. */
#include <stdlib.h>

#include "apps/trace/svg.h"

enum { ENOUGH = 150 /* tasks */ };

/* From batch `first` on, as many batches as have enough tasks; false if there are not that many. */
static bool make_window(const struct trace_stats *s, long first, struct svg_detail *w)
{
    long tasks = 0;

    *w = (struct svg_detail){.first = first};
    for (long i = first; i < s->nbatches && tasks < ENOUGH; i++) {
        const struct trace_batch *b = &s->batch[i];

        if (b->count == 0)
            continue;
        if (w->batches == 0 || b->begin < w->begin)
            w->begin = b->begin;
        if (w->batches == 0 || b->end > w->end)
            w->end = b->end;
        w->batches++;
        tasks += b->count;
    }
    return tasks >= ENOUGH && s->batch[first].count > 0;
}

static int by_length(const void *a, const void *b)
{
    const struct svg_detail *x = a, *y = b;
    double d = (x->end - x->begin) - (y->end - y->begin);

    return d < 0 ? -1 : d > 0 ? 1 : (x->first > y->first) - (x->first < y->first);
}

int svg_choose_detail(const struct trace_stats *s, struct svg_detail *out)
{
    long n = 0, from = s->nbatches / 4, to = s->nbatches - from;
    size_t size = ((size_t)(to - from) + 1) * sizeof(struct svg_detail);
    struct svg_detail *windows = malloc(size);

    *out = (struct svg_detail){.batches = 0};
    if (!windows)
        return CAVS_ENOMEM;
    for (long i = from; i < to && s->all.count >= 3 * ENOUGH; i++)
        n += make_window(s, i, &windows[n]);
    if (n > 0) {
        qsort(windows, (size_t)n, sizeof *windows, by_length);
        *out = windows[n / 2];
    }
    free(windows);
    return CAVS_OK;
}
