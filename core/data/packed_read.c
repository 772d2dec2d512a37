/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_read.c - values of samples, which may be pages of a packed file.
 *
 * A touched page counts against this process (a limit of its control group, say), and the system
 * maps what it has beside it, too: 64 KB usually, on newer Linux up to 2 MB.  Samples are read here
 * and there, so that would come to be the whole file; and letting go of pages again and again costs
 * a fault of several microseconds for each place that is read.  Of a large file, values are hence
 * copied by a call, which takes one, and the pages stay the system's alone.
 *
 * What the system has not, it fetches from the disk, and would wait for one sample after the other.
 * Those of a batch are known ahead, so it is told of all of them first.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

const void *cavs__values_at(const struct cavs_data *d, const struct cavs__column *c,
                            const int64_t *starts, int sample)
{
    if (c->p && c->storage == CAVS__IN_RECORDS)
        return cavs__record_values(&d->packed->records, c->number, sample);
    return cavs__column_at(c, (size_t)starts[sample]);
}

void cavs__values_copy(const struct cavs_data *d, const void *from, size_t n, void *to)
{
    if (n > 0 && !(is_read(d) && read_bytes(d->packed, from, n, to)))
        memcpy(to, from, n);
}

void cavs__values_read(const struct cavs_data *d, const struct cavs__column *c,
                       const int64_t *starts, int sample, void *to)
{
    size_t n = (size_t)(starts[sample + 1] - starts[sample]);

    cavs__values_copy(d, cavs__values_at(d, c, starts, sample), n * c->size, to);
}

const void *cavs__values_view(const struct cavs_data *d, const struct cavs__column *c,
                              const int64_t *starts, int sample, void **copy)
{
    const void *from = cavs__values_at(d, c, starts, sample);
    size_t n = (size_t)(starts[sample + 1] - starts[sample]) * c->size;

    *copy = n > 0 && is_read(d) ? malloc(n) : NULL;
    return *copy && read_bytes(d->packed, from, n, *copy) ? *copy : from;
}

void cavs__data_expect(const struct cavs_data *d, const int *samples, int n)
{
    for (int i = 0; i < n && is_read(d); i++) {
        size_t from, length = cavs__record_place(&d->packed->records, samples[i], &from);

        if (length > 0)
            posix_fadvise(d->packed->fd, (off_t)(d->packed->records.offset + from), (off_t)length,
                          POSIX_FADV_WILLNEED);
    }
}

/* Reading ahead as the system does it, by up to megabytes of a fast disk, would be of samples that
 * come much later. */
void cavs__packed_read_by_samples(const struct cavs_packed *p)
{
    if (!p->large)
        return;
    madvise((void *)p->bytes, p->n, MADV_RANDOM);
    posix_fadvise(p->fd, 0, 0, POSIX_FADV_RANDOM);
}
