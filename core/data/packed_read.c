/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_read.c - values of samples, which may be pages of a packed file.
 *
 * A touched page counts against this process (a limit of its control group, say), and the system
 * maps what it has beside it, too: 64 KB usually, on newer Linux up to 2 MB. Samples are read here
 * and there, so that would come to be the whole file; and letting go of pages again and again costs
 * a fault of several microseconds for each place that is read. Of a large file, values are hence
 * copied by a call, which takes one, and the pages stay the system's alone. The columns of a sample
 * are read one after the other, so a thread keeps the record that it has read last.
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

/* Longer records take so long to use that a call for each column of them does not matter. */
enum { LONGEST_KEPT = 8192 };

/* The record that this thread has read last, `n` bytes of the file from `from` on; data: the number
 * of the data that it is of, 0: none. */
static _Thread_local struct {
    uint64_t data;
    size_t from, n;
    char bytes[LONGEST_KEPT];
} last;

static void keep_record(const struct cavs_data *d, int sample)
{
    size_t from, n = cavs__record_place(&d->packed->records, sample, &from);

    from += d->packed->records.offset;
    if (n > sizeof last.bytes || (last.data == d->number && last.from == from))
        return;
    last.data = cavs__read_at(d->packed->fd, from, n, last.bytes) == n ? d->number : 0;
    last.from = from;
    last.n = n;
}

/* Reads the bytes at `from`, which are pages of the file. If that fails, the caller touches the
 * pages, and meets the error there. */
static bool read_bytes(const struct cavs_data *d, const char *from, size_t n, void *to)
{
    size_t at = (size_t)(from - d->packed->bytes), within = at - last.from;

    if (last.data != d->number || at < last.from || within > last.n || n > last.n - within)
        return cavs__read_at(d->packed->fd, at, n, to) == n;
    memcpy(to, last.bytes + within, n);
    return true;
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
    if (n > 0 && !(is_read(d) && read_bytes(d, from, n, to)))
        memcpy(to, from, n);
}

void cavs__values_read(const struct cavs_data *d, const struct cavs__column *c,
                       const int64_t *starts, int sample, void *to)
{
    size_t n = (size_t)(starts[sample + 1] - starts[sample]);

    if (is_read(d))
        keep_record(d, sample);
    cavs__values_copy(d, cavs__values_at(d, c, starts, sample), n * c->size, to);
}

const void *cavs__values_view(const struct cavs_data *d, const struct cavs__column *c,
                              const int64_t *starts, int sample, void **copy)
{
    const void *from = cavs__values_at(d, c, starts, sample);
    size_t n = (size_t)(starts[sample + 1] - starts[sample]) * c->size;

    *copy = n > 0 && is_read(d) ? malloc(n) : NULL;
    if (*copy)
        keep_record(d, sample);
    return *copy && read_bytes(d, from, n, *copy) ? *copy : from;
}

static void expect(const struct cavs_packed *p, int sample)
{
    size_t from, length = cavs__record_place(&p->records, sample, &from);

    if (length > 0)
        posix_fadvise(p->fd, (off_t)(p->records.offset + from), (off_t)length, POSIX_FADV_WILLNEED);
}

void cavs__data_expect(const struct cavs_data *d, const int *samples, int n)
{
    for (int i = 0; i < n && is_read(d); i++) {
        if (d->checks->in[samples[i]] != d->checks->last)
            expect(d->packed, samples[i]);
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
