/* SPDX-License-Identifier: Apache-2.0 */
/* beside.c - see beside.h. */
#include "core/base/beside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define MARK ".cavs-"
#define END  ".tmp"
enum { LETTERS = 8, MOST_LINKS = 40, MOST_TRIES = 100, STALE_SECONDS = 60 };
static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";

/* ---- names ---- */

/* Bytes of the folder's part of a path, up to the last slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

int cavs__open_folder(const char *path)
{
    size_t n = folder_length(path);
    char *folder = n ? strndup(path, n) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    free(folder);
    return fd;
}

/* What the symbolic link `name` says, seen from where `name` is seen from. */
static char *follow(const char *name)
{
    char to[PATH_MAX], *joined;
    ssize_t n = readlink(name, to, sizeof to - 1);

    if (n < 0)
        return NULL;
    to[n] = 0;
    if (to[0] == '/')
        return strdup(to);
    return asprintf(&joined, "%.*s%s", (int)folder_length(name), name, to) < 0 ? NULL : joined;
}

char *cavs__resolve(const char *path)
{
    struct stat st, proc;
    bool has_proc = stat("/proc", &proc) == 0;
    char *name = strdup(path);

    for (int i = 0; name && lstat(name, &st) == 0 && S_ISLNK(st.st_mode); i++) {
        char *next = NULL;

        if (has_proc && st.st_dev == proc.st_dev)
            return name;
        if (i < MOST_LINKS)
            next = follow(name);
        else
            errno = ELOOP;
        free(name);
        name = next;
    }
    return name;
}

/* Nothing can be renamed onto it.  Systems that do not know give false; there rename() fails. */
static bool is_mount_point(const char *name)
{
#ifdef STATX_ATTR_MOUNT_ROOT
    struct statx stx;

    return statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &stx) == 0 &&
           (stx.stx_attributes & stx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT);
#else
    (void)name;
    return false;
#endif
}

enum cavs__target cavs__look_at(const char *name, struct stat *st)
{
    struct stat link;
    int error = stat(name, st) == 0 ? 0 : errno;

    if (!error && S_ISDIR(st->st_mode))
        error = EISDIR;
    if (error == ENOENT && name[folder_length(name)])
        return CAVS__NEW;
    errno = error;
    if (error)
        return CAVS__BAD;
    if (!S_ISREG(st->st_mode) || lstat(name, &link) != 0 || !S_ISREG(link.st_mode))
        return CAVS__OTHER;
    errno = EBUSY;
    return is_mount_point(name) ? CAVS__BAD : CAVS__REGULAR;
}

/* ---- temporary files ---- */

static bool choose_letters(char *to)
{
    unsigned char random[LETTERS];

    if (getrandom(random, sizeof random, 0) != LETTERS)
        return false;
    for (int i = 0; i < LETTERS; i++)
        to[i] = letters[random[i] % (sizeof letters - 1)];
    return true;
}

/* Never through a link or into a file that is there (O_EXCL).  The system's mask applies to the
 * mode. */
static int create(char *name, char *place, mode_t mode)
{
    int fd = -1;

    for (int i = 0; i < MOST_TRIES && fd < 0; i++) {
        if (!choose_letters(place))
            return -1;
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    if (fd >= 0)
        (void)flock(fd, LOCK_EX | LOCK_NB); /* where locks do not work, leftovers stay */
    return fd;
}

int cavs__create_beside(const char *target, mode_t mode, char **name)
{
    int fd, n = asprintf(name, "%s" MARK "%*s" END, target, LETTERS, "");

    if (n < 0) {
        errno = ENOMEM;
        return -1;
    }
    fd = create(*name, *name + strlen(target) + strlen(MARK), mode);
    if (fd < 0) {
        int error = errno;

        free(*name);
        *name = NULL;
        errno = error;
    }
    return fd;
}

/* ---- leftovers ---- */

static bool is_ours(const char *entry, const char *base)
{
    size_t n = strlen(base), mark = strlen(MARK);

    return strncmp(entry, base, n) == 0 && strncmp(entry + n, MARK, mark) == 0 &&
           strspn(entry + n + mark, letters) == LETTERS &&
           strcmp(entry + n + mark + LETTERS, END) == 0;
}

/* A file that nobody writes any more: ours by name and owner, of some age, and not locked. */
static void remove_if_stale(int folder, const char *entry)
{
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        time(NULL) - st.st_mtime >= STALE_SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, entry, 0);
    close(fd);
}

void cavs__remove_leftovers(const char *target)
{
    int fd = cavs__open_folder(target);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        if (is_ours(e->d_name, target + folder_length(target)))
            remove_if_stale(fd, e->d_name);
    }
    closedir(folder);
}
