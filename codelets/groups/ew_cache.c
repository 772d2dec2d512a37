/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_cache.c - files of compiled code in the private folder (ew_folder.c).
 *
 * What is loaded becomes code of this process. So the file has to be ours and writable by nobody
 * else, and whole: it ends with a footer that holds its key, size and hash. What is loaded is the
 * file that was looked at, by its descriptor. Anything else is not loaded but made again. A file
 * appears under its name complete (rename), so processes need no lock; two that build the same one
 * do the work twice.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codelets/groups/ew_internal.h"
#include "core/base/read_at.h"

/* The last bytes of a cached object: a loader of shared objects ignores them. */
struct footer {
    char magic[8];
    uint64_t key[2];
    uint64_t size; /* of what is before the footer */
    uint64_t hash;
};
#define MAGIC "cavs-ew1"

/* The whole of an open file, in memory to free. */
static char *read_file(int fd, size_t *size)
{
    struct stat st;
    char *data;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !cavs__ew_is_private(&st))
        return NULL;
    data = malloc((size_t)st.st_size + 1);
    *size = data ? cavs__read_at(fd, 0, (size_t)st.st_size, data) : 0;
    return data;
}

static struct footer footer_for(const uint64_t key[2], const char *data, size_t size)
{
    struct footer f = {.key = {key[0], key[1]}, .size = size};

    memcpy(f.magic, MAGIC, sizeof f.magic);
    f.hash = cavs__hash(CAVS__HASH_START, data, size);
    return f;
}

/* The content of such a file, to be freed, and the open file; NULL and -1: there is none. */
static char *open_whole(const char *path, const uint64_t key[2], size_t *size, int *fd)
{
    char *data;

    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    data = *fd < 0 ? NULL : read_file(*fd, size);
    if (data && *size > sizeof(struct footer)) {
        struct footer want = footer_for(key, data, *size - sizeof want);

        *size -= sizeof want;
        if (!memcmp(&want, data + *size, sizeof want))
            return data;
    }
    free(data);
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return NULL;
}

void *cavs__ew_cache_read(const char *path, const uint64_t key[2], size_t *size)
{
    int fd;
    char *data = open_whole(path, key, size, &fd);

    if (fd >= 0)
        close(fd);
    return data;
}

int cavs__ew_cache_open(const char *path, const uint64_t key[2])
{
    size_t size = 0;
    int fd;

    free(open_whole(path, key, &size, &fd));
    return fd;
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);

        if (n <= 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

int cavs__ew_cache_write(const char *path, const uint64_t key[2], const void *data, size_t size)
{
    char made[PATH_MAX];
    int fd, rc;

    if (snprintf(made, sizeof made, "%s.XXXXXX", path) >= (int)sizeof made)
        return -1;
    fd = mkostemp(made, O_CLOEXEC);
    if (fd < 0)
        return -1;
    rc = write_all(fd, data, size);
    if (close(fd))
        rc = -1;
    if (!rc)
        rc = cavs__ew_cache_publish(made, path, key);
    if (rc)
        unlink(made);
    return rc;
}

int cavs__ew_cache_publish(const char *made, const char *path, const uint64_t key[2])
{
    int fd = open(made, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC), rc = -1;
    size_t size = 0;
    char *data = NULL;

    if (fd >= 0 && !fchmod(fd, 0700))
        data = read_file(fd, &size);
    if (data && size > 0) {
        struct footer f = footer_for(key, data, size);

        rc = write(fd, &f, sizeof f) == (ssize_t)sizeof f ? rename(made, path) : -1;
    }
    free(data);
    if (fd >= 0)
        close(fd);
    return rc;
}
