/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resident.c - how much of a packed file this process has in memory: CAVS__MOST_RESIDENT, and what
 * one batch touches, with what the system maps around it (some Linux 1 MB at once).
 *
 * Pages of the file stay in the system's cache as long as there is room, and are mapped again by
 * whoever touches them.  What counts against this process (a limit of its control group, say) are
 * those that it has mapped; without anybody who lets go of them, these come to be the whole file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/data/packed.h"

/* Of all files that this process has mapped, programs and libraries too; 0: not known. */
static size_t resident_files(int statm)
{
    unsigned long size, resident, of_files;
    char text[128];
    ssize_t n = statm < 0 ? -1 : pread(statm, text, sizeof text - 1, 0);

    if (n <= 0)
        return 0;
    text[n] = '\0';
    if (sscanf(text, "%lu %lu %lu", &size, &resident, &of_files) != 3)
        return 0;
    return of_files * (size_t)sysconf(_SC_PAGESIZE);
}

void cavs__resident_begin(struct cavs_packed *p)
{
    p->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    p->others = resident_files(p->statm);
}

void cavs__resident_end(struct cavs_packed *p)
{
    if (p->statm >= 0)
        close(p->statm);
}

/* What the user has written (lent) is nowhere but in these pages. */
void cavs__resident_limit(const struct cavs_data *d)
{
    const struct cavs_packed *p = d->packed;

    if (p->n > CAVS__MOST_RESIDENT && !d->lent &&
        resident_files(p->statm) > p->others + CAVS__MOST_RESIDENT)
        madvise((void *)p->bytes, p->n, MADV_DONTNEED);
}
