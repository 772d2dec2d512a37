/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_cache.c - the private folder in which shared objects made from generated source are kept.
 *
 * What is loaded becomes code of this process. So the folder and the file have to be ours and
 * writable by nobody else, and the file has to be whole: it ends with a footer that holds its key,
 * size and hash. Anything else is not loaded but made again. A file appears under its name complete
 * (rename), so processes need no lock; two that build the same one do the work twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codelets/ew_internal.h"

/* The last bytes of a cached object: a loader of shared objects ignores them. */
struct footer {
    char magic[8];
    uint64_t key[2];
    uint64_t size; /* of what is before the footer */
    uint64_t hash;
};
#define MAGIC "cavs-ew1"

/* ---- the folder ---- */

static int folder_name(char *to, size_t size)
{
    const char *cavs = getenv("CAVS_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int n;

    if (cavs && *cavs)
        n = snprintf(to, size, "%s/kernels", cavs);
    else if (xdg && *xdg)
        n = snprintf(to, size, "%s/cavs/kernels", xdg);
    else if (home && *home)
        n = snprintf(to, size, "%s/.cache/cavs/kernels", home);
    else
        return -1;
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    mkdir(path, 0700);
}

/* Ours, and nobody else may write to it. */
static bool is_private(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

int cavs__ew_cache_folder(char *path, size_t size)
{
    struct stat st;

    if (folder_name(path, size)) {
        cavs__ew_fallback("there is no place for compiled groups: set CAVS_CACHE");
        return -1;
    }
    make_folders(path);
    if (stat(path, &st) || !S_ISDIR(st.st_mode) || access(path, W_OK)) {
        cavs__ew_fallback("cannot use the folder %s: %s", path, strerror(errno));
        return -1;
    }
    if (!is_private(&st)) {
        cavs__ew_fallback("the folder %s is not private: others own it or may write to it", path);
        return -1;
    }
    return 0;
}

/* ---- files ---- */

/* The whole of an open file, in memory to free. */
static char *read_file(int fd, size_t *size)
{
    struct stat st;
    char *data;
    size_t n = 0;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_private(&st))
        return NULL;
    data = malloc((size_t)st.st_size + 1);
    while (data && n < (size_t)st.st_size) {
        ssize_t got = pread(fd, data + n, (size_t)st.st_size - n, (off_t)n);

        if (got <= 0)
            break;
        n += (size_t)got;
    }
    *size = n;
    return data;
}

static struct footer footer_for(const uint64_t key[2], const char *data, size_t size)
{
    struct footer f = {.key = {key[0], key[1]}, .size = size};

    memcpy(f.magic, MAGIC, sizeof f.magic);
    f.hash = cavs__hash(CAVS__HASH_START, data, size);
    return f;
}

void *cavs__ew_cache_read(const char *path, const uint64_t key[2], size_t *size)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char *data = fd < 0 ? NULL : read_file(fd, size);

    if (fd >= 0)
        close(fd);
    if (data && *size > sizeof(struct footer)) {
        struct footer want = footer_for(key, data, *size - sizeof want);

        *size -= sizeof want;
        if (!memcmp(&want, data + *size, sizeof want))
            return data;
    }
    free(data);
    return NULL;
}

bool cavs__ew_cache_intact(const char *path, const uint64_t key[2])
{
    size_t size = 0;
    void *data = cavs__ew_cache_read(path, key, &size);

    free(data);
    return data != NULL;
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
