/* SPDX-License-Identifier: Apache-2.0 */
/* read_at.c - see read_at.h. */
#include "core/base/read_at.h"

#include <errno.h>
#include <unistd.h>

size_t cavs__read_at(int fd, size_t from, size_t n, void *to)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(from + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}
