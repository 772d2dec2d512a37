/* SPDX-License-Identifier: Apache-2.0 */
/* svg_detail.c - which batches the picture shows enlarged: typical ones, not those at the start or
 * those that something disturbed. */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/trace/svg.h"

enum { ENOUGH = 150 /* tasks */ };

/* From batch `first` on, as many batches as have enough tasks; false if there are not that many. */
static bool make_window(const struct cavs__trace_stats *s, long first, struct cavs__svg_detail *w)
{
    long tasks = 0;

    *w = (struct cavs__svg_detail){.first = first};
    for (long i = first; i < s->nbatches && tasks < ENOUGH; i++) {
        const struct cavs__trace_batch *b = &s->batch[i];

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
    const struct cavs__svg_detail *x = a, *y = b;
    double d = (x->end - x->begin) - (y->end - y->begin);

    return d < 0 ? -1 : d > 0 ? 1 : (x->first > y->first) - (x->first < y->first);
}

int cavs__svg_choose_detail(const struct cavs__trace_stats *s, struct cavs__svg_detail *out)
{
    long n = 0, from = s->nbatches / 4, to = s->nbatches - from;
    size_t size = ((size_t)(to - from) + 1) * sizeof(struct cavs__svg_detail);
    struct cavs__svg_detail *windows = malloc(size);

    *out = (struct cavs__svg_detail){.batches = 0};
    if (!windows)
        return cavs__fail_nomem("trace", size);
    for (long i = from; i < to && s->all.count >= 3 * ENOUGH; i++)
        n += make_window(s, i, &windows[n]);
    if (n > 0) {
        qsort(windows, (size_t)n, sizeof *windows, by_length);
        *out = windows[n / 2];
    }
    free(windows);
    return CAVS_OK;
}
