/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/run_lock.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>

bool run_lock(int fd)
{
    struct stat s;

    return fstat(fd, &s) != 0 || (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)) ||
           flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}
