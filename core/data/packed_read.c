/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_read.c - values of columns, which may be pages of a packed file.
 *
 * A touched page counts against this process (a limit of its control group, say), and the system
 * maps what it has beside it, too: 64 KB usually, on newer Linux up to 2 MB.  Samples are read here
 * and there, so that would come to be the whole file; and letting go of pages again and again costs
 * a fault of several microseconds for each place that is read.  Of a large file, values are hence
 * copied by a call, which takes one, and the pages stay the system's alone.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/read_at.h"
#include "core/data/packed.h"

/* Ids that the user may have changed (lent) are in this process's pages and nowhere else, so they
 * are not read from the file. */
static bool is_read(const struct cavs_data *d)
{
    return d->packed && d->packed->large && !d->lent;
}

/* Reads the bytes at `from`, which are pages of the file. If that fails, the caller touches the
 * pages, and meets the error there. */
static bool read_bytes(const struct cavs_packed *p, const char *from, size_t n, void *to)
{
    return cavs__read_at(p->fd, (size_t)(from - p->bytes), n, to) == n;
}

void cavs__column_read(const struct cavs_data *d, const struct cavs__column *c, int64_t i,
                       int64_t n, void *to)
{
    const char *from = cavs__column_at(c, (size_t)i);
    size_t bytes = (size_t)n * c->size;

    if (n > 0 && !(is_read(d) && read_bytes(d->packed, from, bytes, to)))
        memcpy(to, from, bytes);
}

const void *cavs__column_view(const struct cavs_data *d, const struct cavs__column *c, int64_t i,
                              int64_t n, void **copy)
{
    const char *from = cavs__column_at(c, (size_t)i);
    size_t bytes = (size_t)n * c->size;

    *copy = n > 0 && is_read(d) ? malloc(bytes) : NULL;
    return *copy && read_bytes(d->packed, from, bytes, *copy) ? *copy : from;
}
