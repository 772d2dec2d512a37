/* SPDX-License-Identifier: Apache-2.0 */
/*
 * points.h - in files and source text numbers have decimal points, whatever the locale of the
 * program.
 *
 * What is written and read between _begin() and _end(), in this thread, has them.
 */
#ifndef CAVS_CORE_BASE_POINTS_H
#define CAVS_CORE_BASE_POINTS_H

#include <locale.h>

struct cavs__points {
    locale_t c, before;
};

static inline struct cavs__points cavs__points_begin(void)
{
    struct cavs__points p = {.c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};

    if (p.c)
        p.before = uselocale(p.c);
    return p;
}

static inline void cavs__points_end(struct cavs__points p)
{
    if (!p.c)
        return;
    uselocale(p.before);
    freelocale(p.c);
}

#endif
